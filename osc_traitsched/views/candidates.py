"""Placement's candidates as rows: what would be taken from where, and what is free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.core.inventory.snapshot import Compute, Snapshot
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.views.columns import Names
from osc_traitsched.views.traits import Table


def queries(request: Request) -> Table:
    """One row a query that Nova would send, one with most requests."""
    sent = [request] if request.fallback is None else [request, request.fallback]
    return ("query",), [(each.query(),) for each in sent]


def rows(
    question: Question,
    answer: Mapping[str, Any],
    snapshot: Snapshot,
    computes: Iterable[Compute],
    limit: int | None,
) -> Table:
    """One row a host, with the first of the allocations that Placement offers."""
    services = {compute.uuid: compute.service_host for compute in computes}
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for aggregate in question.aggregates:
        for host in aggregate["hosts"]:
            grouped.setdefault(host, []).append(aggregate)
    summaries = answer["provider_summaries"]
    first: dict[str, Mapping[str, Any]] = {}
    for request in answer["allocation_requests"]:
        for uuid in request["allocations"]:
            root = snapshot.by_uuid.get(summaries[uuid]["root_provider_uuid"])
            if root is not None and root.uuid in services:
                first.setdefault(root.uuid, request["allocations"])
    hosts = sorted(first, key=lambda uuid: snapshot.by_uuid[uuid].name)[:limit]
    table = []
    for uuid in hosts:
        aggregates = grouped.get(services.get(uuid, ""), [])
        zones = {each["metadata"].get("availability_zone") for each in aggregates}
        table.append(
            (
                snapshot.by_uuid[uuid].name,
                uuid,
                Names(_taken(first[uuid], snapshot)),
                Names(_free(first[uuid], summaries)),
                Names(sorted(each["name"] for each in aggregates)),
                ",".join(sorted(filter(None, zones))),
            )
        )
    return ("host", "provider", "allocates", "free", "aggregates", "zone"), table


def _taken(allocations: Mapping[str, Any], snapshot: Snapshot) -> list[str]:
    return [
        f"{resource_class}={amount} from {snapshot.by_uuid[uuid].name}"
        for uuid, each in sorted(allocations.items())
        for resource_class, amount in sorted(each["resources"].items())
    ]


def _free(allocations: Mapping[str, Any], summaries: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}={found['capacity'] - found['used']} of {found['capacity']}"
        for uuid in sorted(allocations)
        for name, found in sorted(summaries[uuid]["resources"].items())
        if name in allocations[uuid]["resources"]
    ]
