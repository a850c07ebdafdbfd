"""A stand-in for Neutron that has nothing. Runs in the services' own Python.

Nova asks for a server's ports and security groups whenever it shows one, even if the
server was made without a network. The stand-in answers every list with an empty one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any


def application(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
    """Answer one request, as WSGI has it."""
    status, body = answer(environ["REQUEST_METHOD"], environ["PATH_INFO"])
    data = json.dumps(body).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(data)))]
    start_response(status, headers)
    return [data]


def answer(method: str, path: str) -> tuple[str, dict[str, Any]]:
    """Return status and body for a request."""
    parts = re.sub(r"\.json$", "", path.rstrip("/")).split("/")
    if method != "GET":
        return "405 Method Not Allowed", _error("this network service is read-only")
    if parts in ([""], ["", "v2.0"]):
        return "200 OK", {"versions": [{"id": "v2.0", "status": "CURRENT"}]}
    if len(parts) == 3 and parts[1] == "v2.0":
        return "200 OK", {parts[2].replace("-", "_"): []}
    return "404 Not Found", _error(f"nothing is at {path}")


def _error(message: str) -> dict[str, Any]:
    return {"NeutronError": {"type": "NotFound", "message": message, "detail": ""}}
