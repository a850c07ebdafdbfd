"""Where Nova and Placement do not have a host in the same aggregates."""

from __future__ import annotations

from typing import Any

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.nova.clause import MemberOf


def differences(explanation: Explanation, host: Provider) -> list[dict[str, Any]]:
    """Return the request's aggregates that only one of the two has the host in.

    Nova mirrors its aggregates into Placement when hosts join them, and only
    logs it when that fails.
    """
    facts, compute = explanation.facts, explanation.computes.get(host.uuid)
    if facts is None or compute is None:
        return []
    found = []
    for aggregate in explanation.question.aggregates:
        asked = frozenset({aggregate["uuid"]})
        if not any(
            isinstance(c, MemberOf) and c.aggregates == asked
            for c in explanation.clauses
        ):
            continue
        nova = compute.service_host in aggregate["hosts"]
        placement = host.uuid in facts.members[asked]
        if nova is not placement:
            found.append(
                {"aggregate": aggregate["name"], "nova": nova, "placement": placement}
            )
    return found
