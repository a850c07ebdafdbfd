"""Weighers in words: the host that is picked, and what that assumes."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.explain.judgement import Judgement
from osc_traitsched.core.explain.order import picks
from osc_traitsched.core.nova.weigher import weighing
from osc_traitsched.core.nova.weigher.ranking import Ranking
from osc_traitsched.core.nova.weigher.weighing import Assumption
from osc_traitsched.text import ranges

_TAKEN = {
    weighing.NONE: "no host has any {missing}",
    weighing.ALIKE: "{missing} is the same on all hosts",
    weighing.REPORTED: "all hosts report {missing}, and the same",
    weighing.ALL_IO: "assumes no recent boots, and that each running task is I/O",
    weighing.DEFAULT: "{missing} is the release's default",
    weighing.ZERO: "{missing} counts as zero if a host has none",
    weighing.UNSEEN: "it reads {missing}, and is taken to weigh all hosts alike",
    weighing.NOT_RAISING: (
        "it raises {missing} on a host that may not be weighed, which would end the "
        "request; else it is taken to weigh all hosts alike"
    ),
    weighing.FIRST_REQUEST: "no request was scheduled since nova-scheduler started",
}

_HISTORY = "depends on earlier requests (bug 1870096)"


def pick(judgement: Judgement, everything: bool = True) -> str:
    """Which host nova-scheduler tries first; empty for fewer than two candidates.

    A host that a filter keeps out is not weighed, which may change the order of all.
    """
    found, ranking = picks(judgement), judgement.ranking
    if len(judgement.candidates) < 2:
        return ""
    if ranking is not None and not ranking.first:
        return f"the order {_HISTORY}"
    if not found or judgement.is_uncertain:
        return ""
    unsure = ranges(host.name for host in judgement.uncertain)
    conditions = [f"if all filters pass {unsure}"] if unsure else []
    if everything and ranking is not None and ranking.rests_on_tasks:
        conditions.append("recent boots can change this")
    but = f" ({'; '.join(conditions)})" if conditions else ""
    if len(found) == len(judgement.candidates):
        return f"all are equally likely{but}"
    one = "one of " if len(found) > 1 else ""
    server = " for the first" if judgement.question.spec.count > 1 else ""
    return f"most likely {one}{ranges(host.name for host in found)}{server}{but}"


def order(ranking: Ranking) -> Iterator[str]:
    """What the order of unequal candidates depends on."""
    if ranking.remembers and len(ranking.places) > 1:
        yield f"The order {_HISTORY}; here it is that of the first one."


def assumed(judgement: Judgement) -> Iterator[str]:
    """The assumptions in words."""
    yield from map(assumption, assumptions(judgement))


def assumptions(judgement: Judgement) -> tuple[Assumption, ...]:
    """What the weights assume, since no API shows it."""
    ranking = judgement.ranking
    return ranking.assumed if ranking and len(ranking.hosts) > 1 else ()


def assumption(each: Assumption) -> str:
    """An assumption in words."""
    missing = each.missing or "its weight"
    text = _TAKEN[each.taken].format(missing=missing.replace("_", " "))
    return f"{each.weigher or 'weighers'}: {text}"
