"""How many more servers fit: as text, as a document, and as metrics."""

from __future__ import annotations

import collections
import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Optional, TypeVar

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.judge.capacity import FlavorFit, KeptAway, Never
from osc_traitsched.core.judge.judge import deciding
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import RejectionCause, Share, breakdown
from osc_traitsched.core.nova.clause import HostFilter, Trait
from osc_traitsched.core.placement.facts import Room
from osc_traitsched.core.servers.drain import StuckReason
from osc_traitsched.core.servers.usage import Capacity
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.text import and_more, between, by_key, count, led, listed, ranges
from osc_traitsched.views import moves as drain_prose
from osc_traitsched.views import terminal
from osc_traitsched.views.diff import SinceDocument, since_lines
from osc_traitsched.views.explain import reasons, text, verdict, words
from osc_traitsched.views.explain.document import FlavorJson, ImageJson
from osc_traitsched.views.terminal import Gauge, Line, Tone

# How many more servers fit, on one screen.


_WIDTH = 80
#: Lines that others write: the cloud above, a hint and the shell below.
_OTHER_ROWS = 3
#: Fewer rows make no table.
_FEWEST_ROWS = 3
#: So many lines of one kind are above and below the table.
_MOST_CAUSES, _MOST_LINES = 6, 2
_BAR = 10
#: Eighths of a cell, and what is in use.
_EIGHTHS, _USED = " ▏▎▍▌▋▊▉█", "·"

_HEAD = ("flavor", "more fit", "on hosts", "most on one", "if empty")

COMPETE = "Flavors compete for the same hosts: do not add the rows."


def lines(
    found: Capacity, encoding: str = "ascii", width: int = 0, height: int = 0
) -> Iterator[Line]:
    """The answer, flavors without room, a table, and remarks.

    Names are not escaped yet.

    :param encoding: of the terminal, for the bars
    :param width: of the terminal; 0 for no limit
    :param height: of the terminal; 0 for no limit
    """
    above = [
        Line(
            answer_line(found),
            Tone.of(found.answer),
            None if found.is_change else found.reason,
        ),
        *(Line(text, Tone.DOUBT) for text in assumed(found)),
        *map(Line, _of_lost(found)),
        *since_lines(found.since),
        *map(Line, _without_room(found, width, _MOST_CAUSES if height else 0)),
    ]
    below = [Line(text) for text in _remarks(found)]
    used = sum(_height(each, width) for each in (*above, *below)) + _OTHER_ROWS
    most = max(height - used - 2, _FEWEST_ROWS) if height else 0
    flavors = [e for e in found.flavors if e.room.most or not height]
    table: Iterator[str] = iter(())
    if found.query.by and flavors:
        table = _matrix(flavors, found.query.by, width, most)
    elif found.is_change:
        table = _changes(found.flavors, most)
    elif len(flavors) > 1 or any(e.room.most or e.empty.most for e in flavors):
        table = _table(flavors, can_print(encoding), width, most)
    yield from (*above, *(Line(row, is_row=True) for row in table), *below)


def full(found: Capacity, width: int = 0) -> Iterator[Line]:
    """The flavors without room alone, a line for each cause."""
    starts = [kind(each) for each in found.flavors if not each.room.most]
    kinds = collections.Counter([*starts, *[_REJECTED] * len(found.rejected)])
    number, total = sum(kinds.values()), len(found.flavors) + len(found.rejected)
    parts = ", ".join(f"{kinds[each]} {each[:-2]}" for each in kinds)
    text = f"{number} of {count(total, 'flavor')} without room"
    tone = Tone.of(found.room_for_all)
    yield Line(f"{text}: {parts}." if parts else f"{text}.", tone)
    yield from (Line(text, Tone.DOUBT) for text in assumed(found))
    yield from map(Line, _without_room(found, width, 0))


