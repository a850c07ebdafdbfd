"""What must be so before changes are made.

What a change follows from comes first, and what goes on keeping others from hosts;
room.py has what else something relies on that closes, or that takes away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import Change
from osc_traitsched.core.change.stages import Stage, Staged
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.waits.around import around, joined_by
from osc_traitsched.core.wanted.waits.facts import (
    Fact,
    Is,
    closed_by,
    named_in,
    traits_of,
)
from osc_traitsched.core.wanted.waits.room import Room


class Reliance:
    """What each change of a plan relies on.

    :param staged: all changes
    """

    def __init__(self, staged: Staged, found: FoundCloud) -> None:
        self._found = found
        self._aggregates = {str(body["id"]): body for body in found.aggregates}
        self._ids = {body["uuid"]: str(body["id"]) for body in found.aggregates}
        # The traits that something has, or is to gain and can.
        self._within_reach = {name for name, held in found.holders.items() if held}
        for change in staged.get(Stage.GAINED, ()):
            if change.problem is None:
                self._within_reach.update(change.after)
        self._closed = closed_by(staged, found)
        self._joined = joined_by(staged)
        self._around = around(staged, found)
        self._room = Room(staged, found)

    def of(self, stage: Stage, change: Change) -> Iterator[Fact]:
        """Yield what must be so before a change is made."""
        for find in _RELIED_ON.get(stage, ()):
            yield from find(self, change)
        yield from self._room.of(stage, change)

    def _traits_known(self, change: Change) -> Iterator[Fact]:
        for name in self._traits(change):
            yield Is.KNOWN, name

    def _traits_had(self, change: Change) -> Iterator[Fact]:
        for name in self._traits(change):
            yield Is.HAD, name

    def _traits_within_reach(self, change: Change) -> Iterator[Fact]:
        """Yield that traits are had which nothing can have for now.

        Where some can, others that can't gain it keep no flavor from requiring it.
        """
        for name in self._traits(change) - self._within_reach:
            yield Is.HAD, name

    def _aggregate_there(self, change: Change) -> Iterator[Fact]:
        yield from _is_there(change.object.id)

    def _closes(self, change: Change) -> Iterator[Fact]:
        """Yield what else must be so before an aggregate is closed."""
        identity = change.object.id
        yield Is.JOINED, identity
        for name in self._traits(change):
            yield Is.REQUIRED, name
        if identity in self._aggregates:
            yield Is.MIRRORED, self._aggregates[identity]["uuid"]

    def _closed_by_then(self, change: Change) -> Iterator[Fact]:
        """Yield that an aggregate is closed before it is opened to others."""
        yield Is.CLOSED, change.object.id

    def _joined_here(self, change: Change) -> Iterator[Fact]:
        """Yield that others are in an aggregate before hosts leave it.

        Filters after Placement may ask for the aggregate's other keys.
        """
        yield Is.JOINED, change.object.id

    def _joins(self, change: Change) -> Iterator[Fact]:
        """Yield what must be so before hosts join an aggregate."""
        for host in change.after:
            yield from self._may_be_joined(change.object.id, host)

    def _will_join(self, change: Change) -> Iterator[Fact]:
        """Yield what must be so before leaving hosts can join what they go to."""
        for host in change.after:
            for identity in self._joined.get(host, ()):
                yield from self._may_be_joined(identity, host)

    def _have_joined(self, change: Change) -> Iterator[Fact]:
        """Yield that hosts are where they go to.

        Until then only the aggregate that they leave may keep others from them.
        """
        for host in change.after:
            for identity in self._joined.get(host, ()):
                yield Is.JOINED, identity, host

    def _have_left(self, change: Change) -> Iterator[Fact]:
        for host in change.after:
            yield Is.LEFT, host

    def _host_has_left(self, change: Change) -> Iterator[Fact]:
        """Yield that the host of a provider has left aggregates."""
        host = self._found.service_host(change.object)
        if host is not None:
            yield Is.LEFT, host

    def _closed_around_members(self, change: Change) -> Iterator[Fact]:
        """Yield what closes the hosts of an aggregate that opens."""
        return self._closed_around(self._aggregates[change.object.id]["hosts"])

    def _closed_around_leaving(self, change: Change) -> Iterator[Fact]:
        """Yield what closes hosts that leave a closed aggregate."""
        is_closed = change.object.id in self._found.closed
        return self._closed_around(change.after if is_closed else ())

    def _mirrored_members(self, change: Change) -> Iterator[Fact]:
        for aggregate in change.after:
            yield Is.JOINED, self._ids.get(aggregate, "")

    def _requires_instead(self, change: Change) -> Iterator[Fact]:
        """Yield that what requires another trait instead does.

        It is never open to all in between.
        """
        yield Is.REQUIRED, change.object.id

    def _nobody_requires(self, change: Change) -> Iterator[Fact]:
        """Yield that flavors and images no longer require what a provider loses.

        One that comes to forbid it has required it until then.
        """
        for name in self._traits(change):
            yield Is.RELEASED, name
            yield Is.REQUIRED, name

    def _opened_by_then(self, change: Change) -> Iterator[Fact]:
        """Yield that aggregates are open which a change is not made before."""
        for condition in change.conditions:
            yield Is.OPENED, condition.object.id

    def _closed_around(self, hosts: Iterable[str]) -> Iterator[Fact]:
        """Yield what must be so before something no longer keeps others from hosts.

        Those that are to be in a closed aggregate are in it, and others are closed.
        """
        for host in hosts:
            for other in self._around.get(host, ()):
                yield Is.CLOSED, other
                if other in self._closed:
                    yield Is.JOINED, other, host
                if other in self._aggregates:
                    yield Is.MIRRORED, self._aggregates[other]["uuid"]

    def _may_be_joined(self, aggregate: str, host: str) -> Iterator[Fact]:
        """Yield what must be so before a host joins an aggregate.

        It has the traits that isolate it: to gain them is not to fail.
        """
        yield Is.CLOSED, aggregate
        yield from _is_there(aggregate)
        body = self._aggregates.get(aggregate)
        for name in named_in(body["metadata"] if body else (), self._found.collation):
            yield Is.HAD, name, host

    def _traits(self, change: Change) -> frozenset[str]:
        return traits_of(change, self._found.collation)


def _is_there(aggregate: str) -> Iterator[Fact]:
    yield Is.MADE, aggregate
    yield Is.ZONED, aggregate


_Find = Callable[[Reliance, Change], Iterator[Fact]]

_MOVED_OUT = (Reliance._will_join, Reliance._joined_here)
_LEFT = (
    Reliance._joined_here,
    Reliance._have_joined,
    Reliance._closed_around_leaving,
)
_CLOSED = (
    Reliance._aggregate_there,
    Reliance._traits_known,
    Reliance._traits_had,
    Reliance._closes,
)

_RELIED_ON: Mapping[Stage, tuple[_Find, ...]] = {
    Stage.GAINED: (Reliance._traits_known,),
    Stage.ZONES: (Reliance._aggregate_there,),
    Stage.CLOSED_BEFORE: _CLOSED,
    Stage.JOINED_FIRST: (Reliance._joins,),
    Stage.JOINED: (Reliance._joins,),
    Stage.MOVED_OUT: _MOVED_OUT,
    # Of several aggregates those are left last that keep others from the host.
    Stage.MOVED_OUT_LAST: (*_MOVED_OUT, Reliance._have_left, Reliance._have_joined),
    Stage.MOVED_IN: (Reliance._joins, Reliance._have_left),
    Stage.MIRRORED: (Reliance._mirrored_members,),
    Stage.OPENED: (Reliance._closed_around_members,),
    Stage.REQUIRED: (Reliance._traits_known, Reliance._traits_within_reach),
    Stage.REPLACING: _CLOSED,
    Stage.REPLACED: (Reliance._closed_by_then, Reliance._closed_around_members),
    Stage.NAMED: _CLOSED,
    Stage.CLOSED: _CLOSED,
    Stage.RELEASED: (
        Reliance._requires_instead,
        Reliance._opened_by_then,
        Reliance._traits_had,
    ),
    Stage.LEFT: _LEFT,
    Stage.LEFT_LATER: (*_LEFT, Reliance._have_left),
    Stage.LEFT_LAST: (*_LEFT, Reliance._have_left),
    Stage.LOST: (
        Reliance._traits_had,
        Reliance._opened_by_then,
        Reliance._nobody_requires,
        Reliance._host_has_left,
    ),
}
