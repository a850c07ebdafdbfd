"""What the first line says of servers that failed, if rights are missing."""

from __future__ import annotations

from osc_traitsched.core.errors import CloudBroke, Forbidden
from osc_traitsched.core.servers.fleet import FailedKind, FailedServer, FailedServers
from osc_traitsched.views.server import document, failed
from osc_traitsched.views.terminal import Tone

WEB = (FailedServer("1", "web"),)
DENIED = FailedKind(WEB, None, Forbidden("placement", "no"))
BROKEN = FailedKind(WEB, None, CloudBroke("placement", "broken", 500))


def first(*kinds, **more):
    return next(failed.lines(FailedServers(kinds, **more)))


def test_servers_that_nobody_may_judge_are_not_said_to_fail_again():
    assert first(DENIED).text == (
        "1 server failed; whether they would fail again is unknown: you may not read "
        "Placement (quick start: A read-only role)."
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
    (cause,) = document.all_failed(FailedServers((DENIED,)))["causes"]
    assert cause["has_room"] is None
