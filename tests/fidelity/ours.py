"""What the core answers to a case, in the form of the oracle's answers.

A case is a mapping:

``flavor``, ``image``, ``aggregates``
    the bodies of the compute API and the image API
``availability_zone``, ``project_id``, ``boot_from_volume``
    what the user asks for besides; the project is ``project`` where none is said
``options``
    options of nova.conf that are set, ``section.name`` to value
``computes``
    the compute nodes: ``uuid``, ``host`` and ``node`` of each
``ports``, ``networks``, ``subnets``, ``requested_networks``
    the bodies of the network API, and the IDs of networks that ports are wanted of
``segments``
    the aggregates of each segment that is a provider in Placement, by its ID
``volumes``
    the bodies of the block storage API; the first one is the root disk
``device_profiles``
    the groups of each device profile, by its name
``all_computes_new``
    False where a nova-compute is older than 2026.2
``on_host``, ``on_node``
    ``host`` and ``hypervisor_hostname`` that the user asks for; empty for none
``name``
    one line on what the case is about
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from osc_traitsched.cloud import request_parts
from osc_traitsched.core import errors
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.nova import options, request
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.nova.server import Parts

Case = Mapping[str, Any]
Answer = Mapping[str, Any]

SQLITE, MARIADB = "sqlite", "mariadb"
#: How each database that Nova is asked with compares.
COLLATIONS = {
    SQLITE: Collation.CASE_SENSITIVE,
    MARIADB: Collation.CASE_INSENSITIVE,
}


def answer(case: Case, release: int, database: str = SQLITE) -> Answer:
    """Return the query and a pinned server's second one, or the refusal."""
    try:
        asked = build(case, release, database)
    except errors.Refusal as refusal:
        found = {"refused": refusal.exception, "stage": refusal.stage}
        return {**found, "http": refusal.http} if refusal.http else found
    if asked.fallback is None:
        return {"query": asked.query()}
    return {"query": asked.query(), "fallback_query": asked.fallback.query()}


def keys(case: Case, release: int, database: str = SQLITE) -> frozenset[str]:
    """Return the keys that the core's refusal names; none where it does not refuse."""
    try:
        build(case, release, database)
    except errors.Refusal as refusal:
        return frozenset(refusal.keys)
    return frozenset()


def build(case: Case, release: int, database: str = SQLITE) -> request.Request:
    """Return the request that the core makes of a case; raises Refusal."""
    given = {
        **case.get("options", {}),
        options.COLLATION: COLLATIONS[database].value,
    }
    question = Question(
        case["flavor"],
        None if case.get("volumes") else case["image"],
        aggregates=tuple(map(Aggregate.read, case.get("aggregates", ()))),
        spec=ServerSpec(
            zone=case.get("availability_zone"),
            boot_from_volume=case.get("boot_from_volume", False),
            on_host=case.get("on_host"),
            on_node=case.get("on_node"),
        ),
        project=case.get("project_id", "project"),
        parts=parts(case),
        computes=tuple(
            Compute(each["uuid"], each["node"], each["host"])
            for each in case.get("computes", ())
        ),
        assumptions=SchedulerSettings(
            release=release,
            settings={
                name: Setting(_value(value), "the case", given=True)
                for name, value in given.items()
            },
            release_source="the case",
            all_computes_new=case.get("all_computes_new"),
        ),
    )
    return question.request()


def _value(found: Any) -> Any:
    return tuple(found) if isinstance(found, list) else found


# Ports, networks, volumes and device profiles of a case, as the readers read them.


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
