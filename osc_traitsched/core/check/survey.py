"""What was read for check, and what flavors and images ask for."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.request import NotEvaluated, Request
from osc_traitsched.core.nova.server.image import images_of_others as of_others
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Stock

# The whole cloud as checks look at it: every provider, flavor, image, aggregate.


@dataclasses.dataclass(frozen=True)
class ServerCounts:
    """How many servers could be where they are.

    :ivar looked_at: all that are on a host
    :ivar misplaced: those whose host could not be given to them today
    :ivar unknown: those that could not be judged
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
    :ivar servers: None if servers were not read, which takes a request for each
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
        """Nova's view of hosts; empty if it was not read."""
        return self.snapshot.nova or Nova()

    @functools.cached_property
    def image_owners(self) -> Mapping[str, str]:
        """The owners of the images that are another project's, by the images' IDs."""
        return of_others(self.images, self.own_project)


# What a flavor or an image asks for by itself, and which of it is certain.


#: The prefilters whose clauses come and go with a host's service, or are met by
#: every host whenever they are there.
_PASSING = frozenset({"compute_status_filter", "owner_nova_filter"})

#: Properties that ask for nothing and change what a flavor's keys are translated to.
_CHOOSING = ("hw_cpu_realtime_mask", "hw_mem_encryption_model", "hw_tpm_model")

IMAGE_TYPE_PREFILTER = "require_image_type_support"
IMAGE_METADATA_PREFILTER = "transform_image_metadata"


# By identity, so that it can be hashed: a body is a mapping.
@dataclasses.dataclass(frozen=True, eq=False)
class Demand:
    """What one flavor, or one image, asks of a host by itself.

    :ivar kind: of a flavor or of an image
    :ivar name: unique among those of its kind
    :ivar clauses: those of the image that come from it, its disk format's even where
        nothing is on that asks for it; those of the flavor's first request
    :ivar not_evaluated: what Nova reads of it and leaves out
    :ivar requests: of a flavor for each way to boot, a disk of its own first
    :ivar devices: of an image, what is asked for if image_metadata_prefilter is on
    :ivar refusal: Nova's, of it alone; then there are no requests
    """

    kind: Kind
    name: str
    body: Body
    clauses: tuple[Clause, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    requests: tuple[Request, ...] = ()
    devices: tuple[RootTrait, ...] = ()
    refusal: Refusal | None = None

    @property
    def id(self) -> str:
        """The flavor's or the image's ID."""
        return str(self.body["id"])

    @property
    def specs(self) -> Mapping[str, str]:
        """A flavor's extra specs."""
        return self.body.get("extra_specs") or {}

    @functools.cached_property
    def traits(self) -> tuple[Trait | RootTrait, ...]:
        """The traits that it requires or forbids, but for the disk format's.

        Of an image only those that no flavor changes.
        """
        return tuple(
            clause
            for clause in self.clauses
            if isinstance(clause, (Trait, RootTrait))
            and not is_of_format(clause)
            and (self.kind is Kind.FLAVOR or is_certain(clause))
        )

    @functools.cached_property
    def needs(self) -> tuple[Trait | RootTrait, ...]:
        """The traits that it requires, but for the disk format's."""
        return tuple(clause for clause in self.traits if not clause.forbidden)

    @functools.cached_property
    def format(self) -> RootTrait | Trait | None:
        """What the prefilter for disk formats asks for it; None for nothing."""
        for clause in self.clauses:
            if isinstance(clause, (Trait, RootTrait)) and is_of_format(clause):
                return clause
        return None

    @functools.cached_property
    def opens(self) -> frozenset[str]:
        """The traits by which it gets into isolated aggregates.

        Those that it names are among them even where Nova refuses it alone.
        """
        traits = (c for c in self.clauses if isinstance(c, Trait))
        asked = (c.name for c in traits if not c.forbidden)
        spelled = (name for name, value in self.named() if value == "required")
        return frozenset((*asked, *spelled))

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the value of each key that names a trait."""
        keys = (
            self.body if self.kind is Kind.IMAGE else self.body.get("extra_specs") or {}
        )
        for key, value in keys.items():
            prefix, _, name = key.partition(":")
            if name and prefix.startswith("trait"):
                yield name, str(value)

    @property
    def shifts(self) -> bool:
        """Whether it is an image that may change what a flavor asks for.

        Others only add traits. Where Nova refuses it alone, that can't be told.
        """
        changing = (not is_certain(clause) for clause in self.clauses)
        choosing = any(name in self.body for name in _CHOOSING)
        doubtful = self.refusal is not None or choosing or any(changing)
        return self.kind is Kind.IMAGE and doubtful


def is_of_format(clause: Trait | RootTrait) -> bool:
    """Whether a clause is there because of an image's disk format."""
    return prefilter(clause) == IMAGE_TYPE_PREFILTER


def is_certain(clause: Clause) -> bool:
    """Whether a trait is asked for whatever else there is in a request.

    That is so if a key names it. Of what other keys are translated to, much
    depends on what flavor and image say together.
    """
    if isinstance(clause, (Resource, MemberOf)):
        return False
    if prefilter(clause) in (IMAGE_TYPE_PREFILTER, IMAGE_METADATA_PREFILTER):
        return True
    return any(origin.key.startswith("trait") for origin in clause.origins)


def is_certain_of_flavor(clause: Clause) -> bool:
    """Whether a flavor asks for something whatever the image says.

    An image decides about CPUs, and about the amounts of no other class.
    """
    if isinstance(clause, Resource):
        return clause.resource_class not in ("VCPU", "PCPU")
    return is_certain(clause)


def is_lasting(clause: Clause) -> bool:
    """Whether a clause is about what hosts are, and not about their services."""
    return prefilter(clause) not in _PASSING


def prefilter(clause: Clause) -> str:
    """The prefilter that a clause comes from alone, or nothing."""
    first = clause.origins[0] if clause.origins else None
    return first.key if first is not None and first.kind == "prefilter" else ""
