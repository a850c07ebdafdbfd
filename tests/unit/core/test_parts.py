"""What the core makes of ports, networks, volumes and devices, against Nova's code."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.nova.server import Network, Parts, Port, Volume
from tests.fidelity import asking, ours, recorded, with_parts

CASES = with_parts.read()
PORT = Port("p", Network("n"), name="web-1")
VOLUME = Volume("v", "nova", is_bootable=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own_in_each_release(case):
    answers = dict(recorded.answers(case))
    assert {r: ours.answer(case, r) for r in answers} == answers
    assert tuple(answers) == asking.releases()


def test_the_recorded_cases_are_those_that_are_compared():
    asked = [{k: v for k, v in case.items() if k != "answers"} for case in CASES]
    assert asked == list(with_parts.named())


@pytest.mark.parametrize(
    ("parts", "exception", "named"),
    [
        (Parts(ports=(PORT,)), "MultiplePortsNotApplicable", "web-1"),
        (Parts(volumes=(VOLUME,), boots_from="v"), "InvalidRequest", "v"),
    ],
    ids=["port", "volume"],
)
def test_several_servers_share_no_port_and_no_volume(parts, exception, named):
    flavor = {"name": "f", "vcpus": 1, "ram": 1, "disk": 1}
    asked = Question(
        flavor, None, (), SchedulerSettings.of(34), ServerSpec(count=2), parts=parts
    )
    with pytest.raises(Refusal) as caught:
        asked.request()
    found = caught.value
    assert (found.exception, found.keys, found.http) == (exception, (named,), 400)


def asked(*, release=34, options=(), **parts):
    flavor = {"name": "f", "vcpus": 1, "ram": 1, "disk": 1}
    settings = {k: Setting(v, "given", given=True) for k, v in dict(options).items()}
    assumptions = SchedulerSettings(release, settings, "given")
    return Question(flavor, None, (), assumptions, parts=Parts(**parts))


@pytest.mark.parametrize(("release", "is_refused"), [(23, False), (24, True)])
def test_a_port_that_is_named_twice_is_refused_from_xena_on(release, is_refused):
    question = asked(release=release, ports=(PORT, PORT))
    if not is_refused:
        assert question.request().clauses
        return
    with pytest.raises(Refusal) as caught:
        question.request()
    assert (caught.value.reason, caught.value.http) == ("port-twice", 400)


@pytest.mark.parametrize(
    ("status", "is_multiattach", "is_refused"),
    [
        ("available", False, False),
        ("downloading", False, False),
        ("in-use", False, True),
        ("in-use", True, False),
        ("reserved", True, True),
        ("error", True, True),
        ("error_deleting", False, True),
        ("maintenance", False, True),
    ],
)
def test_cinder_reserves_a_volume_by_its_status(status, is_multiattach, is_refused):
    volume = Volume(
        "v", "nova", is_bootable=True, is_multiattach=is_multiattach, status=status
    )
    question = asked(volumes=(volume,), boots_from="v")
    if not is_refused:
        assert question.request().clauses
        return
    with pytest.raises(Refusal) as caught:
        question.request()
    found = caught.value
    assert (found.exception, found.http) == ("InvalidVolume", 400)
    assert found.keys == (f"v ({status})",)


def test_what_comes_before_a_volume_s_status_is_refused_first():
    volume = Volume("v", "nova", status="error")
    with pytest.raises(Refusal) as caught:
        asked(volumes=(volume,), boots_from="v").request()
    assert caught.value.exception == "InvalidBDMVolumeNotBootable"


def test_each_subnet_of_a_segment_names_its_aggregates_once_more():
    first, second = frozenset({"a"}), frozenset({"b"})
    network = Network("n", segments=(first, second, first, first))
    on = {"scheduler.query_placement_for_routed_network_aggregates": True}
    query = asked(networks=(network,), options=on).request().query()
    assert "member_of=in%3Aa%2Ca%2Ca%2Cb" in query


@pytest.mark.parametrize(
    ("zone", "counts", "is_named"),
    [("nova", True, True), ("east", True, False), ("nova", False, False)],
)
def test_a_volume_of_the_default_zone_is_named_where_zones_count(
    zone, counts, is_named
):
    volume = Volume("v", zone, is_bootable=True, status="available")
    off = {"cinder.cross_az_attach": not counts}
    question = asked(volumes=(volume,), boots_from="v", options=off)
    found = {e.kind: e.value for e in question.request().not_evaluated}
    assert found.get("volume zone") == ("nova" if is_named else None)
