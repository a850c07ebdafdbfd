"""What of a run of check is new since an earlier one."""

from __future__ import annotations

import json

import pytest

from osc_traitsched.core.check.survey import ERROR, WARNING, Fault, SubjectKind
from osc_traitsched.views import check
from tests.unit.core.check.surveys import (
    aggregate,
    findings,
    flavor,
    host,
    identity,
    survey,
)

BIG, HUGE = flavor("big", {"ram": 16384}), flavor("huge", {"ram": 65536})
GOLD = {"trait__CUSTOM_GOLD": "required"}
EAST = aggregate("east", "a", "b", availability_zone="east")


def mirrored(*names):
    return survey(
        [host("a"), host("b")],
        aggregates=[EAST],
        members={EAST.uuid: frozenset(map(identity, names))},
    )


def saved(of, *without):
    """Rows of a run as JSON has them."""
    columns, rows = check.table(findings(of), ())
    bodies = [
        dict(zip(columns, [getattr(c, "machine_readable", lambda c=c: c)() for c in r]))
        for r in rows
    ]
    kept = [{k: v for k, v in body.items() if k not in without} for body in bodies]
    return json.loads(json.dumps(kept))


WORSE = [
    (survey([host("a")], [BIG]), survey([host("a")], [BIG, HUGE])),
    (
        survey([host("a")], [flavor("f", **GOLD)], known=["CUSTOM_GOLD"]),
        survey(
            [host("a")],
            [flavor("f", **GOLD), flavor("g", **GOLD)],
            known=["CUSTOM_GOLD"],
        ),
    ),
    (mirrored("b"), mirrored()),
]


@pytest.mark.parametrize(("before", "after"), WORSE)
def test_what_got_worse_within_a_finding_is_new(before, after):
    (new,) = check.new_since(findings(after), saved(before))
    assert new in findings(after)
    assert check.new_since(findings(before), saved(before)) == []
    assert check.new_since(findings(before), saved(after)) == []


@pytest.mark.parametrize(("before", "after"), WORSE)
def test_an_old_file_without_objects_compares_rules_and_objects(before, after):
    assert check.new_since(findings(after), saved(before, "affects")) == []
    assert check.new_since(findings(after), []) == findings(after)


def test_what_an_earlier_run_could_not_read_is_no_finding_of_it():
    columns, _ = check.table([], ())
    unread = [dict(zip(columns, row)) for row in check.unread_rows({"images": ["r"]})]
    before, after = WORSE[0]
    earlier = [*json.loads(json.dumps(unread, default=str)), *saved(before)]
    assert check.new_since(findings(before), earlier) == []
    (new,) = check.new_since(findings(after), earlier)
    assert new in findings(after)


def test_an_error_that_was_a_warning_and_a_second_fault_of_an_object_are_new():
    def of(fault: Fault) -> Fault:
        return Fault(**{**vars(fault), "rule": "r", "kind": SubjectKind.FLAVOR})

    warning, error = of(WARNING("f", "bad")), of(ERROR("f", "bad"))
    row = {"id": "r", "severity": "warning", "object": "flavor f"}
    assert check.new_since([warning], [row]) == []
    assert check.new_since([error], [row]) == [error]
    assert check.new_since([warning, warning], [row]) == [warning, warning]
