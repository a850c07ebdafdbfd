"""Aggregates that are for certain projects."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.survey import PlacedServer, ServerCounts
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Setting
from tests.unit.core.check.surveys import (
    aggregate,
    assert_told,
    assumed,
    identity,
    survey,
)

PROJECTS = {"1d1d": "red", "2d2d": "blue"}
OFF = assumed()
LIMITED = assumed(limit_tenants_to_placement_aggregate=True)
REQUIRED = assumed(
    limit_tenants_to_placement_aggregate=True,
    placement_aggregate_required_for_tenants=True,
)
HOST_FILTER = dataclasses.replace(
    OFF,
    settings={
        options.ENABLED_FILTERS: Setting(
            ("ComputeFilter", "AggregateMultiTenancyIsolation"),
            "nova.conf:2",
            given=True,
        )
    },
)
ON = dataclasses.replace(LIMITED, settings={**LIMITED.settings, **HOST_FILTER.settings})


def of(assumptions=ON, projects=PROJECTS, members=None, **metadata):
    """Return a survey of one aggregate with host a."""
    made = aggregate("reds", "a", **metadata)
    more = {} if members is None else {"members": {made.uuid: members}}
    return survey(
        "a; b",
        aggregates=[made],
        assumptions=assumptions,
        projects=projects,
        **more,
    )


def collated(collation):
    assumptions = REQUIRED.changed(options.COLLATION, collation)
    return of(assumptions, filter_tenant_id="1D1D", filter_tenant_id2="2d2d")


def mirror(assumptions, members, **more):
    members = frozenset(map(identity, members))
    return of(assumptions, members=members, filter_tenant_id="1d1d", **more), "mirror"


def with_residents():
    where = (("red-1", "1D1D", "a"), ("blue-1", "2d2d", "a"), ("blue-2", "2d2d", "a"))
    residents = [PlacedServer(*each) for each in (*where, ("blue-3", "2d2d", "b"))]
    servers = ServerCounts(4, 0, 0, (), residents=tuple(residents))
    return dataclasses.replace(of(LIMITED, **RED), servers=servers), "project"


RED, LIST = {"filter_tenant_id": "1d1d"}, {"filter_tenant_id": "1d1d,2d2d"}
BY_ID = {**RED, "filter_tenant_id2": "2d2d"}
SPACED = {"filter_tenant_id": "1d1d, 2d2d"}
GIVEN_OFF = assumed(limit_tenants_to_placement_aggregate=False)
FILTERS = Setting(("ComputeFilter",), "nova.conf:2", given=True)
NO_FILTERS = {**GIVEN_OFF.settings, options.ENABLED_FILTERS: FILTERS}
FAULTS = {
    "~error project-list aggregate reds (project 1d1d, project 2d2d): filter_tenant_id "
    "is a list: Nova compares it as a whole, and it equals no...": of(**SPACED),
    "~warning project-list aggregate reds (project 1d1d, project 2d2d)...": of(
        OFF, **SPACED
    ),
    "~note project-list aggregate reds (project 1d1d, project 2d2d)...": of(
        HOST_FILTER, **SPACED
    ),
    "error project-list aggregate reds (project 1d1d, project 2d2d)...": [
        of(ON, **LIST, filter_tenant_id_1="1d1d"),
        of(REQUIRED, **LIST),
    ],
    "warning project-unknown aggregate reds: filter_tenant_id=gone: no project has "
    "this ID -> openstack aggregate unset --property filter_tenant_id reds": of(
        filter_tenant_id="gone"
    ),
    "~error project-unknown aggregate reds: filter_tenant_id_red=red: must be a "
    "project's ID, not its name -> openstack aggregate set reds --property "
    "filter_tenant_id_red=1d1d": of(filter_tenant_id_red="red"),
    "~warning project-unknown aggregate reds...": of(OFF, filter_tenant_id_red="red"),
    "warning project-without option "
    "[scheduler]placement_aggregate_required_for_tenants (project blue)...": of(
        REQUIRED, **RED
    ),
    "error project-without option [scheduler]placement_aggregate_required_for_tenants "
    "(project blue, project red)...": of(REQUIRED),
    # A project that a list or a name means is not named twice.
    "error project-unknown aggregate reds...": of(
        REQUIRED, **RED, filter_tenant_id2="blue"
    ),
    "warning project-unknown aggregate reds...\n"
    "warning project-without option "
    "[scheduler]placement_aggregate_required_for_tenants (project red)...": collated(
        "case-sensitive"
    ),
    "error mirror-missing aggregate reds (host a): Placement lacks the host a in it: "
    "its projects' servers do not get there -> openstack trait-sched mirror "
    "repair": mirror(ON, ""),
    "error mirror-extra aggregate reds (host b): Placement has in it the host b, which "
    "Nova has not: its projects' servers can land there -> openstack trait-sched "
    "mirror repair": mirror(ON, "ab"),
    "warning mirror-missing aggregate reds (host a): Placement lacks the host a in it: "
    "no active prefilter uses the aggregate now -> openstack trait-sched "
    "mirror repair": mirror(HOST_FILTER, ""),
    # A zone comes first.
    "error mirror-missing aggregate reds (host a): Placement lacks the host a in it: "
    "no request for the zone gets there -> openstack trait-sched mirror repair": mirror(
        ON, "", availability_zone="east"
    ),
    "warning project-off option [scheduler]limit_tenants_to_placement_aggregate "
    "(aggregate reds)...-> to keep other projects off these hosts, add "
    "AggregateMultiTenancyIsolation...limit_tenants_to_placement_aggregate on...": of(
        OFF, **RED
    ),
    "warning project-off option [scheduler]limit_tenants_to_placement_aggregate "
    "(aggregate reds)...": of(GIVEN_OFF, **RED),
    "error project-off option [scheduler]limit_tenants_to_placement_aggregate "
    "(aggregate reds)...": of(
        dataclasses.replace(GIVEN_OFF, settings=NO_FILTERS), **RED
    ),
    "warning project-not-exclusive aggregate reds (host a): other projects may land "
    "here (AggregateMultiTenancyIsolation is taken as off) -> add Aggr...": of(
        LIMITED, **RED
    ),
    "warning project-not-exclusive aggregate reds (host a): other projects may land "
    "here (AggregateMultiTenancyIsolation is off) -> add Aggr...": of(
        dataclasses.replace(LIMITED, files=("nova.conf",)), **RED
    ),
    "warning project-not-exclusive aggregate reds (host a, server blue-1, server "
    "blue-2): other projects may land here (AggregateMultiTenancyIsolation is "
    "taken as off); 2 servers do: blue-1, blue-2 -> add Aggr...": with_residents(),
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_fault_is_told_once(text, surveys):
    assert_told(text, surveys)


HEALTHY = [
    *(of(assumptions, **BY_ID) for assumptions in (HOST_FILTER, ON, REQUIRED)),
    # Each of the list has a key of its own.
    of(ON, **LIST, filter_tenant_id_1="1d1d", filter_tenant_id_2="2d2d"),
    # Keystone said nothing.
    of(REQUIRED, projects=None, filter_tenant_id="gone"),
    collated("case-insensitive"),
    *(of(assumptions) for assumptions in (OFF, GIVEN_OFF, LIMITED)),
    # No host.
    survey("a", aggregates="reds filter_tenant_id=1", assumptions=LIMITED),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_aggregates_for_projects_by_their_ids_are_no_finding(surveys):
    assert_told("", surveys)
