"""The failure of a server and the parts of its request, in words."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from osc_traitsched.core.servers.failure import Failure, ServerAnswer, Stage
from osc_traitsched.core.servers.parts import Name, Part, Source
from osc_traitsched.text import count, ranges
from osc_traitsched.views.explain import words

_ACTIONS = {
    "create": "build",
    "evacuate": "evacuation",
    "live-migration": "live migration",
    "migrate": "cold migration",
}

_STAGES = {
    Stage.NO_CANDIDATES: "Placement gave no host",
    Stage.NO_HOST_LEFT: "of the hosts that Placement gave, none was left",
    Stage.CHECKS: "the checks before a live migration turned its hosts down",
    Stage.REFUSED: "Nova refused it",
    Stage.SERVICE: "a service of Nova's raised an exception",
    Stage.COMPUTE: "nova-compute failed",
    Stage.NOT_KEPT: "no host was found, and Nova does not keep why",
    Stage.UNKNOWN: "Nova does not tell why",
}


def summary(answer: ServerAnswer, now: datetime.datetime) -> str:
    """The answer in one line: how the server failed, and whether it would now."""
    return f"{_failed(answer, now)} {_now(answer)}"


def _failed(answer: ServerAnswer, now: datetime.datetime) -> str:
    name, failure, host = answer.state.name, answer.failure, answer.state.host
    if failure is None:
        where = f" on {host}" if host else ""
        return f"{name} is {answer.state.status}{where}: no failure of it is shown."
    when = f" {age(failure.when, now)}" if failure.when else ""
    return f"{_what(answer, failure)} failed{when}: {stage(failure)}."


def _what(answer: ServerAnswer, failure: Failure) -> str:
    if failure.action in ("", "create"):
        return answer.state.name
    return f"The {action(failure.action)} of {answer.state.name}"


def _now(answer: ServerAnswer) -> str:
    if answer.explanation is None:
        return "Whether hosts could take it now is not known."
    own = [h for h in answer.explanation.candidates if h.name == answer.state.node]
    verdict = words.verdict(answer.explanation)
    if own:
        verdict = f"{verdict[:-1]}, its own among them."
    if not verdict.startswith("Placement"):
        verdict = verdict[0].lower() + verdict[1:]
    return f"Now: {verdict}"


def action(name: str) -> str:
    """The action, as a noun."""
    return _ACTIONS.get(name, name)


def stage(failure: Failure) -> str:
    """The stage at which it failed, in a clause."""
    where = ranges(dict.fromkeys(failure.attempts))
    if failure.stage is Stage.RETRIES:
        tried = f"it was tried on {where}" if where else "hosts were tried"
        return f"{tried}, and failed on each"
    if failure.stage is Stage.COMPUTE and failure.host:
        return f"nova-compute of {failure.host} failed"
    if failure.stage is Stage.CHECKS and where:
        return f"the checks before a live migration turned down {where}"
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
    Source.SERVER: "as Nova keeps it with the server",
    Source.NOW: "as Glance has the image now",
    Source.GIVEN: "given by an option",
    Source.BOUND: "bound to the server now",
}

_HOW = {
    Name.MORE: " (disk_format is one)",
    Name.HOST: " ZONE:HOST or --on-host",
    Name.PORTS: " or --network",
}

_ALWAYS_HIDDEN = {
    Name.HOST: "a host that was named: Nova never shows it",
    Name.PORTS: "ports: those that it was asked for with are not bound to it",
    Name.VOLUME: "root volume: it can't be told which it is",
}


def known(
    parts: Iterable[Part], is_flavor_changed: bool | None = None
) -> Iterator[str]:
    """Lines on the known parts that have a value.

    :param is_flavor_changed: the flavor of that name changed, or is gone
    """
    for part in parts:
        if not part.is_known or (part.value is None and part.name in _OF_VALUE):
            continue
        value = f" {part.value}" if part.value else ""
        line = f"{part.name.value}{value}: {_source(part)}"
        if part.name is Name.FLAVOR and is_flavor_changed:
            line += "; no flavor of that name is like it any more"
        yield line


#: The parts that are not asked for where they have no value.
_OF_VALUE = frozenset([Name.ZONE, Name.HINTS, Name.GROUP, Name.PORTS])


def _source(part: Part) -> str:
    if part.name is Name.IMAGE and part.value is None:
        return "none, it boots from a volume"
    if part.name is Name.FLAVOR and part.source is Source.SERVER:
        return "the server's own copy"
    return _SOURCES[part.source]


def hidden(parts: Iterable[Part], minor: int) -> Iterator[str]:
    """Lines on the unknown parts, with the options that give them.

    :param minor: the minor version of the compute API that the server was read with
    """
    for part in parts:
        if part.is_known:
            continue
        option = OPTIONS.get(part.name)
        way = f"; {option}{_HOW.get(part.name, '')} gives it" if option else ""
        yield f"{why(part, minor)}{way}"


def why(part: Part, minor: int) -> str:
    """Why a part is not known.

    :param minor: the minor version of the compute API that the server was read with
    """
    name = part.name.value
    if part.problem is not None:
        return f"{name}: {part.problem!s}"
    if part.name in _ALWAYS_HIDDEN:
        return _ALWAYS_HIDDEN[part.name]
    if part.source is Source.NOT_SHOWN:
        return (
            f"{name}: taken for none; the compute API shows it from 2.{part.since}, "
            f"and was read with 2.{minor}"
        )
    if part.name is Name.IMAGE:
        return f"image {part.value}: it is deleted"
    return f"{name}: gone with the image"
