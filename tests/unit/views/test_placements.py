"""Where servers are, on one screen and as rows."""

from __future__ import annotations

from osc_traitsched.core.nova.clause import Origin, RootTrait
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.servers.demand import NotKnown, Unmet
from osc_traitsched.core.servers.fleet import Resident
from osc_traitsched.core.servers.judging import JudgedServer, Placements
from osc_traitsched.core.servers.misplaced import Verdict
from osc_traitsched.core.servers.moves import Can
from osc_traitsched.views.server import placements as views
from tests.golden import screens


def lacking(number, trait="CUSTOM_GOLD", destination=Can.YES):
    clause = RootTrait(trait, False, (Origin("flavor", f"trait:{trait}"),))
    server = Resident(f"id-{number}", f"s{number}", "p1", f"cmp{number % 3}", "", 0)
    return JudgedServer(server, Verdict((Unmet(clause),)), destination)


def doubtful(number):
    server = Resident(f"id-{number}", f"s{number}", "p1", "cmp9", "", 0)
    return JudgedServer(server, Verdict((NotKnown("the zone is not shown"),)))


def found(looked_at, misplaced=(), unknown=(), homeless=0, silent=()):
    settings = SchedulerSettings()
    placed = tuple(misplaced), tuple(unknown)
    return Placements(settings, looked_at, homeless, *placed, {}, silent)


def text(of):
    columns, rows = views.grouped(of)
    table = [" | ".join(row) for row in (columns, *rows)] if rows else []
    return [views.headline(of), *table, *views.below(of)]


def test_servers_of_one_reason_are_one_row_with_the_most_frequent_first():
    servers = [lacking(n) for n in range(5)]
    servers += [lacking(7, "CUSTOM_RED", Can.NO)]
    servers[0] = lacking(0, destination=Can.NO)
    _, rows = views.grouped(found(9, servers))
    assert rows == [
        (
            "s0, s1, s2 and 2 more",
            "lacks the trait CUSTOM_GOLD (flavor)",
            "cmp[0-2]",
            "yes: 4, no: 1",
        ),
        ("s7", "lacks the trait CUSTOM_RED (flavor)", "cmp1", "no"),
    ]


def test_a_screen_has_so_many_reasons_and_counts_the_rest():
    servers = [lacking(n, f"CUSTOM_{n:02d}") for n in range(17)]
    of = found(20, servers, [doubtful(20), doubtful(21)], homeless=1)
    assert len(views.grouped(of)[1]) == 15
    assert list(views.below(of)) == [
        "2 more reasons of 2 servers: see -f json",
        "Where one could go: openstack trait-sched server destinations <SERVER>",
        "Not known of 2 servers: the zone is not shown",
        "Looked at: 20 servers, 17 misplaced, 1 fine, 2 not known.",
        "1 more is on no host.",
    ]


def test_no_destination_is_looked_for_where_there_is_none():
    of = found(1, [lacking(1, destination=Can.NO)])
    assert list(views.below(of)) == [
        "Looked at: 1 server, 1 misplaced, 0 fine, 0 not known."
    ]


def test_programs_get_a_row_for_each_server_and_those_not_known_on_demand():
    of = found(3, [lacking(1)], [doubtful(2)])
    columns, rows = views.rows(of, with_unknown=False)
    assert [dict(zip(columns, row))["id"] for row in rows] == ["id-1"]
    _, rows = views.rows(of, with_unknown=True)
    assert [row[4] for row in rows] == ["misplaced", "unknown"]
    assert rows[1][-1] == ""
