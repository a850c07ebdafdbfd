"""What the host filters make of all hosts, beside what Placement says of them."""

from __future__ import annotations

import dataclasses
import types

import pytest

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge import fix
from osc_traitsched.core.judge.filtering import (
    FilterFailure,
    Filtering,
    KnownAnswers,
    filtering,
)
from osc_traitsched.core.judge.hosts import matching_all, matching_hosts
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.state import (
    PAGES_DO_NOT_DIVIDE,
    Raises,
    ServerGroup,
    Unknown,
    host_states,
)
from osc_traitsched.core.nova.filter.table import read_of
from osc_traitsched.core.nova.options import TENANT, TENANT_REQUIRED, Setting
from osc_traitsched.core.nova.question import Move, MoveKind, ServerSpec
from osc_traitsched.core.nova.server import Network, Parts, Port
from osc_traitsched.views.explain import reasons
from tests.property.building import identity
from tests.unit.core.filter.asked import REPORT
from tests.unit.core.scheduled import (
    COMPUTE,
    OWN,
    SPECS,
    SSD,
    computes,
    explained,
    judgement_of,
    question,
)

A, B, C = map(identity, "abc")
CLOUD = {"cloud": {"a": {}, "b": {}, "c": {}}}
DISKS = {
    **CLOUD,
    "flavor": SSD,
    "aggregates": {
        "fast": {"hosts": ["a"], "metadata": {"ssd": "true"}},
        "slow": {"hosts": ["b"], "metadata": {"ssd": "false"}},
    },
}
#: Nova compares numbers, and raises for what is none.
ODD = {**DISKS, "flavor": {"aggregate_instance_extra_specs:ssd": ">= many"}}
DOWN, DISABLED = {"is_up": False}, {"is_enabled": False}


NUMA, PCI = "NUMATopologyFilter", "PciPassthroughFilter"


def of_aggregate(**metadata):
    return {**CLOUD, "aggregates": {"one": {"hosts": ["a"], "metadata": metadata}}}


def judged(body, *filters, release=33, **states):
    asked = question(body, *filters, release=release)
    return filtering(asked, computes(body, **states).values())


def test_a_filter_that_keeps_hosts_out_is_a_condition_and_others_have_no_effect():
    found = judged(DISKS, COMPUTE, SPECS)
    assert found.kept_out == {COMPUTE: frozenset(), SPECS: {B, C}}
    assert [each.name for each in found.conditions] == [SPECS]
    assert [each.key for each in found.conditions[0].origins] == [*SSD]
    assert found.without_effect == (COMPUTE,)
    assert found.all_kept_out == {B, C}


def test_what_is_unknown_of_a_host_keeps_it_neither_out_nor_in():
    found = judged(DISKS, OWN, SPECS)
    assert found.all_kept_out == {B, C}
    assert [name for name, _ in found.unknown(A)] == [OWN]
    assert found.doubts(A)
    assert found.without_effect == ()


def test_only_a_host_that_reaches_the_filter_makes_it_raise():
    raises = Raises("ValueError", "ssd", ">= many", origin_of(ODD))
    assert judged(ODD, SPECS).failure([A]) == FilterFailure(SPECS, A, raises)
    assert judged(ODD, SPECS).failure([A, B, C]).name == SPECS
    assert judged(ODD, SPECS).failure([C]) is None
    assert judged(ODD, SPECS).failure([]) is None


def origin_of(body):
    spec = question(body, SPECS).request_spec()
    return spec.server.flavor.origin("aggregate_instance_extra_specs:ssd")


@pytest.mark.parametrize(
    ("filters", "fails"), [((COMPUTE, SPECS), False), ((SPECS, COMPUTE), True)]
)
def test_a_filter_before_it_may_leave_no_host_that_makes_one_raise(filters, fails):
    found = judged(ODD, *filters, a=DOWN, b=DOWN)
    assert bool(found.failure([A, B, C])) is fails


