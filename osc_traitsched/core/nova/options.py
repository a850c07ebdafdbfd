"""Options of nova.conf that affect scheduling, by release, and their values."""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, Union

from osc_traitsched import text
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.trait import (
    Collation,
    isolating_keys,
    project_keys,
    zone_keys,
)
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.releases import NEWEST, OLDEST, RELEASES, release
from osc_traitsched.text import did_you_mean

# Options of nova.conf that affect scheduling, by release.


# nova/objects/fields.py, ``Architecture``
_ARCHITECTURES = (
    "alpha armv6 armv7l armv7b aarch64 cris i686 ia64 lm32 m68k microblaze "
    "microblazeel mips mipsel mips64 mips64el openrisc parisc parisc64 ppc ppcle "
    "ppc64 ppc64le ppcemb s390 s390x sh4 sh4eb sparc sparc64 unicore32 x86_64 xtensa "
    "xtensaeb"
)
ARCHITECTURES = tuple(_ARCHITECTURES.split())


# What an option of nova.conf is, in every release of Nova.


Value = Union[bool, int, float, str, tuple[str, ...], None]


class OptionType(enum.Enum):
    """Type of an option's values, named as in oslo.config."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    STRING = "string"
    LIST = "list"
    #: Of several lines and files, each with one text.
    MULTI = "several texts"


class Service(enum.Enum):
    """Service of Nova that reads an option; each has a nova.conf of its own."""

    API = "nova-api"
    SCHEDULER = "nova-scheduler"
    CONDUCTOR = "nova-conductor"
    COMPUTE = "nova-compute"


class Consumer(enum.Enum):
    """Part of Nova that reads an option.

    Others than filters, weighers and nova-compute shape the request to Placement, or
    are for moves only.
    """

    API = "nova-api"
    PREFILTER = "prefilter"
    DATABASE = "database"
    SCHEDULER = "nova-scheduler"
    FILTER = "filter"
    WEIGHER = "weigher"
    MOVE = "moves"
    COMPUTE = "nova-compute"


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of nova.conf, as Nova's releases register it, and all facts about it.

    :ivar name: ``section.key``; without a section it is not an option of Nova
    :ivar readers: services that read it, and must agree; the first one decides on a new
        server
    :ivar differs: what goes wrong if these services have different values
    :ivar mover: the reader that decides on moves; None for the first
    :ivar changed_defaults: releases and values of later defaults, oldest first
    :ivar until: first release that lacks it again
    :ivar choices: strings that Nova accepts; empty for any
    :ivar deprecated_names: other names, with the first release that ignores each
    :ivar default_source: origin of the default, in one line; empty for Nova itself
    :ivar is_read_elsewhere: a host filter reads it, and so does nova-api or a weigher
    :ivar baselines: other defaults of distributions, each from a release on
    :ivar parameter: of tripleo-heat-templates, which sets it
    :ivar switches: what ``config enable`` calls it, then aliases; empty if it can't
    :ivar needs: another option without which Nova does not look at it
    :ivar title: short name in explanations; empty for its own
    :ivar effect: name in the doctor's findings, and what it would change, if it does
    :ivar keys: of aggregate metadata that it is about; None if it is not about
        aggregates
    :ivar evidence: what an aggregate with a {key} and its {value} has, which shows that
        the option is on; empty if it shows nothing
    """

    name: str
    kind: OptionType
    default: Value
    consumer: Consumer
    readers: tuple[Service, ...] = (Service.SCHEDULER,)
    differs: str = ""
    mover: Service | None = None
    changed_defaults: tuple[tuple[int, Value], ...] = ()
    since: int = OLDEST
    until: int = NEWEST + 1
    minimum: int | None = None
    choices: tuple[str, ...] = ()
    deprecated_names: tuple[tuple[str, int], ...] = ()
    default_source: str = ""
    is_read_elsewhere: bool = False
    baselines: tuple[tuple[str, int, Value], ...] = ()
    parameter: str = ""
    switches: tuple[str, ...] = ()
    needs: str = ""
    title: str = ""
    effect: tuple[str, str] = ("", "")
    keys: Callable[[Mapping[str, str], Collation], Sequence[str]] | None = None
    evidence: str = ""

    @property
    def section(self) -> str:
        """Section of nova.conf; empty for none."""
        return self.name.rpartition(".")[0]

    @property
    def key(self) -> str:
        """Name within the section."""
        return self.name.rpartition(".")[2]

    def is_in(self, release: int) -> bool:
        """Whether a release has the option."""
        return self.since <= release < self.until

    def default_in(self, release: int) -> Value:
        """Default of a release."""
        changed = (value for first, value in self.changed_defaults if first <= release)
        return (self.default, *changed)[-1]

    def names_in(self, release: int) -> tuple[str, ...]:
        """Names that a release reads, the current one first."""
        deprecated = (name for name, until in self.deprecated_names if release < until)
        return (self.name, *deprecated)


