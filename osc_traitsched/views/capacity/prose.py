"""How many more servers fit, on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.judge.capacity import FlavorFit, KeptAway, Never
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import RejectionCause, Share
from osc_traitsched.core.placement.facts import Room
from osc_traitsched.core.servers.usage import Capacity
from osc_traitsched.text import and_more, between, count, listed, ranges
from osc_traitsched.views.drain import prose as drain_prose
from osc_traitsched.views.explain import by_flavor, depends, headline, words
from osc_traitsched.views.terminal import Line, Tone

_WIDTH = 80
#: So many flavors, or rows of a matrix, leave room for the words below them.
_MOST_ROWS = 12
#: So many lines of one kind are below the table.
_MOST_LINES = 2
_LONGEST_NAME, _LONGEST_CLASS = 22, 11
_BAR = 10
#: Eighths of a cell, and what is in use.
_EIGHTHS, _USED = " ▏▎▍▌▋▊▉█", "·"

_HEAD = ("flavor", "more fit", "on hosts", "most on one", "if empty")

COMPETE = "Flavors compete for the same hosts: do not add the rows."


def lines(found: Capacity, encoding: str = "ascii") -> Iterator[Line]:
    """The answer, a table, and remarks. Names are not escaped yet.

    :param encoding: of the terminal, for the bars
    """
    answer = Answer.best(each.answer for each in found.flavors)
    reason = Reason.first(each.judgement.reason for each in found.flavors)
    tone = Tone.of(answer)
    yield Line(summary(found), tone, None if found.is_change else reason)
    yield from (Line(text, Tone.DOUBT) for text in assumed(found))
    if found.drain is not None:
        yield Line(drain_prose.summary(found.drain))
    if found.query.by and found.flavors:
        yield from map(Line, _matrix(found))
    elif found.is_change:
        yield from map(Line, _changes(found.flavors))
    elif found.flavors:
        yield from map(Line, _table(found.flavors, can_print(encoding)))
    if len(found.flavors) > 1:
        yield Line(COMPETE)
    if found.empty_unread and not found.is_change:
        yield Line(f"Not in 'if empty': {count(found.empty_unread, 'full host')}.")
    if not found.is_change:
        yield from map(Line, _kept_away(found.flavors))
        yield from map(Line, _stranded(found))
        nevers = [f"{e.name} {never(e.never)}." for e in found.flavors if e.never]
        yield from map(Line, _few("Never", nevers))
    yield from map(Line, _at_most(found.flavors))
    flavors = [each.question.flavor["name"] for each in found.rejected]
    rejected = map(by_flavor.rejected, found.rejected)
    texts = [f"{name}: {why}" for name, why in zip(flavors, rejected)]
    yield from map(Line, _few("Rejected", texts))
    if not found.is_change and len(found.flavors) == 1 and not found.query.by:
        yield from map(Line, _reasons(found.flavors[0]))


def assumed(found: Capacity) -> Iterable[str]:
    """Lines on what the numbers depend on."""
    every = (*(each.judgement for each in found.flavors), *found.rejected)
    return by_flavor.remarks(every)


def summary(found: Capacity) -> str:
    """The answer in one line."""
    change = _change(found)
    if len(found.flavors) == 1 and not found.rejected:
        return _of_one(found.flavors[0], change)
    total = len(found.flavors) + len(found.rejected)
    able = [each for each in found.flavors if each.answer is Answer.YES]
    may = [each for each in found.flavors if each.answer.is_open]
    more = f", {len(may)} more may" if may else ""
    start = f"{change}{len(able)} of {count(total, 'flavor')} still fit{more}"
    if not able:
        return f"{start}." if found.flavors else "No flavor can be counted."
    largest = max(able, key=_size)
    name = f"{start}; largest: {_cut(largest.name)}"
    texts = (f"{name} ({_amounts(largest)}).", f"{name}.", f"{start}.")
    return next((text for text in texts if len(text) <= _WIDTH), texts[-1])


def _change(found: Capacity) -> str:
    parts = []
    if found.removed:
        parts.append(f"Without {ranges(found.removed)}")
    for name, number in found.query.added.items():
        start = "with" if parts else "With"
        parts.append(f"{start} {count(number, 'more host')} like {name}")
    return f"{', '.join(parts)}: " if parts else ""


def _of_one(fit: FlavorFit, change: str) -> str:
    room = fit.after or fit.room
    if change:
        return f"{change}{_number(room)} more {fit.name} fit ({_number(fit.room)} now)."
    hosts = f"{len(fit.hosts)} of {count(fit.judgement.total_hosts, 'host')}"
    if not room.most and fit.answer.is_open:
        return depends.headline(fit.judgement)
    if not room.most:
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


def _table(flavors: Sequence[FlavorFit], is_unicode: bool) -> Iterator[str]:
    head = (*_HEAD, "left", "out first")
    rows = [
        (
            _cut(fit.name),
            short(fit.room),
            f"{len(fit.hosts)}",
            f"{fit.largest}",
            f"{fit.empty.most}",
            bar(fit.room.most, fit.empty.most, is_unicode),
            _cut(words.noun(fit.limit), _LONGEST_CLASS) if fit.limit else "-",
        )
        for fit in _ordered(flavors)[:_MOST_ROWS]
    ]
    table = list(_aligned([head, *rows], {0, 5, 6}))
    if max(map(len, table)) > _WIDTH:
        without_bar = [(*row[:5], row[6]) for row in (head, *rows)]
        table = list(_aligned(without_bar, {0, 5}))
    yield from table
    yield from _rest(flavors)


def _changes(flavors: Sequence[FlavorFit]) -> Iterator[str]:
    head = ("flavor", "now", "then", "difference")
    rows = [
        (
            _cut(fit.name),
            short(fit.room),
            short(fit.after or fit.room),
            f"{(fit.after or fit.room).most - fit.room.most:+d}",
        )
        for fit in _ordered(flavors)[:_MOST_ROWS]
    ]
    yield from _aligned([head, *rows], {0})
    yield from _rest(flavors)


def _matrix(found: Capacity) -> Iterator[str]:
    """Flavors by zone, aggregate or host; the longer side is downward."""
    flavors = _ordered(found.flavors)
    names = sorted({name for fit in flavors for name in fit.groups})
    cells = {
        (fit.name, name): short(fit.groups[name][1]) if name in fit.groups else "0"
        for fit in flavors
        for name in names
    }
    columns = [fit.name for fit in flavors]
    by = found.query.by or ""
    corner, rows = (by, names)
    if len(columns) > len(names):
        corner, rows, columns = "flavor", columns, names
        cells = {(name, fit): cell for (fit, name), cell in cells.items()}
    width = max([len(corner), *(len(_cut(each)) for each in rows[:_MOST_ROWS])]) + 2
    shown: list[str] = []
    for column in columns:
        widest = max(len(cells[column, row]) for row in rows) if rows else 0
        width += max(len(_cut(column)), widest) + 2
        if width <= _WIDTH or not shown:
            shown.append(column)
    table = [
        (_cut(row), *(cells[column, row] for column in shown))
        for row in rows[:_MOST_ROWS]
    ]
    yield from _aligned([(corner, *map(_cut, shown)), *table], {0})
    left = [
        (len(columns) - len(shown), "column"),
        (len(rows) - _MOST_ROWS, "row"),
    ]
    for number, noun in left:
        if number > 0:
            yield f"  {and_more(number, noun, '-f json')}"


def _ordered(flavors: Iterable[FlavorFit]) -> list[FlavorFit]:
    return sorted(flavors, key=lambda fit: (-fit.room.most, fit.name))


def _aligned(rows: Sequence[Sequence[str]], to_left: set[int]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = [
            cell.ljust(width) if place in to_left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths))
        ]
        yield f"  {'  '.join(cells)}".rstrip()


def _rest(flavors: Sequence[FlavorFit]) -> Iterator[str]:
    if len(flavors) > _MOST_ROWS:
        yield f"  {and_more(len(flavors) - _MOST_ROWS, 'flavor', '-f json')}"


def _cut(name: str, most: int = _LONGEST_NAME) -> str:
    return name if len(name) <= most else f"{name[: most - 3]}..."


# Words below the table.


def condition(kept: KeptAway, judgement: Judgement) -> str:
    """What is wrong with hosts: ``2 hosts are disabled``."""
    share = Share(RejectionCause.CLAUSE, kept.hosts, kept.clause)
    text = headline.share_text(share, judgement, is_of_many=True)
    return f"{count(len(kept.hosts), 'host')} {text.partition(' ')[2]}"


def _kept_away(flavors: Sequence[FlavorFit]) -> Iterator[str]:
    found = [(kept, fit) for fit in flavors for kept in fit.kept_away]
    found.sort(key=lambda pair: -pair[0].servers)
    texts: dict[str, str] = {}
    for kept, fit in found:
        why = condition(kept, fit.judgement)
        texts.setdefault(why, f"{kept.servers} more {fit.name} would fit, but {why}.")
    yield from list(texts.values())[:_MOST_LINES]


def _stranded(found: Capacity) -> Iterator[str]:
    for each in found.stranded[:_MOST_LINES]:
        free = listed(words.amount(number, name) for name, number in each.free.items())
        noun = " and ".join(map(words.noun, each.short))
        yield f"Stranded: {free} on {count(len(each.hosts), 'host')} short of {noun}."


def never(found: Never) -> str:
    """Why no host could ever take a flavor: ``needs 16 VCPU, the largest ...``."""
    largest = f"the largest host has {found.largest}{words.unit(found.resource_class)}"
    most = largest if found.largest else "no host has any"
    return f"needs {words.amount(found.amount, found.resource_class)}, {most}"


def _few(start: str, texts: Sequence[str]) -> Iterator[str]:
    yield from (f"{start}: {text}" for text in texts[:_MOST_LINES])
    if len(texts) > _MOST_LINES:
        yield f"{start}: {count(len(texts) - _MOST_LINES, 'more flavor')}."


def _at_most(flavors: Sequence[FlavorFit]) -> Iterator[str]:
    deciding = dict.fromkeys(name for fit in flavors for name in fit.deciding)
    if deciding:
        names = listed(map(depends.name, deciding))
        yield f"<= means at most: {names} may reject some hosts."
    if any(fit.room.least != fit.room.most and not fit.deciding for fit in flavors):
        yield "Ranges: trees of providers and shared pools fill up in several ways."


def _reasons(fit: FlavorFit) -> Iterator[str]:
    reasons = by_flavor.reasons(fit.judgement)
    if reasons:
        yield headline.fitted("Other hosts: ", reasons)
