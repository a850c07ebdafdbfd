"""Servers that a policy leaves behind, beside what nova-scheduler makes of their hosts.

Each server is deleted, and one like it is asked for on the same host: the scheduler
then judges that host alone, and the room is there. One that is said to be misplaced is
moved live first: that shows whether there is another host. TRAITSCHED_SERVERS is the
number of servers that are drawn, and TRAITSCHED_SEED what they are drawn from.
"""

from __future__ import annotations

import collections
import dataclasses
import os
import random
from collections.abc import Mapping
from typing import Any

import prettytable
import pytest

from osc_traitsched.core.nova.options import ENABLED_FILTERS
from tests.cloud import logs
from tests.cloud.cloud import REMEMBERS_NO_SERVERS, Cloud
from tests.cloud.conftest import PREFILTERS
from tests.cloud.factory import Boot, factory
from tests.functional import shell
from tests.services.release import chosen

COUNT = int(os.environ.get("TRAITSCHED_SERVERS", "36"))
SEED = os.environ.get("TRAITSCHED_SEED", "7")
HOSTS = [f"cmp0{number}" for number in range(5)]
FILTERS = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "SameHostFilter",
    "DifferentHostFilter",
    "AggregateInstanceExtraSpecsFilter",
    "AggregateMultiTenancyIsolation",
    "NumInstancesFilter",
)
OPTIONS = (
    *PREFILTERS,
    f"{ENABLED_FILTERS}={','.join(FILTERS)}",
    # Else a host does not take a server that breaks the policy of its group.
    "workarounds.disable_group_policy_check_upcall=true",
    REMEMBERS_NO_SERVERS,
)
SSD = "aggregate_instance_extra_specs:ssd"
FLAVORS: dict[str, dict[str, str]] = {
    "plain": {},
    "gold": {"trait:CUSTOM_GOLD": "required"},
    "silver": {"trait:CUSTOM_SILVER": "required"},
    "no-lead": {"trait:CUSTOM_LEAD": "forbidden"},
    "ssd": {SSD: "true"},
    "fake": {"capabilities:hypervisor_type": "fake"},
    "roomy": {"capabilities:free_ram_mb": ">= 7000"},
}
IMAGES = {
    "raw": {},
    "of-gold": {"trait:CUSTOM_GOLD": "required"},
    "of-silver": {"trait:CUSTOM_SILVER": "required"},
}
ZONES = {"az-east": HOSTS[:2], "az-west": HOSTS[2:4]}
#: Older releases do not show hints, and zones neither: much is not known then.
HIDES = not chosen().shows_hints
#: What is said of many servers that are where they should be.
OFTEN = "unknown" if HIDES else "fine"
ENOUGH = 8
#: The last that moves a server to whatever host it is told.
FORCED = "2.67"


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a server is asked for with, by name."""

    flavor: str = "plain"
    image: str = "raw"
    zone: str | None = None
    project: str = "admin"
    group: str | None = None
    hint: tuple[str, str] | None = None


class Scene:
    """A cloud, and servers that are on it."""

    def __init__(self, cloud: Cloud, maker: Any) -> None:
        self.cloud, self.maker = cloud, maker
        self.users = {"admin": cloud.admin(), "demo": _admin_of(cloud, "demo")}
        self.flavors = {name: maker.flavor(name, s) for name, s in FLAVORS.items()}
        self.images = {name: maker.image(name, **each) for name, each in IMAGES.items()}
        self.groups = {
            name: maker.group(name) for name in ("affinity", "anti-affinity")
        }
        self.asked: dict[str, Asked] = {}

    def boot(self, asked: Asked, host: str | None = None, **more: Any) -> Boot:
        hints = dict([asked.hint]) if asked.hint else {}
        if asked.group:
            hints["group"] = self.groups[asked.group]
        if asked.zone:
            more["availability_zone"] = asked.zone
        if host:
            more["host"] = host
        boot = self.maker.boot(
            self.flavors[asked.flavor],
            self.images[asked.image],
            self.users[asked.project],
            hints,
            **more,
        )
        if boot.status == "ACTIVE":
            self.asked[boot.server] = asked
        elif boot.server:
            self.maker.delete(boot)
        return boot

    def delete(self, server: str) -> None:
        self.maker.delete(Boot("", server))
        self.asked.pop(server, None)

    def force(self, server: str, host: str) -> None:
        """Move a server, whatever the scheduler would say."""
        body = {"host": host, "block_migration": "auto", "force": True}
        self.maker.acts(Boot("", server), {"os-migrateLive": body}, version=FORCED)

    def listed(self, *options: str, fmt: str = "json") -> shell.Run:
        file = str(self.cloud.nova_conf)
        given = ("--nova-conf", file, "--set", "database_collation=case-sensitive")
        words = ("trait-sched", "server", "misplaced", *given, *options)
        return shell.run(self.cloud.environment, *words, "-f", fmt)

    def answers(self, *options: str) -> dict[str, Mapping[str, Any]]:
        """Return the rows of the servers that are not fine, by ID."""
        run = self.listed("--unknown", *options)
        assert run.err == ""
        found = {row["id"]: row for row in run.json}
        misplaced = [row for row in found.values() if row["answer"] == "misplaced"]
        assert run.code == (7 if misplaced else 8 if found else 0)
        return found


def _admin_of(cloud: Cloud, project: str) -> Any:
    """Return the administrator's connection in another project."""
    import openstack

    admin = cloud.admin()
    identity = admin.identity
    user = admin.current_user_id
    found = identity.find_project(project).id
    role = identity.find_role("admin").id
    admin.identity.put(f"/projects/{found}/users/{user}/roles/{role}")
    variables = {**cloud.environment, "OS_PROJECT_NAME": project}
    return openstack.connect(
        load_yaml_config=False,
        load_envvars=False,
        **{key[len("OS_") :].lower(): value for key, value in variables.items()},
    )


