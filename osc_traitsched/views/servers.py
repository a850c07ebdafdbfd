"""The failure of a server and the parts of its request: in words and in documents."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Iterator
from typing import Optional

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.judge.reasons import breakdown
from osc_traitsched.core.nova.clause import Resource, RootTrait, Trait
from osc_traitsched.core.nova.question import Body, MoveKind, Question
from osc_traitsched.core.servers.failure import Failure, ServerAnswer, Stage
from osc_traitsched.core.servers.fleet import ServersLoseHosts
from osc_traitsched.core.servers.moves import Because
from osc_traitsched.core.servers.state import Name, Part, Source
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.text import count, listed, ranges, visible
from osc_traitsched.views.explain import words
from osc_traitsched.views.explain.verdict import sentence

# The failure of a server and the parts of its request, in words.


_ACTIONS = {
    "create": "build",
    "evacuate": "evacuation",
    "live-migration": "live migration",
    "migrate": "cold migration",
}

_STAGES = {
    Stage.NO_CANDIDATES: "Placement returned no hosts",
    Stage.NO_HOST_LEFT: "the filters rejected every host Placement returned",
    Stage.CHECKS: "pre-migration checks rejected its hosts",
    Stage.REJECTED: "Nova rejected it",
    Stage.SERVICE: "a Nova service raised an exception",
    Stage.COMPUTE: "nova-compute failed",
    Stage.NOT_KEPT: "no host was found; Nova does not keep why",
    Stage.UNKNOWN: "Nova records no reason",
}


_AGAIN, _REJECTED = "It would fail again.", "Now Nova would reject it:"
#: How the sentence on a request begins that would fail for sure.
FAILS_AGAIN = (_AGAIN, _REJECTED)


def summary(answer: ServerAnswer, now: datetime.datetime) -> str:
    """The answer in one line: how the server failed, and whether it would now."""
    return f"{_failed(answer, now)} {now_of(answer)}".rstrip()


def _failed(answer: ServerAnswer, now: datetime.datetime) -> str:
    name, failure, host = answer.state.name, answer.failure, answer.state.host
    if failure is None:
        where = f" on {host}" if host else ""
        return f"{name} is {answer.state.status}{where}; Nova records no failure."
    new = f" to {answer.asked_for}" if answer.asked_for else ""
    what = f": {action(failure.action)}{new}" if failure.action else ""
    when = f" {age(failure.when, now)}" if failure.when else ""
    return f"{name}{what} failed{when} ({stage(failure, answer.together)})."


def now_of(answer: ServerAnswer) -> str:
    """How the request of a failed server would do now, as a sentence."""
    found = answer.judgement
    if answer.is_unlisted:
        or_hidden = " or hidden from you" if answer.asked_for else ""
        return f"The new {answer.unrecorded} is deleted{or_hidden}."
    if answer.unrecorded and answer.asked_for:
        return "Whether it would fail again is not judged here."
    if answer.unrecorded:
        return f"Nova does not record the new {answer.unrecorded}."
    if found is None:
        return "Whether a host can take it now is not known."
    if answer.refusals:
        return f"{_REJECTED} {listed(r.text for r in answer.refusals)}."
    verdict = words.verdict(found)
    if answer.is_action_hidden:
        return f"Which action failed is not known. A new server: {lower(verdict)}"
    if answer.failure is None:
        return "" if answer.state.host else verdict
    if answer.of_copy is not None:
        again = " Delete it and create it again." * found.has_room
        return f"{_AGAIN} A new server: {lower(verdict)}{again}"
    if isinstance(found, RefusedRequest):
        return _AGAIN
    is_unsure = found.is_in_doubt or (found.has_room and found.candidates.is_uncertain)
    if is_unsure or found.open.depends:
        return verdict
    wanted = found.question.spec.count
    if not found.has_room:
        return _AGAIN if wanted == 1 else f"{_AGAIN} {verdict}"
    hosts = f"{len(found.candidates)} of {count(found.total_hosts, 'host')}"
    if answer.may_fail_alike:
        return f"Now {hosts} may take it, unless it fails like that again."
    if answer.is_unexplained:
        may = f"{hosts} may take it" if wanted == 1 else f"all {wanted} may find a host"
        return f"Now {may}; why it failed is not known."
    if len(found.candidates) == 1 and wanted == 1:
        return f"Now {found.candidates.hosts[0].name} can take it."
    return f"Now {lower(verdict)}"


def copies(was: Question, now: Question) -> Iterator[str]:
    """What a server's own copies have, and its flavor and image no longer have."""
    for what, old, new in (
        (f"flavor {now.flavor['name']}", _keys(was.flavor), _keys(now.flavor)),
        ("its image", was.image_properties(), now.image_properties()),
    ):
        kept = [f"{key}={old[key]}" for key in old if new.get(key) != old[key]]
        having = f", with {listed(kept)}" if kept else ""
        if old != new:
            yield f"The server keeps its copy of {what}{having}; it has changed since."


