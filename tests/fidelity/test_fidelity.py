"""The recorded cases, and those by chance, can be relied on."""

from __future__ import annotations

from tests.fidelity import asking, generator, recorded


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
    assert asking.releases() == tuple(range(27, 35))
