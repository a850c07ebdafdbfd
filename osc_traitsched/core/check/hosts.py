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
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import is_custom
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import capacity
from osc_traitsched.core.placement.facts import Facts, Stock
from osc_traitsched.core.placement.matcher import Matcher, amounts

# Hosts that could ever take a request, independent of use.


Condition = Union[Resource, Trait, RootTrait]

_NO_HOSTS: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class _Kinds:
    """Groups of equal hosts.

    :ivar facts: of one host for each group, without offers
    :ivar alike: roots of all hosts of a group, by the root of that host
    :ivar bare_metal: roots of Ironic's nodes, which give a custom class alone
        (nova/virt/ironic/driver.py, ``update_provider_tree``)
    """

    facts: Facts
    alike: Mapping[str, frozenset[str]]
    bare_metal: frozenset[str]

    def matching_hosts(
        self, conditions: tuple[Condition, ...], group_policy: str | None
    ) -> frozenset[str]:
        providers, stock = self.facts.snapshot.by_uuid, self.facts.stock
        offers = {
            amount: capacity.givers(amount, providers, stock)
            - (_NO_HOSTS if is_custom(amount[0]) else self.bare_metal)
            for amount in amounts(conditions)
        }
        facts = dataclasses.replace(self.facts, offers=offers)
        request = Request((), group_policy, None, "")
        matcher = Matcher.of(request, facts, conditions)
        found = (
            alike
            for root, alike in self.alike.items()
            if matcher.meets(matcher.host(root), matcher.everything)
        )
        return _NO_HOSTS.union(*found)


class Hosts:
    """All hosts of a survey; equal hosts are judged once.

    :param names: traits of most requests; others are slower
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
        self._bare_metal = frozenset(survey.nova.ironic)
        self._kinds = functools.cache(
            functools.partial(_kinds, self._facts, self._bare_metal)
        )
        self._meeting = functools.cache(self._judge)

    def matching_hosts(self, request: Request) -> frozenset[str]:
        """Roots of hosts that could take a request, by either query, if empty."""
        found = self.meeting(request.clauses, request.group_policy)
        if request.fallback is None:
            return found
        return found | self.matching_hosts(request.fallback)

    def meeting(
        self, clauses: Iterable[Clause], group_policy: str | None = None
    ) -> frozenset[str]:
        """Roots of hosts that could meet all clauses together, aggregates aside."""
        conditions = (c for c in clauses if not isinstance(c, MemberOf))
        plain = tuple(dataclasses.replace(c, origins=()) for c in conditions)
        return self._meeting(plain, group_policy)

    def giving(self, amount: Resource, request: Request) -> frozenset[str]:
        """Roots of hosts that could give an amount of a request.

        An Ironic node may have the class, and takes no request for another's.
        """
        classes = (c.resource_class for c in request.clauses if isinstance(c, Resource))
        is_virtual = not all(map(is_custom, classes))
        return self.meeting([amount]) - (self._bare_metal if is_virtual else _NO_HOSTS)

    def having(self, name: str) -> frozenset[str]:
        """Roots of hosts with a provider that has the trait."""
        return self.meeting([Trait("", name, False, ())])

    def _judge(
        self, conditions: tuple[Condition, ...], group_policy: str | None
    ) -> frozenset[str]:
        named = {c.name for c in conditions if not isinstance(c, Resource)}
        return self._kinds(self._names | named).matching_hosts(conditions, group_policy)


def _kinds(facts: Facts, bare_metal: frozenset[str], names: frozenset[str]) -> _Kinds:
    alike: dict[object, list[str]] = {}
    for host in facts.snapshot.hosts:
        providers = []
        for uuid in facts.reachable(host.uuid):
            traits = facts.traits.get(uuid, frozenset()) & names
            sizes = _sizes(facts.stock.get(uuid))
            providers.append((traits, sizes, uuid in bare_metal))
        alike.setdefault(tuple(providers), []).append(host.uuid)
    first = {roots[0]: frozenset(roots) for roots in alike.values()}
    return _Kinds(_only(facts, first), first, bare_metal)


def _sizes(stock: Mapping[str, Stock] | None) -> object:
    if stock is None:
        return None
    return frozenset(
        (name, each.capacity, each.min_unit, each.max_unit, each.step_size)
        for name, each in stock.items()
    )


def _only(facts: Facts, roots: Iterable[str]) -> Facts:
    kept = {uuid for root in roots for uuid in facts.reachable(root)}
    providers = tuple(p for p in facts.snapshot.providers if p.uuid in kept)
    snapshot = dataclasses.replace(facts.snapshot, providers=providers)
    return dataclasses.replace(facts, snapshot=snapshot)


# Aggregates that isolate their hosts.


@dataclasses.dataclass(frozen=True)
class Isolated:
    """An aggregate that is closed unless a request requires its traits.

    :ivar keys: metadata keys that isolate it
    :ivar collation: how the database compares keys
    """

    uuid: str
    id: str
    name: str
    keys: tuple[str, ...]
    collation: Collation = Collation.CASE_INSENSITIVE

    @property
    def traits(self) -> frozenset[str]:
        """The traits in the keys."""
        return frozenset(trait_in(key, self.collation) for key in self.keys)

    @property
    def folded(self) -> frozenset[str]:
        """The keys in the form that the database compares."""
        return frozenset(map(self.collation.folded, self.keys))

    def is_open_to(self, traits: Iterable[str]) -> bool:
        """Whether a request that requires these traits gets in.

        The database compares whole keys: if it is case-sensitive, no request matches a
        key that does not start with lower-case ``trait:``.
        """
        asked = {self.collation.folded(key_of(name)) for name in traits}
        return asked.issuperset(self.folded)


def isolated(
    aggregates: Iterable[Aggregate], collation: Collation
) -> tuple[Isolated, ...]:
    """Aggregates, by name, that isolation closes to requests without traits."""
    found = (
        Isolated(each.uuid, each.id, each.name, keys, collation)
        for each in aggregates
        if (keys := isolating_keys(each.metadata, collation))
    )
    return tuple(sorted(found, key=lambda each: (each.name, each.uuid)))
