"""Reads many servers, page by page, and what of others their questions speak of."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.cloud import lists, rest
from osc_traitsched.cloud.existing_servers import minor_version
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core import errors
from osc_traitsched.core.existing.fleet import HOST, Fleet

#: What Nova gives at most, unless it is set up for less.
_PAGE = 1000
_PATH = "/servers/detail"

_SERVERS: rest.Shape = {
    "servers": [
        {
            "name": str,
            "tenant_id": str,
            HOST: rest.OPTIONAL_TEXT,
            "flavor": {"original_name": str, "vcpus": int, "ram": int, "disk": int},
            "image": (str, dict),
        }
    ]
}

_SERVICES: rest.Shape = {"services": [{"host": str, "status": str}]}
#: The first version that names the hosts of cells which do not answer, and the status
#: that they have there.
_CELLS_SINCE, _SILENT = "2.69", "UNKNOWN"


def silent_hosts(cloud: Cloud) -> frozenset[str]:
    """Return the service hosts of the cells that do not answer; one request.

    A list of servers that is read in pages leaves theirs out, and does not say so
    (nova/api/openstack/compute/servers.py, ``_is_cell_down_supported``).

    :raises CloudBroke: when the user may not list compute services
    """
    query = {"binary": "nova-compute"}
    path = "/os-services"
    body = rest.get(cloud.compute, path, _SERVICES, query, _CELLS_SINCE)
    found = (e["host"] for e in body["services"] if e["status"] == _SILENT)
    return frozenset(found)


def fleet(
    cloud: Cloud, hosts: Iterable[str] | None = None, project: str | None = None
) -> Fleet:
    """Read servers, and keep little of each.

    One request for each thousand servers and one that ends the list, of the whole
    cloud or of each host.

    :param hosts: the service hosts whose servers are read; None for all servers
    :param project: the ID of the project whose servers alone are read
    :raises ExtraSpecsHidden: where Nova leaves them out for this user
    :raises CloudBroke: when the user may not list the servers of all projects
    """
    found, seen = Fleet(minor_version(cloud)), set[str]()
    for each in [None] if hosts is None else sorted(set(hosts)):
        query = {"all_tenants": "1", "limit": str(_PAGE)}
        if each is not None:
            query["host"] = each
        if project is not None:
            query["project_id"] = project
        for page in _pages(cloud, query):
            # One that is moved meanwhile is on two hosts, one after the other.
            found.add(body for body in page if body["id"] not in seen)
            if hosts is not None:
                seen.update(body["id"] for body in page)
    if found.hidden:
        total = found.hidden + len(found.residents)
        raise errors.ExtraSpecsHidden(found.hidden, total)
    return found


def _pages(cloud: Cloud, query: Mapping[str, str]) -> Iterator[list[Any]]:
    """Yield so many servers at once that their bodies take little memory."""
    version = f"2.{minor_version(cloud)}"
    left = lists.pages(cloud.compute, _PATH, "servers", {}, query, version)
    while page := list(itertools.islice(left, _PAGE)):
        rest.check(cloud.compute, _PATH, {"servers": page}, _SERVERS)
        yield page
