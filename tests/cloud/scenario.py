"""A cloud whose hosts differ, and servers that somebody may ask for there."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.cloud.cloud import Cloud
from tests.cloud.factory import Boot, Maker, factory
from tests.functional import shell

if TYPE_CHECKING:
    from openstack.connection import Connection

FLAVORS: dict[str, tuple[dict[str, str], dict[str, int]]] = {
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
    """A request for a server, or for several."""

    flavor: str
    image: str = "raw"
    zone: str | None = None
    user: str = "admin"
    count: int = 1

    @property
    def options(self) -> tuple[str, ...]:
        """What explain is run with."""
        zone = ("--availability-zone", self.zone) if self.zone else ()
        count = ("--count", str(self.count)) if self.count > 1 else ()
        return (self.flavor, self.image, *zone, *count, "--project", self.user)


def requests(count: int, seed: int) -> list[Asked]:
    """Return so many different requests; without odd parts more often than with."""
    chance = random.Random(seed)
    found: dict[Asked, None] = {}
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
class Scenario:
    """The cloud, what is made in it by name, and what has become of its hosts.

    :ivar lost: a host and the aggregate that Placement has lost it from
    """

    cloud: Cloud
    maker: Maker
    flavors: dict[str, Any]
    images: dict[str, str]
    users: dict[str, Connection]
    lost: tuple[str, Any]

    def run(self, *arguments: str) -> shell.Run:
        return shell.run(self.cloud.environment, *arguments)

    def explain(self, asked: Asked) -> Any:
        """Return the document of a request."""
        file = str(self.cloud.nova_conf)
        options = (*asked.options, "--nova-conf", file, "-f", "json")
        done = self.run("trait-sched", "explain", *options)
        assert done.err == ""
        assert done.code == (0 if done.json["verdict"] == "candidates" else 3)
        return done.json

    def boot(self, asked: Asked) -> Boot:
        """Return how Nova ended the request; the server is deleted again."""
        zone = {"availability_zone": asked.zone} if asked.zone else {}
        flavor, image = self.flavors[asked.flavor], self.images[asked.image]
        boot = self.maker.boot(flavor, image, self.users[asked.user], **zone)
        if boot.server:
            self.maker.delete(boot)
        return boot

    def boots(self, asked: Asked, count: int) -> bool:
        """Ask for so many servers at once, and tell whether all find hosts."""
        zone = {"availability_zone": asked.zone} if asked.zone else {}
        flavor, image = self.flavors[asked.flavor], self.images[asked.image]
        user = self.users[asked.user]
        more = {**zone, "min_count": count, "max_count": count}
        first = self.maker.boot(flavor, image, user, **more)
        if first.refused:
            return False
        # Only servers that are asked for together have numbers.
        servers = self.maker.asked() if count > 1 else [first.server]
        boots = [self.maker.ended(each) for each in servers]
        for each in boots:
            self.maker.delete(each)
        return len(boots) == count and all(each.status == "ACTIVE" for each in boots)

    def isolation(self) -> list[Any]:
        """Return which hosts and metadata each aggregate has."""
        found = self.maker.admin.compute.get("/os-aggregates").json()["aggregates"]
        return [(each["id"], sorted(each["hosts"]), each["metadata"]) for each in found]


@contextlib.contextmanager
def different_hosts(cloud: Cloud) -> Iterator[Scenario]:
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
    admin = cloud.admin()
    with factory(admin) as maker:
        _traits(maker)
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
        users = {name: cloud.connection_of(name) for name in USERS}
        yield Scenario(cloud, maker, flavors, images, users, ("cmp05", north))


def _traits(maker: Maker) -> None:
    maker.traits("CUSTOM_COMMON", *(f"cmp{number:02d}" for number in range(6)))
    maker.traits("CUSTOM_NOBODY")
    maker.traits("CUSTOM_GOLD", "cmp00", "cmp01", "cmp04")
    maker.traits("CUSTOM_SILVER", "cmp03", "cmp05")
