"""What answers cost, counted: requests, hosts and judgements, not seconds."""

from __future__ import annotations

import copy
import dataclasses
import json

import pytest

from osc_traitsched.app import host
from osc_traitsched.app.judging import by_flavor
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.answer import Reason
from osc_traitsched.core.judge import doubts, verdict
from osc_traitsched.core.judge.capacity import Counter
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers.usage import CapacityQuery
from tests.services.environment import REPOSITORY

CLOUD = json.loads((REPOSITORY / "examples" / "cloud.json").read_text())
NO_FILES = {**CLOUD["settings"], "files": {}, "named": {}, "lines": {}, "place": None}


@pytest.fixture
def night():
    """A snapshot without settings, so that options are unknown."""
    return Snapshot("", {**copy.deepcopy(CLOUD), "settings": NO_FILES})


def counting(monkeypatch, of, name):
    """The first arguments of a function, call by call."""
    calls, real = [], getattr(of, name)

    def count(*args, **named):
        calls.append(args)
        return real(*args, **named)

    monkeypatch.setattr(of, name, count)
    return calls


def test_options_that_a_request_does_not_read_make_no_request(night, monkeypatch):
    built = counting(monkeypatch, doubts, "_request")
    judged = by_flavor(night.cloud, ServerSpec(image=""), night.sources)
    accepted = [each for each in judged if isinstance(each, Judgement)]
    # Of a dozen options, three can change a request without an image and a zone, and
    # OWNER_NOVA can; one more request does without values by evidence.
    assert len(accepted) <= len(built) <= 5 * len(accepted)


def test_a_host_is_shown_by_counting_on_it_alone(night, monkeypatch):
    counted = counting(monkeypatch, Counter, "on")
    found = host.host(
        night.cloud, ServerSpec(image=""), night.sources, CapacityQuery(host="cmp01")
    )
    assert found.fits
    roots = {root for _, several, *_ in counted for root in several}
    assert roots == {found.host.uuid}


def test_a_shown_host_counts_no_hosts_by_clause(night, monkeypatch):
    counted = counting(monkeypatch, verdict, "_counts")
    found = host.host(
        night.cloud, ServerSpec(image=""), night.sources, CapacityQuery(host="cmp01")
    )
    assert found.reasons
    assert not counted
    judged = found.capacity.judgements[0]
    assert len(judged.verdict.counts) == len(judged.clauses)


def test_flavors_that_find_equal_hosts_share_one_set(night):
    judged = by_flavor(night.cloud, ServerSpec(image=""), night.sources)
    several = [each for each in judged if isinstance(each, Judgement)]
    for sets in (
        [each.candidates.uuids for each in several],
        [each.facts.candidates for each in several],
        [each.verdict.rejections.others for each in several],
    ):
        assert len({*map(id, sets)}) == len({*sets}) < len(sets)


def test_a_full_cloud_is_judged_empty_and_no_further(night, monkeypatch):
    for each in night.document["placement"]["providers"]:
        for inventory in each["inventories"].values():
            inventory["used"] = int(inventory["total"] * inventory["allocation_ratio"])
    judged = by_flavor(night.cloud, ServerSpec(image=""), night.sources)
    by_name = {each.question.flavor["name"]: each for each in judged}
    relaxed = counting(monkeypatch, doubts, "_relaxed")
    found = dataclasses.replace(by_name["m1.small"])
    assert found.reason is Reason.FULL
    assert len(relaxed) == 2
