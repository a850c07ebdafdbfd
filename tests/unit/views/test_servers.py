"""Words for servers that exist, that failed, and that are misplaced."""

from __future__ import annotations

import datetime

import pytest

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import CloudBroke, Forbidden
from osc_traitsched.core.nova.clause import MemberOf, Origin, RootTrait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.servers.failure import (
    Changes,
    FailedKind,
    FailedServer,
    FailedServers,
    Failure,
    ServerAnswer,
    Stage,
)
from osc_traitsched.core.servers.fleet import NotKnown, Resident, Unmet
from osc_traitsched.core.servers.misplaced import JudgedServer, Objections, Placements
from osc_traitsched.core.servers.state import (
    Event,
    Migration,
    Name,
    Part,
    ServerState,
    Source,
)
from osc_traitsched.views import misplaced as views
from osc_traitsched.views import server_explain, servers
from osc_traitsched.views.server_explain import Seen, ServerExplainDocument
from osc_traitsched.views.terminal import Line, Tone, painted
from tests.golden import screens
from tests.schemas import closed

# The words for servers that exist.


THEN = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)
NOW = THEN + datetime.timedelta(hours=3)
STATE = ServerState("s1", "web-3", "ERROR", "p1")
DENIED = Forbidden("placement", "placement:resource_providers:list")


def answer(failure, state=STATE, parts=(), **more):
    return ServerAnswer(state, 96, tuple(parts), failure, problem=DENIED, **more)


def text(found, everything=False):
    return [each.text for each in server_explain.lines(Seen(found, NOW), everything)]


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
    for seen in (Seen(found, NOW), Seen(answer(None), NOW)):
        document = ServerExplainDocument.of(seen)
        assert [*closed("server explain").iter_errors(document)] == []


# What the first line says of servers that failed, if rights are missing.


WEB = (FailedServer("1", "web"),)
FAILED_DENIED = FailedKind(WEB, None, Forbidden("placement", "no"))
BROKEN = FailedKind(WEB, None, CloudBroke("placement", "broken", 500))


def first(*kinds, **more):
    return next(server_explain.failed_lines(FailedServers(kinds, **more)))


def test_servers_that_nobody_may_judge_are_not_said_to_fail_again():
    assert first(FAILED_DENIED).text == (
        "1 server failed; whether they would fail again is unknown: you may not read "
        "Placement (documentation: Read-only access)."
    )
    assert first(FAILED_DENIED).tone is Tone.DOUBT
    assert first(BROKEN).text == "1 server failed, for 1 reason; 1 may fail again."


def test_no_server_failed_of_those_that_are_listed():
    assert first().text == "No server failed."
    partly = first(is_partial=True)
    assert (partly.text, partly.tone) == (
        "No server that you may list failed.",
        Tone.DOUBT,
    )


def test_programs_get_no_answer_where_there_is_none():
    (cause,) = server_explain.FailedDocument.of(FailedServers((FAILED_DENIED,)))[
        "causes"
    ]
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
        (8, 24, 18, "   Not judged: compute: reason h"),
        (9, 24, 8, "and 4 more reasons (--long)"),
        (9, 40, 20, "   Not judged: compute: reason i of this kind word"),
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
    assert texts[-1] == "The whole answer: openstack trait-sched server explain a"
    if height:
        shown = [painted(Line(each), width) for each in texts]
        assert "\n".join(shown).count("\n") < height


# Where servers are, on one screen and as rows.


def lacking(number, trait="CUSTOM_GOLD", destination=Answer.YES):
    clause = RootTrait(trait, False, (Origin("flavor", f"trait:{trait}"),))
    server = Resident(f"id-{number}", f"s{number}", "p1", f"cmp{number % 3}", "", 0)
    return JudgedServer(server, Objections((Unmet(clause),)), destination)


def doubtful(number):
    server = Resident(f"id-{number}", f"s{number}", "p1", "cmp9", "", 0)
    return JudgedServer(server, Objections((NotKnown("the zone is not shown"),)))


def found(looked_at, misplaced=(), unknown=(), homeless=0, silent=()):
    settings = SchedulerSettings()
    placed = tuple(misplaced), tuple(unknown)
    return Placements(settings, looked_at, homeless, *placed, {}, silent)


def placements_text(of):
    columns, rows = views.grouped(of)
    table = [" | ".join(row) for row in (columns, *rows)] if rows else []
    return [views.headline(of), *table, *views.below(of)]


SOME = [*map(lacking, range(1, 5)), lacking(7, "CUSTOM_RED", Answer.NO)]
SILENT = ("cmp01", "cmp02", "cmp03")
PLACEMENTS_STATES = {
    "no-server": found(0),
    "no-known-server": found(0, silent=("cmp01",)),
    "one-misplaced": found(2, [lacking(1)]),
    "nowhere-to-go": found(1, [lacking(1, destination=Answer.NO)]),
    # Servers of one reason are one row, the most frequent reason first.
    "reasons": found(3450, [lacking(0, destination=Answer.NO), *SOME]),
    "more-reasons-than-a-screen-has": found(
        20,
        [lacking(n, f"CUSTOM_{n:02d}") for n in range(17)],
        [doubtful(20), doubtful(21)],
        homeless=1,
    ),
    "none": found(5),
    "none-known": found(5, (), [doubtful(1)]),
    "silent-cell": found(5, silent=SILENT),
}


def test_a_person_gets_the_answer_the_reasons_and_the_sums(golden):
    states = {name: placements_text(state) for name, state in PLACEMENTS_STATES.items()}
    golden("server/misplaced", screens(states))


def test_servers_that_were_not_read_may_be_misplaced():
    assert not PLACEMENTS_STATES["none"].is_in_doubt
    assert PLACEMENTS_STATES["silent-cell"].is_in_doubt


def test_programs_get_a_row_for_each_server_and_those_not_known_on_demand():
    of = found(3, [lacking(1)], [doubtful(2)])
    columns, rows = views.rows(of, with_unknown=False)
    assert [dict(zip(columns, row))["id"] for row in rows] == ["id-1"]
    _, rows = views.rows(of, with_unknown=True)
    assert [row[4] for row in rows] == ["misplaced", "unknown"]
    assert rows[1][-1] == ""


@pytest.mark.parametrize(
    ("prefilter", "forbidden", "reason"),
    [
        ("isolate_aggregates", True, "is in aggregate gold, isolated for CUSTOM_RED"),
        (
            "map_az_to_placement_aggregate",
            False,
            "is outside the availability zone of aggregate gold",
        ),
        ("require_tenant_aggregate", False, "is outside the project's aggregate gold"),
        ("", False, "is outside aggregate gold"),
    ],
)
def test_an_aggregate_has_the_words_of_what_nova_uses_it_for(
    prefilter, forbidden, reason
):
    trait = Origin("aggregate", "trait:CUSTOM_RED", "gold")
    origins = (Origin("prefilter", prefilter), trait)
    clause = MemberOf(frozenset({"a1"}), forbidden, origins)
    assert views.text(Unmet(clause), {"a1": "gold"}) == reason
