"""What changes bring about.

A fact that was foreseen is one that the plan counts on for the room of flavors: a
change which is known not to be done was not foreseen to bring it about.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Union

from osc_traitsched.core.change.closing import gets_list, limited_by
from osc_traitsched.core.change.model import Change, Kind
from osc_traitsched.core.change.stages import CLOSING, LEAVING, Stage, Staged
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.trait_keys import names_trait, trait_in
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.waits.around import around
from osc_traitsched.core.wanted.waits.limiting import limited_to_several


class Is(enum.Enum):
    """What is so; the rest of a fact says of what."""

    #: A trait exists.
    KNOWN = enum.auto()
    #: An aggregate exists, and makes the zone that it is to make.
    MADE = enum.auto()
    ZONED = enum.auto()
    #: Providers have a trait: all that are to gain it, or those of a certain host; or
    #: those that were foreseen to.
    HAD = enum.auto()
    ROOM = enum.auto()
    #: The hosts of an aggregate, and those that join it, have all that they were
    #: foreseen to gain.
    GAINED = enum.auto()
    #: Hosts are open to requests that could not get there before.
    OPEN = enum.auto()
    #: An aggregate is open as it is to be.
    OPENED = enum.auto()
    #: A host has left aggregates.
    LEFT = enum.auto()
    #: Hosts have joined an aggregate: all, or a certain one; and Placement knows.
    JOINED = enum.auto()
    MIRRORED = enum.auto()
    #: An aggregate is closed as it is to be.
    CLOSED = enum.auto()
    #: Flavors and images require a trait, or one of them does; or no longer do.
    REQUIRED = enum.auto()
    RELEASED = enum.auto()


Fact = Union[tuple[Is, str], tuple[Is, str, str]]

#: Those that a change which will not be made does not bring about: nothing counts on
#: it. All others are waited for, as long as it takes.
FORESEEN = frozenset({Is.ROOM, Is.GAINED, Is.OPEN})

OPEN: Fact = (Is.OPEN, "")


class Facts:
    """What each change of a plan brings about.

    :param staged: all changes
    """

    def __init__(self, staged: Staged, found: FoundCloud) -> None:
        self._found, self._collation = found, found.collation
        # Aggregates that have zones or projects, or get them.
        self._restricted = {
            change.object.id
            for changes in staged.values()
            for change in changes
            if any(_restricts(key) for key in change.after)
        } | {
            str(body["id"])
            for body in found.aggregates
            if any(map(_restricts, body["metadata"]))
        }
        self._closed_ids = closed_by(staged, found)
        every = itertools.chain(*staged.values())
        self._limited = limited_to_several(every, found)
        self._around = around(staged, found)
        keys = [body["metadata"] for body in found.aggregates]
        keys += [
            change.after
            for changes in staged.values()
            for change in changes
            if change.object.kind is Kind.AGGREGATE
        ]
        self._isolating = named_in(itertools.chain(*keys), self._collation)

    def of(self, stage: Stage, change: Change) -> Iterator[Fact]:
        """Yield what is so once a change is made."""
        if stage in _BROUGHT:
            yield from _BROUGHT[stage](self, change)

    def _known(self, change: Change) -> Iterator[Fact]:
        yield Is.KNOWN, change.object.id

    def _made(self, change: Change) -> Iterator[Fact]:
        yield Is.MADE, change.object.id

    def _had(self, change: Change) -> Iterator[Fact]:
        host = self._found.service_host(change.object)
        for name in change.after:
            yield Is.HAD, name
            if host is not None:
                yield Is.HAD, name, host
            yield Is.ROOM, name
        for aggregate in self._around.get(host or "", ()):
            yield Is.GAINED, aggregate

    def _zoned(self, change: Change) -> Iterator[Fact]:
        yield Is.ZONED, change.object.id
        yield OPEN

    def _left(self, change: Change) -> Iterator[Fact]:
        for host in change.after:
            yield Is.LEFT, host

    def _left_open(self, change: Change) -> Iterator[Fact]:
        yield from self._left(change)
        identity = change.object.id
        if identity in self._restricted or identity in self._closed_ids:
            yield OPEN

    def _joined(self, change: Change) -> Iterator[Fact]:
        identity = change.object.id
        yield Is.JOINED, identity
        for host in change.after:
            yield Is.JOINED, identity, host
        if identity in self._restricted:
            yield OPEN

    def _mirrored(self, change: Change) -> Iterator[Fact]:
        for aggregate in change.after:
            yield Is.MIRRORED, aggregate
        yield OPEN

    def _opened(self, change: Change) -> Iterator[Fact]:
        yield Is.OPENED, change.object.id
        yield OPEN

    def _closed(self, change: Change) -> Iterator[Fact]:
        yield Is.CLOSED, change.object.id
        # A project that is limited to another aggregate as well gets in, and one that
        # is listed with those who are there. One that it no longer names is limited to
        # fewer, or not at all.
        coming = limited_by(change.after)
        going = (
            limited_by(change.before) - coming if self._found.limits_projects else ()
        )
        if going or not self._limited.isdisjoint(coming) or gets_list(change):
            yield OPEN

    def _required(self, change: Change) -> Iterator[Fact]:
        yield Is.REQUIRED, change.object.id
        for name in traits_of(change, self._collation):
            yield Is.REQUIRED, name
        if self._finds_hosts(change):
            yield OPEN

    def _released(self, change: Change) -> Iterator[Fact]:
        for name in traits_of(change, self._collation):
            yield Is.RELEASED, name
        yield OPEN

    def _finds_hosts(self, change: Change) -> bool:
        """Tell whether what comes to require or forbid traits may find more hosts.

        It forbade what they have, or required what they lack, or they are, or will be,
        in an aggregate that is closed to it until then.
        """
        if not change.added.isdisjoint(change.found.keys):
            return True
        return not self._isolating.isdisjoint(traits_of(change, self._collation))


def closed_by(staged: Staged, found: FoundCloud) -> frozenset[str]:
    """Return the aggregates that are closed, or that a plan closes."""
    closing = (change for stage in CLOSING for change in staged.get(stage, ()))
    return found.closed.union(change.object.id for change in closing)


def traits_of(change: Change, collation: Collation) -> frozenset[str]:
    """Return the traits that a change gives, takes, requires or no longer does."""
    if change.object.kind is Kind.PROVIDER_TRAITS:
        return frozenset(change.after)
    return named_in(change.after, collation)


def named_in(keys: Iterable[str], collation: Collation) -> frozenset[str]:
    """Return the traits that keys of flavors, images or aggregates name."""
    named = (key for key in keys if names_trait(key, collation))
    return frozenset(trait_in(key, collation) for key in named)


def _restricts(key: str) -> bool:
    return key == ZONE_KEY or key.startswith(TENANT_KEY)


_BROUGHT: Mapping[Stage, Callable[[Facts, Change], Iterator[Fact]]] = {
    Stage.TRAITS: Facts._known,
    Stage.NEW_AGGREGATES: Facts._made,
    Stage.GAINED: Facts._had,
    Stage.ZONES: Facts._zoned,
    Stage.CLOSED_BEFORE: Facts._closed,
    Stage.JOINED_FIRST: Facts._joined,
    Stage.JOINED: Facts._joined,
    Stage.MOVED_OUT: Facts._left,
    Stage.MOVED_OUT_LAST: Facts._left,
    Stage.MOVED_IN: Facts._joined,
    Stage.MIRRORED: Facts._mirrored,
    Stage.OPENED: Facts._opened,
    Stage.REQUIRED: Facts._required,
    Stage.REPLACING: Facts._closed,
    Stage.REPLACED: Facts._opened,
    Stage.NAMED: Facts._closed,
    Stage.CLOSED: Facts._closed,
    Stage.RELEASED: Facts._released,
    **dict.fromkeys(LEAVING, Facts._left_open),
}
