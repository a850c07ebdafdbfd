"""The flavor, the image and the rest of a request, found by name or ID."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.cloud import read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova.question import Question

Body = Mapping[str, Any]


def flavors(cloud: Cloud) -> tuple[Body, ...]:
    """Return the bodies of all flavors, with extra specs; private ones count."""
    query = {"is_public": "None"}
    return tuple(read.pages(cloud.compute, "/flavors/detail", "flavors", query))


def flavor(cloud: Cloud, name: str) -> Body:
    """Return a flavor's body, with its extra specs; private ones count.

    :raises NothingMatches: when there is none of that name or ID
    """
    return flavor_among(flavors(cloud), name)


def flavor_among(listed: Iterable[Body], name: str) -> Body:
    """Return the one of the flavors that has this ID, or else this name.

    :raises NothingMatches: when there is none
    """
    listed = tuple(listed)
    for found in listed:
        if name == found["id"]:
            return found
    for found in listed:
        if name == found["name"]:
            return found
    near = near_names(name, {found["name"] for found in listed})
    raise errors.NothingMatches("flavor", name, near)


def images(cloud: Cloud, query: Mapping[str, str]) -> tuple[Body, ...]:
    """Return the bodies of the images that a query matches, hidden ones too."""
    return tuple(
        found
        for hidden in ("false", "true")
        for found in read.image_pages(
            cloud.image, {**query, "visibility": "all", "os_hidden": hidden}
        )
    )


def image(cloud: Cloud, name: str) -> Body:
    """Return an image's body; shared, community and hidden ones count.

    :raises NothingMatches: when there is none of that name or ID
    :raises AmbiguousName: for a name that several images have
    """
    if _is_uuid(name):
        try:
            body: Body = cloud.image.get(f"/images/{name}")
            return body
        except errors.CloudBroke as exc:
            if exc.status != 404:
                raise
    found = images(cloud, {"name": name})
    if len(found) > 1:
        raise errors.AmbiguousName("image", name, tuple(each["id"] for each in found))
    if not found:
        names = {each["name"] for each in images(cloud, {}) if each["name"]}
        raise errors.NothingMatches("image", name, near_names(name, names))
    return found[0]


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def project(cloud: Cloud, name: str | None) -> str | None:
    """Return a project's ID; without a name that of the user's own project.

    :raises NothingMatches: when Keystone shows no project of that name or ID
    """
    if name is None:
        return cloud.own_project
    found = cloud.identity.get("/projects", {"name": name})["projects"]
    if len(found) == 1:
        return str(found[0]["id"])
    if len(found) > 1:
        raise errors.AmbiguousName("project", name, tuple(p["id"] for p in found))
    try:
        return str(cloud.identity.get(f"/projects/{name}")["project"]["id"])
    except errors.CloudBroke as exc:
        if exc.status != 404:
            raise
        raise errors.NothingMatches("project", name, ()) from exc


def check_visible(cloud: Cloud, question: Question) -> None:
    """Accept only a flavor and an image that a project named by the user may use.

    An administrator who asks for himself may use all of them.

    :raises NotForProject: for one that it may not
    """
    if not question.on_behalf or question.project is None:
        return
    flavor, image = question.flavor, question.image
    if not flavor.get("os-flavor-access:is_public", True):
        path = f"/flavors/{flavor['id']}/os-flavor-access"
        access = cloud.compute.get(path)["flavor_access"]
        if question.project not in {entry["tenant_id"] for entry in access}:
            raise errors.NotForProject("flavor", flavor["name"])
    if image is None or image["visibility"] in ("public", "community"):
        return
    members = []
    if image["visibility"] == "shared":
        members = cloud.image.get(f"/images/{image['id']}/members")["members"]
    accepted = {each["member_id"] for each in members if each["status"] == "accepted"}
    if question.project not in {image["owner"], *accepted}:
        raise errors.NotForProject("image", image["name"] or image["id"])


def zone_refusal(cloud: Cloud, zone: str | None) -> errors.Refusal | None:
    """Return what nova-api says of an availability zone, or None if it takes it.

    A zone without one enabled nova-compute is not available, as one that is not
    there (nova/compute/api.py, ``_validate_and_build_base_options``).

    :param zone: None for one that nova-api does not look at
    """
    if zone is None:
        return None
    found = cloud.compute.get("/os-availability-zone")["availabilityZoneInfo"]
    if any(
        each["zoneName"] == zone and each["zoneState"]["available"] for each in found
    ):
        return None
    reason = "no-enabled-nova-compute-in-the-zone"
    near = near_names(zone, {each["zoneName"] for each in found} - {zone})
    return errors.Refusal("InvalidRequest", reason, (zone,), "api", 400, near)


def all_computes_are_new(cloud: Cloud) -> bool | None:
    """Tell whether every nova-compute is of 2026.2 or later, as its scheduler asks.

    No API shows their versions, but those that are mark their providers with
    OWNER_NOVA (nova/compute/resource_tracker.py, ``_get_traits``).

    :returns: None where there is no compute node to tell
    """
    try:
        unmarked = read.lackers(cloud.placement, "OWNER_NOVA")
    except errors.CloudBroke as exc:
        # A Placement that does not know the trait has nobody to mark with it.
        if exc.status == 400:
            return False
        raise
    nodes = {compute.uuid for compute in computes(cloud)}
    # A compute node without a provider can't be marked, and does not tell.
    return not nodes & unmarked if nodes else None


def computes(cloud: Cloud) -> tuple[Compute, ...]:
    """Return Nova's compute nodes, read once.

    :raises CloudBroke: when the user may not list them
    """
    return cloud.once(_computes)


def _computes(cloud: Cloud) -> tuple[Compute, ...]:
    return tuple(read.computes(cloud.compute))
