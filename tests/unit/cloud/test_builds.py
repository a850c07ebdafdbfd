"""Where servers are being built, of answers that a test says."""

from __future__ import annotations

import types

import pytest

from osc_traitsched.cloud import servers
from osc_traitsched.core.errors import CloudBroke, Forbidden
from tests.services.pages import after
from tests.unit.cloud.services import Answering

HOST = "OS-EXT-SRV-ATTR:host"
SEEN = ("2026-01-01T00:02:50.000000", None, "2026-01-01T00:03:05.000000")
#: Three minutes before the newest of these.
SINCE = "2026-01-01T00:00:05Z"


def server(name, host):
    return {"id": name, HOST: host}


def cloud(building=(), changed=(), moved=(), seen=SEEN, **instead):
    """Return a cloud with these servers; an exception is raised instead of a list."""
    servers = {"BUILD": list(building), None: list(changed)}
    found = {
        "/os-services": {"services": [{"updated_at": each} for each in seen]},
        "/os-migrations": {"migrations": [{"source_compute": each} for each in moved]},
    }

    def answer(path, query):
        if path in instead:
            raise instead[path]
        if path == "/servers/detail":
            return after(query, {"servers": servers[query.get("status")]})
        return found[path]

    return types.SimpleNamespace(compute=Answering(answer))


def test_what_is_being_built_has_changed_or_was_moved_away_counts_once_per_server():
    found = servers.by_host(
        cloud(
            [server("1", "a"), server("2", "b"), server("3", None)],
            [server("1", "a"), server("4", "a")],
            ["c", None],
        )
    )
    assert found == {"a": 2, "b": 1, "c": 1}


def test_changes_are_those_of_the_last_minutes_by_novas_own_clock():
    nova = cloud([server("1", "a")])
    servers.by_host(nova)
    all_servers = {"all_tenants": "1", "limit": "1000"}
    assert nova.compute.asked == [
        ("/os-services", {"binary": "nova-compute"}),
        ("/servers/detail", {**all_servers, "status": "BUILD"}),
        ("/servers/detail", {**all_servers, "status": "BUILD", "marker": "1"}),
        ("/servers/detail", {**all_servers, "changes-since": SINCE}),
        ("/os-migrations", {"changes-since": SINCE, "limit": "1000"}),
    ]


@pytest.mark.parametrize("path", ["/os-services", "/servers/detail", "/os-migrations"])
def test_what_the_user_may_not_list_is_not_known_and_a_failure_is_one(path):
    assert servers.by_host(cloud(**{path: Forbidden("compute", "no")})) is None
    with pytest.raises(CloudBroke):
        servers.by_host(cloud(**{path: CloudBroke("compute", "no", 500)}))


@pytest.mark.parametrize("seen", [(), (None,), ("yesterday",)])
def test_without_a_time_of_novas_nothing_is_known(seen):
    assert servers.by_host(cloud(seen=seen)) is None


def test_without_the_hosts_of_servers_nothing_is_known():
    assert servers.by_host(cloud([{"id": "1"}])) is None


def test_more_than_a_few_pages_are_not_read():
    many = [server(str(number), "a") for number in range(3001)]
    assert servers.by_host(cloud(changed=many[1:])) == {"a": 3000}
    assert servers.by_host(cloud(changed=many)) is None
    assert servers.by_host(cloud(many)) is None
    assert servers.by_host(cloud(moved=["a"] * 1000)) is None
