"""Asks Placement for candidates, and for the facts behind them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.cloud import lookup, read, rest
from osc_traitsched.cloud.read import SHAPE, Bulk
from osc_traitsched.cloud.service import Service
from osc_traitsched.core import errors
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.nova.clause import Clause, MemberOf, RootTrait, Trait
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import facts, matcher
from osc_traitsched.core.placement.facts import Amount, Facts, PlacementAnswer, Stock
from osc_traitsched.core.placement.facts import roots_in_answer as given_roots
from osc_traitsched.core.placement.limits import demands, limits
from osc_traitsched.text import did_you_mean

# Asks Placement what nova-scheduler would ask: ``GET /allocation_candidates``.


#: What Placement gives for a query that was not sent.
NOTHING = PlacementAnswer(
    frozenset(), (0,), {"allocation_requests": [], "provider_summaries": {}}
)


def ask(
    placement: Service, request: Request, most: int | None = None
) -> PlacementAnswer:
    """Ask Placement what Nova would ask, but for the limit.

    With a dedicated CPU policy Nova asks a second time, and takes both answers.

    :param most: so many allocation requests of each query are enough; None for all
    :raises PlacementRefuses: if Placement rejects the request
    """
    answer = _answer(placement, request, most)
    if request.fallback is None:
        return answer
    second = _answer(placement, request.fallback, most)
    body = {
        "allocation_requests": answer.body["allocation_requests"]
        + second.body["allocation_requests"],
        "provider_summaries": {
            **second.body["provider_summaries"],
            **answer.body["provider_summaries"],
        },
    }
    counts = (*answer.counts, *second.counts)
    return PlacementAnswer(answer.roots | second.roots, counts, body)


def given_alone(
    placement: Service, request: Request, roots: Iterable[str]
) -> frozenset[str]:
    """The roots that Placement gives if it is asked for their trees.

    One query for each, two for a pinned server. A request whose amounts are all of
    groups with a suffix can't be asked for a tree.
    """
    found: set[str] = set()
    for root in roots:
        try:
            answer = ask(placement, _in_tree(request, root))
        except errors.PlacementRefuses:
            break
        found |= answer.roots & {root}
    return frozenset(found)


def _in_tree(request: Request, root: str) -> Request:
    second = request.fallback and _in_tree(request.fallback, root)
    return dataclasses.replace(request, in_tree=root, fallback=second)


_NO_CLASS = re.compile(r"No such resource class (\w+)\.$")


@contextlib.contextmanager
def refusals(placement: Service) -> Iterator[None]:
    """Raise PlacementRefuses where Placement says that a request can't be."""
    try:
        yield
    except errors.CloudBroke as exc:
        if exc.status == 400:
            reason = exc.reason
            if unknown := _NO_CLASS.search(reason):
                near = trait.nearest(unknown[1], read.known_classes(placement))
                reason = f"{reason[:-1]}{did_you_mean(near)}" if near else reason
            raise errors.PlacementRefuses(reason) from exc
        raise


def _answer(placement: Service, request: Request, most: int | None) -> PlacementAnswer:
    query = dataclasses.replace(request, limit=most).query()
    path = f"/allocation_candidates?{query}"
    with refusals(placement):
        body = rest.get(placement, path, SHAPE, microversion=request.microversion)
    roots = frozenset(
        summary["root_provider_uuid"] for summary in body["provider_summaries"].values()
    )
    return PlacementAnswer(roots, (len(body["allocation_requests"]),), body)


# Reads what explains Placement's answer: the facts that hosts are matched by.


#: The first that knows the query; later ones add links to each provider.
_SHORT_ANSWER = "1.4"

#: At most this many providers are read one at a time.
MOST_READ_ONE_BY_ONE = 25

_INVENTORIES: rest.Shape = {
    "inventories": {
        str: {
            "total": int,
            "reserved": int,
            "allocation_ratio": rest.NUMBER,
            "min_unit": int,
            "max_unit": int,
            "step_size": int,
        }
    }
}
_ALLOCATIONS: rest.Shape = {"allocations": {str: {"resources": {str: int}}}}
_USAGES: rest.Shape = {"usages": {str: int}}


