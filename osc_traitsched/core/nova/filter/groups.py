"""The filters of server groups, and what Nova makes of a group whose filter is off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from osc_traitsched.core.nova import options, weigher_options
from osc_traitsched.core.nova.clause import Origin
from osc_traitsched.core.nova.filter import reasons
from osc_traitsched.core.nova.filter.answer import PASSES, Answer, Fails, Unknown
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec, ServerGroup
from osc_traitsched.core.nova.settings import SchedulerSettings

AFFINITY, ANTI_AFFINITY = "affinity", "anti-affinity"

#: What has to be on for each policy.
_FILTERS: Mapping[str, str] = {
    AFFINITY: "ServerGroupAffinityFilter",
    ANTI_AFFINITY: "ServerGroupAntiAffinityFilter",
}
_WEIGHERS: Mapping[str, str] = {
    "soft-affinity": "ServerGroupSoftAffinityWeigher",
    "soft-anti-affinity": "ServerGroupSoftAntiAffinityWeigher",
}


def affinity(host: HostState, spec: RequestSpec, settings: SchedulerSettings) -> Answer:
    """Keep the servers of a group with this policy on one host.

    The group's hosts count a server that is to be moved, too.

    nova/scheduler/filters/affinity_filter.py, ``ServerGroupAffinityFilter``
    """
    group = spec.group
    if group is None or group.policy != AFFINITY or host.host in group.hosts:
        return PASSES
    if not group.is_placed:
        return Unknown("instance_group.hosts", AFFINITY, "a cell does not answer")
    if not group.hosts:
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


def unsupported_policy(spec: RequestSpec, settings: SchedulerSettings) -> str | None:
    """Return the filter or weigher that the group's policy needs and that is off.

    Then Nova refuses the server before any host is looked at
    (``UnsupportedPolicyException``). A weigher counts as on by its full name, or with
    all of them. nova/scheduler/utils.py, ``_get_group_details``
    """
    policy = spec.group.policy if spec.group else ""
    return needed_and_off(policy, settings)


def policies_off(settings: SchedulerSettings) -> Mapping[str, str]:
    """Return the policies that Nova refuses, each with what it needs and is off."""
    found = ((each, needed_and_off(each, settings)) for each in (*_FILTERS, *_WEIGHERS))
    return {policy: name for policy, name in found if name is not None}


def needed_and_off(policy: str, settings: SchedulerSettings) -> str | None:
    """Return the filter or weigher that a policy needs, if it is off."""
    name = _FILTERS.get(policy)
    if name is not None:
        return None if name in _listed(settings, options.ENABLED_FILTERS) else name
    name = _WEIGHERS.get(policy)
    on = _listed(settings, weigher_options.WEIGHT_CLASSES)
    full = f"nova.scheduler.weights.affinity.{name}"
    if name is None or full in on or weigher_options.ALL_WEIGHERS in on:
        return None
    return name


def servers_left(
    group: ServerGroup,
    hosts: Iterable[str],
    servers: Mapping[str, tuple[str, str]],
) -> dict[str, int]:
    """Return how many more servers of a group each service host may have.

    :param group: one whose servers are to be apart
    :param servers: the service host and the node of each server of the group
    """
    here = Counter(servers[each][0] for each in group.members & servers.keys())
    return {host: group.max_server_per_host - here[host] for host in hosts}


def _listed(settings: SchedulerSettings, option: str) -> tuple[str, ...]:
    value = settings.value(option)
    return value if isinstance(value, tuple) else ()


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
