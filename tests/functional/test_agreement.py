"""All commands give the same answer about a host, with an unknown nova.conf."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import pytest

from osc_traitsched.app import capacity, drain, explain, host, request, server
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.nova.question import MoveKind, ServerSpec
from osc_traitsched.core.servers.drain import StuckReason
from osc_traitsched.core.servers.usage import CapacityQuery
from tests.functional.draining import Asked, FullHost
from tests.services.nova import MadeUpNova

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
def cloud(placement):
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


def judged(cloud, flavor, **of_server):
    """What explain says of each host, by name, and of all of them."""
    question = request.question(cloud, ServerSpec(flavor, ""), SOURCES)
    question = dataclasses.replace(question, **of_server)
    judgement = explain.explain(cloud, question, want_fixes=False).judgement
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


def test_a_host_has_one_answer_for_a_flavor(cloud):
    by_flavor = {flavor: judged(cloud, flavor)[0] for flavor in FLAVORS}
    counted = {Answer.YES: 0, Answer.NO: 0, Answer.DEPENDS: 0}
    for name in NAMES:
        answers = shown(host.host(cloud, name, ServerSpec(image=""), SOURCES))
        for flavor in FLAVORS:
            said = by_flavor[flavor][name]
            assert is_same(answers[flavor], said), (name, flavor, answers[flavor], said)
            counted[said] += 1
    assert all(counted.values()), counted


def test_capacity_and_candidates_answer_as_explain_does(cloud):
    spec = ServerSpec(image="")
    for fit in capacity.capacity(cloud, spec, SOURCES, CapacityQuery()).flavors:
        answers, answer = judged(cloud, fit.name)
        assert is_same(fit.answer, answer), fit.name
        with_room = {host.name for host in fit.judgement.candidates}
        assert {name for name in NAMES if answers[name] is Answer.YES} <= with_room


def test_a_drain_answers_as_the_move_of_each_server_alone(cloud):
    plan = drain.plan(cloud, [NAMES[0]], SOURCES)
    alone = {}
    for move in plan.server_moves:
        asked = server.Asked(MoveKind.LIVE_MIGRATION)
        found = server.destinations(cloud, move.state.id, asked, ServerSpec(), SOURCES)
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


def test_a_server_is_explained_as_its_flavor(cloud):
    for flavor in FLAVORS:
        (body,) = (each for each in cloud.bodies if each["name"] == f"on-{flavor}")
        found = server.answer(cloud, body["id"], ServerSpec(image=""), SOURCES)
        answers = {
            host.name: found.judgement.answer_of(host.uuid)
            for host in found.judgement.hosts
        }
        assert answers == judged(cloud, flavor, project=PROJECT)[0]
