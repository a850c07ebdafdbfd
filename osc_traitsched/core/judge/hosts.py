"""The hosts that match requests, without reasons: for many requests at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import (
    Clause,
    MemberOf,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import DEDICATED, Facts
from osc_traitsched.core.placement.matcher import Matcher


def matching_hosts(
    request: Request, facts: Facts, among: Iterable[Provider] | None = None
) -> set[str]:
    """Roots of the hosts that can take a request by one of its queries."""
    if among is None:
        return {*facts.snapshot.bits.roots(matching(request, facts))}
    found: set[str] = set()
    for each in filter(None, (request, request.fallback)):
        matcher = Matcher.of(each, facts)
        for host, roots in matcher.of_some(among).items():
            if matcher.meets(host, matcher.everything):
                found.update(roots)
    return found - short_of_dedicated(request, facts)


# Servers that are pinned to dedicated CPUs.


def dedicated(request: Request, facts: Facts) -> Iterator[tuple[str, Resource, int]]:
    """Hosts with dedicated CPUs: root, what a pinned server needs, and how many in all.

    Nothing if Nova makes no fallback query, which asks them for VCPU instead.
    """
    others = request.fallback.clauses if request.fallback else request.clauses
    pinned = [c for c in request.clauses if isinstance(c, Resource) and c not in others]
    for clause in pinned:
        if clause.resource_class == DEDICATED:
            for root, number in facts.dedicated.items():
                yield root, clause, number


def short_of_dedicated(request: Request, facts: Facts) -> frozenset[str]:
    """Roots of hosts with too few dedicated CPUs in all, whatever VCPU they have."""
    every = dedicated(request, facts)
    return frozenset(root for root, wanted, found in every if found < wanted.amount)


def most_pinned(request: Request, facts: Facts) -> dict[str, int]:
    """How many servers hosts could pin to their dedicated CPUs in all, by root."""
    every = dedicated(request, facts)
    return {root: number // wanted.amount for root, wanted, number in every}


def matching(request: Request, facts: Facts) -> int:
    """All hosts that can take a request by one of its queries, as bits."""
    found = 0
    for each in filter(None, (request, request.fallback)):
        matcher = Matcher.of(each, facts)
        found |= matcher.meeting(matcher.everything)
    return found & ~facts.snapshot.bits.once(short_of_dedicated(request, facts))


# Many requests and many hosts: hosts that are alike in all that decides are one.


_Key = TypeVar("_Key")


def matching_all(
    requests: Mapping[_Key, Request], facts: Facts, among: Iterable[Provider]
) -> dict[_Key, frozenset[str]]:
    """Roots of the hosts that can take each request.

    :param facts: of these requests and little else, since every fact divides hosts
    :param among: only these hosts
    """
    alike = _alike(facts, traits_of(requests.values()), among)
    able = _Able(facts, [kind[0] for kind in alike])
    members = {kind[0].uuid: frozenset(host.uuid for host in kind) for kind in alike}
    # Many requests match the same hosts, and the set of them is kept once.
    known: dict[frozenset[str], frozenset[str]] = {}
    found = {}
    for key, request in requests.items():
        roots = able.matching(request)
        if roots not in known:
            every = (members[root] for root in roots)
            known[roots] = frozenset[str]().union(*every)
        short = short_of_dedicated(request, facts)
        found[key] = known[roots] - short if short else known[roots]
    return found


class _Able:
    """Hosts by single clauses, to leave out most hosts before they are matched.

    A host that fails a clause alone can't match. A single provider that meets each
    clause meets them together, unless groups share its capacity.
    """

    def __init__(self, facts: Facts, hosts: Iterable[Provider]) -> None:
        self._facts = facts
        self._hosts = {host.uuid: host for host in hosts}
        self._every = frozenset(self._hosts)
        self._single = frozenset(
            root for root in self._hosts if len(facts.reachable(root)) == 1
        )
        self._known: dict[object, frozenset[str]] = {}

    def matching(self, request: Request) -> frozenset[str]:
        both = filter(None, (request, request.fallback))
        return frozenset[str]().union(*map(self._matching, both))

    def _matching(self, query: Request) -> frozenset[str]:
        able = self._every.intersection(*map(self._by, query.clauses))
        sure = frozenset() if any(query.groups) else able & self._single
        if sure == able:
            return able
        tried = [self._hosts[root] for root in able - sure]
        alone = dataclasses.replace(query, fallback=None)
        return sure.union(matching_hosts(alone, self._facts, tried))

    def _by(self, clause: Clause) -> frozenset[str]:
        """A forbidden trait excludes a host only if all its providers have it."""
        forbidden = not isinstance(clause, Resource) and clause.forbidden
        key = _what(clause), forbidden
        if key not in self._known:
            having = frozenset(
                root
                for root in self._hosts
                if any(self._has(u, clause) for u in self._facts.reachable(root))
            )
            barred = having & self._single
            self._known[key] = self._every - barred if forbidden else having
        return self._known[key]

    def _has(self, uuid: str, clause: Clause) -> bool:
        if isinstance(clause, Resource):
            amount = (clause.resource_class, clause.amount)
            return uuid in self._facts.offers[amount]
        if isinstance(clause, MemberOf):
            return uuid in self._facts.members[clause.aggregates]
        return clause.name in self._facts.traits.get(uuid, ())


def _what(clause: Clause) -> object:
    if isinstance(clause, Resource):
        return clause.resource_class, clause.amount
    return clause.aggregates if isinstance(clause, MemberOf) else clause.name


def traits_of(requests: Iterable[Request]) -> frozenset[str]:
    """Names of the traits that requests require or forbid."""
    both = (each for one in requests for each in (one, one.fallback) if each)
    clauses = (clause for each in both for clause in each.clauses)
    return frozenset(c.name for c in clauses if isinstance(c, (Trait, RootTrait)))


def _alike(
    facts: Facts, names: frozenset[str], among: Iterable[Provider]
) -> list[Sequence[Provider]]:
    sets = {*facts.offers.values(), *facts.members.values()}
    limits = tuple(facts.limits.values())
    by_uuid, nothing = facts.snapshot.by_uuid, frozenset[str]()

    def kind(uuid: str, host: str) -> object:
        return (
            facts.traits.get(uuid, nothing) & names,
            tuple([uuid in each for each in sets]),
            tuple([most.get(uuid) for most in limits]),
            by_uuid[uuid].root == host,
        )

    kinds: dict[object, list[Provider]] = {}
    for host in among:
        providers = facts.reachable(host.uuid)
        found = tuple([kind(uuid, host.uuid) for uuid in providers])
        kinds.setdefault(found, []).append(host)
    return list(kinds.values())
