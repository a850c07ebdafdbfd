"""How many servers fit, beside a Placement that they are claimed in."""

from __future__ import annotations

import json
import os
import random
import re
import uuid

import pytest

from tests.functional.nova import Nova
from tests.schemas import closed

# How many more servers fit, beside a Placement that is filled until it refuses.
#
# ``TRAITSCHED_FILLED_HOSTS`` says how many hosts of one provider to fill, and
# ``TRAITSCHED_FILLED_TREES`` how many clouds of trees.


pytestmark = pytest.mark.one_client

HOSTS = int(os.environ.get("TRAITSCHED_FILLED_HOSTS", "40"))
TREES = int(os.environ.get("TRAITSCHED_FILLED_TREES", "4"))
HOSTS_EACH = 40
RELEASE = ("--nova-release", "2026.1")
RATIOS = (1.0, 1.5, 2.0, 0.7, 0.9, 1.1)
RACK = "a0000001-0000-4000-8000-000000000000"
SHARES = "MISC_SHARES_VIA_AGGREGATE"


def flavor(name, vcpus, ram, disk, **extra_specs):
    specs = {key.replace("__", ":"): value for key, value in extra_specs.items()}
    size = {"vcpus": vcpus, "ram": ram, "disk": disk}
    return {"id": f"f-{name}", "name": name, **size, "extra_specs": specs}


FLAVORS = (
    flavor("tiny", 1, 512, 1),
    flavor("wide", 6, 1024, 10),
    flavor("tall", 2, 6144, 5),
    flavor("deep", 1, 768, 40),
)
#: One request each.
AMOUNTS = {(key, body[key]) for body in FLAVORS for key in ("vcpus", "ram", "disk")}


@pytest.fixture
def cloud(placement, proxy):
    """Makes Nova have hosts and flavors."""

    def make(hosts, flavors=FLAVORS):
        nova = Nova(proxy, hosts, {})
        nova._bodies["/flavors/detail"] = {"flavors": list(flavors)}
        return nova

    return make


@pytest.fixture
def capacity(openstack):
    """Runs the command, and returns the flavors of its document by name."""

    def run(*words):
        found = openstack("capacity", *words, "-f", "json", *RELEASE)
        closed("capacity").validate(found.json)
        return {each["flavor"]["name"]: each for each in found.json["flavors"]}

    return run


def test_a_host_that_gives_nothing_of_its_own_has_no_room(placement, cloud, capacity):
    """nova-scheduler drops it (nova/scheduler/manager.py, ``_schedule``)."""
    placement.call("PUT", "/resource_classes/CUSTOM_GIZMO")
    root = placement.add_host("cmp00")
    placement.add_host("gizmos", (), root, {"CUSTOM_GIZMO": 4})
    nothing = {f"resources__{each}": "0" for each in ("VCPU", "MEMORY_MB", "DISK_GB")}
    gizmo = {"resources__CUSTOM_GIZMO": "1"}
    nested = flavor("nested", 1, 64, 1, **nothing, **gizmo)
    cloud([("cmp00", root)], [nested, flavor("both", 1, 64, 1, **gizmo)])
    found = capacity()
    assert found["nested"]["servers"] == {"min": 0, "max": 0}
    assert found["both"]["servers"] == {"min": 4, "max": 4}


def by_host(found):
    """Return the servers on each host with room."""
    return {name: each["servers"] for name, each in found["groups"].items()}


def claim(placement, allocations):
    """Claim for one server; None if Placement rejects."""
    consumer = str(uuid.uuid4())
    body = {
        "allocations": allocations,
        "project_id": "project",
        "user_id": "user",
        "consumer_generation": None,
    }
    answer = placement.try_call("PUT", f"/allocations/{consumer}", body)
    assert answer.status in (204, 409), answer.body
    return consumer if answer.status == 204 else None


def join(placement, *providers):
    """Have providers in one aggregate of Placement's."""
    for each in providers:
        body = {"aggregates": [RACK]}
        body["resource_provider_generation"] = placement.generation(each)
        placement.call("PUT", f"/resource_providers/{each}/aggregates", body)


def forget(placement, consumers):
    for consumer in consumers:
        placement.call("DELETE", f"/allocations/{consumer}")


