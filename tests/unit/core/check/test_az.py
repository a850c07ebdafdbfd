"""What decides whether a zone's servers land in the zone."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Kind, Severity
from osc_traitsched.core.check.rules.az import DefaultZone
from osc_traitsched.core.check.rules.mirror import OutOfStep, Repair
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import Setting
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    host,
    identity,
    ids,
    survey,
)

EAST = aggregate("in-east", "a", availability_zone="east")
WEST = aggregate("in-the-west", "b", availability_zone="west")
OTHERS = ("ComputeFilter", "ImagePropertiesFilter")
FILTER = ("AvailabilityZoneFilter", *OTHERS)


def scheduler(release, filters=None, **switched):
    """Return assumptions; the filters are Nova's own unless they are given."""
    found = assumed(release, **switched)
    if filters is None:
        return found
    given = {options.ENABLED_FILTERS: Setting(filters, "nova.conf:2", given=True)}
    return dataclasses.replace(found, settings={**found.settings, **given})


NEW, NEW_WITH_FILTER = scheduler(33), scheduler(33, FILTER)
QUERY = scheduler(27, query_placement_for_availability_zone=True)
BOTH = scheduler(27, FILTER, query_placement_for_availability_zone=True)
FILTER_ALONE = scheduler(23)
NEITHER = scheduler(23, OTHERS)


def of(assumptions=NEW, aggregates=(EAST, WEST), hosts="ab", **more):
    """Return a survey of hosts that are in zones as the aggregates say."""
    found = survey(
        [host(name) for name in hosts],
        aggregates=aggregates,
        assumptions=assumptions,
        **more,
    )
    nova = found.nova
    computes = (
        dataclasses.replace(each, zones=zones(each.service_host, aggregates))
        for each in nova.computes
    )
    nova = dataclasses.replace(nova, computes=tuple(computes))
    return dataclasses.replace(found, snapshot=found.snapshot.with_nova(nova))


def zones(name, aggregates):
    """Return a host's zones as os-services has them."""
    found = {each.zone for each in aggregates if each.zone and name in each.hosts}
    return tuple(sorted(found)) or ("nova",)


def mirrored(east="", west=""):
    """Return members of the zones' aggregates."""
    pairs = {EAST.uuid: east, WEST.uuid: west}
    return {uuid: frozenset(map(identity, names)) for uuid, names in pairs.items()}


@pytest.mark.parametrize("assumptions", [NEW, QUERY, FILTER_ALONE])
def test_zones_as_they_should_be_are_no_finding(assumptions):
    assert findings(of(assumptions)) == []


@pytest.mark.parametrize("assumptions", [NEW, QUERY])
def test_a_zones_mirror_that_differs_is_one_finding(assumptions):
    (found,) = findings(of(assumptions, members=mirrored(east="b", west="b")))
    assert (found.rule, found.severity) == ("az-mirror", Severity.ERROR)
    assert (found.kind, found.name) == (Kind.AGGREGATE, "in-east")
    assert found.out_of_step == OutOfStep(("a",), ("b",), Repair.MIRROR_REPAIR)


def test_it_is_run_for_the_area_of_the_mirror_too():
    found = of(members=mirrored(east="a"))
    assert ids(found, "mirror") == ids(found, "az") == ["az-mirror"]


def test_who_is_only_missing_is_mended_by_novas_own_command():
    (found,) = findings(of(members=mirrored(east="a")))
    assert found.name == "in-the-west"
    assert found.out_of_step == OutOfStep(("b",), (), Repair.SYNC_AGGREGATES)


def test_a_filter_that_still_looks_makes_an_extra_host_less_bad():
    found = of(BOTH, members=mirrored(east="ab", west="b"))
    (extra,) = findings(found, "az-mirror")
    assert (extra.severity, extra.is_filtered) == (Severity.WARNING, True)
    found = of(BOTH, members=mirrored(west="b"))
    (missing,) = findings(found, "az-mirror")
    assert missing.severity is Severity.ERROR


def test_while_placement_is_not_asked_it_is_the_mirrors_matter():
    found = of(FILTER_ALONE, members=mirrored(west="b"))
    assert ids(found) == ["mirror-missing"]


def test_a_host_in_two_zones():
    both = aggregate("both", "a", "b", availability_zone="west")
    (found,) = findings(of(aggregates=[EAST, both]))
    assert (found.rule, found.severity) == ("az-several", Severity.ERROR)
    assert (found.kind, found.name) == (Kind.HOST, "a")
    assert found.zones == ("east", "west")
    assert found.aggregates == ("both", "in-east")


