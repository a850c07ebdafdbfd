"""From faults and events, as Nova's API shows them, to where a server failed.

The cloud's tests make a real Nova fail in these ways.
"""

from __future__ import annotations

import pytest

from osc_traitsched.core.servers.failure import Stage, failure
from osc_traitsched.core.servers.state import (
    failed_action,
    moment,
    read_action,
    read_state,
)

BURIED = "conductor_schedule_and_build_instances"
BUILD = "compute__do_build_and_run_instance"
CHECK = "compute_check_can_live_migrate_destination"
NO_HOST = "No valid host was found. "
NOT_ENOUGH = f"{NO_HOST}There are not enough hosts available."


def event(name, host="", result="Success", details=None, second=0):
    start = f"2026-11-22T12:00:{second:02d}.000001"
    return {
        "event": name,
        "host": host,
        "result": result,
        "details": details,
        "start_time": start,
    }


def action(name, *events, request="req-1", minute=0):
    is_error = any(each["result"] == "Error" for each in events)
    return {
        "action": name,
        "request_id": request,
        "start_time": f"2026-11-22T12:{minute:02d}:00.000001",
        "message": "Error" if is_error else None,
        "events": list(events),
    }


def server(fault=None, **more):
    body = {"id": "s1", "name": "web", "status": "ERROR", "tenant_id": "p", **more}
    if fault is not None:
        created = "2026-11-22T12:00:30Z"
        body["fault"] = {"message": fault, "code": 500, "created": created}
    return read_state(body)


def failed(fault, *events, name="create", **more):
    return failure(server(fault, **more), read_action(action(name, *events)))


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        (NO_HOST, Stage.NO_CANDIDATES),
        (NOT_ENOUGH, Stage.NO_HOST_LEFT),
        (f"{NO_HOST}No hosts available for tenant", Stage.REJECTED),
        (f"{NO_HOST}No such host - host: cmp09 node: None ", Stage.REJECTED),
        ("ServerGroup policy is not supported: no filter", Stage.REJECTED),
        ("Requested CPU policy is not allowed.", Stage.REJECTED),
        ("RemoteError", Stage.SERVICE),
        ("MessagingTimeout", Stage.SERVICE),
    ],
)
def test_a_build_that_gets_no_host_says_where_it_ended(text, stage):
    found = failed(text, event(BURIED, "controller", "Error", text))
    assert (found.stage, found.attempts, found.is_fault) == (stage, (), True)
    assert (found.action, found.text) == ("create", text.strip())
    assert found.when == moment("2026-11-22T12:00:30Z")


@pytest.mark.parametrize(
    "text",
    [
        "Exceeded maximum number of retries. Exhausted all hosts available for "
        "retrying build failures for instance s1.",
        "Exceeded maximum number of retries. Exceeded max scheduling attempts 3 for "
        "instance s1. Last exception: no disk",
    ],
)
def test_hosts_that_were_tried_are_told_in_their_order(text):
    """Nova calls each attempt a success that is followed by another one."""
    tried = [event(BUILD, host, second=n) for n, host in enumerate(("b", "a", "c"))]
    found = failed(text, *reversed(tried))
    assert (found.stage, found.attempts) == (Stage.RETRIES, ("b", "a", "c"))
    assert found.steps == ()


def test_a_build_that_is_given_up_is_its_last_hosts():
    """A build that is not tried elsewhere ends its step like a good one."""
    found = failed(
        "Build of instance s1 aborted: no port",
        event(BUILD, "a", second=1),
        event(BUILD, "b", second=2),
    )
    assert (found.stage, found.host) == (Stage.COMPUTE, "b")


def test_without_any_step_a_fault_of_other_words_is_not_explained():
    assert failed("something").stage is Stage.UNKNOWN
    assert failure(server(), None).stage is Stage.UNKNOWN


