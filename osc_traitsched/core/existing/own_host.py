"""What the host filters make of the host that a server is on, as if it were not there.

What a server uses counts as used on its own host, so that filters which compare amounts
are not asked: the server has its room. Whether its service is up comes and goes, and is
no reason why the server should not be there.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

from osc_traitsched.core.existing.doubt import Doubt, MayBeKeptOut
from osc_traitsched.core.existing.reason import KeptOut, Reason
from osc_traitsched.core.nova.filter import attributes, capabilities, json_query
from osc_traitsched.core.nova.filter.answer import Answer, Passes, Unknown
from osc_traitsched.core.nova.filter.judging import enabled, judge
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec
from osc_traitsched.core.nova.settings import SchedulerSettings

CAPABILITIES, NUMA = "ComputeCapabilitiesFilter", "NUMATopologyFilter"
JSON = "JsonFilter"

#: Those that compare what is free, or look at the service alone.
_NOT_ASKED = frozenset(
    [
        "AggregateCoreFilter",
        "AggregateDiskFilter",
        "AggregateIoOpsFilter",
        "AggregateNumInstancesFilter",
        "AggregateRamFilter",
        "AllHostsFilter",
        "ComputeFilter",
        "IoOpsFilter",
        "NumInstancesFilter",
        "PciPassthroughFilter",
        "RetryFilter",
    ]
)
#: Those that look at other servers: of a group, or of a hint.
OF_SERVERS = (
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
    "SameHostFilter",
    "DifferentHostFilter",
)
#: Those that go by what an image says.
OF_IMAGES = frozenset(
    [
        "AggregateImagePropertiesIsolation",
        "ImagePropertiesFilter",
        "IsolatedHostsFilter",
    ]
)


def judged(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Iterator[Reason | Doubt]:
    """Yield what the filters that are on have against a server's own host.

    Those that look at other servers are left to :func:`judged_by_servers`.

    :raises FiltersNotInRelease: as ``judging.enabled``
    """
    left_out = _NOT_ASKED.union(OF_SERVERS)
    for name in enabled(settings):
        if name not in left_out:
            yield from _worded(name, _answer(name, host, spec, settings))


def judged_by_servers(
    host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Iterator[Reason | Doubt]:
    """Yield what the filters that look at other servers have against a host.

    :param host: with the servers that matter, but for the one that is asked about
    """
    on = enabled(settings)
    for name in OF_SERVERS:
        if name in on:
            yield from _worded(name, judge(name, host, spec, settings))


def _worded(name: str, answer: Answer) -> Iterator[Reason | Doubt]:
    if isinstance(answer, Unknown):
        yield MayBeKeptOut(name, answer)
    elif not isinstance(answer, Passes):
        yield KeptOut(name, answer)


def _answer(
    name: str, host: HostState, spec: RequestSpec, settings: SchedulerSettings
) -> Answer:
    if name == CAPABILITIES:
        spec = _without_use(spec)
    if name == JSON and _asks_for_use(spec):
        return Unknown("what the server itself uses", json_query.QUERY)
    answer = judge(name, host, spec, settings)
    # What is unknown of NUMA nodes is what is free on them.
    return Passes() if name == NUMA and isinstance(answer, Unknown) else answer


def _without_use(spec: RequestSpec) -> RequestSpec:
    """Return the request without the capabilities that servers of a host change."""
    flavor, release = spec.server.flavor, spec.server.release
    wanted = capabilities.wanted_of(flavor.specs, release)
    of_use = {each.key for each in wanted if attributes.is_of_use(each.path)}
    if not of_use:
        return spec
    kept = {key: value for key, value in flavor.specs.items() if key not in of_use}
    flavor = dataclasses.replace(flavor, specs=kept)
    server = dataclasses.replace(spec.server, flavor=flavor)
    return dataclasses.replace(spec, server=server)


def _asks_for_use(spec: RequestSpec) -> bool:
    """Tell whether the query of a hint reads what servers of a host change."""
    texts = spec.hints.get(json_query.QUERY, ())
    try:
        return any(map(_reads_use, map(json.loads, filter(None, texts))))
    except (RecursionError, ValueError):
        return False


def _reads_use(query: object) -> bool:
    if isinstance(query, list):
        return any(map(_reads_use, query))
    if not isinstance(query, str) or not query.startswith("$"):
        return False
    return attributes.is_of_use(query[1:].split("."))
