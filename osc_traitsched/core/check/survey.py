"""The whole cloud as checks look at it: every provider, flavor, image, aggregate."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping

from osc_traitsched.core.inventory.snapshot import Nova, Snapshot
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.images import of_others
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Stock


@dataclasses.dataclass(frozen=True)
class ServerCounts:
    """How many servers could be where they are.

    :ivar looked_at: all that are on a host
    :ivar misplaced: those whose host could not be given to them today
    :ivar unknown: those of which that is not known
    :ivar hosts: the service hosts of the misplaced ones
    :ivar silent: those whose cell does not answer, so that their servers were not read
    """

    looked_at: int
    misplaced: int
    unknown: int
    hosts: tuple[str, ...]
    silent: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Survey:
    """What was read of one cloud, and how its scheduler is assumed to be set.

    :ivar snapshot: all providers, with Nova's compute nodes, their availability
        zones, and its aggregates
    :ivar aggregates: the compute API's bodies of all host aggregates
    :ivar flavors: the compute API's bodies with extra specs, private ones too
    :ivar images: the image API's bodies of active images, hidden ones too
    :ivar traits: of every provider, nested ones too, by UUID
    :ivar known_traits: all names that this Placement knows
    :ivar known_classes: all resource classes that this Placement knows
    :ivar members: for each host aggregate's UUID the UUIDs of the providers that
        Placement has in the aggregate of that UUID: the mirror
    :ivar shared: for each sharing provider the UUIDs of the providers that are
        in an aggregate with it
    :ivar stock: capacity and use by provider and class, where an answer for many
        hosts at once had them; full hosts are left out by such answers
    :ivar has_private_flavors: the flavors are all that there are, and not only the
        public ones and those of the user's project
    :ivar groups: the server groups of all projects; read only where the scheduler lacks
        what some policy needs
    :ivar own_project: the ID of the project whose user asks; None for none
    :ivar servers: None where servers were not read, which takes a request for each
        thousand of them
    :ivar projects: the IDs of all projects with their names; None if unknown
    """

    snapshot: Snapshot
    assumptions: SchedulerSettings
    aggregates: tuple[Body, ...] = ()
    flavors: tuple[Body, ...] = ()
    images: tuple[Body, ...] = ()
    traits: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    known_traits: frozenset[str] = frozenset()
    known_classes: frozenset[str] = frozenset()
    members: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    shared: Mapping[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    stock: Mapping[str, Mapping[str, Stock]] = dataclasses.field(default_factory=dict)
    own_project: str | None = None
    projects: Mapping[str, str] | None = None
    has_private_flavors: bool = True
    groups: tuple[ServerGroup, ...] = ()
    servers: ServerCounts | None = None

    @property
    def nova(self) -> Nova:
        """Nova's view of hosts; empty where it was not read."""
        return self.snapshot.nova or Nova()

    @functools.cached_property
    def image_owners(self) -> Mapping[str, str]:
        """The owners of the images that are another project's, by the images' IDs."""
        return of_others(self.images, self.own_project)
