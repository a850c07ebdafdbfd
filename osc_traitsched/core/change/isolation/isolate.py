"""The steps that isolate an aggregate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change import plan
from osc_traitsched.core.change.isolation.state import Ground, Member
from osc_traitsched.core.change.isolation.steps import Kind, Step
from osc_traitsched.core.inventory.trait_keys import (
    REQUIRED,
    isolating_keys,
    key_of,
    required_by,
)
from osc_traitsched.core.nova.question import Body


class Contradiction(errors.BadQuestion):
    """A flavor that forbids what it would have to require."""

    def __init__(self, flavor: str, traits: tuple[str, ...]) -> None:
        super().__init__(f"{flavor}: {', '.join(traits)}")
        self.flavor = flavor
        self.traits = traits


def isolate_plan(
    ground: Ground,
    names: Sequence[str],
    creates: Sequence[str],
    flavors: Iterable[Body],
    images: Iterable[Body],
) -> tuple[Step, ...]:
    """Return the steps after which the aggregate is for those who require the traits.

    Hosts can be chosen by the traits before anybody has to have them, and only
    then the aggregate is closed to the others.

    :param creates: those of the traits that do not exist yet
    :param flavors: those that shall require the traits
    :raises Contradiction: for a flavor that forbids one of them
    """
    traits = [
        Step(Kind.TRAIT, name, name, (name,) if name in creates else ())
        for name in names
    ]
    return (
        *traits,
        *(_host(member, names) for member in ground.members),
        *_mirrors(ground),
        *(_flavor(body, names) for body in flavors),
        *(_image(body, names) for body in images),
        _aggregate(ground, names),
    )


def _host(member: Member, names: Sequence[str]) -> Step:
    held = member.holding
    if held is None:
        problem = errors.NoProvider(member.host)
        return Step(Kind.HOST, member.host, "", tuple(names), problem=problem)
    write = plan.Step(member.host, held, plan.Change(add=frozenset(names)))
    todo = tuple(sorted(write.added))
    return Step(Kind.HOST, held.provider.name, held.provider.uuid, todo, write=write)


def _mirrors(ground: Ground) -> Iterator[Step]:
    uuid: str = ground.aggregate["uuid"]
    for member in ground.members:
        if member.holding is not None:
            provider = member.holding.provider
            todo = () if provider.uuid in ground.mirrored else (uuid,)
            yield Step(Kind.MIRROR, provider.name, provider.uuid, todo)


def _flavor(body: Body, names: Sequence[str]) -> Step:
    specs: Mapping[str, str] = body.get("extra_specs") or {}
    forbidden = tuple(n for n in names if specs.get(key_of(n)) == "forbidden")
    if forbidden:
        raise Contradiction(body["name"], forbidden)
    # A numbered group that requires the trait lets the flavor in as well.
    required = required_by(specs)
    todo = tuple(key_of(name) for name in names if name not in required)
    return Step(Kind.FLAVOR, body["name"], body["id"], todo)


def _image(body: Body, names: Sequence[str]) -> Step:
    todo = (key_of(name) for name in names if body.get(key_of(name)) != REQUIRED)
    return Step(Kind.IMAGE, body["name"] or body["id"], body["id"], tuple(todo))


def _aggregate(ground: Ground, names: Sequence[str]) -> Step:
    body = ground.aggregate
    present = isolating_keys(body["metadata"])
    return Step(
        Kind.AGGREGATE,
        body["name"],
        str(body["id"]),
        tuple(key_of(name) for name in names if key_of(name) not in present),
        hosts=frozenset(body["hosts"]),
        keys=frozenset(present),
    )
