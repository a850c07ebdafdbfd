"""Hosts that Nova would choose from for a server."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from osc_traitsched.app import own_filters, request
from osc_traitsched.app.explain import with_builds
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.cloud import allocation_candidates, lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.explain.explanation import ranked
from osc_traitsched.core.explain.filtering import (
    FilterFailure,
    Filtering,
    filtering,
    others_on,
)
from osc_traitsched.core.inventory.snapshot import Compute
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
    :ivar others_on: if the enabled filters are only assumed: by other filter, the names
        of hosts that it would not surely pass
    :ivar vanished: UUIDs of providers that were deleted after Placement's answer; their
        hosts are left out
    """

    question: Question
    hosts: tuple[Candidate, ...]
    filtering: Filtering
    ranking: Ranking
    kept_out: tuple[Candidate, ...] = ()
    may_fail: tuple[FilterFailure, ...] = ()
    others_on: Mapping[str, list[str]] = dataclasses.field(default_factory=dict)
    vanished: tuple[str, ...] = ()

    @property
    def names(self) -> Mapping[str, str]:
        """Names of the hosts from Placement, by provider UUID."""
        given = (*self.hosts, *self.kept_out)
        return {each.host.uuid: each.host.name for each in given}

    @property
    def is_uncertain(self) -> bool:
        """Whether there are hosts, but none that surely passes all filters."""
        return bool(self.hosts) and (
            bool(self.may_fail)
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
    :raises WeighersNotInRelease: if nova-scheduler does not start with its weighers
    :raises BadConfiguration, PluginFails, NovaPythonFails: as ``own_filters.judge``
    """
    accepted = request.accepted(cloud, question)
    answer = allocation_candidates.ask(cloud.placement, accepted)
    computes = with_builds(cloud, question, lookup.computes(cloud))
    nova = read.view(computes, question.aggregates)
    snapshot = read.providers(cloud.placement).with_nova(nova)
    if question.nodes is not None:
        snapshot = snapshot.restricted_to(node.uuid for node in question.nodes)
    vanished = answer.body["provider_summaries"].keys() - snapshot.by_uuid.keys()
    given = facts.candidates(answer.body, snapshot)
    question = own_filters.answered(question, computes, own)
    capacities = facts.capacities(answer.body)
    found = _judged(question, given, computes, capacities)
    return dataclasses.replace(found, vanished=tuple(sorted(vanished)))


def _judged(
    question: Question,
    given: Sequence[Candidate],
    computes: Sequence[Compute],
    capacities: Mapping[str, Mapping[str, int]],
) -> Candidates:
    found = filtering(question, computes)
    roots = {each.host.uuid for each in given}
    failure = found.refusal(roots)
    if failure is not None:
        raise failure
    may_fail = tuple(found.failures(roots))
    left = [each for each in given if each.host.uuid not in found.all_kept_out]
    nodes = {node.uuid: node for node in computes}
    those_left = [nodes[each.host.uuid] for each in left]
    unsure = {n.uuid for n in those_left if may_fail or found.unknown(n.uuid)}
    order = ranked(question, those_left, capacities, unsure)
    place = order.place_of
    return Candidates(
        question,
        tuple(sorted(left, key=lambda each: (place[each.host.uuid], each.host.name))),
        found,
        order,
        tuple(each for each in given if each.host.uuid in found.all_kept_out),
        may_fail,
        {
            name: sorted(each.host.name for each in left if each.host.uuid in roots)
            for name, roots in others_on(question, those_left).items()
        },
    )
