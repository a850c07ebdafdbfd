"""Nova's host filters by their names, each with its releases and what it reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from osc_traitsched.core.nova import filter_options
from osc_traitsched.core.nova.filter import (
    aggregates,
    capabilities,
    capacity,
    compute,
    groups,
    hints,
    image,
    json_query,
    numa,
    numbers,
    weighed_metrics,
)
from osc_traitsched.core.nova.filter.answer import Answer
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.releases import NEWEST, OLDEST

#: What a filter reads of a host.
AGGREGATES, REPORT, SERVICE, HOST = "aggregates", "report", "service", "host"
INSTANCES, RATIOS = "instances", "allocation_ratios"

Judge = Callable[[HostState, RequestSpec, SchedulerSettings], Answer]


@dataclasses.dataclass(frozen=True)
class HostFilter:
    """A host filter of Nova's.

    :ivar name: its class, as ``enabled_filters`` names it
    :ivar judge: what it makes of one host
    :ivar since: the first release that has it
    :ivar until: the first release that does not have it any more
    :ivar options: those of nova.conf that it reads, by their names
    :ivar reads: what it reads of a host's state
    :ivar on_rebuild: it judges a rebuild with another image, too
    """

    name: str
    judge: Judge
    since: int = OLDEST
    until: int = NEWEST + 1
    options: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    on_rebuild: bool = False

    def is_in(self, release: int) -> bool:
        """Tell whether a release has the filter."""
        return self.since <= release < self.until


_ROWS = (
    HostFilter("AllHostsFilter", compute.all_hosts),
    HostFilter("ComputeFilter", compute.compute, reads=(SERVICE,)),
    HostFilter(
        "ComputeCapabilitiesFilter",
        capabilities.compute_capabilities,
        reads=(HOST, REPORT),
    ),
    HostFilter(
        "ImagePropertiesFilter",
        image.image_properties,
        options=(filter_options.DEFAULT_ARCHITECTURE,),
        reads=(REPORT,),
        on_rebuild=True,
    ),
    HostFilter(
        "ServerGroupAntiAffinityFilter",
        groups.anti_affinity,
        reads=(HOST, INSTANCES),
    ),
    HostFilter("ServerGroupAffinityFilter", groups.affinity, reads=(HOST,)),
    HostFilter("SameHostFilter", hints.same_host, reads=(INSTANCES,)),
    HostFilter("DifferentHostFilter", hints.different_host, reads=(INSTANCES,)),
    HostFilter("SimpleCIDRAffinityFilter", hints.simple_cidr, reads=(REPORT,)),
    HostFilter(
        "AggregateInstanceExtraSpecsFilter",
        aggregates.extra_specs,
        reads=(AGGREGATES,),
    ),
    HostFilter(
        "AggregateImagePropertiesIsolation",
        image.isolation,
        options=(filter_options.IMAGE_NAMESPACE, filter_options.IMAGE_SEPARATOR),
        reads=(AGGREGATES,),
        on_rebuild=True,
    ),
    HostFilter(
        "AggregateMultiTenancyIsolation",
        aggregates.multi_tenancy,
        reads=(AGGREGATES,),
    ),
    HostFilter(
        "AggregateTypeAffinityFilter",
        aggregates.type_affinity,
        reads=(AGGREGATES,),
    ),
    HostFilter(
        "IsolatedHostsFilter",
        compute.isolated_hosts,
        options=(
            filter_options.ISOLATED_IMAGES,
            filter_options.ISOLATED_HOSTS,
            filter_options.RESTRICT_ISOLATED_HOSTS,
        ),
        reads=(HOST,),
        on_rebuild=True,
    ),
    HostFilter(
        "IoOpsFilter",
        numbers.io_ops,
        options=(filter_options.MAX_IO_OPS,),
        reads=(REPORT,),
    ),
    HostFilter(
        "AggregateIoOpsFilter",
        numbers.aggregate_io_ops,
        options=(filter_options.MAX_IO_OPS,),
        reads=(REPORT, AGGREGATES),
    ),
    HostFilter(
        "NumInstancesFilter",
        numbers.num_instances,
        options=(filter_options.MAX_INSTANCES,),
        reads=(REPORT,),
    ),
    HostFilter(
        "AggregateNumInstancesFilter",
        numbers.aggregate_num_instances,
        options=(filter_options.MAX_INSTANCES,),
        reads=(REPORT, AGGREGATES),
    ),
    HostFilter("NUMATopologyFilter", numa.numa_topology, reads=(REPORT,)),
    HostFilter("PciPassthroughFilter", numa.pci_passthrough),
    HostFilter("JsonFilter", json_query.json_filter, reads=(HOST, REPORT)),
    HostFilter(
        "MetricsFilter", weighed_metrics.metrics, options=(filter_options.METRICS,)
    ),
    HostFilter(
        "AvailabilityZoneFilter",
        aggregates.availability_zone,
        until=28,
        options=(filter_options.DEFAULT_HOST_ZONE,),
        reads=(AGGREGATES,),
    ),
    HostFilter(
        "AggregateCoreFilter",
        capacity.aggregate_core,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    HostFilter(
        "AggregateRamFilter",
        capacity.aggregate_ram,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    HostFilter(
        "AggregateDiskFilter",
        capacity.aggregate_disk,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    HostFilter("RetryFilter", compute.retry, until=22),
)

#: All of them by their names.
FILTERS: Mapping[str, HostFilter] = {each.name: each for each in _ROWS}
