"""Which providers Placement has in each of many aggregates, in few requests."""

from __future__ import annotations

from collections.abc import Collection

from osc_traitsched.cloud import read, rest
from osc_traitsched.cloud.service import Service
from osc_traitsched.core.inventory.snapshot import Members
from osc_traitsched.core.placement import unions

#: So many UUIDs stay well below the 4,096 bytes at which some deployments cut a URL.
_IN_ONE_URL = 90

#: The answer that names the aggregates of a provider.
AGGREGATES: rest.Shape = {"aggregates": [str]}


def members(placement: Service, expected: Members) -> dict[str, frozenset[str]]:
    """Return the UUIDs of the providers in each aggregate, as Placement has them.

    About two requests for each doubling of the aggregates' number, and one more
    for each provider that is not where it is expected, or each aggregate, whichever
    is fewer.

    :param expected: the aggregates' UUIDs, each with the UUIDs of the providers
        that Nova has in it. The answer is exact whatever is expected; what is
        expected only makes it cheap.
    """
    asked = unions.unions(expected)
    if len(asked) >= len(expected):
        return {each: in_any(placement, [each]) for each in expected}
    answers = [in_any(placement, each) for each in asked]
    surprising = unions.surprises(expected, asked, answers)
    if len(surprising) + len(asked) > len(expected):
        return {each: in_any(placement, [each]) for each in expected}
    found = {each: expected[each] - surprising for each in expected}
    for provider in sorted(surprising):
        for aggregate in _aggregates(placement, provider) & set(expected):
            found[aggregate] |= {provider}
    return found


def in_any(placement: Service, aggregates: Collection[str]) -> frozenset[str]:
    """Return the UUIDs of the providers that are in one of the aggregates."""
    ordered = sorted(aggregates)
    found = frozenset[str]()
    for start in range(0, len(ordered), _IN_ONE_URL):
        query = {"member_of": "in:" + ",".join(ordered[start : start + _IN_ONE_URL])}
        found |= read.uuids(placement, query)
    return found


def _aggregates(placement: Service, provider: str) -> set[str]:
    path = f"/resource_providers/{provider}/aggregates"
    # Nova may have a compute node of that UUID, and Placement no provider.
    body = rest.get_if_there(placement, path, AGGREGATES)
    return set(body["aggregates"]) if body else set()
