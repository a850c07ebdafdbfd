"""Which changes a change waits for: what fails elsewhere does not stop it.

Something that closes, or that takes away, waits for all that it follows from, and for
what opens hosts to others: it was foreseen that flavors find room there. That which is
known to fail was not foreseen, and nothing waits for its room.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.model import Change, Kind, Mark
from osc_traitsched.core.change.stages import CLOSING, Stage, Staged
from osc_traitsched.core.inventory.snapshot import TENANT_KEY, Nova
from osc_traitsched.core.inventory.trait_keys import names_trait, trait_in
from osc_traitsched.core.inventory.zones import ZONE_KEY
from osc_traitsched.core.wanted.found import FoundCloud

#: What a change brings about, and what another one relies on.
_Fact = tuple[str, ...]

#: Hosts are open to requests that could not get there before.
_OPEN: _Fact = ("open", "")


def with_needs(staged: Staged, found: FoundCloud) -> Staged:
    """Return the changes, each with those of earlier stages that it waits for."""
    thinking = _Thinking(found, staged)
    given: dict[_Fact, set[Mark]] = {}
    result: dict[Stage, tuple[Change, ...]] = {}
    # The changes that will not be made: they fail, or wait for such.
    off: set[Mark] = set()
    for stage in sorted(staged):
        known: dict[frozenset[_Fact], frozenset[Mark]] = {}
        changes = []
        for change in staged[stage]:
            facts = frozenset(thinking.relies(stage, change)).intersection(given)
            if facts not in known:
                known[facts] = frozenset().union(*(given[fact] for fact in facts))
            needs = known[facts]
            changes.append(dataclasses.replace(change, needs=needs))
            if change.problem is not None or not needs.isdisjoint(off):
                off.add(change.mark)
        for change in changes:
            for fact in thinking.gives(stage, change):
                if fact != _OPEN or change.mark not in off:
                    given.setdefault(fact, set()).add(change.mark)
        result[stage] = tuple(changes)
    return result


class _Thinking:
    def __init__(self, found: FoundCloud, staged: Staged) -> None:
        self._found = found
        self._aggregates = {str(body["id"]): body for body in found.aggregates}
        self._ids = {body["uuid"]: str(body["id"]) for body in found.aggregates}
        # The aggregates that hosts join.
        self._joined: dict[str, list[str]] = {}
        for change in staged.get(Stage.JOINED, ()):
            for host in change.after:
                self._joined.setdefault(host, []).append(change.object.id)
        nodes = (found.snapshot.nova or Nova()).computes
        self._hosts = {node.uuid: frozenset({node.service_host}) for node in nodes}
        # Those that hosts are in, or join.
        self._around = {host: [*ids] for host, ids in self._joined.items()}
        for identity, body in self._aggregates.items():
            for host in body["hosts"]:
                self._around.setdefault(host, []).append(identity)
        # Zones and projects that aggregates have now, or get.
        self._restricted = {
            change.object.id
            for changes in staged.values()
            for change in changes
            if any(_restricts(key) for key in change.after)
        } | {
            identity
            for identity, body in self._aggregates.items()
            if any(map(_restricts, body["metadata"]))
        }

    def gives(self, stage: Stage, change: Change) -> Iterator[_Fact]:
        """Yield what is so once a change is made."""
        identity = change.object.id
        if stage is Stage.GAINED:
            yield from (("has", name) for name in change.added)
        elif stage in (Stage.TRAITS, Stage.NEW_AGGREGATES, Stage.MIRRORED):
            yield from ((stage.name, each) for each in (identity, *change.after))
        elif stage is Stage.ZONES:
            yield from ((stage.name, identity), _OPEN)
        elif stage is Stage.MOVED_OUT:
            yield from ((stage.name, host) for host in change.after)
        elif stage is Stage.JOINED:
            yield (stage.name, identity)
            yield from ((stage.name, identity, host) for host in change.after)
            if identity in self._restricted:
                yield _OPEN
        elif stage in (Stage.OPENED, Stage.REPLACED):
            yield _OPEN
        elif stage in CLOSING:
            yield ("CLOSED", identity)
        elif stage is Stage.LEFT:
            yield from ((stage.name, host) for host in change.after)
        elif stage in (Stage.REQUIRED, Stage.RELEASED):
            yield from (
                (stage.name, each) for each in (identity, *self._traits(change))
            )

    def relies(self, stage: Stage, change: Change) -> Iterator[_Fact]:
        """Yield what must be so before a change is made."""
        identity, names = change.object.id, self._traits(change)
        if stage in (Stage.GAINED, Stage.REQUIRED):
            yield from (("TRAITS", name) for name in names)
        if stage in (Stage.ZONES, *CLOSING):
            yield from _is_there(identity)
        if stage is Stage.MOVED_OUT:
            for joined in self._joins(change):
                yield ("CLOSED", joined)
                yield from self._can_be_joined(joined)
        if stage is Stage.JOINED:
            yield ("CLOSED", identity)
            yield from self._can_be_joined(identity)
            yield from (("MOVED_OUT", host) for host in change.after)
        if stage is Stage.MIRRORED:
            yield from (("JOINED", self._ids.get(key, "")) for key in change.after)
        if stage in (
            Stage.REQUIRED,
            *CLOSING,
            Stage.RELEASED,
            Stage.LEFT,
            Stage.LOST,
        ):
            yield _OPEN
            yield from (("has", name) for name in names)
        if stage is Stage.RELEASED:
            # What requires another trait instead is never open to all in between.
            yield ("REQUIRED", identity)
        if stage in CLOSING:
            yield from self._closes(change, names)
        if stage is Stage.REPLACED:
            yield ("CLOSED", identity)
        if stage in (Stage.OPENED, Stage.REPLACED):
            yield from self._closed_around(self._aggregates[identity]["hosts"])
        if stage is Stage.LEFT:
            # Filters after Placement may ask for the aggregate's other keys.
            yield ("JOINED", identity)
            # Until then only this aggregate may keep others from the host.
            yield from (("JOINED", other) for other in self._joins(change))
            if identity in self._found.closed:
                yield from self._closed_around(change.after)
        if stage is Stage.LOST:
            yield from (("RELEASED", name) for name in names)
            yield from (("LEFT", host) for host in self._service_hosts(identity))

    def _joins(self, leaving: Change) -> Iterator[str]:
        """Yield the aggregates that hosts join which leave one."""
        for host in leaving.after:
            yield from self._joined.get(host, ())

    def _closed_around(self, hosts: Iterable[str]) -> Iterator[_Fact]:
        """Yield what must be so before something no longer keeps others from hosts.

        Those that are to be in a closed aggregate are in it, and others are closed.
        """
        for host in hosts:
            for other in self._around.get(host, ()):
                yield ("CLOSED", other)
                if other in self._found.closed:
                    yield ("JOINED", other, host)
                    yield ("MIRRORED", self._aggregates[other]["uuid"])

    def _can_be_joined(self, aggregate: str) -> Iterator[_Fact]:
        """Yield what must be so before a host joins an aggregate.

        Hosts have the traits that isolate it: what has to gain them is not to fail.
        """
        yield from _is_there(aggregate)
        body = self._aggregates.get(aggregate)
        yield from (
            ("has", name) for name in self._isolating(body["metadata"] if body else {})
        )

    def _closes(self, change: Change, names: frozenset[str]) -> Iterator[_Fact]:
        """Yield what must be so before an aggregate is closed.

        Flavors that require what its hosts have now are to find others in time.
        """
        identity = change.object.id
        yield ("JOINED", identity)
        for name in names:
            yield from (("TRAITS", name), ("REQUIRED", name))
        body = self._aggregates.get(identity)
        if body is None:
            return
        yield ("MIRRORED", body["uuid"])
        nodes = (self._found.snapshot.nova or Nova()).by_service_host
        for host in body["hosts"]:
            for node in nodes.get(host, ()):
                holding = self._found.holdings.get(node.uuid)
                yield from (("has", name) for name in holding.traits) if holding else ()

    def _service_hosts(self, provider: str) -> frozenset[str]:
        """Return the host of a provider as Nova's aggregates name it, if any."""
        there = self._found.snapshot.by_uuid.get(provider)
        return self._hosts.get(there.root, frozenset()) if there else frozenset()

    def _traits(self, change: Change) -> frozenset[str]:
        """Return the traits that a change gives, takes, requires or no longer does."""
        if change.object.kind is Kind.PROVIDER_TRAITS:
            return frozenset(change.after)
        return self._isolating(change.after)

    def _isolating(self, keys: Mapping[str, object]) -> frozenset[str]:
        collation = self._found.collation
        named = (key for key in keys if names_trait(key, collation))
        return frozenset(trait_in(key, collation) for key in named)


def _is_there(aggregate: str) -> tuple[_Fact, _Fact]:
    return ("NEW_AGGREGATES", aggregate), ("ZONES", aggregate)


def _restricts(key: str) -> bool:
    return key == ZONE_KEY or key.startswith(TENANT_KEY)
