"""isolate --project: hosts for projects, and what Nova makes of them."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import CloudBroke
from tests.unit.commands.desired import GOLD, keystone, run, second, with_servers

DEMO, THEIRS = "1" * 32, "2" * 32
ISOLATE = ("isolate", "gold", "--project", "demo")
LIMIT = "scheduler.limit_tenants_to_placement_aggregate=true"
REQUIRED = "scheduler.placement_aggregate_required_for_tenants=true"
FILTERS = "filter_scheduler.enabled_filters="
ISOLATION = f"{FILTERS}AggregateMultiTenancyIsolation"
SETTINGS = {
    "nothing is known": (),
    "both halves": (LIMIT, ISOLATION),
    "others get in": (LIMIT, f"{FILTERS}ComputeFilter"),
    "every project needs an aggregate": (LIMIT, REQUIRED, f"{FILTERS}ComputeFilter"),
    "theirs may go elsewhere": (ISOLATION,),
}


@pytest.fixture(autouse=True)
def projects(cloud, monkeypatch):
    keystone(cloud, monkeypatch, DEMO)
    theirs = {"demo-1": {"project": DEMO}, "other": {}}
    shelved = {"demo-2": {"project": DEMO}}
    with_servers(cloud, monkeypatch, cmp00={"ssd-2": {}}, cmp03=theirs, NONE=shelved)
    cloud.flavors.clear()


def test_a_person_is_told_what_makes_hosts_a_projects_own(golden):
    runs = {
        name: run(
            *ISOLATE, "--dry-run", *(part for o in given for part in ("--set", o))
        )
        for name, given in SETTINGS.items()
    }
    golden("isolate/projects", [f"=== {k}\n{v.out}{v.err}" for k, v in runs.items()])
    assert {each.code for each in runs.values()} == {0}


def test_a_project_gets_hosts_once_and_gives_them_back(cloud):
    first, again = run(*ISOLATE, "-f", "json"), run(*ISOLATE, "-f", "json")
    assert cloud.metadata == {"filter_tenant_id": DEMO}
    assert [first.json[0]["status"], again.json[0]["status"]] == [
        "changed",
        "unchanged",
    ]
    for done in first, again:
        (row,) = done.json
        assert "On it now, not demo: 'ssd-2' (ssd-2-id, on cmp00)" in row["lets_in"]
        assert "of demo: 'demo-1' (demo-1-id, on cmp03)" in row["lets_in"]
    back = run("unisolate", "gold", "--project", "demo", "-f", "json")
    assert (back.code, cloud.metadata) == (0, {})
    assert "servers of any project may land here" in back.json[0]["lets_in"]


def test_a_projects_own_servers_are_where_they_belong(cloud, monkeypatch):
    keystone(cloud, monkeypatch, "p")
    with_servers(cloud, monkeypatch, cmp00={"ssd-2": {}})
    words = ("isolate", "gold", GOLD, "--create", "--project", "p", "--dry-run")
    found = run(*words, "--force")
    assert (found.code, "On it now" in found.err) == (0, False)
    # With both options on, it may go to its project's hosts only, and is not let in.
    refused = run(*words)
    assert refused.code == 5
    assert "no host would suit server 'ssd-2'" in refused.err


def test_servers_that_can_not_be_read_are_no_reason_to_be_silent(cloud, monkeypatch):
    read = cloud.compute_get

    def get(parts, params):
        if parts == ("servers", "detail"):
            raise CloudBroke("compute", "no", 403)
        return read(parts, params)

    monkeypatch.setattr(cloud, "compute_get", get)
    found = run(*ISOLATE)
    assert (found.code, cloud.metadata) == (0, {"filter_tenant_id": DEMO})
    assert "which servers are on it can't be read" in found.err


def test_servers_in_another_aggregate_of_their_project_stay(cloud):
    second(cloud, "cmp03", filter_tenant_id=DEMO)
    found = run(*ISOLATE, "--dry-run")
    assert (found.code, "Elsewhere now" in found.err) == (0, False)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("isolate", "gold"), 2),
        (("isolate", "gold", "--project", "demo", "--flavor", "golden"), 2),
        (("isolate", "gold", "--project", "demon"), 1),
        (("unisolate", "gold", "--project", THEIRS), 0),
    ],
)
def test_what_is_meant_has_to_be_there(cloud, command, code):
    found = run(*command)
    assert (found.code, cloud.written) == (code, []), found.err
