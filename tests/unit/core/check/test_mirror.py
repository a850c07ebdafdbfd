"""Nova's hosts and aggregates that Placement has otherwise."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.change import traits as mirror
from osc_traitsched.core.check.finding import Severity, SubjectKind
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    flavor,
    host,
    identity,
    ids,
    survey,
)
from tests.unit.core.check.test_filters import with_computes

HOSTS = [host("a"), host("b"), host("c")]
PLAIN = aggregate("plain", "a", "b")
GOLD = "CUSTOM_GOLD"
ISOLATED = aggregate("isolated", "a", "b", trait__CUSTOM_GOLD="required")
ISOLATION = assumed(enable_isolated_aggregate_filtering=True)


def inside(found, *hosts):
    """Return the members of one aggregate."""
    return {found.uuid: frozenset(identity(name) for name in hosts)}


def of(*hosts, **more):
    """Return a survey in which Placement has these hosts in the plain aggregate."""
    return survey(HOSTS, aggregates=[PLAIN], members=inside(PLAIN, *hosts), **more)


def isolated(*hosts, having="ab", assumptions=ISOLATION):
    """Return the same of an aggregate that is isolated."""
    return survey(
        [host(name, *([GOLD] if name in having else [])) for name in "abc"],
        [flavor("gold", trait__CUSTOM_GOLD="required")],
        aggregates=[ISOLATED],
        members=inside(ISOLATED, *hosts),
        assumptions=assumptions,
    )


def with_nova(found, computes=(), providers=None):
    """Return a survey with more compute nodes, and with other providers."""
    nova = dataclasses.replace(found.nova, computes=(*found.nova.computes, *computes))
    snapshot = found.snapshot
    if providers is not None:
        snapshot = dataclasses.replace(snapshot, providers=tuple(providers))
    return dataclasses.replace(found, snapshot=snapshot.with_nova(nova))


def test_a_mirror_in_step_is_no_finding():
    assert findings(of("a", "b")) == []
    assert findings(isolated("a", "b")) == []


def test_what_is_no_compute_node_may_be_in_an_aggregate():
    pool = Provider(identity("pool"), "pool", 1, identity("pool"))
    found = with_nova(of("a", "b"), providers=[*of().snapshot.providers, pool])
    snapshot = dataclasses.replace(found.snapshot, sharing=frozenset([pool.uuid]))
    found = dataclasses.replace(
        found,
        snapshot=snapshot.with_nova(found.nova),
        members=inside(PLAIN, "a", "b", "pool"),
    )
    assert findings(found) == []


def test_a_member_that_placement_lacks():
    (found,) = findings(of("a"))
    assert (found.rule, found.severity) == ("mirror-missing", Severity.WARNING)
    assert (found.name, found.hosts) == ("plain", ("b",))


def test_a_member_that_only_placement_has():
    (found,) = findings(of("a", "b", "c"))
    assert (found.rule, found.severity) == ("mirror-extra", Severity.WARNING)
    assert (found.name, found.hosts) == ("plain", ("c",))


def test_a_provider_that_was_made_again_lacks_the_aggregate_and_its_trait():
    (found,) = findings(isolated("a", having="a"))
    assert (found.rule, found.hosts) == ("mirror-missing", ("b",))
    assert "; the host b also lacks CUSTOM_GOLD, so that " in found.problem
    # Back in the aggregate it is isolation's matter.
    (found,) = findings(isolated("a", "b", having="a"))
    assert (found.rule, found.hosts) == ("isolation-member-lacks-trait", ("b",))
    off = assumed(enable_isolated_aggregate_filtering=False)
    for each in (isolated("a"), isolated("a", having="a", assumptions=off)):
        found = findings(each, "mirror")
        assert [f.rule for f in found] == ["mirror-missing"]
        assert "lacks CUSTOM_GOLD" not in found[0].problem


@pytest.mark.parametrize(
    ("members", "rule", "then"),
    [
        ("a", "mirror-missing", ": not isolated by it"),
        ("abc", "mirror-extra", ": closed to servers that do not require its traits"),
    ],
)
def test_where_isolation_rests_on_it_it_is_an_error(members, rule, then):
    (found,) = (f for f in findings(isolated(*members)) if f.rule.startswith("mirror"))
    assert (found.rule, found.severity) == (rule, Severity.ERROR)
    assert found.problem.endswith(then)


def several_nodes(*members):
    """Return a survey of a host d, in the aggregate with a, that has two nodes."""
    both = aggregate("both", "a", "d")
    nodes = [Compute(identity(name), name, "d") for name in ("d1", "d2")]
    providers = [Provider(n.uuid, n.node, 1, n.uuid) for n in nodes]
    found = survey(HOSTS, aggregates=[both], members=inside(both, *members))
    found = with_nova(found, nodes, [*found.snapshot.providers, *providers])
    own = {node.uuid: frozenset({"COMPUTE_IMAGE_TYPE_RAW"}) for node in nodes}
    return dataclasses.replace(found, traits={**found.traits, **own})


def test_all_nodes_of_a_host_are_in_its_aggregate():
    assert findings(several_nodes("a", "d1", "d2")) == []


def test_nova_mirrors_one_node_of_a_host_with_several():
    (found,) = findings(several_nodes("a", "d1"))
    assert (found.rule, found.severity) == ("mirror-node-missing", Severity.WARNING)
    assert (found.kind, found.name) == (SubjectKind.HOST, "d")
    assert found.nodes == ("d2",)
    assert found.aggregates == ("both",)


def without(name):
    """Return the providers of all hosts but one."""
    return [p for p in of().snapshot.providers if p.name != name]


def test_a_hypervisor_without_a_provider():
    (found,) = findings(with_nova(of("a", "b"), providers=without("c")))
    assert (found.rule, found.severity) == ("mirror-no-provider", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.HOST, "c")
    assert f"no provider {identity('c')} for this hypervisor" in found.problem
    assert found.fix.startswith("nova-compute on c makes it by itself")


def test_its_aggregates_are_not_the_mirrors_fault_then():
    assert ids(with_nova(of("a"), providers=without("b"))) == ["mirror-no-provider"]


def with_other_uuid(*traits):
    """Return a survey whose provider c, with these traits, is not the host's own."""
    other = Provider(identity("old c"), "c", 1, identity("old c"))
    found = with_nova(of("a", "b"), providers=[*without("c"), other])
    snapshot = found.snapshot.with_compute_nodes([other.uuid])
    traits = {**found.traits, other.uuid: frozenset(traits)}
    return dataclasses.replace(found, snapshot=snapshot, traits=traits)


