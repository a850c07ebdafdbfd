"""What an explanation does not cover, named."""

from __future__ import annotations

from osc_traitsched.core import assumption
from osc_traitsched.core.explanation import Explanation

#: Host filters that decide about a server that has neither hints nor networks.
_FILTERS = assumption.ENABLED_FILTERS


def items(explanation: Explanation) -> list[dict[str, str]]:
    """Return what was not looked at: a kind, and one line about it."""
    assumptions = explanation.question.assumptions
    filters = assumptions.setting(_FILTERS)
    names = ", ".join(filters.value or ()) if isinstance(filters.value, tuple) else ""
    found = [
        {
            "kind": "host filters",
            "text": f"nova-scheduler's filters after Placement: {names} "
            f"({filters.source})",
        },
        {
            "kind": "ports",
            "text": "networks and ports: what they ask of Placement is not known here",
        },
    ]
    if explanation.request is not None:
        found.extend(
            {"kind": each.kind, "text": _line(each.kind, each.key, each.value)}
            for each in explanation.request.unseen
        )
    return found


def _line(kind: str, key: str, value: str) -> str:
    named = f"{key}={value}" if value else key
    return f"{kind}: {named}"
