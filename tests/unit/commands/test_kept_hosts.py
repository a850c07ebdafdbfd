"""The hosts that flavors have to keep, as isolate, remove and plan say it.

``tests/unit/core/test_impact.py`` has the cases.
"""

from __future__ import annotations

import pytest

from osc_traitsched.cloud import allocation_candidates
from osc_traitsched.commands import base
from tests.unit.commands.desired import (
    GOLD,
    KEY,
    SILVER,
    keystone,
    run,
    second,
    stranded,
    with_servers,
)

PROJECTS = ("--set", "scheduler.limit_tenants_to_placement_aggregate=true")
BOTH = ("cmp00", "cmp01")


def isolate(*options):
    return run("isolate", "gold", GOLD, "--dry-run", *options)


def private(cloud, *projects):
    """Leave the cloud one flavor, that these projects may use."""
    cloud.flavors = {"golden-id": cloud.flavors["golden-id"]}
    cloud.flavors["golden-id"]["os-flavor-access:is_public"] = False
    access = [{"flavor_id": "golden-id", "tenant_id": each} for each in projects]
    read = cloud.compute_get

    def get(parts, params):
        if parts[-1] == "os-flavor-access":
            return {"flavor_access": access}
        return read(parts, params)

    cloud.compute_get = get


def test_a_private_flavor_keeps_a_host_in_a_zone_that_is_also_a_projects(cloud):
    second(cloud, *BOTH, filter_tenant_id="p1", availability_zone="az1")
    private(cloud, "p9")
    found = isolate(*PROJECTS)
    assert found.code == 5
    assert stranded(found) == "flavor 'golden' in zone 'az1'"


@pytest.mark.parametrize(
    ("projects", "code"), [(["p1"], 0), (["p1", "p9"], 5), ([], 5)]
)
def test_a_private_flavor_is_for_other_projects_only_if_one_of_them_may_use_it(
    cloud, projects, code
):
    # The aggregate is closed to p1 as it is: that has the hosts of the other one.
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp02", "cmp03", filter_tenant_id="P1")
    private(cloud, *projects)
    assert isolate(*PROJECTS).code == code


@pytest.mark.parametrize("spelled", ["p2", "P2", "p2 "])
def test_who_may_use_a_flavor_is_compared_as_by_novas_database(cloud, spelled):
    second(cloud, *BOTH, filter_tenant_id=spelled)
    private(cloud, "p2")
    assert isolate(*PROJECTS).code == 5
    strict = ("--set", "database_collation=case-sensitive")
    assert isolate(*PROJECTS, *strict).code == (5 if spelled == "p2" else 0)


def silver(cloud, *hosts):
    """Leave the cloud one flavor, that has its trait on these hosts alone."""
    cloud.flavors = {}
    cloud.flavor("silver", CUSTOM_SILVER="required")
    cloud.gives("CUSTOM_SILVER", *hosts)


def full(cloud, **totals):
    """Let hosts be full, of which these have less or more than 4 VCPU in all."""
    read = cloud.placement_get

    def get(parts, params):
        if parts == ("allocation_candidates",):
            return {"allocation_requests": [], "provider_summaries": {}}
        if "resources" in params:
            return {"resource_providers": []}
        if parts[-1] == "inventories":
            total = totals.get(cloud._host(parts[1]), 64)
            one = {"reserved": 0, "allocation_ratio": 1.0, "min_unit": 1}
            every = {**one, "total": total, "max_unit": total, "step_size": 1}
            plenty = {**every, "total": 999999, "max_unit": 999999}
            return {
                "inventories": {"VCPU": every, "MEMORY_MB": plenty, "DISK_GB": plenty}
            }
        if parts[-1] == "usages":
            return {"usages": {}}
        return read(parts, params)

    cloud.placement_get = get
    cloud.flavors["golden-id"]["vcpus"] = 4


def test_removing_relies_on_no_host_that_was_not_read_either(cloud, monkeypatch):
    monkeypatch.setattr(allocation_candidates, "MOST_READ_ONE_BY_ONE", 1)
    cloud.gives(GOLD, "cmp00", "cmp02", "cmp03")
    cloud.flavors = {"golden-id": cloud.flavors["golden-id"]}
    cloud.specs("golden")[f"trait:{GOLD}"] = "required"
    full(cloud, cmp02=2)
    remove = ("remove", GOLD, "--host", "cmp00", "--dry-run")
    found = run(*remove)
    assert (found.code, stranded(found).startswith("flavor 'golden'")) == (5, True)
    assert run(*remove, "--force").code == 0
    full(cloud, cmp03=2)
    assert run(*remove).code == 0


