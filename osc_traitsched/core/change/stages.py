"""The one order of all that is written: first what opens or adds, then the rest.

What hosts have is there before a request has to ask for it, and what is closed to some
was opened to others before. So a flavor that has a host before and after the plan has
one at every step; where it may not, that is found out before anything is written. What
closes hosts instead of something else comes first: they are not open in between, though
a flavor may lack a host for that moment. A host that changes its zone is in neither
aggregate for a moment, as Nova takes none into two: it joins the one right after it has
left the other, and only then the next host does.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Iterable, Iterator, Mapping, Set

from osc_traitsched.core.change.closing import (
    closing_instead,
    comes_with_list,
    limited_by,
    of_kinds,
    opens,
    opens_and_closes,
)
from osc_traitsched.core.change.model import Change, Kind, Plan, Value
from osc_traitsched.core.inventory.zones import ZONE_KEY


class Stage(enum.IntEnum):
    """What is written together."""

    TRAITS = enum.auto()
    NEW_AGGREGATES = enum.auto()
    GAINED = enum.auto()
    ZONES = enum.auto()
    #: What closes an aggregate to which hosts of a closed one move out of a zone.
    CLOSED_BEFORE = enum.auto()
    #: Hosts join what keeps requests from them before what lets requests find them.
    JOINED_FIRST = enum.auto()
    JOINED = enum.auto()
    #: Hosts leave the aggregates of a zone for that of another one: what keeps others
    #: from them last.
    MOVED_OUT = enum.auto()
    MOVED_OUT_LAST = enum.auto()
    MOVED_IN = enum.auto()
    MIRRORED = enum.auto()
    OPENED = enum.auto()
    REQUIRED = enum.auto()
    #: What closes an aggregate, or some of its hosts, instead of what did so until now:
    #: it comes first, since a write may fail, and Nova's own update of metadata removes
    #: keys before it adds.
    REPLACING = enum.auto()
    REPLACED = enum.auto()
    #: What closes an aggregate but to projects that Placement limits to several: these
    #: find more hosts there, and may need them once something else is closed.
    NAMED = enum.auto()
    CLOSED = enum.auto()
    RELEASED = enum.auto()
    #: They leave in the other order: first what no trait isolates, then isolated ones
    #: that have a zone, and last those that have none.
    LEFT = enum.auto()
    LEFT_LATER = enum.auto()
    LEFT_LAST = enum.auto()
    LOST = enum.auto()


#: Where aggregates are closed to requests.
CLOSING = frozenset({Stage.CLOSED_BEFORE, Stage.REPLACING, Stage.NAMED, Stage.CLOSED})

#: Where hosts join aggregates, and where they change their zone.
JOINING = (Stage.JOINED_FIRST, Stage.JOINED, Stage.MOVED_IN)
#: Where they leave without that.
LEAVING = (Stage.LEFT, Stage.LEFT_LATER, Stage.LEFT_LAST)
MOVING = (Stage.MOVED_OUT, Stage.MOVED_OUT_LAST, Stage.MOVED_IN)

#: The stage of a key that gets a value, and that of one that is taken away.
_OF_KIND = {
    Kind.TRAIT: (Stage.TRAITS, Stage.TRAITS),
    Kind.NEW_AGGREGATE: (Stage.NEW_AGGREGATES, Stage.NEW_AGGREGATES),
    Kind.PROVIDER_TRAITS: (Stage.GAINED, Stage.LOST),
    Kind.PROVIDER_AGGREGATES: (Stage.MIRRORED, Stage.MIRRORED),
    Kind.AGGREGATE_HOSTS: (Stage.JOINED, Stage.LEFT),
    Kind.FLAVOR: (Stage.REQUIRED, Stage.RELEASED),
    Kind.IMAGE: (Stage.REQUIRED, Stage.RELEASED),
    Kind.AGGREGATE: (Stage.CLOSED, Stage.OPENED),
}

Staged = Mapping[Stage, tuple[Change, ...]]

_NO_ZONES: Mapping[str, Value] = {}


def plan_of(changes: Iterable[Change]) -> Plan:
    """Return a plan of all that objects shall be."""
    return in_order(in_stages(changes))


def in_order(staged: Staged) -> Plan:
    """Return the stages as a plan; images follow flavors.

    Hosts that change their zone do so one after the other, so that they are in none for
    no longer than it takes.
    """
    moving = [change for stage in MOVING for change in staged.get(stage, ())]
    rest = {stage: staged[stage] for stage in staged if stage not in MOVING}
    together = {**rest, Stage.MOVED_OUT: _by_host(moving)}
    return Plan.of(
        *(part for stage in sorted(together) for part in _by_kind(together[stage]))
    )


def _by_host(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return changes of the hosts of aggregates, those of each host together."""
    found: dict[str, list[Change]] = {}
    for change in changes:
        _, host = change.mark
        found.setdefault(host, []).append(change)
    return tuple(change for each in found.values() for change in each)


def _by_kind(changes: Iterable[Change]) -> tuple[list[Change], list[Change]]:
    """Return the changes of images apart, after the others."""
    others: list[Change] = []
    images: list[Change] = []
    for change in changes:
        (images if change.object.kind is Kind.IMAGE else others).append(change)
    return others, images


