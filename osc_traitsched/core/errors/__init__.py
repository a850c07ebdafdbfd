"""What can go wrong, as types; how it is worded is the views' affair.

There are three kinds, and a caller can tell them apart: a bad question
(something was named that is not there or can't be), the answer no (the
question was good, and what it asks must not be done), and a cloud that broke.
"""

from __future__ import annotations

from osc_traitsched.core.errors.base import (
    AnswerIsNo,
    BadQuestion,
    TraitSchedError,
    Unexpected,
)
from osc_traitsched.core.errors.questions import (
    AmbiguousName,
    BadConfiguration,
    BadHostFile,
    BadUsage,
    EmptyAggregate,
    MalformedTrait,
    Mistakes,
    NoParameter,
    NoProvider,
    NoServer,
    NothingMatches,
    NotInRelease,
    UnknownTrait,
)
from osc_traitsched.core.errors.refusals import (
    FiltersNotInRelease,
    NotForProject,
    OtherSettings,
    PlacementRefuses,
    Refusal,
    WeighersNotInRelease,
)
from osc_traitsched.core.errors.services import (
    CloudBroke,
    ConcurrentUpdate,
    ExtraSpecsHidden,
    Forbidden,
    NotInCatalog,
    PrivateFlavorsHidden,
    TooOld,
)

__all__ = [
    "AmbiguousName",
    "AnswerIsNo",
    "BadConfiguration",
    "BadHostFile",
    "BadQuestion",
    "BadUsage",
    "CloudBroke",
    "ConcurrentUpdate",
    "EmptyAggregate",
    "ExtraSpecsHidden",
    "FiltersNotInRelease",
    "Forbidden",
    "MalformedTrait",
    "Mistakes",
    "NoParameter",
    "NoProvider",
    "NoServer",
    "NotForProject",
    "NotInCatalog",
    "NotInRelease",
    "NothingMatches",
    "OtherSettings",
    "PlacementRefuses",
    "PrivateFlavorsHidden",
    "Refusal",
    "TooOld",
    "TraitSchedError",
    "Unexpected",
    "UnknownTrait",
    "WeighersNotInRelease",
]
