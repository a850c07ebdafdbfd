"""A refusal of the request as a whole."""

from __future__ import annotations

from typing import Any

from osc_traitsched.core.errors import (
    NotForProject,
    PlacementRefuses,
    Refusal,
    TraitSchedError,
    nova,
)


def document(
    refusal: TraitSchedError | None, is_moved: bool = False
) -> dict[str, Any] | None:
    """Return who refuses the request, by what and why; None if nobody does.

    :param is_moved: it is a move's request
    """
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
        "text": text(refusal, is_moved),
    }


def text(refusal: TraitSchedError, is_moved: bool) -> str:
    """Return who refuses a request and why, in a sentence.

    :param is_moved: it is a move's request
    """
    if is_moved and isinstance(refusal, Refusal):
        return nova.sentence(refusal, is_moved)
    return str(refusal)
