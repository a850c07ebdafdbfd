"""Weighers: raw weights, normalized ones, and the order of hosts."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.filter.state import Raises, Unknown
from osc_traitsched.core.nova.weighers import (
    NOT_RAISING,
    UNSEEN,
    WEIGHERS,
    Assumption,
    OwnWeigher,
    OwnWeighers,
    enabled,
    multiplier,
    normalized,
    ranking,
)
from tests.unit.core.weigher import host, settings, spec

# Weights are normalized and multiplied as Nova does it.


RAM = "ram_weight_multiplier"


def of(*metadata, weigher="RAMWeigher", default=1.5):
    return multiplier(host("a", *metadata), WEIGHERS[weigher], default)


def test_the_lowest_multiplier_of_a_host_s_aggregates_overrides_the_option():
    assert of() == 1.5
    assert of({"ssd": "true"}) == 1.5
    assert of({RAM: "3"}) == 3.0
    assert of({RAM: "3"}, {RAM: "-2"}, {RAM: "4"}) == -2.0


@pytest.mark.parametrize("text", ["x", "", "1,2", "2 3"])
def test_one_multiplier_that_is_no_number_brings_the_option_back(text):
    assert of({RAM: text}) == 1.5
    assert of({RAM: text}, {RAM: "0.5"}) == 1.5


@pytest.mark.parametrize(("text", "number"), [(" 3 ", 3), ("1e3", 1000), ("1_0", 10)])
def test_a_multiplier_is_a_number_as_python_reads_it(text, number):
    assert of({RAM: text}) == number


def test_the_multiplier_of_failed_builds_is_taken_with_the_other_sign():
    key = "build_failure_weight_multiplier"
    assert of(weigher="BuildFailureWeigher") == -1.5
    assert of({key: "-7"}, weigher="BuildFailureWeigher") == 7.0


def test_the_key_of_metrics_has_the_section_s_name():
    assert of({"metrics_weight_multiplier": "7"}, weigher="MetricsWeigher") == 7.0
    assert of({"weight_multiplier": "7"}, weigher="MetricsWeigher") == 1.5


def test_each_host_has_the_multiplier_of_its_own_aggregates():
    hosts = [host("a", {RAM: "-1"}), host("b"), host("c", {RAM: "2"})]
    found = ranking(hosts, spec(), settings(ram_weight_multiplier=5.0))
    (ram,) = (each for each in found.columns if each.weigher == "RAMWeigher")
    assert list(ram.multipliers) == [-1.0, 5.0, 2.0]


def test_weights_are_normalized_to_the_highest_and_the_lowest():
    assert list(normalized([4, 2, 6], None, 34)) == [0.5, 0.0, 1.0]
    assert list(normalized([-3, -3], None, 34)) == [0.0, 0.0]


def test_with_a_minimum_the_lowest_weight_is_not_zero():
    assert list(normalized([4, 8], 0, 34)) == [0.5, 1.0]
    assert list(normalized([8, 8], 0, 34)) == [1.0, 1.0]
    assert list(normalized([0, 0], 0, 34)) == [0.0, 0.0]


def test_what_is_below_the_minimum_counts_as_the_minimum():
    hosts = [host("a", free_ram_mb=-4096), host("b", free_ram_mb=4096)]
    found = ranking(hosts, spec(), settings(22))
    (ram,) = (each for each in found.terms("a") if each.weigher == "RAMWeigher")
    assert (ram.raw, ram.normalized) == (0, 0.0)


def test_before_victoria_what_is_below_the_minimum_is_the_minimum():
    hosts = [host(n, free_ram_mb=4096 * f) for n, f in zip("abc", (-1, 0, 1))]
    found = ranking(hosts, spec(), settings(21))
    (ram,) = (each for each in found.columns if each.weigher == "RAMWeigher")
    assert list(ram.raw) == [-4096, 0, 4096]
    assert list(ram.normalized) == [0.0, 0.5, 1.0]


# Hosts are ranked in the order in which nova-scheduler tries them.


BUILDS = Assumption("BuildFailureWeigher", "failed_builds", "none")
PCI = Assumption("PCIWeigher", "pci_stats", "none")


def ranked(*hosts, asked=None, **options):
    return ranking(hosts, asked or spec(), settings(**options))


def places(*hosts, **options):
    return [set(place) for place in ranked(*hosts, **options).places]


def test_the_host_with_the_most_room_is_first():
    hosts = [host("a", free_ram_mb=1024), host("b"), host("c", free_ram_mb=4096)]
    assert places(*hosts) == [{"b"}, {"c"}, {"a"}]
    assert places(*hosts, ram_weight_multiplier=-1.0) == [{"a"}, {"c"}, {"b"}]


def test_hosts_with_one_total_share_a_place_and_any_of_them_may_be_first():
    found = ranked(host("a"), host("b", free_ram_mb=0), host("c"))
    assert [set(place) for place in found.places] == [{"a", "c"}, {"b"}]
    assert found.first == {"a", "c"}


def test_totals_that_differ_by_rounding_alone_share_a_place():
    """0.1 + 0.2 + 0.3 is not 0.6, or it is, by the order of the sum."""
    options = {
        "cpu_weight_multiplier": 0.1,
        "disk_weight_multiplier": 0.2,
        "ram_weight_multiplier": 0.3,
    }
    key = "ram_weight_multiplier"
    hosts = [
        host("sum"),
        host("one", {key: "0.6"}, vcpus=0, free_disk_gb=0),
        host("less", {key: "0.5999999"}, vcpus=0, free_disk_gb=0),
    ]
    found = ranked(*hosts, **options)
    assert found.total("sum") != found.total("one")
    assert [set(place) for place in found.places] == [{"sum", "one"}, {"less"}]


def test_a_newer_hypervisor_outweighs_all_of_the_memory():
    hosts = [host("old", hypervisor_version=8002001), host("new", free_ram_mb=1)]
    assert places(*hosts) == [{"new"}, {"old"}]
    assert places(*hosts, release=27) == [{"old"}, {"new"}]


def test_a_total_is_the_sum_of_its_terms():
    found = ranked(host("a", vcpus_used=4), host("b", free_ram_mb=2048))
    for uuid in ("a", "b"):
        assert found.total(uuid) == sum(term.value for term in found.terms(uuid))
    cpu = {term.weigher: term for term in found.terms("a")}["CPUWeigher"]
    assert (cpu.raw, cpu.normalized, cpu.multiplier, cpu.value) == (4.0, 0.5, 1.0, 0.5)


def test_one_host_is_not_weighed_and_rests_on_nothing():
    found = ranked(host("a", free_ram_mb=-1))
    assert found.places == (("a",),)
    assert (found.first, found.total("a")) == ({"a"}, 0.0)
    assert (found.columns, found.assumed) == ((), ())


def test_without_a_host_there_is_none_to_try():
    found = ranked()
    assert (found.places, found.first) == ((), frozenset())


@pytest.mark.parametrize(
    ("size", "first"), [(1, "a"), (2, "abc"), (3, "abc"), (4, "abcd"), (99, "abcd")]
)
def test_any_of_the_best_n_may_be_first_and_who_shares_a_place_with_them(size, first):
    hosts = [host(n, free_ram_mb=f * 1024) for n, f in zip("abcd", (4, 3, 3, 1))]
    assert ranked(*hosts, host_subset_size=size).first == set(first)


def test_what_no_api_shows_is_named():
    assert set(ranked(host("a"), host("b")).assumed) == {BUILDS, PCI}


def test_what_is_multiplied_by_nothing_rests_on_nothing():
    found = ranked(host("a"), host("b"), build_failure_weight_multiplier=0.0)
    assert found.assumed == (PCI,)


def test_an_aggregate_s_multiplier_makes_it_count_again():
    hosts = [host("a", {"build_failure_weight_multiplier": "1"}), host("b")]
    found = ranked(*hosts, build_failure_weight_multiplier=0.0)
    assert set(found.assumed) == {BUILDS, PCI}


def test_metrics_that_are_required_can_raise_even_if_they_count_for_nothing():
    options = {"metrics__weight_setting": ("a=1",), "metrics__weight_multiplier": 0.0}
    assumed = Assumption("MetricsWeigher", "metrics", "reported")
    assert assumed in ranked(host("a"), host("b"), **options).assumed
    options["metrics__required"] = False
    found = ranked(host("a"), host("b"), **options).assumed
    assert "MetricsWeigher" not in {each.weigher for each in found}


@pytest.mark.parametrize(
    ("release", "remembers"), [(20, True), (21, True), (22, False)]
)
def test_before_victoria_the_order_rests_on_earlier_requests(release, remembers):
    found = ranked(host("a"), host("b"), release=release).assumed
    history = Assumption("", "earlier weights", "first-request")
    assert (history in found) is remembers


@pytest.mark.parametrize("release", [21, 22])
def test_before_victoria_a_host_is_first_that_no_weigher_has_behind_another(release):
    more, less = {"free_ram_mb": 8192}, {"free_ram_mb": 1024}
    hosts = [host("a", **more), host("b", **more, free_disk_gb=9), host("c", **less)]
    assert ranked(*hosts, release=release).first == {"a"}
    hosts = [host("a", **more), host("b", **less), host("c", **more)]
    assert ranked(*hosts, release=release).first == {"a", "c"}


def test_before_victoria_earlier_requests_decide_between_memory_and_disk():
    """Nova 20 keeps the lowest and the highest weight of each weigher."""
    hosts = [host("a", free_ram_mb=1024), host("b", free_disk_gb=9)]
    assert ranked(*hosts, release=22).first
    assert ranked(*hosts, release=21).first == frozenset()
    subset = {"release": 21, "host_subset_size": 2}
    assert ranked(*hosts, **subset).first == {"a", "b"}


def test_before_victoria_two_of_the_best_are_no_choice_of_three():
    hosts = [host("a"), host("b", free_ram_mb=9), host("c")]
    for size, first in ((1, "ac"), (2, "ac"), (3, "abc")):
        options = {"release": 21, "host_subset_size": size}
        assert ranked(*hosts, **options).first == set(first)
    hosts.append(host("d", free_ram_mb=8))
    assert ranked(*hosts, release=21, host_subset_size=3).first == frozenset()


@pytest.mark.parametrize("text", ["2", "inf", "nan"])
def test_before_victoria_multipliers_that_differ_leave_the_first_open(text):
    hosts = [host("a", {"ram_weight_multiplier": text}), host("b", free_ram_mb=0)]
    assert ranked(*hosts, release=21).first == frozenset()


def test_a_host_that_reported_nothing_has_nothing_and_is_named():
    found = ranked(host("a", report=False), host("b"))
    assert found.places == (("b",), ("a",))
    assert Assumption("", "report", "zero", frozenset("a")) in found.assumed


@pytest.mark.parametrize("text", ["nan", "inf"])
def test_a_multiplier_that_is_no_finite_number_leaves_the_order_open(text):
    hosts = [host("a", {"ram_weight_multiplier": text}), host("b", free_ram_mb=0)]
    assert places(*hosts) == [{"a", "b"}]


@pytest.mark.parametrize(
    ("servers", "free", "multiplier", "rests"),
    [
        # Those without a server have no task.
        ({}, 4000, -1.0, False),
        ({"other": 1}, 4000, -1.0, False),
        ({"best": 1}, 4000, -1.0, True),
        ({"best": 1}, 4000, -0.4, False),
        ({"best": 1}, 8000, -0.4, True),
        ({"best": 1}, 4000, 1.0, False),
        ({"other": 1}, 4000, 1.0, True),
        ({"best": 1, "other": 1}, 4000, 0.0, False),
    ],
)
def test_a_host_with_servers_may_have_tasks_that_put_another_one_first(
    servers, free, multiplier, rests
):
    """The best has 8192 MB free, and RAMWeigher weighs the share of them."""
    hosts = [
        host("best", free_ram_mb=8192, running_vms=servers.get("best", 0)),
        host("other", free_ram_mb=free, running_vms=servers.get("other", 0)),
    ]
    found = ranked(*hosts, io_ops_weight_multiplier=multiplier)
    assert found.first == {"best"}
    assert found.rests_on_tasks is rests
    assert not ranked(*hosts[:1]).rests_on_tasks
    assert not ranked(*hosts, host_subset_size=2).rests_on_tasks


# Each weigher gives the raw weights that Nova's own gives.


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


# Weighers that are none of Nova's, in the order of the hosts.


HOSTS = [host("a"), host("b"), host("c")]
RAW = {"a": 1.0, "b": 5.0, "c": 3.0, "elsewhere": 100.0}
TWICE = dict.fromkeys(RAW, 2.0)
PATH = "mine.Priority"


def own_ranked(*weighers, names=(), **more):
    given = settings(weight_classes=(PATH,) if names else ())
    return ranking(
        HOSTS, spec(), given, OwnWeighers(weighers, frozenset(names)), **more
    )


@pytest.mark.parametrize(
    ("limits", "normalized"),
    [
        ((None, None), [0.0, 1.0, 0.5]),
        ((0, None), [0.2, 1.0, 0.6]),
        ((None, 9), [0.0, 0.5, 0.25]),
        ((-5, 15), [0.3, 0.5, 0.4]),
    ],
)
def test_weights_are_normalized_over_the_hosts_that_are_left(limits, normalized):
    found = OwnWeigher("W", RAW, TWICE, *limits).column(["a", "b", "c"])
    assert found.normalized == normalized
    assert (found.raw, found.multipliers) == ([1.0, 5.0, 3.0], [2.0, 2.0, 2.0])


def test_equal_weights_count_nothing():
    found = OwnWeigher("W", dict.fromkeys("abc", 7.0), TWICE).column("abc")
    assert found.normalized == [0.0, 0.0, 0.0]


def test_an_own_weigher_decides_about_the_order():
    found = own_ranked(OwnWeigher("Priority", RAW, TWICE), names=[PATH])
    assert found.places == (("b",), ("c",), ("a",))
    assert [found.total(each) for each in "abc"] == [0.0, 2.0, 1.0]
    assert all(each.weigher for each in found.assumed)
    assert not {each.weigher for each in found.assumed} & {PATH, "Priority"}


def test_one_that_the_settings_name_by_its_path_is_the_class_that_ran():
    found = own_ranked(OwnWeigher("Priority", RAW, TWICE), names=["p.py:Priority"])
    assert PATH not in {each.weigher for each in found.assumed}


def test_one_that_does_not_answer_for_all_hosts_is_named_and_weighs_all_alike():
    unknown = {"c": Unknown("metrics")}
    found = own_ranked(OwnWeigher("W", {"a": 1.0, "b": 2.0}, TWICE, without=unknown))
    assert Assumption("W", "metrics", UNSEEN) in found.assumed
    assert found.places == (("a", "b", "c"),)


def test_one_that_raises_for_a_host_that_is_left_ends_the_request():
    raised = {"c": Raises("ValueError", "", "no number")}
    weigher = OwnWeigher("W", RAW, TWICE, without=raised)
    with pytest.raises(Refusal, match="a weigher ends the request") as refusal:
        own_ranked(weigher)
    assert refusal.value.exception == "ValueError"
    assert refusal.value.keys == ("W", "no number")
    assert weigher.column(["a", "b"]).normalized == [0.0, 1.0]


@pytest.mark.parametrize(
    ("unsure", "is_sure"),
    [("", True), ("a", True), ("c", False), ("ac", False), ("ab", False)],
)
def test_it_ends_the_request_only_if_it_is_sure_that_such_a_host_is_weighed(
    unsure, is_sure
):
    raised = {"c": Raises("ValueError", "", "no number")}
    weigher = OwnWeigher("W", RAW, TWICE, without=raised)
    if is_sure:
        with pytest.raises(Refusal, match="a weigher ends the request"):
            own_ranked(weigher, unsure=unsure)
        return
    found = own_ranked(weigher, unsure=unsure)
    assert Assumption("W", "ValueError", NOT_RAISING) in found.assumed
    assert found.places == (("a", "b", "c"),)
