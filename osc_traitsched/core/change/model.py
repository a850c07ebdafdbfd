"""Changes as values, their kinds, and the order in which they are written."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Optional, Union

from osc_traitsched.core.errors import AnswerIsNo, TraitSchedError
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import (
    REQUIRED,
    TENANT_KEY,
    ZONE_KEY,
    AggregatePolicy,
    Collation,
    isolated_by,
    requires,
)
from osc_traitsched.text import by_key, listed, quoted

# The one model of everything that is written, and what became of it.


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


# The order of all writes: eleven phases; mirror repair has one kind alone.
#
# What opens or adds comes before what closes or removes. So a flavor that keeps a host
# has one after every write, and a closed host is not open in between. If that can't be,
# the impact has a warning (``impact``).


_LOOSE = Collation.CASE_INSENSITIVE

#: A phase, and a step within it: no step begins before the one before it has ended.
_Step = tuple[Phase, int]


def ordered(
    changes: Iterable[Change],
    aggregates: Iterable[Aggregate] = (),
    collation: Collation = _LOOSE,
) -> Plan:
    """Plan of all changes, phase by phase.

    :param changes: at most one for each object, and for each host of an aggregate
    :param collation: how Nova's database compares metadata
    """
    order = _Order(tuple(changes), aggregates, collation)
    steps = by_key(
        (step, part) for change in order.changes for step, part in order.parts(change)
    )
    return Plan.of(*(_units(step, steps[step]) for step in sorted(steps)))


#: Why changes that are carried out together can't be made; None if they can.
Judge = Callable[[Sequence[Change]], Optional[TraitSchedError]]


def checked(plan: Plan, judge: Judge, collation: Collation) -> Plan:
    """Plan with known failures marked.

    A change that is known to fail blocks later ones of the same aggregate or trait, and
    these block others.

    :param judge: asked about changes that are carried out together, in order
    """
    failing: set[str] = set()
    stages = []
    for stage in plan.stages:
        marked: list[Change] = []
        for _, unit in itertools.groupby(
            stage, lambda each: each.moving_host or id(each)
        ):
            changes = list(unit)
            subjects = (s for each in changes for s in _subjects(each, collation))
            if not failing.isdisjoint(subjects):
                marked += (dataclasses.replace(c, blocked=True) for c in changes)
            elif problem := judge(changes):
                marked += (dataclasses.replace(c, problem=problem) for c in changes)
            else:
                marked += changes
        for change in marked:
            if change.is_needed and not change.is_sent:
                failing.update(_subjects(change, collation))
        stages.append(marked)
    return Plan.of(*stages)


def known_problem(changes: Sequence[Change]) -> TraitSchedError | None:
    """Why one of some changes can't be made, as far as the changes themselves say."""
    return next((each.problem for each in changes if each.problem is not None), None)


def plan_of(changes: Iterable[Change], collation: Collation = _LOOSE) -> Plan:
    """Plan of changes that put no host into another zone."""
    return checked(ordered(changes, (), collation), known_problem, collation)


def _subjects(change: Change, collation: Collation) -> Iterator[str]:
    kind, differing = change.object.kind, change.added | change.removed
    if kind.is_of_aggregate:
        yield f"aggregate {change.object.id}"
    traits = (kind.trait_in(key, REQUIRED, collation) for key in differing)
    yield from filter(None, traits)


def _units(step: _Step, changes: Sequence[Change]) -> Sequence[Change]:
    """Each moving host leaves and joins before the next."""
    changes = [dataclasses.replace(each, phase=step[0]) for each in changes]
    if step[0] is not Phase.MOVE:
        return changes
    by_host = sorted(changes, key=lambda change: min(change.after))
    return [dataclasses.replace(each, moving_host=min(each.after)) for each in by_host]


