"""Hosts that are in no zone for a moment, since Nova takes no host into two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.change.outcome import Outcome


def left_first(outcomes: Iterable[Outcome]) -> Mapping[str, str]:
    """Return the hosts that leave an aggregate before they join another one.

    So it is with zones alone: else a host joins first (core/change/stages.py).

    :param outcomes: in the order of the plan; what fails, or is not begun, moves none
    :returns: the name of the aggregate, by the service host
    """
    left: dict[str, str] = {}
    found: dict[str, str] = {}
    for outcome in outcomes:
        change = outcome.change
        if change.object.kind is not Kind.AGGREGATE_HOSTS:
            continue
        if not outcome.is_off:
            left.update(dict.fromkeys(change.removed, change.object.name))
        found.update({host: left[host] for host in change.added & left.keys()})
    return found
