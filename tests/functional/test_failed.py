"""All servers that failed, on a real Placement: grouped, judged once, in pages."""

from __future__ import annotations

import collections
import uuid

import pytest

from osc_traitsched.core.servers.fleet import Kinds
from tests.functional import shell
from tests.functional.nova import Nova, Says
from tests.schemas import closed

pytestmark = pytest.mark.one_client

RELEASE = ("--nova-release", "2026.1")
NO_HOST = "No valid host was found. "
SSD = {"trait:CUSTOM_SSD": "required"}
#: More than two pages.
MANY = 2500
#: Requests whatever the number of servers: three pages and an empty one, two of moves,
#: and the judgment of three kinds.
MOST = 40


@pytest.fixture
def nova(placement, proxy):
    """One host without CUSTOM_SSD, where servers of 1000 MB fit."""
    placement.create_traits("CUSTOM_SSD")
    sizes = {"VCPU": 8, "MEMORY_MB": 8000, "DISK_GB": 100}
    host = ("cmp00", placement.add_host("cmp00", inventories=sizes))
    found = Nova(proxy, [host], {})
    found.hosts = dict([host])
    found._bodies["/os-availability-zone"] = {"availabilityZoneInfo": []}
    service = {"binary": "nova-compute", "host": "cmp00", "zone": "nova"}
    service |= {"state": "up", "status": "enabled", "updated_at": None}
    found._bodies["/os-services"] = {"services": [service]}
    found._bodies["/os-migrations"] = {"migrations": []}
    found._bodies["/os-server-groups"] = {"server_groups": []}
    return found


def fail(nova, *servers):
    nova._bodies["/servers/detail"] = {"servers": list(servers)}
    for body in servers:
        path = f"/servers/{body['id']}"
        nova._bodies[path] = {"server": body}
        nova._bodies[f"{path}/os-instance-actions"] = {"instanceActions": []}
        volumes = {"volumeAttachments": []}
        nova._bodies[f"{path}/os-volume_attachments"] = volumes


def server(name, fault, specs=(), ram=1000, created="2026-11-25T12:00:00Z"):
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
        "name": name,
        "status": "ERROR",
        "tenant_id": "p",
        "created": created,
        "fault": {"message": fault, "code": 500, "created": created},
        "flavor": {
            "original_name": f"m{ram}",
            "vcpus": 1,
            "ram": ram,
            "disk": 1,
            "ephemeral": 0,
            "swap": 0,
            "extra_specs": dict(specs),
        },
        "image": "",
    }


def test_servers_that_failed_alike_are_one_cause(nova, proxy, openstack):
    fail(
        nova,
        server("ssd-1", NO_HOST, SSD),
        server("big", NO_HOST, ram=90_000),
        server("ssd-2", NO_HOST, SSD),
        server("small", NO_HOST),
    )
    run = openstack("server", "explain", "--failed", "-f", "json", *RELEASE)
    assert run.code == 7, run.err
    closed("server explain --failed").validate(run.json)
    causes = {
        tuple(each["name"] for each in cause["servers"]): cause
        for cause in run.json["causes"]
    }
    assert run.json["total"] == 4
    assert set(causes) == {("ssd-1", "ssd-2"), ("big",), ("small",)}
    assert "CUSTOM_SSD" in causes["ssd-1", "ssd-2"]["now"]
    assert "RAM" in causes["big",]["now"]
    assert [causes[each]["has_room"] for each in causes] == [
        each == ("small",) for each in causes
    ]
    assert proxy.writes == []


def test_the_first_line_counts_and_each_cause_has_a_command(nova, openstack):
    fail(nova, server("ssd-1", NO_HOST, SSD), server("ssd-2", NO_HOST, SSD))
    first, cause, now, command = openstack(
        "server", "explain", "--failed", *RELEASE
    ).out.splitlines()
    assert first == "2 servers failed, for 1 reason; 2 would fail again."
    assert cause.endswith("ssd-1, ssd-2")
    assert now == "   It would fail again. 1 lacks trait CUSTOM_SSD"
    assert command == "The whole answer: openstack trait-sched server explain ssd-1"


def test_thousands_of_failed_servers_are_read_in_pages_and_judged_once(
    nova, proxy, openstack
):
    kinds = [server("ssd", NO_HOST, SSD), server("big", NO_HOST, ram=90_000)]
    more = [server(f"small-{number}", NO_HOST) for number in range(MANY)]
    fail(nova, *kinds, *more)
    run = openstack("server", "explain", "--failed", "-f", "json", *RELEASE)
    assert run.json["total"] == MANY + 2
    assert len(run.json["causes"]) == 3
    assert len(proxy.requests) <= MOST


