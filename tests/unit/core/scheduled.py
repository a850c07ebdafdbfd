"""Cases that the host filters judge, too: a cloud, what is asked, and the filters."""

from __future__ import annotations

import dataclasses

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.judge import judge
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.placement.facts import PlacementAnswer
from tests.cases.reading import Case
from tests.property.building import identity
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


def placed(candidates):
    """Return Placement's answer with these hosts, by UUID, in one way each."""
    requests = [{"allocations": {root: {"resources": {}}}} for root in candidates]
    body = {"allocation_requests": requests}
    return PlacementAnswer(frozenset(candidates), (len(requests),), body)


def judgement_of(asked, body, given=(), nodes=None, alternatives=None):
    """Return the judgement of a question; Placement gave these hosts."""
    nodes = computes(body) if nodes is None else nodes
    request, others = asked.request(), alternatives.queries if alternatives else ()
    case = Case({"name": "made up", **body})
    requests = filter(None, (request, request.fallback, *others))
    candidates = frozenset(map(identity, given))
    facts = dataclasses.replace(
        facts_of(case.cloud, list(requests)), candidates=candidates
    )
    return judge(asked, request, facts, nodes, placed(candidates), alternatives)


def explained(body, given, *filters, release=33, **states):
    """Return the judgement of a case; Placement gave these hosts."""
    asked = question(body, *filters, release=release)
    return judgement_of(asked, body, given, computes(body, **states))


# Questions with fields of their own and of their spec, both by name.


_OF_SPEC = frozenset(each.name for each in dataclasses.fields(ServerSpec))
_OF_SPEC -= {"flavor", "image", "project", "group"}


def asking(question: Question, **changes) -> Question:
    """Return the question with changes, each where it belongs."""
    spec = {name: changes.pop(name) for name in _OF_SPEC & changes.keys()}
    return dataclasses.replace(question, **changes).with_spec(**spec)
