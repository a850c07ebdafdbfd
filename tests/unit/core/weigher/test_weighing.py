"""Each weigher gives the raw weights that Nova's own gives."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.weighers import WEIGHERS, Assumption, enabled, ranking
from tests.unit.core.weigher import host, settings, spec


def weights(name, hosts, asked=None, given=None):
    """The raw weights of a weigher, and what they rest on."""
    found = WEIGHERS[name].weigh(hosts, asked or spec(), given or settings())
    return list(found.raw), found.assumed


def raw(name, *hosts, asked=None, given=None):
    found, assumed = weights(name, hosts, asked, given)
    assert assumed is None
    return found


def test_memory_is_what_is_free_and_can_be_below_zero():
    assert raw("RAMWeigher", host("a"), host("b", free_ram_mb=-5)) == [8192, -5]


def test_disk_is_the_lesser_of_what_nova_and_the_hypervisor_count_in_mb():
    hosts = [
        host("a", free_disk_gb=10),
        host("b", free_disk_gb=10, disk_available_least=4),
        host("c", free_disk_gb=10, disk_available_least=40),
        host("d", free_disk_gb=10, disk_available_least=-1),
    ]
    assert raw("DiskWeigher", *hosts) == [10240, 4096, 10240, -1024]


def test_vcpus_are_those_of_the_ratio_less_those_in_use():
    hosts = [
        host("a", ratios={"VCPU": 4.0}, vcpus_used=3),
        host("b", ratios={"VCPU": 0.5}, vcpus_used=30),
    ]
    assert raw("CPUWeigher", *hosts) == [29.0, -26.0]


@pytest.mark.parametrize(("release", "free"), [(26, 128.0), (27, 32.0)])
def test_without_a_ratio_vcpus_are_those_of_the_release_s_default(release, free):
    hosts = [host("a", ratios={}), host("b")]
    found, assumed = weights("CPUWeigher", hosts, given=settings(release))
    assert found == [free, 8.0]
    assert assumed == Assumption("", "cpu_allocation_ratio", "default", frozenset("a"))


def test_a_host_without_servers_has_no_io_and_of_others_it_is_assumed():
    assert raw("IoOpsWeigher", host("a"), host("b")) == [0, 0]
    # Of c's server it is not known whether it was built just now.
    hosts = [host("a"), host("b", current_workload=3), host("c", running_vms=1)]
    found, assumed = weights("IoOpsWeigher", hosts)
    assert found == [0, 3, 0]
    assert assumed == Assumption("", "num_io_ops", "all-io", frozenset("bc"))


def test_versions_and_numbers_of_servers_are_as_reported():
    hosts = [host("a", running_vms=4), host("b", hypervisor_version=0)]
    assert raw("NumInstancesWeigher", *hosts) == [4, 0]
    assert raw("HypervisorVersionWeigher", *hosts) == [8002002, 0]


@pytest.mark.parametrize(
    ("policy", "affinity", "anti_affinity"),
    [
        ("soft-affinity", [2, 0], [0, 0]),
        ("soft-anti-affinity", [0, 0], [-2, 0]),
        ("affinity", [0, 0], [0, 0]),
        ("anti-affinity", [0, 0], [0, 0]),
    ],
)
def test_members_of_a_group_count_by_its_soft_policy_alone(
    policy, affinity, anti_affinity
):
    hosts = [host("a", instances=frozenset("xyz")), host("b", instances=frozenset("z"))]
    asked = spec((policy, "xyw"))
    assert raw("ServerGroupSoftAffinityWeigher", *hosts, asked=asked) == affinity
    found = raw("ServerGroupSoftAntiAffinityWeigher", *hosts, asked=asked)
    assert found == anti_affinity


def test_servers_that_were_not_read_are_taken_for_none_of_the_group():
    hosts = [host("a", instances=None), host("b", instances=frozenset("x"))]
    asked = spec(("soft-affinity", "x"))
    found, assumed = weights("ServerGroupSoftAffinityWeigher", hosts, asked)
    assert found == [0, 1]
    assert assumed == Assumption("", "instances", "none", frozenset("a"))
    assert raw("ServerGroupSoftAffinityWeigher", *hosts) == [0, 0]


@pytest.mark.parametrize(
    ("name", "weight", "missing"),
    [("BuildFailureWeigher", 0, "failed_builds"), ("PCIWeigher", 100, "pci_stats")],
)
def test_what_no_api_shows_is_taken_for_none(name, weight, missing):
    found, assumed = weights(name, [host("a"), host("b")])
    assert found == [weight, weight]
    assert assumed == Assumption("", missing, "none")


@pytest.mark.parametrize("setting", [(), ("x",), ("=1",), ("a=b",)])
def test_metrics_weigh_nothing_where_no_ratio_is_a_number(setting):
    given = settings(metrics__weight_setting=setting)
    assert raw("MetricsWeigher", host("a"), host("b"), given=given) == [0.0, 0.0]


@pytest.mark.parametrize(("required", "taken"), [(True, "reported"), (False, "alike")])
def test_metrics_that_weigh_are_taken_to_be_alike(required, taken):
    given = settings(
        metrics__weight_setting=("cpu.frequency=1",), metrics__required=required
    )
    _, assumed = weights("MetricsWeigher", [host("a")], given=given)
    assert assumed == Assumption("", "metrics", taken)


def test_the_option_and_no_aggregate_turns_the_images_weigher_on():
    hosts = [host("a", {"image_props_weight_multiplier": "5"}), host("b")]
    assert raw("ImagePropertiesWeigher", *hosts) == [0.0, 0.0]
    given = settings(image_props_weight_multiplier=2.0)
    _, assumed = weights("ImagePropertiesWeigher", hosts, given=given)
    assert assumed.taken == "alike"


@pytest.mark.parametrize(
    ("release", "number", "newest"),
    [
        (20, 9, "ServerGroupSoftAntiAffinityWeigher"),
        (21, 10, "CrossCellWeigher"),
        (28, 12, "NumInstancesWeigher"),
        (31, 13, "ImagePropertiesWeigher"),
        (34, 13, "HypervisorVersionWeigher"),
    ],
)
def test_a_release_has_its_own_weighers(release, number, newest):
    found, others = enabled(settings(release))
    assert len(found) == number
    assert newest in {each.name for each in found}
    assert others == ()


def test_one_that_is_named_twice_weighs_twice():
    ram = "nova.scheduler.weights.ram.RAMWeigher"
    hosts = [host("a"), host("b", free_ram_mb=4096)]
    once = ranking(hosts, spec(), settings(weight_classes=(ram,)))
    twice = ranking(hosts, spec(), settings(weight_classes=(ram, ram)))
    assert (once.total("b"), twice.total("b")) == (0.5, 1.0)


def test_a_class_that_the_release_lacks_keeps_the_scheduler_from_starting():
    path = "nova.scheduler.weights.num_instances.NumInstancesWeigher"
    (found,), _ = enabled(settings(28, weight_classes=(path,)))
    assert found.name == "NumInstancesWeigher"
    with pytest.raises(Refusal) as caught:
        enabled(settings(27, weight_classes=(path, "own.Weigher")))
    assert caught.value.keys == (path,)
    assert str(caught.value) == (
        f"nova-scheduler of 2023.1 (Nova 27) does not start with {path} in "
        "weight_classes (nova.conf:1): it has no such weigher"
    )


def test_one_of_the_operator_s_own_is_taken_to_weigh_all_hosts_alike():
    given = settings(weight_classes=("own.Weigher",))
    found = ranking([host("a"), host("b")], spec(), given)
    assert found.assumed == (Assumption("own.Weigher", "", "alike"),)
    assert found.first == {"a", "b"}
