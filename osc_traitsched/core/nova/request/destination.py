"""The host that an administrator names, with the availability zone or apart from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.request.model import Request

#: Of hosts in no zone's aggregate ([DEFAULT]default_availability_zone, where nobody
#: set it). It matters where an aggregate has this zone, which it should not.
_DEFAULT_ZONE = "nova"
#: The first release that puts a named host's own zone in the place of another.
_HOSTS_ZONE_SINCE = 23


@dataclasses.dataclass(frozen=True)
class Destination:
    """What ``ZONE``, ``ZONE:HOST``, ``ZONE:HOST:NODE`` or ``ZONE::NODE`` says.

    Or what ``host`` and ``hypervisor_hostname`` of ``POST /servers`` say beside a zone.

    :ivar host: a service host; None where none is named, and maybe empty
    :ivar node: the name of a hypervisor
    :ivar is_forced: it is named with the zone, and no host filter runs
    """

    zone: str
    host: str | None = None
    node: str | None = None
    is_forced: bool = True

    @property
    def is_named(self) -> bool:
        """Whether a host or a node is named, and so no other can be chosen."""
        return bool(self.host or self.node)

    @property
    def checked_zone(self) -> str | None:
        """The zone that nova-api wants to be there; None where it does not look.

        nova/compute/api.py, ``create``; nova-api has dropped the zone of a node that
        is named without its host.
        """
        if not self.is_forced:
            return self.zone
        return self.zone if self.host is None and not self.node else None

    def zone_of(self, aggregates: Iterable[Mapping[str, object]], release: int) -> str:
        """Return the zone that the server is for; empty for any.

        A host's own zone counts, whatever is asked for, and then none is asked for. A
        host in no zone's aggregate is in the default zone. Until 22 the zone that is
        asked for stays
        (nova/api/openstack/compute/servers.py, ``_validate_host_availability_zone``).

        :param aggregates: the compute API's bodies
        """
        stays = release < _HOSTS_ZONE_SINCE or not self.is_forced
        if not self.is_named or stays:
            return self.zone
        own = (
            str(metadata["availability_zone"])
            for body in aggregates
            if isinstance(hosts := body.get("hosts"), Sequence) and self.host in hosts
            if isinstance(metadata := body.get("metadata"), Mapping)
            if metadata.get("availability_zone")
        )
        zone = next(own, None)
        is_default = zone is None and self.zone == _DEFAULT_ZONE
        return self.zone if is_default or self.zone == zone else ""

    def nodes(self, computes: Iterable[Compute]) -> tuple[Compute, ...]:
        """Return the compute nodes that are meant, those of Ironic may be many."""
        return tuple(
            each
            for each in computes
            if (not self.host or each.service_host == self.host)
            and (not self.node or each.node == self.node)
        )


def read(
    availability_zone: str | None,
    default_zone: str,
    on_host: str | None = None,
    on_node: str | None = None,
) -> Destination:
    """Take apart what a user gives as the availability zone.

    nova/compute/api.py, ``parse_availability_zone``;
    nova/api/openstack/compute/servers.py, ``_process_hosts_for_create``

    :param default_zone: where none is given; a colon in it has no meaning
    :param on_host: what the user gives as ``host``
    :param on_node: what the user gives as ``hypervisor_hostname``
    :raises Refusal: for more than two colons, and for a host that is named twice
    """
    zone, *named = (availability_zone or "").split(":")
    if len(named) > 2:
        raise Refusal("InvalidInput", "more-than-two-colons", ("availability_zone",))
    host, node = (*named, None, None)[:2]
    if len(named) == 2 and not host:
        host = None
    if not on_host and not on_node:
        return Destination(zone or default_zone, host, node)
    if host or node:
        keys = ("availability_zone", "host" if on_host else "hypervisor_hostname")
        raise Refusal("HTTPBadRequest", "host-named-twice", keys)
    return Destination(zone or default_zone, on_host, on_node, is_forced=False)


def check(destination: Destination, computes: Iterable[Compute]) -> None:
    """Accept only a host that nova-api finds; one that is forced it does not look for.

    nova/compute/api.py, ``_validate_host_or_node``

    :raises Refusal: for a host or a node that is not there
    """
    computes = tuple(computes)
    if destination.is_forced or destination.nodes(computes):
        return
    raise _no_such_host("ComputeHostNotFound", destination, computes)


def restricted(
    request: Request, destination: Destination, computes: Sequence[Compute]
) -> Request:
    """Return the request for the host that is named.

    Of several nodes Placement is asked for all hosts, and Nova takes those it wants
    (nova/scheduler/utils.py, ``resources_from_request_spec``).

    :param computes: all compute nodes of the cloud
    :raises Refusal: when there is no such host or node
    """
    nodes = destination.nodes(computes)
    if not nodes:
        raise _no_such_host("NoValidHost", destination, computes)
    only = nodes[0].uuid if len(nodes) == 1 else None
    fallback = request.fallback and _in_tree(request.fallback, only)
    return dataclasses.replace(_in_tree(request, only), fallback=fallback)


def _in_tree(request: Request, only: str | None) -> Request:
    limit = request.limit if only else None
    return dataclasses.replace(request, in_tree=only, limit=limit)


def _no_such_host(
    exception: str, destination: Destination, computes: Iterable[Compute]
) -> Refusal:
    host, node = destination.host, destination.node
    known = {each.service_host if host else each.node for each in computes}
    named = {"host": host, "node": node}
    return Refusal(
        exception,
        "no-such-host",
        tuple(f"{kind}: {name}" for kind, name in named.items() if name),
        nearest=near_names(host or node or "", known),
    )
