"""host drain at the shell: what it refuses, and who is asked."""

from __future__ import annotations

import pytest

from tests.functional.nova import Nova

pytestmark = pytest.mark.one_client


@pytest.fixture
def nova(placement, proxy):
    found = Nova(proxy, [("cmp01", placement.add_host("cmp01"))], {})
    small = {"id": "f", "name": "small", "vcpus": 1, "ram": 512, "disk": 1}
    found._bodies["/flavors/detail"] = {"flavors": [{**small, "extra_specs": {}}]}
    return found


def test_a_host_that_is_not_there_is_not_guessed(openstack, nova, proxy):
    done = openstack("host", "drain", "cmp1")
    assert not proxy.writes
    assert done.code == 1
    assert done.err.endswith("no host matches 'cmp1'; did you mean cmp01?\n")


def test_what_placement_counts_of_no_server_is_said(openstack, nova, placement):
    (node,) = nova._bodies["/os-hypervisors/detail"]["hypervisors"]
    node["free_ram_mb"] = node["memory_mb"]
    placement.allocate(node["id"], MEMORY_MB=6500)
    nova._bodies["/servers/detail"] = {"servers": []}
    nova._bodies["/os-migrations"] = {"migrations": []}
    done = openstack("host", "drain", "cmp01", "--nova-release", "2026.1")
    counted = "Placement counts 6500 MB there of no server"
    assert done.out.splitlines()[0] == (
        f"No server is on cmp01; {counted} (nova-manage placement audit)."
    )
    done = openstack("host", "show", "cmp01", "--nova-release", "2026.1")
    assert "6500 MB RAM in use of no server: nova-manage placement audit" in done.out


@pytest.mark.parametrize(
    "words", [("host", "drain"), ("host", "show"), ("explain", "small", "-", "--host")]
)
def test_a_host_that_only_placement_has_is_no_mistyped_one(
    openstack, nova, placement, words
):
    placement.add_host("cmp02")
    done = openstack(*words, "cmp02", "--nova-release", "2026.1")
    assert done.code != 0
    assert "did you mean" not in done.err
    assert "if the host exists, restart its nova-compute (unless openstack" in done.err
    assert "nova-manage cell_v2 discover_hosts --by-service" in done.err


def test_placement_takes_nothing_shared_where_one_tree_is_asked_for(placement):
    """So a host that is named can't be had where its disk is of a pool."""
    own, pool = {"VCPU": 8}, {"DISK_GB": 100}
    host = placement.add_host("cmp01", inventories=own)
    traits = ["MISC_SHARES_VIA_AGGREGATE"]
    nfs = placement.add_host("nfs", traits, inventories=pool)
    for uuid in (host, nfs):
        body = {
            "resource_provider_generation": placement.generation(uuid),
            "aggregates": ["a0000001-0000-4000-8000-000000000000"],
        }
        placement.call("PUT", f"/resource_providers/{uuid}/aggregates", body)
    query = "/allocation_candidates?resources=VCPU:1,DISK_GB:1"
    (one,) = placement.call("GET", query)["allocation_requests"]
    assert set(one["allocations"]) == {host, nfs}
    named = placement.call("GET", f"{query}&in_tree={host}")
    assert named["allocation_requests"] == []
