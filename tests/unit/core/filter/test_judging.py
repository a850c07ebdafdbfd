"""Which filters are on, in which order, and the hints that do nothing."""

from __future__ import annotations

import collections
import dataclasses

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.judge.filtering import UnreadHint, unread_hints, unread_zone
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import state, table
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Fails,
    Passes,
    Raises,
    Unknown,
    in_turn,
)
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.options import OPTIONS, SchedulerSettings, Setting
from osc_traitsched.core.nova.own import OwnAnswers
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.views.explain import reasons
from tests.aggregates import aggregate
from tests.unit.core.filter.asked import host, says, settings, spec
from tests.unit.core.scheduled import COMPUTE, OWN, asking, question

# Which filters are on, in which order, and what they say of many hosts.


ON = "filter_scheduler__enabled_filters"
FAILS, UNKNOWN, RAISES = Fails("why"), Unknown("what"), Raises("E", "k", "v")
MAY_RAISE = Unknown("what", may_raise=True)


@pytest.mark.parametrize(
    ("name", "release", "expected"),
    [
        ("RetryFilter", 21, None),
        ("TrustedFilter", 20, "traits can do its work"),
        ("CoreFilter", 20, "Placement does its work"),
        ("ComputeFilter", 34, None),
        ("MyFilter", 34, None),
    ],
)
def test_a_filter_has_a_successor_in_releases_that_lack_it(name, release, expected):
    assert table.successor(name, release) == expected


@pytest.mark.parametrize("release", RELEASES)
def test_each_filter_that_is_on_by_default_is_known(release):
    assert set(table.enabled(settings(release))) <= set(FILTERS)


def test_the_options_that_filters_read_are_options_of_filters():
    read = {name for each in FILTERS.values() for name in each.options}
    assert read <= set(OPTIONS)
    assert options.ENABLED_FILTERS not in read


def test_filters_come_in_the_order_of_the_option_each_once():
    given = settings(**{ON: ("SameHostFilter", "ComputeFilter", "SameHostFilter")})
    assert table.enabled(given) == ("SameHostFilter", "ComputeFilter")


@pytest.mark.parametrize(
    ("name", "last"),
    [("AvailabilityZoneFilter", 27), ("RetryFilter", 21), ("AggregateCoreFilter", 21)],
)
def test_a_scheduler_does_not_start_with_a_filter_that_its_release_lacks(name, last):
    given = settings(last, **{ON: ("ComputeFilter", name)})
    assert table.enabled(given) == ("ComputeFilter", name)
    later = dataclasses.replace(given, release=last + 1)
    with pytest.raises(Refusal) as caught:
        table.judge_all([host()], spec(), later)
    assert caught.value.keys == (name,)
    told = f" does not start with {name} in enabled_filters (a test): it has no such"
    assert told in str(caught.value)


def test_a_scheduler_does_not_start_with_a_path_in_its_list_of_filters():
    path = "nova.scheduler.filters.compute_filter.ComputeFilter"
    with pytest.raises(Refusal) as caught:
        table.enabled(settings(**{ON: ("SameHostFilter", path)}))
    assert caught.value.keys == (path,)


@pytest.mark.parametrize(
    ("name", "available", "files"),
    [
        ("NUMATopologyFiltr", (), ()),
        ("MyFilter", (), ("nova.conf",)),
        ("ComputeFilter", ("mine.MyFilter",), ("nova.conf",)),
    ],
)
def test_nova_scheduler_starts_with_no_filter_that_it_cannot_load(
    name, available, files
):
    values = {"enabled_filters": (name,)}
    if available:
        values["available_filters"] = available
    given = {
        f"filter_scheduler.{key}": Setting(value, "nova.conf:2", given=True)
        for key, value in values.items()
    }
    asked = SchedulerSettings(34, given, files=files)
    with pytest.raises(Refusal) as caught:
        table.enabled(asked)
    assert caught.value.keys == (name,)
    if name.endswith("Filtr"):
        assert str(caught.value).endswith("did you mean NUMATopologyFilter?")


def test_nothing_is_known_of_a_filter_that_is_none_of_novas():
    given = settings(**{ON: ("BlazarFilter",)})
    hosts = [host("a"), host("b")]
    judgment = table.judge_all(hosts, spec(), given)
    assert set(judgment.answers["BlazarFilter"].values()) == {Unknown("custom filter")}


