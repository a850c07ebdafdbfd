"""The facts of one cloud, read once at the start of a command and frozen."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping

from osc_traitsched.core.inventory.metadata import ZONE_KEY
from osc_traitsched.core.inventory.node_report import NodeReport

#: What the keys of an aggregate's metadata begin with that name a project each.
TENANT_KEY = "filter_tenant_id"

#: The UUIDs of the providers in each aggregate, by the aggregate's UUID.
Members = Mapping[str, frozenset[str]]


@dataclasses.dataclass(frozen=True)
class Provider:
    """A resource provider as Placement lists it.

    :ivar generation: what it was before anything else of the provider was
        read; a write that carries it fails if the provider changed since
    :ivar root: the UUID of the top of its tree, its own for a root
    :ivar parent: the UUID of the provider above it, None for a root
    """

    uuid: str
    name: str
    generation: int
    root: str
    parent: str | None = None


@dataclasses.dataclass(frozen=True)
class Holding:
    """A provider and the traits it has, at the provider's generation."""

    provider: Provider
    traits: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Compute:
    """One Nova compute node: a hypervisor and the service that runs it.

    :ivar uuid: also the UUID of its root provider in Placement
    :ivar node: the hypervisor's hostname, also its root provider's name
    :ivar service_host: the host that its nova-compute service goes by
    :ivar zones: the availability zone that Nova says it is in; several where
        the host is, wrongly, in aggregates of different zones
    :ivar report: what its nova-compute last said of the node; None if not read
    :ivar builds: at most how many servers its service host was building when it said
        that; None if not read
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
    def is_up_but_disabled(self) -> bool:
        """Whether enabling its service would make it usable."""
        return self.is_up and not self.is_enabled


@dataclasses.dataclass(frozen=True)
class Aggregate:
    """A Nova host aggregate; its hosts are service hosts."""

    id: int
    uuid: str
    name: str
    hosts: tuple[str, ...]
    metadata: Mapping[str, str]

    @property
    def zone(self) -> str | None:
        """The availability zone that Nova shows of it, if any."""
        return self.metadata.get(ZONE_KEY)

    @property
    def projects(self) -> Mapping[str, str]:
        """Its keys that name projects, with their values."""
        return {k: v for k, v in self.metadata.items() if k.startswith(TENANT_KEY)}


@dataclasses.dataclass(frozen=True)
class Nova:
    """What the compute API knows of hosts.

    :ivar unasked: why it could not be asked, in one line, or None
    """

    computes: tuple[Compute, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    unasked: str | None = None

    def with_zones(self, shown: Mapping[str, str]) -> Nova:
        """Return the view with the zones of every node.

        They are those of the aggregates of its host. Nova shows the zones of a host
        joined by commas (nova/availability_zones.py, ``set_availability_zones``),
        and a zone's name may have a comma.

        :param shown: what Nova shows of service hosts: of a host in no zone's
            aggregate that is the default zone
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
        """The nodes of every service host; only Ironic's have several."""
        nodes: dict[str, tuple[Compute, ...]] = {}
        for compute in self.computes:
            earlier = nodes.get(compute.service_host, ())
            nodes[compute.service_host] = (*earlier, compute)
        return nodes

    @functools.cached_property
    def ironic(self) -> Mapping[str, str]:
        """The names of Ironic's nodes, by their UUIDs."""
        return {
            compute.uuid: compute.node
            for compute in self.computes
            if compute.report is not None and compute.report.is_of_ironic
        }

    def nodes(self, aggregate: Aggregate) -> tuple[Compute, ...]:
        """Return the nodes of an aggregate's hosts."""
        hosts = (self.by_service_host.get(host, ()) for host in aggregate.hosts)
        return tuple(node for nodes in hosts for node in nodes)

    @functools.cached_property
    def members(self) -> Mapping[str, frozenset[str]]:
        """For each aggregate's UUID those of the nodes of its hosts."""
        return {
            aggregate.uuid: frozenset(node.uuid for node in self.nodes(aggregate))
            for aggregate in self.aggregates
        }


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """The providers of a cloud and, where a command needs it, Nova's view.

    :ivar sharing: UUIDs of the providers whose inventory others share
    :ivar unmanaged_roots: UUIDs of roots that are no compute nodes of Nova's
    :ivar unlisted: UUIDs of those of them that a nova-compute made: Nova's list may be
        incomplete, since it leaves out a node whose host has no mapping or no service
        (nova/api/openstack/compute/hypervisors.py, ``_get_hypervisors``)
    :ivar requested: UUIDs of the roots that alone are hosts of a request; None for all
    """

    providers: tuple[Provider, ...]
    sharing: frozenset[str] = frozenset()
    nova: Nova | None = None
    unmanaged_roots: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    requested: frozenset[str] | None = None

    @functools.cached_property
    def by_uuid(self) -> Mapping[str, Provider]:
        """Every provider under its UUID."""
        return {provider.uuid: provider for provider in self.providers}

    @functools.cached_property
    def hosts(self) -> tuple[Provider, ...]:
        """The roots that can be compute nodes, by name."""
        roots = (p for p in self.providers if self.is_host(p))
        return tuple(sorted(roots, key=lambda root: root.name))

    @functools.cached_property
    def host_trees(self) -> Mapping[str, tuple[str, ...]]:
        """The UUIDs of the providers of each host's tree by the root's, root first."""
        trees = {host.uuid: [host.uuid] for host in self.hosts}
        for provider in self.providers:
            if provider.parent is not None and provider.root in trees:
                trees[provider.root].append(provider.uuid)
        return {root: tuple(tree) for root, tree in trees.items()}

    def with_nova(self, nova: Nova) -> Snapshot:
        """Return the snapshot with Nova's view of which roots are compute nodes."""
        computes = {compute.uuid for compute in nova.computes}
        roots = {p.uuid for p in self.providers if p.parent is None}
        unmanaged_roots = roots - self.sharing - computes if computes else frozenset()
        return dataclasses.replace(
            self, unmanaged_roots=frozenset(unmanaged_roots), nova=nova
        )

    def restricted_to(self, uuids: Iterable[str]) -> Snapshot:
        """Return the snapshot of a request that names its host, maybe of many nodes."""
        return dataclasses.replace(
            self,
            requested=frozenset(uuids),
            unmanaged_roots=frozenset(),
            unlisted=frozenset(),
        )

    @property
    def is_in_tree(self) -> bool:
        """Whether one tree alone is asked for, which nothing is shared with."""
        return self.requested is not None and len(self.requested) == 1

    def without(self, uuids: Iterable[str]) -> Snapshot:
        """Return the snapshot without providers and what is below them."""
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
        """Return the snapshot with which of its compute nodes Nova does not list.

        One that has a listed node's name is not among them: it stands in the way of
        that node's own provider.

        :param uuids: of the providers that have COMPUTE_NODE
        """
        names = {compute.node for compute in self.nova.computes} if self.nova else ()
        unlisted = {
            uuid
            for uuid in self.unmanaged_roots.intersection(uuids)
            if self.by_uuid[uuid].name not in names
        }
        return dataclasses.replace(self, unlisted=frozenset(unlisted))

    @property
    def listed(self) -> int:
        """How many of Placement's compute nodes Nova lists."""
        computes = self.nova.computes if self.nova else ()
        return sum(compute.uuid in self.by_uuid for compute in computes)

    def named(self, uuids: Iterable[str]) -> tuple[str, ...]:
        """Return the names of providers by their UUIDs, sorted."""
        return tuple(sorted(self.by_uuid[uuid].name for uuid in uuids))

    def is_host(self, provider: Provider) -> bool:
        """Tell whether a provider is a root that can be a compute node.

        A compute node of Nova's is one whatever traits it has: it may share its
        inventory besides.
        """
        uuid = provider.uuid
        if provider.parent is not None or uuid in self.unmanaged_roots:
            return False
        if self.requested is not None:
            return uuid in self.requested
        return uuid not in self.sharing or uuid in self._compute_nodes

    @functools.cached_property
    def _compute_nodes(self) -> frozenset[str]:
        computes = self.nova.computes if self.nova else ()
        return frozenset(compute.uuid for compute in computes)

    @functools.cached_property
    def by_name(self) -> Mapping[str, Provider]:
        """Every provider under its name, which Placement keeps unique."""
        return {provider.name: provider for provider in self.providers}

    def host_name(self, provider: Provider) -> str:
        """Return the name of the host that a provider belongs to."""
        return self.by_uuid[provider.root].name

    def trees(self, roots: tuple[Provider, ...]) -> tuple[Provider, ...]:
        """Return the roots' whole trees, each parent right before its children."""
        children: dict[str | None, list[Provider]] = {}
        for provider in sorted(self.providers, key=lambda p: p.name, reverse=True):
            children.setdefault(provider.parent, []).append(provider)
        found = []
        waiting = list(reversed(roots))
        while waiting:
            provider = waiting.pop()
            found.append(provider)
            waiting.extend(children.get(provider.uuid, ()))
        return tuple(found)

    def depth(self, provider: Provider) -> int:
        """Return how many providers are above this one in its tree."""
        above = 0
        while provider.parent is not None:
            provider = self.by_uuid[provider.parent]
            above += 1
        return above
