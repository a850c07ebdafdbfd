"""plan and the hosts that flavors have to keep, by zone and by project and on the way.

All of these change metadata alone: hosts have what they need since yesterday.
"""

from __future__ import annotations

import pytest

from tests.unit.commands.test_kept_hosts import BOTH, PROJECTS, aggregate, private
from tests.unit.commands.test_plan import GOLD, plan
from tests.unit.commands.wanted import keystone, stranded

__all__ = ["plan"]

DEMO, OTHER = "1" * 32, "2" * 32
CLOSED = "aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}"


@pytest.fixture(autouse=True)
def gold(cloud, monkeypatch):
    """All hosts of gold have its trait, and Placement has them in it."""
    keystone(cloud, monkeypatch, DEMO, OTHER)
    cloud.gives(GOLD, *BOTH)
    cloud.mirror[cloud.aggregates["1"]["uuid"]] = set(BOTH)


def test_closing_the_hosts_of_a_zone_is_refused(plan, cloud):
    aggregate(cloud, BOTH, availability_zone="az1")
    found = plan(CLOSED)
    assert found.code == 5
    assert stranded(found) == "flavors 'golden', 'small' in zone 'az1'"


def test_closing_the_hosts_of_a_project_is_refused(plan, cloud):
    aggregate(cloud, BOTH, filter_tenant_id=OTHER)
    assert plan(CLOSED).code == 0
    found = plan(CLOSED, *PROJECTS)
    assert found.code == 5
    assert stranded(found) == f"flavors 'golden', 'small' for project '{OTHER}'"


def test_closing_other_hosts_is_not(plan, cloud):
    aggregate(cloud, ("cmp02", "cmp03"), availability_zone="az1")
    assert plan(CLOSED).code == 0


@pytest.mark.parametrize("zone", ["az2", "AZ1"])
def test_a_zone_that_gets_another_name_leaves_nobody_who_asks_for_it_a_host(
    plan, cloud, zone
):
    aggregate(cloud, BOTH, availability_zone="az1")
    found = plan(f"aggregates: {{other: {{zone: {zone}}}}}")
    assert found.code == (0 if zone == "AZ1" else 5)
    if found.code:
        assert stranded(found) == "flavors 'golden', 'small' in zone 'az1'"


def test_a_project_that_is_named_now_first_keeps_a_host_of_each_flavor(plan, cloud):
    # Nova sends the servers of a project to the aggregates that name it alone.
    cloud.flavors = {}
    cloud.flavor("golden", **{GOLD: "required"})
    aggregate(cloud, ("cmp02",))
    text = f"aggregates: {{other: {{tenants: ['{DEMO}']}}}}"
    assert plan(text).code == 0
    found = plan(text, *PROJECTS)
    assert found.code == 5
    assert stranded(found) == f"flavor 'golden' for project '{DEMO}'"


def test_a_project_is_not_named_unsaid_by_an_aggregate_without_hosts(plan, cloud):
    text = f"aggregates: {{new: {{tenants: ['{DEMO}']}}}}"
    assert plan(text).code == 0
    found = plan(text, *PROJECTS)
    assert found.code == 5
    assert stranded(found) == f"flavors 'golden', 'small' for project '{DEMO}'"


def test_all_projects_are_told_that_an_aggregate_leaves_no_host(plan, cloud, golden):
    text = f"aggregates: {{new: {{tenants: ['{DEMO}', '{OTHER}']}}}}"
    told = f"flavors 'golden', 'small' for projects '{DEMO}', '{OTHER}'"
    found = plan(text, "--nova-release", "34", *PROJECTS)
    assert found.code == 5
    assert stranded(found) == told
    golden("plan/projects-without-hosts", found.err)
    private(cloud, OTHER)
    found = plan(text, "--nova-release", "34", *PROJECTS)
    assert stranded(found) == f"flavor 'golden' for project '{OTHER}'"


def test_a_project_is_named_when_hosts_have_joined(plan, cloud):
    text = f"aggregates: {{new: {{tenants: ['{DEMO}'], hosts: [cmp02]}}}}"
    assert plan(text, *PROJECTS).code == 0


def test_a_project_that_is_named_in_one_zone_loses_the_hosts_of_others(apply, cloud):
    cloud.metadata["availability_zone"] = "az1"
    aggregate(cloud, ("cmp02", "cmp03"), availability_zone="az2")
    text = f"aggregates: {{gold: {{tenants: ['{DEMO}']}}}}"
    found = apply(text, *PROJECTS)
    assert found.code == 5
    both = "flavors 'golden', 'small'"
    assert stranded(found) == f"{both} in zone 'az2' for project '{DEMO}'"
    assert apply(text, *PROJECTS, "--force").code == 0


def test_a_project_that_no_aggregate_names_any_more_may_be_let_nowhere(plan, cloud):
    cloud.metadata["availability_zone"] = "az1"
    aggregate(cloud, BOTH, filter_tenant_id=DEMO)
    text = f"aggregates: {{other: {{absent: {{tenants: ['{DEMO}']}}}}}}"
    assert plan(text, *PROJECTS).code == 0
    required = "scheduler.placement_aggregate_required_for_tenants=true"
    assert plan(text, *PROJECTS, "--set", required).code == 5
