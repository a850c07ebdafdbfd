"""Moves that make room on a full cloud, carried out as they are printed.

TRAITSCHED_PLANS is the number of plans.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.cloud.factory import PLACEMENT, factory, providers
from tests.cloud.moving import carry_out, openstack, released, settled
from tests.schemas import closed


@pytest.fixture(scope="module")
def admin(prefiltering):
    return prefiltering.admin()


@pytest.fixture
def run(prefiltering, monkeypatch):
    return openstack(prefiltering, monkeypatch)


# Moves that make room on a full cloud, carried out as they are printed.


PLANS = int(os.environ.get("TRAITSCHED_PLANS", "5"))
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
