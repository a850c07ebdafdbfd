"""What a plan closes to everybody: aggregates, and hosts that join one.

Nothing requires what isolates such an aggregate, or such a host lacks it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.trait_keys import isolated_by
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


@dataclasses.dataclass(frozen=True)
class OutOfReach:
    """Hosts that join an aggregate and lack a trait by which it is isolated.

    Placement finds none of them for a request that requires the trait, and no host of
    the aggregate for one that does not.

    :ivar aggregate: its name
    :ivar hosts: these service hosts
    """

    aggregate: str
    trait: str
    hosts: tuple[str, ...]


def out_of_reach(now: FoundCloud, then: FoundCloud) -> Iterator[OutOfReach]:
    """Yield hosts that a plan adds to isolated aggregates where no request finds them.

    Nothing is yielded of a trait that a provider has whose inventory others share:
    hosts may have it from there.
    """
    nodes = (now.snapshot.nova or Nova()).by_service_host
    for identity, body in then.aggregate_of_id.items():
        was = now.aggregate_of_id.get(identity, {"hosts": []})
        joined = sorted({*body["hosts"]}.difference(was["hosts"]))
        for name in (
            sorted(isolated_by(body["metadata"], now.collation)) if joined else ()
        ):
            holders = then.holders.get(name, frozenset())
            if not now.snapshot.sharing.isdisjoint(holders):
                continue
            roots = {now.snapshot.by_uuid[each].root for each in holders}
            lacking = [
                host
                for host in joined
                if nodes.get(host) and roots.isdisjoint(n.uuid for n in nodes[host])
            ]
            if lacking:
                yield OutOfReach(body["name"], name, tuple(lacking))
