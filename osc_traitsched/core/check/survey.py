"""The data that check reads, and the demands of flavors and images."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from osc_traitsched.core.check.finding import SubjectKind
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot
from osc_traitsched.core.nova import prefilter
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.request import NotEvaluated, Request
from osc_traitsched.core.nova.server.image import images_of_others as of_others
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Stock

# The whole cloud as read for checks.


class NotRead(Exception):
    """A rule needs data that this user may not read; its text names them."""


class PlacedServer(NamedTuple):
    """A server on a service host; its project is an ID."""

    name: str
    project: str
    host: str


@dataclasses.dataclass(frozen=True)
class ServerCounts:
    """Numbers of servers by their placement.

    :ivar looked_at: servers on a host
    :ivar hosts: service hosts of the misplaced servers
    :ivar silent: hosts whose cell does not answer; their servers were not read
    :ivar residents: all servers on a host
    """

    looked_at: int
    misplaced: int
    unknown: int
    hosts: tuple[str, ...]
    silent: tuple[str, ...] = ()
    residents: tuple[PlacedServer, ...] = ()


@dataclasses.dataclass(frozen=True)
class Survey:
    """One cloud as it was read, with its scheduler's assumed settings.

    :ivar snapshot: all providers, with Nova's compute nodes, zones and aggregates
    :ivar flavors: the compute API's bodies with extra specs, private ones too
    :ivar images: the image API's bodies of active images, hidden ones too
    :ivar idle_images: bodies of images that are not active
    :ivar traits: of every provider, nested ones too, by UUID
    :ivar members: UUIDs of the providers that Placement has in an aggregate, by its
        UUID
    :ivar shared: by sharing provider UUID, the UUIDs of providers in a common aggregate
    :ivar stock: capacity and use by provider and class, from answers for many hosts at
        once; full hosts are missing there
    :ivar has_private_flavors: the flavors of all projects were read
    :ivar groups: server groups of all projects; read only if the scheduler does not
        enforce a policy
    :ivar own_project: ID of the user's project; None for none
    :ivar has_volumes: servers can boot from volumes: the cloud has Cinder
    :ivar missing_profiles: device profiles of flavors that Cyborg lacks, with why
    :ivar servers: None if servers were not read: one request per thousand
    :ivar projects: names of all projects by ID; None if they can't be read
    """

    snapshot: Snapshot
    assumptions: SchedulerSettings
    flavors: tuple[Body, ...] = ()
    images: tuple[Body, ...] = ()
    idle_images: tuple[Body, ...] = ()
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
    has_volumes: bool = True
    missing_profiles: Mapping[str, str] = dataclasses.field(default_factory=dict)
    servers: ServerCounts | None = None

    @property
    def nova(self) -> Nova:
        """Nova's view of hosts; empty if it was not read."""
        return self.snapshot.nova

    @property
    def project_names(self) -> Mapping[str, str]:
        """Names of all projects by ID; raises NotRead if Keystone hides them."""
        if self.projects is None:
            raise NotRead("the list of projects")
        return self.projects

    def need_all(self, what: str) -> None:
        """Stop a rule that would be wrong without the data of other projects.

        Nova decides by one policy, ``context_is_admin``, who sees the private flavors
        and server groups of other projects. Glance has the same default for images.

        :raises NotRead: if Nova hides the data from this user
        """
        if not self.has_private_flavors:
            raise NotRead(f"the {what} of all projects")

    @functools.cached_property
    def image_owners(self) -> Mapping[str, str]:
        """Owners of other projects' images, by image ID."""
        return of_others(self.images, self.own_project)


# The demand of a flavor or image, and its certain parts.


#: Properties that demand nothing, but change the translation of a flavor's keys.
_CHOOSING = ("hw_cpu_realtime_mask", "hw_mem_encryption_model", "hw_tpm_model")


