"""Where flavors are to find room before something takes hosts from them.

What closes hosts, or takes something away, relies on what opens others, and on what
gives to others what these hosts have: it was foreseen that flavors find room there.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping

from osc_traitsched.core.change.closing import limited_by
from osc_traitsched.core.change.model import Change, Kind
from osc_traitsched.core.change.stages import JOINING, LEAVING, Stage, Staged
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.trait_keys import required_by, required_by_image
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.waits.facts import OPEN, Fact, Is
from osc_traitsched.core.wanted.waits.limiting import naming

_NOBODY: frozenset[str] = frozenset()


class Room:
    """What each change of a plan counts on for the room of flavors.

    :param staged: all changes
    """

    def __init__(self, staged: Staged, found: FoundCloud) -> None:
        self._found = found
        #: The traits that something is to gain: for no other there is room to come.
        self._gained = frozenset(
            name for change in staged.get(Stage.GAINED, ()) for name in change.after
        )
        #: The aggregates that keep some requests from the hosts that join them.
        self._restricting = found.closed.union(_zoned(staged, found))
        #: The hosts of each aggregate now, and those that join it.
        self._hosts = {str(b["id"]): frozenset(b["hosts"]) for b in found.aggregates}
        self._joining: dict[str, set[str]] = {}
        for stage in JOINING:
            for change in staged.get(stage, ()):
                self._joining.setdefault(change.object.id, set()).update(change.after)
        self._naming = naming(itertools.chain(*staged.values()), found)

    def of(self, stage: Stage, change: Change) -> Iterator[Fact]:
        """Yield what gives flavors room before a change is made."""
        for find in _COUNTED_ON.get(stage, ()):
            yield from find(self, change)

    def _elsewhere(self, change: Change) -> Iterator[Fact]:
        """Yield what opens hosts to the requests that a change takes hosts from."""
        yield OPEN

    def _for_requirer(self, change: Change) -> Iterator[Fact]:
        """Yield what lets hosts have all that a flavor or an image requires then."""
        keys = {k: str(v) for k, v in change.applied_to(change.found.keys).items()}
        is_image = change.object.kind is Kind.IMAGE
        names = required_by_image(keys) if is_image else required_by(keys)
        return ((Is.ROOM, name) for name in names)

    def _for_members(self, change: Change) -> Iterator[Fact]:
        """Yield what gives to others the traits that an aggregate's hosts have now."""
        return self._instead_of(self._hosts.get(change.object.id, _NOBODY))

    def _for_those_inside(self, change: Change) -> Iterator[Fact]:
        """Yield the same of all that are in an aggregate once hosts have joined it."""
        identity = change.object.id
        joining = self._joining.get(identity, _NOBODY)
        return self._instead_of(self._hosts.get(identity, _NOBODY).union(joining))

    def _for_those_leaving(self, change: Change) -> Iterator[Fact]:
        """Yield what gives to others the traits that leaving hosts have."""
        return self._instead_of(change.after)

    def _for_those_outside(self, change: Change) -> Iterator[Fact]:
        """Yield what lets others find room without hosts that join what keeps them out.

        The aggregate is closed to them, or is of another zone.
        """
        if change.object.id in self._restricting:
            yield OPEN
            yield from self._instead_of(change.after)

    def _for_tree(self, change: Change) -> Iterator[Fact]:
        """Yield what gives to others the traits of a provider's host.

        A flavor may ask one host for the traits of several of its providers.
        """
        provider = self._found.snapshot.by_uuid.get(change.object.id)
        return self._instead_of_trees([provider.root] if provider else ())

    def _for_projects(self, change: Change) -> Iterator[Fact]:
        """Yield what projects find in aggregates that they are limited to from then.

        One that an aggregate no longer names is limited to the others that do.
        """
        own = change.object.id
        coming = limited_by(change.after)
        going = limited_by(change.before) - coming
        named_by = self._naming_any(coming)
        limiting = named_by | (self._naming_any(going) - {own})
        if named_by:
            yield Is.JOINED, own
        if limiting:
            yield OPEN
        for aggregate in limiting:
            yield Is.GAINED, aggregate

    def _naming_any(self, projects: Iterable[str]) -> frozenset[str]:
        return _NOBODY.union(*(self._naming.get(each, _NOBODY) for each in projects))

    def _instead_of(self, hosts: Iterable[str]) -> Iterator[Fact]:
        nodes = (self._found.snapshot.nova or Nova()).by_service_host
        return self._instead_of_trees(
            node.uuid for host in hosts for node in nodes.get(host, ())
        )

    def _instead_of_trees(self, roots: Iterable[str]) -> Iterator[Fact]:
        """Yield what gives to others the traits of hosts, given by their roots."""
        names = _NOBODY.union(*(self._by_root.get(root, _NOBODY) for root in roots))
        return ((Is.ROOM, name) for name in sorted(names))

    @functools.cached_property
    def _by_root(self) -> Mapping[str, frozenset[str]]:
        """The traits that each host has and others are to gain."""
        found: dict[str, frozenset[str]] = {}
        for holding in self._found.holdings.values():
            if names := holding.traits & self._gained:
                root = holding.provider.root
                found[root] = found.get(root, _NOBODY) | names
        return found


def _zoned(staged: Staged, found: FoundCloud) -> Iterator[str]:
    """Yield the aggregates that make a zone, or will."""
    for body in found.aggregates:
        if body["metadata"].get(ZONE_KEY):
            yield str(body["id"])
    for stage in (Stage.NEW_AGGREGATES, Stage.ZONES):
        for change in staged.get(stage, ()):
            if change.after.get(ZONE_KEY):
                yield change.object.id


_Find = Callable[[Room, Change], Iterator[Fact]]

_MOVED_OUT = (Room._elsewhere, Room._for_those_leaving)
_CLOSED = (Room._elsewhere, Room._for_those_inside, Room._for_projects)

_COUNTED_ON: Mapping[Stage, tuple[_Find, ...]] = {
    Stage.ZONES: (Room._for_members,),
    Stage.CLOSED_BEFORE: _CLOSED,
    Stage.JOINED_FIRST: (Room._for_those_outside,),
    Stage.JOINED: (Room._for_those_outside,),
    Stage.MOVED_OUT: _MOVED_OUT,
    Stage.MOVED_OUT_LAST: _MOVED_OUT,
    Stage.MIRRORED: (Room._elsewhere, Room._for_tree),
    Stage.OPENED: (Room._for_projects,),
    Stage.REQUIRED: (Room._elsewhere, Room._for_requirer),
    Stage.REPLACING: _CLOSED,
    Stage.REPLACED: (Room._for_projects,),
    Stage.NAMED: _CLOSED,
    Stage.CLOSED: _CLOSED,
    # It may end what let them into a closed aggregate.
    Stage.RELEASED: (Room._elsewhere, Room._for_requirer),
    **dict.fromkeys(LEAVING, (Room._elsewhere, Room._for_those_leaving)),
    Stage.LOST: (Room._elsewhere, Room._for_tree),
}
