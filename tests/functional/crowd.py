"""A made-up Nova with very many servers, each made when its page is asked for."""

from __future__ import annotations

import json
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from tests.functional.nova import Nova, Says
from tests.functional.proxy import Fault, Proxy, Request

FLAVORS, PROJECTS, IMAGES, GROUP = 40, 200, 20, 4
#: The flavor of some servers that requires what few hosts have.
TRAIT = "CUSTOM_GPU_NODE"
_PAGE = 1000
_SPACE = uuid.UUID(int=0)


class Crowd(Nova):
    """A compute API, and an image service, with so many servers on its hosts.

    The servers go round the hosts, and after each round comes another flavor. The first
    are in groups of four that are to be apart, and the four of each are.
    """

    def __init__(
        self,
        proxy: Proxy,
        hosts: Iterable[tuple[str, str]],
        aggregates: Mapping[str, tuple[Mapping[str, str], Iterable[str]]],
        count: int,
    ) -> None:
        hosts = list(hosts)
        super().__init__(proxy, hosts, aggregates)
        self.names = [name for name, _ in hosts]
        self.count = count
        self._images = [
            {
                "id": _id("image", n),
                "name": f"image-{n}",
                "status": "active",
                "visibility": "public",
                "min_disk": 0,
                "min_ram": 0,
                "disk_format": "raw",
            }
            for n in range(IMAGES)
        ]

    def flavor(self, number: int) -> int:
        """Return the number of the flavor of a server; the last wants the trait."""
        return number // len(self.names) % FLAVORS

    def host(self, number: int) -> str:
        return self.names[number % len(self.names)]

    def server(self, number: int) -> dict[str, Any]:
        """Return the body of a server."""
        flavor, host = self.flavor(number), self.host(number)
        required = {f"trait:{TRAIT}": "required"} if flavor == FLAVORS - 1 else {}
        return {
            "id": _id("server", number),
            "name": f"server-{number}",
            "status": "ACTIVE",
            "tenant_id": _id("project", number % PROJECTS),
            "OS-EXT-SRV-ATTR:host": host,
            "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
            "OS-SRV-USG:launched_at": "2026-01-01T00:00:00.000000",
            "flavor": {
                "original_name": f"flavor-{flavor}",
                "vcpus": 1 + flavor % 4,
                "ram": 1024 * (1 + flavor % 8),
                "disk": 10,
                "ephemeral": 0,
                "swap": 0,
                "extra_specs": {"hw:watchdog_action": "none", **required},
            },
            "image": {"id": _id("image", number % IMAGES), "links": []},
            "metadata": {f"key-{n}": "x" * 40 for n in range(10)},
            "addresses": {"net": [{"addr": f"10.0.{n}.1"} for n in range(4)]},
        }

    def _answer(self, request: Request) -> Fault:
        path, _, text = request.path.partition("?")
        query = dict(urllib.parse.parse_qsl(text))
        if path == "/servers/detail":
            return _says({"servers": list(map(self.server, self._page(query)))})
        if path == "/os-server-groups":
            return _says({"server_groups": self._groups(int(query["offset"]))})
        if path == "/images":
            return _says({"images": [] if "marker" in query else self._shown(query)})
        return super()._answer(request)

    def _page(self, query: Mapping[str, str]) -> list[int]:
        first = _number(query["marker"]) + 1 if "marker" in query else 0
        numbers = range(first, self.count)
        if "host" in query:
            number = self.names.index(query["host"])
            size = len(self.names)
            numbers = [n for n in numbers if n % size == number]
        return list(numbers[:_PAGE])

    def _groups(self, offset: int) -> list[dict[str, Any]]:
        return [
            {
                "id": _id("group", n),
                "name": f"group-{n}",
                "policy": "anti-affinity",
                "project_id": _id("project", 0),
                "rules": {},
                "members": [_id("server", GROUP * n + m) for m in range(GROUP)],
            }
            for n in range(offset, min(offset + _PAGE, len(self.names) // GROUP))
        ]

    def _shown(self, query: Mapping[str, str]) -> list[dict[str, str]]:
        wanted = query["id"].partition(":")[2].split(",")
        is_hidden = query["os_hidden"] == "true"
        return [e for e in self._images if e["id"] in wanted and not is_hidden]


def _says(body: Any) -> Says:
    return Says(text=json.dumps(body).encode())


def _id(kind: str, number: int) -> str:
    """Return a UUID that ends with a number, and begins with what it is of."""
    head = uuid.uuid5(_SPACE, kind).hex[:20]
    return str(uuid.UUID(f"{head}{number:012d}"))


def _number(identity: str) -> int:
    return int(identity[-12:])
