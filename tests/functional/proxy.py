"""A proxy in front of Placement that counts, and fails as it is told to."""

from __future__ import annotations

import dataclasses
import http.client
import http.server
import json
import socket
import threading
import urllib.parse
from collections.abc import Callable
from typing import Any, Optional, Union


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


class Proxy:
    """It forwards to a URL; ``requests`` is everything that it was sent.

    ``fault`` is asked for each request what to do instead of forwarding it.
    """

    def __init__(self, target: str) -> None:
        self.target = urllib.parse.urlsplit(target).netloc
        self.fault: Callable[[Request], Fault] = lambda request: None
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = "http://{}:{}".format(*self._server.server_address)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def writes(self) -> list[Request]:
        return [request for request in self.requests if request.is_write]

    def record(self, method: str, path: str) -> Request:
        with self._lock:
            kind = method != "GET"
            number = sum(earlier.is_write is kind for earlier in self.requests) + 1
            request = Request(method, path, number)
            self.requests.append(request)
        return request

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    proxy: Proxy
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        fault = self.proxy.fault(self.proxy.record(self.command, self.path))
        if isinstance(fault, CutBefore):
            return self._cut()
        if isinstance(fault, Instead):
            headers = {"Content-Type": "application/json"}
            return self._answer(fault.status, headers, fault.body)
        answer = self._forward(body)
        if isinstance(fault, CutAfter):
            return self._cut()
        return self._answer(*answer)

    do_GET = do_PUT = do_POST = do_DELETE = do  # noqa: N815

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
