"""What explain says, Nova's own scheduler does; and what it suggests, helps.

TRAITSCHED_REQUESTS is the number of servers that are asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import random
import shlex

import prettytable
import pytest

from tests.cloud import logs
from tests.cloud.making import Boot, making
from tests.functional import shell
from tests.services.children import Children

COUNT = int(os.environ.get("TRAITSCHED_REQUESTS", "24"))
SEED = 35

FLAVORS = {
    "small": ({}, {}),
    "half": ({}, {"ram": 4096}),
    "most": ({}, {"ram": 7680}),
    # More than one server may have of a host, though four times as many are free.
    "wide": ({}, {"vcpus": 11}),
    "gold": ({"trait:CUSTOM_GOLD": "required"}, {}),
    "half-gold": ({"trait:CUSTOM_GOLD": "required"}, {"ram": 4096}),
    "silver": ({"trait:CUSTOM_SILVER": "required"}, {}),
    "not-gold": ({"trait:CUSTOM_GOLD": "forbidden"}, {}),
    "nobody": ({"trait:CUSTOM_NOBODY": "required"}, {}),
    "not-common": ({"trait:CUSTOM_COMMON": "forbidden"}, {}),
    "typo": ({"trait:CUSTOM_TYPO": "required"}, {}),
    "threads": ({"hw:cpu_thread_policy": "isolate"}, {}),
    "group": ({"resources1:VCPU": "2", "trait1:CUSTOM_GOLD": "required"}, {}),
}
IMAGES = {
    "raw": {},
    "qcow": {"disk_format": "qcow2"},
    "of-gold": {"trait:CUSTOM_GOLD": "required"},
    "of-silver": {"trait:CUSTOM_SILVER": "required"},
    "video": {"hw_video_model": "virtio"},
    "demanding": {"min_ram": 4096},
}
ZONES = (None, "az-east", "az-west", "az-north", "az-south", "az-none", "nova")
USERS = ("admin", "demo")


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request for one server."""

    flavor: str
    image: str = "raw"
    zone: str | None = None
    user: str = "admin"

    @property
    def options(self):
        zone = ("--availability-zone", self.zone) if self.zone else ()
        return (self.flavor, self.image, *zone, "--project", self.user)


def requests(count, seed):
    """Return so many different requests; without odd parts more often than with."""
    chance = random.Random(seed)
    found = {}
    while len(found) < count:
        asked = Asked(
            chance.choice(list(FLAVORS)),
            chance.choice(["raw"] * 8 + list(IMAGES)),
            chance.choice([None] * 8 + list(ZONES)),
            chance.choice(USERS),
        )
        found.setdefault(asked)
    return list(found)


@dataclasses.dataclass(frozen=True)
class World:
    """A cloud of hosts that differ, and who makes servers there."""

    cloud: object
    maker: object
    flavors: dict
    images: dict
    users: dict
    north: object

    def run(self, *arguments):
        return shell.run(self.cloud.environment, *arguments)

    def explain(self, asked):
        file = str(self.cloud.nova_conf)
        options = (*asked.options, "--nova-conf", file, "-f", "json")
        done = self.run("trait-sched", "explain", *options)
        assert done.err == ""
        assert done.code == (0 if done.json["verdict"] == "candidates" else 3)
        return done.json

    def boot(self, asked):
        """Return how Nova ended the request; the server is deleted again."""
        zone = {"availability_zone": asked.zone} if asked.zone else {}
        flavor, image = self.flavors[asked.flavor], self.images[asked.image]
        boot = self.maker.boot(flavor, image, self.users[asked.user], **zone)
        if boot.server:
            self.maker.delete(boot)
        return boot


