"""Hosts of Placement's answer, while providers come and go."""

from osc_traitsched.core.inventory.snapshot import Compute, Nova, Provider, Snapshot
from osc_traitsched.core.placement import facts

NOVA = Nova((Compute("a", "host-a", "a"), Compute("b", "host-b", "b")))
ROOTS = (Provider("a", "host-a", 1, "a"), Provider("b", "host-b", 1, "b"))
NESTED = Provider("n", "numa", 1, "b", "b")


def summary(root):
    resources = {"VCPU": {"capacity": 4, "used": 1}}
    return {"root_provider_uuid": root, "resources": resources}


def allocation(*providers):
    return {"allocations": {p: {"resources": {"VCPU": 1}} for p in providers}}


ANSWER = {
    "allocation_requests": [allocation("a"), allocation("b", "n")],
    "provider_summaries": {"a": summary("a"), "b": summary("b"), "n": summary("b")},
}


def hosts(*providers):
    snapshot = Snapshot(providers).with_nova(NOVA)
    return [each.host.name for each in facts.candidates(ANSWER, snapshot)]


def test_every_host_of_novas_is_a_candidate():
    assert hosts(*ROOTS, NESTED) == ["host-a", "host-b"]


def test_a_host_of_which_something_was_deleted_meanwhile_is_none():
    assert hosts(*ROOTS) == ["host-a"]
    assert hosts(ROOTS[0]) == ["host-a"]


def given(sharing, *requests):
    """Return the hosts of an answer by both who ask for them, where some share."""
    answer = {**ANSWER, "allocation_requests": requests}
    snapshot = Snapshot((*ROOTS, NESTED), frozenset(sharing)).with_nova(NOVA)
    hosts = facts.candidates(answer, snapshot)
    roots = facts.roots_in_answer(answer, snapshot)
    assert {each.host.uuid for each in hosts} == roots
    return roots


def test_a_host_that_shares_is_a_candidate_for_what_it_gives_by_itself():
    both = [allocation("a"), allocation("b", "n")]
    assert given("a", *both) == given("ab", *both) == {"a", "b"}


def test_a_host_that_only_gives_another_one_something_is_none():
    assert given("a", allocation("a", "b")) == {"b"}
