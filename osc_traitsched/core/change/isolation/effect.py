"""What a plan does to flavors, found out before anything is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.isolation.context import Context
from osc_traitsched.core.change.isolation.course import Course
from osc_traitsched.core.change.isolation.matrix import Asked


@dataclasses.dataclass(frozen=True)
class Effect:
    """What becomes of the hosts that a flavor can use, as it is asked for.

    :ivar room: the hosts that have room for one server now
    :ivar ever: those that could take one if nothing were in use and no host disabled;
        more than these
    :ivar others: more contexts in which all this is the same
    :ivar unread: why it is not known which hosts that are; None if it is
    :ivar may_leave_no_host: it is not known, and it may have hosts to lose
    """

    asked: Asked
    room: Course
    ever: Course
    others: tuple[Context, ...] = ()
    unread: errors.TraitSchedError | None = None
    may_leave_no_host: bool = False

    @classmethod
    def unknown(
        cls, flavor: str, why: errors.TraitSchedError, may_have_hosts: bool
    ) -> Effect:
        """Return what is known of a flavor that Placement can't be asked for."""
        none = Course((frozenset(),))
        asked = Asked(flavor, None)
        return cls(asked, none, none, (), why, may_have_hosts)

    @property
    def flavor(self) -> str:
        """The flavor's name."""
        return self.asked.flavor

    @property
    def contexts(self) -> tuple[Context, ...]:
        """All contexts in which it is the same."""
        return self.asked.context, *self.others

    def in_contexts(self, contexts: Sequence[Context]) -> Effect:
        """Return the effect as that on what is asked for in some of the contexts."""
        asked = dataclasses.replace(self.asked, context=contexts[0])
        return dataclasses.replace(self, asked=asked, others=tuple(contexts[1:]))

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects of which it is so, in the same zone; none if it is of all."""
        first = self.asked.context
        if first.project is None:
            return ()
        return tuple(
            each.project
            for each in self.contexts
            if each.project is not None
            and (each.zone, each.outside) == (first.zone, first.outside)
        )

    @property
    def now(self) -> frozenset[str]:
        """The hosts that have room before anything is written."""
        return self.room.now

    @property
    def then(self) -> frozenset[str]:
        """Those that have room when all is done."""
        return self.room.then

    @property
    def leaves_no_host(self) -> bool:
        """Whether it has a host now, and may have none after some of the steps.

        A host with room, or one that could have room some day: a cloud that is full
        now, or whose hosts are disabled for some hours, must not be closed to it for
        good.
        """
        return self.room.becomes_empty or self.ever.becomes_empty

    def without_at_first(self, roots: frozenset[str]) -> Effect:
        """Return the effect as if it did not have some hosts until it once has not."""
        room, ever = (c.without_at_first(roots) for c in (self.room, self.ever))
        return dataclasses.replace(self, room=room, ever=ever)

    @property
    def comes_and_goes(self) -> bool:
        """Whether it has no host now, and may have some on the way, and then none.

        A run that begins in between finds a host, and none after some of the steps.
        """
        return self.room.comes_and_goes or self.ever.comes_and_goes

    @property
    def before_none(self) -> frozenset[str]:
        """The hosts that it has at some time, and none of them at a later one."""
        return self.room.before_none | self.ever.before_none

    @property
    def is_for_good(self) -> bool:
        """Whether none could ever take one when all is done, and some could before."""
        return self.ever.becomes_empty and not self.ever.then


class LeavesNoHost(errors.AnswerIsNo):
    """Flavors that can be used now would be left without any host.

    :ivar effects: without those that a more general one says, too
    """

    def __init__(self, effects: Iterable[Effect]) -> None:
        self.effects = most_general(tuple(effects))
        super().__init__(", ".join(effect.flavor for effect in self.effects))


class HostsOnTheWay(errors.AnswerIsNo):
    """Flavors that have no host now would get some, and then have none.

    Another run, that goes on with the plan, can't know that they had none.

    :ivar effects: as of :class:`LeavesNoHost`
    :ivar hosts: the names of the hosts that they would have in between
    """

    def __init__(self, effects: Iterable[Effect], hosts: Iterable[str]) -> None:
        self.hosts = tuple(hosts)
        self.effects = most_general(tuple(effects))
        super().__init__(", ".join(effect.flavor for effect in self.effects))


class FullHostsUnread(errors.TraitSchedError):
    """No host that was read would be left, and others, all of them full, were not read.

    :ivar providers: how many of these
    """

    def __init__(self, providers: int) -> None:
        super().__init__(str(providers))
        self.providers = providers


class HostsUnknown(errors.AnswerIsNo):
    """Flavors of which it can't be known whether they would be left without a host.

    :ivar effects: one of each flavor
    """

    def __init__(self, effects: Iterable[Effect]) -> None:
        self.effects = tuple(effects)
        super().__init__(", ".join(effect.flavor for effect in self.effects))


def most_general(found: Sequence[Effect]) -> tuple[Effect, ...]:
    """Return the effects but for those that another of the same flavor includes.

    A flavor that has no host has none in any zone.
    """
    known = {effect.asked: effect for effect in found}

    def is_included(effect: Effect) -> bool:
        broader = (known[each] for each in effect.asked.broader() if each in known)
        return any(_is_as_bad(each, effect) for each in broader)

    return tuple(effect for effect in found if not is_included(effect))


def _is_as_bad(one: Effect, other: Effect) -> bool:
    return (one.ever.becomes_empty or not other.ever.becomes_empty) and (
        one.is_for_good or not other.is_for_good
    )
