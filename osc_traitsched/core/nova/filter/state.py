"""What filters and weighers are given: a host's state and what is asked for."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.server.server import Aggregate, Server


@dataclasses.dataclass(frozen=True)
class HostState:
    """A compute node as nova-scheduler sees it, as far as the API shows that.

    nova/scheduler/host_manager.py, ``HostState``

    :ivar aggregates: those that its service host is in, by Nova's own list
    :ivar instances: the UUIDs of the servers of its service host, on whatever node, at
        least those that the request speaks of; None if they were not read
    :ivar allocation_ratios: by resource class, from Placement; None if not read
    """

    compute: Compute
    aggregates: tuple[Aggregate, ...] = ()
    instances: frozenset[str] | None = None
    allocation_ratios: Mapping[str, float] | None = None

    @property
    def host(self) -> str:
        """The name of its service host."""
        return self.compute.service_host

    @property
    def node(self) -> str:
        """The hypervisor's hostname."""
        return self.compute.node

    @functools.cached_property
    def metadata(self) -> Mapping[str, frozenset[str]]:
        """The values of each key of its aggregates, which are lists with commas.

        nova/scheduler/filters/utils.py, ``aggregate_metadata_get_by_host``
        """
        merged: dict[str, set[str]] = {}
        for aggregate in self.aggregates:
            for key, value in aggregate.metadata.items():
                values = (part.strip() for part in value.split(","))
                merged.setdefault(key, set()).update(values)
        return {key: frozenset(values) for key, values in merged.items()}


@dataclasses.dataclass(frozen=True)
class ServerGroup:
    """A server group, as it is now.

    :ivar policy: ``affinity``, ``anti-affinity``, ``soft-affinity`` and
        ``soft-anti-affinity``
    :ivar max_server_per_host: for anti-affinity; 1 unless a rule says otherwise
    :ivar members: the UUIDs of its servers
    :ivar hosts: the service hosts that they are on
    :ivar is_placed: no cell that one of them is in is silent, so that these are all
    """

    name: str
    policy: str
    max_server_per_host: int = 1
    members: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    is_placed: bool = True


@dataclasses.dataclass(frozen=True)
class RequestSpec:
    """What is asked for, as the filters see it.

    nova/objects/request_spec.py, ``RequestSpec``

    :ivar image_id: empty for none; that of the image that a root volume is made of, too
        (nova/block_device.py, ``get_bdm_image_metadata``)
    :ivar hints: scheduler hints; a hint that was given once has one value
    :ivar instance_uuid: of a server that exists; None for one that is to be made
    :ivar remote_address: where nova-api gets the request from; None if that is not
        known. It is in the context that goes with Nova's request spec
        (nova/api/auth.py, ``NovaKeystoneContext``)
    :ivar num_instances: how many such servers
    """

    server: Server
    flavor_name: str
    image_id: str = ""
    hints: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    group: ServerGroup | None = None
    instance_uuid: str | None = None
    remote_address: str | None = None
    num_instances: int = 1


def host_states(
    computes: Iterable[Compute],
    aggregates: Iterable[Mapping[str, Any]],
    servers: Mapping[str, tuple[str, str]] | None = None,
) -> tuple[HostState, ...]:
    """Return the states of compute nodes, with the aggregates of their hosts.

    :param aggregates: the compute API's bodies of all host aggregates
    :param servers: the service host and the node of each server that filters look for;
        None if that was not read
    """
    on_host: dict[str, set[str]] = {}
    for server, (host, _) in (servers or {}).items():
        on_host.setdefault(host, set()).add(server)
    of_host: dict[str, list[Aggregate]] = {}
    for body in aggregates:
        aggregate = Aggregate.read(body)
        for host in body["hosts"]:
            of_host.setdefault(host, []).append(aggregate)
    return tuple(
        HostState(
            each,
            tuple(of_host.get(each.service_host, ())),
            None if servers is None else frozenset(on_host.get(each.service_host, ())),
        )
        for each in computes
    )
