"""The changes that a writing command would make, and what became of them."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping

from osc_traitsched.core import errors
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Holding, Snapshot


@dataclasses.dataclass(frozen=True)
class Change:
    """Traits that a provider shall have, and traits that it shall not."""

    add: frozenset[str] = frozenset()
    remove: frozenset[str] = frozenset()

    def after(self, traits: frozenset[str]) -> frozenset[str]:
        """Return what a provider with these traits has after the change."""
        return (traits | self.add) - self.remove


@dataclasses.dataclass(frozen=True)
class Step:
    """A change for one provider as it was read.

    :ivar host: the name of the host that the provider belongs to
    """

    host: str
    holding: Holding
    change: Change

    @property
    def added(self) -> frozenset[str]:
        """The traits that the step adds to what the provider has."""
        return self.change.after(self.holding.traits) - self.holding.traits

    @property
    def removed(self) -> frozenset[str]:
        """The traits that the step takes from what the provider has."""
        return self.holding.traits - self.change.after(self.holding.traits)

    @property
    def is_needed(self) -> bool:
        """Whether the provider is not yet as wanted."""
        return bool(self.added or self.removed)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to write: traits to create first, then a step for each provider.

    :ivar absent: hosts that were selected and have no provider to write to
    """

    steps: tuple[Step, ...]
    creates: tuple[str, ...] = ()
    without_provider: tuple[str, ...] = ()

    @property
    def has_changes(self) -> bool:
        """Whether carrying it out would write anything."""
        return bool(self.creates) or any(step.is_needed for step in self.steps)


def adding(
    names: Iterable[str],
    snapshot: Snapshot,
    held: Iterable[Holding],
    creates: tuple[str, ...] = (),
    without_provider: tuple[str, ...] = (),
) -> Plan:
    """Plan that every provider has the traits, whatever else it has."""
    change = Change(add=frozenset(names))
    return Plan(_steps(change, snapshot, held), creates, without_provider)


def removing(
    names: Iterable[str],
    snapshot: Snapshot,
    held: Iterable[Holding],
    without_provider: tuple[str, ...] = (),
) -> Plan:
    """Plan that no provider has the traits, whatever else it has."""
    change = Change(remove=frozenset(names))
    return Plan(_steps(change, snapshot, held), without_provider=without_provider)


def _steps(
    change: Change, snapshot: Snapshot, held: Iterable[Holding]
) -> tuple[Step, ...]:
    return tuple(Step(snapshot.host_name(each.provider), each, change) for each in held)


class Status(enum.Enum):
    """What became of one step."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    WOULD_CHANGE = "would change"
    FAILED = "failed"
    #: What it depends on failed.
    NOT_DONE = "not done"


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of one step, or of a host that has no provider.

    :ivar provider: the provider's UUID, empty where there is none
    :ivar name: the provider's name
    :ivar problem: why it failed, for a failed one
    """

    host: str
    provider: str
    name: str
    status: Status
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    problem: errors.TraitSchedError | None = None


def result(
    step: Step, status: Status, problem: errors.TraitSchedError | None = None
) -> Result:
    """Return what became of a step; a failed one added and removed nothing."""
    provider = step.holding.provider
    if status in (Status.CHANGED, Status.WOULD_CHANGE):
        added, removed = step.added, step.removed
    else:
        added, removed = frozenset[str](), frozenset[str]()
    return Result(
        step.host, provider.uuid, provider.name, status, added, removed, problem
    )


def foreseen(step: Step) -> Result:
    """Return what a dry run says of a step."""
    return result(step, Status.WOULD_CHANGE if step.is_needed else Status.UNCHANGED)


def absence(host: str) -> Result:
    """Return what becomes of a host that has no provider to write to."""
    return Result(host, "", "", Status.FAILED, problem=errors.NoProvider(host))


@dataclasses.dataclass(frozen=True)
class RevertedByNova:
    """nova-compute will not leave a change as it is.

    :ivar ownership: what nova-compute does with the trait
    :ivar hosts: on which hosts, where only some are meant; else empty
    """

    name: str
    ownership: trait.Ownership
    hosts: tuple[str, ...] = ()


def reverted_by_nova(steps: Iterable[Step]) -> tuple[RevertedByNova, ...]:
    """Return the changes that are not the operator's to make.

    A trait that a step does not change is not one of them.
    """
    steps = tuple(steps)
    changed = sorted({t for step in steps for t in step.added | step.removed})
    owned = [
        RevertedByNova(name, trait.ownership(name))
        for name in changed
        if trait.ownership(name) is not trait.Ownership.OPERATOR
    ]
    devices = [s for s in steps if trait.PCI_DEVICE in s.holding.traits]
    for name in sorted({t for step in devices for t in step.added | step.removed}):
        hosts = sorted({s.host for s in devices if name in s.added | s.removed})
        owned.append(
            RevertedByNova(name, trait.Ownership.NOVA_SETS_AND_CLEARS, tuple(hosts))
        )
    return tuple(owned)


@dataclasses.dataclass(frozen=True)
class Requirer:
    """A flavor, image or aggregate whose key requires a trait."""

    kind: str
    name: str
    key: str


class LastHolder(errors.AnswerIsNo):
    """A trait would be on no provider any more while something requires it."""

    def __init__(self, requirers: Mapping[str, tuple[Requirer, ...]]) -> None:
        super().__init__(", ".join(requirers))
        self.requirers = requirers


class RequirersUnknown(errors.AnswerIsNo):
    """A trait would be on no provider any more, and who requires it can't be read."""

    def __init__(self, traits: tuple[str, ...], why: errors.CloudBroke) -> None:
        super().__init__(", ".join(traits))
        self.traits = traits
        self.why = why


class OwnedByNova(errors.AnswerIsNo):
    """Traits that nova-compute puts back, and that scheduling needs meanwhile."""

    def __init__(self, reverted_by_nova: tuple[RevertedByNova, ...]) -> None:
        super().__init__(", ".join(u.name for u in reverted_by_nova))
        self.reverted_by_nova = reverted_by_nova


def orphaned(
    steps: Iterable[Step], holders: Mapping[str, frozenset[str]]
) -> tuple[str, ...]:
    """Return the traits that no provider would have after the steps.

    :param holders: for each trait, the UUIDs of all providers that have it now
    """
    taken: dict[str, set[str]] = {}
    for step in steps:
        for name in step.removed:
            taken.setdefault(name, set()).add(step.holding.provider.uuid)
    return tuple(sorted(n for n in taken if holders[n] <= taken[n]))
