"""What the first line says of servers that failed, if rights are missing."""

from __future__ import annotations

import pytest

from osc_traitsched.core.errors import CloudBroke, Forbidden
from osc_traitsched.core.servers.fleet import FailedKind, FailedServer, FailedServers
from osc_traitsched.views import server_explain
from osc_traitsched.views.terminal import Tone

WEB = (FailedServer("1", "web"),)
DENIED = FailedKind(WEB, None, Forbidden("placement", "no"))
BROKEN = FailedKind(WEB, None, CloudBroke("placement", "broken", 500))


def first(*kinds, **more):
    return next(server_explain.failed_lines(FailedServers(kinds, **more)))


def test_servers_that_nobody_may_judge_are_not_said_to_fail_again():
    assert first(DENIED).text == (
        "1 server failed; whether they would fail again is unknown: you may not read "
        "Placement (documentation: Read-only access)."
    )
    assert first(DENIED).tone is Tone.DOUBT
    assert first(BROKEN).text == "1 server failed, for 1 reason; 1 may fail again."


def test_no_server_failed_of_those_that_are_listed():
    assert first().text == "No server failed."
    partly = first(is_partial=True)
    assert (partly.text, partly.tone) == (
        "No server that you may list failed.",
        Tone.DOUBT,
    )


def test_programs_get_no_answer_where_there_is_none():
    (cause,) = server_explain.all_failed(FailedServers((DENIED,)))["causes"]
    assert cause["has_room"] is None


def many(causes):
    names = "abcdefghijklmnopqrstuvwxyz"
    return FailedServers(
        tuple(
            FailedKind(
                (FailedServer(name, f"web-{name}"),) * 3,
                None,
                CloudBroke(
                    "compute", f"reason {name} of this kind " + "word " * 20, 500
                ),
            )
            for name in names[:causes]
        )
    )


@pytest.mark.parametrize(
    ("causes", "height", "rows", "last"),
    [
        (3, 24, 8, "   Not judged: compute: reason c"),
        (12, 24, 14, "3 x web-l, web-l and 1 more: Not judged: compute: reason l"),
        (20, 24, 20, "and 3 more reasons (--long)"),
        (20, 0, 42, "   Not judged: compute: reason t"),
    ],
)
def test_causes_fill_a_terminal_and_are_whole_in_a_pipe(causes, height, rows, last):
    width = 80 if height else 0
    texts = [
        each.text
        for each in server_explain.failed_lines(many(causes), (), width, height)
    ]
    assert len(texts) == rows
    assert texts[-2].startswith(last)
    assert texts[-1] == "The whole answer: openstack trait-sched server explain web-a"
    if height:
        assert max(map(len, texts)) <= width
        assert len(texts) < height
