"""Looks up flavors, images and aggregates, and which hosts are in which aggregate."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib import parse

from osc_traitsched.cloud import read, rest
from osc_traitsched.cloud.service import Cloud, Service, note_unread
from osc_traitsched.core import errors
from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Members,
    Nova,
    Snapshot,
)
from osc_traitsched.core.inventory.trait import (
    FORBIDDEN,
    REQUIRED,
    Collation,
    key_of,
    required_by_image,
    requires,
)
from osc_traitsched.core.nova import image as image_of_name
from osc_traitsched.core.nova import question
from osc_traitsched.core.nova.image import images_of_others as of_others
from osc_traitsched.core.placement import limits
from osc_traitsched.text import Namesake, near_names, near_or_longer

# Flavors, images, projects and lists, read by the names that users give.


# Lists of the services, whole: page by page to the end.


_NO_PARAMS: Mapping[str, str] = {}


# Keystone's projects: all of them, or one by name or ID.


Body = Mapping[str, Any]

#: The most letters of a name or an ID in Keystone's database
#: (keystone/resource/backends/sql_model.py). Newer ones refuse to look for more.
_MOST_LETTERS = 64

_NAMED: dict[str, rest.Shape] = {"id": str, "name": str}
_PROJECTS: rest.Shape = {"projects": [_NAMED], "links": dict}
_DOMAINS: rest.Shape = {"domains": [_NAMED]}


def listed(identity: Service, params: Mapping[str, str] = _NO_PARAMS) -> Iterator[Any]:
    """Yield the projects that Keystone lists.

    Newer Keystones give a link to a next page; older ones only cut a long list off, and
    take no marker.

    :raises CloudBroke: if the list can't be read, or is cut off
    """
    seen: set[str] = set()
    while True:
        body = rest.get(identity, "/projects", _PROJECTS, params)
        found = [each for each in body["projects"] if each["id"] not in seen]
        yield from found
        following = body["links"].get("next")
        if not following and not body.get("truncated"):
            return
        if not following or not found:
            reason = "cuts its list of projects off, and gives no next page"
            raise errors.CloudBroke(identity.service_type, reason)
        seen.update(each["id"] for each in found)
        params = dict(parse.parse_qsl(parse.urlsplit(following).query))


def names(cloud: Cloud) -> dict[str, str] | None:
    """Return the names of all projects by ID; None if Keystone does not tell all."""
    try:
        return {each["id"]: each["name"] for each in listed(cloud.identity)}
    except errors.CloudBroke:
        return None


def project(cloud: Cloud, name: str | None, domain: str | None = None) -> str | None:
    """A project's ID; without a name that of the user's own project.

    :param domain: the domain that it is in, name or ID; None for any
    :raises NothingMatches: for an unknown domain, or no such project in it
    :raises AmbiguousName: for a name that projects of several domains have
    """
    if name is None:
        return cloud.own_project
    if not _can_be(name):
        raise errors.NothingMatches("project", name, ())
    inside = None if domain is None else _domain(cloud, domain)
    query = {"name": name} if inside is None else {"name": name, "domain_id": inside}
    # Keystone's database may take letters of either case for the same.
    shown = tuple(listed(cloud.identity, query))
    found = [each for each in shown if each["name"] == name]
    if len(found) > 1:
        namesakes = (
            Namesake(each["id"], domain=each.get("domain_id") or "") for each in found
        )
        raise errors.AmbiguousName("project", name, namesakes)
    body = found[0] if found else _by_id(cloud, "project", name)
    if body is None or inside not in (None, body.get("domain_id")):
        others = {each["name"] for each in shown}
        with contextlib.suppress(errors.CloudBroke):
            query.pop("name")
            others = {each["name"] for each in listed(cloud.identity, query)}
        raise errors.NothingMatches("project", name, near_names(name, others))
    return str(body["id"])


def _can_be(name: str) -> bool:
    """Keystone may have such a name or ID."""
    return 0 < len(name) <= _MOST_LETTERS


def _domain(cloud: Cloud, name: str) -> str:
    """A domain's ID; what may not be looked up is taken for one."""
    if not _can_be(name):
        raise errors.NothingMatches("project domain", name, ())
    try:
        shown = rest.get(cloud.identity, "/domains", _DOMAINS, {"name": name})
        found = [each for each in shown["domains"] if each["name"] == name]
        body = found[0] if found else _by_id(cloud, "domain", name)
    except errors.CloudBroke as exc:
        if exc.status == 403:
            return name
        raise
    if body is None:
        raise errors.NothingMatches("project domain", name, ())
    return str(body["id"])


