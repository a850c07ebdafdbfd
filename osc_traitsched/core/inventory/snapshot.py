"""Providers of Placement, Nova's compute nodes and aggregates, and selectors."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import itertools
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from typing import Any

from osc_traitsched.core import errors
from osc_traitsched.core.inventory.trait import (
    TENANT_KEY,
    ZONE_KEY,
    Collation,
    isolated_by,
    projects_in,
    zone_in,
)
from osc_traitsched.text import Namesake, by_key, is_pattern, near_names, quoted, ranges

# Providers of Placement, and Nova's compute nodes and aggregates.


# What a nova-compute reports of its node, as the compute API shows it.


@dataclasses.dataclass(frozen=True)
class NodeReport:
    """Columns of a compute node that nova-scheduler reads.

    From ``GET /os-hypervisors/detail`` up to microversion 2.87; at most a minute old
    while nova-compute works.

    :ivar memory_mb: MB, like ``free_ram_mb``, which can be below 0
    :ivar local_gb: GB, like all disk columns
    :ivar disk_available_least: None if the hypervisor does not report it
    :ivar running_vms: all servers of the node
    :ivar current_workload: servers with a running task
    :ivar hypervisor_version: ``1002003`` for 1.2.3; 0 if the hypervisor has none
    :ivar cpu_info: None if it is not a mapping
    :ivar is_read: False if servers were added or taken away in thought
    :ivar ratios: allocation ratios by resource class, if others were set in thought
    """

    vcpus: int
    vcpus_used: int
    memory_mb: int
    free_ram_mb: int
    local_gb: int
    local_gb_used: int
    free_disk_gb: int
    disk_available_least: int | None
    running_vms: int
    current_workload: int
    hypervisor_type: str
    hypervisor_version: int
    host_ip: str | None
    cpu_info: Mapping[str, Any] | None = dataclasses.field(default=None, hash=False)
    is_read: bool = dataclasses.field(default=True, compare=False)
    ratios: Mapping[str, float] | None = dataclasses.field(default=None, hash=False)

    @property
    def is_of_ironic(self) -> bool:
        """Whether Ironic manages the node, including its traits and statistics."""
        return self.hypervisor_type == "ironic"

    @property
    def free_disk_mb(self) -> int:
        """Free disk in MB (``HostState._update_from_compute_node``)."""
        least = self.disk_available_least
        free = self.free_disk_gb if least is None else min(least, self.free_disk_gb)
        return free * 1024

    @property
    def emptied(self) -> NodeReport:
        """The report without servers; what a host in use reserves is not known."""
        if not self.running_vms:
            return self
        ram = self.free_ram_mb - self.memory_mb
        empty = self.with_server(-self.vcpus_used, ram, -self.local_gb_used)
        return dataclasses.replace(empty, running_vms=0, current_workload=0)

    def with_server(self, vcpus: int, ram: int, disk: int) -> NodeReport:
        """The report with one more server, without the task of its build.

        nova/scheduler/host_manager.py, ``HostState.consume_from_request``

        :param ram: MB
        :param disk: GB, of disks that are on the node
        """
        least = self.disk_available_least
        return dataclasses.replace(
            self,
            vcpus_used=self.vcpus_used + vcpus,
            free_ram_mb=self.free_ram_mb - ram,
            local_gb_used=self.local_gb_used + disk,
            free_disk_gb=self.free_disk_gb - disk,
            is_read=False,
            disk_available_least=None if least is None else least - disk,
            running_vms=self.running_vms + 1,
        )


#: Key of allocation ratios in a node's body, which no API has.
OTHER_RATIOS = "other_ratios"

_NUMBERS = (
    "vcpus",
    "vcpus_used",
    "memory_mb",
    "free_ram_mb",
    "local_gb",
    "local_gb_used",
    "free_disk_gb",
    "running_vms",
    "current_workload",
    "hypervisor_version",
)


def read_node_report(body: Mapping[str, Any]) -> NodeReport | None:
    """Read a node; None without figures, as if new or with microversion 2.88."""
    numbers: dict[str, Any] = {key: body.get(key) for key in _NUMBERS}
    if not all(isinstance(each, int) for each in numbers.values()):
        return None
    least, cpu_info = body.get("disk_available_least"), body.get("cpu_info")
    return NodeReport(
        **numbers,
        disk_available_least=least if isinstance(least, int) else None,
        hypervisor_type=str(body.get("hypervisor_type") or ""),
        host_ip=body.get("host_ip"),
        cpu_info=cpu_info if isinstance(cpu_info, Mapping) else None,
        ratios=body.get(OTHER_RATIOS),
    )


# The facts of one cloud, read once at the start of a command and frozen.


#: The UUIDs of the providers in each aggregate, by the aggregate's UUID.
Members = Mapping[str, frozenset[str]]


@dataclasses.dataclass(frozen=True)
class Provider:
    """A resource provider as Placement lists it.

    :ivar generation: read before anything else of the provider; a write with it fails
        if the provider changed since
    :ivar root: UUID of the root of its tree
    :ivar parent: UUID of its parent; None for a root
    """

    uuid: str
    name: str
    generation: int
    root: str
    parent: str | None = None


@dataclasses.dataclass(frozen=True)
class Holding:
    """A provider and its traits, at the provider's generation."""

    provider: Provider
    traits: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Compute:
    """A compute node of Nova: a hypervisor and its service.

    :ivar uuid: also of its root provider
    :ivar node: the hypervisor's hostname, also the name of its root provider
    :ivar service_host: host name of its nova-compute service
    :ivar zones: several if the host is, wrongly, in aggregates of different zones
    :ivar report: latest figures of the node; None if not read
    :ivar builds: upper bound of the servers that the service host was building at the
        time of the report; None if not read
    """

    uuid: str
    node: str
    service_host: str
    zones: tuple[str, ...] = ()
    is_up: bool = True
    is_enabled: bool = True
    disabled_reason: str = ""
    report: NodeReport | None = None
    builds: int | None = None

    @property
    def enabled(self) -> Compute:
        """The node with its service enabled and up."""
        return dataclasses.replace(self, is_up=True, is_enabled=True)

    @property
    def emptied(self) -> Compute:
        """The node without servers."""
        report = self.report and self.report.emptied
        return dataclasses.replace(self, report=report, builds=0)

    @property
    def is_up_but_disabled(self) -> bool:
        """Whether enabling its service would make it usable."""
        return self.is_up and not self.is_enabled

    def has_leak(self, resource_class: str, used: int, reserved: int) -> bool:
        """Whether Placement counts more in use than Nova, on a node without servers.

        Nova counts what the host reserves, and servers that are about to move
        (nova/compute/resource_tracker.py, ``_update_usage``). Nodes that are down or of
        Ironic, and classes that Nova does not report by node, do not count.
        """
        report = self.report
        if report is None or report.is_of_ironic or not self.is_up:
            return False
        reported = {
            "VCPU": report.vcpus_used,
            "PCPU": report.vcpus_used,
            "MEMORY_MB": report.memory_mb - report.free_ram_mb,
            "DISK_GB": report.local_gb_used,
        }
        if resource_class not in reported:
            return False
        counted = reported[resource_class] - reserved
        is_empty = not (report.running_vms or report.current_workload)
        return is_empty and used > max(counted, 0)


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """A Nova host aggregate.

    :ivar id: as text; made up for an aggregate that does not exist yet
    :ivar hosts: service hosts
    """

    id: str
    uuid: str
    name: str
    hosts: tuple[str, ...] = ()
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Aggregate:
        """Parse an aggregate of the compute API, 2.41 or later."""
        hosts, metadata = tuple(body["hosts"]), body["metadata"]
        return cls(str(body["id"]), body["uuid"], body["name"], hosts, metadata)

    @property
    def zone(self) -> str | None:
        """Its availability zone as Nova shows it, or None."""
        return self.metadata.get(ZONE_KEY)

    def zone_in(self, collation: Collation) -> str | None:
        """Its availability zone as Nova's database finds it, or None."""
        return zone_in(self.metadata, collation)

    def isolated_by(self, collation: Collation) -> dict[str, str]:
        """The metadata keys that isolate it, by trait."""
        return isolated_by(self.metadata, collation)

    @property
    def project_ids(self) -> frozenset[str]:
        """The projects that its metadata names."""
        return projects_in(self.metadata)

    @property
    def projects(self) -> Mapping[str, str]:
        """Its ``filter_tenant_id*`` metadata."""
        return {k: v for k, v in self.metadata.items() if k.startswith(TENANT_KEY)}