def test_behind_a_filter_that_may_keep_the_host_out_an_exception_is_not_sure():
    """Nova runs a filter on the hosts that all before it have passed."""
    found = judged(ODD, OWN, SPECS)
    raises = Raises("ValueError", "ssd", ">= many", origin_of(ODD))
    assert found.failure([A, B]) is None
    assert found.refusal([A, B]) is None
    assert list(found.failures([A, B])) == [
        FilterFailure(SPECS, uuid, raises, (OWN,)) for uuid in sorted([A, B])
    ]
    assert list(found.failures([C])) == []
    first = judged(ODD, SPECS, OWN)
    assert [each.behind for each in first.failures([A, B])] == [()]


def test_what_one_sure_exception_ends_no_further_one_can_end():
    found = judged(ODD, "IoOpsFilter", SPECS, a=busy(0), b=busy(9))
    failures = list(found.failures([A, B]))
    assert [each.uuid for each in failures if each.is_sure] == [A]
    assert failures[-1].is_sure


def busy(tasks):
    report = dataclasses.replace(REPORT, current_workload=tasks, running_vms=tasks)
    return {"report": report}


def test_a_filter_of_which_nothing_is_visible_may_raise_too():
    body = {**CLOUD, "flavor": {"capabilities:failed_builds": ">= many"}}
    found = judged(body, "ComputeCapabilitiesFilter", a=busy(0))
    (failure,) = found.failures([A])
    assert not failure.is_sure
    assert failure.answer.missing == "failed_builds"


def test_every_candidate_is_uncertain_where_another_host_may_end_the_request():
    body = {
        **CLOUD,
        "flavor": {"aggregate_instance_extra_specs:n": ">= 6"},
        "aggregates": {
            "odd": {"hosts": ["a"], "metadata": {"n": "many"}},
            "eight": {"hosts": ["b"], "metadata": {"n": "8"}},
        },
    }
    found = explained(body, "abc", "IoOpsFilter", SPECS, a=busy(9), b=busy(0))
    assert [each.uuid for each in found.candidates.may_fail] == [A]
    assert found.candidates.failure is None
    assert [each.uuid for each in found.candidates] == [B]
    assert found.filtering.unknown(B) == ()
    assert found.candidates.is_uncertain
    assert [*reasons.uncertain(found)] == [
        f"{SPECS} may end the whole request on a: ValueError, n=>= 6, unless "
        "IoOpsFilter keeps it out first."
    ]


def test_the_exception_of_a_filter_is_novas_refusal():
    found = judged(ODD, SPECS).refusal([A])
    assert (found.exception, found.stage) == ("ValueError", "scheduler")
    assert found.keys == (SPECS, "ssd", ">= many")


@pytest.mark.parametrize("release", [20, 33])
def test_that_a_disabled_host_is_out_is_said_once_where_placement_says_it_too(release):
    body = {"cloud": {"a": {"traits": ["COMPUTE_STATUS_DISABLED"]}, "b": {}}}
    found = explained(body, [], COMPUTE, release=release, a=DISABLED, b=DISABLED)
    assert found.filtering.kept_out == {COMPUTE: {B}}
    assert list(found.filtering.answers(A)) == []
    assert [name for name, _ in found.filtering.answers(B)] == [COMPUTE]


def test_of_a_host_that_is_named_with_the_zone_no_filter_runs():
    nodes = tuple(computes(CLOUD).values())
    asked = question(CLOUD, OWN, SPECS, zone="nova:b", computes=nodes)
    assert filtering(asked, nodes).judgment.names == ()


def in_group(policy, *filters, **asked):
    return question(CLOUD, *filters, group=ServerGroup("g", policy), **asked)


@pytest.mark.parametrize(
    ("policy", "needed"),
    [
        ("affinity", "ServerGroupAffinityFilter"),
        ("anti-affinity", "ServerGroupAntiAffinityFilter"),
    ],
)
def test_a_group_whose_policy_nothing_keeps_is_refused(policy, needed):
    with pytest.raises(Refusal) as refused:
        filtering(in_group(policy, COMPUTE), ())
    assert refused.value.exception == "UnsupportedPolicyException"
    assert refused.value.keys == (policy, needed)
    filtering(in_group(policy, needed), ())


