"""Hosts are ranked in the order in which nova-scheduler tries them."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.weighers import Assumption, ranking
from tests.unit.core.weigher import host, settings, spec

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
