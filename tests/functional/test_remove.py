"""openstack trait-sched remove, on a real Placement that has no Nova beside it."""

from __future__ import annotations

import pytest

from tests.functional.placement import STANDARD


@pytest.fixture
def hosts(placement):
    gold = [*STANDARD, "CUSTOM_GOLD", "CUSTOM_SSD"]
    return {name: placement.add_host(name, gold) for name in ("cmp1", "cmp2", "cmp3")}


def test_it_takes_what_is_named_and_nothing_else(hosts, placement, openstack):
    run = openstack("remove", "CUSTOM_GOLD", "--host", "cmp1", "-f", "json")
    assert run.json[0]["removed"] == ["CUSTOM_GOLD"]
    assert run.statuses == {"cmp1": "changed"}
    assert placement.traits(hosts["cmp1"]) == {*STANDARD, "CUSTOM_SSD"}
    assert placement.traits(hosts["cmp2"]) == {*STANDARD, "CUSTOM_GOLD", "CUSTOM_SSD"}


def test_what_is_not_there_is_unchanged(hosts, placement, proxy, openstack):
    placement.set_traits(hosts["cmp1"], STANDARD)
    run = openstack("remove", "CUSTOM_GOLD", "--host", "cmp1", "-f", "json")
    assert (run.code, run.statuses) == (0, {"cmp1": "unchanged"})
    assert not proxy.writes


def test_a_custom_trait_that_the_cloud_does_not_have_is_unchanged_with_a_hint(
    hosts, openstack
):
    run = openstack("remove", "CUSTOM_GOLT", "--host", "cmp1", "-f", "json")
    assert (run.code, run.statuses) == (0, {"cmp1": "unchanged"})
    assert run.err == "no trait CUSTOM_GOLT in this cloud; did you mean CUSTOM_GOLD?\n"


def test_a_dry_run_writes_nothing(hosts, proxy, openstack):
    dry = ("remove", "CUSTOM_GOLD", "--host", "cmp1", "--dry-run", "--exit-code")
    run = openstack(*dry, "-f", "json")
    assert (run.code, run.statuses) == (6, {"cmp1": "would change"})
    assert not proxy.writes


def test_what_nova_compute_owns_is_refused_and_force_overrides(
    hosts, placement, proxy, openstack
):
    refused = openstack("remove", "COMPUTE_NODE", "--host", "cmp1")
    assert (refused.code, refused.out) == (5, "")
    assert refused.err.startswith(
        "nothing removed: COMPUTE_NODE is nova-compute's own (libvirt): where it is "
        "true of the host, it puts the trait back"
    )
    assert not proxy.writes
    forced = openstack("remove", "COMPUTE_NODE", "--host", "cmp1", "--force")
    assert forced.code == 0
    assert "puts the trait back" in forced.err
    assert "COMPUTE_NODE" not in placement.traits(hosts["cmp1"])


def test_the_last_host_is_refused_when_nobody_can_say_who_requires_the_trait(
    hosts, placement, proxy, openstack
):
    # No Nova answers here, so that flavors and aggregates can't be read.
    refused = openstack("remove", "CUSTOM_GOLD", "--all")
    assert (refused.code, refused.out) == (5, "")
    assert refused.err.startswith(
        "nothing removed: no host would have CUSTOM_GOLD any more, and whether a "
        "flavor, image or aggregate still requires it can't be read"
    )
    assert not proxy.writes
    assert openstack("remove", "CUSTOM_GOLD", "--all", "--force").code == 0
    assert "CUSTOM_GOLD" not in placement.traits(hosts["cmp1"])


def test_a_nested_provider_that_keeps_the_trait_counts_as_one_that_has_it(
    hosts, placement, openstack
):
    placement.add_host("cmp1_gpu", ["CUSTOM_GOLD"], parent=hosts["cmp1"])
    run = openstack("remove", "CUSTOM_GOLD", "--all", "-f", "json")
    assert (run.code, set(run.statuses.values())) == (0, {"changed"})


def test_a_host_may_stand_beside_the_trait(placement, openstack):
    placement.create_traits("CUSTOM_GOLD")
    uuids = {n: placement.add_host(n, ["CUSTOM_GOLD"]) for n in ("cmp1", "cmp2")}
    run = openstack("remove", "CUSTOM_GOLD", "cmp1", "-f", "json")
    assert run.statuses == {"cmp1": "changed"}
    assert "CUSTOM_GOLD" in placement.traits(uuids["cmp2"])
