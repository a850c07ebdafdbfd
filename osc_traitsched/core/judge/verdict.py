"""Verdicts: which hosts match, and the clauses that reject the others."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import math
from collections.abc import (
    Collection,
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    ValuesView,
)

from osc_traitsched.core.inventory.snapshot import HostBits, Provider
from osc_traitsched.core.nova.clause import Condition, Resource, Trait
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Facts, Host, Mask
from osc_traitsched.core.placement.matcher import Matcher

# Minimal hitting sets: the smallest that share a member with each of many sets.
#
# Sets are integers whose bits are the members. Frozensets would take a third more time
# where there are hundreds of hitting sets.


#: More sets than any twelve members can have.
_MOST = 1000


def size(mask: Mask) -> int:
    """Number of bits of a set."""
    return bin(mask).count("1")


def minimal(sets: Iterable[Mask], most: int | None = None) -> list[Mask]:
    """Sets that contain no other set, smallest first."""
    kept: list[Mask] = []
    for candidate in sorted(set(sets), key=lambda mask: (size(mask), mask)):
        if len(kept) == most:
            break
        if not any(smaller & candidate == smaller for smaller in kept):
            kept.append(candidate)
    return kept


def hitting_sets(sets: Iterable[Mask]) -> list[Mask]:
    """All minimal sets that share a member with every given set (Berge's method).

    Each set extends the results that do not hit it yet by its members. An empty input
    is hit by the empty set. An empty set can't be hit. Above a maximum only the
    smallest results are kept, so that not all may be found.
    """
    found: list[Mask] = [0]
    for each in minimal(sets):
        extended: list[Mask] = []
        for partial in found:
            if partial & each:
                extended.append(partial)
            else:
                extended.extend(partial | bit for bit in bits(each))
        found = minimal(extended, _MOST)
    return found


def bits(mask: Mask) -> list[Mask]:
    """Members of a set, each as a set of one."""
    return [1 << n for n in range(mask.bit_length()) if mask >> n & 1]


# A host's correction sets: the minimal sets of clauses to remove for it to fit.


#: All sets of twelve clauses.
_MOST_TRIED = 2**12

#: More than twelve clauses can have, of which none is part of another.
_MOST_FOUND = 1000

#: Equal groups, each as the bits of its clauses in the same order.
_Kind = Sequence[Sequence[Mask]]


def correction_sets(matcher: Matcher, host: Host, failing: Mask) -> list[Mask]:
    """Failing clauses with each minimal set of other clauses to remove, smallest first.

    Sets that differ only in equal groups are tried once, so 16 equal groups take 17
    tries. The result is complete, unless more than 4096 tries or 1000 results are
    needed. Then it is one set.

    :param failing: clauses that the host fails alone; it does not meet the others
        together
    """
    others = matcher.everything & ~failing
    kinds = _kinds(matcher.clauses, others)
    found = _all(matcher, host, failing, kinds)
    if found is None:
        return [_one(matcher, host, failing, bits(others))]
    return sorted(found, key=lambda mask: (size(mask), bits(mask)))


def _kinds(clauses: Sequence[Condition], among: Mask) -> list[_Kind]:
    """Every other clause is its own kind."""
    groups: dict[object, dict[str, Mask]] = collections.defaultdict(dict)
    for number, clause in enumerate(clauses):
        bit, plain = 1 << number, dataclasses.replace(clause, origins=())
        if isinstance(plain, (Resource, Trait)) and plain.group:
            groups[plain.group][repr(dataclasses.replace(plain, group=""))] = bit
        else:
            groups[number][str(number)] = bit
    kinds: dict[tuple[str, ...], list[list[Mask]]] = {}
    for group in groups.values():
        asked = tuple(sorted(group))
        found = [group[each] for each in asked if group[each] & among]
        kinds.setdefault(asked, []).append(found)
    return [kind for kind in kinds.values() if kind[0]]


def _all(
    matcher: Matcher, host: Host, failing: Mask, kinds: Sequence[_Kind]
) -> list[Mask] | None:
    """None if there are too many."""
    if math.prod(map(_tries, kinds)) > _MOST_TRIED:
        return None
    tried: list[Mask] = [failing]
    for unlike in map(_unlike, kinds):
        tried = [one | other for one in tried for other in unlike]
    found: list[Mask] = []
    for removed in sorted(tried, key=size):
        if any(smaller & removed == smaller for smaller in found):
            continue
        if matcher.meets(host, matcher.everything & ~removed):
            most = _MOST_FOUND + 1
            alike = [list(itertools.islice(_alike(removed, k), most)) for k in kinds]
            if len(found) + math.prod(map(len, alike)) > _MOST_FOUND:
                return None
            found.extend(failing | sum(each) for each in itertools.product(*alike))
    return found


def _tries(kind: _Kind) -> int:
    return math.comb(len(kind) + 2 ** len(kind[0]) - 1, len(kind))


def _unlike(kind: _Kind) -> list[Mask]:
    """One set of a kind's clauses for all equal ones."""
    subsets = range(2 ** len(kind[0]))
    return [
        sum(map(_of_group, kind, chosen))
        for chosen in itertools.combinations_with_replacement(subsets, len(kind))
    ]


def _of_group(group: Sequence[Mask], subset: int) -> Mask:
    return sum(bit for position, bit in enumerate(group) if subset >> position & 1)


def _alike(mask: Mask, kind: _Kind) -> Iterator[Mask]:
    """The given set, and all sets that differ only in equal groups."""
    subsets = [
        sum(1 << position for position, bit in enumerate(group) if mask & bit)
        for group in kind
    ]
    for chosen in _orders(subsets):
        yield sum(map(_of_group, kind, chosen))


def _orders(numbers: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not numbers:
        yield ()
    for first in sorted(set(numbers)):
        rest = list(numbers)
        rest.remove(first)
        for others in _orders(rest):
            yield (first, *others)


def _one(matcher: Matcher, host: Host, failing: Mask, others: Sequence[Mask]) -> Mask:
    """Others may exist."""
    removed = failing | sum(others)
    for bit in others:
        if matcher.meets(host, matcher.everything & ~(removed & ~bit)):
            removed &= ~bit
    return removed


# Sets of a request's clauses: what hosts fail, and what stands against what.


@dataclasses.dataclass(frozen=True)
class ClauseSet(Collection[Condition]):
    """Some clauses of one request, in the request's order.

    Only sets of the same request can be compared or united. The hash is that of the
    mask, since many hosts share sets that are keys of dictionaries.
    """

    request: tuple[Condition, ...] = dataclasses.field(repr=False, hash=False)
    mask: Mask

    def __contains__(self, clause: object) -> bool:
        return clause in tuple(self)

    def __iter__(self) -> Iterator[Condition]:
        return (c for n, c in enumerate(self.request) if self.mask >> n & 1)

    def __len__(self) -> int:
        return size(self.mask)

    def __or__(self, other: ClauseSet) -> ClauseSet:
        return ClauseSet(self.request, self.mask | other.mask)

    def __le__(self, other: ClauseSet) -> bool:
        return self.mask & other.mask == self.mask


# The answer for one request: why each host is rejected, and what follows.
#
# The terms are those of model-based diagnosis (R. Reiter, "A Theory of Diagnosis from
# First Principles", 1987). A *correction set* of a host is a minimal set of clauses
# without which the host could take the request: what Reiter calls a diagnosis. A
# *conflict* is a minimal set of clauses that no host meets together, whatever else of
# the request it meets. What a host meets has nothing of at least one of its
# correction sets. So a set of clauses is too much for the host if and only if it
# shares a clause with each of them, and too much for all hosts if and only if it
# shares a clause with each correction set of each host. That is: the conflicts are
# the minimal hitting sets of all hosts' correction sets.
#
# For example, three clauses and three hosts of one provider each:
#
# =====  ===========  =======  ==============  ==========================
# Host   CUSTOM_GOLD  enabled  4096 MEMORY_MB  Correction sets
# =====  ===========  =======  ==============  ==========================
# cmp01  no           yes      no              {CUSTOM_GOLD, MEMORY_MB}
# cmp02  no           no       yes             {CUSTOM_GOLD, enabled}
# cmp03  yes          yes      no              {MEMORY_MB}
# =====  ===========  =======  ==============  ==========================
#
# The sets of the last column have two minimal hitting sets, {CUSTOM_GOLD, MEMORY_MB}
# and {enabled, MEMORY_MB}. These are the conflicts: no host with the memory has
# CUSTOM_GOLD, and none is enabled. {CUSTOM_GOLD, enabled} is no conflict, since cmp03
# meets both.
#
# A host of one provider meets clauses one by one, so that the clauses that it fails are
# its only correction set. A tree can meet each clause and not all together: one
# provider is asked for two traits, and each is on another one. Then either of the two
# is a correction set by itself.


@dataclasses.dataclass(frozen=True)
class Rejection:
    """Why a host can't take the request.

    :ivar failing: clauses that it fails alone
    :ivar correction_sets: minimal sets of clauses to remove; each has all failing ones,
        and more if the rest can't be met together; see :func:`correction_sets`
    """

    failing: ClauseSet
    correction_sets: tuple[ClauseSet, ...]

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.failing, self.correction_sets))

    @functools.cached_property
    def involved(self) -> ClauseSet:
        """Clauses of all correction sets."""
        return functools.reduce(ClauseSet.__or__, self.correction_sets)

    @property
    def distance(self) -> int:
        """Smallest number of clauses to remove."""
        return min(map(len, self.correction_sets))


