"""What becomes of the hosts that flavors can use, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.change.impact import (
    Effect,
    HostSets,
    most_general,
)
from osc_traitsched.core.nova.switch import PROJECT_FILTER
from osc_traitsched.text import count, listed, quoted


def losses(effects: Iterable[Effect]) -> list[str]:
    """Return a line for the flavors of each kind that lose hosts.

    Of a zone or a project only where none would be left.
    """
    found = tuple(effects)
    without_host = most_general([each for each in found if each.leaves_no_host])
    stranded = {each.asked for each in without_host}
    told = (e for e in found if e.asked.is_general or e.asked in stranded)
    losing = (each for each in told if each.room.loses_any or each.ever.loses_any)
    return [f"{_flavors(kind)}: {_hosts(kind[0])}" for kind in _kinds(losing)]


def moments(effects: Iterable[Effect]) -> list[str]:
    """Return a line for flavors that may lack a host while a plan is carried out."""
    found = most_general([each for each in effects if each.for_a_moment])
    return [
        f"{_flavors(kind)} may find no host for a moment, while this is written"
        for kind in _kinds(found)
    ]


def _hosts(effect: Effect) -> str:
    """Return how many hosts have room, and how many would if none were in use."""
    room, ever = _arrow(effect.room), _arrow(effect.ever)
    said = f"hosts with room {room}"
    return said if room == ever else f"{said}, all suitable hosts {ever}"


def _arrow(hosts: HostSets) -> str:
    new = f" ({len(hosts.gained)} new)" if hosts.gained else ""
    return f"{len(hosts.now)} -> {len(hosts.then)}{new}"


def _kinds(effects: Iterable[Effect]) -> list[list[Effect]]:
    """Return those together of which the same is said but for the flavor."""
    kinds: dict[tuple[object, ...], list[Effect]] = {}
    for effect in effects:
        sets = (
            found
            for course in (effect.room, effect.ever)
            for found in (course.now, course.then, course.now & course.then)
        )
        numbers = tuple(map(len, sets))
        kinds.setdefault((_circumstances(effect), numbers), []).append(effect)
    return list(kinds.values())


def _flavors(effects: Sequence[Effect]) -> str:
    flavors = listed((quoted(effect.flavor) for effect in effects), "flavor")
    return f"{flavors}{_circumstances(effects[0])}"


def _circumstances(effect: Effect) -> str:
    return "".join(f" {each}" for each in _each_circumstance(effect))


def _each_circumstance(effect: Effect) -> Iterator[str]:
    asked = effect.asked
    if asked.image is not None:
        yield f"with image {quoted(asked.image)}"
    if asked.context.zone is not None:
        yield f"in zone {quoted(asked.context.zone)}"
    if asked.context.outside:
        yield "in the default zone"
    if asked.context.answer and asked.context.project is None:
        yield f"for projects that no aggregate names ({PROJECT_FILTER})"
    if effect.projects:
        yield f"for {listed(map(quoted, effect.projects), 'project')}"


def _left_without(effects: Sequence[Effect], will: str) -> str:
    """Return which flavors have no host, when all is done or for a moment."""
    kinds = {
        f"no host {will} be left": [e for e in effects if e.is_for_good],
        f"no host that can take one now {will} be left": [
            e for e in effects if not e.ever.becomes_empty
        ],
    }
    return "; ".join(f"{what} for {_stranded(of)}" for what, of in kinds.items() if of)


def _stranded(effects: Iterable[Effect]) -> str:
    kinds = _kinds(effects)
    return "; ".join(f"{_flavors(kind)}{_of_those(kind[0])}" for kind in kinds)


def _of_those(effect: Effect) -> str:
    """Return how many hosts could take it, where some of them can't now."""
    room, ever = len(effect.room.now), len(effect.ever.now)
    if room == ever:
        return ""
    left = len((effect.ever.now & effect.ever.then) - effect.room.now)
    others = f"; {left} full or disabled would be left" if left else ""
    return f" ({count(ever, 'host')} could ever take one, {room or 'none'} now{others})"


class LeavesNoHost(errors.AnswerIsNo):
    """Flavors that have a host now would lose their last one.

    :ivar effects: without those that a more general one says, too
    """

    def __init__(self, effects: Iterable[Effect]) -> None:
        self.effects = most_general(tuple(effects))

    def __str__(self) -> str:
        why = _left_without(self.effects, "would")
        return f"nothing written: {why}; --force overrides this"