def test_of_steps_of_one_name_the_end_that_is_kept_is_the_last_ones():
    """Nova writes the end of each into the first of them."""
    outer = event("conductor_live_migrate_instance", "x", "Error", NOT_ENOUGH)
    found = failed(
        None,
        event(CHECK, "a", "Error", "no", second=1),
        event(CHECK, "b", None, second=2),
        outer,
        name="live-migration",
        status="ACTIVE",
    )
    assert (found.stage, found.attempts) == (Stage.CHECKS, ("a", "b"))
    assert (found.check.host, found.check.details, found.host) == ("b", "no", "b")
    assert (found.text, found.is_fault) == (NOT_ENOUGH, False)


def test_a_live_migration_without_checks_got_no_host():
    outer = event("conductor_live_migrate_instance", "x", "Error", NO_HOST)
    found = failed(None, outer, name="live-migration", status="ACTIVE")
    assert (found.stage, found.check) == (Stage.NO_CANDIDATES, None)


@pytest.mark.parametrize("what", ["cold migrate", "resize"])
def test_of_a_cold_move_nova_keeps_no_reason(what):
    text = f"{NO_HOST}No valid host found for {what}"
    steps = (
        event("conductor_migrate_server", "x", "Error", text),
        event("cold_migrate", "x", "Error", text, second=1),
    )
    found = failed(None, *steps, name="migrate", status="ACTIVE")
    assert (found.stage, found.text) == (Stage.NOT_KEPT, text)


def test_a_step_of_a_compute_is_its_hosts():
    step = event("compute_prep_resize", "c", "Error", "Host 'c' has no room", second=1)
    found = failed(None, step, name="resize", status="ACTIVE")
    assert (found.stage, found.host) == (Stage.COMPUTE, "c")
    assert found.text == "Host 'c' has no room"


def test_before_2_84_the_steps_do_not_say_what_they_raised():
    step = event("schedule_instances", "x", "Error")
    found = failed(None, step, name="unshelve", status="SHELVED_OFFLOADED")
    assert (found.stage, found.text) == (Stage.UNKNOWN, "")
    outer = event("conductor_live_migrate_instance", "x", "Error")
    steps = (outer, event(CHECK, "a", "Error", second=1))
    found = failed(None, *steps, name="live-migration", status="ACTIVE")
    assert (found.stage, found.attempts) == (Stage.CHECKS, ("a",))


def test_a_server_that_did_not_fail_has_no_failure():
    assert failure(server(status="ACTIVE"), None) is None


# Which action it was


def chosen(state, *actions):
    return failed_action(state, map(read_action, actions))


def test_of_a_server_in_error_it_is_the_last_action_before_its_fault():
    actions = [
        action("resize", request="later", minute=5),
        action("create", request="first", minute=0),
    ]
    assert chosen(server(NO_HOST), *actions).request == "first"
    assert chosen(server(NO_HOST)) is None


def test_of_another_one_it_is_its_last_request_for_a_host_if_that_failed():
    create = action("create", minute=0)
    bad = action("resize", event("cold_migrate", "x", "Error"), minute=1)
    stop = action("stop", minute=2)
    good = action("live-migration", minute=3)
    state = server(status="ACTIVE")
    assert chosen(state, stop, bad, create).name == "resize"
    assert chosen(state, create, stop, bad, good) is None
    assert chosen(state, create, stop) is None


@pytest.mark.parametrize("text", ["2026-11-22T12:00:30Z", "2026-11-22T12:00:30.000000"])
def test_times_are_of_utc(text):
    assert moment(text).isoformat() == "2026-11-22T12:00:30+00:00"


@pytest.mark.parametrize("digits", ["5", "50", "500", "5000", "500000", "500000000"])
def test_a_fraction_of_a_second_may_have_any_number_of_digits(digits):
    expected = "2026-11-22T12:00:30.500000+00:00"
    assert moment(f"2026-11-22T12:00:30.{digits}Z").isoformat() == expected


@pytest.mark.parametrize("text", [None, "", "yesterday"])
def test_what_is_no_time_is_not_known(text):
    assert moment(text) is None
