"""Aggregates that are for certain projects."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Severity, SubjectKind
from osc_traitsched.core.check.survey import PlacedServer, ServerCounts
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.paste import line
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    host,
    identity,
    ids,
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
        [host("a"), host("b")],
        aggregates=[made],
        assumptions=assumptions,
        projects=projects,
        **more,
    )


@pytest.mark.parametrize("assumptions", [HOST_FILTER, ON])
def test_projects_by_their_ids_are_no_finding(assumptions):
    named = {"filter_tenant_id": "1d1d", "filter_tenant_id2": "2d2d"}
    assert findings(of(assumptions, **named)) == []
    assert findings(of(REQUIRED, **named)) == []


@pytest.mark.parametrize(
    ("assumptions", "severity"),
    [(ON, Severity.ERROR), (OFF, Severity.WARNING), (HOST_FILTER, Severity.NOTE)],
)
def test_a_list_equals_no_projects_id(assumptions, severity):
    cloud = of(assumptions, filter_tenant_id="1d1d, 2d2d")
    (found,) = findings(cloud, "project-list")
    assert (found.rule, found.severity) == ("project-list", severity)
    assert (found.kind, found.name) == (SubjectKind.AGGREGATE, "reds")
    assert found.problem.startswith("filter_tenant_id is a list: ")
    assert found.projects == ("1d1d", "2d2d")


def test_a_list_is_in_order_where_each_of_it_has_a_key_of_its_own():
    keys = {"filter_tenant_id": "1d1d,2d2d", "filter_tenant_id_1": "1d1d"}
    assert ids(of(ON, **keys)) == ["project-list"]
    assert ids(of(ON, **keys, filter_tenant_id_2="2d2d")) == []


def test_the_id_of_no_project():
    (found,) = findings(of(filter_tenant_id="gone"))
    assert (found.rule, found.severity) == ("project-unknown", Severity.WARNING)
    assert found.problem == "filter_tenant_id=gone: no project has this ID"


@pytest.mark.parametrize(
    ("assumptions", "severity"), [(ON, Severity.ERROR), (OFF, Severity.WARNING)]
)
def test_a_projects_name_instead_of_its_id(assumptions, severity):
    cloud = of(assumptions, filter_tenant_id_red="red")
    (found,) = findings(cloud, "project-unknown")
    assert (found.rule, found.severity) == ("project-unknown", severity)
    assert found.problem.startswith("filter_tenant_id_red=red: must be a project's ID")
    assert "filter_tenant_id_red=1d1d" in line(found.fix, ())


def test_without_a_word_from_keystone_no_project_is_unknown_or_left_out():
    assert findings(of(REQUIRED, projects=None, filter_tenant_id="gone")) == []


def test_a_project_without_an_aggregate_where_each_has_to_have_one():
    (found,) = findings(of(REQUIRED, filter_tenant_id="1d1d"))
    assert (found.rule, found.severity) == ("project-without", Severity.WARNING)
    assert found.name == options.TENANT_REQUIRED
    assert found.projects == ("blue",)


def test_none_has_one():
    (found,) = findings(of(REQUIRED))
    assert (found.rule, found.severity) == ("project-without", Severity.ERROR)
    assert found.projects == ("blue", "red")


def test_a_project_that_a_list_or_a_name_means_is_not_named_twice():
    assert ids(of(REQUIRED, filter_tenant_id="1d1d,2d2d")) == ["project-list"]
    found = of(REQUIRED, filter_tenant_id="1d1d", filter_tenant_id2="blue")
    assert ids(found) == ["project-unknown"]


@pytest.mark.parametrize(
    ("collation", "found"),
    [
        ("case-insensitive", []),
        ("case-sensitive", ["project-unknown", "project-without"]),
    ],
)
def test_an_id_in_other_letters_is_a_projects_where_case_does_not_count(
    collation, found
):
    assumptions = REQUIRED.changed(options.COLLATION, collation)
    named = {"filter_tenant_id": "1D1D", "filter_tenant_id2": "2d2d"}
    assert sorted(ids(of(assumptions, **named))) == found


@pytest.mark.parametrize(
    ("assumptions", "members", "zone", "found"),
    [
        (
            ON,
            "",
            {},
            (
                "mirror-missing",
                ("a",),
                Severity.ERROR,
                "its projects' servers do not get there",
            ),
        ),
        (
            ON,
            "ab",
            {},
            (
                "mirror-extra",
                ("b",),
                Severity.ERROR,
                "its projects' servers can land there",
            ),
        ),
        (
            HOST_FILTER,
            "",
            {},
            (
                "mirror-missing",
                ("a",),
                Severity.WARNING,
                "no active prefilter uses the aggregate now",
            ),
        ),
        # A zone comes first.
        (
            ON,
            "",
            {"availability_zone": "east"},
            (
                "mirror-missing",
                ("a",),
                Severity.ERROR,
                "no request for the zone gets there",
            ),
        ),
    ],
)
def test_a_projects_mirror_is_worse_while_projects_are_limited_to_it(
    assumptions, members, zone, found
):
    inside = frozenset(map(identity, members))
    cloud = of(assumptions, members=inside, filter_tenant_id="1d1d", **zone)
    (each,) = findings(cloud, "mirror")
    then = each.problem.partition(": ")[2]
    assert (each.rule, each.hosts, each.severity, then) == found


NO_FILTERS = {
    options.ENABLED_FILTERS: Setting(("ComputeFilter",), "nova.conf:2", given=True)
}
GIVEN_OFF = assumed(limit_tenants_to_placement_aggregate=False)


@pytest.mark.parametrize(
    ("assumptions", "severity"),
    [
        (OFF, Severity.WARNING),
        (GIVEN_OFF, Severity.WARNING),
        (
            dataclasses.replace(
                GIVEN_OFF, settings={**GIVEN_OFF.settings, **NO_FILTERS}
            ),
            Severity.ERROR,
        ),
    ],
)
def test_aggregates_of_projects_that_the_scheduler_ignores_are_found(
    assumptions, severity
):
    (found,) = findings(of(assumptions, filter_tenant_id="1d1d"))
    assert (found.rule, found.severity) == ("project-off", severity)
    assert (found.kind, found.aggregates) == (SubjectKind.OPTION, ("reds",))
    words = found.words()
    assert "to keep other projects off these hosts, add Aggr" in words.when
    assert "limit_tenants_to_placement_aggregate on" in words.when
    assert findings(of(assumptions)) == []


# project-not-exclusive


def test_hosts_of_a_project_that_others_may_use_are_found():
    (found,) = findings(of(LIMITED, filter_tenant_id="1d1d"))
    assert (found.rule, found.name) == ("project-not-exclusive", "reds")
    assert found.severity is Severity.WARNING
    assert found.words().problem == (
        "other projects may land here (AggregateMultiTenancyIsolation is assumed to be "
        "off)"
    )
    complete = dataclasses.replace(LIMITED, files=("nova.conf",))
    (found,) = findings(of(complete, filter_tenant_id="1d1d"))
    assert "AggregateMultiTenancyIsolation is off" in found.words().problem


def test_the_servers_of_other_projects_are_named_if_they_were_read():
    residents = (
        PlacedServer("red-1", "1D1D", "a"),
        PlacedServer("blue-1", "2d2d", "a"),
        PlacedServer("blue-2", "2d2d", "a"),
        PlacedServer("blue-3", "2d2d", "b"),
    )
    servers = ServerCounts(4, 0, 0, (), residents=residents)
    cloud = dataclasses.replace(of(LIMITED, filter_tenant_id="1d1d"), servers=servers)
    (found,) = findings(cloud, "project")
    assert found.words().problem.endswith("; 2 servers do: blue-1, blue-2")
    assert found.affected == ("host a", "server blue-1", "server blue-2")


@pytest.mark.parametrize("assumptions", [ON, REQUIRED, HOST_FILTER])
def test_hosts_that_are_closed_to_other_projects_are_no_finding(assumptions):
    named = {"filter_tenant_id": "1d1d", "filter_tenant_id2": "2d2d"}
    assert ids(of(assumptions, **named)) == []
    # No host, and no project.
    assert (
        ids(
            survey(
                [host("a")],
                aggregates=[aggregate("reds", filter_tenant_id="1")],
                assumptions=LIMITED,
            )
        )
        == []
    )
    assert ids(of(LIMITED)) == []
