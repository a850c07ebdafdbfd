"""Traits of providers that are added and removed, as changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Set

from osc_traitsched.core import errors
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Keys,
    Object,
    ObjectKind,
    Outcome,
    Plan,
    State,
    plan_of,
)
from osc_traitsched.core.errors import NoProvider
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import (
    Holding,
    Members,
    Provider,
    Snapshot,
    Targets,
)
from osc_traitsched.core.inventory.snapshot import membership_differences as differences
from osc_traitsched.core.inventory.trait import Collation, Ownership
from osc_traitsched.text import ALL, FEW, agreed, by_key, listed, quoted

# Providers as objects to change: their traits, and the aggregates that they are in.


def present(names: Iterable[str]) -> dict[str, str | None]:
    """Return names as keys that are there."""
    return dict.fromkeys(names, PRESENT)


def gone(names: Iterable[str]) -> dict[str, str | None]:
    """Return names as keys that are not there."""
    return dict.fromkeys(names)


def new_trait(name: str, exists: bool) -> Change:
    """Return the change after which a trait exists."""
    found = State(present([name]) if exists else {})
    return Change(Object(ObjectKind.TRAIT, name, name), found, present([name]))


def provider_object(snapshot: Snapshot, provider: Provider) -> Object:
    """A provider's traits as an object to change."""
    host = snapshot.host_name(provider)
    return Object(ObjectKind.PROVIDER_TRAITS, provider.uuid, provider.name, host)


def unprovided_object(host: str) -> Object:
    """The traits of a host without a provider: they can't be changed."""
    return Object(ObjectKind.PROVIDER_TRAITS, "", host, host)


def traits_found(held: Holding) -> State:
    """Return a provider's traits as they were read."""
    return State(present(held.traits), held.provider.generation)


def aggregate_change(
    provider: Provider, host: str, inside: Iterable[str], after: Keys
) -> Change:
    """A change of a provider's aggregates; ``inside`` are UUIDs that were read."""
    named = Object(ObjectKind.PROVIDER_AGGREGATES, provider.uuid, provider.name, host)
    return Change(named, State(present(inside)), after)


def without_provider(host: str, after: Mapping[str, str | None]) -> Change:
    """Return what can't be changed: Placement has no provider for the host."""
    problem = NoProvider(host)
    return Change(unprovided_object(host), State({}), after, problem=problem)


# Placement's aggregates, synced to Nova's host aggregates.


def repair_plan(snapshot: Snapshot, members: Members) -> Plan:
    """Plan that puts every compute node into its host's aggregates in Placement.

    Other members and other aggregates stay.

    :param snapshot: with Nova's view, aggregates read after the members: Nova adds a
        host to its own aggregate first and removes it last
    """
    moves: dict[str, dict[str, str | None]] = {}
    unprovided: set[str] = set()
    for found in differences(snapshot, members):
        for nodes, value in ((found.missing, PRESENT), (found.extra, None)):
            for node in nodes:
                moves.setdefault(node.uuid, {})[found.aggregate.uuid] = value
        unprovided.update(node.node for node in found.without_provider)
    providers = sorted((snapshot.by_uuid[uuid] for uuid in moves), key=lambda p: p.name)
    changes = []
    for provider in providers:
        after = moves[provider.uuid]
        inside = (uuid for uuid, value in after.items() if value is None)
        changes.append(aggregate_change(provider, provider.name, inside, after))
    return Plan.of([*changes, *(without_provider(n, {}) for n in sorted(unprovided))])


# Adding and removing traits: the plans, and what speaks against them.


#: By some database, values of aggregates mean the same.
_LOOSE = Collation.CASE_INSENSITIVE


def add_plan(
    names: Iterable[str], targets: Targets, creates: Iterable[str] = ()
) -> Plan:
    """Plan that gives every target the traits, and creates traits if there is any."""
    news = (new_trait(name, exists=False) for name in creates if targets.held)
    return plan_of([*news, *_changes(targets, present(names))])


def remove_plan(names: Iterable[str], targets: Targets) -> Plan:
    """Plan that no target has the traits, whatever else it has."""
    return plan_of(_changes(targets, gone(names)))


def _changes(targets: Targets, after: Keys) -> Iterable[Change]:
    for held in targets.held:
        target = provider_object(targets.snapshot, held.provider)
        yield Change(target, traits_found(held), after)
    for host in targets.without_provider:
        yield without_provider(host, after)


@dataclasses.dataclass(frozen=True)
class RevertedByNova:
    """nova-compute will revert a change, on these hosts (empty: on all)."""

    name: str
    ownership: trait.Ownership
    hosts: tuple[str, ...] = ()


def reverted_by_nova(changes: Iterable[Change]) -> tuple[RevertedByNova, ...]:
    """The changes of traits that nova-compute will revert."""
    changes = of_providers(changes)
    owned = [
        RevertedByNova(name, trait.ownership(name))
        for name in sorted(_touched(changes))
        if trait.ownership(name) is not trait.Ownership.OPERATOR
    ]
    devices = [c for c in changes if trait.PCI_DEVICE in c.found.keys]
    for name in sorted(_touched(devices)):
        hosts = sorted({c.object.host for c in devices if name in _touched([c])})
        owned.append(
            RevertedByNova(name, trait.Ownership.NOVA_SETS_AND_CLEARS, tuple(hosts))
        )
    return tuple(owned)