@pytest.fixture(scope="module")
def world(prefiltering):
    """
    ===== ======== ===================== =========================================
    host  zone     traits, with COMMON   besides
    ===== ======== ===================== =========================================
    cmp00 az-east  GOLD                  the project demo is kept to it and cmp05
    cmp01 az-east  GOLD                  half of its memory is used
    cmp02 az-west                        full
    cmp03 az-west  SILVER                only for those who require SILVER
    cmp04 az-south GOLD                  disabled
    cmp05 az-north SILVER                Placement lost it from its zone
    ===== ======== ===================== =========================================
    """
    admin = prefiltering.admin()
    with making(admin) as maker:
        hosts = [f"cmp{number:02d}" for number in range(6)]
        maker.traits("CUSTOM_COMMON", *hosts)
        maker.traits("CUSTOM_NOBODY")
        maker.traits("CUSTOM_GOLD", "cmp00", "cmp01", "cmp04")
        maker.traits("CUSTOM_SILVER", "cmp03", "cmp05")
        flavors = {
            name: maker.flavor(name, properties, **size)
            for name, (properties, size) in FLAVORS.items()
        }
        images = {name: maker.image(name, **each) for name, each in IMAGES.items()}
        maker.aggregate("east", "cmp00", "cmp01", availability_zone="az-east")
        maker.aggregate("west", "cmp02", "cmp03", availability_zone="az-west")
        maker.aggregate("south", "cmp04", availability_zone="az-south")
        north = maker.aggregate("north", "cmp05", availability_zone="az-north")
        maker.aggregate("silver", "cmp03", **{"trait:CUSTOM_SILVER": "required"})
        maker.unmirrored("cmp05", north)
        demo = admin.identity.find_project("demo").id
        maker.aggregate("theirs", "cmp00", "cmp05", filter_tenant_id=demo)
        maker.used("cmp01", flavors["half"], images["raw"])
        maker.used("cmp02", flavors["most"], images["raw"])
        maker.disabled("cmp04", "")
        users = {name: prefiltering.connection_of(name) for name in USERS}
        yield World(prefiltering, maker, flavors, images, users, north)


NO_HOST = "No valid host was found. "


@dataclasses.dataclass(frozen=True)
class Row:
    """What explain said of a request, and what Nova did with it."""

    asked: Asked
    document: dict
    boot: Boot
    sent: list
    given: set

    @property
    def said(self):
        refusal = self.document["refusal"]
        if refusal is None:
            return self.document["verdict"]
        return f"refused by {refusal['by']}"

    @property
    def done(self):
        if self.boot.refused:
            return "refused by the API"
        if self.boot.fault == NO_HOST:
            return "no valid host"
        return f"{self.boot.status} {self.boot.host}"

    @property
    def agrees(self):
        """Whether explain said before what Nova did then."""
        if self.said == "refused by nova":
            return bool(self.boot.refused)
        candidates = set(self.document["candidates"])
        same = self.sent == [self.document["query"]] and self.given == candidates
        if self.said == "candidates":
            return (
                same and self.boot.status == "ACTIVE" and self.boot.host in candidates
            )
        assert self.said in ("no host", "refused by placement")
        return same and not candidates and self.boot.fault == NO_HOST


def table(rows):
    """Return what was said and done, row by row."""
    shown = prettytable.PrettyTable(
        ["flavor", "image", "zone", "user", "explain", "candidates", "Nova", "agrees"]
    )
    shown.align = "l"
    for row in rows:
        candidates = " ".join(row.document["candidates"])
        agrees = "yes" if row.agrees else "NO"
        parts = (
            row.asked.flavor,
            row.asked.image,
            row.asked.zone or "",
            row.asked.user,
        )
        shown.add_row([*parts, row.said, candidates, row.done, agrees])
    return shown.get_string()


