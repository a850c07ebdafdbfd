"""Which hosts could ever take a request, whatever is free on them now."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Union

from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Amount, Facts, Stock
from osc_traitsched.core.placement.matcher import Matcher

Condition = Union[Resource, Trait, RootTrait]

_NOBODY: frozenset[str] = frozenset()


class _Offers(dict[Amount, frozenset[str]]):
    """Who can give an amount at all, worked out when it is asked for.

    A provider whose figures were not read may be able to give anything.
    """

    def __init__(
        self, uuids: Iterable[str], stock: Mapping[str, Mapping[str, Stock]]
    ) -> None:
        super().__init__()
        self._uuids = tuple(uuids)
        self._stock = stock

    def __missing__(self, amount: Amount) -> frozenset[str]:
        name, wanted = amount
        able = set()
        for uuid in self._uuids:
            known = self._stock.get(uuid)
            if known is None or (name in known and known[name].capacity >= wanted):
                able.add(uuid)
        self[amount] = frozenset(able)
        return self[amount]


class Hosts:
    """All hosts, those that are alike in all that decides judged as one.

    :param names: the traits that most requests name; others cost some time
    :ivar judged: how many pairs of a request and a kind of host were judged
    """

    def __init__(self, survey: Survey, names: frozenset[str]) -> None:
        self._facts = Facts(
            snapshot=survey.snapshot,
            traits=survey.traits,
            offers={},
            members={},
            shared=survey.shared,
            stock=survey.stock,
            candidates=_NOBODY,
        )
        self._memory: dict[object, frozenset[str]] = {}
        self.judged = 0
        self._tell_apart(names)

    def _tell_apart(self, names: frozenset[str]) -> None:
        """Group the hosts anew, by these traits."""
        facts = self._facts
        self._names = names
        self.kinds = _kinds(facts, names)
        asked = {uuid for root in self.kinds for uuid in facts.reachable(root)}
        offers = _Offers(sorted(asked), facts.stock)
        self._facts = dataclasses.replace(facts, offers=offers)

    def matching_hosts(self, request: Request) -> frozenset[str]:
        """Return the roots of the hosts that could take a request, by any query.

        What is in use does not count; what Placement would refuse for its units
        does not either. So a host that is not among them never can.
        """
        found = self.meeting(request.clauses, request.group_policy)
        return (
            found | self.matching_hosts(request.fallback) if request.fallback else found
        )

    def meeting(
        self, clauses: Iterable[Clause], group_policy: str | None = None
    ) -> frozenset[str]:
        """Return the roots of the hosts that could meet all clauses together.

        Which aggregates they are in does not count.
        """
        conditions = [c for c in clauses if not isinstance(c, MemberOf)]
        key = (group_policy, frozenset(map(_condition, conditions)))
        if key not in self._memory:
            more = {c.name for c in conditions if not isinstance(c, Resource)}
            if not more <= self._names:
                self._tell_apart(self._names | more)
            matcher = Matcher(conditions, group_policy, self._facts)
            self.judged += len(self.kinds)
            able = (
                alike
                for root, alike in self.kinds.items()
                if matcher.meets(matcher.host(root), matcher.everything)
            )
            self._memory[key] = _NOBODY.union(*able)
        return self._memory[key]

    def having(self, name: str) -> frozenset[str]:
        """Return the roots of the hosts of which a provider has a trait."""
        return self.meeting([Trait("", name, False, ())])


def _condition(clause: Condition) -> object:
    """Return a clause without its origins."""
    if isinstance(clause, Resource):
        return clause.group, clause.resource_class, clause.amount
    group = clause.group if isinstance(clause, Trait) else None
    return group, clause.name, clause.forbidden


def _kinds(facts: Facts, names: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return for one host of each kind the roots of all that are like it."""
    alike: dict[object, list[str]] = {}
    for host in facts.snapshot.hosts:
        providers = []
        for uuid in facts.reachable(host.uuid):
            traits = facts.traits.get(uuid, _NOBODY) & names
            providers.append((traits, _figures(facts.stock.get(uuid))))
        alike.setdefault(tuple(providers), []).append(host.uuid)
    return {roots[0]: frozenset(roots) for roots in alike.values()}


def _figures(stock: Mapping[str, Stock] | None) -> frozenset[tuple[str, int]] | None:
    if stock is None:
        return None
    return frozenset((name, each.capacity) for name, each in stock.items())
