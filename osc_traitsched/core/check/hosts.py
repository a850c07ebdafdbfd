"""Hosts by trait, size and isolated aggregate."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Union

from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.inventory.metadata import (
    Collation,
    isolating_keys,
    key_of,
    trait_in,
)
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import capacity
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import Matcher, amounts

# Which hosts could ever take a request, whatever is free on them now.


Condition = Union[Resource, Trait, RootTrait]

_NO_HOSTS: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class _Kinds:
    """Hosts by kinds: those of one kind are alike in all that decides.

    :ivar facts: of one host of each kind, without what they can give
    :ivar alike: the roots of all hosts of a kind, by the root of that one
    """

    facts: Facts
    alike: Mapping[str, frozenset[str]]

    def matching_hosts(
        self, conditions: tuple[Condition, ...], group_policy: str | None
    ) -> frozenset[str]:
        """The roots of the hosts that could meet all conditions together."""
        providers, stock = self.facts.snapshot.by_uuid, self.facts.stock
        offers = {
            amount: capacity.givers(amount, providers, stock)
            for amount in amounts(conditions)
        }
        facts = dataclasses.replace(self.facts, offers=offers)
        matcher = Matcher(conditions, group_policy, facts)
        found = (
            alike
            for root, alike in self.alike.items()
            if matcher.meets(matcher.host(root), matcher.everything)
        )
        return _NO_HOSTS.union(*found)


class Hosts:
    """All hosts of a survey; those that are alike are judged once.

    :param names: the traits that most requests name; others cost some time
    """

    def __init__(self, survey: Survey, names: frozenset[str]) -> None:
        self._names = names
        self._facts = Facts(
            snapshot=survey.snapshot,
            traits=survey.traits,
            offers={},
            members={},
            shared=survey.shared,
            stock=survey.stock,
            candidates=_NO_HOSTS,
            limits=capacity.limits(survey.stock),
        )
        self._kinds = functools.cache(functools.partial(_kinds, self._facts))
        self._meeting = functools.cache(self._judge)

    def matching_hosts(self, request: Request) -> frozenset[str]:
        """The roots of the hosts that could take a request, by any query.

        What is in use does not count; what Placement would refuse for its units
        does not either. So a host that is not among them never can.
        """
        found = self.meeting(request.clauses, request.group_policy)
        if request.fallback is None:
            return found
        return found | self.matching_hosts(request.fallback)

    def meeting(
        self, clauses: Iterable[Clause], group_policy: str | None = None
    ) -> frozenset[str]:
        """The roots of the hosts that could meet all clauses together.

        Which aggregates they are in does not count, and where a clause comes from
        makes no difference.
        """
        conditions = (c for c in clauses if not isinstance(c, MemberOf))
        plain = tuple(dataclasses.replace(c, origins=()) for c in conditions)
        return self._meeting(plain, group_policy)

    def having(self, name: str) -> frozenset[str]:
        """The roots of the hosts of which a provider has a trait."""
        return self.meeting([Trait("", name, False, ())])

    def _judge(
        self, conditions: tuple[Condition, ...], group_policy: str | None
    ) -> frozenset[str]:
        named = {c.name for c in conditions if not isinstance(c, Resource)}
        return self._kinds(self._names | named).matching_hosts(conditions, group_policy)


def _kinds(facts: Facts, names: frozenset[str]) -> _Kinds:
    """Tell hosts apart by these traits, and by what they can give."""
    alike: dict[object, list[str]] = {}
    for host in facts.snapshot.hosts:
        providers = []
        for uuid in facts.reachable(host.uuid):
            traits = facts.traits.get(uuid, frozenset()) & names
            providers.append((traits, capacity.sizes(facts.stock.get(uuid))))
        alike.setdefault(tuple(providers), []).append(host.uuid)
    first = {roots[0]: frozenset(roots) for roots in alike.values()}
    return _Kinds(_only(facts, first), first)


def _only(facts: Facts, roots: Iterable[str]) -> Facts:
    """The facts of some hosts alone."""
    kept = {uuid for root in roots for uuid in facts.reachable(root)}
    providers = tuple(p for p in facts.snapshot.providers if p.uuid in kept)
    snapshot = dataclasses.replace(facts.snapshot, providers=providers)
    return dataclasses.replace(facts, snapshot=snapshot)


# Which aggregates isolate their hosts, and from which requests.


@dataclasses.dataclass(frozen=True)
class Isolated:
    """An aggregate that is left out unless a request requires its traits.

    :ivar keys: of its metadata, those that say so
    :ivar collation: how the database compares them
    """

    uuid: str
    name: str
    keys: tuple[str, ...]
    collation: Collation = Collation.CASE_INSENSITIVE

    @property
    def traits(self) -> frozenset[str]:
        """The traits in the keys."""
        return frozenset(trait_in(key, self.collation) for key in self.keys)

    @property
    def folded(self) -> frozenset[str]:
        """The keys, as the database compares them."""
        return frozenset(map(self.collation.folded, self.keys))

    def is_open_to(self, traits: Iterable[str]) -> bool:
        """Whether a request that requires the traits gets in.

        The database compares whole keys: where case counts, nobody requires what a key
        in other letters than ``trait:`` names.
        """
        asked = {self.collation.folded(key_of(name)) for name in traits}
        return asked.issuperset(self.folded)


def isolated(aggregates: Iterable[Body], collation: Collation) -> tuple[Isolated, ...]:
    """The aggregates that a request without traits is kept out of, by name.

    That is so where isolation is on.
    """
    found = (
        Isolated(body["uuid"], str(body["name"]), keys, collation)
        for body in aggregates
        if (keys := isolating_keys(body["metadata"], collation))
    )
    return tuple(sorted(found, key=lambda each: (each.name, each.uuid)))
