"""The words for servers that exist."""

from __future__ import annotations

import datetime

import pytest

from osc_traitsched.core.errors import Forbidden
from osc_traitsched.core.existing.failure import (
    Changes,
    Event,
    Failure,
    Migration,
    ServerAnswer,
    ServerState,
    Stage,
)
from osc_traitsched.core.existing.parts import Name, Part, Source
from osc_traitsched.views.server import document, prose, words
from tests.schemas import closed

THEN = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)
NOW = THEN + datetime.timedelta(hours=3)
STATE = ServerState("s1", "web-3", "ERROR", "p1")
DENIED = Forbidden("placement", "placement:resource_providers:list")


def answer(failure, state=STATE, parts=(), **more):
    return ServerAnswer(state, 96, tuple(parts), failure, problem=DENIED, **more)


def text(found):
    return [each.text for each in prose.lines(found, NOW, everything=False)]


def summary(failure, state=STATE):
    return words.summary(answer(failure, state), NOW).partition(" Whether")[0]


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        ({"seconds": -5}, "less than a minute ago"),
        ({"seconds": 59}, "less than a minute ago"),
        ({"minutes": 5}, "5 min ago"),
        ({"minutes": 119}, "119 min ago"),
        ({"hours": 2}, "2 h ago"),
        ({"hours": 47}, "47 h ago"),
        ({"hours": 49}, "2 days ago"),
    ],
)
def test_an_age_is_told_in_a_unit_that_fits(ago, said):
    assert words.age(THEN - datetime.timedelta(**ago), THEN) == said


@pytest.mark.parametrize("stage", Stage)
def test_each_stage_has_words(stage):
    said = words.stage(Failure(stage, attempts=("cmp01",)))
    assert len(said.split()) > 2
    assert "None" not in said


def test_a_failed_build_is_told_by_the_servers_name_alone():
    failure = Failure(Stage.NO_CANDIDATES, "create", when=THEN)
    assert summary(failure) == "web-3 failed 3 h ago: Placement gave no host."


def test_a_failed_move_is_told_with_what_it_was():
    failure = Failure(Stage.CHECKS, "live-migration", attempts=("a1", "a2", "a1"))
    said = "The live migration of web-3 failed: the checks before a live migration"
    assert summary(failure) == f"{said} turned down a1, a2."


def test_a_server_that_is_well_has_no_failure_to_tell():
    state = ServerState("s1", "web-3", "ACTIVE", "p1", host="cmp01")
    said = "web-3 is ACTIVE on cmp01: no failure of it is shown."
    assert summary(None, state) == said


def test_a_problem_leaves_now_unknown_and_the_rest_said():
    found = answer(Failure(Stage.NO_CANDIDATES, "create", "req-1", THEN, "No."))
    first, second, *rest = text(found)
    assert first.endswith("Whether hosts could take it now is not known.")
    assert second == "Nova's words (failed step): No."
    assert "Action: build (req-1), no host tried" in rest
    assert "That request now:" not in rest


def test_what_is_hidden_names_the_microversion_and_the_option():
    hidden = [
        Part(Name.HINTS, Source.NOT_SHOWN, since=100),
        Part(Name.HOST, Source.NOT_SHOWN),
        Part(Name.IMAGE, Source.GONE, "i1"),
        Part(Name.MORE, Source.GONE),
        Part(Name.GROUP, Source.SERVER),
        Part(Name.FLAVOR, Source.SERVER, "gold"),
    ]
    lines = text(answer(None, parts=hidden, is_flavor_changed=True))
    assert lines[1:] == [
        "",
        "Its request, put together again:",
        "  flavor gold: the server's own copy; no flavor of that name is like it any "
        "more",
        "",
        "Not known of its request:",
        "  scheduler hints: taken for none; the compute API shows it from 2.100, and "
        "was read with 2.96; --hint gives it",
        "  a host that was named: Nova never shows it; "
        "--availability-zone ZONE:HOST or --on-host gives it",
        "  image i1: it is deleted",
        "  image traits and format: gone with the image; --image-property (disk_format "
        "is one) gives it",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (Changes(), "nothing that Nova lists."),
        (
            Changes(("d1",), ("d2",), ("a", "a"), ("b",), (("a", "b"),)),
            "2 servers made on a, 1 server deleted on b, 1 server moved (a to b), "
            "nova-compute went down on d1, nova-compute was down then already on d2.",
        ),
        (
            Changes(is_cut=True, unread=("services",)),
            "nothing that Nova lists; there may be more; this user may not list "
            "services.",
        ),
    ],
)
def test_what_changed_since_then_is_one_line(changes, said):
    failure = Failure(Stage.NO_CANDIDATES, "create", when=THEN)
    told = [each for each in text(answer(failure, changes=changes)) if "Since" in each]
    assert told == [f"All that follows is of now. Since then: {said}"]


def test_the_document_has_all_of_it():
    step = Event("compute_prep_resize", "c", True, None, THEN)
    failure = Failure(Stage.COMPUTE, "resize", "r", THEN, "", steps=(step,))
    found = answer(
        failure,
        parts=[Part(Name.PORTS, Source.NOT_READ)],
        moves=(Migration("resize", "error", "a", ""),),
        changes=Changes(moves=(("a", "b"),)),
    )
    closed("server explain").validate(document.document(found, NOW))
    closed("server explain").validate(document.document(answer(None), NOW))
