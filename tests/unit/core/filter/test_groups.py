"""Server groups: their two filters, and a policy whose filter is off."""

import dataclasses

import pytest

from osc_traitsched.core.nova.filter.groups import unsupported_policy
from osc_traitsched.core.nova.filter.state import ServerGroup
from tests.unit.core.filter.asked import host, says, settings, spec

AFFINITY, ANTI = "ServerGroupAffinityFilter", "ServerGroupAntiAffinityFilter"


def group(policy, hosts=(), members=("s1", "s2"), most=1):
    return ServerGroup("g", policy, most, frozenset(members), frozenset(hosts))


@pytest.mark.parametrize(
    ("hosts", "answer"),
    [
        ([], "unknown: instance_group.hosts"),
        (["cmp2"], "unknown: instance_group.hosts"),
        (["cmp1"], "yes"),
    ],
)
def test_servers_in_a_silent_cell_leave_open_which_hosts_are_the_groups(hosts, answer):
    found = dataclasses.replace(group("affinity", hosts), is_placed=False)
    assert says(AFFINITY, host("cmp1"), spec(group=found)) == answer


def test_a_server_that_is_moved_holds_its_group_on_its_own_host():
    asked = spec(group=group("affinity", ["cmp2"], ["s1"]), instance_uuid="s1")
    assert says(AFFINITY, host("cmp1"), asked) == "no: group-elsewhere"
    assert says(AFFINITY, host("cmp2"), asked) == "yes"


def test_anti_affinity_says_that_the_group_is_on_the_host():
    state = host(instances=frozenset(["s1", "s2", "s9"]))
    asked = spec(group=group("anti-affinity", most=2))
    assert says(ANTI, state, asked) == "no: group-here"


@pytest.mark.parametrize(
    ("hosts", "most", "moved", "answer"),
    [
        (["cmp2"], 1, None, "yes"),
        (["cmp1"], 1, None, "no: group-here"),
        (["cmp1"], 2, None, "unknown: instances"),
        (["cmp1"], 1, "s1", "unknown: instances"),
    ],
)
def test_without_the_servers_of_hosts_the_groups_hosts_tell(hosts, most, moved, answer):
    asked = spec(group=group("anti-affinity", hosts, most=most), instance_uuid=moved)
    assert says(ANTI, host(), asked) == answer


@pytest.mark.parametrize(
    ("policy", "missing"),
    [
        ("affinity", AFFINITY),
        ("anti-affinity", ANTI),
        ("soft-affinity", "ServerGroupSoftAffinityWeigher"),
        ("soft-anti-affinity", "ServerGroupSoftAntiAffinityWeigher"),
    ],
)
def test_a_policy_whose_filter_or_weigher_is_off_is_refused(policy, missing):
    asked = spec(group=group(policy))
    assert unsupported_policy(asked, settings()) is None
    off = settings(
        filter_scheduler__enabled_filters=("ComputeFilter",),
        filter_scheduler__weight_classes=("nova.scheduler.weights.ram.RAMWeigher",),
    )
    assert unsupported_policy(asked, off) == missing
    assert unsupported_policy(spec(), off) is None


def test_a_weigher_counts_as_on_by_its_full_name():
    name = "nova.scheduler.weights.affinity.ServerGroupSoftAffinityWeigher"
    given = settings(filter_scheduler__weight_classes=(name,))
    assert unsupported_policy(spec(group=group("soft-affinity")), given) is None
