"""No project is limited to an aggregate before it finds its room there."""

from __future__ import annotations

import pytest

from tests.unit.commands.wanted import (
    GOLD,
    SILVER,
    broken_for,
    keystone,
    second,
    statuses,
    ungained,
)

P1, P2 = "1" * 32, "2" * 32
KEY = "filter_tenant_id"
LIMITED, UNLIMITED = (
    ("--set", f"scheduler.limit_tenants_to_placement_aggregate={value}")
    for value in ("true", "false")
)


@pytest.fixture(autouse=True)
def projects(cloud, monkeypatch):
    keystone(cloud, monkeypatch, P1, P2)
    # From release 30 on each project has a key of its own.
    cloud.compute_maximum = "2.100"


@pytest.fixture
def requiring_silver(cloud):
    """Has one flavor, which requires SILVER; cmp02 alone has it."""
    cloud.flavors = {}
    cloud.flavor("f", **{SILVER: "required"})
    cloud.gives(SILVER, "cmp02")


def test_no_project_is_limited_to_an_aggregate_that_hosts_did_not_join(
    apply, cloud, refused
):
    cloud.leaves("cmp01")
    cloud.metadata[KEY] = P1
    refused("add_host", "1")
    done = apply(
        f"aggregates: {{gold: {{hosts: [cmp01], tenants: ['{P1}', '{P2}']}}}}", *LIMITED
    )
    assert set(statuses(done).values()) == {"failed", "not done"}
    assert cloud.metadata == {KEY: P1}


@pytest.mark.parametrize("settings", [LIMITED, ()], ids=["limited", "unknown"])
@pytest.mark.parametrize(
    ("now", "host", "wanted", "key"),
    [
        ({KEY: P1}, "cmp00", f"gold: {{tenants: ['{P1}', '{P2}']}}", f"{KEY}_{P2}"),
        ({}, "cmp00", f"gold: {{tenants: ['{P2}']}}", KEY),
        (
            {KEY: P1},
            "cmp03",
            f"gold: {{hosts: [cmp03], tenants: ['{P2}']}}",
            f"{KEY}_{P2}",
        ),
        ({}, "cmp03", f"new: {{hosts: [cmp03], tenants: ['{P2}']}}", KEY),
        (
            {KEY: P1},
            "cmp00",
            f"gold: {{tenants: ['{P2}'], isolated_for: [{GOLD}]}}",
            f"{KEY}_{P2}",
        ),
    ],
    ids=["another", "the first", "joined", "new", "closed besides"],
)
def test_no_project_is_limited_to_hosts_that_did_not_gain_their_traits(
    requiring_silver, apply, cloud, now, host, wanted, key, settings
):
    cloud.metadata.update(now)
    ungained(cloud, host)
    text = f"traits: {{CUSTOM_SILVER: {{hosts: [{host}]}}}}\naggregates: {{{wanted}}}"
    done = statuses(apply(text, *settings, "--force"))
    aggregate = wanted.partition(":")[0]
    assert done["host", host, SILVER] == "failed"
    assert done["aggregate", aggregate, key] == "not done"


def test_no_project_is_limited_to_one_of_two_aggregates_before_the_other_has_its_traits(
    requiring_silver, apply, cloud
):
    second(cloud, "cmp03")
    ungained(cloud, "cmp00")
    named = f"{{tenants: ['{P2}']}}"
    done = apply(
        f"""
        traits: {{CUSTOM_SILVER: {{hosts: [cmp00]}}}}
        aggregates: {{gold: {named}, rack: {named}}}
        """,
        *LIMITED,
        # For a moment rack alone names the project, whose host has no such trait.
        "--force",
    )
    assert statuses(done) == {
        ("host", "cmp00", SILVER): "failed",
        ("aggregate", "gold", KEY): "not done",
        ("aggregate", "rack", KEY): "not done",
    }


def test_what_is_known_not_to_be_gained_keeps_no_project_out(
    requiring_silver, apply, cloud
):
    cloud.gives(SILVER, "cmp00")
    cloud.metadata[KEY] = P1
    cloud.deletes_provider("cmp01")
    done = apply(
        f"""
        traits: {{CUSTOM_SILVER: {{hosts: [cmp01]}}}}
        aggregates: {{gold: {{tenants: ['{P1}', '{P2}']}}}}
        """,
        *LIMITED,
    )
    assert statuses(done) == {
        ("host", "cmp01", SILVER): "failed",
        ("aggregate", "gold", f"{KEY}_{P2}"): "changed",
    }


def test_a_project_keeps_an_aggregate_until_another_one_lists_it(apply, cloud):
    cloud.compute_maximum = "2.95"
    cloud.metadata[f"{KEY}_x"] = P1
    second(cloud, "cmp02", filter_tenant_id=f"{P1},{P2}")
    broken_for(cloud, "1")
    listed = f"gold: {{tenants: ['{P1}', '{P2}']}}"
    done = apply(
        f"aggregates: {{{listed}, rack: {{absent: {{tenants: ['{P2}']}}}}}}", *UNLIMITED
    )
    assert statuses(done) == {
        ("aggregate", "gold", KEY): "failed",
        ("aggregate", "gold", f"{KEY}_{P2}"): "failed",
        ("aggregate", "rack", KEY): "not done",
    }


def test_a_flavor_requires_what_closes_hosts_until_a_project_is_free_of_them(
    apply, cloud
):
    cloud.flavors = {}
    cloud.flavor("f", **{GOLD: "required"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    second(cloud, "cmp03", **{KEY: P1})
    cloud.metadata.update(
        {f"trait:{GOLD}": "required", KEY: P1, f"{KEY}_{P2}": P2},
    )
    broken_for(cloud, "1")
    done = apply(
        f"""
        aggregates: {{gold: {{absent: {{tenants: ['{P2}']}}}}}}
        flavors: {{f: {{absent: {{requires: [{GOLD}]}}}}}}
        """,
        *LIMITED,
    )
    assert sorted(statuses(done).values()) == ["failed", "not done"]
