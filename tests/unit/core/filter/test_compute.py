"""Host filters of compute nodes: services, capabilities, operators, NUMA and counts."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import compute, table
from osc_traitsched.core.nova.filter.state import Fails, Unknown
from osc_traitsched.core.nova.filter.table import judge
from tests.unit.core.filter.asked import host, says, settings, spec

# The filters of services, and of hosts and images that are kept for each other.


ISOLATED = "IsolatedHostsFilter"


@pytest.mark.parametrize(
    ("compute", "answer"),
    [
        ({"is_up": False}, "no: service-down"),
        ({"is_up": False, "is_enabled": False}, "no: service-disabled"),
    ],
)
def test_a_service_has_to_be_enabled_and_up(compute, answer):
    assert says("ComputeFilter", host(compute=compute), spec()) == answer


def test_why_a_service_was_disabled_is_said():
    state = host(compute={"is_enabled": False, "disabled_reason": "broken fan"})
    answer = judge("ComputeFilter", state, spec(), settings())
    assert answer == Fails("service-disabled", found=("broken fan",))


@pytest.mark.parametrize("name", ["AllHostsFilter", "RetryFilter"])
def test_some_filters_let_every_host_through(name):
    assert says(name, host(compute={"is_up": False}), spec(), 21) == "yes"


@pytest.mark.parametrize(
    ("images", "hosts", "restrict", "answer"),
    [
        (("i0",), ("cmp1",), True, "no: isolated-host"),
        ((), ("CMP1",), True, "yes"),
        (("i1",), (), False, "no: isolated-image"),
    ],
)
def test_isolated_images_and_hosts_go_together(images, hosts, restrict, answer):
    section = "filter_scheduler__"
    options = {
        f"{section}isolated_images": images,
        f"{section}isolated_hosts": hosts,
        f"{section}restrict_isolated_hosts_to_isolated_images": restrict,
    }
    assert says(ISOLATED, host(), spec(), **options) == answer


def test_a_server_without_an_image_is_not_isolated():
    options = {"filter_scheduler__isolated_images": ("i1", "")}
    assert says(ISOLATED, host(), spec(image_id="i1"), **options).startswith("no")
    options["filter_scheduler__isolated_images"] = ("i1",)
    assert says(ISOLATED, host(), spec(image_id=""), **options) == "yes"


# The filter that compares extra specs with attributes of the host's state.


NAME = "ComputeCapabilitiesFilter"


@pytest.mark.parametrize(
    ("key", "wanted", "answer"),
    [
        # Without a scope only attributes and statistics count.
        ("ssd", "true", "yes"),
        ("host", "cmp1", "yes"),
        ("host", "cmp2", "no: capability-differs"),
        ("free_ram_mb", ">= 4096", "yes"),
        ("free_disk_mb", "== 51200", "yes"),
        ("disk_mb_used", "== 40960", "yes"),
        ("host_ip", "10.0.0.5", "yes"),
        ("aggregates", "x", "unknown: aggregates"),
        ("num_vm_active", "1", "unknown: stats"),
        ("io_workload", "0", "unknown: stats"),
        ("failed_builds", "0", "unknown: failed_builds"),
        # In the filter's own scope everything does.
        ("capabilities:ssd", "true", "no: no-capability"),
        ("capabilities:hypervisor_type", "s== QEMU", "yes"),
        ("capabilities:vcpus_total", "= 8", "yes"),
        ("capabilities:stats:num_instances", "3", "yes"),
        ("capabilities:stats:nothing", "3", "no: no-capability"),
        ("capabilities:stats:failed_builds", "0", "unknown: stats"),
        ("capabilities:cpu_info:arch", "x86_64", "yes"),
        ("capabilities:cpu_info:features", "<in> vmx", "yes"),
        ("capabilities:cpu_info:topology:cores", ">= 4", "yes"),
        ("capabilities:cpu_info:topology:sockets", ">= 4", "no: no-capability"),
        ("capabilities:cpu_info:arch:deeper", "x", "no: no-capability"),
        ("capabilities:cpu_info:features:deeper", "x", "no: no-capability"),
        ("capabilities:cpu_info", "x", "unknown: cpu_info"),
        ("capabilities:cpu_allocation_ratio", "4.0", "unknown: cpu_allocation_ratio"),
        ("capabilities:", "x", "no: no-capability"),
        ("capabilities:hypervisor_type", ">= 1", "raises: ValueError"),
        # Other scopes are not for this filter.
        ("hw:cpu_policy", "shared", "yes"),
        ("aggregate_instance_extra_specs:host", "x", "yes"),
        ("trait:HW_CPU_X86_VMX", "required", "yes"),
    ],
)
def test_a_key_is_compared_by_its_scope_and_by_what_there_is(key, wanted, answer):
    assert says(NAME, host(), spec({key: wanted})) == answer


def test_an_image_is_not_read():
    assert says(NAME, host(), spec({}, {"capabilities:host": "x"})) == "yes"


def test_of_an_ironic_node_any_key_may_be_in_the_statistics():
    state = host(report={"hypervisor_type": "ironic"})
    assert says(NAME, state, spec({"ssd": "true"})) == "unknown: stats"
    asked = spec({"capabilities:boot_mode": "uefi"})
    assert says(NAME, state, asked) == "unknown: stats"


def test_a_count_of_no_servers_may_be_missing_from_the_statistics():
    state = host(report={"running_vms": 0})
    asked = spec({"capabilities:stats:num_instances": "0"})
    assert says(NAME, state, asked) == "unknown: stats"
    assert says(NAME, state, spec({"num_instances": "0"})) == "yes"


@pytest.mark.parametrize(
    ("bits", "release", "answer"),
    [
        ({"bits": 46}, 29, "yes"),
        ({"bits": 40}, 29, "no: capability-differs"),
        (None, 29, "no: no-capability"),
        (None, 28, "yes"),
    ],
)
def test_from_29_on_the_address_bits_of_a_flavor_want_a_host_that_says_its_own(
    bits, release, answer
):
    cpu_info = {"maxphysaddr": bits} if bits else {}
    asked = spec({"hw:maxphysaddr_bits": "42"})
    assert says(NAME, host(report={"cpu_info": cpu_info}), asked, release) == answer


def test_address_bits_that_are_no_number_raise():
    state = host(report={"cpu_info": {"maxphysaddr": {"bits": 46}}})
    asked = spec({"hw:maxphysaddr_bits": "x"})
    assert says(NAME, state, asked) == "raises: ValueError"


def test_the_address_bits_of_a_flavor_take_the_place_of_the_capability():
    state = host(report={"cpu_info": {"maxphysaddr": {"bits": 46}}})
    key = "capabilities:cpu_info:maxphysaddr:bits"
    asked = spec({key: "< 1 < 1", "hw:maxphysaddr_bits": "40"})
    assert says(NAME, state, asked, 29) == "yes"
    assert says(NAME, state, asked, 28) == "no: capability-differs"


def test_what_can_not_be_seen_does_not_hide_a_later_no():
    asked = spec({"failed_builds": "0", "host": "cmp2"})
    answer = judge(NAME, host(), asked, settings())
    origin = Origin("flavor", "host")
    assert answer == Fails("capability-differs", "host", "cmp2", ("cmp1",), origin)


def test_what_can_not_be_seen_and_may_raise_hides_a_later_no():
    asked = spec({"failed_builds": ">= x", "host": "cmp2"})
    answer = judge(NAME, host(), asked, settings())
    assert answer == Unknown("failed_builds", "failed_builds", may_raise=True)


def test_a_later_exception_is_uncertain_after_what_can_not_be_seen():
    asked = spec({"failed_builds": "0", "host": ">= x"})
    assert says(NAME, host(), asked) == "unknown: failed_builds"


def test_of_a_host_without_figures_only_names_are_known():
    state = host(report=False)
    assert says(NAME, state, spec({"host": "cmp1"})) == "yes"
    for key in ("vcpus_used", "capabilities:cpu_info:arch", "ssd"):
        assert says(NAME, state, spec({key: "1"})).startswith("unknown")


# The operators of extra specs, as the scheduler compares with them.


@pytest.mark.parametrize(
    ("value", "wanted", "is_match"),
    [
        ("true", "true", True),
        ("True", "true", False),
        ("a b", "a b", True),
        ("b", "a <or> b", False),
        ("", "", True),
        ("", " ", False),
        ("5", "= 4", True),
        ("4", "= 4.0", True),
        ("3", "= 4", False),
        ("4", "== 4.0", True),
        ("5", "!= 4", True),
        ("4", ">= 4", True),
        ("4", "<= 3", False),
        ("1_0", ">= 1e1", True),
        ("10", "s< 9", True),
        ("a", "s== a", True),
        ("a", "s!= a", False),
        ("b", "s<= a", False),
        ("b", "s> a", True),
        ("b", "s>= b", True),
        ("['vmx', 'aes']", "<in> vmx", True),
        ("vmx", "<in> vmx aes", True),
        ("['vmx', 'aes']", "<all-in> vmx aes", True),
        ("['vmx']", "<all-in> vmx aes", False),
        ("b", "<or> a <or> b", True),
        ("c", "<or> a <or> b", False),
        ("b", "<or> a b", False),
        ("a", "<or> a <or>", True),
    ],
)
def test_the_first_word_can_be_an_operator(value, wanted, is_match):
    assert compute.match(value, wanted) is is_match


@pytest.mark.parametrize("op", ["=", "==", "!=", ">=", "s==", "<in>", "<all-in>"])
def test_an_operator_without_an_operand_matches_nothing(op):
    assert not compute.match("4", op)
    assert not compute.match(op, op)


@pytest.mark.parametrize(("value", "wanted"), [("x", ">= 4"), ("4", "= x")])
def test_comparing_what_is_no_number_raises(value, wanted):
    with pytest.raises(ValueError, match="x"):
        compute.match(value, wanted)


def test_an_or_alone_raises():
    with pytest.raises(IndexError):
        compute.match("a", "<or>")


@pytest.mark.parametrize(
    ("wanted", "may_raise"),
    [
        (">= 4", True),
        ("<or>", True),
        ("<or> a", False),
        (">=", False),
        ("s== a", False),
    ],
)
def test_what_can_raise_is_known_without_the_value(wanted, may_raise):
    assert compute.may_raise(wanted) is may_raise


@pytest.mark.parametrize(
    ("wanted", "can_match"),
    [
        ("a", True),
        ("", True),
        ("a b", True),
        ("s== 4", True),
        ("<or> a", True),
        (" a", False),
        ("a ", False),
        (" ", False),
        ("a,b", False),
        ("==", False),
        ("<in> ", False),
    ],
)
def test_what_no_value_of_a_list_with_commas_matches_is_known(wanted, can_match):
    values = {each.strip() for each in f"{wanted},a,4".split(",")}
    assert compute.can_match(wanted) is can_match
    assert any(compute.match(each, wanted) for each in values) is can_match


# NUMA nodes, PCI devices and metrics, of which no API shows what a host has.


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


# The query of a hint, in JSON.


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("", "yes"),
        ("[]", "yes"),
        ("0", "yes"),
        ('[">=", "$free_ram_mb", 1024]', "yes"),
        ('["<", "$free_ram_mb", 1024]', "no"),
        ('["and", ["=", "$host", "cmp1"], [">", "$vcpus_total", 7]]', "yes"),
        ('["or", ["=", "$host", "x"], [">", "$vcpus_total", 9]]', "no"),
        ('["not", ["=", "$host", "x"]]', "yes"),
        ('["not", ["=", "$host", "cmp1"]]', "no"),
        ('["in", "$host", "cmp0", "cmp1"]', "yes"),
        ('["in", "$host", "cmp0"]', "no"),
        # What is not there is left out, and one value compares with nothing.
        ('["=", "$nothing", 1]', "no"),
        ('["=", "", 1, 1]', "yes"),
        ('["=", "$stats.num_instances", "3"]', "yes"),
        ('["=", "$stats.num_instances", 3]', "no"),
        # The address is no text.
        ('["=", "$host_ip", "10.0.0.5"]', "no"),
        ('["=", "$host_ip", "$host_ip"]', "yes"),
        ('["=", "$num_io_ops", 0]', "unknown: num_io_ops"),
        ('["or", true, ["=", "$num_io_ops", 0]]', "unknown: num_io_ops"),
        ('["xor", 1, 2]', "raises: KeyError"),
        ('{"a": 1}', "raises: KeyError"),
        ("1", "raises: TypeError"),
        ('[["and"], 1]', "raises: TypeError"),
        ('["<", "$host", 1]', "raises: TypeError"),
        ('["<", "$host", "a", 1]', "raises: TypeError"),
        ('["=", "$host.x", 1]', "raises: AttributeError"),
        ('["=", "$cpu_info.arch", "x86_64"]', "raises: AttributeError"),
        ("[", "raises: JSONDecodeError"),
    ],
)
def test_a_host_has_to_be_what_the_query_says(query, answer):
    found = says("JsonFilter", host(), spec(hints={"query": (query,)}))
    assert found.startswith(answer)


def test_without_a_query_every_host_passes():
    assert says("JsonFilter", host(), spec()) == "yes"


def test_two_queries_raise():
    asked = spec(hints={"query": ('["=", 1, 1]', '["=", 1, 1]')})
    assert says("JsonFilter", host(), asked) == "raises: TypeError"


def test_a_query_may_be_deep():
    query = "[" * 100_000
    asked = spec(hints={"query": (query,)})
    assert says("JsonFilter", host(), asked).startswith("raises: ")


# The filters that count servers and what is done to them, and the old sums.


CORE, RAM, DISK = "AggregateCoreFilter", "AggregateRamFilter", "AggregateDiskFilter"


@pytest.mark.parametrize(("limit", "answer"), [(4, "yes"), (3, "no: at-limit")])
def test_a_host_has_fewer_servers_than_the_option_allows(limit, answer):
    option = {"filter_scheduler__max_instances_per_host": limit}
    assert says("NumInstancesFilter", host(), spec(), **option) == answer


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ([], "yes"),
        (["3"], "no: at-limit"),
        ([" 4 "], "yes"),
        (["4", "2"], "no: at-limit"),
        # One that is no number, and the option counts for all of them.
        (["2", "x"], "yes"),
        (["2.5"], "yes"),
        (["2,9"], "yes"),
    ],
)
def test_the_lowest_number_of_the_aggregates_goes_before_the_option(values, answer):
    state = host(metadata=[{"max_instances_per_host": value} for value in values])
    assert says("AggregateNumInstancesFilter", state, spec()) == answer
    assert says("NumInstancesFilter", state, spec()) == "yes"


def test_whose_limit_it_is_is_said():
    state = host(metadata=[{}, {"max_instances_per_host": "3"}])
    answer = judge("AggregateNumInstancesFilter", state, spec(), settings())
    origin = Origin("aggregate", "max_instances_per_host", name="agg1")
    assert answer == Fails("at-limit", "max_instances_per_host", "3", ("3",), origin)


@pytest.mark.parametrize(
    ("servers", "workload", "builds", "limit", "answer"),
    [
        (3, 0, None, 8, "yes"),
        (7, 7, 9, 8, "yes"),
        (20, 0, 0, 8, "yes"),
        (20, 3, 4, 8, "yes"),
        # Whoever is being built may have no task yet.
        (20, 3, 5, 8, "unknown: num_io_ops"),
        (8, 0, 9, 8, "unknown: num_io_ops"),
        (20, 8, 0, 8, "unknown: num_io_ops"),
        # All of them may be.
        (8, 0, None, 8, "unknown: num_io_ops"),
        (0, 0, 0, 0, "no: at-limit"),
    ],
)
def test_io_operations_are_at_most_the_servers_and_at_most_tasks_and_builds(
    servers, workload, builds, limit, answer
):
    figures = {"running_vms": servers, "current_workload": workload}
    state = host(report=figures, compute={"builds": builds})
    option = {"filter_scheduler__max_io_ops_per_host": limit}
    assert says("IoOpsFilter", state, spec(), **option) == answer
    assert says("AggregateIoOpsFilter", state, spec(), **option) == answer


@pytest.mark.parametrize(
    ("name", "metadata", "report", "is_needed"),
    [
        ("IoOpsFilter", {}, {"running_vms": 8}, True),
        ("IoOpsFilter", {}, {"running_vms": 7}, False),
        ("IoOpsFilter", {}, {"running_vms": 9, "current_workload": 8}, False),
        ("IoOpsFilter", {}, False, False),
        ("IoOpsFilter", {"max_io_ops_per_host": "3"}, {}, False),
        ("AggregateIoOpsFilter", {"max_io_ops_per_host": "3"}, {}, True),
        ("NumInstancesFilter", {}, {"running_vms": 8}, False),
    ],
)
def test_builds_are_needed_where_a_filter_that_is_on_has_a_limit_between(
    name, metadata, report, is_needed
):
    hosts = [host(), host(metadata=[metadata], report=report)]
    on = settings(filter_scheduler__enabled_filters=("ComputeFilter", name))
    assert table.needs_builds(hosts, on) is is_needed
    off = settings(filter_scheduler__enabled_filters=("ComputeFilter",))
    assert not table.needs_builds(hosts, off)


def test_how_many_may_count_on_a_busy_host_is_the_evidence():
    state = host(
        metadata=[{"max_io_ops_per_host": "2"}],
        report={"running_vms": 9, "current_workload": 3},
        compute={"builds": 1},
    )
    answer = judge("AggregateIoOpsFilter", state, spec(), settings())
    expected = Unknown("num_io_ops", "max_io_ops_per_host", "4 at most")
    assert answer == expected


@pytest.mark.parametrize(
    "name",
    [
        "NumInstancesFilter",
        "AggregateNumInstancesFilter",
        "IoOpsFilter",
        "AggregateIoOpsFilter",
        *(CORE, RAM, DISK),
    ],
)
def test_a_host_without_figures_is_unknown(name):
    assert says(name, host(report=False), spec(), 21).startswith("unknown")


@pytest.mark.parametrize(
    ("name", "key", "size", "ratio", "answer"),
    [
        # 8 CPUs of which 2 are used.
        (CORE, "cpu_allocation_ratio", {"vcpus": 6}, "1.0", "yes"),
        (CORE, "cpu_allocation_ratio", {"vcpus": 7}, "1.0", "no: too-little-free"),
        (CORE, "cpu_allocation_ratio", {"vcpus": 8}, "2.0", "yes"),
        (CORE, "cpu_allocation_ratio", {"vcpus": 9}, "4.0", "no: larger-than-host"),
        # 8192 MB of which 4096 are free.
        (RAM, "ram_allocation_ratio", {"ram": 4096}, "1.0", "yes"),
        (RAM, "ram_allocation_ratio", {"ram": 4097}, "1.0", "no: too-little-free"),
        (RAM, "ram_allocation_ratio", {"ram": 8193}, "9.0", "no: larger-than-host"),
        # 100 GB of which 50 are free.
        (DISK, "disk_allocation_ratio", {"disk": 50}, "1.0", "yes"),
        (DISK, "disk_allocation_ratio", {"disk": 51}, "1.0", "no: too-little-free"),
        (DISK, "disk_allocation_ratio", {"disk": 51}, "1.5", "yes"),
        (DISK, "disk_allocation_ratio", {"disk": 50, "swap": 1}, "1.0", "no: too"),
    ],
)
def test_until_21_aggregates_have_ratios_of_their_own(name, key, size, ratio, answer):
    asked = spec(size=size, release=21)
    assert says(name, host(metadata=[{key: ratio}]), asked, 21).startswith(answer)
    state = host(metadata=[{key: ratio}, {key: "100"}])
    assert says(name, state, asked, 21).startswith(answer)


def test_without_one_the_ratio_is_placements():
    asked = spec(size={"vcpus": 7}, release=21)
    assert says(CORE, host(), asked, 21) == "unknown: cpu_allocation_ratio"
    found = says(CORE, host(allocation_ratios={"VCPU": 2.0}), asked, 21)
    assert found == "yes"
    state = host(metadata=[{"cpu_allocation_ratio": "x"}])
    assert says(CORE, state, asked, 21) == "unknown: cpu_allocation_ratio"


def test_a_host_without_cpus_is_let_through():
    asked = spec(size={"vcpus": 7}, release=21)
    assert says(CORE, host(report={"vcpus": 0}), asked, 21) == "yes"
