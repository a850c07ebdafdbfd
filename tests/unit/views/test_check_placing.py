"""The words on zones, projects and the mirror."""

from __future__ import annotations

import dataclasses
import shlex

import pytest

from osc_traitsched.views import check
from tests.unit.core.check import test_az, test_mirror, test_project
from tests.unit.core.check.surveys import aggregate, findings, identity

D = identity("d")


def rows(found, *areas):
    """Return ID, problem and what fixes it, of each finding."""
    return [(row[0], row[3], row[4]) for row in check.rows(findings(found, *areas))[1]]


def test_a_differing_mirror_is_said_for_either_way():
    found = test_az.of(members=test_az.mirrored(east="b", west="b"))
    assert rows(found) == [
        (
            "mirror-missing",
            "Placement lacks the host a in it: no request for the zone gets there",
            "openstack trait-sched mirror repair",
        ),
        (
            "mirror-extra",
            "Placement has in it the host b, which Nova has not: requests for the zone "
            "can land there",
            "openstack trait-sched mirror repair",
        ),
    ]


def test_a_compute_node_that_nova_does_not_list_is_not_called_orphaned():
    ((_, problem, fix),) = rows(test_mirror.with_orphan("COMPUTE_NODE"), "mirror")
    assert problem == (
        "Nova lists 3 of the 4 compute nodes that Placement has, and not this one "
        f"({D}): its list may be incomplete, so no provider is called orphaned"
    )
    assert fix.endswith(f"openstack resource provider show --allocations {D}")


@pytest.mark.parametrize(
    "of",
    [
        test_mirror.with_orphan(),
        test_mirror.with_orphan("CUSTOM_OWN", "COMPUTE_STATUS_DISABLED"),
        test_mirror.with_orphan("COMPUTE_NODE", "CUSTOM_OWN"),
        test_mirror.with_other_uuid("CUSTOM_OWN"),
    ],
)
def test_no_command_deletes_a_provider(of):
    ((_, problem, fix),) = rows(of, "mirror")
    assert "provider delete" not in problem + fix
    assert "openstack resource provider show --allocations" in fix


def test_what_is_lost_with_a_provider_is_named_before_it_is_deleted():
    ((_, _, fix),) = rows(test_mirror.with_orphan("CUSTOM_OWN"), "mirror")
    assert fix.startswith(
        "note the trait CUSTOM_OWN and the aggregate plain, and delete it if "
    )
    ((_, _, fix),) = rows(test_mirror.with_other_uuid("CUSTOM_OWN"), "mirror")
    assert fix.startswith("note the trait CUSTOM_OWN, and delete the old one if ")


def test_a_host_that_one_aggregate_does_not_isolate_may_be_isolated_by_another():
    ((_, problem, _),) = rows(test_mirror.isolated("b"), "mirror")
    assert problem == "Placement lacks the host a in it: not isolated by it"


def test_a_host_that_was_made_again_gets_the_trait_before_its_place_in_the_mirror():
    ((_, problem, fix),) = rows(test_mirror.isolated("a", having="a"), "mirror")
    assert problem == (
        "Placement lacks the host b in it: not isolated by it; the host b also lacks "
        "CUSTOM_GOLD, so that no server gets there once Placement has it right"
    )
    assert fix == "openstack trait-sched isolate isolated CUSTOM_GOLD"


@pytest.mark.parametrize(
    ("assumptions", "names", "words"),
    [
        (test_az.NEW, "west", "a request for it can get any host"),
        (test_az.NEW, "nova", "a request for it does not get them"),
        (test_az.FILTER_ALONE, "west", "as long as AvailabilityZoneFilter is on"),
    ],
)
def test_what_the_default_zone_means_depends(assumptions, names, words):
    zones = [test_az.EAST, aggregate("in-the-west", "b", availability_zone=names)]
    found = test_az.of(assumptions, aggregates=zones, hosts="abcd")
    ((rule, problem, _),) = rows(found)
    assert rule == "az-default-zone"
    assert "the hosts c, d" in problem
    assert words in problem


def test_a_filter_that_is_useless_is_worded_so():
    ((_, useless, _),) = rows(test_az.of(test_az.BOTH))
    assert "does again what Placement did" in useless


def test_the_command_for_a_list_keeps_the_keys_that_are_there():
    found = test_project.of(filter_tenant_id="1d1d, 2d2d", filter_tenant_id2="3d3d")
    (fix,) = (row[2] for row in rows(found) if row[0] == "project-list")
    _, *words = shlex.split(fix)
    assert words[:2] == ["aggregate", "set"]
    assert words[3:] == [
        "--property",
        "filter_tenant_id=1d1d",
        "--property",
        "filter_tenant_id_2d2d=2d2d",
    ]


def test_an_id_is_offered_only_where_one_project_has_the_name():
    found = test_project.of(filter_tenant_id="red")
    ((_, _, fix),) = rows(found)
    assert fix.endswith("--property filter_tenant_id=1d1d")
    twice = {**test_project.PROJECTS, "4d4d": "red"}
    ((_, _, fix),) = rows(dataclasses.replace(found, projects=twice))
    assert fix == ""
