"""A host and a request for the tests of host filters, each with what a test says."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.inventory.snapshot import Compute, NodeReport
from osc_traitsched.core.nova import image
from osc_traitsched.core.nova import server as flavor
from osc_traitsched.core.nova.filter.state import (
    Fails,
    HostState,
    Passes,
    Raises,
    RequestSpec,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import judge
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.server import Server
from tests.aggregates import aggregate

PROJECT = "p1"
REPORT = NodeReport(
    vcpus=8,
    vcpus_used=2,
    memory_mb=8192,
    free_ram_mb=4096,
    local_gb=100,
    local_gb_used=40,
    free_disk_gb=60,
    disk_available_least=50,
    running_vms=3,
    current_workload=0,
    hypervisor_type="QEMU",
    hypervisor_version=8002001,
    host_ip="10.0.0.5",
    cpu_info={"arch": "x86_64", "features": ["vmx", "aes"], "topology": {"cores": 4}},
)


def host(name="cmp1", *, metadata=(), report=None, compute=None, **state):
    """Return a host in an aggregate for each metadata.

    :param report: what is otherwise in :data:`REPORT`; False for none
    :param compute: what is otherwise than of a service that is up
    """
    found = None if report is False else dataclasses.replace(REPORT, **(report or {}))
    node = {"uuid": f"uuid-{name}", "node": f"{name}.example", "service_host": name}
    aggregates = tuple(
        aggregate(f"agg{number}", **each) for number, each in enumerate(metadata)
    )
    return HostState(
        Compute(**node, report=found, **(compute or {})), aggregates, **state
    )


def spec(specs=(), properties=None, *, release=34, size=(), zone="", **asked):
    """Return a request for a server of a flavor and an image."""
    body = {"vcpus": 2, "ram": 1024, "disk": 10, **dict(size)}
    server = Server(
        flavor=flavor.read({**body, "extra_specs": dict(specs)}),
        image=image.read({"id": "i1", **(properties or {})}, release),
        aggregates=(),
        zone=zone,
        project_id=asked.pop("project", PROJECT),
        boot_from_volume=False,
        release=release,
    )
    return RequestSpec(server, **{"flavor_name": "f1", "image_id": "i1", **asked})


def settings(release=34, **options):
    """Return the settings of a release; an option's dots are two underscores."""
    found = {
        name.replace("__", "."): Setting(value, "a test")
        for name, value in options.items()
    }
    return SchedulerSettings(release, found)


def says(name, state, asked, release=34, **options):
    """Return what a filter says: yes, no and why, what is unknown, what is raised."""
    answer = judge(name, state, asked, settings(release, **options))
    if isinstance(answer, Fails):
        return f"no: {answer.reason}"
    if isinstance(answer, Unknown):
        return f"unknown: {answer.missing}"
    if isinstance(answer, Raises):
        return f"raises: {answer.exception}"
    assert isinstance(answer, Passes)
    return "yes"