class Rejections(Mapping[str, Rejection]):
    """Rejections by root UUID, in the order of the hosts; each is kept once.

    :ivar groups: rejections with their hosts as bits, by the first host
    :ivar hosts: all of them
    """

    def __init__(self, host_bits: HostBits, found: Mapping[Rejection, int]) -> None:
        having = ((each, hosts) for each, hosts in found.items() if hosts)
        self.groups = sorted(having, key=lambda group: group[1] & -group[1])
        self.hosts = sum(hosts for _, hosts in self.groups)
        self._bits = host_bits

    def __getitem__(self, root: str) -> Rejection:
        for each, hosts in self.groups:
            if self._bits.has(hosts, root):
                return each
        raise KeyError(root)

    @property
    def others(self) -> frozenset[str]:
        """Roots of the other hosts."""
        return self._bits.kept(self._bits.every & ~self.hosts)

    def __contains__(self, root: object) -> bool:
        return isinstance(root, str) and self._bits.has(self.hosts, root)

    def __iter__(self) -> Iterator[str]:
        return self._bits.roots(self.hosts)

    def __len__(self) -> int:
        return size(self.hosts)

    def roots(self, hosts: int) -> list[str]:
        """Hosts of a group."""
        return [*self._bits.roots(hosts)]

    def items(self) -> ItemsView[str, Rejection]:
        """Found at once, not one by one."""
        by_root = {
            root: each for each, hosts in self.groups for root in self.roots(hosts)
        }
        return {root: by_root[root] for root in self}.items()

    def values(self) -> ValuesView[Rejection]:
        """Found at once, too."""
        return dict(self.items()).values()


