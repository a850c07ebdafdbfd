"""A flavor or an image, and where it could go: as text and as a document."""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, Optional

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.judge.capacity import FlavorFit
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.judge.reasons import breakdown
from osc_traitsched.core.nova.clause import MemberOf
from osc_traitsched.core.nova.prefilter import ISOLATION, name_of
from osc_traitsched.core.placement.facts import Room
from osc_traitsched.core.servers.state import ERROR
from osc_traitsched.core.servers.usage import (
    FlavorDifference,
    FlavorsView,
    FlavorView,
    ImageView,
)
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.text import and_more, between, by_key, count, led, listed, ranges
from osc_traitsched.views import capacity
from osc_traitsched.views.capacity import GroupFit, ServerRange
from osc_traitsched.views.diff import SinceDocument, since_lines
from osc_traitsched.views.explain import verdict, words
from osc_traitsched.views.explain.document import (
    FlavorHostsJson,
    FlavorJson,
    ImageJson,
    if_read,
)
from osc_traitsched.views.terminal import LABEL, Line, Tone

# One flavor.


#: So many reasons leave room for the others.
_MOST_LINES = 3


def flavor(view: FlavorView) -> Iterator[Line]:
    """One flavor: the first line counts how many more servers fit, and where."""
    judgement = view.judgement
    body = judgement.question.flavor
    verdict = f"{body['name']}: {words.size(body)}; {_room(view)}"
    yield Line(verdict, Tone.of(view.answer), judgement.reason)
    yield from (Line(text, Tone.DOUBT) for text in capacity.assumed(view.capacity))
    for name, text in _about_flavor(view):
        yield Line(f"  {name:<{LABEL}}{text}".rstrip())


def _room(view: FlavorView) -> str:
    fit = view.fit
    if fit is None:
        return f"rejected: {verdict.rejected(view.judgement)}"
    suited, hosts = count(len(fit.suited), "suitable host"), len(fit.hosts)
    where = f"{hosts} of {suited}" if hosts else f"{suited}, all full"
    where = where if fit.suited else "no host suits it"
    is_open = fit.answer is Answer.DEPENDS and not hosts
    end = "; depends on nova.conf." if is_open else "."
    return f"room for {between(fit.room.least, fit.room.most)} more ({where}){end}"


def _about_flavor(view: FlavorView) -> Iterator[tuple[str, str]]:
    specs, fit = view.judgement.question.flavor["extra_specs"], view.fit
    requires = (f"{key}={value}" for key, value in sorted(specs.items()))
    yield "requires", listed(requires) or "nothing but its size"
    for name, texts in (
        ("by zone", _zones_of(fit) if fit else ()),
        ("not on", _by_reason(never_on_of(view))),
        ("never fits", [capacity.never(fit.never)] if fit and fit.never else ()),
        ("out of", _shortages(fit) if fit else ()),
    ):
        if texts:
            yield name, "; ".join(texts)
    yield "servers", _servers_of(view)
    if isinstance(view.images, CloudBroke):
        yield "cannot boot", f"unknown: {view.images!s}"
    elif images := _by_reason(images_of(view)):
        more = f"; {view.unjudged} not judged" if view.unjudged else ""
        yield "cannot boot", f"{'; '.join(images)}{more}"
    yield "projects", _projects_of(view)


def _zones_of(fit: FlavorFit) -> list[str]:
    return [
        f"{name} {capacity.short(room)} ({hosts} of {suited})"
        for name, (hosts, room, suited) in fit.groups.items()
        if suited
    ]


def _shortages(fit: FlavorFit) -> list[str]:
    return [
        f"{words.noun(name)} on {count(len(roots), 'suitable host')}"
        for name, roots in fit.short.items()
    ]


def _by_reason(names: Mapping[str, Sequence[str]]) -> list[str]:
    texts = [f"{ranges(alike)} ({why})" for why, alike in names.items()]
    if len(texts) > _MOST_LINES:
        texts[_MOST_LINES:] = [and_more(len(texts) - _MOST_LINES, "reason", "-f json")]
    return texts


def never_on_of(view: FlavorView) -> dict[str, list[str]]:
    """Hosts, or their isolated aggregates, by why the flavor never fits there."""
    return _out(view.judgement, view.fit.suited if view.fit else ())


