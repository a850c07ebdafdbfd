"""The keys by which apply names projects, for the host filter of each release."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import CloudBroke
from tests.unit.commands.desired import keystone, stranded

P1, P2, P3 = (str(number) * 32 for number in range(1, 4))
KEY = "filter_tenant_id"
BOTH = f"aggregates: {{gold: {{projects: ['{P1}', '{P2}']}}}}"
ON = ("--set", "filter_scheduler.enabled_filters=AggregateMultiTenancyIsolation")
OFF = ("--set", "filter_scheduler.enabled_filters=ComputeFilter")
ASKED = ("--set", "scheduler.limit_tenants_to_placement_aggregate=true")
ISOLATED = ("--set", "scheduler.enable_isolated_aggregate_filtering=true")
REQUIRED = (*ASKED, "--set", "scheduler.placement_aggregate_required_for_tenants=true")
#: The compute API of releases before 30, of 29 and 30, and of later ones.
OLD, EITHER, NEW = "2.95", "2.96", "2.100"


@pytest.fixture(autouse=True)
def projects(cloud, monkeypatch):
    keystone(cloud, monkeypatch, P1, P2, P3)


OWN_KEYS = {f"{KEY}_{P1}": P1, f"{KEY}_{P2}": P2}
LISTED = {KEY: f"{P1},{P2}", **OWN_KEYS}


@pytest.mark.parametrize(
    ("api", "after"),
    [(OLD, LISTED), (EITHER, LISTED), (NEW, {KEY: P1, f"{KEY}_{P2}": P2})],
)
def test_the_keys_are_those_that_the_filter_of_the_release_reads(
    apply, cloud, api, after
):
    """tests/unit/core/desired/test_desired.py has the cases."""
    cloud.compute_maximum = api
    cloud.metadata[KEY] = P1
    done = apply(BOTH, *ON)
    assert (done.code, len(cloud.written)) == (0, 1), done.err
    assert cloud.metadata == after
    assert "reads no key" not in done.err
    assert apply(BOTH, *ON).json == []


def test_a_gone_project_is_said_once(apply, cloud):
    cloud.compute_maximum = OLD
    gone = "9" * 32
    done = apply(f"aggregates: {{gold: {{projects: ['{P1}', '{gone}']}}}}")
    assert (done.code, done.err.count(f"Keystone has no project {gone}, which")) == (
        5,
        1,
    )


@pytest.mark.parametrize(
    ("api", "options"), [(OLD, OFF), (NEW, ON), (OLD, (*ON, *REQUIRED))]
)
def test_keys_with_a_suffix_that_are_read_or_of_no_matter_are_not_told(
    apply, cloud, api, options
):
    cloud.compute_maximum = api
    cloud.metadata[f"{KEY}_x"] = P2
    done = apply(f"aggregates: {{gold: {{projects: ['{P2}']}}}}", *options)
    assert (done.code, done.json, done.err) == (0, [], "")


@pytest.mark.parametrize(
    ("api", "named"), [(OLD, ()), (EITHER, ()), (EITHER, ("--nova-release", "29"))]
)
def test_any_release_that_a_cloud_can_be_of_reserves_hosts(apply, cloud, api, named):
    """A key without a suffix closes an aggregate to what takes no other."""
    cloud.compute_maximum = api
    cloud.aggregates["1"]["hosts"] = list(cloud.traits)
    cloud.metadata[f"{KEY}_x"] = P1
    done = apply(BOTH, *ON, *named)
    assert (done.code, cloud.written) == (5, [])
    assert stranded(done).startswith("flavors 'golden', 'small'")


def test_host_show_names_the_projects_of_an_aggregate(cloud, trait_sched, monkeypatch):
    cloud.metadata[KEY] = P1

    def shown(identity_get):
        monkeypatch.setattr(cloud, "identity_get", identity_get)
        return trait_sched("host", "show", "cmp00").out

    def denied(parts, params):
        raise CloudBroke("identity", "no rights", 403)

    assert f"gold (project {P1})" in shown(denied)
    named = {"projects": [{"id": P1, "name": "acme"}], "links": {}}
    assert "gold (project acme)" in shown(lambda parts, params: named)
