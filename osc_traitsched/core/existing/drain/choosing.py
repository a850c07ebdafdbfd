"""Which of the hosts that can take a server gets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from osc_traitsched.core.existing.drain.model import Leaving
from osc_traitsched.core.existing.drain.state import State
from osc_traitsched.core.nova.weigher.ranking import ranking

#: Chooses one of several hosts, by the UUIDs of their roots.
Choice = Callable[[State, Leaving, Sequence[str]], str]


def as_nova(state: State, server: Leaving, roots: Sequence[str]) -> str:
    """Return the host that nova-scheduler would try first, after the moves before.

    Of equal ones the first by name. Weights are of the hosts that are certain, or of
    the others where there are none.

    :raises WeighersNotInRelease: where nova-scheduler does not start with its weighers
    """
    hosts = [state.hosts[root] for root in roots]
    order = ranking(hosts, server.asked.spec, server.asked.question.assumptions)
    return min(order.places[0], key=lambda root: state.hosts[root].node)


def tightest(state: State, server: Leaving, roots: Sequence[str]) -> str:
    """Return the host that has the least left once it has the server.

    Left are parts of what was free before, so that large hosts do not count for more.
    """

    def left(root: str) -> tuple[float, str]:
        claim = state.claim(server.asked, root) or ()
        parts = [
            1 - each.amount / state.free[each.provider, each.resource_class]
            for each in claim
        ]
        return sum(parts), state.hosts[root].node

    return min(roots, key=left)
