"""What changed between two snapshots, as text and as a document."""

import datetime
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal, Optional

from osc_traitsched.core.difference import (
    Change,
    Comparison,
    Effect,
    FlavorHosts,
    Since,
)
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.text import count, listed, ranges
from osc_traitsched.views.terminal import Line, Tone

#: Most columns for the names and for the changes; longer ones push the rest.
_NAME, _TEXT = 22, 36
#: The mark of a change, the change, and what it did.
_Row = tuple[str, Change, str]


class FlavorCount(JsonObject):
    """How many hosts a flavor had and has."""

    flavor: str
    """Its name; empty for any flavor with the changed image."""
    then: int = field("before")
    """Hosts that it had."""
    now: int
    """Hosts that it has."""


class Changed(JsonObject):
    """One change."""

    kind: Annotated[
        str,
        (
            *("host", "provider", "aggregate", "flavor", "image"),
            *("server group", "server", "trait", "resource class", "setting"),
        ),
    ] = field("change.kind")
    """What changed."""
    name: str = field("change.name")
    """Its name."""
    text: str = field("change.text")
    """The change in words."""
    daily: bool = field("change.is_daily")
    """A change of the workload: of a server, or of the use of a host."""
    takes_hosts: bool
    """It alone takes hosts from a flavor."""
    flavors: Iterable[FlavorCount]
    """Flavors that have fewer or more hosts by this change alone, the worst first."""
    since: Optional[str] = field(
        lambda effect: effect.since and effect.since.isoformat(), can_be_omitted=True
    )
    """When the first snapshot with it was saved, in UTC; only for a folder."""


class DifferenceDocument(JsonObject):
    """The document of ``diff``."""

    schema: Literal[1]
    """Version of this format."""
    then: str = field(lambda found: found.before.isoformat())
    """Time of the earlier snapshot, in UTC."""
    now: str = field(lambda found: found.now.isoformat())
    """Time of the later one, or of the cloud."""
    changes: Iterable[Changed] = field("effects")
    """All changes, by kind and name."""
    use: Iterable[FlavorCount]
    """Flavors that have fewer or more hosts by the changes of the workload."""
    together: Iterable[FlavorCount]
    """Flavors that have fewer or more hosts only by several changes together."""
    untried: int
    """Changes that were not tried, so that flavors and hosts of theirs are missing."""
    not_compared: Iterable[str] = field("unread")
    """Lists that could not be read when one of them was saved."""
    is_other_cloud: bool
    """They have no provider in common, so that objects are compared by their names."""


def lines(found: Comparison, wants_all: bool) -> Iterator[Line]:
    """The text: changes, worst first, and those of the workload in one line."""
    if found.is_other_cloud:
        yield Line(
            "These are two clouds, compared by names: they share no provider.", Tone.NO
        )
    taking = sum(each.takes_hosts for each in found.lasting)
    since = f"Since {_time(found.before, found.now)}"
    less = count(len(_less(found)), "flavor")
    use = f" Servers' use takes hosts from {less}." if _less(found) else ""
    if not found.lasting:
        yield Line(f"{since}: no changes.{use}", Tone.YES)
    else:
        takes = f"; {taking} {'take' if taking > 1 else 'takes'} hosts from flavors"
        tone = Tone.NO if taking else Tone.DOUBT
        number = count(len(found.lasting), "change")
        yield Line(f"{since}: {number}{takes * bool(taking)}.{use}", tone)
    yield from _table(_row(each, found.now) for each in found.lasting)
    if found.together:
        yield Line(f"Only several changes together: {_flavors(found.together)}")
    if found.daily:
        yield Line(f"{_workload(found)}{'' if wants_all else ' (--all)'}")
        shown = found.daily if wants_all else ()
        yield from _table(_row(each, found.now) for each in shown)
    if found.untried:
        yield Line(f"Not tried: the effect of {count(found.untried, 'change')}")
    if found.unread:
        yield Line(f"Not compared, since one snapshot lacks it: {listed(found.unread)}")


def _workload(found: Comparison) -> str:
    objects = {(e.change.kind == "server", e.change.name) for e in found.daily}
    servers = sum(is_server for is_server, _ in objects)
    hosts = len(objects) - servers
    parts = [
        *([count(servers, "server")] if servers else []),
        *([f"the use of {count(hosts, 'host')}"] if hosts else []),
    ]
    more = "".join(f"; {each.flavor}: {_hosts(each)}" for each in _less(found)[:2])
    return f"Workload changes: {' and '.join(parts)}{more}"


def _less(found: Comparison) -> list[FlavorHosts]:
    return [each for each in found.use if each.now < each.before]


def _row(effect: Effect, now: datetime.datetime) -> _Row:
    change, flavors = effect.change, effect.flavors
    shown = _flavors(flavors, is_named=change.kind != "flavor") if flavors else ""
    if effect.since is not None:
        shown = f"by {_time(effect.since, now)}  {shown}"
    return "!" if effect.takes_hosts else " ", change, shown


