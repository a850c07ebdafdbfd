"""A flavor or an image: who uses it, what it requires, and where it could go."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence

from osc_traitsched.app import capacity
from osc_traitsched.app.host import or_problem
from osc_traitsched.app.judging import FlavorScope, by_flavor
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup, servers
from osc_traitsched.cloud.service import Cloud, RememberedCloud
from osc_traitsched.core.errors import CloudBroke, NotForProject, NothingMatches
from osc_traitsched.core.nova.image import requirements
from osc_traitsched.core.nova.question import Body, ServerSpec
from osc_traitsched.core.servers.usage import (
    CapacityQuery,
    FlavorsView,
    FlavorView,
    ImageView,
)
from osc_traitsched.text import by_key

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
        or_problem(cloud, lambda: servers.by_state(cloud, flavor=body["id"])),
        or_problem(cloud, lambda: _allowed(cloud, body), "projects of the flavor"),
    )
    if view.fit is None or not view.fit.suited:
        return view
    whole = or_problem(
        cloud, lambda: _with_images(remembered, view, spec, sources), "images"
    )
    if isinstance(whole, CloudBroke):
        return dataclasses.replace(view, images=whole)
    return whole


def flavors(
    cloud: Cloud, names: Sequence[str], spec: ServerSpec, sources: SettingsSources
) -> FlavorsView:
    """Flavors side by side, on one reading.

    :raises NothingMatches: for an unknown flavor
    :raises NotForProject: for a flavor that the named project may not use
    """
    bodies = [lookup.flavor(cloud, name) for name in names]
    query = CapacityQuery(flavors=tuple(str(body["id"]) for body in bodies))
    found = capacity.capacity(cloud, spec, sources, query)
    judged = {each.question.flavor["id"] for each in found.judgements}
    for body in bodies:
        if body["id"] not in judged:
            raise NotForProject("flavor", body["name"])
    return FlavorsView(found)


def image(cloud: Cloud, spec: ServerSpec, sources: SettingsSources) -> ImageView:
    """The image of a request: its hosts with each flavor, and its servers.

    Requests: those of :func:`app.capacity.capacity`, and the pages of servers.

    :raises NothingMatches: for an unknown image
    :raises NotForProject: for an image that the named project may not use
    """
    room = capacity.capacity(cloud, spec, sources, CapacityQuery(with_private=True))
    if not room.judgements:
        raise NotForProject("flavor", "any")
    body = room.judgements[0].question.image or {}
    own = or_problem(cloud, lambda: servers.by_state(cloud, image=body["id"]))
    return ImageView(room, own)


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
    judged = by_flavor(
        cloud, spec, sources, FlavorScope(lambda _: [question.flavor], first)
    )
    images = {
        str(image["name"] or image["id"]): judgement
        for kind, judgement in zip(kinds, judged)
        for image in kind
    }
    unjudged = sum(map(len, kinds[MOST_IMAGES:]))
    return dataclasses.replace(view, images=images, unjudged=unjudged)


def _images(cloud: Cloud, release: int) -> Sequence[Sequence[Body]]:
    """Active public images in kinds that Nova cannot tell apart, the largest first."""
    kinds = by_key(
        (requirements(image, release), image)
        for image in lookup.images(cloud, {})
        if image["visibility"] == "public" and image["status"] == "active"
    )
    return sorted(kinds.values(), key=lambda kind: -len(kind))


def _allowed(cloud: Cloud, flavor: Body) -> tuple[str, ...] | None:
    if flavor.get("os-flavor-access:is_public", True):
        return None
    names = lookup.names(cloud) or {}
    ids = lookup.flavor_projects(cloud, flavor)
    return tuple(sorted(names.get(identity, identity) for identity in ids))