@dataclasses.dataclass(frozen=True)
class Nova:
    """Compute nodes and aggregates; ``unasked`` says why Nova could not be read."""

    computes: tuple[Compute, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    unasked: str | None = None

    def with_zones(self, shown: Mapping[str, str]) -> Nova:
        """The view with zones of every node, from the aggregates of its host.

        Nova joins the zones of a host by commas (nova/availability_zones.py,
        ``set_availability_zones``), and a zone's name may contain a comma.

        :param shown: zones of service hosts as Nova shows them, for hosts in no zone
        """
        named: dict[str, set[str]] = {}
        for aggregate in self.aggregates:
            zone = aggregate.zone
            for host in aggregate.hosts if zone is not None else ():
                named.setdefault(host, set()).add(zone or "")
        zones = {**{host: {zone} for host, zone in shown.items()}, **named}
        inside = ((c, sorted(zones.get(c.service_host, ()))) for c in self.computes)
        computes = (dataclasses.replace(c, zones=tuple(each)) for c, each in inside)
        return dataclasses.replace(self, computes=tuple(computes))

    @functools.cached_property
    def by_service_host(self) -> Mapping[str, tuple[Compute, ...]]:
        """Nodes by service host; only Ironic has several on one."""
        nodes: dict[str, tuple[Compute, ...]] = {}
        for compute in self.computes:
            earlier = nodes.get(compute.service_host, ())
            nodes[compute.service_host] = (*earlier, compute)
        return nodes

    @functools.cached_property
    def ironic(self) -> Mapping[str, str]:
        """Names of Ironic's nodes by UUID."""
        return {
            compute.uuid: compute.node
            for compute in self.computes
            if compute.report is not None and compute.report.is_of_ironic
        }

    def nodes(self, aggregate: Aggregate) -> tuple[Compute, ...]:
        """Nodes of an aggregate's hosts."""
        hosts = (self.by_service_host.get(host, ()) for host in aggregate.hosts)
        return tuple(node for nodes in hosts for node in nodes)

    @functools.cached_property
    def members(self) -> Mapping[str, frozenset[str]]:
        """Node UUIDs by aggregate UUID."""
        return {
            aggregate.uuid: frozenset(node.uuid for node in self.nodes(aggregate))
            for aggregate in self.aggregates
        }


class HostBits:
    """Sets of hosts as bits: bit n is the nth host. Sets that stay are turned once."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(roots)
        self._places = {root: place for place, root in enumerate(self._roots)}
        self.every = (1 << len(self._roots)) - 1
        #: With the values, so that no other one gets their identity.
        self._turned: dict[tuple[int, str], tuple[object, int]] = {}
        self._sets: dict[int, frozenset[str]] = {}

    def of(self, uuids: Collection[str]) -> int:
        """The hosts whose roots are among these providers."""
        return self._once(uuids, "", lambda: uuids)

    def with_trait(self, traits: Mapping[str, frozenset[str]], name: str) -> int:
        """The hosts whose roots have a trait."""
        having = functools.partial(_having, traits, name)
        return self._once(traits, name, having)

    def once(self, uuids: Iterable[str]) -> int:
        """The same of a set that does not stay."""
        turned = bytearray(len(self._roots) // 8 + 1)
        for uuid in uuids:
            place = self._places.get(uuid)
            if place is not None:
                turned[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(turned, "little")

    def kept(self, bits: int) -> frozenset[str]:
        """Roots of a set that stays. Equal sets are one: many judgements have them."""
        if bits not in self._sets:
            self._sets[bits] = frozenset(self.roots(bits))
        return self._sets[bits]

    def without(self, some: frozenset[str], *others: frozenset[str]) -> frozenset[str]:
        """Roots of a set without others. All of these sets stay, see :meth:`of`."""
        found = self.of(some)
        for each in others:
            found &= ~self.of(each)
        return self.kept(found)

    def has(self, bits: int, root: str) -> bool:
        """Whether a host is in a set."""
        place = self._places.get(root)
        return place is not None and bool(bits >> place & 1)

    def roots(self, bits: int) -> Iterator[str]:
        """UUIDs of the hosts of a set, in order."""
        places = format(bits, "b")[::-1].encode().translate(_BITS)
        return itertools.compress(self._roots, places)

    def _once(
        self, value: object, name: str, uuids: Callable[[], Iterable[str]]
    ) -> int:
        key = id(value), name
        if key not in self._turned:
            self._turned[key] = value, self.once(uuids())
        return self._turned[key][1]


_BITS = bytes.maketrans(b"01", b"\0\1")


def _having(traits: Mapping[str, frozenset[str]], name: str) -> Iterator[str]:
    return (uuid for uuid, names in traits.items() if name in names)


#: How an existing host gets into Nova's list. Deleting a compute service deletes its
#: cell mapping as well, and only a restart creates the service again
#: (nova/servicegroup/drivers/db.py, ``_report_state``). ``discover_hosts
#: --by-service`` maps hosts with a service (nova/objects/host_mapping.py).
HOW_TO_LIST = (
    "restart its nova-compute (unless openstack compute service list shows it), then "
    "run nova-manage cell_v2 discover_hosts --by-service"
)


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """Providers of a cloud and, if a command needs it, Nova's view.

    :ivar sharing: UUIDs of sharing providers
    :ivar unmanaged_roots: UUIDs of roots that are not compute nodes of Nova
    :ivar unlisted: UUIDs of those that a nova-compute created. Nova's list omits nodes
        whose host has no mapping or service (nova/api/openstack/compute/hypervisors.py,
        ``_get_hypervisors``)
    :ivar requested: UUIDs of the roots that a request allows; None for all
    """

    providers: tuple[Provider, ...]
    sharing: frozenset[str] = frozenset()
    nova: Nova = Nova()
    unmanaged_roots: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    requested: frozenset[str] | None = None

    @functools.cached_property
    def by_uuid(self) -> Mapping[str, Provider]:
        """Providers by UUID."""
        return {provider.uuid: provider for provider in self.providers}

    @functools.cached_property
    def hosts(self) -> tuple[Provider, ...]:
        """Roots that can be compute nodes, sorted by name."""
        roots = (p for p in self.providers if self.is_host(p))
        return tuple(sorted(roots, key=lambda root: root.name))

    @functools.cached_property
    def host_trees(self) -> Mapping[str, tuple[str, ...]]:
        """Provider UUIDs of each host's tree, root first, by root UUID."""
        trees = {host.uuid: [host.uuid] for host in self.hosts}
        for provider in self.providers:
            if provider.parent is not None and provider.root in trees:
                trees[provider.root].append(provider.uuid)
        return {root: tuple(tree) for root, tree in trees.items()}

    @functools.cached_property
    def bits(self) -> HostBits:
        """Its hosts as bits."""
        return HostBits([host.uuid for host in self.hosts])

    @functools.cached_property
    def single_hosts(self) -> int:
        """Hosts of one provider, as bits."""
        trees = self.host_trees.items()
        return self.bits.of(frozenset(root for root, tree in trees if len(tree) == 1))

    def with_nova(self, nova: Nova) -> Snapshot:
        """The snapshot with Nova's view."""
        computes = {compute.uuid for compute in nova.computes}
        roots = {p.uuid for p in self.providers if p.parent is None}
        unmanaged_roots = roots - self.sharing - computes if computes else frozenset()
        return dataclasses.replace(
            self, unmanaged_roots=frozenset(unmanaged_roots), nova=nova
        )

    def restricted_to(self, uuids: Iterable[str]) -> Snapshot:
        """The snapshot for a request that names its host."""
        return dataclasses.replace(
            self,
            requested=frozenset(uuids),
            unmanaged_roots=frozenset(),
            unlisted=frozenset(),
        )

    @property
    def is_in_tree(self) -> bool:
        """Whether the request allows a single tree, without sharing providers."""
        return self.requested is not None and len(self.requested) == 1

    def without(self, uuids: Iterable[str]) -> Snapshot:
        """The snapshot without these providers and their descendants."""
        gone = frozenset(uuids)
        kept = (p for p in self.providers if not {p.uuid, p.parent, p.root} & gone)
        return dataclasses.replace(
            self,
            providers=tuple(kept),
            sharing=self.sharing - gone,
            unmanaged_roots=self.unmanaged_roots - gone,
            unlisted=self.unlisted - gone,
        )

    def with_compute_nodes(self, uuids: Iterable[str]) -> Snapshot:
        """Set ``unlisted`` by the UUIDs of the providers that have COMPUTE_NODE.

        A provider with the name of a listed node is not one of them: it conflicts with
        that node's own provider.
        """
        names = {compute.node for compute in self.nova.computes}
        unlisted = {
            uuid
            for uuid in self.unmanaged_roots.intersection(uuids)
            if self.by_uuid[uuid].name not in names
        }
        return dataclasses.replace(self, unlisted=frozenset(unlisted))

    @property
    def listed(self) -> int:
        """Number of Nova's compute nodes that have a provider."""
        computes = self.nova.computes
        return sum(compute.uuid in self.by_uuid for compute in computes)

    def names_of(self, uuids: Iterable[str]) -> tuple[str, ...]:
        """Names of providers by UUID, sorted."""
        return tuple(sorted(self.by_uuid[uuid].name for uuid in uuids))

    def is_host(self, provider: Provider) -> bool:
        """Whether a provider is a root that can be a compute node.

        A compute node of Nova counts even if it shares its inventory.
        """
        uuid = provider.uuid
        if provider.parent is not None or uuid in self.unmanaged_roots:
            return False
        if self.requested is not None:
            return uuid in self.requested
        return uuid not in self.sharing or uuid in self._compute_nodes

    @functools.cached_property
    def _compute_nodes(self) -> frozenset[str]:
        computes = self.nova.computes
        return frozenset(compute.uuid for compute in computes)

    @functools.cached_property
    def by_name(self) -> Mapping[str, Provider]:
        """Providers by name; Placement keeps names unique."""
        return {provider.name: provider for provider in self.providers}

    def host_name(self, provider: Provider) -> str:
        """Name of the provider's root."""
        return self.by_uuid[provider.root].name

    def trees(self, roots: tuple[Provider, ...]) -> tuple[Provider, ...]:
        """Trees of the roots, each parent right before its children."""
        children = by_key(
            (provider.parent, provider)
            for provider in sorted(self.providers, key=lambda p: p.name, reverse=True)
        )
        found = []
        waiting = list(reversed(roots))
        while waiting:
            provider = waiting.pop()
            found.append(provider)
            waiting.extend(children.get(provider.uuid, ()))
        return tuple(found)

    def depth(self, provider: Provider) -> int:
        """Number of ancestors of a provider."""
        above = 0
        while provider.parent is not None:
            provider = self.by_uuid[provider.parent]
            above += 1
        return above


# Nova's host aggregates against Placement's aggregates of the same UUIDs.


@dataclasses.dataclass(frozen=True)
class MembershipDifference:
    """Nodes that only one of Nova and Placement has in an aggregate.

    Other providers do not count: hosts share a storage pool by an aggregate.

    :ivar missing: nodes that have a provider and are in the aggregate in Nova only
    :ivar without_provider: nodes in the aggregate that have no provider
    :ivar extra: nodes in the aggregate in Placement only
    """

    aggregate: Aggregate
    missing: tuple[Compute, ...] = ()
    without_provider: tuple[Compute, ...] = ()
    extra: tuple[Compute, ...] = ()


def membership_differences(
    snapshot: Snapshot, members: Members
) -> tuple[MembershipDifference, ...]:
    """Compare every aggregate, sorted by name; synced ones have no nodes listed."""
    nova = snapshot.nova
    ordered = sorted(nova.aggregates, key=lambda each: (each.name, each.id))
    return tuple(_difference(each, nova, snapshot, members) for each in ordered)


def _difference(
    aggregate: Aggregate, nova: Nova, snapshot: Snapshot, members: Members
) -> MembershipDifference:
    inside = members.get(aggregate.uuid, frozenset())
    hosts = frozenset(aggregate.hosts)
    out = [node for node in nova.nodes(aggregate) if node.uuid not in inside]
    return MembershipDifference(
        aggregate,
        missing=_by_name(node for node in out if node.uuid in snapshot.by_uuid),
        without_provider=_by_name(
            node for node in out if node.uuid not in snapshot.by_uuid
        ),
        extra=_by_name(
            node
            for node in nova.computes
            if node.uuid in inside and node.service_host not in hosts
        ),
    )


def _by_name(nodes: Iterable[Compute]) -> tuple[Compute, ...]:
    return tuple(sorted(nodes, key=lambda node: node.node))


# Selectors of commands, and the providers that match them.


@dataclasses.dataclass(frozen=True)
class Selectors:
    """Options that select providers; selectors add up, trait options narrow.

    :ivar hosts: names, UUIDs or globs of providers or Nova service hosts
    :ivar providers: names or UUIDs of providers anywhere in a tree
    :ivar aggregates: names, IDs or UUIDs of Nova host aggregates
    :ivar skips_unknown: a host that does not exist is no error, if another one does
    """

    hosts: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    everything: bool = False
    having: frozenset[str] = frozenset()
    lacking: frozenset[str] = frozenset()
    skips_unknown: bool = False

    @property
    def names_any(self) -> bool:
        """Whether any selector is set."""
        selectors = (self.hosts, self.providers, self.aggregates, self.zones)
        return self.everything or any(selectors)

    def admits(self, traits: frozenset[str]) -> bool:
        """Whether a provider with these traits stays selected."""
        return self.having <= traits and not self.lacking & traits


@dataclasses.dataclass(frozen=True)
class Selected:
    """Matches of selectors.

    :ivar providers: unique, sorted by host and name
    :ivar without_provider: matching Nova service hosts without a provider
    :ivar skipped: unknown hosts
    """

    providers: tuple[Provider, ...]
    without_provider: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Targets:
    """Selected providers with their traits.

    :ivar without_provider: selected hosts without a provider
    :ivar vanished: names of providers that were deleted during the reading
    :ivar skipped: names of unknown hosts
    """

    snapshot: Snapshot
    held: tuple[Holding, ...]
    without_provider: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def needs_nova(selectors: Selectors, snapshot: Snapshot) -> bool:
    """Whether the selectors need Nova's view of hosts."""
    return bool(
        selectors.aggregates
        or selectors.zones
        or any(not _hosts_named(p, snapshot) for p in selectors.hosts)
        or (snapshot.sharing and _takes_any_host(selectors))
    )


def _takes_any_host(selectors: Selectors) -> bool:
    """Sharing providers may match, if they are compute nodes."""
    return selectors.everything or any(map(is_pattern, selectors.hosts))


def select(selectors: Selectors, snapshot: Snapshot) -> Selected:
    """Match the selectors with the cloud.

    :raises NothingMatches: for a selector without a match
    :raises BadQuestion: for a host that only Placement has
    :raises Mistakes: for several hosts like that
    :raises EmptyAggregate: for an aggregate without hosts
    :raises AmbiguousName: if several aggregates have the name
    """
    nova = snapshot.nova
    providers = set(snapshot.hosts if selectors.everything else ())
    computes: set[Compute] = set()
    mistakes: dict[str, errors.BadQuestion] = {}
    is_each_skipped = selectors.skips_unknown
    for pattern in selectors.hosts:
        matches = _hosts_named(pattern, snapshot)
        providers.update(matches)
        if not matches:
            try:
                computes.update(_computes_named(pattern, snapshot, nova))
            except errors.BadQuestion as exc:
                mistakes[pattern] = exc
                is_each_skipped &= isinstance(exc, errors.NothingMatches)
    if mistakes and not is_each_skipped:
        raise _together(mistakes.values())
    for value in selectors.providers:
        providers.add(_provider(value, snapshot))
    without_provider: set[str] = set()
    for value in selectors.aggregates:
        found, hostless = _members(find_aggregate(value, nova), nova)
        computes.update(found)
        without_provider.update(hostless)
    for zone in selectors.zones:
        computes.update(_in_zone(zone, nova))
    for compute in computes:
        root = snapshot.by_uuid.get(compute.uuid)
        if root is None:
            without_provider.add(compute.service_host)
        else:
            providers.add(root)
    if mistakes and not (providers or without_provider):
        raise _together(mistakes.values())
    ordered = sorted(providers, key=lambda p: (snapshot.host_name(p), p.name, p.uuid))
    return Selected(tuple(ordered), tuple(sorted(without_provider)), tuple(mistakes))


def _together(mistakes: Iterable[errors.BadQuestion]) -> errors.BadQuestion:
    first, *others = mistakes
    return errors.Mistakes([first, *others]) if others else first


def only_host(name: str, snapshot: Snapshot) -> Provider:
    """The host of a name or a UUID; raises NothingMatches, BadUsage for several."""
    found = select(Selectors(hosts=(name,)), snapshot).providers
    if not found:
        raise errors.NothingMatches("resource provider", name, ())
    if len(found) != 1:
        names = [each.name for each in found]
        raise errors.BadUsage(
            f"{quoted(name)} matches {len(found)} hosts: {ranges(names)}. Name one of "
            f"them, such as {', '.join(names[:1])}"
        )
    return found[0]


def _hosts_named(pattern: str, snapshot: Snapshot) -> tuple[Provider, ...]:
    exact = snapshot.by_name.get(pattern) or snapshot.by_uuid.get(pattern.lower())
    if exact is not None and snapshot.is_host(exact):
        return (exact,)
    if not is_pattern(pattern):
        return ()
    return tuple(p for p in snapshot.hosts if fnmatch.fnmatchcase(p.name, pattern))


def _computes_named(
    pattern: str, snapshot: Snapshot, nova: Nova
) -> tuple[Compute, ...]:
    found = nova.by_service_host.get(pattern, ())
    if not found and is_pattern(pattern):
        found = tuple(
            c for c in nova.computes if fnmatch.fnmatchcase(c.service_host, pattern)
        )
    if not found:
        root = snapshot.by_name.get(pattern)
        if root and not root.parent and root.uuid not in snapshot.sharing:
            raise errors.BadQuestion(
                f"Nova lists no compute node {quoted(pattern)}, but Placement has it: "
                f"if the host exists, {HOW_TO_LIST}"
            )
        names = {p.name for p in snapshot.hosts} | set(nova.by_service_host)
        near = _near_hosts(pattern, names)
        raise errors.NothingMatches("host", pattern, near, nova.unasked)
    return found


def _near_hosts(name: str, names: Set[str]) -> tuple[str, ...]:
    label = name.partition(".")[0]
    return (label,) if label in names else near_names(name, names)


def _provider(value: str, snapshot: Snapshot) -> Provider:
    found = snapshot.by_name.get(value) or snapshot.by_uuid.get(value.lower())
    if found is None:
        near = near_names(value, snapshot.by_name)
        raise errors.NothingMatches("provider", value, near)
    return found


def find_aggregate(value: str, nova: Nova) -> Aggregate:
    """The aggregate of a name, ID or UUID; raises NothingMatches, AmbiguousName."""
    found = [a for a in nova.aggregates if value in (a.name, str(a.id), a.uuid)]
    if not found:
        names = {a.name for a in nova.aggregates}
        near = near_names(value, names)
        raise errors.NothingMatches("aggregate", value, near, nova.unasked)
    if len(found) > 1:
        namesakes = (Namesake(each.uuid) for each in found)
        raise errors.AmbiguousName("aggregate", value, namesakes)
    return found[0]


def _members(
    aggregate: Aggregate, nova: Nova
) -> tuple[tuple[Compute, ...], tuple[str, ...]]:
    if not aggregate.hosts:
        raise errors.EmptyAggregate(aggregate.name)
    nodes = nova.by_service_host
    found = (c for host in aggregate.hosts for c in nodes.get(host, ()))
    return tuple(found), tuple(h for h in aggregate.hosts if h not in nodes)


def _in_zone(zone: str, nova: Nova) -> tuple[Compute, ...]:
    found = tuple(c for c in nova.computes if zone in c.zones)
    if not found:
        names = {name for c in nova.computes for name in c.zones}
        near = near_names(zone, names)
        raise errors.NothingMatches("availability zone", zone, near, nova.unasked)
    return found
