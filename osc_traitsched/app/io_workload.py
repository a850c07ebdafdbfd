"""What the filters of I/O operations need to know beyond the list of hypervisors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.cloud import builds
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.filter import numbers
from osc_traitsched.core.nova.filter.state import host_states
from osc_traitsched.core.nova.question import Question


def with_builds(
    cloud: Cloud, question: Question, computes: Iterable[Compute]
) -> tuple[Compute, ...]:
    """Return compute nodes with how many servers each may have been building.

    It is read only where a filter that is on would not pass a host without it, and
    after the nodes: what has begun since they were read is then counted, too.

    :raises CloudBroke: when Nova can't be read
    """
    nodes = tuple(computes)
    hosts = host_states(nodes, question.aggregates)
    if question.nodes is not None or not numbers.needs_builds(
        hosts, question.assumptions
    ):
        return nodes
    found = builds.by_host(cloud)
    if found is None:
        return nodes
    return tuple(
        dataclasses.replace(node, builds=found.get(node.service_host, 0))
        for node in nodes
    )
