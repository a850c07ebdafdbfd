"""A plan that was reviewed: what is written of it, and what is not in it."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from tests.unit.app.living import HOSTS
from tests.unit.commands.wanted import GOLD, second


def test_a_step_that_was_not_reviewed_is_not_taken(apply, plan, cloud, tmp_path):
    text = "traits: {CUSTOM_GOLD: {hosts: [cmp00, cmp01]}}"
    apply("traits: {CUSTOM_GOLD: {hosts: [cmp00]}}")
    (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    (tmp_path / "p.json").write_text(plan().out, encoding="utf-8")
    cloud.takes(GOLD, "cmp00")
    cloud.written.clear()
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, done.out, cloud.written) == (5, "", [])
    assert done.err == (
        "nothing written: not in the reviewed p.json: add host cmp00 CUSTOM_GOLD; "
        "review a new plan\n"
    )
    cloud.gives(GOLD, "cmp00")
    assert apply(text, "--reviewed", "p.json").code == 0
    # What the plan has and is done by now needs no step.
    assert apply(text, "--reviewed", "p.json").json == []
    (tmp_path / "p.json").write_text("[{}]", encoding="utf-8")
    done = apply(text, "--reviewed", "p.json")
    assert done.err == "p.json: is no plan, as plan -f json prints it\n"


def test_a_plan_of_another_cloud_is_no_reviewed_one(apply, plan, cloud, tmp_path):
    text = "traits: {CUSTOM_GOLD: {hosts: [cmp00]}}"
    (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    reviewed = plan().out
    assert json.loads(reviewed)[0]["cloud"] == "http://nowhere"
    there = reviewed.replace("http://nowhere", "https://paris/placement")
    (tmp_path / "p.json").write_text(there, encoding="utf-8")
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, done.out, cloud.written) == (5, "", [])
    assert done.err == (
        "nothing written: p.json is a plan of https://paris/placement, and this is "
        "http://nowhere; review a plan of this cloud\n"
    )
    (tmp_path / "p.json").write_text(reviewed, encoding="utf-8")
    assert apply(text, "--reviewed", "p.json").code == 0


def test_what_a_reviewed_plan_said_to_fail_was_not_agreed_to(
    apply, plan, cloud, tmp_path
):
    traits = cloud.traits.pop("cmp03")
    text = "traits: {CUSTOM_GOLD: {hosts: [cmp00, cmp03]}}"
    (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    found = plan()
    assert [row["status"] for row in found.json] == ["would change", "failed"]
    (tmp_path / "p.json").write_text(found.out, encoding="utf-8")
    cloud.traits["cmp03"] = traits
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, cloud.written) == (5, [])
    assert done.err.splitlines()[-1] == (
        "nothing written: not in the reviewed p.json: add host cmp03 CUSTOM_GOLD; "
        "review a new plan"
    )


def test_a_plan_with_rows_that_fail_or_wait_is_carried_out_but_for_these(
    apply, plan, cloud, tmp_path
):
    cloud.traits.pop("cmp03")
    cloud.gives(GOLD, "cmp00")
    text = """
        traits:
          CUSTOM_GOLD: {hosts: [cmp01, cmp03], absent: {hosts: [cmp00]}}
          CUSTOM_SILVER: {hosts: [cmp02]}
    """
    (tmp_path / "w.yaml").write_text(f"version: 1\n{dedent(text)}", encoding="utf-8")
    found = plan()
    assert [row["status"] for row in found.json] == [
        "would change",
        "would change",
        "failed",
        "not done",
    ]
    (tmp_path / "p.json").write_text(found.out, encoding="utf-8")
    done = apply(text, "--reviewed", "p.json")
    assert done.code == 1
    assert [row["status"] for row in done.json] == [
        "changed",
        "changed",
        "failed",
        "not done",
    ]
    assert cloud.having(GOLD) == {"cmp00", "cmp01"}
    cloud.written.clear()
    # The same plan goes on as long as nothing else can be written.
    assert apply(text, "--reviewed", "p.json").code == 1
    assert cloud.written == []


def test_what_waited_in_the_reviewed_plan_was_not_agreed_to(
    apply, plan, cloud, tmp_path
):
    traits = cloud.traits.pop("cmp03")
    text = """
        traits: {CUSTOM_GOLD: {hosts: [cmp03]}}
        flavors: {golden: {requires: [CUSTOM_GOLD]}}
    """
    (tmp_path / "w.yaml").write_text(f"version: 1\n{dedent(text)}", encoding="utf-8")
    (tmp_path / "p.json").write_text(plan().out, encoding="utf-8")
    cloud.traits["cmp03"] = traits
    cloud.gives(GOLD, "cmp03")
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, cloud.written) == (5, [])
    assert done.err.splitlines()[-1] == (
        "nothing written: not in the reviewed p.json: add flavor golden "
        "trait:CUSTOM_GOLD; review a new plan"
    )


def test_a_row_that_fails_by_now_takes_nothing_else_out_of_the_reviewed_plan(
    apply, plan, cloud, tmp_path
):
    text = "traits: {CUSTOM_GOLD: {hosts: [cmp00, cmp03]}}"
    (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    (tmp_path / "p.json").write_text(plan().out, encoding="utf-8")
    cloud.deletes_provider("cmp03")
    done = apply(text, "--reviewed", "p.json")
    assert done.code == 1, done.err
    assert cloud.having(GOLD) == {"cmp00"}


def test_a_row_that_fails_as_reviewed_is_of_the_same_object(
    apply, plan, cloud, tmp_path
):
    cloud.aggregates["1"]["metadata"] = {"availability_zone": "az1"}
    second(cloud, "cmp02", availability_zone="az2")
    text = "aggregates: {gold: {hosts: [cmp02, cmp03]}}"
    (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    found = plan()
    assert [row["status"] for row in found.json] == ["failed", "would change"]
    (tmp_path / "p.json").write_text(found.out, encoding="utf-8")
    cloud.aggregates["2"]["hosts"] = []
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, cloud.written) == (5, [])
    assert done.err.splitlines()[-1] == (
        "nothing written: not in the reviewed p.json: add member gold cmp02; review "
        "a new plan"
    )


def test_a_plan_for_one_image_is_none_for_another_of_its_name(
    apply, plan, cloud, tmp_path
):
    whole = {"name": "win", "visibility": "public", "owner": "", "status": "active"}
    cloud.images.update({each: {"id": each, **whole} for each in ("first", "second")})
    cloud.gives(GOLD, "cmp00")
    wanted = "version: 1\nimages: {first: {requires: [CUSTOM_GOLD]}}"
    (tmp_path / "w.yaml").write_text(wanted, encoding="utf-8")
    (tmp_path / "p.json").write_text(plan().out, encoding="utf-8")
    text = "images: {second: {requires: [CUSTOM_GOLD]}}"
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, cloud.written) == (5, [])
    assert "not in the reviewed p.json: add image second trait:CUSTOM_GOLD" in done.err


def _anew(objects, identity, other):
    body = objects.pop(identity)
    objects[other] = {**body, "id": type(body["id"])(other)}


@pytest.mark.parametrize(
    ("text", "part", "identity"),
    [
        ("flavors: {golden: {requires: [CUSTOM_GOLD]}}", "flavors", "golden-id"),
        ("aggregates: {gold: {hosts: [cmp02]}}", "aggregates", "1"),
        ("images: {win: {requires: [CUSTOM_GOLD]}}", "images", "win-id"),
    ],
)
def test_what_was_made_anew_under_its_name_was_not_reviewed(
    apply, plan, cloud, tmp_path, text, part, identity
):
    cloud.flavor("golden")
    cloud.picture("win")
    cloud.gives(GOLD, "cmp00")
    (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    (tmp_path / "p.json").write_text(plan().out, encoding="utf-8")
    _anew(getattr(cloud, part), identity, "9")
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, cloud.written) == (5, []), done.err
    assert "nothing written: not in the reviewed p.json: add " in done.err
    (tmp_path / "p.json").write_text(plan().out, encoding="utf-8")
    assert apply(text, "--reviewed", "p.json").code == 0


def test_a_host_that_was_installed_anew_was_not_reviewed(
    apply, plan, cloud, tmp_path, monkeypatch
):
    text = "traits: {CUSTOM_SILVER: {hosts: [cmp00]}}"
    (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    (tmp_path / "p.json").write_text(plan().out, encoding="utf-8")
    other = "d0000000-0000-4000-8000-000000000000"
    monkeypatch.setitem(HOSTS, "cmp00", other)
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, cloud.written) == (5, []), done.err
    assert "not in the reviewed p.json: add host cmp00 CUSTOM_SILVER" in done.err


def test_an_aggregate_that_the_reviewed_plan_made_by_halves_is_gone_on_with(
    apply, plan, cloud, tmp_path
):
    text = "aggregates: {new: {hosts: [cmp00, cmp01]}}"
    (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    found = plan()
    assert {row["id"] for row in found.json} == {None}
    (tmp_path / "p.json").write_text(found.out, encoding="utf-8")
    assert apply("aggregates: {new: {hosts: [cmp00]}}").code == 0
    done = apply(text, "--reviewed", "p.json")
    assert (done.code, [row["key"] for row in done.json]) == (0, ["cmp01"]), done.err
