"""What changed between two snapshots, as text and as a document."""

import datetime
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, Optional

from osc_traitsched.core.difference import Comparison, Effect, FlavorHosts, Since
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.text import count, listed, ranges
from osc_traitsched.views.terminal import Line, Tone

#: Columns of the names and of the changes, before which rows are not cut.
_NAME, _TEXT = 22, 36


class FlavorCount(JsonObject):
    """How many hosts a flavor had and has."""

    flavor: str
    """Its name; empty for any flavor with the changed image."""
    then: int
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
    """It comes and goes by itself, as servers and their use do."""
    takes_hosts: bool
    """A flavor has fewer hosts than before."""
    flavors: Iterable[FlavorCount]
    """Flavors whose hosts changed among those of the change, the worst first."""


class DifferenceDocument(JsonObject):
    """The document of ``diff``."""

    schema: Literal[1]
    """Version of this format."""
    then: str = field(lambda found: found.then.isoformat())
    """Time of the earlier snapshot, in UTC."""
    now: str = field(lambda found: found.now.isoformat())
    """Time of the later one, or of the cloud."""
    changes: Iterable[Changed] = field("effects")
    """All changes, by kind and name."""
    untried: int
    """Changes that were not tried, so that flavors and hosts of theirs are missing."""
    not_compared: Iterable[str] = field("unread")
    """Lists that could not be read when one of them was saved."""
    is_other_cloud: bool
    """They have no provider in common."""


def lines(found: Comparison, wants_all: bool) -> Iterator[Line]:
    """The text: what was changed, worst first, and what comes and goes in one line."""
    if found.is_other_cloud:
        yield Line("These are two clouds: they have no provider in common.", Tone.NO)
    taking = sum(each.takes_hosts for each in found.lasting)
    since = f"Since {_time(found.then, found.now)}"
    if not found.lasting:
        yield Line(f"{since}: no changes.", Tone.YES)
    else:
        takes = f"; {taking} {'take' if taking > 1 else 'takes'} hosts from flavors"
        tone = Tone.NO if taking else Tone.DOUBT
        number = count(len(found.lasting), "change")
        yield Line(f"{since}: {number}{takes * bool(taking)}.", tone)
    for each in found.lasting:
        yield _line(each)
    yield from _daily(found, wants_all)
    if found.untried:
        yield Line(f"Not tried: the effect of {count(found.untried, 'change')}")
    if found.unread:
        yield Line(f"Not compared, since one snapshot lacks it: {listed(found.unread)}")


def _daily(found: Comparison, wants_all: bool) -> Iterator[Line]:
    if not found.daily:
        return
    texts = [each.change for each in found.daily]
    servers = {each.name for each in texts if each.kind == "server"}
    hosts = {each.name for each in texts if each.kind != "server"}
    parts = [
        *([count(len(servers), "server")] if servers else []),
        *([f"the use of {count(len(hosts), 'host')}"] if hosts else []),
    ]
    less = {f.flavor: f for e in found.daily for f in e.flavors if f.now < f.then}
    worst = sorted(less.values(), key=lambda each: each.now - each.then)
    more = "".join(f"; {f.flavor}: hosts {f.then} -> {f.now}" for f in worst[:2])
    shown = "" if wants_all else " (--all)"
    yield Line(f"By itself changed: {' and '.join(parts)}{more}{shown}")
    if wants_all:
        yield from map(_line, found.daily)


def _line(effect: Effect) -> Line:
    change = effect.change
    mark = "!" if effect.takes_hosts else " "
    row = f"{mark} {f'{change.kind} {change.name}':<{_NAME}} {change.text:<{_TEXT}}"
    shown = [
        f"{f'{each.flavor}: ' if each.flavor and change.kind != 'flavor' else ''}"
        f"{_hosts(each)}"
        for each in effect.flavors[:1]
    ]
    others = len(effect.flavors) - 1
    more = f", {count(others, 'flavor')} more" if others > 0 else ""
    return Line(f"{row} {''.join(shown)}{more}".rstrip())


def _hosts(found: FlavorHosts) -> str:
    is_other = found.then == found.now
    return "other hosts" if is_other else f"hosts {found.then} -> {found.now}"


def _time(then: datetime.datetime, now: datetime.datetime) -> str:
    """A moment, with its day if it is not the same one."""
    if then.date() == now.date():
        return f"{then:%H:%M} UTC"
    is_yesterday = now.date() - then.date() == datetime.timedelta(days=1)
    return f"{'yesterday ' if is_yesterday else f'{then:%Y-%m-%d} '}{then:%H:%M} UTC"


def since_lines(found: Optional[Since]) -> Iterator[Line]:
    """How many hosts one request had, and what took them; nothing for None."""
    if found is None:
        return
    hosts = f" ({ranges(sorted(found.then))})" if found.then else ""
    had = f"{len(found.then)} of {found.total} hosts could take it{hosts}"
    when = _time(found.time, found.later)
    yield Line(f"{when[:1].upper()}{when[1:]}: {had}; now {len(found.now)}.")
    for sign, title in (True, "What took them:"), (False, "What added hosts:"):
        rows = [
            f"  {f'{c.kind} {c.name}':<{_NAME}} {c.text:<{_TEXT}} {ranges(sorted(own))}"
            for c, hosts in found.causes
            for own in [hosts & found.then if sign else hosts - found.then]
            if own
        ]
        if rows:
            yield Line(title)
            yield from map(Line, rows)
    lost = found.then - found.now
    left = lost.difference(*(hosts for _, hosts in found.causes))
    if left:
        yield Line(f"No change in the snapshots explains {ranges(sorted(left))}.")


class SinceCause(JsonObject):
    """A change that decides about hosts of the request."""

    kind: str = field(lambda cause: cause[0].kind)
    """As in ``diff``."""
    name: str = field(lambda cause: cause[0].name)
    """What changed."""
    text: str = field(lambda cause: cause[0].text)
    """The change in words."""
    hosts: Iterable[str] = field(lambda cause: sorted(cause[1]))
    """The hosts that are as they were if it is put back."""


class SinceDocument(JsonObject):
    """One request when a snapshot was saved, and now."""

    time: str = field(lambda found: found.time.isoformat())
    """When the snapshot was saved, in UTC."""
    then: Iterable[str] = field(lambda found: sorted(found.then))
    """Hosts that could take it."""
    now: Iterable[str] = field(lambda found: sorted(found.now))
    """Hosts that can take it."""
    causes: Iterable[SinceCause]
    """Changes that took or added hosts."""
