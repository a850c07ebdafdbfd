"""The options of nova.conf that host filters read: one row for each."""

from __future__ import annotations

from osc_traitsched.core.nova import architectures
from osc_traitsched.core.nova.option import Consumer, Kind, Option, Value

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
    kind: Kind,
    default: Value,
    minimum: int | None = None,
    choices: tuple[str, ...] = (),
    was_in_default: bool = True,
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
    )


# nova/conf/scheduler.py, and availability_zone.py beside it.
FILTER_SCHEDULER_ROWS = (
    _row(MAX_IO_OPS, Kind.INTEGER, 8, minimum=0),
    _row(MAX_INSTANCES, Kind.INTEGER, 50, minimum=1),
    _row(
        DEFAULT_ARCHITECTURE,
        Kind.STRING,
        None,
        choices=architectures.NAMES,
        was_in_default=False,
    ),
    _row(ISOLATED_IMAGES, Kind.LIST, ()),
    _row(ISOLATED_HOSTS, Kind.LIST, ()),
    _row(RESTRICT_ISOLATED_HOSTS, Kind.BOOLEAN, True),
    _row(IMAGE_NAMESPACE, Kind.STRING, None),
    _row(IMAGE_SEPARATOR, Kind.STRING, "."),
)
DEFAULT_ROWS = (_row(DEFAULT_HOST_ZONE, Kind.STRING, "nova", was_in_default=False),)
METRICS_ROWS = (_row(METRICS, Kind.LIST, (), was_in_default=False),)
