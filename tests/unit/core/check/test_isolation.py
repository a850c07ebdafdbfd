"""Aggregates that are isolated by traits, and Placement's mirror of them."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.change import traits as mirror
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.nova import options
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    assumed,
    flavor,
    host,
    identity,
    survey,
)
from tests.unit.core.check.test_filters import with_computes

# What is wrong with aggregates that are isolated by traits.


GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
ON = assumed(enable_isolated_aggregate_filtering=True)
OFF = assumed(enable_isolated_aggregate_filtering=False)
ASSUMED = assumed(given=False, enable_isolated_aggregate_filtering=False)
NEEDS_GOLD = flavor("gold", trait__CUSTOM_GOLD="required")
NEEDS_SILVER = flavor("silver", trait__CUSTOM_SILVER="required")
OF_GOLD = aggregate("of-gold", "a", trait__CUSTOM_GOLD="required")
OF_SILVER = aggregate("of-silver", "b", trait__CUSTOM_SILVER="required")


def of(hosts, aggregates, flavors=(NEEDS_GOLD,), assumptions=ON, **more):
    """Return a survey with a flavor that gets into the gold aggregate."""
    return survey(
        hosts, flavors, aggregates=aggregates, assumptions=assumptions, **more
    )


def collated(collation, key, flavors):
    """An aggregate whose key is that of a trait in some databases only."""
    assumptions = ON.changed(options.COLLATION, collation)
    return of(A_HAS, f"g a {key}=required", flavors, assumptions)


def off(assumptions):
    aggregates = [OF_GOLD, OF_SILVER]
    flavors = [NEEDS_GOLD, NEEDS_SILVER]
    return of(f"a {GOLD}; b {SILVER}", aggregates, flavors, assumptions)


def by_two_traits(**more):
    two = f"two a trait:{GOLD}=required trait:{SILVER}=required"
    flavors = [NEEDS_GOLD, NEEDS_SILVER]
    return of(f"a {GOLD} {SILVER}; b", two, flavors, **more), "isolation-not-required"


def overlapping(flavors):
    hosts = f"a {GOLD} {SILVER}; b {SILVER}; c {GOLD}; d"
    pair = f"gold a c trait:{GOLD}=required; silver a b trait:{SILVER}=required"
    return of(hosts, pair, flavors)


A_HAS, A_ALONE, AB_HAVE = f"a {GOLD}; b", f"a {GOLD}", f"a {GOLD}; b {GOLD}"
BOTH = f"both a b trait:{GOLD}=required"
NEEDS_BOTH = f"f trait:{GOLD}=required trait:{SILVER}=required"
REFUSED = f"f trait:{GOLD}=required hw:cpu_policy=often"
GOLDEN = {"images": f"i trait:{GOLD}=required"}
SILVERY = {"images": f"i trait:{SILVER}=required"}
PINNING = "p PCPU=8 MEMORY_MB=8192 DISK_GB=10"
ZONE = "zone a availability_zone=east"
WITHOUT_B = {"members": {identity("both"): frozenset({identity("a")})}}
IN_PLACEMENT = {"members": {identity("of-gold"): frozenset(map(identity, "ab"))}}
IN_CAPITALS = "TRAIT:CUSTOM_GOLD"
RULE = "isolation-not-required"
FAULTS = {
    "error isolation-member-lacks-trait aggregate both (host b): b lacks CUSTOM_GOLD, "
    "so no server can be scheduled on it (1 of 2 members) -> openstack trait-sched add "
    "CUSTOM_GOLD --aggregate both": of(A_HAS, BOTH),
    "~warning isolation-member-lacks-trait aggregate both (host b)...": of(
        A_HAS, BOTH, assumptions=OFF
    ),
    "error traits-no-host trait CUSTOM_GOLD (flavor gold, aggregate of-gold)...": of(
        "a; b", [OF_GOLD], known=[GOLD]
    ),
    "error isolation-off option [scheduler]enable_isolated_aggregate_filtering "
    "(aggregate of-gold, aggregate of-silver)...": off(OFF),
    "warning isolation-off option [scheduler]enable_isolated_aggregate_filtering "
    "(aggregate of-gold, aggregate of-silver)...": off(ASSUMED),
    "warning isolation-not-required aggregate of-gold (host a): "
    "trait:CUSTOM_GOLD=required, and no flavor or image requires CUSTOM_GOLD: nobody "
    "gets in -> openstack trait-sched isolate of-gold CUSTOM_GOLD --flavor "
    "<FLAVOR>": of(A_HAS, [OF_GOLD], "f"),
    "warning isolation-not-required aggregate of-gold (host a): "
    "trait:CUSTOM_GOLD=required, and no flavor or image requires CUSTOM_GOLD: nobody "
    "gets in; did you mean CUSTOM_GODL? -> then take trait:CUSTOM_GOLD off the "
    "aggregate: openstack aggregate set --property trait:CUSTOM_GODL=required "
    "of-gold": (
        of(f"{A_HAS} CUSTOM_GODL", [OF_GOLD], "f trait:CUSTOM_GODL=required"),
        RULE,
    ),
    "warning isolation-not-required aggregate two (host a): trait:CUSTOM_GOLD=required "
    "and trait:CUSTOM_SILVER=required, and no flavor and image...": by_two_traits(),
    "~warning isolation-not-required aggregate g (host a)...": collated(
        "case-sensitive", IN_CAPITALS, f"f trait:{GOLD}=required"
    ),
    "~warning isolation-not-required aggregate g (host a): Trait:custom_gold=required, "
    "and no flavor or image requires CUSTOM_GOLD: nobody gets in...": of(
        A_ALONE, "g a Trait:custom_gold=Required", "f"
    ),
    "warning isolation-trait-outside trait CUSTOM_GOLD (aggregate of-gold, host "
    "b)...": of(AB_HAVE, [OF_GOLD]),
    "~warning isolation-overlap aggregate gold (host a): host a is in the isolated "
    "aggregate silver, too: there a request needs CUSTOM_GOLD and CUSTOM_SILVER; no "
    "flavor and image require all of them, so that no server can be placed there -> "
    "openstack aggregate remove host gold <HOST>": overlapping(
        [NEEDS_GOLD, NEEDS_SILVER]
    ),
    # Nothing else is said of it.
    "note isolation-overlap aggregate gold (host a): host a is in the isolated "
    "aggregate silver, too: there a request needs CUSTOM_GOLD and CUSTOM_SILVER; some "
    "flavor and image require all of them -> openstack aggregate remove host gold "
    "<HOST>": overlapping(NEEDS_BOTH),
    "error isolation-shuts-out flavor f (aggregate of-gold, host a)...": of(
        A_ALONE, [OF_GOLD], [NEEDS_GOLD, flavor("f")]
    ),
    "error isolation-shuts-out flavor f (aggregate of-gold, host a, host b): each host "
    "that could take it is in the isolated aggregate of-gold, and with no image does "
    "it require the traits; only Placement has the host b in it -> openstack "
    "trait-sched mirror repair": (
        of(AB_HAVE, [OF_GOLD], [NEEDS_GOLD, flavor("f")], **IN_PLACEMENT),
        "isolation-shuts-out",
    ),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_told_once(text, surveys):
    assert_told(text, surveys)


HEALTHY = [
    of(A_HAS, [OF_GOLD]),
    # What Placement does not have is the mirror's matter.
    (of(A_HAS, BOTH, **WITHOUT_B), "isolation"),
    (of("a", ZONE, (), OFF), "isolation", "config"),
    # An image gets in as a flavor does, or with one.
    of(A_HAS, [OF_GOLD], "f", **GOLDEN),
    by_two_traits(**SILVERY),
    (collated("case-insensitive", IN_CAPITALS, f"f trait:{GOLD}=required"), RULE),
    # A flavor that Nova rejects alone still requires its trait.
    (of(A_HAS, [OF_GOLD], REFUSED), "isolation"),
    # A host of another aggregate with the trait is not outside.
    of(AB_HAVE, [OF_GOLD, aggregate("more", "b", trait__CUSTOM_GOLD="required")]),
    # An image gets the flavor in, or lets it pin CPUs elsewhere: it is not shut out.
    of(A_ALONE, [OF_GOLD], "f", **GOLDEN),
    of(f"{A_ALONE}; {PINNING}", [OF_GOLD], [NEEDS_GOLD, flavor("f")]),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_what_is_as_it_should_be_is_no_finding(surveys):
    assert_told("", surveys)


# Nova's hosts and aggregates that Placement has otherwise.


HOSTS = [host("a"), host("b"), host("c")]
PLAIN = aggregate("plain", "a", "b")
MIRROR_GOLD = "CUSTOM_GOLD"
ISOLATED = aggregate("isolated", "a", "b", trait__CUSTOM_GOLD="required")
ISOLATION = assumed(enable_isolated_aggregate_filtering=True)


def inside(found, *hosts):
    """Return the members of one aggregate."""
    return {found.uuid: frozenset(identity(name) for name in hosts)}


def mirror_of(*hosts, **more):
    """Return a survey in which Placement has these hosts in the plain aggregate."""
    return survey(HOSTS, aggregates=[PLAIN], members=inside(PLAIN, *hosts), **more)


def isolated(*hosts, having="ab", assumptions=ISOLATION):
    """Return the same of an aggregate that is isolated."""
    return survey(
        [host(name, *([MIRROR_GOLD] if name in having else [])) for name in "abc"],
        "gold trait:CUSTOM_GOLD=required",
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


MARK = "COMPUTE_STATUS_DISABLED"


def several_nodes(*members):
    """Return a survey of a host d, in the aggregate with a, that has two nodes."""
    both = aggregate("both", "a", "d")
    nodes = [Compute(identity(name), name, "d") for name in ("d1", "d2")]
    providers = [Provider(n.uuid, n.node, 1, n.uuid) for n in nodes]
    found = survey(HOSTS, aggregates=[both], members=inside(both, *members))
    found = with_nova(found, nodes, [*found.snapshot.providers, *providers])
    own = {node.uuid: frozenset({"COMPUTE_IMAGE_TYPE_RAW"}) for node in nodes}
    return dataclasses.replace(found, traits={**found.traits, **own})


def without(name):
    """Return the providers of all hosts but one."""
    return [p for p in mirror_of().snapshot.providers if p.name != name]


def with_other_uuid(*traits):
    """Return a survey whose provider c, with these traits, is not the host's own."""
    other = Provider(identity("old c"), "c", 1, identity("old c"))
    found = with_nova(mirror_of("a", "b"), providers=[*without("c"), other])
    snapshot = found.snapshot.with_compute_nodes([other.uuid])
    traits = {**found.traits, other.uuid: frozenset(traits)}
    return dataclasses.replace(found, snapshot=snapshot, traits=traits)


