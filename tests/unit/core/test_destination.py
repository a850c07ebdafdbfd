"""What is asked for with the zone, as nova-api and nova-scheduler take it."""

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import request
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question, ServerSpec
from tests.aggregates import aggregate

CMP = Compute("c1", "cmp1.example.org", "cmp1")
IRON = (Compute("i1", "iron-a", "ironic"), Compute("i2", "iron-b", "ironic"))
COMPUTES = (CMP, *IRON)
EAST = aggregate("east", "cmp1", uuid="e1", availability_zone="az-east")
FLAVOR = {"id": "1", "name": "f", "vcpus": 1, "ram": 512, "disk": 0, "extra_specs": {}}


@pytest.mark.parametrize(
    ("given", "parts", "checked"),
    [
        (None, ("home", None, None), "home"),
        ("az", ("az", None, None), "az"),
        ("az:cmp1", ("az", "cmp1", None), None),
        (":cmp1", ("home", "cmp1", None), None),
        ("az:cmp1:node", ("az", "cmp1", "node"), None),
        ("az::node", ("az", None, "node"), None),
        ("az:", ("az", "", None), None),
        ("az::", ("az", None, ""), "az"),
    ],
)
def test_zone_host_and_node_are_taken_apart_as_nova_does(given, parts, checked):
    found = request.read(given, "home")
    assert (found.zone, found.host, found.node) == parts
    assert found.checked_zone == checked


def test_a_colon_in_the_default_zone_is_part_of_its_name():
    found = request.read(None, "nova:cmp1")
    assert (found.checked_zone, found.is_named) == ("nova:cmp1", False)


def asked(zone, release=34, computes=COMPUTES, host=None, node=None, **specs):
    flavor = {**FLAVOR, "extra_specs": specs}
    settings = SchedulerSettings.of(release, query_placement_for_availability_zone=True)
    spec = ServerSpec(zone=zone, boot_from_volume=True, on_host=host, on_node=node)
    question = Question(flavor, None, (EAST,), settings, spec, "p", computes)
    return question.request()


@pytest.mark.parametrize("zone", [":::", "a:b:c:d"])
def test_more_than_two_colons_are_refused_by_nova_api(zone):
    with pytest.raises(Refusal) as caught:
        asked(zone)
    refusal = caught.value
    assert (refusal.exception, refusal.stage, refusal.http) == (
        "InvalidInput",
        "api",
        400,
    )


def test_one_node_is_asked_for_by_its_tree_in_both_queries():
    found = asked("nova:cmp1", **{"hw:cpu_policy": "dedicated"})
    assert "in_tree=c1&limit=1000" in found.query()
    assert "in_tree=c1&limit=1000" in found.fallback.query()
    assert "in_tree=i2" in asked("nova::iron-b").query()
    assert "in_tree=i1" in asked("nova:ironic:iron-a").query()


def test_of_several_nodes_all_hosts_are_asked_for_without_a_limit():
    found = asked("nova:ironic", **{"hw:cpu_policy": "dedicated"})
    assert (found.in_tree, found.limit, found.fallback.limit) == (None, None, None)


@pytest.mark.parametrize(
    ("zone", "named", "nearest"),
    [
        ("nova:cmp2", ("host: cmp2",), ("cmp1",)),
        ("nova::iron-c", ("node: iron-c",), ("iron-b", "iron-a")),
        ("nova:cmp1:iron-a", ("host: cmp1", "node: iron-a"), ("cmp1",)),
    ],
)
def test_a_host_that_is_not_there_is_no_valid_host(zone, named, nearest):
    with pytest.raises(Refusal) as caught:
        asked(zone)
    refusal = caught.value
    assert (refusal.exception, refusal.reason) == ("NoValidHost", "no-such-host")
    assert (refusal.stage, refusal.keys) == ("no valid host", named)
    assert set(refusal.nearest) == set(nearest)


def test_the_zone_counts_only_where_the_host_is_in_it():
    assert "member_of=in%3Ae1" in asked("az-east:cmp1").query()
    assert "member_of" not in asked("az-west:cmp1").query()
    assert "member_of" not in asked("az-east:ironic").query()
    assert "member_of" not in asked("az-east::cmp1.example.org").query()


@pytest.mark.parametrize(("release", "is_asked"), [(22, True), (23, False)])
def test_until_22_the_zone_counts_whatever_the_named_host_is_in(release, is_asked):
    query = asked("az-east:ironic", release).query()
    assert ("member_of=in%3Ae1" in query) is is_asked


def test_where_the_compute_nodes_are_not_known_that_is_said():
    found = asked("nova:cmp1", computes=None)
    assert found.in_tree is None
    assert ("requested host", "cmp1") in [
        (each.kind, each.value) for each in found.not_evaluated
    ]


@pytest.mark.parametrize("zone", ["nova:cmp1", "az-west::cmp1.example.org"])
def test_the_policy_that_a_named_host_takes_is_named(zone):
    kinds = [each.kind for each in asked(zone).not_evaluated]
    assert kinds == ["named host needs a policy"]


def test_the_default_zone_is_asked_for_with_a_host_that_is_in_it():
    kinds = [each.kind for each in asked("nova::cmp1.example.org").not_evaluated]
    assert "zone has no aggregate, so no restriction" in kinds


def test_a_zone_alone_takes_no_policy():
    assert not asked("az-east").not_evaluated


def kinds(found):
    return [each.kind for each in found.not_evaluated]


def test_a_host_beside_the_zone_is_asked_for_by_its_tree_and_the_zone_counts():
    found = asked("az-east", host="ironic", node="iron-b")
    assert "in_tree=i2" in found.query()
    assert "member_of=in%3Ae1" in found.query()
    assert "in_tree=c1&limit=1000" in asked(None, host="cmp1").query()
    assert "in_tree=i1" in asked(None, node="iron-a").query()
    assert asked(None, host="ironic").limit is None


def test_a_host_beside_the_zone_takes_another_policy():
    assert kinds(asked(None, host="cmp1")) == ["asked host needs a policy"]


@pytest.mark.parametrize(
    ("named", "keys"),
    [
        ({"host": "cmp2"}, ("host: cmp2",)),
        ({"node": "iron-c"}, ("node: iron-c",)),
        ({"host": "cmp1", "node": "iron-a"}, ("host: cmp1", "node: iron-a")),
        ({"host": "CMP1"}, ("host: CMP1",)),
    ],
)
def test_nova_api_refuses_a_host_beside_the_zone_that_is_not_there(named, keys):
    with pytest.raises(Refusal) as caught:
        asked("az-east", **named)
    found = caught.value
    assert (found.exception, found.stage, found.http) == (
        "ComputeHostNotFound",
        "api",
        400,
    )
    assert (found.reason, found.keys) == ("no-such-host", keys)


def test_nova_api_refuses_a_host_that_is_named_twice():
    with pytest.raises(Refusal) as caught:
        asked("az-east:cmp1", host="cmp1")
    found = caught.value
    assert (found.exception, found.stage, found.http) == ("HTTPBadRequest", "api", 400)
    assert found.keys == ("availability_zone", "host")
    assert asked("az-east:", host="cmp1").in_tree == "c1"
