"""The reason of a no holds: Nova's own scheduler takes the same requests later.

First all hosts are enabled, then all servers are deleted. TRAITSCHED_REQUESTS is the
number of requests.
"""

from __future__ import annotations

import collections
import dataclasses
import os

import prettytable

from tests.cloud.scenario import Asked, different_hosts, requests

COUNT = int(os.environ.get("TRAITSCHED_REQUESTS", "30"))
SEED = 77
#: Each reason at least once, whatever chance draws.
ALWAYS = (
    Asked("gold", zone="az-south"),
    Asked("small", zone="az-south"),
    Asked("small", zone="az-west"),
    Asked("most", zone="az-west"),
    Asked("half-gold", zone="az-east", count=2),
    Asked("half-gold", zone="az-east", count=3),
    Asked("wide"),
    Asked("nobody"),
    Asked("typo"),
    Asked("silver", zone="az-west", user="demo"),
)
NEVER = ("rejected", "isolated", "misconfigured")


def drawn():
    """Requests for one server, every third one for up to six."""
    for number, asked in enumerate(requests(COUNT, SEED)):
        count = number % 6 + 1 if number % 3 == 0 else 1
        yield dataclasses.replace(asked, count=count)


def emptied(scenario):
    """Delete every server, as their users would."""
    compute = scenario.maker.admin.compute
    for server in compute.servers(all_projects=True):
        scenario.maker.delete(scenario.maker.ended(server.id))


def enabled(scenario):
    """Enable every nova-compute."""
    compute = scenario.maker.admin.compute
    for service in compute.services(binary="nova-compute"):
        compute.enable_service(service)


def table(counts):
    """Each reason, when it was tried, and how many of the requests Nova took then."""
    shown = prettytable.PrettyTable(["reason", "hosts", "requests", "taken"])
    shown.align = "l"
    for (reason, when), (number, taken) in sorted(counts.items()):
        shown.add_row([reason, when, number, taken])
    return shown.get_string()


def test_nova_takes_later_what_is_full_or_disabled_and_never_what_is_misconfigured(
    prefiltering, record_property
):
    counts, wrong = collections.defaultdict(lambda: [0, 0]), []

    def tried(when, reasons, is_taken):
        for asked, reason in found.items():
            if reason in reasons:
                boots = scenario.boots(asked, asked.count)
                counts[reason, when][0] += 1
                counts[reason, when][1] += boots
                if boots is not is_taken:
                    wrong.append((asked, reason, when))

    with different_hosts(prefiltering) as scenario:
        every = (*drawn(), *ALWAYS)
        found = {asked: scenario.explain(asked)["reason"] for asked in every}
        tried("now", ("disabled", "full"), is_taken=False)
        enabled(scenario)
        tried("enabled", ("disabled",), is_taken=True)
        tried("enabled", ("full",), is_taken=False)
        emptied(scenario)
        tried("enabled and empty", ("full",), is_taken=True)
        tried("enabled and empty", NEVER, is_taken=False)
    record_property("table", f"{table(counts)}\n{len(wrong)} of {len(found)} are wrong")
    assert wrong == []
    assert {reason for reason, _ in counts} == {"disabled", "full", *NEVER}