def with_orphan(*traits):
    """Return a survey with a provider d that has these traits and no compute node."""
    orphan = Provider(identity("d"), "d", 1, identity("d"))
    found = with_nova(of("a", "b", "d"), providers=[*of().snapshot.providers, orphan])
    traits = {**found.traits, orphan.uuid: frozenset(traits)}
    nodes = [uuid for uuid, names in traits.items() if "COMPUTE_NODE" in names]
    snapshot = found.snapshot.with_compute_nodes(nodes)
    return dataclasses.replace(found, snapshot=snapshot, traits=traits)


def test_a_hypervisor_whose_name_another_provider_has():
    (found,) = findings(with_other_uuid())
    assert (found.rule, found.severity) == ("mirror-other-uuid", Severity.ERROR)
    assert f"with the UUID {identity('old c')}" in found.problem
    assert f"the hypervisor's is {identity('c')}" in found.problem


def test_a_hypervisor_whose_provider_has_another_name():
    renamed = Provider(identity("c"), "c.old", 1, identity("c"))
    found = with_nova(of("a", "b"), providers=[*without("c"), renamed])
    (found,) = findings(found)
    assert (found.rule, found.severity) == ("mirror-other-name", Severity.WARNING)
    assert found.name == "c"
    assert f"its provider {identity('c')} is named 'c.old': " in found.problem


ORPHANED = f"Nova has no hypervisor for the provider {identity('d')}: "