def test_a_named_host_does_not_help_where_the_scheduler_refuses_or_does_not_start():
    nodes = tuple(computes(CLOUD).values())
    forced = {"zone": "nova:b", "computes": nodes}
    with pytest.raises(Refusal, match="UnsupportedPolicy"):
        filtering(in_group("affinity", COMPUTE, **forced), nodes)
    with pytest.raises(Refusal, match="does not start with RetryFilter"):
        filtering(question(CLOUD, "RetryFilter", **forced), nodes)


@pytest.mark.parametrize(
    ("policy", "name", "other"),
    [
        ("affinity", "ServerGroupAffinityFilter", "a"),
        ("anti-affinity", "ServerGroupAntiAffinityFilter", "b"),
    ],
)
def test_nova_compute_checks_the_group_on_a_host_named_with_the_zone(
    policy, name, other
):
    """nova/compute/manager.py, _validate_instance_group_policy"""
    nodes = tuple(computes(CLOUD).values())
    group = ServerGroup("g", policy, members=frozenset("x"), hosts={other})
    forced = {"zone": "nova:b", "computes": nodes}
    asked = question(CLOUD, COMPUTE, name, group=group, **forced)
    asked = dataclasses.replace(asked, servers={"x": (other, other)})
    found = filtering(asked, nodes)
    assert found.judgment.names == (name,)
    assert found.kept_out == {name: {B}}
    settings = asked.assumptions.changed(options.NO_GROUP_CHECK, True)
    asked = dataclasses.replace(asked, assumptions=settings)
    assert not filtering(asked, nodes).kept_out


def assumed(asked, *filters):
    """The question, if nobody says which filters are enabled."""
    setting = {options.ENABLED_FILTERS: Setting(filters, "the default")}
    settings = dataclasses.replace(asked.assumptions, settings=setting)
    return dataclasses.replace(asked, assumptions=settings)


@pytest.mark.parametrize(
    ("name", "body", "doubtful"),
    [
        (SPECS, DISKS, {B, C}),
        (
            "AggregateTypeAffinityFilter",
            of_aggregate(instance_type="huge, larger"),
            {A},
        ),
        (
            "AggregateImagePropertiesIsolation",
            {**of_aggregate(os_type="windows"), "image": {"os_type": "linux"}},
            {A},
        ),
        ("AggregateNumInstancesFilter", of_aggregate(max_instances_per_host="0"), {A}),
        ("AggregateIoOpsFilter", of_aggregate(max_io_ops_per_host="0"), {A}),
        ("SameHostFilter", {**CLOUD, "hints": {"same_host": (A,)}}, {A, B, C}),
    ],
)
def test_a_filter_that_may_be_on_makes_the_hosts_doubtful_that_it_would_reject(
    name, body, doubtful
):
    asked = question(body, COMPUTE, servers={}, hints=body.get("hints", {}))
    nodes = computes(body, c=DOWN).values()
    assert filtering(asked, nodes).unsettled == ()
    found = filtering(assumed(asked, COMPUTE), nodes)
    assert found.unsettled == (name,)
    assert found.unknown_hosts[name] == doubtful
    assert not found.all_kept_out & doubtful - {C}
    assert {u for u in (A, B) if found.doubts(u)} == doubtful - {C}
    assert name not in found.filters


def test_an_ordinary_request_has_no_doubts_though_the_filters_are_only_assumed():
    busy = dataclasses.replace(REPORT, running_vms=60, current_workload=9)
    asked = assumed(question(of_aggregate(color="red"), COMPUTE), COMPUTE)
    found = filtering(asked, computes(CLOUD, a={"report": busy}).values())
    assert found.unsettled == ()