def with_orphan(*traits):
    """Return a survey with a provider d that has these traits and no compute node."""
    orphan = Provider(identity("d"), "d", 1, identity("d"))
    found = with_nova(
        mirror_of("a", "b", "d"), providers=[*mirror_of().snapshot.providers, orphan]
    )
    traits = {**found.traits, orphan.uuid: frozenset(traits)}
    nodes = [uuid for uuid, names in traits.items() if "COMPUTE_NODE" in names]
    snapshot = found.snapshot.with_compute_nodes(nodes)
    return dataclasses.replace(found, snapshot=snapshot, traits=traits)


def with_pool():
    """What is no compute node may be in an aggregate."""
    pool = Provider(identity("pool"), "pool", 1, identity("pool"))
    found = with_nova(
        mirror_of("a", "b"), providers=[*mirror_of().snapshot.providers, pool]
    )
    snapshot = dataclasses.replace(found.snapshot, sharing=frozenset([pool.uuid]))
    snapshot = snapshot.with_nova(found.nova)
    members = inside(PLAIN, "a", "b", "pool")
    return dataclasses.replace(found, snapshot=snapshot, members=members)


def renamed():
    provider = Provider(identity("c"), "c.old", 1, identity("c"))
    return with_nova(mirror_of("a", "b"), providers=[*without("c"), provider])


