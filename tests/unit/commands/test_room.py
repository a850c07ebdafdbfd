"""What takes hosts from a flavor waits for what gives it others, whatever fails."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import CloudBroke
from tests.unit.commands.wanted import (
    GOLD,
    SILVER,
    broken_for,
    second,
    statuses,
    ungained,
)


def test_hosts_stay_open_to_a_flavor_that_still_forbids_what_others_have(apply, cloud):
    cloud.flavor("golden", CUSTOM_GOLD="forbidden")
    cloud.gives(SILVER, "cmp00", "cmp01")
    cloud.gives(GOLD, "cmp02", "cmp03")
    broken_for(cloud, "golden-id")
    done = apply(
        """
        aggregates: {gold: {isolated_for: [CUSTOM_SILVER]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}}
        """
    )
    assert statuses(done) == {
        ("flavor", "golden", f"trait:{GOLD}"): "failed",
        ("aggregate", "gold", f"trait:{SILVER}"): "not done",
    }


def test_hosts_stay_open_to_a_flavor_that_still_requires_what_others_lack(apply, cloud):
    cloud.flavor("golden", CUSTOM_GOLD="required")
    cloud.gives(SILVER, "cmp00", "cmp01")
    cloud.gives(GOLD, "cmp00")
    broken_for(cloud, "golden-id")
    done = apply(
        """
        aggregates: {gold: {isolated_for: [CUSTOM_SILVER]}}
        flavors: {golden: {forbids: [CUSTOM_GOLD]}, small: {requires: [CUSTOM_SILVER]}}
        """
    )
    assert statuses(done) == {
        ("flavor", "golden", f"trait:{GOLD}"): "failed",
        ("flavor", "small", f"trait:{SILVER}"): "changed",
        ("aggregate", "gold", f"trait:{SILVER}"): "not done",
    }


def test_hosts_stay_open_to_a_flavor_that_is_not_yet_let_into_a_closed_aggregate(
    apply, cloud
):
    cloud.flavor("golden")
    cloud.gives(SILVER, "cmp00", "cmp01")
    cloud.gives(GOLD, "cmp02", "cmp03")
    second(cloud, "cmp02", "cmp03", CUSTOM_GOLD="required")
    broken_for(cloud, "golden-id")
    done = apply(
        """
        aggregates: {gold: {isolated_for: [CUSTOM_SILVER]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}, small: {requires: [CUSTOM_GOLD]}}
        """
    )
    assert statuses(done) == {
        ("flavor", "golden", f"trait:{GOLD}"): "failed",
        ("flavor", "small", f"trait:{GOLD}"): "changed",
        ("aggregate", "gold", f"trait:{SILVER}"): "not done",
    }


def test_a_host_keeps_a_trait_for_a_flavor_that_still_requires_another_one(
    apply, cloud
):
    cloud.flavor("golden", CUSTOM_GOLD="required", CUSTOM_SILVER="required")
    cloud.gives(GOLD, "cmp00")
    cloud.gives(SILVER, "cmp00", "cmp01")
    broken_for(cloud, "os-extra_specs")
    done = apply(
        """
        traits: {CUSTOM_SILVER: {absent: {hosts: [cmp00]}}}
        flavors: {golden: {absent: {requires: [CUSTOM_GOLD]}}}
        """
    )
    assert statuses(done) == {
        ("flavor", "golden", f"trait:{GOLD}"): "failed",
        ("host", "cmp00", SILVER): "not done",
    }


def test_a_flavor_requires_what_lets_it_in_until_others_have_what_it_requires(
    apply, cloud
):
    cloud.metadata[f"trait:{GOLD}"] = "required"
    cloud.flavor("golden", CUSTOM_GOLD="required", CUSTOM_SILVER="required")
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp00", "cmp01")
    broken_for(cloud, "resource_providers")
    done = apply(
        """
        traits: {CUSTOM_SILVER: {hosts: [cmp02]}}
        flavors: {golden: {absent: {requires: [CUSTOM_GOLD]}}}
        """
    )
    assert statuses(done) == {
        ("host", "cmp02", SILVER): "failed",
        ("flavor", "golden", f"trait:{GOLD}"): "not done",
    }


@pytest.fixture
def requiring_silver(cloud):
    """Has one flavor, which requires SILVER; cmp02 does not gain it."""
    cloud.flavors = {}
    cloud.flavor("f", **{SILVER: "required"})
    ungained(cloud, "cmp02")
    return cloud


GAINS = "traits: {CUSTOM_SILVER: {hosts: [cmp02]}}"


def test_no_host_joins_what_closes_it_before_others_have_its_traits(
    requiring_silver, apply, cloud
):
    cloud.leaves("cmp01")
    cloud.metadata[f"trait:{GOLD}"] = "required"
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp01")
    done = apply(f"{GAINS}\naggregates: {{gold: {{hosts: [cmp01]}}}}")
    assert statuses(done)["member", "gold", "cmp01"] == "not done"


def test_no_host_joins_a_zone_before_others_have_its_traits(
    requiring_silver, apply, cloud
):
    cloud.leaves("cmp01")
    cloud.metadata["availability_zone"] = "az1"
    cloud.gives(SILVER, "cmp01")
    done = apply(f"{GAINS}\naggregates: {{gold: {{hosts: [cmp01]}}}}")
    assert statuses(done)["member", "gold", "cmp01"] == "not done"


def test_no_host_joins_what_is_to_be_a_zone_before_others_have_its_traits(
    requiring_silver, apply, cloud
):
    cloud.aggregates["1"]["hosts"].clear()
    cloud.gives(SILVER, "cmp01")
    for name in ("gold", "new"):
        ungained(cloud, "cmp02")
        joins = f"aggregates: {{{name}: {{zone: az1, hosts: [cmp01]}}}}"
        done = statuses(apply(f"{GAINS}\n{joins}"))
        assert done["host", "cmp02", SILVER] == "failed"
        assert done["member", name, "cmp01"] == "not done"


def test_no_aggregate_changes_its_zone_before_others_have_its_traits(
    requiring_silver, apply, cloud
):
    cloud.metadata["availability_zone"] = "az1"
    cloud.gives(SILVER, "cmp00", "cmp03")
    second(cloud, "cmp02", availability_zone="az1")
    done = apply(f"{GAINS}\naggregates: {{gold: {{zone: az2}}}}")
    assert statuses(done)["aggregate", "gold", "availability_zone"] == "not done"


def test_no_host_leaves_a_zone_that_others_did_not_join(apply, cloud, refused):
    cloud.metadata["availability_zone"] = "az1"
    cloud.leaves("cmp01")
    second(cloud, "cmp01", availability_zone="az2")
    refused("add_host", "1")
    done = apply("""
        aggregates:
          gold: {hosts: [cmp02], absent: {hosts: [cmp00]}}
          rack: {hosts: [cmp00]}
    """)
    assert statuses(done)["member", "gold", "cmp00"] == "not done"


def test_no_trait_goes_while_placement_does_not_know_where_others_are(
    apply, cloud, monkeypatch
):
    cloud.flavors = {}
    cloud.flavor("f", **{GOLD: "required"})
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az1"})
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02")
    second(cloud, "cmp02", availability_zone="az1")
    cloud.mirror[cloud.aggregates["1"]["uuid"]] = set()
    write = cloud.placement_put

    def placement_put(parts, body):
        if parts[-1] == "aggregates":
            raise CloudBroke("placement", "no", 403)
        write(parts, body)

    monkeypatch.setattr(cloud, "placement_put", placement_put)
    done = apply("""
        traits: {CUSTOM_GOLD: {absent: {hosts: [cmp02]}}}
        aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}
    """)
    assert statuses(done)["host", "cmp02", GOLD] == "not done"


def test_no_trait_goes_while_others_can_not_leave_what_is_to_close_them(
    apply, cloud, refused
):
    cloud.flavors = {}
    cloud.flavor("f", **{SILVER: "required"})
    cloud.gives(SILVER, "cmp00", "cmp02")
    refused("remove_host", "1")
    done = apply("""
        traits: {CUSTOM_SILVER: {absent: {hosts: [cmp02]}}}
        aggregates: {gold: {isolated_for: [CUSTOM_GOLD], absent: {hosts: [cmp00]}}}
    """)
    assert statuses(done)["member", "gold", "cmp00"] == "failed"
    assert statuses(done)["host", "cmp02", SILVER] == "not done"


def test_no_trait_goes_while_others_can_not_leave_what_closes_them(
    apply, cloud, refused
):
    cloud.flavors = {}
    cloud.flavor("golden", **{GOLD: "required"})
    cloud.metadata[f"trait:{SILVER}"] = "required"
    cloud.gives(SILVER, "cmp00", "cmp01")
    cloud.gives(GOLD, "cmp00", "cmp02")
    refused("remove_host", "1")
    done = apply("""
        traits: {CUSTOM_GOLD: {absent: {hosts: [cmp02]}}}
        aggregates: {gold: {absent: {hosts: [cmp00]}}}
    """)
    assert statuses(done) == {
        ("member", "gold", "cmp00"): "failed",
        ("host", "cmp02", GOLD): "not done",
    }
