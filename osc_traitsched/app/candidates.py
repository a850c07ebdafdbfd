"""Which hosts Placement would give for a server."""

from __future__ import annotations

import dataclasses

from osc_traitsched.app import request
from osc_traitsched.cloud import allocation_candidates, lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement import candidate
from osc_traitsched.core.placement.candidate import Candidate


@dataclasses.dataclass(frozen=True)
class Candidates:
    """The hosts that Placement gives, by name.

    :ivar vanished: the UUIDs of providers that were deleted after it gave them; their
        hosts are left out
    """

    hosts: tuple[Candidate, ...]
    vanished: tuple[str, ...] = ()


def candidates(cloud: Cloud, question: Question) -> Candidates:
    """Ask Placement what Nova would ask, and return the hosts.

    :raises Refusal: when Nova refuses the server
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises PlacementRefuses: when Placement takes no such request
    :raises CloudBroke: when a service can't be read
    """
    accepted = request.accepted(cloud, question)
    answer = allocation_candidates.ask(cloud.placement, accepted)
    nova = read.view(lookup.computes(cloud), question.aggregates)
    snapshot = read.providers(cloud.placement).with_nova(nova)
    if question.nodes is not None:
        snapshot = snapshot.restricted_to(node.uuid for node in question.nodes)
    vanished = answer.body["provider_summaries"].keys() - snapshot.by_uuid.keys()
    return Candidates(
        candidate.candidates(answer.body, snapshot),
        tuple(sorted(vanished)),
    )
