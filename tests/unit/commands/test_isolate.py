"""isolate, unisolate, add and remove: rivals, last holders, requirers."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base
from osc_traitsched.core.errors import CloudBroke
from tests.functional import shell
from tests.unit.app.living import GOLD as AGGREGATE
from tests.unit.app.living import HOSTS, LivingCloud
from tests.unit.commands import desired
from tests.unit.commands.desired import (
    ISOLATE,
    KEY,
    SILVER,
    UNISOLATE,
    another,
    requirers,
    rival,
    row_statuses,
    with_servers,
)

# isolate, unisolate, add and remove while others change the same cloud.


CMP01 = HOSTS["cmp01"]


def last(found):
    return found.err.splitlines()[-1]


def test_a_person_gets_what_became_of_each_step(cloud, golden):
    isolate = ("isolate", "gold", desired.GOLD, "--flavor", "golden")
    runs = [
        desired.run(*isolate, "--dry-run"),
        desired.run(*isolate),
        desired.run(*isolate),
    ]
    another(cloud, "cmp01")
    ssd = "STORAGE_DISK_SSD"
    cloud.gives(ssd, "cmp00", "cmp01")
    cloud.metadata[f"trait:{ssd}"] = "required"
    runs.append(desired.run("unisolate", "gold", "--remove-traits"))
    golden("isolate/as-table", "".join(done.out + done.err for done in runs))
    # Hosts keep what isolates their other aggregate, and what says what they are.
    assert [done.code for done in runs] == [0] * 4
    assert cloud.metadata == {}
    assert cloud.having(desired.GOLD) == {"cmp01"}
    assert cloud.specs("golden") == {KEY: "required"}
    assert cloud.having(ssd) == {"cmp00", "cmp01"}
    # No line is before the rows if a program reads them.
    assert desired.run("unisolate", "gold", "-f", "csv").out.startswith('"step"')


def test_a_second_run_finds_all_as_wanted_and_writes_nothing(cloud):
    found = desired.run(*ISOLATE)
    assert found.code == 0
    columns = ["step", "object", "status", "detail", "lets_in"]
    assert [list(row) for row in found.json] == [columns] * 7
    cloud.written.clear()
    again = desired.run(*ISOLATE)
    assert (again.code, row_statuses(again), cloud.written) == (0, [], [])
    rows = [(row["step"], row["object"]) for row in again.json]
    assert rows == [(row["step"], row["object"]) for row in found.json]


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda cloud: cloud.takes(desired.GOLD, "cmp01"),
        lambda cloud: cloud.mirror[AGGREGATE].discard("cmp00"),
        lambda cloud: cloud.specs("golden").pop(KEY),
    ],
    ids=["trait", "mirror", "flavor"],
)
def test_what_others_change_before_the_last_write_is_seen(cloud, meanwhile):
    rival(cloud, "os-aggregates", (meanwhile, cloud))
    found = desired.run(*ISOLATE)
    assert (found.code, set(row_statuses(found))) == (1, {"changed"})
    assert last(found) == "1 of 7 no longer as desired: run the command again"
    assert desired.run(*ISOLATE).code == 0


def test_a_host_that_joins_right_before_the_last_write_is_seen(cloud):
    cloud.when_read["os-aggregates", "1"] = [lambda: cloud.joins("cmp02")]
    found = desired.run(*ISOLATE)
    assert (found.code, set(row_statuses(found))) == (1, {"changed"})
    assert desired.run(*ISOLATE).code == 0
    assert cloud.having(desired.GOLD) == {"cmp00", "cmp01", "cmp02"}


def test_that_the_cloud_can_t_be_compared_again_is_said(cloud):
    def fail():
        raise CloudBroke("compute", "out of order", 500)

    def breaks():
        cloud.when_read["os-aggregates",] = [fail]

    rival(cloud, "os-aggregates", (breaks,))
    found = desired.run(*ISOLATE)
    assert (found.code, set(row_statuses(found))) == (1, {"changed"})
    assert last(found) == (
        "all is written; whether others have changed it since is not known: compute: "
        "out of order (HTTP 500)"
    )


def test_a_trait_that_another_aggregate_requires_keeps_its_last_host(cloud):
    assert desired.run("isolate", "gold", desired.GOLD).code == 0
    another(cloud)
    found = desired.run(*UNISOLATE)
    assert (found.code, cloud.having(desired.GOLD)) == (5, {"cmp00", "cmp01"})
    assert requirers(found) == f"aggregate 'gold2' ({KEY})"
    assert desired.run(*UNISOLATE, "--force").code == 0
    assert cloud.having(desired.GOLD) == set()


def test_a_flavor_keeps_requiring_what_a_host_that_left_has(cloud):
    assert desired.run(*ISOLATE).code == 0
    cloud.leaves("cmp01")
    found = desired.run(*UNISOLATE)
    assert (found.code, cloud.specs("golden")) == (0, {KEY: "required"})
    (row,) = [row for row in found.json if row["object"] == "golden"]
    assert (row["status"], row["detail"]) == (
        "unchanged",
        f"{desired.GOLD} stays: cmp01 has it, too",
    )
    assert cloud.having(desired.GOLD) == {"cmp01"}


def test_an_opening_that_fails_half_way_says_what_goes_on(cloud):
    assert desired.run(*ISOLATE).code == 0
    rival(cloud, "golden-id", (cloud.flavors.pop, "golden-id"))
    found = desired.run(*UNISOLATE)
    on = f"openstack trait-sched unisolate --remove-traits gold {desired.GOLD}"
    assert (found.code, last(found)) == (
        1,
        f"1 of 4 failed, 2 not done; to continue, run {on}",
    )
    assert desired.run(*on.split()[2:]).code == 0
    assert not cloud.having(desired.GOLD)


def test_an_undo_file_brings_back_what_was_there(cloud, tmp_path):
    cloud.gives(desired.GOLD, "cmp00")
    undo = tmp_path / "undo.yaml"
    assert desired.run(*ISOLATE, "--undo", str(undo), "--dry-run").code == 0
    assert not undo.exists()
    assert desired.run(*ISOLATE, "--undo", str(undo)).code == 0
    assert desired.run("apply", str(undo)).code == 0
    assert (cloud.metadata, cloud.specs("golden")) == ({}, {})
    assert cloud.having(desired.GOLD) == {"cmp00"}


def test_an_aggregate_without_hosts_is_told(cloud):
    for host in ("cmp00", "cmp01"):
        cloud.leaves(host)
    said = desired.run(*ISOLATE, "--dry-run", "--force").err
    assert "aggregate 'gold' has no hosts" in said


def test_what_can_not_be_isolated_or_opened_is_said(cloud, golden):
    cloud.known.update({"COMPUTE_STATUS_DISABLED", "CUSTOM_RACK"})
    cloud.gives("CUSTOM_RACK", "cmp00", "cmp01")
    cloud.specs("golden")[KEY] = "forbidden"
    refused = [
        desired.run(*ISOLATE),
        desired.run("isolate", "gold", "COMPUTE_STATUS_DISABLED", "--force"),
        # No trait isolates it: which one is meant?
        desired.run(*UNISOLATE),
    ]
    assert [(done.code, done.out) for done in refused] == [(1, "")] * 3
    assert cloud.written == []
    golden("isolate/refused", "".join(done.err for done in refused))


# add and remove


@pytest.mark.parametrize("verb", ["add", "remove"])
def test_what_others_turn_round_after_the_write_is_seen(cloud, verb):
    cloud.gives(
        desired.GOLD, *(["cmp00", "cmp02", "cmp03"] if verb == "remove" else [])
    )
    turn = cloud.gives if verb == "remove" else cloud.takes
    rival(cloud, HOSTS["cmp03"], (turn, desired.GOLD, "cmp02"))
    found = desired.run(
        verb, desired.GOLD, "--host", "cmp02", "--host", "cmp03", "-f", "json"
    )
    assert found.code == 1
    assert last(found) == "1 of 2 no longer as desired: run the command again"


NO_PROVIDER = "Placement has no provider for it, as far as Nova lists it"


@pytest.mark.parametrize(
    "arguments", [ISOLATE, ("add", desired.GOLD, "--host", "cmp01")]
)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_where_a_host_has_no_provider_the_same_command_is_not_said_to_go_on(
    cloud, arguments, dry
):
    cloud.deletes_provider("cmp01")
    found = desired.run(*arguments, *dry)
    assert found.code == 1
    assert last(found).endswith(
        f"; fix this, then run the same command again: cmp01: {NO_PROVIDER}"
    )


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_a_custom_trait_that_was_removed_may_come_back(cloud, words):
    cloud.gives(desired.GOLD, "cmp00", "cmp01")
    line = (
        f"{desired.GOLD} may come back within 300 s if provider.yaml of a host "
        "lists it\n"
    )
    assert line in desired.run("remove", desired.GOLD, "--host", "cmp01", *words).err
    # Nothing is left to remove, or somebody else's trait.
    assert (
        line not in desired.run("remove", desired.GOLD, "--host", "cmp02", *words).err
    )


# A trait goes from its last host only if nothing goes on to require it.


FORBIDDEN_INSTEAD = """
    traits: {CUSTOM_SILVER: {absent: {hosts: ["*"]}}}
    flavors: {golden: {forbids: [CUSTOM_SILVER]}}
