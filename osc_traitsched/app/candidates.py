"""Hosts that Nova would choose from for a server."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from osc_traitsched.app.explain import explain
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement import facts
from osc_traitsched.core.placement.facts import Candidate


@dataclasses.dataclass(frozen=True)
class Candidates:
    """Hosts from Placement that pass the host filters, best first, then by name.

    :ivar judgement: that of :func:`app.explain.explain`
    :ivar kept_out: hosts from Placement that a filter rejects
    :ivar vanished: UUIDs of providers that were deleted after Placement's answer; their
        hosts are left out
    """

    judgement: Judgement
    hosts: tuple[Candidate, ...] = ()
    kept_out: tuple[Candidate, ...] = ()
    vanished: tuple[str, ...] = ()

    @property
    def names(self) -> Mapping[str, str]:
        """Names of the hosts from Placement, by provider UUID."""
        placed = (*self.hosts, *self.kept_out)
        return {each.host.uuid: each.host.name for each in placed}


def candidates(
    cloud: Cloud, question: Question, own: OwnSources | None = None
) -> Candidates:
    """Explain the request, and list its hosts as Placement offers them.

    :param own: more filters and weighers, which run in Nova
    :raises Refusal: if Nova rejects the server, a host filter fails, or nova-scheduler
        does not start with its weighers
    :raises NotForProject: for a flavor or an image that the project may not use
    :raises PlacementRefuses: if Placement rejects the request
    :raises BadConfiguration, PluginFails, NovaPythonFails: as ``own_filters.judge``
    """
    judgement = explain(cloud, question, want_fixes=False, own=own).judgement
    if isinstance(judgement, RefusedRequest):
        raise judgement.refusal
    if judgement.refusal is not None:
        raise judgement.refusal
    read, answer, order = judgement.facts, judgement.placement, judgement.ranking
    placed = facts.candidates(answer.body, read.snapshot) if answer else ()
    hosts = [each for each in placed if each.host.uuid in judgement.candidates.uuids]
    if order is not None:
        hosts.sort(key=lambda each: (order.place_of[each.host.uuid], each.host.name))
    return Candidates(
        judgement,
        tuple(hosts),
        tuple(e for e in placed if e.host.uuid not in judgement.candidates.uuids),
        tuple(sorted(read.vanished)),
    )