@pytest.mark.parametrize(
    ("specs", "image", "key"),
    [
        ({"hw:cpu_policy": "dedicated"}, {}, "hw:cpu_policy"),
        ({"hw:numa_nodes": "1"}, {}, "hw:numa_nodes"),
        ({"hw:mem_page_size": "large"}, {}, "hw:mem_page_size"),
        ({}, {"hw_numa_nodes": 1}, "hw_numa_nodes"),
        ({}, {"hw_cpu_policy": "dedicated"}, "hw_cpu_policy"),
        ({"resources:PCPU": "1"}, {}, "resources:PCPU"),
    ],
)
@pytest.mark.parametrize("hypervisor", ["QEMU", "fake"])
def test_nova_compute_claims_numa_nodes_whatever_the_filters_are(
    specs, image, key, hypervisor
):
    body = {**CLOUD, "flavor": specs, "image": image}
    asked = question(body, COMPUTE)
    report = dataclasses.replace(REPORT, hypervisor_type=hypervisor)
    nodes = computes(body, **{n: {"report": report} for n in "abc"}).values()
    found = filtering(asked, nodes)
    # A driver without NUMA nodes has none to claim.
    assert found.unsettled == ((NUMA,) if hypervisor == "QEMU" else ())
    if found.unsettled:
        answer = Unknown("numa_topology", key, "cores: 4")
        assert found.answer(NUMA, A) == answer
        (line,) = reasons.unsettled(asked, found, {A: "a"})
        start = f"{NUMA} is off: nova-compute checks {key} itself"
        assert line.startswith(start)
        assert not list(reasons.unsettled(asked, found, {}))
    maybe = filtering(assumed(asked, COMPUTE), nodes)
    assert all(map(maybe.doubts, (A, B, C)))
    assert filtering(question(body, NUMA), nodes).unsettled == ()


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize(
    ("specs", "image"), [({"hw:numa_nodes": "4"}, {}), ({}, {"hw_numa_nodes": 4})]
)
def test_nova_compute_rejects_too_few_numa_nodes_whatever_the_filters_are(
    specs, image, is_known
):
    body = {**CLOUD, "flavor": specs, "image": image}
    states = {
        name: {"report": dataclasses.replace(REPORT, cpu_info={"topology": topology})}
        for name, topology in (("a", {"cells": 2}), ("b", {"cells": 4}), ("c", {}))
    }
    asked = question(body, COMPUTE)
    asked = dataclasses.replace(asked, flavor={**asked.flavor, "vcpus": 4})
    if not is_known:
        asked = assumed(asked, COMPUTE)
    found = filtering(asked, computes(body, **states).values())
    assert found.unsettled == (NUMA,)
    assert found.all_kept_out == {A}
    assert found.unknown_hosts[NUMA] == {B, C}
    (condition,) = found.conditions
    said = reasons.answer(found.answer(NUMA, A), condition.name)
    assert said.startswith("has only 2 NUMA nodes (hw")
    assert list(found.filters) == [COMPUTE]


def test_what_a_filter_says_of_a_host_that_it_was_not_asked_about_is_nothing():
    found = judged(DISKS, SPECS)
    assert found.answer(SPECS, identity("z")) is None
    assert found.answer(OWN, A) is None
    assert not found.doubts(identity("z"))


def test_a_host_that_only_a_filter_keeps_out_of_the_second_query_is_out_for_that():
    inventories = {"MEMORY_MB": 4096, "DISK_GB": 9}
    body = {
        **DISKS,
        "cloud": {
            "a": {"inventories": {**inventories, "PCPU": 8}},
            "b": {"inventories": {**inventories, "VCPU": 8}},
        },
        "flavor": {**SSD, "hw:cpu_policy": "dedicated"},
    }
    found = judgement_of(question(body, SPECS), body, ["a", "b"])
    assert [host.name for host in found.candidates] == ["a"]
    (clause,) = found.rejections[B].failing
    assert clause.name == SPECS
    assert found.agrees


def test_hints_and_groups_take_novas_limit_of_candidates_away():
    assert question(CLOUD).request().limit == 1000
    for asked in ({"hints": {"same_host": (A,)}}, {"group": ServerGroup("g", "x")}):
        assert question(CLOUD, **asked).request().limit is None
    assert question(CLOUD, hints={"query": ("[]",)}).request().limit == 1000