def _by_id(cloud: Cloud, kind: str, identity: str) -> Body | None:
    # These would lead to another place, however they are written.
    if identity in (".", ".."):
        return None
    path = rest.path(f"{kind}s", identity)
    body = rest.get_if_there(cloud.identity, path, {kind: _NAMED})
    return None if body is None else body[kind]


# The flavor, the image and the rest of a request, found by name or ID.


#: The most images that Glance gives at once, unless it is set lower.
_IMAGES_PER_PAGE = "1000"
#: As many as a URL of any server's limit has room for.
_IDS_PER_QUERY = 100

_IMAGE: dict[str, rest.Shape] = {
    "id": str,
    "name": rest.OPTIONAL_TEXT,
    "status": str,
    "visibility": str,
}
_ACCESS: rest.Shape = {"flavor_access": [{"tenant_id": str}]}
_MEMBERS: rest.Shape = {"members": [{"member_id": str, "status": str}]}
_SERVICES: rest.Shape = {"services": [{"binary": str, "zone": str, "status": str}]}
_ZONES: rest.Shape = {
    "availabilityZoneInfo": [{"zoneName": str, "zoneState": {"available": bool}}]
}


def flavors(cloud: Cloud) -> tuple[Body, ...]:
    """The bodies of all flavors, private ones too, with extra specs.

    :raises ExtraSpecsHidden: if Nova leaves them out for this user
    """
    found = _every_flavor(cloud)
    hidden = sum("extra_specs" not in each for each in found)
    if hidden:
        raise errors.ExtraSpecsHidden(hidden, len(found))
    return found


def flavor(cloud: Cloud, name: str) -> Body:
    """The body of a flavor, which may be private, with its extra specs.

    :raises NothingMatches: for an unknown name or ID
    :raises ExtraSpecsHidden: if Nova leaves them out for this user
    """
    found = flavor_among(cloud, known_flavors(cloud), name)
    if "extra_specs" not in found:
        raise errors.ExtraSpecsHidden(1, 1, found["name"])
    return found


def known_flavors(cloud: Cloud) -> tuple[Body, ...]:
    """Return the bodies of all flavors, read once; extra specs may be hidden."""
    return cloud.once(_every_flavor)


def _every_flavor(cloud: Cloud) -> tuple[Body, ...]:
    return tuple(_flavors(cloud, "None"))


def lists_private_flavors(cloud: Cloud) -> bool:
    """Whether Nova lists private flavors of all projects to this user.

    To others it lists public ones and their project's, whatever they ask for
    (nova/api/openstack/compute/flavors.py, ``_get_flavors``). So a public one among
    those that are not tells.
    """
    private = _flavors(cloud, "False")
    return not any(each.get("os-flavor-access:is_public") for each in private)


def need_all(cloud: Cloud, what: str = "private flavors of other projects") -> bool:
    """Whether Nova shows data of other projects; it is noted if not.

    Nova decides by one policy, ``context_is_admin``, who sees private flavors and
    server groups. Glance has the same default for images.
    """
    is_shown = cloud.once(lists_private_flavors)
    if not is_shown:
        note_unread(cloud, what)
    return is_shown


def _flavors(cloud: Cloud, is_public: str) -> Iterator[Body]:
    query = {"is_public": is_public}
    return rest.pages(cloud.compute, "/flavors/detail", "flavors", _NAMED, query)


