"""What keeps the other hosts out, each host counted once.

Most hosts fail several clauses. So that the parts add up, the clause that the most
hosts fail comes first, with all of those; then the one that the most of the others
fail; and so on. Of two that equally many fail the rule of a move comes first: the host
that a server leaves is not a destination, whatever room it has.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
from collections.abc import Mapping

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.verdict import Rejection
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import Condition, MoveRule


class Cause(enum.Enum):
    """What keeps hosts out."""

    #: They fail a clause.
    CLAUSE = "clause"
    #: They meet each clause, and not all of them together.
    TOGETHER = "together"
    #: They meet all clauses by what was read, and Placement does not give them.
    PLACEMENT = "placement"
    #: Nova has them, and Placement has no provider for them.
    NO_PROVIDER = "no provider"
    #: Placement has them, and Nova does not list them as compute nodes.
    NOT_LISTED = "not listed"


@dataclasses.dataclass(frozen=True)
class Share:
    """Hosts that are out for one cause, and were not counted for an earlier one.

    :ivar hosts: their names
    :ivar clause: where that is the cause, the clause that all of them fail
    """

    cause: Cause
    hosts: tuple[str, ...]
    clause: Condition | None = None


def breakdown(explanation: Explanation) -> tuple[Share, ...]:
    """Return the shares of all hosts that are not candidates; none if nothing is.

    With the candidates they add up to :attr:`Explanation.total_hosts`.
    """
    if not explanation.is_judged:
        return ()
    given = set(explanation.candidates)
    groups = [
        (rejection, [host for host in hosts if host not in given])
        for rejection, hosts in explanation.grouped_rejections
    ]
    computes = explanation.computes_without_provider
    unlisted = {*explanation.unmanaged_roots, *explanation.unlisted_computes}
    out = explanation.rejections.keys()
    missing = (h for h in explanation.wrongly_admitted if h.uuid not in out)
    others = (
        (Cause.PLACEMENT, (host.name for host in missing)),
        (Cause.NO_PROVIDER, (compute.node for compute in computes)),
        (Cause.NOT_LISTED, (provider.name for provider in unlisted)),
    )
    named = (Share(cause, tuple(sorted(names))) for cause, names in others)
    return (*_by_clause(groups), *(share for share in named if share.hosts))


def _by_clause(groups: list[tuple[Rejection, list[Provider]]]) -> list[Share]:
    shares = []
    while groups:
        failing: collections.Counter[Condition] = collections.Counter()
        for rejection, hosts in groups:
            failing.update({clause: len(hosts) for clause in rejection.failing})
        clause = max(failing, key=lambda each: _rank(each, failing), default=None)
        counted = [g for g in groups if clause is None or clause in g[0].failing]
        groups = [
            g for g in groups if clause is not None and clause not in g[0].failing
        ]
        names = tuple(sorted(host.name for _, hosts in counted for host in hosts))
        if names:
            cause = Cause.TOGETHER if clause is None else Cause.CLAUSE
            shares.append(Share(cause, names, clause))
    return shares


def _rank(clause: Condition, failing: Mapping[Condition, int]) -> tuple[int, bool]:
    return failing[clause], isinstance(clause, MoveRule)
