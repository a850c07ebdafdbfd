"""What is wrong with aggregates that are isolated by traits."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.nova import options
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    flavor,
    host,
    identity,
    ids,
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


def test_an_aggregate_that_is_isolated_as_it_should_be_is_no_finding():
    assert findings(of([host("a", GOLD), host("b")], [OF_GOLD])) == []


@pytest.mark.parametrize(
    ("assumptions", "severity"), [(ON, Severity.ERROR), (OFF, Severity.WARNING)]
)
def test_a_member_without_the_trait_gets_no_server_at_all(assumptions, severity):
    both = aggregate("both", "a", "b", trait__CUSTOM_GOLD="required")
    found = of([host("a", GOLD), host("b")], [both], assumptions=assumptions)
    (found,) = (f for f in findings(found) if f.rule != "isolation-off")
    assert (found.rule, found.severity) == ("isolation-member-lacks-trait", severity)
    assert (found.name, found.hosts) == ("both", ("b",))
    assert found.problem.startswith("b lacks CUSTOM_GOLD, ")
    assert found.problem.endswith(" (1 of 2 members)")


def test_a_member_that_placement_does_not_have_is_the_mirrors_matter():
    both = aggregate("both", "a", "b", trait__CUSTOM_GOLD="required")
    members = {both.uuid: frozenset({identity("a")})}
    found = of([host("a", GOLD), host("b")], [both], members=members)
    assert ids(found, "isolation") == []


def test_a_trait_that_no_host_has_at_all_is_one_finding():
    found = of([host("a"), host("b")], [OF_GOLD], known=[GOLD])
    assert ids(found) == ["traits-no-host"]


@pytest.mark.parametrize(
    ("assumptions", "severity"), [(OFF, Severity.ERROR), (ASSUMED, Severity.WARNING)]
)
def test_isolation_that_is_off_is_said_once_for_all_aggregates(assumptions, severity):
    aggregates = [OF_GOLD, OF_SILVER]
    hosts = [host("a", GOLD), host("b", SILVER)]
    found = of(hosts, aggregates, [NEEDS_GOLD, NEEDS_SILVER], assumptions)
    (found,) = findings(found)
    assert (found.rule, found.severity) == ("isolation-off", severity)
    assert found.aggregates == ("of-gold", "of-silver")


def test_isolation_that_is_off_and_not_wanted_is_no_finding():
    plain = aggregate("zone", "a", availability_zone="east")
    assert ids(of([host("a")], [plain], [], OFF), "isolation", "config") == []


def test_nobody_gets_in_where_no_flavor_or_image_requires_the_trait():
    (found,) = findings(of([host("a", GOLD), host("b")], [OF_GOLD], [flavor("f")]))
    assert (found.rule, found.severity) == ("isolation-not-required", Severity.WARNING)
    assert found.problem == (
        f"trait:{GOLD}=required, and no flavor or image requires {GOLD}: nobody gets in"
    )


def test_an_image_gets_in_as_a_flavor_does():
    images = [image("i", trait__CUSTOM_GOLD="required")]
    hosts = [host("a", GOLD), host("b")]
    assert ids(of(hosts, [OF_GOLD], [flavor("f")], images=images)) == []


def test_flavors_that_each_require_one_of_two_traits_do_not_get_in():
    two = aggregate(
        "two", "a", trait__CUSTOM_GOLD="required", trait__CUSTOM_SILVER="required"
    )
    flavors = [NEEDS_GOLD, NEEDS_SILVER]
    hosts = [host("a", GOLD, SILVER), host("b")]
    (found,) = findings(of(hosts, [two], flavors), "isolation-not-required")
    assert f"no flavor and image require {GOLD} and {SILVER} together" in found.problem
    images = [image("i", trait__CUSTOM_SILVER="required")]
    assert ids(of(hosts, [two], flavors, images=images), "isolation-not-required") == []


@pytest.mark.parametrize(
    ("collation", "found"),
    [("case-sensitive", ["isolation-not-required"]), ("case-insensitive", [])],
)
def test_a_key_in_other_letters_lets_nobody_in_where_case_counts(collation, found):
    shouted = aggregate("g", "a", TRAIT__CUSTOM_GOLD="required")
    golden = flavor("f", trait__CUSTOM_GOLD="required")
    survey = of([host("a", GOLD), host("b")], [shouted], [golden])
    assumptions = survey.assumptions.changed(options.COLLATION, collation)
    survey = dataclasses.replace(survey, assumptions=assumptions)
    assert ids(survey, "isolation-not-required") == found


def test_nobody_is_told_by_the_name_of_the_trait_and_by_the_key():
    odd = aggregate("g", "a", Trait__custom_gold="Required")
    (found,) = findings(
        of([host("a", GOLD)], [odd], [flavor("f")]), "isolation-not-required"
    )
    assert found.problem == (
        "Trait:custom_gold=required, and no flavor or image requires CUSTOM_GOLD: "
        "nobody gets in"
    )


def test_a_flavor_that_nova_refuses_alone_still_requires_its_trait():
    refused = flavor("f", trait__CUSTOM_GOLD="required", hw__cpu_policy="often")
    found = of([host("a", GOLD), host("b")], [OF_GOLD], [refused])
    assert ids(found, "isolation") == []


def test_a_host_outside_with_the_trait_may_get_the_isolated_servers():
    (found,) = findings(of([host("a", GOLD), host("b", GOLD)], [OF_GOLD]))
    assert (found.rule, found.severity) == (
        "isolation-trait-outside",
        Severity.WARNING,
    )
    assert (found.name, found.hosts) == (GOLD, ("b",))


def test_a_host_of_another_aggregate_with_that_trait_is_not_outside():
    other = aggregate("more", "b", trait__CUSTOM_GOLD="required")
    assert ids(of([host("a", GOLD), host("b", GOLD)], [OF_GOLD, other])) == []


def test_a_host_in_two_isolated_aggregates_needs_both_traits():
    silver = aggregate("silver", "a", "b", trait__CUSTOM_SILVER="required")
    hosts = [host("a", GOLD, SILVER), host("b", SILVER), host("c")]
    flavors = [NEEDS_GOLD, NEEDS_SILVER]
    gold = aggregate("gold", "a", trait__CUSTOM_GOLD="required")
    (found,) = findings(of(hosts, [gold, silver], flavors), "isolation-overlap")
    assert found.severity is Severity.WARNING
    assert found.hosts == ("a",)
    assert "; no flavor and image require all of them" in found.problem
    both = flavor(
        "both", trait__CUSTOM_GOLD="required", trait__CUSTOM_SILVER="required"
    )
    (found,) = findings(
        of(hosts, [gold, silver], [*flavors, both]), "isolation-overlap"
    )
    assert found.severity is Severity.NOTE
    assert found.problem.endswith("; some flavor and image require all of them")


def test_only_the_overlap_is_said_where_both_traits_are_required_together():
    gold = aggregate("gold", "a", "c", trait__CUSTOM_GOLD="required")
    silver = aggregate("silver", "a", "b", trait__CUSTOM_SILVER="required")
    hosts = [host("a", GOLD, SILVER), host("b", SILVER), host("c", GOLD), host("d")]
    both = flavor(
        "both", trait__CUSTOM_GOLD="required", trait__CUSTOM_SILVER="required"
    )
    assert ids(of(hosts, [gold, silver], [both])) == ["isolation-overlap"]


def test_a_flavor_all_whose_hosts_are_isolated_from_it_is_shut_out():
    (found,) = findings(of([host("a", GOLD)], [OF_GOLD], [NEEDS_GOLD, flavor("f")]))
    assert (found.rule, found.severity) == ("isolation-shuts-out", Severity.ERROR)
    assert (found.name, found.aggregates) == ("f", ("of-gold",))


def test_a_flavor_that_gets_in_by_an_image_is_not_shut_out():
    images = [image("i", trait__CUSTOM_GOLD="required")]
    assert ids(of([host("a", GOLD)], [OF_GOLD], [flavor("f")], images=images)) == []


def test_a_flavor_that_an_image_lets_pin_cpus_elsewhere_is_not_shut_out():
    pinning = host("p", size={"PCPU": 8, "MEMORY_MB": 8192, "DISK_GB": 10})
    hosts = [host("a", GOLD), pinning]
    assert ids(of(hosts, [OF_GOLD], [NEEDS_GOLD, flavor("f")])) == []