def _out(judgement: RequestResult, left_out: Collection[str]) -> dict[str, list[str]]:
    names_of: dict[str, list[str]] = {}
    if isinstance(judgement, RefusedRequest):
        return names_of
    for share in breakdown(judgement, left_out, lasting=True):
        clause, names = share.clause, list(share.hosts)
        why = verdict.share_words(share, judgement).what
        if clause is not None and verdict.is_disabling(clause):
            why = "disabled"
        if isinstance(clause, MemberOf) and name_of(clause) == ISOLATION:
            names = words.aggregates(clause.aggregates, judgement.question)
            why = "isolated"
        names_of.setdefault(why, []).extend(names)
    return names_of


def _servers_of(view: FlavorView) -> str:
    if isinstance(view.servers, CloudBroke):
        return f"unknown: {view.servers!s}"
    counts = (f"{len(names)} {state}" for state, names in view.servers.items())
    failed = view.servers.get(ERROR, ())
    return f"{', '.join(counts) or 'none'}{f': {listed(failed)}' if failed else ''}"


def images_of(view: FlavorView) -> dict[str, list[str]]:
    """Public images that can't go with the flavor, by why."""
    return by_key((_why(found), name) for name, found in view.unusable_images.items())


def _why(found: RequestResult) -> str:
    why = verdict.rejected(found)
    if not why and isinstance(found, Judgement):
        shares = breakdown(found, lasting=True)
        why = next(verdict.host_reasons(found, shares), "")
    return why


def _projects_of(view: FlavorView) -> str:
    if view.projects is None:
        return "all projects"
    if isinstance(view.projects, CloudBroke):
        return f"unknown: {view.projects!s}"
    is_owners = len(view.projects) == 1 and view.judgement.question.spec.project
    judged = "; judged as this project" if is_owners else ""
    return f"{listed(view.projects) or 'none'}{judged}"


class FlavorUseDocument(JsonObject):
    """A flavor: hosts that suit it, servers that have it, who may use it."""

    schema: Literal[1]
    """The version of the document."""
    flavor: FlavorJson = field("judgement.question.flavor")
    """The flavor."""
    project_id: Optional[str] = field("judgement.question.project")
    """The ID of the project that its hosts are judged for."""
    reason: Reason = field("judgement.reason")
    """Why a server fits now or none, in one word of :ref:`reasons`."""
    rejected: Optional[str] = field(
        lambda view: None if view.fit else verdict.rejected(view.judgement)
    )
    """Why Nova or Placement rejects it; null if neither does."""
    requires: dict[str, str] = field(
        lambda view: view.judgement.question.flavor["extra_specs"]
    )
    """Its extra specs."""
    servers_that_fit: ServerRange = field(
        lambda view: view.fit.room if view.fit else Room(0, 0)
    )
    """How many more servers fit now."""
    suitable_hosts: int = field(lambda view: len(view.fit.suited) if view.fit else 0)
    """Hosts that fit now or if they were empty."""
    zones: dict[str, GroupFit] = field(lambda view: view.fit.groups if view.fit else {})
    """All zones, by name."""
    never_on: dict[str, Iterable[str]] = field(never_on_of)
    """Other hosts, or their isolated aggregates, by why they are out."""
    out_of: dict[str, int] = field(
        lambda view: {
            name: len(roots)
            for fit in view.capacity.flavors
            for name, roots in fit.short.items()
        }
    )
    """Resource classes that run out, with the number of suitable hosts that lack it."""
    servers: Optional[dict[str, Iterable[str]]] = field(
        lambda view: if_read(view.servers)
    )
    """Names of the servers by state; null if this user may not list them."""
    unusable_images: Optional[dict[str, Iterable[str]]] = field(
        lambda view: None if isinstance(view.images, CloudBroke) else images_of(view)
    )
    """Public images that can't go with it, by why; null if they can't be read."""
    unjudged_images: int = field("unjudged")
    """Public images that were not judged: the first 30 kinds are."""
    is_public: bool = field(lambda view: view.projects is None)
    """Whether all projects may use it."""
    projects: Optional[Iterable[str]] = field(lambda view: if_read(view.projects))
    """Names of the projects that may use it; null for all, or if hidden."""


# Flavors side by side.


#: Of a table on a terminal.
_WIDTH = 80
#: Flavors that share its width, at most.
_ABREAST = 4


