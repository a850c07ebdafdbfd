"""The one model of everything that is written, and what became of it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Optional, Union

from osc_traitsched.core.errors import AnswerIsNo, TraitSchedError
from osc_traitsched.core.inventory.metadata import Collation, isolated_by, requires
from osc_traitsched.text import listed, quoted

# A :class:`Change` names one object, some of its keys, and what each of them was and
# shall be; whatever else the object has stays. A :class:`Plan` is changes in stages;
# an :class:`Outcome` is what became of one. A key that is not there has the value None.


Value = Union[str, None]

#: The value of a key that has none of its own: it is there.
PRESENT = "present"

Keys = Mapping[str, Value]


class Phase(enum.IntEnum):
    """The phases, in order of writes."""

    #: Traits and aggregates are made.
    CREATE = enum.auto()
    #: Hosts get traits; Placement's aggregates get the hosts that Nova's have.
    GRANT = enum.auto()
    #: An aggregate closes that gets hosts of a closed one from another zone.
    CLOSE_FIRST = enum.auto()
    #: Aggregates get their zones, then hosts.
    PLACE = enum.auto()
    #: Hosts change their zone, one at a time: each leaves one aggregate, joins another.
    MOVE = enum.auto()
    #: Aggregates open: they require fewer traits, or name more projects.
    OPEN = enum.auto()
    #: Flavors and images require traits.
    REQUIRE = enum.auto()
    #: Aggregates close: they require more traits, or name fewer projects.
    CLOSE = enum.auto()
    #: Flavors and images no longer require traits.
    RELEASE = enum.auto()
    #: Hosts leave aggregates.
    LEAVE = enum.auto()
    #: Hosts lose traits.
    REVOKE = enum.auto()


#: The trait that a key with a value stands for, or None.
TraitInKey = Callable[[str, str, Collation], Optional[str]]


def _no_trait(key: str, value: str, collation: Collation) -> None:
    return None


def _key_itself(key: str, value: str, collation: Collation) -> str:
    return key


def _required(key: str, value: str, collation: Collation) -> str | None:
    return requires(key, value)


def _isolating(key: str, value: str, collation: Collation) -> str | None:
    return next(iter(isolated_by({key: value}, collation)), None)


@dataclasses.dataclass(frozen=True, eq=False)
class ObjectKind:
    """A kind of write: all that is true of it, but for its requests (cloud/write.py).

    Words are templates for the name of an object, and one of its keys.

    :ivar noun: in sentences, and in JSON for what requires a trait
    :ivar step: in rows of a plan
    :ivar subject: in lines of a plan: what the object's name names
    :ivar adding: phase of a key that gets a value; phases.py has exceptions
    :ivar removing: phase of a key that is removed
    :ivar unit: one key of an object
    :ivar trait_in: the trait that a key stands for
    :ivar not_undone: why no undo file brings a key back
    :ivar made: the change, in rows of short commands; empty to name the keys
    :ivar has_names: keys are names without values; an existing key is PRESENT
    :ivar is_of_aggregate: a failure blocks other changes of the same aggregate
    :ivar is_by_key: each key is a change of its own
    """

    noun: str
    step: str
    subject: str
    adding: Phase
    removing: Phase
    unit: str = "{key} of {name}"
    trait_in: TraitInKey = _no_trait
    not_undone: str = (
        "{key} of {name}: Nova can't unset it, or no file can have the old value"
    )
    made: str = ""
    has_names: bool = False
    is_of_aggregate: bool = False
    is_by_key: bool = False

    TRAIT: ClassVar[ObjectKind]
    PROVIDER_TRAITS: ClassVar[ObjectKind]
    PROVIDER_AGGREGATES: ClassVar[ObjectKind]
    FLAVOR: ClassVar[ObjectKind]
    IMAGE: ClassVar[ObjectKind]
    AGGREGATE: ClassVar[ObjectKind]
    NEW_AGGREGATE: ClassVar[ObjectKind]
    AGGREGATE_HOSTS: ClassVar[ObjectKind]

    def __repr__(self) -> str:
        return self.noun


#: The key is the trait's own name.
ObjectKind.TRAIT = ObjectKind(
    *("trait", "trait", "trait"),
    *(Phase.CREATE, Phase.CREATE),
    unit="trait {name}",
    trait_in=_key_itself,
    not_undone="trait {key} was created: openstack trait delete {key}",
    made="created",
    has_names=True,
)
ObjectKind.PROVIDER_TRAITS = ObjectKind(
    *("provider traits", "host", "host"),
    *(Phase.GRANT, Phase.REVOKE),
    trait_in=_key_itself,
    not_undone="{key} of {name}, which no file removes; trait-sched remove does",
    has_names=True,
)
#: Keys are the UUIDs of aggregates.
ObjectKind.PROVIDER_AGGREGATES = ObjectKind(
    *("provider aggregates", "mirror", "host"),
    *(Phase.GRANT, Phase.GRANT),
    unit="aggregate {key} of {name}",
    not_undone="{name} was put into an aggregate of its host in Placement",
    made="joins the aggregate in Placement",
    has_names=True,
)
#: Keys are extra specs.
ObjectKind.FLAVOR = ObjectKind(
    *("flavor", "flavor", "flavor"),
    *(Phase.REQUIRE, Phase.RELEASE),
    trait_in=_required,
)
#: Keys are properties.
ObjectKind.IMAGE = ObjectKind(
    *("image", "image", "image"),
    *(Phase.REQUIRE, Phase.RELEASE),
    trait_in=_required,
)
#: Keys are metadata.
ObjectKind.AGGREGATE = ObjectKind(
    *("aggregate", "aggregate", "aggregate"),
    *(Phase.CLOSE, Phase.OPEN),
    trait_in=_isolating,
    is_of_aggregate=True,
)
#: Keys are ``name`` and ``availability_zone``.
ObjectKind.NEW_AGGREGATE = ObjectKind(
    *("new aggregate", "aggregate", "aggregate"),
    *(Phase.CREATE, Phase.CREATE),
    unit="new aggregate {name}",
    not_undone="aggregate {name} was created; once empty: openstack aggregate delete",
    is_of_aggregate=True,
)
#: Keys are service hosts; Nova adds and removes them one at a time.
ObjectKind.AGGREGATE_HOSTS = ObjectKind(
    *("aggregate hosts", "member", "aggregate"),
    *(Phase.PLACE, Phase.LEAVE),
    unit="host {key} of {name}",
    not_undone="{key} in {name}: Nova does not list the host, or a zone that Nova "
    "can't unset keeps it out",
    has_names=True,
    is_of_aggregate=True,
    is_by_key=True,
)


@dataclasses.dataclass(frozen=True)
class Object:
    """Something that a service keeps and that is written by itself.

    :ivar id: as its API takes it; empty if there is nothing to write to
    :ivar host: of a provider the name of its host
    :ivar owner: of another project's image the project's ID
    :ivar is_new: an aggregate that the plan creates; its ID is a placeholder
    """

    kind: ObjectKind
    id: str
    name: str
    host: str = ""
    owner: str = ""
    is_new: bool = False


@dataclasses.dataclass(frozen=True)
class State:
    """What was read of an object.

    :ivar keys: at least those that a change is about
    :ivar generation: a provider's, read before the keys; None without one
    :ivar hosts: of an aggregate
    """

    keys: Keys
    generation: int | None = None
    hosts: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Change:
    """New values for some keys of one object.

    :ivar found: the object as it was read
    :ivar after: new values, unchanged ones too, so that a change by others is noticed
    :ivar kept: sentences on traits that could have been removed and stay
    :ivar problem: why it can't be made
    :ivar blocked: an earlier one of the same aggregate or trait is known to fail
    :ivar moving_host: the host that changes its zone: its changes are made one at a
        time, and none after one that fails
    """

    object: Object
    found: State
    after: Keys
    kept: tuple[str, ...] = ()
    problem: TraitSchedError | None = None
    blocked: bool = False
    phase: int = 0
    moving_host: str = ""

    @property
    def before(self) -> Keys:
        """Each key with the value that it had."""
        return {key: self.found.keys.get(key) for key in self.after}

    @property
    def added(self) -> frozenset[str]:
        """The keys that get a value, or another one."""
        return _differing(self.found.keys, self.after) - self.removed

    @property
    def removed(self) -> frozenset[str]:
        """The keys that are taken away."""
        differing = _differing(self.found.keys, self.after)
        return frozenset(key for key in differing if self.after[key] is None)

    @property
    def is_needed(self) -> bool:
        """Whether the object was not yet as desired."""
        return not self.holds_in(self.found)

    @property
    def is_sent(self) -> bool:
        """Whether a service is asked for it: it is needed, and it can be done."""
        return self.is_needed and self.problem is None and not self.blocked

    def holds_in(self, state: State) -> bool:
        """Tell whether an object in this state is as desired."""
        return not _differing(state.keys, self.after)

    def applied_to(self, keys: Keys) -> dict[str, str]:
        """Return the keys with the change; those that are taken away are not there."""
        changed = {**keys, **self.after}
        return {key: value for key, value in changed.items() if value is not None}

    def reverted(self, left: Iterable[str]) -> Change:
        """The way back, which leaves some keys as they are then."""
        found = State(self.applied_to(self.found.keys))
        after = {key: value for key, value in self.before.items() if key not in left}
        return dataclasses.replace(self, found=found, after=after)

    def refusal(self, now: State) -> AnswerIsNo | None:
        """Why the object must not be written now; None if it may.

        A key with neither the old nor the new value was set by somebody else.
        """
        values = {key: now.keys.get(key) for key in self.after}
        others = listed(
            f"{quoted(key)} is {'gone' if value is None else quoted(str(value))}"
            for key, value in values.items()
            if value not in (self.after[key], self.found.keys.get(key))
        )
        if not others:
            return None
        return AnswerIsNo(f"changed meanwhile: {others} now; run the command again")


def _differing(keys: Keys, after: Keys) -> frozenset[str]:
    return frozenset(key for key, value in after.items() if keys.get(key) != value)


@dataclasses.dataclass(frozen=True)
class Plan:
    """Changes in stages: none of a stage begins before the one before it has ended."""

    stages: tuple[tuple[Change, ...], ...]

    @classmethod
    def of(cls, *stages: Iterable[Change]) -> Plan:
        """Return a plan of these stages, without empty ones."""
        return cls(tuple(filter(None, map(tuple, stages))))

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes, in order."""
        return tuple(change for stage in self.stages for change in stage)

    @property
    def has_changes(self) -> bool:
        """Whether carrying it out would write anything."""
        return any(change.is_sent for change in self.changes)


