"""apply on a real Placement: killed, refused, by two at once, with a rival."""

from __future__ import annotations

import json

import pytest

from tests.functional import shell
from tests.functional.nova import Nova
from tests.functional.placement import STANDARD
from tests.functional.proxy import Instead
from tests.functional.test_nothing_lost import rival

GOLD, SILVER, NEW = "CUSTOM_GOLD", "CUSTOM_SILVER", "CUSTOM_NEW"
HOSTS = [f"cmp{number:02}" for number in range(12)]
GOLDEN = f"""\
version: 1
groups: {{golden: ["cmp0[0-5]"]}}
traits:
  {GOLD}: {{hosts: ["@golden"], only: true}}
  {NEW}: {{hosts: ["*"]}}
  {SILVER}: {{absent: {{hosts: ["*"]}}}}
"""
#: Wants the opposite of all of that.
CONTRARY = f"""\
version: 1
traits:
  {GOLD}: {{hosts: ["cmp0[6-9]", "cmp1[01]"], absent: {{hosts: ["cmp0[0-5]"]}}}}
  {NEW}: {{absent: {{hosts: ["*"]}}}}
  {SILVER}: {{hosts: ["*"]}}
"""


@pytest.fixture
def providers(placement):
    """The UUIDs of twelve hosts; some have gold, some silver, and all another trait."""
    placement.create_traits(GOLD, SILVER)
    some = {"cmp04": [GOLD], "cmp05": [GOLD, SILVER], "cmp11": [GOLD, SILVER]}
    return {
        name: placement.add_host(name, [*STANDARD, "CUSTOM_OTHER", *some.get(name, ())])
        for name in HOSTS
    }


@pytest.fixture
def nova(proxy, providers):
    found = Nova(proxy, providers.items(), {})
    found._bodies["/servers/detail"] = {"servers": []}
    return found


@pytest.fixture
def wanted(nova, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.yaml").write_text(GOLDEN, encoding="utf-8")
    return str(tmp_path / "w.yaml")


def expected(placement, providers):
    """Compare all traits of all hosts with what the file makes of them."""
    for name, uuid in providers.items():
        golden = {GOLD} if name < "cmp06" else set()
        assert placement.traits(uuid) == {*STANDARD, "CUSTOM_OTHER", NEW} | golden


def statuses(run):
    return [row["status"] for row in run.json]


def test_one_write_a_provider_in_each_stage_and_none_the_second_time(
    placement, providers, openstack, wanted, proxy
):
    done = openstack("apply", wanted, "-f", "json")
    assert (done.code, {*statuses(done)}) == (0, {"changed"}), done.err
    # A trait, what all twelve gain, and what two lose.
    assert len(proxy.writes) == 1 + 12 + 2
    expected(placement, providers)
    proxy.requests.clear()
    again = openstack("apply", wanted, "-f", "json")
    assert (again.code, again.json, proxy.writes) == (0, [], [])


def test_a_file_a_folder_and_standard_input_are_the_same(
    openstack, proxy, wanted, tmp_path, nova
):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "one.yaml").write_text(GOLDEN, encoding="utf-8")
    login = shell.login(proxy.url)
    plans = [
        openstack("plan", wanted, "-f", "json"),
        openstack("plan", str(folder), "-f", "json"),
        shell.run(login, "trait-sched", "plan", "-", "-f", "json", stdin=GOLDEN),
    ]
    assert [run.code for run in plans] == [0, 0, 0]
    keys = [[(r["change"], r["object"], r["key"]) for r in p.json] for p in plans]
    assert len(keys[0]) == 1 + 12 + 4 + 1 + 2
    assert keys[0] == keys[1] == keys[2]
    assert not proxy.writes


@pytest.mark.parametrize("writes", [2, 14])
def test_killed_and_applied_again_it_is_the_same(
    placement, providers, openstack, background, wanted, proxy, writes
):
    proxy.kill_after(writes, lambda: background("apply", wanted))
    done = openstack("apply", wanted, "-f", "json")
    assert done.code == 0, done.err
    expected(placement, providers)


@pytest.mark.full
def test_two_at_once_end_with_what_both_want(
    placement, providers, background, openstack, wanted
):
    both = [background("apply", wanted, "-f", "json") for _ in range(2)]
    ended = [process.wait() for process in both]
    for run in ended:
        assert {*statuses(run)} <= {"changed", "unchanged"}, run.err
        assert run.code == 0, run.err
    expected(placement, providers)
    again = openstack("plan", wanted, "--exit-code")
    assert again.code == 0


@pytest.mark.full
def test_the_same_with_a_rival_who_changes_all_else_of_a_host(
    placement, providers, background, openstack, wanted
):
    with rival(placement, providers["cmp05"]) as changes:
        both = [background("apply", wanted, "-f", "json") for _ in range(2)]
        for run in [process.wait() for process in both]:
            assert {*statuses(run)} <= {"changed", "unchanged"}, run.err
            assert run.code == 0, run.err
    assert {"inventories", "aggregates", "allocations"} == set(changes)
    expected(placement, providers)
    assert openstack("plan", wanted, "--exit-code").code == 0


