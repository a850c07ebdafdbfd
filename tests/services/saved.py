"""Snapshots of made-up clouds."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.services.fleet import Host, Provider
from tests.services.nova import FIGURES

SETTINGS = {"place": None, "named": {}, "options": [], "lines": {}, "files": {}}


def snapshot(
    hosts: Sequence[Host],
    metadata: Iterable[Mapping[str, str]] = (),
    flavors: Iterable[Mapping[str, Any]] = (),
    **more: Any,
) -> dict[str, Any]:
    """The document of a cloud without servers.

    :param metadata: of the first aggregates; the others have none
    :param more: other parts, such as ``image``
    """
    providers = [
        _provider(each, host)
        for host in hosts
        for each in sorted((host.root, *host.children), key=lambda p: p.name)
    ]
    traits = {name for each in providers for name in each["traits"]}
    traits |= {"COMPUTE_STATUS_DISABLED", "MISC_SHARES_VIA_AGGREGATE"}
    return {
        "format": 1,
        "tool": "tests",
        "time": "2026-11-27T03:11:00Z",
        "seconds": 1.0,
        "settings": SETTINGS,
        "answers": {},
        "missing": {},
        "compute_maximum": "2.100",
        "own_project": None,
        "shows_all": True,
        "light": False,
        "placement": {
            "providers": providers,
            "traits": sorted(traits),
            "resource_classes": ["DISK_GB", "MEMORY_MB", "PCPU", "VCPU"],
        },
        "compute": {
            "aggregates": _aggregates(hosts, metadata),
            "flavors": list(flavors),
            "availabilityZoneInfo": [],
            "hypervisors": list(map(_node, hosts)),
            "migrations": [],
            "server_groups": [],
            "servers": [],
            "services": list(map(_service, hosts)),
        },
        "image": {"images": []},
        "identity": {"domains": [], "projects": []},
        **more,
    }


def _provider(provider: Provider, host: Host) -> dict[str, Any]:
    is_root = provider is host.root
    return {
        "uuid": provider.uuid,
        "name": provider.name,
        "generation": 5,
        "root": host.uuid,
        "parent": None if is_root else host.uuid,
        "traits": sorted(provider.traits),
        "aggregates": sorted(host.aggregates) if is_root else [],
        "inventories": {
            each.resource_class: {
                "total": each.total,
                "reserved": each.reserved,
                "allocation_ratio": each.allocation_ratio,
                "min_unit": 1,
                "max_unit": each.total,
                "step_size": 1,
                "used": each.used,
            }
            for each in provider.inventories
        },
    }


def _node(host: Host) -> dict[str, Any]:
    service = {"host": host.name, "disabled_reason": None}
    body = {"id": host.uuid, "hypervisor_hostname": host.name, "service": service}
    return {**body, "state": "up", "status": "enabled", **FIGURES}


def _service(host: Host) -> dict[str, Any]:
    identity = str(uuid.uuid5(uuid.UUID(host.uuid), "service"))
    return {
        "id": identity,
        "binary": "nova-compute",
        "host": host.name,
        "zone": "nova",
        "state": "up",
        "status": "enabled",
        "disabled_reason": None,
        "updated_at": "2026-11-27T03:11:00.000000",
    }


def _aggregates(
    hosts: Sequence[Host], metadata: Iterable[Mapping[str, str]]
) -> list[dict[str, Any]]:
    members: dict[str, list[str]] = {}
    for host in hosts:
        for aggregate in host.aggregates:
            members.setdefault(aggregate, []).append(host.name)
    several = itertools.chain(metadata, itertools.repeat({}))
    return [
        {
            "id": number,
            "uuid": identity,
            "name": f"rack {number}",
            "hosts": names,
            "metadata": dict(values),
        }
        for number, ((identity, names), values) in enumerate(
            zip(members.items(), several), 1
        )
    ]
