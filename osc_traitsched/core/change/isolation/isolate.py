"""The plan that isolates an aggregate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.change.guard import AsForeseen
from osc_traitsched.core.change.isolation.guards import DoesNotForbid
from osc_traitsched.core.change.isolation.state import AggregateState, Member
from osc_traitsched.core.change.model import Change, Kind, Object, Plan, State
from osc_traitsched.core.change.phases import plan_of
from osc_traitsched.core.change.providers import (
    aggregate_change,
    new_trait,
    present,
    trait_change,
    without_provider,
)
from osc_traitsched.core.inventory.trait_keys import (
    REQUIRED,
    isolating_keys,
    key_of,
    requires,
)
from osc_traitsched.core.nova.question import Body


def isolate_plan(
    state: AggregateState,
    names: Sequence[str],
    creates: Sequence[str],
    flavors: Iterable[Body],
    images: Iterable[Body],
) -> Plan:
    """Plan that the aggregate is for requests that require the traits.

    Hosts can be chosen by the traits before any request has to, and only then the
    aggregate is closed to the others.

    :param creates: those of the traits that do not exist yet
    :param flavors: those that shall require the traits
    :raises Contradiction: for a flavor that forbids one of them
    """
    return plan_of(
        [
            *(new_trait(name, exists=name not in creates) for name in names),
            *(_host(member, names) for member in state.members),
            *_mirrors(state),
            *(_flavor(body, names) for body in flavors),
            *(_image(body, names) for body in images),
            _aggregate(state, names),
        ]
    )


def _host(member: Member, names: Sequence[str]) -> Change:
    if member.holding is None:
        return without_provider(member.host, present(names))
    return trait_change(member.host, member.holding, present(names))


def _mirrors(state: AggregateState) -> Iterator[Change]:
    uuid: str = state.aggregate["uuid"]
    for member in state.members:
        if member.holding is not None:
            provider = member.holding.provider
            inside = [uuid] if provider.uuid in state.mirrored else []
            yield aggregate_change(provider, member.host, inside, present([uuid]))


def _flavor(body: Body, names: Sequence[str]) -> Change:
    specs: Mapping[str, str] = body.get("extra_specs") or {}
    guard = DoesNotForbid(body["name"], tuple(names))
    found = State(specs)
    if refusal := guard.refusal(found):
        raise refusal
    # A numbered group that requires the trait lets the flavor in as well.
    requiring = {requires(key, value): key for key, value in specs.items()}
    keys = (requiring.get(name, key_of(name)) for name in names)
    named = Object(Kind.FLAVOR, body["id"], body["name"])
    return Change(named, found, dict.fromkeys(keys, REQUIRED), guard)


def _image(body: Body, names: Sequence[str]) -> Change:
    named = Object(Kind.IMAGE, body["id"], body["name"] or body["id"])
    return Change(named, State(body), dict.fromkeys(map(key_of, names), REQUIRED))


def _aggregate(state: AggregateState, names: Sequence[str]) -> Change:
    body, collation = state.aggregate, state.collation
    # To such a database a key in other letters is the same key.
    own = {collation.folded(key): key for key in body["metadata"]}
    keys = (own.get(collation.folded(key), key) for key in map(key_of, names))
    named = Object(Kind.AGGREGATE, str(body["id"]), body["name"])
    found = State(body["metadata"], hosts=frozenset(body["hosts"]))
    after = dict.fromkeys(keys, REQUIRED)
    foreseen = {*isolating_keys(body["metadata"], collation), *after}
    guard = AsForeseen(found.hosts, frozenset(foreseen), collation)
    return Change(named, found, after, guard)
