"""What explain says, Nova's own scheduler does; and what it suggests, helps.

TRAITSCHED_REQUESTS is the number of servers that are asked for, TRAITSCHED_SUGGESTIONS
that of the suggestions that are carried out for one to ten servers.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import os

import prettytable
import pytest

from tests.cloud import logs
from tests.cloud.applying import carried_out
from tests.cloud.factory import Boot
from tests.cloud.scenario import Asked, different_hosts, requests

COUNT = int(os.environ.get("TRAITSCHED_REQUESTS", "60"))
SUGGESTIONS = int(os.environ.get("TRAITSCHED_SUGGESTIONS", "8"))
SEED = 35
# What chance may leave out: a trait with a typo, and every kind of suggestion.
ALWAYS = (
    Asked("typo"),
    Asked("typo", zone="az-south", user="demo"),
    Asked("gold", "of-silver"),
    Asked("not-common", zone="az-east"),
    Asked("half", zone="az-west"),
    Asked("small", zone="az-north"),
    Asked("gold", zone="az-south"),
    Asked("silver", zone="az-west", user="demo"),
    Asked("small", "qcow"),
    Asked("small", "video"),
    Asked("wide"),
)
KINDS = {
    "compute service set",
    "trait-sched add",
    "trait-sched mirror",
    "trait-sched remove",
    "another format",
    "another property",
    "another size",
    "another zone",
}
NO_HOST = "No valid host was found. "
#: Until 2023.1 the zone is a filter's, so Placement may have given hosts.
NONE_LEFT = "No valid host was found. There are not enough hosts available."


@dataclasses.dataclass(frozen=True)
class Row:
    """What explain said of a request, and what Nova did with it."""

    asked: Asked
    document: dict
    boot: Boot
    sent: list
    given: set

    @property
    def said(self):
        refusal = self.document["rejection"]
        if refusal is None:
            return self.document["verdict"]
        return f"refused by {refusal['by']}"

    @property
    def done(self):
        if self.boot.refused:
            return "refused by the API"
        if self.boot.fault in (NO_HOST, NONE_LEFT):
            return "no valid host"
        return f"{self.boot.status} {self.boot.host}"

    @property
    def agrees(self):
        """Whether explain said before what Nova did then."""
        if self.said == "refused by nova":
            return bool(self.boot.refused)
        candidates = set(self.document["candidates"])
        hosts = self.document["hosts"]
        given = {host["host"] for host in hosts if host["given_by_placement"]}
        same = self.sent == [self.document["query"]] and self.given == given
        if self.said == "candidates":
            return (
                same and self.boot.status == "ACTIVE" and self.boot.host in candidates
            )
        assert self.said in ("no host", "refused by placement")
        fault = NONE_LEFT if given else NO_HOST
        return same and not candidates and self.boot.fault == fault


def table(rows):
    """Return what was said and done, row by row."""
    shown = prettytable.PrettyTable(
        ["flavor", "image", "zone", "user", "explain", "candidates", "Nova", "agrees"]
    )
    shown.align = "l"
    for row in rows:
        asked = row.asked
        candidates = " ".join(row.document["candidates"])
        agrees = "yes" if row.agrees else "NO"
        parts = (asked.flavor, asked.image, asked.zone or "", asked.user)
        shown.add_row([*parts, row.said, candidates, row.done, agrees])
    return shown.get_string()


def fix_table(tried, helped):
    """Return how often each kind of suggestion was carried out, and helped."""
    shown = prettytable.PrettyTable(["suggestion", "carried out", "Nova found a host"])
    shown.align = "l"
    for kind in sorted(tried):
        shown.add_row([kind, tried[kind], helped[kind]])
    return shown.get_string()


@pytest.fixture(scope="module")
def scenario(prefiltering):
    with different_hosts(prefiltering) as scenario:
        yield scenario


@pytest.fixture(scope="module")
def rows(scenario):
    """The requests, each explained first, and asked for then."""
    return [row_of(scenario, asked) for asked in (*requests(COUNT, SEED), *ALWAYS)]


def row_of(scenario, asked):
    document = scenario.explain(asked)
    boot = scenario.boot(asked)
    sent = logs.queries(scenario.cloud, boot.request)
    given = logs.given(scenario.cloud, boot.request)
    return Row(asked, document, boot, sent, given)


@pytest.mark.short
def test_nova_does_with_each_request_what_explain_says_of_it(rows, record_property):
    agreeing = [row for row in rows if row.agrees]
    found = f"{len(agreeing)} of {len(rows)} requests agree"
    record_property("table", f"{table(rows)}\n{found}")
    assert agreeing == rows
    # Else much of it would be said of nothing.
    said = {row.said for row in rows}
    assert said >= {"candidates", "no host", "refused by nova", "refused by placement"}
    assert len({row.boot.host for row in rows if row.boot.host}) > 1


def trials(scenario, row):
    """Yield each suggestion for a request without a host, what was done, and the end.

    All is undone after each, and at the last the answer is the first one again.
    """
    if row.document["candidates"] or not row.document["fixes"]:
        return
    for fix in row.document["fixes"]:
        if fix["target"] == "hosts" and not fix["commands"]:
            # Somebody has to decide about it first.
            continue
        with carried_out(scenario, row.asked, fix) as (asked, kinds):
            yield fix, kinds, scenario.boot(asked)
    assert scenario.explain(row.asked) == row.document


def test_whatever_is_suggested_helps_and_can_be_taken_back(
    scenario, rows, record_property
):
    tried, helped, failed, count = collections.Counter(), collections.Counter(), [], 0
    for row in rows:
        for fix, kinds, boot in trials(scenario, row):
            count += 1
            tried.update(kinds)
            given = logs.given(scenario.cloud, boot.request)
            left = list(logs.left(scenario.cloud, boot.request).values())
            gained = set(fix["gained_hosts"])
            is_there = boot.status == "ACTIVE" and boot.host in gained
            # Filters may leave fewer hosts than Placement gave: the log has how many.
            if is_there and gained <= given and left[-1] == len(gained):
                helped.update(kinds)
            else:
                failed.append((row.asked, fix, given, left, boot))
    found = f"{count - len(failed)} of {count} suggestions helped"
    record_property("table", f"{fix_table(tried, helped)}\n{found}")
    assert failed == []
    assert set(tried) >= KINDS


def counted(scenario):
    """Yield requests for one to ten servers without room, and what is suggested."""
    for number, asked in enumerate(requests(SUGGESTIONS * 20, SEED)):
        asked = dataclasses.replace(asked, count=number % 10 + 1)
        document = scenario.explain(asked)
        if document["verdict"] in ("no host", "no room"):
            for fix in document["fixes"]:
                if fix["target"] == "request" or fix["commands"]:
                    yield asked, fix


def test_what_is_suggested_for_several_servers_gives_what_it_promised(
    scenario, record_property
):
    before, kept, broken = scenario.isolation(), 0, []
    for asked, fix in itertools.islice(counted(scenario), SUGGESTIONS):
        least, most = (fix[f"{name}_servers"] or 1 for name in ("min", "max"))
        promised = min(least, asked.count)
        with carried_out(scenario, asked, fix) as (other, _):
            assert scenario.isolation() == before, fix
            gives = promised == 0 or scenario.boots(other, promised)
            # No more is needed than what was asked for.
            has_more = asked.count > most and scenario.boots(other, most + 1)
        kept += 1
        if has_more or not gives:
            broken.append((asked, fix, gives, has_more))
    assert scenario.isolation() == before
    record_property("table", f"{kept - len(broken)} of {kept} suggestions gave as much")
    assert broken == []
    assert kept == SUGGESTIONS
