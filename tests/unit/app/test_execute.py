"""The executor: order, dependence, stop and interruption."""

from __future__ import annotations

import dataclasses
import os
import signal
import threading
import time

import pytest

from osc_traitsched.app import execute
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Outcome,
    Plan,
    State,
    Status,
)
from osc_traitsched.core.errors import CloudBroke, NoProvider


def change(name, needed=True):
    found = State({} if needed else {"X": PRESENT})
    return Change(Object(ObjectKind.PROVIDER_TRAITS, name, name), found, {"X": PRESENT})


def plan(*stages):
    return Plan.of(*([change(name) for name in stage] for stage in stages))


def broken(status=None):
    return CloudBroke("placement", "as the test wants it", status, passing=True)


class Applying:
    """Carries out changes in thought, and remembers which."""

    def __init__(self, failing=(), problem=None):
        self.asked = []
        self.failing = frozenset(failing)
        self.problem = problem or broken(403)

    def __call__(self, change, patience):
        if change.problem is not None:
            return Outcome(change, Status.FAILED, change.problem)
        self.asked.append(change.object.name)
        if change.object.name in self.failing:
            return Outcome(change, Status.FAILED, self.problem)
        return Outcome(change, Status.CHANGED)


def statuses(found):
    return [each.status.value for each in found.outcomes]


UNNEEDED = Plan.of(
    [change("a"), change("b")], [change("c", needed=False)], [change("d")]
)
C, F, N = "changed", "failed", "not done"


@pytest.mark.parametrize(
    ("todo", "failing", "status", "asked", "became"),
    [
        pytest.param(plan("ab", "c", "de"), "", 403, "abcde", [C] * 5, id="none"),
        # Its stage is finished and no later one begun.
        pytest.param(UNNEEDED, "a", 403, "ab", [F, C, "unchanged", N], id="a stage"),
        # Three in a row without any answer end it; answers that are errors do not.
        pytest.param(
            plan("abcdefgh", "i"),
            *("bdefgh", None, "abcdef", [C, F, C, F, F, F, N, N, N]),
            id="silent",
        ),
        pytest.param(
            plan("abcdefgh"), "abcdefgh", 503, "abcdefgh", [F] * 8, id="errors"
        ),
    ],
)
def test_what_a_failure_ends(todo, failing, status, asked, became):
    apply = Applying(failing=failing, problem=broken(status))
    found = execute.run(todo, apply)
    assert ("".join(apply.asked), statuses(found)) == (asked, became)
    assert not found.interrupted


@pytest.mark.parametrize("jobs", [1, 4])
def test_outcomes_are_in_the_order_of_the_plan_whoever_ends_first(jobs):
    def apply(change, patience):
        time.sleep(0.02 if change.object.name == "a" else 0)
        return Outcome(change, Status.CHANGED)

    seen = []
    found = execute.run(plan("abcdefgh"), apply, jobs, seen.append)
    assert [each.change.object.name for each in found.outcomes] == list("abcdefgh")
    assert sorted(each.change.object.name for each in seen) == list("abcdefgh")


def test_so_many_changes_are_under_way_at_once_as_there_are_jobs():
    together = threading.Barrier(4, timeout=10)

    def apply(change, patience):
        together.wait()
        return Outcome(change, Status.CHANGED)

    assert execute.run(plan("abcdefgh"), apply, 4).done == 8


def test_hosts_that_nobody_asks_do_not_count_as_an_answer():
    apply = Applying(failing="abcdef", problem=broken())
    changes = plan("abcdef").changes
    unasked = dataclasses.replace(change("x"), problem=NoProvider("x"))
    todo = Plan.of([*changes[:2], unasked, *changes[2:]])
    assert execute.run(todo, apply).count(Status.NOT_DONE) == 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_it_begins_nothing_more_and_tells_what_became_of_what(jobs):
    hanging = threading.Event()

    def apply(change, patience):
        if change.object.name == "b":
            os.kill(os.getpid(), signal.SIGINT)
            hanging.wait(60)
        return Outcome(change, Status.CHANGED)

    before = signal.getsignal(signal.SIGINT)
    start = time.monotonic()
    found = execute.run(plan("ab", "c"), apply, jobs)
    assert found.interrupted
    assert statuses(found) == ["changed", "unknown", "not done"]
    assert found.done == 1
    # What hangs gets a second; the signal is then again what it was before.
    assert time.monotonic() - start < 30
    assert signal.getsignal(signal.SIGINT) is before
    hanging.set()


def test_outcomes_that_come_while_one_is_told_are_not_lost_at_the_end():
    """Telling takes longer here than what is under way gets to end."""
    all_begun = threading.Barrier(3, timeout=10)

    def apply(change, patience):
        all_begun.wait()
        if change.object.name == "a":
            os.kill(os.getpid(), signal.SIGINT)
        assert patience.stopped.wait(10)
        return Outcome(change, Status.CHANGED)

    def watch(outcome):
        time.sleep(execute._GRACE + 0.2)

    found = execute.run(plan("abc"), apply, 3, watch)
    assert (statuses(found), found.interrupted) == (["changed"] * 3, True)