def flavor_among(cloud: Cloud, listed: Iterable[Body], name: str) -> Body:
    """The flavor with this ID, or else this name; raises NothingMatches."""
    listed = tuple(listed)
    for found in listed:
        if name == found["id"]:
            return found
    for found in listed:
        if name == found["name"]:
            return found
    near = near_or_longer(name, {found["name"] for found in listed})
    need_all(cloud)
    raise errors.NothingMatches("flavor", name, near)


def images(cloud: Cloud, query: Mapping[str, str]) -> tuple[Body, ...]:
    """Return the bodies of the images that a query matches, hidden ones too."""
    query = {**query, "visibility": "all", "limit": _IMAGES_PER_PAGE}
    return tuple(
        found
        for hidden in ("false", "true")
        for found in rest.pages(
            cloud.image, "/images", "images", _IMAGE, {**query, "os_hidden": hidden}
        )
    )


def images_of_ids(cloud: Cloud, ids: Iterable[str]) -> dict[str, Body]:
    """Return the images of some IDs that Glance has, by ID; two requests a hundred."""
    wanted = sorted(frozenset(ids))
    parts = (
        wanted[start : start + _IDS_PER_QUERY]
        for start in range(0, len(wanted), _IDS_PER_QUERY)
    )
    found = (images(cloud, {"id": f"in:{','.join(part)}"}) for part in parts)
    return {each["id"]: each for part in found for each in part}


def image(cloud: Cloud, name: str) -> Body:
    """An image's body; shared, community and hidden ones count.

    :raises NothingMatches: for an unknown name or ID
    :raises AmbiguousName: for a name that several images have
    """
    return image_of_name.only_image(name, images_named(cloud, name))


def image_of_id(cloud: Cloud, identity: str) -> Body | None:
    """The body of the image of an ID; None if Glance has it no more."""
    path = rest.path("images", identity)
    found: Body | None = rest.get_if_there(cloud.image, path, _IMAGE)
    return found


def images_named(
    cloud: Cloud, name: str, project: str | None = None
) -> tuple[Body, ...]:
    """The bodies of the one image of an ID, or else of those of a name.

    The openstack client finds no community image of another project by its name, so
    such images count only if no other image has the name.

    :param project: ID; None for the user's own
    :raises NothingMatches: if none exists
    """
    if is_uuid(name):
        of_id = image_of_id(cloud, name)
        if of_id is not None:
            return (of_id,)
    # A name may look like one of Glance's operators, and its database may take
    # letters of either case for the same.
    listed = images(cloud, {"name": f"eq:{name}"})
    found = tuple(each for each in listed if each["name"] == name)
    if not found:
        need_all(cloud, "images of other projects")
        names = {each["name"] for each in images(cloud, {}) if each["name"]}
        raise errors.NothingMatches("image", name, near_or_longer(name, names))
    owner = project or cloud.own_project
    findable = (
        each
        for each in found
        if each["visibility"] != "community" or each.get("owner") == owner
    )
    return tuple(findable) or found


def is_uuid(text: str) -> bool:
    """Tell whether a text may be the ID of something, and not its name."""
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def flavor_projects(cloud: Cloud, flavor: Body) -> frozenset[str]:
    """Return the IDs of the projects that a private flavor is for."""
    path = rest.path("flavors", flavor["id"], "os-flavor-access")
    access = rest.get(cloud.compute, path, _ACCESS)
    return frozenset(entry["tenant_id"] for entry in access["flavor_access"])


def image_members(cloud: Cloud, image: Body) -> Mapping[str, str]:
    """The projects that an image is shared with: status by ID.

    A project that is not its owner sees its own membership at most.
    """
    path = rest.path("images", image["id"], "members")
    try:
        members = rest.get(cloud.image, path, _MEMBERS)["members"]
    except errors.CloudBroke as exc:
        if exc.status in (403, 404):
            return {}
        raise
    return {each["member_id"]: each["status"] for each in members}


def zones(cloud: Cloud) -> dict[str, bool]:
    """Return the names of the availability zones, and whether each is available."""
    found = rest.get(cloud.compute, "/os-availability-zone", _ZONES)
    listed = found["availabilityZoneInfo"]
    return {each["zoneName"]: each["zoneState"]["available"] for each in listed}


