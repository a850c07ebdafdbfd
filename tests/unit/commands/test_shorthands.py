"""isolate, unisolate, add and remove while others change the same cloud."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import CloudBroke
from tests.unit.app.living import GOLD as AGGREGATE
from tests.unit.app.living import HOSTS
from tests.unit.commands.desired import GOLD, requirers
from tests.unit.commands.rivals import (
    ISOLATE,
    KEY,
    UNISOLATE,
    another,
    rival,
    run,
    statuses,
)

CMP01 = HOSTS["cmp01"]


def last(found):
    return found.err.splitlines()[-1]


def test_a_person_gets_what_became_of_each_step(cloud, golden):
    isolate = ("isolate", "gold", GOLD, "--flavor", "golden")
    runs = [run(*isolate, "--dry-run"), run(*isolate), run(*isolate)]
    another(cloud, "cmp01")
    ssd = "STORAGE_DISK_SSD"
    cloud.gives(ssd, "cmp00", "cmp01")
    cloud.metadata[f"trait:{ssd}"] = "required"
    runs.append(run("unisolate", "gold", "--remove-traits"))
    golden("isolate/as-table", "".join(done.out + done.err for done in runs))
    # Hosts keep what isolates their other aggregate, and what says what they are.
    assert [done.code for done in runs] == [0] * 4
    assert cloud.metadata == {}
    assert cloud.having(GOLD) == {"cmp01"}
    assert cloud.specs("golden") == {KEY: "required"}
    assert cloud.having(ssd) == {"cmp00", "cmp01"}
    # No line is before the rows if a program reads them.
    assert run("unisolate", "gold", "-f", "csv").out.startswith('"step"')


def test_a_second_run_finds_all_as_wanted_and_writes_nothing(cloud):
    found = run(*ISOLATE)
    assert found.code == 0
    columns = ["step", "object", "status", "detail", "lets_in"]
    assert [list(row) for row in found.json] == [columns] * 7
    cloud.written.clear()
    again = run(*ISOLATE)
    assert (again.code, statuses(again), cloud.written) == (0, [], [])
    rows = [(row["step"], row["object"]) for row in again.json]
    assert rows == [(row["step"], row["object"]) for row in found.json]


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda cloud: cloud.takes(GOLD, "cmp01"),
        lambda cloud: cloud.mirror[AGGREGATE].discard("cmp00"),
        lambda cloud: cloud.specs("golden").pop(KEY),
    ],
    ids=["trait", "mirror", "flavor"],
)
def test_what_others_change_before_the_last_write_is_seen(cloud, meanwhile):
    rival(cloud, "os-aggregates", (meanwhile, cloud))
    found = run(*ISOLATE)
    assert (found.code, set(statuses(found))) == (1, {"changed"})
    assert last(found) == "1 of 7 no longer as desired: run the command again"
    assert run(*ISOLATE).code == 0


def test_a_host_that_joins_right_before_the_last_write_is_seen(cloud):
    cloud.when_read["os-aggregates", "1"] = [lambda: cloud.joins("cmp02")]
    found = run(*ISOLATE)
    assert (found.code, set(statuses(found))) == (1, {"changed"})
    assert run(*ISOLATE).code == 0
    assert cloud.having(GOLD) == {"cmp00", "cmp01", "cmp02"}


def test_that_the_cloud_can_t_be_compared_again_is_said(cloud):
    def fail():
        raise CloudBroke("compute", "out of order", 500)

    def breaks():
        cloud.when_read["os-aggregates",] = [fail]

    rival(cloud, "os-aggregates", (breaks,))
    found = run(*ISOLATE)
    assert (found.code, set(statuses(found))) == (1, {"changed"})
    assert last(found) == (
        "all is written; whether others have changed it since is not known: compute: "
        "out of order (HTTP 500)"
    )


def test_a_trait_that_another_aggregate_requires_keeps_its_last_host(cloud):
    assert run("isolate", "gold", GOLD).code == 0
    another(cloud)
    found = run(*UNISOLATE)
    assert (found.code, cloud.having(GOLD)) == (5, {"cmp00", "cmp01"})
    assert requirers(found) == f"aggregate 'gold2' ({KEY})"
    assert run(*UNISOLATE, "--force").code == 0
    assert cloud.having(GOLD) == set()


def test_a_flavor_keeps_requiring_what_a_host_that_left_has(cloud):
    assert run(*ISOLATE).code == 0
    cloud.leaves("cmp01")
    found = run(*UNISOLATE)
    assert (found.code, cloud.specs("golden")) == (0, {KEY: "required"})
    (row,) = [row for row in found.json if row["object"] == "golden"]
    assert (row["status"], row["detail"]) == (
        "unchanged",
        f"{GOLD} stays: cmp01 has it, too",
    )
    assert cloud.having(GOLD) == {"cmp01"}


def test_an_opening_that_fails_half_way_says_what_goes_on(cloud):
    assert run(*ISOLATE).code == 0
    rival(cloud, "golden-id", (cloud.flavors.pop, "golden-id"))
    found = run(*UNISOLATE)
    on = f"openstack trait-sched unisolate --remove-traits gold {GOLD}"
    assert (found.code, last(found)) == (
        1,
        f"1 of 4 failed, 2 not done; to continue, run {on}",
    )
    assert run(*on.split()[2:]).code == 0
    assert not cloud.having(GOLD)


def test_an_undo_file_brings_back_what_was_there(cloud, tmp_path):
    cloud.gives(GOLD, "cmp00")
    undo = tmp_path / "undo.yaml"
    assert run(*ISOLATE, "--undo", str(undo), "--dry-run").code == 0
    assert not undo.exists()
    assert run(*ISOLATE, "--undo", str(undo)).code == 0
    assert run("apply", str(undo)).code == 0
    assert (cloud.metadata, cloud.specs("golden")) == ({}, {})
    assert cloud.having(GOLD) == {"cmp00"}


def test_an_aggregate_without_hosts_is_told(cloud):
    for host in ("cmp00", "cmp01"):
        cloud.leaves(host)
    said = run(*ISOLATE, "--dry-run", "--force").err
    assert "aggregate 'gold' has no hosts" in said


def test_what_can_not_be_isolated_or_opened_is_said(cloud, golden):
    cloud.known.update({"COMPUTE_STATUS_DISABLED", "CUSTOM_RACK"})
    cloud.gives("CUSTOM_RACK", "cmp00", "cmp01")
    cloud.specs("golden")[KEY] = "forbidden"
    refused = [
        run(*ISOLATE),
        run("isolate", "gold", "COMPUTE_STATUS_DISABLED", "--force"),
        # No trait isolates it: which one is meant?
        run(*UNISOLATE),
    ]
    assert [(done.code, done.out) for done in refused] == [(1, "")] * 3
    assert cloud.written == []
    golden("isolate/refused", "".join(done.err for done in refused))


# add and remove


@pytest.mark.parametrize("verb", ["add", "remove"])
def test_what_others_turn_round_after_the_write_is_seen(cloud, verb):
    cloud.gives(GOLD, *(["cmp00", "cmp02", "cmp03"] if verb == "remove" else []))
    turn = cloud.gives if verb == "remove" else cloud.takes
    rival(cloud, HOSTS["cmp03"], (turn, GOLD, "cmp02"))
    found = run(verb, GOLD, "--host", "cmp02", "--host", "cmp03", "-f", "json")
    assert found.code == 1
    assert last(found) == "1 of 2 no longer as desired: run the command again"


NO_PROVIDER = "Placement has no provider for it, as far as Nova lists it"


@pytest.mark.parametrize("arguments", [ISOLATE, ("add", GOLD, "--host", "cmp01")])
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_where_a_host_has_no_provider_the_same_command_is_not_said_to_go_on(
    cloud, arguments, dry
):
    cloud.deletes_provider("cmp01")
    found = run(*arguments, *dry)
    assert found.code == 1
    assert last(found).endswith(
        f"; fix this, then run the same command again: cmp01: {NO_PROVIDER}"
    )


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_a_custom_trait_that_was_removed_may_come_back(cloud, words):
    cloud.gives(GOLD, "cmp00", "cmp01")
    line = f"{GOLD} may come back within 300 s if provider.yaml of a host lists it\n"
    assert line in run("remove", GOLD, "--host", "cmp01", *words).err
    # Nothing is left to remove, or somebody else's trait.
    assert line not in run("remove", GOLD, "--host", "cmp02", *words).err
