"""A large cloud: Placement is real, the other services have nothing but lists."""

from __future__ import annotations

import contextlib
import dataclasses
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import openstack

from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.cloud.service import Service
from osc_traitsched.core.errors import NotInCatalog
from tests.bench import lists
from tests.services.fill import fill
from tests.services.fleet import HOSTS_IN_A_RACK, Host
from tests.services.pages import after
from tests.services.placement import PlacementServer

#: Traits that some of the filled hosts have.
SOME = ("CUSTOM_GPU_NODE", "HW_CPU_X86_AVX512F")

_T = TypeVar("_T")


@dataclasses.dataclass
class Lists:
    """A service that has nothing but lists, by path."""

    bodies: Mapping[str, Any]
    service_type = "lists"
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


class Counted:
    """Placement, with every path that is asked for.

    :ivar cpu: seconds of this process between question and answer
    """

    service_type = "placement"

    def __init__(self, placement: Service) -> None:
        self._placement = placement
        self.paths: list[tuple[str, Any]] = []
        self.cpu = 0.0

    def get(
        self,
        path: str,
        params: Any = None,
        microversion: Any = None,
        timeout: Any = None,
    ) -> Any:
        self.paths.append((path, params))
        with self._timed():
            return self._placement.get(path, params, microversion)

    def put(self, path: str, body: Any = None, timeout: Any = None) -> None:
        self.paths.append((path, None))
        with self._timed():
            self._placement.put(path, body)

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.process_time()
        yield
        self.cpu += time.process_time() - start


@dataclasses.dataclass(frozen=True)
class BenchCloud:
    """What a use case needs of a cloud."""

    placement: Counted
    compute: Lists
    image: Lists
    identity: Lists
    own_project: str | None = None

    @property
    def requests(self) -> int:
        """How many there were, to all services."""
        others = (self.compute, self.image, self.identity)
        return len(self.placement.paths) + sum(each.requests for each in others)

    @property
    def cpu(self) -> float:
        """Seconds of this process between questions and answers."""
        return self.placement.cpu

    @property
    def block_storage(self) -> NoReturn:
        """The cloud has no Cinder."""
        raise NotInCatalog("block-storage")

    def once(self, read: Callable[[BenchCloud], _T]) -> _T:
        return read(self)


@dataclasses.dataclass(frozen=True)
class Large:
    """A cloud, and what is in it."""

    cloud: BenchCloud
    hosts: Sequence[Host]
    aggregates: Sequence[Mapping[str, Any]]


def made(
    server: PlacementServer,
    hosts: int,
    aggregates: int,
    flavors: Sequence[Mapping[str, Any]],
) -> Large:
    """Fill a Placement, and make up the lists of the other services."""
    drawn = fill(server.database, hosts)
    large = over(server.url, drawn, aggregates, flavors)
    _mirror(HttpCloud(_sdk(server.url)).placement, drawn, large.aggregates)
    return large


def over(
    url: str,
    hosts: Sequence[Host],
    aggregates: int,
    flavors: Sequence[Mapping[str, Any]],
) -> Large:
    """Make up the lists of the other services, for a Placement that is filled."""
    found = _aggregates(hosts, aggregates)
    placement = Counted(HttpCloud(_sdk(url)).placement)
    services = _services(hosts, found, flavors)
    return Large(BenchCloud(placement, *services), hosts, found)


def _sdk(url: str) -> openstack.connection.Connection:
    auth = {"endpoint": url, "token": "admin"}
    return openstack.connect(
        load_yaml_config=False, load_envvars=False, auth_type="admin_token", auth=auth
    )


def _aggregates(hosts: Sequence[Host], count: int) -> list[dict[str, Any]]:
    """Return isolated ones, the zones and racks that Placement has, and empty ones."""
    found = lists.isolated([host.name for host in hosts])
    members: dict[str, list[str]] = {}
    for host in hosts:
        for aggregate in host.aggregates:
            members.setdefault(aggregate, []).append(host.name)
    for number, (aggregate, names) in enumerate(sorted(members.items()), len(found)):
        is_zone = len(names) > HOSTS_IN_A_RACK
        metadata = {"availability_zone": f"az{number}"} if is_zone else {}
        found.append(_aggregate(number, aggregate, names, metadata))
    for number in range(len(found), count):
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
    hosts: Sequence[Host],
    aggregates: Sequence[Mapping[str, Any]],
    flavors: Sequence[Mapping[str, Any]],
) -> tuple[Lists, Lists, Lists]:
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
    up = {"zone": "nova", "status": "enabled"}
    services = [{"host": host.name, **up} for host in hosts]
    compute = {
        "/os-hypervisors/detail": {"hypervisors": computes},
        "/os-services": {"services": services},
        "/os-aggregates": {"aggregates": aggregates},
        "/flavors/detail": {"flavors": list(flavors)},
        "/servers/detail": {"servers": []},
    }
    projects = {"/projects": {"projects": [], "links": {}}}
    return (
        Lists(compute),
        Lists({"/images": {"images": lists.images()}}),
        Lists(projects),
    )
