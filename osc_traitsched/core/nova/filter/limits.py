"""How many more servers the counting host filters allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import HostState
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.filter.values import (
    MAX_IO_OPS,
    by_option,
    lowest,
    most_io_ops,
)
from osc_traitsched.core.nova.settings import SchedulerSettings


def needs_builds(hosts: Iterable[HostState], settings: SchedulerSettings) -> bool:
    """Whether ``Compute.builds`` could prove that an enabled filter passes a host."""
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
    """How many more servers the counting filters allow on a host: at least, at most.

    None means unlimited. No API shows how many tasks a new server counts as
    (nova/scheduler/host_manager.py, ``HostState.consume_from_request``).
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
    for name in settings.items(options.ENABLED_FILTERS):
        row = FILTERS.get(name)
        if row is not None and row.counts:
            lowest_value = None
            if row.aggregate_keys:
                lowest_value = lowest(host, row.counts, int)
            limit, _ = lowest_value or by_option(settings, row.options[0])
            yield row.counts, limit
