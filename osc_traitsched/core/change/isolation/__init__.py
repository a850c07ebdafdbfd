"""Isolating an aggregate by traits, and the way back: the steps, and whom they touch.

A plan is a tuple of steps. Their order is such that nobody whom the whole plan
leaves a host is without one on the way.
"""

from __future__ import annotations

from osc_traitsched.core.change.isolation.effect import (
    Effect,
    Stranding,
    askings,
    effects,
    queries,
)
from osc_traitsched.core.change.isolation.isolate import Contradiction, isolate_plan
from osc_traitsched.core.change.isolation.predicted import World, stages
from osc_traitsched.core.change.isolation.state import Ground, Member
from osc_traitsched.core.change.isolation.steps import (
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
from osc_traitsched.core.change.isolation.unisolate import (
    NotIsolated,
    to_open,
    unisolate_plan,
)

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
    "effects",
    "foreseen",
    "in_order",
    "isolate_plan",
    "queries",
    "stages",
    "to_open",
    "unisolate_plan",
]
