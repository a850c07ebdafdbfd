"""The words for servers that exist."""

from __future__ import annotations

import datetime

import pytest

from osc_traitsched.core.errors import Forbidden
from osc_traitsched.core.servers.failure import Changes, Failure, ServerAnswer, Stage
from osc_traitsched.core.servers.state import (
    Event,
    Migration,
    Name,
    Part,
    ServerState,
    Source,
)
from osc_traitsched.views import server_explain, servers
from tests.golden import screens
from tests.schemas import closed

THEN = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)
NOW = THEN + datetime.timedelta(hours=3)
STATE = ServerState("s1", "web-3", "ERROR", "p1")
DENIED = Forbidden("placement", "placement:resource_providers:list")


def answer(failure, state=STATE, parts=(), **more):
    return ServerAnswer(state, 96, tuple(parts), failure, problem=DENIED, **more)


def text(found, everything=False):
    return [each.text for each in server_explain.lines(found, NOW, everything)]


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
    assert servers.age(THEN - datetime.timedelta(**ago), THEN) == said


NO_CANDIDATES = Failure(Stage.NO_CANDIDATES, "create", when=THEN)
ACTIVE = ServerState("s1", "web-3", "ACTIVE", "p1", host="cmp01")
HIDDEN = [
    Part(Name.HINTS, Source.NOT_SHOWN, since=100),
    Part(Name.HOST, Source.NOT_SHOWN),
    Part(Name.IMAGE, Source.GONE, "i1"),
    Part(Name.MORE, Source.GONE),
    Part(Name.GROUP, Source.SERVER),
    Part(Name.FLAVOR, Source.SERVER, "gold"),
]
MOVES = Changes(("d1",), ("d2",), ("a", "a"), ("b",), (("a", "b"),))
STATES = {
    "well": answer(None, ACTIVE),
    # What came of the request now is a problem; the rest is said all the same.
    "failed-build": answer(
        Failure(Stage.NO_CANDIDATES, "create", "req-1", THEN, "No."), changes=Changes()
    ),
    "failed-move": answer(
        Failure(Stage.CHECKS, "live-migration", attempts=("a1", "a2", "a1"))
    ),
    "hidden-parts": answer(None, parts=HIDDEN, is_flavor_changed=True),
    "changes-since": answer(NO_CANDIDATES, changes=MOVES),
    "changes-since-that-are-cut": answer(
        NO_CANDIDATES, changes=Changes(is_cut=True, unread=("services",))
    ),
}


def test_a_person_gets_the_failure_the_request_and_what_is_not_known(golden):
    states = {name: text(state) for name, state in STATES.items()}
    golden("server/states", screens(states))
    states = {name: text(state, True) for name, state in STATES.items()}
    golden("server/states-long", screens(states))


def test_each_stage_has_words(golden):
    failures = (Failure(stage, attempts=("cmp01",)) for stage in Stage)
    golden("server/stages", map(servers.stage, failures))


def test_the_document_has_all_of_it():
    step = Event("compute_prep_resize", "c", True, None, THEN)
    failure = Failure(Stage.COMPUTE, "resize", "r", THEN, "", steps=(step,))
    found = answer(
        failure,
        parts=[Part(Name.PORTS, Source.NOT_READ)],
        moves=(Migration("resize", "error", "a", ""),),
        changes=Changes(moves=(("a", "b"),)),
    )
    closed("server explain").validate(server_explain.document(found, NOW))
    closed("server explain").validate(server_explain.document(answer(None), NOW))