# All options that decide where a server can go: one row for each, by section.
#
# nova/conf/scheduler.py; for the last sections workarounds.py, availability_zone.py,
# compute.py, cinder.py and pci.py beside it.


#: Functions that return all of Nova's own host filters, and weighers.
ALL_FILTERS = "nova.scheduler.filters.all_filters"
ALL_WEIGHERS = "nova.scheduler.weights.all_weighers"

#: All of them by their names.
OPTIONS: dict[str, Option] = {}

#: Distributions with defaults of their own.
TRIPLEO, RHOSO, OSA, CHARMED = "tripleo", "rhoso", "openstack-ansible", "charmed"

_KINDS: Mapping[type, OptionType] = {
    bool: OptionType.BOOLEAN,
    int: OptionType.INTEGER,
    float: OptionType.FLOAT,
    tuple: OptionType.LIST,
}


def _row(
    name: str,
    consumer: Consumer,
    default: Value,
    kind: OptionType | None = None,
    **facts: Any,
) -> str:
    """A default of None is a text."""
    kind = kind or _KINDS.get(type(default), OptionType.STRING)
    OPTIONS[name] = Option(name, kind, default, consumer, **facts)
    return name


def _filter_scheduler(
    key: str, consumer: Consumer, default: Value, old_key: str = "", **facts: Any
) -> str:
    """An option that may have had an old key in [DEFAULT], until Xena."""
    old = ((f"DEFAULT.{old_key}", 24),) if old_key else ()
    name = f"filter_scheduler.{key}"
    return _row(name, consumer, default, deprecated_names=old, **facts)


def _both(tripleo: bool, rhoso: bool) -> tuple[tuple[str, int, Value], ...]:
    return (TRIPLEO, OLDEST, tripleo), (RHOSO, OLDEST, rhoso)


ISOLATION = _row(
    "scheduler.enable_isolated_aggregate_filtering",
    Consumer.PREFILTER,
    False,
    baselines=_both(tripleo=False, rhoso=True),
    parameter="NovaSchedulerEnableIsolatedAggregateFiltering",
    switches=("isolation",),
    title="isolation",
    effect=("isolation", "trait:...=required; if on, closed to other servers"),
    keys=isolating_keys,
    evidence="{key}={value}",
)
TENANT = _row(
    "scheduler.limit_tenants_to_placement_aggregate",
    Consumer.PREFILTER,
    False,
    baselines=_both(tripleo=False, rhoso=True),
    parameter="NovaSchedulerLimitTenantsToPlacementAggregate",
    switches=("projects", "tenant"),
    title="project isolation",
    effect=("projects", "filter_tenant_id; if on, their projects stay there"),
    keys=project_keys,
    evidence="{key}",
)
# nova/scheduler/request_filter.py, require_tenant_aggregate
TENANT_REQUIRED = _row(
    "scheduler.placement_aggregate_required_for_tenants",
    Consumer.PREFILTER,
    False,
    baselines=_both(tripleo=False, rhoso=False),
    parameter="NovaSchedulerPlacementAggregateRequiredForTenants",
    switches=("projects-required", "tenant-required"),
    needs=TENANT,
    title="the rule that every project needs an aggregate",
)
AZ_QUERY = _row(
    "scheduler.query_placement_for_availability_zone",
    Consumer.PREFILTER,
    False,
    changed_defaults=((24, True),),
    until=28,
    baselines=_both(tripleo=False, rhoso=True),
    parameter="NovaSchedulerQueryPlacementForAvailabilityZone",
    switches=("az",),
    title="the zone query",
    effect=("zones", "a zone; if on, Placement checks it"),
    keys=zone_keys,
)
IMAGE_TYPE = _row(
    "scheduler.query_placement_for_image_type_support",
    Consumer.PREFILTER,
    False,
    baselines=_both(tripleo=True, rhoso=True),
    parameter="NovaSchedulerQueryImageType",
    switches=("image-type",),
    title="the image type check",
    effect=("image types", "if on, hosts must support the disk format"),
)
IMAGE_METADATA = _row(
    "scheduler.image_metadata_prefilter",
    Consumer.PREFILTER,
    False,
    since=21,
    baselines=((RHOSO, OLDEST, True),),
    switches=("image-metadata",),
    title="the image metadata check",
)
ROUTED_NETWORKS = _row(
    "scheduler.query_placement_for_routed_network_aggregates",
    Consumer.PREFILTER,
    False,
    since=23,
    baselines=_both(tripleo=False, rhoso=True),
    parameter="NovaSchedulerQueryPlacementForRoutedNetworkAggregates",
    switches=("routed-networks",),
    title="the routed network check",
)
MAX_RESULTS = _row(
    "scheduler.max_placement_results", Consumer.SCHEDULER, 1000, minimum=1
)

