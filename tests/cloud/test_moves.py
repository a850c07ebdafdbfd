"""Servers are moved, and nova-scheduler's log is laid beside what was said before.

TRAITSCHED_MOVES is the number of moves, and TRAITSCHED_SEED what they are drawn from.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import os
import random
import time
from collections.abc import Mapping
from typing import Any

import pytest

from osc_traitsched.app import server as destinations
from osc_traitsched.app.explain import explain
from osc_traitsched.app.server import AskedMove
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.nova.question import AFTER_FILTERS, MoveKind, ServerSpec
from osc_traitsched.core.servers.moves import Destinations, Rebuild
from osc_traitsched.views import destinations as documents
from tests.cloud import logs
from tests.cloud.cloud import ISOLATION, REMEMBERS_NO_SERVERS, Cloud
from tests.cloud.factory import COMPUTE, Boot, Maker, factory
from tests.schemas import closed
from tests.services.process import PATIENCE

COUNT = int(os.environ.get("TRAITSCHED_MOVES", "40"))
SEED = os.environ.get("TRAITSCHED_SEED", "7")
GOLD = "CUSTOM_GOLD"
FILTERS = (
    "AggregateInstanceExtraSpecsFilter",
    "ComputeFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "SameHostFilter",
    "DifferentHostFilter",
    "IsolatedHostsFilter",
    "AggregateImagePropertiesIsolation",
)
FLAVORS: Mapping[str, Any] = {
    "small": ({}, {}),
    "half": ({}, {"ram": 4096}),
    "most": ({}, {"ram": 7000}),
    "gold": ({f"trait:{GOLD}": "required"}, {}),
    "ssd": ({"aggregate_instance_extra_specs:ssd": "true"}, {}),
    "nowhere": ({"aggregate_instance_extra_specs:ssd": "never"}, {}),
}
IMAGES: Mapping[str, Any] = {
    "raw": {},
    "golden": {f"trait:{GOLD}": "required"},
    "windows": {"os_type": "windows"},
    "linux": {"os_type": "linux"},
    "large": {"min_ram": 6000},
}
HOSTS = tuple(f"cmp0{number}" for number in range(8))
OLDER, OTHER = "cmp05", "cmp06"
DIFFERENT = {
    OLDER: {"hypervisor_version": 900},
    OTHER: {"hypervisor_type": "other", "stays": True},
}
BUSY = ("BUILD", "MIGRATING", "RESIZE", "REBUILD")


@dataclasses.dataclass(frozen=True)
class Case:
    """A server, what becomes of it and of its cloud before, and the move.

    :ivar first: what is done with the server; empty for nothing
    :ivar disabled: a host that is disabled before the move; empty for none
    :ivar is_down: its host's nova-compute is forced down before the move
    :ivar to: the host that is asked for, the flavor of a resize, or the image of a
        rebuild; empty for none
    """

    kind: MoveKind
    flavor: str = "small"
    image: str = "raw"
    zone: str = ""
    group: str = ""
    hint: str = ""
    first: str = ""
    disabled: str = ""
    is_down: bool = False
    to: str = ""

    @property
    def asked(self) -> AskedMove:
        flavor = self.to if self.kind is MoveKind.RESIZE else None
        image = self.to if self.kind is MoveKind.REBUILD else None
        return AskedMove(self.kind, flavor, image)

    @property
    def given(self) -> ServerSpec:
        names_host = self.kind not in (MoveKind.RESIZE, MoveKind.REBUILD)
        return ServerSpec(on_host=self.to or None if names_host else None)


@dataclasses.dataclass(frozen=True)
class Moved:
    """How Nova answered, and where the server is then.

    :ivar status: of the API's answer
    """

    request: str
    status: int
    body: Any


@dataclasses.dataclass(frozen=True)
class Scene:
    """The cloud, and what is made in it by name."""

    cloud: Cloud
    maker: Maker
    flavors: Mapping[str, Any]
    images: Mapping[str, str]
    groups: Mapping[str, str]
    anchor: str

    def boot(self, case: Case) -> Boot:
        hints = {case.hint: self.anchor} if case.hint else {}
        if case.group:
            hints["group"] = self.groups[case.group]
        more = {"availability_zone": case.zone} if case.zone else {}
        flavor, image = self.flavors[case.flavor], self.images[case.image]
        return self.maker.boot(flavor, image, hints=hints, **more)

    def destinations(self, case: Case, server: str) -> Destinations:
        files = (str(self.cloud.nova_conf),)
        release = self.cloud.release
        sources = SettingsSources(nova_conf=files, nova_release=release.number)
        return destinations.destinations(
            HttpCloud(self.maker.admin),
            server,
            case.asked,
            case.given if release.shows_hints else self.given(case),
            sources,
            functools.partial(explain, want_fixes=False),
        )

    def given(self, case: Case) -> ServerSpec:
        """Return what a user says where Nova does not show the request."""
        hints = {case.hint: (self.anchor,)} if case.hint else {}
        return dataclasses.replace(case.given, zone=case.zone or None, hints=hints)

    def move(self, case: Case, server: str) -> Moved:
        compute, path = self.maker.admin.compute, f"/servers/{server}/action"
        answer = compute.post(path, json=self.action(case), microversion=COMPUTE)
        request = answer.headers["x-openstack-request-id"]
        if case.kind is MoveKind.EVACUATION:
            self.evacuated(server)
        return Moved(request, answer.status_code, self.settled(server))

    def evacuated(self, server: str) -> None:
        """Wait until an evacuation is over, if one has begun.

        The server is active before Nova writes down where it is.
        """
        path = f"/os-migrations?instance_uuid={server}"
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer = self.maker.admin.compute.get(path, microversion=COMPUTE)
            found = {each["status"] for each in answer.json()["migrations"]}
            if found <= {"done", "error", "failed"}:
                return
            time.sleep(0.05)
        raise AssertionError(f"server {server} is being evacuated: {found}")

    def action(self, case: Case) -> Any:
        host = {"host": case.to} if case.to else None
        if case.kind is MoveKind.LIVE_MIGRATION:
            wanted = {"host": case.to or None, "block_migration": "auto"}
            return {"os-migrateLive": wanted}
        if case.kind is MoveKind.MIGRATION:
            return {"migrate": host}
        if case.kind is MoveKind.RESIZE:
            return {"resize": {"flavorRef": self.flavors[case.to].id}}
        if case.kind is MoveKind.EVACUATION:
            return {"evacuate": host or {}}
        if case.kind is MoveKind.REBUILD:
            return {"rebuild": {"imageRef": self.images[case.to]}}
        return {"unshelve": None}

    def settled(self, server: str) -> Any:
        """Return a server's body when nothing is done with it any more."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            path = f"/servers/{server}"
            answer = self.maker.admin.compute.get(path, microversion=COMPUTE)
            body = answer.json()["server"]
            if not body["OS-EXT-STS:task_state"] and body["status"] not in BUSY:
                return body
            time.sleep(0.05)
        raise AssertionError(f"server {server} is busy: {body}")


