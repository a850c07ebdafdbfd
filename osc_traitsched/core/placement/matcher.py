"""Whether one host can meet a set of clauses, by Placement's rules.

A tree of one provider meets clauses one by one. In a larger tree, or with
shared providers, clauses can each be met and yet not together; then the
possible placements are tried, as Placement does.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import Clause, MemberOf, Resource, RootTrait, Trait
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Amount, Facts

#: A set of clauses as bits: clause number n of the request is ``1 << n``.
Mask = int

#: What one group takes: pairs of a provider's place in the host and an amount.
_Pick = tuple[tuple[int, Amount], ...]


@dataclasses.dataclass(frozen=True)
class Offer:
    """What one provider is good for, in one host's tree.

    :ivar traits: those of the request's trait names that it has
    :ivar amounts: the amounts that it can give, of those that can be asked
    :ivar inside: the member_of clauses that it meets by itself
    :ivar is_shared: it is of another tree, and shared with this one
    """

    traits: frozenset[str]
    amounts: frozenset[Amount]
    inside: Mask
    is_shared: bool = False


@dataclasses.dataclass(frozen=True)
class Host:
    """All that decides about a host; equal hosts get equal verdicts.

    :ivar root: the root's traits, of those that the request names
    :ivar offers: of the root, the rest of the tree, and what is shared with it
    """

    root: frozenset[str]
    offers: tuple[Offer, ...]


class Matcher:
    """Says of hosts which of one request's clauses they can meet together.

    :param group_policy: ``isolate`` keeps suffixed groups on different providers
    """

    def __init__(
        self, clauses: Sequence[Clause], group_policy: str | None, facts: Facts
    ) -> None:
        self.clauses = tuple(clauses)
        self.everything: Mask = (1 << len(self.clauses)) - 1
        self._isolate = group_policy == "isolate"
        self.facts = facts
        self._names = frozenset(
            c.name for c in self.clauses if isinstance(c, (Trait, RootTrait))
        )
        self._amounts = amounts(self.clauses)
        self._outside, self._within = _member_of(self.clauses)
        self._memory: dict[tuple[Host, Mask], bool] = {}

    def chosen(self, mask: Mask) -> tuple[Clause, ...]:
        """Return the clauses of a set."""
        return tuple(c for n, c in enumerate(self.clauses) if mask >> n & 1)

    def joined(self, inside: Mask, aggregate: str) -> Mask:
        """Return the member_of clauses that are met in one more aggregate."""
        for number, clause in enumerate(self.clauses):
            if isinstance(clause, MemberOf) and aggregate in clause.aggregates:
                bit = 1 << number
                inside = inside & ~bit if clause.forbidden else inside | bit
        return inside

    def host(self, root: str) -> Host:
        """Return what decides about the host with this root provider."""
        traits = self.facts.traits.get(root, frozenset()) & self._names
        uuids = self.facts.reachable(root)
        return Host(traits, tuple(self._offer(uuid, root) for uuid in uuids))

    def meets(self, host: Host, mask: Mask) -> bool:
        """Tell whether a host meets all the clauses of a set together."""
        if (host, mask) not in self._memory:
            self._memory[host, mask] = self._try(host, mask)
        return self._memory[host, mask]

    def _offer(self, uuid: str, root: str) -> Offer:
        inside = 0
        for number, clause in enumerate(self.clauses):
            if isinstance(clause, MemberOf):
                is_in = uuid in self.facts.members[clause.aggregates]
                if is_in is not clause.forbidden:
                    inside |= 1 << number
        return Offer(
            self.facts.traits.get(uuid, frozenset()) & self._names,
            frozenset(a for a in self._amounts if uuid in self.facts.offers[a]),
            inside,
            is_shared=self.facts.snapshot.by_uuid[uuid].root != root,
        )

    def _try(self, host: Host, mask: Mask) -> bool:
        numbered = [(n, c) for n, c in enumerate(self.clauses) if mask >> n & 1]
        if any(
            (clause.name in host.root) is clause.forbidden
            for _, clause in numbered
            if isinstance(clause, RootTrait)
        ):
            return False
        groups = _groups(clause for _, clause in numbered)
        if any(isinstance(clause, MemberOf) for _, clause in numbered):
            groups.setdefault("", _Group())
        ordered = sorted(groups.items())
        usable = self._usable(host, mask)
        picks = [
            list(_alone(group, host) if name else _together(group, host, usable))
            for name, group in ordered
        ]
        suffixed = [bool(name) for name, _ in ordered]
        return self._serve(host, picks, suffixed, {}, frozenset())

    def _usable(self, host: Host, mask: Mask) -> list[int]:
        """Return the places of the providers that member_of lets the host use.

        An aggregate of the root spans its whole tree: one of the two has to be in
        all that are required, neither in one that is forbidden
        (placement/objects/rp_candidates.py, ``filter_by_rp_or_tree``). What is
        shared with the tree has to be in the required ones by itself
        (research_context.py, ``get_rps_with_shared_capacity``), and is not used where
        one tree alone is asked for (``get_trees_matching_all``).
        """
        root = host.offers[0].inside
        outside, within = mask & self._outside, mask & self._within
        return [
            number
            for number, offer in enumerate(host.offers)
            if not (offer.is_shared and self.facts.snapshot.is_in_tree)
            and not outside & ~(offer.inside & root)
            and (
                not within & ~offer.inside
                or (not offer.is_shared and not within & ~root)
            )
        ]

    def _serve(
        self,
        host: Host,
        picks: Sequence[Sequence[_Pick]],
        suffixed: Sequence[bool],
        taken: Mapping[tuple[int, str], int],
        places: frozenset[int],
    ) -> bool:
        """Tell whether the groups can be served one after the other.

        :param taken: what the groups before take of each provider
        :param places: the providers that serve the suffixed groups before
        """
        if not picks:
            return True
        for pick in picks[0]:
            place = pick[0][0]
            if suffixed[0] and self._isolate and place in places:
                continue
            total = _taking(pick, taken)
            if _gives(host, total) and self._serve(
                host,
                picks[1:],
                suffixed[1:],
                total,
                places | {place} if suffixed[0] else places,
            ):
                return True
        return False


@dataclasses.dataclass
class _Group:
    """What one group asks for."""

    amounts: list[Amount] = dataclasses.field(default_factory=list)
    required: set[str] = dataclasses.field(default_factory=set)
    forbidden: set[str] = dataclasses.field(default_factory=set)


def _member_of(clauses: Sequence[Clause]) -> tuple[Mask, Mask]:
    """Return the clauses on forbidden aggregates, and those on required ones."""
    outside = within = 0
    for number, clause in enumerate(clauses):
        if isinstance(clause, MemberOf) and clause.forbidden:
            outside |= 1 << number
        elif isinstance(clause, MemberOf):
            within |= 1 << number
    return outside, within


def _groups(clauses: Iterable[Clause]) -> dict[str, _Group]:
    groups: dict[str, _Group] = collections.defaultdict(_Group)
    for clause in clauses:
        if isinstance(clause, Resource):
            amount = (clause.resource_class, clause.amount)
            groups[clause.group].amounts.append(amount)
        elif isinstance(clause, Trait):
            group = groups[clause.group]
            (group.forbidden if clause.forbidden else group.required).add(clause.name)
    return dict(groups)


def _together(group: _Group, host: Host, usable: Sequence[int]) -> Iterator[_Pick]:
    """Yield the ways to serve the unsuffixed group by providers at these places.

    Each amount can come from another provider; those used must have the
    required traits between them, and none of the forbidden ones
    (placement/objects/allocation_candidate.py,
    ``_alloc_candidates_multiple_providers``). Without any amount, which is no
    request that Placement would take, one provider has to meet the rest.
    """
    wanted = group.amounts or [_NOTHING]
    givers = [
        [n for n in usable if amount is _NOTHING or amount in host.offers[n].amounts]
        for amount in wanted
    ]
    for chosen in itertools.product(*givers):
        traits = [host.offers[n].traits for n in chosen]
        if group.required <= frozenset().union(*traits) and not any(
            group.forbidden & each for each in traits
        ):
            yield tuple(zip(chosen, wanted))


def _alone(group: _Group, host: Host) -> Iterator[_Pick]:
    """Yield the ways to serve a suffixed group: one provider for all of it."""
    for number, offer in enumerate(host.offers):
        if (
            group.required <= offer.traits
            and not group.forbidden & offer.traits
            and offer.amounts.issuperset(group.amounts)
        ):
            wanted = group.amounts or [_NOTHING]
            yield tuple((number, amount) for amount in wanted)


def _taking(
    pick: _Pick, taken: Mapping[tuple[int, str], int]
) -> dict[tuple[int, str], int]:
    total = dict(taken)
    for number, (resource_class, amount) in pick:
        key = (number, resource_class)
        total[key] = total.get(key, 0) + amount
    return total


def _gives(host: Host, taken: Mapping[tuple[int, str], int]) -> bool:
    """Tell whether each provider can give all that is taken from it at once."""
    return all(
        not amount or (resource_class, amount) in host.offers[number].amounts
        for (number, resource_class), amount in taken.items()
    )


_NOTHING: Amount = ("", 0)


def amounts(clauses: Iterable[Clause]) -> tuple[Amount, ...]:
    """Return every amount that can be asked of one provider.

    Those of the clauses, and the sums of what several groups ask of the same
    class, since one provider may have to serve them all.
    """
    asked: dict[str, list[int]] = {}
    for clause in clauses:
        if isinstance(clause, Resource):
            asked.setdefault(clause.resource_class, []).append(clause.amount)
    return tuple(
        sorted(
            (resource_class, total)
            for resource_class, each in asked.items()
            for total in _sums(each)
        )
    )


def _sums(parts: Sequence[int]) -> set[int]:
    sums = {0}
    for part in parts:
        sums |= {total + part for total in sums}
    return sums - {0}


def matching_hosts(
    request: Request, facts: Facts, among: Iterable[Provider] | None = None
) -> set[str]:
    """Return the roots of all hosts that can take a request, by one of its queries.

    :param among: only these hosts
    """
    hosts = facts.snapshot.hosts if among is None else tuple(among)
    found: set[str] = set()
    for each in filter(None, (request, request.fallback)):
        matcher = Matcher(each.clauses, each.group_policy, facts)
        for host in hosts:
            if matcher.meets(matcher.host(host.uuid), matcher.everything):
                found.add(host.uuid)
    return found