def role_changed(changes: Iterable[Change], hosts: Set[str]) -> list[errors.AnswerIsNo]:
    """The error about roles that hosts (root UUIDs) would gain or lose, if any."""
    found = by_key(
        (name, change.object.name)
        for change in of_providers(changes)
        if change.object.id in hosts
        for name in sorted(_touched([change]) & trait.ROLES)
    )
    reasons = "; ".join(
        f"{name} says what a provider is, here {listed(found[name])}: {_ROLES[name]}"
        for name in sorted(found)
    )
    refusal = f"Refused: {reasons}; --force overrides this"
    return [errors.AnswerIsNo(refusal)] if found else []


def _touched(changes: Iterable[Change]) -> set[str]:
    return {name for change in changes for name in change.added | change.removed}


@dataclasses.dataclass(frozen=True)
class Requirer:
    """A flavor, image or aggregate whose key requires a trait.

    :ivar owner: of another project's image the project's ID, as ``is_public``
    """

    kind: str
    name: str
    key: str
    id: str
    owner: str = ""
    is_public: bool = False

    @property
    def is_any_users(self) -> bool:
        """Whether any user could have made it: another project's image, not public."""
        return bool(self.owner) and not self.is_public


Requirers = Mapping[str, tuple[Requirer, ...]]


def requiring_after(
    before: Requirers, outcomes: Iterable[Outcome], names: Iterable[str]
) -> Requirers:
    """What requires each trait after a plan, if anything does."""
    after = {
        name: {(each.kind, each.id, each.key): each for each in before.get(name, ())}
        for name in names
    }
    for outcome in outcomes:
        owner = outcome.change.object
        for key in outcome.added | outcome.removed if not owner.kind.has_names else ():
            required = _required_trait(outcome, key)
            unit = owner.kind.noun, owner.id, key
            for name, requiring in after.items():
                if name == required:
                    anew = Requirer(owner.kind.noun, owner.name, key, owner.id)
                    requiring.setdefault(unit, anew)
                else:
                    requiring.pop(unit, None)
    return {name: tuple(each.values()) for name, each in after.items() if each}


def _required_trait(outcome: Outcome, key: str) -> str | None:
    value = outcome.change.after[key]
    return value and outcome.change.object.kind.trait_in(key, value, _LOOSE)


@dataclasses.dataclass(eq=False)
class LastHolder(errors.AnswerIsNo):
    """A trait would be on no provider any more while something requires it."""

    requirers: Requirers

    @property
    def brief(self) -> str:
        """What requires the traits; three names at most."""
        return "; ".join(
            listed((f"{r.kind} {quoted(r.name)}" for r in requiring), most=FEW)
            + f" {agreed('requires', len(requiring))} {name}, which no host would have"
            for name, requiring in self.requirers.items()
        )

    def __str__(self) -> str:
        reasons = "; ".join(
            f"no host would have {name} any more, and it is required by "
            + requirers(found)
            for name, found in self.requirers.items()
        )
        return f"Refused: {reasons}; --force overrides this"


def of_providers(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes of providers' traits."""
    return tuple(c for c in changes if c.object.kind is ObjectKind.PROVIDER_TRAITS)


def orphaned_traits(
    outcomes: Iterable[Outcome],
    holders: Mapping[str, frozenset[str]],
    disabled: Set[str] = frozenset(),
) -> dict[str, frozenset[str]]:
    """Traits that no provider would have, with UUIDs of their last holders.

    :param disabled: UUIDs of holders that do not count, unless all of them are disabled
    """
    taken: dict[str, set[str]] = {}
    given: set[str] = set()
    for outcome in outcomes:
        if outcome.change.object.kind is ObjectKind.PROVIDER_TRAITS:
            for name in outcome.removed:
                taken.setdefault(name, set()).add(outcome.change.object.id)
            given |= outcome.added
    return {
        name: frozenset(taken[name])
        for name in sorted(taken)
        if name not in given
        and holders[name] - (disabled if taken[name] - disabled else set())
        <= taken[name]
    }


#: What a host is taken for by those that look at these
_ROLES = {
    trait.SHARING: "Placement treats it as a pool that others share, not as a host",
    trait.COMPUTE_NODE: "Nova marks its compute nodes by it",
    trait.DISABLED: "Nova marks hosts that take no servers with it",
}


def requirers(found: Iterable[Requirer]) -> str:
    """Return what requires a trait, each by its kind, name and key."""
    named = (f"{r.kind} {quoted(r.name)} ({_which(r)})" for r in found)
    return listed(named, most=ALL)


def _which(found: Requirer) -> str:
    return f"{found.id}, owner {found.owner}, {found.key}" if found.owner else found.key


def reverted(found: RevertedByNova, removing: bool) -> str:
    """Return a line on a trait that nova-compute owns."""
    where = f" on {listed(found.hosts)}" if found.hosts else ""
    name = f"{found.name}{where} is nova-compute's own (libvirt): "
    if found.ownership is Ownership.NOVA_SETS and not removing:
        return (
            f"{name}it adds this trait by itself to the hosts it is true of, and "
            "never takes a wrong one away"
        )
    if removing:
        return (
            f"{name}where it is true of the host, it puts the trait back at its next "
            "update, and servers may fail to schedule until then"
        )
    return f"{name}it takes the trait away again at its next update"


def may_return(names: Iterable[str]) -> str:
    """Return a line on custom traits that were removed; empty if there is none."""
    custom = listed(sorted(filter(trait.is_custom, names)))
    end = "may come back within 300 s if provider.yaml of a host lists it"
    return f"{custom} {end}" if custom else ""


def passed_over(found: Iterable[Requirer]) -> str:
    """Return a line on images of other projects that require what no host will have."""
    return f"no host will be left for images of other projects: {requirers(found)}"
