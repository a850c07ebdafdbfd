"""Servers are counted where they were read, and read on demand only."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core import check
from osc_traitsched.core.check.survey import ServerCounts
from tests.unit.core.check.surveys import findings, survey

RULE, AREA, UNKNOWN = "servers-misplaced", "servers", "servers-not-known"


def counted(looked_at, misplaced, unknown=0, hosts=("a",), silent=()):
    counts = ServerCounts(looked_at, misplaced, unknown, hosts, silent)
    return dataclasses.replace(survey("a"), servers=counts)


@pytest.mark.parametrize(
    ("names", "with_servers", "is_there"),
    [
        ((), False, False),
        ((), True, True),
        (["traits"], False, False),
        (["traits"], True, True),
        ([AREA], False, True),
        ([RULE], False, True),
    ],
)
def test_servers_are_read_on_demand_only(names, with_servers, is_there):
    found = check.select(names, with_servers=with_servers)
    assert (RULE in [rule.id for rule in found]) is is_there


def test_an_ignored_rule_reads_no_server():
    found = check.select((), [RULE, UNKNOWN], with_servers=True)
    assert not any(rule.reads_servers for rule in found)


def test_misplaced_servers_are_one_finding_with_their_hosts():
    (found,) = findings(counted(3450, 12, 0, ("cmp0", "cmp1", "cmp2")), AREA)
    assert (found.rule, found.name) == (RULE, "12 of 3450")
    assert found.words().problem == (
        "12 servers could not be given their hosts today: hosts cmp[0-2]"
    )


@pytest.mark.parametrize(
    ("unknown", "silent", "problem"),
    [
        (30, (), "not known of 30 servers if their hosts could be given to a new one"),
        (
            0,
            ("cmp7", "cmp8", "cmp9"),
            "not read: the servers of hosts cmp[7-9], whose cell does not answer",
        ),
        (
            1,
            ("cmp7",),
            "not known of 1 server if its host could be given to a new one; not read: "
            "the servers of host cmp7, whose cell does not answer",
        ),
    ],
)
def test_servers_of_which_it_is_not_known_are_a_note(unknown, silent, problem):
    (found,) = findings(counted(60, 0, unknown, (), silent), AREA)
    assert (found.rule, found.severity.value) == (UNKNOWN, "note")
    assert (found.name, found.words().problem) == (f"{unknown} of 60", problem)


def test_no_misplaced_server_is_no_finding():
    assert findings(counted(5, 0), AREA) == []
    assert findings(survey("a"), AREA) == []
