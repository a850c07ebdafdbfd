"""Keystone's projects: all of them, or one by name or ID."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib import parse

from osc_traitsched.cloud import rest
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.names import Namesake, near_names

Body = Mapping[str, Any]

_NO_PARAMS: Mapping[str, str] = {}

#: The most letters of a name or an ID in Keystone's database
#: (keystone/resource/backends/sql_model.py). Newer ones refuse to look for more.
_MOST_LETTERS = 64

_NAMED: rest.Shape = {"id": str, "name": str}
_PROJECTS: rest.Shape = {"projects": [_NAMED], "links": dict}
_DOMAINS: rest.Shape = {"domains": [_NAMED]}


def listed(identity: Service, params: Mapping[str, str] = _NO_PARAMS) -> Iterator[Any]:
    """Yield the projects that Keystone lists.

    Newer Keystones give a link to a next page; older ones only cut a long list off,
    and take no marker.

    :raises CloudBroke: when the list can't be read, or is cut off
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
    """Return a project's ID; without a name that of the user's own project.

    :param domain: the domain that it is in, name or ID; None for any
    :raises NothingMatches: when Keystone shows no such domain, or no project of that
        name or ID in it
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
        near = near_names(name, {each["name"] for each in shown})
        raise errors.NothingMatches("project", name, near)
    return str(body["id"])


def _can_be(name: str) -> bool:
    """Tell whether Keystone may have something of a name or an ID."""
    return 0 < len(name) <= _MOST_LETTERS


def _domain(cloud: Cloud, name: str) -> str:
    """Return a domain's ID; what may not be looked up is taken for one."""
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
    """Return a project or a domain of Keystone's; None if there is none."""
    # These would lead to another place, however they are written.
    if identity in (".", ".."):
        return None
    try:
        path = rest.path(f"{kind}s", identity)
        body: Body = rest.get(cloud.identity, path, {kind: _NAMED})[kind]
    except errors.CloudBroke as exc:
        if exc.status == 404:
            return None
        raise
    return body