def inventory(chance, most, sizes):
    total = chance.randint(1, most)
    return {
        "total": total,
        "reserved": chance.choice((0, 0, total // 10)),
        "allocation_ratio": chance.choice(RATIOS),
        "min_unit": chance.choice((1, 1, 1, sizes[0])),
        "max_unit": chance.choice((total, total, sizes[1])),
        "step_size": chance.choice((1, 1, 1, sizes[0])),
    }


def single(placement, chance, name):
    """Make a host of one provider, with something in use."""
    host = placement.add_host(name, inventories={})
    inventories = {
        "VCPU": inventory(chance, 24, (2, 4)),
        "MEMORY_MB": inventory(chance, 24000, (256, 2048)),
        "DISK_GB": inventory(chance, 300, (5, 30)),
    }
    body = {
        "resource_provider_generation": placement.generation(host),
        "inventories": inventories,
    }
    placement.call("PUT", f"/resource_providers/{host}/inventories", body)
    used = chance.choice(FLAVORS)
    for _ in range(chance.randint(0, 4)):
        claim(placement, {host: {"resources": resources(used)}})
    return name, host


def resources(body):
    names = {"VCPU": "vcpus", "MEMORY_MB": "ram", "DISK_GB": "disk"}
    return {name: body[key] for name, key in names.items()}


@pytest.mark.full
@pytest.mark.parametrize("part", range(-(-HOSTS // HOSTS_EACH)))
def test_a_host_of_one_provider_takes_as_many_as_was_said(
    placement, cloud, capacity, part
):
    chance = random.Random(part)
    number = min(HOSTS_EACH, HOSTS - part * HOSTS_EACH)
    hosts = [single(placement, chance, f"cmp{n:03d}") for n in range(number)]
    cloud(hosts)
    said = capacity("--by", "host", *(each["name"] for each in FLAVORS))
    differing = {}
    for body in FLAVORS:
        found = said[body["name"]]
        total = 0
        for name, host in hosts:
            claimed = []
            while True:
                taken = claim(placement, {host: {"resources": resources(body)}})
                if taken is None:
                    break
                claimed.append(taken)
            forget(placement, claimed)
            total += len(claimed)
            nothing = {"min": 0, "max": 0}
            room = by_host(found).get(name, nothing)
            if room != {"min": len(claimed), "max": len(claimed)}:
                differing[name, body["name"]] = room, len(claimed)
        assert found["servers"] == {"min": total, "max": total}
    assert differing == {}


def test_placement_counts_with_another_ratio_as_was_said(placement, cloud, capacity):
    chance = random.Random(7)
    hosts = [single(placement, chance, f"cmp{n:03d}") for n in range(6)]
    cloud(hosts)
    ratios = {"VCPU": 3.0, "MEMORY_MB": 0.5}
    options = [f"--ratio={name}={value}" for name, value in ratios.items()]
    said = capacity(*options, f"--ratio={hosts[0][0]}:ram=2")
    for name, host in hosts:
        path = f"/resource_providers/{host}/inventories"
        body = placement.call("GET", path)
        own = {**ratios, "MEMORY_MB": 2.0} if name == hosts[0][0] else ratios
        for each, ratio in own.items():
            body["inventories"][each]["allocation_ratio"] = ratio
        placement.call("PUT", path, body)
    real = {name: each["servers"] for name, each in capacity().items()}
    assert {name: each["after"] for name, each in said.items()} == real
    assert {name: each["servers"] for name, each in said.items()} != real


# Trees of providers, and pools that hosts share.


TREE_FLAVORS = (
    flavor("card", 1, 512, 1, resources1__CUSTOM_CARD="1", group_policy="none"),
    flavor(
        "cards",
        1,
        512,
        1,
        resources1__CUSTOM_CARD="1",
        resources2__CUSTOM_CARD="2",
        group_policy="none",
    ),
    flavor(
        "apart",
        2,
        512,
        1,
        resources1__CUSTOM_CARD="1",
        resources2__CUSTOM_CARD="1",
        group_policy="isolate",
    ),
    flavor(
        "gold",
        1,
        512,
        1,
        resources1__CUSTOM_CARD="2",
        trait1__CUSTOM_GOLD="required",
        group_policy="none",
    ),
    flavor(
        "mixed",
        1,
        512,
        1,
        resources1__CUSTOM_CARD="1",
        resources2__CUSTOM_LINK="1",
        group_policy="isolate",
    ),
    flavor(
        "linked",
        1,
        512,
        1,
        resources1__CUSTOM_CARD="1",
        resources2__CUSTOM_LINK="1",
        group_policy="none",
    ),
    flavor("plain", 1, 1024, 7),
)


def trees(placement, chance):
    """Make hosts with cards; some share a pool of disks instead of their own."""
    for name in ("CUSTOM_CARD", "CUSTOM_LINK"):
        placement.call("PUT", f"/resource_classes/{name}")
    placement.create_traits("CUSTOM_GOLD")
    hosts, sharing = [], []
    for name in ("cmp00", "cmp01", "cmp02"):
        sizes = {"VCPU": chance.randint(2, 12), "MEMORY_MB": chance.randint(600, 9000)}
        if chance.random() < 0.6:
            sizes["DISK_GB"] = chance.randint(1, 40)
        host = placement.add_host(name, inventories=sizes)
        hosts.append((name, host))
        sharing += [] if "DISK_GB" in sizes and chance.random() < 0.7 else [host]
        for card in range(chance.randint(0, 3)):
            traits = chance.choice(((), ("CUSTOM_GOLD",)))
            of = {"CUSTOM_CARD": chance.randint(1, 5)}
            if chance.random() < 0.7:
                of["CUSTOM_LINK"] = chance.randint(1, 3)
            placement.add_host(f"{name}-{card}", traits, host, of)
    pool = placement.add_host(
        "nfs", (SHARES,), inventories={"DISK_GB": chance.randint(1, 60)}
    )
    join(placement, pool, *sharing)
    return hosts


def filled(placement, chance, query):
    """Claim any candidate until there is none; return the roots claimed of."""
    providers = placement.call("GET", "/resource_providers")["resource_providers"]
    roots = {each["uuid"]: each["root_provider_uuid"] for each in providers}
    claimed, consumers = [], []
    while True:
        path = f"/allocation_candidates?{query}"
        found = placement.call("GET", path)["allocation_requests"]
        if not found:
            break
        allocations = chance.choice(found)["allocations"]
        consumer = claim(placement, allocations)
        assert consumer is not None
        consumers.append(consumer)
        (pool,) = (each["uuid"] for each in providers if each["name"] == "nfs")
        (root,) = {roots[each] for each in allocations} - {pool}
        claimed.append(root)
    forget(placement, consumers)
    return claimed


@pytest.mark.full
@pytest.mark.parametrize("number", range(TREES))
def test_trees_and_pools_take_as_many_as_the_range_says(
    placement, cloud, capacity, openstack, number
):
    chance = random.Random(number)
    hosts = trees(placement, chance)
    cloud(hosts, TREE_FLAVORS)
    said = capacity("--by", "host", *(each["name"] for each in TREE_FLAVORS))
    for body in TREE_FLAVORS:
        found = said[body["name"]]
        run = openstack(
            "candidates", body["name"], "--print-query", *RELEASE, "-f", "json"
        )
        (row,) = run.json
        query = re.sub(r"limit=\d+&?", "", row["query"])
        for _ in range(2):
            claimed = filled(placement, chance, query)
            least, most = found["servers"]["min"], found["servers"]["max"]
            assert least <= len(claimed) <= most, (body["name"], found)
            for name, host in hosts:
                room = by_host(found).get(name, {"max": 0})
                assert claimed.count(host) <= room["max"], (body["name"], name)


def test_a_pool_counts_once(placement, cloud, capacity):
    sizes = {"VCPU": 8, "MEMORY_MB": 8192}
    hosts = [(n, placement.add_host(n, inventories=sizes)) for n in ("a", "b")]
    pool = placement.add_host("nfs", (SHARES,), inventories={"DISK_GB": 50})
    join(placement, pool, *(host for _, host in hosts))
    cloud(hosts, [flavor("wide", 1, 512, 10)])
    found = capacity("wide", "--by", "host")["wide"]
    assert found["servers"] == {"min": 5, "max": 5}
    assert by_host(found) == {n: {"min": 5, "max": 5} for n in ("a", "b")}
    assert found["first_short"] == "DISK_GB"


# What it costs, what changes, and exit codes.


def test_requests_do_not_grow_with_hosts_or_flavors(placement, cloud, capacity):
    counts = []
    for start, number in ((0, 3), (3, 30)):
        for n in range(start, start + number):
            host = placement.add_host(f"cmp{n:02d}")
            placement.allocate(host, VCPU=16 if n % 2 else 1)
        nova = cloud(_hosts(placement))
        seen = []
        nova.fault = lambda request, seen=seen: seen.append(request.path)
        capacity()
        counts.append(len(seen))
    # Amounts of the flavors, lists, and the figures of full hosts if they are few.
    assert max(counts) <= len(AMOUNTS) + 8, counts


def _hosts(placement):
    found = placement.call("GET", "/resource_providers")["resource_providers"]
    return [(each["name"], each["uuid"]) for each in found]


def test_without_a_host_and_with_more_of_them(placement, cloud, capacity, openstack):
    sizes = {"VCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 100}
    hosts = [(n, placement.add_host(n, inventories=sizes)) for n in ("cmp0", "cmp1")]
    placement.allocate(hosts[0][1], VCPU=5, MEMORY_MB=512, DISK_GB=1)
    nova = cloud(hosts, FLAVORS)
    nova._bodies["/servers/detail"] = {"servers": []}
    nova._bodies["/os-migrations"] = {"migrations": []}
    now = capacity("tiny")["tiny"]
    assert now["servers"] == {"min": 11, "max": 11}
    assert now["if_empty"] == {"min": 16, "max": 16}
    more = capacity("tiny", "--with", "cmp0=2")["tiny"]
    assert more["after"] == {"min": 27, "max": 27}
    less = openstack("capacity", "tiny", "--without", "cmp1", *RELEASE)
    assert less.out.splitlines()[:2] == [
        "cmp1 can be lost. Without cmp1: 3 more tiny fit (11 now).",
        "No server is on cmp1.",
    ]


def test_what_is_kept_away_or_stranded_is_said_in_words(placement, cloud, openstack):
    sizes = {"VCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 100}
    traits = {"cmp2": ("COMPUTE_STATUS_DISABLED",)}
    hosts = [
        (name, placement.add_host(name, traits.get(name, ()), inventories=sizes))
        for name in ("cmp0", "cmp1", "cmp2")
    ]
    placement.allocate(hosts[1][1], MEMORY_MB=8000, VCPU=1)
    cloud(hosts, FLAVORS[:1])
    run = openstack("capacity", *RELEASE)
    assert run.out.splitlines()[3:] == [
        "8 more tiny would fit, but 1 host is disabled.",
        "Stranded: 7 VCPU, 100 GB of disk on 1 host short of RAM.",
        "Other hosts: 1 is short of RAM, 1 is disabled",
    ]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("tiny", "--at-least", "8"), 0),
        (("tiny", "--at-least", "9"), 7),
        (("tiny", "huge", "--at-least", "1"), 7),
        (("huge",), 3),
        (("tiny", "huge"), 0),
        (("--at-least", "1"), 2),
        (("tiny", "--by", "host", "--with", "cmp0=1"), 2),
        (("tniy",), 1),
    ],
    ids=str,
)
def test_exit_codes(placement, cloud, openstack, words, code):
    sizes = {"VCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 100}
    hosts = [("cmp0", placement.add_host("cmp0", inventories=sizes))]
    cloud(hosts, (*FLAVORS, flavor("huge", 64, 512, 1)))
    assert openstack("capacity", *words, *RELEASE).code == code


@pytest.mark.parametrize("words", [(), ("--at-least", "2")], ids=str)
def test_it_is_unknown_if_only_an_assumed_option_rejects(
    placement, cloud, openstack, words
):
    placement.create_traits("CUSTOM_RED")
    hosts = [("cmp0", placement.add_host("cmp0"))]
    nova = cloud(hosts)
    metadata = {"trait:CUSTOM_RED": "required"}
    body = {"id": 1, "uuid": RACK, "name": "red", "hosts": ["cmp0"]}
    nova.aggregates.append({**body, "metadata": metadata})
    join(placement, hosts[0][1])
    run = openstack("capacity", "tiny", *words, *RELEASE)
    assert run.out.startswith(
        "Depends on nova.conf: 1 of 1 host if isolation is off, 0 of 1 if it is on.\n"
    )
    assert "counted as if isolation is on" in run.out
    assert run.code == 8


def test_another_nova_conf_has_now_and_then(placement, cloud, openstack, tmp_path):
    hosts = [(name, placement.add_host(name)) for name in ("cmp0", "cmp1")]
    placement.create_traits("CUSTOM_RED")
    nova = cloud(hosts)
    body = {"id": 1, "uuid": RACK, "name": "red", "hosts": ["cmp0"]}
    metadata = {"trait:CUSTOM_RED": "required"}
    nova.aggregates.append({**body, "metadata": metadata})
    join(placement, hosts[0][1])
    name = "enable_isolated_aggregate_filtering"
    off, on = f"scheduler.{name}=false", f"scheduler.{name}=true"
    run = openstack("capacity", "t*", *("--set", off, "--set-then", on), *RELEASE)
    assert run.code == 0
    assert run.out.splitlines() == [
        f"With {on}: 2 of 2 flavors still fit.",
        "  flavor  now  then  difference",
        "  tiny     32    16         -16",
        "  tall     16     8          -8",
        "Flavors compete for the same hosts: do not add the rows.",
    ]
    file = tmp_path / "nova.conf"
    file.write_text(f"[scheduler]\n{name} = false\n", encoding="utf-8")
    words = ("--set-then", str(file), "--at-least", "20")
    run = openstack("capacity", "tiny", "tall", *words, *RELEASE)
    first = f"With {file}: tall is short: 16 of 20 (tiny fits)."
    assert run.out.splitlines()[0] == first
    assert run.code == 7


def test_what_no_host_could_ever_give_runs_out_first(placement, cloud, openstack):
    """The largest unit counts, and not what the ratio makes of it, nor what is free.

    There are more providers than inventories that are read one by one.
    """
    sizes = {"MEMORY_MB": 8192, "DISK_GB": 100}
    hosts = []
    for number in range(8):
        name, most = f"cmp{number}", (10, 8)[number % 2]
        host = placement.add_host(name, inventories={**sizes, "VCPU": most})
        body = {"total": most, "max_unit": most, "allocation_ratio": 4.0}
        body["resource_provider_generation"] = placement.generation(host)
        placement.call("PUT", f"/resource_providers/{host}/inventories/VCPU", body)
        placement.allocate(host, MEMORY_MB=8000)
        for _ in range(3 if number % 3 else 0):
            placement.allocate(host, VCPU=most)
        for port in range(4):
            placement.add_host(f"{name}_{port}", (), host, {"SRIOV_NET_VF": 1})
        hosts.append((name, host))
    flavors = (
        flavor("a1.tiny", 1, 64, 1),
        flavor("b1.small", 1, 512, 1),
        flavor("c1.max", 16, 512, 1),
        flavor("gpu", 1, 512, 1, resources__VGPU="1"),
    )
    cloud(hosts, flavors)
    run = openstack("capacity", *RELEASE)
    assert run.code == 0
    assert run.out.splitlines()[1:4] == [
        "1 full: b1.small (RAM: largest free 192 MB on cmp0)",
        "never: c1.max needs 16 VCPU, the largest host has 10",
        "never: gpu needs 1 VGPU, no host has any",
    ]
    full = openstack("capacity", "--full", *RELEASE)
    assert full.out.splitlines() == [
        "3 of 4 flavors without room: 1 full, 2 never.",
        *run.out.splitlines()[1:4],
    ]
    assert openstack("capacity", "c*", "-f", "csv", *RELEASE).out.splitlines() == [
        "flavor,servers,servers_sure,hosts,servers_if_empty,first_short",
        "c1.max,0,0,0,0,VCPU",
    ]
    done = openstack("capacity", "-f", "json", *RELEASE).json["flavors"]
    first = {each["flavor"]["name"]: each["first_short"] for each in done}
    assert first == {
        "c1.max": "VCPU",
        "gpu": "VGPU",
        "b1.small": "MEMORY_MB",
        "a1.tiny": "MEMORY_MB",
    }


# How many servers of one request fit, beside a Placement that they are claimed in.
#
# Servers are claimed as nova-scheduler does (nova/scheduler/manager.py, ``_schedule``):
# Placement is asked once, and each server takes the first allocation request of the
# first
# host that it can be claimed on. In which order hosts are tried, the test draws.


EVERY = {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 100}
WITHOUT_DISK = {"VCPU": 8, "MEMORY_MB": 4096}
FLAVOR = {"id": "1", "name": "small", "vcpus": 1, "ram": 1024, "disk": 10}


def count_join(placement, *providers):
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
    count_join(placement, nfs, *hosts)
    return hosts, {}


def pools(placement):
    """Two hosts that share one pool of disks, and one with disks of its own."""
    hosts = [placement.add_host(n, (), inventories=WITHOUT_DISK) for n in "ab"]
    nfs = placement.add_host("nfs", (SHARES,), inventories={"DISK_GB": 75})
    count_join(placement, nfs, *hosts)
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
        count_claim(placement, chosen[root], consumers)
        for root in shuffled(drawn, chosen)
    ):
        pass
    for consumer in consumers:
        placement.call("DELETE", f"/allocations/{consumer}")
    return len(consumers)


def shuffled(drawn, roots):
    return drawn.sample(sorted(roots), len(roots))


def count_claim(placement, allocations, consumers):
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
