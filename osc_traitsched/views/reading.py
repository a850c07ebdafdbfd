"""What is being read, for a person who waits for it."""

from __future__ import annotations

_NOUNS = {
    "os-aggregates": "host aggregates",
    "os-availability-zone": "availability zones",
    "os-hypervisors": "hypervisors",
    "os-services": "compute services",
}


def line(path: str) -> str:
    """Return the line for a request.

    :param path: below the service's endpoint, perhaps with a query
    """
    kind = path.partition("?")[0].strip("/").partition("/")[0]
    return f"reading {_NOUNS.get(kind, kind.replace('_', ' '))} ..."
