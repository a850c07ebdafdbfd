"""Changes of hosts and of the request that would help."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute, Nova
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.fix import (
    HostAction,
    HostChange,
    HostFix,
    RequestChange,
    RequestFix,
    Topic,
)
from osc_traitsched.core.judge.judgement import RefusedRequest
from osc_traitsched.core.judge.verdict import evaluate
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import Move, MoveKind
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.core.placement.matcher import Matcher
from osc_traitsched.views.explain import fixes
from tests.aggregates import aggregate
from tests.cases.reading import Case
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
from tests.unit.core.test_cases import facts

# Changes of hosts and of the request that would help.


INVENTORIES = {"VCPU": {"total": 40, "max_unit": 10}, "MEMORY_MB": 4096, "DISK_GB": 9}


def test_the_largest_size_is_one_that_is_known_to_be_given():
    """Of most hosts no largest unit was read, and all that is free looks usable."""
    hosts = {name: {"inventories": INVENTORIES} for name in ("cmp00", "cmp01")}
    case = Case({"name": "wide", "cloud": hosts, "flavor": {"vcpus": 11}})
    request = case.question.request()
    found = facts(case, request)
    read = {"VCPU": Stock(40, 0, max_unit=10, step_size=1)}
    stock = {**found.stock, identity("cmp00"): read}
    found = dataclasses.replace(found, stock=stock)
    matcher = Matcher(request.clauses, request.group_policy, found)

    proposed = fix.on_request(case.question, found, evaluate(matcher, found))

    assert [each.changes for each in proposed] == [
        (RequestChange("size", "vcpus", 10),)
    ]


@pytest.mark.parametrize(
    ("kind", "release", "zones"),
    [
        (None, 33, ["east"]),
        (MoveKind.UNSHELVE, 33, ["east", None]),
        (MoveKind.UNSHELVE, 25, ["east"]),
        (MoveKind.LIVE_MIGRATION, 33, []),
        (MoveKind.LIVE_MIGRATION, 34, [None]),
        (MoveKind.RESIZE, 34, [None]),
    ],
)
def test_a_new_or_unshelved_server_gets_another_zone_and_any_is_unpinned(
    kind, release, zones
):
    case = Case(
        {
            "name": "empty zone",
            "cloud": {"cmp00": {"aggregates": ["east"], "traits": ["OWNER_NOVA"]}},
            "aggregates": {
                zone: {"metadata": {"availability_zone": zone}, "hosts": hosts}
                for zone, hosts in (("east", ["cmp00"]), ("west", []))
            },
            "zone": "west",
        }
    )
    settings = dataclasses.replace(case.question.assumptions, release=release)
    move = kind and Move(kind, "s1")
    question = dataclasses.replace(case.question, move=move, assumptions=settings)
    request = question.request()
    found = facts(case, request)
    root = identity("cmp00")
    east = aggregate("east", "cmp00", uuid=identity("east"))
    nova = Nova((Compute(root, "cmp00", "cmp00"),), (east,))
    found = dataclasses.replace(found, snapshot=found.snapshot.with_nova(nova))
    matcher = Matcher(request.clauses, request.group_policy, found)

    proposed = fix.on_request(question, found, evaluate(matcher, found))

    tried = [RequestChange("zone", "availability_zone", zone) for zone in zones]
    assert [each.changes for each in proposed] == [(each,) for each in tried]
    rejected = RefusedRequest(question, Refusal("ImageBad", "too-bad"))
    words = [fixes.word(each, rejected) for each in proposed]
    unshelve = "openstack server unshelve --os-compute-api-version"
    unset = "openstack server unset --os-compute-api-version 2.104"
    assert words == {
        None: ["ask for availability zone east"],
        MoveKind.UNSHELVE: [
            f"{unshelve} 2.77 --availability-zone east s1",
            f"{unshelve} 2.91 --no-availability-zone s1",
        ][: len(zones)],
    }.get(kind, [f"{unset} --pinned-availability-zone s1" for _ in zones])


def test_an_aggregate_that_is_wanted_twice_is_joined_once():
    """It is the only one of the project's, and one of several of the zone's."""
    zone, ours = {"availability_zone": "az-east"}, {"filter_tenant_id": "us"}
    case = Case(
        {
            "name": "twice",
            "cloud": {"cmp00": {}},
            "aggregates": {
                "east": {"metadata": zone},
                "ours": {"metadata": {**zone, **ours}},
                "also-east": {"metadata": zone, "hosts": ["cmp00"]},
            },
            "zone": "az-east",
            "project": "us",
            "options": {"limit_tenants_to_placement_aggregate": True},
        }
    )
    request = case.question.request()
    found = facts(case, request)
    matcher = Matcher(request.clauses, request.group_policy, found)
    root = identity("cmp00")
    computes = {root: Compute(root, "cmp00", "cmp00")}

    (helping,) = fix.on_hosts(
        matcher, evaluate(matcher, found), case.question, computes
    )

    assert helping.changes == (HostChange(HostAction.JOIN_AGGREGATE, identity("ours")),)
    assert helping.hosts == (root,)


def test_a_disabled_host_is_to_be_enabled_and_the_reason_is_said():
    disabled = {"traits": ["COMPUTE_STATUS_DISABLED"]}
    hosts = {"cmp00": disabled, "cmp01": disabled}
    case = Case({"name": "disabled", "cloud": hosts})
    request = case.question.request()
    found = facts(case, request)
    matcher = Matcher(request.clauses, request.group_policy, found)
    reasons = {identity("cmp00"): "new DIMMs", identity("cmp01"): ""}
    computes = {
        uuid: Compute(uuid, "", "", is_enabled=False, disabled_reason=reason)
        for uuid, reason in reasons.items()
    }

    found = fix.on_hosts(matcher, evaluate(matcher, found), case.question, computes)

    assert [(each.changes[0].name, each.hosts) for each in found] == [
        ("", (identity("cmp01"),)),
        ("new DIMMs", (identity("cmp00"),)),
    ]


REQUEST = RequestFix(
    (RequestChange("zone", "availability_zone", "a"), RequestChange("size", "ram", 9))
)
FORMAT = RequestFix((RequestChange("image", "disk_format", "raw"),))
FLAVOR = RequestFix(
    (RequestChange("size", "ram", 9), RequestChange("flavor", "resources:VCPU", "1"))
)
IMAGE = RequestFix((RequestChange("image", "hw_disk_bus", None),))
TRAIT = HostFix(
    (HostChange(HostAction.ENABLE_SERVICE), HostChange(HostAction.ADD_TRAIT, "X")), ()
)
LESS = HostFix((HostChange(HostAction.REMOVE_TRAIT, "X"),), ())
ENABLE = HostFix((HostChange(HostAction.ENABLE_SERVICE),), ())
BROKEN = HostFix((HostChange(HostAction.ENABLE_SERVICE, "new DIMMs"),), ())
JOIN = HostFix((HostChange(HostAction.JOIN_AGGREGATE, "gold"),), ())

SYNC = HostFix((HostChange(HostAction.SYNC_AGGREGATE, "gold"),), ())
ZONE = RequestFix((RequestChange("zone", "availability_zone", "a"),))


def test_the_safest_comes_first_and_what_somebody_decided_last():
    found = [BROKEN, TRAIT, FLAVOR, JOIN, ENABLE, REQUEST, IMAGE, FORMAT, LESS, SYNC]
    safest = (SYNC, LESS, FORMAT, REQUEST, IMAGE, FLAVOR, ENABLE, TRAIT, BROKEN, JOIN)
    assert fix.safest_first(found) == safest


def judged(**body):
    """Return a case's question, its facts, and the verdict."""
    case = Case({"name": "judged", **body})
    request = case.question.request()
    found = facts(case, request)
    matcher = Matcher(request.clauses, request.group_policy, found)
    return case.question, found, evaluate(matcher, found)


