"""What is being read, for a person who waits for it."""

from __future__ import annotations

_NOUNS = {
    "os-aggregates": "host aggregates",
    "os-availability-zone": "availability zones",
    "os-hypervisors": "hypervisors",
    "os-services": "compute services",
}


def line(path: str, number: int = 1) -> str:
    """Return the line for a request.

    :param path: below the service's endpoint, perhaps with a query
    :param number: of requests in a row for that path, this one too
    """
    kind = path.partition("?")[0].strip("/").partition("/")[0]
    noun = _NOUNS.get(kind, kind.replace("_", " "))
    return f"reading {noun} ..." if number == 1 else f"reading {noun} ({number}) ..."