def test_a_pinned_server_has_no_limit_in_either_query():
    body = {**CLOUD, "flavor": {"hw:cpu_policy": "dedicated"}}
    asked = question(body).with_spec(hints={"different_host": (A,)})
    assert asked.request().limit is None
    assert asked.request().fallback.limit is None


def test_all_nodes_of_a_host_have_its_servers():
    """nova-scheduler keeps them by the host."""
    nodes = [Compute(A, "a1", "cell"), Compute(B, "a2", "cell"), Compute(C, "c", "c")]
    states = host_states(nodes, (), {"s1": ("cell", "a2"), "s2": ("c", "c")})
    assert [each.instances for each in states] == [{"s1"}, {"s1"}, {"s2"}]


def test_a_server_that_is_named_and_not_by_its_uuid_is_refused_at_once():
    asked = question(CLOUD, hints={"different_host": ("db1",)})
    with pytest.raises(Refusal) as refused:
        asked.request()
    assert (refused.value.stage, refused.value.http) == ("api", 400)
    assert refused.value.keys == ("different_host",)


def test_a_policy_that_a_weigher_keeps_is_refused_where_that_is_off():
    asked = in_group("soft-affinity", COMPUTE)
    off = {options.WEIGHT_CLASSES: Setting((), "a test", given=True)}
    settings = {**asked.assumptions.settings, **off}
    assumptions = dataclasses.replace(asked.assumptions, settings=settings)
    filtering(asked, ())
    with pytest.raises(Refusal) as refused:
        filtering(dataclasses.replace(asked, assumptions=assumptions), ())
    assert refused.value.keys == ("soft-affinity", "ServerGroupSoftAffinityWeigher")
    assert "weigher" in str(refused.value)


def test_an_extra_spec_without_a_scope_counts_as_well():
    asked = assumed(question(CLOUD, COMPUTE), COMPUTE).with_flavor({"ssd": "false"})
    asked = dataclasses.replace(asked, aggregates=question(DISKS).aggregates)
    found = filtering(asked, computes(CLOUD).values())
    assert found.unknown_hosts[SPECS] == {A, C}


@pytest.mark.parametrize(
    ("key", "value", "settings", "is_doubtful"),
    [
        ("filter_tenant_id", "other", {TENANT: True}, True),
        ("filter_tenant_id_2", "mine", {TENANT: True}, False),
        ("filter_tenant_id", "other", {}, False),
        ("filter_tenant_id", "other", {TENANT: True, TENANT_REQUIRED: False}, False),
    ],
)
def test_a_project_without_an_aggregate_may_be_rejected_if_others_have_some(
    key, value, settings, is_doubtful
):
    asked = question(of_aggregate(**{key: value}), COMPUTE, project="mine")
    found = {name: Setting(value, "a test", True) for name, value in settings.items()}
    settings = {**asked.assumptions.settings, **found}
    asked = dataclasses.replace(
        asked, assumptions=dataclasses.replace(asked.assumptions, settings=settings)
    )
    request = asked.request()
    assert asked.may_need_aggregate(request) is is_doubtful


PORT = Port("p", Network("n", "n"))
DEVICE = dataclasses.replace(PORT, vnic_type="direct")
LIVE = Move(MoveKind.LIVE_MIGRATION, "s1", "x")
GROUP = ServerGroup("g", "anti-affinity")


@pytest.mark.parametrize(
    ("change", "is_shared"),
    [
        ({"move": dataclasses.replace(LIVE, server="s2")}, True),
        ({"move": dataclasses.replace(LIVE, host="y")}, False),
        ({"move": None}, False),
        ({"project": "other"}, True),
        ({"parts": Parts(ports=(PORT,))}, True),
        (
            {"parts": Parts(ports=(DEVICE,))},
            False,
        ),
        ({"group": GROUP}, False),
        ({"spec": ServerSpec(zone="z")}, False),
        ({"spec": ServerSpec(count=2)}, False),
        ({"flavor": {"name": "other", "ram": 1}}, True),
        ({"flavor": {"name": "f", "extra_specs": {"trait:A": "required"}}}, True),
        ({"flavor": {"name": "f", "extra_specs": {"ssd": "true"}}}, False),
    ],
)
def test_answers_are_shared_by_requests_that_filters_do_not_tell_apart(
    change, is_shared
):
    plain = question(CLOUD, COMPUTE, "ServerGroupAntiAffinityFilter")
    asked = dataclasses.replace(plain, move=LIVE)
    answers = KnownAnswers(computes(CLOUD).values(), {})
    other = dataclasses.replace(asked, **change)
    first, second = (answers.of(q, q.request()) for q in (asked, other))
    assert (first is second) is is_shared