ISOLATION = {"enable_isolated_aggregate_filtering": True}
GOLD = {"gold": {"metadata": {"Trait:custom_gold": "Required"}, "hosts": ["cmp00"]}}
INSIDE = {"cmp00": {"aggregates": ["gold"], "traits": ["CUSTOM_GOLD"]}}


def test_nobody_is_to_require_a_trait_to_get_into_an_isolated_aggregate():
    found = judged(cloud=INSIDE, aggregates=GOLD, options=ISOLATION)
    assert fix.on_request(*found) == ()


@pytest.mark.parametrize(
    "flavor",
    [
        {"trait:CUSTOM_SSD": "required"},
        {"trait:CUSTOM_SHARED": "forbidden"},
        {"resources:CUSTOM_BAREMETAL": "1"},
        {"resources:VGPU": "2"},
        {"hw:cpu_policy": "dedicated"},
        {"hw:cpu_policy": "dedicated", "hw:cpu_thread_policy": "isolate"},
        {"hw:tpm_version": "2.0"},
    ],
)
def test_nothing_that_a_flavor_asks_for_is_dropped(flavor):
    host = {"traits": ["CUSTOM_SHARED"]}
    found = judged(cloud={"cmp00": host}, flavor=flavor)
    assert found[2].rejections
    assert fix.on_request(*found) == ()


