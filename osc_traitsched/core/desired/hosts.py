"""The cloud that files are compared with, and the hosts that lines name."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
from collections.abc import Callable, Iterable, Mapping, Set

from osc_traitsched.core import errors
from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.change.model import Object, ObjectKind, State, Value
from osc_traitsched.core.change.traits import present, traits_found
from osc_traitsched.core.desired.model import (
    GROUP,
    EntryError,
    Group,
    Inventory,
    Source,
    Text,
    Unit,
    is_name,
)
from osc_traitsched.core.errors import BadQuestion, TraitSchedError
from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.inventory.selection import Selected, Selectors, select
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Holding,
    Provider,
    Snapshot,
)
from osc_traitsched.core.names import is_pattern
from osc_traitsched.core.nova.question import Body
from osc_traitsched.text import listed, quoted

# The cloud that files are compared with.


@dataclasses.dataclass(frozen=True)
class FoundCloud(CloudModel):
    """All objects that entries can name.

    :ivar holdings: traits of all providers, by UUID
    :ivar images: images that lines may name
    :ivar projects: IDs by the names in entries, or why there is none
    :ivar collation: how Nova's database compares metadata
    :ivar reads_suffixes: AggregateMultiTenancyIsolation reads keys with a suffix, in
        every possible release
    """

    holdings: Mapping[str, Holding] = dataclasses.field(default_factory=dict)
    images: tuple[Body, ...] = ()
    projects: Mapping[str, str | BadQuestion] = dataclasses.field(default_factory=dict)
    collation: Collation = Collation.CASE_INSENSITIVE
    reads_suffixes: bool = True

    @functools.cached_property
    def holders(self) -> Mapping[str, frozenset[str]]:
        """UUIDs of providers, by trait."""
        found: dict[str, set[str]] = {name: set() for name in self.traits}
        for uuid, holding in self.holdings.items():
            keys = {**dict.fromkeys(holding.traits, ""), **self.changed.get(uuid, {})}
            for name, value in keys.items():
                if value is not None:
                    found.setdefault(name, set()).add(uuid)
        return {name: frozenset(uuids) for name, uuids in found.items()}

    def no_new_aggregate(self, name: str) -> BadQuestion | None:
        """Why a name (or a UUID or a pattern) is not created, if so."""
        meant = sorted(
            aggregate.name
            for aggregate in self.aggregates
            if aggregate.uuid == name or fnmatch.fnmatchcase(aggregate.name, name)
        )
        if meant:
            aggregates = listed(map(quoted, meant), "aggregate")
            are = "it is" if len(meant) == 1 else "they are"
            return BadQuestion(
                f"{quoted(name)} is no name; name {aggregates} exactly as {are} called"
            )
        if is_name(name) and not is_pattern(name):
            return None
        return BadQuestion(
            f"{quoted(name)} looks like a pattern, or Nova takes no such name; "
            "aggregates go by their names; make it first: openstack aggregate create"
        )

    def lacking(self, aggregate: Aggregate, trait: str) -> tuple[str, ...]:
        """Hosts of an aggregate without a trait, or not in it in Placement."""
        nodes = self.snapshot.nova.by_service_host
        having = self.holders.get(trait, frozenset())
        inside = having & self.inside.get(aggregate.uuid, frozenset())
        return tuple(
            host
            for host in sorted(aggregate.hosts)
            if not nodes.get(host) or any(n.uuid not in inside for n in nodes[host])
        )

    @functools.cached_property
    def flavor_of_id(self) -> Mapping[str, Body]:
        """Flavors by ID."""
        return {body["id"]: body for body in self.flavors}

    @functools.cached_property
    def image_of_id(self) -> Mapping[str, Body]:
        """Images that lines may name, by ID."""
        return {body["id"]: body for body in self.images}

    @functools.cached_property
    def _states(self) -> dict[Object, State]:
        return {}

    def state(self, target: Object) -> State:
        """An object's state; empty if it does not exist yet."""
        if target not in self._states:
            self._states[target] = STATES[target.kind](self, target.id)
        return self._states[target]

    def value(self, unit: Unit) -> Value:
        """The current value of a unit; None if missing."""
        target, key = unit
        return self.state(target).keys.get(key)

    @functools.cached_property
    def find_aggregate(self) -> Mapping[str, Aggregate]:
        """Nova's aggregates by name; names are unique."""
        return {aggregate.name: aggregate for aggregate in self.aggregates}