def _height(line: Line, width: int) -> int:
    return -(-len(line.text) // width) if width and line.text else 1


def _remarks(found: Capacity) -> Iterator[str]:
    if len(found.flavors) > 1:
        yield COMPETE
    if not found.is_change:
        if found.empty_unread:
            yield f"Not in 'if empty': {count(found.empty_unread, 'full host')}."
        yield from _kept_away(found.flavors)
        yield from _stranded(found)
    yield from _at_most(found.flavors, found.is_change)
    if not found.is_change and len(found.flavors) == 1 and not found.query.by:
        yield from _reasons(found.flavors[0])


# Flavors without room, by cause.


def _without_room(found: Capacity, width: int, most: int) -> Iterator[str]:
    """A line for each cause, with the flavors, as many as the width has room for.

    :param most: lines; 0 for all
    """
    by_cause = by_key(
        ((kind(fit), cause(fit)), fit.name)
        for fit in (() if found.is_change else found.flavors)
        if not fit.room.most
    )
    is_about_hosts = found.removed and not found.query.flavors
    for rejected in () if is_about_hosts else found.rejected:
        why = (_REJECTED, f": {verdict.rejected(rejected)}")
        by_cause.setdefault(why, []).append(rejected.question.flavor["name"])
    causes = sorted(by_cause.items(), key=lambda item: -len(item[1]))
    shown = causes[: most or None]
    for (start, end), names in shown:
        number = f"{len(names)} " * (start == _FULL)
        yield _fitting(f"{number}{start}", names, end, width)
    hidden = sum(len(names) for _, names in causes[len(shown) :])
    if hidden:
        yield and_more(hidden, "flavor", "--full")


#: What stands before the names of flavors without room, by reason.
_KINDS = {
    Reason.FULL: "full: ",
    Reason.DISABLED: "not now: ",
    Reason.ISOLATED: "isolated: ",
    Reason.MISCONFIGURED: "never: ",
    Reason.REJECTED: "rejected: ",
    Reason.DEPENDS: "depends on nova.conf: ",
    Reason.UNKNOWN: "unknown: ",
}
_FULL, _NEVER = _KINDS[Reason.FULL], _KINDS[Reason.MISCONFIGURED]
_REJECTED = _KINDS[Reason.REJECTED]


def kind(fit: FlavorFit) -> str:
    """What stands before the name of a flavor without room: ``full: ``."""
    return _KINDS[fit.judgement.reason]


def cause(fit: FlavorFit) -> str:
    """Why a flavor has no room, behind the names of all flavors with this cause."""
    start = kind(fit)
    largest = f" {never(fit.never)}" if start == _NEVER and fit.never else ""
    if largest and fit.never and fit.never.is_of_all:
        return largest
    if start == _FULL and fit.limit:
        free = ""
        if fit.largest_free is not None:
            number, host = fit.largest_free
            free = f": largest free {number}{words.unit(fit.limit)} on {host}"
        return f" ({words.noun(fit.limit)}{free})"
    if not isinstance(fit.judgement, Judgement):
        return largest
    found = deciding(fit.judgement)
    shares = breakdown(found, lasting=True)
    if not shares:
        return largest
    if len(shares) == 1 and isinstance(shares[0].clause, HostFilter):
        all_of = f"all {len(shares[0].hosts)}"
        name = found.filtering.rejecter(shares[0].clause.name)
        return f": {name} rejects {all_of}"
    return f"{largest}: {', '.join(verdict.host_reasons(found, shares))}"


def _fitting(start: str, names: Sequence[str], end: str, width: int) -> str:
    for number in range(len(names), 0, -1):
        text = f"{start}{listed(names, most=number)}{end}"
        if not width or len(text) <= width:
            return text
    return text


def assumed(found: Capacity) -> Iterable[str]:
    """Lines on what the numbers depend on."""
    every = (*(each.judgement for each in found.flavors), *found.rejected)
    return text.remarks(every)


def answer_line(found: Capacity) -> str:
    """The answer in one line."""
    change = f"{_lost(found)}{_change(found)}"
    if found.query.at_least and (text := _shortness(found)):
        return f"{change}{text}"
    if len(found.flavors) == 1 and not found.rejected:
        return _of_one(found.flavors[0], change)
    total = len(found.flavors) + len(found.rejected)
    able = [each for each in found.flavors if each.answer is Answer.YES]
    may = [each for each in found.flavors if each.answer.is_open]
    number, verb, more = led(len(able), len(may), "")
    start = f"{change}{number} of {count(total, 'flavor')} {verb}still fit{more}"
    if not able:
        return f"{start}." if found.flavors else "No flavor can be counted."
    largest = max(able, key=_size)
    name = f"{start}; largest: {largest.name}"
    texts = (f"{name} ({_amounts(largest)}).", f"{name}.", f"{start}.")
    return next((text for text in texts if len(text) <= _WIDTH), texts[-1])


def _lost(found: Capacity) -> str:
    """Whether the hosts of ``--without`` can be lost; empty without it."""
    plan, host = found.drain, ranges(found.removed)
    if plan is None:
        return ""
    if plan.answer is not Answer.NO:
        return f"{host} {'may' if plan.answer.is_open else 'can'} be lost. "
    stuck = [each for each in plan.stuck if not each.depends]
    names = listed([each.server_move.state.name for each in stuck], most=3)
    its = "its" if len(found.removed) == 1 else "their"
    s = "s" * (len(stuck) == 1)
    is_rejected = any(each.why is StuckReason.REJECTED for each in stuck)
    verb = "can't move" if is_rejected else f"find{s} no host"
    some = f"{len(stuck)} of {its} {count(plan.total, 'server')}"
    of = f"{its} only server" if plan.total == 1 else some
    return f"{host} can't be lost: {of} {verb} ({names}). "


def _of_lost(found: Capacity) -> Iterator[str]:
    if found.drain is None:
        return
    if found.drain.answer is Answer.NO:
        yield f"host drain {','.join(found.drain.hosts)} shows why."
    else:
        yield drain_prose.summary(found.drain)


def _shortness(found: Capacity) -> str:
    """The flavors with room for fewer servers than wanted; empty if none is short."""
    wanted, fits = found.query.at_least, found.flavors
    if len(fits) == 1 and fits[0].answer.is_open and not fits[0].room.most:
        return ""
    rooms = {fit.name: fit.after or fit.room for fit in fits}
    rooms |= {each.question.flavor["name"]: Room(0, 0) for each in found.rejected}
    short = {name: room for name, room in rooms.items() if room.least < wanted}
    enough = [name for name in rooms if name not in short]
    parts = [f"{name}: {_number(room)} of {wanted}" for name, room in short.items()]
    if not parts:
        return ""
    are_open = {fit.name for fit in fits if fit.may_gain}
    is_sure = any(short[n].most < wanted for n in short.keys() - are_open)
    verb = "is short" if is_sure else "may be short as counted"
    first = parts[0].replace(":", f" {verb}:", 1)
    fit = f" ({', '.join(enough)} fit{'s' * (len(enough) == 1)})" if enough else ""
    return f"{'; '.join([first, *parts[1:]])}{fit}."


def _change(found: Capacity) -> str:
    parts = []
    if found.removed:
        parts.append(f"Without {ranges(found.removed)}")
    for name, number in found.query.added.items():
        start = "with" if parts else "With"
        parts.append(f"{start} {count(number, 'more host')} like {name}")
    if found.query.set_then:
        start = "with" if parts else "With"
        parts.append(f"{start} {', '.join(found.query.set_then)}")
    return f"{', '.join(parts)}: " if parts else ""


def _of_one(fit: FlavorFit, change: str) -> str:
    room = fit.after or fit.room
    if change:
        return f"{change}{_number(room)} more {fit.name} fit ({_number(fit.room)} now)."
    hosts = f"{len(fit.hosts)} of {count(fit.judgement.total_hosts, 'host')}"
    if not room.most:
        if fit.answer.is_open and isinstance(fit.judgement, Judgement):
            return reasons.headline(fit.judgement)
        return f"No more {fit.name} fit: {hosts}."
    text = _number(room)
    return f"{text[0].upper()}{text[1:]} more {fit.name} fit, on {hosts}."


def _number(room: Room) -> str:
    return between(room.least, room.most)


def _size(fit: FlavorFit) -> tuple[int, int, int]:
    flavor = fit.judgement.question.flavor
    return flavor["ram"], flavor["vcpus"], flavor["disk"]


def _amounts(fit: FlavorFit) -> str:
    flavor = fit.judgement.question.flavor
    return f"{flavor['vcpus']} VCPU, {flavor['ram']} MB"


# Tables.


def can_print(encoding: str | None) -> bool:
    """Whether an encoding has the characters of the bars."""
    try:
        f"{_EIGHTHS}{_USED}".encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def bar(part: int, whole: int, is_unicode: bool) -> str:
    """The share of a whole as a bar; empty without a whole."""
    if not whole:
        return ""
    eighths = min(part, whole) * _BAR * 8 // whole
    if part and not eighths:
        eighths = 1
    full, rest = divmod(eighths, 8)
    if not is_unicode:
        full += rest >= 4 or (not full and rest > 0)
        return "#" * full + "." * (_BAR - full)
    drawn = _EIGHTHS[8] * full + (_EIGHTHS[rest] if rest else "")
    return drawn + _USED * (_BAR - len(drawn))


def short(room: Room) -> str:
    """A number of servers in a cell: ``12``, ``<= 12``, ``3-12``."""
    if room.least == room.most:
        return f"{room.most}"
    return f"{room.least}-{room.most}" if room.least else f"<= {room.most}"


#: Columns that a narrow table lacks: first the bar.
_DISPENSABLE = (5, 3, 4, 2)


def _table(
    flavors: Sequence[FlavorFit], is_unicode: bool, width: int, most: int
) -> Iterator[str]:
    rows = [
        (*_HEAD, "left", "out first"),
        *(
            (
                fit.name,
                short(fit.room),
                f"{len(fit.hosts)}",
                f"{fit.largest}",
                short(fit.empty),
                bar(fit.room.most, fit.empty.most, is_unicode),
                words.noun(fit.limit) if fit.limit else "-",
            )
            for fit in _shown(_ordered(flavors), most)
        ),
    ]
    table = list(aligned(rows, {0, 5, 6}))
    for number in range(1, len(_DISPENSABLE) + 1):
        if width and max(map(len, table)) > width:
            kept = [n for n in range(len(rows[0])) if n not in _DISPENSABLE[:number]]
            to_left = {kept.index(n) for n in (0, 5, 6) if n in kept}
            table = list(aligned([[r[n] for n in kept] for r in rows], to_left))
    yield from table
    yield from _rest(flavors, most)


def _changes(flavors: Sequence[FlavorFit], most: int) -> Iterator[str]:
    """The flavors that lose most come first, and those that keep all last."""
    rooms = {fit.name: (fit.room, fit.after or fit.room) for fit in _ordered(flavors)}
    lost = {name: then.most - now.most for name, (now, then) in rooms.items()}
    rows = [
        (name, short(rooms[name][0]), short(rooms[name][1]), f"{lost[name]:+d}")
        for name in _shown(sorted(lost, key=lambda each: _rank(lost[each])), most)
    ]
    yield from aligned([("flavor", "now", "then", "difference"), *rows], {0})
    yield from _rest(flavors, most)


def _rank(difference: int) -> tuple[bool, bool, int]:
    return difference == 0, difference > 0, -abs(difference)


def _matrix(fits: Sequence[FlavorFit], by: str, width: int, most: int) -> Iterator[str]:
    """Flavors by zone, aggregate or host; the longer side is downward."""
    flavors = _ordered(fits)
    names = sorted({name for fit in flavors for name in fit.groups})
    cells = {
        (fit.name, name): short(fit.groups[name][1]) if name in fit.groups else "0"
        for fit in flavors
        for name in names
    }
    columns = [fit.name for fit in flavors]
    corner, rows = (by, names)
    if len(columns) > len(names):
        corner, rows, columns = "flavor", columns, names
        cells = {(name, fit): cell for (fit, name), cell in cells.items()}
    used = max(map(len, (corner, *_shown(rows, most)))) + 2
    shown: list[str] = []
    for column in columns:
        used += max(map(len, (column, *(cells[column, row] for row in rows)))) + 2
        if not width or used <= width or not shown:
            shown.append(column)
    table = [
        (row, *(cells[column, row] for column in shown)) for row in _shown(rows, most)
    ]
    yield from aligned([(corner, *shown), *table], {0})
    if len(columns) > len(shown):
        yield f"  {and_more(len(columns) - len(shown), 'column')}"
    yield from _rest(rows, most, "row")


_T = TypeVar("_T")


def _shown(rows: Sequence[_T], most: int) -> Sequence[_T]:
    return rows[: most or None]


def _ordered(flavors: Iterable[FlavorFit]) -> list[FlavorFit]:
    return sorted(flavors, key=lambda fit: (-fit.room.most, fit.name))


def aligned(rows: Sequence[Sequence[str]], to_left: set[int]) -> Iterator[str]:
    """Rows of a table, indented.

    :param to_left: numbers of the columns that are no figures
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = [
            cell.ljust(width) if place in to_left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths))
        ]
        yield f"  {'  '.join(cells)}".rstrip()


def _rest(rows: Sequence[object], most: int, noun: str = "flavor") -> Iterator[str]:
    if most and len(rows) > most:
        yield f"  {and_more(len(rows) - most, noun)}"


# Words below the table.


def condition(kept: KeptAway, judgement: Judgement) -> str:
    """What is wrong with hosts: ``2 hosts are disabled``."""
    share = Share(RejectionCause.CLAUSE, kept.hosts, kept.clause)
    what = verdict.share_words(share, judgement).what
    return f"{count(len(kept.hosts), 'host')} {what}"


def _kept_away(flavors: Sequence[FlavorFit]) -> Iterator[str]:
    found = [
        (kept, fit.name, condition(kept, fit.judgement))
        for fit in flavors
        for kept in (fit.kept_away if fit.room.most or fit.limit else ())
        if not isinstance(kept.clause, Trait) or kept.clause.forbidden
        if isinstance(fit.judgement, Judgement)
    ]
    found.sort(key=lambda row: -row[0].servers)
    texts: dict[str, str] = {}
    for kept, name, why in found:
        texts.setdefault(why, f"{kept.servers} more {name} would fit, but {why}.")
    yield from list(texts.values())[:_MOST_LINES]


def _stranded(found: Capacity) -> Iterator[str]:
    for each in found.stranded[:_MOST_LINES]:
        free = listed(words.amount(number, name) for name, number in each.free.items())
        noun = " and ".join(map(words.noun, each.short))
        yield f"Stranded: {free} on {count(len(each.hosts), 'host')} short of {noun}."


def never(found: Never) -> str:
    """Why no host could ever take a flavor: ``needs 16 VCPU, the largest ...``."""
    host = "host" if found.is_of_all else "suitable host"
    unit = words.unit(found.resource_class)
    largest = f"the largest {host} has {found.largest}{unit}"
    most = largest if found.largest else f"no {host} has any"
    if found.is_of_metal:
        noun = words.noun(found.resource_class)
        most = f"only bare metal suits it, and has no {noun} in Placement"
    return f"needs {words.amount(found.amount, found.resource_class)}, {most}"


def _at_most(flavors: Sequence[FlavorFit], is_change: bool) -> Iterator[str]:
    deciding = dict.fromkeys(name for fit in flavors for name in fit.deciding)
    if deciding:
        names = listed(map(reasons.name, deciding))
        gain = "; with other values more may fit" * any(e.may_gain for e in flavors)
        yield f"<= means at most, as counted: {names} may reject some hosts{gain}."
        if is_change:
            yield "The differences are between these bounds, not between exact numbers."
    if any(fit.room.least != fit.room.most and not fit.deciding for fit in flavors):
        yield "Ranges: trees of providers and shared pools fill up in several ways."


def _reasons(fit: FlavorFit) -> Iterator[str]:
    reasons = verdict.flavor_reasons(fit.judgement)
    # Of a flavor that never fits, the line with its cause names them.
    if reasons and (fit.room.most or kind(fit) != _NEVER):
        line = verdict.fitted("Other hosts: ", reasons)
        yield line if ":" in line else f"{line}: {reasons[0]}"


# The document of ``capacity``, and its numbers as Prometheus metrics.


def _image(capacity: Capacity) -> Optional[Mapping[str, Any]]:
    judgements = (*(fit.judgement for fit in capacity.flavors), *capacity.rejected)
    return next((one.question.image or None for one in judgements), None)


class ServerRange(JsonObject):
    """A number of servers; exact if both are equal."""

    min: int = field("least")
    """So many are sure."""
    max: int = field("most")
    """More are impossible."""


class GroupFit(JsonObject):
    """Room in a zone, in an aggregate, or on a host."""

    hosts: int = field(lambda group: group[0])
    """The hosts with room."""
    servers: ServerRange = field(lambda group: group[1])
    """The servers that fit on them."""
    suitable_hosts: int = field(lambda group: group[2])
    """The hosts with room, or that would have room if they were empty."""


class KeptAwayFit(JsonObject):
    """Hosts with room that fail one condition of the flavor."""

    condition: str = field(lambda pair: condition(*pair))
    """What is wrong with them, in words."""
    hosts: Iterable[str] = field(lambda pair: pair[0].hosts)
    """Their names."""
    servers: int = field(lambda pair: pair[0].servers)
    """The most servers that would fit on them."""


class FlavorCapacity(JsonObject):
    """How many more servers of a flavor fit. Never add the numbers of several flavors:
    they compete for the same hosts.
    """

    flavor: FlavorJson = field("judgement.question.flavor")
    """The flavor."""
    reason: Reason = field("judgement.reason")
    """Why a server fits now or none, in one word of :ref:`reasons`."""
    servers: ServerRange = field("room")
    """The servers that fit now."""
    hosts: int = field(lambda fit: len(fit.hosts))
    """The hosts with room."""
    most_on_one_host: int = field("largest")
    """The most servers on one host."""
    total_hosts: int = field("judgement.total_hosts")
    """How many hosts were judged."""
    first_short: Optional[str] = field(lambda fit: fit.limit or None)
    """The resource class that runs out first on most of these hosts; null without
    hosts, or if NUMA cells or devices run out first."""
    may_reject: Iterable[str] = field("deciding")
    """Host filters that may reject more than is known, since they read what no API
    shows."""
    if_empty: ServerRange = field("empty")
    """The servers that all suitable hosts would hold if nothing were in use."""
    after: Optional[ServerRange]
    """The servers that fit after the change; null without ``--without``,
    ``--with``, ``--set-then`` and ``--ratio``."""
    groups: dict[str, GroupFit]
    """Room by zone, by aggregate, or by host with room, as ``--by`` asks; empty without
    it. Never add them: a host can be in several aggregates, and hosts can share a pool.
    """
    kept_away: Iterable[KeptAwayFit] = field(
        lambda fit: [(kept, fit.judgement) for kept in fit.kept_away]
    )
    """Room on hosts that fail one condition only, the most servers first."""
    reasons: Iterable[str] = field(lambda fit: verdict.flavor_reasons(fit.judgement))
    """Why the other hosts are out, each counted once."""


class RejectedFlavor(JsonObject):
    """A flavor that Nova or Placement rejects."""

    flavor: FlavorJson = field("question.flavor")
    """The flavor."""
    reason: str = field(verdict.rejected)
    """Why."""


class StrandedAmounts(JsonObject):
    """Free amounts of hosts that no flavor of the answer fits."""

    short: Iterable[str]
    """The resource classes that run short there."""
    hosts: Iterable[str]
    """The hosts, by name."""
    free: dict[str, int]
    """What is free there of the other classes."""


class LostHosts(JsonObject):
    """The hosts of ``--without``, and what runs there."""

    hosts: Iterable[str] = field("removed")
    """Their compute nodes, by name."""
    summary: str = field(lambda capacity: drain_prose.summary(capacity.drain))
    """Whether their servers fit elsewhere, in words."""
    servers: int = field("drain.total")
    """The servers on them."""
    fit_elsewhere: int = field(lambda capacity: len(capacity.drain.steps))
    """Those of them that have a new host."""


class CapacityDocument(JsonObject):
    """What ``capacity`` prints."""

    schema: Literal[1]
    """The version of the document."""
    summary: str = field(answer_line)
    """The answer in one line."""
    image: Optional[ImageJson] = field(_image)
    """The image; null without one."""
    by: Optional[Annotated[str, ("zone", "aggregate", "host")]] = field("query.by")
    """How ``groups`` are divided; null without ``--by``."""
    flavors: Iterable[FlavorCapacity]
    """The flavors, by name."""
    rejected: Iterable[RejectedFlavor]
    """Flavors that no host is tried for, by name."""
    stranded: Iterable[StrandedAmounts]
    """Free amounts that none of these flavors can use, the most hosts first."""
    lost: Optional[LostHosts] = field(
        lambda capacity: capacity if capacity.drain else None
    )
    """The hosts that are taken away; null without ``--without``."""
    added: dict[str, int] = field(lambda capacity: dict(capacity.query.added))
    """How many more hosts like a host, by its name."""
    set_then: Iterable[str] = field("query.set_then")
    """The settings of ``--set-then``, and the ratios of ``--ratio``."""
    since: Optional[SinceDocument] = field("since", can_be_omitted=True)
    """The hosts of the flavor in an earlier snapshot, and what changed: with
    ``--since``."""
    unread_hosts: int = field("empty_unread")
    """Full hosts whose capacity was not read: ``if_empty`` lacks them."""


# The numbers as Prometheus' metrics.


def metrics(found: Capacity) -> str:
    """Gauges by flavor, and by zone, aggregate or host if asked for."""
    gauges = {
        "servers": "The most servers of the flavor that still fit.",
        "servers_sure": "Servers of the flavor that certainly still fit.",
    }
    if not found.is_change:
        gauges["hosts"] = "Hosts with room for a server of the flavor."
    if found.query.by is None:
        gauges["servers_if_empty"] = "Servers of the flavor that an empty cloud holds."
    samples = list(_samples(found))
    judgements = (*(fit.judgement for fit in found.flavors), *found.rejected)
    reasons = [
        ({"flavor": each.question.flavor["name"], "reason": each.reason.value}, 1)
        for each in judgements
    ]
    return terminal.text(
        [
            *(
                Gauge(
                    f"capacity_{name}",
                    text,
                    [(labels, values[name]) for labels, values in samples],
                )
                for name, text in gauges.items()
            ),
            Gauge(
                "capacity_reason", "Why a server of the flavor fits or none.", reasons
            ),
        ]
    )


def rows(found: Capacity) -> str:
    """A row for each flavor, or each of its groups, as CSV; without the last newline.

    The columns are the labels and gauges of :func:`metrics`, and what runs out first.
    """
    limits = {fit.name: fit.limit for fit in found.flavors}
    samples = [
        {**labels, **values, "first_short": limits.get(labels["flavor"], "")}
        for labels, values in _samples(found)
    ]
    text, none = io.StringIO(), Room(0, 0)
    groups = filter(None, [found.query.by])
    columns = ("flavor", *groups, *_values(0, none, none), "first_short")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(samples)
    return text.getvalue().removesuffix("\n")


def _samples(found: Capacity) -> Iterator[tuple[Mapping[str, str], Mapping[str, int]]]:
    by, none = found.query.by, Room(0, 0)
    for fit in found.flavors:
        flavor, room = {"flavor": fit.name}, fit.after or fit.room
        if by is None:
            yield flavor, _values(len(fit.hosts), room, fit.empty)
        for name, (hosts, inside, _) in fit.groups.items():
            yield {**flavor, by or "": name}, _values(hosts, inside, none)
    for each in found.rejected if by is None else ():
        yield {"flavor": each.question.flavor["name"]}, _values(0, none, none)


def _values(hosts: int, room: Room, empty: Room) -> Mapping[str, int]:
    return {
        "servers": room.most,
        "servers_sure": room.least,
        "hosts": hosts,
        "servers_if_empty": empty.most,
    }
