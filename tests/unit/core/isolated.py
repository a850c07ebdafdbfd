"""An aggregate and its hosts as values, for the tests of isolation."""

from __future__ import annotations

from osc_traitsched.core.change.isolation.state import AggregateState, Member
from osc_traitsched.core.inventory.snapshot import Holding, Provider, Snapshot

GOLD, SILVER, SSD = "CUSTOM_GOLD", "CUSTOM_SILVER", "STORAGE_DISK_SSD"
AGGREGATE = "aggregate-uuid"


def host(name, *traits):
    """Return a member that is a root provider with these traits."""
    provider = Provider(f"{name}-uuid", name, 1, f"{name}-uuid")
    return Member(name, Holding(provider, frozenset(traits)))


def aggregate(number, *hosts, **metadata):
    return {
        "id": number,
        "uuid": AGGREGATE if number == 1 else f"aggregate-{number}",
        "name": f"a{number}",
        "hosts": list(hosts),
        "metadata": {f"trait:{name}": value for name, value in metadata.items()},
    }


def flavor(name, **specs):
    """Return a flavor that asks for one processor and one MB."""
    return {
        "id": f"{name}-id",
        "name": name,
        "vcpus": 1,
        "ram": 1,
        "disk": 0,
        "extra_specs": specs,
    }


def state(*members, others=(), mirrored=(), flavors=(), keys=None, **metadata):
    """Return an aggregate of these members with this metadata.

    :param keys: more of it, by whole keys
    """
    held = [member.holding.provider for member in members if member.holding]
    first = aggregate(1, *(member.host for member in members), **metadata)
    first["metadata"].update(keys or {})
    return AggregateState(
        snapshot=Snapshot(tuple(held)),
        aggregate=first,
        aggregates=(first, *others),
        members=members,
        mirrored=frozenset(mirrored),
        flavors=tuple(flavors),
        traits=frozenset({GOLD, SILVER, SSD, "COMPUTE_STATUS_DISABLED"}),
        classes=frozenset({"VCPU", "MEMORY_MB"}),
    )
