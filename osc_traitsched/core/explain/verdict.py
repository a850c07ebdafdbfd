"""The answer for one request: why each host is rejected, and what follows.

The terms are those of model-based diagnosis (R. Reiter, "A Theory of Diagnosis from
First Principles", 1987). A *correction set* of a host is a minimal set of clauses
without which the host could take the request: what Reiter calls a diagnosis. A
*conflict* is a minimal set of clauses that no host meets together, whatever else of the
request it meets. What a host meets has nothing of at least one of its correction sets.
So a set of clauses is too much for the host if and only if it shares a clause with each
of them, and too much for all hosts if and only if it shares a clause with each
correction set of each host. That is: the conflicts are the minimal hitting sets of all
hosts' correction sets.

For example, three clauses and three hosts of one provider each:

=====  ===========  =======  ==============  ==========================
Host   CUSTOM_GOLD  enabled  4096 MEMORY_MB  Correction sets
=====  ===========  =======  ==============  ==========================
cmp01  no           yes      no              {CUSTOM_GOLD, MEMORY_MB}
cmp02  no           no       yes             {CUSTOM_GOLD, enabled}
cmp03  yes          yes      no              {MEMORY_MB}
=====  ===========  =======  ==============  ==========================

The sets of the last column have two minimal hitting sets, {CUSTOM_GOLD, MEMORY_MB} and
{enabled, MEMORY_MB}. These are the conflicts: no host with the memory has CUSTOM_GOLD,
and none is enabled. {CUSTOM_GOLD, enabled} is no conflict, since cmp03 meets both.

A host of one provider meets clauses one by one, so that the clauses that it fails are
its only correction set. A tree can meet each clause and not all together: one
provider is asked for two traits, and each is on another one. Then either of the two
is a correction set by itself.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence

from osc_traitsched.core.explain.clause_set import ClauseSet
from osc_traitsched.core.explain.correction_sets import correction_sets
from osc_traitsched.core.explain.hitting_sets import bits, hitting_sets
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import Condition
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Host, Mask, Matcher


@dataclasses.dataclass(frozen=True)
class Rejection:
    """Why a host can't take the request.

    :ivar failing: the clauses that it fails, each by itself
    :ivar correction_sets: the minimal sets of clauses without which it could; each
        has all failing ones, and more where the rest can't be met together. Of a tree
        that could do without many of its clauses it may be one of them only: see
        :func:`correction_sets`
    """

    failing: ClauseSet
    correction_sets: tuple[ClauseSet, ...]

    @functools.cached_property
    def involved(self) -> ClauseSet:
        """All clauses that have a part in it.

        The host fails these alone, and could take the request without them.
        """
        return functools.reduce(ClauseSet.__or__, self.correction_sets)

    @property
    def distance(self) -> int:
        """How many clauses would have to go for the host to be a candidate."""
        return min(map(len, self.correction_sets))


@dataclasses.dataclass(frozen=True)
class ClauseCount:
    """How many hosts one clause lets through.

    :ivar alone: hosts that meet it by itself
    :ivar only: hosts that nothing else keeps out
    :ivar left: hosts that meet it and all clauses before it, together
    """

    clause: Condition
    alone: int
    only: int
    left: int


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What the matcher says of every host, and Placement beside it.

    :ivar clauses: those that the hosts are matched by
    :ivar rejections: by the root's UUID; a host that is not here is a candidate
    :ivar admitted_otherwise: why hosts fail the clauses that can take the request by
        the other query that Nova sends; by the root's UUID
    :ivar counts: of each clause, in the request's order
    :ivar conflicts: the minimal sets of clauses that no host meets together, whatever
        else is asked; smallest first, none where there are candidates
    :ivar kept_from: roots that fail what Placement looks at, host filters aside
    :ivar wrongly_admitted: roots that the matcher would take and Placement did not
    :ivar wrongly_rejected: roots that Placement gave against the matcher
    """

    clauses: tuple[Condition, ...]
    rejections: Mapping[str, Rejection]
    admitted_otherwise: Mapping[str, Rejection]
    counts: tuple[ClauseCount, ...]
    conflicts: tuple[ClauseSet, ...]
    kept_from: frozenset[str]
    wrongly_admitted: tuple[str, ...]
    wrongly_rejected: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether matcher and Placement say the same of every host."""
        return not self.wrongly_admitted and not self.wrongly_rejected


def reach(matcher: Matcher, facts: Facts, other: Matcher | None = None) -> Verdict:
    """Match every host, and compare with what Placement said.

    :param other: of the query that Nova sends besides; hosts that meet it are taken
    """
    hosts = [host.uuid for host in facts.snapshot.hosts]
    profiles: dict[Host, list[str]] = {}
    for root in hosts:
        profiles.setdefault(matcher.host(root), []).append(root)
    found: dict[str, Rejection] = {}
    kept_from: set[str] = set()
    for profile, roots in profiles.items():
        reason = rejection(matcher, profile)
        if reason is not None:
            found.update(dict.fromkeys(roots, reason))
        if not matcher.meets(profile, matcher.of_placement):
            kept_from.update(roots)
    otherwise = {r for r in found if other and _meets(other, r, other.everything)}
    by_other = {r for r in kept_from if other and _meets(other, r, other.of_placement)}
    kept_from -= by_other
    found.update({r: _by_filters(matcher, r) for r in by_other - otherwise})
    rejections = {r: found[r] for r in hosts if r in found and r not in otherwise}
    all_rejected = bool(hosts) and len(rejections) == len(hosts)
    return Verdict(
        matcher.clauses,
        rejections,
        {root: found[root] for root in otherwise},
        _counts(matcher, profiles, rejections),
        _conflicts(matcher.clauses, rejections) if all_rejected else (),
        frozenset(kept_from),
        tuple(sorted(set(hosts) - kept_from - facts.candidates)),
        tuple(sorted(kept_from & facts.candidates)),
    )


def _by_filters(matcher: Matcher, root: str) -> Rejection:
    """Return why a host is out that Placement gives by the other query."""
    filtered = ClauseSet(matcher.clauses, matcher.host(root).filtered)
    return Rejection(filtered, (filtered,))


def _meets(matcher: Matcher, root: str, mask: Mask) -> bool:
    return matcher.meets(matcher.host(root), mask)


def grouped_rejections(
    verdict: Verdict, hosts: Iterable[Provider]
) -> list[tuple[Rejection, list[Provider]]]:
    """Return the rejected hosts with those of the same reasons, nearest first."""
    groups: dict[Rejection, list[Provider]] = {}
    for host in hosts:
        if host.uuid in verdict.rejections:
            groups.setdefault(verdict.rejections[host.uuid], []).append(host)
    return sorted(groups.items(), key=lambda group: (group[0].distance, -len(group[1])))


def rejection(matcher: Matcher, host: Host) -> Rejection | None:
    """Return why a host can't take the request, or None if it can."""
    if matcher.meets(host, matcher.everything):
        return None
    every = bits(matcher.everything)
    failing = sum(bit for bit in every if not matcher.meets(host, bit))
    if matcher.meets(host, matcher.everything & ~failing):
        found = [failing]
    else:
        found = correction_sets(matcher, host, failing)
    return Rejection(
        ClauseSet(matcher.clauses, failing),
        tuple(ClauseSet(matcher.clauses, each) for each in found),
    )


def _conflicts(
    clauses: tuple[Condition, ...], rejections: Mapping[str, Rejection]
) -> tuple[ClauseSet, ...]:
    found = {each.mask for one in rejections.values() for each in one.correction_sets}
    return tuple(ClauseSet(clauses, mask) for mask in hitting_sets(found))


def _counts(
    matcher: Matcher,
    profiles: Mapping[Host, Sequence[str]],
    rejections: Mapping[str, Rejection],
) -> tuple[ClauseCount, ...]:
    def meeting(mask: Mask) -> int:
        hosts = (roots for each, roots in profiles.items() if matcher.meets(each, mask))
        return sum(map(len, hosts))

    only = collections.Counter(
        each.mask for one in rejections.values() for each in one.correction_sets
    )
    return tuple(
        ClauseCount(
            clause,
            alone=meeting(1 << number),
            only=only[1 << number],
            left=meeting((2 << number) - 1),
        )
        for number, clause in enumerate(matcher.clauses)
    )
