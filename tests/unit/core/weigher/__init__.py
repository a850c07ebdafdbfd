"""The hosts, aggregates and requests that tests of weighers are about."""

from __future__ import annotations

from osc_traitsched.core.inventory.snapshot import Compute, NodeReport
from osc_traitsched.core.nova import image
from osc_traitsched.core.nova import server as flavor
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec, ServerGroup
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.server import Server
from tests.aggregates import aggregate

EMPTY = NodeReport(
    vcpus=8,
    vcpus_used=0,
    memory_mb=8192,
    free_ram_mb=8192,
    local_gb=100,
    local_gb_used=0,
    free_disk_gb=100,
    disk_available_least=None,
    running_vms=0,
    current_workload=0,
    hypervisor_type="QEMU",
    hypervisor_version=8002002,
    host_ip="10.0.0.1",
)


def host(name, *metadata, instances=frozenset(), ratios=None, report=True, **columns):
    """A host with 8 VCPUs, 8 GB of memory and 100 GB of disk, all of it free.

    Each mapping is the metadata of an aggregate that it is in; keywords are columns of
    its report that are otherwise.
    """
    found = NodeReport(**{**vars(EMPTY), **columns}) if report else None
    aggregates = (aggregate(f"{name}-{n}", **m) for n, m in enumerate(metadata))
    return HostState(
        Compute(name, name, name, report=found),
        tuple(aggregates),
        instances,
        {"VCPU": 1.0} if ratios is None else ratios,
    )


def spec(group=None):
    """A request for any server, in a group of this policy and these members."""
    server = Server(
        flavor.read({"vcpus": 1}), image.read(None, 34), (), "", "p", False, 34
    )
    asked = ServerGroup("g", group[0], members=frozenset(group[1])) if group else None
    return RequestSpec(server, "m1", group=asked)


def settings(release=34, **options):
    """A release, and options of [filter_scheduler] by their keys alone."""
    found = {
        f"filter_scheduler.{key}" if "__" not in key else key.replace("__", "."): value
        for key, value in options.items()
    }
    return SchedulerSettings(
        release, {name: Setting(value, "nova.conf:1") for name, value in found.items()}
    )
