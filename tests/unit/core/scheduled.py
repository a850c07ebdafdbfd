"""Cases that the host filters judge, too: a cloud, what is asked, and the filters."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.filtering import filtering
from osc_traitsched.core.explain.verdict import evaluate
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.placement.matcher import Matcher
from tests.cases.reading import Case
from tests.property.building import identity
from tests.unit.core.asking import asking
from tests.unit.core.test_cases import facts_of

#: A filter of one's own: of every host it is unknown whether it passes.
OWN = "OurFilter"
SPECS, COMPUTE = "AggregateInstanceExtraSpecsFilter", "ComputeFilter"
SSD = {"aggregate_instance_extra_specs:ssd": "true"}


def question(body, *filters, release=33, **asked):
    """Return the question of a case where these filters are on."""
    case = Case({"name": "made up", **body})
    on = {options.ENABLED_FILTERS: Setting(filters, "a test", given=True)}
    assumptions = SchedulerSettings(release, on, "a test")
    return asking(case.question, assumptions=assumptions, **asked)


def computes(body, **states):
    """Return the compute nodes of a case, some in another state."""
    return {
        identity(name): Compute(identity(name), name, name, **states.get(name, {}))
        for name in body["cloud"]
    }


def matched(asked, body, given=(), nodes=None, others=()):
    """Return the matcher of a question, and the explanation.

    :param others: requests that the facts are of, too
    """
    nodes = computes(body) if nodes is None else nodes
    request = asked.request()
    case = Case({"name": "made up", **body})
    requests = filter(None, (request, request.fallback, *others))
    candidates = frozenset(map(identity, given))
    found = facts_of(case.cloud, list(requests))
    found = dataclasses.replace(found, candidates=candidates)
    filtered = filtering(asked, nodes.values()).beside(request.clauses, found.traits)
    found = dataclasses.replace(found, filtered=filtered.kept_out)
    first, second = (
        each
        and Matcher((*each.clauses, *filtered.conditions), each.group_policy, found)
        for each in (request, request.fallback)
    )
    explanation = Explanation(
        asked,
        request,
        facts=found,
        verdict=evaluate(first, found, second),
        computes=nodes,
        filtering=filtered,
    )
    return first, explanation


def explained(body, given, *filters, release=33, **states):
    """Return the explanation of a case; Placement gave these hosts."""
    asked = question(body, *filters, release=release)
    return matched(asked, body, given, computes(body, **states))[1]
