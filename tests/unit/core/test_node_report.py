"""What is taken of a node of the compute API."""

import pytest

from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.snapshot import Compute

BODY = {
    "vcpus": 8,
    "vcpus_used": 2,
    "memory_mb": 8192,
    "memory_mb_used": 1024,
    "free_ram_mb": 7168,
    "local_gb": 100,
    "local_gb_used": 10,
    "free_disk_gb": 90,
    "disk_available_least": None,
    "running_vms": 2,
    "current_workload": 0,
    "hypervisor_type": "QEMU",
    "hypervisor_version": 8002000,
    "host_ip": "192.0.2.1",
    "cpu_info": {"arch": "x86_64"},
}


@pytest.mark.parametrize(("least", "free"), [(None, 90), (70, 70), (95, 90), (-3, -3)])
def test_free_disk_is_the_lesser_of_two_figures(least, free):
    found = snapshot.read_node_report({**BODY, "disk_available_least": least})
    assert found.free_disk_mb == free * 1024


@pytest.mark.parametrize("key", ["free_disk_gb", "vcpus", "running_vms"])
def test_a_node_that_has_never_reported_has_no_report(key):
    assert snapshot.read_node_report({**BODY, key: None}) is None
    assert (
        snapshot.read_node_report({k: v for k, v in BODY.items() if k != key}) is None
    )


@pytest.mark.parametrize("given", ["", None, "{}"])
def test_what_is_no_mapping_says_nothing_of_the_cpus(given):
    assert snapshot.read_node_report({**BODY, "cpu_info": given}).cpu_info is None


def test_nodes_with_what_they_report_can_be_members_of_a_set():
    first, second = (
        Compute("u", "cmp01", "cmp01", report=snapshot.read_node_report(BODY))
        for _ in range(2)
    )
    assert first.report.cpu_info == {"arch": "x86_64"}
    assert len({first, second}) == 1
