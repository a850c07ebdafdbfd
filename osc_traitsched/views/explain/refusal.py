"""A refusal of the request as a whole, for programs."""

from __future__ import annotations

from typing import Any

from osc_traitsched.core.errors import (
    NotForProject,
    PlacementRefuses,
    Refusal,
    TraitSchedError,
)
from osc_traitsched.views import problems


def document(refusal: TraitSchedError | None) -> dict[str, Any] | None:
    """Return who refuses the request, by what and why; None if nobody does."""
    if refusal is None:
        return None
    nova = refusal if isinstance(refusal, Refusal) else None
    # nova-api does not find what the project may not use.
    stage = "api" if isinstance(refusal, NotForProject) else None
    return {
        "by": "placement" if isinstance(refusal, PlacementRefuses) else "nova",
        "exception": nova.exception if nova else None,
        "keys": list(nova.keys) if nova else [],
        "stage": nova.stage if nova else stage,
        "text": problems.word(refusal),
    }
