"""The filters of before 22 that did sums of CPUs, memory and disk after Placement."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Fails, Unknown
from osc_traitsched.core.nova.filter.numbers import lowest
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings

_MB_A_GB = 1024


@dataclasses.dataclass(frozen=True)
class Amount:
    """What is asked for of one thing, and what the host has: pieces or MB.

    :ivar key: of the ratio, in aggregates' metadata and in Nova's own records
    """

    asked: int
    total: int
    used: int
    key: str
    resource_class: str


def aggregate_core(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the CPUs; a host that says it has none is let through.

    nova/scheduler/filters/core_filter.py, ``AggregateCoreFilter``
    """
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("vcpus_total")
    if not report.vcpus:
        return PASSES
    amount = Amount(
        flavor.vcpus, report.vcpus, report.vcpus_used, "cpu_allocation_ratio", "VCPU"
    )
    return _has_room(host, amount)


def aggregate_ram(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the memory.

    nova/scheduler/filters/ram_filter.py, ``AggregateRamFilter``
    """
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("free_ram_mb")
    total, used = report.memory_mb, report.memory_mb - report.free_ram_mb
    amount = Amount(flavor.ram, total, used, "ram_allocation_ratio", "MEMORY_MB")
    return _has_room(host, amount)


def aggregate_disk(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Want the disk, be the root disk a volume or not.

    nova/scheduler/filters/disk_filter.py, ``AggregateDiskFilter``
    """
    report, flavor = host.compute.report, spec.server.flavor
    if report is None:
        return Unknown("free_disk_mb")
    asked = (flavor.disk + flavor.ephemeral) * _MB_A_GB + flavor.swap
    total = report.local_gb * _MB_A_GB
    used = total - report.free_disk_mb
    amount = Amount(asked, total, used, "disk_allocation_ratio", "DISK_GB")
    return _has_room(host, amount)


def _has_room(host: HostState, amount: Amount) -> Answer:
    """Want no more than the host has, and than its ratio leaves free.

    Where no aggregate has a ratio, Placement's is taken for the one that Nova keeps.
    """
    asked = str(amount.asked)
    if amount.asked > amount.total:
        total = (str(amount.total),)
        return Fails(reasons.LARGER_THAN_HOST, amount.key, asked, total)
    ratio, origin = lowest(host, amount.key, float) or (_ratio(host, amount), None)
    if ratio is None:
        return Unknown(amount.key)
    free = amount.total * ratio - amount.used
    if free >= amount.asked:
        return PASSES
    return Fails(reasons.TOO_LITTLE_FREE, amount.key, asked, (f"{free:g}",), origin)


def _ratio(host: HostState, amount: Amount) -> float | None:
    return (host.allocation_ratios or {}).get(amount.resource_class)