def test_every_filter_judges_every_host():
    hosts = [host("a", compute={"is_up": False}), host("b")]
    given = settings(**{ON: ("ComputeFilter", "SimpleCIDRAffinityFilter")})
    asked = spec(hints={"build_near_host_ip": ("10.9.0.0",)})
    answers = table.judge_all(hosts, asked, given).answers
    assert [type(each) for each in answers["ComputeFilter"].values()] == [Fails, Passes]
    both = [type(each) for each in answers["SimpleCIDRAffinityFilter"].values()]
    assert both == [Fails, Fails]


def test_a_rebuild_is_judged_by_what_the_image_decides_only():
    down = host(compute={"is_up": False}, metadata=[{"os_type": "windows"}])
    asked = spec({}, {"os_type": "linux"}, hints={"_nova_check_type": ("rebuild",)})
    assert says("ComputeFilter", down, asked) == "yes"
    name = "AggregateImagePropertiesIsolation"
    assert says(name, down, asked) == "no: image-differs"
    rebuilds = {name for name, each in FILTERS.items() if each.on_rebuild}
    assert rebuilds == {name, "ImagePropertiesFilter", "IsolatedHostsFilter"}


def test_hosts_that_are_judged_together_get_their_own_answers():
    """Each answer is that of the host asked alone."""
    hosts = [
        host("a"),
        host("down", compute={"is_up": False}),
        host("off", compute={"is_enabled": False, "disabled_reason": "disk"}),
        host("other", report={"hypervisor_type": "VMware vCenter Server"}),
        host("old", report={"hypervisor_version": 1000}),
        host("cells", report={"cpu_info": {"topology": {"cells": 1}}}),
        host("arm", report={"cpu_info": {"arch": "aarch64"}}),
        host("unread", report=False),
        host("rack", metadata=[{"rack": "2"}, {}]),
    ]
    asked = spec(
        {"hw:numa_nodes": "2", "rack": "2", "capabilities:hypervisor_type": "QEMU"},
        {"hw_architecture": "aarch64", "img_hv_requested_version": ">=2.0"},
    )
    given = settings(**{ON: tuple(n for n, f in FILTERS.items() if f.is_in(34))})
    together = table.judge_all(hosts, asked, given)
    for one in hosts:
        alone = table.judge_all([one], asked, given)
        for name in together.names:
            uuid = one.compute.uuid
            assert together.answers[name][uuid] == alone.answers[name][uuid], name
    kinds = {type(each) for n in together.names for each, _ in together.groups(n)}
    assert kinds >= {Passes, Fails, Unknown}


@pytest.mark.parametrize(
    ("specs", "expected"),
    [
        ({}, {"ComputeFilter": 2, "NUMATopologyFilter": 1}),
        ({"hw:numa_nodes": "2"}, {"ComputeFilter": 2, "NUMATopologyFilter": 2}),
        ({"free_ram_mb": ">= 1"}, {"ComputeCapabilitiesFilter": 90}),
    ],
)
def test_a_filter_is_asked_once_for_hosts_that_are_equal_to_it(
    specs, expected, monkeypatch
):
    counted = collections.Counter()

    def counting(name, judge):
        def count(*asked):
            counted[name] += 1
            return judge(*asked)

        return count

    for name in expected:
        row = FILTERS[name]
        row = dataclasses.replace(row, judge=counting(name, row.judge))
        monkeypatch.setitem(FILTERS, name, row)
    hosts = [
        host(f"cmp{number}", compute={"is_enabled": number % 9 > 0})
        for number in range(90)
    ]
    table.judge_all(hosts, spec(specs), settings(**{ON: tuple(expected)}))
    assert counted == expected


