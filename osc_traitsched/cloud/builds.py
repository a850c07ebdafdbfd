"""Reads on which hosts servers are being built, or were until a moment ago."""

from __future__ import annotations

import collections
import datetime
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import lists, rest
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.existing.failure import moment

#: How old what a node reports may be. Nova-compute counts its servers once a minute,
#: later if it is busy (nova/compute/manager.py, ``update_available_resource``).
_OLDEST = datetime.timedelta(minutes=3)
#: So many servers are a few pages, and more have not been built in three minutes.
_MOST = 3000
_PAGE = "1000"
_HOST = "OS-EXT-SRV-ATTR:host"

_SERVICES: rest.Shape = {"services": [{"updated_at": rest.OPTIONAL_TEXT}]}
_MIGRATIONS: rest.Shape = {"migrations": [{"source_compute": rest.OPTIONAL_TEXT}]}


def by_host(cloud: Cloud) -> Mapping[str, int] | None:
    """Return how many servers each host was building at its last update, at most.

    Those of all projects that are being built now, and those that have changed since:
    one that was built meanwhile, or has failed or been deleted, is among them, and so
    is one that was moved away. A host that is not in the answer was building none.
    Four to six requests, however many hosts there are.

    :returns: None where the user may not see all this, or it is too much
    :raises CloudBroke: when Nova can't be read
    """
    try:
        since = _since(cloud.compute)
        if since is None:
            return None
        building = list(_servers(cloud.compute, {"status": "BUILD"}))
        changed = list(_servers(cloud.compute, {"changes-since": since}))
        moved = _moved(cloud.compute, since)
    except errors.Forbidden:
        return None
    if max(len(building), len(changed)) > _MOST or len(moved) >= int(_PAGE):
        return None
    servers = (*building, *changed)
    if any(_HOST not in each for each in servers):
        return None
    hosts = {each["id"]: each[_HOST] for each in servers}
    found = (*hosts.values(), *(each["source_compute"] for each in moved))
    return collections.Counter(filter(None, found))


def _since(compute: Service) -> str | None:
    """Return when the oldest report may have been made, by Nova's own clock.

    Every nova-compute says every ten seconds that it is there.
    """
    query = {"binary": "nova-compute"}
    listed = rest.get(compute, "/os-services", _SERVICES, query)["services"]
    seen = moment(max((each["updated_at"] or "" for each in listed), default=""))
    return None if seen is None else f"{seen - _OLDEST:%Y-%m-%dT%H:%M:%SZ}"


def _servers(compute: Service, query: Mapping[str, str]) -> Iterator[Any]:
    """Yield servers of all projects, no more than one too many."""
    query = {"all_tenants": "1", "limit": _PAGE, **query}
    found = lists.pages(compute, "/servers/detail", "servers", {}, query)
    return itertools.islice(found, _MOST + 1)


def _moved(compute: Service, since: str) -> list[Any]:
    query = {"changes-since": since, "limit": _PAGE}
    return list(rest.get(compute, "/os-migrations", _MIGRATIONS, query)["migrations"])