def test_a_project_and_a_flavor_s_name_count_if_aggregates_name_them():
    for metadata, change in (
        ({"filter_tenant_id": "p"}, {"project": "other"}),
        ({"instance_type": "f"}, {"flavor": {"name": "other"}}),
    ):
        asked = question(of_aggregate(**metadata), COMPUTE)
        other = dataclasses.replace(asked, **change)
        assert read_of(asked.request_spec()) != read_of(other.request_spec())


@pytest.mark.parametrize(
    ("specs", "is_shared"),
    [
        ({"trait:CUSTOM_GOLD": "required"}, True),
        ({"trait1:CUSTOM_GOLD": "forbidden"}, True),
        ({"traitor": "true"}, False),
        ({"resources:PCPU": "1"}, False),
        ({"aggregate_instance_extra_specs:trait": "true"}, False),
    ],
)
def test_flavors_share_answers_unless_filters_read_what_differs(specs, is_shared):
    plain = question(CLOUD, SPECS)
    other = dataclasses.replace(plain, flavor={**plain.flavor, "extra_specs": specs})
    answers, request = KnownAnswers(computes(CLOUD).values(), {}), plain.request()
    is_same = answers.of(plain, request) is answers.of(other, request)
    assert is_same is is_shared


def sized(specs, image, **sizes):
    body = {"name": "f", "vcpus": 2, "ram": 2048, "disk": 1, "extra_specs": specs}
    asked = question(CLOUD, NUMA)
    return dataclasses.replace(asked, flavor={**body, **sizes}, image=image)


@pytest.mark.parametrize(
    ("specs", "image", "is_shared"),
    [
        ({}, {}, True),
        ({"ssd": "true"}, {"hw_disk_bus": "virtio"}, True),
        ({"hw:numa_nodes": "2"}, {}, False),
        ({}, {"hw_numa_nodes": "2"}, False),
        ({}, {"hw_cpu_policy": "dedicated"}, False),
        ({"resources:VGPU": "1"}, {"hw_cpu_policy": "dedicated"}, False),
    ],
)
def test_flavors_of_other_sizes_share_answers_unless_servers_have_numa_nodes(
    specs, image, is_shared
):
    answers, request = KnownAnswers(computes(CLOUD).values(), {}), question(CLOUD)
    small, large = sized(specs, image), sized(specs, image, ram=4096)
    found = [answers.of(each, request.request()) for each in (small, large)]
    assert (found[0] is found[1]) is is_shared


def test_sizes_count_if_the_image_chooses_the_page_size():
    """A page of 1 GB divides 2048 MB, but not 1000 MB."""
    hosts = computes(CLOUD, a={"report": REPORT}).values()
    specs, image = {"hw:mem_page_size": "any"}, {"hw_mem_page_size": "1GB"}
    answers, request = KnownAnswers(hosts, {}), question(CLOUD).request()
    whole, split = (
        answers.of(sized(specs, image, ram=ram), request).answer(NUMA, A)
        for ram in (2048, 1000)
    )
    assert isinstance(whole, Unknown)
    assert split.reason == PAGES_DO_NOT_DIVIDE


# Hosts with dedicated CPUs that only Nova's fallback query returns.


_FREE = {"VCPU": 40, "MEMORY_MB": 9999, "DISK_GB": 99}