@pytest.mark.parametrize(
    ("most", "holder", "code"), [(9, "cmp03", 0), (1, "cmp03", 5), (1, "cmp01", 0)]
)
def test_a_server_relies_on_no_host_that_was_not_read_either(
    cloud, monkeypatch, most, holder, code
):
    """A server that loses no host keeps those that were not read."""
    monkeypatch.setattr(allocation_candidates, "MOST_READ_ONE_BY_ONE", most)
    cloud.gives(GOLD, "cmp00", "cmp02", holder)
    full(cloud, cmp02=2)
    cloud.flavors.clear()
    needy = {f"trait:{SILVER}": "required", "resources:VCPU": "4"}
    cloud.gives(SILVER, "cmp00", "cmp03")
    with_servers(cloud, monkeypatch, cmp00={"old": {KEY: "required", **needy}})
    gone = "cmp00" if holder == "cmp03" else "cmp02"
    assert run("remove", GOLD, gone, "--dry-run").code == code


def test_a_disabled_host_elsewhere_is_left_to_a_flavor(cloud, golden):
    silver(cloud, *BOTH, "cmp02")
    cloud.gives("COMPUTE_STATUS_DISABLED", *BOTH, "cmp02")
    assert isolate().code == 0
    # It is no host for now, though.
    cloud.takes("COMPUTE_STATUS_DISABLED", *BOTH)
    found = isolate()
    assert found.code == 5
    golden("isolate/only-a-disabled-host-left", found.err)


DEMO, THEIRS = "1" * 32, "2" * 32
ON = ("--set", "filter_scheduler.enabled_filters=AggregateMultiTenancyIsolation")


@pytest.fixture(autouse=True)
def projects(cloud, monkeypatch):
    keystone(cloud, monkeypatch, DEMO, THEIRS)


def test_all_projects_are_told_that_an_aggregate_leaves_no_host(plan, cloud, golden):
    text = f"aggregates: {{new: {{projects: ['{DEMO}', '{THEIRS}']}}}}"
    told = f"flavors 'golden', 'small' for projects '{DEMO}', '{THEIRS}'"
    found = plan(text, "--nova-release", "34", *PROJECTS)
    assert found.code == 5
    assert stranded(found) == told
    golden("plan/projects-without-hosts", found.err)
    private(cloud, THEIRS)
    found = plan(text, "--nova-release", "34", *PROJECTS)
    assert stranded(found) == f"flavor 'golden' for project '{THEIRS}'"


def test_what_will_not_be_begun_takes_no_host_and_misplaces_no_server(
    plan, cloud, monkeypatch
):
    with_servers(cloud, monkeypatch, cmp00={"plain": {}})
    cloud.aggregates["1"]["hosts"] = ["cmp00"]
    cloud.aggregates["1"]["metadata"] = {"availability_zone": "az1"}
    second(cloud, "cmp01", availability_zone="az2")
    text = f"hosts: [cmp01], projects: ['{DEMO}'], isolated_for: [CUSTOM_GOLD]"
    found = plan(f"aggregates: {{gold: {{{text}}}}}", *ON)
    assert [row["status"] for row in found.json][-3:] == ["failed", *["not done"] * 2]
    assert "keep" not in found.err
    assert "left there" not in found.err


# Servers that would lose their last host.


PIN = {"zone": "az1"}
BOTH_TRAITS = {KEY: "required", f"trait:{SILVER}": "required"}
FORBIDS = {f"trait:{SILVER}": "forbidden"}
OUT_OF_GOLD = "aggregates: {gold: {absent: {hosts: [cmp00]}}}"


@pytest.mark.parametrize(
    ("server", "command", "why"),
    [
        (BOTH_TRAITS, ("remove", GOLD, "cmp01"), "2 lack trait CUSTOM_GOLD"),
        (BOTH_TRAITS, ("remove", SILVER, "cmp01"), "3 lack trait CUSTOM_SILVER"),
        (
            {KEY: "required", "image": "silver-id"},
            ("remove", SILVER, "cmp01"),
            "3 lack trait CUSTOM_SILVER (image)",
        ),
        (
            {KEY: "required", **PIN},
            ("remove", GOLD, "cmp00", "cmp01"),
            "2 are outside zone az1 (aggregate gold)",
        ),
        (
            BOTH_TRAITS,
            "traits: {CUSTOM_GOLD: {absent: {hosts: [cmp01]}}}",
            "2 lack trait CUSTOM_GOLD",
        ),
        (FORBIDS, ("add", SILVER, "--all"), "4 have trait CUSTOM_SILVER"),
        (
            {KEY: "required", **PIN},
            "aggregates: {gold: {absent: {hosts: [cmp00, cmp01]}}}",
            "4 are outside zone az1",
        ),
        (
            BOTH_TRAITS,
            ("isolate", "gold", "CUSTOM_NEW", "--create"),
            "2 are in the isolated aggregate gold, 1 lacks",
        ),
        (BOTH_TRAITS, ("trait", "retire", SILVER), "4 lack trait CUSTOM_SILVER"),
        (BOTH_TRAITS, ("trait", "rename", GOLD, "CUSTOM_NEW"), "4 lack trait"),
    ],
)
def test_no_write_takes_the_last_host_of_a_server(
    cloud, monkeypatch, trait_sched, server, command, why
):
    """Its flavor is gone; cmp01 alone has both traits."""
    cloud.flavors.clear()
    cloud.metadata["availability_zone"] = "az1"
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02")
    cloud.gives(SILVER, "cmp01", "cmp03")
    cloud.picture("silver", CUSTOM_SILVER="required")
    with_servers(cloud, monkeypatch, NONE={"old": {"status": "SHELVED", **server}})
    if isinstance(command, str):
        found = trait_sched("apply", "w.yaml", w=command)
    else:
        found = run(*command)
    assert found.code == 5, found.err
    assert "no host would suit server 'old' (old-id, on no host) for" in found.err
    assert why in found.err
    assert cloud.written == []


