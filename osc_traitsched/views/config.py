"""Settings as rows, and the comments at the top of a configuration fragment."""

from __future__ import annotations

import datetime
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.core.answer import (
    Diagnosis,
    NovaPython,
    NovaReading,
    OnMachine,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.options import (
    ENABLED_FILTERS,
    OPTIONS,
    SchedulerSettings,
    Switched,
    Value,
    options_in,
)
from osc_traitsched.core.releases import release as release_name
from osc_traitsched.core.servers.state import moment
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import count, listed, option, visible
from osc_traitsched.views import terminal
from osc_traitsched.views.explain import words
from osc_traitsched.views.listing import Cell, Table
from osc_traitsched.views.servers import age

COLUMNS = ("option", "value", "source", "status")

_WIDTH = 80

_SAVE = "trait-sched config save"

_GIVEN, _ASSUMED, _IGNORED = "given", "assumed", "ignored"


class _Value(Cell):
    """A value in nova.conf's words, a list one a line; a program gets its type."""

    def lines(self) -> Iterable[str]:
        if isinstance(self._value, list):
            return self._value
        return [words.value(self._value)]


class _Release(Cell):
    """Nova's major version; a person sees the release's name, too."""

    def lines(self) -> Iterable[str]:
        return [release_name(int(self._value))]


def rows(assumptions: SchedulerSettings, release_is_given: bool) -> Table:
    """One row for the release, one for where settings were found, one an option.

    What is set and not read comes last. ``status`` is ``given``, ``assumed``, or
    ``ignored``: set, but not read by this release of Nova.
    """
    status = _GIVEN if release_is_given else _ASSUMED
    found: list[tuple[Any, ...]] = [
        (
            "release",
            _Release(assumptions.release),
            assumptions.release_source,
            status,
        ),
        _place(assumptions),
    ]
    for each in options_in(assumptions.release):
        setting = assumptions.setting(each.name)
        status = _GIVEN if setting.given else _ASSUMED
        found.append((each.name, _cell(setting.value), setting.source, status))
    ignored = [(each.name, each.source) for each in assumptions.no_effect]
    for name, source in (*assumptions.ignored, *ignored):
        found.append((name, _cell(None), source, _IGNORED))
    return COLUMNS, found


def lines(assumptions: SchedulerSettings, is_all: bool = False) -> Iterator[str]:
    """The settings for a person: where they are from, then what is not the default.

    Lines have at most 80 columns, unless a name or a source is longer.
    """
    yield f"Settings: {terminal.settings_from(assumptions)}"
    name = release_name(assumptions.release)
    yield f"Release: {name} ({assumptions.release_source})"
    at_default = 0
    for each in options_in(assumptions.release):
        setting = assumptions.setting(each.name)
        if setting.value == each.default_in(assumptions.release) and not is_all:
            at_default += 1
        else:
            text = f"{option(each.name)} = {words.value(setting.value)}".rstrip()
            yield from _wrapped(text, setting.source)
    for name, source in assumptions.ignored:
        yield from _filled(f"{source}: {option(name)} is not in this release")
    for useless in assumptions.no_effect:
        state = "is seen, not read" if useless.is_unread else "has no effect"
        reason = f" ({useless.reason})" if useless.reason else ""
        what = f"{option(useless.name)} {state}{reason}; {useless.fix}"
        yield from _filled(f"{useless.source}: {what}")
    if at_default:
        yield f"{count(at_default, 'option')} at their default (--all)"


#: After it people are told how to read Nova again.
_OLD = datetime.timedelta(days=1)


def nova_lines(
    readings: Sequence[NovaReading],
    now: datetime.datetime,
    options: Sequence[Option] = (),
    later: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[str]:
    """What was read in Nova: where, when, and the computes of each cell.

    :param later: fields that other commands read there, by what has them
    """
    for each in readings:
        then = moment(each.read)
        when = f", read {age(then, now)}" if then else ""
        nova = f"{each.service or 'Nova'} {each.version}".rstrip()
        yield f"{nova} on {each.host}{when}"
        yield from map(_cell_line, each.cells)
    for what, names in later.items() if later and readings else ():
        yield f"Other commands read of each {what} that they need: {', '.join(names)}"
    if text := old(readings, now, options):
        yield text


def old(
    readings: Sequence[NovaReading],
    now: datetime.datetime,
    options: Sequence[Option] = (),
) -> str:
    """How to read Nova again, if it was read long ago; else empty."""
    times = [then for each in readings if each.command and (then := moment(each.read))]
    if not times or now - min(times) <= _OLD:
        return ""
    when, command = age(min(times), now), line(openstack(_SAVE), options)
    return f"Nova's options were read {when}; read them again: {command}"


def _cell_line(cell: Mapping[str, Any]) -> str:
    if "down" in cell:
        return f"  {cell['name']}: no answer ({cell['down']}); its hosts are unknown"
    return (
        f"  {cell['name']}: {count(cell['computes'], 'compute node')}, "
        f"{cell['numa']} with NUMA cells, {cell['pci']} with PCI devices"
    )


def _wrapped(text: str, source: str) -> Iterator[str]:
    """A list goes on after a comma."""
    whole = f"{text}  ({source})"
    if len(whole) <= _WIDTH:
        yield whole
        return
    yield from _filled(text.replace(",", ", "))
    yield f"    ({source})"


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_long_words=False)


def _place(assumptions: SchedulerSettings) -> tuple[Any, ...]:
    status = _ASSUMED if assumptions.place is None else _GIVEN
    return "settings", _cell(None), terminal.settings_from(assumptions), status


def saved(path: str, text: str, is_done: bool, dry_run: bool) -> str:
    """What is or would be written to the saved settings, and where."""
    if is_done:
        return visible(f"{path} unchanged") + "\n"
    verb = "Would write" if dry_run else "Wrote"
    lines = (f"{verb} {path}:", *text.rstrip("\n").split("\n"))
    return "".join(f"{visible(line)}\n" for line in lines)


def cautions(turned: Switched, is_from_file: bool, replaces: bool) -> list[str]:
    """What an operator must know before deploying a fragment.

    :param is_from_file: the assumptions come from a file of the cloud's own
    :param replaces: the fragment replaces text that no option named
    """
    found = []
    filters = turned.assumptions.setting(ENABLED_FILTERS)
    if not filters.given and not is_from_file:
        if ENABLED_FILTERS in turned.values:
            found.append(
                f"the filters are {filters.source} without {special.ZONE}; if "
                "your cloud has others, they are lost unless you name the file "
                "with them"
            )
        elif options.AZ in turned.wanted:
            found.append(
                f"{special.ZONE} must not be in enabled_filters, and no file was "
                "named that tells whether it is"
            )
    if replaces:
        found.append(
            "merged, it replaces the customServiceConfig that nova-scheduler has; "
            "--control-plane keeps what that says"
        )
    return found


def comments(
    where: str, turned: Switched, cautions: Iterable[str], has_body: bool
) -> str:
    """Comments at the top of a fragment: what it enables, and ``where`` it goes."""
    release = turned.assumptions.release
    lines = [f"Turns on {', '.join(turned.wanted)}: {release_name(release)}"]
    if options.AZ in turned.wanted and options.az_is_always_on(release):
        lines.append("az is always on in this release; no option is needed")
    lines.append(where if has_body else "Nothing has to be set.")
    lines.extend(f"Caution: {each}" for each in cautions)
    return "".join(f"# {visible(line)}\n" for line in lines)


def _cell(value: Value) -> _Value:
    return _Value(list(value) if isinstance(value, tuple) else value)


# The doctor's findings about settings, as lines and rows.


DOCTOR_COLUMNS = ("kind", "name", "detail", "command")

#: Keeps the scheduler's sections, and by their names the options that are read in
#: others. Passwords are in neither.
ONLY_READ = r"""
awk '/^[#;]/{next}/^\[/{h=$0;s=/^\[((filter_)?scheduler|metrics)/;k=0;next}
/^[^ \t]/{k=s||/^[a-z_]*(filter|weight|isol|alias|_zone|per_host|same_host)/||
/^[a-z_]*(cross_az|pcpu|version_|query_|limit_|placem|imag|max_at|down_)/||
/^[a-z_]*(subset|shuffle|group_pol)/}k{if(h){print h;h=""}print}'""".strip()


def doctor_lines(
    found: Diagnosis, options: Sequence[Option], named: Sequence[Option] = ()
) -> Iterator[str]:
    """What is in use, what was found, what is unknown, and how to get it.

    :param named: options that name settings, for the command that saves them
    """
    yield f"In use: {_in_use(found)}"
    if named:
        yield f"  {line(openstack(_SAVE, *named), options)}"
    if found.unused:
        yield "On this machine, not in use:"
    for each in found.unused:
        yield f"  {' '.join(each.paths)}  ({_whose(each)})"
        if command := _save(each, options):
            yield f"    {command}"
    if not found.unknown:
        yield verdict(found)
        return
    yield "Unknown, and it matters on this cloud:"
    for name, aggregates in found.unknown.items():
        title, _ = OPTIONS[name].effect
        text = f"{title}: {_effect(name, aggregates)}"
        yield from textwrap.wrap(
            text, 80, initial_indent="  ", subsequent_indent="    "
        )
    yield from python_lines(found.pythons, options)
    command = line(openstack(_SAVE, Option("--nova-conf", "nova.conf")), options)
    yield "Or copy nova.conf: cat /etc/nova/nova.conf in place of python3, and then"
    yield from f"  | {ONLY_READ} > nova.conf".split("\n")
    yield f"  {command}"


def python_lines(
    pythons: Sequence[NovaPython], options: Sequence[Option]
) -> Iterator[str]:
    """How to let Nova say its options: lines to paste, if its host is known."""
    if not pythons[0].host:
        command = f"{line(openstack(_SAVE), options)} --nova-python COMMAND"
        yield "Let Nova say it: start the Python beside nova-scheduler, on a controller"
        yield "or with ssh CONTROLLER before the command of your deployment:"
        yield f"  {command}"
        for each in pythons:
            yield f"  {each.tool:<7} {each.commands[0]}"
        return
    yield f"Let Nova say it (nova-scheduler is on {pythons[0].host}):"
    for each in pythons:
        yield f"  {each.tool}:"
        # On lines of their own, they are within 80 columns.
        save = line(openstack(_SAVE), options)
        asked = (f"    --nova-python {shlex.quote(text)}" for text in each.commands)
        yield from " \\\n".join([f"  {save}", *asked]).split("\n")


def _ask(python: NovaPython, options: Sequence[Option]) -> str:
    flags = [Option("--nova-python", each) for each in python.commands]
    return line(openstack(_SAVE, *flags), options)


def verdict(found: Diagnosis) -> str:
    """What is unknown, in one line."""
    names = listed(OPTIONS[name].effect[0] for name in found.unknown)
    if names:
        return f"Unknown, and it matters on this cloud: {names}."
    return "Nothing that matters on this cloud is unknown."


def doctor_rows(found: Diagnosis, options: Sequence[Option]) -> Table:
    """The same as rows, for programs."""
    table = [("in use", found.assumed.place or "", _in_use(found), "")]
    for each in found.unused:
        files = " ".join(each.paths)
        table.append(("not in use", files, _whose(each), _save(each, options)))
    for name, names in found.unknown.items():
        table.append(("unknown", name, _effect(name, names), ""))
    if found.unknown:
        how = ((each.tool, _ask(each, options)) for each in found.pythons)
        table += [("how to", name, "", command) for name, command in how]
    return DOCTOR_COLUMNS, table


def _in_use(found: Diagnosis) -> str:
    nova = f"{release_name(found.assumed.release)}"
    place = found.assumed.place
    return f"{place}; {nova}" if place else f"no settings; the defaults of {nova}"


def _whose(each: OnMachine) -> str:
    return each.whose if each.is_readable else f"{each.whose}; you may not read it"


def _save(each: OnMachine, options: Sequence[Option]) -> str:
    if not (each.is_nova_conf and each.is_readable):
        return ""
    files = [Option("--nova-conf", path) for path in each.paths]
    more = [Option("--baseline", each.baseline)] if each.baseline else []
    return line(openstack(_SAVE, *files, *more), options)


def _effect(name: str, aggregates: Sequence[str]) -> str:
    _, effect = OPTIONS[name].effect
    if not aggregates:
        return effect
    verb = "has" if len(aggregates) == 1 else "have"
    return (
        f"{count(len(aggregates), 'aggregate')} ({listed(aggregates)}) {verb} {effect}"
    )
