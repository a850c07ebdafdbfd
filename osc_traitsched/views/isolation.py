"""Lines of short commands: what they write, and what stays misplaced."""

from __future__ import annotations

import collections
from collections.abc import Iterable

from osc_traitsched.core.change.effects import MisplacedServers, image_unseen, named
from osc_traitsched.core.change.model import (
    Outcome,
    Status,
)
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova.options import ISOLATION
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.text import count, listed, option, quoted, visible


def summary(subject: str, outcomes: Iterable[Outcome]) -> str:
    """The line before the rows: ``gold: 5 changed, 2 unchanged``."""
    counts = collections.Counter(each.status for each in outcomes)
    if counts.keys() <= {Status.UNCHANGED}:
        return f"{visible(subject)}: nothing to change\n"
    order = sorted(counts, key=lambda status: status is Status.UNCHANGED)
    said = ", ".join(f"{counts[each]} {each.value}" for each in order)
    return f"{visible(subject)}: {said}\n"


def without_effect(setting: Setting) -> str | None:
    """A line if the scheduler may not isolate at all; None if it does."""
    if setting.value:
        return None
    name = option(ISOLATION)
    known = "is off" if setting.given else "is assumed to be off"
    return (
        f"{name} {known} ({setting.source}): until it is on, any server may use the "
        "aggregate; hosts with room are counted as if it were on"
    )


def misplaced(found: MisplacedServers | CloudBroke) -> list[str]:
    """Lines on servers that stay in the aggregate, or outside, against its isolation.

    :param found: the servers, or why they can't be read
    """
    if isinstance(found, CloudBroke):
        return [f"which servers exist can't be read ({found!s})"]
    traits = listed(found.traits)
    lines = (
        (found.inside, f"in the aggregate not requiring {traits}, left there"),
        (found.outside, f"outside of the aggregate requiring {traits}, left there"),
        (found.unknown, "with requirements that the compute API does not show"),
    )
    said = [
        f"{count(len(servers), 'server')} {which}: " + listed(map(named, servers))
        for servers, which in lines
        if servers
    ]
    unclear = found.without_image
    return [*said, image_unseen(unclear)] if unclear else said


def no_hosts(aggregate: str) -> str:
    """A line on an aggregate without hosts that will be isolated."""
    return f"aggregate {quoted(aggregate)} has no hosts: isolate it again once it does"
