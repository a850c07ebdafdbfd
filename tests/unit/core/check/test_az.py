"""What decides whether a zone's servers land in the zone."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Severity, SubjectKind
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import Setting
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    host,
    identity,
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


def test_a_host_in_two_zones():
    both = aggregate("both", "a", "b", availability_zone="west")
    (found,) = findings(of(aggregates=[EAST, both]))
    assert (found.rule, found.severity) == ("az-several", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.HOST, "a")
    assert found.zones == ("east", "west")
    assert found.aggregates == ("both", "in-east")


def test_a_host_in_two_aggregates_of_one_zone_is_no_finding():
    again = aggregate("again", "a", "b", availability_zone="east")
    assert findings(of(aggregates=[EAST, again])) == []


@pytest.mark.parametrize(
    ("assumptions", "severity", "then"),
    [
        (NEW, Severity.WARNING, "a request for it can get any host"),
        (QUERY, Severity.WARNING, "a request for it can get any host"),
        (FILTER_ALONE, Severity.NOTE, "as long as AvailabilityZoneFilter is on"),
    ],
)
def test_hosts_in_no_zone_are_in_the_default_one(assumptions, severity, then):
    (found,) = findings(of(assumptions, hosts="abcd"))
    assert (found.rule, found.severity) == ("az-default-zone", severity)
    assert (found.kind, found.name) == (SubjectKind.ZONE, "nova")
    assert found.hosts == ("c", "d")
    assert then in found.problem


def test_a_default_zone_that_an_aggregate_has_as_well_does_not_get_them():
    named = aggregate("named", "b", availability_zone="nova")
    (found,) = findings(of(aggregates=[EAST, named], hosts="abc"))
    assert (found.rule, found.severity) == ("az-default-zone", Severity.WARNING)
    assert "a request for it does not get them" in found.problem


def test_without_any_zone_nobody_is_out_of_one():
    assert findings(of(aggregates=[aggregate("plain", "a")])) == []


@pytest.mark.parametrize(
    ("assumptions", "severity", "problem"),
    [
        (NEW_WITH_FILTER, Severity.ERROR, "and nova-scheduler does not start"),
        (BOTH, Severity.WARNING, "does again what Placement did"),
        # Wallaby's own filters have it.
        (
            scheduler(23, query_placement_for_availability_zone=True),
            Severity.WARNING,
            "does again what Placement did",
        ),
    ],
)
def test_the_zones_filter_where_placement_looks(assumptions, severity, problem):
    (found,) = findings(of(assumptions))
    assert (found.rule, found.severity) == ("az-filter", severity)
    assert (found.kind, found.name) == (SubjectKind.OPTION, options.ENABLED_FILTERS)
    assert problem in found.problem


def test_zones_that_nobody_looks_at():
    (found,) = findings(of(NEITHER))
    assert (found.rule, found.severity) == ("az-ignored", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.OPTION, options.AZ_QUERY)
    assert found.zones == ("east", "west")


def test_nobody_has_to_look_at_zones_where_there_are_none():
    assert findings(of(NEITHER, aggregates=[aggregate("plain", "a")])) == []


BOTH_WAYS = [("mirror-missing", "a", "error"), ("mirror-extra", "b", "error")]


@pytest.mark.parametrize(
    ("assumptions", "members", "found"),
    [
        # One pair of rules for zones, whoever asks Placement for them.
        (NEW, "b", BOTH_WAYS),
        (
            QUERY,
            "b",
            [("mirror-missing", "a", "error"), ("mirror-extra", "b", "error")],
        ),
        # AvailabilityZoneFilter still keeps requests away from an extra host.
        (BOTH, "ab", [("mirror-extra", "b", "warning")]),
        (BOTH, "", [("mirror-missing", "a", "error")]),
        # Placement is not asked for zones.
        (FILTER_ALONE, "", [("mirror-missing", "a", "warning")]),
    ],
)
def test_a_zones_mirror_is_worse_if_placement_is_asked_for_zones(
    assumptions, members, found
):
    cloud = of(assumptions, members=mirrored(east=members, west="b"))
    assert [
        (each.rule, *each.hosts, each.severity.value)
        for each in findings(cloud, "mirror")
    ] == found


@pytest.mark.parametrize(
    ("collation", "then"),
    [
        ("case-insensitive", ": no request for the zone gets there"),
        ("case-sensitive", ": no active prefilter uses the aggregate now"),
    ],
)
def test_a_zones_key_in_other_letters_makes_a_zone_where_case_does_not_count(
    collation, then
):
    east = dataclasses.replace(EAST, metadata={"Availability_Zone": "east"})
    assumptions = NEW.changed(options.COLLATION, collation)
    members = {**mirrored(west="b"), east.uuid: frozenset()}
    (found,) = findings(of(assumptions, [east, WEST], members=members), "mirror")
    assert found.problem.endswith(then)
