"""The answer for one request: each host's failing clauses, and what follows."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence

from osc_traitsched.core.explain.hitting_sets import Mask, bits, hitting_sets, size
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Host, Matcher

#: Up to so many clauses all ways into a tree are looked for, where its clauses
#: can't be met together; of more, one.
_FEW_CLAUSES = 12


@dataclasses.dataclass(frozen=True)
class Rejection:
    """Why a host can't take the request.

    :ivar failing: the clauses that it fails, each by itself
    :ivar ways_in: the smallest sets of clauses without which it could; each has
        all failing ones, and more where the rest can't be met together
    """

    failing: Mask
    correction_sets: tuple[Mask, ...]

    @property
    def named(self) -> Mask:
        """All clauses that have a part in it.

        Keeping only these still rejects the host; lifting them all admits it.
        """
        named = 0
        for way in self.correction_sets:
            named |= way
        return named

    @property
    def distance(self) -> int:
        """How many clauses would have to go for the host to be a candidate."""
        return min(size(way) for way in self.correction_sets)


@dataclasses.dataclass(frozen=True)
class Count:
    """How many hosts one clause lets through.

    :ivar alone: hosts that meet it by itself
    :ivar only: hosts that nothing else keeps out
    :ivar left: hosts that meet it and all clauses before it, together
    """

    alone: int
    only: int
    left: int


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the judge says of every host, and Placement beside it.

    :ivar rejections: by the root's UUID; a host that is not here is a candidate
    :ivar counts: of each clause, in the request's order
    :ivar conflicts: the smallest sets of clauses that no host meets together,
        whatever else is asked; smallest first, none where there are candidates
    :ivar wrongly_admitted: roots that the judge would take and Placement did not
    :ivar wrongly_rejected: roots that Placement gave against the judge
    """

    rejections: Mapping[str, Rejection]
    counts: tuple[Count, ...]
    conflicts: tuple[Mask, ...]
    wrongly_admitted: tuple[str, ...]
    wrongly_rejected: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether judge and Placement say the same of every host."""
        return not self.wrongly_admitted and not self.wrongly_rejected


def reach(matcher: Matcher, facts: Facts, second: Matcher | None = None) -> Verdict:
    """Judge every host, and compare with what Placement said.

    :param second: of the query that Nova sends besides; who passes it is taken
    """
    kinds = {root.uuid: matcher.host(root.uuid) for root in facts.snapshot.hosts}
    judged = {kind: rejection(matcher, kind) for kind in set(kinds.values())}
    rejections = {
        root: found
        for root, kind in kinds.items()
        if (found := judged[kind]) is not None
        and not (second and second.meets(second.host(root), second.everything))
    }
    correction_sets = {
        way for found in rejections.values() for way in found.correction_sets
    }
    everybody = len(rejections) == len(kinds)
    return Verdict(
        rejections,
        _counts(matcher, kinds.values(), rejections),
        tuple(hitting_sets(correction_sets)) if everybody and kinds else (),
        tuple(sorted(set(kinds) - set(rejections) - facts.candidates)),
        tuple(sorted(set(rejections) & facts.candidates)),
    )


def grouped_rejections(
    verdict: Verdict, hosts: Iterable[Provider]
) -> list[tuple[Rejection, list[Provider]]]:
    """Return the rejected hosts with those of the same reasons, nearest first."""
    kinds: dict[Rejection, list[Provider]] = {}
    for host in hosts:
        if host.uuid in verdict.rejections:
            kinds.setdefault(verdict.rejections[host.uuid], []).append(host)
    return sorted(kinds.items(), key=lambda kind: (kind[0].distance, -len(kind[1])))


def rejection(matcher: Matcher, host: Host) -> Rejection | None:
    """Return why a host can't take the request, or None if it can."""
    if matcher.meets(host, matcher.everything):
        return None
    every = bits(matcher.everything)
    failing = sum(bit for bit in every if not matcher.meets(host, bit))
    if matcher.meets(host, matcher.everything & ~failing):
        return Rejection(failing, (failing,))
    others = [bit for bit in every if not bit & failing]
    return Rejection(failing, tuple(_correction_sets(matcher, host, failing, others)))


def _correction_sets(
    matcher: Matcher, host: Host, failing: Mask, others: Sequence[Mask]
) -> list[Mask]:
    """Return the smallest sets to lift, the failing clauses and some of the others."""
    if len(others) > _FEW_CLAUSES:
        return [_one_correction_set(matcher, host, failing, others)]
    found: list[Mask] = []
    for count in range(1, len(others) + 1):
        for chosen in itertools.combinations(others, count):
            lifted = failing | sum(chosen)
            if any(way & lifted == way for way in found):
                continue
            if matcher.meets(host, matcher.everything & ~lifted):
                found.append(lifted)
    return found


def _one_correction_set(
    matcher: Matcher, host: Host, failing: Mask, others: Sequence[Mask]
) -> Mask:
    """Return a set to lift of which nothing can stay; there may be others."""
    lifted = failing | sum(others)
    for bit in others:
        if matcher.meets(host, matcher.everything & ~(lifted & ~bit)):
            lifted &= ~bit
    return lifted


def _counts(
    matcher: Matcher, hosts: Iterable[Host], rejections: Mapping[str, Rejection]
) -> tuple[Count, ...]:
    kinds: dict[Host, int] = {}
    for host in hosts:
        kinds[host] = kinds.get(host, 0) + 1
    only: dict[Mask, int] = {}
    for found in rejections.values():
        for way in found.correction_sets:
            only[way] = only.get(way, 0) + 1
    counts = []
    for number in range(len(matcher.clauses)):
        bit, so_far = 1 << number, (2 << number) - 1
        counts.append(
            Count(
                sum(n for kind, n in kinds.items() if matcher.meets(kind, bit)),
                only.get(bit, 0),
                sum(n for kind, n in kinds.items() if matcher.meets(kind, so_far)),
            )
        )
    return tuple(counts)
