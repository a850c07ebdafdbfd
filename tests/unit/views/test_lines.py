"""The lines that plan and apply print for a person."""

from __future__ import annotations

import pytest

from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Kind,
    Object,
    Outcome,
    State,
    Status,
)
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.wanted.claims import Claim
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.model import Place
from osc_traitsched.core.wanted.planner import Step
from osc_traitsched.views.wanted.lines import lines
from osc_traitsched.views.wanted.prose import summary

CLOUD = FoundCloud(
    Snapshot(()),
    ({"name": "gold-a", "hosts": ()},),
    (),
    frozenset({"CUSTOM_GOLD"}),
    frozenset(),
    holdings={},
)


def step(
    kind,
    name,
    key,
    after=PRESENT,
    before=None,
    line=3,
    status=Status.WOULD_CHANGE,
    problem=None,
    phase=0,
    rest=False,
    known=None,
):
    what = "remove" if after is None else "add" if before is None else "set"
    owner = Object(Kind.FLAVOR, "id", name)
    change = Change(owner, State({}), {}, phase=phase, problem=known)
    claim = Claim(after, Place("w.yaml", line), rest)
    outcome = Outcome(change, status, problem)
    return Step(what, kind, name, "id", key, before, after, claim, outcome)


def text(*steps):
    return list(lines(steps, CLOUD))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (step("host", "cmp00", "CUSTOM_SSD"), "+ host cmp00  trait CUSTOM_SSD"),
        (
            step("host", "cmp03", "CUSTOM_OLD", None, PRESENT),
            "- host cmp03  trait CUSTOM_OLD",
        ),
        (step("provider", "gpu", "CUSTOM_A"), "+ provider gpu  trait CUSTOM_A"),
        (step("mirror", "cmp00", "gold"), "+ host cmp00  Placement aggregate gold"),
        (step("member", "gold", "cmp00"), "+ aggregate gold  host cmp00"),
        (step("trait", "CUSTOM_SSD", "CUSTOM_SSD"), "+ trait CUSTOM_SSD  new"),
        (step("aggregate", "az1", "name", "az1"), "+ aggregate az1  new"),
        (
            step("aggregate", "a", "availability_zone", "az1"),
            "+ aggregate a  availability_zone az1",
        ),
        (
            step("flavor", "small", "trait:CUSTOM_SSD", "forbidden", "required"),
            "~ flavor small  trait:CUSTOM_SSD required -> forbidden",
        ),
        (
            step("image", "win", "trait:CUSTOM_SSD", None, "required"),
            "- image win  trait:CUSTOM_SSD required",
        ),
        (step("host", "a\x1b", "CUSTOM_A"), "+ host a\\x1b  trait CUSTOM_A"),
        (step("flavor", "f", "k", "x\ny", "z"), "~ flavor f  k z -> x\\ny"),
    ],
)
def test_a_line_says_what_is_done_to_what_and_where_it_is_wanted(found, said):
    assert text(found) == [f"{said}  (w.yaml:3)"]


def test_names_with_the_same_change_of_lines_in_a_row_are_one_line():
    hosts = [
        step("host", f"cmp0{number}", trait)
        for number in range(3)
        for trait in ("CUSTOM_A", "CUSTOM_B")
    ]
    assert text(*hosts, step("host", "cmp03", "CUSTOM_A", line=5)) == [
        "+ host cmp[00-02]  trait CUSTOM_A  (w.yaml:3)",
        "+ host cmp[00-02]  trait CUSTOM_B  (w.yaml:3)",
        "+ host cmp03  trait CUSTOM_A  (w.yaml:5)",
    ]
    listed = zip(range(5), (8, 7, 6, 20, 7))
    assert text(
        *(step("host", f"cmp0{n}", "CUSTOM_A", line=line) for n, line in listed)
    ) == [
        "+ host cmp[00-02], cmp04  trait CUSTOM_A  (w.yaml:6-8)",
        "+ host cmp03  trait CUSTOM_A  (w.yaml:20)",
    ]
    members = [step("member", "gold", f"cmp0{number}") for number in range(3)]
    assert text(*members, step("member", "vip", "cmp03")) == [
        "+ aggregate gold  host cmp[00-02]  (w.yaml:3)",
        "+ aggregate vip  host cmp03  (w.yaml:3)",
    ]