@dataclasses.dataclass(frozen=True)
class ClauseCount:
    """Numbers of hosts for one clause.

    :ivar alone: hosts that meet it
    :ivar only: hosts that fail nothing else
    :ivar left: hosts that meet it and all earlier clauses together
    """

    clause: Condition
    alone: int
    only: int
    left: int


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The matcher's result for every host, compared with Placement's answer.

    :ivar matcher: of the clauses that hosts are matched with
    :ivar rejections: by root UUID, of the query that the host is nearer to; other hosts
        are candidates
    :ivar admitted_otherwise: why hosts fail the clauses although the fallback query
        admits them; by root UUID
    :ivar admitted: hosts that meet Placement's clauses, as bits
    :ivar wrongly_admitted: roots that match, but that Placement did not return
    :ivar wrongly_rejected: roots that Placement returned, but that do not match
    """

    matcher: Matcher
    rejections: Rejections
    admitted_otherwise: Mapping[str, Rejection]
    admitted: int
    wrongly_admitted: tuple[str, ...]
    wrongly_rejected: tuple[str, ...]

    @property
    def clauses(self) -> tuple[Condition, ...]:
        """Clauses of the matcher."""
        return self.matcher.clauses

    @functools.cached_property
    def counts(self) -> tuple[ClauseCount, ...]:
        """Numbers of hosts by clause, in the request's order."""
        return _counts(self.matcher, self.rejections)

    @functools.cached_property
    def conflicts(self) -> tuple[ClauseSet, ...]:
        """Minimal sets of clauses that no host meets together, smallest first.

        Empty if candidates exist.
        """
        every, hosts = self.matcher.facts.snapshot.bits.every, self.rejections.hosts
        is_each = bool(every) and hosts == every
        return _conflicts(self.clauses, self.rejections) if is_each else ()

    @property
    def agrees(self) -> bool:
        """Whether matcher and Placement agree on every host."""
        return not self.wrongly_admitted and not self.wrongly_rejected


