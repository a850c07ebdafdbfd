"""Isolating an aggregate by traits, and the way back: plans, and their effects.

The stages of a plan are ordered such that no flavor which the whole plan leaves a host
is without one on the way.
"""

from __future__ import annotations

from osc_traitsched.core.change.isolation.context import (
    ANYWHERE,
    Context,
    aggregates_of_projects,
    aggregates_of_zones,
    image_kinds,
    named_projects,
)
from osc_traitsched.core.change.isolation.course import Course, courses
from osc_traitsched.core.change.isolation.effect import (
    Effect,
    FullHostsUnread,
    HostsOnTheWay,
    HostsUnknown,
    LeavesNoHost,
    most_general,
)
from osc_traitsched.core.change.isolation.guards import (
    Contradiction,
    HostLeft,
    HostsJoined,
    KeysCame,
    NoLongerCloses,
)
from osc_traitsched.core.change.isolation.isolate import isolate_plan
from osc_traitsched.core.change.isolation.matrix import (
    Asked,
    MatrixRow,
    queries,
    request_matrix,
)
from osc_traitsched.core.change.isolation.predicted import (
    PredictedCloud,
    predicted_stages,
)
from osc_traitsched.core.change.isolation.state import (
    AggregateState,
    CloudState,
    Member,
)
from osc_traitsched.core.change.isolation.unisolate import (
    NotIsolated,
    isolating,
    open_plan,
    to_remove,
    unisolate_plan,
)

__all__ = [
    "ANYWHERE",
    "AggregateState",
    "Asked",
    "CloudState",
    "Context",
    "Contradiction",
    "Course",
    "Effect",
    "FullHostsUnread",
    "HostLeft",
    "HostsJoined",
    "HostsOnTheWay",
    "HostsUnknown",
    "KeysCame",
    "LeavesNoHost",
    "MatrixRow",
    "Member",
    "NoLongerCloses",
    "NotIsolated",
    "PredictedCloud",
    "aggregates_of_projects",
    "aggregates_of_zones",
    "courses",
    "image_kinds",
    "isolate_plan",
    "isolating",
    "most_general",
    "named_projects",
    "open_plan",
    "predicted_stages",
    "queries",
    "request_matrix",
    "to_remove",
    "unisolate_plan",
]
