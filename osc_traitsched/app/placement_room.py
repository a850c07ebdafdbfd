"""What Placement has room for, asked once for servers that ask for the same."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.app.io_workload import with_builds
from osc_traitsched.cloud import allocation_candidates, lookup, read
from osc_traitsched.cloud.allocation_candidates import Answer
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.existing.drain.model import (
    Asked,
    Claim,
    alike,
    claims,
    elsewhere,
)
from osc_traitsched.core.existing.drain.state import State
from osc_traitsched.core.explain.choice import with_ratio
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.placement import candidate


class PlacementRoom:
    """Gathers what servers ask for, and in the end how the hosts are.

    :param without: the service host that they leave
    :param knows_zones: it is known which zone each of them was asked for with
    """

    def __init__(self, cloud: Cloud, without: str, knows_zones: bool) -> None:
        self._cloud = cloud
        self._placement = cloud.placement
        self._without, self._knows_zones = without, knows_zones
        self._hosts = {
            each.uuid: each
            for each in lookup.computes(cloud)
            if each.is_up and each.service_host != without
        }
        self._snapshot: Snapshot | None = None
        self._asked: dict[str, Asked] = {}
        self._answers: dict[tuple[str, ...], Mapping[str, tuple[Claim, ...]]] = {}
        self._free: dict[tuple[str, str], int] = {}
        self._capacities: dict[str, dict[str, int]] = {}

    def asked(self, question: Question) -> Asked:
        """Return what a server asks for, the same for all that are alike.

        Two requests for the first, and one or two for each query of Nova's that was
        not asked before.

        :raises PlacementRefuses: when Placement takes no such request
        :raises CloudBroke: when Placement can't be read
        """
        key = alike(question)
        if key not in self._asked:
            claimed = self._claims(question)
            self._asked[key] = Asked(question, claimed, self._elsewhere(question))
        return self._asked[key]

    def _elsewhere(self, question: Question) -> frozenset[str]:
        if self._knows_zones:
            return frozenset()
        return elsewhere(self._without, self._hosts.values(), question.aggregates)

    def _claims(self, question: Question) -> Mapping[str, tuple[Claim, ...]]:
        request = question.request()
        both = (request, request.fallback)
        query = tuple(each.without_limit().query() for each in both if each)
        if query not in self._answers:
            answer = allocation_candidates.ask(self._placement, request)
            self._answers[query] = claims(answer.body, self._providers(), self._hosts)
            self._keep(answer)
        return self._answers[query]

    def _keep(self, answer: Answer) -> None:
        self._capacities.update(candidate.capacities(answer.body))
        for uuid, summary in answer.body["provider_summaries"].items():
            for name, stock in summary["resources"].items():
                self._free[uuid, name] = stock["capacity"] - stock["used"]

    def _providers(self) -> Snapshot:
        if self._snapshot is None:
            self._snapshot = read.providers(self._placement)
        return self._snapshot

    def state(self) -> State:
        """Return how all hosts are now that may be gone to.

        :raises CloudBroke: when Nova can't be read
        """
        questions = [each.question for each in self._asked.values()]
        if not questions:
            return State({}, {})
        servers = {k: v for q in questions for k, v in (q.servers or {}).items()}
        is_read = any(each.servers is not None for each in questions)
        first = questions[0]
        nodes = with_builds(self._cloud, first, self._hosts.values())
        hosts = host_states(nodes, first.aggregates, servers if is_read else None)
        return State(
            {each.compute.uuid: self._with_ratio(each) for each in hosts}, self._free
        )

    def _with_ratio(self, host: HostState) -> HostState:
        return with_ratio(host, self._capacities.get(host.compute.uuid, {}))