def gather(
    placement: Service,
    snapshot: Snapshot,
    requests: Iterable[Request],
    answer: PlacementAnswer,
    figures: bool,
    known: Callable[[], Mapping[Amount, frozenset[str]]] = dict,
) -> Facts:
    """Read what explains Placement's answer.

    The number of requests does not grow with the hosts. It takes, for each

    - amount: one; up to 16 more for sums of a class that several groups ask for
    - set of aggregates: one, or fewer for many single aggregates
    - sharing provider: two

    and for traits of hosts that the answer does not show one or two, or one for each.

    :param requests: all that will be judged by the facts, fallbacks too
    :param figures: capacity and use of all hosts, not of the candidates alone
    :param known: called last; the providers that can give an amount, if already read
    """
    asked = tuple(requests)
    clauses = [clause for each in asked for clause in each.clauses]
    bulk = Bulk()
    bulk.add(answer.body)
    if figures:
        bulk.add_all(placement, snapshot.providers)
    traits = {**bulk.traits, **_remaining(placement, snapshot, bulk, clauses)}
    pools = shared(placement, snapshot)
    gone = {p.uuid for p in snapshot.providers if p.uuid not in traits}
    gone |= snapshot.sharing - set(pools)
    unknown = answer.roots - set(snapshot.by_uuid)
    ask = functools.partial(offers_if_possible, placement)
    members = _members(placement, snapshot, clauses)
    before, amounts = known(), matcher.amounts(clauses)
    found = {each: before[each] if each in before else ask(each) for each in amounts}
    left = snapshot.without(gone)
    return Facts(
        snapshot=left,
        traits=traits,
        offers=found,
        members=members,
        shared=pools,
        stock=bulk.stock,
        candidates=given_roots(answer.body, left) & set(left.by_uuid),
        vanished=(*snapshot.names_of(gone), *sorted(unknown)),
        limits=limits(demands(asked), found, bulk.stock, ask),
        fits=facts.fits(answer.body, left, bulk.stock),
    )


def _remaining(
    placement: Service, snapshot: Snapshot, bulk: Bulk, clauses: Iterable[Clause]
) -> dict[str, frozenset[str]]:
    names = sorted({c.name for c in clauses if isinstance(c, (Trait, RootTrait))})
    left = bulk.lacks(snapshot.providers)
    if len(left) <= len(names):
        found = (read.holding_if_there(placement, provider) for provider in left)
        return {each.provider.uuid: each.traits for each in found if each is not None}
    having = {name: _having(placement, name, snapshot, bulk) for name in names}
    return {
        each.uuid: frozenset(name for name in names if each.uuid in having[name])
        for each in left
    }


def _having(
    placement: Service, name: str, snapshot: Snapshot, bulk: Bulk
) -> frozenset[str]:
    """The unseen providers with a trait; none if Placement does not know it.

    If most providers have it, asking for those that lack it is shorter.
    """
    most = _most_have(name, snapshot, bulk)
    ask = read.providers_without if most else read.holders
    try:
        found = ask(placement, name)
    except errors.CloudBroke as exc:
        if exc.status == 400:
            return frozenset()
        raise
    return frozenset(snapshot.by_uuid) - found if most else found


def _most_have(name: str, snapshot: Snapshot, bulk: Bulk) -> bool:
    """Whether most providers have a trait: which question has the shorter answer.

    Candidates have what a request requires. So if few of the providers were seen, what
    nova-compute says of nearly all its nodes is taken to be on all unseen roots.
    """
    half = len(snapshot.providers) / 2
    having = sum(name in traits for traits in bulk.traits.values())
    if having > half or len(bulk.traits) - having > half:
        return having > half
    return trait.is_common(name) and len(snapshot.hosts) > half


def offers(placement: Service, amount: Amount) -> frozenset[str]:
    """Read the providers that can give an amount.

    Placement looks at traits before it looks at classes: if no provider has a trait, it
    gives no candidates for a class that it does not know. Here it rejects the class.

    :raises PlacementRefuses: for an amount that can be in no request
    """
    query = {"resources": "{}:{}".format(*amount)}
    with refusals(placement):
        return read.uuids(placement, query, _SHORT_ANSWER)


def offers_if_possible(placement: Service, amount: Amount) -> frozenset[str]:
    """Read the providers that can give an amount; none if Placement rejects it."""
    try:
        return offers(placement, amount)
    except errors.PlacementRefuses:
        return frozenset()


def _members(
    placement: Service, snapshot: Snapshot, clauses: Iterable[Clause]
) -> dict[frozenset[str], frozenset[str]]:
    wanted = {clause.aggregates for clause in clauses if isinstance(clause, MemberOf)}
    expected = snapshot.nova.members
    single = {aggregate for each in wanted if len(each) == 1 for aggregate in each}
    found = lookup.members(
        placement, {each: expected.get(each, frozenset()) for each in single}
    )
    members = {frozenset({each}): found[each] for each in found}
    for several in wanted - set(members):
        members[several] = lookup.in_any(placement, several)
    return members


def shared(placement: Service, snapshot: Snapshot) -> dict[str, frozenset[str]]:
    """UUIDs of providers in an aggregate with each (existing) sharing provider."""
    found = {}
    for sharer in sorted(snapshot.sharing):
        path = f"/resource_providers/{sharer}/aggregates"
        body = rest.get_if_there(placement, path, lookup.AGGREGATES)
        if body is not None:
            found[sharer] = lookup.in_any(placement, body["aggregates"])
    return found


def with_figures(placement: Service, found: Facts, hosts: Iterable[Provider]) -> Facts:
    """The facts with capacity and use of these hosts, as far as it goes.

    Of many at once, in one or two requests, and then of a few that are left.
    """
    bulk = Bulk()
    without_figures = [host for host in hosts if host.uuid not in found.stock]
    if len(without_figures) > MOST_READ_ONE_BY_ONE:
        bulk.add_all(placement, without_figures)
    found = dataclasses.replace(found, stock={**bulk.stock, **found.stock})
    return with_inventories(placement, found, bulk.lacks(without_figures))


