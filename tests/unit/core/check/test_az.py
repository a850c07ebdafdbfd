"""What decides whether a zone's servers land in the zone."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Setting
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    assumed,
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


NEW = scheduler(33)
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


def zoned(name, *hosts, zone):
    return aggregate(name, *hosts, availability_zone=zone)


def in_other_letters(collation):
    """A zone's key that is the zones' key in some databases only."""
    east = dataclasses.replace(EAST, metadata={"Availability_Zone": "east"})
    members = {**mirrored(west="b"), east.uuid: frozenset()}
    assumptions = NEW.changed(options.COLLATION, collation)
    return of(assumptions, [east, WEST], members=members), "mirror"


def mirror(assumptions, east):
    return of(assumptions, members=mirrored(east, west="b")), "mirror"


FAULTS = {
    "error az-several host a (aggregate both, aggregate in-east, zone east, zone "
    "west): in the zones 'east' and 'west' at once, by the aggregates...": of(
        aggregates=[EAST, zoned("both", "a", "b", zone="west")]
    ),
    "warning az-default-zone zone nova (host c, host d): the hosts c, d are in no "
    "zone's aggregate; a request for it can get any host: no aggregate...": [
        of(hosts="abcd"),
        of(QUERY, hosts="abcd"),
    ],
    "note az-default-zone zone nova (host c, host d): the hosts c, d are in no zone's "
    "aggregate; a request for it gets them, as long as...": of(
        FILTER_ALONE, hosts="abcd"
    ),
    "warning az-default-zone zone nova (host c): the host c is in no zone's aggregate; "
    "a request for it does not get them: an aggregate has its name...": of(
        aggregates=[EAST, zoned("named", "b", zone="nova")], hosts="abc"
    ),
    # Wallaby's own filters have that of zones.
    "warning az-filter option [filter_scheduler]enabled_filters: "
    "AvailabilityZoneFilter does again what Placement did, and 2023.2 (Nova 28) does "
    "not...": [of(BOTH), of(scheduler(23, query_placement_for_availability_zone=True))],
    "error az-ignored option [scheduler]query_placement_for_availability_zone (zone "
    "east, zone west): unknown, taken as off (the default of wallaby), and...": of(
        NEITHER
    ),
    # One pair of rules for zones, whoever asks Placement for them.
    "error mirror-missing aggregate in-east (host a): Placement lacks the host a in "
    "it: no request for the zone gets there -> openstack trait-sched...\n"
    "error mirror-extra aggregate in-east (host b): Placement has in it the host b, "
    "which Nova has not: requests for the zone can land there ->...": [
        mirror(NEW, "b"),
        mirror(QUERY, "b"),
    ],
    # AvailabilityZoneFilter still keeps requests away from an extra host.
    "warning mirror-extra aggregate in-east (host b): Placement has in it the host b, "
    "which Nova has not: only AvailabilityZoneFilter keeps requests...": mirror(
        BOTH, "ab"
    ),
    "error mirror-missing aggregate in-east (host a): Placement lacks the host a in "
    "it: no request for the zone gets there -> openstack trait-sched...": [
        mirror(BOTH, ""),
        in_other_letters("case-insensitive"),
    ],
    # Placement is not asked for zones.
    "warning mirror-missing aggregate in-east (host a): Placement lacks the host a in "
    "it: no active prefilter uses the aggregate now -> openstack...": [
        mirror(FILTER_ALONE, ""),
        in_other_letters("case-sensitive"),
    ],
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_one_finding(text, surveys):
    assert_told(text, surveys)


HEALTHY = [
    *(of(assumptions) for assumptions in (NEW, QUERY, FILTER_ALONE)),
    of(aggregates=[EAST, zoned("again", "a", "b", zone="east")]),
    of(aggregates=[aggregate("plain", "a")]),
    of(NEITHER, aggregates=[aggregate("plain", "a")]),
]


def test_zones_as_they_should_be_are_no_finding():
    assert_told("", HEALTHY)
