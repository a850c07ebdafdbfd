"""Findings for a person: a block each, the worst first, and a line that counts."""

from __future__ import annotations

import dataclasses
import subprocess

import pytest

from osc_traitsched.core.check.survey import ERROR, NOTE, Severity, SubjectKind
from osc_traitsched.paste import Option, openstack
from osc_traitsched.views import check
from osc_traitsched.views.terminal import Tone, painted
from tests.unit.core.check import test_isolation, test_mirror
from tests.unit.core.check.surveys import (
    aggregate,
    findings,
    flavor,
    host,
    identity,
    survey,
)

GOLD = "CUSTOM_GOLD"
RACK = tuple(f"cmp{number:03d}" for number in range(1, 213))
(LACKING,) = findings(
    test_isolation.of(
        [host("cmp000", GOLD), *map(host, RACK)],
        [aggregate("gold", "cmp000", *RACK, trait__CUSTOM_GOLD="required")],
    ),
    "isolation-member-lacks-trait",
)
(SHUT_OUT,) = findings(
    test_isolation.of(
        [host("a", GOLD)],
        [test_isolation.OF_GOLD],
        [test_isolation.NEEDS_GOLD, flavor("f")],
    )
)
(ORPHAN,) = findings(test_mirror.with_orphan("COMPUTE_STATUS_DISABLED"), "mirror")
(UNUSED,) = findings(survey([host("cmp1", GOLD), host("cmp2", GOLD)]))


def text(*shown, options=(), **more):
    return [painted(each, 0) for each in check.blocks(shown, options, **more)]


def unknown(name):
    named = flavor("f", **{f"trait:{name}": "required"})
    (found,) = findings(survey([host("a")], [named]))
    return found


def test_a_block_says_what_why_and_has_the_command_on_a_line_of_its_own():
    assert text(LACKING) == [
        "ERROR  isolation-member-lacks-trait  aggregate gold",
        "  cmp[001-212] lack CUSTOM_GOLD, so no server can be scheduled on them "
        "(212 of 213 members)",
        "    openstack trait-sched add CUSTOM_GOLD --aggregate gold",
        "",
        "1 error",
    ]


def test_what_has_to_be_so_first_stands_above_the_command():
    *_, when, command, _, _ = text(ORPHAN)
    assert when == (
        "  note the aggregate plain, and delete it if the host is gone and this shows "
        "no allocations:"
    )
    show = "openstack resource provider show --allocations"
    assert command == f"    {show} {identity('d')}"


def test_advice_without_a_command_is_a_line_of_prose():
    assert text(unknown("HW_CPU_NONE"))[2:] == ["  correct flavor f", "", "1 error"]


def test_a_problem_without_advice_has_no_line_for_it():
    _, problem, *rest = text(ERROR("for red", "must be a project's ID, not its name"))
    assert "not its name" in problem
    assert rest[0] == ""


def test_the_last_line_counts_each_severity_that_there_is():
    found = (LACKING, LACKING, ORPHAN, UNUSED, UNUSED)
    assert (
        text(*found)[-1]
        == "2 errors (1 rule), 1 warning, 2 notes (1 rule) (--long shows notes)"
    )
    assert text(LACKING)[-1] == "1 error"


def few(name, *hosts):
    problem = f"CUSTOM_SSD: leaves {', '.join(hosts)}"
    about = {"rule": "traits-few-hosts", "kind": SubjectKind.FLAVOR}
    return NOTE(name, problem, hosts=hosts, **about)


def test_findings_with_one_cause_are_one_block_and_the_rest_is_counted():
    alike = [few(f"f{number}") for number in range(7)]
    title, _, summary = text(*alike, least=Severity.NOTE, width=80)
    assert title == "NOTE  traits-few-hosts  flavors f0, f1, f2, f3, f4 and 2 more"
    assert summary == "7 notes (1 rule)"
    assert "f6" in text(*alike, least=Severity.NOTE)[0]


def test_each_cause_of_one_rule_names_its_objects():
    causes = [few("f0"), few("f1"), *(few(f"g{n}", f"h{n}") for n in range(4))]
    _, first, *_ = text(*causes, least=Severity.NOTE, width=80)
    assert first.startswith("  flavors f0, f1: ")
    assert first.endswith("(4 more: --long)")
    assert "  flavor g3: " in "\n".join(text(*causes, least=Severity.NOTE))


def test_the_worst_of_many_rules_are_last_on_a_screen_of_40_rows():
    found = [
        dataclasses.replace(error, rule=f"rule-{number}")
        for number in range(8)
        for error in [ERROR(f"a{n}", f"{'wrong ' * 40}{n}") for n in range(5)]
    ]
    rows = [painted(each, 80) for each in check.blocks(found, width=80)]
    rows = "\n".join(rows).splitlines()
    titles = [
        row.split()[1] for row in rows if row.startswith("\x1b") or "rule-" in row
    ]
    assert len(rows) <= 40
    assert max(map(len, rows)) <= 80
    assert titles[0] == "rule-7"
    assert rows[-1] == "40 errors (8 rules)"


def test_notes_are_counted_if_they_are_not_asked_for():
    assert text(UNUSED) == ["1 note (--long shows notes)"]


def test_a_severity_has_the_tone_that_explain_has_for_what_is_as_bad():
    found = check.blocks((LACKING, ORPHAN, UNUSED), least=Severity.NOTE)
    titles = [each for each in found if each.tone]
    assert [each.tone for each in titles] == [Tone.NO, Tone.DOUBT, Tone.TITLE]


def test_a_command_is_for_the_cloud_that_was_looked_at():
    found = text(LACKING, options=[Option("--os-cloud", "prod")])
    assert found[2].startswith("    openstack --os-cloud prod trait-sched add ")


def test_on_a_terminal_a_long_fix_has_its_command_on_a_line_of_its_own():
    when = "use a smaller flavor, or else a larger host, and look at its limits"
    command = openstack("trait-sched list")
    fault = ERROR("f", "big", command, when, kind=SubjectKind.FLAVOR)
    rows = text(fault, width=80)
    assert rows[2:4] == [f"  {when}:", "    openstack trait-sched list"]


def test_a_name_is_nothing_that_a_terminal_obeys():
    named = NOTE("red\x1b[31m\nflavor", "unused", kind=SubjectKind.FLAVOR)
    assert all(each.isprintable() for each in text(named))


@pytest.mark.parametrize("finding", [SHUT_OUT, unknown(GOLD)])
def test_a_command_with_something_to_fill_in_does_not_run_as_it_is(finding, tmp_path):
    (command,) = (each for each in text(finding) if each.startswith("    openstack"))
    assert "<" in command
    stub = "openstack() { echo it ran; }\n"
    done = subprocess.run(
        ["/bin/sh", "-c", stub + command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
