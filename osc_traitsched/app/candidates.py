"""Which hosts Nova would have to choose from for a server."""

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
    """The hosts that Placement gives and that no host filter keeps out.

    They are in the order in which nova-scheduler tries them; those of equal weight by
    name.

    :ivar question: what was asked, with what ran in Nova
    :ivar ranking: their weights; each is taken to pass all filters
    :ivar filtering: what the host filters say of all compute nodes
    :ivar kept_out: the hosts that Placement gives, and that a filter keeps out
    :ivar may_fail: where a filter may end the whole request
    :ivar others_on: where it is only assumed which filters are on, the candidates that
        others would not pass for sure, all by name
    :ivar vanished: the UUIDs of providers that were deleted after it gave them; their
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
        """The names of the hosts that Placement gives, by their provider's UUID."""
        given = (*self.hosts, *self.kept_out)
        return {each.host.uuid: each.host.name for each in given}

    @property
    def is_uncertain(self) -> bool:
        """Whether there are hosts, and of none it is known that all filters pass it."""
        return bool(self.hosts) and (
            bool(self.may_fail)
            or all(self.filtering.unknown(each.host.uuid) for each in self.hosts)
        )


def candidates(
    cloud: Cloud, question: Question, own: OwnSources | None = None
) -> Candidates:
    """Ask Placement what Nova would ask, run the host filters, and return the hosts.

    :param own: filters and weighers that run in Nova, beside those here
    :raises Refusal: when Nova refuses the server, be it that a host filter fails
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises PlacementRefuses: when Placement takes no such request
    :raises WeighersNotInRelease: where nova-scheduler does not start with its weighers
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
    """Run filters and weighers over the hosts that Placement gives.

    :raises Refusal: where one of them ends the request for sure
    """
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
