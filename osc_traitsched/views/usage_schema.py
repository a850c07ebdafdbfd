"""The documents of ``trait show``, ``flavor show`` and ``host show``."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Optional

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.placement.facts import Room, Stock
from osc_traitsched.core.servers.usage import FlavorView, HostView, TraitUse
from osc_traitsched.documents import JsonObject, field, serialized
from osc_traitsched.views import usage
from osc_traitsched.views.capacity.document import GroupFit, ServerRange
from osc_traitsched.views.explain import by_flavor
from osc_traitsched.views.explain.schema import Flavor


def _if_read(servers: Any) -> Any:
    return None if isinstance(servers, CloudBroke) else servers


def _inventories(view: HostView) -> Iterator[tuple[str, str, Stock]]:
    for provider in view.tree:
        for resource_class, stock in view.stock.get(provider.uuid, {}).items():
            yield provider.name, resource_class, stock


class Requirer(JsonObject):
    """A flavor, an image or an aggregate that names a trait."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    key: str
    """The key of its extra specs, properties or metadata."""


class NeedingServer(JsonObject):
    """A server that requires a trait."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    project: str
    """The ID of its project."""
    host: str
    """The service host that it is on."""
    misplaced: bool = field(lambda server, whole: server in whole.value.misplaced)
    """Whether that host lacks the trait."""


class TraitDocument(JsonObject):
    """A trait: who has it, and who needs it."""

    schema: Literal[1]
    """The version of the document."""
    trait: str = field("name")
    """Its name."""
    ownership: Annotated[str, tuple(each.value for each in Ownership)] = field(
        lambda use: trait.ownership(use.name)
    )
    """Who sets it on compute nodes, with libvirt."""
    hosts: Iterable[str]
    """The hosts that have it, on their root provider or a nested one."""
    total_hosts: int = field(lambda use: len(use.snapshot.hosts))
    """How many hosts there are."""
    other_providers: Iterable[str] = field("others")
    """Providers that have it and belong to no host."""
    flavors: Iterable[Requirer] = field(lambda use: use.of_kind("flavor"))
    """Flavors that require it."""
    images: Iterable[Requirer] = field(lambda use: use.of_kind("image"))
    """Images that require it."""
    aggregates: Iterable[Requirer] = field(lambda use: use.of_kind("aggregate"))
    """Aggregates that it isolates, if Nova's isolation is on."""
    forbidden_by: Iterable[Requirer] = field("forbidding")
    """Flavors that forbid it."""
    servers: Optional[Iterable[NeedingServer]] = field(
        lambda use: _if_read(use.servers)
    )
    """Servers that require it; null if this user may not list them."""


class FlavorUseDocument(JsonObject):
    """A flavor: hosts that suit it, servers that have it, who may use it."""

    schema: Literal[1]
    """The version of the document."""
    flavor: Flavor = field("judgement.question.flavor")
    """The flavor."""
    reason: Reason = field("judgement.reason")
    """Why a server fits now or none, in one word of :ref:`reasons`."""
    rejected: Optional[str] = field(
        lambda view: None if view.fit else by_flavor.rejected(view.judgement)
    )
    """Why Nova or Placement rejects it; null if neither does."""
    requires: dict[str, str] = field(
        lambda view: view.judgement.question.flavor["extra_specs"]
    )
    """Its extra specs."""
    servers_that_fit: ServerRange = field(
        lambda view: view.fit.room if view.fit else Room(0, 0)
    )
    """How many more servers fit now."""
    suitable_hosts: int = field(lambda view: len(view.fit.suited) if view.fit else 0)
    """Hosts that fit now or if they were empty."""
    zones: dict[str, GroupFit] = field(lambda view: view.fit.groups if view.fit else {})
    """All zones, by name."""
    never_on: dict[str, Iterable[str]] = field(usage.never_on_of)
    """Other hosts, or their isolated aggregates, by why they are out."""
    out_of: dict[str, int] = field(
        lambda view: {
            name: len(roots)
            for fit in view.capacity.flavors
            for name, roots in fit.short.items()
        }
    )
    """Resource classes that run out, with the number of suitable hosts that lack it."""
    servers: Optional[dict[str, Iterable[str]]] = field(
        lambda view: _if_read(view.servers)
    )
    """Names of the servers by state; null if this user may not list them."""
    unusable_images: Optional[dict[str, Iterable[str]]] = field(
        lambda view: (
            None if isinstance(view.images, CloudBroke) else usage.images_of(view)
        )
    )
    """Public images that can't go with it, by why; null if they can't be read."""
    unjudged_images: int = field("unjudged")
    """Public images that were not judged: the first 30 kinds are."""
    is_public: bool = field(lambda view: view.projects is None)
    """Whether all projects may use it."""
    projects: Optional[Iterable[str]] = field(lambda view: _if_read(view.projects))
    """Names of the projects that may use it; null for all, or if hidden."""


