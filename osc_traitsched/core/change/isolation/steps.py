"""Steps, and what became of them."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Callable, Iterable, Iterator

from osc_traitsched.core import errors
from osc_traitsched.core.change import plan
from osc_traitsched.core.change.plan import Status


class Kind(enum.Enum):
    """What a step is about."""

    #: The trait exists.
    TRAIT = "trait"
    #: A member host's root provider has the traits.
    HOST = "host"
    #: Placement has that provider in the aggregate.
    MIRROR = "mirror"
    #: A flavor requires the traits.
    FLAVOR = "flavor"
    #: An image requires them.
    IMAGE = "image"
    #: The aggregate's metadata says that they are required.
    AGGREGATE = "aggregate"


class Reason(enum.Enum):
    """Why a trait stays where the way back could have taken it from."""

    #: It says what the host is, whatever aggregate the host is in.
    STANDARD = "standard"
    #: Another aggregate is isolated by it.
    OTHER_AGGREGATE = "other aggregate"
    #: Hosts outside the aggregate have it, too.
    OTHER_HOSTS = "other hosts"


@dataclasses.dataclass(frozen=True)
class Kept:
    """A trait that stays, and why.

    :ivar names: the other aggregates, or the providers outside
    """

    trait: str
    reason: Reason
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Step:
    """One thing that shall be true of one object, or on the way back no longer.

    :ivar name: of the object, for a person
    :ivar id: as its API takes it; of a host or its mirror the provider's UUID
    :ivar todo: what is still missing, or to be removed; none where all is as it
        shall be. Traits of a trait or a host, keys of a flavor, an image or an
        aggregate, the aggregate's UUID of a mirror
    :ivar removes: it is a step of the way back
    :ivar write: the change of a host's provider
    :ivar hosts: those that an aggregate had when the plan was made
    :ivar keys: those that isolated an aggregate then
    :ivar kept: what could have been removed and stays
    :ivar problem: why it can't be done at all
    """

    kind: Kind
    name: str
    id: str
    todo: tuple[str, ...]
    removes: bool = False
    write: plan.Step | None = None
    hosts: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    kept: tuple[Kept, ...] = ()
    problem: errors.TraitSchedError | None = None

    @property
    def holds(self) -> bool:
        """Whether all is as it shall be already."""
        return not self.todo


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a step.

    :ivar problem: why it failed, for a failed one
    """

    step: Step
    status: Status
    problem: errors.TraitSchedError | None = None


class HostsJoined(errors.AnswerIsNo):
    """Hosts joined the aggregate since it was read, and were not made ready."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self.hosts = tuple(sorted(hosts))
        super().__init__(", ".join(self.hosts))


class KeysCame(errors.AnswerIsNo):
    """Others isolated the aggregate, too, since it was read.

    Whom both together leave without a host was not foreseen.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = tuple(sorted(keys))
        super().__init__(", ".join(self.keys))


def foreseen(step: Step) -> Outcome:
    """Return what a dry run says of a step."""
    if step.problem is not None:
        return Outcome(step, Status.FAILED, step.problem)
    return Outcome(step, Status.UNCHANGED if step.holds else Status.WOULD_CHANGE)


def in_order(
    steps: Iterable[Step],
    carry_out: Callable[[tuple[Step, ...]], tuple[Outcome, ...]],
) -> Iterator[Outcome]:
    """Carry out steps kind by kind, and nothing after a kind of which one failed.

    :param carry_out: does all steps of one kind, whatever becomes of each
    """
    failed = False
    for _, group in itertools.groupby(steps, key=lambda step: step.kind):
        each = tuple(group)
        outcomes = tuple(map(_not_done, each)) if failed else carry_out(each)
        failed = failed or any(found.status is Status.FAILED for found in outcomes)
        yield from outcomes


def _not_done(step: Step) -> Outcome:
    return Outcome(step, Status.UNCHANGED if step.holds else Status.NOT_DONE)
