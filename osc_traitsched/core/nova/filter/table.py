"""All host filters by release, and what they say of hosts together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Mapping

from osc_traitsched.core.errors import FiltersNotInRelease
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import (
    aggregates,
    capabilities,
    compute,
    groups,
    state,
    values,
)
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
        aggregates.image_properties,
        options=(options.DEFAULT_ARCHITECTURE,),
        reads=(REPORT,),
        on_rebuild=True,
    ),
    HostFilter(
        "ServerGroupAntiAffinityFilter",
        groups.anti_affinity,
        reads=(HOST, INSTANCES),
    ),
    HostFilter("ServerGroupAffinityFilter", groups.affinity, reads=(HOST,)),
    HostFilter("SameHostFilter", same_host, reads=(INSTANCES,)),
    HostFilter("DifferentHostFilter", different_host, reads=(INSTANCES,)),
    HostFilter("SimpleCIDRAffinityFilter", simple_cidr, reads=(REPORT,)),
    HostFilter(
        "AggregateInstanceExtraSpecsFilter",
        aggregates.extra_specs,
        reads=(AGGREGATES,),
    ),
    HostFilter(
        "AggregateImagePropertiesIsolation",
        aggregates.isolation,
        options=(options.IMAGE_NAMESPACE, options.IMAGE_SEPARATOR),
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
            options.ISOLATED_IMAGES,
            options.ISOLATED_HOSTS,
            options.RESTRICT_ISOLATED_HOSTS,
        ),
        reads=(HOST,),
        on_rebuild=True,
    ),
    HostFilter(
        "IoOpsFilter",
        values.io_ops,
        options=(options.MAX_IO_OPS,),
        reads=(REPORT,),
    ),
    HostFilter(
        "AggregateIoOpsFilter",
        values.aggregate_io_ops,
        options=(options.MAX_IO_OPS,),
        reads=(REPORT, AGGREGATES),
    ),
    HostFilter(
        "NumInstancesFilter",
        values.num_instances,
        options=(options.MAX_INSTANCES,),
        reads=(REPORT,),
    ),
    HostFilter(
        "AggregateNumInstancesFilter",
        values.aggregate_num_instances,
        options=(options.MAX_INSTANCES,),
        reads=(REPORT, AGGREGATES),
    ),
    HostFilter("NUMATopologyFilter", compute.numa_topology, reads=(REPORT,)),
    HostFilter("PciPassthroughFilter", compute.pci_passthrough),
    HostFilter("JsonFilter", values.json_filter, reads=(HOST, REPORT)),
    HostFilter("MetricsFilter", state.metrics, options=(options.METRICS,)),
    HostFilter(
        "AvailabilityZoneFilter",
        aggregates.availability_zone,
        until=28,
        options=(options.DEFAULT_HOST_ZONE,),
        reads=(AGGREGATES,),
    ),
    HostFilter(
        "AggregateCoreFilter",
        compute.aggregate_core,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    HostFilter(
        "AggregateRamFilter",
        compute.aggregate_ram,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    HostFilter(
        "AggregateDiskFilter",
        compute.aggregate_disk,
        until=22,
        reads=(REPORT, AGGREGATES, RATIOS),
    ),
    HostFilter("RetryFilter", compute.retry, until=22),
)

#: All of them by their names.
FILTERS: Mapping[str, HostFilter] = {each.name: each for each in _ROWS}


# What the host filters that are on make of hosts: each of them of each host.


#: What is not visible of a filter that is none of Nova's.
OWN_FILTER = Unknown("own filter")


@dataclasses.dataclass(frozen=True)
class Judgment:
    """What each filter says of each host.

    :ivar names: the filters in the order of ``enabled_filters``, each once
    :ivar answers: for each filter's name those of the hosts, by the provider's UUID
    """

    names: tuple[str, ...]
    answers: Mapping[str, Mapping[str, Answer]]

    def of_host(self, uuid: str) -> Mapping[str, Answer]:
        """Return what each filter says of one host, in their order."""
        return {name: self.answers[name][uuid] for name in self.names}


def enabled(settings: SchedulerSettings) -> tuple[str, ...]:
    """Return the names of the filters that are on, in their order, each once.

    :raises FiltersNotInRelease: for those that the release does not have any more, and
        for paths: the list has the names of classes (nova/scheduler/host_manager.py,
        ``_choose_host_filters``)
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
    """Let every filter that is on judge every host, where Nova stops at the first no.

    :raises FiltersNotInRelease: as :func:`enabled`
    :raises Refusal: for what nova-api refuses, too
    """
    hosts, names = tuple(hosts), enabled(settings)
    answers = {name: _answers(name, hosts, spec, settings) for name in names}
    return Judgment(names, answers)


def judge(
    name: str, host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Return what one filter says of one host; nothing is visible of an own filter."""
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
    """Judge once what is alike in all that the filter reads."""
    known = FILTERS.get(name)
    answers: dict[str, Answer] = {}
    found: dict[Hashable, Answer] = {}
    for host in hosts:
        key = _alike(known, host)
        if key not in found:
            found[key] = judge(name, host, spec, settings)
        answers[host.compute.uuid] = found[key]
    return answers


def _alike(known: HostFilter | None, host: HostState) -> Hashable:
    """Return what hosts of the same answer have in common."""
    if known is None or not known.reads:
        return None
    if known.reads == (AGGREGATES,):
        return tuple(aggregate.uuid for aggregate in host.aggregates)
    return host.compute.uuid
