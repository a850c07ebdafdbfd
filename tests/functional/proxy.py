"""A proxy in front of Placement that counts, and fails as it is told to."""

from __future__ import annotations

import dataclasses
import http.client
import http.server
import json
import math
import socket
import threading
import urllib.parse
from collections.abc import Callable
from typing import Any, Optional, Protocol, Union

from tests.services import rest
from tests.services.process import PATIENCE

#: Between two looks whether to stop, for which each test's end waits.
POLL_SECONDS = 0.02


@dataclasses.dataclass(frozen=True)
class Request:
    """One request, numbered from 1 among those of its kind (reads, or writes)."""

    method: str
    path: str
    number: int

    @property
    def is_write(self) -> bool:
        return self.method != "GET"


@dataclasses.dataclass(frozen=True)
class Instead:
    """Answer this, and leave the server out of it."""

    status: int
    code: str = ""
    detail: str = "as the test wants it"

    @property
    def body(self) -> bytes:
        error = {"status": self.status, "detail": self.detail, "code": self.code}
        return json.dumps({"errors": [error]}).encode()


class CutBefore:
    """Drop the connection; the server never sees the request."""


class CutAfter:
    """Drop the connection after the server has carried the request out."""


Fault = Optional[Union[Instead, CutBefore, CutAfter]]


class Process(Protocol):
    """A command that can be killed."""

    def kill(self) -> None: ...

    @property
    def runs(self) -> bool: ...


class Proxy:
    """It forwards to a URL; ``requests`` is everything that it was sent.

    ``fault`` is asked for each request what to do instead of forwarding it.
    """

    def __init__(self, target: str) -> None:
        self.target = urllib.parse.urlsplit(target).netloc
        self.fault: Callable[[Request], Fault] = lambda request: None
        self.requests: list[Request] = []
        self._changed = threading.Condition()
        self._connections = 0
        self._last_write: float = math.inf
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.counted = self._count
        self.url = "http://{}:{}".format(*self._server.server_address)
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(POLL_SECONDS,), daemon=True).start()

    @property
    def writes(self) -> list[Request]:
        return [request for request in self.requests if request.is_write]

    def record(self, method: str, path: str) -> Request:
        with self._changed:
            kind = method != "GET"
            number = sum(earlier.is_write is kind for earlier in self.requests) + 1
            request = Request(method, path, number)
            self.requests.append(request)
            self._changed.notify_all()
        return request

    def kill_after(self, writes: int, start: Callable[[], Process]) -> None:
        """Start a command, and kill it as soon as it has sent so many writes.

        The last of them may still be under way then, and what it would have sent
        after them never arrives, however long the killing takes. Returns when nothing
        of the command is under way any more.
        """
        others, last = self._connections, len(self.writes) + writes
        self._last_write = last
        process = start()
        with self._changed:
            while process.runs and len(self.writes) < last:
                self._changed.wait(0.05)
        process.kill()
        # Connections are taken in turn: after this one, all of the command's are known.
        rest.call("GET", self.url)
        with self._changed:
            assert self._changed.wait_for(lambda: self._connections <= others, PATIENCE)
        self._last_write = math.inf

    def answer_to(self, request: Request) -> Fault:
        """Return what to do instead of forwarding a request."""
        if request.is_write and request.number > self._last_write:
            return CutBefore()
        return self.fault(request)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _count(self, change: int) -> None:
        with self._changed:
            self._connections += change
            self._changed.notify_all()


class _Server(http.server.ThreadingHTTPServer):
    """Tells the proxy of each connection that comes and goes."""

    counted: Callable[[int], None]

    def process_request(self, request: Any, client_address: Any) -> None:
        self.counted(1)
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        super().process_request_thread(request, client_address)
        self.counted(-1)


class _Handler(http.server.BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        fault = self.proxy.answer_to(self.proxy.record(self.command, self.path))
        if isinstance(fault, CutBefore):
            return self._cut()
        if isinstance(fault, Instead):
            headers = {"Content-Type": "application/json"}
            return self._answer(fault.status, headers, fault.body)
        answer = self._forward(body)
        if isinstance(fault, CutAfter):
            return self._cut()
        return self._answer(*answer)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = do  # noqa: N815

    def _forward(self, body: bytes) -> tuple[int, Any, bytes]:
        upstream = http.client.HTTPConnection(self.proxy.target, timeout=120)
        headers = {k: v for k, v in self.headers.items() if k != "Connection"}
        upstream.request(self.command, self.path, body or None, headers)
        answer = upstream.getresponse()
        data = answer.read()
        upstream.close()
        return answer.status, answer.headers, data

    def _answer(self, status: int, headers: Any, body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""
