"""The words for weighers: which host is picked, and what that rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from osc_traitsched.core.explain.explanation import Explanation, picks
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.weigher import weighing
from osc_traitsched.core.nova.weigher.ranking import Ranking
from osc_traitsched.core.nova.weigher.weighing import Assumption
from osc_traitsched.text import ranges

_TAKEN = {
    weighing.NONE: "no host has any {missing}",
    weighing.ALIKE: "{missing} is the same on all hosts",
    weighing.REPORTED: "all hosts report {missing}, and the same",
    weighing.ALL_IO: "each task under way is I/O, and no host was given a server in the"
    " last minute",
    weighing.DEFAULT: "{missing} is the release's default",
    weighing.ZERO: "{missing} counts as zero where there is none",
    weighing.UNSEEN: "it reads {missing}, and is taken to weigh all hosts alike",
    weighing.NOT_RAISING: (
        "it raises {missing} on a host that may not be weighed, which would end the "
        "request; else it is taken to weigh all hosts alike"
    ),
    weighing.FIRST_REQUEST: "no request was scheduled since nova-scheduler started",
}

_HISTORY = "depends on the requests since nova-scheduler started (bug 1870096)"


def pick(explanation: Explanation) -> str:
    """Return which host nova-scheduler tries first; empty if there is no choice.

    A host that a filter keeps out is not weighed, which may change the order of all.
    """
    found, ranking = picks(explanation), explanation.ranking
    if len(explanation.candidates) < 2:
        return ""
    if ranking is not None and not ranking.first:
        return f"which of them nova-scheduler picks {_HISTORY}."
    if not found:
        return ""
    names = ranges(host.name for host in found)
    one = f"one of {names}" if len(found) > 1 else names
    if len(found) == len(explanation.candidates):
        one = "any of them"
    server = " for the first" if explanation.question.spec.count > 1 else ""
    unsure = ranges(host.name for host in explanation.uncertain)
    conditions = [f"all filters pass {unsure}"] if unsure else []
    if ranking is not None and ranking.rests_on_tasks:
        conditions.append("no host was given a server in the last minute")
    but = f", if {' and '.join(conditions)}" if conditions else ""
    return f"nova-scheduler picks {one}{server}{but}."


def order(ranking: Ranking) -> Iterator[str]:
    """Yield what the order of candidates depends on, where they are not all alike."""
    if ranking.remembers and len(ranking.places) > 1:
        yield f"The order {_HISTORY}; here it is that of the first one."


def assumed(explanation: Explanation) -> Iterator[str]:
    """Yield what has to be so for that to be true, which no API shows."""
    yield from map(_assumption, _all_assumed(explanation))


def assumed_items(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """Yield the same for programs."""
    names = {host.uuid: host.name for host in explanation.hosts}
    for each in _all_assumed(explanation):
        yield {
            "weigher": each.weigher or None,
            "missing": each.missing or None,
            "hosts": sorted(names.get(uuid, uuid) for uuid in each.hosts),
            "text": _assumption(each),
        }


def _all_assumed(explanation: Explanation) -> tuple[Assumption, ...]:
    ranking = explanation.ranking
    return ranking.assumed if ranking and len(ranking.hosts) > 1 else ()


def _assumption(each: Assumption) -> str:
    missing = each.missing or "its weight"
    text = _TAKEN[each.taken].format(missing=missing.replace("_", " "))
    return f"{each.weigher or 'weighers'}: {text}"


def weight_of(explanation: Explanation, host: Provider) -> dict[str, Any] | None:
    """Return a candidate's weight and what it is made of; None for other hosts."""
    ranking = explanation.ranking
    if ranking is None or host.uuid not in ranking.place_of:
        return None
    return {
        "total": ranking.total(host.uuid),
        "place": ranking.place_of[host.uuid],
        "terms": [
            {
                "weigher": term.weigher,
                "raw": term.raw,
                "normalized": term.normalized,
                "multiplier": term.multiplier,
            }
            for term in ranking.terms(host.uuid)
        ],
    }
