"""What was read of a cloud to compare it with what is wanted."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
from collections.abc import Mapping

from osc_traitsched.core.change.isolation.state import CloudState
from osc_traitsched.core.change.model import Object
from osc_traitsched.core.errors import BadQuestion
from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.snapshot import TENANT_KEY, Holding, Members, Nova
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.names import is_pattern
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted.model import is_name
from osc_traitsched.core.wanted.refusals import NoNewName


@dataclasses.dataclass(frozen=True)
class FoundCloud(CloudState):
    """All that wishes can be about.

    :ivar holdings: the traits of all providers, by UUID
    :ivar images: those that wishes may name; empty where none names any
    :ivar projects: the IDs of those that wishes name, by how they are named, or why
        there is none
    :ivar mirrored: the providers that Placement has in each of Nova's aggregates
    :ivar collation: how Nova's database compares the metadata of aggregates
    :ivar reads_suffixes: AggregateMultiTenancyIsolation takes keys with a suffix, in
        any release that the cloud can be of
    :ivar limits_projects: Placement may be asked for a project's own aggregates alone
    """

    holdings: Mapping[str, Holding]
    images: tuple[Body, ...] = ()
    projects: Mapping[str, str | BadQuestion] = dataclasses.field(default_factory=dict)
    mirrored: Members = dataclasses.field(default_factory=dict)
    collation: Collation = Collation.CASE_INSENSITIVE
    reads_suffixes: bool = True
    limits_projects: bool = True

    @property
    def inside(self) -> Members:
        """The providers that Placement has in each aggregate."""
        return self.mirrored

    @functools.cached_property
    def holders(self) -> Mapping[str, frozenset[str]]:
        """For each trait the UUIDs of the providers that have it."""
        found: dict[str, set[str]] = {name: set() for name in self.traits}
        for uuid, holding in self.holdings.items():
            for name in holding.traits:
                found.setdefault(name, set()).add(uuid)
        return {name: frozenset(uuids) for name, uuids in found.items()}

    @functools.cached_property
    def isolated(self) -> frozenset[str]:
        """The IDs of aggregates that traits isolate now."""
        return frozenset(
            str(body["id"])
            for body in self.aggregates
            if isolated_by(body["metadata"], self.collation)
        )

    @functools.cached_property
    def closed(self) -> frozenset[str]:
        """The IDs of aggregates that keep some requests out now."""
        return self.isolated.union(
            str(body["id"])
            for body in self.aggregates
            if any(key.startswith(TENANT_KEY) for key in body["metadata"])
        )

    @property
    def closed_names(self) -> frozenset[str]:
        """The names of these aggregates."""
        bodies = self.aggregates
        return frozenset(b["name"] for b in bodies if str(b["id"]) in self.closed)

    def service_host(self, target: Object) -> str | None:
        """Return the host of a provider as Nova's aggregates name it.

        None if Nova has no such host: the provider only shares what it has.

        :param target: the provider's traits; a host without a provider is so named
        """
        provider = self.snapshot.by_uuid.get(target.id)
        return self._service_hosts.get(provider.root) if provider else target.host

    def hosts_having(self, trait: str) -> frozenset[str]:
        """Return the hosts that have a trait, or a device of theirs below, as above."""
        hosts, providers = self._service_hosts, self.snapshot.by_uuid
        roots = (providers[each].root for each in self.holders.get(trait, ()))
        return frozenset(hosts[root] for root in roots if root in hosts)

    @functools.cached_property
    def _service_hosts(self) -> Mapping[str, str]:
        nodes = (self.snapshot.nova or Nova()).computes
        return {node.uuid: node.service_host for node in nodes}

    def no_new_aggregate(self, name: str) -> NoNewName | None:
        """Return why no aggregate is made with a name that none has; None if one is.

        It may be meant as the UUID of others or as a pattern, which names none here,
        whether it matches some or not.
        """
        meant = sorted(
            body["name"]
            for body in self.aggregates
            if body["uuid"] == name or fnmatch.fnmatchcase(body["name"], name)
        )
        is_wrong = meant or is_pattern(name) or not is_name(name)
        return NoNewName(name, tuple(meant)) if is_wrong else None

    def lacking(self, aggregate: Body, trait: str) -> tuple[str, ...]:
        """Return the hosts of an aggregate that a trait isolates by halves.

        Those that lack it, or that Placement does not have in the aggregate.
        """
        nodes = (self.snapshot.nova or Nova()).by_service_host
        having = self.holders.get(trait, frozenset())
        inside = having & self.mirrored.get(aggregate["uuid"], frozenset())
        return tuple(
            host
            for host in sorted(aggregate["hosts"])
            if not nodes.get(host) or any(n.uuid not in inside for n in nodes[host])
        )

    @functools.cached_property
    def aggregate_named(self) -> Mapping[str, Body]:
        """Nova's aggregates by their names, which are unique."""
        return {body["name"]: body for body in self.aggregates}