@pytest.fixture(scope="module")
def cloud():
    with Cloud(computes=len(HOSTS), nova_options=OPTIONS) as cloud:
        yield cloud


@pytest.fixture
def scene(cloud):
    with factory(cloud.admin()) as maker:
        maker.traits("CUSTOM_GOLD", *HOSTS)
        maker.traits("CUSTOM_SILVER", *HOSTS)
        maker.traits("CUSTOM_LEAD")
        for zone, hosts in ZONES.items():
            maker.aggregate(zone, *hosts, availability_zone=zone)
        fast = maker.aggregate("fast", *HOSTS, ssd="true")
        scene = Scene(cloud, maker)
        scene.fast = fast
        yield scene
        for server in list(scene.asked):
            scene.delete(server)


def drawn(chance: random.Random) -> Asked:
    return Asked(
        flavor=chance.choice([*FLAVORS, "plain", "gold"]),
        image=chance.choice(["raw"] * 4 + list(IMAGES)),
        zone=chance.choice([None, None, None, *ZONES]),
        project=chance.choice(["admin", "admin", "demo"]),
    )


def policies(scene: Scene, chance: random.Random) -> None:
    """Change what hosts are for, in each way that can leave servers behind."""
    maker, admin = scene.maker, scene.maker.admin
    maker.takes("CUSTOM_GOLD", chance.choice(HOSTS))
    maker.gives("CUSTOM_LEAD", *chance.sample(HOSTS, 2))
    isolated = chance.sample(HOSTS, 1)
    maker.aggregate("silver-only", *isolated, **{"trait:CUSTOM_SILVER": "required"})
    demo = admin.identity.find_project("demo").id
    maker.aggregate("demo-only", chance.choice(HOSTS), filter_tenant_id=demo)
    slow = chance.choice(HOSTS)
    admin.compute.remove_host_from_aggregate(scene.fast, slow)
    for server in chance.sample(list(scene.asked), 4):
        scene.force(server, _other(scene, server, chance))
    for name in scene.groups:
        members = [s for s, asked in scene.asked.items() if asked.group == name]
        _break(scene, name, members, chance)


def _boot_more(scene: Scene, chance: random.Random) -> None:
    """Boot servers until enough are said to be of the kind that is not misplaced.

    How many are hangs on the hosts that Nova has chosen.
    """
    for _ in range(COUNT):
        answers = scene.answers()
        said = [answers.get(each, {}).get("answer", "fine") for each in scene.asked]
        if said.count(OFTEN) > ENOUGH:
            return
        scene.boot(drawn(chance))


