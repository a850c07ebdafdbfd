"""What a person reads on a terminal: few lines, and where all is."""

from __future__ import annotations

import math

import pytest

from osc_traitsched.commands import base
from tests.unit.commands.desired import GOLD, run, second, with_servers

COLUMNS = 80
FLAVORS = [f"flavor-with-a-long-name-{number:02}" for number in range(17)]
ISOLATE = ("isolate", "gold", GOLD, "--set", "database_collation=case-sensitive")
PROJECTS = ("--set", "scheduler.limit_tenants_to_placement_aggregate=true")
EVERY = ("cmp00", "cmp01", "cmp02", "cmp03")
PLAN = """
    traits: {CUSTOM_SILVER: {hosts: [cmp03]}}
    aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}
    """


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(base.Command, "width", COLUMNS)


@pytest.fixture(autouse=True)
def many(cloud, monkeypatch):
    """17 flavors; the aggregate is a zone with three servers, and a project's."""
    cloud.flavors.clear()
    for name in FLAVORS:
        cloud.flavor(name)
    cloud.metadata["availability_zone"] = "az-east"
    second(cloud, "cmp00", "cmp01", filter_tenant_id="pepper")
    with_servers(
        cloud,
        monkeypatch,
        cmp00={"web-1": {}, "web-2": {}},
        cmp02={"db": {f"trait:{GOLD}": "required"}},
    )


def rows(text):
    return sum(math.ceil(len(line) / COLUMNS) for line in text.splitlines())


def refusal(found):
    (line,) = [x for x in found.err.splitlines() if x.startswith("Refused: ")]
    return line


def test_a_refusal_takes_three_rows_at_most(terminal, cloud, trait_sched, golden):
    isolate = run(*ISOLATE, *PROJECTS)
    planned = trait_sched("plan", "w.yaml", *PROJECTS, w=PLAN)
    cloud.gives(GOLD, *EVERY)
    cloud.flavor("golden", CUSTOM_GOLD="required")
    removed = run("remove", GOLD, "--all", "--dry-run")
    runs = {"isolate": isolate, "plan": planned, "remove": removed}
    assert [each.code for each in runs.values()] == [5] * 3
    assert all(rows(refusal(each)) <= 3 for each in runs.values())
    assert cloud.written == []
    golden(
        "isolate/refused-on-a-terminal",
        [f"=== {name}\n{each.out}{each.err}" for name, each in runs.items()],
    )


@pytest.mark.parametrize("option", [("--long",), ("-f", "json"), ("-f", "csv")])
def test_all_flavors_and_servers_are_named_elsewhere(terminal, option):
    err = run(*ISOLATE, *PROJECTS, *option).err
    for line in ("'az-east': hosts", "Refused: "):
        (told,) = [each for each in err.splitlines() if line in each]
        assert all(name in told for name in FLAVORS)
    assert all(f"'{name}' ({name}-id, " in err for name in ("web-1", "web-2"))


def test_what_a_plan_does_to_many_is_told_in_a_few_rows(terminal, cloud, golden):
    cloud.metadata.clear()
    del cloud.aggregates["2"]
    found = run(*ISOLATE, "--dry-run")
    back = [run(*ISOLATE), run("unisolate", "gold", "--dry-run")]
    golden("isolate/on-a-terminal", "".join(r.out + r.err for r in (found, *back)))
    assert [each.code for each in (found, *back)] == [0] * 3


def test_what_is_forced_is_told_in_a_few_rows(terminal, golden):
    found = run(*ISOLATE, *PROJECTS, "--force", "--dry-run")
    golden("isolate/forced-on-a-terminal", found.err)
    assert found.code == 0