def _keys(flavor: Body) -> Body:
    sizes = {key: flavor[key] for key in ("vcpus", "ram", "disk")}
    return {**sizes, **(flavor.get("extra_specs") or {})}


#: For the customer of a cloud, who knows no hosts.
_FOR_CUSTOMERS = {
    Reason.FITS: "A host has room for {server} now.",
    Reason.REJECTED: "The cloud rejects {server}.",
    Reason.DISABLED: "The hosts for {server} are out of service now.",
    Reason.FULL: "No host has room for {server} now.",
    Reason.ISOLATED: "The hosts for {server} are reserved for other servers.",
    Reason.MISCONFIGURED: "No host has all that {server} needs.",
}


_NAMES_AMOUNTS = (Reason.FULL, Reason.MISCONFIGURED)


def for_customer(answer: ServerAnswer) -> str:
    """The cause in a sentence without names of hosts and of other flavors."""
    if answer.may_fail_alike:
        return "The server failed on its host; another try may work."
    judgement, reason = answer.judgement, answer.reason
    is_doubtful = answer.is_unexplained or answer.is_action_hidden
    is_sure = reason in _FOR_CUSTOMERS and not is_doubtful
    if judgement is None or reason is None or answer.unrecorded or not is_sure:
        return "Whether a host can take the server now is not known."
    question = judgement.question
    zone = f" in zone {question.needed_zone}" if question.needed_zone else ""
    if answer.together > 1 and judgement.candidates and not judgement.has_room:
        servers = f"{answer.together} servers of {question.flavor['name']}{zone}"
        return f"The cloud has no room for {servers} now."
    needs = list(_needs(judgement, reason))
    sentence = _FOR_CUSTOMERS[reason]
    if reason is Reason.FULL and not needs:
        # Such as those of its server group.
        sentence = "Other servers keep {server} off all hosts now."
    server = str(question.flavor["name"])
    if needs:
        server = f"{server} ({', '.join(dict.fromkeys(needs))})"
    image = question.image or {}
    if reason is Reason.MISCONFIGURED and image.get("name"):
        server = f"{server} with image {image['name']}"
    return sentence.format(server=f"{server}{zone}")


def _needs(judgement: RequestResult, reason: Reason) -> Iterator[str]:
    shares = breakdown(judgement) if isinstance(judgement, Judgement) else ()
    for clause in (share.clause for share in shares):
        if isinstance(clause, Resource) and reason in _NAMES_AMOUNTS:
            yield words.amount(clause.amount, clause.resource_class)
        elif reason is Reason.MISCONFIGURED and isinstance(clause, (Trait, RootTrait)):
            yield words.clause(clause, judgement)


def lower(verdict: str) -> str:
    """A verdict as it stands behind other words."""
    kept = verdict.startswith(("Nova", "Placement"))
    return verdict if kept else verdict[0].lower() + verdict[1:]


def action(name: str) -> str:
    """The action, as a noun."""
    return _ACTIONS.get(name, name)


def stage(failure: Failure, together: int = 1) -> str:
    """The stage at which it failed, in a clause.

    :param together: so many servers were created at once
    """
    where = ranges(dict.fromkeys(failure.attempts))
    if failure.stage is Stage.RETRIES:
        return f"it failed on each host tried{f': {where}' if where else ''}"
    if failure.stage is Stage.COMPUTE and failure.host:
        return f"nova-compute failed on {failure.host}"
    if failure.stage is Stage.CHECKS and where:
        return f"pre-migration checks rejected {where}"
    if failure.stage is Stage.NO_HOST_LEFT and together > 1:
        return f"not all {together} servers of its request found a host"
    return _STAGES[failure.stage]


def age(then: datetime.datetime, now: datetime.datetime) -> str:
    """The age of an event: ``5 min ago``, ``2 h ago``, ``3 days ago``."""
    minutes = int((now - then).total_seconds()) // 60
    if minutes < 1:
        return "less than a minute ago"
    if minutes < 120:
        return f"{minutes} min ago"
    hours = minutes // 60
    return f"{hours} h ago" if hours < 48 else f"{count(hours // 24, 'day')} ago"


# Servers that would lose their last host, in words.


def with_reasons(refusals: Iterable[TraitSchedError]) -> list[TraitSchedError]:
    """The refusals; those for servers say why, as explain does, once for all alike."""
    told: dict[object, TraitSchedError] = {}
    for each in refusals:
        if isinstance(each, ServersLoseHosts):
            why = _why_none(each.judgement)
            told[why] = dataclasses.replace(
                each,
                servers=(*getattr(told.get(why), "servers", ()), *each.servers),
                why=why,
            )
        else:
            told[each] = each
    return list(told.values())


