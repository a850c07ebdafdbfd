"""How many servers fit: by figures, queries, pools, groups and filters."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.inventory.snapshot import Compute, Nova, Provider, Snapshot
from osc_traitsched.core.judge import capacity, filtering
from osc_traitsched.core.judge.capacity import FlavorCounter
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import ServerGroup, host_states
from osc_traitsched.core.nova.filter.table import servers_if_empty, with_filters
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement import facts as placement_facts
from osc_traitsched.core.placement.facts import (
    Facts,
    Fit,
    Room,
    Stock,
    limits,
    undecided,
    unused,
)
from tests.property.building import identity
from tests.unit.core.filter.asked import REPORT, host, settings
from tests.unit.core.scheduled import asking, computes, judgement_of, question

# What providers could ever give, by figures and by what Placement offers now.


FOUR = ("VCPU", 4)
FULL = Stock(capacity=8, used=8)
UNITS = Stock(8, 0, total=8, reserved=0, ratio=1.0, min_unit=2, max_unit=6, step_size=2)


def facts(offering=(), **stock):
    """Return facts on hosts by name; one whose stock is None was not read."""
    providers = tuple(Provider(name, name, 1, name) for name in stock)
    return Facts(
        snapshot=Snapshot(providers),
        traits={name: frozenset() for name in stock},
        offers={FOUR: frozenset(offering)},
        members={},
        shared={},
        stock={name: {"VCPU": each} for name, each in stock.items() if each},
        candidates=frozenset(),
    )


@pytest.mark.parametrize(
    ("amount", "is_given"),
    [(1, False), (2, True), (3, False), (4, True), (6, True), (8, False)],
)
def test_units_and_steps_decide_where_they_were_read(amount, is_given):
    assert UNITS.could_give(amount) is is_given
    in_use = dataclasses.replace(UNITS, used=8)
    assert in_use.could_give(amount) is is_given


def test_capacity_decides_where_they_were_not():
    assert FULL.could_give(8)
    assert not FULL.could_give(9)
    found = facts(a=FULL, small=Stock(3, 0), unread=None)
    assert found.if_empty[FOUR] == {"a", "unread"}


def test_an_unread_node_of_ironic_could_give_custom_classes_alone():
    node = host("bm", report={"hypervisor_type": "ironic"}).compute
    node = dataclasses.replace(node, uuid="bm")
    found = facts(bm=None)
    snapshot = found.snapshot.with_nova(Nova((node,)))
    found = dataclasses.replace(found, snapshot=snapshot)
    assert found.if_empty[FOUR] == set()
    assert found.if_empty["CUSTOM_BM", 1] == {"bm"}


def test_no_more_is_given_at_once_than_units_allow():
    found = limits({"a": {"VCPU": UNITS}, "b": {"VCPU": FULL}})
    assert found["VCPU"] == {"a": 6, "b": 8}
    assert not found["MEMORY_MB"]


def test_what_is_full_now_could_give_and_what_is_too_small_could_not():
    found = facts(full=FULL, small=Stock(3, 0), unread=None)
    assert unused(found, [FOUR]).offers[FOUR] == {"full", "unread"}


def test_what_is_offered_now_could_be_given_whatever_figures_say():
    found = facts(offering=["shrunk"], shrunk=Stock(2, 0))
    assert unused(found, [FOUR]).offers[FOUR] == {"shrunk"}


def test_what_is_free_and_refused_tells_nothing_of_others_of_the_same_capacity():
    found = facts(refusing=Stock(8, 0), alike=FULL, other=Stock(16, 16))
    assert unused(found, [FOUR]).offers[FOUR] == {"alike", "other"}
    # The units of those are to be read, and then they decide.
    roots = found.snapshot.by_uuid
    assert undecided(found, [FOUR], roots) == [["alike"], ["other"]]
    small = {"alike": {"VCPU": dataclasses.replace(UNITS, max_unit=2)}}
    assert unused(found, [FOUR], small).offers[FOUR] == {"other"}


def test_units_are_wanted_of_what_is_full_and_large_enough_or_was_not_read():
    found = facts(
        a=FULL, b=FULL, c=Stock(16, 16), small=Stock(3, 3), free=Stock(9, 0), gone=None
    )
    roots = found.snapshot.by_uuid
    assert undecided(found, [FOUR], roots) == [["a", "b"], ["c"], ["gone"]]
    assert undecided(found, [FOUR], ["b"]) == [["b"]]


# How many more servers fit on hosts: both queries, pools, and filters that count.


FLAVOR = {"name": "f", "vcpus": 2, "ram": 512, "disk": 10}
PINNED = {**FLAVOR, "extra_specs": {"hw:cpu_policy": "dedicated"}}


def more_servers_facts(hosts, pools=None, trees=None):
    """Return facts of hosts by their capacities; each amount is offered."""
    every = {**hosts, **(pools or {})}
    providers = tuple(Provider(each, each, 0, each, None) for each in every)
    stock = {
        uuid: {name: Stock(n, 0) for name, n in sizes.items()}
        for uuid, sizes in every.items()
    }
    amounts = {("VCPU", 2), ("PCPU", 2), ("MEMORY_MB", 512), ("DISK_GB", 10)}
    return Facts(
        snapshot=Snapshot(providers, frozenset(pools or ())),
        traits={},
        offers={
            (name, n): frozenset(u for u in every if n <= every[u].get(name, 0))
            for name, n in amounts
        },
        members={},
        shared=trees or {},
        stock=stock,
        candidates=frozenset(hosts),
    )


def counted(found, flavor=FLAVOR, caps=None):
    question = Question(flavor, {}, (), settings())
    judgement = Judgement(question, question.request(), found, None)
    counter = FlavorCounter(judgement, found, caps or {})
    free = capacity.free_now(found)
    fits = counter.hosts(free, sorted(found.candidates))
    return fits, counter.room(fits, free)


def test_the_scarcest_class_decides_on_each_host():
    hosts = {
        "a": {"VCPU": 9, "MEMORY_MB": 9999, "DISK_GB": 100},
        "b": {"VCPU": 99, "MEMORY_MB": 1100, "DISK_GB": 100},
        "c": {"VCPU": 1, "MEMORY_MB": 9999, "DISK_GB": 100},
    }
    fits, room = counted(more_servers_facts(hosts))
    assert {name: (fit.room, fit.limit) for name, fit in fits.items()} == {
        "a": (Room(4, 4), "VCPU"),
        "b": (Room(2, 2), "MEMORY_MB"),
    }
    assert room == Room(6, 6)


def test_a_host_with_dedicated_cpus_counts_by_them():
    sizes = {"MEMORY_MB": 9999, "DISK_GB": 999}
    hosts = {"a": {"PCPU": 6, "VCPU": 40, **sizes}, "b": {"VCPU": 8, **sizes}}
    _, room = counted(more_servers_facts(hosts), PINNED)
    assert room == Room(3 + 4, 3 + 4)


@pytest.mark.parametrize(
    ("used", "expected"),
    [(0, Room(3, 3)), (4, Room(1, 1)), (5, Room(0, 3)), (6, Room(0, 3))],
)
def test_a_host_short_of_dedicated_cpus_holds_at_most_what_they_could(used, expected):
    """Placement allocations and pinned servers can differ, so none is sure."""
    found = more_servers_facts(
        {"a": {"PCPU": 6, "VCPU": 40, "MEMORY_MB": 9999, "DISK_GB": 999}}
    )
    stock = {"a": {**found.stock["a"], "PCPU": Stock(6, used)}}
    _, room = counted(dataclasses.replace(found, stock=stock), PINNED)
    assert room == expected


def test_a_host_with_too_few_dedicated_cpus_holds_none():
    host = {"PCPU": 1, "VCPU": 40, "MEMORY_MB": 9999, "DISK_GB": 999}
    assert counted(more_servers_facts({"a": host}), PINNED) == ({}, Room(0, 0))


@pytest.mark.parametrize(
    ("cap", "expected"), [((1, 3), Room(1, 3)), ((None, None), Room(4, 4))]
)
def test_a_filter_that_counts_servers_caps(cap, expected):
    hosts = {"a": {"VCPU": 8, "MEMORY_MB": 9999, "DISK_GB": 100}}
    assert counted(more_servers_facts(hosts), caps={"a": cap})[1] == expected


def test_a_filter_that_counts_servers_caps_hosts_that_use_a_pool():
    bare = {"VCPU": 20, "MEMORY_MB": 9999}
    pool, shared = {"nfs": {"DISK_GB": 990}}, {"nfs": frozenset("ab")}
    found = more_servers_facts({"a": bare, "b": bare}, pool, shared)
    assert counted(found, caps={"a": (2, 2), "b": (None, None)})[1] == Room(12, 12)


def test_pools_count_once_and_ways_to_choose_make_a_range():
    bare = {"VCPU": 20, "MEMORY_MB": 9999}
    pool = {"nfs": {"DISK_GB": 70}}
    shared = {"nfs": frozenset("ab")}
    assert counted(more_servers_facts({"a": bare, "b": bare}, pool, shared))[1] == Room(
        7, 7
    )
    # If one of them has a disk, too, its servers may use up the pool.
    own = {"a": bare, "b": {**bare, "DISK_GB": 30}}
    assert counted(more_servers_facts(own, pool, shared))[1] == Room(10, 10)
    # Two pools of which a host can use both.
    pools = {**pool, "ceph": {"DISK_GB": 50}}
    both = {"nfs": frozenset("ab"), "ceph": frozenset("b")}
    assert (
        counted(more_servers_facts({"a": bare, "b": bare}, pools, both))[1].most == 12
    )


# For how many servers there is room: what groups, filters and chance leave of it.


ROOM_FLAVOR = {"name": "f", "vcpus": 1, "ram": 512, "disk": 0}
FILTERS = ("NumInstancesFilter", "IoOpsFilter")
#: Of the hosts a, b and c the first has room for two servers, and so on.
FREE = {"a": 2, "b": 3, "c": 7}


def room_facts(**fits):
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
    group=None,
    servers=None,
    unsure=(),
    first=(),
    hosts=None,
    found=None,
    flavor=ROOM_FLAVOR,
    **options,
):
    question = Question(
        flavor, None, (), settings(**options), group=group, servers=servers
    )
    known = {each: host(each) for each in FREE} if hosts is None else hosts
    return filtering.room_of_hosts(
        question, question.request(), found or room_facts(), known, unsure, first
    )


def test_what_one_host_takes_is_no_other_s():
    assert of() == Room(12, 12)


def test_a_host_that_a_filter_may_keep_out_is_not_sure():
    assert of(unsure={"c"}) == Room(5, 12)


def test_of_several_placements_on_a_host_the_worst_is_sure():
    assert of(found=room_facts(c=Fit(4, is_only=False))) == Room(9, 12)


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


@pytest.mark.parametrize(
    ("pcpu", "expected"),
    [
        ({}, Room(10, 10)),
        # Placement has one allocation request for each of Nova's queries.
        ({"PCPU": Stock(6, 0)}, Room(3, 3)),
        ({"PCPU": Stock(6, 4)}, Room(1, 1)),
        ({"PCPU": Stock(6, 5)}, Room(0, 3)),
        ({"PCPU": Stock(6, 6)}, Room(0, 3)),
    ],
)
def test_free_vcpu_are_no_room_for_servers_that_a_host_pins(pcpu, expected):
    stock = {"VCPU": Stock(20, 0), "MEMORY_MB": Stock(99999, 0), **pcpu}
    free = {name: each.free // 2 for name, each in stock.items() if "CPU" in name}
    known = Fit(min(n for n in free.values() if n), is_only=not free.get("PCPU"))
    found = dataclasses.replace(room_facts(a=known), stock={"a": stock})
    unsure = set() if free.get("PCPU", 1) else {"a"}
    flavor = {**PINNED, "disk": 0}
    room = of(hosts={"a": None}, found=found, unsure=unsure, flavor=flavor)
    assert room == expected


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


# Hosts of Placement's answer, while providers come and go.


NOVA = Nova((Compute("a", "host-a", "a"), Compute("b", "host-b", "b")))
ROOTS = (Provider("a", "host-a", 1, "a"), Provider("b", "host-b", 1, "b"))
NESTED = Provider("n", "numa", 1, "b", "b")


def summary(root):
    resources = {"VCPU": {"capacity": 4, "used": 1}}
    return {"root_provider_uuid": root, "resources": resources}


def allocation(*providers):
    return {"allocations": {p: {"resources": {"VCPU": 1}} for p in providers}}


ANSWER = {
    "allocation_requests": [allocation("a"), allocation("b", "n")],
    "provider_summaries": {"a": summary("a"), "b": summary("b"), "n": summary("b")},
}


def hosts(*providers):
    snapshot = Snapshot(providers).with_nova(NOVA)
    return [each.host.name for each in placement_facts.candidates(ANSWER, snapshot)]


def test_every_host_of_novas_is_a_candidate():
    assert hosts(*ROOTS, NESTED) == ["host-a", "host-b"]


def test_a_host_of_which_something_was_deleted_meanwhile_is_none():
    assert hosts(*ROOTS) == ["host-a"]
    assert hosts(ROOTS[0]) == ["host-a"]


def given(sharing, *requests):
    """Return the hosts of an answer by both who ask for them, where some share."""
    answer = {**ANSWER, "allocation_requests": requests}
    snapshot = Snapshot((*ROOTS, NESTED), frozenset(sharing)).with_nova(NOVA)
    hosts = placement_facts.candidates(answer, snapshot)
    roots = placement_facts.roots_in_answer(answer, snapshot)
    assert {each.host.uuid for each in hosts} == roots
    return roots


def test_a_host_that_shares_is_a_candidate_for_what_it_gives_by_itself():
    both = [allocation("a"), allocation("b", "n")]
    assert given("a", *both) == given("ab", *both) == {"a", "b"}


def test_a_host_that_only_gives_another_one_something_is_none():
    assert given("a", allocation("a", "b")) == {"b"}


def test_only_suitable_hosts_decide_whether_an_amount_could_ever_be_given():
    sizes = {"MEMORY_MB": 512, "DISK_GB": 10}
    found = more_servers_facts({"large": {"VCPU": 8, **sizes}, "small": {"VCPU": 1}})
    question = Question(FLAVOR, {}, (), settings())
    judgement = Judgement(question, question.request(), found, None)
    counter = FlavorCounter(judgement, found, {})
    assert counter.never(["small", "large"]) is None
    # Without a suitable host all of them count.
    assert counter.never([]) is None
    never = counter.never(["small"])
    assert (never.resource_class, never.largest, never.is_of_all) == (
        "DISK_GB",
        0,
        False,
    )


# Hosts that could hold a server if nothing ran there.


LIMIT = "NumInstancesFilter"


def _limited():
    """Return the judgement of three hosts: two at the limit, one of them isolated."""
    body = {
        "cloud": {"free": {}, "full": {}, "alone": {}},
        "aggregates": {
            "mine": {"hosts": ["alone"], "metadata": {"filter_tenant_id": "other"}}
        },
        "project": "p",
    }
    reports = {"free": 0, "full": 3, "alone": 3}
    states = {
        name: {"report": dataclasses.replace(REPORT, running_vms=number)}
        for name, number in reports.items()
    }
    filters = (LIMIT, "AggregateMultiTenancyIsolation")
    asked = question(body, *filters)
    settings = asked.assumptions.changed(options.MAX_INSTANCES, 2)
    asked = asking(asked, assumptions=settings)
    return judgement_of(asked, body, body["cloud"], computes(body, **states))


def test_a_host_at_a_limit_of_servers_suits_if_it_would_not_be_without_them():
    found = _limited()
    assert [each.name for each in found.candidates] == ["free"]
    assert capacity.suited(found) == [identity("free"), identity("full")]


def test_an_empty_host_holds_as_many_as_the_filter_allows():
    found = _limited()
    states = host_states(found.computes.values(), ())
    spec, settings = found.question.request_spec(), found.question.assumptions
    limits = servers_if_empty(states, spec, settings)
    assert limits == dict.fromkeys(found.computes, (2, 2))
    settings = with_filters(settings, [(LIMIT, False)])
    assert servers_if_empty(states, spec, settings) == {}


def test_how_many_build_at_once_does_not_limit_an_empty_host():
    found = _limited()
    filters = [(LIMIT, False), ("IoOpsFilter", True)]
    settings = with_filters(found.question.assumptions, filters)
    states = host_states(found.computes.values(), ())
    spec = found.question.request_spec()
    assert servers_if_empty(states, spec, settings) == {}
