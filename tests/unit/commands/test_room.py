"""What takes hosts from a flavor waits for what gives it others, whatever fails."""

from __future__ import annotations

from tests.unit.commands.wanted import GOLD, SILVER, broken_for, second, statuses


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
