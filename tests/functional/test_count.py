"""How many servers of one request fit, beside a Placement that they are claimed in.

Servers are claimed as nova-scheduler does (nova/scheduler/manager.py, ``_schedule``):
Placement is asked once, and each server takes the first allocation request of the first
host that it can be claimed on. In which order hosts are tried, the test draws.
"""

from __future__ import annotations

import json
import random
import uuid

import pytest

from tests.functional.nova import Nova

pytestmark = pytest.mark.one_client

EVERY = {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 100}
WITHOUT_DISK = {"VCPU": 8, "MEMORY_MB": 4096}
FLAVOR = {"id": "1", "name": "small", "vcpus": 1, "ram": 1024, "disk": 10}
SHARES = "MISC_SHARES_VIA_AGGREGATE"
RACK = "a0000001-0000-4000-8000-000000000000"


def join(placement, *providers):
    for each in providers:
        body = {"aggregates": [RACK]}
        body["resource_provider_generation"] = placement.generation(each)
        placement.call("PUT", f"/resource_providers/{each}/aggregates", body)


def plain(placement):
    """Two hosts of one provider each, the second half used."""
    hosts = [placement.add_host(name, (), inventories=EVERY) for name in ("a", "b")]
    placement.allocate(hosts[1], MEMORY_MB=2048)
    return hosts, {}


def cards(placement):
    """A host with two cards that hold one and two; another one with one card."""
    first, second = (placement.add_host(n, (), inventories=EVERY) for n in ("a", "b"))
    for name, parent, number in (("c", first, 1), ("d", first, 2), ("e", second, 3)):
        placement.add_host(name, (), parent=parent, inventories={"VGPU": number})
    return [first, second], {"resources1:VGPU": "1"}


def pool(placement):
    """Three hosts that share one pool of disks, which is used up first."""
    hosts = [placement.add_host(n, (), inventories=WITHOUT_DISK) for n in "abc"]
    nfs = placement.add_host("nfs", (SHARES,), inventories={"DISK_GB": 75})
    join(placement, nfs, *hosts)
    return hosts, {}


def pools(placement):
    """Two hosts that share one pool of disks, and one with disks of its own."""
    hosts = [placement.add_host(n, (), inventories=WITHOUT_DISK) for n in "ab"]
    nfs = placement.add_host("nfs", (SHARES,), inventories={"DISK_GB": 75})
    join(placement, nfs, *hosts)
    return [*hosts, placement.add_host("c", (), inventories=EVERY)], {}


@pytest.mark.full
@pytest.mark.parametrize(
    ("build", "bounds"),
    [(plain, (6, 6)), (cards, (4, 6)), (pool, (7, 7)), (pools, (11, 11))],
    ids=["one provider", "cards", "a pool", "a pool and disks"],
)
def test_so_many_find_a_host_in_whatever_order(
    placement, proxy, openstack, build, bounds
):
    hosts, extra_specs = build(placement)
    nova = Nova(proxy, zip("abc", hosts), {})
    flavor = {**FLAVOR, "extra_specs": extra_specs}
    nova._bodies["/flavors/detail"] = {"flavors": [flavor]}
    how = ("-f", "json", "--nova-release", "2026.1", "--count", "2")
    disk = ("--flavor-property", "resources:DISK_GB=10")
    run = openstack("explain", "small", "-", *how, *disk)
    found = json.loads(run.out)
    assert (found["min_servers"], found["max_servers"]) == bounds
    for seed in range(4):
        assert bounds[0] <= claimed(placement, found["query"], seed) <= bounds[1]


@pytest.mark.parametrize(
    ("build", "room"),
    [(plain, "6 of 20 (a 4, b 2)"), (cards, "4 to 6 of 20"), (pool, "7 of 20")],
    ids=["one provider", "cards", "a pool"],
)
def test_the_room_of_each_host_is_said_if_it_adds_up(
    placement, proxy, openstack, build, room
):
    hosts, extra_specs = build(placement)
    nova = Nova(proxy, zip("abc", hosts), {})
    flavor = {**FLAVOR, "extra_specs": extra_specs}
    nova._bodies["/flavors/detail"] = {"flavors": [flavor]}
    disk = ("--flavor-property", "resources:DISK_GB=10")
    run = openstack(
        "explain", "small", "-", "--nova-release", "2026.1", "--count", "20", *disk
    )
    verdict, *_ = run.out.splitlines()
    assert verdict == f"Room for {room}; Nova would fail all 20."