def marked(*traits, known=(MARK,), **state):
    of = survey([host("a", *traits), host("b")], known=known)
    return with_computes(of, lambda c: state if c.node == "a" else {}), "mirror"


ISOLATION_OFF = assumed(enable_isolated_aggregate_filtering=False)
GONE = aggregate("gone", "a", "z")
NESTED = [host("a", children={"a_numa0": (frozenset(), {"VCPU": 8})}), host("b")]
MIRROR_FAULTS = {
    "warning mirror-missing aggregate plain (host b)...": mirror_of("a"),
    "warning mirror-extra aggregate plain (host c)...": mirror_of("a", "b", "c"),
    # A provider that was made again lacks its trait, too.
    "error mirror-missing aggregate isolated (host b): Placement lacks the host b in "
    "it: not isolated by it; the host b also lacks CUSTOM_GOLD, so...": isolated(
        "a", having="a"
    ),
    "error isolation-member-lacks-trait aggregate isolated (host b)...": isolated(
        "a", "b", having="a"
    ),
    "~error mirror-missing aggregate isolated (host b): Placement lacks the host b in "
    "it: not isolated by it -> openstack trait-sched mirror repair": isolated("a"),
    "~warning mirror-missing aggregate isolated (host b): Placement lacks the host b "
    "in it: no active prefilter uses the aggregate now -> openstack...": isolated(
        "a", having="a", assumptions=ISOLATION_OFF
    ),
    "~error mirror-extra aggregate isolated (host c): Placement has in it the host c, "
    "which Nova has not: closed to servers that do not require its traits -> openstack "
    "trait-sched mirror repair": isolated("a", "b", "c"),
    "warning mirror-node-missing host d (aggregate both, node d2)...": several_nodes(
        "a", "d1"
    ),
    # Its aggregates are not the mirror's fault then.
    "error mirror-no-provider host b: Placement has no provider "
    "8b58a5a7-5d36-58ee-8fa4-1bd2be8f0998 for this hypervisor: no server can be placed "
    "on it -> nova-compute on b makes it by itself: its log says why it did not": [
        with_nova(mirror_of("a", "b"), providers=without("b")),
        with_nova(mirror_of("a"), providers=without("b")),
    ],
    "error mirror-other-uuid host c: Placement has a provider of this name with the "
    "UUID ..., and the hypervisor's is ...: nova-compute can't "
    "make...": with_other_uuid(),
    "warning mirror-other-name host c: its provider ... is named 'c.old': nova-api "
    "looks for it by name and mirrors no aggregate -> openstack...": renamed(),
    "note mirror-no-hypervisor provider d: Nova has no hypervisor for the provider "
    "...-> note the aggregate plain, and delete it if ...": (with_orphan(), "mirror"),
    "note mirror-no-hypervisor provider d: Nova has no hypervisor for the provider "
    "...-> note the trait CUSTOM_OWN and the aggregate plain, and delete it if ...": (
        with_orphan("CUSTOM_OWN"),
        "mirror",
    ),
    "warning mirror-no-hypervisor provider d: Nova has no hypervisor for the provider "
    "...-> note the aggregate plain, and delete it if ...": (
        with_orphan(MARK),
        "mirror",
    ),
    "warning mirror-no-hypervisor provider d: Nova lists 3 of the 4 compute nodes that "
    "Placement has,...-> if the host exists, restart its nova-compute (unless...": (
        with_orphan("COMPUTE_NODE"),
        "mirror",
    ),
    "warning mirror-host-no-hypervisor host z (aggregate gone)...": survey(
        HOSTS, aggregates=[GONE], members=inside(GONE, "a")
    ),
    "error mirror-status host a...": marked(MARK),
    "warning mirror-status host a...": marked(is_enabled=False),
}


