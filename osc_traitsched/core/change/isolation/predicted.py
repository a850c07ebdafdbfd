"""The cloud as it is after some of the steps, in thought."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.change.isolation.state import Ground
from osc_traitsched.core.change.isolation.steps import Kind, Step
from osc_traitsched.core.change.plan import Change
from osc_traitsched.core.inventory.trait_keys import REQUIRED
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.placement.facts import Facts

#: An image that asks for nothing, and of which no prefilter makes anything.
ANY_IMAGE: Body = {}


@dataclasses.dataclass(frozen=True)
class World:
    """What servers are asked for with, and what is different in Placement.

    :ivar images: :data:`ANY_IMAGE` first, then those that matter
    :ivar traits: all that Placement knows
    :ivar changes: what steps have changed of providers' traits, by UUID
    :ivar joined: the providers that steps have put into the aggregate
    """

    ground: Ground
    flavors: tuple[Body, ...]
    images: tuple[Body, ...]
    aggregates: tuple[Body, ...]
    traits: frozenset[str]
    changes: Mapping[str, Change] = dataclasses.field(default_factory=dict)
    joined: frozenset[str] = frozenset()

    @classmethod
    def now(cls, ground: Ground, images: Iterable[Body]) -> World:
        """Return the cloud as it was read."""
        return cls(
            ground,
            ground.flavors,
            (ANY_IMAGE, *images),
            ground.aggregates,
            ground.traits,
        )

    def after(self, step: Step) -> World:
        """Return the world when a step is done."""
        if step.holds or step.problem is not None:
            return self
        change = dataclasses.replace
        if step.kind is Kind.TRAIT:
            return change(self, traits=self.traits | {step.id})
        if step.kind is Kind.HOST and step.write is not None:
            changes = {**self.changes, step.id: step.write.change}
            return change(self, changes=changes)
        if step.kind is Kind.MIRROR:
            return change(self, joined=self.joined | {step.id})
        if step.kind is Kind.FLAVOR:
            return change(self, flavors=_with(self.flavors, step, "extra_specs"))
        if step.kind is Kind.IMAGE:
            return change(self, images=_with(self.images, step, None))
        return change(self, aggregates=_with(self.aggregates, step, "metadata"))

    def seen(self, facts: Facts) -> Facts:
        """Return the facts as they are in this world.

        :param facts: as they were read
        """
        uuid: str = self.ground.aggregate["uuid"]
        traits = {
            provider: change.after(facts.traits.get(provider, frozenset()))
            for provider, change in self.changes.items()
        }
        members = {
            aggregates: inside | self.joined if uuid in aggregates else inside
            for aggregates, inside in facts.members.items()
        }
        shared = {
            sharer: users | self.joined if sharer in self.ground.mirrored else users
            for sharer, users in facts.shared.items()
        }
        return dataclasses.replace(
            facts, traits={**facts.traits, **traits}, members=members, shared=shared
        )


def stages(start: World, steps: Iterable[Step]) -> tuple[World, ...]:
    """Return the world now, and after all steps of each kind, in their order.

    Between two steps of one kind each host, flavor or image is as in the one world or
    as in the next.
    """
    return (start, *_following(start, steps))


def _following(world: World, steps: Iterable[Step]) -> Iterator[World]:
    for _, group in itertools.groupby(steps, key=lambda step: step.kind):
        for step in group:
            world = world.after(step)
        yield world


def _with(bodies: tuple[Body, ...], step: Step, part: str | None) -> tuple[Body, ...]:
    """Return the bodies, the step's own with its keys set or taken away."""
    return tuple(
        _changed(body, step, part) if str(body.get("id")) == step.id else body
        for body in bodies
    )


def _changed(body: Body, step: Step, part: str | None) -> Body:
    pairs: Mapping[str, object] = (body.get(part) or {}) if part else body
    left = {key: value for key, value in pairs.items() if key not in step.todo}
    if not step.removes:
        left.update(dict.fromkeys(step.todo, REQUIRED))
    return {**body, part: left} if part else left
