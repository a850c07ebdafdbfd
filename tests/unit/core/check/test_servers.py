"""Servers are counted where they were read, and read on demand only."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core import check
from osc_traitsched.core.check.survey import ServerCounts
from osc_traitsched.views.check.wording import word
from tests.unit.core.check.surveys import findings, host, survey

RULE, AREA = "servers-misplaced", "servers"


def counted(looked_at, misplaced, unknown=0, hosts=("a",)):
    counts = ServerCounts(looked_at, misplaced, unknown, hosts)
    return dataclasses.replace(survey([host("a")]), servers=counts)


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
    found = check.select((), [RULE], with_servers=True)
    assert not any(rule.reads_servers for rule in found)


def test_misplaced_servers_are_one_finding_with_their_hosts():
    (found,) = findings(counted(3450, 12, 30, ("cmp0", "cmp1", "cmp2")), AREA)
    assert (found.rule, found.name) == (RULE, "12 of 3450")
    assert word(found).problem == (
        "12 servers could not be given their hosts today: hosts cmp[0-2]; not known of "
        "30 more"
    )


def test_no_misplaced_server_is_no_finding():
    assert findings(counted(5, 0, 5), AREA) == []
    assert findings(survey([host("a")]), AREA) == []
