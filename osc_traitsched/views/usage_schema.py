"""The documents of trait show and host show, field by field."""

# No "annotations" from __future__: documents.py reads the types.

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.views.capacity.schema import ServerRange


@dataclass
class Requirer:
    """A flavor, an image or an aggregate that names a trait."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    key: str
    """The key of its extra specs, properties or metadata."""


@dataclass
class NeedingServer:
    """A server that requires a trait."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    project: str
    """The ID of its project."""
    host: str
    """The service host that it is on."""
    misplaced: bool
    """Whether that host lacks the trait."""


@dataclass
class TraitDocument:
    """A trait: who has it, and who needs it."""

    schema: Literal[1]
    """The version of the document."""
    trait: str
    """Its name."""
    ownership: Annotated[str, tuple(each.value for each in Ownership)]
    """Who sets it on compute nodes, with libvirt."""
    hosts: Iterable[str]
    """The hosts that have it, on their root provider or a nested one."""
    total_hosts: int
    """How many hosts there are."""
    other_providers: Iterable[str]
    """Providers that have it and belong to no host."""
    flavors: Iterable[Requirer]
    """Flavors that require it."""
    images: Iterable[Requirer]
    """Images that require it."""
    aggregates: Iterable[Requirer]
    """Aggregates that it isolates, if Nova's isolation is on."""
    forbidden_by: Iterable[Requirer]
    """Flavors that forbid it."""
    servers: Optional[Iterable[NeedingServer]]
    """Servers that require it; null if this user may not list them."""


@dataclass
class HostInventory:
    """An inventory of a provider of the host, in the class's own unit."""

    provider: str
    """The provider's name."""
    resource_class: str
    """The resource class."""
    used: int
    """In use."""
    capacity: int
    """(total - reserved) x allocation ratio, rounded down."""
    total: Optional[int]
    """The total; null, like the next two, if it was not read."""
    reserved: Optional[int]
    """Not for servers."""
    allocation_ratio: Optional[float]
    """The factor of overcommitment."""


@dataclass
class UnusualFigure:
    """A figure of the host that differs from most hosts with as much hardware."""

    resource_class: str
    """The resource class."""
    figure: Annotated[str, ("total", "reserved", "allocation ratio")]
    """Which figure."""
    value: float
    """The host's."""
    usual: float
    """That of its peers."""
    peers: int
    """How many peers have the usual capacity."""


@dataclass
class FittingFlavor:
    """A flavor that fits on the host."""

    flavor: str
    """Its name."""
    servers: ServerRange
    """How many more servers of it fit on the host."""


@dataclass
class UnfitFlavors:
    """Flavors that do not fit on the host, for one reason."""

    reason: str
    """The first thing in the way."""
    flavors: Iterable[str]
    """Their names."""


@dataclass
class HostDocument:
    """A host: what it has, and what it could take."""

    schema: Literal[1]
    """The version of the document."""
    host: str
    """Its name in Placement."""
    state: str
    """Whether its nova-compute is up and enabled, in words."""
    zones: Iterable[str]
    """The availability zones of its aggregates; none for the default one."""
    aggregates: Iterable[str]
    """Its aggregates, by name."""
    inventories: Iterable[HostInventory]
    """The inventories of its providers."""
    unusual: Iterable[UnusualFigure]
    """Figures that differ from those of its peers."""
    traits: dict[str, Iterable[str]]
    """Traits by the name of the provider."""
    servers: Optional[Iterable[str]]
    """Names of its servers; null if this user may not list them."""
    fits: Iterable[FittingFlavor]
    """Flavors that fit, the most servers first."""
    does_not_fit: Iterable[UnfitFlavors]
    """Flavors that do not."""