def test_a_host_in_two_aggregates_of_one_zone_is_no_finding():
    again = aggregate("again", "a", "b", availability_zone="east")
    assert findings(of(aggregates=[EAST, again])) == []


@pytest.mark.parametrize(
    ("assumptions", "severity", "given"),
    [
        (NEW, Severity.WARNING, DefaultZone.ANY),
        (QUERY, Severity.WARNING, DefaultZone.ANY),
        (FILTER_ALONE, Severity.NOTE, DefaultZone.FILTERED),
    ],
)
def test_hosts_in_no_zone_are_in_the_default_one(assumptions, severity, given):
    (found,) = findings(of(assumptions, hosts="abcd"))
    assert (found.rule, found.severity) == ("az-default-zone", severity)
    assert (found.kind, found.name) == (Kind.ZONE, "nova")
    assert (found.hosts, found.given) == (("c", "d"), given)


def test_a_default_zone_that_an_aggregate_has_as_well_does_not_get_them():
    named = aggregate("named", "b", availability_zone="nova")
    (found,) = findings(of(aggregates=[EAST, named], hosts="abc"))
    assert (found.rule, found.given) == ("az-default-zone", DefaultZone.OTHERS)


def test_without_any_zone_nobody_is_out_of_one():
    assert findings(of(aggregates=[aggregate("plain", "a")])) == []


@pytest.mark.parametrize(
    ("assumptions", "severity", "stops"),
    [
        (NEW_WITH_FILTER, Severity.ERROR, True),
        (BOTH, Severity.WARNING, False),
        # Wallaby's own filters have it.
        (
            scheduler(23, query_placement_for_availability_zone=True),
            Severity.WARNING,
            False,
        ),
    ],
)
def test_the_zones_filter_where_placement_looks(assumptions, severity, stops):
    (found,) = findings(of(assumptions))
    assert (found.rule, found.severity) == ("az-filter", severity)
    assert (found.kind, found.name) == (Kind.OPTION, options.ENABLED_FILTERS)
    assert found.stops is stops


def test_zones_that_nobody_looks_at():
    (found,) = findings(of(NEITHER))
    assert (found.rule, found.severity) == ("az-ignored", Severity.ERROR)
    assert (found.kind, found.name) == (Kind.OPTION, options.AZ_QUERY)
    assert found.zones == ("east", "west")


def test_nobody_has_to_look_at_zones_where_there_are_none():
    assert findings(of(NEITHER, aggregates=[aggregate("plain", "a")])) == []


NO_CASE, CASE = "case-insensitive", "case-sensitive"


@pytest.mark.parametrize(
    ("collation", "found"), [(NO_CASE, ["az-mirror"]), (CASE, ["mirror-missing"])]
)
def test_a_zones_key_in_other_letters_makes_a_zone_where_case_does_not_count(
    collation, found
):
    east = dataclasses.replace(EAST, metadata={"Availability_Zone": "east"})
    assumptions = NEW.changed(options.COLLATION, collation)
    members = {**mirrored(west="b"), east.uuid: frozenset()}
    survey = of(assumptions, [east, WEST], members=members)
    assert ids(survey, "az-mirror", "mirror-missing") == found


@pytest.mark.parametrize(
    ("given", "severity"), [(True, Severity.ERROR), (False, Severity.WARNING)]
)
def test_its_hosts_are_not_in_the_default_zone_and_have_none_that_nova_can_show(
    given, severity
):
    east = dataclasses.replace(EAST, metadata={"Availability_Zone": "east"})
    setting = Setting(NO_CASE, "--set", given)
    settings = {**NEW.settings, options.COLLATION: setting}
    (found,) = findings(of(dataclasses.replace(NEW, settings=settings), [east, WEST]))
    assert (found.rule, found.severity) == ("az-key", severity)
    assert (found.key, found.value) == ("Availability_Zone", "east")
    assert found.hosts == EAST.hosts


def test_a_key_in_other_letters_is_nobodys_where_they_count_or_no_host_is_there():
    east = dataclasses.replace(EAST, metadata={"Availability_Zone": "east"})
    assert ids(of(NEW.changed(options.COLLATION, CASE), [east, WEST]), "az-key") == []
    empty = dataclasses.replace(east, hosts=())
    no_case = NEW.changed(options.COLLATION, NO_CASE)
    assert ids(of(no_case, [empty, WEST]), "az-key") == []
