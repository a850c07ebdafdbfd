"""The filters of server groups, and what Nova makes of a group whose filter is off."""

from __future__ import annotations

from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Fails, Unknown
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec, ServerGroup
from osc_traitsched.core.nova.settings import SchedulerSettings

AFFINITY, ANTI_AFFINITY = "affinity", "anti-affinity"


def affinity(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Keep the servers of a group with this policy on one host.

    The group's hosts count a server that is to be moved, too.

    nova/scheduler/filters/affinity_filter.py, ``ServerGroupAffinityFilter``
    """
    group = spec.group
    if group is None or group.policy != AFFINITY or not group.hosts:
        return PASSES
    if host.host in group.hosts:
        return PASSES
    found = tuple(sorted(group.hosts))
    return Fails(reasons.GROUP_ELSEWHERE, AFFINITY, group.name, found, _origin(group))


def anti_affinity(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    """Keep the servers of a group with this policy on different hosts.

    nova/scheduler/filters/affinity_filter.py, ``ServerGroupAntiAffinityFilter``
    """
    group = spec.group
    if group is None or group.policy != ANTI_AFFINITY:
        return PASSES
    if host.instances is None:
        return _by_hosts(host, group, spec)
    if spec.instance_uuid in host.instances:
        return PASSES
    here = len(host.instances & group.members)
    return PASSES if here < group.max_server_per_host else _full(group, str(here))


def _by_hosts(host: HostState, group: ServerGroup, spec: RequestSpec) -> Answer:
    """Judge by the hosts that the group's servers are on, where that is enough."""
    if host.host not in group.hosts:
        return PASSES
    if spec.instance_uuid is not None or group.max_server_per_host > 1:
        return Unknown("instances", ANTI_AFFINITY)
    return _full(group, "1")


def _full(group: ServerGroup, here: str) -> Fails:
    return Fails(
        reasons.GROUP_HERE,
        ANTI_AFFINITY,
        str(group.max_server_per_host),
        (here,),
        _origin(group),
    )


def _origin(group: ServerGroup) -> Origin:
    return Origin("group", group.policy, name=group.name)
