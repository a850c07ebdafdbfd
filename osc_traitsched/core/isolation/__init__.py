"""Isolating an aggregate by traits, and the way back: the steps, and whom they touch.

A plan is a tuple of steps. Their order is such that nobody whom the whole plan
leaves a host is without one on the way.
"""

from __future__ import annotations

from osc_traitsched.core.isolation.closing import Contradiction, closing
from osc_traitsched.core.isolation.effect import (
    Effect,
    Stranding,
    askings,
    effects,
    queries,
)
from osc_traitsched.core.isolation.ground import Ground, Member
from osc_traitsched.core.isolation.opening import NotIsolated, opening, to_open
from osc_traitsched.core.isolation.steps import (
    HostsJoined,
    Kept,
    KeysCame,
    Kind,
    Outcome,
    Reason,
    Step,
    foreseen,
    in_order,
)
from osc_traitsched.core.isolation.world import World, stages

__all__ = [
    "Contradiction",
    "Effect",
    "Ground",
    "HostsJoined",
    "Kept",
    "KeysCame",
    "Kind",
    "Member",
    "NotIsolated",
    "Outcome",
    "Reason",
    "Step",
    "Stranding",
    "World",
    "askings",
    "closing",
    "effects",
    "foreseen",
    "in_order",
    "opening",
    "queries",
    "stages",
    "to_open",
]
