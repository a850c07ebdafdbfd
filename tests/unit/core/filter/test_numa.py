"""NUMA nodes, PCI devices and metrics, of which no API shows what a host has."""

import pytest

from osc_traitsched.core.nova.filter.state import Unknown
from osc_traitsched.core.nova.filter.table import judge
from tests.unit.core.filter.asked import host, says, settings, spec

NUMA, PCI = "NUMATopologyFilter", "PciPassthroughFilter"


@pytest.mark.parametrize(
    ("specs", "properties", "key"),
    [
        ({}, {}, None),
        ({"hw:cpu_policy": "shared"}, {}, None),
        ({"hw:cpu_cores": "2"}, {}, None),
        ({"hw:numa_nodes": "1"}, {}, "hw:numa_nodes"),
        ({}, {"hw_numa_nodes": "2"}, "hw_numa_nodes"),
        ({"hw:mem_page_size": "large"}, {}, "hw:mem_page_size"),
        ({"hw:pmem": "small"}, {}, "hw:pmem"),
        ({"hw:cpu_policy": "dedicated"}, {}, "hw:cpu_policy"),
        ({}, {"hw_cpu_policy": "dedicated"}, "hw_cpu_policy"),
        ({"resources:PCPU": "2"}, {}, "resources:PCPU"),
        ({"resources:VCPU": "2"}, {}, None),
    ],
)
@pytest.mark.parametrize("release", [20, 34])
def test_a_server_with_numa_nodes_may_fit(specs, properties, key, release):
    asked = spec(specs, properties, release=release)
    answer = judge(NUMA, host(), asked, settings(release))
    if key is None:
        assert says(NUMA, host(), asked, release) == "yes"
    else:
        assert answer == Unknown("numa_topology", key, "cores: 4")


@pytest.mark.parametrize("hypervisor", ["ironic", "VMware vCenter Server", "fake"])
def test_some_drivers_report_no_numa_topology(hypervisor):
    state = host(report={"hypervisor_type": hypervisor})
    assert says(NUMA, state, spec({"hw:numa_nodes": "1"})) == "no: no-numa-topology"
    assert says(NUMA, state, spec()) == "yes"


def test_a_server_with_pci_devices_may_fit():
    asked = spec({"pci_passthrough:alias": "gpu:1"})
    assert says(PCI, host(), spec()) == "yes"
    assert says(PCI, host(), asked) == "unknown: pci_stats"


@pytest.mark.parametrize(
    ("setting", "answer"),
    [
        ((), "yes"),
        (("cpu.frequency=1.0",), "unknown: metrics"),
        # What has no number as its ratio is ignored.
        (("cpu.frequency", "=1", "x=y"), "yes"),
    ],
)
def test_metrics_matter_where_some_are_weighed(setting, answer):
    options = {"metrics__weight_setting": setting}
    assert says("MetricsFilter", host(), spec(), **options) == answer
