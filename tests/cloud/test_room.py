"""Plans that make room, and drains of hosts that may be lost, carried out.

TRAITSCHED_PLANS is the number of plans, TRAITSCHED_DRAINS that of the drains.
"""

from __future__ import annotations

import collections
import contextlib
import os
import random

import pytest

from osc_traitsched.app import capacity
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.core.nova.question import MoveKind, ServerSpec
from osc_traitsched.core.servers.drain import StuckReason
from osc_traitsched.core.servers.usage import CapacityQuery
from osc_traitsched.views import drain as drain_views
from tests.cloud.factory import PLACEMENT, factory, providers
from tests.cloud.moving import (
    body,
    carry_out,
    enable,
    moves_of,
    openstack,
    released,
    run_script,
    settled,
)
from tests.schemas import closed


@pytest.fixture(scope="module")
def admin(prefiltering):
    return prefiltering.admin()


@pytest.fixture
def run(prefiltering, monkeypatch):
    return openstack(prefiltering, monkeypatch)


# Moves that make room on a full cloud, carried out as they are printed.


PLANS = int(os.environ.get("TRAITSCHED_PLANS", "3"))
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


# Hosts that may be lost, drained by the script of the same reading.


DRAINS = int(os.environ.get("TRAITSCHED_DRAINS", "2"))
GOLD = "CUSTOM_GOLD"
HOSTS = tuple(f"cmp0{number}" for number in range(6))
GOLDEN, EAST = ("cmp01", "cmp02"), ("cmp00", "cmp01")
#: Kinds of servers, with the hosts that they are put on.
KINDS = {
    "small": HOSTS,
    "medium": HOSTS,
    "large": HOSTS,
    "gold": GOLDEN,
    "east": EAST,
    "apart": GOLDEN,
}
FIRST = (*[""] * 8, "os-stop", "os-stop", "pause", "suspend")