def unlisted_zones(cloud: Cloud) -> frozenset[str]:
    """The zones of enabled services that are no nova-compute.

    To nova-api they are available, and it lists them for nobody
    (nova/api/openstack/compute/availability_zone.py,
    ``_get_filtered_availability_zones``). Empty if the user may not list services.
    """
    try:
        listed = rest.get(cloud.compute, "/os-services", _SERVICES)["services"]
    except errors.Forbidden:
        note_unread(cloud, "Nova's services")
        return frozenset()
    enabled = (each for each in listed if each["status"] == "enabled")
    return frozenset(e["zone"] for e in enabled if e["binary"] != "nova-compute")


def computes(cloud: Cloud) -> tuple[Compute, ...]:
    """Nova's compute nodes, read once."""
    return cloud.once(_computes)


def _computes(cloud: Cloud) -> tuple[Compute, ...]:
    return tuple(read.computes(cloud.compute))


# Providers, aggregates and their members, read in bulk.


# Which providers Placement has in each of many aggregates, in few requests.


#: So many UUIDs stay well below the 4,096 bytes at which some deployments cut a URL.
_IN_ONE_URL = 90

#: The answer that names the aggregates of a provider.
AGGREGATES: rest.Shape = {"aggregates": [str]}


def members(placement: Service, expected: Members) -> dict[str, frozenset[str]]:
    """UUIDs of the providers in each aggregate, as Placement has them.

    About two requests for each doubling of the aggregates' number, and one more for
    each provider that is not where it is expected, or each aggregate, whichever is
    fewer.

    :param expected: UUIDs of the providers that Nova has, by aggregate UUID. The answer
        is exact for any expectation; a right one only makes it cheap
    """
    asked = limits.unions(expected)
    if len(asked) >= len(expected):
        return {each: in_any(placement, [each]) for each in expected}
    answers = [in_any(placement, each) for each in asked]
    surprising = limits.surprises(expected, asked, answers)
    if len(surprising) + len(asked) > len(expected):
        return {each: in_any(placement, [each]) for each in expected}
    found = {each: expected[each] - surprising for each in expected}
    for provider in sorted(surprising):
        for aggregate in aggregates_of(placement, provider) & set(expected):
            found[aggregate] |= {provider}
    return found


def in_any(placement: Service, aggregates: Collection[str]) -> frozenset[str]:
    """Return the UUIDs of the providers that are in one of the aggregates."""
    ordered = sorted(aggregates)
    found = frozenset[str]()
    for start in range(0, len(ordered), _IN_ONE_URL):
        query = {"member_of": "in:" + ",".join(ordered[start : start + _IN_ONE_URL])}
        found |= read.uuids(placement, query)
    return found


def aggregates_of(placement: Service, provider: str) -> frozenset[str]:
    """UUIDs of a provider's aggregates; none if Placement has no such provider."""
    path = f"{rest.path('resource_providers', provider)}/aggregates"
    body = rest.get_if_there(placement, path, AGGREGATES)
    return frozenset(body["aggregates"]) if body else frozenset()


# Reads where Nova and Placement have the hosts: nodes, providers, and aggregates.


@dataclasses.dataclass(frozen=True)
class Topology:
    """Where Nova and Placement have the hosts; ``members`` are Placement's, by UUID."""

    snapshot: Snapshot
    members: Members


def read_topology(cloud: Cloud) -> Topology:
    """Read hosts, aggregates, providers, and which are in which aggregate, no more."""
    nova = read.nova(cloud.compute)
    snapshot = read.providers(cloud.placement).with_nova(nova)
    snapshot = read.with_unlisted(cloud.placement, snapshot)
    members = _members(cloud.placement, snapshot)
    return Topology(snapshot, members)


def aggregates_now(cloud: Cloud, snapshot: Snapshot) -> Snapshot:
    """The snapshot with Nova's current host aggregates."""
    aggregates = read.aggregates(cloud.compute)
    nova = dataclasses.replace(snapshot.nova, aggregates=aggregates)
    return dataclasses.replace(snapshot, nova=nova)