def _why_none(found: RequestResult) -> str:
    if isinstance(found, RefusedRequest):
        return words.text(found.refusal, True)
    ended_by = found.ended_by
    return visible(
        words.text(ended_by, True) if ended_by else sentence(found).rstrip(".")
    )


# Where each part of a server's request is from, in lines.

#: The options that say what is not known.
OPTIONS = {
    Name.PROPERTIES: "--image-property",
    Name.MORE: "--image-property",
    Name.ZONE: "--availability-zone",
    Name.HOST: "--availability-zone",
    Name.HINTS: "--hint",
    Name.GROUP: "--server-group",
    Name.PORTS: "--port",
    Name.VOLUME: "--volume",
}

_SOURCES = {
    Source.SERVER: "recorded by Nova",
    Source.NOW: "from the current image",
    Source.GIVEN: "from an option",
    Source.BOUND: "attached to the server now",
}

_HOW = {
    Name.MORE: " (disk_format is one)",
    Name.HOST: " ZONE:HOST or --on-host",
    Name.PORTS: " or --network",
}

_ALWAYS_HIDDEN = {
    Name.HOST: "named host",
    Name.PORTS: "original ports (unbound after a failed build)",
    Name.VOLUME: "root volume",
}


def known(
    parts: Iterable[Part], is_flavor_changed: bool | None = None
) -> Iterator[str]:
    """Lines on the known parts that have a value."""
    for part in parts:
        if not part.is_known or (part.value is None and part.name in _OF_VALUE):
            continue
        value = f" {part.value}" if part.value else ""
        changed = part.name is Name.FLAVOR and is_flavor_changed
        also = "; the flavor has changed since" if changed else ""
        yield f"{part.name.value}{value} ({_source(part)}{also})"


#: The parts that are not asked for where they have no value.
_OF_VALUE = frozenset([Name.ZONE, Name.HINTS, Name.GROUP, Name.PORTS])


def _source(part: Part) -> str:
    if part.name is Name.IMAGE and part.value is None:
        return "none: it boots from a volume"
    if part.name is Name.FLAVOR and part.source is Source.SERVER:
        return "the server's own copy"
    return _SOURCES[part.source]


def hidden(parts: Iterable[Part], minor: int, is_moved: bool = False) -> Iterator[str]:
    """Lines on the unknown parts, with the options that give them.

    :param minor: the minor version of the compute API that the server was read with
    :param is_moved: they are of a move, which has no ``ZONE:HOST``
    """
    for part in parts:
        if part.is_known:
            continue
        option = f"{OPTIONS.get(part.name, '')}{_HOW.get(part.name, '')}"
        if is_moved and part.name is Name.HOST:
            option = "--on-host"
        way = f": pass {option}" if option else ""
        yield f"{why(part, minor)}{way}"


def why(part: Part, minor: int) -> str:
    """Why a part is not known at this minor version of the compute API."""
    name = part.name.value
    if part.problem is not None:
        return f"{name} ({part.problem!s})"
    if part.name in _ALWAYS_HIDDEN:
        return _ALWAYS_HIDDEN[part.name]
    if part.source is Source.NOT_SHOWN:
        return (
            f"{name}, assumed to be none (shown from compute API 2.{part.since}; this "
            f"is 2.{minor})"
        )
    if part.name is Name.IMAGE:
        return f"image {part.value} (deleted)"
    return f"{name} (the image is deleted)"


class ExistingServer(JsonObject):
    """A server, and where it is."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    status: str
    """Its status in the compute API."""
    project_id: str = field("project")
    """The ID of its project."""
    host: Optional[str] = field(lambda state: state.host or None)
    """The service host that it is on; null for none."""


class RequestPart(JsonObject):
    """A part of the request that the server was created by."""

    part: Name = field("name")
    """Which part."""
    value: Optional[str]
    """Its value as text; null for none, or if it is not known."""
    source: Source
    """``server``: Nova keeps it. ``image now``: Glance, as the image is now. ``bound
    now``: Neutron or Cinder, which has it bound to the server. ``option``: an option
    gives it. ``not shown``: not by this compute API. ``gone``: with the image. ``not
    read``."""
    known: bool = field("is_known")
    """It is what the request had, as far as is known."""
    shown_from: Optional[str] = field(
        lambda part: f"2.{part.since}" if part.since else None
    )
    """The first microversion of the compute API that shows it; null if all do, or
    none."""
    option: Optional[str] = field(lambda part: OPTIONS.get(part.name))
    """The option that gives it; or null."""


class ServerMoveJson(JsonObject):
    """A move."""

    kind: MoveKind
    """The move, as ``--for`` names it."""
    because: Because
    """Why this move. ``asked for``: by ``--for``. Otherwise it follows from the
    server."""


class FoundOutLater(JsonObject):
    """Something that no API shows before the move is tried."""

    kind: str = field(lambda row: row[0])
    """What it is."""
    text: str = field(lambda row: row[1])
    """What it is, in words."""