def test_nova_does_with_each_request_what_explain_says_of_it(world):
    rows = []
    for asked in requests(COUNT, SEED):
        document = world.explain(asked)
        boot = world.boot(asked)
        sent = logs.queries(world.cloud, boot.request)
        given = logs.given(world.cloud, boot.request)
        rows.append(Row(asked, document, boot, sent, given))
    agreeing = [row for row in rows if row.agrees]
    print(table(rows))
    print(f"{len(agreeing)} of {len(rows)} agree")
    assert agreeing == rows
    # Else much of it would be said of nothing.
    said = {row.said for row in rows}
    assert said >= {"candidates", "no host", "refused by nova", "refused by placement"}
    assert len({row.boot.host for row in rows if row.boot.host}) > 1


# Requests that have no host, for which every kind of command is printed.
HELPLESS = (
    Asked("gold", "of-silver"),
    Asked("not-common", zone="az-east"),
    Asked("half", zone="az-west"),
    Asked("small", zone="az-north"),
    Asked("gold", zone="az-south"),
)


class Carried:
    """The commands of a fix, carried out; ``undo`` takes them back."""

    def __init__(self, world, commands):
        self._world = world
        self._back = []
        for command in commands:
            program, *words = shlex.split(command, comments=True)
            if program == "nova-manage":
                self._nova_manage(shlex.join(words))
                lost = ("cmp05", world.north)
                self._back.append(functools.partial(world.maker.unmirrored, *lost))
            else:
                assert program == "openstack"
                back = self._reverse(words)
                self._openstack(words)
                self._back.append(functools.partial(self._openstack, back))

    def undo(self):
        for back in reversed(self._back):
            back()

    def _openstack(self, words):
        done = self._world.run(*words)
        assert (done.code, done.err) == (0, ""), words

    def _nova_manage(self, command):
        file = shlex.quote(str(self._world.cloud.nova_conf))
        children = Children(self._world.cloud.state)
        whole = f"--config-file {file} {command}"
        children.manage("nova-manage", "nova.cmd.manage", [whole])

    def _reverse(self, words):
        """Return the command that takes another back, before that is run."""
        opposites = {
            ("trait-sched", "add"): ("trait-sched", "remove", "--force"),
            ("trait-sched", "remove"): ("trait-sched", "add"),
            ("aggregate", "add", "host"): ("aggregate", "remove", "host"),
            ("compute", "service", "set", "--enable"): (
                *("compute", "service", "set", "--disable"),
            ),
        }
        for verb, opposite in opposites.items():
            if tuple(words[: len(verb)]) == verb:
                return [*opposite, *words[len(verb) :]]
        kind, verb, _, setting, name = words
        assert kind in ("flavor", "image")
        assert verb in ("set", "unset")
        key = setting.partition("=")[0]
        shown = self._world.run(kind, "show", name, "-f", "json").json["properties"]
        if key in shown:
            return [kind, "set", "--property", f"{key}={shown[key]}", name]
        return [kind, "unset", "--property", key, name]


def test_whatever_is_suggested_helps_and_can_be_taken_back(world):
    carried_out = set()
    for asked in HELPLESS:
        before = world.explain(asked)
        assert before["candidates"] == []
        assert world.boot(asked).status != "ACTIVE"
        for fix in before["fixes"]:
            if not fix["commands"]:
                continue
            carried = Carried(world, fix["commands"])
            try:
                after = world.explain(asked)
                boot = world.boot(asked)
            finally:
                carried.undo()
            print(*asked.options, *fix["commands"], boot.host, sep="\n  ")
            assert after["candidates"] == fix["hosts"]
            assert (boot.status, boot.host in fix["hosts"]) == ("ACTIVE", True), boot
            carried_out.update(map(verb, fix["commands"]))
        assert world.explain(asked) == before
    assert carried_out >= {
        "trait-sched add",
        "trait-sched remove",
        "compute service set",
        "flavor set",
        "flavor unset",
        "image unset",
        "placement sync_aggregates",
    }


def verb(command):
    """Return what a command does, without what it does it to."""
    words = shlex.split(command, comments=True)[1:]
    several = words[:2] == ["compute", "service"]
    return " ".join(words[: 3 if several else 2])
