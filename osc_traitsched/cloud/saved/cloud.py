"""The services of a saved cloud."""

from __future__ import annotations

import functools
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from osc_traitsched.cloud.saved.lists import BY_PATH, Listed
from osc_traitsched.cloud.saved.placement import Query, SavedPlacement, SavedProvider
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.servers.state import ERROR

_T = TypeVar("_T")

Body = Mapping[str, Any]


class SavedCloud(Cloud):
    """A cloud that answers from a saved document, and takes no writes.

    :param document: as :func:`collect.collect` returns it
    """

    def __init__(self, document: Body) -> None:
        self._document = document
        self._services: dict[str, Service] = {}
        self._found: dict[Callable[[Cloud], Any], Any] = {}

    def service(self, service_type: str) -> Service:
        """The saved service of that type."""
        if service_type not in self._services:
            kind = _Placement if service_type == "placement" else _Service
            self._services[service_type] = kind(service_type, self._document)
        return self._services[service_type]

    @property
    def own_project(self) -> str | None:
        """The project that the snapshot was saved with."""
        own: str | None = self._document["own_project"]
        return own

    @property
    def compute_maximum(self) -> str | None:
        """The highest microversion of the live compute API."""
        highest: str | None = self._document["compute_maximum"]
        return highest

    def once(self, read: Callable[[Cloud], _T]) -> _T:
        """What a function reads, read once."""
        if read not in self._found:
            self._found[read] = read(self)
        found: _T = self._found[read]
        return found


class _Service(Service):
    """A service that answers from lists of bodies."""

    def __init__(self, service_type: str, document: Body) -> None:
        self.service_type = service_type
        self._document = document
        self._lists: Mapping[str, Any] = document.get(service_type, {})
        self._by_id = functools.cache(self._index)

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        microversion: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        path, _, text = path.partition("?")
        query: dict[str, list[str]] = urllib.parse.parse_qs(text, True)
        for key, value in (params or {}).items():
            query.setdefault(key, []).append(value)
        return self._answer(path, query)

    def _answer(self, path: str, query: Query) -> Any:
        answer = self._document["answers"].get(f"{self.service_type} {path}")
        if answer is not None:
            return answer
        self._check(path)
        listed = BY_PATH.get((self.service_type, path))
        if listed is not None:
            self._check(listed.of_one)
            return self._list(listed, {key: texts[-1] for key, texts in query.items()})
        return self._single(path)

    def _list(self, listed: Listed, query: Mapping[str, str]) -> Any:
        bodies = self._lists.get(listed.kind)
        if bodies is None:
            raise not_saved(self.service_type, listed.of_one)
        if listed.kind == "flavors" and not self._document["shows_all"]:
            # To others Nova lists public ones, too, whatever they ask for.
            query = {**query, "is_public": "None"}
        if listed.kind == "servers" and "flavor" in query:
            # Servers have a copy of their flavor, without its ID.
            flavor = self._by_id("flavors").get(query["flavor"], {"name": None})
            query = {key: text for key, text in query.items() if key != "flavor"}
            bodies = [e for e in bodies if _flavor_name(e) == flavor["name"]]
        return {listed.kind: listed.select(bodies, query), "links": {}}

    def _single(self, path: str) -> Any:
        parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")]
        if parts[2:] == ["os-volume_attachments"]:
            return {"volumeAttachments": self._attachments(parts[1])}
        if parts[2:] == ["os-instance-actions"] and not self._has_failed(parts[1]):
            return {"instanceActions": []}
        listed = BY_PATH.get((self.service_type, f"/{parts[0]}"))
        if listed is None or len(parts) != 2:
            raise not_saved(self.service_type, path)
        self._check(listed.of_one)
        body = self._by_id(listed.kind).get(parts[1])
        if body is None:
            raise CloudBroke(self.service_type, f"no {listed.single} {parts[1]}", 404)
        if listed.kind == "servers":
            # Nova's lists do not show the groups of servers.
            groups = self._lists.get("server_groups", ())
            own = [each["id"] for each in groups if body["id"] in each["members"]]
            body = {"server_groups": own, **body}
        # Glance shows an image as it is.
        return {listed.single: body} if listed.kind != "images" else body

    def _has_failed(self, server: str) -> bool:
        """Whether a server is in ERROR, or a move of it has failed."""
        body = self._by_id("servers").get(server)
        return body is not None and (
            body["status"] == ERROR or server in failed_moves(self._lists)
        )

    def _index(self, kind: str) -> Mapping[str, Body]:
        return {body["id"]: body for body in self._lists.get(kind, ())}

    def _attachments(self, server: str) -> list[Body]:
        volumes = self._document.get("block-storage", {}).get("volumes", ())
        return [
            {"volumeId": volume["id"], "device": each.get("device")}
            for volume in volumes
            for each in volume.get("attachments") or ()
            if each.get("server_id") == server
        ]

    def _check(self, path: str) -> None:
        """Raise the error that the live cloud gave for it."""
        problem = self._document["missing"].get(f"{self.service_type} {path}")
        if problem is None:
            return
        if problem["error"] == errors.NotInCatalog.__name__:
            raise errors.NotInCatalog(self.service_type)
        if problem["error"] == errors.Forbidden.__name__:
            roles = problem.get("roles")
            raise errors.Forbidden(
                self.service_type,
                problem["reason"],
                str(problem.get("scope", "")),
                tuple(map(str, roles)) if isinstance(roles, list) else None,
            )
        raise CloudBroke(self.service_type, problem["reason"], problem["status"])