def test_older_failures_do_not_count(nova, openstack):
    fail(nova, server("old", NO_HOST, created="2020-01-01T00:00:00Z"))
    run = openstack("server", "explain", "--failed", "--since", "24h", *RELEASE)
    assert (run.code, run.out) == (0, "No server failed.\n")


@pytest.mark.parametrize("words", [["--since", "24h"], ["--failed", "web"], []])
def test_options_of_all_that_failed_go_without_a_server(nova, openstack, words):
    run = openstack("server", "explain", *words)
    assert (run.code, run.out) == (2, "")


def test_a_span_of_time_has_a_unit(nova, openstack):
    run = openstack("server", "explain", "--failed", "--since", "yesterday")
    assert run.code == 2
    assert "not a time such as 24h: yesterday" in run.err


def test_a_server_that_is_gone_takes_no_other_with_it(nova, openstack):
    servers = [server(f"ssd-{number}", NO_HOST, SSD) for number in range(3)]
    fail(nova, *servers)
    gone = Says(status=404, text=b'{"itemNotFound": {"message": "gone"}}')
    del nova._bodies[f"/servers/{servers[0]['id']}"]
    nova.fault = lambda request: gone if servers[0]["id"] in request.path else None
    run = openstack("server", "explain", "--failed", "-f", "json", *RELEASE)
    (cause,) = run.json["causes"]
    assert run.code == 7, run.err
    assert [each["name"] for each in cause["servers"]] == ["ssd-1", "ssd-2"]
    assert "CUSTOM_SSD" in cause["now"]


def test_servers_of_other_zones_and_hints_are_judged_apart(nova, openstack):
    plain = server("plain", NO_HOST, SSD)
    pinned = {**server("pinned", NO_HOST, SSD), "pinned_availability_zone": "az1"}
    hinted = {**server("hinted", NO_HOST, SSD), "scheduler_hints": {"a": ["b"]}}
    kinds = Kinds()
    kinds.add([plain, pinned, hinted])
    assert [len(servers) for _, servers in kinds.groups] == [1, 1, 1]


def test_a_server_without_a_fault_counts_whenever_it_failed(nova, openstack):
    quiet = server("quiet", NO_HOST)
    del quiet["fault"]
    fail(nova, quiet)
    run = openstack("server", "explain", "--failed", "--since", "24h", *RELEASE)
    assert run.code == 7, run.out + run.err


#: Twelve requests, as on a night's cloud.
KINDS = [
    server("ssd", NO_HOST, SSD),
    server("zone", NO_HOST) | {"pinned_availability_zone": "az1"},
    *(server(f"big-{ram}", NO_HOST, ram=ram) for ram in range(9000, 14000, 500)),
]


def test_a_kind_costs_the_requests_of_its_server_and_one_for_each_new_amount(
    nova, proxy, openstack
):
    fail(nova, *KINDS)
    run = openstack("server", "explain", "--failed", "-f", "json", *RELEASE)
    assert len(run.json["causes"]) == 3
    asked = collections.Counter(each.path.split("?")[0] for each in proxy.requests)
    assert asked["/allocation_candidates"] <= 1
    assert len(proxy.requests) <= 80


@pytest.mark.parametrize(
    ("ram", "specs", "used", "sentence"),
    [
        (1000, {}, 0, "Whether a host can take the server now is not known."),
        (1000, {}, 7500, "No host has room for m1000 (1000 MB of RAM) now."),
        (90_000, {}, 0, "No host has all that m90000 (90000 MB of RAM) needs."),
        (1000, SSD, 0, "No host has all that m1000 (trait CUSTOM_SSD) needs."),
    ],
)
def test_a_customer_reads_the_cause_without_names_of_hosts(
    nova, placement, proxy, ram, specs, used, sentence
):
    if used:
        placement.allocate(nova.hosts["cmp00"], MEMORY_MB=used)
    web = server("web", NO_HOST, specs, ram)
    fail(nova, web)
    asked = ("-q", "trait-sched", "server", "explain", web["id"])
    run = shell.run(shell.login(proxy.url), *asked, *RELEASE)
    assert run.out == f"{sentence}\n"


def test_failed_servers_and_findings_are_metrics(nova, openstack):
    fail(nova, server("ssd-1", NO_HOST, SSD), server("ssd-2", NO_HOST, SSD))
    metrics = ("-f", "prometheus", *RELEASE)
    failed = openstack("server", "explain", "--failed", *metrics)
    assert (failed.code, failed.out.splitlines()[-1]) == (7, "traitsched_failed 2")
    checked = openstack("check", "traits", *metrics)
    assert "\ntraitsched_check_rules_not_run 0\n" in checked.out, checked.err
    one = openstack("server", "explain", "ssd-1", *metrics)
    assert (one.code, one.out) == (2, "")