def _provider_traits(cloud: FoundCloud, uuid: str) -> State:
    holding = cloud.holdings.get(uuid)
    return traits_found(holding) if holding else State({})


def _metadata(cloud: FoundCloud, identity: str) -> State:
    aggregate = cloud.aggregate(identity)
    return State(aggregate.metadata, hosts=frozenset(aggregate.hosts))


def _hosts(cloud: FoundCloud, identity: str) -> State:
    hosts = _metadata(cloud, identity).hosts
    return State(present(hosts), hosts=hosts)


#: How the current state of each kind of object is read, by its ID.
STATES: Mapping[ObjectKind, Callable[[FoundCloud, str], State]] = {
    ObjectKind.TRAIT: lambda cloud, name: State(present({name} & cloud.traits)),
    ObjectKind.PROVIDER_TRAITS: _provider_traits,
    ObjectKind.PROVIDER_AGGREGATES: lambda cloud, uuid: State(
        present(each for each, members in cloud.inside.items() if uuid in members)
    ),
    ObjectKind.FLAVOR: lambda cloud, identity: State(
        cloud.flavor_of_id[identity].get("extra_specs") or {}
    ),
    ObjectKind.IMAGE: lambda cloud, identity: State(cloud.image_of_id[identity]),
    ObjectKind.AGGREGATE: _metadata,
    ObjectKind.NEW_AGGREGATE: _metadata,
    ObjectKind.AGGREGATE_HOSTS: _hosts,
}


# The hosts and providers that lines name.


_NONE = Selected(())
_MOST_NEAR = 3