class HostInventory(JsonObject):
    """An inventory of a provider of the host, in the class's own unit."""

    provider: str = field(lambda row: row[0])
    """The provider's name."""
    resource_class: str = field(lambda row: row[1])
    """The resource class."""
    used: int = field(lambda row: row[2].used)
    """In use."""
    capacity: int = field(lambda row: row[2].capacity)
    """(total - reserved) x allocation ratio, rounded down."""
    total: Optional[int] = field(lambda row: row[2].total)
    """The total; null, like the next two, if it was not read."""
    reserved: Optional[int] = field(lambda row: row[2].reserved)
    """Not for servers."""
    allocation_ratio: Optional[float] = field(lambda row: row[2].ratio)
    """The factor of overcommitment."""


class UnusualFigure(JsonObject):
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


class FittingFlavor(JsonObject):
    """A flavor that fits on the host."""

    flavor: str = field(lambda item: item[0])
    """Its name."""
    servers: ServerRange = field(lambda item: item[1])
    """How many more servers of it fit on the host."""


class UnfitFlavors(JsonObject):
    """Flavors that do not fit on the host, for one reason."""

    reason: str = field(lambda item: item[0])
    """The first thing in the way."""
    flavors: Iterable[str] = field(lambda item: item[1])
    """Their names."""


class HostDocument(JsonObject):
    """A host: what it has, and what it could take."""

    schema: Literal[1]
    """The version of the document."""
    host: str = field("host.name")
    """Its name in Placement."""
    state: str = field(usage.state_of)
    """Whether its nova-compute is up and enabled, in words."""
    zones: Iterable[str] = field(usage.zones_of)
    """The availability zones of its aggregates; none for the default one."""
    aggregates: Iterable[str] = field(
        lambda view: [aggregate.name for aggregate in view.aggregates]
    )
    """Its aggregates, by name."""
    inventories: Iterable[HostInventory] = field(_inventories)
    """The inventories of its providers."""
    unusual: Iterable[UnusualFigure] = field("oddities")
    """Figures that differ from those of its peers."""
    traits: dict[str, Iterable[str]] = field(
        lambda view: {one.name: sorted(view.traits[one.uuid]) for one in view.tree}
    )
    """Traits by the name of the provider."""
    servers: Optional[Iterable[str]] = field(lambda view: _if_read(view.servers))
    """Names of its servers; null if this user may not list them."""
    fits: Iterable[FittingFlavor] = field(lambda view: view.fits.items())
    """Flavors that fit, the most servers first."""
    does_not_fit: Iterable[UnfitFlavors] = field(
        lambda view: usage.reasons_of(view).items()
    )
    """Flavors that do not."""
    reasons: dict[str, Reason]
    """Why each of these does not fit on this host, in one word of :ref:`reasons`."""
    if_enabled: bool
    """Whether it was judged as if its service were enabled and up."""
    like: Optional[str] = field(lambda view: view.peer or None)
    """A host whose traits and aggregates it could get; null if it is in an aggregate.
    """
    projects: Iterable[str] = field("own_projects")
    """Names of the projects that its aggregates are for."""
    other_projects: bool = field(
        lambda view: not (view.own_projects and view.is_exclusive)
    )
    """Whether servers of other projects may land there."""
    last_seen: Optional[str] = field(lambda view: view.down_since or None)
    """When its service was last up, if it is down."""


def of_trait(use: TraitUse) -> dict[str, Any]:
    """A trait, as plain lists, mappings, numbers and text."""
    return serialized(TraitDocument, use)


def of_flavor(view: FlavorView) -> dict[str, Any]:
    """A flavor, as plain lists, mappings, numbers and text."""
    return serialized(FlavorUseDocument, view)


def of_host(view: HostView) -> dict[str, Any]:
    """A host, as plain lists, mappings, numbers and text."""
    return serialized(HostDocument, view)