class Crowd:
    """Servers of many kinds; ``apart`` requires gold, and another host each time."""

    def __init__(self, make, seed):
        self.make, self.dice = make, random.Random(seed)
        self.image = make.image("raw")
        make.traits(GOLD, *GOLDEN)
        make.aggregate("east", *EAST, availability_zone="az-east")
        self.group = make.group("anti-affinity")
        gold = {f"trait:{GOLD}": "required"}
        self.flavors = {
            name: make.flavor(name, specs, ram=ram)
            for name, specs, ram in (
                ("small", {}, 1024),
                ("medium", {}, 2048),
                ("large", {}, 3584),
                ("gold", gold, 1536),
            )
        }
        self.servers = {}

    def flavor(self, kind):
        return self.flavors[{"east": "medium", "apart": "gold"}.get(kind, kind)]

    def fill(self):
        """Leave some room, or hardly any, on each host."""
        scarce = self.dice.choice((1024, 2560, 4096))
        for host, left in sorted(free(self.make.admin).items()):
            rest = self.dice.choice((scarce, 2560, 5120))
            while left > rest:
                kinds = [kind for kind in KINDS if self.takes(host, left, kind)]
                if not kinds:
                    break
                kind = self.dice.choice(kinds)
                self.put(kind, host)
                left -= self.flavor(kind).ram

    def takes(self, host, left, kind):
        if host not in KINDS[kind] or self.flavor(kind).ram > left:
            return False
        return kind != "apart" or host not in self.hosts_of(kind)

    def hosts_of(self, kind):
        found = (boot for boot, own in self.servers.values() if own == kind)
        return [self.body(boot)["OS-EXT-SRV-ATTR:host"] for boot in found]

    def body(self, boot):
        return body(self.make, boot.server)

    def put(self, kind, host):
        more = {"availability_zone": "az-east"} if kind == "east" else {}
        hints = {"group": self.group} if kind == "apart" else {}
        name = f"{kind}-{self.dice.randrange(10**6)}"
        boot = self.make.boot(
            self.flavor(kind), self.image, name=name, hints=hints, host=host, **more
        )
        assert boot.host == host, boot
        self.servers[name] = boot, kind
        self.make.after(self.gone, name)
        first = self.dice.choice(FIRST)
        if first:
            self.make.acts(boot, {first: None})

    def gone(self, name):
        if name in self.servers:
            self.make.delete(self.servers.pop(name)[0])

    def thin_out(self):
        """Delete those that can't move, and a few others."""
        for name, (boot, _) in [*self.servers.items()]:
            if self.body(boot)["status"] == "SUSPENDED":
                self.gone(name)
        for name in self.dice.sample(sorted(self.servers), len(self.servers) // 5):
            self.gone(name)

    def is_refused(self, stuck):
        """Whether Nova moves a server nowhere, if it may choose the host."""
        state = stuck.server_move.state
        compute, path = self.make.admin.compute, f"/servers/{state.id}/action"
        action, version = {"migrate": {"host": None}}, "2.56"
        if stuck.server_move.kind is MoveKind.LIVE_MIGRATION:
            # With a later version the answer would come before the check.
            where = {"host": None, "block_migration": "auto"}
            action, version = {"os-migrateLive": where}, "2.30"
        before = body(self.make, state.id)
        answer = compute.post(path, json=action, microversion=version)
        host = before["OS-EXT-SRV-ATTR:host"]
        assert answer.status_code != 202 or version == "2.56", stuck
        return settled(self.make, state.id, host) == (host, before["status"])


@pytest.fixture
def crowd(admin):
    with factory(admin) as make:
        yield Crowd(make, 5)


def lost(prefiltering, admin):
    """What ``capacity --lose any-host`` says, with the plan for each host."""
    sources = SettingsSources(
        nova_conf=(str(prefiltering.nova_conf),),
        nova_release=prefiltering.release.number,
    )
    query = CapacityQuery(lose=("any-host",))
    return capacity.lose(HttpCloud(admin), ServerSpec("", ""), sources, query)


def test_a_lost_host_leaves_those_that_nova_moves_nowhere(
    prefiltering, crowd, admin, tmp_path, record_property
):
    """And the script of the drain moves all others; full flavors find no host then."""
    count = collections.Counter()
    for number in range(DRAINS):
        crowd.fill()
        losses = lost(prefiltering, admin)
        several = [each for each in losses.several if each.drain.total]
        # Every other time one that strands servers, if there is one.
        stranding = [each for each in several if each.drain.stuck]
        loss = crowd.dice.choice((number % 2 and stranding) or several)
        drain, (host,) = loss.drain, loss.drain.hosts
        assert not drain.uncertain
        with contextlib.ExitStack() as after:
            after.callback(enable, admin.compute, host)
            (service,) = admin.compute.services(binary="nova-compute", host=host)
            admin.compute.disable_service(service)
            early = [e for e in drain.stuck if e.why is not StuckReason.NO_ROOM]
            assert all(map(crowd.is_refused, early)), (host, drain.stuck)

            script = "\n".join(drain_views.script(drain))
            done = run_script(prefiltering, script, tmp_path)
            moves = moves_of(script)
            assert done.returncode == (3 if drain.stuck else 0), (script, done)
            assert [line for line in done.stdout.splitlines() if "there" in line] == [
                f"{name} -> {to}: there" for name, _, to in moves
            ]
            for _, server, to in moves:
                assert settled(crowd.make, server, to)[0] == to, done
            assert all(map(crowd.is_refused, drain.stuck)), (host, drain.stuck)
            released(admin)
            count.update(booted(crowd, losses, loss))
        count.update(drains=1, moved=len(moves))
        count.update(each.why.value for each in drain.stuck)
        crowd.thin_out()
    record_property("table", f"hosts that were drained: {dict(count)}")


def booted(crowd, losses, loss):
    """Boot a server of each flavor on what is left of the cloud."""
    for fit in losses.now.flavors:
        boot = crowd.make.boot(crowd.flavors[fit.name], crowd.image)
        crowd.make.delete(boot)
        others = fit.hosts.keys() - {node.uuid for node in loss.drain.nodes}
        has_room = bool(others) and fit.name not in loss.full
        found = boot.status, boot.host in loss.drain.hosts
        wanted = ("ACTIVE" if has_room else "ERROR", False)
        assert found == wanted, (fit.name, loss, boot)
        yield "boots with a host" if has_room else "boots without"