def test_hosts_of_the_same_aggregates_are_judged_once(monkeypatch):
    counted = collections.Counter()

    def counting(each):
        def judge(*asked):
            counted[each.name] += 1
            return each.judge(*asked)

        return dataclasses.replace(each, judge=judge)

    counters = {name: counting(each) for name, each in FILTERS.items()}
    monkeypatch.setattr(table, "FILTERS", counters)
    racks = [{"rack": str(number)} for number in range(4)]
    shared = [host(metadata=[rack]).aggregates for rack in racks]
    for number, aggregates in enumerate(shared):
        one = dataclasses.replace(aggregates[0], uuid=str(number))
        shared[number] = (one,)
    hosts = [
        dataclasses.replace(host(f"cmp{number}"), aggregates=shared[number % 4])
        for number in range(1000)
    ]
    names = (
        "AggregateInstanceExtraSpecsFilter",
        "AggregateMultiTenancyIsolation",
        "PciPassthroughFilter",
        "NumInstancesFilter",
    )
    judgment = table.judge_all(hosts, spec({"rack": "2"}), settings(**{ON: names}))
    assert [counted[name] for name in names] == [4, 4, 1, 1000]
    answers = judgment.answers[names[0]]
    assert sum(answer == PASSES for answer in answers.values()) == 250
    assert len(answers) == 1000


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], PASSES),
        ([PASSES, PASSES], PASSES),
        ([PASSES, FAILS, RAISES], FAILS),
        ([RAISES, FAILS], RAISES),
        ([UNKNOWN, PASSES], UNKNOWN),
        ([UNKNOWN, FAILS], FAILS),
        ([UNKNOWN, RAISES], UNKNOWN),
        ([MAY_RAISE, FAILS], MAY_RAISE),
        ([UNKNOWN, MAY_RAISE, FAILS], MAY_RAISE),
        ([MAY_RAISE, UNKNOWN, FAILS], MAY_RAISE),
    ],
)
def test_conditions_are_looked_at_one_after_the_other(answers, expected):
    assert in_turn(answers) == expected


def test_reasons_differ():
    constants = (value for name, value in vars(state).items() if name.isupper())
    texts = [value for value in constants if isinstance(value, str)]
    assert len(texts) == len(set(texts)) > 20


def test_a_filter_is_read_by_its_own_name():
    assert all(name == each.name for name, each in table.FILTERS.items())


# The hints that do nothing.


CLOUD = {"cloud": {"a": {}}}
HINTS = {"same_host": ("a",), "colour": ("red",)}


def asked(*enabled, hints=HINTS):
    return question(CLOUD, *enabled, hints=hints)


def test_a_hint_has_no_effect_where_its_filter_is_off():
    off = UnreadHint("same_host", "SameHostFilter")
    assert unread_hints(asked(COMPUTE)) == (UnreadHint("colour"), off)
    assert unread_hints(asked("SameHostFilter")) == (UnreadHint("colour"),)


def test_a_filter_of_ones_own_may_read_any_hint():
    assert unread_hints(asked(OWN)) == ()
    found = asked(COMPUTE)
    ran = OwnAnswers(found.request_spec(), found.assumptions, filters={OWN: {}})
    assert unread_hints(dataclasses.replace(found, own=ran)) == ()
    weighers = OwnAnswers(found.request_spec(), found.assumptions)
    assert len(unread_hints(dataclasses.replace(found, own=weighers))) == 2


def test_a_prefix_does_nothing_without_an_address():
    cidr = "SimpleCIDRAffinityFilter"
    alone = asked(cidr, hints={"cidr": ("/24",)})
    found = UnreadHint("cidr", without="build_near_host_ip")
    assert unread_hints(alone) == (found,)
    both = {"cidr": ("/24",), "build_near_host_ip": ("192.0.2.1",)}
    assert unread_hints(asked(cidr, hints=both)) == ()


@pytest.mark.parametrize(
    ("zone", "enabled", "kept", "found"),
    [
        ("az-gone", (COMPUTE,), True, "az-gone"),
        ("az1", (COMPUTE,), True, ""),
        (None, (COMPUTE,), True, ""),
        # nova-api looks at the zone of a new server, and these filters may.
        ("az-gone", (COMPUTE,), False, ""),
        ("az-gone", (OWN,), True, ""),
        ("az-gone", ("AvailabilityZoneFilter",), True, ""),
    ],
)
def test_a_zone_that_no_aggregate_has_keeps_no_host_from_a_move(
    zone, enabled, kept, found
):
    pinned = asking(
        question(CLOUD, *enabled, release=23),
        zone=zone,
        is_kept=kept,
        aggregates=(aggregate("a", availability_zone="az1"),),
    )
    assert unread_zone(pinned) == found
    said = "No aggregate defines zone az-gone: it keeps no host out."
    assert list(reasons.unread_zone(pinned)) == [said] * bool(found)


def test_each_hint_without_effect_is_a_line():
    cidr = asked("SimpleCIDRAffinityFilter", hints={**HINTS, "cidr": ("/24",)})
    assert list(reasons.unread_hints(cidr)) == [
        "Hint cidr has no effect: it needs the hint build_near_host_ip.",
        "Hint colour has no effect: no enabled filter reads it.",
        "Hint same_host has no effect: SameHostFilter reads it, which is off.",
    ]
