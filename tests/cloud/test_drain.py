"""Plans that empty a host, carried out as they are printed."""

from __future__ import annotations

import os
import pathlib
import random
import shlex
import subprocess
import sys
import time
import types
from importlib import metadata

import pytest

from tests.cloud.factory import COMPUTE, PLACEMENT, factory, providers
from tests.functional import shell
from tests.schemas import closed
from tests.services.process import PATIENCE

GOLD = "CUSTOM_GOLD"
OSC = tuple(map(int, metadata.version("python-openstackclient").split(".")[:2]))


@pytest.fixture(scope="module")
def admin(prefiltering):
    return prefiltering.admin()


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        maker.raw = maker.image("raw")
        maker.small = maker.flavor("small")
        yield maker


@pytest.fixture
def run(prefiltering, monkeypatch):
    """Runs openstack, which asks ten times as often whether a move is over."""
    from osc_lib import utils

    quick = types.SimpleNamespace(
        **{**vars(time), "sleep": lambda seconds: time.sleep(seconds / 10)}
    )
    monkeypatch.setattr(utils, "time", quick)
    return lambda *words: shell.run(prefiltering.environment, *words)


@pytest.fixture
def plan(prefiltering, run):
    def planned(*hosts, code=0):
        options = ("--nova-conf", str(prefiltering.nova_conf), "-f", "json")
        done = run("trait-sched", "host", "drain", *hosts, *options)
        assert (done.err, done.code) == ("", code)
        closed("host drain").validate(done.json)
        return done.json

    return planned


@pytest.fixture
def put(make):
    """Puts a server on a host."""

    def boot(name, flavor=None, host="cmp00", **more):
        found = make.boot(flavor or make.small, make.raw, name=name, host=host, **more)
        make.after(make.delete, found)
        assert found.host == host, found
        return found

    return boot


def carry_out(run, commands):
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "openstack"
        done = run(*words)
        if "evacuate" in words and OSC < (6, 1):
            assert "'TupleWithMeta' object has no attribute 'to_dict'" in done.err
            continue
        assert done.code == 0, (command, done.out, done.err)


def carried_out(make, run, found):
    """Do all that a plan prints, and return where each of its servers is then."""
    carry_out(run, found["before"])
    if found["before"]:
        compute = make.admin.compute
        (service,) = compute.services(binary="nova-compute", host=found["host"]["name"])
        make.after(compute.enable_service, service)
    for step in found["steps"]:
        carry_out(run, step["commands"])
    return {
        step["server"]["name"]: settled(make, step["server"]["id"], step["host"])
        for step in found["steps"]
    }


def body(make, server):
    answer = make.admin.compute.get(f"/servers/{server}", microversion=COMPUTE)
    return answer.json()["server"]


