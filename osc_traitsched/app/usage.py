"""Who has a trait, and who needs it: hosts, flavors, images, aggregates, servers."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from osc_traitsched.app import capacity
from osc_traitsched.app.by_flavor import by_flavor
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import (
    allocation_candidates,
    lookup,
    read,
    servers,
    topology,
)
from osc_traitsched.cloud.service import (
    SERVERS_OF_OTHERS,
    Cloud,
    RememberedCloud,
    note_unread,
)
from osc_traitsched.core.errors import (
    CloudBroke,
    NotForProject,
    NothingMatches,
)
from osc_traitsched.core.inventory import selection, trait
from osc_traitsched.core.inventory.snapshot import (
    Compute,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.table import enabled
from osc_traitsched.core.nova.question import Body, ServerSpec
from osc_traitsched.core.nova.server.image import requirements
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.servers import usage
from osc_traitsched.core.servers.usage import (
    Capacity,
    CapacityQuery,
    FlavorView,
    HostUse,
    HostView,
    Oddity,
    TraitUse,
)

_T = TypeVar("_T")
_REQUIRERS = "private flavors and images of other projects"


def show(cloud: Cloud, name: str) -> TraitUse:
    """Who has a trait, and who needs it.

    At most eleven requests besides the pages of lists.

    :raises UnknownTrait: with the most similar traits
    """
    trait.parse([name])
    trait.check_exist([name], read.known_traits(cloud.placement))
    snapshot, having = _hosts(cloud), read.holders(cloud.placement, name)
    flavors, images = lookup.flavors(cloud), topology.images(cloud, [name])
    lookup.need_all(cloud, _REQUIRERS)
    return TraitUse(
        name,
        snapshot,
        tuple(each for each in snapshot.providers if each.uuid in having),
        topology.all_requirers(cloud, flavors, images).get(name, ()),
        topology.forbidding(flavors, name),
        _or_problem(cloud, lambda: servers.requiring(cloud, name, images)),
    )


def uses(cloud: Cloud) -> tuple[TraitUse, ...]:
    """All traits that a host has or something requires, by name; without servers."""
    snapshot = _hosts(cloud)
    held = read.everything(cloud.placement, snapshot.providers).traits
    holders: dict[str, list[Provider]] = {}
    for provider in snapshot.providers:
        for name in held.get(provider.uuid, ()):
            holders.setdefault(name, []).append(provider)
    flavors, images = lookup.flavors(cloud), lookup.images(cloud, {})
    lookup.need_all(cloud, _REQUIRERS)
    requiring = topology.all_requirers(cloud, flavors, images)
    return tuple(
        TraitUse(
            name,
            snapshot,
            tuple(holders.get(name, ())),
            requiring.get(name, ()),
            topology.forbidding(flavors, name),
        )
        for name in sorted({*holders, *requiring})
    )


def _hosts(cloud: Cloud) -> Snapshot:
    found = read.providers(cloud.placement)
    return found.with_nova(Nova(lookup.computes(cloud)))


# What a host has, and what it could take.


def host(
    cloud: Cloud,
    name: str,
    spec: ServerSpec,
    sources: SettingsSources,
    if_enabled: bool = False,
) -> HostView:
    """A host, with what it could take of every flavor.

    Requests: those of :func:`app.capacity.capacity`, two a provider of the host's tree,
    and one each for a peer, the projects of its aggregates, and a service that is down.
    They do not grow with the number of hosts.

    :param spec: what the servers have in common, such as an image
    :param if_enabled: judge it as if its service were enabled and up
    :raises NothingMatches: for a host that does not exist
    """
    query = CapacityQuery(all_enabled=if_enabled)
    found = capacity.capacity(cloud, spec, sources, query)
    lookup.need_all(cloud)
    facts = _facts(cloud, found)
    root = selection.only_host(name, facts.snapshot)
    facts = allocation_candidates.with_inventories(cloud.placement, facts, [root])
    computes = lookup.computes(cloud)
    nova = dataclasses.replace(facts.snapshot.nova, computes=computes)
    compute = next((each for each in computes if each.uuid == root.uuid), None)
    service = compute.service_host if compute else root.name
    tree = facts.snapshot.trees((root,))
    aggregates = tuple(each for each in nova.aggregates if service in each.hosts)
    has_projects = any(each.projects for each in aggregates)
    assumed = found.judgements[0].question.assumptions
    is_down = compute is not None and not compute.is_up
    return HostView(
        root,
        compute,
        aggregates,
        tree,
        facts.stock,
        {each.uuid: read.traits_of(cloud.placement, each.uuid) for each in tree},
        _or_problem(cloud, lambda: servers.names_on(cloud, service, root.name)),
        found,
        _oddities(cloud, compute, facts) if compute else (),
        (lookup.names(cloud) if has_projects else None) or {},
        if_enabled,
        "" if aggregates or compute is None else usage.like(compute, nova),
        special.PROJECT in enabled(assumed),
        read.last_seen(cloud.compute, service) if is_down else "",
        sum(each.service_host == service for each in computes),
    )


def _facts(cloud: Cloud, found: Capacity) -> Facts:
    """Providers alone if Nova rejects every flavor."""
    if found.facts is not None:
        return found.facts
    nothing = frozenset[str]()
    aggregates = read.aggregates(cloud.compute)
    nova = Nova(lookup.computes(cloud), aggregates)
    hosts = _hosts(cloud).with_nova(nova.with_zones(read.zones_shown(cloud.compute)))
    return Facts(hosts, {}, {}, {}, {}, {}, nothing)


def _oddities(cloud: Cloud, compute: Compute, facts: Facts) -> tuple[Oddity, ...]:
    nova = facts.snapshot.nova
    found: list[Oddity] = []
    for name, own in facts.stock.get(compute.uuid, {}).items():
        peer = usage.usual_peer(compute, name, nova.computes, facts.stock)
        if peer is None:
            continue
        uuid, number = peer
        facts = allocation_candidates.with_inventories(
            cloud.placement, facts, [facts.snapshot.by_uuid[uuid]]
        )
        usual = facts.stock[uuid].get(name, own)
        found += usage.oddities(name, own, usual, number)
    return tuple(found)


def _or_problem(
    cloud: Cloud, reading: Callable[[], _T], what: str = SERVERS_OF_OTHERS
) -> _T | CloudBroke:
    try:
        return reading()
    except CloudBroke as problem:
        note_unread(cloud, what, problem)
        return problem


# What a flavor needs, and where it fits.


#: Each kind is judged; on a page of a catalog are fewer.
MOST_IMAGES = 30


def flavor(
    cloud: Cloud, name: str, spec: ServerSpec, sources: SettingsSources
) -> FlavorView:
    """A flavor, the hosts that suit it, its servers, and images that can't go with it.

    Requests: twice those of :func:`app.capacity.capacity`, none of them sent again, a
    few for the traits and amounts of images, and the pages of images and servers.

    :raises NothingMatches: for an unknown flavor
    :raises NotForProject: for a flavor that the named project may not use
    """
    remembered = RememberedCloud(cloud)
    query = CapacityQuery(flavors=(name,), by="zone")
    project = spec.project or _only_project(remembered, name)
    spec = dataclasses.replace(spec, project=project)
    room = capacity.capacity(remembered, spec, sources, query)
    if not room.judgements:
        raise NotForProject("flavor", name)
    body = room.judgements[0].question.flavor
    view = FlavorView(
        room,
        _or_problem(cloud, lambda: servers.of_flavor(cloud, body["id"])),
        _or_problem(cloud, lambda: _allowed(cloud, body), "projects of the flavor"),
    )
    if view.fit is None or not view.fit.suited:
        return view
    whole = _or_problem(
        cloud, lambda: _with_images(remembered, view, spec, sources), "images"
    )
    if isinstance(whole, CloudBroke):
        return dataclasses.replace(view, images=whole)
    return whole


def _only_project(cloud: Cloud, name: str) -> str | None:
    """The ID of the project of a private flavor, if one alone may use it.

    None, too, if Keystone doesn't tell of that project.
    """
    ids = frozenset[str]()
    for body in lookup.flavors(cloud):
        is_public = body.get("os-flavor-access:is_public", True)
        if name in (body["id"], body["name"]) and not is_public:
            with contextlib.suppress(CloudBroke):
                ids = lookup.flavor_projects(cloud, body)
    if len(ids) == 1:
        with contextlib.suppress(CloudBroke, NothingMatches):
            return lookup.project(cloud, *ids)
    return None


def _with_images(
    cloud: Cloud, view: FlavorView, spec: ServerSpec, sources: SettingsSources
) -> FlavorView:
    question = view.judgement.question
    kinds = _images(cloud, question.assumptions.release)
    first = [kind[0] for kind in kinds[:MOST_IMAGES]]
    judged = by_flavor(cloud, spec, sources, lambda _: [question.flavor], first)
    images = {
        str(image["name"] or image["id"]): judgement
        for kind, judgement in zip(kinds, judged)
        for image in kind
    }
    unjudged = sum(map(len, kinds[MOST_IMAGES:]))
    return dataclasses.replace(view, images=images, unjudged=unjudged)


def _images(cloud: Cloud, release: int) -> Sequence[Sequence[Body]]:
    """Active public images in kinds that Nova cannot tell apart, the largest first."""
    kinds: dict[frozenset[tuple[str, str]], list[Body]] = {}
    for image in lookup.images(cloud, {}):
        if image["visibility"] == "public" and image["status"] == "active":
            kinds.setdefault(requirements(image, release), []).append(image)
    return sorted(kinds.values(), key=lambda kind: -len(kind))


def _allowed(cloud: Cloud, flavor: Body) -> tuple[str, ...] | None:
    if flavor.get("os-flavor-access:is_public", True):
        return None
    names = lookup.names(cloud) or {}
    ids = lookup.flavor_projects(cloud, flavor)
    return tuple(sorted(names.get(identity, identity) for identity in ids))


# How full hosts are.


def host_uses(cloud: Cloud, sources: SettingsSources) -> Iterable[HostUse]:
    """How full all hosts are, and what is odd about them.

    Requests: those of :func:`app.capacity.capacity`, and one for each trait that
    isolates an aggregate.
    """
    query = CapacityQuery(with_private=True, by="zone")
    room = capacity.capacity(cloud, ServerSpec(image=""), sources, query)
    facts, settings = _facts(cloud, room), room.judgements[0].question.assumptions
    aggregates = facts.snapshot.nova.aggregates
    isolating = {
        name
        for aggregate in aggregates
        for name in aggregate.isolated_by(settings.collation)
    }
    known, roots = read.known_traits(cloud.placement), facts.snapshot.by_uuid
    held = dict.fromkeys(isolating, frozenset[str]())
    for name in isolating & known:
        uuids = read.holders(cloud.placement, name)
        held[name] = frozenset(roots[uuid].root for uuid in uuids if uuid in roots)
    return usage.host_uses(room, facts, held, bool(settings.value(options.ISOLATION)))