# Hashed by identity: a body is a mapping.
@dataclasses.dataclass(frozen=True, eq=False)
class StandaloneRequest:
    """The demand of one flavor or image alone.

    :ivar clauses: of a flavor's first request; or from the image, its disk format's
        even if that prefilter is off
    :ivar not_evaluated: input that Nova reads and drops
    :ivar requests: a flavor's, for each way to boot, with a local disk first
    :ivar devices: an image's demands if image_metadata_prefilter is on
    :ivar refusal: Nova's refusal of it alone; then without requests
    :ivar alias: a flavor's name if it is no flavor's ID: a client looks for IDs first
    """

    kind: SubjectKind
    name: str
    body: Body
    clauses: tuple[Clause, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    requests: tuple[Request, ...] = ()
    devices: tuple[RootTrait, ...] = ()
    refusal: Refusal | None = None
    alias: str = ""

    @property
    def id(self) -> str:
        """What a command takes for it: a flavor's name, or an ID."""
        return self.alias or str(self.body["id"])

    @property
    def specs(self) -> Mapping[str, str]:
        """A flavor's extra specs."""
        return self.body.get("extra_specs") or {}

    @functools.cached_property
    def traits(self) -> tuple[Trait | RootTrait, ...]:
        """The traits that it requires or forbids, without the disk format's.

        For an image only traits that no flavor changes.
        """
        return tuple(
            clause
            for clause in self.clauses
            if isinstance(clause, (Trait, RootTrait))
            and not is_of_format(clause)
            and (self.kind is SubjectKind.FLAVOR or is_certain(clause))
        )

    @functools.cached_property
    def needs(self) -> tuple[Trait | RootTrait, ...]:
        """The traits that it requires, without the disk format's."""
        return tuple(clause for clause in self.traits if not clause.forbidden)

    @functools.cached_property
    def format(self) -> RootTrait | Trait | None:
        """The clause of the disk format's prefilter, if any."""
        for clause in self.clauses:
            if isinstance(clause, (Trait, RootTrait)) and is_of_format(clause):
                return clause
        return None

    @functools.cached_property
    def opens(self) -> frozenset[str]:
        """The traits that open isolated aggregates to it, rejected or not."""
        traits = (c for c in self.clauses if isinstance(c, Trait))
        asked = (c.name for c in traits if not c.forbidden)
        spelled = (name for name, value in self.named() if value == "required")
        return frozenset((*asked, *spelled))

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of each key for a trait."""
        keys = (
            self.body
            if self.kind is SubjectKind.IMAGE
            else self.body.get("extra_specs") or {}
        )
        for key, value in keys.items():
            prefix, _, name = key.partition(":")
            if name and prefix.startswith("trait"):
                yield name, str(value)

    @property
    def shifts(self) -> bool:
        """Whether it is an image that may change a flavor's demand, or one unknown."""
        changing = (not is_certain(clause) for clause in self.clauses)
        choosing = any(name in self.body for name in _CHOOSING)
        doubtful = self.refusal is not None or choosing or any(changing)
        return self.kind is SubjectKind.IMAGE and doubtful


def is_of_format(clause: Trait | RootTrait) -> bool:
    """Whether a clause comes from an image's disk format."""
    return prefilter.name_of(clause) == prefilter.IMAGE_TYPES


def is_certain(clause: Clause) -> bool:
    """Whether a key names a trait, which no flavor or image then changes."""
    if isinstance(clause, (Resource, MemberOf)):
        return False
    if prefilter.name_of(clause) in (prefilter.IMAGE_TYPES, prefilter.IMAGES):
        return True
    return any(origin.key.startswith("trait") for origin in clause.origins)


def is_certain_of_flavor(clause: Clause) -> bool:
    """Whether no image changes this demand of a flavor: only CPUs can change."""
    if isinstance(clause, Resource):
        return clause.resource_class not in ("VCPU", "PCPU")
    return is_certain(clause)


def is_lasting(clause: Clause) -> bool:
    """Whether a clause is about hosts themselves, not about their services."""
    row = prefilter.row_of(clause)
    return row is None or not row.is_passing