class Hosts:
    """Finds the hosts that lines name; lines without any become mistakes."""

    def __init__(
        self,
        snapshot: Snapshot,
        groups: Iterable[Group] = (),
        inventory: Inventory | None = None,
    ) -> None:
        self.mistakes: list[EntryError] = []
        self._snapshot = snapshot
        self._groups = {group.name.text: group for group in groups}
        self._inventory = inventory
        # Each text is looked up once, wherever it stands.
        self._find = functools.cache(self._selected)
        self._service_hosts = functools.cache(self._of_nova)
        self._patterns = functools.cache(self._written)
        self._is_known = functools.cache(self._exists)
        self._by_label: dict[str, list[Provider]] = {}
        for host in snapshot.hosts:
            self._by_label.setdefault(host.name.partition(".")[0], []).append(host)
        computes = snapshot.nova.computes
        self._service_of = {node.uuid: node.service_host for node in computes}

    def providers(self, text: Text) -> Selected:
        """Providers of hosts: by name, UUID, glob, or group."""
        return self._find(text, is_host=True)

    def nested(self, text: Text) -> Selected:
        """Providers anywhere in a tree: by name, UUID, or glob over names."""
        return self._find(text, is_host=False)

    def service_hosts(
        self, text: Text, among: Set[str] = frozenset()
    ) -> frozenset[str]:
        """Hosts as Nova's aggregates name them; Nova may lack hosts of ``among``."""
        there = self.named(text, among)
        if there and not self._is_known(text):
            return there
        found, without = self._service_hosts(text)
        for name in without:
            reason = f"{quoted(name)} is not a compute node, and no aggregate has it"
            self._wrong(text, BadQuestion(reason))
        return found if there <= found else found | there

    def named(self, text: Text, among: Set[str]) -> frozenset[str]:
        """The hosts of ``among`` that a text names exactly or by a glob."""
        names, globs = self._patterns(text.text)
        matching = (h for glob in globs for h in among if fnmatch.fnmatchcase(h, glob))
        return names.intersection(among).union(matching)

    def _of_nova(self, text: Text) -> tuple[frozenset[str], list[str]]:
        selected, services = self.providers(text), self._service_of
        hosts = {services[p.uuid] for p in selected.providers if p.uuid in services}
        without = [p.name for p in selected.providers if p.uuid not in services]
        return frozenset(hosts.union(selected.without_provider)), without

    def _written(self, text: str) -> tuple[frozenset[str], list[str]]:
        names = [text]
        if text.startswith(GROUP):
            group = self._groups[text[len(GROUP) :]]
            is_names = group.source is Source.NAMES
            names = [each.text for each in group.values] if is_names else []
        globs = [name for name in names if is_pattern(name)]
        return frozenset(names), globs

    def _selected(self, text: Text, is_host: bool) -> Selected:
        try:
            return self._host(text) if is_host else self._nested(text.text)
        except EntryError as exc:
            self.mistakes.append(exc)
        except TraitSchedError as exc:
            self._wrong(text, exc)
        return _NONE

    def _wrong(self, text: Text, error: TraitSchedError) -> None:
        self.mistakes.append(EntryError(text.place, error))

    def _host(self, text: Text) -> Selected:
        if text.text.startswith(GROUP):
            return self._group(self._groups[text.text[len(GROUP) :]])
        return self._named(text.text)

    def _named(self, pattern: str) -> Selected:
        labelled = [] if self._is_whole(pattern) else self._by_label.get(pattern, [])
        if not labelled:
            return select(Selectors(hosts=(pattern,)), self._snapshot)
        if len(labelled) > 1:
            near = tuple(host.name for host in labelled[:_MOST_NEAR])
            raise errors.NothingMatches("host", pattern, near)
        return Selected(tuple(labelled))

    def _exists(self, text: Text) -> bool:
        try:
            self._host(text)
        except TraitSchedError:
            return False
        return True

    def _is_whole(self, name: str) -> bool:
        snapshot = self._snapshot
        return name in snapshot.by_name or name in snapshot.nova.by_service_host

    def _group(self, group: Group) -> Selected:
        if group.source is Source.NAMES:
            return _together(self.providers(each) for each in group.values)
        (value,) = group.values
        try:
            if group.source is Source.AGGREGATE:
                return select(Selectors(aggregates=(value.text,)), self._snapshot)
            if group.source is Source.ZONE:
                return select(Selectors(zones=(value.text,)), self._snapshot)
            return _together(map(self._named, self._in_inventory(group)))
        except TraitSchedError as exc:
            raise EntryError(value.place, exc) from exc

    def _in_inventory(self, group: Group) -> tuple[str, ...]:
        if self._inventory is None:
            raise BadQuestion("a group of an inventory needs --inventory FILE")
        variable = group.variable.text if group.variable else None
        return self._inventory.of_group(group.values[0].text, variable)

    def _nested(self, pattern: str) -> Selected:
        by_name = self._snapshot.by_name
        exact = by_name.get(pattern) or self._snapshot.by_uuid.get(pattern.lower())
        if exact is not None or not is_pattern(pattern):
            return select(Selectors(providers=(pattern,)), self._snapshot)
        found = [p for name, p in by_name.items() if fnmatch.fnmatchcase(name, pattern)]
        if not found:
            raise errors.NothingMatches("provider", pattern, ())
        return Selected(tuple(sorted(found, key=lambda p: p.name)))


def _together(parts: Iterable[Selected]) -> Selected:
    parts = tuple(parts)
    providers = dict.fromkeys(p for each in parts for p in each.providers)
    without = dict.fromkeys(h for each in parts for h in each.without_provider)
    return Selected(tuple(providers), tuple(without))
