"""A case as the core reads it, and what the core says to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute
from osc_traitsched.core.nova import image
from osc_traitsched.core.nova import server as flavor
from osc_traitsched.core.nova.filter.state import (
    FilterResult,
    HostState,
    RequestSpec,
    ServerGroup,
)
from osc_traitsched.core.nova.filter.table import FILTERS, judge
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.server import Server
from osc_traitsched.core.nova.weighers import Ranking, ranking

Case = Mapping[str, Any]


def states(case: Case) -> tuple[HostState, ...]:
    """Return the hosts of a case, as far as the API shows them."""
    return tuple(_state(host, case["aggregates"]) for host in case["hosts"])


def spec(case: Case, release: int) -> RequestSpec:
    """Return the request of a case."""
    boots_from_volume = case["boot_from_volume"]
    server = Server(
        flavor=flavor.read(case["flavor"]),
        image=image.read(case["image"], release),
        aggregates=(),
        zone=case["availability_zone"] or "",
        project_id=case["project_id"],
        boot_from_volume=boots_from_volume,
        release=release,
    )
    return RequestSpec(
        server,
        flavor_name=case["flavor"]["name"],
        image_id="" if boots_from_volume else case["image"]["id"],
        hints={name: tuple(given) for name, given in case["hints"].items()},
        group=_group(case),
        instance_uuid=case["instance_uuid"],
    )


def settings(case: Case, release: int) -> SchedulerSettings:
    """Return the release and the options of a case."""
    found = {
        name: Setting(tuple(value) if isinstance(value, list) else value, "the case")
        for name, value in case["options"].items()
    }
    return SchedulerSettings(release, found, "the case")


def ranked(case: Case, release: int) -> Ranking:
    """Return the order that the core says the hosts are tried in."""
    return ranking(states(case), spec(case, release), settings(case, release))


def judged(case: Case, release: int) -> Mapping[str, list[FilterResult]]:
    """Return what each filter of a release says of the hosts, one after the other."""
    hosts, asked, given = states(case), spec(case, release), settings(case, release)
    return {
        name: [judge(name, host, asked, given) for host in hosts]
        for name, known in FILTERS.items()
        if known.is_in(release)
    }


def _state(host: Mapping[str, Any], aggregates: list[Mapping[str, Any]]) -> HostState:
    body = host["body"]
    name = body["service"]["host"]
    compute = Compute(
        uuid=body["id"],
        node=body["hypervisor_hostname"],
        service_host=name,
        is_up=body["state"] == "up",
        is_enabled=body["status"] == "enabled",
        report=snapshot.read_node_report(body),
        builds=host.get("builds"),
    )
    inside = (each for each in aggregates if name in each["hosts"])
    return HostState(
        compute,
        aggregates=tuple(map(Aggregate.read, inside)),
        instances=frozenset(host["instances"]),
        allocation_ratios=host["ratios"],
    )


def _group(case: Case) -> ServerGroup | None:
    group = case["group"]
    if group is None:
        return None
    members = frozenset(group["members"])
    hosts = (
        host["body"]["service"]["host"]
        for host in case["hosts"]
        if members.intersection(host["instances"])
    )
    return ServerGroup(
        group["name"],
        group["policy"],
        int(group["rules"].get("max_server_per_host", 1)),
        members,
        frozenset(hosts),
    )
