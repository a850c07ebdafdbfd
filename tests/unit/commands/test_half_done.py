"""A write fails: flavors keep their hosts then, and hosts what keeps others out."""

from __future__ import annotations

import pytest

from tests.unit.commands.wanted import (
    GOLD,
    SILVER,
    broken_for,
    second,
    statuses,
    ungained,
)


@pytest.fixture
def required(cloud):
    """Has one flavor, which requires GOLD; cmp00 alone has it, in az1."""
    cloud.flavors = {}
    cloud.flavor("g", **{GOLD: "required"})
    cloud.gives(GOLD, "cmp00")
    cloud.metadata["availability_zone"] = "az1"
    return cloud


def test_a_trait_stays_where_a_flavor_could_not_come_to_forbid_it(apply, cloud):
    cloud.flavors = {}
    cloud.flavor("g", **{SILVER: "required"})
    cloud.gives(SILVER, "cmp00", "cmp02")
    broken_for(cloud, "os-extra_specs")
    done = apply("""
        traits: {CUSTOM_SILVER: {absent: {hosts: [cmp02]}}}
        flavors: {g: {forbids: [CUSTOM_SILVER]}}
    """)
    assert statuses(done) == {
        ("flavor", "g", f"trait:{SILVER}"): "failed",
        ("host", "cmp02", SILVER): "not done",
    }


def test_a_host_keeps_a_trait_of_a_flavor_that_found_no_other_one(
    required, apply, cloud
):
    cloud.flavor("g", **{GOLD: "required", SILVER: "required"})
    cloud.gives(SILVER, "cmp00", "cmp01")
    ungained(cloud, "cmp01")
    done = apply("""
        traits:
          CUSTOM_GOLD: {hosts: [cmp01]}
          CUSTOM_SILVER: {absent: {hosts: [cmp00]}}
    """)
    assert statuses(done) == {
        ("host", "cmp01", GOLD): "failed",
        ("host", "cmp00", SILVER): "not done",
    }


def test_what_is_known_not_to_be_gained_keeps_no_aggregate_open(apply, cloud):
    cloud.gives(SILVER, "cmp00")
    cloud.deletes_provider("cmp03")
    done = apply("""
        traits: {CUSTOM_SILVER: {hosts: [cmp03]}}
        aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}}
    """)
    off = {row: became for row, became in statuses(done).items() if became != "changed"}
    assert off == {("host", "cmp03", SILVER): "failed"}
    assert cloud.metadata == {f"trait:{GOLD}": "required"}


#: cmp01 is to join gold, which a trait isolates, and cmp03 to gain that trait as well.
JOINED = """
    traits: {CUSTOM_GOLD: {hosts: [cmp01, cmp03]}}
    aggregates: {gold: {hosts: [cmp01]}}
    flavors: {small: {requires: [CUSTOM_GOLD]}}
"""
JOINS = ("member", "gold", "cmp01")
REQUIRES = ("flavor", "small", f"trait:{GOLD}")


@pytest.fixture
def isolated(cloud):
    """Has cmp00 alone in an aggregate that GOLD isolates."""
    cloud.metadata[f"trait:{GOLD}"] = "required"
    cloud.gives(GOLD, "cmp00")
    cloud.aggregates["1"]["hosts"].remove("cmp01")
    cloud.mirror[cloud.aggregates["1"]["uuid"]].remove("cmp01")
    return cloud


def test_a_host_that_nova_calls_otherwise_joins_only_once_it_has_the_trait(
    isolated, apply, monkeypatch
):
    read = isolated.compute_get

    def compute_get(parts, params):
        body = read(parts, params)
        for node in body.get("hypervisors", ()):
            node["hypervisor_hostname"] += ".example.org"
        return body

    monkeypatch.setattr(isolated, "compute_get", compute_get)
    monkeypatch.setattr(
        isolated,
        "_provider",
        lambda host, provider=isolated._provider: {
            **provider(host),
            "name": f"{host}.example.org",
        },
    )
    ungained(isolated, "cmp01")
    done = statuses(apply(JOINED))
    assert done["host", "cmp01.example.org", GOLD] == "failed"
    assert done[JOINS] == "not done"


def test_no_flavor_comes_to_require_what_no_host_can_gain(apply, cloud):
    cloud.deletes_provider("cmp03")
    text = """
        traits: {CUSTOM_GOLD: {hosts: [cmp03]}, CUSTOM_SILVER: {hosts: [cmp02]}}
        flavors: {small: {requires: [CUSTOM_GOLD]}}
    """
    assert statuses(apply(text, "--force")) == {
        ("host", "cmp03", GOLD): "failed",
        ("host", "cmp02", SILVER): "changed",
        REQUIRES: "not done",
    }


def test_a_host_leaves_a_closed_zone_only_once_others_close_it(apply, cloud, refused):
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az1"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp01")
    second(cloud, CUSTOM_SILVER="required")
    refused("add_host", "2")
    done = apply("""
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {hosts: [cmp01]}
          new: {zone: az2, hosts: [cmp01]}
    """)
    became = {
        row[1]: status for row, status in statuses(done).items() if row[-1] == "cmp01"
    }
    assert became == {"rack": "failed", "gold": "not done", "new": "not done"}
    assert cloud.aggregates["1"]["hosts"] == ["cmp00", "cmp01"]


def test_an_aggregate_stays_closed_where_its_hosts_did_not_join_one_that_is_new(
    apply, cloud, refused
):
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az2"})
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02")
    second(cloud, "cmp02", CUSTOM_SILVER="required")
    refused("add_host", "3")
    # What cmp01 moves to is closed before it does, and before cmp02 has joined it.
    done = apply(
        """
        aggregates:
          gold: {absent: {hosts: [cmp01]}}
          rack: {absent: {isolated_for: [CUSTOM_SILVER]}}
          new: {zone: az1, hosts: [cmp01, cmp02], isolated_for: [CUSTOM_GOLD]}
        """,
        "--force",
    )
    became = statuses(done)
    assert became["member", "new", "cmp02"] == "failed"
    assert became["aggregate", "rack", f"trait:{SILVER}"] == "not done"
