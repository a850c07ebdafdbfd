"""The release that config commands find by themselves, on a real Nova."""

from __future__ import annotations

import urllib.parse

import pytest

from tests.functional import shell
from tests.functional.proxy import Proxy

#: The release that is taken of what the compute API says, and how that is said.
TOLD = {
    23: (23, "compute API 2.88"),
    27: (
        28,
        "compute API 2.95, which is that of 2023.1 and 2023.2; the later is taken",
    ),
    34: (34, "compute API 2.104"),
}


@pytest.fixture
def nova(cloud, admin):
    """What the commands go through to reach Nova."""
    proxy = Proxy(admin.compute.get_endpoint())
    yield proxy
    proxy.stop()


@pytest.fixture
def openstack(cloud, admin, nova):
    path = urllib.parse.urlsplit(admin.compute.get_endpoint()).path
    variables = {**cloud.environment, **shell.through("compute", nova.url + path)}
    return lambda *arguments: shell.run(variables, "trait-sched", *arguments)


@pytest.mark.short
def test_show_takes_the_release_from_the_compute_api_and_only_reads(
    cloud, openstack, nova
):
    conf = str(cloud.nova_conf)
    run = openstack("config", "show", "--nova-conf", conf, "-f", "json")
    found = {row["option"]: row for row in run.json}
    number, source = TOLD[cloud.release.number]
    assert found["release"] == {
        "option": "release",
        "value": number,
        "source": source,
        "status": "assumed",
    }
    isolation = found["scheduler.enable_isolated_aggregate_filtering"]
    assert (isolation["value"], isolation["status"]) == (True, "given")
    assert isolation["source"].startswith(conf)
    assert {request.method for request in nova.requests} == {"GET"}


def test_a_fragment_is_for_the_release_of_the_cloud_and_only_reads(
    cloud, openstack, nova
):
    number, _ = TOLD[cloud.release.number]
    name = cloud.release.taken_for
    run = openstack("config", "nova-conf", "--enable", "isolation")
    assert run.out.startswith(f"# Turns on isolation: {name} (Nova {number})\n")
    assert {request.method for request in nova.requests} == {"GET"}