def test_what_is_written_in_another_phase_is_another_line():
    assert text(
        step("host", "cmp00", "CUSTOM_A", phase=1),
        step("flavor", "f", "trait:CUSTOM_A", "required", phase=2),
        step("host", "cmp01", "CUSTOM_A", phase=3),
    ) == [
        "+ host cmp00  trait CUSTOM_A  (w.yaml:3)",
        "+ flavor f  trait:CUSTOM_A required  (w.yaml:3)",
        "+ host cmp01  trait CUSTOM_A  (w.yaml:3)",
    ]


def test_all_names_are_there_in_lines_of_80_columns():
    names = [f"compute-{letter}" for letter in "abcdefghijkl"]
    found = text(*(step("host", name, "CUSTOM_A") for name in names))
    assert max(map(len, found)) <= 80
    parts = [line.split("  ", 1) for line in found]
    assert {end for _, end in parts} == {"trait CUSTOM_A  (w.yaml:3)"}
    said = [start.removeprefix("+ host ").split(", ") for start, _ in parts]
    assert [name for some in said for name in some] == names


@pytest.mark.parametrize("status", [Status.WOULD_CHANGE, Status.CHANGED])
def test_a_name_that_is_like_one_there_is_asked_for(status):
    assert text(
        step("trait", "CUSTOM_GOLDD", "CUSTOM_GOLDD", status=status),
        step("aggregate", "gold-b", "name", "gold-b", status=status),
    ) == [
        "+ trait CUSTOM_GOLDD  new  (w.yaml:3)  did you mean CUSTOM_GOLD?",
        "+ aggregate gold-b  new  (w.yaml:3)  did you mean gold-a?",
    ]


def test_what_only_takes_is_said_at_the_end_or_below():
    taken = {"after": None, "before": PRESENT, "rest": True}
    assert text(
        step("host", "cmp00", "CUSTOM_A", **taken),
        step("host", "cmp00", "CUSTOM_LONGER_THAN_WHAT_ONE_LINE_HAS", **taken),
    ) == [
        "- host cmp00  trait CUSTOM_A  (w.yaml:3)  only: no line names it",
        "- host cmp00  trait CUSTOM_LONGER_THAN_WHAT_ONE_LINE_HAS  (w.yaml:3)",
        "    only: no line names it",
    ]


def test_what_is_not_written_has_its_reason_below():
    broken = CloudBroke("placement", "no", 403)
    hosts = [
        step("host", "cmp00", "CUSTOM_A", status=Status.CHANGED),
        step("host", "cmp01", "CUSTOM_A", status=Status.FAILED, problem=broken),
        step("host", "cmp02", "CUSTOM_A", status=Status.FAILED, problem=broken),
        step("host", "cmp03", "CUSTOM_A", status=Status.UNKNOWN, problem=broken),
        step("host", "cmp04", "CUSTOM_A", status=Status.UNCHANGED),
        step("trait", "CUSTOM_A", "CUSTOM_A", status=Status.NOT_DONE),
    ]
    assert text(*hosts) == [
        "+ host cmp00  trait CUSTOM_A  (w.yaml:3)",
        "+ host cmp01, cmp02  trait CUSTOM_A  (w.yaml:3)",
        "    failed: placement: no (HTTP 403)",
        "+ host cmp03  trait CUSTOM_A  (w.yaml:3)",
        "    unknown: placement: no (HTTP 403)",
        "+ host cmp04  trait CUSTOM_A  (w.yaml:3)  unchanged",
        "+ trait CUSTOM_A  new  (w.yaml:3)  not done",
    ]


def test_what_is_known_to_fail_is_not_said_to_have_been_tried():
    known = CloudBroke("compute", "cmp00 has 2 servers")
    host = {"status": Status.FAILED, "problem": known, "known": known}
    (member,) = steps = [step("member", "gold-a", "cmp00", **host)]
    assert text(member) == [
        "+ aggregate gold-a  host cmp00  (w.yaml:3)",
        "    can't be done: compute: cmp00 has 2 servers",
    ]
    assert summary(["w.yaml"], steps, 1, 0) == "w.yaml: 1 can't be done, 1 as wanted"