@pytest.fixture(scope="module")
def scene():
    """
    ===== ====== ===== ====== ==========================================
    host  zone   ssd   traits besides
    ===== ====== ===== ====== ==========================================
    cmp00 east   true         the servers of the groups and of the hints
    cmp01 east   true  GOLD
    cmp02 west   false        for images of windows
    cmp03 west   false        for images of windows
    cmp04              GOLD   only for those who require GOLD
    cmp05                     an older hypervisor
    cmp06        true         another hypervisor; servers may stay
    cmp07                     nearly full
    ===== ====== ===== ====== ==========================================
    """
    options = (
        ISOLATION,
        REMEMBERS_NO_SERVERS,
        f"filter_scheduler.enabled_filters={','.join(FILTERS)}",
        "DEFAULT.allow_resize_to_same_host=true",
        "DEFAULT.shelved_offload_time=0",
    )
    cloud = Cloud(computes=len(HOSTS), nova_options=options, hypervisors=DIFFERENT)
    with cloud, factory(cloud.admin()) as maker:
        maker.traits(GOLD, "cmp01", "cmp04")
        flavors = {
            name: maker.flavor(name, specs, **size)
            for name, (specs, size) in FLAVORS.items()
        }
        images = {name: maker.image(name, **each) for name, each in IMAGES.items()}
        east = {"availability_zone": "east", "ssd": "true"}
        maker.aggregate("east", "cmp00", "cmp01", **east)
        west = {"availability_zone": "west", "ssd": "false", "os_type": "windows"}
        maker.aggregate("west", "cmp02", "cmp03", **west)
        maker.aggregate("golden", "cmp04", **{f"trait:{GOLD}": "required"})
        maker.aggregate("fast", OTHER, ssd="true")
        maker.used("cmp07", flavors["most"], images["raw"])
        there = maker.boot(flavors["small"], images["raw"], host="cmp00")
        maker.after(maker.delete, there)
        groups = {name: maker.group(name) for name in ("affinity", "anti-affinity")}
        for identity in groups.values():
            hints = {"group": identity}
            one = maker.boot(flavors["small"], images["raw"], hints=hints, host="cmp00")
            assert one.status == "ACTIVE", one
            maker.after(maker.delete, one)
        yield Scene(cloud, maker, flavors, images, groups, there.server)


