"""What was recorded of a real Placement is answered as the real one is."""

from __future__ import annotations

import json
from urllib import parse

import pytest

from osc_traitsched.app import explain, listing
from osc_traitsched.core.inventory.snapshot import Aggregate, Selectors
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from osc_traitsched.views.explain.document import document
from tests.services.nova import HalfCloud, MadeUpNova
from tests.unit.app.recorded import RecordedService

pytestmark = pytest.mark.one_client

FLAVOR = {
    "id": "gold",
    "name": "gold",
    "vcpus": 1,
    "ram": 512,
    "disk": 1,
    "extra_specs": {"trait:CUSTOM_GOLD": "required"},
}


class Recording:
    """Passes every GET on to a service, and keeps what it answers."""

    def __init__(self, service):
        self.service_type = service.service_type
        self.bodies = {}
        self._service = service

    def get(self, path, params=None, microversion=None, timeout=None):
        body = self._service.get(path, params, microversion)
        # As a file would have it.
        text = json.dumps(body)
        key = f"{path}{'&' if '?' in path else '?'}{parse.urlencode(params or {})}"
        self.bodies[key] = json.loads(text)
        return body


class Recorded:
    """The cloud, with Placement's recorded answers in place of Placement."""

    def __init__(self, nova, bodies):
        self.compute = nova
        self.placement = RecordedService("placement", bodies)

    def once(self, read):
        return read(self)


@pytest.fixture
def nova(placement):
    """Twelve hosts, of which every third is gold."""
    placement.create_traits("CUSTOM_GOLD")
    hosts = []
    for number in range(12):
        gold = ("CUSTOM_GOLD",) if number % 3 == 0 else ()
        name = f"cmp{number:02d}"
        hosts.append((name, placement.add_host(name, traits=gold)))
    return MadeUpNova(hosts, {"gold": ({}, ["cmp00", "cmp03"])})


def all_answers(cloud, nova):
    """Ask everything, and return what a program could print of it."""
    nova._bodies["/os-services"] = {"services": []}
    question = Question(
        FLAVOR,
        None,
        tuple(map(Aggregate.read, nova.aggregates)),
        SchedulerSettings.of(33),
    )
    found = explain.explain(cloud, question, want_figures=True)
    everything = Selectors(everything=True)
    return (
        document(found),
        listing.by_host(cloud, everything),
        listing.by_trait(cloud, everything),
        listing.compare(cloud),
    )


def test_recorded_answers_of_placement_say_what_placement_said(placement, nova):
    live = HalfCloud(placement.url, nova)
    recording = Recording(live.placement)
    live._services["placement"] = recording
    said = all_answers(live, nova)
    assert said[0]["candidates"] == ["cmp00", "cmp03", "cmp06", "cmp09"]

    placement.wipe()
    assert all_answers(Recorded(nova, recording.bodies), nova) == said
