"""What the metadata of an aggregate means to Nova, read once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.core.inventory.metadata import ZONE_KEY, Collation, isolated_by
from osc_traitsched.core.inventory.tenant_keys import found_in, projects_in


@dataclasses.dataclass(frozen=True)
class AggregatePolicy:
    """Which requests an aggregate is for.

    :ivar zone: its availability zone; None for none
    :ivar traits: those that isolate it: ``trait:X=required``
    :ivar projects: the IDs of those that any ``filter_tenant_id*`` key names, to the
        host filter AggregateMultiTenancyIsolation
    :ivar placement_projects: the IDs of those for which the prefilter
        ``require_tenant_aggregate`` asks Placement for this aggregate
    """

    zone: str | None = None
    traits: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    placement_projects: frozenset[str] = frozenset()

    @classmethod
    def read(
        cls,
        metadata: Mapping[str, str | None],
        collation: Collation = Collation.CASE_INSENSITIVE,
    ) -> AggregatePolicy:
        """Policy of an aggregate with this metadata; a key of None is not there."""
        keys = {key: value for key, value in metadata.items() if value is not None}
        return cls(
            keys.get(ZONE_KEY),
            frozenset(isolated_by(keys, collation)),
            projects_in(keys),
            found_in(keys),
        )

    @property
    def is_closed(self) -> bool:
        """Whether it keeps some requests out of its hosts."""
        return bool(self.traits or self.projects)

    def loses_projects(self, then: AggregatePolicy) -> bool:
        """Whether projects may use its hosts now, and not by a later policy."""
        is_open = not self.projects
        return bool(then.projects) and (is_open or bool(self.projects - then.projects))

    def gains_projects(self, then: AggregatePolicy) -> bool:
        """Whether projects may use its hosts by a later policy, and not now."""
        return bool(self.projects) and (
            not then.projects or bool(then.projects - self.projects)
        )