@pytest.mark.parametrize(("text", "surveys"), MIRROR_FAULTS.items())
def test_a_fault_is_told_once_mirror(text, surveys):
    assert_told(text, surveys)


MIRROR_HEALTHY = [
    mirror_of("a", "b"),
    isolated("a", "b"),
    with_pool(),
    several_nodes("a", "d1", "d2"),
    # Nested providers have no hypervisor of their own.
    survey(NESTED, aggregates=[PLAIN]),
    marked(MARK, is_enabled=False),
    marked(),
    # A nova-compute that is down can't change its provider.
    marked(MARK, is_up=False),
    marked(is_up=False, is_enabled=False),
    # A Placement that does not know the mark can't have it wrong.
    marked(known=(), is_enabled=False),
]


@pytest.mark.parametrize("surveys", MIRROR_HEALTHY)
def test_a_mirror_in_step_is_no_finding(surveys):
    assert_told("", surveys)


def planned(found):
    """Return what a repair would do, by the providers' names, and what it can't do."""
    changes = mirror.repair_plan(found.snapshot, found.members).changes
    possible = [each for each in changes if each.problem is None]
    others = [each.object.host for each in changes if each.problem is not None]
    return {c.object.name: (c.added, c.removed) for c in possible}, tuple(others)


def test_a_repair_adds_what_is_missing_and_removes_what_is_not_novas():
    uuids = frozenset({PLAIN.uuid})
    steps, without_provider = planned(mirror_of("a", "c"))
    assert steps == {"b": (uuids, frozenset()), "c": (frozenset(), uuids)}
    assert without_provider == ()


def test_a_repair_knows_all_nodes_of_a_host():
    (uuid,) = several_nodes().members
    assert planned(several_nodes("a", "d1"))[0] == {
        "d2": (frozenset({uuid}), frozenset())
    }


def test_a_repair_leaves_what_is_no_compute_node_and_what_is_no_aggregate_of_novas():
    orphan = Provider(identity("d"), "d", 1, identity("d"))
    found = with_nova(mirror_of(), providers=[*mirror_of().snapshot.providers, orphan])
    members = {**inside(PLAIN, "a", "b", "d"), identity("other"): frozenset("c")}
    assert planned(dataclasses.replace(found, members=members)) == ({}, ())


def test_a_repair_names_the_hosts_that_have_no_provider():
    steps, without_provider = planned(with_nova(mirror_of("a"), providers=without("b")))
    assert (steps, without_provider) == ({}, ("b",))
