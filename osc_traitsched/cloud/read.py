"""From the services' answers to a snapshot, in few requests."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.service import Cloud, Service, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.inventory import snapshot as node_report
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Holding,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.placement.facts import Stock

# Answers that have the traits and figures of very many providers at once.


#: One unit of the first is free on nearly every host, and the answer then has the
#: traits of the host's whole tree. Hosts full of servers have some disk left.
_FIRST, *_NEXT = "VCPU", "MEMORY_MB", "DISK_GB"

#: Up to this many providers are asked one at a time: cheaper for the server than
#: answering for the whole cloud at once.
FEW = 8

#: Of an answer with candidates. A large cloud has very many traits in it, which
#: are not looked at one at a time.
SHAPE: rest.Shape = {
    "provider_summaries": {
        str: {
            "traits": list,
            "resources": {str: {"capacity": int, "used": int}},
            "root_provider_uuid": str,
        }
    },
    "allocation_requests": [{"allocations": {str: {"resources": dict}}}],
}


@dataclasses.dataclass(frozen=True)
class Bulk:
    """Traits and figures of many providers, by UUID.

    :ivar stock: capacity and use by class; not if traits were read by other means
    """

    traits: dict[str, frozenset[str]] = dataclasses.field(default_factory=dict)
    stock: dict[str, Mapping[str, Stock]] = dataclasses.field(default_factory=dict)

    def add(self, body: Mapping[str, Any]) -> None:
        """Take what an answer with candidates says of every provider in it."""
        for uuid, summary in body["provider_summaries"].items():
            self.traits[uuid] = frozenset(summary["traits"])
            self.stock[uuid] = {
                name: Stock(each["capacity"], each["used"])
                for name, each in summary["resources"].items()
            }

    def add_all(self, placement: Service, providers: Iterable[Provider]) -> None:
        """Read all providers of trees that have one unit free of one of the classes.

        :param providers: the wanted ones; few that the first answer lacks cause no
            request
        """
        wanted = tuple(providers)
        for resource_class, enough in ((_FIRST, 0), *((each, FEW) for each in _NEXT)):
            if len(self.lacks(wanted)) > enough:
                query = {"resources": f"{resource_class}:1"}
                self.add(rest.get(placement, "/allocation_candidates", SHAPE, query))

    def lacks(self, providers: Iterable[Provider]) -> list[Provider]:
        """Return those of the providers that no answer has shown."""
        return [each for each in providers if each.uuid not in self.traits]


_UUIDS: rest.Shape = {"resource_providers": [{"uuid": str}]}
_PROVIDERS: rest.Shape = {
    "resource_providers": [
        {
            "uuid": str,
            "name": str,
            "generation": int,
            "root_provider_uuid": str,
            "parent_provider_uuid": rest.OPTIONAL_TEXT,
        }
    ]
}
_TRAITS: dict[str, rest.Shape] = {"traits": [str]}
_CLASSES: rest.Shape = {"resource_classes": [{"name": str}]}
_SERVICES: rest.Shape = {"services": [{"host": str, "zone": str}]}
_OF_SCHEDULER: rest.Shape = {"host": str, "state": str}
_LAST_SEEN: rest.Shape = {"services": [{"updated_at": rest.OPTIONAL_TEXT}]}
_HYPERVISOR: dict[str, rest.Shape] = {
    "hypervisor_hostname": str,
    "service": {"host": str},
    "state": str,
    "status": str,
}
_AGGREGATES: rest.Shape = {
    "aggregates": [
        {"id": int, "uuid": str, "name": str, "hosts": [str], "metadata": {str: str}}
    ]
}


def snapshot(cloud: Cloud, selectors: node_report.Selectors) -> Snapshot:
    """Read the providers, and Nova's view if the selectors need it.

    Two requests to Placement for any number of hosts, and Nova's own lists only for
    selectors that Placement can't answer.
    """
    found = providers(cloud.placement)
    if node_report.needs_nova(selectors, found):
        return dataclasses.replace(found, nova=_nova(cloud))
    return found


def providers(placement: Service) -> Snapshot:
    """Read all providers, and which of them are shared, in two requests.

    :raises CloudBroke: if Placement can't be read, or lists parts of a tree
    """
    listed = rest.get(placement, "/resource_providers", _PROVIDERS)
    found = tuple(_provider(body) for body in listed["resource_providers"])
    there = frozenset(provider.uuid for provider in found)
    for each in found:
        if lacked := sorted({each.root, each.parent or each.root} - there):
            odd = f"the tree of {each.name} lacks {lacked[0]}"
            reason = f"unexpected answer to GET /resource_providers: {odd}"
            raise errors.CloudBroke(placement.service_type, reason)
    return Snapshot(found, holders(placement, trait.SHARING) & there)


def with_unlisted(placement: Service, found: Snapshot) -> Snapshot:
    """A snapshot (with Nova's view) with the compute nodes that Nova lacks.

    One request, if there is any root that can be one.
    """
    if not found.unmanaged_roots:
        return found
    return found.with_compute_nodes(compute_nodes(placement))


def compute_nodes(placement: Service) -> frozenset[str]:
    """UUIDs of the providers that a nova-compute made for a compute node."""
    try:
        return holders(placement, trait.COMPUTE_NODE)
    except errors.CloudBroke as exc:
        # A Placement that does not know the trait has no provider with it.
        if exc.status == 400:
            return frozenset()
        raise


def _provider(body: Any) -> Provider:
    return Provider(
        body["uuid"],
        body["name"],
        body["generation"],
        body["root_provider_uuid"],
        body["parent_provider_uuid"],
    )


def _nova(cloud: Cloud) -> Nova:
    """What can't be read is said, not raised."""
    try:
        return nova(cloud.compute)
    except errors.CloudBroke as exc:
        note_unread(cloud, "Nova's hosts and aggregates", exc)
        return Nova(unasked=exc.reason)


def nova(compute: Service) -> Nova:
    """The aggregates, and the hosts with their availability zones."""
    listed = aggregates(compute)
    return Nova(tuple(computes(compute)), listed).with_zones(zones_shown(compute))


def zones_shown(compute: Service) -> dict[str, str]:
    """The zones that Nova shows, by service host."""
    query = {"binary": "nova-compute"}
    found = rest.get(compute, "/os-services", _SERVICES, query)["services"]
    return {each["host"]: each["zone"] for each in found}


def last_seen(compute: Service, host: str) -> str:
    """When a nova-compute was last up, as Nova writes it in UTC; empty if unknown."""
    query = {"binary": "nova-compute", "host": host}
    services = rest.get(compute, "/os-services", _LAST_SEEN, query)["services"]
    return max((service["updated_at"] or "" for service in services), default="")


def scheduler_hosts(compute: Service) -> tuple[str, ...]:
    """Hosts of nova-scheduler, those that are up first."""
    query, shape = {"binary": "nova-scheduler"}, {"services": [_OF_SCHEDULER]}
    listed = rest.get(compute, "/os-services", shape, query)["services"]
    return tuple(e["host"] for e in sorted(listed, key=lambda e: e["state"] != "up"))


def aggregates(compute: Service) -> tuple[Aggregate, ...]:
    """All host aggregates."""
    bodies = rest.get(compute, "/os-aggregates", _AGGREGATES)["aggregates"]
    return tuple(map(Aggregate.read, bodies))


def computes(compute: Service) -> Iterator[Compute]:
    """Yield Nova's compute nodes."""
    for body in rest.pages(
        compute, "/os-hypervisors/detail", "hypervisors", _HYPERVISOR
    ):
        yield Compute(
            uuid=body["id"],
            node=body["hypervisor_hostname"],
            service_host=body["service"]["host"],
            is_up=body["state"] == "up",
            is_enabled=body["status"] == "enabled",
            disabled_reason=body["service"].get("disabled_reason") or "",
            report=node_report.read_node_report(body),
        )


def traits_of(placement: Service, uuid: str) -> frozenset[str]:
    """The traits of one provider; none if it is not there."""
    path = rest.path("resource_providers", uuid, "traits")
    body = rest.get_if_there(placement, path, _TRAITS)
    return frozenset() if body is None else frozenset(body["traits"])


def providers_used_by(placement: Service, consumer: str) -> tuple[str, ...]:
    """UUIDs of the providers that a server has something of."""
    path = rest.path("allocations", consumer)
    body = rest.get(placement, path, {"allocations": {}})
    return tuple(sorted(body["allocations"]))


def known_traits(placement: Service, associated: bool = False) -> frozenset[str]:
    """All traits that this Placement knows, or only those that providers have."""
    path = "/traits?associated=true" if associated else "/traits"
    return frozenset(rest.get(placement, path, _TRAITS)["traits"])


def known_classes(placement: Service) -> frozenset[str]:
    """Return the names of all resource classes that this Placement knows."""
    listed = rest.get(placement, "/resource_classes", _CLASSES)["resource_classes"]
    return frozenset(body["name"] for body in listed)


def holders(placement: Service, name: str) -> frozenset[str]:
    """Return the UUIDs of all providers, nested ones too, that have a trait."""
    return uuids(placement, {"required": name})


def providers_without(placement: Service, name: str) -> frozenset[str]:
    """Return the UUIDs of all providers, nested ones too, that lack a trait."""
    return uuids(placement, {"required": f"!{name}"})


def uuids(
    placement: Service, query: Mapping[str, str], microversion: str | None = None
) -> frozenset[str]:
    """Return the UUIDs of all providers, nested ones too, that a query matches."""
    body = rest.get(placement, "/resource_providers", _UUIDS, query, microversion)
    return frozenset([provider["uuid"] for provider in body["resource_providers"]])


def holding_if_there(placement: Service, provider: Provider) -> Holding | None:
    """One provider's traits, and the generation from before them; None if deleted.

    Placement reads the generation first (``list_traits_for_resource_provider`` in
    placement/handlers/trait.py), so that it is safe to write with.
    """
    path = f"/resource_providers/{provider.uuid}/traits"
    shape = {**_TRAITS, "resource_provider_generation": int}
    body = rest.get_if_there(placement, path, shape)
    if body is None:
        return None
    generation = body["resource_provider_generation"]
    return Holding(
        dataclasses.replace(provider, generation=generation), frozenset(body["traits"])
    )


def holdings(placement: Service, providers: Iterable[Provider]) -> tuple[Holding, ...]:
    """Read the traits of listed providers, in order; CloudBroke if one is deleted."""
    wanted = tuple(providers)
    found = still_there(placement, wanted)
    there = {each.provider.uuid for each in found}
    for gone in (each for each in wanted if each.uuid not in there):
        reason = f"the provider {gone.name} was deleted meanwhile"
        raise errors.CloudBroke(placement.service_type, reason, 404)
    return found


def still_there(
    placement: Service, providers: Iterable[Provider]
) -> tuple[Holding, ...]:
    """The traits of providers, without those that were deleted meanwhile.

    A few providers are read one at a time, many with one request. Answers for many
    leave out full hosts and Ironic's: these are read one at a time or trait by trait,
    whichever takes fewer requests.

    :returns: a holding for each, in the order given
    """
    wanted = tuple(providers)
    if len(wanted) <= FEW:
        found = (holding_if_there(placement, provider) for provider in wanted)
        return tuple(each for each in found if each is not None)
    traits = everything(placement, wanted).traits
    return tuple(Holding(p, traits[p.uuid]) for p in wanted if p.uuid in traits)


def everything(placement: Service, providers: Iterable[Provider]) -> Bulk:
    """Traits of all providers, and figures of those with room, by bulk answers."""
    wanted = tuple(providers)
    bulk = Bulk()
    bulk.add_all(placement, wanted)
    for held in _remaining(placement, bulk.lacks(wanted)):
        bulk.traits[held.provider.uuid] = held.traits
    return bulk


def _remaining(placement: Service, left: list[Provider]) -> Iterator[Holding]:
    if len(left) > FEW:
        query = {"associated": "true"}
        in_use = rest.get(placement, "/traits", _TRAITS, query)["traits"]
        if len(in_use) < len(left):
            having = {name: holders(placement, name) for name in in_use}
            for provider in left:
                traits = (name for name in in_use if provider.uuid in having[name])
                yield Holding(provider, frozenset(traits))
            return
    for provider in left:
        found = holding_if_there(placement, provider)
        if found is not None:
            yield found