ENABLED_FILTERS = _filter_scheduler(
    "enabled_filters",
    Consumer.FILTER,
    (special.ZONE, *special.UPSTREAM_LIST),
    "scheduler_default_filters",
    changed_defaults=((24, special.UPSTREAM_LIST),),
    baselines=(
        (RHOSO, OLDEST, special.RHOSO_LIST),
        (OSA, OLDEST, (special.ZONE, *special.OSA_LIST)),
        (OSA, 25, special.OSA_LIST),
        (CHARMED, OLDEST, special.OLD_CHARMED_LIST),
        (CHARMED, 22, (special.ZONE, *special.CHARMED_LIST)),
        (CHARMED, 28, special.CHARMED_LIST),
    ),
    effect=("host filters", "they reject hosts after Placement"),
)
AVAILABLE_FILTERS = _filter_scheduler(
    "available_filters",
    Consumer.FILTER,
    (ALL_FILTERS,),
    "scheduler_available_filters",
    kind=OptionType.MULTI,
)


def _of_filters(key: str, default: Value, **facts: Any) -> str:
    return _filter_scheduler(key, Consumer.FILTER, default, key, **facts)


MAX_IO_OPS = _of_filters(
    "max_io_ops_per_host", 8, minimum=0, baselines=((OSA, OLDEST, 10),)
)
MAX_INSTANCES = _of_filters("max_instances_per_host", 50, minimum=1)
DEFAULT_ARCHITECTURE = _filter_scheduler(
    "image_properties_default_architecture",
    Consumer.FILTER,
    None,
    choices=ARCHITECTURES,
)
ISOLATED_IMAGES = _of_filters("isolated_images", ())
ISOLATED_HOSTS = _of_filters("isolated_hosts", ())
RESTRICT_ISOLATED_HOSTS = _of_filters(
    "restrict_isolated_hosts_to_isolated_images", True
)
IMAGE_NAMESPACE = _of_filters("aggregate_image_properties_isolation_namespace", None)
IMAGE_SEPARATOR = _of_filters("aggregate_image_properties_isolation_separator", ".")
WEIGHT_CLASSES = _filter_scheduler(
    "weight_classes", Consumer.WEIGHER, (ALL_WEIGHERS,), "scheduler_weight_classes"
)
HOST_SUBSET_SIZE = _filter_scheduler(
    "host_subset_size",
    Consumer.WEIGHER,
    1,
    "scheduler_host_subset_size",
    minimum=1,
    # From Wallaby on it is 30 % of the hosts, and 10 at most.
    baselines=((OSA, OLDEST, 10),),
)
SHUFFLE = _filter_scheduler(
    "shuffle_best_same_weighed_hosts",
    Consumer.WEIGHER,
    False,
    baselines=((RHOSO, OLDEST, True),),
)


def _multiplier(
    weigher: str, default: float = 1.0, moved: bool = False, **facts: Any
) -> str:
    key = f"{weigher}_weight_multiplier"
    old_key = key if moved else ""
    return _filter_scheduler(key, Consumer.WEIGHER, default, old_key, **facts)


