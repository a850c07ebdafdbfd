"""The filters that count servers and what is done to them, and the old sums."""

import pytest

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import table
from osc_traitsched.core.nova.filter.state import Fails, Unknown
from osc_traitsched.core.nova.filter.table import judge
from tests.unit.core.filter.asked import host, says, settings, spec

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
