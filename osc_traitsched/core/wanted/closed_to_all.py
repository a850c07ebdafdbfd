"""Aggregates that a plan closes to everybody: no flavor requires their traits."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.inventory.metadata import isolated_by
from osc_traitsched.core.nova.required import required_traits
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.found import FoundCloud


def closed_to_all(
    now: FoundCloud, then: FoundCloud, settings: SchedulerSettings
) -> Iterator[tuple[str, list[str]]]:
    """Yield the aggregates that no flavor gets into once a plan isolates them.

    An image may require the traits instead: that is not looked at.

    :returns: the name of each, with all traits that isolate it then
    """
    isolated = {}
    for identity, body in then.aggregate_of_id.items():
        was = now.aggregate_of_id.get(identity, {"metadata": {}})
        traits = isolated_by(body["metadata"], now.collation).keys()
        if traits - isolated_by(was["metadata"], now.collation).keys():
            isolated[body["name"]] = frozenset(traits)
    if not isolated:
        return
    required = {
        traits
        for flavor in then.flavors
        for traits in required_traits(flavor, settings)
    }
    for name, needed in isolated.items():
        if not any(needed <= each for each in required):
            yield name, sorted(needed)
