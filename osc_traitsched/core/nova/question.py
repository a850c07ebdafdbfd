"""A question about one server: flavor, image, move and settings."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute
from osc_traitsched.core.nova import attachments, building, options, request
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
    Fails,
    FilterResult,
    RequestSpec,
    ServerGroup,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import FilterAnswers
from osc_traitsched.core.nova.image import read as read_image
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.own import OwnAnswers
from osc_traitsched.core.nova.request import Destination, Request
from osc_traitsched.core.nova.server import NO_PARTS, TENANT, Parts, Server
from osc_traitsched.core.nova.server import read as read_flavor

# Moves of existing servers, and their rules for hosts.


#: A host with this trait can take a cold migration of its own servers.
SAME_HOST = "COMPUTE_SAME_HOST_COLD_MIGRATE"
#: The first release that reads it.
SAME_HOST_SINCE = 21


class MoveKind(enum.Enum):
    """A move that asks nova-scheduler; the values are those of options."""

    LIVE_MIGRATION = "live-migration"
    MIGRATION = "migration"
    RESIZE = "resize"
    EVACUATION = "evacuation"
    UNSHELVE = "unshelve"
    REBUILD = "rebuild"


#: Moves that fail for good if nova-compute on the chosen host rejects the group.
TRIED_ONCE = frozenset([MoveKind.LIVE_MIGRATION, MoveKind.EVACUATION])
#: Moves whose flavor and image nova-api checks again.
CHECKED_AGAIN = frozenset([MoveKind.RESIZE, MoveKind.REBUILD])


@dataclasses.dataclass(frozen=True)
class Move:
    """One move of one server.

    :ivar host: the server's service host; empty after offloading
    :ivar source: the server's compute node; None without one, or if Nova lists none
    :ivar may_stay: that node's provider has :data:`SAME_HOST`
    """

    kind: MoveKind
    server: str
    host: str = ""
    source: Compute | None = None
    may_stay: bool = False

    @property
    def origin(self) -> Origin:
        """Origin of the move's rules for hosts."""
        return Origin("move", self.kind.value)

    def ignored_host(self, settings: SchedulerSettings) -> str:
        """The service host that Nova removes before its filters; empty for none.

        nova/compute/api.py, ``_allow_resize_to_same_host``; nova/conductor/manager.py,
        ``rebuild_instance``; nova/conductor/tasks/live_migrate.py,
        ``_find_destination``
        """
        if self.kind in (MoveKind.LIVE_MIGRATION, MoveKind.EVACUATION):
            return self.host
        is_by_trait = settings.release >= SAME_HOST_SINCE
        if self.kind is MoveKind.MIGRATION and is_by_trait:
            return "" if self.may_stay else self.host
        if self.kind in (MoveKind.MIGRATION, MoveKind.RESIZE):
            return "" if settings.value(options.RESIZE_TO_SAME_HOST) else self.host
        return ""


Judge = Callable[[Move, Compute, SchedulerSettings], FilterResult]


def source(move: Move, compute: Compute, settings: SchedulerSettings) -> FilterResult:
    """Reject the server's own host if the move does; case-insensitive.

    nova/scheduler/host_manager.py, ``get_filtered_hosts``
    """
    ignored = move.ignored_host(settings)
    if ignored and compute.service_host.lower() == ignored.lower():
        return Fails(state.SERVER_IS_HERE, origin=move.origin)
    return PASSES


def hypervisor(
    move: Move, compute: Compute, settings: SchedulerSettings
) -> FilterResult:
    """Require the same hypervisor type, not older, for a live migration.

    nova-conductor rejects the chosen host, and asks for the next:
    nova/conductor/tasks/live_migrate.py, ``_check_compatible_with_source_hypervisor``
    """
    if move.kind is not MoveKind.LIVE_MIGRATION:
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
    """Whether nova-conductor allows a move to an older hypervisor."""
    name = options.SKIP_VERSION_CHECK
    is_there = options.OPTIONS[name].is_in(settings.release)
    return is_there and bool(settings.value(name))


#: Nova's rules before and after its filters, by their names in documents.
BEFORE_FILTERS: Mapping[str, Judge] = {"move:source": source}
AFTER_FILTERS: Mapping[str, Judge] = {"move:hypervisor": hypervisor}
MOVE_CHECKS: Mapping[str, Judge] = {**BEFORE_FILTERS, **AFTER_FILTERS}


def with_rules(
    judgment: FilterAnswers,
    move: Move,
    computes: Iterable[Compute],
    settings: SchedulerSettings,
) -> FilterAnswers:
    """The filters' answers and those of the move's rules, in Nova's order."""
    computes = tuple(computes)
    found = {
        name: {each.uuid: judge(move, each, settings) for each in computes}
        for name, judge in MOVE_CHECKS.items()
    }
    names = (*BEFORE_FILTERS, *judgment.names, *AFTER_FILTERS)
    return FilterAnswers(names, {**judgment.answers, **found})


