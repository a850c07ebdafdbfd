"""NUMA nodes, PCI devices and metrics, of which no API shows what a host has."""

import pytest

from osc_traitsched.core.nova.filter import compute
from osc_traitsched.core.nova.filter.state import Fails, Unknown
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


ANY = {"hw:mem_page_size": "any"}
LARGE = {"hw:mem_page_size": "large"}
HALVES = {f"hw:numa_cpus.{n}": str(n) for n in range(2)}
HALVES = {"hw:mem_page_size": "2MB", "hw:numa_nodes": "2", **HALVES}


@pytest.mark.parametrize(
    ("ram", "specs", "properties", "wanted", "found"),
    [
        (1025, {"hw:mem_page_size": "2MB"}, {}, "2 MB", "1025"),
        (1025, {"hw:mem_page_size": "2048"}, {}, "2 MB", "1025"),
        (1500, {"hw:mem_page_size": "1GB"}, {}, "1024 MB", "1500"),
        (77, {"hw:mem_page_size": "2048KB", "hw:numa_nodes": "1"}, {}, "2 MB", "77"),
        (1538, {"hw:mem_page_size": "2MB", "hw:numa_nodes": "2"}, {}, "2 MB", "769"),
        (1027, ANY, {"hw_mem_page_size": "2MB"}, "2 MB", "1027"),
        # x86_64 has no large page of less.
        (1027, LARGE, {}, "2 MB", "1027"),
        (1027, ANY, {"hw_mem_page_size": "large"}, "2 MB", "1027"),
        (101, {"hw:mem_page_size": "96"}, {}, "96 kB", "101"),
        (
            *(1024, {**HALVES, "hw:numa_mem.0": "511", "hw:numa_mem.1": "513"}),
            *({}, "2 MB", "511"),
        ),
    ],
)
def test_memory_that_is_no_multiple_of_the_page_size_never_fits(
    ram, specs, properties, wanted, found
):
    asked = spec(specs, properties, size={"ram": ram})
    key = "hw_mem_page_size" if properties else "hw:mem_page_size"
    answer = judge(NUMA, host(), asked, settings())
    assert isinstance(answer, Fails)
    assert (answer.reason, answer.key) == ("pages-do-not-divide", key)
    assert (answer.wanted, answer.found) == (wanted, (found,))


@pytest.mark.parametrize(
    ("ram", "specs", "report"),
    [
        (1026, {"hw:mem_page_size": "2MB"}, {}),
        (1025, {"hw:mem_page_size": "any"}, {}),
        (1025, {"hw:mem_page_size": "small"}, {}),
        (1025, {"hw:mem_page_size": "4"}, {}),
        (2048, {"hw:mem_page_size": "1GB", "hw:numa_nodes": "2"}, {}),
        (1026, LARGE, {}),
        # Other architectures have large pages of 64 kB.
        (1025, LARGE, {"cpu_info": {"arch": "aarch64"}}),
        # Nova's cache of nodes that fit can accept the second one.
        (1023, {**HALVES, "hw:numa_mem.0": "512", "hw:numa_mem.1": "511"}, {}),
    ],
)
def test_memory_in_whole_pages_may_fit(ram, specs, report):
    asked = spec(specs, size={"ram": ram})
    assert says(NUMA, host(report=report), asked) == "unknown: numa_topology"


@pytest.mark.parametrize(
    ("ram", "specs", "nearest"),
    [
        (1025, {"hw:mem_page_size": "2MB"}, (1024, 1026)),
        (1538, {"hw:mem_page_size": "2MB", "hw:numa_nodes": "2"}, (1536, 1540)),
        (700, {"hw:mem_page_size": "1GB"}, (1024,)),
        (1026, {"hw:mem_page_size": "2MB"}, ()),
        (1024, {**HALVES, "hw:numa_mem.0": "511", "hw:numa_mem.1": "513"}, ()),
    ],
)
def test_the_nearest_sizes_of_memory_are_whole_pages(ram, specs, nearest):
    assert compute.nearest_ram(spec(specs, size={"ram": ram}).server) == nearest


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
