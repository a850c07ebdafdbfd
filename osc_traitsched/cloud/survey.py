"""Reads the whole cloud as checks look at it, in few requests."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from urllib import parse

from osc_traitsched.cloud import facts, lookup, memberships, read
from osc_traitsched.cloud.connection import Cloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.inventory.snapshot import Nova, Snapshot
from osc_traitsched.core.nova import releases
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import SchedulerSettings

#: The most images that Glance gives at once, unless it is set lower.
_IMAGES_PER_PAGE = "1000"


def survey(cloud: Cloud, assumptions: SchedulerSettings) -> Survey:
    """Read everything once.

    Beyond the lists it takes two requests for traits and figures, some for the
    mirror, and two for each sharing provider. Hosts that are full add one each, or
    one for each trait in use, whichever is fewer.

    :param assumptions: returned in the survey, with what the cloud tells of them
    :raises CloudBroke: when Nova, Placement or Glance can't be read
    """
    placed = placing(cloud)
    placement, snapshot = cloud.placement, placed.snapshot
    bulk = read.everything(placement, snapshot.providers)
    return Survey(
        snapshot,
        _told(assumptions, snapshot, bulk.traits),
        aggregates=placed.aggregates,
        flavors=lookup.flavors(cloud),
        images=lookup.images(cloud, {"status": "active", "limit": _IMAGES_PER_PAGE}),
        traits=bulk.traits,
        known_traits=read.known_traits(placement),
        members=placed.members,
        shared=facts.shared(placement, snapshot),
        stock=bulk.stock,
        projects=_projects(cloud),
    )


@dataclasses.dataclass(frozen=True)
class Placed:
    """Where Nova and Placement have the hosts.

    :ivar snapshot: all providers, with Nova's view
    :ivar aggregates: the compute API's bodies
    :ivar members: for each aggregate's UUID those of the providers that Placement
        has in it
    """

    snapshot: Snapshot
    aggregates: tuple[Body, ...]
    members: Mapping[str, frozenset[str]]


def placing(cloud: Cloud) -> Placed:
    """Read hosts, aggregates, providers, and who is in which aggregate, no more.

    :raises CloudBroke: when Nova or Placement can't be read
    """
    aggregates = read.aggregates(cloud.compute)
    nova = read.nova(cloud.compute, aggregates)
    snapshot = read.providers(cloud.placement).with_nova(nova)
    members = _members(cloud.placement, snapshot)
    return Placed(snapshot, aggregates, members)


def aggregates_now(cloud: Cloud, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with the host aggregates as Nova has them now.

    :raises CloudBroke: when they can't be read
    """
    found = read.host_aggregates(read.aggregates(cloud.compute))
    nova = dataclasses.replace(snapshot.nova or Nova(), aggregates=found)
    return dataclasses.replace(snapshot, nova=nova)


def _members(placement: Service, snapshot: Snapshot) -> dict[str, frozenset[str]]:
    """Read who is in the Placement aggregates of Nova's aggregates, by UUID.

    :param snapshot: with Nova's view
    """
    known = frozenset(snapshot.by_uuid)
    nova = snapshot.nova or Nova()
    return memberships.members(
        placement, {uuid: nodes & known for uuid, nodes in nova.members.items()}
    )


def _projects(cloud: Cloud) -> dict[str, str] | None:
    """Return the names of all projects by ID; None where Keystone does not tell all.

    Newer Keystones give a link to a next page; older ones only cut a long list off.
    """
    found: dict[str, str] = {}
    params: dict[str, str] = {}
    try:
        while True:
            body = cloud.identity.get("/projects", params)
            found.update({each["id"]: each["name"] for each in body["projects"]})
            following = body["links"].get("next")
            if not following:
                return None if body.get("truncated") else found
            params = dict(parse.parse_qsl(parse.urlsplit(following).query))
    except errors.CloudBroke:
        return None


def _told(
    assumptions: SchedulerSettings,
    snapshot: Snapshot,
    traits: Mapping[str, frozenset[str]],
) -> SchedulerSettings:
    """Add whether all nova-computes are new, as ``catalog.all_computes_are_new``."""
    nova = snapshot.nova or Nova()
    known = [c.uuid for c in nova.computes if c.uuid in snapshot.by_uuid]
    if assumptions.release < releases.OWNER_NOVA_RELEASE or not known:
        return assumptions
    marked = all("OWNER_NOVA" in traits[uuid] for uuid in known)
    return dataclasses.replace(assumptions, all_computes_new=marked)
