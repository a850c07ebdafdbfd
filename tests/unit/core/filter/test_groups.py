"""Server groups: their two filters, and a policy whose filter is off."""

import dataclasses

import pytest

from osc_traitsched.core.nova.filter.groups import (
    late_check,
    servers_left,
    unsupported_policy,
)
from osc_traitsched.core.nova.filter.state import Fails, MemberMove, ServerGroup
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


#: Server s1 was resized from cmp1 to cmp2, and nobody has confirmed it.
RESIZED = MemberMove("s1", "web", frozenset(["cmp1", "cmp2"]), is_finished=True)


@pytest.mark.parametrize(
    ("here", "most", "moved", "moves", "reason"),
    [
        ((), 1, None, [RESIZED], "group-leaving"),
        ((), 2, None, [RESIZED], None),
        (("s2",), 2, None, [RESIZED], "group-leaving"),
        (("s1",), 1, None, [RESIZED], "group-here"),
        (("s1",), 2, None, [RESIZED], None),
        # What the filter passes, since the server is there itself.
        (("s1", "s2"), 1, "s1", [], "group-here"),
        (("s1",), 1, "s1", [RESIZED], None),
        # Of a server of no group, and on other hosts.
        ((), 1, None, [dataclasses.replace(RESIZED, server="s9")], None),
        ((), 1, None, [dataclasses.replace(RESIZED, hosts=frozenset(["c"]))], None),
    ],
)
def test_nova_compute_counts_members_that_move_on_both_hosts(
    here, most, moved, moves, reason
):
    found = dataclasses.replace(group("anti-affinity", most=most), moves=tuple(moves))
    asked = spec(group=found, instance_uuid=moved)
    answer = late_check(host("cmp1", instances=frozenset(here)), asked, {})
    assert (answer.reason if isinstance(answer, Fails) else None) == reason


def test_moves_that_may_not_be_listed_leave_a_group_open():
    hidden = dataclasses.replace(group("anti-affinity"), moves=None)
    state = host(instances=frozenset())
    assert late_check(state, spec(group=hidden), {}).missing == "migrations"
    alone = dataclasses.replace(hidden, members=frozenset(["s1"]))
    asked = spec(group=alone, instance_uuid="s1")
    assert not hasattr(late_check(state, asked, {}), "missing")


@pytest.mark.parametrize(
    ("servers", "is_out"),
    [
        ({"s1": "cmp1"}, False),
        ({"s1": "cmp1", "s2": "cmp2"}, True),
        ({"s1": "cmp1", "s2": "cmp1"}, False),
        ({"s2": "cmp2"}, True),
        ({}, False),
    ],
)
def test_affinity_is_checked_against_the_hosts_of_the_others(servers, is_out):
    """The filter counts the host of the moved server, and nova-compute does not."""
    asked = spec(group=group("affinity", servers.values()), instance_uuid="s1")
    nodes = {server: (name, name) for server, name in servers.items()}
    found = late_check(host("cmp1", instances=frozenset()), asked, nodes)
    assert isinstance(found, Fails) is is_out


def test_a_host_has_no_room_for_the_group_while_a_member_may_come_back():
    found = dataclasses.replace(group("anti-affinity", most=2), moves=(RESIZED,))
    servers = {"s1": ("cmp2", "cmp2"), "s2": ("cmp1", "cmp1")}
    left = servers_left(found, ["cmp1", "cmp2", "cmp3"], servers)
    assert left == {"cmp1": 0, "cmp2": 1, "cmp3": 2}
