"""From Placement's answers to the facts that one request's verdict needs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.cloud import read
from osc_traitsched.cloud.connection import Service
from osc_traitsched.core import errors, judge
from osc_traitsched.core.clause import Clause, MemberOf, RootTrait, Trait
from osc_traitsched.core.facts import Amount, Facts, Stock
from osc_traitsched.core.request import Request
from osc_traitsched.core.snapshot import Provider, Snapshot

#: At most this many providers are read one by one.
MOST_READ_ONE_BY_ONE = 25


@dataclasses.dataclass(frozen=True)
class Answer:
    """What Placement gave for Nova's own query.

    :ivar roots: UUIDs of the hosts that could take the server
    :ivar count: how many allocation requests there are, of which Nova takes no
        more than its limit
    :ivar body: Placement's answer, as it came
    """

    roots: frozenset[str]
    count: int
    body: Mapping[str, Any]


def candidates(placement: Service, request: Request) -> Answer:
    """Ask Placement what Nova would ask, but for the limit.

    With a dedicated CPU policy Nova asks a second time, and takes both answers.

    :raises PlacementRefuses: when Placement takes no such request
    """
    answer = _ask(placement, request)
    if request.fallback is None:
        return answer
    second = _ask(placement, request.fallback)
    body = {
        "allocation_requests": answer.body["allocation_requests"]
        + second.body["allocation_requests"],
        "provider_summaries": {
            **second.body["provider_summaries"],
            **answer.body["provider_summaries"],
        },
    }
    return Answer(answer.roots | second.roots, answer.count + second.count, body)


def _ask(placement: Service, request: Request) -> Answer:
    query = dataclasses.replace(request, limit=None).query()
    try:
        body = placement.get(
            f"/allocation_candidates?{query}", microversion=request.microversion
        )
    except errors.CloudBroke as exc:
        if exc.status == 400:
            raise errors.PlacementRefuses(exc.reason) from exc
        raise
    roots = frozenset(
        summary.get("root_provider_uuid", uuid)
        for uuid, summary in body["provider_summaries"].items()
    )
    return Answer(roots, len(body["allocation_requests"]), body)


def gather(
    placement: Service,
    snapshot: Snapshot,
    requests: Iterable[Request],
    answer: Answer,
    figures: bool,
) -> Facts:
    """Read what explains Placement's answer, in requests that hosts do not add to.

    One for each amount that is asked for, one for each set of aggregates, two for
    each sharing provider; and for traits, of hosts that the answer does not show,
    one or two for all hosts, or one for each trait's name.

    :param requests: all that will be judged by the facts, fallbacks too
    :param figures: of all hosts, not of the candidates alone: capacity and use
    """
    asked = [each.clauses for each in requests]
    clauses = [clause for each in asked for clause in each]
    amounts = {amount for each in asked for amount in judge.amounts(each)}
    bulk = _Bulk({}, {})
    bulk.add(answer.body)
    if figures:
        bulk.add_all(placement, snapshot)
    bulk.add_remaining(placement, snapshot, _names(clauses))
    return Facts(
        snapshot=snapshot,
        traits=bulk.traits,
        offers={amount: _offers(placement, amount) for amount in sorted(amounts)},
        members={
            clause.aggregates: _members(placement, clause.aggregates)
            for clause in clauses
            if isinstance(clause, MemberOf)
        },
        shared={uuid: _shared(placement, uuid) for uuid in sorted(snapshot.sharing)},
        stock=bulk.stock,
        candidates=answer.roots - snapshot.sharing,
    )


def _names(clauses: Iterable[Clause]) -> frozenset[str]:
    return frozenset(c.name for c in clauses if isinstance(c, (Trait, RootTrait)))


@dataclasses.dataclass(frozen=True)
class _Bulk:
    """Traits and figures of many providers."""

    traits: dict[str, frozenset[str]]
    stock: dict[str, Mapping[str, Stock]]

    def add(self, body: Mapping[str, Any]) -> None:
        """Take what an answer with candidates says of every provider in it."""
        for uuid, summary in body["provider_summaries"].items():
            self.traits[uuid] = frozenset(summary["traits"])
            self.stock[uuid] = {
                name: Stock(each["capacity"], each["used"])
                for name, each in summary["resources"].items()
            }

    def add_all(self, placement: Service, snapshot: Snapshot) -> None:
        """Read all providers of trees that have one unit free of either class."""
        for resource_class in read.BULK_CLASSES:
            if any(provider.uuid not in self.traits for provider in snapshot.providers):
                query = {"resources": f"{resource_class}:1"}
                self.add(placement.get("/allocation_candidates", query))

    def add_remaining(
        self, placement: Service, snapshot: Snapshot, names: frozenset[str]
    ) -> None:
        """Read the traits that matter, of providers that no answer has shown."""
        left = [p for p in snapshot.providers if p.uuid not in self.traits]
        if len(left) <= len(names):
            for provider in left:
                self.traits[provider.uuid] = read.holding(placement, provider).traits
            return
        having = {name: _holders(placement, name) for name in sorted(names)}
        for provider in left:
            found = (name for name in having if provider.uuid in having[name])
            self.traits[provider.uuid] = frozenset(found)


def _holders(placement: Service, name: str) -> frozenset[str]:
    """Return who has a trait; nobody where Placement does not even know it."""
    try:
        return read.holders(placement, name)
    except errors.CloudBroke as exc:
        if exc.status == 400:
            return frozenset()
        raise


def _offers(placement: Service, amount: Amount) -> frozenset[str]:
    query = {"resources": "{}:{}".format(*amount)}
    return _uuids(placement.get("/resource_providers", query))


def _members(placement: Service, aggregates: Iterable[str]) -> frozenset[str]:
    query = {"member_of": "in:" + ",".join(sorted(aggregates))}
    return _uuids(placement.get("/resource_providers", query))


def _shared(placement: Service, sharer: str) -> frozenset[str]:
    path = f"/resource_providers/{sharer}/aggregates"
    aggregates = placement.get(path)["aggregates"]
    return _members(placement, aggregates) if aggregates else frozenset()


def _uuids(body: Any) -> frozenset[str]:
    return frozenset(provider["uuid"] for provider in body["resource_providers"])


def with_inventories(
    placement: Service, found: Facts, hosts: Iterable[Provider]
) -> Facts:
    """Return the facts with reserved amounts, ratios and units of these hosts' trees.

    One request a provider, for a bounded number of them.
    """
    stock = dict(found.stock)
    trees = [provider for host in hosts for provider in found.trees[host.uuid]]
    for provider in trees[:MOST_READ_ONE_BY_ONE]:
        path = f"/resource_providers/{provider.uuid}"
        inventories = placement.get(f"{path}/inventories")["inventories"]
        known = stock.get(provider.uuid)
        if known is not None:
            used = {name: each.used for name, each in known.items()}
        else:
            used = placement.get(f"{path}/usages")["usages"]
        stock[provider.uuid] = {
            name: _stock(body, used.get(name, 0)) for name, body in inventories.items()
        }
    return dataclasses.replace(found, stock=stock)


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
