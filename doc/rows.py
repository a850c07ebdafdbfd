"""Tables of the reference, from the rows of filters, weighers, prefilters, options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from osc_traitsched.commands.base import ExitCode
from osc_traitsched.core.answer import Reason
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.options import OPTIONS, Option, Value
from osc_traitsched.core.nova.weighers import WEIGHERS
from osc_traitsched.core.releases import NEWEST, OLDEST, RELEASES
from osc_traitsched.text import option
from osc_traitsched.views import (
    candidates,
    check,
    config,
    host,
    listing,
    misplaced,
    trait,
)
from osc_traitsched.views import desired as plan
from osc_traitsched.views.explain import reasons

_Cells = Iterable[tuple[str, ...]]


_NOTHING, _ANY = Snapshot(()), listing.Detail()
_SHORT = "isolate", "unisolate", "trait rename", "trait retire", "add --like"

#: The columns of the commands that print rows, and those that only JSON has.
_COLUMNS: Mapping[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("list",): (listing.by_host(_NOTHING, (), _ANY)[0], ()),
    ("list --tree",): (listing.by_tree(_NOTHING, (), _ANY)[0], ()),
    ("list --by-trait",): (listing.by_trait({}, _ANY)[0], ()),
    ("trait list",): (trait.rows((), everything=True)[0], ()),
    ("add",): (listing.ADDED, ()),
    ("remove",): (listing.REMOVED[:-1], listing.REMOVED[-1:]),
    _SHORT: (listing.STEPS[:-1], listing.STEPS[-1:]),
    ("plan", "apply"): (plan.COLUMNS, plan.MORE_COLUMNS),
    ("candidates",): (candidates.rows((), Filtering())[0], ()),
    ("server misplaced",): (misplaced.COLUMNS, ()),
    ("check",): (check.COLUMNS[:-1], check.COLUMNS[-1:]),
    ("mirror repair",): (listing.REPAIRED, ()),
    ("aggregate list",): (listing.rows((), True, True, {})[0], ()),
    ("zone list",): (host.zones(())[0], ()),
    ("config show",): (config.COLUMNS, ()),
    ("config doctor",): (config.DOCTOR_COLUMNS, ()),
    ("filter try FILTER",): (reasons.FILTER_COLUMNS, ()),
    ("filter try WEIGHER",): (reasons.WEIGHER_COLUMNS, ()),
}


#: A table that a page has itself, so that it is whole without a build, too.
_WRITTEN = re.compile(
    r"^(?P<head>\.\. Written by doc/refresh\.py: (?P<kind>\S+)\n\n)"
    r"\.\. list-table::\n(?:   .*\n|\n(?=   ))*",
    re.M,
)


def table(kind: str) -> str:
    """One of :data:`TABLES` as reStructuredText."""
    head, rows = TABLES[kind]
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for cells in (head, *rows()):
        for number, cell in enumerate(cells):
            lines.append(f"   {' ' if number else '*'} - {cell}".rstrip())
    return "\n".join(lines)


def refreshed(page: str) -> str:
    """The page with today's rows in the tables that it has itself."""
    return _WRITTEN.sub(lambda found: f"{found['head']}{table(found['kind'])}\n", page)


def _reasons() -> Iterator[tuple[str, ...]]:
    promises = re.findall(r":ivar (\w+): ([^:]+)(?=:|$)", inspect.getdoc(Reason) or "")
    for name, promise in promises:
        yield f"``{Reason[name].value}``", " ".join(promise.split())


def _exit_codes() -> Iterator[tuple[str, ...]]:
    for code in ExitCode:
        yield str(int(code)), code.meaning


def _filters() -> Iterator[tuple[str, ...]]:
    for row in FILTERS.values():
        names = ", ".join(map(_code, row.options))
        does = f"{_does(row.judge)} Reads {names}." if names else _does(row.judge)
        yield f"``{row.name}``", does, _span(row.since, row.until)


def _weighers() -> Iterator[tuple[str, ...]]:
    for row in WEIGHERS.values():
        default = _text(OPTIONS[row.option].default)
        does = f"{_does(row.weigh)} Times {_code(row.option)}, by default {default}."
        yield f"``{row.name}``", does, _span(row.since, row.until)


