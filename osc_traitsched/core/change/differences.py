"""What others changed of what a plan wrote: its outcomes beside a fresh read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Union

from osc_traitsched.core.change.isolations import Isolations
from osc_traitsched.core.change.model import Change, Kind, Object, State
from osc_traitsched.core.change.outcome import Outcome, Status
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.trait_keys import (
    REQUIRED,
    isolated_by,
    isolating_keys,
    key_of,
)

#: What was read again; None for what is gone.
Now = Mapping[Object, Union[State, None]]

NO_ISOLATIONS = Isolations()

_DONE = (Status.CHANGED, Status.UNCHANGED)


@dataclasses.dataclass(frozen=True)
class Difference:
    """One thing that is not as it was to be.

    :cvar id: what a program knows its class by
    :ivar object: one of the plan's
    """

    id = ""
    object: Object


@dataclasses.dataclass(frozen=True)
class Gone(Difference):
    """An object was deleted."""

    id = "gone"


@dataclasses.dataclass(frozen=True)
class Overwritten(Difference):
    """Keys that were as wanted are not any more.

    :ivar mend: what makes those, and no others, as wanted again
    """

    id = "overwritten"
    mend: Change


@dataclasses.dataclass(frozen=True)
class HostLeft(Difference):
    """A host left the aggregate, and keeps what it got as one of its hosts.

    The object is its provider.

    :ivar traits: those that it got and still has, and that isolate no other aggregate
        which it is in by now
    :ivar is_mirrored: Placement still has it in the aggregate
    """

    id = "host-left"
    traits: tuple[str, ...]
    is_mirrored: bool


@dataclasses.dataclass(frozen=True)
class HostsJoined(Difference):
    """Hosts joined the aggregate after it was isolated."""

    id = "hosts-joined"
    hosts: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class AlsoIsolated(Difference):
    """Others isolated the aggregate by more keys after it was written."""

    id = "also-isolated"
    keys: tuple[str, ...]


def differences(
    outcomes: Sequence[Outcome],
    now: Now,
    isolations: Isolations = NO_ISOLATIONS,
) -> tuple[Difference, ...]:
    """Compare what was to be with what is there now.

    Of what failed or was not done only that it is gone is a difference.

    :param now: of objects that are not in it nothing is said
    :param isolations: of all aggregates
    """
    hosts = _hosts(outcomes, now)
    compared = _compared(now)
    return tuple(
        difference
        for outcome in outcomes
        if outcome.change.object in compared
        for difference in _of(outcome, now, hosts, isolations)
    )


def _compared(now: Now) -> Now:
    """Leave out hosts in Placement's aggregate where Nova's was deleted."""
    if any(state is None and o.kind is Kind.AGGREGATE for o, state in now.items()):
        mirror = Kind.PROVIDER_AGGREGATES
        return {o: state for o, state in now.items() if o.kind is not mirror}
    return now


def _hosts(outcomes: Iterable[Outcome], now: Now) -> frozenset[str] | None:
    """Return the hosts of the aggregate that is isolated; None where none is."""
    for outcome in outcomes:
        state = now.get(outcome.change.object)
        if state is not None and _isolates(outcome.change):
            return state.hosts
    return None


def _isolates(change: Change) -> bool:
    return change.object.kind is Kind.AGGREGATE and any(change.after.values())


def _of(
    outcome: Outcome, now: Now, hosts: frozenset[str] | None, isolations: Isolations
) -> Iterator[Difference]:
    change, state = outcome.change, now[outcome.change.object]
    kind = change.object.kind
    is_inside = not change.object.host or hosts is None or change.object.host in hosts
    if kind is Kind.PROVIDER_TRAITS and not is_inside:
        yield from _left(outcome, now, isolations)
    elif state is None:
        # A provider is also what is in aggregates.
        if kind is not Kind.PROVIDER_AGGREGATES:
            yield Gone(change.object)
    elif outcome.status in _DONE and is_inside:
        wanted = {k: v for k, v in change.after.items() if state.keys.get(k) != v}
        if wanted:
            yield Overwritten(change.object, Change(change.object, state, wanted))
        if kind is Kind.AGGREGATE:
            yield from _came(change, state, isolations.collation)


def _left(outcome: Outcome, now: Now, isolations: Isolations) -> Iterator[HostLeft]:
    provider = outcome.change.object
    mirror = dataclasses.replace(provider, kind=Kind.PROVIDER_AGGREGATES)
    traits, aggregates = now[provider], now.get(mirror)
    if traits is not None:
        got = outcome.added if outcome.status is Status.CHANGED else frozenset()
        got -= isolations.traits(provider.host)
        held = tuple(sorted(got.intersection(traits.keys)))
        is_mirrored = bool(aggregates and aggregates.keys)
        if held or is_mirrored:
            yield HostLeft(provider, held, is_mirrored)


def _came(change: Change, state: State, collation: Collation) -> Iterator[Difference]:
    joined = state.hosts - change.found.hosts
    if joined and _isolates(change):
        yield HostsJoined(change.object, tuple(sorted(joined)))
    before, after = (
        isolating_keys({k: str(v) for k, v in keys.items()}, collation)
        for keys in (change.found.keys, state.keys)
    )
    came = set(after).difference(before, change.after)
    if came:
        yield AlsoIsolated(change.object, tuple(sorted(came)))


def undo(
    outcomes: Sequence[Outcome], now: Now, isolations: Isolations = NO_ISOLATIONS
) -> tuple[Change, ...]:
    """Return what leads back from what was written and is still there, last first.

    That hosts are in an aggregate in Placement is not taken back: they are in Nova's.
    Nor is what others rely on by now: a trait that isolates another aggregate stays
    required by flavors and images, and stays on hosts in it.

    :param isolations: of all aggregates
    """
    besides = _besides(outcomes, isolations)
    undone = (_undone(each, now, besides) for each in reversed(outcomes))
    return tuple(filter(None, undone))


def _besides(outcomes: Iterable[Outcome], isolations: Isolations) -> Isolations:
    """Return them without what the plan's own aggregate had, and got."""
    for outcome in outcomes:
        aggregate = outcome.change.object
        if aggregate.kind is Kind.AGGREGATE:
            had = {k: str(v) for k, v in outcome.change.found.keys.items()}
            keys = {**had, **dict.fromkeys(outcome.added, REQUIRED)}
            own = frozenset(isolated_by(keys, isolations.collation))
            return dataclasses.replace(isolations, own=aggregate.id, own_traits=own)
    return isolations


def _relied_on(changed: Object, isolations: Isolations) -> frozenset[str]:
    """Return the keys of what was written that others rely on by now."""
    if changed.kind is Kind.PROVIDER_TRAITS:
        return isolations.traits(changed.host)
    if changed.kind in (Kind.FLAVOR, Kind.IMAGE):
        return frozenset(map(key_of, isolations.traits()))
    return frozenset()


def _undone(outcome: Outcome, now: Now, isolations: Isolations) -> Change | None:
    change = outcome.written
    state = now.get(change.object)
    is_mirror = change.object.kind is Kind.PROVIDER_AGGREGATES
    if outcome.status is not Status.CHANGED or state is None or is_mirror:
        return None
    relied_on = _relied_on(change.object, isolations)
    back = {
        key: change.before[key]
        for key in change.after
        if key in change.removed | (change.added - relied_on)
        and state.keys.get(key) == change.after[key]
    }
    return Change(change.object, state, back) if back else None