"""


def test_a_trait_stays_where_its_removal_waits_for_what_fails(plan, cloud, monkeypatch):
    cloud.flavor("golden", CUSTOM_GOLD="required")
    cloud.gives(desired.GOLD, "cmp00")
    cloud.deletes_provider("cmp03")
    with_servers(cloud, monkeypatch, cmp00={"a": {f"trait:{desired.GOLD}": "required"}})
    found = plan(
        """
        traits:
          CUSTOM_GOLD: {hosts: [cmp03], absent: {hosts: [cmp00]}}
          CUSTOM_SILVER: {hosts: [cmp02]}
        """
    )
    assert desired.statuses(found) == {
        ("host", "cmp02", SILVER): "would change",
        ("host", "cmp03", desired.GOLD): "failed",
        ("host", "cmp00", desired.GOLD): "not done",
    }
    assert (found.code, found.err) == (1, "")


@pytest.mark.parametrize(
    ("wanted", "requirer"),
    [
        ("flavors: {golden: {requires: [CUSTOM_SILVER]}}", "flavor 'golden'"),
        ("images: {win: {requires: [CUSTOM_SILVER]}}", "image 'win'"),
        ("aggregates: {gold: {isolated_for: [CUSTOM_SILVER]}}", "aggregate 'gold'"),
    ],
)
def test_what_the_same_file_has_require_a_trait_keeps_it(plan, cloud, wanted, requirer):
    cloud.gives(SILVER, "cmp02", "cmp03")
    cloud.picture("win")
    cloud.aggregates["1"]["hosts"] = []
    found = plan(
        f"""
        traits: {{CUSTOM_SILVER: {{absent: {{hosts: [cmp02, cmp03]}}}}}}
        {wanted}
        """
    )
    assert found.code == 5
    assert requirers(found) == f"{requirer} (trait:{SILVER})"


def test_what_comes_to_forbid_a_trait_requires_it_no_more(apply, cloud):
    cloud.flavor("golden", CUSTOM_SILVER="required")
    cloud.gives(SILVER, "cmp00", "cmp01")
    done = apply(FORBIDDEN_INSTEAD)
    assert {*desired.statuses(done).values()} == {"changed"}, done.err
    assert cloud.specs("golden") == {f"trait:{SILVER}": "forbidden"}
    assert cloud.having(SILVER) == set()


def test_a_flavor_that_a_file_names_by_its_id_gives_a_trait_up(plan, cloud):
    cloud.gives(desired.GOLD, "cmp00")
    cloud.flavor("golden", CUSTOM_GOLD="required")
    found = plan(
        """
        traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00]}}}
        flavors: {golden-id: {absent: {requires: [CUSTOM_GOLD]}}}
        """
    )
    assert {*desired.statuses(found).values()} == {"would change"}, found.err
    assert found.code == 0


def test_of_images_with_one_name_only_that_which_gives_a_trait_up_does(plan, cloud):
    cloud.gives(desired.GOLD, "cmp00")
    for name in ("win", "other"):
        cloud.picture(name, CUSTOM_GOLD="required")
        cloud.images[f"{name}-id"]["name"] = "win"
    text = """
        traits: {CUSTOM_GOLD: {absent: {hosts: [cmp00]}}}
        images: {win-id: {absent: {requires: [CUSTOM_GOLD]}}}
    """
    found = plan(text)
    assert found.code == 5
    assert requirers(found) == f"image 'win' (trait:{desired.GOLD})"
    del cloud.images["other-id"]
    assert plan(text).code == 0


# remove says what requires a trait, and where all of it can be read.


GOLD = "CUSTOM_GOLD"
REMOVE = ("trait-sched", "remove", GOLD, "--host", "cmp00")
NAMES = [f"f{number:02}" for number in range(12)]


@pytest.fixture
def run(monkeypatch):
    """Remove a trait from its last host while twelve flavors require it."""
    found = LivingCloud()
    found.gives(GOLD, "cmp00")
    for name in NAMES:
        found.flavor(name, **{GOLD: "required"})
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    login = shell.login("http://nowhere")
    return lambda *options: shell.run(login, *REMOVE, *options)


def test_a_refusal_in_a_pipe_names_all_that_requires_a_trait(run):
    for options in ((), ("--dry-run",), ("-f", "json"), ("-f", "csv", "--dry-run")):
        found = run(*options)
        assert (found.code, found.out) == (5, "")
        assert all(f"flavor '{name}' (trait:{GOLD})" in found.err for name in NAMES)


def test_a_program_gets_all_that_requires_a_trait(run):
    found = run("--dry-run", "-f", "json")
    assert found.code == 5
    assert [row["name"] for row in found.json] == NAMES
    assert found.json[0] == {
        "trait": GOLD,
        "kind": "flavor",
        "name": "f00",
        "key": f"trait:{GOLD}",
        "id": "f00-id",
        "owner": "",
    }


def test_columns_of_another_answer_are_not_asked_of_it(run):
    found = run("--dry-run", "-f", "json", "-c", "status")
    assert (found.code, found.out) == (5, "")


@pytest.mark.parametrize("change", [("retire",), ("rename", "CUSTOM_COAL")])
def test_a_flavor_that_forbade_the_trait_is_said_to_stop_forbidding_it(cloud, change):
    cloud.flavor("picky", **{SILVER: "forbidden"})
    cloud.gives(SILVER, "cmp02")
    verb, *new = change
    done = desired.run("trait", verb, SILVER, *new, "--dry-run", "-f", "json")
    details = [row["detail"] for row in done.json if row["object"] == "picky"]
    assert f"without trait:{SILVER}=forbidden" in details
    assert not any("=required" in detail for detail in details)


def test_a_retired_trait_is_followed_by_how_its_name_is_deleted(cloud):
    cloud.gives(SILVER, "cmp02")
    line = f"The name stays in Placement: openstack trait delete {SILVER}\n"
    assert line not in desired.run("trait", "retire", SILVER, "--dry-run").err
    done = desired.run("trait", "retire", SILVER)
    assert (done.code, line in done.err) == (0, True)
