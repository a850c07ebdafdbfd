"""Hosts that a plan takes from projects that no aggregate names."""

from __future__ import annotations

import pytest

from tests.unit.commands.test_plan import plan
from tests.unit.commands.wanted import keystone, second, stranded, with_servers

__all__ = ["plan"]

DEMO, OTHER = "1" * 32, "2" * 32
ON = ("--set", "filter_scheduler.enabled_filters=AggregateMultiTenancyIsolation")
OFF = ("--set", "filter_scheduler.enabled_filters=ComputeFilter")
SOME = f"aggregates: {{new: {{hosts: [cmp02], tenants: ['{DEMO}']}}}}"
ALL = f"aggregates: {{new: {{hosts: ['*'], tenants: ['{DEMO}']}}}}"


@pytest.fixture(autouse=True)
def projects(cloud, monkeypatch):
    keystone(cloud, monkeypatch, DEMO, OTHER)


@pytest.mark.parametrize("options", [ON, ()])
def test_that_other_projects_keep_no_host_is_refused(plan, options, golden):
    found = plan(ALL, *options)
    assert found.code == 5
    golden("plan/other-projects-without-hosts", found.err.splitlines()[-1])


def test_a_filter_that_is_known_to_be_off_is_in_the_way_of_nothing(plan):
    assert plan(ALL, *OFF).code == 0


def test_the_last_hosts_that_join_an_aggregate_with_projects_are_lost(plan, cloud):
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": OTHER}
    found = plan("aggregates: {gold: {hosts: [cmp02, cmp03]}}", *ON)
    assert found.code == 5
    assert "for projects that no aggregate names" in stranded(found)


def test_hosts_that_a_project_has_already_are_lost_to_nobody(plan, cloud):
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": OTHER}
    text = f"aggregates: {{new: {{hosts: [cmp00], tenants: ['{DEMO}']}}}}"
    assert plan(text).err == ""


def test_hosts_that_come_are_enough_for_those_that_keep_none(plan, cloud):
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": OTHER}
    found = plan(
        f"aggregates: {{gold: {{absent: {{tenants: ['{OTHER}']}}}}, "
        f"new: {{hosts: [cmp02, cmp03], tenants: ['{OTHER}']}}}}",
        *ON,
    )
    assert found.code == 0


@pytest.mark.parametrize(("options", "code"), [(ON, 5), ((), 5), (OFF, 0)])
def test_a_project_that_loses_its_last_aggregate_is_not_left_without_a_host(
    plan, cloud, options, code
):
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": OTHER}
    second(cloud, "cmp02", "cmp03", filter_tenant_id=DEMO)
    move = f"tenants: ['{DEMO}'], absent: {{tenants: ['{OTHER}']}}"
    found = plan(f"aggregates: {{gold: {{{move}}}}}", *options)
    assert found.code == code
    assert not code or stranded(found).endswith(f"for project '{OTHER}'")


def test_what_will_not_be_begun_takes_no_host_and_misplaces_no_server(
    plan, cloud, monkeypatch
):
    with_servers(cloud, monkeypatch, cmp00={"plain": {}})
    cloud.aggregates["1"]["hosts"] = ["cmp00"]
    cloud.aggregates["1"]["metadata"] = {"availability_zone": "az1"}
    second(cloud, "cmp01", availability_zone="az2")
    text = f"hosts: [cmp01], tenants: ['{DEMO}'], isolated_for: [CUSTOM_GOLD]"
    found = plan(f"aggregates: {{gold: {{{text}}}}}", *ON)
    assert [row["status"] for row in found.json][-3:] == ["failed", *["not done"] * 2]
    assert "keep" not in found.err
    assert "left there" not in found.err


def test_a_project_that_others_hosts_are_open_to_keeps_one(plan, cloud):
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": OTHER}
    second(cloud, "cmp02", filter_tenant_id=DEMO)
    move = f"tenants: ['{DEMO}'], absent: {{tenants: ['{OTHER}']}}"
    found = plan(f"aggregates: {{gold: {{{move}}}}}", *ON)
    comes = f"gold (cmp00, cmp01): servers of project '{DEMO}' may land here\n"
    assert (found.code, found.err) == (0, comes)


def test_a_project_moves_from_one_aggregate_to_another(plan, cloud):
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": f"{DEMO},{OTHER}"}
    cloud.aggregates["1"]["hosts"] = ["cmp00", "cmp01"]
    second(cloud, "cmp02", "cmp03", filter_tenant_id=OTHER)
    gold = f"gold: {{absent: {{tenants: ['{DEMO}']}}}}"
    found = plan(f"aggregates: {{{gold}, rack: {{tenants: ['{DEMO}']}}}}", *ON)
    assert found.code == 0, found.err


def test_a_project_that_stays_in_an_aggregate_has_a_host(plan, cloud):
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": f"{DEMO},{OTHER}"}
    cloud.aggregates["1"]["hosts"] = ["cmp00", "cmp01"]
    second(cloud, "cmp02", "cmp03", filter_tenant_id=f"{DEMO},{OTHER}")
    found = plan(f"aggregates: {{gold: {{absent: {{tenants: ['{DEMO}']}}}}}}", *ON)
    assert found.code == 0


@pytest.mark.parametrize(("stays", "code"), [(["cmp02"], 0), ([], 5)])
def test_a_host_that_stays_is_enough_while_others_leave(plan, cloud, stays, code):
    cloud.aggregates["1"]["metadata"] = {"filter_tenant_id": DEMO}
    cloud.aggregates["1"]["hosts"] = ["cmp00", "cmp01", *stays]
    second(cloud, *sorted(cloud.traits), filter_tenant_id=OTHER)
    found = plan("aggregates: {gold: {absent: {hosts: [cmp00, cmp01]}}}", *ON)
    assert found.code == code
    assert not code or stranded(found).endswith(f"for project '{DEMO}'")


@pytest.mark.parametrize(("release", "code"), [("29", 5), ("30", 0)])
def test_a_project_has_no_other_hosts_than_those_that_placement_is_asked_for(
    plan, cloud, release, code
):
    """The filter of 29 does not see that the project is named by the only one."""
    cloud.leaves("cmp01")
    cloud.metadata["filter_tenant_id_1"] = DEMO
    text = f"aggregates: {{new: {{hosts: [cmp00], tenants: ['{OTHER}']}}}}"
    asked = ("--set", "scheduler.limit_tenants_to_placement_aggregate=true")
    assert plan(text, *ON, "--nova-release", release).code == 0
    found = plan(text, *ON, *asked, "--nova-release", release)
    assert found.code == code, found.err
    assert not code or stranded(found).endswith(f"for project '{DEMO}'")


def test_projects_that_come_to_several_aggregates_are_kept_out_of_none(plan, cloud):
    second(cloud, "cmp02")
    text = f"gold: {{tenants: ['{DEMO}']}}, rack: {{tenants: ['{DEMO}']}}"
    asked = ("--set", "scheduler.limit_tenants_to_placement_aggregate=true")
    found = plan(f"aggregates: {{{text}}}", *ON, *asked)
    assert "reserves all of them" not in found.err