RAM = _multiplier("ram", moved=True, baselines=((OSA, OLDEST, 5.0), (OSA, 29, 1.0)))
CPU = _multiplier("cpu")
DISK = _multiplier("disk", moved=True)
IO_OPS = _multiplier("io_ops", -1.0, moved=True)
PCI = _multiplier("pci", minimum=0)
SOFT_AFFINITY = _multiplier("soft_affinity", moved=True, minimum=0)
SOFT_ANTI_AFFINITY = _multiplier("soft_anti_affinity", moved=True, minimum=0)
BUILD_FAILURE = _multiplier(
    "build_failure", 1000000.0, baselines=((CHARMED, OLDEST, 0.0),)
)
CROSS_CELL = _multiplier("cross_cell_move", 1000000.0, since=21)
HYPERVISOR_VERSION = _multiplier("hypervisor_version", since=28)
NUM_INSTANCES = _multiplier("num_instances", 0.0, since=28)
IMAGE_PROPERTIES = _multiplier("image_props", 0.0, since=31)
_filter_scheduler("image_props_weight_setting", Consumer.WEIGHER, (), since=31)
PCI_IN_PLACEMENT = _filter_scheduler(
    "pci_in_placement",
    Consumer.SCHEDULER,
    False,
    # nova/objects/request_spec.py, generate_request_groups_from_pci_requests, which
    # nova/compute/api.py calls for new servers, nova/conductor/ for moves
    readers=(Service.API, Service.CONDUCTOR),
    mover=Service.CONDUCTOR,
    since=27,
    differs="new servers and moves get their PCI devices in two ways",
)
METRICS = _row("metrics.weight_setting", Consumer.FILTER, (), is_read_elsewhere=True)
WEIGHER_METRICS = _row("metrics.weight_multiplier", Consumer.WEIGHER, 1.0)
METRICS_REQUIRED = _row("metrics.required", Consumer.WEIGHER, True)
_row("metrics.weight_of_unavailable", Consumer.WEIGHER, -10000.0)
NO_PCPU_FALLBACK = _row(
    "workarounds.disable_fallback_pcpu_query",
    Consumer.SCHEDULER,
    False,
    baselines=((RHOSO, OLDEST, True),),
)
SKIP_VERSION_CHECK = _row(
    "workarounds.skip_hypervisor_version_check_on_lm",
    Consumer.MOVE,
    False,
    readers=(Service.CONDUCTOR,),
    since=25,
)
_row(
    "scheduler.max_attempts",
    Consumer.SCHEDULER,
    3,
    # nova/scheduler/manager.py, _schedule; nova/scheduler/utils.py, populate_retry
    readers=(Service.SCHEDULER, Service.CONDUCTOR),
    minimum=1,
    deprecated_names=(("DEFAULT.scheduler_max_attempts", 24),),
    differs="servers are tried on as many hosts as the lower number",
)
_row(
    "DEFAULT.service_down_time",
    Consumer.FILTER,
    60,
    # nova/servicegroup/drivers/db.py, is_up: in nova/scheduler/filters/
    # compute_filter.py, nova/api/openstack/compute/services.py and
    # nova/conductor/tasks/live_migrate.py
    readers=(Service.SCHEDULER, Service.API, Service.CONDUCTOR),
    is_read_elsewhere=True,
    differs="a host can be up to the API, and down to the scheduler",
)
DEFAULT_ZONE = _row(
    "DEFAULT.default_schedule_zone", Consumer.API, None, readers=(Service.API,)
)
RESIZE_TO_SAME_HOST = _row(
    "DEFAULT.allow_resize_to_same_host",
    Consumer.MOVE,
    False,
    readers=(Service.API,),
)
NO_GROUP_CHECK = _row(
    "workarounds.disable_group_policy_check_upcall",
    Consumer.COMPUTE,
    False,
    readers=(Service.COMPUTE,),
)
DEFAULT_HOST_ZONE = _row(
    "DEFAULT.default_availability_zone",
    Consumer.FILTER,
    "nova",
    # nova/availability_zones.py, get_host_availability_zone
    readers=(Service.SCHEDULER, Service.API),
    is_read_elsewhere=True,
    differs="a zone that the API shows is another one to the scheduler",
)
CROSS_AZ_ATTACH = _row(
    "cinder.cross_az_attach",
    Consumer.API,
    True,
    # nova/compute/api.py, _validate_vol_az_for_create; nova/virt/block_device.py,
    # _get_volume_create_az_value
    readers=(Service.API, Service.COMPUTE),
    differs="the API accepts a volume that nova-compute rejects, or the reverse",
)
PCI_ALIAS = _row(
    "pci.alias",
    Consumer.API,
    (),
    OptionType.MULTI,
    # nova-compute reads it for a resize (nova/compute/resource_tracker.py).
    readers=(Service.API, Service.COMPUTE),
    deprecated_names=(("DEFAULT.pci_alias", NEWEST + 1),),
    differs="a resize claims other devices than the API asked for",
)
COLLATION = _row(
    "database_collation",
    Consumer.DATABASE,
    Collation.CASE_INSENSITIVE.value,
    choices=tuple(each.value for each in Collation),
    default_source="the default of MariaDB and MySQL",
    title="the database collation",
)