def test_fewer_gpus_are_another_service_and_less_memory_is_an_offer():
    full = {"VCPU": 8, "MEMORY_MB": 1024, "DISK_GB": 9, "VGPU": 1}
    asked = {"resources:VGPU": "2"}
    found = judged(cloud={"cmp00": {"inventories": full}}, flavor=asked)
    assert fix.on_request(*found) == ()


@pytest.mark.parametrize(
    "body",
    [
        {"image": {"os_secure_boot": "required"}},
        {"flavor": {"os:secure_boot": "required"}},
        {"flavor": {"trait:COMPUTE_SECURITY_TPM_2_0": "required"}},
        {"flavor": {"trait:HW_CPU_X86_AMD_SEV": "required"}},
    ],
)
def test_no_guarantee_is_dropped_and_where_to_look_is_said(body):
    question, found, verdict = judged(cloud={"cmp00": {}}, **body)
    assert fix.on_request(question, found, verdict) == ()
    told = list(fix.advice(question, verdict, found, {}))
    assert {each.topic for each in told} == {Topic.NOT_REPORTED}


def test_a_trait_that_a_host_reports_needs_no_advice():
    required = {"trait:COMPUTE_SECURITY_TPM_2_0": "required"}
    hosts = {"cmp00": {"traits": ["COMPUTE_SECURITY_TPM_2_0"]}, "cmp01": {}}
    question, found, verdict = judged(cloud=hosts, flavor=required)
    assert list(fix.advice(question, verdict, found, {})) == []


def test_a_trait_of_an_enabled_host_may_be_a_stale_one():
    disabled = {"traits": ["COMPUTE_STATUS_DISABLED"]}
    question, found, verdict = judged(cloud={"cmp00": disabled})
    root = identity("cmp00")
    enabled = {root: Compute(root, "cmp00", "cmp00")}
    (told,) = fix.advice(question, verdict, found, enabled)
    assert (told.topic, told.about) == (Topic.STALE_TRAIT, (root,))


@pytest.mark.parametrize(
    ("figures", "topics"),
    [
        ({}, [Topic.LEAKED]),
        ({"running_vms": 1}, []),
        ({"current_workload": 1}, []),
        # A server that is about to arrive.
        ({"free_ram_mb": 8192 - 768}, []),
    ],
)
def test_what_placement_counts_on_a_host_without_servers_is_leaked(figures, topics):
    full = {"VCPU": 8, "MEMORY_MB": {"total": 1024, "used": 768}, "DISK_GB": 9}
    question, found, verdict = judged(cloud={"cmp00": {"inventories": full}})
    root = identity("cmp00")
    stock = {root: {"MEMORY_MB": Stock(1024, 768)}}
    found = dataclasses.replace(found, stock=stock)
    figures = {"running_vms": 0, "free_ram_mb": 8192, **figures}
    report = dataclasses.replace(REPORT, **figures)
    computes = {root: Compute(root, "cmp00", "cmp00", report=report)}
    told = fix.advice(question, verdict, found, computes)
    assert [each.topic for each in told] == topics


KNOWN = ("COMPUTE_STATUS_DISABLED", "CUSTOM_GOLD", "CUSTOM_SSD")


@pytest.mark.parametrize("what", ["flavor", "image"])
def test_a_misspelled_trait_is_corrected(what):
    case = Case({"name": "typo", what: {"trait:CUSTOM_GLOD": "required"}, "cloud": {}})
    error, (told,) = fix.misspelled(case.question, case.question.request(), KNOWN)
    assert "requires trait CUSTOM_GLOD, which does not exist. Did you mean" in str(
        error
    )
    assert told.corrections == (
        RequestChange(what, "trait:CUSTOM_GOLD", "required"),
        RequestChange(what, "trait:CUSTOM_GLOD", None),
    )


def test_a_trait_like_no_other_is_not_corrected():
    case = Case({"name": "new", "flavor": {"trait:CUSTOM_X": "required"}, "cloud": {}})
    error, told = fix.misspelled(case.question, case.question.request(), KNOWN)
    assert str(error).endswith("trait-sched add CUSTOM_X --create --host <HOST>")
    assert told == ()


# Changes of hosts that help where host filters keep hosts out, too.


