"""What is asked: flavor, image, move and settings."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.metadata import zone_in
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.groups import (
    OF_SERVERS,
    REBUILD,
    REBUILD_HINT,
    misshapen,
    passed_on,
)
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Answer,
    Fails,
    RequestSpec,
    ServerGroup,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import Judgment
from osc_traitsched.core.nova.own import OwnAnswers
from osc_traitsched.core.nova.request import Request, building, checks, model
from osc_traitsched.core.nova.request.model import Destination
from osc_traitsched.core.nova.server import attachments
from osc_traitsched.core.nova.server.image import read as read_image
from osc_traitsched.core.nova.server.parts import NO_PARTS, Parts
from osc_traitsched.core.nova.server.server import Aggregate, Server
from osc_traitsched.core.nova.server.server import read as read_flavor
from osc_traitsched.core.nova.settings import SchedulerSettings

# How a server that exists is moved, as far as that decides which hosts Nova takes.


#: A host whose nova-compute has it takes a cold migration of its own servers.
SAME_HOST = "COMPUTE_SAME_HOST_COLD_MIGRATE"
#: The first release that looks for it.
SAME_HOST_SINCE = 21


class Kind(enum.Enum):
    """A move that asks nova-scheduler; the values are those of options."""

    LIVE_MIGRATION = "live-migration"
    MIGRATION = "migration"
    RESIZE = "resize"
    EVACUATION = "evacuation"
    UNSHELVE = "unshelve"
    REBUILD = "rebuild"


#: The moves whose flavor and image nova-api looks at again.
CHECKED_AGAIN = frozenset([Kind.RESIZE, Kind.REBUILD])


@dataclasses.dataclass(frozen=True)
class Move:
    """One move of one server.

    :ivar server: its UUID
    :ivar host: the service host that it is on; empty for one that was offloaded
    :ivar source: the compute node that it is on; None for none, or if Nova does not
        list it
    :ivar may_stay: the provider of that node has :data:`SAME_HOST`
    """

    kind: Kind
    server: str
    host: str = ""
    source: Compute | None = None
    may_stay: bool = False

    @property
    def origin(self) -> Origin:
        """Where what it demands of hosts comes from."""
        return Origin("move", self.kind.value)

    def ignored_host(self, settings: SchedulerSettings) -> str:
        """Return the service host that Nova takes out before its filters; or nothing.

        nova/compute/api.py, ``_allow_resize_to_same_host``;
        nova/conductor/manager.py, ``rebuild_instance``;
        nova/conductor/tasks/live_migrate.py, ``_find_destination``
        """
        if self.kind in (Kind.LIVE_MIGRATION, Kind.EVACUATION):
            return self.host
        is_by_trait = settings.release >= SAME_HOST_SINCE
        if self.kind is Kind.MIGRATION and is_by_trait:
            return "" if self.may_stay else self.host
        if self.kind in (Kind.MIGRATION, Kind.RESIZE):
            return "" if settings.value(options.RESIZE_TO_SAME_HOST) else self.host
        return ""


Judge = Callable[[Move, Compute, SchedulerSettings], Answer]


def source(move: Move, compute: Compute, settings: SchedulerSettings) -> Answer:
    """Leave out the host that the server is on, where the move does; case aside.

    nova/scheduler/host_manager.py, ``get_filtered_hosts``
    """
    ignored = move.ignored_host(settings)
    if ignored and compute.service_host.lower() == ignored.lower():
        return Fails(state.SERVER_IS_HERE, origin=move.origin)
    return PASSES


def hypervisor(move: Move, compute: Compute, settings: SchedulerSettings) -> Answer:
    """Demand of a live migration's host a hypervisor of the type, and no older one.

    nova-conductor turns down a host that was chosen, and asks for the next:
    nova/conductor/tasks/live_migrate.py, ``_check_compatible_with_source_hypervisor``
    """
    if move.kind is not Kind.LIVE_MIGRATION:
        return PASSES
    here = move.source.report if move.source else None
    there = compute.report
    if here is None or there is None:
        return Unknown("hypervisor_type and hypervisor_version")
    if here.hypervisor_type != there.hypervisor_type:
        types = here.hypervisor_type, (there.hypervisor_type,)
        return Fails(state.HYPERVISOR_TYPE, "", *types, move.origin)
    is_older = there.hypervisor_version < here.hypervisor_version
    if is_older and not skips_version(settings):
        versions = str(here.hypervisor_version), (str(there.hypervisor_version),)
        return Fails(state.HYPERVISOR_OLDER, "", *versions, move.origin)
    return PASSES


def skips_version(settings: SchedulerSettings) -> bool:
    """Tell whether nova-conductor lets a server move to an older hypervisor."""
    name = options.SKIP_VERSION_CHECK
    is_there = options.OPTIONS[name].is_in(settings.release)
    return is_there and bool(settings.value(name))


#: What Nova looks at before its filters, and after them, by the names in documents.
BEFORE: Mapping[str, Judge] = {"move:source": source}
AFTER: Mapping[str, Judge] = {"move:hypervisor": hypervisor}
RULES: Mapping[str, Judge] = {**BEFORE, **AFTER}


def with_rules(
    judgment: Judgment,
    move: Move,
    computes: Iterable[Compute],
    settings: SchedulerSettings,
) -> Judgment:
    """Return what filters say with what the move demands, in the order of Nova."""
    computes = tuple(computes)
    found = {
        name: {each.uuid: judge(move, each, settings) for each in computes}
        for name, judge in RULES.items()
    }
    names = (*BEFORE, *judgment.names, *AFTER)
    return Judgment(names, {**judgment.answers, **found})


# What is asked: one server of a flavor and an image, and variations of that.


Body = Mapping[str, Any]

_DISABLED = "OS-FLV-DISABLED:disabled"

#: The keys of an image's body that are Glance's own and no properties.
NO_PROPERTIES = frozenset(
    [
        "checksum",
        "container_format",
        "created_at",
        "direct_url",
        "disk_format",
        "file",
        "id",
        "locations",
        "min_disk",
        "min_ram",
        "name",
        "os_hash_algo",
        "os_hash_value",
        "os_hidden",
        "owner",
        "protected",
        "schema",
        "self",
        "size",
        "status",
        "stores",
        "tags",
        "updated_at",
        "virtual_size",
        "visibility",
    ]
)


@dataclasses.dataclass(frozen=True)
class ServerSpec:
    """What a user asks of a server, in the user's own names.

    Of a server that exists, it is what goes before what Nova shows.

    :ivar flavor: a name or an ID; empty for that of a server that exists
    :ivar image: a name or an ID; None for a volume that has no image metadata
    :ivar zone: the availability zone; None for any; ``zone:host``, ``zone:host:node``
        and ``zone::node`` name a host as well
    :ivar project: a name or an ID; None for the user's own
    :ivar project_domain: the domain that it is in, a name or an ID; None for any
    :ivar boot_from_volume: the root disk is a volume made of the image
    :ivar count: how many such servers
    :ivar flavor_properties: extra specs that the flavor is imagined to have; an empty
        value takes a key away
    :ivar image_properties: the same of the image
    :ivar hints: scheduler hints, but for the server group's
    :ivar group: a name or an ID
    :ivar ports: names or IDs, as ``networks``
    :ivar volume: the name or ID of the one that it boots from
    :ivar device_profiles: a file that says what they ask for; without it, or for
        others, Cyborg is asked
    :ivar on_host: the service host, beside the zone; the host filters still run
    :ivar on_node: the hypervisor; the same
    :ivar remote_address: where nova-api gets the request from; None if not known
    """

    flavor: str = ""
    image: str | None = None
    zone: str | None = None
    project: str | None = None
    project_domain: str | None = None
    boot_from_volume: bool = False
    count: int = 1
    flavor_properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    image_properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    hints: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    group: str | None = None
    ports: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volume: str | None = None
    device_profiles: str | None = None
    on_host: str | None = None
    on_node: str | None = None
    remote_address: str | None = None

    @property
    def names_host(self) -> bool:
        """Whether a host or a node may be named, with the zone or beside it."""
        with_zone = (self.zone or "").partition(":")[2].strip(":")
        return bool(self.on_host or self.on_node or with_zone)

    @property
    def is_what_if(self) -> bool:
        """Whether flavor or image are imagined to be other than the cloud's."""
        return bool(self.flavor_properties or self.image_properties)