class _Order:
    def __init__(
        self,
        changes: tuple[Change, ...],
        aggregates: Iterable[Aggregate],
        collation: Collation,
    ) -> None:
        self._collation = collation
        now = {each.id: self._policy(each.metadata) for each in aggregates}
        then = dict(now)
        zones = {}
        for change in changes:
            identity = change.object.id
            if change.object.kind is ObjectKind.AGGREGATE:
                found = change.found.keys
                now[identity] = self._policy(found)
                then[identity] = self._policy(change.applied_to(found))
            elif change.object.kind is ObjectKind.NEW_AGGREGATE:
                zones[identity] = change.after.get(ZONE_KEY)
        for identity, zone in zones.items():
            policy = then.get(identity, AggregatePolicy())
            then[identity] = dataclasses.replace(policy, zone=zone)
        self._now, self._then = now, then
        hosts = [c for c in changes if c.object.kind is ObjectKind.AGGREGATE_HOSTS]
        self._moving = frozenset(self._changing_zone(hosts))
        self._closed_first = self._closing_first(hosts)
        self._opened_last = self._opening_last(changes, hosts)
        # Of a host that changes its zone: what is closed is left last, and all is left
        # before anything is joined.
        self.changes = sorted(changes, key=self._in_unit)

    def _policy(self, metadata: Keys) -> AggregatePolicy:
        return AggregatePolicy.read(metadata, self._collation)

    def _zone(self, change: Change) -> str | None:
        policy = self._then.get(change.object.id)
        return policy.zone if policy else None

    def _is_closed_now(self, change: Change) -> bool:
        policy = self._now.get(change.object.id)
        return policy is not None and policy.is_closed

    def _in_unit(self, change: Change) -> tuple[bool, bool]:
        if change.object.kind is not ObjectKind.AGGREGATE_HOSTS:
            return False, False
        return bool(change.added), self._is_closed_now(change)

    def _changing_zone(self, changes: Iterable[Change]) -> Iterator[tuple[str, str]]:
        left: dict[str, dict[str, str]] = {}
        joined: dict[str, dict[str, str]] = {}
        for change in changes:
            if zone := self._zone(change):
                for host in change.removed:
                    left.setdefault(host, {})[change.object.id] = zone
                for host in change.added:
                    joined.setdefault(host, {})[change.object.id] = zone
        for host in left.keys() & joined.keys():
            if {*left[host].values()} != {*joined[host].values()}:
                yield from ((each, host) for each in (*left[host], *joined[host]))

    def _closing_first(self, changes: Iterable[Change]) -> frozenset[str]:
        """Aggregates that hosts of closed ones move to from another zone."""
        moves = [
            (change, host)
            for change in changes
            for host in change.after
            if (change.object.id, host) in self._moving
        ]
        closed = {h for c, h in moves if h in c.removed and self._is_closed_now(c)}
        return frozenset(c.object.id for c, h in moves if h in c.added and h in closed)

    def _opening_last(
        self, changes: Iterable[Change], members: Iterable[Change]
    ) -> frozenset[str]:
        """Aggregates that open while others close the same hosts."""
        joined: dict[str, frozenset[str]] = {}
        left: dict[str, frozenset[str]] = {}
        for change in members:
            identity = change.object.id
            joined[identity] = joined.get(identity, frozenset()) | change.added
            left[identity] = left.get(identity, frozenset()) | change.removed
        metadata = [c for c in changes if c.object.kind is ObjectKind.AGGREGATE]
        none = frozenset[str]()
        closing = none.union(
            *(
                (c.found.hosts | joined.get(c.object.id, none))
                - left.get(c.object.id, none)
                for c in metadata
                if self._closes(c)
            )
        )
        return frozenset(
            c.object.id
            for c in metadata
            if not closing.isdisjoint(c.found.hosts | joined.get(c.object.id, none))
        )

    def _closes(self, change: Change) -> bool:
        """Whether new metadata keeps requests out that it let in, or may."""
        now, then = self._now[change.object.id], self._then[change.object.id]
        if then.traits - now.traits or now.loses_projects(then):
            return True
        return any(key.startswith(TENANT_KEY) for key in change.added) and not (
            now.gains_projects(then)
        )

    def parts(self, change: Change) -> Iterator[tuple[_Step, Change]]:
        keys: dict[_Step, dict[str, str | None]] = {}
        for key, value in change.after.items():
            keys.setdefault(self._step(change, key), {})[key] = value
        if len(keys) < 2:
            # A change without keys only says what stays.
            yield next(iter(keys), (Phase.REVOKE, 0)), change
            return
        found = change.found
        for step in sorted(keys):
            yield step, dataclasses.replace(change, found=found, after=keys[step])
            # By then the part before has changed a provider.
            found = dataclasses.replace(found, generation=None)

    def _step(self, change: Change, key: str) -> _Step:
        kind, identity = change.object.kind, change.object.id
        is_removed = change.after[key] is None
        if kind is ObjectKind.AGGREGATE:
            return self._step_of_metadata(change, key)
        if (identity, key) in self._moving:
            return Phase.MOVE, 0
        phase = kind.removing if is_removed else kind.adding
        if phase is Phase.PLACE:
            now = self._now.get(identity)
            return phase, 2 - bool(now and now.traits)
        if phase is Phase.LEAVE:
            then = self._then.get(identity)
            return phase, int(bool(then and then.traits))
        return phase, 0

    def _step_of_metadata(self, change: Change, key: str) -> _Step:
        """All metadata but the zone is written in one request."""
        if key == ZONE_KEY:
            return Phase.PLACE, 0
        is_closing = self._closes(change) or not any(
            each != ZONE_KEY and self._opens(change, each) for each in change.after
        )
        if is_closing and change.object.id in self._closed_first:
            return Phase.CLOSE_FIRST, 0
        if is_closing:
            return Phase.CLOSE, 0
        if change.object.id in self._opened_last:
            return Phase.CLOSE, 1
        return Phase.OPEN, 0

    def _opens(self, change: Change, key: str) -> bool:
        now, then = self._now[change.object.id], self._then[change.object.id]
        if key.startswith(TENANT_KEY):
            return now.gains_projects(then)
        return change.after[key] is None