def option_name(written: str) -> str | None:
    """Name of an option, from a spelling in any case; None if unknown."""
    names = {name.lower(): name for name in OPTIONS}
    return names.get(written.strip().lower())


@dataclasses.dataclass(frozen=True)
class NoEffect:
    """A line of a file that sets nothing here.

    :ivar meant: the option of Nova that it should set; None for no option
    :ivar reason: empty if the option has another name or section
    :ivar nearest: options with a similar name
    :ivar is_unread: Nova may read the line, so the option is unknown
    :ivar is_gone: earlier or later releases have the option
    :ivar place: where it must be set, as ``under conf.nova``; empty for the same file
    """

    name: str
    source: str
    meant: str | None
    reason: str = ""
    nearest: tuple[str, ...] = ()
    is_unread: bool = False
    place: str = ""
    is_gone: bool = False

    @property
    def fix(self) -> str:
        """What to do about it, in words."""
        if self.is_unread and self.meant:
            return f"give its value: --set {self.meant}=VALUE"
        if self.meant:
            return f"set {text.option(self.meant)} {self.place or 'instead'}"
        if self.is_gone:
            return "take it out"
        near = did_you_mean(tuple(map(text.option, self.nearest)))
        return f"correct its name, unless code of your own reads it{near}"


#: Options by all names that they ever had.
NAMES: Mapping[str, Option] = {
    name: each
    for each in OPTIONS.values()
    for name in (each.name, *(old for old, _ in each.deprecated_names))
}
_ENDS: Mapping[str, Option] = {
    **{
        name.rpartition(".")[2].replace("_", ""): each
        for name, each in NAMES.items()
        if "_" in name.rpartition(".")[2]
    },
    "extrafilters": OPTIONS[ENABLED_FILTERS],
    "schedulerfilters": OPTIONS[ENABLED_FILTERS],
    "pcialiases": OPTIONS[PCI_ALIAS],
}


def mentioned(name: str) -> Option | None:
    """The option that a tool's own name (``nova::api::pci_alias``) ends in."""
    plain = re.sub("[^a-z0-9]", "", name.lower())
    ends = (end for end in sorted(_ENDS, key=len, reverse=True) if plain.endswith(end))
    return next((_ENDS[end] for end in ends), None)


def options_in(release: int) -> tuple[Option, ...]:
    """Options of a release, in the order of :data:`OPTIONS`."""
    return tuple(option for option in OPTIONS.values() if option.is_in(release))


# Settings: values of nova.conf's options, and switches that enable options.


# What Nova's release, nova.conf and database are taken to be: no API shows them.


@dataclasses.dataclass(frozen=True)
class Setting:
    """Value of an option, and its source.

    :ivar source: one line for a person: file and line, parameter, baseline, command
        line or default
    :ivar given: read from a source; False for an assumed value
    :ivar tool: what ``config enable --for`` calls the tool that sets it
    :ivar is_hidden: the nova.conf of the service that reads it was not supplied
    """

    value: Value
    source: str
    given: bool = False
    tool: str = dataclasses.field(default="nova", compare=False)
    is_hidden: bool = False

    @property
    def items(self) -> tuple[str, ...]:
        """The items of a list; none of another value."""
        return self.value if isinstance(self.value, tuple) else ()


