"""What is wrong with aggregates that are isolated by traits."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova import options
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    assumed,
    flavor,
    host,
    identity,
    image,
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


def required(name, *hosts, traits=(GOLD,)):
    return aggregate(name, *hosts, **{f"trait:{t}": "required" for t in traits})


def lacking(assumptions):
    found = of(A_HAS, [required("both", "a", "b")], assumptions=assumptions)
    return found, "isolation-member-lacks-trait"


def off(assumptions):
    hosts = [host("a", GOLD), host("b", SILVER)]
    return of(hosts, [OF_GOLD, OF_SILVER], [NEEDS_GOLD, NEEDS_SILVER], assumptions)


def in_other_letters(collation, **metadata):
    """An aggregate that no flavor or image gets into, unless case does not count."""
    golden = [flavor("f", trait__CUSTOM_GOLD="required")]
    assumptions = ON.changed(options.COLLATION, collation)
    return of(A_HAS, [aggregate("g", "a", **metadata)], golden, assumptions)


def by_two_traits(*images):
    hosts = [host("a", GOLD, SILVER), host("b")]
    two = required("two", "a", traits=(GOLD, SILVER))
    found = of(hosts, [two], [NEEDS_GOLD, NEEDS_SILVER], images=images)
    return found, "isolation-not-required"


def overlapping(*flavors):
    hosts = [host("a", GOLD, SILVER), host("b", SILVER), host("c", GOLD), host("d")]
    gold = required("gold", "a", "c")
    return of(hosts, [gold, required("silver", "a", "b", traits=(SILVER,))], flavors)


A_HAS = [host("a", GOLD), host("b")]
AB_HAVE = [host("a", GOLD), host("b", GOLD)]
BOTH = flavor("both", trait__CUSTOM_GOLD="required", trait__CUSTOM_SILVER="required")
PLAIN, GOLDEN = flavor("f"), image("i", trait__CUSTOM_GOLD="required")
REFUSED = flavor("f", trait__CUSTOM_GOLD="required", hw__cpu_policy="often")
PINNING = host("p", size={"PCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 10})
FAULTS = {
    "error isolation-member-lacks-trait aggregate both (host b): b lacks CUSTOM_GOLD, "
    "so no server can be scheduled on it (1 of 2 members) -> openstack trait-sched add "
    "CUSTOM_GOLD --aggregate both": lacking(ON),
    "warning isolation-member-lacks-trait aggregate both (host b): b lacks "
    "CUSTOM_GOLD, so no server can be scheduled on it (1 of 2 members) ->...": lacking(
        OFF
    ),
    "error traits-no-host trait CUSTOM_GOLD (flavor gold, aggregate...": of(
        [host("a"), host("b")], [OF_GOLD], known=[GOLD]
    ),
    "error isolation-off option...": off(OFF),
    "warning isolation-off option...": off(ASSUMED),
    "warning isolation-not-required aggregate of-gold (host a): "
    "trait:CUSTOM_GOLD=required, and no flavor or image requires CUSTOM_GOLD: nobody "
    "gets in -> openstack trait-sched isolate of-gold CUSTOM_GOLD --flavor "
    "<FLAVOR>": of(A_HAS, [OF_GOLD], [PLAIN]),
    "warning isolation-not-required aggregate two (host a): trait:CUSTOM_GOLD=required "
    "and trait:CUSTOM_SILVER=required, and no flavor and image...": by_two_traits(),
    "warning isolation-not-required aggregate g (host a): TRAIT:CUSTOM_GOLD=required, "
    "and no flavor and image require CUSTOM_GOLD together: nobody...": (
        in_other_letters("case-sensitive", TRAIT__CUSTOM_GOLD="required"),
        "isolation-not-required",
    ),
    "error isolation-shuts-out flavor f (aggregate g, host a): each host that could "
    "take it is in the isolated aggregate g, and with no image does it...\n"
    "warning traits-bad-value aggregate g: MariaDB and MySQL take "
    "Trait:custom_gold=Required for required, other databases ignore it -> "
    "openstack...\n"
    "warning isolation-not-required aggregate g (host a): Trait:custom_gold=required, "
    "and no flavor or image requires CUSTOM_GOLD: nobody gets in ->...": of(
        [host("a", GOLD)], [aggregate("g", "a", Trait__custom_gold="Required")], [PLAIN]
    ),
    "warning isolation-trait-outside trait CUSTOM_GOLD (aggregate of-gold, host b): "
    "host b has it and is outside the aggregate of-gold, which it...": of(
        AB_HAVE, [OF_GOLD]
    ),
    "warning isolation-overlap aggregate gold (host a): host a is in the isolated "
    "aggregate silver, too: there a request needs CUSTOM_GOLD and CUSTOM_SILVER; no "
    "flavor and image require all of them, so that no server can be placed there -> "
    "openstack aggregate remove host gold <HOST>": (
        overlapping(NEEDS_GOLD, NEEDS_SILVER),
        "isolation-overlap",
    ),
    # Nothing else is said of it.
    "note isolation-overlap aggregate gold (host a): host a is in the isolated "
    "aggregate silver, too: there a request needs CUSTOM_GOLD and CUSTOM_SILVER; some "
    "flavor and image require all of them -> openstack aggregate remove host gold "
    "<HOST>": overlapping(BOTH),
    "error isolation-shuts-out flavor f (aggregate of-gold, host a): each...": of(
        [host("a", GOLD)], [OF_GOLD], [NEEDS_GOLD, PLAIN]
    ),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_one_finding(text, surveys):
    assert_told(text, surveys)


HEALTHY = {
    "isolated as it should be": of(A_HAS, [OF_GOLD]),
    "a member that Placement does not have is the mirror's matter": (
        of(
            A_HAS,
            [OF_TWO := required("both", "a", "b")],
            members={OF_TWO.uuid: frozenset({identity("a")})},
        ),
        "isolation",
    ),
    "off and not wanted": (
        of([host("a")], [aggregate("zone", "a", availability_zone="east")], [], OFF),
        "isolation",
        "config",
    ),
    "an image gets in as a flavor does": of(A_HAS, [OF_GOLD], [PLAIN], images=[GOLDEN]),
    "an image gets in with a flavor": by_two_traits(
        image("i", trait__CUSTOM_SILVER="required")
    ),
    "a key in other letters": (
        in_other_letters("case-insensitive", TRAIT__CUSTOM_GOLD="required"),
        "isolation-not-required",
    ),
    "a flavor that Nova refuses alone still requires its trait": (
        of(A_HAS, [OF_GOLD], [REFUSED]),
        "isolation",
    ),
    "outside, in another aggregate with the trait": of(
        AB_HAVE, [OF_GOLD, required("more", "b")]
    ),
    "not shut out: an image gets the flavor in": of(
        [host("a", GOLD)], [OF_GOLD], [PLAIN], images=[GOLDEN]
    ),
    "not shut out: an image lets it pin CPUs elsewhere": of(
        [host("a", GOLD), PINNING], [OF_GOLD], [NEEDS_GOLD, PLAIN]
    ),
}


@pytest.mark.parametrize("surveys", HEALTHY.values(), ids=HEALTHY)
def test_what_is_as_it_should_be_is_no_finding(surveys):
    assert_told("", surveys)