@pytest.mark.parametrize(
    ("traits", "severity", "problem", "when"),
    [
        ((), Severity.NOTE, ORPHANED, "note the aggregate plain, and delete it if "),
        (
            ("CUSTOM_OWN",),
            Severity.NOTE,
            ORPHANED,
            "note the trait CUSTOM_OWN and the aggregate plain, and delete it if ",
        ),
        (
            ("COMPUTE_STATUS_DISABLED",),
            Severity.WARNING,
            ORPHANED,
            "note the aggregate plain, and delete it if ",
        ),
        (
            ("COMPUTE_NODE",),
            Severity.WARNING,
            "Nova lists 3 of the 4 compute nodes that Placement has",
            "see whether its host has a mapping ",
        ),
    ],
)
def test_a_provider_that_looks_like_a_host_and_is_none(traits, severity, problem, when):
    (found,) = findings(with_orphan(*traits), "mirror")
    assert (found.rule, found.severity) == ("mirror-no-hypervisor", severity)
    assert (found.kind, found.name) == (SubjectKind.PROVIDER, "d")
    assert found.problem.startswith(problem)
    assert found.when.startswith(when)


def test_nested_providers_have_no_hypervisor_of_their_own():
    nested = {"a_numa0": (frozenset[str](), {"VCPU": 8})}
    hosts = [host("a", children=nested), host("b")]
    assert findings(survey(hosts, aggregates=[PLAIN])) == []


def test_a_host_of_an_aggregate_that_has_no_hypervisor():
    gone = aggregate("gone", "a", "z")
    (found,) = findings(survey(HOSTS, aggregates=[gone], members=inside(gone, "a")))
    assert (found.rule, found.severity) == (
        "mirror-host-no-hypervisor",
        Severity.WARNING,
    )
    assert (found.name, found.aggregates) == ("z", ("gone",))


MARK = "COMPUTE_STATUS_DISABLED"


@pytest.mark.parametrize(
    ("traits", "state", "severity"),
    [
        ([MARK], {}, Severity.ERROR),
        ([], {"is_enabled": False}, Severity.WARNING),
        ([MARK], {"is_enabled": False}, None),
        ([], {}, None),
        # A nova-compute that is down can't change its provider.
        ([MARK], {"is_up": False}, None),
        ([], {"is_up": False, "is_enabled": False}, None),
    ],
)
def test_placement_marks_the_hosts_that_are_disabled_and_no_others(
    traits, state, severity
):
    of = survey([host("a", *traits), host("b")], known=[MARK])
    of = with_computes(of, lambda node: state if node.node == "a" else {})
    found = findings(of, "mirror")
    expected = [("mirror-status", "a", severity)] if severity else []
    assert [(f.rule, f.name, f.severity) for f in found] == expected


def test_a_placement_that_does_not_know_the_mark_can_not_have_it_wrong():
    of = with_computes(survey([host("a")]), lambda node: {"is_enabled": False})
    assert findings(of, "mirror") == []


def planned(found):
    """Return what a repair would do, by the providers' names, and what it can't do."""
    changes = mirror.repair_plan(found.snapshot, found.members).changes
    possible = [each for each in changes if each.problem is None]
    others = [each.object.host for each in changes if each.problem is not None]
    return {c.object.name: (c.added, c.removed) for c in possible}, tuple(others)


def test_a_repair_adds_what_is_missing_and_removes_what_is_not_novas():
    uuids = frozenset({PLAIN.uuid})
    steps, without_provider = planned(of("a", "c"))
    assert steps == {"b": (uuids, frozenset()), "c": (frozenset(), uuids)}
    assert without_provider == ()


def test_a_repair_knows_all_nodes_of_a_host():
    (uuid,) = several_nodes().members
    assert planned(several_nodes("a", "d1"))[0] == {
        "d2": (frozenset({uuid}), frozenset())
    }


def test_a_repair_leaves_what_is_no_compute_node_and_what_is_no_aggregate_of_novas():
    orphan = Provider(identity("d"), "d", 1, identity("d"))
    found = with_nova(of(), providers=[*of().snapshot.providers, orphan])
    members = {**inside(PLAIN, "a", "b", "d"), identity("other"): frozenset("c")}
    assert planned(dataclasses.replace(found, members=members)) == ({}, ())


def test_a_repair_names_the_hosts_that_have_no_provider():
    steps, without_provider = planned(with_nova(of("a"), providers=without("b")))
    assert (steps, without_provider) == ({}, ("b",))
