"""Servers of hosts: few requests, however many hosts there are."""

from __future__ import annotations

import types

import pytest

from osc_traitsched.cloud import servers
from tests.services.pages import after
from tests.unit.cloud.services import Answering

HOSTS = [f"cmp{n:03}" for n in range(400)]
HOST = "OS-EXT-SRV-ATTR:host"


def on(host):
    return {
        "id": f"server-{host}",
        "name": host or "shelved",
        "tenant_id": "p",
        HOST: host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
        "flavor": {},
        "image": "",
    }


def answer(path, params):
    """Answer with one server a host, and one that is on none."""
    found = [on(host) for host in (*HOSTS, None)]
    if "host" in params:
        found = [body for body in found if body[HOST] == params["host"]]
    return after(params, {"servers": found})


@pytest.mark.parametrize(
    # What ends a list is an empty page.
    ("number", "requests"),
    [(2, 2 * 2 + 1), (19, 19 * 2 + 1), (300, 2)],
)
def test_servers_of_many_hosts_are_read_with_all_others(number, requests):
    compute = Answering(answer)
    cloud = types.SimpleNamespace(compute=compute)
    some = HOSTS[:number]
    counted = servers.counted(cloud, [*some, "empty"])
    assert counted == {**dict.fromkeys(some, 1), "empty": 0}
    assert len(compute.asked) == requests