def _members(placement: Service, snapshot: Snapshot) -> Members:
    known = frozenset(snapshot.by_uuid)
    nova = snapshot.nova
    return members(
        placement, {uuid: nodes & known for uuid, nodes in nova.members.items()}
    )


# Reads what requires traits: flavors, images and aggregates.


def requirers(cloud: Cloud, names: Iterable[str]) -> dict[str, tuple[Requirer, ...]]:
    """What requires the traits: flavors, images and aggregates."""
    names = tuple(names)
    found = all_requirers(cloud, flavors(cloud), images_requiring(cloud, names))
    return {name: found[name] for name in names if name in found}


def images_requiring(cloud: Cloud, names: Iterable[str]) -> tuple[question.Body, ...]:
    """The images that require one of the traits, each once."""
    asked = [images(cloud, {key_of(name): REQUIRED}) for name in names]
    return tuple({image["id"]: image for one in asked for image in one}.values())


def all_requirers(
    cloud: Cloud, flavors: Iterable[question.Body], images: Iterable[question.Body]
) -> dict[str, tuple[Requirer, ...]]:
    """The flavors, aggregates and these images that require a trait, by trait."""
    found: dict[str, list[Requirer]] = {}
    for requirer, name in _all(cloud, flavors, tuple(images)):
        if name is not None:
            found.setdefault(name, []).append(requirer)
    return {name: tuple(each) for name, each in found.items()}


def _all(
    cloud: Cloud, flavors: Iterable[question.Body], images: Collection[question.Body]
) -> Iterator[tuple[Requirer, str | None]]:
    for flavor in flavors:
        for key, value in flavor["extra_specs"].items():
            yield _flavor(flavor, key), requires(key, value)
    for aggregate in read.aggregates(cloud.compute):
        for name, key in _isolating(aggregate):
            yield Requirer("aggregate", aggregate.name, key, aggregate.id), name
    owners = of_others(images, cloud.own_project)
    for image in images:
        for name in sorted(required_by_image(image)):
            yield _image(image, key_of(name), owners), name


def forbidding(flavors: Iterable[question.Body], name: str) -> tuple[Requirer, ...]:
    """Return the flavors that forbid a trait; images and aggregates can't."""
    return tuple(
        _flavor(flavor, key)
        for flavor in flavors
        for key, value in flavor["extra_specs"].items()
        if value == FORBIDDEN and requires(key, REQUIRED) == name
    )


def _isolating(aggregate: Aggregate) -> Iterable[tuple[str, str]]:
    """Traits that isolate an aggregate by one database or another."""
    found = (aggregate.isolated_by(each).items() for each in Collation)
    return dict.fromkeys(itertools.chain.from_iterable(found))


def _flavor(flavor: question.Body, key: str) -> Requirer:
    return Requirer("flavor", flavor["name"], key, flavor["id"])


def _image(image: question.Body, key: str, owners: Mapping[str, str]) -> Requirer:
    identity, title = image["id"], image["name"] or image["id"]
    if identity not in owners:
        return Requirer("image", title, key, identity)
    is_public = image["visibility"] == "public"
    return Requirer("image", title, key, identity, owners[identity], is_public)


# Reads a cloud before traits are changed: few requests.


def cloud_state(
    cloud: Cloud,
    snapshot: Snapshot,
    flavors: Iterable[question.Body],
    traits: frozenset[str],
    inside: Members | None = None,
) -> CloudModel:
    """Read what else decides which hosts some flavors can use.

    :param snapshot: all providers; with Nova's view if there is ``inside``
    :param traits: all names that Placement knows
    :param inside: members of Placement's aggregates, if they matter
    """
    if inside is None:
        nova = Nova(computes(cloud), read.aggregates(cloud.compute))
        snapshot = snapshot.with_nova(nova)
    return CloudModel(
        snapshot=snapshot,
        aggregates=snapshot.nova.aggregates,
        flavors=tuple(flavors),
        traits=traits,
        classes=read.known_classes(cloud.placement),
        inside=inside or {},
    )