def evaluate(
    matcher: Matcher,
    facts: Facts,
    other: Matcher | None = None,
    is_answered: bool = True,
) -> Verdict:
    """Match every host, and compare with Placement's answer.

    :param other: matcher of the fallback query; its hosts are candidates too
    :param is_answered: False if Placement was not asked
    """
    host_bits = facts.snapshot.bits
    found = _rejections(matcher)
    admitted = matcher.meeting(matcher.of_placement)
    otherwise = 0
    if other is not None:
        rejected = host_bits.every & ~matcher.meeting(matcher.everything)
        otherwise = rejected & other.meeting(other.everything)
        found = _nearer(matcher.clauses, found, _rejections(other))
        admitted |= other.meeting(other.of_placement)
    left = {each: hosts & ~otherwise for each, hosts in found.items()}
    rejections = Rejections(host_bits, left)
    placed = host_bits.of(facts.candidates) if is_answered else 0
    odd = admitted & ~placed if is_answered else 0
    return Verdict(
        # Without what it has found, if many requests are judged on one reading.
        matcher if is_answered else matcher.fresh(),
        rejections,
        dict(Rejections(host_bits, {e: h & otherwise for e, h in found.items()})),
        admitted,
        tuple(sorted(host_bits.roots(odd))),
        tuple(sorted(host_bits.roots(placed & ~admitted))),
    )


def _rejections(matcher: Matcher) -> dict[Rejection, int]:
    """Hosts, as bits, by the reason why they can't take the request."""
    found: dict[Rejection, int] = {}
    for mask, hosts in matcher.single:
        if mask:
            failing = ClauseSet(matcher.clauses, mask)
            found[Rejection(failing, (failing,))] = hosts
    for host, hosts in matcher.others.items():
        reason = rejection(matcher, host)
        if reason is not None:
            found[reason] = found.get(reason, 0) | hosts
    return found


def _nearer(
    clauses: tuple[Condition, ...],
    found: dict[Rejection, int],
    others: Mapping[Rejection, int],
) -> dict[Rejection, int]:
    """Hosts by the reason of the query that they are nearer to.

    :param clauses: of the first query
    :param others: by the reasons of the other query
    """
    for reason, hosts in others.items():
        same = _with_clauses(clauses, reason)
        if same is None:
            continue
        moved = 0
        for own, failing in found.items():
            moved |= failing & hosts if same.distance < own.distance else 0
        if moved:
            found = {own: failing & ~moved for own, failing in found.items()}
            found[same] = found.get(same, 0) | moved
    return found


def _with_clauses(
    clauses: tuple[Condition, ...], reason: Rejection
) -> Rejection | None:
    """The reason in clauses of the other query; None if that lacks one of them."""
    if not all(clause in clauses for clause in reason.involved):
        return None

    def same(found: ClauseSet) -> ClauseSet:
        return ClauseSet(clauses, sum(1 << clauses.index(each) for each in found))

    return Rejection(same(reason.failing), tuple(map(same, reason.correction_sets)))


def grouped_rejections(
    verdict: Verdict, hosts: Iterable[Provider]
) -> list[tuple[Rejection, list[Provider]]]:
    """Rejected hosts with equal reasons, nearest first."""
    by_root = {host.uuid: host for host in hosts}
    groups = (
        (each, [by_root[r] for r in verdict.rejections.roots(roots) if r in by_root])
        for each, roots in verdict.rejections.groups
    )
    return sorted(
        (group for group in groups if group[1]),
        key=lambda group: (group[0].distance, -len(group[1])),
    )


def rejection(matcher: Matcher, host: Host) -> Rejection | None:
    """Why a host can't take the request, or None."""
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


class Reasons:
    """Why single hosts fail requests; equal requests are matched by one matcher."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._matchers: dict[object, Matcher] = {}

    def of(self, request: Request, root: str) -> Rejection | None:
        """Why a host, by its root's UUID, fails one query; None if it does not."""
        key = request.clauses, request.group_policy, request.same_subtree
        if key not in self._matchers:
            self._matchers[key] = Matcher.of(request, self._facts)
        matcher = self._matchers[key]
        return rejection(matcher, matcher.host(root))


def _conflicts(
    clauses: tuple[Condition, ...], rejections: Rejections
) -> tuple[ClauseSet, ...]:
    groups = rejections.groups
    found = {each.mask for one, _ in groups for each in one.correction_sets}
    return tuple(ClauseSet(clauses, mask) for mask in hitting_sets(found))


def _counts(matcher: Matcher, rejections: Rejections) -> tuple[ClauseCount, ...]:
    only = collections.Counter[Mask]()
    for one, hosts in rejections.groups:
        for each in one.correction_sets:
            only[each.mask] += size(hosts)
    return tuple(
        ClauseCount(
            clause,
            alone=size(matcher.meeting(1 << number)),
            only=only[1 << number],
            left=size(matcher.meeting((2 << number) - 1)),
        )
        for number, clause in enumerate(matcher.clauses)
    )