LIVE, COLD, RESIZE = MoveKind.LIVE_MIGRATION, MoveKind.MIGRATION, MoveKind.RESIZE
EVACUATION, UNSHELVE, REBUILD = MoveKind.EVACUATION, MoveKind.UNSHELVE, MoveKind.REBUILD
#: What chance may leave out.
SURE = (
    Case(LIVE),
    Case(LIVE, "gold"),
    Case(LIVE, group="affinity"),
    Case(LIVE, to="cmp02"),
    Case(LIVE, to=OLDER),
    Case(LIVE, first="os-stop"),
    Case(COLD),
    Case(COLD, "ssd"),
    Case(COLD, zone="west", disabled="cmp02"),
    Case(COLD, group="anti-affinity"),
    Case(RESIZE, to="most"),
    Case(RESIZE, to="nowhere"),
    Case(RESIZE, to="small"),
    Case(EVACUATION),
    Case(EVACUATION, is_down=True),
    Case(EVACUATION, zone="east", is_down=True),
    Case(UNSHELVE, first="shelve"),
    Case(UNSHELVE, "gold", first="shelve", disabled="cmp01"),
    Case(REBUILD, to="golden"),
    Case(REBUILD, "gold", to="golden"),
    Case(REBUILD, zone="west", to="linux"),
    Case(REBUILD, zone="west", to="windows"),
    Case(REBUILD, to="large"),
    Case(REBUILD, to="raw"),
)


def cases():
    """Yield those that are sure, and then those that chance gives."""
    yield from SURE
    chance = random.Random(SEED)
    while True:
        kind = chance.choice(list(FIRST))
        to = ""
        if kind is RESIZE:
            to = chance.choice(list(FLAVORS))
        elif kind is REBUILD:
            to = chance.choice(list(IMAGES))
        elif kind is not UNSHELVE and chance.random() < 0.25:
            to = chance.choice(HOSTS)
        yield Case(
            kind,
            chance.choice(["small", "small", "half", "gold", "ssd"]),
            chance.choice(["raw"] * 4 + ["golden"]),
            chance.choice(["", "", "", "east", "west"]),
            chance.choice(["", "", "", "affinity", "anti-affinity"]),
            chance.choice(["", "", "", "same_host", "different_host"]),
            chance.choice(FIRST[kind]),
            chance.choice(["", "", *HOSTS]),
            chance.random() < IS_DOWN[kind],
            to,
        )


FIRST: Mapping[MoveKind, tuple[str, ...]] = {
    LIVE: ("",) * 6 + ("pause", "os-stop"),
    COLD: ("",) * 4 + ("os-stop", "os-stop", "pause"),
    RESIZE: ("",) * 6 + ("os-stop", "suspend"),
    EVACUATION: ("",) * 6 + ("os-stop", "pause"),
    UNSHELVE: ("shelve",) * 7 + ("",),
    REBUILD: ("",) * 6 + ("os-stop", "suspend"),
}
IS_DOWN = {LIVE: 0.1, COLD: 0.1, RESIZE: 0.1, EVACUATION: 0.85, UNSHELVE: 0, REBUILD: 0}


def passing(found: Destinations) -> tuple[set[str], set[str]]:
    """Return the hosts that filters leave for sure, and those that they may leave."""
    judgement = found.judgement
    kept_out = judgement.filtering.kept_out
    out = frozenset[str]().union(
        *(kept_out[n] for n in kept_out if n not in AFTER_FILTERS)
    )
    left = [
        host for host in judgement.candidates.placement_hosts if host.uuid not in out
    ]
    unsure = {host.name for host in judgement.candidates.uncertain}
    may = {host.name for host in left}
    return may - unsure, may