def test_a_handler_that_is_not_python_s_is_left_alone(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    assert execute.run(plan("ab"), Applying()).done == 2
    assert signal.signal(signal.SIGINT, before) is signal.SIG_DFL


def test_started_with_ctrl_c_ignored_it_goes_on():
    def apply(change, patience):
        os.kill(os.getpid(), signal.SIGINT)
        return Outcome(change, Status.CHANGED)

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    found = execute.run(plan("ab", "c"), apply)
    assert signal.signal(signal.SIGINT, before) is signal.SIG_IGN
    assert (statuses(found), found.interrupted) == (["changed"] * 3, False)


def test_what_ends_right_after_the_interruption_is_told_as_it_ended():
    def apply(change, patience):
        os.kill(os.getpid(), signal.SIGINT)
        assert patience.stopped.wait(10)
        return Outcome(change, Status.FAILED, broken(403))

    found = execute.run(plan("ab"), apply)
    assert found.interrupted
    assert statuses(found) == ["failed", "not done"]


def test_an_exception_ends_it_and_every_change_has_an_outcome():
    def apply(change, patience):
        if change.object.name == "b":
            raise ZeroDivisionError("as the test wants it")
        return Outcome(change, Status.CHANGED)

    found = execute.run(plan("abc", "d"), apply)
    assert statuses(found) == ["changed", "unknown", "not done", "not done"]
    assert (found.stopped, found.interrupted) == (True, False)
    assert found.outcomes[1].problem is found.unexpected
    assert isinstance(found.unexpected.error, ZeroDivisionError)


def test_what_other_threads_write_after_an_exception_is_told():
    raised = threading.Event()

    def apply(change, patience):
        if change.object.name == "a":
            raised.wait(10)
            raise ZeroDivisionError("as the test wants it")
        raised.set()
        assert patience.stopped.wait(10)
        return Outcome(change, Status.CHANGED)

    found = execute.run(plan("abc"), apply, jobs=2)
    assert statuses(found) == ["unknown", "changed", "not done"]


def test_after_a_change_of_which_nobody_knows_no_later_stage_is_begun():
    def apply(change, patience):
        return Outcome(change, Status.UNKNOWN, broken(504))

    found = execute.run(plan("ab", "c"), apply)
    assert statuses(found) == ["unknown", "unknown", "not done"]
    assert not found.stopped


def test_outside_of_the_main_thread_signals_are_left_alone():
    results = []
    thread = threading.Thread(
        target=lambda: results.append(execute.run(plan("ab"), Applying()))
    )
    thread.start()
    thread.join(10)
    assert statuses(results[0]) == ["changed", "changed"]


def chained(*names):
    """Return changes of one host."""
    return [dataclasses.replace(change(name), moving_host=names[0]) for name in names]


@pytest.mark.parametrize("jobs", [1, 4])
def test_changes_that_need_each_other_are_made_one_right_after_the_other(jobs):
    apply = Applying()
    todo = Plan.of([*chained("a", "b", "c"), *chained("x", "y")])
    assert statuses(execute.run(todo, apply, jobs)) == ["changed"] * 5
    assert [each for each in apply.asked if each in "abc"] == ["a", "b", "c"]
    assert [each for each in apply.asked if each in "xy"] == ["x", "y"]
    if jobs == 1:
        assert apply.asked == ["a", "b", "c", "x", "y"]


@pytest.mark.parametrize(
    ("failing", "became"), [("b", [C, F, N, N, N]), ("a", [F, N, N, C, C])]
)
def test_others_of_a_stage_are_begun_unless_changes_are_half_done(failing, became):
    todo = Plan.of([*chained("a", "b", "c"), *chained("x", "y")])
    assert statuses(execute.run(todo, Applying(failing))) == became


def test_interrupted_it_makes_the_changes_that_those_under_way_are_needed_for():
    apply = Applying()

    def interrupted(each, patience):
        if each.object.name == "a":
            os.kill(os.getpid(), signal.SIGINT)
            # The main thread has taken it by then.
            assert patience.stopped.wait(5)
        return apply(each, patience)

    todo = Plan.of([*chained("a", "b"), *chained("x", "y")])
    found = execute.run(todo, interrupted)
    assert found.interrupted
    assert statuses(found) == ["changed", "changed", "not done", "not done"]


def test_what_nobody_waits_for_any_more_is_not_begun(monkeypatch):
    monkeypatch.setattr(execute, "_GRACE", 0.3)
    apply, hanging = Applying(), threading.Event()

    def hangs(each, patience):
        if each.object.name == "a":
            os.kill(os.getpid(), signal.SIGINT)
            hanging.wait(60)
        return apply(each, patience)

    found = execute.run(Plan.of(chained("a", "b")), hangs)
    assert statuses(found) == ["unknown", "not done"]
    before = threading.active_count()
    hanging.set()
    while threading.active_count() == before:
        time.sleep(0.01)
    assert apply.asked == ["a"]
