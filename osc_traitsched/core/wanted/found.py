"""What was read of a cloud to compare it with what is wanted."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
from collections.abc import Mapping

from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.errors import BadQuestion
from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.inventory.snapshot import Holding, Nova
from osc_traitsched.core.names import is_pattern
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.wanted.model import is_name
from osc_traitsched.core.wanted.refusals import NoNewName


@dataclasses.dataclass(frozen=True)
class FoundCloud(CloudModel):
    """All that wishes can be about.

    :ivar holdings: the traits of all providers, by UUID
    :ivar images: those that lines may name
    :ivar projects: the IDs of those that wishes name, by how they are named, or why
        there is none
    :ivar collation: how Nova's database compares the metadata of aggregates
    :ivar reads_suffixes: AggregateMultiTenancyIsolation takes keys with a suffix, in
        any release that the cloud can be of
    """

    holdings: Mapping[str, Holding] = dataclasses.field(default_factory=dict)
    images: tuple[Body, ...] = ()
    projects: Mapping[str, str | BadQuestion] = dataclasses.field(default_factory=dict)
    collation: Collation = Collation.CASE_INSENSITIVE
    reads_suffixes: bool = True

    @functools.cached_property
    def holders(self) -> Mapping[str, frozenset[str]]:
        """For each trait the UUIDs of the providers that have it."""
        found: dict[str, set[str]] = {name: set() for name in self.traits}
        for uuid, holding in self.holdings.items():
            keys = {**dict.fromkeys(holding.traits, ""), **self.changed.get(uuid, {})}
            for name, value in keys.items():
                if value is not None:
                    found.setdefault(name, set()).add(uuid)
        return {name: frozenset(uuids) for name, uuids in found.items()}

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
        inside = having & self.inside.get(aggregate["uuid"], frozenset())
        return tuple(
            host
            for host in sorted(aggregate["hosts"])
            if not nodes.get(host) or any(n.uuid not in inside for n in nodes[host])
        )

    @functools.cached_property
    def aggregate_named(self) -> Mapping[str, Body]:
        """Nova's aggregates by their names, which are unique."""
        return {body["name"]: body for body in self.aggregates}
