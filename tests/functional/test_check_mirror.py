"""Hosts that Nova and Placement have otherwise, with a Nova that is made up."""

from __future__ import annotations

import uuid

import pytest

from tests.functional.nova import Nova

CHECK = ("check", "mirror", "--nova-release", "2026.1")


@pytest.fixture
def check(openstack):
    """Return ID, severity and object of each finding."""

    def run():
        done = openstack(*CHECK, "-f", "json")
        for row in done.json:
            print(row)
        return [(row["id"], row["severity"], row["object"]) for row in done.json]

    return run


def known(placement, *names):
    return [(name, placement.add_host(name)) for name in names]


def put(placement, provider, *aggregates):
    generation = placement.generation(provider)
    body = {"resource_provider_generation": generation, "aggregates": [*aggregates]}
    placement.call("PUT", f"/resource_providers/{provider}/aggregates", body)


def test_hosts_that_both_have_alike_are_no_finding(placement, proxy, check, openstack):
    Nova(proxy, known(placement, "cmp00", "cmp01"), {})
    assert check() == []
    assert openstack(*CHECK).out == (
        "Nothing found: 10 rules looked at 0 aggregates, 2 hosts.\n"
    )


def test_a_hypervisor_without_a_provider(placement, proxy, check):
    hosts = known(placement, "cmp00")
    Nova(proxy, [*hosts, ("cmp01", str(uuid.uuid4()))], {})
    assert check() == [("mirror-no-provider", "error", "host cmp01")]


def test_a_hypervisor_whose_name_a_provider_of_another_uuid_has(
    placement, proxy, check
):
    first, (name, _) = known(placement, "cmp00", "cmp01")
    Nova(proxy, [first, (name, str(uuid.uuid4()))], {})
    assert check() == [("mirror-other-uuid", "error", "host cmp01")]


def test_a_provider_of_a_host_that_is_gone(placement, proxy, check):
    Nova(proxy, known(placement, "cmp00", "cmp01")[:1], {})
    assert check() == [("mirror-no-hypervisor", "warning", "provider cmp01")]


def test_a_provider_that_hosts_share_is_no_host_that_is_gone(placement, proxy, check):
    placement.add_host("pool", ["MISC_SHARES_VIA_AGGREGATE"])
    Nova(proxy, known(placement, "cmp00"), {})
    assert check() == []


def test_all_nodes_of_a_host_but_one_are_missing_and_mended(
    placement, proxy, check, openstack
):
    (first, *others) = known(placement, "node0", "node1", "node2")
    nova = Nova(proxy, [], {"metal": ({}, ("ironic",))})
    for name, identity in (first, *others):
        nova.runs(name, identity, "ironic")
    put(placement, first[1], nova.uuid("metal"))
    assert check() == [("mirror-node-missing", "warning", "host ironic")]
    run = openstack("mirror", "repair", "-f", "json")
    assert run.statuses == {"node1": "changed", "node2": "changed"}
    assert check() == []