def with_pools(placement: Service, found: Facts) -> Facts:
    """The facts with figures of the providers that hosts share; two requests each."""
    stock = dict(found.stock)
    for uuid in sorted(found.snapshot.sharing - found.stock.keys()):
        stock[uuid] = read_figures(placement, uuid, None) or {}
    return dataclasses.replace(found, stock=stock)


def with_inventories(
    placement: Service, found: Facts, hosts: Iterable[Provider]
) -> Facts:
    """The facts with reserved amounts, ratios and units of these hosts' trees.

    One request a provider, for a bounded number of them.
    """
    stock = dict(found.stock)
    trees = [uuid for host in hosts for uuid in found.snapshot.host_trees[host.uuid]]
    vanished = dict.fromkeys(found.vanished)
    for uuid in trees[:MOST_READ_ONE_BY_ONE]:
        figures = read_figures(placement, uuid, stock.get(uuid))
        if figures is None:
            vanished[found.snapshot.by_uuid[uuid].name] = None
        else:
            stock[uuid] = figures
    return dataclasses.replace(found, stock=stock, vanished=tuple(vanished))


def like_first(
    placement: Service,
    known: Mapping[str, Mapping[str, Stock]],
    kinds: Iterable[Sequence[str]],
) -> dict[str, Mapping[str, Stock]]:
    """Figures of the first provider of each kind, for all of its kind.

    :param known: capacity and use of providers
    :param kinds: UUIDs of providers of the same capacities
    """
    found: dict[str, Mapping[str, Stock]] = {}
    for alike in kinds:
        # One that was deleted meanwhile gives nothing.
        figures = read_figures(placement, alike[0], known.get(alike[0])) or {}
        found[alike[0]] = figures
        for uuid in alike[1:]:
            used = {name: each.used for name, each in known[uuid].items()}
            found[uuid] = {
                name: dataclasses.replace(each, used=used.get(name, 0))
                for name, each in figures.items()
            }
    return found


def read_figures(
    placement: Service, provider: str, known: Mapping[str, Stock] | None
) -> dict[str, Stock] | None:
    """Read all figures of one provider; None if it was deleted meanwhile."""
    used = {name: each.used for name, each in (known or {}).items()}
    if known is None:
        path = f"/resource_providers/{provider}/usages"
        body = rest.get_if_there(placement, path, _USAGES)
        if body is None:
            return None
        used = body["usages"]
    return _inventories(placement, provider, used)


def allocated(
    placement: Service, providers: Iterable[str]
) -> dict[str, list[facts.ProviderUse]]:
    """What each consumer has of providers, by its UUID; one request a provider."""
    uses: dict[str, list[facts.ProviderUse]] = {}
    for uuid in providers:
        path = f"/resource_providers/{uuid}/allocations"
        body = rest.get_if_there(placement, path, _ALLOCATIONS)
        for consumer, own in (body or {"allocations": {}})["allocations"].items():
            uses.setdefault(consumer, []).extend(
                facts.ProviderUse(uuid, name, amount)
                for name, amount in sorted(own["resources"].items())
            )
    return uses


def _inventories(
    placement: Service, provider: str, used: Mapping[str, int]
) -> dict[str, Stock] | None:
    path = f"/resource_providers/{provider}/inventories"
    body = rest.get_if_there(placement, path, _INVENTORIES)
    if body is None:
        return None
    inventories = body["inventories"]
    return {n: _stock(each, used.get(n, 0)) for n, each in inventories.items()}


def unused(
    placement: Service, kinds: Sequence[Sequence[str]]
) -> dict[str, dict[str, Stock]]:
    """Read the inventories of providers, with nothing of them in use.

    One request a provider, for a bounded number of them. Of more, one of each kind is
    read, and the others are taken to be like it.

    :param kinds: their UUIDs, as :func:`capacity.undecided` returns them
    """
    if sum(map(len, kinds)) <= MOST_READ_ONE_BY_ONE:
        kinds = [[uuid] for alike in kinds for uuid in alike]
    found: dict[str, dict[str, Stock]] = {}
    for alike in kinds[:MOST_READ_ONE_BY_ONE]:
        # One that was deleted meanwhile gives nothing.
        known = _inventories(placement, alike[0], {}) or {}
        found.update(dict.fromkeys(alike, known))
    return found


def _stock(body: Mapping[str, Any], used: int) -> Stock:
    return Stock(
        capacity=int((body["total"] - body["reserved"]) * body["allocation_ratio"]),
        used=used,
        total=body["total"],
        reserved=body["reserved"],
        ratio=body["allocation_ratio"],
        min_unit=body["min_unit"],
        max_unit=body["max_unit"],
        step_size=body["step_size"],
    )