def _prefilters() -> Iterator[tuple[str, ...]]:
    for row in prefilter.PREFILTERS:
        runs = f"Runs with {_code(row.option)}." if row.option else "Always runs."
        yield f"``{row.name}``", f"{_does(row.function)} {runs}", _span(row.since)


def _options() -> Iterator[tuple[str, ...]]:
    for row in OPTIONS.values():
        name = filter(None, (_code(row.name), _span(row.since, row.until)))
        yield " ".join(name), _lines((_text(row.default), *_others(row)))


def _switches() -> Iterator[tuple[str, ...]]:
    for row in OPTIONS.values():
        if row.switches:
            names = (*filter(None, [row.needs]), row.name)
            options = ", ".join(map(_code, names))
            span = _span(row.since, row.until)
            yield f"``{row.switches[0]}``", options, span, _lines(_others(row))


def _columns() -> Iterator[tuple[str, ...]]:
    for commands, (columns, more) in _COLUMNS.items():
        yield _codes(commands), _codes(columns), _codes(more)


#: The head and the rows of each table, by its name.
TABLES: Mapping[str, tuple[tuple[str, ...], Callable[[], _Cells]]] = {
    "host-filters": (("Filter", "What it does", "Nova"), _filters),
    "weighers": (("Weigher", "What it weighs", "Nova"), _weighers),
    "prefilters": (("Prefilter", "What it does", "Nova"), _prefilters),
    "options": (("Option", "Default, and where it differs"), _options),
    "reasons": (("``reason``", "What it promises"), _reasons),
    "exit-codes": (("Code", "Meaning"), _exit_codes),
    "switches": (("WHAT", "Options", "Nova", "Other defaults"), _switches),
    "columns": (("Command", "Columns of its rows", "Only in JSON"), _columns),
}


def _span(since: int, until: int = NEWEST + 1) -> str:
    """The releases that have it: ``2023.2+``; empty for all."""
    first = "" if since == OLDEST else f"{RELEASES[since]}+"
    last = "" if until > NEWEST else f"until {RELEASES[until - 1]}"
    return " ".join(filter(None, (first, last)))


def _others(row: Option) -> Iterator[str]:
    """Defaults that differ: of later releases, and of distributions."""
    for first, value in row.changed_defaults:
        yield f"{RELEASES[first]}+: {_change(row.default, value)}"
    differing = set()
    for distribution, first, value in row.baselines:
        if value != row.default or row.changed_defaults or distribution in differing:
            differing.add(distribution)
            since = "" if first == OLDEST else f" {RELEASES[first]}+"
            yield f"{distribution}{since}: {_change(row.default, value)}"


def _change(default: Value, value: Value) -> str:
    """A value; of a list, what it adds to the default and drops from it."""
    if not isinstance(default, tuple) or not isinstance(value, tuple):
        return _text(value)
    added = ", ".join(f"``{each}``" for each in value if each not in default)
    dropped = ", ".join(f"``{each}``" for each in default if each not in value)
    changes = (("adds", added), ("drops", dropped))
    return "; ".join(f"{verb} {names}" for verb, names in changes if names)


def _lines(texts: Iterable[str]) -> str:
    """One line each in a cell of a table, where a cell starts at column 5."""
    return "\n       ".join(f"| {text}" for text in texts)


def _does(function: Callable[..., object]) -> str:
    """The first paragraph of a function's docstring, without Nova's class or file."""
    first, *_ = (inspect.getdoc(function) or "").split("\n\n")
    return re.sub(r" \((``\w+``|\w+\.py)\)\.$", ".", " ".join(first.split()))


def _code(name: str) -> str:
    return f"``{option(name)}``"


def _codes(texts: Iterable[str]) -> str:
    return ", ".join(f"``{text}``" for text in texts)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    words = value if isinstance(value, tuple) else (str(value),)
    if value is None or not any(words):
        return "unset"
    return ", ".join(f"``{word}``" for word in words)