def flavors(view: FlavorsView) -> Iterator[Line]:
    """The first line counts the differences; then a line for each, and hosts."""
    fits, differences = view.fits, view.differences
    names = [fit.name for fit in fits]
    what = count(len(differences), "difference") if differences else "no difference"
    reason = Reason.first(fit.judgement.reason for fit in fits)
    yield Line(f"{listed(names)}: {what}.", Tone.of(view.answer), reason)
    yield from (Line(text, Tone.DOUBT) for text in capacity.assumed(view.capacity))
    labels = [*map(_label, differences), "hosts now"]
    # Two spaces are before each column.
    width = (_WIDTH - 2 - max(map(len, labels))) // min(len(fits), _ABREAST) - 2
    now = (view.capacity.names(fit.hosts) for fit in fits)
    suited = (view.capacity.names(fit.suited) for fit in fits)
    rows: list[tuple[str, ...]] = [
        ("", *names),
        *((_label(each), *map(_value, each.values)) for each in differences),
        ("room for", *(_room_of(fit) for fit in fits)),
        ("hosts now", *(_within(width, hosts) for hosts in now)),
        ("if empty", *(_within(width, hosts) for hosts in suited)),
    ]
    yield from (Line(row, is_row=True) for row in _side_by_side(rows))
    for each in view.capacity.rejected:
        name = each.question.flavor["name"]
        yield Line(f"{name} is rejected: {verdict.rejected(each)}")


