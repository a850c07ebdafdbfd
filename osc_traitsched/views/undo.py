"""The commands that take back what isolate and unisolate wrote.

Aggregates are opened and closed by this project's own commands alone, which first look
at who would have no host.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from osc_traitsched.core.change.model import Change, Kind
from osc_traitsched.core.inventory.trait_keys import REQUIRED, key_of
from osc_traitsched.views import isolation
from osc_traitsched.views.afterwards import commands
from osc_traitsched.views.commands import Command, Option, openstack

_FLAGS = {Kind.FLAVOR: "--flavor", Kind.IMAGE: "--image"}


def of_isolate(
    aggregate: str,
    names: Iterable[str],
    scheduler: Sequence[Option],
    back: Sequence[Change],
) -> list[Command]:
    """Return what takes back what isolate wrote, last first.

    :param names: the traits that it was given
    :param scheduler: the options on how it is configured
    :param back: the changes that take it back
    """
    opened = [each for each in back if each.object.kind is Kind.AGGREGATE]
    traits = [name for change in opened for name in _among(names, change)]
    opening = isolation.again(aggregate, traits, scheduler=scheduler)
    return [*([opening] if traits else []), *commands(back)]


def of_unisolate(
    aggregate: str,
    names: Iterable[str],
    scheduler: Sequence[Option],
    back: Sequence[Change],
) -> list[Command]:
    """Return the one command that takes back what unisolate wrote.

    Nothing where no aggregate is to be closed again, or where closing it would do less
    to flavors, images and hosts than take that back, or more.

    :param names: the traits that it was given
    :param scheduler: the options on how it is configured
    :param back: the changes that take it back
    """
    closed = next((each for each in back if each.object.kind is Kind.AGGREGATE), None)
    traits = _among(names, closed) if closed else []
    if closed is None or not traits:
        return []
    others = [each for each in back if each is not closed]
    if not all(_is_done_by_closing(each, closed, traits) for each in others):
        return []
    chosen = [
        Option(_FLAGS[each.object.kind], each.object.id)
        for each in others
        if each.object.kind in _FLAGS
    ]
    return [openstack("trait-sched isolate", aggregate, *traits, *chosen, *scheduler)]


def _among(names: Iterable[str], change: Change) -> list[str]:
    """Return the traits whose keys, in whatever letters, an aggregate's change has."""
    keys = {key.upper() for key in change.after}
    return [name for name in names if key_of(name).upper() in keys]


def _is_done_by_closing(change: Change, closed: Change, traits: Sequence[str]) -> bool:
    if change.object.kind not in _FLAGS:
        is_inside = change.object.host in closed.found.hosts
        return is_inside and frozenset(traits).issuperset(change.after)
    keys = frozenset(map(key_of, traits))
    lacked = (key for key in keys if change.found.keys.get(key) != REQUIRED)
    return keys.issuperset(change.after) and change.after.keys() >= {*lacked}
