"""A made-up Nova in front of a real Placement, for commands that ask both."""

from __future__ import annotations

import dataclasses
import json
import urllib.parse
from collections.abc import Callable, Iterable, Mapping

from tests.functional.proxy import Fault, Instead, Proxy, Request
from tests.services.nova import MadeUpNova
from tests.services.pages import after


@dataclasses.dataclass(frozen=True)
class Says(Instead):
    """Answer this, as a service that the proxy does not lead to."""

    status: int = 200
    text: bytes = b""

    @property
    def body(self) -> bytes:
        return self.text


class Nova(MadeUpNova):
    """A compute API behind the proxy, in one zone, without flavors or images.

    :ivar fault: what Placement's requests are asked for, as with the proxy
    :ivar when_read: what to do when the aggregates are read for the first time, the
        second time, and so on
    """

    def __init__(
        self,
        proxy: Proxy,
        hosts: Iterable[tuple[str, str]],
        aggregates: Mapping[str, tuple[Mapping[str, str], Iterable[str]]],
    ) -> None:
        super().__init__(hosts, aggregates)
        self._bodies["/flavors/detail"] = {"flavors": []}
        self._bodies["/images"] = {"images": []}
        self._bodies["/servers/detail"] = {"servers": []}
        self.fault: Callable[[Request], Fault] = lambda request: None
        self.when_read: dict[int, Callable[[], object]] = {}
        self._times_read = 0
        proxy.fault = self._answer

    def uuid(self, name: str) -> str:
        """Return the UUID of an aggregate."""
        (found,) = (each["uuid"] for each in self.aggregates if each["name"] == name)
        return str(found)

    def runs(self, node: str, identity: str, service_host: str) -> None:
        """Let a service host run one more node."""
        listed = self._bodies["/os-hypervisors/detail"]["hypervisors"]
        service = {"host": service_host, "disabled_reason": None}
        body = {"id": identity, "hypervisor_hostname": node, "service": service}
        listed.append({**body, "state": "up", "status": "enabled"})

    def _answer(self, request: Request) -> Fault:
        path, _, query = request.path.partition("?")
        if path not in self._bodies:
            return self.fault(request)
        if path == "/os-aggregates":
            self._times_read += 1
            self.when_read.get(self._times_read, lambda: None)()
        found = after(dict(urllib.parse.parse_qsl(query)), self._bodies[path])
        return Says(text=json.dumps(found).encode())