@pytest.fixture
def contrary(tmp_path):
    path = tmp_path / "contrary.yaml"
    path.write_text(CONTRARY, encoding="utf-8")
    return str(path)


@pytest.mark.full
def test_two_that_contradict_each_other_touch_nothing_else_and_are_told(
    placement, providers, background, openstack, wanted, contrary
):
    before = {name: placement.traits(uuid) for name, uuid in providers.items()}
    # Who comes late may find that only takes a trait from all that have it.
    more = ("--force", "-f", "json")
    both = [background("apply", each, *more) for each in (wanted, contrary)]
    ended = [process.wait() for process in both]
    for run in ended:
        assert {*statuses(run)} <= {"changed", "unchanged"}, run.err
        assert run.err.count("no longer as desired") == run.code, run.err
    written_by_who_says_so(placement, providers, before, ended)
    ends_as_either_wants(openstack, wanted, contrary)


@pytest.mark.full
@pytest.mark.parametrize("number", [2, 14])
def test_who_is_contradicted_between_two_writes_says_what_is_not_as_wanted(
    placement, providers, background, openstack, wanted, contrary, nova, number
):
    before = {name: placement.traits(uuid) for name, uuid in providers.items()}
    between = []

    def rival(request):
        if request.is_write and request.number == number and not between:
            between.append(None)
            between[0] = background("apply", contrary, "-f", "json").wait()

    nova.fault = rival
    # With more jobs it would write on while the other does, and contradict it in turn.
    done = openstack("apply", wanted, "--jobs", "1", "-f", "json")
    # Nobody came after it, and what it wants was there when it looked again.
    assert (between[0].code, between[0].err) == (0, "")
    assert done.code == 1
    assert "no longer as desired: others changed" in done.err
    assert {*statuses(done)} == {"changed"}
    written_by_who_says_so(placement, providers, before, [done, between[0]])
    ends_as_either_wants(openstack, wanted, contrary)


def written_by_who_says_so(placement, providers, before, runs):
    """Each trait is as it was, or as a row says; those that no file names are left."""
    said = {
        (row["object"], row["key"], row["after"])
        for run in runs
        for row in run.json
        if row["status"] == "changed"
    }
    for name, uuid in providers.items():
        now = placement.traits(uuid)
        differing = now ^ before[name]
        assert differing <= {GOLD, SILVER, NEW}
        for each in differing:
            assert (name, each, "present" if each in now else None) in said


def ends_as_either_wants(openstack, *paths):
    """What either applies by itself leaves no difference."""
    for path in paths:
        # By then only of the one would take the trait from all that the other gave it.
        assert openstack("apply", path, "--force").code == 0
        again = openstack("plan", path, "--exit-code", "-f", "json")
        assert (again.code, again.json) == (0, [])


def test_who_may_not_write_gets_a_row_for_each_and_nothing_is_taken_away(
    placement, providers, openstack, wanted, nova
):
    nova.fault = lambda request: (
        Instead(403) if request.is_write and "resource_prov" in request.path else None
    )
    done = openstack("apply", wanted, "-f", "json")
    assert done.code == 1
    became = {(row["change"], row["status"]) for row in done.json}
    # What goes from hosts waits for those that are to take their place.
    assert became == {("add", "changed"), ("add", "failed"), ("remove", "not done")}
    assert "Traceback" not in done.err


def test_what_a_rival_gives_meanwhile_stays(
    placement, providers, openstack, wanted, nova
):
    uuid = providers["cmp03"]

    def rival(request):
        if request.is_write and uuid in request.path and not given:
            given.append(True)
            placement.create_traits("CUSTOM_RIVAL")
            placement.set_traits(uuid, {*placement.traits(uuid), "CUSTOM_RIVAL"})

    given = []
    nova.fault = rival
    done = openstack("apply", wanted, "-f", "json")
    assert (done.code, given) == (0, [True])
    assert placement.traits(uuid) >= {GOLD, NEW, "CUSTOM_RIVAL"}


def test_an_undo_file_leads_back_to_every_trait(
    placement, providers, openstack, wanted, tmp_path
):
    before = {name: placement.traits(uuid) for name, uuid in providers.items()}
    undo = str(tmp_path / "undo.yaml")
    assert openstack("apply", wanted, "--undo", undo).code == 0
    assert openstack("apply", undo).code == 0
    after = {name: placement.traits(uuid) for name, uuid in providers.items()}
    assert after == before


def test_a_reviewed_plan_goes_with_its_own_cloud(openstack, wanted, tmp_path, proxy):
    reviewed = openstack("plan", wanted, "-f", "json")
    assert {row["cloud"] for row in reviewed.json} == {proxy.url}
    other = [{**row, "cloud": "http://elsewhere"} for row in reviewed.json]
    path = tmp_path / "p.json"
    path.write_text(json.dumps(other), encoding="utf-8")
    refused = openstack("apply", wanted, "--reviewed", str(path))
    assert (refused.code, proxy.writes) == (5, [])
    path.write_text(reviewed.out, encoding="utf-8")
    assert openstack("apply", wanted, "--reviewed", str(path)).code == 0