def _flavors(found: Sequence[FlavorHosts], is_named: bool = True) -> str:
    """The worst flavor, and how many others."""
    first, *others = found
    more = f" and {count(len(others), 'more flavor')}" if others else ""
    name = f"{first.flavor}: " if first.flavor and is_named else ""
    return f"{name}{_hosts(first)}{more}"


def _table(rows: Iterable[_Row]) -> Iterator[Line]:
    texts = [(f"{mark} {e.kind} {e.name}", e.text, end) for mark, e, end in rows]
    name = min(max((len(first) for first, _, _ in texts), default=0), 2 + _NAME)
    text = min(max((len(change) for _, change, _ in texts), default=0), _TEXT)
    for first, change, end in texts:
        yield Line(f"{first:<{name}}  {change:<{text}}  {end}".rstrip())


def _hosts(found: FlavorHosts) -> str:
    is_other = found.before == found.now
    return "other hosts" if is_other else f"hosts {found.before} -> {found.now}"


def _time(before: datetime.datetime, now: datetime.datetime) -> str:
    """A moment, with its day if it is not the same one."""
    days = (now.date() - before.date()).days
    weekday = f"{before:%a} " if 1 < days < 7 else f"{before:%Y-%m-%d} "
    day = {0: "", 1: "yesterday "}.get(days, weekday)
    return f"{day}{before:%H:%M} UTC"


def since_lines(found: Optional[Since]) -> Iterator[Line]:
    """How many hosts one request had, and what took them; nothing for None."""
    if found is None:
        return
    hosts = f" ({ranges(sorted(found.before))})" if found.before else ""
    had = f"{len(found.before)} of {found.total} hosts could take it{hosts}"
    now = found.asked or found.later
    when, later = (_time(each, now) for each in (found.time, found.later))
    then = "now" if now == found.later else f"{later}:"
    if not found.is_known:
        yield Line(
            f"{when[:1].upper()}{when[1:]}: not known. NUMA cells or PCI devices "
            "decide, and Nova can't judge that snapshot's."
        )
        return
    if found.searched:
        yield Line(_searched(found, when, later))
    yield Line(f"{when[:1].upper()}{when[1:]}: {had}; {then} {len(found.now)}.")
    lost = found.before - found.now
    for title, hosts_of in (
        ("What took them:", found.before),
        ("What added hosts:", found.now),
    ):
        rows = [
            (" ", change, ranges(sorted(hosts & hosts_of)))
            for change, hosts in found.causes
            if hosts & hosts_of
        ]
        yield from (Line(title), *_table(rows)) if rows else ()
    left = lost.difference(*(hosts for _, hosts in found.causes))
    if left:
        yield Line(f"No change in the snapshots explains {ranges(sorted(left))}.")


def _searched(found: Since, when: str, later: str) -> str:
    """The last snapshot of a folder with another answer, and what changed it."""
    worked, works = found.answers
    if worked is works:
        oldest = f"in the oldest of {count(found.searched, 'snapshot')} ({when})"
        return f"It {'worked' if works else 'did not work'} {oldest}, too."
    own = found.before if worked else found.now
    causes = [_said(change) for change, hosts in found.causes if hosts & own]
    what = listed(causes, most=2) or "no change in the snapshots explains it"
    since = "since then" if found.later == found.asked else f"since {later}"
    if worked:
        return f"Worked until {when}; {since}: {what}."
    return f"Failed until {when}; works {since}: {what}."


def _said(change: Change) -> str:
    name = change.name if change.kind == "host" else f"{change.kind} {change.name}"
    for sign, verb in (("- ", "lost"), ("+ ", "got")):
        if change.text.startswith(sign):
            return f"{name} {verb} {change.text.removeprefix(sign)}"
    return f"{name}{' ' if change.text.startswith('is ') else ': '}{change.text}"


class SinceCause(JsonObject):
    """A change that decides about hosts of the request."""

    kind: str = field(lambda cause: cause[0].kind)
    """As in ``diff``; or ``record``: what only Nova's database shows of hosts."""
    name: str = field(lambda cause: cause[0].name)
    """What changed."""
    text: str = field(lambda cause: cause[0].text)
    """The change in words."""
    hosts: Iterable[str] = field(lambda cause: sorted(cause[1]))
    """Those of these hosts that it takes or adds."""


class SinceDocument(JsonObject):
    """One request when a snapshot was saved, and later."""

    time: str = field(lambda found: found.time.isoformat())
    """When the snapshot was saved, in UTC: of a folder, the last one with another
    answer."""
    later: str = field(lambda found: found.later.isoformat())
    """The time of ``now``: of a folder, when the next snapshot was saved."""
    searched: int
    """How many snapshots the folder has; 0 for a file."""
    worked: Optional[bool] = field(
        lambda found: found.answers[0] if found.is_known else None
    )
    """Whether all servers found a host then; null if the snapshot lacks the records of
    Nova's database that decide."""
    then: Optional[Iterable[str]] = field(
        lambda found: sorted(found.before) if found.is_known else None
    )
    """Hosts that could take it; null like ``worked``."""
    now: Iterable[str] = field(lambda found: sorted(found.now))
    """Hosts that can take it at the later time."""
    causes: Iterable[SinceCause]
    """Changes that took or added hosts."""
