"""A plan that was reviewed: what is written of it, and what is not in it."""

from __future__ import annotations

import json
import re

import pytest

from tests.unit.app.living import HOSTS
from tests.unit.commands.desired import GOLD, second

BOTH = "traits: {CUSTOM_GOLD: {hosts: [cmp00, cmp03]}}"
WAITS = """
    traits: {CUSTOM_GOLD: {hosts: [cmp03]}}
    flavors: {golden: {requires: [CUSTOM_GOLD]}}
"""


@pytest.fixture
def review(trait_sched, tmp_path):
    """Writes a file's plan to p.json, or another text, and returns the run."""

    def run(text, instead=None):
        found = trait_sched("plan", "w.yaml", "-f", "json", w=text)
        (tmp_path / "p.json").write_text(instead or found.out, encoding="utf-8")
        return found

    return run


@pytest.fixture
def apply_reviewed(apply, cloud):
    """Applies a file with p.json."""

    def run(text):
        cloud.written.clear()
        return apply(text, "--reviewed", "p.json")

    return run


@pytest.fixture
def unreviewed(apply_reviewed, cloud):
    """The steps for which a file is refused with p.json."""

    def run(text):
        done = apply_reviewed(text)
        assert (done.code, done.out, cloud.written) == (5, "", []), done.err
        return re.findall(r"p\.json: (.*); review a new plan", done.err)

    return run


def statuses(found):
    return [row["status"] for row in found.json]


def test_a_step_that_was_not_reviewed_is_not_taken(
    review, apply_reviewed, unreviewed, cloud
):
    cloud.gives(GOLD, "cmp00")
    review(BOTH)
    cloud.takes(GOLD, "cmp00")
    assert unreviewed(BOTH) == ["add host cmp00 CUSTOM_GOLD"]
    cloud.gives(GOLD, "cmp00")
    assert apply_reviewed(BOTH).code == 0
    # What the plan has and is done by now needs no step.
    assert apply_reviewed(BOTH).json == []


def test_what_is_no_plan_or_of_another_cloud_is_no_reviewed_one(
    review, apply_reviewed, cloud, golden
):
    reviewed = review(BOTH, "[{}]").out
    refused = [apply_reviewed(BOTH)]
    assert json.loads(reviewed)[0]["cloud"] == "http://nowhere"
    there = reviewed.replace("http://nowhere", "https://paris/placement")
    review(BOTH, there)
    refused += [apply_reviewed(BOTH)]
    assert [(done.code, done.out) for done in refused] == [(1, ""), (5, "")]
    assert cloud.written == []
    golden("apply/reviewed-elsewhere", "".join(done.err for done in refused))
    review(BOTH)
    assert apply_reviewed(BOTH).code == 0


@pytest.mark.parametrize(
    ("text", "reviewed", "step"),
    [
        (BOTH, ["would change", "failed"], "add host cmp03 CUSTOM_GOLD"),
        (WAITS, ["failed", "not done"], "add flavor golden trait:CUSTOM_GOLD"),
    ],
)
def test_what_failed_or_waited_in_the_reviewed_plan_was_not_agreed_to(
    review, unreviewed, cloud, text, reviewed, step
):
    traits = cloud.traits.pop("cmp03")
    assert statuses(review(text)) == reviewed
    cloud.traits["cmp03"] = traits
    if text == WAITS:
        cloud.gives(GOLD, "cmp03")
    assert unreviewed(text) == [step]


def test_a_plan_with_rows_that_fail_or_wait_is_carried_out_but_for_these(
    review, apply_reviewed, cloud
):
    cloud.traits.pop("cmp03")
    cloud.gives(GOLD, "cmp00")
    text = """
        traits:
          CUSTOM_GOLD: {hosts: [cmp01, cmp03], absent: {hosts: [cmp00]}}
          CUSTOM_SILVER: {hosts: [cmp02]}
    """
    left_out = ["failed", "not done"]
    assert statuses(review(text)) == ["would change", "would change", *left_out]
    done = apply_reviewed(text)
    assert (done.code, statuses(done)) == (1, ["changed", "changed", *left_out])
    assert cloud.having(GOLD) == {"cmp00", "cmp01"}
    # The same plan goes on as long as nothing else can be written.
    assert apply_reviewed(text).code == 1
    assert cloud.written == []


def test_a_row_that_fails_by_now_takes_nothing_else_out_of_the_reviewed_plan(
    review, apply_reviewed, cloud
):
    review(BOTH)
    cloud.deletes_provider("cmp03")
    done = apply_reviewed(BOTH)
    assert done.code == 1, done.err
    assert cloud.having(GOLD) == {"cmp00"}


def test_a_row_that_fails_as_reviewed_is_of_the_same_object(review, unreviewed, cloud):
    cloud.metadata["availability_zone"] = "az1"
    second(cloud, "cmp02", availability_zone="az2")
    text = "aggregates: {gold: {hosts: [cmp02, cmp03]}}"
    assert statuses(review(text)) == ["failed", "would change"]
    cloud.aggregates["2"]["hosts"] = []
    assert unreviewed(text) == ["add member gold cmp02"]


def test_a_plan_for_one_image_is_none_for_another_of_its_name(
    review, unreviewed, cloud
):
    whole = {"name": "win", "visibility": "public", "owner": "", "status": "active"}
    cloud.images.update({each: {"id": each, **whole} for each in ("first", "second")})
    cloud.gives(GOLD, "cmp00")
    review("images: {first: {requires: [CUSTOM_GOLD]}}")
    found = unreviewed("images: {second: {requires: [CUSTOM_GOLD]}}")
    assert found == ["add image second trait:CUSTOM_GOLD"]


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
    review, apply_reviewed, unreviewed, cloud, text, part, identity
):
    cloud.picture("win")
    cloud.gives(GOLD, "cmp00")
    review(text)
    _anew(getattr(cloud, part), identity, "9")
    assert unreviewed(text)
    review(text)
    assert apply_reviewed(text).code == 0


def test_a_host_that_was_installed_anew_was_not_reviewed(
    review, unreviewed, monkeypatch
):
    text = "traits: {CUSTOM_SILVER: {hosts: [cmp00]}}"
    review(text)
    monkeypatch.setitem(HOSTS, "cmp00", "d0000000-0000-4000-8000-000000000000")
    assert unreviewed(text) == ["add host cmp00 CUSTOM_SILVER"]


def test_an_aggregate_that_the_reviewed_plan_made_by_halves_is_gone_on_with(
    review, apply, apply_reviewed
):
    text = "aggregates: {new: {hosts: [cmp00, cmp01]}}"
    assert {row["id"] for row in review(text).json} == {None}
    assert apply("aggregates: {new: {hosts: [cmp00]}}").code == 0
    done = apply_reviewed(text)
    assert (done.code, [row["key"] for row in done.json]) == (0, ["cmp01"]), done.err
