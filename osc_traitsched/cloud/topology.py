"""Reads where Nova and Placement have the hosts: nodes, providers, and aggregates."""

from __future__ import annotations

import dataclasses

from osc_traitsched.cloud import memberships, read
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.inventory.snapshot import Members, Nova, Snapshot
from osc_traitsched.core.nova.question import Body


@dataclasses.dataclass(frozen=True)
class Topology:
    """Where Nova and Placement have the hosts.

    :ivar snapshot: all providers, with Nova's view
    :ivar aggregates: the compute API's bodies
    :ivar members: for each aggregate's UUID those of the providers that Placement
        has in it
    """

    snapshot: Snapshot
    aggregates: tuple[Body, ...]
    members: Members


def read_topology(cloud: Cloud) -> Topology:
    """Read hosts, aggregates, providers, and which are in which aggregate, no more.

    :raises CloudBroke: when Nova or Placement can't be read
    """
    aggregates = read.aggregates(cloud.compute)
    nova = read.nova(cloud.compute, aggregates)
    snapshot = read.providers(cloud.placement).with_nova(nova)
    snapshot = read.with_unlisted(cloud.placement, snapshot)
    members = _members(cloud.placement, snapshot)
    return Topology(snapshot, aggregates, members)


def aggregates_now(cloud: Cloud, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with the host aggregates as Nova has them now.

    :raises CloudBroke: when they can't be read
    """
    found = read.host_aggregates(read.aggregates(cloud.compute))
    nova = dataclasses.replace(snapshot.nova or Nova(), aggregates=found)
    return dataclasses.replace(snapshot, nova=nova)


def _members(placement: Service, snapshot: Snapshot) -> Members:
    """Read which providers are in the Placement aggregates of Nova's aggregates.

    :param snapshot: with Nova's view
    """
    known = frozenset(snapshot.by_uuid)
    nova = snapshot.nova or Nova()
    return memberships.members(
        placement, {uuid: nodes & known for uuid, nodes in nova.members.items()}
    )
