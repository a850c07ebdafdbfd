"""check of a large cloud: requests, and CPU seconds of reading and of thinking."""

from __future__ import annotations

import dataclasses
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import openstack

from osc_traitsched.app.check import survey
from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.cloud.service import Service
from osc_traitsched.core import check
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.views import check as views
from tests.bench import lists
from tests.services.fill import fill
from tests.services.fleet import Host
from tests.services.pages import after
from tests.services.placement import PlacementServer

#: Traits that some of the filled hosts have.
_SOME = ("CUSTOM_GPU_NODE", "HW_CPU_X86_AVX512F")

#: The lists that any check has to read: all providers, those that others share, and
#: the traits.
_LISTS = (
    ("/resource_providers", None),
    ("/resource_providers", {"required": trait.SHARING}),
    ("/traits", None),
)


@dataclasses.dataclass
class _Lists:
    """A service that has nothing but lists, by path."""

    bodies: Mapping[str, Any]
    requests: int = 0

    def get(
        self,
        path: str,
        params: Any = None,
        microversion: Any = None,
        timeout: Any = None,
    ) -> Any:
        self.requests += 1
        hidden = (params or {}).get("os_hidden") == "true"
        return {"images": []} if hidden else after(params, self.bodies[path])


class _Counted:
    """Placement, with every path that is asked for."""

    def __init__(self, placement: Service) -> None:
        self._placement = placement
        self.paths: list[tuple[str, Any]] = []

    def get(
        self,
        path: str,
        params: Any = None,
        microversion: Any = None,
        timeout: Any = None,
    ) -> Any:
        self.paths.append((path, params))
        return self._placement.get(path, params, microversion)


@dataclasses.dataclass(frozen=True)
class _Cloud:
    placement: Any
    compute: _Lists
    image: _Lists
    identity: _Lists


def report(server: PlacementServer, hosts: int) -> None:
    """Measure, and print requests and seconds."""
    drawn = fill(server.database, hosts)
    auth = {"endpoint": server.url, "token": "admin"}
    sdk = openstack.connect(
        load_yaml_config=False, load_envvars=False, auth_type="admin_token", auth=auth
    )
    placement = HttpCloud(sdk).placement
    aggregates = _aggregates(drawn)
    _mirror(placement, drawn, aggregates)
    cloud = _Cloud(_Counted(placement), *_services(drawn, aggregates))
    print(
        f"check, {hosts} hosts, {lists.FLAVORS} flavors, {lists.IMAGES} images, "
        f"{len(aggregates)} aggregates"
    )
    for name, value, remark in _figures(cloud):
        print(f"  {name:36}{value:10.2f}  {remark}".rstrip())


def _figures(cloud: _Cloud) -> Iterator[tuple[str, float, str]]:
    options = {
        "enable_isolated_aggregate_filtering": True,
        "query_placement_for_image_type_support": True,
    }
    wall, start = time.perf_counter(), time.process_time()
    found = survey(cloud, SchedulerSettings.of(33, **options))  # type: ignore[arg-type]
    reading = time.process_time() - start
    yield "reading: seconds", time.perf_counter() - wall, f"{reading:.2f} of CPU"
    beyond = [each for each in cloud.placement.paths if each not in _LISTS]
    yield "requests beyond the lists", len(beyond), "less than 20"
    start = time.process_time()
    findings = check.run(check.RULES, found)
    views.rows(findings)
    thinking = time.process_time() - start
    yield "thinking: CPU seconds", thinking, f"{len(findings)} findings; less than 5"


def _aggregates(hosts: Sequence[Host]) -> list[dict[str, Any]]:
    """Return isolated ones, the zones and racks that Placement has, and empty ones."""
    found = lists.isolated([host.name for host in hosts])
    members: dict[str, list[str]] = {}
    for host in hosts:
        for aggregate in host.aggregates:
            members.setdefault(aggregate, []).append(host.name)
    for number, (aggregate, names) in enumerate(sorted(members.items()), len(found)):
        is_zone = len(names) > lists.AGGREGATES
        metadata = {"availability_zone": f"az{number}"} if is_zone else {}
        found.append(_aggregate(number, aggregate, names, metadata))
    for number in range(len(found), lists.AGGREGATES):
        found.append(_aggregate(number, str(uuid.UUID(int=number)), [], {}))
    return found


def _aggregate(
    number: int, identity: str, hosts: list[str], metadata: Mapping[str, str]
) -> dict[str, Any]:
    body = {"id": number, "uuid": identity, "name": f"aggregate-{number}"}
    return {**body, "hosts": hosts, "metadata": metadata}


def _mirror(
    placement: Service, hosts: Sequence[Host], aggregates: Sequence[Mapping[str, Any]]
) -> None:
    """Have isolated aggregates in Placement as Nova has them, and give the traits."""
    by_name = {host.name: host for host in hosts}
    for aggregate in aggregates[: lists.ISOLATED]:
        ((key, _),) = aggregate["metadata"].items()
        name = key.partition(":")[2]
        placement.put(f"/traits/{name}")
        for host in (by_name[each] for each in aggregate["hosts"]):
            path = f"/resource_providers/{host.uuid}"
            for what, wanted in (
                ("aggregates", [*host.aggregates, aggregate["uuid"]]),
                ("traits", [*host.root.traits, name]),
            ):
                generation = placement.get(path)["generation"]
                body = {"resource_provider_generation": generation, what: wanted}
                placement.put(f"{path}/{what}", body)


def _services(
    hosts: Sequence[Host], aggregates: Sequence[Mapping[str, Any]]
) -> tuple[_Lists, _Lists, _Lists]:
    """Return Nova, Glance and Keystone."""
    computes = [
        {
            "id": host.uuid,
            "hypervisor_hostname": host.name,
            "service": {"host": host.name},
            "state": "up",
            "status": "enabled",
        }
        for host in hosts
    ]
    services = [{"host": host.name, "zone": "nova"} for host in hosts]
    compute = {
        "/os-hypervisors/detail": {"hypervisors": computes},
        "/os-services": {"services": services},
        "/os-aggregates": {"aggregates": aggregates},
        "/flavors/detail": {"flavors": lists.flavors(_SOME)},
    }
    projects = {"/projects": {"projects": [], "links": {}}}
    return (
        _Lists(compute),
        _Lists({"/images": {"images": lists.images()}}),
        _Lists(projects),
    )
