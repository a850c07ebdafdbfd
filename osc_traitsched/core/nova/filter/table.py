"""All host filters by release, and their answers for hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Mapping

from osc_traitsched.core.errors import FiltersNotInRelease
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import aggregates, compute, groups, state, values
from osc_traitsched.core.nova.filter import compute as capabilities
from osc_traitsched.core.nova.filter.groups import (
    REBUILD,
    REBUILD_HINT,
    different_host,
    same_host,
    simple_cidr,
)
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Answer,
    HostState,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.options import is_removed
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.releases import NEWEST, OLDEST

# Nova's host filters by their names, each with its releases and what it reads.


#: What a filter reads of a host.
AGGREGATES, REPORT, SERVICE, HOST = "aggregates", "report", "service", "host"
INSTANCES, RATIOS = "instances", "allocation_ratios"

Judge = Callable[[HostState, RequestSpec, SchedulerSettings], Answer]


@dataclasses.dataclass(frozen=True)
class NovaFilter:
    """A host filter of Nova.

    :ivar name: class, as in ``enabled_filters``
    :ivar judge: its answer for one host
    :ivar since: first release that has it
    :ivar until: first release that lacks it again
    :ivar options: of nova.conf that it reads
    :ivar reads: fields of a host state that it reads
    :ivar on_rebuild: it also runs for a rebuild with another image
    """

    name: str
    judge: Judge
    since: int = OLDEST
    until: int = NEWEST + 1
    options: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    on_rebuild: bool = False

    def is_in(self, release: int) -> bool:
        """Whether a release has the filter."""
        return self.since <= release < self.until


_ROWS = (
    NovaFilter("AllHostsFilter", compute.all_hosts),
    NovaFilter("ComputeFilter", compute.compute, reads=(SERVICE,)),
    NovaFilter(
        "ComputeCapabilitiesFilter",
        capabilities.compute_capabilities,
        reads=(HOST, REPORT),
    ),
    NovaFilter(
        "ImagePropertiesFilter",
        aggregates.image_properties,
        options=(options.DEFAULT_ARCHITECTURE,),
        reads=(REPORT,),
        on_rebuild=True,
    ),
    NovaFilter(
        "ServerGroupAntiAffinityFilter",
        groups.anti_affinity,
        reads=(HOST, INSTANCES),
    ),
    NovaFilter("ServerGroupAffinityFilter", groups.affinity, reads=(HOST,)),
    NovaFilter("SameHostFilter", same_host, reads=(INSTANCES,)),
    NovaFilter("DifferentHostFilter", different_host, reads=(INSTANCES,)),
    NovaFilter("SimpleCIDRAffinityFilter", simple_cidr, reads=(REPORT,)),
    NovaFilter(
        "AggregateInstanceExtraSpecsFilter",
        aggregates.extra_specs,
        reads=(AGGREGATES,),
    ),
    NovaFilter(
        "AggregateImagePropertiesIsolation",
        aggregates.isolation,
        options=(options.IMAGE_NAMESPACE, options.IMAGE_SEPARATOR),
        reads=(AGGREGATES,),
        on_rebuild=True,
    ),
    NovaFilter(
        "AggregateMultiTenancyIsolation",
        aggregates.multi_tenancy,
        reads=(AGGREGATES,),
    ),
    NovaFilter(
        "AggregateTypeAffinityFilter",
        aggregates.type_affinity,
        reads=(AGGREGATES,),
    ),
    NovaFilter(
        "IsolatedHostsFilter",
        compute.isolated_hosts,
        options=(
            options.ISOLATED_IMAGES,
            options.ISOLATED_HOSTS,
            options.RESTRICT_ISOLATED_HOSTS,
        ),
        reads=(HOST,),
        on_rebuild=True,
    ),
    NovaFilter(
        "IoOpsFilter",
        values.io_ops,
        options=(options.MAX_IO_OPS,),
        reads=(REPORT,),
    ),
    NovaFilter(
        "AggregateIoOpsFilter",
        values.aggregate_io_ops,
        options=(options.MAX_IO_OPS,),
        reads=(REPORT, AGGREGATES),
    ),
    NovaFilter(
        "NumInstancesFilter",
        values.num_instances,
        options=(options.MAX_INSTANCES,),
        reads=(REPORT,),
    ),
    NovaFilter(
        "AggregateNumInstancesFilter",
        values.aggregate_num_instances,
        options=(options.MAX_INSTANCES,),
        reads=(REPORT, AGGREGATES),
    ),
    NovaFilter("NUMATopologyFilter", compute.numa_topology, reads=(REPORT,)),
    NovaFilter("PciPassthroughFilter", compute.pci_passthrough),
    NovaFilter("JsonFilter", values.json_filter, reads=(HOST, REPORT)),
    NovaFilter("MetricsFilter", state.metrics, options=(options.METRICS,)),
    NovaFilter(
        "AvailabilityZoneFilter",
        aggregates.availability_zone,
        until=28,
        options=(options.DEFAULT_HOST_ZONE,),
        reads=(AGGREGATES,),
    ),
    NovaFilter(
        "AggregateCoreFilter",
        compute.aggregate_core,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    NovaFilter(
        "AggregateRamFilter",
        compute.aggregate_ram,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    NovaFilter(
        "AggregateDiskFilter",
        compute.aggregate_disk,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    NovaFilter("RetryFilter", compute.retry, until=22),
)

#: All of them by their names.
FILTERS: Mapping[str, NovaFilter] = {each.name: each for each in _ROWS}


# What the host filters that are on make of hosts: each of them of each host.


#: What is not visible of a filter that is none of Nova's.
OWN_FILTER = Unknown("own filter")


@dataclasses.dataclass(frozen=True)
class Judgment:
    """Answers of filters.

    :ivar names: filters in the order of ``enabled_filters``, unique
    :ivar answers: by filter and provider UUID
    """

    names: tuple[str, ...]
    answers: Mapping[str, Mapping[str, Answer]]

    def of_host(self, uuid: str) -> Mapping[str, Answer]:
        """Answers of all filters for one host, in order."""
        return {name: self.answers[name][uuid] for name in self.names}


def enabled(settings: SchedulerSettings) -> tuple[str, ...]:
    """Enabled filters in order, unique.

    :raises FiltersNotInRelease: for removed filters, and for paths, since the option
        takes class names (nova/scheduler/host_manager.py, ``_choose_host_filters``)
    """
    setting = settings.setting(options.ENABLED_FILTERS)
    value = setting.value
    names = tuple(dict.fromkeys(value)) if isinstance(value, tuple) else ()
    gone = tuple(name for name in names if _is_missing(name, settings.release))
    if gone:
        raise FiltersNotInRelease(gone, settings.release, setting.source)
    return names


def _is_missing(name: str, release: int) -> bool:
    known = FILTERS.get(name)
    is_gone = known is not None and not known.is_in(release)
    return "." in name or is_gone or is_removed(name, release)


def judge_all(
    hosts: Iterable[HostState], spec: RequestSpec, settings: SchedulerSettings
) -> Judgment:
    """Answers of every enabled filter for every host; Nova stops at the first failure.

    :raises FiltersNotInRelease: see :func:`enabled`
    :raises Refusal: for requests that nova-api rejects
    """
    hosts, names = tuple(hosts), enabled(settings)
    answers = {name: _answers(name, hosts, spec, settings) for name in names}
    return Judgment(names, answers)


def judge(
    name: str, host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Answer of one filter for one host; unknown for an operator's own filter."""
    known = FILTERS.get(name)
    if known is None:
        return OWN_FILTER
    if spec.hints.get(REBUILD_HINT) == REBUILD and not known.on_rebuild:
        return PASSES
    return known.judge(host, spec, settings)


def _answers(
    name: str,
    hosts: Iterable[HostState],
    spec: RequestSpec,
    settings: SchedulerSettings,
) -> Mapping[str, Answer]:
    """Judge hosts once if they are equal in all that the filter reads."""
    known = FILTERS.get(name)
    answers: dict[str, Answer] = {}
    found: dict[Hashable, Answer] = {}
    for host in hosts:
        key = _alike(known, host)
        if key not in found:
            found[key] = judge(name, host, spec, settings)
        answers[host.compute.uuid] = found[key]
    return answers


def _alike(known: NovaFilter | None, host: HostState) -> Hashable:
    if known is None or not known.reads:
        return None
    if known.reads == (AGGREGATES,):
        return tuple(aggregate.uuid for aggregate in host.aggregates)
    return host.compute.uuid
