"""How many more servers fit on hosts: both queries, pools, and filters that count."""

from __future__ import annotations

import pytest

from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.judge import capacity
from osc_traitsched.core.judge.capacity import FlavorCounter
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement.facts import Facts, Room, Stock
from tests.unit.core.filter.asked import settings

FLAVOR = {"name": "f", "vcpus": 2, "ram": 512, "disk": 10}
PINNED = {**FLAVOR, "extra_specs": {"hw:cpu_policy": "dedicated"}}


def facts(hosts, pools=None, trees=None):
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
    judgement = Judgement(question, question.request(), facts=found)
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
    fits, room = counted(facts(hosts))
    assert {name: (fit.room, fit.limit) for name, fit in fits.items()} == {
        "a": (Room(4, 4), "VCPU"),
        "b": (Room(2, 2), "MEMORY_MB"),
    }
    assert room == Room(6, 6)


def test_a_host_with_dedicated_cpus_counts_by_them():
    sizes = {"MEMORY_MB": 9999, "DISK_GB": 999}
    hosts = {"a": {"PCPU": 6, "VCPU": 40, **sizes}, "b": {"VCPU": 8, **sizes}}
    _, room = counted(facts(hosts), PINNED)
    assert room == Room(3 + 4, 3 + 4)


@pytest.mark.parametrize(
    ("cap", "expected"), [((1, 3), Room(1, 3)), ((None, None), Room(4, 4))]
)
def test_a_filter_that_counts_servers_caps(cap, expected):
    hosts = {"a": {"VCPU": 8, "MEMORY_MB": 9999, "DISK_GB": 100}}
    assert counted(facts(hosts), caps={"a": cap})[1] == expected


def test_pools_count_once_and_ways_to_choose_make_a_range():
    bare = {"VCPU": 20, "MEMORY_MB": 9999}
    pool = {"nfs": {"DISK_GB": 70}}
    shared = {"nfs": frozenset("ab")}
    assert counted(facts({"a": bare, "b": bare}, pool, shared))[1] == Room(7, 7)
    # If one of them has a disk, too, its servers may use up the pool.
    own = {"a": bare, "b": {**bare, "DISK_GB": 30}}
    assert counted(facts(own, pool, shared))[1] == Room(10, 10)
    # Two pools of which a host can use both.
    pools = {**pool, "ceph": {"DISK_GB": 50}}
    both = {"nfs": frozenset("ab"), "ceph": frozenset("b")}
    assert counted(facts({"a": bare, "b": bare}, pools, both))[1].most == 12
