"""What keeps others from hosts goes only while something else still does."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping

from osc_traitsched.core.change.isolation.guards import NoLongerCloses, StillCloses
from osc_traitsched.core.change.model import (
    Change,
    Condition,
    Keys,
    Kind,
    Object,
    State,
)
from osc_traitsched.core.change.stages import CLOSING, LEAVING, Stage, Staged
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.trait_keys import isolating_keys
from osc_traitsched.core.wanted.found import FoundCloud

#: The stages in which something stops keeping others from hosts.
_OPENING = (Stage.MOVED_OUT_LAST, Stage.OPENED, Stage.REPLACED, *LEAVING)


def while_closed(staged: Staged, found: FoundCloud) -> Staged:
    """Return the changes, with what must still be closed before some of them.

    Others may open an aggregate after it was read, or after it was closed, that hosts
    are in, or go to. What closes these hosts until now then stays.
    """
    return {
        stage: tuple(map(_Shelters(stage, staged, found).guarded, changes))
        if stage in _OPENING
        else changes
        for stage, changes in staged.items()
    }


@dataclasses.dataclass(frozen=True)
class _AnyOf:
    """Hosts stay closed in one of the ways in which they can be by then."""

    ways: tuple[StillCloses, ...]

    def refusal(self, found: State) -> NoLongerCloses | None:
        """Return what is missing of the way that most is there of, as an error."""
        missing = [way.refusal(found) for way in self.ways]
        errors = [each for each in missing if each is not None]
        if len(errors) < len(missing):
            return None
        return min(errors, key=lambda each: len(each.changed))


class _Shelters:
    """What closes hosts when a stage is written."""

    def __init__(self, stage: Stage, staged: Staged, found: FoundCloud) -> None:
        self._bodies = {str(body["id"]): body for body in found.aggregates}
        self._closed = found.closed
        # Without and with the projects that come: not all waits for their rows, which
        # may fail.
        self._closing = [_closing(stage, staged, found, way) for way in (False, True)]
        every = [change for changes in staged.values() for change in changes]
        self._objects = {
            **{i: _object(i, body["name"]) for i, body in self._bodies.items()},
            **{c.object.id: c.object for c in every if c.object.kind is Kind.AGGREGATE},
        }
        joins: dict[str, set[str]] = {}
        leaves: dict[str, set[str]] = {}
        for change in every:
            if change.object.kind is Kind.AGGREGATE_HOSTS:
                joins.setdefault(change.object.id, set()).update(change.added)
                leaves.setdefault(change.object.id, set()).update(change.removed)
        #: The aggregates that go on to close a host.
        self._around: dict[str, list[str]] = {}
        for identity in dict.fromkeys(itertools.chain(*self._closing)):
            body = self._bodies.get(identity)
            hosts = joins.get(identity, set()).union(body["hosts"] if body else ())
            for host in hosts - leaves.get(identity, set()):
                self._around.setdefault(host, []).append(identity)
        #: Those that hosts join which change their zone, once they have left the other.
        self._moving_in = (
            {
                (change.object.id, host)
                for change in staged.get(Stage.MOVED_IN, ())
                for host in change.added
            }
            if stage is Stage.MOVED_OUT_LAST
            else set()
        )

    def guarded(self, change: Change) -> Change:
        """Return a change that is not made if its hosts are not closed any more."""
        own = change.object.id
        if own not in self._closed:
            return change
        is_host = change.object.kind is Kind.AGGREGATE_HOSTS
        hosts = change.after if is_host else self._bodies[own]["hosts"]
        inside: dict[str, set[str]] = {}
        for host in hosts:
            for identity in self._around.get(host, ()):
                there = inside.setdefault(identity, set())
                # What has left the aggregate itself is not opened by what it loses.
                if identity != own and (identity, host) not in self._moving_in:
                    there.add(host)
        if not change.removed:
            inside.pop(own, None)
        met = (self._condition(each, inside[each]) for each in sorted(inside))
        return dataclasses.replace(change, conditions=(*change.conditions, *met))

    def _condition(self, identity: str, hosts: Iterable[str]) -> Condition:
        target = self._objects[identity]
        kept = frozenset(hosts)
        ways = [
            StillCloses(target.name, kept, closing[identity])
            for closing in self._closing
            if identity in closing
        ]
        return Condition(target, _AnyOf(tuple(ways)))


def _object(identity: str, name: str) -> Object:
    return Object(Kind.AGGREGATE, identity, name)


def _closing(
    stage: Stage, staged: Staged, found: FoundCloud, opened: bool
) -> Mapping[str, Mapping[str, str]]:
    """Return what keeps requests out of aggregates then: it stays, or came before.

    :param opened: what opens them to more projects is written
    """
    gone: dict[str, set[str]] = {}
    came: dict[str, dict[str, str]] = {}
    for at, changes in staged.items():
        for change in changes:
            if change.object.kind is Kind.AGGREGATE:
                gone.setdefault(change.object.id, set()).update(change.removed)
                if at <= stage and (opened or at in CLOSING):
                    keys = dict(_that_close(change.after, found.collation))
                    came.setdefault(change.object.id, {}).update(keys)
    for body in found.aggregates:
        identity = str(body["id"])
        keys = came.setdefault(identity, {})
        for key, value in _that_close(body["metadata"], found.collation):
            if key not in gone.get(identity, ()):
                keys.setdefault(key, value)
    return {identity: keys for identity, keys in came.items() if keys}


def _that_close(metadata: Keys, collation: Collation) -> Iterator[tuple[str, str]]:
    """Yield the metadata by which an aggregate keeps some requests out."""
    there = {key: value for key, value in metadata.items() if value is not None}
    isolating: Collection[str] = isolating_keys(there, collation)
    for key, value in there.items():
        if key in isolating or key.startswith(TENANT_KEY):
            yield key, value
