"""For how many servers there is room: what groups, filters and chance leave of it."""

from __future__ import annotations

import pytest

from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.judge import filtering
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.facts import Facts, Fit, Room, Stock
from tests.unit.core.filter.asked import host, settings

FLAVOR = {"name": "f", "vcpus": 1, "ram": 512, "disk": 0}
FILTERS = ("NumInstancesFilter", "IoOpsFilter")
#: Of the hosts a, b and c the first has room for two servers, and so on.
FREE = {"a": 2, "b": 3, "c": 7}


def facts(**fits):
    providers = tuple(Provider(each, each, 0, each, None) for each in FREE)
    stock = {
        each: {"VCPU": Stock(n, 0), "MEMORY_MB": Stock(99999, 0)}
        for each, n in FREE.items()
    }
    known = {each: Fit(n, is_only=True) for each, n in FREE.items()}
    return Facts(
        snapshot=Snapshot(providers),
        traits={},
        offers={},
        members={},
        shared={},
        stock=stock,
        candidates=frozenset(FREE),
        fits={**known, **fits},
    )


def of(
    group=None, servers=None, unsure=(), first=(), hosts=None, found=None, **options
):
    question = Question(
        FLAVOR, None, (), settings(**options), group=group, servers=servers
    )
    known = {each: host(each) for each in FREE} if hosts is None else hosts
    return filtering.room_of_hosts(
        question, question.request(), found or facts(), known, unsure, first
    )


def test_what_one_host_takes_is_no_other_s():
    assert of() == Room(12, 12)


def test_a_host_that_a_filter_may_keep_out_is_not_sure():
    assert of(unsure={"c"}) == Room(5, 12)


def test_of_several_placements_on_a_host_the_worst_is_sure():
    assert of(found=facts(c=Fit(4, is_only=False))) == Room(9, 12)


@pytest.mark.parametrize(("most", "expected"), [(1, 3), (3, 8)])
def test_anti_affinity_leaves_so_many_on_each_host(most, expected):
    group = ServerGroup("g", "anti-affinity", most)
    assert of(group) == Room(expected, expected)


def test_members_of_the_group_count_on_their_hosts():
    group = ServerGroup("g", "anti-affinity", 2, members=frozenset({"s"}))
    assert of(group, {"s": ("c", "c")}) == Room(5, 5)


def test_with_affinity_the_first_host_has_to_hold_them_all():
    group = ServerGroup("g", "affinity")
    assert of(group) == Room(2, 7)
    assert of(group, first={"b", "c"}) == Room(3, 7)


def test_soft_policies_leave_all_room():
    assert of(ServerGroup("g", "soft-anti-affinity")) == Room(12, 12)


def test_filters_that_count_leave_less():
    options = {
        "filter_scheduler__enabled_filters": FILTERS,
        "filter_scheduler__max_instances_per_host": 8,
        "filter_scheduler__max_io_ops_per_host": 4,
    }
    busy = {each: host(each) for each in FREE}
    # Each has three servers, and it is not known how many of them are being built.
    assert of(hosts=busy, **options) == Room(3, 9)
    options["filter_scheduler__max_instances_per_host"] = 4
    assert of(hosts=busy, **options) == Room(3, 3)