@pytest.mark.parametrize(
    ("server", "hosts"),
    [
        ({KEY: "required"}, ["cmp01"]),
        ({**BOTH_TRAITS, "status": "ERROR"}, ["cmp01"]),
        ({**BOTH_TRAITS, "trait:CUSTOM_GONE": "required"}, ["cmp01"]),
        (BOTH_TRAITS, ["cmp00", "cmp02"]),
        ({**FORBIDS, KEY: "required"}, ["cmp01"]),
    ],
)
def test_a_server_that_keeps_a_host_or_has_none_now_is_not_in_the_way(
    cloud, monkeypatch, server, hosts
):
    cloud.flavors.clear()
    cloud.gives(GOLD, "cmp00", "cmp01", "cmp02")
    cloud.gives(SILVER, "cmp01", "cmp03")
    with_servers(cloud, monkeypatch, NONE={"old": server})
    found = run("remove", GOLD, *hosts)
    assert (found.code, "old" in found.err) == (0, False), found.err


def test_servers_for_which_explain_would_say_the_same_are_told_at_once(
    cloud, monkeypatch
):
    cloud.flavors.clear()
    cloud.gives(GOLD, "cmp00", "cmp03")
    cloud.gives("COMPUTE_STATUS_DISABLED", "cmp03")
    cloud.picture("other")
    needy = {f"s{n}": {KEY: "required"} for n in range(3)}
    needy["s3"] = {KEY: "required", "image": "other-id", "project": "q"}
    with_servers(cloud, monkeypatch, cmp00=needy)
    monkeypatch.setattr(base.Command, "width", 80)
    found = run("remove", GOLD, "cmp00")
    assert found.code == 5
    assert (
        "Refused: no host would suit servers 's0' (cmp00), 's1' (cmp00), 's2' (cmp00) "
        "and 1 more: 3 lack trait CUSTOM_GOLD (flavor gone), 1 is disabled."
    ) in found.err
    # It was the last host, disabled ones too.
    assert run("remove", GOLD, "cmp03", "--force").code == 0
    assert run("remove", GOLD, "cmp00").code == 5


def test_a_trait_that_is_new_is_given_without_a_look_at_servers(cloud):
    assert run("add", "CUSTOM_NEW", "--all", "--create").code == 0
    assert ("servers", "detail") not in cloud.asked


SHELVED = {"status": "SHELVED_OFFLOADED", f"trait:{SILVER}": "required"}


@pytest.mark.parametrize(
    ("metadata", "absent", "code"),
    [
        ({"filter_tenant_id": DEMO}, f"projects: ['{DEMO}']", 5),
        ({"filter_tenant_id": f"{DEMO},{THEIRS}"}, f"projects: ['{THEIRS}']", 0),
        ({KEY: "required"}, f"isolated_for: [{GOLD}]", 0),
    ],
)
def test_what_an_aggregate_loses_can_take_the_hosts_of_servers_too(
    trait_sched, cloud, monkeypatch, metadata, absent, code
):
    cloud.flavors.clear()
    cloud.gives(SILVER, "cmp00")
    cloud.metadata.clear()
    cloud.metadata.update(metadata)
    second(cloud, "cmp02", filter_tenant_id=DEMO)
    with_servers(cloud, monkeypatch, NONE={"old": {**SHELVED, "project": DEMO}})
    text = f"aggregates: {{gold: {{absent: {{{absent}}}}}}}"
    found = trait_sched("plan", "w.yaml", *PROJECTS, w=text)
    assert found.code == code, found.err
    # Without an isolation a host takes more servers, not fewer.
    assert (("servers", "detail") in cloud.asked) == (KEY not in metadata)


