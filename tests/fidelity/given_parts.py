"""Ports, networks, volumes and device profiles of a case, as the readers read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from osc_traitsched.cloud import request_parts
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova.server import Parts

Case = Mapping[str, Any]


def parts(case: Case) -> Parts:
    """Return what a case has besides flavor and image."""
    cloud: Any = _Cloud(case)
    attached = case.get("volumes", ())
    return Parts(
        ports=request_parts.ports(
            cloud, [each["id"] for each in case.get("ports", ())]
        ),
        networks=request_parts.networks(cloud, case.get("requested_networks", ())),
        volumes=request_parts.volumes(cloud, [each["id"] for each in attached]),
        boots_from=attached[0]["id"] if attached else None,
        device_profiles={
            name: groups and tuple(groups)
            for name, groups in case.get("device_profiles", {}).items()
        },
    )


class _Cloud:
    """The services of a case; each answers with the bodies that the case has."""

    def __init__(self, case: Case) -> None:
        self.network = self.placement = self.block_storage = _Service(case)


class _Service:
    service_type = "network"

    def __init__(self, case: Case) -> None:
        self._case = case

    def get(self, path: str, params: Any = None, *_: Any) -> Any:
        plural, *rest = path.strip("/").split("/")
        if plural == "resource_providers":
            return self._segment(rest[0])
        if rest:
            found = self._listed(plural, {"id": rest[0]})
            return {plural[:-1]: found[0]}
        return {plural: self._listed(plural, params)}

    def _listed(self, plural: str, wanted: Mapping[str, str]) -> list[Any]:
        every = self._case.get(plural, ())
        return [e for e in every if all(e.get(k) == v for k, v in wanted.items())]

    def _segment(self, uuid: str) -> Any:
        if uuid not in self._case.get("segments", {}):
            raise CloudBroke("placement", "no such provider", 404)
        return {"aggregates": self._case["segments"][uuid]}
