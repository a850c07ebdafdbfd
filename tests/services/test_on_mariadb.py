"""A Placement on MariaDB says the same as the one on SQLite that it is a copy of."""

from __future__ import annotations

import pathlib

import pytest

from tests.services import mariadb, on_mariadb, rest
from tests.services.fill import fill
from tests.services.placement import PlacementServer

pytestmark = pytest.mark.full
_HEADERS = {"X-Auth-Token": "admin", "OpenStack-API-Version": "placement 1.36"}


def get(server: PlacementServer, path: str) -> rest.Answer:
    return rest.call("GET", server.url + path, headers=_HEADERS)


def by_uuid(answer: rest.Answer) -> list[dict[str, object]]:
    listed = answer.body["resource_providers"]
    return sorted(listed, key=lambda provider: provider["uuid"])


def test_a_copy_has_the_same_hosts_with_as_much_room(tmp_path: pathlib.Path) -> None:
    try:
        mariadb.program()
    except mariadb.NoMariaDB as problem:
        pytest.skip(str(problem))
    amounts = "/allocation_candidates?resources=VCPU:1,MEMORY_MB:512"
    with PlacementServer(tmp_path) as server:
        drawn = fill(server.database, 30, full=3, nested=0.5)
        with on_mariadb.copied(server) as copy:
            for_all = get(copy, "/resource_providers")
            assert {host.uuid for host in drawn} <= {
                p["uuid"] for p in by_uuid(for_all)
            }
            assert by_uuid(for_all) == by_uuid(get(server, "/resource_providers"))
            here, there = get(server, amounts), get(copy, amounts)
            summaries = there.body["provider_summaries"]
            assert summaries
            assert summaries == here.body["provider_summaries"]
            before = copy.cpu_seconds()
            get(copy, amounts)
            assert copy.cpu_seconds() > before
