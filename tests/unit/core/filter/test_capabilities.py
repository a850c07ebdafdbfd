"""The filter that compares extra specs with attributes of the host's state."""

import pytest

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter.state import Fails, Unknown
from osc_traitsched.core.nova.filter.table import judge
from tests.unit.core.filter.asked import host, says, settings, spec

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