# What became of changes, or will: all that is known once they are carried out.


class Status(enum.Enum):
    """What became of one change."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    WOULD_CHANGE = "would change"
    FAILED = "failed"
    #: It was not begun: an earlier one failed, or all was ended before.
    NOT_DONE = "not done"
    #: It may be written, whole or in part, or not: no answer says which, or all was
    #: ended while it was under way.
    UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a change.

    :ivar problem: why it failed or may have
    :ivar overwritten: the object right before it was written
    """

    change: Change
    status: Status
    problem: TraitSchedError | None = None
    overwritten: State | None = None

    @property
    def written(self) -> Change:
        """The change from the state that was overwritten, or would be."""
        if self.overwritten is None:
            return self.change
        return dataclasses.replace(self.change, found=self.overwritten)

    @property
    def added(self) -> frozenset[str]:
        """The keys that got a value, or would get one; those alone that surely did."""
        return self.written.added if self._is_of_effect else frozenset()

    @property
    def removed(self) -> frozenset[str]:
        """The keys that were taken away, or would be; those alone that surely were."""
        return self.written.removed if self._is_of_effect else frozenset()

    @property
    def is_in_doubt(self) -> bool:
        """Whether it failed, or may have."""
        return self.status in (Status.FAILED, Status.UNKNOWN)

    @property
    def is_off(self) -> bool:
        """Whether the object is, or may be, otherwise than the change wants it."""
        return self.is_in_doubt or self.status is Status.NOT_DONE

    @property
    def _is_of_effect(self) -> bool:
        return self.status in (Status.CHANGED, Status.WOULD_CHANGE)


def foreseen_outcomes(plan: Plan) -> tuple[Outcome, ...]:
    """What a dry run says of all changes of a plan, in their order."""
    return tuple(map(foreseen, plan.changes))


def foreseen(change: Change) -> Outcome:
    """What becomes of a change by itself, as far as that is known."""
    if change.problem is not None:
        return Outcome(change, Status.FAILED, change.problem)
    if change.blocked and change.is_needed:
        return Outcome(change, Status.NOT_DONE)
    needed = change.is_needed
    return Outcome(change, Status.WOULD_CHANGE if needed else Status.UNCHANGED)


def not_done(change: Change) -> Outcome:
    """What becomes of a change that is not begun."""
    return Outcome(change, Status.NOT_DONE) if change.is_sent else foreseen(change)