def test_a_full_cloud_names_the_command_that_moves_servers(placement, proxy, openstack):
    hosts, _ = plain(placement)
    nova = Nova(proxy, zip("ab", hosts), {})
    nova._bodies["/flavors/detail"] = {"flavors": [{**FLAVOR, "extra_specs": {}}]}
    words = ("explain", "small", "-", "--nova-release", "2026.1", "--count", "8")
    command = f"openstack trait-sched {' '.join(words)} --make-room"
    assert f"move servers: {command}".lower() in openstack(*words).out.lower()
    assert "--make-room" not in openstack(*words[:-1], "6").out
    # Both hosts hold no more when they are empty.
    assert "--make-room" not in openstack(*words[:-1], "9").out
    # More memory than a host has.
    large = ("--flavor-property", "resources:MEMORY_MB=5000")
    assert "--make-room" not in openstack(*words[:-2], *large).out


@pytest.mark.parametrize(
    ("policy", "lines"),
    [
        (
            "anti-affinity",
            [
                "Room for 2 of 7 (a 1, b 1); Nova would fail all 7.",
                "The cloud has 2 suitable hosts, so 2 at most.",
            ],
        ),
        ("affinity", ["Room for 2 to 4 of 7; Nova would fail all 7."]),
        ("soft-anti-affinity", ["Room for 6 of 7 (a 4, b 2); Nova would fail all 7."]),
        ("soft-affinity", ["Room for 6 of 7 (a 4, b 2); Nova would fail all 7."]),
    ],
)
def test_a_policy_counts_as_a_new_server_group(
    placement, proxy, openstack, policy, lines
):
    hosts, _ = plain(placement)
    nova = Nova(proxy, zip("ab", hosts), {})
    nova._bodies["/flavors/detail"] = {"flavors": [{**FLAVOR, "extra_specs": {}}]}
    release = ("--nova-release", "2026.1")
    run = openstack(
        "explain", "small", "-", *release, "--count", "7", "--policy", policy
    )
    assert run.out.splitlines()[: len(lines)] == lines
    run = openstack("explain", "small", "--policy", policy, "--server-group", "g")
    assert (run.code, proxy.writes) == (2, [])


@pytest.mark.parametrize("build", [plain, cards, pool, pools])
def test_what_a_fix_promises_for_several_servers_is_what_is_counted_then(
    placement, proxy, openstack, build
):
    """The fix gives one host a trait that the others have."""
    hosts, extra_specs = build(placement)
    placement.create_traits("CUSTOM_GOLD")
    for each in hosts[1:]:
        give(placement, each)
    nova = Nova(proxy, zip("abc", hosts), {})
    specs = {**extra_specs, "trait:CUSTOM_GOLD": "required"}
    nova._bodies["/flavors/detail"] = {"flavors": [{**FLAVOR, "extra_specs": specs}]}
    how = ("-f", "json", "--nova-release", "2026.1", "--count", "20")
    disk = ("--flavor-property", "resources:DISK_GB=10")
    before = json.loads(openstack("explain", "small", "-", *how, *disk).out)
    (fix,) = (each for each in before["fixes"] if each["commands"])
    assert fix["commands"] == ["openstack trait-sched add CUSTOM_GOLD --host a"]
    assert before["max_servers"] < fix["max_servers"] < 20
    give(placement, hosts[0])
    after = json.loads(openstack("explain", "small", "-", *how, *disk).out)
    assert fix["min_servers"] <= after["min_servers"]
    assert after["max_servers"] <= fix["max_servers"]
    # What sharing providers or trees add is a range.
    if build is plain:
        assert fix["min_servers"] == after["max_servers"]


def give(placement, host):
    path = f"/resource_providers/{host}/traits"
    found = placement.call("GET", path)
    placement.call("PUT", path, {**found, "traits": [*found["traits"], "CUSTOM_GOLD"]})


def claimed(placement, query, seed):
    """Claim servers until no host takes one more, and return how many."""
    drawn = random.Random(seed)
    answer = placement.call("GET", f"/allocation_candidates?{query}")
    first = {}
    for request in answer["allocation_requests"]:
        roots = {
            answer["provider_summaries"][each]["root_provider_uuid"]
            for each in request["allocations"]
            if SHARES not in answer["provider_summaries"][each]["traits"]
        }
        (root,) = roots
        first.setdefault(root, []).append(request["allocations"])
    chosen = {root: drawn.choice(requests) for root, requests in first.items()}
    consumers = []
    while any(
        claim(placement, chosen[root], consumers) for root in shuffled(drawn, chosen)
    ):
        pass
    for consumer in consumers:
        placement.call("DELETE", f"/allocations/{consumer}")
    return len(consumers)


def shuffled(drawn, roots):
    return drawn.sample(sorted(roots), len(roots))


def claim(placement, allocations, consumers):
    body = {
        "allocations": {
            each: {"resources": taken["resources"]}
            for each, taken in allocations.items()
        },
        "project_id": "project",
        "user_id": "user",
        "consumer_generation": None,
    }
    consumer = str(uuid.uuid4())
    answer = placement.try_call("PUT", f"/allocations/{consumer}", body)
    if answer.status != 204:
        return False
    consumers.append(consumer)
    return True