def _side_by_side(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Tables below each other, with as many flavors each as a terminal has room for."""
    first, *widths = (max(map(len, column)) + 2 for column in zip(*rows))
    start, number = 1, len(widths)
    while start <= number:
        end, used = start + 1, first + widths[start - 1]
        while end <= number and used + widths[end - 1] <= _WIDTH:
            used += widths[end - 1]
            end += 1
        shown = [(row[0], *row[start:end]) for row in rows]
        yield from ("",) if start > 1 else ()
        yield from capacity.aligned(shown, {*range(end)})
        start = end


def _within(width: int, hosts: Sequence[str]) -> str:
    """Hosts in a cell, at least the first ones; dots stand for others."""
    first, *others = parts = ranges(hosts).split(", ")
    least = first if others else ""
    return verdict.fitted("", parts, least, width) or first or "-"


def _label(difference: FlavorDifference) -> str:
    # Without a scope, it may be named like a size.
    is_plain = difference.is_extra_spec and ":" not in difference.key
    return f"{difference.key}{' (extra spec)' * is_plain}"


def _value(value: object) -> str:
    return "-" if value is None else str(value)


def _room_of(fit: FlavorFit) -> str:
    if isinstance(fit.judgement, RefusedRequest):
        return "rejected"
    return between(fit.room.least, fit.room.most)


class FlavorDifferenceJson(JsonObject):
    """A size or an extra spec that differs."""

    key: str
    """The size, or the key of the extra spec."""
    is_extra_spec: bool
    """Whether it is an extra spec, which may be named like a size."""
    values: Iterable[Optional[str]] = field(
        lambda item: [None if value is None else str(value) for value in item.values]
    )
    """The value of each flavor; null if it has none."""


class FlavorColumn(JsonObject):
    """One of the flavors."""

    flavor: FlavorJson = field("judgement.question.flavor")
    """The flavor."""
    reason: Reason = field("judgement.reason")
    """Why a server fits now or none, in one word of :ref:`reasons`."""
    servers_that_fit: ServerRange = field("room")
    """How many more servers fit now."""
    hosts: Iterable[str] = field(
        lambda fit, whole: whole.value.capacity.names(fit.hosts)
    )
    """Hosts with room."""
    suitable_hosts: Iterable[str] = field(
        lambda fit, whole: whole.value.capacity.names(fit.suited)
    )
    """Hosts that have room, or would if they were empty."""


class FlavorsDocument(JsonObject):
    """Flavors side by side."""

    schema: Literal[1]
    """The version of the document."""
    differences: Iterable[FlavorDifferenceJson]
    """What differs."""
    flavors: Iterable[FlavorColumn] = field("fits")
    """The flavors, in the order of the command."""


# One image.


def image(view: ImageView) -> Iterator[Line]:
    """One image: the first line names the hosts with room, and those if empty."""
    room = view.capacity
    image_name = view.image.get("name") or view.image.get("id")
    hosts, ever = view.capacity.names(view.now), view.capacity.names(view.suited)
    total = max((each.total_hosts for each in room.judgements), default=0)
    fit = sum(each.answer is Answer.YES for each in room.flavors)
    may = sum(each.answer.is_open for each in room.flavors)
    number, can, more = led(fit, may)
    where = f"{len(hosts)} of {count(total, 'host')} now{_named(hosts)}, "
    where += f"{len(ever)} if empty{_named(ever if ever != hosts else ())}"
    flavors = f"{number} of {count(len(room.judgements), 'flavor')} {can}boot it{more}"
    reason = Reason.first(each.reason for each in room.judgements)
    tone = Tone.of(Answer.best(each.answer for each in room.judgements))
    yield Line(f"{image_name}: {where}; {flavors}.", tone, reason)
    yield from (Line(text, Tone.DOUBT) for text in capacity.assumed(room))
    yield from since_lines(view.since)
    for name, texts in (
        ("not on", _by_reason(_not_on(view))),
        *_by_cause(view).items(),
        ("servers", _states(view)),
    ):
        if texts:
            yield Line(f"  {name:<{LABEL}}{'; '.join(texts)}")
    yield Line("explain FLAVOR IMAGE shows hosts, fixes and what depends on nova.conf.")


#: So many names of each state.
_MOST_SERVERS = 5
#: So many reasons for which flavors get no host, those of most flavors first.
_MOST_CAUSES = 4


def _states(view: ImageView) -> list[str]:
    if isinstance(view.servers, CloudBroke):
        return [f"unknown: {view.servers!s}"]
    states = [
        f"{len(names)} {state}: {listed(names, most=_MOST_SERVERS)}"
        for state, names in view.servers.items()
    ] or ["none"]
    # Hosts and flavors are those of the project.
    is_of_one = view.capacity.judgements[0].question.spec.project is not None
    return [f"{'of all projects: ' * is_of_one}{states[0]}", *states[1:]]


def _named(hosts: Sequence[str]) -> str:
    return f" ({ranges(hosts)})" if hosts else ""


def _not_on(view: ImageView) -> Mapping[str, Sequence[str]]:
    """Other hosts, by why most flavors never fit there."""
    every = (_out(fit.judgement, view.suited) for fit in view.capacity.flavors)
    counted = collections.Counter(
        tuple((why, tuple(names)) for why, names in each.items()) for each in every
    )
    return {why: names for each, _ in counted.most_common(1) for why, names in each}


def _by_cause(view: ImageView) -> dict[str, list[str]]:
    """Names of flavors by whether they fit, with why not, as ``capacity`` says it."""
    names = by_key((_cause(fit), fit.name) for fit in view.capacity.flavors)
    for each in view.capacity.rejected:
        key = ("rejected", f" ({verdict.rejected(each, has_remedy=False)})")
        names.setdefault(key, []).append(each.question.flavor["name"])
    found: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for (label, why), flavors in sorted(names.items(), key=lambda item: -len(item[1])):
        if len(found.setdefault(label, [])) < _MOST_CAUSES:
            found[label].append(f"{listed(flavors)}{why}")
        else:
            others.setdefault(label, []).extend(flavors)
    for label, flavors in others.items():
        found[label].append(f"{listed(flavors)} (other reasons: -f json)")
    first = ("now", "may")
    labels = sorted(
        found, key=lambda label: (label not in first, label != "now", label)
    )
    return {label: found[label] for label in labels}


def _cause(fit: FlavorFit) -> tuple[str, str]:
    """Whether a flavor fits, and why not."""
    if fit.answer is Answer.YES:
        return "now", ""
    if fit.answer.is_open:
        return "may", " (depends on nova.conf)" * (fit.answer is Answer.DEPENDS)
    return capacity.kind(fit)[:-2], capacity.cause(fit)


class ImageDocument(JsonObject):
    """An image: the flavors that can boot it, their hosts, and its servers."""

    schema: Literal[1]
    """The version of the document."""
    image: ImageJson
    """The image."""
    hosts: Iterable[str] = field(lambda view: view.capacity.names(view.now))
    """Hosts with room for a server of some flavor."""
    suitable_hosts: Iterable[str] = field(lambda view: view.capacity.names(view.suited))
    """Hosts that have room for some flavor now, or if they were empty."""
    flavors: Iterable[FlavorHostsJson] = field(
        lambda view: sorted(
            view.capacity.judgements, key=lambda each: str(each.question.flavor["name"])
        )
    )
    """All flavors that are enabled and that the project may use, by name."""
    servers: Optional[dict[str, Iterable[str]]] = field(
        lambda view: if_read(view.servers)
    )
    """Names of the servers of all projects, by state; null if hidden."""
    since: Optional[SinceDocument] = field("since", can_be_omitted=True)
    """The hosts in an earlier snapshot, and what changed: with ``--since``."""
