"""What a host filter sees of a host, and what it can answer."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any, Union

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.server.server import Aggregate, Server
from osc_traitsched.core.nova.settings import SchedulerSettings

# What a host filter says of one host: yes, no, unknown, or an exception.


@dataclasses.dataclass(frozen=True)
class Passes:
    """The filter lets the host through."""


@dataclasses.dataclass(frozen=True)
class Fails:
    """The filter keeps the host out.

    :ivar reason: one of the reasons of the filter, in the words of this core
    :ivar key: what the host was asked for: the key of a flavor, an image or an
        aggregate, an option, a hint; empty if the filter has only one question
    :ivar wanted: the value asked for; empty if there is none
    :ivar found: what the host has instead, each value once; none if it has nothing
    :ivar origin: whose key it is; None for the filter's own condition
    """

    reason: str
    key: str = ""
    wanted: str = ""
    found: tuple[str, ...] = ()
    origin: Origin | None = None


@dataclasses.dataclass(frozen=True)
class Unknown:
    """What the filter reads can't be seen from outside.

    :ivar missing: what it reads, under Nova's name: ``numa_topology``
    :ivar key: what made it read that; empty if it always does
    :ivar evidence: what could be seen instead and may help a person, in one line
    :ivar may_raise: there are values with which the filter raises an exception
    """

    missing: str
    key: str = ""
    evidence: str = ""
    may_raise: bool = False


@dataclasses.dataclass(frozen=True)
class Raises:
    """The filter raises, and with it the whole request fails.

    :ivar exception: the class, under its own name
    :ivar key: the key whose value it stumbles over
    :ivar value: that value
    """

    exception: str
    key: str
    value: str
    origin: Origin | None = None


Answer = Union[Passes, Fails, Unknown, Raises]

PASSES = Passes()


def in_turn(answers: Iterable[Answer]) -> Answer:
    """Return what comes of conditions that are looked at one at a time.

    Nova stops at the first that fails or raises. One that can't be judged may have
    been that. So after it an exception is uncertain, but a no keeps the host out,
    unless the unknown one raises.
    """
    unknown: Unknown | None = None
    for answer in answers:
        if isinstance(answer, Unknown):
            unknown = answer if unknown is None or answer.may_raise else unknown
        elif isinstance(answer, Raises):
            return unknown or answer
        elif isinstance(answer, Fails):
            return unknown if unknown and unknown.may_raise else answer
    return unknown or PASSES


# Why a host filter keeps a host out: the reasons of :class:`~.answer.Fails`.
#
# What ``key``, ``wanted`` and ``found`` hold for each is said beside it. The views word
# them.


#: The service is disabled; found: the reason that was given, if any.
SERVICE_DISABLED = "service-disabled"
#: The service has not reported for long, or was forced down.
SERVICE_DOWN = "service-down"
#: None of the host's aggregates has the key; wanted: the extra spec's value.
NO_METADATA = "no-metadata"
#: The values of the host's aggregates are others; found: those.
METADATA_DIFFERS = "metadata-differs"
#: The image's property is not among the values of the host's aggregates; found: those.
IMAGE_DIFFERS = "image-differs"
#: The host's aggregates are for other projects; found: those.
OTHER_PROJECTS = "other-projects"
#: The host's aggregates are for other flavors; found: their names.
OTHER_FLAVORS = "other-flavors"
#: The host is in other zones; found: those.
OTHER_ZONE = "other-zone"
#: The host has no such capability.
NO_CAPABILITY = "no-capability"
#: The host's capability is another; found: its value.
CAPABILITY_DIFFERS = "capability-differs"
#: The hypervisor runs no such servers; found: what it runs.
UNSUPPORTED_IMAGE = "unsupported-image"
#: The hypervisor's version is another; found: that.
HYPERVISOR_VERSION = "hypervisor-version"
#: The host is for isolated images, which this one is not.
ISOLATED_HOST = "isolated-host"
#: The image is for isolated hosts, which this one is not.
ISOLATED_IMAGE = "isolated-image"
#: The group's other servers are on other hosts; found: those.
GROUP_ELSEWHERE = "group-elsewhere"
#: As many of the group's servers are on the host as may be; found: how many.
GROUP_HERE = "group-here"
#: None of the servers that the hint names is on the host.
NOT_WITH_SERVERS = "not-with-servers"
#: Servers that the hint names are on the host; found: those.
WITH_SERVERS = "with-servers"
#: The host's address is outside the network; found: that address.
OUTSIDE_NETWORK = "outside-network"
#: The query of the hint does not hold.
QUERY_IS_FALSE = "query-is-false"
#: The host has as much of it as it may have; wanted: the limit, found: the count.
AT_LIMIT = "at-limit"
#: More is asked for than the whole host has; found: that.
LARGER_THAN_HOST = "larger-than-host"
#: More is asked for than the host has free; found: that.
TOO_LITTLE_FREE = "too-little-free"
#: NUMA nodes are asked for, and the hypervisor reports none; found: what it is.
NO_NUMA_TOPOLOGY = "no-numa-topology"
#: The server is on the host, which the move leaves out.
SERVER_IS_HERE = "server-is-here"
#: The hypervisor is of another type than the source's; found: that.
HYPERVISOR_TYPE = "hypervisor-type"
#: The hypervisor is older than the source's; wanted: the source's version.
HYPERVISOR_OLDER = "hypervisor-older"
#: A filter of one's own, or one that was run in Nova; found: what it logged.
OWN = "own-filter"


# What filters and weighers are given: a host's state and what is asked for.


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


# The filter that wants the metrics which hosts are weighed by.


def metrics(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Let every host through where no metric is weighed.

    nova/scheduler/filters/metrics_filter.py, ``MetricsFilter``
    """
    names = weighed(settings)
    return Unknown("metrics", options.METRICS, ", ".join(names)) if names else PASSES


def weighed(settings: SchedulerSettings) -> tuple[str, ...]:
    """Return the metrics that have a number as their ratio; others are ignored.

    nova/scheduler/utils.py, ``parse_options``
    """
    value = settings.value(options.METRICS)
    found = []
    for item in value if isinstance(value, tuple) else ():
        name, _, ratio = item.partition("=")
        if name and _is_number(ratio):
            found.append(name)
    return tuple(found)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
