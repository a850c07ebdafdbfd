"""Each named case has its verdict; Placement itself is asked in tests/property."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

import pytest

from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.nova.clause import MemberOf
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Amount, Facts, Stock
from osc_traitsched.core.placement.matcher import amounts
from tests.cases.reading import Case, cases
from tests.property.building import identity
from tests.property.clouds import SHARING, Inventory, Node


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_the_verdict_on_a_named_case(case):
    request = case.question.request()
    assert case.said(request, facts(case, request)) == case.expected


def test_every_case_has_a_sentence_of_its_own():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names) >= 12


def facts(case: Case, request: Request) -> Facts:
    """Return what Placement would say of a case's cloud, as far as that is simple."""
    asked = [each for each in (request, request.fallback) if each]
    candidates = frozenset(map(identity, case.expected["candidates"]))
    return dataclasses.replace(facts_of(case.cloud, asked), candidates=candidates)


def facts_of(cloud: Mapping[str, Node], requests: Iterable[Request]) -> Facts:
    """Return what Placement would say of trees, by the names of their roots."""
    found = dict(_flat(cloud))
    nodes = {provider.uuid: node for provider, node in found.items()}
    clauses = [clause for each in requests for clause in each.clauses]
    sharing = frozenset(uuid for uuid in nodes if SHARING in nodes[uuid].traits)
    return Facts(
        snapshot=Snapshot(tuple(found), sharing),
        traits={uuid: node.traits for uuid, node in nodes.items()},
        offers={
            amount: frozenset(uuid for uuid in nodes if _gives(nodes[uuid], amount))
            for amount in amounts(clauses)
        },
        members={
            clause.aggregates: _members(nodes, clause.aggregates)
            for clause in clauses
            if isinstance(clause, MemberOf)
        },
        shared={uuid: _members(nodes, nodes[uuid].aggregates) for uuid in sharing},
        stock={uuid: dict(_stock(node)) for uuid, node in nodes.items()},
        candidates=frozenset(),
        limits=_limits(nodes),
    )


def _flat(
    cloud: Mapping[str, Node], root: str = "", parent: str | None = None
) -> Iterator[tuple[Provider, Node]]:
    for name, node in cloud.items():
        uuid = identity(name)
        yield Provider(uuid, name, 1, root or uuid, parent), node
        children = {f"{name}-{n}": child for n, child in enumerate(node.children)}
        yield from _flat(children, root or uuid, uuid)


def _members(nodes: Mapping[str, Node], aggregates: frozenset[str]) -> frozenset[str]:
    return frozenset(uuid for uuid in nodes if nodes[uuid].aggregates & aggregates)


def _gives(node: Node, asked: Amount) -> bool:
    name, amount = asked
    inventory = node.inventories.get(name)
    return (
        inventory is not None
        and amount <= _capacity(inventory) - inventory.used
        and inventory.min_unit <= amount <= inventory.max_unit
        and amount % inventory.step_size == 0
    )


def _limits(nodes: Mapping[str, Node]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for uuid, node in nodes.items():
        for name, each in node.inventories.items():
            most = min(_capacity(each) - each.used, each.max_unit)
            found.setdefault(name, {})[uuid] = most
    return found


def _capacity(inventory: Inventory) -> int:
    return int((inventory.total - inventory.reserved) * inventory.ratio)


def _stock(node: Node) -> Iterator[tuple[str, Stock]]:
    for name, inventory in node.inventories.items():
        yield name, Stock(_capacity(inventory), inventory.used)
