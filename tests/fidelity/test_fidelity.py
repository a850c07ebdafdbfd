"""The recorded cases, and those by chance, can be relied on."""

from __future__ import annotations

import pytest

from osc_traitsched.core.releases import RELEASES
from tests.fidelity import __main__ as command
from tests.fidelity import asking, generator, numa, ours, recorded
from tests.fidelity.comparing import Pair, Tally
from tests.services import mariadb

SIZES = {"vcpus", "ram", "disk"}
# What would have to be set as well.
MISSED = {"hw:cpu_dedicated_mask", "hw_firmware_type", "hw_firmware_stateless"}


def test_a_seed_gives_the_same_case_every_time():
    assert generator.case("a-1") == generator.case("a-1")
    assert generator.case("a-1") != generator.case("a-2")


def test_neighbouring_releases_with_one_answer_share_it(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "PATH", tmp_path / "queries.json")
    old, new = {"query": "old"}, {"query": "new"}

    recorded.write([{"name": "one"}], {20: [old], 21: [old], 22: [new], 24: [new]})

    (case,) = recorded.read()
    assert case["answers"] == {"20-21": old, "22": new, "24": new}
    assert dict(recorded.answers(case)) == {20: old, 21: old, 22: new, 24: new}
    assert recorded.questions() == [{"name": "one"}]


def test_new_answers_of_one_release_leave_those_of_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "PATH", tmp_path / "queries.json")
    recorded.write([{"name": "one"}], {33: [{"query": "a"}], 34: [{"query": "a"}]})

    recorded.write(recorded.read(), {34: [{"query": "b"}]})

    (case,) = recorded.read()
    assert case["answers"] == {"33": {"query": "a"}, "34": {"query": "b"}}


def test_each_release_that_can_be_asked_has_its_constraints():
    assert asking.releases() == tuple(RELEASES)


def pair(keys=(), text="", **ours):
    """A refusal of Nova's with this text, and the core's, which names these keys."""
    case = {
        "flavor": {"extra_specs": {"hw:cpu_policy": "shared"}},
        "image": {"hw_cpu_policy": "dedicated", "size": 1},
    }
    nova = {"refused": "Conflict", "stage": "api", "http": 400}
    return Pair(case, {**nova, "text": text}, {**nova, **ours}, frozenset(keys))


def test_a_refusal_is_equal_with_the_same_exception_stage_and_status():
    assert pair().is_equal
    assert not pair(refused="Other").is_equal
    assert not pair(stage="scheduler").is_equal
    assert not pair(http=403).is_equal


def test_a_refusal_is_equal_only_if_it_names_the_keys_that_nova_s_text_names():
    text = "Flavor 'hw:cpu_policy' and image 'hw_cpu_policy' differ. No size."
    assert pair(["hw:cpu_policy", "hw_cpu_policy"], text).is_equal
    assert not pair(["hw:cpu_policy"], text).is_equal
    assert pair(["hw:cpu_policy", "hw_cpu_policy", "vcpus"], text).is_equal


def test_figures_are_by_exception_and_add_up():
    tally = Tally.of([pair(), pair(http=403)]) + Tally.of([pair()])
    assert (tally.cases["Conflict"], tally.equal["Conflict"]) == (3, 2)
    assert (tally.equal_refusals, tally.different) == (2, 1)
    assert tally.exceptions == ["Conflict"]


def test_a_refusal_of_the_core_names_no_key_that_nobody_set():
    for case in recorded.questions():
        own = {*case["flavor"]["extra_specs"], *case["image"], *SIZES}
        for release in (21, 34):
            assert ours.keys(case, release) <= own | MISSED, case["name"]


@pytest.fixture
def without_mariadb(monkeypatch, tmp_path):
    monkeypatch.setattr(mariadb, "_PATH", str(tmp_path))


def test_without_mariadb_the_database_is_refused_in_one_line(without_mariadb, capsys):
    assert command.main(["--database", "mariadb"]) == 2
    said = capsys.readouterr()
    assert said.err == "no mariadbd on the path: install mariadb-server\n"
    assert not said.out


def test_without_mariadb_its_part_is_left_out_and_that_is_said(
    without_mariadb, monkeypatch, capsys
):
    monkeypatch.setattr(asking, "ask", _as_ours)
    given = ["--releases", "34", "--cases", "1", "--mariadb-cases", "1"]
    given += ["--scheduling-cases", "0", "--numa-cases", "0"]
    assert command.main(given) == 0
    assert "MariaDB is left out: no mariadbd on the path:" in capsys.readouterr().out


def test_a_difference_with_mariadb_alone_is_one(monkeypatch, capsys):
    """Nova answers as on SQLite here, whatever it is asked with."""
    monkeypatch.setattr(mariadb, "program", lambda: "mariadbd")
    monkeypatch.setattr(asking, "ask", _as_ours)
    given = ["--releases", "33,34", "--cases", "1", "--mariadb-cases", "1"]
    given += ["--scheduling-cases", "0", "--numa-cases", "0"]
    assert command.main(given) == 1
    assert "The newest with MariaDB" in capsys.readouterr().out


def _as_ours(release, cases, processes, database):
    return [ours.answer(case, release) for case in cases]


CELLS = [numa.case(f"0-{number}") for number in range(500)]


def test_flavors_by_chance_are_refused_never_fit_and_may_fit():
    own = [numa.ours(case, 34) for case in CELLS]
    counts = [own.count(each) for each in (numa.NEVER, numa.FITS)]
    assert min(*counts, len(own) - sum(counts)) > 40


def test_only_a_sure_answer_can_differ_from_nova(monkeypatch, capsys):
    answers = [numa.ours(case, 34) for case in CELLS]
    first = answers.index(numa.FITS)
    monkeypatch.setattr(asking, "ask_numa", lambda *_: answers)
    answers[first] = numa.NEVER
    assert numa.compare([21, 34], len(CELLS), "0", 1) == 0
    answers[answers.index(numa.NEVER, first + 1)] = numa.FITS
    assert numa.compare([34], len(CELLS), "0", 1) == 1
    assert "Nova {'fits': True}, ours {'fits': False}" in capsys.readouterr().out