# A question: one server of a flavor and an image, and variations.


Body = Mapping[str, Any]

_DISABLED = "OS-FLV-DISABLED:disabled"

#: Glance's own keys of an image, which are no properties.
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
    """The user's request for a server, with the user's names.

    For an existing server, the values that win over Nova's.

    :ivar flavor: a name or an ID; empty for an existing server's own
    :ivar image: a name or an ID; None for a volume without image metadata; empty for an
        image without properties
    :ivar zone: the availability zone; None for any; ``zone:host``, ``zone:host:node``
        and ``zone::node`` also name a host
    :ivar project: a name or an ID; None for the user's own
    :ivar project_domain: name or ID of the project's domain; None for any
    :ivar boot_from_volume: the root disk is a volume made of the image
    :ivar count: number of such servers
    :ivar flavor_properties: assumed extra specs; an empty value removes a key
    :ivar image_properties: the same for the image
    :ivar hints: scheduler hints, without the server group
    :ivar group: a name or an ID
    :ivar policy: of a new server group for these servers
    :ivar ports: names or IDs, as ``networks``
    :ivar volume: name or ID of the boot volume
    :ivar device_profiles: a file with their contents; Cyborg is asked for others
    :ivar on_host: the service host, beside the zone; the host filters still run
    :ivar on_node: the hypervisor; the same
    :ivar remote_address: sender of the request to nova-api; None if unknown
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
    policy: str | None = None
    ports: tuple[str, ...] = ()
    networks: tuple[str, ...] = ()
    volume: str | None = None
    device_profiles: str | None = None
    on_host: str | None = None
    on_node: str | None = None
    remote_address: str | None = None

    @property
    def names_host(self) -> bool:
        """Whether a host or a node may be named, in the zone or beside it."""
        with_zone = (self.zone or "").partition(":")[2].strip(":")
        return bool(self.on_host or self.on_node or with_zone)

    @property
    def is_what_if(self) -> bool:
        """Whether flavor or image have assumed properties."""
        return bool(self.flavor_properties or self.image_properties)


@dataclasses.dataclass(frozen=True)
class Question:
    """A user's request, with the cloud's objects that it names.

    :ivar flavor: the compute API's body, with assumed extra specs
    :ivar image: the image API's body, with assumed properties; None for none
    :ivar project: the server's project, in the spelling of the aggregates
    :ivar computes: all compute nodes if the user names a host; without them the request
        is not limited to that host, and says so
    :ivar servers: service host and node of each server in the hints and the group; None
        without hints and a group
    :ivar own: answers of filters and weighers that ran in Nova, if any
    :ivar is_kept: of an existing server: changes of flavor and image don't reach it,
        nor do nova-api's checks of new servers
    :ivar tried: service hosts on which its build failed. Nova forgets a failure when
        the next build succeeds there, which is not read.
    """

    flavor: Body
    image: Body | None
    aggregates: tuple[Aggregate, ...]
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
    tried: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.move is not None and self.assumptions.of_moves:
            object.__setattr__(self, "assumptions", self.assumptions.for_moves())

    def request(self) -> Request:
        """Nova's request to Placement; raises Refusal."""
        hints = self.spec.hints
        self.parts.check_once(self.assumptions.release)
        self.parts.check_count(self.spec.count)
        wrong = misshapen(hints)
        if wrong is not None:
            raise Refusal("ValidationError", "misshapen-hint", (wrong,), "api", 400)
        server = self.server
        found = building.build(
            server, self.destination, self.computes, self.assumptions
        )
        if self.group is None and hints.keys().isdisjoint(OF_SERVERS):
            return found
        return found.without_limit()

    @functools.cached_property
    def server(self) -> Server:
        """The server that nova-api accepts; raises Refusal."""
        settings, parts = self.assumptions, self.parts
        release = settings.release
        with building.at(building.API, release):
            named = self.destination
            root = attachments.image_of_volume(parts)
            parts.check_networks(release)
            server = Server(
                flavor=read_flavor(self.flavor),
                image=read_image(self.image or root, release),
                aggregates=self.aggregates,
                zone=named.zone_of(self.aggregates, release),
                project_id=self.project,
                boot_from_volume=self.spec.boot_from_volume or root is not None,
                release=release,
                parts=parts,
                aliases=building.aliases(settings),
                pci_in_placement=bool(settings.value(options.PCI_IN_PLACEMENT)),
            )
            if not self.is_accepted:
                building.check(server)
            return building.provisioned(server, settings)

    def request_spec(self) -> RequestSpec:
        """Input of nova-scheduler's host filters; raises Refusal."""
        image = self.image or {}
        return RequestSpec(
            self.server,
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

    def may_need_aggregate(self, request: Request) -> bool:
        """Whether an unknown option may require an aggregate of the project.

        A server that exists shows that none is required
        (nova/scheduler/request_filter.py, ``require_tenant_aggregate``).
        """
        has_none = any(each.kind == TENANT for each in request.not_evaluated)
        is_known = self.assumptions.is_known(options.TENANT_REQUIRED)
        return has_none and not is_known and self.move is None

    def check_enabled(self) -> None:
        """Reject a flavor that nova-api takes for no new server.

        nova/compute/api.py, ``_validate_and_build_base_options``. A move has its own
        check (``core/servers/moves.py``).

        :raises Refusal: for a disabled flavor, and as :meth:`check_aliases`
        """
        if self.flavor.get(_DISABLED) and self.move is None:
            name = "FlavorNotFound"
            raise Refusal(name, "flavor-is-disabled", (_DISABLED,), "api", 400)
        self.check_aliases()

    def check_aliases(self) -> None:
        """Reject a new server's PCI alias if a complete nova.conf has none.

        Changes of traits protect such flavors all the same: the aliases may be in
        another file, of nova-api alone.
        """
        alias, specs = attachments.PCI_ALIAS, self.flavor.get("extra_specs") or {}
        settings, option = self.assumptions, options.PCI_ALIAS
        has_none = settings.is_known(option) and not settings.value(option)
        if has_none and alias in specs and self.move is None and not self.is_kept:
            name, keys = "PciRequestAliasNotDefined", (alias, specs[alias])
            raise Refusal(name, "no-such-alias", keys, "api", 400)

    @property
    def is_accepted(self) -> bool:
        """Whether nova-api accepted flavor and image earlier."""
        return self.move is not None and self.move.kind not in CHECKED_AGAIN

    @property
    def is_group_checked(self) -> bool:
        """Whether nova-compute checks the policy of the server's group itself."""
        kind = self.move.kind if self.move else None
        is_off = self.assumptions.value(options.NO_GROUP_CHECK)
        return not is_off and kind not in (MoveKind.UNSHELVE, MoveKind.REBUILD)

    @property
    def _check_type(self) -> Mapping[str, tuple[str, ...]]:
        is_rebuild = self.move is not None and self.move.kind is MoveKind.REBUILD
        return {REBUILD_HINT: REBUILD} if is_rebuild else {}

    @property
    def ignored_host(self) -> str:
        """The service host that Nova removes before its filters; empty for none."""
        return self.move.ignored_host(self.assumptions) if self.move else ""

    @property
    def needed_zone(self) -> str | None:
        """The zone that nova-api checks; None if none; raises Refusal."""
        return self.destination.checked_zone or None

    @property
    def destination(self) -> Destination:
        """The zone, and the host named in it or beside it; raises Refusal."""
        spec = self.spec
        default = str(self.assumptions.value(options.DEFAULT_ZONE) or "")
        return request.read(spec.zone, default, spec.on_host, spec.on_node)

    @property
    def is_forced(self) -> bool:
        """Whether a host is named in the zone, so that no host filter runs."""
        return self.nodes is not None and self.destination.is_forced

    @property
    def nodes(self) -> tuple[Compute, ...] | None:
        """The only compute nodes that Nova may choose; None for all; raises Refusal."""
        if self.computes is None or not self.destination.is_named:
            return None
        return self.destination.nodes(self.computes)

    @property
    def zones(self) -> frozenset[str]:
        """Zones of the host aggregates."""
        collation = self.assumptions.collation
        zones = (aggregate.zone_in(collation) for aggregate in self.aggregates)
        return frozenset(zone for zone in zones if zone is not None)

    def with_spec(self, **changes: Any) -> Question:
        """The question with a changed spec."""
        spec = dataclasses.replace(self.spec, **changes)
        return dataclasses.replace(self, spec=spec)

    def with_flavor(self, properties: Mapping[str, str]) -> Question:
        """The question with changed extra specs; an empty value drops a key."""
        specs = _changed(self.flavor.get("extra_specs") or {}, properties)
        return dataclasses.replace(self, flavor={**self.flavor, "extra_specs": specs})

    def with_size(self, **size: int) -> Question:
        """The question with another ``vcpus``, ``ram`` or ``disk``."""
        return dataclasses.replace(self, flavor={**self.flavor, **size})

    def with_image(self, properties: Mapping[str, str]) -> Question:
        """Change image properties; an empty value drops a key."""
        return dataclasses.replace(self, image=_changed(self.image or {}, properties))

    def image_properties(self) -> dict[str, Any]:
        """Properties of the image, without Glance's own keys."""
        image = self.image or {}
        return {key: value for key, value in image.items() if key not in NO_PROPERTIES}


def _changed(found: Body, changes: Mapping[str, str]) -> dict[str, Any]:
    kept = {key: value for key, value in found.items() if key not in changes}
    return {**kept, **{key: value for key, value in changes.items() if value != ""}}
