"""Random clouds made in a real Placement, and hosts there changed and put back.

Almost all of a run is Placement's time, so each request here counts.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.core.judge.fix import HostAction, HostChange
from tests.functional.placement import Placement
from tests.property import clouds


def identity(name: str) -> str:
    """Return the UUID of the provider or the aggregate of this name."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


def build(placement: Placement, cloud: Iterable[clouds.Node]) -> None:
    """Make all providers of a random cloud, and the traits that requests name."""
    placement.create_traits(*(n for n in clouds.TRAITS if n.startswith("CUSTOM_")))
    build_named(placement, {f"host{n}": node for n, node in enumerate(cloud)})


def build_named(placement: Placement, cloud: Mapping[str, clouds.Node]) -> None:
    """Make all providers of a cloud, full as they are, by the names of the roots."""
    placement.call("PUT", "/resource_classes/CUSTOM_CARD")
    custom = {n for n in _traits(cloud.values()) if n.startswith("CUSTOM_")}
    placement.create_traits(*sorted(custom))
    for name, node in cloud.items():
        _build(placement, node, name)


def _traits(nodes: Iterable[clouds.Node]) -> Iterator[str]:
    for node in nodes:
        yield from node.traits
        yield from _traits(node.children)


def _build(
    placement: Placement, node: clouds.Node, name: str, parent: str | None = None
) -> None:
    made = _Provider(placement, identity(name))
    body = {"name": name, "uuid": made.uuid, "parent_provider_uuid": parent}
    placement.call("POST", "/resource_providers", body)
    used = {name: each.used for name, each in node.inventories.items() if each.used > 0}
    if used:
        # With room to spare at first, so that any use can be put there.
        made.put("inventories", {name: {"total": 1000} for name in node.inventories})
        placement.allocate(made.uuid, **used)
        made.generation = placement.generation(made.uuid)
    inventories = {name: each.body for name, each in node.inventories.items()}
    for what, value in (
        ("inventories", inventories),
        ("traits", sorted(node.traits)),
        ("aggregates", sorted(node.aggregates)),
    ):
        if value:
            made.put(what, value)
    for number, child in enumerate(node.children):
        _build(placement, child, f"{name}-{number}", made.uuid)


@dataclasses.dataclass
class _Provider:
    """A provider that nobody else changes, so that its generation is known."""

    placement: Placement
    uuid: str
    generation: int = 0

    def get(self, what: str) -> frozenset[str]:
        found = self.placement.call("GET", f"/resource_providers/{self.uuid}/{what}")
        self.generation = found["resource_provider_generation"]
        return frozenset(found[what])

    def put(self, what: str, value: object) -> None:
        body = {"resource_provider_generation": self.generation, what: value}
        path = f"/resource_providers/{self.uuid}/{what}"
        done = self.placement.call("PUT", path, body)
        self.generation = done["resource_provider_generation"]


@contextlib.contextmanager
def changed(
    placement: Placement, roots: tuple[str, ...], changes: tuple[HostChange, ...]
) -> Iterator[None]:
    """Change hosts as a fix says, as their owners would, and put them back."""
    with contextlib.ExitStack() as back:
        for root in roots:
            provider = _Provider(placement, root)
            kinds = {
                "aggregates" if c.action is HostAction.JOIN_AGGREGATE else "traits"
                for c in changes
            }
            for what in sorted(kinds):
                before = provider.get(what)
                after = _after(before, what, changes)
                provider.put(what, sorted(after))
                back.callback(provider.put, what, sorted(before))
        yield


def _after(
    before: frozenset[str], what: str, changes: tuple[HostChange, ...]
) -> frozenset[str]:
    """Return the traits or the aggregates that a host has after changes."""
    for change in changes:
        if (change.action is HostAction.JOIN_AGGREGATE) is not (what == "aggregates"):
            continue
        name = {change.name or DISABLED}
        adds = change.action in (HostAction.ADD_TRAIT, HostAction.JOIN_AGGREGATE)
        before = before | name if adds else before - name
    return before