def _other(scene: Scene, server: str, chance: random.Random) -> str:
    return chance.choice([h for h in HOSTS if h != host_of(scene, server)])


def _break(scene, policy, members, chance):
    """Move one of a group away from the others, or to one of them."""
    first, second, *_ = members
    if policy == "affinity":
        scene.force(first, _other(scene, first, chance))
    else:
        scene.force(first, host_of(scene, second))


def host_of(scene: Scene, server: str) -> str:
    path = f"/servers/{server}"
    body = scene.maker.admin.compute.get(path, microversion="2.79").json()["server"]
    return body["OS-EXT-SRV-ATTR:host"]


@dataclasses.dataclass(frozen=True)
class Row:
    """A server, what was said of it, and what the scheduler did."""

    asked: Asked
    host: str
    said: str
    reasons: tuple[str, ...]
    done: str
    destination: str
    elsewhere: str
    left: Mapping[str, int]

    @property
    def agrees(self) -> bool:
        if HIDES and self.said == "unknown":
            return True
        if self.said != {"rejected": "misplaced", "taken": "fine"}[self.done]:
            return False
        if self.done == "taken" or (HIDES and self.destination == "unknown"):
            return True
        return self.destination == self.elsewhere


def moves(scene: Scene, server: str) -> bool:
    """Have Nova move a server live, and tell whether it has found a host."""
    before = host_of(scene, server)
    body = {"host": None, "block_migration": "auto"}
    scene.maker.acts(Boot("", server), {"os-migrateLive": body})
    return host_of(scene, server) != before


def tried(scene: Scene, server: str) -> Row:
    """Ask what is said of a server, and have the scheduler judge its host."""
    row = scene.answers().get(server, {})
    asked, host = scene.asked[server], host_of(scene, server)
    elsewhere = ""
    if row.get("answer") == "misplaced":
        elsewhere = "yes" if moves(scene, server) else "no"
    scene.delete(server)
    again = scene.boot(asked, host)
    return Row(
        asked=asked,
        host=host,
        said=row.get("answer", "fine"),
        reasons=tuple(row.get("reason", ())),
        done="taken" if again.status == "ACTIVE" else "rejected",
        destination=row.get("destination", ""),
        elsewhere=elsewhere,
        left=logs.left(scene.cloud, again.request),
    )


def table(rows) -> str:
    of_server = ("flavor", "image", "zone", "project", "besides", "host")
    of_answer = ("said", "reasons", "scheduler", "destination", "agrees")
    shown = prettytable.PrettyTable([*of_server, *of_answer])
    shown.align = "l"
    for row in rows:
        asked = row.asked
        besides = asked.group or (asked.hint[0] if asked.hint else "")
        what = [asked.flavor, asked.image, asked.zone or "", asked.project, besides]
        found = [row.host, row.said, "\n".join(row.reasons), row.done]
        agrees = "yes" if row.agrees else f"NO ({row.elsewhere})"
        shown.add_row([*what, *found, row.destination, agrees])
    return shown.get_string()


def test_a_server_is_misplaced_where_the_scheduler_would_not_take_it(
    scene, record_property
):
    chance = random.Random(SEED)
    for name in scene.groups:
        for _ in range(3):
            assert scene.boot(Asked(group=name)).status == "ACTIVE"
    first = scene.boot(Asked()).server
    for hint in ("same_host", "different_host"):
        assert scene.boot(Asked(hint=(hint, first))).status == "ACTIVE"
    scene.force(first, _other(scene, first, chance))
    while len(scene.asked) < COUNT:
        scene.boot(drawn(chance))
    assert scene.answers().keys() <= scene.asked.keys()
    policies(scene, chance)
    _boot_more(scene, chance)
    rows = [tried(scene, server) for server in list(scene.asked) if server != first]
    found = f"{sum(row.agrees for row in rows)} of {len(rows)} servers agree"
    record_property("table", f"{table(rows)}\n{found}")
    assert [row for row in rows if not row.agrees] == []
    # Else much of it would be said of nothing.
    said = collections.Counter(row.said for row in rows)
    assert said["misplaced"] >= ENOUGH
    assert said[OFTEN] >= ENOUGH
