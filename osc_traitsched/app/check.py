"""Faults in the whole cloud that break prefilters, or leave them without effect."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterable, Mapping

from osc_traitsched.app import misplaced, settings
from osc_traitsched.app.misplaced import Scope
from osc_traitsched.cloud import allocation_candidates, lookup, read, request_parts
from osc_traitsched.cloud.allocation_candidates import MOST_READ_ONE_BY_ONE
from osc_traitsched.cloud.lookup import read_topology
from osc_traitsched.cloud.servers import with_running
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.config.sources import IGNORE_RULES, SettingsSources, resolve
from osc_traitsched.core import check as core
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import (
    Finding,
    PlacedServer,
    ServerCounts,
    SubjectKind,
    Survey,
)
from osc_traitsched.core.errors import Hidden
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.nova.filter.groups import policies_off
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.placement import facts
from osc_traitsched.core.servers.misplaced import Placements


@dataclasses.dataclass(frozen=True)
class Checked:
    """The cloud as it was read, and the findings of the rules, worst first.

    :ivar rules: those that ran
    :ivar unread: what this user may not read, with the IDs of the rules that need it
        and did not run; none if rules saw a part of it
    :ivar unknown_ignored: rules that the settings ignore, and that do not exist
    """

    survey: Survey
    rules: tuple[Rule, ...]
    findings: tuple[Finding, ...]
    unread: Mapping[str, tuple[str, ...]]
    unknown_ignored: tuple[str, ...] = ()


def check(
    cloud: Cloud,
    sources: SettingsSources,
    rules: Iterable[str] = (),
    flavors: Iterable[str] = (),
    images: Iterable[str] = (),
    ignored: Iterable[str] = (),
    with_servers: bool = False,
    pedantic: bool = False,
) -> Checked:
    """Read the whole cloud, and run rules on it.

    A rule that the settings ignore runs only if ``rules`` has it.

    :param rules: IDs of rules and names of areas; all rules if empty
    :param flavors: names or IDs: only findings about these, or about ``images``
    :param with_servers: read all servers, too: one request per thousand
    :raises BadUsage: if no rule is left
    :raises NothingMatches: for an unknown rule or flavor, or an image that is unknown
        or not active
    :raises BadConfiguration: for bad scheduler settings
    """
    rules = tuple(rules)
    existing = {rule.id for rule in core.RULES}
    by_settings = set(sources.used.get(IGNORE_RULES, ()))
    unknown = tuple(sorted(by_settings - existing))
    by_settings = by_settings.intersection(existing).difference(rules)
    selected = core.select(rules, by_settings.union(ignored), with_servers, pedantic)
    found = survey(cloud, resolve(sources, cloud.compute_maximum))
    if any(
        rule.looks_at in (SubjectKind.FLAVOR, SubjectKind.IMAGE) for rule in selected
    ):
        found = with_units(cloud, found)
    if any(rule.reads_servers for rule in selected):
        with contextlib.suppress(Hidden):
            counts = _counted(misplaced.placements(cloud, Scope(), sources))
            found = dataclasses.replace(found, servers=counts)
    wanted = core.named(found, flavors, images)
    findings, unread = core.run(selected, found, wanted)
    stopped = {each for ids in unread.values() for each in ids}
    ran = tuple(rule for rule in selected if rule.id not in stopped)
    return Checked(found, ran, findings, unread, unknown)


def survey(cloud: Cloud, assumed: SchedulerSettings) -> Survey:
    """Read the whole cloud once.

    Requests beside the lists: two for traits and inventories, some for Placement's
    aggregates, two per sharing provider, one per device profile in flavors and per
    flavor with NUMA keys, and one per full host or per trait in use, whichever is
    fewer. Server groups are read only if the scheduler does not enforce one of their
    policies.
    """
    topology = read_topology(cloud)
    placement, snapshot = cloud.placement, topology.snapshot
    bulk = read.everything(placement, snapshot.providers)
    snapshot = snapshot.without(each.uuid for each in bulk.lacks(snapshot.providers))
    flavors, images = lookup.flavors(cloud), lookup.images(cloud, {})
    return Survey(
        snapshot,
        _with_compute_versions(assumed, snapshot, bulk.traits),
        flavors=tuple(with_running(cloud, each) for each in flavors),
        images=tuple(each for each in images if each["status"] == "active"),
        idle_images=tuple(each for each in images if each["status"] != "active"),
        traits=bulk.traits,
        known_traits=read.known_traits(placement),
        known_classes=read.known_classes(placement),
        members=topology.members,
        shared=allocation_candidates.shared(placement, snapshot),
        stock=bulk.stock,
        own_project=cloud.own_project,
        projects=lookup.names(cloud),
        has_private_flavors=lookup.lists_private_flavors(cloud),
        groups=request_parts.groups(cloud) if policies_off(assumed) else (),
        has_volumes=request_parts.has_volumes(cloud),
        missing_profiles=request_parts.missing_profiles(cloud, flavors),
    )


def with_units(cloud: Cloud, found: Survey) -> Survey:
    """Read the most that one server can get, of one provider for each kind of hosts.

    At most 25 requests: for the most frequent kinds, roots first, Ironic's nodes last.
    Providers of equal capacities are taken to be alike; of others only the known
    capacity counts.
    """
    snapshot, ironic = found.snapshot, found.nova.ironic
    trees, kinds = snapshot.host_trees.values(), dict[object, list[str]]()
    for uuid in dict.fromkeys(itertools.chain(*trees, found.shared)):
        sizes = facts.sizes(found.stock.get(uuid))
        if sizes != frozenset():
            kinds.setdefault(uuid if sizes is None else sizes, []).append(uuid)
    first = sorted(
        kinds.values(),
        key=lambda alike: (
            alike[0] in ironic,
            alike[0] != snapshot.by_uuid[alike[0]].root,
            -len(alike),
            alike,
        ),
    )[:MOST_READ_ONE_BY_ONE]
    read = allocation_candidates.like_first(cloud.placement, found.stock, first)
    return dataclasses.replace(found, stock={**found.stock, **read})


def _counted(found: Placements) -> ServerCounts:
    hosts = dict.fromkeys(each.server.host for each in found.misplaced)
    return ServerCounts(
        looked_at=found.looked_at,
        misplaced=len(found.misplaced),
        unknown=len(found.unknown),
        hosts=tuple(hosts),
        silent=found.silent_hosts,
        residents=tuple(
            PlacedServer(s.name, s.project, s.host) for s in found.residents
        ),
    )


def _with_compute_versions(
    assumed: SchedulerSettings,
    snapshot: Snapshot,
    traits: Mapping[str, frozenset[str]],
) -> SchedulerSettings:
    computes = snapshot.nova.computes
    nodes = {each.uuid for each in computes if each.uuid in snapshot.by_uuid}
    unmarked = {uuid for uuid in nodes if settings.OWNER_MARK not in traits[uuid]}
    return settings.with_compute_versions(assumed, nodes, unmarked)
