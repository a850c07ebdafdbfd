"""Changes of hosts that help where host filters keep hosts out, too."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.fix import HostAction, HostChange
from osc_traitsched.core.nova.filter.state import ServerGroup
from tests.property.building import identity
from tests.unit.core.filter.asked import REPORT
from tests.unit.core.scheduled import (
    COMPUTE,
    OWN,
    SPECS,
    SSD,
    computes,
    judgement_of,
    question,
)

GOLD = {"trait:CUSTOM_GOLD": "required"}
HAS = {"traits": ["CUSTOM_GOLD"]}
ADD = HostChange(HostAction.ADD_TRAIT, "CUSTOM_GOLD")


def disks(*values, **more):
    """Return aggregates with these values of ssd."""
    made = {f"disk{n}": {"metadata": {"ssd": each}} for n, each in enumerate(values)}
    return {**made, **more}


def join(name):
    return HostChange(HostAction.JOIN_AGGREGATE, identity(name))


def helping(body, *filters):
    """Return the changes, each with the hosts that they help."""
    asked = question(body, *filters)
    found = judgement_of(asked, body)
    fixes = fix.on_hosts(found.matcher, found.verdict, asked, found.computes)
    names = {host.uuid: host.name for host in found.hosts}
    return {
        frozenset(each.changes): {names[root] for root in each.hosts} for each in fixes
    }


def test_a_host_joins_the_aggregate_that_the_filter_looks_for():
    body = {
        "cloud": {"a": {}, "b": {}},
        "flavor": SSD,
        "aggregates": disks("false", "true"),
    }
    assert helping(body, COMPUTE, SPECS) == {frozenset([join("disk1")]): {"a", "b"}}


def test_the_aggregate_is_found_among_many_with_other_values():
    values = [f"no{n}" for n in range(9)]
    body = {"cloud": {"a": {}}, "flavor": SSD, "aggregates": disks(*values, "true")}
    assert helping(body, SPECS) == {frozenset([join("disk9")]): {"a"}}


def test_a_trait_and_an_aggregate_may_be_needed_together():
    body = {
        "cloud": {"a": {}, "b": HAS},
        "flavor": {**SSD, **GOLD},
        "aggregates": disks("true"),
    }
    assert helping(body, SPECS) == {
        frozenset([join("disk0")]): {"b"},
        frozenset([ADD, join("disk0")]): {"a"},
    }


def test_a_trait_alone_is_enough_where_the_filter_passes_the_host():
    body = {
        "cloud": {"a": {}, "b": {}},
        "flavor": {**SSD, **GOLD},
        "aggregates": disks("true", fast={"hosts": ["a"], "metadata": {"ssd": "true"}}),
    }
    found = helping(body, SPECS)
    assert found[frozenset([ADD])] == {"a"}
    assert all("a" not in hosts for changes, hosts in found.items() if len(changes) > 1)
    assert found[frozenset([ADD, join("fast")])] == {"b"}


def test_what_another_filter_would_keep_out_is_no_help():
    body = {"cloud": {"a": {}}, "flavor": SSD, "aggregates": disks("true")}
    asked = question(body, COMPUTE, SPECS)
    found = judgement_of(asked, body)
    down = {
        uuid: type(each)(each.uuid, each.node, each.service_host, is_up=False)
        for uuid, each in found.computes.items()
    }
    assert fix.on_hosts(found.matcher, found.verdict, asked, down) == ()


def fixes_of(body, *filters, may_fail=(), **states):
    """Return each fix as its changes, its hosts, and the filters that decide."""
    asked = question(body, *filters)
    found = judgement_of(asked, body, nodes=computes(body, **states))
    found_fixes = fix.on_hosts(
        found.matcher, found.verdict, asked, found.computes, iter(may_fail)
    )
    names = {host.uuid: host.name for host in found.hosts}
    return [
        (set(each.changes), {names[root] for root in each.hosts}, each.deciding)
        for each in found_fixes
    ]


def test_a_filter_of_ones_own_has_the_last_word_on_a_change():
    body = {"cloud": {"a": {}}, "flavor": SSD, "aggregates": disks("true")}
    assert fixes_of(body, OWN, SPECS) == [({join("disk0")}, {"a"}, (OWN,))]
    assert fixes_of(body, SPECS) == [({join("disk0")}, {"a"}, ())]


NUMA = "NUMATopologyFilter"
NODES = {"hw:numa_nodes": "1"}


def driven(by):
    return {"report": dataclasses.replace(REPORT, hypervisor_type=by)}


def test_hosts_that_the_filter_keeps_out_for_sure_are_not_among_those_it_decides():
    body = {"cloud": {"a": {}, "b": {}}, "flavor": {**GOLD, **NODES}}
    found = fixes_of(body, OWN, NUMA, a=driven("fake"), b=driven("QEMU"))
    assert found == [({ADD}, {"b"}, (OWN, NUMA))]


def test_where_a_change_helps_some_hosts_for_sure_no_other_is_counted():
    body = {"cloud": {"a": {}, "b": {}}, "flavor": GOLD}
    full = {"report": dataclasses.replace(REPORT, current_workload=9, running_vms=9)}
    idle = {"report": dataclasses.replace(REPORT, current_workload=0)}
    found = fixes_of(body, "IoOpsFilter", a=full, b=idle)
    assert found == [({ADD}, {"b"}, ())]
    found = fixes_of(body, "IoOpsFilter", a=full, b=full)
    assert found == [({ADD}, {"a", "b"}, ("IoOpsFilter",))]


def test_no_change_helps_for_sure_where_another_host_may_end_the_request():
    body = {"cloud": {"a": {}}, "flavor": GOLD}
    assert fixes_of(body, COMPUTE, may_fail=[SPECS]) == [({ADD}, {"a"}, (SPECS,))]


ENABLE = HostChange(HostAction.ENABLE_SERVICE)
BROKEN = HostChange(HostAction.ENABLE_SERVICE, "broken")


@pytest.mark.parametrize(
    ("state", "helping"),
    [
        ({"is_enabled": False}, [({ENABLE}, {"a"}, ())]),
        ({"is_enabled": False, "disabled_reason": "broken"}, [({BROKEN}, {"a"}, ())]),
        ({"is_enabled": False, "is_up": False}, []),
        ({"is_up": False}, []),
    ],
)
def test_a_disabled_service_is_enabled_though_placement_lacks_its_trait(state, helping):
    assert fixes_of({"cloud": {"a": {}}}, COMPUTE, a=state) == helping


def test_a_disabled_host_may_need_an_aggregate_too():
    body = {"cloud": {"a": {}}, "flavor": SSD, "aggregates": disks("true")}
    found = fixes_of(body, COMPUTE, SPECS, a={"is_enabled": False})
    assert found == [({ENABLE, join("disk0")}, {"a"}, ())]


def test_a_group_that_has_a_member_on_each_host_in_reach_is_named():
    members = frozenset(map(identity, "xy"))
    group = ServerGroup("db", "anti-affinity", members=members, hosts=frozenset("ab"))
    body = {"cloud": {"a": HAS, "b": HAS, "c": {}}, "flavor": GOLD}
    asked = question(body, "ServerGroupAntiAffinityFilter", group=group)
    servers = dict(zip(sorted(members), [("a", "a"), ("b", "b")]))
    asked = dataclasses.replace(asked, servers=servers)
    found = judgement_of(asked, body)
    told = fix.advice(asked, found.verdict, found.facts, found.computes)
    assert [(each.topic, each.subject, each.amount) for each in told] == [
        (fix.Topic.GROUP, "db", 2)
    ]
