"""Options of nova.conf that affect scheduling, by release."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Mapping
from typing import Union

from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.names import near_names
from osc_traitsched.core.releases import NEWEST, OLDEST
from osc_traitsched.core.releases import release as release_name
from osc_traitsched.text import did_you_mean, option

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


class Consumer(enum.Enum):
    """Part of Nova that reads an option.

    Filters and weighers run after Placement's answer. nova-api and nova-conductor read
    theirs for moves only. All others shape the request to Placement.
    """

    API = "nova-api"
    PREFILTER = "prefilter"
    DATABASE = "database"
    SCHEDULER = "nova-scheduler"
    FILTER = "filter"
    WEIGHER = "weigher"
    MOVE = "moves"


@dataclasses.dataclass(frozen=True)
class Option:
    """An option of nova.conf, as Nova's releases register it.

    :ivar name: ``section.key``; without a section it is not an option of Nova
    :ivar default: value if unset
    :ivar changed_defaults: releases and values of later defaults, oldest first
    :ivar since: first release that has it
    :ivar until: first release that lacks it again
    :ivar minimum: lowest number that Nova accepts
    :ivar choices: strings that Nova accepts; empty for any
    :ivar deprecated_names: other names, with the first release that ignores each
    :ivar default_source: origin of the default, in one line; empty for Nova itself
    :ivar is_read_elsewhere: a host filter reads it, and so does nova-api or a weigher
    """

    name: str
    kind: OptionType
    default: Value
    consumer: Consumer
    changed_defaults: tuple[tuple[int, Value], ...] = ()
    since: int = OLDEST
    until: int = NEWEST + 1
    minimum: int | None = None
    choices: tuple[str, ...] = ()
    deprecated_names: tuple[tuple[str, int], ...] = ()
    default_source: str = ""
    is_read_elsewhere: bool = False

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


# The options of nova.conf that host filters read: one row for each.


MAX_IO_OPS = "filter_scheduler.max_io_ops_per_host"
MAX_INSTANCES = "filter_scheduler.max_instances_per_host"
DEFAULT_ARCHITECTURE = "filter_scheduler.image_properties_default_architecture"
ISOLATED_IMAGES = "filter_scheduler.isolated_images"
ISOLATED_HOSTS = "filter_scheduler.isolated_hosts"
RESTRICT_ISOLATED_HOSTS = "filter_scheduler.restrict_isolated_hosts_to_isolated_images"
IMAGE_NAMESPACE = "filter_scheduler.aggregate_image_properties_isolation_namespace"
IMAGE_SEPARATOR = "filter_scheduler.aggregate_image_properties_isolation_separator"
METRICS = "metrics.weight_setting"
DEFAULT_HOST_ZONE = "DEFAULT.default_availability_zone"

#: The first release that does not read them in [DEFAULT] any more.
_MOVED = 24


def _row(
    name: str,
    kind: OptionType,
    default: Value,
    minimum: int | None = None,
    choices: tuple[str, ...] = (),
    was_in_default: bool = True,
    is_read_elsewhere: bool = False,
) -> Option:
    old = f"DEFAULT.{name.rpartition('.')[2]}"
    return Option(
        name,
        kind,
        default,
        Consumer.FILTER,
        minimum=minimum,
        choices=choices,
        deprecated_names=((old, _MOVED),) if was_in_default else (),
        is_read_elsewhere=is_read_elsewhere,
    )


# nova/conf/scheduler.py, and availability_zone.py beside it.
FILTER_SCHEDULER_ROWS = (
    _row(MAX_IO_OPS, OptionType.INTEGER, 8, minimum=0),
    _row(MAX_INSTANCES, OptionType.INTEGER, 50, minimum=1),
    _row(
        DEFAULT_ARCHITECTURE,
        OptionType.STRING,
        None,
        choices=ARCHITECTURES,
        was_in_default=False,
    ),
    _row(ISOLATED_IMAGES, OptionType.LIST, ()),
    _row(ISOLATED_HOSTS, OptionType.LIST, ()),
    _row(RESTRICT_ISOLATED_HOSTS, OptionType.BOOLEAN, True),
    _row(IMAGE_NAMESPACE, OptionType.STRING, None),
    _row(IMAGE_SEPARATOR, OptionType.STRING, "."),
)
DEFAULT_ROWS = (
    _row(
        DEFAULT_HOST_ZONE,
        OptionType.STRING,
        "nova",
        was_in_default=False,
        is_read_elsewhere=True,
    ),
)
METRICS_ROWS = (
    _row(METRICS, OptionType.LIST, (), was_in_default=False, is_read_elsewhere=True),
)


# The options of nova.conf that weighers read, and how the best host is picked.


WEIGHT_CLASSES = "filter_scheduler.weight_classes"
HOST_SUBSET_SIZE = "filter_scheduler.host_subset_size"
SHUFFLE = "filter_scheduler.shuffle_best_same_weighed_hosts"
IMAGE_SETTING = "filter_scheduler.image_props_weight_setting"
METRICS_REQUIRED = "metrics.required"
METRICS_UNAVAILABLE = "metrics.weight_of_unavailable"

RAM = "filter_scheduler.ram_weight_multiplier"
CPU = "filter_scheduler.cpu_weight_multiplier"
DISK = "filter_scheduler.disk_weight_multiplier"
IO_OPS = "filter_scheduler.io_ops_weight_multiplier"
PCI = "filter_scheduler.pci_weight_multiplier"
SOFT_AFFINITY = "filter_scheduler.soft_affinity_weight_multiplier"
SOFT_ANTI_AFFINITY = "filter_scheduler.soft_anti_affinity_weight_multiplier"
BUILD_FAILURE = "filter_scheduler.build_failure_weight_multiplier"
CROSS_CELL = "filter_scheduler.cross_cell_move_weight_multiplier"
HYPERVISOR_VERSION = "filter_scheduler.hypervisor_version_weight_multiplier"
NUM_INSTANCES = "filter_scheduler.num_instances_weight_multiplier"
IMAGE_PROPERTIES = "filter_scheduler.image_props_weight_multiplier"
WEIGHER_METRICS = "metrics.weight_multiplier"

#: A function that returns all of Nova's own host filters, and one for weighers.
ALL_FILTERS = "nova.scheduler.filters.all_filters"
ALL_WEIGHERS = "nova.scheduler.weights.all_weighers"


def _option(
    name: str,
    kind: OptionType,
    default: Value,
    since: int = 20,
    minimum: int | None = None,
    old_name: str = "",
) -> Option:
    old = ((f"DEFAULT.{old_name}", 24),) if old_name else ()
    return Option(
        name,
        kind,
        default,
        Consumer.WEIGHER,
        since=since,
        minimum=minimum,
        deprecated_names=old,
    )


def _multiplier(
    name: str, default: float = 1.0, since: int = 20, was_default: bool = False
) -> Option:
    old_name = name.rpartition(".")[2] if was_default else ""
    minimum = 0 if name in (PCI, SOFT_AFFINITY, SOFT_ANTI_AFFINITY) else None
    return _option(name, OptionType.FLOAT, default, since, minimum, old_name)


# nova/conf/scheduler.py
WEIGHER_ROWS = (
    _option(
        WEIGHT_CLASSES,
        OptionType.LIST,
        (ALL_WEIGHERS,),
        old_name="scheduler_weight_classes",
    ),
    _option(
        HOST_SUBSET_SIZE,
        OptionType.INTEGER,
        1,
        minimum=1,
        old_name="scheduler_host_subset_size",
    ),
    _option(SHUFFLE, OptionType.BOOLEAN, False),
    _multiplier(RAM, was_default=True),
    _multiplier(CPU),
    _multiplier(DISK, was_default=True),
    _multiplier(IO_OPS, -1.0, was_default=True),
    _multiplier(PCI),
    _multiplier(SOFT_AFFINITY, was_default=True),
    _multiplier(SOFT_ANTI_AFFINITY, was_default=True),
    _multiplier(BUILD_FAILURE, 1000000.0),
    _multiplier(CROSS_CELL, 1000000.0, since=21),
    _multiplier(HYPERVISOR_VERSION, since=28),
    _multiplier(NUM_INSTANCES, 0.0, since=28),
    _multiplier(IMAGE_PROPERTIES, 0.0, since=31),
    _option(IMAGE_SETTING, OptionType.LIST, (), since=31),
)
WEIGHER_METRICS_ROWS = (
    _multiplier(WEIGHER_METRICS),
    _option(METRICS_REQUIRED, OptionType.BOOLEAN, True),
    _option(METRICS_UNAVAILABLE, OptionType.FLOAT, -10000.0),
)


# The options of nova.conf that decide where a server can go: one row for each.


ISOLATION = "scheduler.enable_isolated_aggregate_filtering"
TENANT = "scheduler.limit_tenants_to_placement_aggregate"
TENANT_REQUIRED = "scheduler.placement_aggregate_required_for_tenants"
AZ_QUERY = "scheduler.query_placement_for_availability_zone"
IMAGE_TYPE = "scheduler.query_placement_for_image_type_support"
IMAGE_METADATA = "scheduler.image_metadata_prefilter"
ROUTED_NETWORKS = "scheduler.query_placement_for_routed_network_aggregates"
MAX_RESULTS = "scheduler.max_placement_results"
ENABLED_FILTERS = "filter_scheduler.enabled_filters"
AVAILABLE_FILTERS = "filter_scheduler.available_filters"
PCI_IN_PLACEMENT = "filter_scheduler.pci_in_placement"
NO_PCPU_FALLBACK = "workarounds.disable_fallback_pcpu_query"
DEFAULT_ZONE = "DEFAULT.default_schedule_zone"
RESIZE_TO_SAME_HOST = "DEFAULT.allow_resize_to_same_host"
SKIP_VERSION_CHECK = "workarounds.skip_hypervisor_version_check_on_lm"
CROSS_AZ_ATTACH = "cinder.cross_az_attach"
PCI_ALIAS = "pci.alias"
COLLATION = "database_collation"

_HOST_FILTERS = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
)

# nova/conf/scheduler.py; for the last sections workarounds.py, availability_zone.py
# compute.py, cinder.py and pci.py beside it.
_ROWS = (
    Option(ISOLATION, OptionType.BOOLEAN, False, Consumer.PREFILTER),
    Option(TENANT, OptionType.BOOLEAN, False, Consumer.PREFILTER),
    Option(TENANT_REQUIRED, OptionType.BOOLEAN, False, Consumer.PREFILTER),
    Option(
        AZ_QUERY,
        OptionType.BOOLEAN,
        False,
        Consumer.PREFILTER,
        changed_defaults=((24, True),),
        until=28,
    ),
    Option(IMAGE_TYPE, OptionType.BOOLEAN, False, Consumer.PREFILTER),
    Option(IMAGE_METADATA, OptionType.BOOLEAN, False, Consumer.PREFILTER, since=21),
    Option(ROUTED_NETWORKS, OptionType.BOOLEAN, False, Consumer.PREFILTER, since=23),
    Option(MAX_RESULTS, OptionType.INTEGER, 1000, Consumer.SCHEDULER, minimum=1),
    Option(
        ENABLED_FILTERS,
        OptionType.LIST,
        ("AvailabilityZoneFilter", *_HOST_FILTERS),
        Consumer.FILTER,
        changed_defaults=((24, _HOST_FILTERS),),
        deprecated_names=(("DEFAULT.scheduler_default_filters", 24),),
    ),
    Option(
        AVAILABLE_FILTERS,
        OptionType.MULTI,
        (ALL_FILTERS,),
        Consumer.FILTER,
        deprecated_names=(("DEFAULT.scheduler_available_filters", 24),),
    ),
    *FILTER_SCHEDULER_ROWS,
    *WEIGHER_ROWS,
    Option(PCI_IN_PLACEMENT, OptionType.BOOLEAN, False, Consumer.SCHEDULER, since=27),
    *METRICS_ROWS,
    *WEIGHER_METRICS_ROWS,
    Option(NO_PCPU_FALLBACK, OptionType.BOOLEAN, False, Consumer.SCHEDULER),
    Option(SKIP_VERSION_CHECK, OptionType.BOOLEAN, False, Consumer.MOVE, since=25),
    Option(DEFAULT_ZONE, OptionType.STRING, None, Consumer.API),
    Option(RESIZE_TO_SAME_HOST, OptionType.BOOLEAN, False, Consumer.MOVE),
    *DEFAULT_ROWS,
    Option(CROSS_AZ_ATTACH, OptionType.BOOLEAN, True, Consumer.API),
    Option(
        PCI_ALIAS,
        OptionType.MULTI,
        (),
        Consumer.API,
        deprecated_names=(("DEFAULT.pci_alias", NEWEST + 1),),
    ),
    Option(
        COLLATION,
        OptionType.STRING,
        Collation.CASE_INSENSITIVE.value,
        Consumer.DATABASE,
        choices=tuple(each.value for each in Collation),
        default_source="the default of MariaDB and MySQL",
    ),
)

#: Sections in which a misspelled option is looked for.
_MISSPELLED_IN = frozenset({"DEFAULT", "scheduler", "filter_scheduler"})

#: Nova's other options there (nova/conf/scheduler.py), with the first release that
#: lacks each.
_OTHERS: Mapping[str, int] = {
    "scheduler.discover_hosts_in_cells_interval": NEWEST + 1,
    "scheduler.max_attempts": NEWEST + 1,
    "scheduler.workers": NEWEST + 1,
    "filter_scheduler.track_instance_changes": NEWEST + 1,
    "scheduler.driver": 23,
    "scheduler.periodic_task_interval": 23,
    "scheduler.host_manager": OLDEST,
    "filter_scheduler.baremetal_enabled_filters": OLDEST,
    "filter_scheduler.use_baremetal_filters": OLDEST,
}

#: Names that guides invent have these words; the first that is in a name decides.
_MEANT_BY_WORD: Mapping[str, str] = {
    "isolated_hosts": ISOLATED_HOSTS,
    "isolated_images": ISOLATED_IMAGES,
    "image_type": IMAGE_TYPE,
    "disk_format": IMAGE_TYPE,
    "image_meta": IMAGE_METADATA,
    "image_prop": IMAGE_METADATA,
    "routed": ROUTED_NETWORKS,
    "isolat": ISOLATION,
    "tenant": TENANT,
    "project": TENANT,
    "zone": AZ_QUERY,
    "_az": AZ_QUERY,
    "pci_alias": PCI_ALIAS,
    "filters": ENABLED_FILTERS,
    "weigher": WEIGHT_CLASSES,
    "shuffle": SHUFFLE,
    "subset": HOST_SUBSET_SIZE,
}
_OF_COMPUTE = re.compile("(cpu|ram|disk)_allocation_ratio|reserved_host_")
_MULTIPLIER, _NEAR = "_weight_multiplier", 0.85

#: All of them by their names, section by section.
OPTIONS: Mapping[str, Option] = {option.name: option for option in _ROWS}


def option_name(written: str) -> str | None:
    """Name of an option, from a spelling in any case; None if unknown."""
    names = {name.lower(): name for name in OPTIONS}
    return names.get(written.strip().lower())


@dataclasses.dataclass(frozen=True)
class NoEffect:
    """A line of a file that sets nothing here.

    :ivar name: as written, such as ``section.key``
    :ivar source: file and line
    :ivar meant: the option of :data:`OPTIONS` that it should set; None for no option
    :ivar reason: empty if the option has another name or section
    :ivar nearest: options with a similar name
    :ivar is_unread: Nova may read the line, so the option is unknown
    """

    name: str
    source: str
    meant: str | None
    reason: str = ""
    nearest: tuple[str, ...] = ()
    is_unread: bool = False

    @property
    def fix(self) -> str:
        """What to do about it, in words."""
        if self.is_unread and self.meant:
            return f"give its value: --set {self.meant}=VALUE"
        if self.meant:
            return f"set {option(self.meant)} instead"
        return f"take it out{did_you_mean(tuple(map(option, self.nearest)))}"


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
    """The option that a deployment tool's own name stands for.

    Such as ``nova::api::pci_alias``, ``NovaSchedulerHostSubsetSize`` or
    ``scheduler-default-filters``: its end is the option's name.
    """
    plain = re.sub("[^a-z0-9]", "", name.lower())
    ends = (end for end in sorted(_ENDS, key=len, reverse=True) if plain.endswith(end))
    return next((_ENDS[end] for end in ends), None)


def unread(section: str, key: str, release: int, source: str) -> NoEffect | None:
    """Why a release of Nova does not read a line; None if it may read it.

    An option stands in another section, has lost an old name, is misspelled, or is
    invented. Unknown names are reported in [scheduler] and [filter_scheduler] alone.
    """
    name = f"{section}.{key}"
    ours = [each for each in OPTIONS.values() if each.section]
    by_name = {each: o for o in ours for each in o.names_in(release)}
    if name in by_name or name in OPTIONS or release < _OTHERS.get(name, 0):
        return None
    by_key = {each.rpartition(".")[2]: o for each, o in by_name.items()}
    for own in ours:
        old = (each for each, until in own.deprecated_names if release >= until)
        by_key.update((each.rpartition(".")[2], own) for each in old)
    if key in by_key and "_" in key:
        return NoEffect(name, source, by_key[key].name)
    if section not in _MISSPELLED_IN:
        return None
    stems = {
        each.replace(_MULTIPLIER, ""): o.name
        for each, o in by_key.items()
        if o.section != "DEFAULT" and "_" in each
    }
    near = near_names(key.replace(_MULTIPLIER, ""), stems, _NEAR)
    if not near and section == "DEFAULT":
        return None
    words = () if key.endswith(_MULTIPLIER) else _MEANT_BY_WORD
    invented = [_MEANT_BY_WORD[word] for word in words if word in key]
    meant = stems[near[0]] if near else next(iter(invented), None)
    if meant and OPTIONS[meant].is_in(release) and name not in _OTHERS:
        return NoEffect(name, source, meant)
    if _OF_COMPUTE.search(key):
        return NoEffect(name, source, None, "only nova-compute reads it, in [DEFAULT]")
    nearest = tuple(stems[each] for each in near_names(key, stems)[:1])
    reason = f"Nova {release_name(release)} has no such option"
    return NoEffect(name, source, None, reason, nearest)


def options_in(release: int) -> tuple[Option, ...]:
    """Options of a release, in the order of :data:`OPTIONS`."""
    return tuple(option for option in OPTIONS.values() if option.is_in(release))
