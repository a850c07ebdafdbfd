"""A Placement alone comes up by itself, and can be filled while it runs."""

from __future__ import annotations

import functools
import pathlib
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from tests.services import fleet, mariadb, on_mariadb, process, rest
from tests.services.children import Children
from tests.services.fill import fill
from tests.services.placement import PlacementServer

pytestmark = pytest.mark.full


@pytest.fixture
def server(tmp_path: pathlib.Path) -> Iterator[PlacementServer]:
    with PlacementServer(tmp_path) as server:
        yield server


def get(server: PlacementServer, path: str) -> rest.Answer:
    version = {"OpenStack-API-Version": "placement 1.36"}
    headers = {"X-Auth-Token": "admin", **version}
    return rest.call("GET", server.url + path, headers=headers)


def names(server: PlacementServer, query: str = "") -> set[str]:
    answer: Any = get(server, f"/resource_providers{query}")
    assert answer.status == 200, answer
    return {provider["name"] for provider in answer.body["resource_providers"]}


def test_hosts_appear_in_a_server_that_runs(server: PlacementServer) -> None:
    assert names(server) == set()

    hosts = fill(server.database, 100)

    assert names(server) == {host.name for host in hosts}


def test_custom_traits_of_the_hosts_are_known_to_the_server(
    server: PlacementServer,
) -> None:
    assert get(server, "/resource_providers?required=CUSTOM_NEVER").status == 400

    hosts = fill(server.database, 100)
    with_gpu = {h.name for h in hosts if "CUSTOM_GPU_NODE" in h.root.traits}

    assert names(server, "?required=CUSTOM_GPU_NODE") == with_gpu
    assert len(with_gpu) == 5
    assert names(server, "?required=CUSTOM_NEVER") == set()


def test_full_hosts_have_no_cpu_and_no_memory_left(server: PlacementServer) -> None:
    hosts = fill(server.database, 100, full=10)
    with_room = {host.name for host in hosts if not host.full}

    assert len(with_room) == 90
    assert names(server, "?resources=VCPU:1") == with_room
    assert names(server, "?resources=MEMORY_MB:1") == with_room


def test_a_share_of_the_hosts_carries_two_numa_nodes(server: PlacementServer) -> None:
    hosts = fill(server.database, 20, nested=0.25)
    parents = [host for host in hosts if host.children]
    tree = {parents[0].name, *(child.name for child in parents[0].children)}

    assert len(parents) == 5
    assert names(server, f"?in_tree={parents[0].uuid}") == tree
    assert len(names(server, "?resources=PCPU:1")) == 10


def test_filling_twice_adds_to_what_is_there(server: PlacementServer) -> None:
    first = fill(server.database, 30)
    second = fill(server.database, 20)

    assert names(server) == {host.name for host in first + second}
    assert len(names(server)) == 50


def test_the_same_seed_gives_the_same_hosts() -> None:
    assert fleet.draw(50, seed=7) == fleet.draw(50, seed=7)
    assert fleet.draw(50, seed=7) != fleet.draw(50, seed=8)


def test_a_server_without_one_of_the_standard_traits_is_left_empty(
    server: PlacementServer,
) -> None:
    with closing(sqlite3.connect(server.database)) as db, db:
        db.execute("DELETE FROM traits WHERE name = 'COMPUTE_NODE'")

    with pytest.raises(ValueError, match="does not know COMPUTE_NODE"):
        fill(server.database, 1)
    assert names(server) == set()


def test_writers_wait_for_each_other_where_that_is_asked_for(
    tmp_path: pathlib.Path,
) -> None:
    def add(server: PlacementServer, number: int) -> int:
        headers = {"X-Auth-Token": "admin"}
        body = {"name": f"host-{number}"}
        return rest.call(
            "POST", f"{server.url}/resource_providers", body, headers
        ).status

    with PlacementServer(tmp_path, writers_wait=True) as server:
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(functools.partial(add, server), range(40)))

        assert set(statuses) == {201}
        assert len(names(server)) == 40


def test_workers_answer_on_one_address(tmp_path: pathlib.Path) -> None:
    request = re.compile(r"(\d+) INFO placement.requestlog .* /resource_providers")
    answered: set[str] = set()
    with PlacementServer(tmp_path, workers=2) as server:
        for _ in range(1000):
            assert names(server) == set()
            answered = set(request.findall(server.log.read_text()))
            if len(answered) == 2:
                break

    assert len(answered) == 2
    with pytest.raises(OSError, match="refused"):
        names(server)


def test_a_server_that_cannot_start_shows_the_end_of_its_log(
    tmp_path: pathlib.Path,
) -> None:
    children = Children(tmp_path)

    with pytest.raises(process.ChildFailed, match="No module named 'nosuchthing'"):
        children.serve("broken", "nosuchthing:application", process.listen())


def test_a_stopped_server_can_be_started_again_on_what_it_had(
    tmp_path: pathlib.Path,
) -> None:
    server = PlacementServer(tmp_path)
    with server:
        fill(server.database, 3)
    with server:
        assert len(names(server)) == 3


# A Placement on MariaDB says the same as the one on SQLite that it is a copy of.


_HEADERS = {"X-Auth-Token": "admin", "OpenStack-API-Version": "placement 1.36"}


def get_status(server: PlacementServer, path: str) -> rest.Answer:
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
            for_all = get_status(copy, "/resource_providers")
            assert {host.uuid for host in drawn} <= {
                p["uuid"] for p in by_uuid(for_all)
            }
            assert by_uuid(for_all) == by_uuid(
                get_status(server, "/resource_providers")
            )
            here, there = get_status(server, amounts), get_status(copy, amounts)
            summaries = there.body["provider_summaries"]
            assert summaries
            assert summaries == here.body["provider_summaries"]
            before = copy.cpu_seconds()
            get_status(copy, amounts)
            assert copy.cpu_seconds() > before
