"""Hosts that Nova would choose from for a server."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping

from osc_traitsched.app import own_filters, request
from osc_traitsched.app.judging import with_builds
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.cloud import allocation_candidates, lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import PlacementRefuses, Refusal
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Snapshot
from osc_traitsched.core.judge.doubts import Doubts
from osc_traitsched.core.judge.judge import given
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import ranked
from osc_traitsched.core.nova.evidence import assumed_by_evidence, without_evidence
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement import facts
from osc_traitsched.core.placement.facts import Candidate, Facts, PlacementAnswer


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Hosts from Placement that pass the host filters, best first, then by name.

    :ivar judgement: without reasons; its ranking has the weights, if each host passes
        all filters
    :ivar kept_out: hosts from Placement that a filter rejects
    :ivar vanished: UUIDs of providers that were deleted after Placement's answer; their
        hosts are left out
    """

    judgement: Judgement
    hosts: tuple[Candidate, ...]
    kept_out: tuple[Candidate, ...]
    vanished: tuple[str, ...]

    @property
    def names(self) -> Mapping[str, str]:
        """Names of the hosts from Placement, by provider UUID."""
        placed = (*self.hosts, *self.kept_out)
        return {each.host.uuid: each.host.name for each in placed}


def candidates(
    cloud: Cloud, question: Question, own: OwnSources | None = None
) -> Candidates:
    """Ask Placement what Nova would ask, and run the host filters.

    :param own: more filters and weighers, which run in Nova
    :raises Refusal: if Nova rejects the server, a host filter fails, or nova-scheduler
        does not start with its weighers
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises PlacementRefuses: if Placement rejects the request
    :raises BadConfiguration, PluginFails, NovaPythonFails: as ``own_filters.judge``
    """
    accepted = request.accepted(cloud, question)
    try:
        answer = allocation_candidates.ask(cloud.placement, accepted)
    except PlacementRefuses as refusal:
        raise request.missing_trait(cloud, question, refusal)[0] from refusal
    nodes = with_builds(cloud, question, lookup.computes(cloud))
    computes = {node.uuid: node for node in nodes}
    nova = Nova(tuple(nodes), question.aggregates)
    snapshot = read.providers(cloud.placement).with_nova(nova)
    if question.nodes is not None:
        snapshot = snapshot.restricted_to(node.uuid for node in question.nodes)
    vanished = answer.body["provider_summaries"].keys() - snapshot.by_uuid.keys()
    question = own_filters.answered(question, nodes, own)
    judgement = _judged(question, answer, snapshot, computes)
    if not judgement.candidates and assumed_by_evidence(question.assumptions):
        defaults = without_evidence(question.assumptions)
        asked = dataclasses.replace(question, assumptions=defaults)
        with contextlib.suppress(Refusal, PlacementRefuses):
            other = allocation_candidates.ask(cloud.placement, asked.request())
            plain = _judged(asked, other, snapshot, computes).candidate_uuids
            doubts = Doubts(without_evidence=plain)
            judgement = dataclasses.replace(judgement, doubts=doubts)
    left = [computes[host.uuid] for host in judgement.candidates]
    unsure = {host.uuid for host in judgement.uncertain}
    order = ranked(question, left, facts.capacities(answer.body), unsure)
    placed = facts.candidates(answer.body, snapshot)
    hosts = [e for e in placed if e.host.uuid in judgement.candidate_uuids]
    hosts.sort(key=lambda each: (order.place_of[each.host.uuid], each.host.name))
    return Candidates(
        dataclasses.replace(judgement, ranking=order),
        tuple(hosts),
        tuple(e for e in placed if e.host.uuid not in judgement.candidate_uuids),
        tuple(sorted(vanished)),
    )


def _judged(
    question: Question,
    answer: PlacementAnswer,
    snapshot: Snapshot,
    computes: Mapping[str, Compute],
) -> Judgement:
    placed = facts.candidates(answer.body, snapshot)
    roots = frozenset(each.host.uuid for each in placed)
    hosts = Facts(snapshot, {}, {}, {}, {}, {}, roots)
    judgement = given(question, question.request(), hosts, computes, answer)
    if judgement.ended_by is not None:
        raise judgement.ended_by
    return judgement