def in_stages(
    changes: Iterable[Change],
    zones: Mapping[str, Value] = _NO_ZONES,
    closed: Collection[str] = (),
    limited: Set[str] = frozenset(),
    isolated: tuple[Collection[str], Collection[str]] = ((), ()),
) -> Staged:
    """Return the changes in stages, each split where its keys belong to several.

    In a stage they keep their order.

    :param zones: those that aggregates make now, by the aggregates' IDs
    :param closed: the IDs of aggregates that are not open to all now
    :param limited: projects that Placement limits to several aggregates, now or then
    :param isolated: the IDs of those that traits isolate now, and of those that they
        isolate then
    """
    changes = tuple(changes)
    staging = _Staging(changes, zones, closed, limited, isolated)
    staged: dict[Stage, list[Change]] = {}
    for change in changes:
        for stage, part in staging.parts(change):
            staged.setdefault(stage, []).append(part)
    return {stage: tuple(staged[stage]) for stage in sorted(staged)}


class _Staging:
    def __init__(
        self,
        changes: Iterable[Change],
        zones: Mapping[str, Value],
        closed: Collection[str],
        limited: Set[str],
        isolated: tuple[Collection[str], Collection[str]],
    ) -> None:
        self._limited = limited
        self._isolated, self._isolated_then = map(frozenset, isolated)
        self._zones = dict(zones)
        self._closed = frozenset(closed)
        for change in of_kinds(changes, Kind.AGGREGATE, Kind.NEW_AGGREGATE):
            if ZONE_KEY in change.after:
                self._zones[change.object.id] = change.after[ZONE_KEY]
        #: The zones that hosts join.
        self._joining: dict[str, set[Value]] = {}
        moves = tuple(of_kinds(changes, Kind.AGGREGATE_HOSTS))
        for change in moves:
            for host in change.added:
                self._joining.setdefault(host, set()).add(self._zone(change))
        left = [
            (change.object.id, host)
            for change in moves
            for host in change.removed
            if self._changes_zone(change, host)
        ]
        #: The hosts that change their zone.
        self._moving = {host for _, host in left}
        sheltered = {host for identity, host in left if identity in self._closed}
        #: Aggregates that hosts join which were in closed ones. What closes them
        #: already may let others in than what closed those.
        self._joined_by_sheltered = {
            change.object.id for change in moves if sheltered & change.added
        }
        self._instead = closing_instead(changes)

    def _zone(self, change: Change) -> Value:
        """Return the zone that an aggregate will make; None if it makes none."""
        return self._zones.get(change.object.id)

    def _changes_zone(self, leaving: Change, host: str) -> bool:
        """Tell whether a host leaves an aggregate's zone for another one.

        Nova takes a host into two aggregates of one zone, and not of two zones.
        """
        zone = self._zone(leaving)
        joined = self._joining.get(host, set()) - {None, zone}
        return zone is not None and bool(joined)

    def parts(self, change: Change) -> Iterator[tuple[Stage, Change]]:
        """Yield a change, or its parts, each with its stage."""
        keys: dict[Stage, dict[str, Value]] = {}
        for key, value in change.after.items():
            keys.setdefault(self._stage(change, key), {})[key] = value
        if len(keys) < 2:
            # Of no key is one from which something was to be taken that stays.
            _, lost = _OF_KIND[change.object.kind]
            yield next(iter(keys), lost), change
            return
        found = change.found
        for stage in sorted(keys):
            yield stage, dataclasses.replace(change, found=found, after=keys[stage])
            # By then the part before has changed a provider.
            found = dataclasses.replace(found, generation=None)

    def _stage(self, change: Change, key: str) -> Stage:
        kind, value = change.object.kind, change.after[key]
        if kind is Kind.AGGREGATE and key == ZONE_KEY:
            return Stage.ZONES
        if kind is Kind.AGGREGATE:
            return self._stage_of_closing(change, key)
        if kind is Kind.AGGREGATE_HOSTS and key in self._moving:
            return self._stage_of_move(change, key)
        if kind is Kind.AGGREGATE_HOSTS:
            leaves = value is None
            return self._stage_of_leaving(change) if leaves else self._joined(change)
        gained, lost = _OF_KIND[kind]
        return lost if value is None else gained

    def _stage_of_move(self, change: Change, host: str) -> Stage:
        """Return the stage of what a host joins or leaves that changes its zone."""
        if change.after[host] is not None:
            return (
                self._joined(change) if self._zone(change) is None else Stage.MOVED_IN
            )
        if not self._changes_zone(change, host):
            return self._stage_of_leaving(change)
        is_closed = change.object.id in self._closed
        return Stage.MOVED_OUT_LAST if is_closed else Stage.MOVED_OUT

    def _joined(self, change: Change) -> Stage:
        """Return the stage of a host that joins an aggregate, from no other zone."""
        is_isolated = change.object.id in self._isolated
        return Stage.JOINED_FIRST if is_isolated else Stage.JOINED

    def _stage_of_leaving(self, change: Change) -> Stage:
        """Return the stage of a host that leaves an aggregate, for no other zone.

        By then all has been closed that is to be.
        """
        if change.object.id not in self._isolated_then:
            return Stage.LEFT
        return Stage.LEFT_LAST if self._zone(change) is None else Stage.LEFT_LATER

    def _stage_of_closing(self, change: Change, key: str) -> Stage:
        """Return the stage of what closes an aggregate, or of what opens it."""
        is_opening = opens(change, key) and not comes_with_list(change, key)
        if change.object.id in self._joined_by_sheltered and not is_opening:
            return Stage.CLOSED_BEFORE
        if change.object.id in self._instead or opens_and_closes(change):
            return Stage.REPLACED if is_opening else Stage.REPLACING
        if is_opening:
            return Stage.OPENED
        coming = limited_by(change.after)
        return Stage.CLOSED if self._limited.isdisjoint(coming) else Stage.NAMED