def wrong(found: Destinations, moved: Moved, filtered: list[set[str]]) -> str:
    """Return what Nova did otherwise than was said; nothing for nothing."""
    by = {each.by for each in found.refusals}
    if found.rebuild is not None and found.rebuild.refusal is not None:
        by.add("nova-api")
    if (moved.status >= 400) is not ("nova-api" in by):
        return f"nova-api answers {moved.status}"
    if moved.status >= 400:
        return ""
    judgement = found.judgement
    if "nova-conductor" in by or (judgement and judgement.refusal is not None):
        return "hosts were asked for" if any(filtered) else ""
    if found.rebuild is not None:
        return wrong_rebuild(found.rebuild, moved, filtered)
    left = filtered[0] if filtered else set()
    sure, may = passing(found)
    if not sure <= left <= may:
        return f"the filters left {sorted(left)}"
    can = {host for host, can in found.hosts if can is not Answer.NO}
    host = moved.body["OS-EXT-SRV-ATTR:host"]
    # A shelved server may have had its host yet when it was read, and has none then.
    if host and host != found.state.host and host not in can:
        return f"it went to {host}"
    stayed = host in {found.state.host, None}
    if can - {found.state.host} and stayed and host not in can:
        return f"it stayed on {host}"
    return ""


def wrong_rebuild(rebuild: Rebuild, moved: Moved, filtered: list[set[str]]) -> str:
    """Return what Nova did otherwise than was said of a rebuild."""
    if (moved.body["status"] == "ERROR") is not (rebuild.can is Answer.NO):
        return f"it is {moved.body['status']}"
    if not rebuild.is_asked or rebuild.missing or rebuild.forbidden:
        return f"the filters left {filtered}" if filtered else ""
    left = [{rebuild.host.node}] if rebuild.can is Answer.YES else [set()]
    return "" if filtered == left else f"the filters left {filtered}"


def test_servers_go_where_it_was_said_that_they_could(scene, record_property):
    rows, differing, seen = [], [], collections.Counter()
    for case in cases():
        if len(rows) == COUNT:
            break
        boot = scene.boot(case)
        if boot.status != "ACTIVE":
            if boot.server:
                scene.maker.delete(boot)
            continue
        with factory(scene.maker.admin) as meanwhile:
            if case.first:
                scene.maker.acts(boot, {case.first: None})
            if case.disabled:
                meanwhile.disabled(case.disabled, "")
            if case.is_down:
                meanwhile.forced_down(boot.host)
            found = scene.destinations(case, boot.server)
            moved = scene.move(case, boot.server)
            scene.cloud.forget_evacuations()
        closed("server destinations").validate(documents.destinations(found))
        filtered = logs.filtered(scene.cloud, moved.request)
        scene.maker.delete(boot)
        said = documents.destinations(found)["summary"]
        told = wrong(found, moved, filtered)
        if told:
            differing.append((case, said, told, filtered, moved.status))
        seen[case.kind, outcome(found)] += 1
        to = moved.body["OS-EXT-SRV-ATTR:host"]
        rows.append(f"{case}: {said} HTTP {moved.status}, {boot.host} to {to}")
    counted = [f"{kind.value}, {end}: {n}" for (kind, end), n in sorted_by(seen)]
    told = f"{len(rows) - len(differing)} of {len(rows)} moves agree"
    record_property("table", "\n".join([*rows, *counted, told]))
    assert differing == []
    assert {end for _, end in seen} == {"rejected", "no host", "candidates"}
    assert {kind for kind, _ in seen} == set(FIRST)


def outcome(found):
    return documents.destinations(found)["verdict"]


def sorted_by(seen):
    return sorted(seen.items(), key=lambda each: (each[0][0].value, each[0][1]))


def test_a_live_migration_passes_over_what_the_conductor_turns_down(scene):
    """The log of nova-conductor says why, which no API does."""
    case = Case(LIVE)
    flavor, image = scene.flavors["small"], scene.images["raw"]
    boot = scene.maker.boot(flavor, image, host="cmp02")
    with factory(scene.maker.admin) as meanwhile:
        for host in HOSTS:
            if host not in (boot.host, OLDER, OTHER):
                meanwhile.disabled(host, "")
        found = scene.destinations(case, boot.server)
        moved = scene.move(case, boot.server)
    filtered = logs.filtered(scene.cloud, moved.request)
    scene.maker.delete(boot)
    assert boot.host == "cmp02"
    assert [host for host, can in found.hosts if can is not Answer.NO] == []
    assert filtered[0] == passing(found)[1] == {OLDER, OTHER}
    assert len(filtered[1]) == 1
    assert moved.body["OS-EXT-SRV-ATTR:host"] == boot.host
