"""The keys by which apply names projects, for the host filter of each release."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.metadata import projects_in
from tests.unit.commands.wanted import keystone, stranded

P1, P2, P3 = (str(number) * 32 for number in range(1, 4))
KEY = "filter_tenant_id"
BOTH = f"aggregates: {{gold: {{tenants: ['{P1}', '{P2}']}}}}"
ONLY = f"aggregates: {{gold: {{tenants: ['{P2}'], only: true}}}}"
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


@pytest.fixture
def steps(cloud):
    """The metadata of gold before and after each request that changes it."""
    found = [dict(cloud.metadata)]
    write = cloud.compute_post

    def compute_post(parts, body):
        write(parts, body)
        found.append(dict(cloud.aggregates["1"]["metadata"]))

    cloud.compute_post = compute_post
    return found


@pytest.mark.parametrize("api", [OLD, EITHER])
def test_before_30_the_key_without_a_suffix_lists_all(apply, cloud, api):
    cloud.compute_maximum = api
    cloud.metadata[KEY] = P1
    done = apply(BOTH, *ON)
    own = {f"{KEY}_{P1}": P1, f"{KEY}_{P2}": P2}
    assert (done.code, len(cloud.written)) == (0, 1), done.err
    assert cloud.metadata == {KEY: f"{P1},{P2}", **own}
    assert {row["change"] for row in done.json} == {"set", "add"}
    assert "reads no key" not in done.err
    assert apply(BOTH, *ON).json == []


def test_from_30_on_each_project_has_one_key(apply, cloud):
    cloud.compute_maximum = NEW
    cloud.metadata[KEY] = P1
    assert apply(BOTH, *ON).code == 0
    assert cloud.metadata == {KEY: P1, f"{KEY}_{P2}": P2}


@pytest.mark.parametrize("api", [OLD, EITHER, NEW])
def test_the_key_without_a_suffix_goes_to_who_stays(apply, cloud, api, steps):
    cloud.compute_maximum = api
    assert apply(BOTH, *ON).code == 0
    done = apply(ONLY, *ON)
    assert done.code == 0, done.err
    assert projects_in(cloud.metadata) == {P2}
    assert [KEY in metadata for metadata in steps] == [False, True, True]
    assert cloud.metadata[KEY] == P2


def test_others_that_only_keys_with_a_suffix_name_are_not_kept_out(apply, cloud, steps):
    cloud.compute_maximum = OLD
    cloud.metadata[f"{KEY}_x"] = P3
    steps[0] = dict(cloud.metadata)
    done = apply(f"aggregates: {{gold: {{tenants: ['{P1}']}}}}", *ON)
    assert done.code == 0, done.err
    # To the filter it was open to all: it is closed for both at once.
    assert [metadata.get(KEY) for metadata in steps] == [None, f"{P1},{P3}"]
    assert cloud.metadata[f"{KEY}_{P1}"] == P1


@pytest.mark.parametrize("api", [OLD, EITHER])
def test_who_is_listed_has_a_key_of_its_own_wherever_a_run_ends(apply, cloud, api):
    cloud.compute_maximum = api
    cloud.metadata[f"{KEY}_{P1}"] = P1
    write = cloud.compute_post

    def compute_post(parts, body):
        if KEY in cloud.metadata:
            raise CloudBroke("compute", "no", 403)
        write(parts, body)

    cloud.compute_post = compute_post
    apply(BOTH, *ON)
    assert cloud.metadata == {
        KEY: f"{P2},{P1}",
        f"{KEY}_{P1}": P1,
        f"{KEY}_{P2}": P2,
    }


def test_an_undo_file_leads_back_to_the_same_projects(apply, trait_sched, cloud):
    cloud.compute_maximum = OLD
    cloud.metadata[KEY] = P1
    text = (
        f"aggregates: {{gold: {{tenants: ['{P2}', '{P3}'], "
        f"absent: {{tenants: ['{P1}']}}}}}}"
    )
    assert apply(text, "--undo", "undo.yaml").code == 0
    assert (projects_in(cloud.metadata), cloud.metadata[KEY]) == (
        {P2, P3},
        f"{P2},{P3}",
    )
    back = trait_sched("apply", "undo.yaml")
    assert back.code == 0, back.err
    assert (projects_in(cloud.metadata), cloud.metadata[KEY]) == ({P1}, P1)


def test_a_project_that_several_keys_name_is_taken_once(apply, cloud):
    cloud.compute_maximum = OLD
    cloud.metadata.update(
        {KEY: f"{P1},{P2},{P3}", **{f"{KEY}_{each}": each for each in (P1, P2, P3)}}
    )
    text = f"aggregates: {{gold: {{tenants: ['{P2}', '{P3}'], only: true}}}}"
    done = apply(text)
    assert (done.code, projects_in(cloud.metadata)) == (0, {P2, P3}), done.err


def test_a_gone_project_is_said_once(apply, cloud):
    cloud.compute_maximum = OLD
    gone = "9" * 32
    done = apply(f"aggregates: {{gold: {{tenants: ['{P1}', '{gone}']}}}}")
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
    done = apply(f"aggregates: {{gold: {{tenants: ['{P2}']}}}}", *options)
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


@pytest.mark.parametrize(("api", "named"), [(EITHER, "30"), (NEW, "34")])
def test_no_host_is_reserved_that_was_so_for_the_release(apply, cloud, api, named):
    cloud.compute_maximum = api
    cloud.aggregates["1"]["hosts"] = list(cloud.traits)
    cloud.metadata[f"{KEY}_x"] = P1
    done = apply(BOTH, *ON, "--nova-release", named)
    comes = f"gold (cmp[00-03]): servers of project '{P2}' may land here\n"
    assert (done.code, done.err, len(cloud.written)) == (0, comes, 1)