class _Placement(_Service):
    """Placement; its candidates are computed."""

    @functools.cached_property
    def _placement(self) -> SavedPlacement:
        own = self._lists
        providers = map(_provider, own["providers"])
        return SavedPlacement(providers, own["traits"], own["resource_classes"])

    def _answer(self, path: str, query: Query) -> Any:
        placement = self._placement
        if path == "/resource_providers":
            return {"resource_providers": [e.listed for e in placement.listed(query)]}
        if path == "/allocation_candidates":
            return placement.candidates(query)
        if path == "/resource_classes":
            return {path[1:]: [{"name": name} for name in sorted(placement.classes)]}
        if path == "/traits" and "associated" in query:
            own = (each.traits for each in placement.providers.values())
            return {"traits": sorted(frozenset[str]().union(*own))}
        if path == "/traits":
            return {"traits": sorted(placement.traits)}
        return self._of_provider(path)

    def _of_provider(self, path: str) -> Any:
        parts = path.strip("/").split("/")
        if parts[0] != "resource_providers" or len(parts) > 3:
            raise not_saved(self.service_type, path)
        provider = self._placement.providers.get(urllib.parse.unquote(parts[1]))
        if provider is None:
            reason = f"No resource provider with uuid {parts[1]} found"
            raise CloudBroke(self.service_type, reason, 404)
        if len(parts) == 2:
            return provider.listed
        own = provider.inventories
        answers: dict[str, Any] = {
            "traits": sorted(provider.traits),
            "aggregates": sorted(provider.aggregates),
            "usages": {name: each["used"] for name, each in own.items()},
            "inventories": {
                name: {key: value for key, value in each.items() if key != "used"}
                for name, each in own.items()
            },
        }
        if parts[2] not in answers:
            raise not_saved(self.service_type, path)
        generation = {"resource_provider_generation": provider.generation}
        return {parts[2]: answers[parts[2]], **generation}


#: The order in which nova-compute reports inventories.
_ORDER = {"VCPU": 0, "MEMORY_MB": 1, "DISK_GB": 2}


def _provider(body: Body) -> SavedProvider:
    inventories = body["inventories"]
    names = sorted(inventories, key=lambda name: (_ORDER.get(name, 3), name))
    own = {key: body[key] for key in SavedProvider._fields} | {
        "traits": frozenset(body["traits"]),
        "aggregates": frozenset(body["aggregates"]),
        "inventories": {name: inventories[name] for name in names},
    }
    return SavedProvider(**own)


def _flavor_name(server: Body) -> object:
    return (server.get("flavor") or {}).get("original_name")


def failed_moves(lists: Body) -> frozenset[str]:
    """IDs of the servers that a listed migration failed to move."""
    return frozenset(
        each["instance_uuid"]
        for each in lists.get("migrations", ())
        if each["status"] in ("error", "failed")
    )


def not_saved(service: str, path: str) -> errors.Hidden:
    """The error for data that the snapshot does not have."""
    return errors.Hidden(service, f"the snapshot has no {path}")
