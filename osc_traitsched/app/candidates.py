"""Hosts that Nova would choose from for a server."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence

from osc_traitsched.app import own_filters, request
from osc_traitsched.app.explain import may_hide_all, root_refusal, with_builds
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.cloud import allocation_candidates, lookup, read
from osc_traitsched.cloud.allocation_candidates import Answer
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import PlacementRefuses, Refusal
from osc_traitsched.core.explain.explanation import ranked
from osc_traitsched.core.explain.filtering import (
    FilterFailure,
    Filtering,
    filtering,
)
from osc_traitsched.core.inventory.snapshot import Compute, Snapshot
from osc_traitsched.core.nova.evidence import assumed_by_evidence, without_evidence
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.weigher.ranking import Ranking
from osc_traitsched.core.placement import facts
from osc_traitsched.core.placement.facts import Candidate


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Hosts from Placement that pass the host filters, best first.

    Hosts of equal weight are in order of name.

    :ivar question: with the answers of filters that ran in Nova
    :ivar ranking: weights, if each host passes all filters
    :ivar filtering: results of the host filters for all compute nodes
    :ivar kept_out: hosts from Placement that a filter rejects
    :ivar may_fail: filters that may end the whole request
    :ivar vanished: UUIDs of providers that were deleted after Placement's answer; their
        hosts are left out
    :ivar otherwise: if there is no host: number of hosts without the evidence by which
        unknown options are taken to be on
    :ivar is_limited: Nova's limit of results may leave only hosts that filters reject
    """

    question: Question
    hosts: tuple[Candidate, ...]
    filtering: Filtering
    ranking: Ranking
    kept_out: tuple[Candidate, ...] = ()
    may_fail: tuple[FilterFailure, ...] = ()
    vanished: tuple[str, ...] = ()
    otherwise: int = 0
    is_limited: bool = False

    @property
    def names(self) -> Mapping[str, str]:
        """Names of the hosts from Placement, by provider UUID."""
        given = (*self.hosts, *self.kept_out)
        return {each.host.uuid: each.host.name for each in given}

    @property
    def is_uncertain(self) -> bool:
        """Whether there are hosts, but none is sure."""
        return bool(self.hosts) and (
            bool(self.may_fail)
            or self.is_limited
            or all(self.filtering.unknown(each.host.uuid) for each in self.hosts)
        )


def candidates(
    cloud: Cloud, question: Question, own: OwnSources | None = None
) -> Candidates:
    """Ask Placement what Nova would ask, and run the host filters.

    :param own: more filters and weighers, which run in Nova
    :raises Refusal: if Nova rejects the server, or a host filter fails
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises PlacementRefuses: if Placement rejects the request
    :raises Refusal: if nova-scheduler does not start with its weighers
    :raises BadConfiguration, PluginFails, NovaPythonFails: as ``own_filters.judge``
    """
    accepted = request.accepted(cloud, question)
    try:
        answer = allocation_candidates.ask(cloud.placement, accepted)
    except PlacementRefuses as refusal:
        raise request.missing_trait(cloud, question, refusal)[0] from refusal
    computes = with_builds(cloud, question, lookup.computes(cloud))
    nova = read.view(computes, question.aggregates)
    snapshot = read.providers(cloud.placement).with_nova(nova)
    if question.nodes is not None:
        snapshot = snapshot.restricted_to(node.uuid for node in question.nodes)
    vanished = answer.body["provider_summaries"].keys() - snapshot.by_uuid.keys()
    question = own_filters.answered(question, computes, own)
    found = _judged(question, answer, snapshot, computes)
    if not found.hosts and assumed_by_evidence(question.assumptions):
        defaults = without_evidence(question.assumptions)
        asked = dataclasses.replace(question, assumptions=defaults)
        with contextlib.suppress(Refusal, PlacementRefuses):
            other = allocation_candidates.ask(cloud.placement, asked.request())
            hosts = _judged(asked, other, snapshot, computes).hosts
            found = dataclasses.replace(found, otherwise=len(hosts))
    passing = {each.host.uuid for each in found.hosts}
    sure = {root for root in passing if not found.filtering.unknown(root)}
    is_limited = may_hide_all(answer, accepted, sure, snapshot)
    return dataclasses.replace(
        found, vanished=tuple(sorted(vanished)), is_limited=is_limited
    )


def _judged(
    question: Question, answer: Answer, snapshot: Snapshot, computes: Sequence[Compute]
) -> Candidates:
    given = facts.candidates(answer.body, snapshot)
    roots = {each.host.uuid for each in given}
    found = filtering(question, computes)
    failure = root_refusal(answer, roots) or found.refusal(roots)
    if failure is not None:
        raise failure
    may_fail = tuple(found.failures(roots))
    left = [each for each in given if each.host.uuid not in found.all_kept_out]
    nodes = {node.uuid: node for node in computes}
    those_left = [nodes[each.host.uuid] for each in left]
    unsure = {n.uuid for n in those_left if may_fail or found.unknown(n.uuid)}
    order = ranked(question, those_left, facts.capacities(answer.body), unsure)
    place = order.place_of
    return Candidates(
        question,
        tuple(sorted(left, key=lambda each: (place[each.host.uuid], each.host.name))),
        found,
        order,
        tuple(each for each in given if each.host.uuid in found.all_kept_out),
        may_fail,
    )