@pytest.mark.parametrize(
    ("holders", "silent", "code"),
    [
        (["cmp01"], ["cmp01"], 5),
        (["cmp01", "cmp02"], ["cmp01"], 0),
        (["cmp01"], [], 0),
    ],
)
def test_servers_of_a_cell_that_does_not_answer_may_require_a_trait(
    cloud, monkeypatch, holders, silent, code
):
    cloud.flavors.clear()
    cloud.gives(SILVER, *holders)
    read = cloud.compute_get

    def compute_get(parts, params):
        body = read(parts, params)
        for each in body["services"] if parts == ("os-services",) else ():
            each["status"] = "UNKNOWN" if each["host"] in silent else "enabled"
        return body

    monkeypatch.setattr(cloud, "compute_get", compute_get)
    found = run("remove", SILVER, "cmp01")
    told = "Nova does not list the servers of host cmp01: the cell does not answer"
    assert (found.code, told in found.err) == (code, bool(silent)), found.err
    assert run("remove", SILVER, "cmp01", "--force").code == 0


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_settings_that_nova_scheduler_rejects_take_no_host(
    trait_sched, cloud, monkeypatch, force
):
    cloud.flavors.clear()
    cloud.gives(SILVER, "cmp01", "cmp02")
    with_servers(cloud, monkeypatch, cmp02={"old": SHELVED})
    gone = "filter_scheduler.enabled_filters=AvailabilityZoneFilter"
    options = ("--nova-release", "34", "--set", gone, *force)
    text = "traits: {CUSTOM_SILVER: {absent: {hosts: [cmp01]}}}"
    assert trait_sched("apply", "w.yaml", *options, w=text).code == 0
    assert cloud.written


MINE = f"aggregates: {{gold: {{projects: ['{DEMO}']}}}}"


@pytest.mark.parametrize("options", [(), PROJECTS])
def test_a_first_project_of_an_aggregate_may_turn_its_option_on(
    plan, cloud, monkeypatch, options
):
    silver(cloud, "cmp02")
    found = plan(MINE, *options)
    assert found.code == 5, found.err
    assert stranded(found) == f"flavor 'silver' for project '{DEMO}'"
    # The same for a server whose flavor is gone.
    cloud.flavors.clear()
    with_servers(cloud, monkeypatch, NONE={"old": {**SHELVED, "project": DEMO}})
    found = plan(MINE, *options)
    assert found.code == 5, found.err
    assert "no host would suit server 'old'" in found.err


def test_what_may_be_an_option_or_a_filter_counts_as_either(plan, cloud):
    # With the option, the project has cmp01 alone; with the filter, it loses cmp00.
    second(cloud, "cmp01", filter_tenant_id=THEIRS)
    silver(cloud, "cmp00")
    found = plan(MINE)
    assert found.code == 5, found.err
    assert stranded(found) == f"flavor 'silver' for project '{THEIRS}'"
    assert plan(MINE, *PROJECTS).code == 0


def test_a_repair_of_the_mirror_keeps_a_host_for_each_flavor(cloud):
    silver(cloud, "cmp02")
    second(cloud, "cmp02", **{KEY: "required"})
    # Placement does not know that the aggregate closes the host.
    cloud.mirror[cloud.aggregates["2"]["uuid"]].clear()
    for dry in (("--dry-run",), ()):
        found = run("mirror", "repair", *dry)
        assert (found.code, stranded(found)) == (5, "flavor 'silver'"), found.err
    assert not cloud.written
    forced = run("mirror", "repair", "--force")
    assert (forced.code, "no host would be left" in forced.err) == (0, True)
    assert cloud.written


def test_a_repair_that_lets_hosts_in_is_not_refused(cloud):
    silver(cloud, "cmp02")
    second(cloud, "cmp01", **{KEY: "required"})
    cloud.mirror[cloud.aggregates["2"]["uuid"]].add("cmp02")
    found = run("mirror", "repair")
    assert (found.code, "Refused" in found.err) == (0, False), found.err


@pytest.mark.parametrize(
    "verb", [("trait", "rename"), ("trait", "retire"), ("remove",)]
)
def test_who_changes_flavors_is_told_that_servers_keep_their_copy(
    cloud, monkeypatch, verb
):
    silver(cloud, "cmp02")
    with_servers(cloud, monkeypatch, cmp02={"old": SHELVED})
    more = {"rename": ["CUSTOM_NEW"], "retire": []}.get(verb[-1], ["cmp02"])
    found = run(*verb, SILVER, *more)
    assert found.code == 5, found.err
    assert "no host would suit server 'old'" in found.err
    is_told = "existing servers keep their own copy of the flavor" in found.err
    assert is_told is (verb != ("remove",))
