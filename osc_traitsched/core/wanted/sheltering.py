"""What keeps others from hosts goes only while something else still does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.isolation.guards import StillCloses
from osc_traitsched.core.change.model import Change, Condition, Kind, Object
from osc_traitsched.core.change.stages import Stage, Staged
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.trait_keys import isolating_keys
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted.found import FoundCloud

#: The stages in which something stops keeping others from hosts.
_OPENING = frozenset({Stage.MOVED_OUT_LAST, Stage.OPENED, Stage.REPLACED, Stage.LEFT})


def while_closed(staged: Staged, found: FoundCloud) -> Staged:
    """Return the changes, with what must still be closed before some of them.

    Others may open an aggregate after it was read that hosts are in, or go to. What
    closes these hosts until now then stays.
    """
    shelters = _Shelters(staged, found)
    return {
        stage: tuple(shelters.guarded(stage, change) for change in changes)
        if stage in _OPENING
        else changes
        for stage, changes in staged.items()
    }


class _Shelters:
    def __init__(self, staged: Staged, found: FoundCloud) -> None:
        self._bodies = {str(body["id"]): body for body in found.aggregates}
        self._closed = found.closed
        after: dict[str, dict[str, object]] = {}
        joins: dict[str, set[str]] = {}
        leaves: dict[str, set[str]] = {}
        for change in (change for changes in staged.values() for change in changes):
            if change.object.kind is Kind.AGGREGATE:
                after.setdefault(change.object.id, {}).update(change.after)
            elif change.object.kind is Kind.AGGREGATE_HOSTS:
                joins.setdefault(change.object.id, set()).update(change.added)
                leaves.setdefault(change.object.id, set()).update(change.removed)
        #: Those that hosts join which change their zone, once they have left the other.
        self._moving_in = {
            (change.object.id, host)
            for change in staged.get(Stage.MOVED_IN, ())
            for host in change.added
        }
        #: What closes an aggregate now, and stays as it is.
        self._closing: dict[str, Mapping[str, str]] = {}
        #: The aggregates that go on to close a host.
        self._around: dict[str, list[str]] = {}
        for identity, body in self._bodies.items():
            kept = {
                key: value
                for key, value in _closing(body, found.collation)
                if key not in after.get(identity, {})
            }
            if kept:
                self._closing[identity] = kept
                hosts = {*body["hosts"], *joins.get(identity, ())}
                for host in hosts - leaves.get(identity, set()):
                    self._around.setdefault(host, []).append(identity)

    def guarded(self, stage: Stage, change: Change) -> Change:
        """Return a change that is not made if its hosts are not closed any more."""
        if change.object.id not in self._closed:
            return change
        is_host = change.object.kind is Kind.AGGREGATE_HOSTS
        hosts = change.after if is_host else self._bodies[change.object.id]["hosts"]
        inside: dict[str, set[str]] = {}
        for host in hosts:
            for identity in self._around.get(host, ()):
                inside.setdefault(identity, set()).add(host)
        inside.pop(change.object.id, None)
        if stage is Stage.MOVED_OUT_LAST:
            coming = {(i, h) for i in inside for h in inside[i]} & self._moving_in
            for identity, host in coming:
                inside[identity].discard(host)
        met = (self._condition(each, inside[each]) for each in sorted(inside))
        return dataclasses.replace(change, conditions=(*change.conditions, *met))

    def _condition(self, identity: str, hosts: Iterable[str]) -> Condition:
        name = self._bodies[identity]["name"]
        guard = StillCloses(name, frozenset(hosts), self._closing[identity])
        return Condition(Object(Kind.AGGREGATE, identity, name), guard)


def _closing(body: Body, collation: Collation) -> Iterator[tuple[str, str]]:
    """Yield the metadata by which an aggregate keeps some requests out."""
    isolating = isolating_keys(body["metadata"], collation)
    for key, value in body["metadata"].items():
        if key in isolating or key.startswith(TENANT_KEY):
            yield key, value
