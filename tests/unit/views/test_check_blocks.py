"""Findings for a person: a block each, the worst first, and a line that counts."""

from __future__ import annotations

import subprocess

import pytest

from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.check.rules.isolation import (
    IsolationMemberLacksTrait,
    IsolationShutsOut,
)
from osc_traitsched.core.check.rules.mirror import MirrorNoHypervisor, Own
from osc_traitsched.core.check.rules.placing import ProjectUnknown
from osc_traitsched.core.check.rules.traits import TraitsUnknown, TraitsUnused
from osc_traitsched.paste import Option
from osc_traitsched.views import check
from osc_traitsched.views.terminal import Tone, painted

GOLD = "CUSTOM_GOLD"
RACK = tuple(f"cmp{number:03d}" for number in range(1, 213))
LACKING = IsolationMemberLacksTrait(Severity.ERROR, "gold", GOLD, RACK, 300)
ORPHAN = MirrorNoHypervisor(Severity.WARNING, "cmp9", "9d", Own((), ()), None)
UNUSED = TraitsUnused(GOLD, ("cmp1", "cmp2"))


def text(*findings, options=()):
    return [painted(each, 0) for each in check.blocks(findings, options)]


def test_a_block_says_what_why_and_has_the_command_on_a_line_of_its_own():
    assert text(LACKING) == [
        "ERROR  isolation-member-lacks-trait  aggregate gold",
        "  isolated by CUSTOM_GOLD, and 212 of 300 members lack it, so that no server "
        "at all gets there: hosts cmp[001-212]",
        "    openstack trait-sched add CUSTOM_GOLD --aggregate gold",
        "",
        "1 error",
    ]


def test_what_has_to_be_so_first_stands_above_the_command():
    *_, when, command, _, _ = text(ORPHAN)
    assert when == "  delete it if the host is gone and this shows no allocations:"
    assert command == "    openstack resource provider show --allocations 9d"


def test_advice_without_a_command_is_a_line_of_prose():
    unknown = TraitsUnknown(Severity.ERROR, "HW_CPU_NONE", ("f",), (), (), ())
    assert text(unknown)[2:] == ["  take the key off", "", "1 error"]


def test_a_problem_without_advice_has_no_line_for_it():
    given, ids = ("filter_tenant_id", "red"), ("1d", "2d")
    twice = ProjectUnknown(Severity.ERROR, "for red", 1, *given, ids)
    _, problem, *rest = text(twice)
    assert "the name of a project" in problem
    assert rest[0] == ""


def test_the_last_line_counts_each_severity_that_there_is():
    found = (LACKING, LACKING, ORPHAN, UNUSED, UNUSED)
    assert text(*found)[-1] == "2 errors, 1 warning, 2 notes"
    assert text(LACKING, UNUSED, UNUSED)[-1] == "1 error, 2 notes"


def test_a_severity_has_the_tone_that_explain_has_for_what_is_as_bad():
    titles = [each for each in check.blocks((LACKING, ORPHAN, UNUSED)) if each.tone]
    assert [each.tone for each in titles] == [Tone.NO, Tone.DOUBT, Tone.TITLE]


def test_a_command_is_for_the_cloud_that_was_looked_at():
    found = text(LACKING, options=[Option("--os-cloud", "prod")])
    assert found[2].startswith("    openstack --os-cloud prod trait-sched add ")


def test_a_name_is_nothing_that_a_terminal_obeys():
    named = TraitsUnused("red\x1b[31m\nflavor", ())
    assert all(each.isprintable() for each in text(named))


@pytest.mark.parametrize(
    "finding",
    [
        IsolationShutsOut("f", ("gold",), ("cmp1",), "1d"),
        TraitsUnknown(Severity.ERROR, GOLD, ("f",), (), (), ()),
    ],
)
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