class ClaimAnswers(Protocol):
    """What Nova says of NUMA cells and PCI devices, which no API shows."""

    @property
    def counts(self) -> Mapping[str, tuple[int, int, int]]:
        """Failed builds, tasks and free devices of its hosts, by node UUID."""

    @property
    def emptied(self) -> ClaimAnswers:
        """Its answers on empty hosts: only what these can't claim."""

    def answers(
        self, name: str, hosts: Collection[Any], spec: Any, settings: SchedulerSettings
    ) -> Mapping[str, Any]:
        """What a filter says of hosts, by node UUID; those that it knows."""

    def ask(
        self,
        requests: Iterable[tuple[Any, SchedulerSettings]],
        hosts: Iterable[Any],
        most: int = 1,
    ) -> None:
        """Ask at once for many requests, and how many servers up to so many fit."""

    def of_records(self, records: Mapping[str, Any]) -> ClaimAnswers | None:
        """Its answers on other records of the hosts; None without any."""

    def requests(self, servers: Collection[str]) -> Mapping[str, Mapping[str, Any]]:
        """Nova's records of the requests of servers, by UUID; empty for none."""

    def rooms(
        self, spec: Any, settings: SchedulerSettings
    ) -> Mapping[str, tuple[int | None, int | None]]:
        """How many such servers fit on each host: at least, at most."""


@dataclasses.dataclass(frozen=True)
class SchedulerSettings:
    """A release of Nova, and the options of its scheduler.

    :ivar release: Nova's major version, 20 (Train) to 34 (2026.2)
    :ivar settings: by option name, if read or different from the default
    :ivar release_source: one line for a person, as ``place``
    :ivar all_computes_new: every nova-compute is of 2026.2 or later, as
        owner_nova_filter needs; None if unknown
    :ivar without_set: settings without ``--set``; None if nothing else is known
    :ivar ignored: names and sources of options that the release does not have
    :ivar no_effect: lines of files that set nothing
    :ivar files: of the cloud's own among the sources; an option that is in none of them
        has its default
    :ivar of_moves: settings that differ for moves, which another service decides on
    :ivar disagreements: options with what reads them, such as ``nova-api`` or
        ``nova-scheduler on ctl1``, and differs
    :ivar others: settings for the other releases with the same compute API, if no
        release was specified
    :ivar claims: of that Nova, if it can be asked
    """

    release: int = NEWEST
    settings: Mapping[str, Setting] = dataclasses.field(default_factory=dict)
    release_source: str = "the newest release that is known"
    all_computes_new: bool | None = None
    ignored: tuple[tuple[str, str], ...] = ()
    no_effect: tuple[NoEffect, ...] = ()
    others: tuple[SchedulerSettings, ...] = ()
    place: str | None = None
    without_set: SchedulerSettings | None = None
    files: tuple[str, ...] = ()
    of_moves: Mapping[str, Setting] = dataclasses.field(default_factory=dict)
    disagreements: Mapping[str, Mapping[str, Setting]] = dataclasses.field(
        default_factory=dict
    )
    claims: ClaimAnswers | None = dataclasses.field(
        default=None, compare=False, repr=False
    )

    @property
    def of_empty_hosts(self) -> SchedulerSettings:
        """The settings, if Nova is only asked what empty hosts can't claim."""
        if self.claims is None:
            return self
        return dataclasses.replace(self, claims=self.claims.emptied)

    @property
    def is_complete(self) -> bool:
        """Whether an option that no file sets has its default."""
        return bool(self.files)

    @classmethod
    def of(cls, release: int = NEWEST, **options: Value) -> SchedulerSettings:
        """Settings with options of [scheduler], by key."""
        settings = {
            f"scheduler.{key}": Setting(value, "given", given=True)
            for key, value in options.items()
        }
        return cls(release, settings, "given")

    def setting(self, name: str) -> Setting:
        """An option's value and source; raises KeyError if not in :data:`OPTIONS`."""
        return self.settings.get(name) or _default(name, self.release)

    def is_known(self, name: str) -> bool:
        """Whether an option was given, or is at its default in a complete file.

        No file has what is not in nova.conf, such as the database's collation.
        """
        is_unread = any(each.meant == name for each in self.no_effect if each.is_unread)
        setting = self.setting(name)
        is_hidden = is_unread or setting.is_hidden
        return setting.given or (self.is_complete and "." in name and not is_hidden)

    def for_moves(self) -> SchedulerSettings:
        """The settings as the services read them that decide on moves."""
        settings = {**self.settings, **self.of_moves}
        return dataclasses.replace(self, settings=settings, of_moves={})

    def value(self, name: str) -> Value:
        """An option's value."""
        return self.setting(name).value

    def items(self, name: str) -> tuple[str, ...]:
        """The items of an option that is a list."""
        return self.setting(name).items

    @property
    def set_otherwise(self) -> tuple[str, ...]:
        """Options that ``--set`` changes, by name."""
        own = self.without_set
        if own is None:
            return ()
        names = sorted(self.settings.keys() | own.settings.keys())
        return tuple(name for name in names if self.value(name) != own.value(name))

    @property
    def collation(self) -> Collation:
        """Text comparison of Nova's database."""
        return Collation(self.value(COLLATION))

    def changed(self, name: str, value: Value) -> SchedulerSettings:
        """The settings with another value of one option."""
        settings = {**self.settings, name: Setting(value, "what if")}
        return dataclasses.replace(self, settings=settings)


