"""What is wrong with aggregates that are isolated by traits."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova import options
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    assumed,
    flavor,
    identity,
    survey,
)

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
