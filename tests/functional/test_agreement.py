"""Commands agree on answers, numbers and reasons."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import NamedTuple

import pytest

from osc_traitsched.app import capacity, drain, explain, host, request, server
from osc_traitsched.app import flavor as app_flavor
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.nova.question import MoveKind, ServerSpec
from osc_traitsched.core.servers.drain import StuckReason
from osc_traitsched.core.servers.usage import CapacityQuery
from osc_traitsched.views import flavor as views
from tests.functional.draining import Asked, FullHost
from tests.functional.nova import Nova
from tests.functional.placement import STANDARD
from tests.services.nova import CloudWithImages, MadeUpNova

# All commands give the same answer about a host, with an unknown nova.conf.


pytestmark = pytest.mark.one_client


class Host(NamedTuple):
    name: str
    uuid: str


GOLD, PROJECT = "CUSTOM_GOLD", "0a" * 16
RAW = "COMPUTE_IMAGE_TYPE_RAW"
SOURCES = SettingsSources(nova_release=33)
NAMES = [f"cmp{number:02d}" for number in range(20)]
AGGREGATES = {
    "golden": ({f"trait:{GOLD}": "required"}, NAMES[1:4]),
    "theirs": ({"filter_tenant_id": "0b" * 16}, NAMES[4:7]),
    "fast": ({"ssd": "true"}, NAMES[7:10]),
    "ours": ({"filter_tenant_id": PROJECT}, NAMES[10:12]),
}
SCOPED = {"aggregate_instance_extra_specs:ssd": "true"}
FLAVORS = {
    "plain": ({}, 1024),
    "gold": ({f"trait:{GOLD}": "required"}, 1024),
    "fast": (SCOPED, 1024),
    "large": ({}, 20_000),
    "huge": ({}, 90_000),
}


class Twenty(FullHost):
    """Twenty hosts; the first has a server of each flavor that fits there."""

    def __init__(self, url, hosts):
        flavors = [
            {"id": f"f-{name}", "name": name, "vcpus": 1, "ram": ram, "disk": 1}
            | {"extra_specs": specs, "os-flavor-access:is_public": True}
            for name, (specs, ram) in FLAVORS.items()
        ]
        super().__init__(url, hosts, len(flavors))
        nova = MadeUpNova([(h.name, h.uuid) for h in hosts], AGGREGATES, flavors)
        self.compute = Asked("compute", self._of_nova(nova))
        for body, flavor in zip(self.bodies, flavors):
            size = {key: flavor[key] for key in ("vcpus", "ram", "disk", "extra_specs")}
            body["name"] = f"on-{flavor['name']}"
            body["tenant_id"] = PROJECT
            body["flavor"] = {
                **size,
                "swap": 0,
                "ephemeral": 0,
                "original_name": flavor["name"],
            }

    def _of_glance(self, path, params):
        listed = super()._of_glance("/images", {"os_hidden": "false", **params})
        return listed if path == "/images" else listed["images"][0]

    def _of_nova(self, nova):
        others = super()._of_nova(nova)

        def answer(path, params):
            _, kind, *rest = path.split("/")
            if kind != "servers" or rest == ["detail"]:
                return others(path, params)
            if rest[1:]:
                return {"instanceActions": []}
            (body,) = (each for each in self.bodies if each["id"] == rest[0])
            return {"server": body}

        return answer


@pytest.fixture
def agreement_cloud(placement):
    placement.create_traits(GOLD)
    hosts = []
    for number, name in enumerate(NAMES):
        traits = [GOLD] if 1 <= number < 4 or number == 12 else []
        traits += [RAW] if number != 13 else []
        ram = 8000 if number % 3 else 32000
        sizes = {"VCPU": 64, "MEMORY_MB": ram, "DISK_GB": 900}
        uuid = placement.add_host(name, traits, inventories=sizes)
        hosts.append(Host(name, uuid))
    placement.allocate(hosts[14].uuid, MEMORY_MB=7500)
    made = Twenty(placement.url, hosts)
    uuids = {host.name: host.uuid for host in hosts}
    aggregates = MadeUpNova((), AGGREGATES).aggregates
    for name in NAMES:
        inside = [each["uuid"] for each in aggregates if name in each["hosts"]]
        placement.call(
            "PUT",
            f"/resource_providers/{uuids[name]}/aggregates",
            {
                "aggregates": inside,
                "resource_provider_generation": placement.generation(uuids[name]),
            },
        )
    return made


def judged(agreement_cloud, flavor, **of_server):
    """What explain says of each host, by name, and of all of them."""
    question = request.question(agreement_cloud, ServerSpec(flavor, ""), SOURCES)
    question = dataclasses.replace(question, **of_server)
    judgement = explain.explain(agreement_cloud, question, want_fixes=False).judgement
    hosts = {each.name: judgement.answer_of(each.uuid) for each in judgement.hosts}
    return hosts, judgement.answer


def shown(view):
    """What a host show says of each flavor."""
    answers = dict.fromkeys((each.name for each in view.capacity.flavors), Answer.NO)
    answers |= dict.fromkeys(view.fits, Answer.UNKNOWN)
    answers |= {each.question.flavor["name"]: Answer.DEPENDS for each in view.open}
    return answers | dict.fromkeys(view.sure, Answer.YES)


def is_same(one, other):
    """Whether both are yes, both are no, or both are open."""
    return one is other or (one.is_open and other.is_open)


def test_a_host_has_one_answer_for_a_flavor(agreement_cloud):
    by_flavor = {flavor: judged(agreement_cloud, flavor)[0] for flavor in FLAVORS}
    counted = {Answer.YES: 0, Answer.NO: 0, Answer.DEPENDS: 0}
    for name in NAMES:
        answers = shown(host.host(agreement_cloud, name, ServerSpec(image=""), SOURCES))
        for flavor in FLAVORS:
            said = by_flavor[flavor][name]
            assert is_same(answers[flavor], said), (name, flavor, answers[flavor], said)
            counted[said] += 1
    assert all(counted.values()), counted


def test_capacity_and_candidates_answer_as_explain_does(agreement_cloud):
    spec = ServerSpec(image="")
    for fit in capacity.capacity(
        agreement_cloud, spec, SOURCES, CapacityQuery()
    ).flavors:
        answers, answer = judged(agreement_cloud, fit.name)
        assert is_same(fit.answer, answer), fit.name
        with_room = {host.name for host in fit.judgement.candidates}
        assert {name for name in NAMES if answers[name] is Answer.YES} <= with_room


def test_a_drain_answers_as_the_move_of_each_server_alone(agreement_cloud):
    plan = drain.plan(agreement_cloud, [NAMES[0]], SOURCES)
    alone = {}
    for move in plan.server_moves:
        asked = server.AskedMove(MoveKind.LIVE_MIGRATION)
        found = server.destinations(
            agreement_cloud, move.state.id, asked, ServerSpec(), SOURCES
        )
        alone[move.state.name] = dict(found.hosts)
    for step in plan.steps:
        said = alone[step.server_move.state.name][step.to.node]
        assert said.is_open if step.unknown else said is Answer.YES, step
    for stuck in plan.stuck:
        answers = set(alone[stuck.server_move.state.name].values())
        assert stuck.why is StuckReason.NO_HOST
        assert Answer.YES not in answers
        assert stuck.depends is (Answer.DEPENDS in answers)
    assert plan.steps
    assert any(each.depends for each in plan.stuck)
    assert not all(each.depends for each in plan.stuck)


def test_a_server_is_explained_as_its_flavor(agreement_cloud):
    for flavor in FLAVORS:
        (body,) = (
            each for each in agreement_cloud.bodies if each["name"] == f"on-{flavor}"
        )
        found = server.answer(
            agreement_cloud, body["id"], ServerSpec(image=""), SOURCES
        )
        answers = {
            host.name: found.judgement.answer_of(host.uuid)
            for host in found.judgement.hosts
        }
        assert answers == judged(agreement_cloud, flavor, project=PROJECT)[0]


# No number of one command contradicts that of another, on clouds that are drawn.


HOSTS, COUNT = 5, 30
MORE = [pytest.param(seed, marks=pytest.mark.full) for seed in range(5, 20)]
NUMBERS_GOLD, SSD = "CUSTOM_GOLD", "CUSTOM_SSD"
SPEC = ServerSpec(image="")
EMPTY = {"/servers/detail": {"servers": []}, "/os-availability-zone": {}}
EMPTY["/os-availability-zone"] = {"availabilityZoneInfo": []}
NUMBERS_FLAVORS = {
    "small": ({}, 1000),
    "large": ({}, 6000),
    "huge": ({}, 90_000),
    "gold": ({f"trait:{NUMBERS_GOLD}": "required"}, 2000),
    "ssd": ({f"trait:{SSD}": "required"}, 3000),
    "not-ssd": ({f"trait:{SSD}": "forbidden"}, 500),
}


def draw(placement, seed):
    """A cloud with hosts of any state, in zones, isolated and for tenants or not."""
    drawn = random.Random(seed)
    placement.create_traits(NUMBERS_GOLD, SSD)
    hosts = []
    for number in range(HOSTS):
        traits = [name for name in (NUMBERS_GOLD, SSD) if drawn.random() < 0.5]
        is_enabled = drawn.random() < 0.8
        traits += [] if is_enabled else ["COMPUTE_STATUS_DISABLED"]
        ram = drawn.choice([4000, 8000, 16_000])
        sizes = {"VCPU": drawn.choice([4, 64]), "MEMORY_MB": ram, "DISK_GB": 900}
        name = f"cmp{number:02d}"
        hosts.append((name, placement.add_host(name, traits, inventories=sizes)))
        used = {"MEMORY_MB": drawn.randrange(ram + 1), "VCPU": drawn.randrange(5)}
        if used := {key: amount for key, amount in used.items() if amount}:
            placement.allocate(hosts[-1][1], **used)
    some = lambda: [name for name, _ in hosts if drawn.random() < 0.4]  # noqa: E731
    half = drawn.randrange(HOSTS)
    aggregates = {
        "east": ({"availability_zone": "az-east"}, [name for name, _ in hosts[:half]]),
        "golden": ({f"trait:{NUMBERS_GOLD}": "required"}, some()),
        "theirs": ({"filter_tenant_id": "0b" * 16}, some() if seed % 2 else []),
    }
    flavors = [
        {"id": f"f-{name}", "name": name, "vcpus": 1, "ram": ram, "disk": 1}
        | {"extra_specs": specs, "os-flavor-access:is_public": True}
        for name, (specs, ram) in NUMBERS_FLAVORS.items()
    ]
    nova = MadeUpNova(hosts, aggregates, flavors)
    nova._bodies |= EMPTY
    services = [{"host": name, "zone": "nova", "updated_at": None} for name, _ in hosts]
    nova._bodies["/os-services"] = {"services": services}
    for body in nova._bodies["/os-hypervisors/detail"]["hypervisors"]:
        is_off = "COMPUTE_STATUS_DISABLED" in placement.traits(body["id"])
        body["status"] = "disabled" if is_off else "enabled"
        body["state"] = "up" if drawn.random() < 0.9 else "down"
    for each in nova.aggregates:
        for name, uuid in hosts:
            if name in each["hosts"]:
                inside = [e["uuid"] for e in nova.aggregates if name in e["hosts"]]
                path = f"/resource_providers/{uuid}/aggregates"
                body = {"resource_provider_generation": placement.generation(uuid)}
                placement.call("PUT", path, {**body, "aggregates": inside})
    return CloudWithImages(placement.url, nova), dict(hosts)


def of_explain(cloud, flavor):
    """Room that ``explain --count`` finds: together, and by host."""
    spec = dataclasses.replace(SPEC, flavor=flavor, count=COUNT)
    question = request.question(cloud, spec, SOURCES)
    judgement = explain.explain(cloud, question, want_fixes=False).judgement
    return judgement.room.most, dict(judgement.room_by_host)


@pytest.mark.parametrize("seed", [*range(5), *MORE])
def test_no_number_contradicts_another(placement, seed):
    cloud, hosts = draw(placement, seed)
    query = CapacityQuery(by="zone")
    fits = {e.name: e for e in capacity.capacity(cloud, SPEC, SOURCES, query).flavors}
    on_hosts = {name: host.host(cloud, name, SPEC, SOURCES) for name in hosts}
    rooms = {
        flavor: {
            name: view.fits[flavor]
            for name, view in on_hosts.items()
            if flavor in view.fits
        }
        for flavor in NUMBERS_FLAVORS
    }
    for flavor, fit in fits.items():
        by_host = {
            name: fit.hosts[uuid].room
            for name, uuid in hosts.items()
            if uuid in fit.hosts
        }
        assert rooms[flavor] == by_host, flavor
        most = {name: room.most for name, room in by_host.items()}
        assert of_explain(cloud, flavor) == (fit.room.most, most), flavor
        shown = app_flavor.flavor(cloud, flavor, SPEC, SOURCES)
        assert shown.fit is not None
        assert (shown.fit.room, shown.fit.hosts) == (fit.room, fit.hosts)
        assert fit.groups == shown.fit.groups
        assert sum(number for number, _, _ in fit.groups.values()) == len(fit.hosts)
        assert sum(suited for _, _, suited in fit.groups.values()) == len(fit.suited)
        assert sum(room.most for _, room, _ in fit.groups.values()) == fit.room.most
        out = [name for names in views.never_on_of(shown).values() for name in names]
        assert out or len(fit.suited) == HOSTS
    uses = {use.name: use for use in host.host_uses(cloud, SOURCES)}
    assert uses.keys() == hosts.keys()
    for name, use in uses.items():
        stock = on_hosts[name].stock[hosts[name]]["MEMORY_MB"]
        (own,) = use.ram
        assert (own.used, own.free) == (stock.used, stock.free), name
        assert not (use.is_full and on_hosts[name].fits), name
        if "down" in use.unusable or "disabled" in use.unusable:
            assert not on_hosts[name].fits, name


# The reason of a no beside a real Placement, whose hosts are enabled and emptied.


EVERY = {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 100}
FLAVOR = {"id": "1", "name": "asked", "vcpus": 1, "ram": 512, "disk": 1}
DISABLED = "COMPUTE_STATUS_DISABLED"
#: Units of VCPU, how many are used, further traits, and how many are asked for.
REASONS_HOSTS = {
    "fits": ({}, 7, (), 1),
    "disabled": ({}, 0, (DISABLED,), 1),
    "full": ({}, 8, (), 1),
    "full-and-disabled": ({}, 8, (DISABLED,), 1),
    "full-of-eight": ({}, 1, (), 8),
    "too-much-at-once": ({"max_unit": 4}, 8, (), 5),
    "too-much-at-once-of-free-ones": ({"max_unit": 4}, 0, (), 5),
    "odd-step": ({"step_size": 2}, 8, (), 3),
    "too-few-in-all": ({}, 8, (), 9),
}
REASONS = {
    "fits": ("fits", "fits", "fits"),
    "disabled": ("disabled", "fits", "fits"),
    "full": ("full", "full", "fits"),
    "full-and-disabled": ("full", "full", "fits"),
    "full-of-eight": ("full", "full", "fits"),
    **dict.fromkeys([*REASONS_HOSTS][5:], ("misconfigured",) * 3),
}


def made(placement, name):
    """A host as the table has it, and the flavor that is asked for."""
    units, used, traits, vcpus = REASONS_HOSTS[name]
    host = placement.add_host(name, (*STANDARD, *traits), inventories=EVERY)
    path = f"/resource_providers/{host}/inventories"
    found = placement.call("GET", path)
    found["inventories"]["VCPU"].update(units)
    placement.call("PUT", path, found)
    step = units.get("step_size", 1)
    for _ in range(used // step):
        placement.allocate(host, VCPU=step)
    return host, {**FLAVOR, "vcpus": vcpus, "extra_specs": {}}


def emptied(placement, host):
    found = placement.call("GET", f"/resource_providers/{host}/allocations")
    for consumer in found["allocations"]:
        placement.call("DELETE", f"/allocations/{consumer}")


@pytest.mark.parametrize("name", REASONS_HOSTS)
def test_the_reason_now_then_enabled_then_empty(placement, proxy, openstack, name):
    host, flavor = made(placement, name)
    nova = Nova(proxy, [(name, host)], {})
    nova._bodies["/flavors/detail"] = {"flavors": [flavor]}

    def reason(*command):
        how = ("-f", "json", "--nova-release", "2026.1")
        found = json.loads(openstack(*command, *how).out)
        return found["reason"] if "reason" in found else found["flavors"][0]["reason"]

    found = []
    changes = (
        lambda: None,
        lambda: placement.set_traits(host, STANDARD),
        lambda: emptied(placement, host),
    )
    for change in changes:
        change()
        found.append(reason("explain", "asked", "-"))
        assert reason("capacity", "asked") == found[-1]
    assert tuple(found) == REASONS[name]