FILTERED_FIXES_GOLD = {"trait:CUSTOM_GOLD": "required"}
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
    fixes = fix.on_hosts(found.verdict.matcher, found.verdict, asked, found.computes)
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
        "flavor": {**SSD, **FILTERED_FIXES_GOLD},
        "aggregates": disks("true"),
    }
    assert helping(body, SPECS) == {
        frozenset([join("disk0")]): {"b"},
        frozenset([ADD, join("disk0")]): {"a"},
    }


def test_a_trait_alone_is_enough_where_the_filter_passes_the_host():
    body = {
        "cloud": {"a": {}, "b": {}},
        "flavor": {**SSD, **FILTERED_FIXES_GOLD},
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
    assert fix.on_hosts(found.verdict.matcher, found.verdict, asked, down) == ()


def fixes_of(body, *filters, may_fail=(), **states):
    """Return each fix as its changes, its hosts, and the filters that decide."""
    asked = question(body, *filters)
    found = judgement_of(asked, body, nodes=computes(body, **states))
    found_fixes = fix.on_hosts(
        found.verdict.matcher, found.verdict, asked, found.computes, iter(may_fail)
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
    body = {"cloud": {"a": {}, "b": {}}, "flavor": {**FILTERED_FIXES_GOLD, **NODES}}
    found = fixes_of(body, OWN, NUMA, a=driven("fake"), b=driven("QEMU"))
    assert found == [({ADD}, {"b"}, (OWN, NUMA))]


def test_where_a_change_helps_some_hosts_for_sure_no_other_is_counted():
    body = {"cloud": {"a": {}, "b": {}}, "flavor": FILTERED_FIXES_GOLD}
    full = {"report": dataclasses.replace(REPORT, current_workload=9, running_vms=9)}
    idle = {"report": dataclasses.replace(REPORT, current_workload=0)}
    found = fixes_of(body, "IoOpsFilter", a=full, b=idle)
    assert found == [({ADD}, {"b"}, ())]
    found = fixes_of(body, "IoOpsFilter", a=full, b=full)
    assert found == [({ADD}, {"a", "b"}, ("IoOpsFilter",))]


def test_no_change_helps_for_sure_where_another_host_may_end_the_request():
    body = {"cloud": {"a": {}}, "flavor": FILTERED_FIXES_GOLD}
    assert fixes_of(body, COMPUTE, may_fail=[SPECS]) == [({ADD}, {"a"}, (SPECS,))]


FILTERED_FIXES_ENABLE = HostChange(HostAction.ENABLE_SERVICE)
FILTERED_FIXES_BROKEN = HostChange(HostAction.ENABLE_SERVICE, "broken")


@pytest.mark.parametrize(
    ("state", "helping"),
    [
        ({"is_enabled": False}, [({FILTERED_FIXES_ENABLE}, {"a"}, ())]),
        (
            {"is_enabled": False, "disabled_reason": "broken"},
            [({FILTERED_FIXES_BROKEN}, {"a"}, ())],
        ),
        ({"is_enabled": False, "is_up": False}, []),
        ({"is_up": False}, []),
    ],
)
def test_a_disabled_service_is_enabled_though_placement_lacks_its_trait(state, helping):
    assert fixes_of({"cloud": {"a": {}}}, COMPUTE, a=state) == helping


def test_a_disabled_host_may_need_an_aggregate_too():
    body = {"cloud": {"a": {}}, "flavor": SSD, "aggregates": disks("true")}
    found = fixes_of(body, COMPUTE, SPECS, a={"is_enabled": False})
    assert found == [({FILTERED_FIXES_ENABLE, join("disk0")}, {"a"}, ())]


def test_a_group_that_has_a_member_on_each_host_in_reach_is_named():
    members = frozenset(map(identity, "xy"))
    group = ServerGroup("db", "anti-affinity", members=members, hosts=frozenset("ab"))
    body = {"cloud": {"a": HAS, "b": HAS, "c": {}}, "flavor": FILTERED_FIXES_GOLD}
    asked = question(body, "ServerGroupAntiAffinityFilter", group=group)
    servers = dict(zip(sorted(members), [("a", "a"), ("b", "b")]))
    asked = dataclasses.replace(asked, servers=servers)
    found = judgement_of(asked, body)
    told = fix.advice(asked, found.verdict, found.facts, found.computes)
    assert [(each.topic, each.subject, each.amount) for each in told] == [
        (fix.Topic.GROUP, "db", 2)
    ]
