"""The options of nova.conf that decide where a server can go: one row for each."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.nova import filter_options, weigher_options
from osc_traitsched.core.nova.option import Consumer, Kind, Option
from osc_traitsched.core.releases import NEWEST

ISOLATION = "scheduler.enable_isolated_aggregate_filtering"
TENANT = "scheduler.limit_tenants_to_placement_aggregate"
TENANT_REQUIRED = "scheduler.placement_aggregate_required_for_tenants"
AZ_QUERY = "scheduler.query_placement_for_availability_zone"
IMAGE_TYPE = "scheduler.query_placement_for_image_type_support"
IMAGE_METADATA = "scheduler.image_metadata_prefilter"
ROUTED_NETWORKS = "scheduler.query_placement_for_routed_network_aggregates"
MAX_RESULTS = "scheduler.max_placement_results"
ENABLED_FILTERS = "filter_scheduler.enabled_filters"
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
    Option(ISOLATION, Kind.BOOLEAN, False, Consumer.PREFILTER),
    Option(TENANT, Kind.BOOLEAN, False, Consumer.PREFILTER),
    Option(TENANT_REQUIRED, Kind.BOOLEAN, False, Consumer.PREFILTER),
    Option(
        AZ_QUERY,
        Kind.BOOLEAN,
        False,
        Consumer.PREFILTER,
        changed_defaults=((24, True),),
        until=28,
    ),
    Option(IMAGE_TYPE, Kind.BOOLEAN, False, Consumer.PREFILTER),
    Option(IMAGE_METADATA, Kind.BOOLEAN, False, Consumer.PREFILTER, since=21),
    Option(ROUTED_NETWORKS, Kind.BOOLEAN, False, Consumer.PREFILTER, since=23),
    Option(MAX_RESULTS, Kind.INTEGER, 1000, Consumer.SCHEDULER, minimum=1),
    Option(
        ENABLED_FILTERS,
        Kind.LIST,
        ("AvailabilityZoneFilter", *_HOST_FILTERS),
        Consumer.FILTER,
        changed_defaults=((24, _HOST_FILTERS),),
        deprecated_names=(("DEFAULT.scheduler_default_filters", 24),),
    ),
    *filter_options.FILTER_SCHEDULER_ROWS,
    *weigher_options.FILTER_SCHEDULER_ROWS,
    Option(PCI_IN_PLACEMENT, Kind.BOOLEAN, False, Consumer.SCHEDULER, since=27),
    *filter_options.METRICS_ROWS,
    *weigher_options.METRICS_ROWS,
    Option(NO_PCPU_FALLBACK, Kind.BOOLEAN, False, Consumer.SCHEDULER),
    Option(SKIP_VERSION_CHECK, Kind.BOOLEAN, False, Consumer.MOVE, since=25),
    Option(DEFAULT_ZONE, Kind.STRING, None, Consumer.API),
    Option(RESIZE_TO_SAME_HOST, Kind.BOOLEAN, False, Consumer.MOVE),
    *filter_options.DEFAULT_ROWS,
    Option(CROSS_AZ_ATTACH, Kind.BOOLEAN, True, Consumer.API),
    Option(
        PCI_ALIAS,
        Kind.MULTI,
        (),
        Consumer.API,
        deprecated_names=(("DEFAULT.pci_alias", NEWEST + 1),),
    ),
    Option(
        COLLATION,
        Kind.STRING,
        Collation.CASE_INSENSITIVE.value,
        Consumer.DATABASE,
        choices=tuple(each.value for each in Collation),
        default_source="the default of MariaDB and MySQL",
    ),
)

#: All of them by their names, section by section.
OPTIONS: Mapping[str, Option] = {option.name: option for option in _ROWS}


def option_named(written: str) -> str | None:
    """Return the name of the option that a person means; case does not matter."""
    names = {name.lower(): name for name in OPTIONS}
    return names.get(written.strip().lower())


def options_in(release: int) -> tuple[Option, ...]:
    """Return the options that a release has, in the order of :data:`OPTIONS`."""
    return tuple(option for option in OPTIONS.values() if option.is_in(release))
