"""The filters that count what is on a host, and what an aggregate's metadata allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from osc_traitsched.core.nova import filter_options, options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Fails, Unknown
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings

Number = TypeVar("Number", int, float)

MAX_IO_OPS, MAX_INSTANCES = "max_io_ops_per_host", "max_instances_per_host"

#: For each of these filters its option, and the aggregate's key where it has one.
_COUNTING = {
    "NumInstancesFilter": (filter_options.MAX_INSTANCES, MAX_INSTANCES),
    "AggregateNumInstancesFilter": (filter_options.MAX_INSTANCES, MAX_INSTANCES),
    "IoOpsFilter": (filter_options.MAX_IO_OPS, MAX_IO_OPS),
    "AggregateIoOpsFilter": (filter_options.MAX_IO_OPS, MAX_IO_OPS),
}


def num_instances(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want fewer servers on the host than the option allows.

    nova/scheduler/filters/num_instances_filter.py, ``NumInstancesFilter``
    """
    return _few_servers(host, *_by_option(settings, filter_options.MAX_INSTANCES))


def aggregate_num_instances(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want fewer servers on the host than its aggregates allow, or else the option.

    nova/scheduler/filters/num_instances_filter.py, ``AggregateNumInstancesFilter``
    """
    limit = _by_aggregates(host, MAX_INSTANCES)
    return _few_servers(
        host, *(limit or _by_option(settings, filter_options.MAX_INSTANCES))
    )


def io_ops(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Want fewer servers being built, resized and so on than the option allows.

    nova/scheduler/filters/io_ops_filter.py, ``IoOpsFilter``
    """
    return _few_io_ops(host, *_by_option(settings, filter_options.MAX_IO_OPS))


def aggregate_io_ops(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want fewer of them than the host's aggregates allow, or else the option.

    nova/scheduler/filters/io_ops_filter.py, ``AggregateIoOpsFilter``
    """
    limit = _by_aggregates(host, MAX_IO_OPS)
    return _few_io_ops(
        host, *(limit or _by_option(settings, filter_options.MAX_IO_OPS))
    )


def most_io_ops(host: HostState) -> int | None:
    """Return how high ``num_io_ops`` of a host can be; None if it has not reported.

    It counts servers that are being built, of which the newest have no task yet, and
    those with one of some tasks. A server that has been built goes on counting until
    the host next counts all of its servers, as it goes on being one of
    ``Compute.builds``. So whatever counts has a task in the report, or is one of these.

    nova/compute/stats.py, ``Stats.io_workload``
    """
    report, builds = host.compute.report, host.compute.builds
    if report is None:
        return None
    if builds is None:
        return report.running_vms
    return min(report.running_vms, report.current_workload + builds)


def needs_builds(hosts: Iterable[HostState], settings: SchedulerSettings) -> bool:
    """Tell whether ``Compute.builds`` may show that a filter that is on passes a host.

    :param hosts: without it
    """
    limits = [
        (report, limit)
        for host in hosts
        for key, limit in _limits(host, settings)
        if key == MAX_IO_OPS and (report := host.compute.report) is not None
    ]
    return any(r.current_workload < limit <= r.running_vms for r, limit in limits)


def servers_left(
    host: HostState, settings: SchedulerSettings
) -> tuple[int | None, int | None]:
    """Return how many more servers the filters that count let onto a host.

    At least and at most, None for any number. Each new server is a task, too, and how
    many tasks of a host count, no API shows (nova/scheduler/host_manager.py,
    ``HostState.consume_from_request``).
    """
    least: list[int] = []
    most: list[int] = []
    for key, limit in _limits(host, settings):
        report, io_ops = host.compute.report, most_io_ops(host)
        if report is None or io_ops is None:
            least.append(0)
            most.append(limit)
        elif key == MAX_IO_OPS:
            least.append(limit - io_ops)
            most.append(limit)
        else:
            least.append(limit - report.running_vms)
            most.append(limit - report.running_vms)
    return min(least, default=None), min(most, default=None)


def _limits(host: HostState, settings: SchedulerSettings) -> Iterator[tuple[str, int]]:
    """Yield what each filter that is on counts, as the key, and its limit."""
    on = settings.value(options.ENABLED_FILTERS)
    for name, (option, key) in _COUNTING.items():
        if isinstance(on, tuple) and name in on:
            own = _by_aggregates(host, key) if name.startswith("Aggregate") else None
            limit, _ = own or _by_option(settings, option)
            yield key, limit


def _few_servers(host: HostState, limit: int, origin: Origin) -> Answer:
    report = host.compute.report
    if report is None:
        return Unknown("num_instances", origin.key)
    if report.running_vms < limit:
        return PASSES
    count = (str(report.running_vms),)
    return Fails(reasons.AT_LIMIT, origin.key, str(limit), count, origin)


def _few_io_ops(host: HostState, limit: int, origin: Origin) -> Answer:
    """Judge by how many can count at most; how many do, no API shows."""
    if limit <= 0:
        return Fails(reasons.AT_LIMIT, origin.key, str(limit), origin=origin)
    most = most_io_ops(host)
    if most is None:
        return Unknown("num_io_ops", origin.key)
    if most < limit:
        return PASSES
    return Unknown("num_io_ops", origin.key, f"{most} at most")


def _by_option(settings: SchedulerSettings, option: str) -> tuple[int, Origin]:
    value = settings.value(option)
    return (value if isinstance(value, int) else 0), Origin("option", option)


def _by_aggregates(host: HostState, key: str) -> tuple[int, Origin] | None:
    return lowest(host, key, int)


def is_number(key: str, value: str) -> bool:
    """Tell whether a filter can read an aggregate's limit or ratio."""
    try:
        int(value) if key in (MAX_IO_OPS, MAX_INSTANCES) else float(value)
    except ValueError:
        return False
    return True


def lowest(
    host: HostState, key: str, read: Callable[[str], Number]
) -> tuple[Number, Origin] | None:
    """Return the lowest value that the host's aggregates have for a key, and whose.

    None where none has it, or one is no number: then what is set for all counts.

    nova/scheduler/filters/utils.py, ``validate_num_values``
    """
    having = [each for each in host.aggregates if key in each.metadata]
    try:
        values = [(read(each.metadata[key]), each) for each in having]
    except ValueError:
        return None
    if not values:
        return None
    value, aggregate = min(values, key=lambda each: each[0])
    return value, aggregate.origin(key)
