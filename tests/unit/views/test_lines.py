"""The lines that plan and apply print for a person."""

from __future__ import annotations

from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Outcome,
    State,
    Status,
)
from osc_traitsched.core.desired.model import Claim, Place
from osc_traitsched.core.desired.planner import Row
from osc_traitsched.core.desired.units import FoundCloud
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.views.desired import lines, summary
from tests.aggregates import aggregate
from tests.golden import screens

CLOUD = FoundCloud(
    Snapshot(()),
    (aggregate("gold-a"),),
    (),
    frozenset({"CUSTOM_GOLD"}),
    frozenset(),
    holdings={},
)


KINDS = {
    kind.step: kind
    for kind in vars(ObjectKind).values()
    if isinstance(kind, ObjectKind)
}
KINDS["provider"] = ObjectKind.PROVIDER_TRAITS


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
    owner = Object(KINDS[kind], "id", name)
    change = Change(owner, State({}), {}, phase=phase, problem=known)
    claim = Claim(after, Place("w.yaml", line), rest)
    outcome = Outcome(change, status, problem)
    return Row(what, kind, name, "id", key, before, after, claim, outcome)


def text(*steps):
    return list(lines(steps, CLOUD))


def hosts(*names, key="CUSTOM_A", **more):
    return [step("host", name, key, **more) for name in names]


BROKEN = CloudBroke("placement", "no", 403)
KNOWN = CloudBroke("compute", "cmp00 has 2 servers")
TAKEN = {"after": None, "before": PRESENT, "rest": True}

PLANS = {
    "every-kind": [
        step("trait", "CUSTOM_SSD", "CUSTOM_SSD"),
        step("aggregate", "az1", "name", "az1"),
        step("aggregate", "a", "availability_zone", "az1"),
        step("host", "cmp00", "CUSTOM_SSD"),
        step("host", "a\x1b", "CUSTOM_A"),
        step("provider", "gpu", "CUSTOM_A"),
        step("mirror", "cmp00", "gold"),
        step("member", "gold", "cmp00"),
        step("flavor", "small", "trait:CUSTOM_SSD", "forbidden", "required"),
        step("flavor", "f", "k", "x\ny", "z"),
        step("image", "win", "trait:CUSTOM_SSD", None, "required"),
        step("host", "cmp03", "CUSTOM_OLD", None, PRESENT),
    ],
    # Names with the same change of lines in a row are one line.
    "names-in-one-line": [
        *(
            step("host", f"cmp0{number}", trait)
            for number in range(3)
            for trait in ("CUSTOM_A", "CUSTOM_B")
        ),
        *hosts("cmp03", line=5),
        *(step("member", "gold", f"cmp0{number}") for number in range(3)),
        step("member", "vip", "cmp03"),
        *(
            step("host", f"cmp1{number}", "CUSTOM_C", line=line)
            for number, line in enumerate((8, 7, 6, 20, 7))
        ),
    ],
    "phases": [
        *hosts("cmp00", phase=1),
        step("flavor", "f", "trait:CUSTOM_A", "required", phase=2),
        *hosts("cmp01", phase=3),
    ],
    "names-that-are-like-others": [
        step("trait", "CUSTOM_GOLDD", "CUSTOM_GOLDD"),
        step("aggregate", "gold-b", "name", "gold-b", status=Status.CHANGED),
    ],
    # At the end of the line, or below if the line is long.
    "taken-by-only": [
        *hosts("cmp00", **TAKEN),
        *hosts("cmp00", key="CUSTOM_LONGER_THAN_WHAT_ONE_LINE_HAS", **TAKEN),
    ],
    "failed": [
        *hosts("cmp00", status=Status.CHANGED),
        *hosts("cmp01", "cmp02", status=Status.FAILED, problem=BROKEN),
        *hosts("cmp03", status=Status.UNKNOWN, problem=BROKEN),
        *hosts("cmp04", status=Status.UNCHANGED),
        step("trait", "CUSTOM_A", "CUSTOM_A", status=Status.NOT_DONE),
    ],
    "known-to-fail": [
        step(
            *("member", "gold-a", "cmp00"),
            status=Status.FAILED,
            problem=KNOWN,
            known=KNOWN,
        )
    ],
}


def test_a_line_says_what_is_done_to_what_and_where_it_is_wanted(golden):
    plans = {
        name: [summary(["w.yaml"], steps, 1, 0), *text(*steps)]
        for name, steps in PLANS.items()
    }
    golden("plan/lines", screens(plans))


def test_all_names_are_there_in_lines_of_80_columns():
    names = [f"compute-{letter}" for letter in "abcdefghijkl"]
    found = text(*(step("host", name, "CUSTOM_A") for name in names))
    assert max(map(len, found)) <= 80
    parts = [line.split("  ", 1) for line in found]
    assert {end for _, end in parts} == {"trait CUSTOM_A  (w.yaml:3)"}
    said = [start.removeprefix("+ host ").split(", ") for start, _ in parts]
    assert [name for some in said for name in some] == names
