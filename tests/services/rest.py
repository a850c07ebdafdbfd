"""JSON over HTTP to a service on loopback, with the standard library alone."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# A proxy set for the outer world must not see requests to loopback.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; body is the decoded JSON, or None where there is none."""

    status: int
    headers: Mapping[str, str]
    body: Any


def call(
    method: str,
    url: str,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> Answer:
    """Send one request and return the answer, whatever its status is.

    Raises OSError where there is no answer at all.
    """
    request = urllib.request.Request(
        url,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **(headers or {})},
    )
    try:
        with _OPENER.open(request, timeout=timeout) as response:
            return Answer(response.status, response.headers, _decode(response.read()))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, _decode(error.read()))


def _decode(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