def settled(make, server, host):
    """Return the host of a server once nothing is done with it any more."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = body(make, server)
        if found["OS-EXT-SRV-ATTR:host"] == host and not found["OS-EXT-STS:task_state"]:
            return host, found["status"]
        time.sleep(0.1)
    return found["OS-EXT-SRV-ATTR:host"], found["status"]


def destinations(found):
    return {
        step["server"]["name"]: (step["host"], step["server"]["status"])
        for step in found["steps"]
    }


def stuck(found):
    return {each["server"]["name"]: each for each in found["stuck"]}


def test_every_server_arrives_where_the_plan_says(make, put, plan, run):
    make.traits(GOLD, "cmp00", "cmp02")
    east = ("cmp00", "cmp01", "cmp02")
    make.aggregate("east", *east, availability_zone="az-east")
    apart, together = make.group("anti-affinity"), make.group("affinity")
    half = make.flavor("half", ram=1024, vcpus=2)
    put("web-1")
    put("web-2")
    put("large-1", half)
    put("gold-1", make.flavor("gold", {f"trait:{GOLD}": "required"}))
    put("east-1", availability_zone="az-east")
    put("apart-1", hints={"group": apart})
    put("apart-2", host="cmp03", hints={"group": apart})
    put("apart-3", host="cmp04", hints={"group": apart})
    make.acts(put("off-1"), {"os-stop": None})
    make.acts(put("off-2", half), {"os-stop": None})
    make.acts(put("paused-1"), {"pause": None})
    make.acts(put("asleep-1"), {"suspend": None})
    put("together-1", hints={"group": together})
    found = plan("cmp00", code=3)
    assert found["summary"] == (
        "9 of 11 servers can move off cmp00 (7 live, 2 cold); asleep-1, together-1 "
        "can't."
    )
    where = destinations(found)
    assert where["gold-1"] == ("cmp02", "ACTIVE")
    assert where["east-1"][0] in east
    assert where["apart-1"][0] in ("cmp01", "cmp02", "cmp05")
    reasons = {name: each["why"] for name, each in stuck(found).items()}
    assert reasons == {"asleep-1": "rejected", "together-1": "no host"}
    assert carried_out(make, run, found) == where
    again = plan("cmp00", code=3)
    assert (again["steps"], again["host"]["enabled"]) == ([], False)
    for name, each in stuck(again).items():
        live = ("--live-migration",) if name == "together-1" else ()
        version = ("--os-compute-api-version", "2.30")
        done = run(*version, "server", "migrate", *live, each["server"]["id"])
        assert done.code == 1, name
        assert body(make, each["server"]["id"])["OS-EXT-SRV-ATTR:host"] == "cmp00"
    carry_out(run, [stuck(again)["asleep-1"]["first"]])
    server = stuck(again)["asleep-1"]["server"]["id"]
    assert settled(make, server, "cmp00") == ("cmp00", "ACTIVE")
    assert list(destinations(plan("cmp00", code=3))) == ["asleep-1"]


def test_one_that_finds_no_room_after_the_others_is_refused_by_nova(
    make, put, plan, run
):
    large = make.flavor("large", ram=3500)
    for number in range(1, 6):
        used = make.flavor(f"used-{number}", ram=5000 if number > 1 else 3000)
        put(f"other-{number}", used, host=f"cmp0{number}")
    put("large-1", large)
    put("large-2", large)
    put("small-1")
    found = plan("cmp00", code=3)
    assert found["summary"].startswith("2 of 3 servers can move off cmp00")
    (stays,) = found["stuck"]
    assert stays["why"] == "no room left"
    assert carried_out(make, run, found) == destinations(found)
    moved = ("--os-compute-api-version", "2.30", "server", "migrate")
    for host in ((), ("--host", "cmp01")):
        done = run(*moved, "--live-migration", *host, stays["server"]["id"])
        assert done.code == 1
        assert "No valid host was found" in done.err
    assert body(make, stays["server"]["id"])["OS-EXT-SRV-ATTR:host"] == "cmp00"


@pytest.mark.short
def test_servers_of_a_host_that_is_down_are_evacuated(
    prefiltering, make, put, plan, run
):
    make.traits(GOLD, "cmp03", "cmp05")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    put("lost-1", host="cmp05")
    put("lost-2", gold, host="cmp05")
    make.acts(put("off-1", host="cmp05"), {"os-stop": None})
    make.forced_down("cmp05")
    make.after(prefiltering.forget_evacuations)
    found = plan("cmp05")
    assert found["summary"] == "All 3 servers can move off cmp05 (3 evacuated)."
    assert "cmp05 is powered off" in found["remarks"][0].replace("the host", "cmp05")
    assert destinations(found)["lost-2"] == ("cmp03", "ACTIVE")
    assert carried_out(make, run, found) == destinations(found)


def test_a_host_without_servers_needs_no_plan(plan):
    found = plan("cmp04")
    assert (found["summary"], found["servers"]) == ("No server is on cmp04.", 0)


def test_hosts_that_are_drained_together_are_no_destinations(make, put, plan, run):
    make.traits(GOLD, "cmp00", "cmp01")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    rack = ("cmp00", "cmp01", "cmp02", "cmp03")
    make.aggregate("rack", *rack)
    put("web-1")
    put("web-2", host="cmp01")
    put("gold-1", gold)
    (stays,) = plan(*rack, code=3)["stuck"]
    assert stays["server"]["name"] == "gold-1"
    assert stays["text"] == ["Only cmp01 could take it, and is drained, too."]
    found = plan("--aggregate", "rack", code=3)
    assert [each["name"] for each in found["hosts"]] == list(rack)
    assert {step["host"] for step in found["steps"]} <= {"cmp04", "cmp05"}
    assert {step["server"]["host"] for step in found["steps"]} == {"cmp00", "cmp01"}
    for step in found["steps"]:
        carry_out(run, step["commands"])
        settled(make, step["server"]["id"], step["host"])
    assert plan(*rack, code=3)["steps"] == []


def enable(compute, host):
    """Enable a host. A service that was read before would count as enabled."""
    (service,) = compute.services(binary="nova-compute", host=host)
    compute.enable_service(service)


def run_script(prefiltering, text, tmp_path):
    path = tmp_path / "drain.sh"
    path.write_text(text, "utf-8")
    tools = str(pathlib.Path(sys.executable).parent)
    env = {**os.environ, **prefiltering.environment}
    env["PATH"] = f"{tools}{os.pathsep}{env['PATH']}"
    return subprocess.run(
        ["sh", str(path)], env=env, capture_output=True, text=True, check=False
    )


def test_the_script_moves_servers_and_stops_at_the_first_failure(
    make, put, prefiltering, plan, run, tmp_path
):
    for name in ("one", "two"):
        put(name)
    make.acts(put("three"), {"os-stop": None})
    planned = plan("cmp00")
    words = ("host", "drain", "cmp00", "--script")
    conf = ("--nova-conf", str(prefiltering.nova_conf))
    text = run("trait-sched", *words, *conf).out
    first, *others = planned["steps"]
    second = others[0]
    make.after(enable, make.admin.compute, "cmp00")

    to = f"--host {second['host']} {second['server']['id']}"
    assert to in text
    wrong = text.replace(to, to.replace(second["host"], "nowhere"))
    done = run_script(prefiltering, wrong, tmp_path)
    assert done.returncode == 1, done
    assert done.stdout == f"{first['server']['name']} -> {first['host']}: there\n"
    name, identity = second["server"]["name"], second["server"]["id"]
    start, why = done.stderr.split(").\nStopped: ")
    assert start.startswith(f"{name}: refused by Nova (Compute host nowhere"), done
    assert why == (
        "1 of 3 moved; cmp00 is disabled.\n"
        f"Why: openstack trait-sched server explain {identity}\n"
    )
    assert settled(make, first["server"]["id"], first["host"])[0] == first["host"]
    for step in others:
        assert settled(make, step["server"]["id"], "cmp00")[0] == "cmp00"

    planned = plan("cmp00")
    text = run("trait-sched", *words, *conf).out
    done = run_script(prefiltering, text, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{step['server']['name']} -> {step['host']}: there"
        for step in planned["steps"]
    ] + [
        f"{len(planned['steps'])} of {len(planned['steps'])} moved; cmp00 is disabled."
    ]
    for step in planned["steps"]:
        server = step["server"]
        found = settled(make, server["id"], step["host"])
        assert found == (step["host"], server["status"]), done


# Moves that make room on a full cloud, carried out as they are printed.


PLANS = int(os.environ.get("MAKE_ROOM_PLANS", "5"))
SIZES = (1024, 1536, 2048, 3072)
#: What is asked for, in turn: servers, and options for them.
REQUESTS = (
    (1, ()),
    (2, ()),
    (1, ("--availability-zone", "az-east")),
    (2, ("--policy", "anti-affinity")),
)


@pytest.fixture
def zoned_make(admin):
    with factory(admin) as maker:
        maker.raw = maker.image("raw")
        maker.aggregate("east", "cmp00", "cmp01", availability_zone="az-east")
        yield maker


def free(admin):
    """MB of memory that are free on each host."""
    found = {}
    for name, uuid in providers(admin).items():
        used, inventory = (
            admin.placement.get(
                f"/resource_providers/{uuid}/{what}", microversion=PLACEMENT
            ).json()
            for what in ("usages", "inventories")
        )
        memory = inventory["inventories"]["MEMORY_MB"]
        capacity = (memory["total"] - memory["reserved"]) * memory["allocation_ratio"]
        found[name] = int(capacity) - used["usages"]["MEMORY_MB"]
    return found


def released(admin):
    """Return when no move keeps an allocation on the host that was left."""
    end = time.monotonic() + PATIENCE
    path = "/os-migrations?status={}"
    while any(
        admin.compute.get(path.format(status)).json()["migrations"]
        for status in ("queued", "preparing", "running", "post-migrating")
    ):
        assert time.monotonic() < end, "a migration goes on"
        time.sleep(0.2)
    # The allocation goes after the status has changed.
    time.sleep(1)


class FullCloud:
    """A cloud whose hosts are filled with servers of any size."""

    def __init__(self, zoned_make, seed):
        self.make, self.dice = zoned_make, random.Random(seed)
        self.flavors = {
            size: zoned_make.flavor(f"ram-{size}", ram=size) for size in SIZES
        }
        self.servers = []

    def fill(self):
        """Leave 2 GB at most on each host."""
        for host, left in sorted(free(self.make.admin).items()):
            rest = self.dice.choice((1024, 1536, 2048))
            while left > rest:
                size = self.dice.choice([size for size in SIZES if size <= left])
                name = f"s-{len(self.servers)}"
                boot = self.make.boot(
                    self.flavors[size], self.make.raw, name=name, host=host
                )
                assert boot.host == host, boot
                self.make.after(self.make.delete, boot)
                self.servers.append(boot)
                left -= size
        self.make._wait_without_tasks()

    def thin_out(self, boots):
        """Delete the servers that were asked for, and another one."""
        for boot in [*boots, self.dice.choice(self.servers)]:
            self.make.delete(boot)
            if boot in self.servers:
                self.servers.remove(boot)


def asked_for(zoned_make, flavor, count, options, name):
    """Boot so many servers, one after the other, and return how that ended."""
    more, hints = {}, {}
    if "--policy" in options:
        hints["group"] = zoned_make.group("anti-affinity")
    if "--availability-zone" in options:
        more["availability_zone"] = options[1]
    boots = [
        zoned_make.boot(flavor, zoned_make.raw, name=f"{name}-{n}", hints=hints, **more)
        for n in range(count)
    ]
    for boot in boots:
        zoned_make.after(zoned_make.delete, boot)
    return boots


def test_the_server_finds_a_host_after_the_moves_of_each_plan(
    prefiltering, zoned_make, run, record_property
):
    cloud, moves, none = FullCloud(zoned_make, 1), [], 0
    conf = ("--nova-conf", str(prefiltering.nova_conf))
    while len(moves) < PLANS:
        cloud.fill()
        count, options = REQUESTS[(len(moves) + none) % len(REQUESTS)]
        ram = max(free(zoned_make.admin).values()) + 256
        name = f"large-{len(moves)}-{none}"
        flavor = zoned_make.flavor(name, ram=ram)
        words = ("explain", name, "raw", "--count", str(count), *options, *conf)
        done = run("trait-sched", *words, "--make-room", "-f", "json")
        assert (done.err, done.code) == ("", 3)
        closed("explain").validate(done.json)
        plan, boots = done.json["make_room"], []
        if plan["moves"]:
            for move in plan["moves"]:
                carry_out(run, move["commands"])
                arrived, _ = settled(zoned_make, move["server"]["id"], move["host"])
                assert arrived == move["host"], (words, move)
            released(zoned_make.admin)
            boots = asked_for(zoned_make, flavor, count, options, name)
            ended = [boot.status for boot in boots]
            assert ended == ["ACTIVE"] * count, (
                boots,
                free(zoned_make.admin),
                words,
                plan,
            )
            assert {boot.host for boot in boots} <= {*plan["hosts"]}
            moves.append(len(plan["moves"]))
        else:
            none += 1
            assert none <= 10 + 4 * PLANS, done.json["summary"]
        cloud.thin_out(boots)
    text = f"{len(moves)} plans with {sum(moves)} moves; {none} times no plan"
    record_property("table", text)
