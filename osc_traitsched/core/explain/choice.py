"""What nova-scheduler does with the candidates: which it tries first, and what if."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.filtering import others_on
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.weigher.ranking import Ranking, ranking


def chosen(found: Explanation) -> Explanation:
    """Return an explanation with the order in which its candidates are tried.

    Where it is only assumed which filters are on, also with what others would change.

    :raises WeighersNotInRelease: where nova-scheduler does not start with its weighers
    """
    question = found.question
    nodes = [
        found.computes[h.uuid] for h in found.candidates if h.uuid in found.computes
    ]
    if not nodes:
        return found
    found = dataclasses.replace(found, ranking=ranked(question, nodes))
    is_given = question.assumptions.setting(options.ENABLED_FILTERS).given
    if is_given or found.requested_nodes is not None:
        return found
    others = others_on(question, nodes)
    named = {name: found.named_by(roots) for name, roots in others.items()}
    return dataclasses.replace(found, others_on=named)


def ranked(question: Question, nodes: Iterable[Compute]) -> Ranking:
    """Return the order in which nova-scheduler tries compute nodes.

    :raises WeighersNotInRelease: where it does not start with its weighers
    """
    hosts = host_states(nodes, question.aggregates, question.servers)
    return ranking(hosts, question.spec(), question.assumptions)


def picks(found: Explanation) -> tuple[Provider, ...]:
    """Return the candidates any of which nova-scheduler may try first, by name.

    None where it may not see all of them: which it sees, Placement alone knows, and
    the weights depend on all that are weighed.
    """
    if found.ranking is None or found.cut_off_candidates:
        return ()
    limit = found.request.limit if found.request else None
    if limit is not None and found.allocation_request_count > limit:
        return ()
    return found.named_by(found.ranking.first)
