"""Answers that hang on options that nobody gave."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.judge.doubts import Doubts, OptionImpact
from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import Evidence, with_evidence
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.state import Fails
from osc_traitsched.core.nova.filter.table import FilterAnswers
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.drain import (
    Drain,
    MoveRequest,
    ServerMove,
    Stuck,
    StuckReason,
)
from osc_traitsched.core.servers.failure import (
    Changes,
    Failure,
    ServerAnswer,
    Stage,
    confirmed_by_failure,
)
from osc_traitsched.core.servers.moves import of_own_host
from osc_traitsched.core.servers.state import ServerState
from osc_traitsched.views import drain, server_explain
from osc_traitsched.views.explain import document, reasons, words
from osc_traitsched.views.terminal import Tone
from tests.aggregates import aggregate
from tests.property.building import identity
from tests.schemas import closed
from tests.unit.core.test_explanation import explained

ASSUMED = Setting(True, "aggregate gold has trait:CUSTOM_GOLD=required")
DEFAULT = Setting(False, "the default of 2026.2")
NOTHING = Changes()
SSD = "aggregate_instance_extra_specs:ssd"
UNSURE, NO, YES = ExitCode.UNKNOWN, ExitCode.NO_HOST, ExitCode.DONE


def found(candidates, *impacts):
    """Return what is found of three hosts.

    :param impacts: the setting, the gained hosts, and the lost hosts
    """
    full = {"inventories": {}}
    cloud = {name: {} if name in candidates else full for name in "abc"}
    made = explained({"cloud": cloud}, candidates)
    names = (options.ISOLATION, options.IMAGE_TYPE, options.IMAGE_METADATA)
    changing = (
        OptionImpact(
            uuids(gained), uuids(lost), False, name, setting, not setting.value
        )
        for name, (setting, gained, lost) in zip(names, impacts)
    )
    return dataclasses.replace(made, doubts=Doubts(tuple(changing)))


def uuids(names):
    return frozenset(map(identity, names))


GIVEN = Setting(False, "nova.conf:3", given=True)
CASES = {
    "a host for either value": (("ab", (DEFAULT, "", "a")), False, YES),
    "other hosts for the other value": (("a", (DEFAULT, "b", "a")), False, YES),
    "no host for the other value": (("ab", (DEFAULT, "", "ab")), True, UNSURE),
    "a host for the other value": (("", (ASSUMED, "a", "")), True, UNSURE),
    "each loses one": (("ab", (DEFAULT, "", "a"), (DEFAULT, "", "b")), True, UNSURE),
    "no host for any value": ((("",)), False, NO),
    "given": (("ab", (GIVEN, "", "ab")), False, YES),
}


@pytest.mark.parametrize("name", CASES)
def test_the_answer_depends_if_another_value_turns_it(name):
    arguments, is_unsure, code = CASES[name]
    answer = found(*arguments)
    assert (answer.depends, exit_code(answer)) == (is_unsure, code)
    whole = document.document(Explanation(answer))
    closed("explain").validate(whole)
    assert (whole["depends"], whole["verdict"] == "unknown") == (is_unsure, is_unsure)


def test_candidates_that_no_single_option_takes_away_are_sure():
    answer = found("abc", (DEFAULT, "", "a"), (DEFAULT, "", "b"))
    assert [host.name for host in answer.sure_candidates] == ["c"]


EVIDENCE = Evidence(True, "metadata")
NEEDS_BOTH = "isolation, project isolation"


@pytest.mark.parametrize(
    ("candidates", "impacts", "is_unsure"),
    [("", (), True), ("a", (), False), ("", ((ASSUMED, "a", ""),), True)],
)
def test_two_pieces_of_evidence_may_decide_only_together(
    candidates, impacts, is_unsure
):
    answer = found(candidates, *impacts)
    settings = dict.fromkeys((options.ISOLATION, options.TENANT), EVIDENCE)
    question = dataclasses.replace(
        answer.question, assumptions=SchedulerSettings(settings=settings)
    )
    doubts = dataclasses.replace(answer.doubts, without_evidence=uuids("ab"))
    answer = dataclasses.replace(answer, question=question, doubts=doubts)
    assert answer.depends is is_unsure
    joint = [each for each in answer.dependences if each.more]
    assert bool(joint) is not bool(impacts)
    if is_unsure and joint:
        assert words.verdict(answer) == (
            f"Depends on nova.conf: 2 of 3 hosts if {NEEDS_BOTH} are off, 0 of 3 if "
            "they are on."
        )


def test_the_verdict_has_the_hosts_for_both_values_and_the_evidence():
    answer = found("", (ASSUMED, "ab", ""))
    assert words.verdict(answer) == (
        "Depends on nova.conf: 2 of 3 hosts if isolation is off, 0 of 3 if it is on."
    )
    assert [line.text for line in reasons.deciding_lines(answer)] == [
        "Unknown options: counted as if isolation is on (aggregate gold has "
        "trait:CUSTOM_GOLD=required)."
    ]


def test_of_many_servers_the_verdict_has_the_room():
    answer = found("a", (ASSUMED, "bc", ""))
    answer = dataclasses.replace(answer, question=answer.question.with_spec(count=90))
    assert (answer.depends, exit_code(answer)) == (True, UNSURE)
    room = answer.room.most
    assert 0 < room < 90
    assert words.verdict(answer) == (
        f"Depends on nova.conf: room for {room} of 90 if isolation is on; 3 of 3 hosts "
        "can take one if not."
    )


def test_a_yes_with_other_numbers_has_one_line():
    answer = found("abc", *((DEFAULT, "", lost) for lost in "abb"))
    assert words.verdict(answer) == "3 of 3 hosts can take it."
    assert [line.text for line in reasons.deciding_lines(answer)] == [
        "Depends on nova.conf: 2 of 3 hosts if isolation is on; "
        "2 of 3 hosts if the image type check is on; and 1 more option (--long)."
    ]


def server(changes, stage):
    """Return a server whose build failed."""
    return ServerAnswer(
        ServerState("id", "db-5", "ERROR", "project"),
        79,
        (),
        failure=Failure(stage, "create"),
        changes=changes,
    )


def failed(changes=NOTHING, stage=Stage.NO_CANDIDATES, evidence=True):
    """Return the answer on a server that failed, with isolation by evidence."""
    isolation = Evidence(True, "metadata") if evidence else Setting(True, "a default")
    answer = found("", (isolation, "a", ""))
    assumed = SchedulerSettings(settings={options.ISOLATION: isolation})
    question = dataclasses.replace(answer.question, assumptions=assumed)
    answer = dataclasses.replace(answer, question=question)
    return confirmed(server(changes, stage), answer)


def confirmed(failed, answer):
    return confirmed_by_failure(failed, Explanation(answer)).judgement


@pytest.mark.parametrize("stage", [Stage.NO_CANDIDATES, Stage.NO_HOST_LEFT])
def test_a_failure_since_which_nothing_changed_confirms_the_evidence(stage):
    answer = failed(stage=stage)
    assert exit_code(answer) is NO
    assert [line.text for line in reasons.deciding_lines(answer)] == [
        "Taken as known: isolation is on (server db-5 failed, which shows it)."
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"changes": None},
        {"changes": Changes(deleted=("a",))},
        {"changes": Changes(unread=("servers",))},
        {"stage": Stage.COMPUTE},
        {"evidence": False},
    ],
)
def test_another_failure_confirms_nothing(more):
    assert exit_code(failed(**more)) is UNSURE


@pytest.mark.parametrize("stage", [Stage.NO_CANDIDATES, Stage.NO_HOST_LEFT])
def test_servers_that_took_room_since_do_not_matter(stage):
    changes = Changes(made=("a",), went_down=("b",))
    assert exit_code(failed(changes=changes, stage=stage)) is NO


@pytest.mark.parametrize(
    ("stage", "changes", "code"),
    [
        (Stage.NO_HOST_LEFT, NOTHING, NO),
        (Stage.NO_CANDIDATES, NOTHING, UNSURE),
        (Stage.NO_HOST_LEFT, Changes(made=("a",)), NO),
        (Stage.NO_HOST_LEFT, Changes(deleted=("a",)), UNSURE),
    ],
    ids=["explained", "Placement had none", "others made", "room was made"],
)
def test_a_failure_confirms_the_filter_that_alone_explains_it(stage, changes, code):
    answer = found("abc")
    fails = {host.uuid: Fails("ssd") for host in answer.hosts}
    settings = with_evidence(SchedulerSettings(), (), "fast", {SSD: "true"})
    answer = dataclasses.replace(
        answer,
        question=dataclasses.replace(answer.question, assumptions=settings),
        filtering=Filtering(
            FilterAnswers((special.EXTRA_SPECS,), {special.EXTRA_SPECS: fails})
        ),
    )
    assert exit_code(answer) is UNSURE
    answer = confirmed(server(changes, stage), answer)
    assert exit_code(answer) is code
    assert [line.text for line in reasons.deciding_lines(answer)][-1:] == (
        [
            "Taken as known: AggregateInstanceExtraSpecsFilter is enabled (server db-5 "
            "failed, which shows it)."
        ]
        if code is NO
        else [
            "Unknown options: counted as if AggregateInstanceExtraSpecsFilter is "
            "enabled (flavor fast has aggregate_instance_extra_specs:ssd)."
        ]
    )


def test_evidence_is_one_line_and_each_piece_is_named_once():
    aggregates = [
        aggregate("gold", trait__CUSTOM_GOLD="required"),
        aggregate("acme", filter_tenant_id="0a" * 16),
    ]
    assert [*reasons.assumed(SchedulerSettings())] == []
    settings = with_evidence(SchedulerSettings(), aggregates)
    assert [*reasons.assumed(settings)] == [
        "Unknown options: counted as if project isolation and isolation are on; run "
        "config doctor."
    ]
    more = {special.EXTRA_SPECS: True, options.ISOLATION: True}
    more[options.IMAGE_TYPE] = False
    assert [*reasons.assumed(settings, more)] == [
        "Unknown options: counted as if project isolation and isolation and extra "
        "specs filter are on, and the image type check is off; run config doctor."
    ]
    assert [*reasons.assumed(SchedulerSettings(), {special.NUMA_TOPOLOGY: False})] == [
        "Unknown options: counted as if NUMATopologyFilter is disabled."
    ]


def test_a_server_that_runs_is_evidence_against_an_option_by_evidence():
    body = {
        "cloud": {"a": {"aggregates": ["gold"]}, "b": {}},
        "aggregates": {
            "gold": {"hosts": ["a"], "metadata": {"trait:CUSTOM_GOLD": "required"}}
        },
        "options": {"enable_isolated_aggregate_filtering": True},
    }
    sure = explained(body, ["b"])
    settings = with_evidence(SchedulerSettings(), sure.question.aggregates)
    question = dataclasses.replace(sure.question, assumptions=settings)
    unsure = dataclasses.replace(sure, question=question)
    assert of_own_host(sure, "a")[0] is Answer.NO
    assert of_own_host(unsure, "a") == (Answer.UNKNOWN, of_own_host(sure, "a")[1])
    state = ServerState("id", "web", "ACTIVE", "project", "a", "a")
    now = datetime.datetime.now(datetime.timezone.utc)
    answer = ServerAnswer(state, 79, (), explanation=Explanation(unsure))
    line = list(server_explain.lines(answer, now, everything=False))[1]
    assert line.tone is Tone.DOUBT
    assert line.text == "Depends on nova.conf: a is in the isolated aggregate gold."


def test_a_drain_that_an_option_decides_is_unknown():
    """Also if another server stays whatever the option is."""
    answer = found("", (ASSUMED, "a", ""))
    state = ServerState("id", "web", "ACTIVE", "project", "cmp00", "cmp00")
    request = MoveRequest(answer.question, {}, judgement=answer)
    move = ServerMove(
        state, MoveKind.LIVE_MIGRATION, answer.question, move_request=request
    )
    stuck = Stuck(move, StuckReason.NO_HOST)
    unsure = Drain(("cmp00",), (), 100, SchedulerSettings(), stuck=(stuck,))
    assert unsure.dependent == (stuck,)
    first, *_, last = drain.lines(unsure)
    assert (first.text, first.tone) == (
        "web perhaps can't move off cmp00.",
        Tone.DOUBT,
    )
    assert last.text == (
        "  web: depends on nova.conf: 1 of 3 hosts if isolation is off, 0 of 3 if it "
        "is on."
    )
    full = Stuck(move, StuckReason.NO_ROOM)
    both = dataclasses.replace(unsure, stuck=(stuck, full))
    first = next(drain.lines(both))
    assert (first.text, first.tone) == (
        "None of 2 servers can move off cmp00 (1 can if isolation is off).",
        Tone.DOUBT,
    )
    sure = dataclasses.replace(unsure, stuck=(full,))
    assert not sure.dependent
    assert next(drain.lines(sure)).tone is Tone.NO
