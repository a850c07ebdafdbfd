"""The options of nova.conf that weighers read, and how the best host is picked."""

from __future__ import annotations

from osc_traitsched.core.nova.option import Consumer, Kind, Option, Value

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
METRICS = "metrics.weight_multiplier"

#: What gives all weighers of Nova's own.
ALL_WEIGHERS = "nova.scheduler.weights.all_weighers"


def _option(
    name: str,
    kind: Kind,
    default: Value,
    since: int = 20,
    minimum: int | None = None,
    old_name: str = "",
) -> Option:
    """Return a row; an old name is one of [DEFAULT] that 24 does not read any more."""
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
    """Return a multiplier's row; some were options of [DEFAULT] by the same key."""
    old_name = name.rpartition(".")[2] if was_default else ""
    minimum = 0 if name in (PCI, SOFT_AFFINITY, SOFT_ANTI_AFFINITY) else None
    return _option(name, Kind.FLOAT, default, since, minimum, old_name)


# nova/conf/scheduler.py
FILTER_SCHEDULER_ROWS = (
    _option(
        WEIGHT_CLASSES,
        Kind.LIST,
        (ALL_WEIGHERS,),
        old_name="scheduler_weight_classes",
    ),
    _option(
        HOST_SUBSET_SIZE,
        Kind.INTEGER,
        1,
        minimum=1,
        old_name="scheduler_host_subset_size",
    ),
    _option(SHUFFLE, Kind.BOOLEAN, False),
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
    _option(IMAGE_SETTING, Kind.LIST, (), since=31),
)
METRICS_ROWS = (
    _multiplier(METRICS),
    _option(METRICS_REQUIRED, Kind.BOOLEAN, True),
    _option(METRICS_UNAVAILABLE, Kind.FLOAT, -10000.0),
)