# What can be turned on in nova.conf, and what has to be set for it.


@functools.cache
def _default(name: str, release: int) -> Setting:
    option = OPTIONS[name]
    source = option.default_source or f"the default of {RELEASES[release]}"
    return Setting(option.default_in(release), source)


AZ = OPTIONS[AZ_QUERY].switches[0]


def switches() -> Mapping[str, tuple[str, ...]]:
    """What can be asked for, and the options that have to be true for it."""
    rows = (row for row in OPTIONS.values() if row.switches)
    return {row.switches[0]: (*filter(None, [row.needs]), row.name) for row in rows}


@dataclasses.dataclass(frozen=True)
class Switched:
    """Options to add to a configuration so that switches are on.

    :ivar values: all required options, including those that are set already
    :ivar assumptions: the configuration without them
    """

    wanted: tuple[str, ...]
    values: Mapping[str, Value]
    assumptions: SchedulerSettings


def switch_name(name: str) -> str:
    """Name in :func:`switches` for a name or alias."""
    rows = (row for row in OPTIONS.values() if name in row.switches)
    return next((row.switches[0] for row in rows), name)


def az_is_always_on(release: int) -> bool:
    """Whether Nova always asks Placement for the zone's aggregates.

    Then its scheduler does not start if enabled_filters has AvailabilityZoneFilter.
    """
    return release >= OPTIONS[AZ_QUERY].until


def az_is_on(assumptions: SchedulerSettings) -> bool:
    """Whether Nova asks Placement for the zone's aggregates."""
    always = az_is_always_on(assumptions.release)
    return always or bool(assumptions.value(AZ_QUERY))


def has_filter(assumptions: SchedulerSettings, name: str) -> bool:
    """Whether a host filter is enabled."""
    return name in assumptions.items(ENABLED_FILTERS)


def switch(wanted: Iterable[str], assumptions: SchedulerSettings) -> Switched:
    """Options that turn on these switches.

    AvailabilityZoneFilter is removed with :data:`AZ`, and if the release lacks it.

    :raises BadUsage: if the release lacks an option
    """
    wanted = tuple(dict.fromkeys(wanted))
    always = az_is_always_on(assumptions.release)
    values: dict[str, Value] = {}
    needed = switches()
    for name in wanted:
        for option in needed[name]:
            if OPTIONS[option].is_in(assumptions.release):
                values[option] = True
            elif not (name == AZ and always):
                nova = f"{release(assumptions.release)}"
                raise BadUsage(f"{name}: {nova} has no {text.option(option)}")
    if always or AZ in wanted:
        values.update(_without_az_filter(assumptions))
    return Switched(wanted, values, assumptions)


def _without_az_filter(assumptions: SchedulerSettings) -> Mapping[str, Value]:
    filters = assumptions.items(ENABLED_FILTERS)
    if special.ZONE not in filters:
        return {}
    kept = tuple(each for each in filters if each != special.ZONE)
    return {ENABLED_FILTERS: kept}
