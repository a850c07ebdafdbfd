"""The prefilters that look at ports and networks.

nova/scheduler/request_filter.py, in the functions of the same names.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.clause import MemberOf, Origin, RootTrait
from osc_traitsched.core.nova.server.adding import Found, SoFar
from osc_traitsched.core.nova.server.parts import Segments
from osc_traitsched.core.nova.server.server import Server
from osc_traitsched.core.nova.settings import SchedulerSettings


def routed_networks_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Restrict the request to hosts that reach a segment of each routed network.

    A port that has an address needs the segment of its first one.
    """
    for port in server.parts.ports:
        origin = Origin("port", "network_id", name=port.label)
        if port.segments is None:
            yield from _in_any(port.network.segments, origin)
        else:
            own = Origin("port", "fixed_ips", name=port.label)
            yield from _in_any(port.segments, own)
    for network in server.parts.networks:
        origin = Origin("network", "segments", name=network.label)
        yield from _in_any(network.segments, origin)


def remote_managed_ports_filter(
    so_far: SoFar, server: Server, assumptions: SchedulerSettings
) -> Iterator[Found]:
    """Require hosts that let others manage a port, where a port is such a one."""
    for port in server.parts.ports:
        if port.vnic_type == "remote-managed":
            origin = Origin("port", "binding:vnic_type", name=port.label)
            yield RootTrait("COMPUTE_REMOTE_MANAGED_PORTS", False, (origin,))


def _in_any(segments: Segments, origin: Origin) -> Iterator[Found]:
    """Yield that a host has to reach a segment; Nova names each once for a subnet."""
    if not all(segments):
        keys = (origin.name,)
        raise Refusal("RequestFilterFailed", "segment-without-aggregate", keys)
    if segments:
        named = collections.Counter(uuid for each in segments for uuid in each)
        repeated = named - collections.Counter(set(named))
        again = tuple(repeated.elements())
        yield MemberOf(frozenset(named), False, (origin,), again)