@dataclasses.dataclass(frozen=True)
class Question:
    """A request as a user would make it, and what the cloud has of what it names.

    :ivar flavor: the compute API's body, with imagined extra specs
    :ivar image: the image API's body, with imagined properties; None for none
    :ivar aggregates: the compute API's bodies of all host aggregates
    :ivar project: whose server it is, in the spelling of the aggregates
    :ivar computes: all compute nodes of the cloud where a host is named; None if
        none is: the request is then not restricted to a host, and says so
    :ivar group: the server group that it is to be in
    :ivar servers: the service host and the node of each server that the hints and the
        group speak of; None if there are none
    :ivar parts: ports, networks, volumes and device profiles
    :ivar own: what filters and weighers say that ran in Nova; None if none did
    :ivar is_kept: it is of a server that exists, to which neither changes of flavor and
        image get nor what nova-api refuses of new ones
    :ivar move: of a server that exists, and that is to be moved; None for all others
    """

    flavor: Body
    image: Body | None
    aggregates: tuple[Body, ...]
    assumptions: SchedulerSettings
    spec: ServerSpec = ServerSpec()
    project: str | None = None
    computes: tuple[Compute, ...] | None = None
    group: ServerGroup | None = None
    servers: Mapping[str, tuple[str, str]] | None = None
    parts: Parts = NO_PARTS
    own: OwnAnswers | None = None
    is_kept: bool = False
    move: Move | None = None

    def request(self) -> Request:
        """What Nova would ask Placement.

        :raises Refusal: when Nova refuses it before it asks
        """
        hints = self.spec.hints
        self.parts.check_once(self.assumptions.release)
        self.parts.check_count(self.spec.count)
        wrong = misshapen(hints)
        if wrong is not None:
            raise Refusal("ValidationError", "misshapen-hint", (wrong,), "api", 400)
        server = self.server()
        found = building.build(
            server, self.destination, self.computes, self.assumptions
        )
        if self.group is None and hints.keys().isdisjoint(OF_SERVERS):
            return found
        return found.without_limit()

    def server(self) -> Server:
        """The server that nova-api lets through.

        :raises Refusal: where nova-api refuses flavor and image together
        """
        settings, parts = self.assumptions, self.parts
        release = settings.release
        with building.at(building.API, release):
            named = self.destination
            root = attachments.image_of_volume(parts)
            parts.check_networks(release)
            server = Server(
                flavor=read_flavor(self.flavor),
                image=read_image(self.image or root, release),
                aggregates=tuple(map(Aggregate.read, self.aggregates)),
                zone=named.zone_of(self.aggregates, release),
                project_id=self.project,
                boot_from_volume=self.spec.boot_from_volume or root is not None,
                release=release,
                parts=parts,
                aliases=building.aliases(settings),
                pci_in_placement=bool(settings.value(options.PCI_IN_PLACEMENT)),
            )
            if not self.is_accepted:
                checks.check(server)
            return building.provisioned(server, settings)

    def request_spec(self) -> RequestSpec:
        """What nova-scheduler's host filters are given.

        :raises Refusal: when nova-api refuses it
        """
        image = self.image or {}
        return RequestSpec(
            self.server(),
            flavor_name=str(self.flavor.get("name", "")),
            image_id=str(image.get("id", "")),
            hints={
                **passed_on(self.spec.hints, self.assumptions.release),
                **self._check_type,
            },
            group=self.group,
            instance_uuid=None if self.move is None else self.move.server,
            remote_address=self.spec.remote_address,
            num_instances=self.spec.count,
        )

    def check_enabled(self) -> None:
        """Accept only a flavor that nova-api finds; it does that before all else.

        nova/compute/api.py, ``_validate_and_build_base_options``. Of a move it is one
        of the checks of that move (``core/servers/refusals.py``).

        :raises Refusal: for one that is disabled
        """
        if self.flavor.get(_DISABLED) and self.move is None:
            keys = (_DISABLED,)
            raise Refusal("FlavorNotFound", "flavor-is-disabled", keys, "api", 400)

    @property
    def is_accepted(self) -> bool:
        """Whether nova-api has let flavor and image through, and does not look again.

        nova-conductor takes them as they are kept with the server that is moved.
        """
        return self.move is not None and self.move.kind not in CHECKED_AGAIN

    @property
    def _check_type(self) -> Mapping[str, tuple[str, ...]]:
        """The hint by which nova-api asks for the filters of a rebuild alone."""
        is_rebuild = self.move is not None and self.move.kind is Kind.REBUILD
        return {REBUILD_HINT: REBUILD} if is_rebuild else {}

    @property
    def ignored_host(self) -> str:
        """The service host that Nova takes out before its filters; empty for none."""
        return self.move.ignored_host(self.assumptions) if self.move else ""

    @property
    def needed_zone(self) -> str | None:
        """The zone that nova-api wants to be there; None if it does not look.

        :raises Refusal: for more than two colons
        """
        return self.destination.checked_zone or None

    @property
    def destination(self) -> Destination:
        """The zone, and the host that is named with it or beside it.

        :raises Refusal: for more than two colons, and for a host that is named twice
        """
        spec = self.spec
        default = str(self.assumptions.value(options.DEFAULT_ZONE) or "")
        return model.read(spec.zone, default, spec.on_host, spec.on_node)

    @property
    def is_forced(self) -> bool:
        """Whether a host is named with the zone, so that no host filter runs.

        :raises Refusal: as :attr:`destination`
        """
        return self.nodes is not None and self.destination.is_forced

    @property
    def nodes(self) -> tuple[Compute, ...] | None:
        """The compute nodes that alone can be chosen; None for all.

        :raises Refusal: for more than two colons
        """
        if self.computes is None or not self.destination.is_named:
            return None
        return self.destination.nodes(self.computes)

    @property
    def zones(self) -> frozenset[str]:
        """The zones that host aggregates name."""
        metadata = (aggregate["metadata"] for aggregate in self.aggregates)
        found = (zone_in(each, self.assumptions.collation) for each in metadata)
        return frozenset(zone for zone in found if zone is not None)

    def with_spec(self, **changes: Any) -> Question:
        """The question with other fields of its spec."""
        spec = dataclasses.replace(self.spec, **changes)
        return dataclasses.replace(self, spec=spec)

    def with_flavor(self, properties: Mapping[str, str]) -> Question:
        """Return the question with other extra specs; an empty value drops a key."""
        specs = _changed(self.flavor.get("extra_specs") or {}, properties)
        return dataclasses.replace(self, flavor={**self.flavor, "extra_specs": specs})

    def with_size(self, **size: int) -> Question:
        """Return the question with another size: ``vcpus``, ``ram`` or ``disk``."""
        return dataclasses.replace(self, flavor={**self.flavor, **size})

    def with_image(self, properties: Mapping[str, str]) -> Question:
        """Return the question with other properties; an empty value drops a key.

        ``disk_format`` and what else Glance keeps of an image can be changed, too.
        """
        return dataclasses.replace(self, image=_changed(self.image or {}, properties))

    def image_properties(self) -> dict[str, Any]:
        """Return what the image's owner set on it."""
        image = self.image or {}
        return {key: value for key, value in image.items() if key not in NO_PROPERTIES}


def _changed(found: Body, changes: Mapping[str, str]) -> dict[str, Any]:
    kept = {key: value for key, value in found.items() if key not in changes}
    return {**kept, **{key: value for key, value in changes.items() if value != ""}}
