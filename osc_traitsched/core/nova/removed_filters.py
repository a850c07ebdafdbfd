"""The host filters that releases of Nova do not have any more.

Their classes are gone from nova/scheduler/filters/. nova-scheduler does not start
with a name in enabled_filters that it has no class for
(nova/scheduler/host_manager.py, ``_choose_host_filters``).
"""

from __future__ import annotations

from collections.abc import Mapping

#: Each with the first release without it, be it before Train (20).
REMOVED_FILTERS: Mapping[str, int] = {
    "TrustedFilter": 17,
    "TypeAffinityFilter": 17,
    "ExactCoreFilter": 18,
    "ExactDiskFilter": 18,
    "ExactRamFilter": 18,
    "CoreFilter": 20,
    "DiskFilter": 20,
    "RamFilter": 20,
    "AggregateCoreFilter": 22,
    "AggregateDiskFilter": 22,
    "AggregateRamFilter": 22,
    "RetryFilter": 22,
    "AvailabilityZoneFilter": 28,
}


def is_removed(name: str, release: int) -> bool:
    """Tell whether Nova had a filter of this name, and the release does not."""
    return name in REMOVED_FILTERS and release >= REMOVED_FILTERS[name]