def _pinned(*filters, **states):
    """Return the judgement of a pinned server, for which every host has VCPU free."""
    full = {"total": 4, "used": 4}
    body = {
        "cloud": {
            "free": {"inventories": {**_FREE, "PCPU": 4}},
            "full": {"inventories": {**_FREE, "PCPU": full}},
            "small": {"inventories": {**_FREE, "PCPU": 1}},
            "old": {"inventories": _FREE},
        },
        "flavor": {"vcpus": 2, "ram": 512, "disk": 1, "hw:cpu_policy": "dedicated"},
    }
    states = {
        name: {"report": dataclasses.replace(REPORT, hypervisor_type=hypervisor)}
        for name, hypervisor in states.items()
    }
    return explained(body, ["free", "full", "small", "old"], *filters, **states)


_OF_FAKE = dict.fromkeys(("free", "full", "small", "old"), "fake")


def test_a_host_short_of_dedicated_cpus_is_uncertain_if_vcpu_are_free():
    """A driver without NUMA nodes has none to claim, so the others are sure."""
    found = _pinned(**_OF_FAKE)
    names = [each.name for each in found.candidates.uncertain]
    assert names == ["full"]
    assert found.answer_of(identity("full")) is Answer.UNKNOWN
    assert found.answer_of(identity("free")) is Answer.YES
    assert found.answer_of(identity("old")) is Answer.YES


@pytest.mark.parametrize("filters", [(), (NUMA,)])
@pytest.mark.parametrize("hypervisor", ["QEMU", "fake"])
def test_a_host_with_too_few_dedicated_cpus_is_out(filters, hypervisor):
    found = _pinned(*filters, **dict.fromkeys(_OF_FAKE, hypervisor))
    assert identity("small") not in found.candidates.uuids
    answer = found.filtering.answer(NUMA, identity("small"))
    is_without_nodes = filters and hypervisor == "fake"
    assert answer.reason == (
        state.NO_NUMA_TOPOLOGY if is_without_nodes else state.TOO_FEW_DEDICATED_CPUS
    )


def test_whoever_matches_many_hosts_leaves_out_those_with_too_few_dedicated_cpus():
    found = _pinned()
    expected = {identity(name) for name in ("free", "full", "old")}
    assert matching_hosts(found.request, found.facts) == expected
    # The hosts full and small offer the same amounts.
    both = {"now": found.request, "then": found.request}
    many = matching_all(both, found.facts, found.hosts)
    assert many == dict.fromkeys(both, expected)


def test_a_host_with_too_few_dedicated_cpus_is_not_to_be_enabled():
    off = {"traits": ["COMPUTE_STATUS_DISABLED"]}
    body = {
        "cloud": {
            "small": {"inventories": {**_FREE, "PCPU": 1}, **off},
            "old": {"inventories": _FREE, **off},
        },
        "flavor": {"vcpus": 2, "ram": 512, "disk": 1, "hw:cpu_policy": "dedicated"},
    }
    found = explained(body, [], small=DISABLED, old=DISABLED)
    fixes = fix.on_hosts(
        found.verdict.matcher, found.verdict, found.question, found.computes
    )
    assert [each.hosts for each in fixes] == [(identity("old"),)]


@pytest.mark.parametrize("has_answered", [True, False])
def test_only_if_nova_answers_a_host_short_of_dedicated_cpus_is_sure(has_answered):
    found = _pinned(**_OF_FAKE)
    counts = dict.fromkeys(map(identity, _OF_FAKE)) if has_answered else {}
    claims = types.SimpleNamespace(counts=counts)
    settings = dataclasses.replace(found.question.assumptions, claims=claims)
    asked = dataclasses.replace(found.question, assumptions=settings)
    said = Filtering().with_dedicated(asked, found.request, found.facts)
    doubtful = {identity("full"), identity("small")} & said.all_unknown
    assert bool(doubtful) is not has_answered


def test_a_server_that_is_not_pinned_needs_no_dedicated_cpus():
    body = {"cloud": {"small": {"inventories": {**_FREE, "PCPU": 1}}}}
    found = explained(body, ["small"])
    assert found.answer_of(identity("small")) is Answer.YES
