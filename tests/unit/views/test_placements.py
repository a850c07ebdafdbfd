"""Where servers are, on one screen and as rows."""

from __future__ import annotations

import pytest

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.nova.clause import MemberOf, Origin, RootTrait
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.servers.fleet import NotKnown, Resident, Unmet
from osc_traitsched.core.servers.misplaced import JudgedServer, Objections, Placements
from osc_traitsched.views import misplaced as views
from tests.golden import screens


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


def text(of):
    columns, rows = views.grouped(of)
    table = [" | ".join(row) for row in (columns, *rows)] if rows else []
    return [views.headline(of), *table, *views.below(of)]


SOME = [*map(lacking, range(1, 5)), lacking(7, "CUSTOM_RED", Answer.NO)]
SILENT = ("cmp01", "cmp02", "cmp03")
STATES = {
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
    states = {name: text(state) for name, state in STATES.items()}
    golden("server/misplaced", screens(states))


def test_servers_that_were_not_read_may_be_misplaced():
    assert not STATES["none"].is_in_doubt
    assert STATES["silent-cell"].is_in_doubt


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
