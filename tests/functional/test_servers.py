"""Servers that exist, beside a real Placement."""

from __future__ import annotations

import collections
import dataclasses
import json
import subprocess
import sys
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from osc_traitsched.core.servers.failure import Kinds
from tests.functional import shell
from tests.functional.nova import Nova, Says
from tests.functional.proxy import Fault, Proxy, Request
from tests.schemas import closed
from tests.services import fill
from tests.services.placement import PlacementServer

# A made-up Nova with very many servers, each made when its page is asked for.


FLAVORS, PROJECTS, IMAGES, GROUP = 40, 200, 20, 4
#: The flavor of some servers that requires what few hosts have.
TRAIT = "CUSTOM_GPU_NODE"
_PAGE = 1000
_SPACE = uuid.UUID(int=0)


class Crowd(Nova):
    """A compute API, and an image service, with so many servers on its hosts.

    The servers go round the hosts, and after each round comes another flavor. The first
    are in groups of four that are to be apart, and the four of each are.
    """

    def __init__(
        self,
        proxy: Proxy,
        hosts: Iterable[tuple[str, str]],
        aggregates: Mapping[str, tuple[Mapping[str, str], Iterable[str]]],
        count: int,
    ) -> None:
        hosts = list(hosts)
        super().__init__(proxy, hosts, aggregates)
        self.names = [name for name, _ in hosts]
        self.count = count
        self._images = [
            {
                "id": _id("image", n),
                "name": f"image-{n}",
                "status": "active",
                "visibility": "public",
                "min_disk": 0,
                "min_ram": 0,
                "disk_format": "raw",
            }
            for n in range(IMAGES)
        ]

    def flavor(self, number: int) -> int:
        """Return the number of the flavor of a server; the last wants the trait."""
        return number // len(self.names) % FLAVORS

    def host(self, number: int) -> str:
        return self.names[number % len(self.names)]

    def server(self, number: int) -> dict[str, Any]:
        """Return the body of a server."""
        flavor, host = self.flavor(number), self.host(number)
        required = {f"trait:{TRAIT}": "required"} if flavor == FLAVORS - 1 else {}
        return {
            "id": _id("server", number),
            "name": f"server-{number}",
            "status": "ACTIVE",
            "tenant_id": _id("project", number % PROJECTS),
            "OS-EXT-SRV-ATTR:host": host,
            "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
            "OS-SRV-USG:launched_at": "2026-01-01T00:00:00.000000",
            "flavor": {
                "original_name": f"flavor-{flavor}",
                "vcpus": 1 + flavor % 4,
                "ram": 1024 * (1 + flavor % 8),
                "disk": 10,
                "ephemeral": 0,
                "swap": 0,
                "extra_specs": {"hw:watchdog_action": "none", **required},
            },
            "image": {"id": _id("image", number % IMAGES), "links": []},
            "metadata": {f"key-{n}": "x" * 40 for n in range(10)},
            "addresses": {"net": [{"addr": f"10.0.{n}.1"} for n in range(4)]},
        }

    def _answer(self, request: Request) -> Fault:
        path, _, text = request.path.partition("?")
        query = dict(urllib.parse.parse_qsl(text))
        if path == "/servers/detail":
            return _says({"servers": list(map(self.server, self._page(query)))})
        if path == "/os-server-groups":
            return _says({"server_groups": self._groups(int(query["offset"]))})
        if path == "/images":
            return _says({"images": [] if "marker" in query else self._shown(query)})
        return super()._answer(request)

    def _page(self, query: Mapping[str, str]) -> list[int]:
        first = _number(query["marker"]) + 1 if "marker" in query else 0
        numbers = range(first, self.count)
        if "host" in query:
            number = self.names.index(query["host"])
            size = len(self.names)
            numbers = [n for n in numbers if n % size == number]
        return list(numbers[:_PAGE])

    def _groups(self, offset: int) -> list[dict[str, Any]]:
        return [
            {
                "id": _id("group", n),
                "name": f"group-{n}",
                "policy": "anti-affinity",
                "project_id": _id("project", 0),
                "rules": {},
                "members": [_id("server", GROUP * n + m) for m in range(GROUP)],
            }
            for n in range(offset, min(offset + _PAGE, len(self.names) // GROUP))
        ]

    def _shown(self, query: Mapping[str, str]) -> list[dict[str, str]]:
        wanted = query["id"].partition(":")[2].split(",")
        is_hidden = query["os_hidden"] == "true"
        return [e for e in self._images if e["id"] in wanted and not is_hidden]


def _says(body: Any) -> Says:
    return Says(text=json.dumps(body).encode())


def _id(kind: str, number: int) -> str:
    """Return a UUID that ends with a number, and begins with what it is of."""
    head = uuid.uuid5(_SPACE, kind).hex[:20]
    return str(uuid.UUID(f"{head}{number:012d}"))


def _number(identity: str) -> int:
    return int(identity[-12:])


# host drain at the shell: what it refuses, and who is asked.


pytestmark = pytest.mark.one_client


@pytest.fixture
def nova(placement, proxy):
    found = Nova(proxy, [("cmp01", placement.add_host("cmp01"))], {})
    small = {"id": "f", "name": "small", "vcpus": 1, "ram": 512, "disk": 1}
    found._bodies["/flavors/detail"] = {"flavors": [{**small, "extra_specs": {}}]}
    return found


def test_a_host_that_is_not_there_is_not_guessed(openstack, nova, proxy):
    done = openstack("host", "drain", "cmp1")
    assert not proxy.writes
    assert done.code == 1
    assert done.err.endswith("no host matches 'cmp1'; did you mean cmp01?\n")


def test_what_placement_counts_of_no_server_is_said(openstack, nova, placement):
    (node,) = nova._bodies["/os-hypervisors/detail"]["hypervisors"]
    node["free_ram_mb"] = node["memory_mb"]
    placement.allocate(node["id"], MEMORY_MB=6500)
    nova._bodies["/servers/detail"] = {"servers": []}
    nova._bodies["/os-migrations"] = {"migrations": []}
    done = openstack("host", "drain", "cmp01", "--nova-release", "2026.1")
    counted = "Placement counts 6500 MB there of no server"
    assert done.out.splitlines()[0] == (
        f"No server is on cmp01; {counted} (nova-manage placement audit)."
    )
    done = openstack("host", "show", "cmp01", "--nova-release", "2026.1")
    assert "6500 MB RAM in use of no server: nova-manage placement audit" in done.out


@pytest.mark.parametrize(
    "words", [("host", "drain"), ("host", "show"), ("explain", "small", "-", "--host")]
)
def test_a_host_that_only_placement_has_is_no_mistyped_one(
    openstack, nova, placement, words
):
    placement.add_host("cmp02")
    done = openstack(*words, "cmp02", "--nova-release", "2026.1")
    assert done.code != 0
    assert "did you mean" not in done.err
    assert "if the host exists, restart its nova-compute (unless openstack" in done.err
    assert "nova-manage cell_v2 discover_hosts --by-service" in done.err


def test_placement_takes_nothing_shared_where_one_tree_is_asked_for(placement):
    """So a host that is named can't be had where its disk is of a pool."""
    own, pool = {"VCPU": 8}, {"DISK_GB": 100}
    host = placement.add_host("cmp01", inventories=own)
    traits = ["MISC_SHARES_VIA_AGGREGATE"]
    nfs = placement.add_host("nfs", traits, inventories=pool)
    for own_uuid in (host, nfs):
        body = {
            "resource_provider_generation": placement.generation(own_uuid),
            "aggregates": ["a0000001-0000-4000-8000-000000000000"],
        }
        placement.call("PUT", f"/resource_providers/{own_uuid}/aggregates", body)
    query = "/allocation_candidates?resources=VCPU:1,DISK_GB:1"
    (one,) = placement.call("GET", query)["allocation_requests"]
    assert set(one["allocations"]) == {host, nfs}
    named = placement.call("GET", f"{query}&in_tree={host}")
    assert named["allocation_requests"] == []


# What it takes to judge all servers of a large cloud: requests, and memory.


HOSTS, SERVERS, PAGE = 1000, 100_000, 1000
#: MB, of the whole process with Python and OpenStackClient.
MOST_MEMORY = 400
#: All that is not a page of servers, whatever their number.
MOST_OTHERS = 30
SETTINGS = ("--nova-release", "wallaby", "--set", "scheduler.max_placement_results=9")

#: Prints the most memory that a command had, in kB, and the CPU's time in seconds.
PROGRAM = """
import sys, time
from openstackclient import shell
code = shell.main()
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak.split()[1], time.process_time(), file=sys.stderr)
sys.exit(code)
"""


@dataclasses.dataclass(frozen=True)
class Cost:
    """What a run took.

    :ivar memory: MB, at most
    :ivar seconds: of its own CPU
    :ivar asked: how often each path was asked for
    """

    memory: int
    seconds: float
    asked: collections.Counter[str]

    @property
    def others(self) -> int:
        """How many requests were no pages of servers."""
        return sum(self.asked.values()) - self.asked["/servers/detail"]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    with PlacementServer(tmp_path_factory.mktemp("crowd")) as server:
        drawn = fill.fill(server.database, HOSTS, nested=0.1)
        proxy = Proxy(server.url)
        crowd = Crowd(proxy, [(h.name, h.uuid) for h in drawn], {}, SERVERS)
        yield crowd, proxy, {h.name: h for h in drawn}
        proxy.stop()


def listed(proxy, *options):
    """Return the rows, and what they cost."""
    before = len(proxy.requests)
    words = ("trait-sched", "server", "misplaced", *SETTINGS, *options)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words, "-f", "json"],
        env={**shell.login(proxy.url), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    # Above it a line says that nova.conf was not supplied.
    peak, seconds = done.stderr.splitlines()[-1].split()
    paths = (request.path.partition("?")[0] for request in proxy.requests[before:])
    cost = Cost(int(peak) // 1024, float(seconds), collections.Counter(paths))
    return json.loads(done.stdout), cost


def lacking(crowd, hosts, count=SERVERS):
    """Return the IDs of the servers whose hosts lack what their flavor requires."""
    return {
        crowd.server(number)["id"]
        for number in range(count)
        if crowd.flavor(number) == FLAVORS - 1
        and TRAIT not in hosts[crowd.host(number)].root.traits
    }


@pytest.mark.full
def test_a_hundred_thousand_servers_are_judged_in_little_memory(crowd, record_property):
    nova, proxy, hosts = crowd
    rows, cost = listed(proxy)
    assert {row["id"] for row in rows} == lacking(nova, hosts)
    assert {tuple(row["reason"]) for row in rows} == {
        (f"lacks trait {TRAIT} (flavor)",)
    }
    record_property("cost", str(cost))
    assert cost.asked["/servers/detail"] == SERVERS // PAGE + 1
    assert cost.others <= MOST_OTHERS
    assert cost.memory < MOST_MEMORY


def test_servers_of_some_hosts_are_read_of_these_alone(crowd):
    nova, proxy, hosts = crowd
    chosen = [name for name, host in hosts.items() if TRAIT not in host.root.traits][:3]
    options = [word for name in chosen for word in ("--host", name)]
    rows, cost = listed(proxy, *options)
    assert {row["host"] for row in rows} == set(chosen)
    assert {row["id"] for row in rows} <= lacking(nova, hosts)
    assert cost.asked["/servers/detail"] == 2 * len(chosen)


# All servers that failed, on a real Placement: grouped, judged once, in pages.


RELEASE = ("--nova-release", "2026.1")
NO_HOST = "No valid host was found. "
SSD = {"trait:CUSTOM_SSD": "required"}
#: More than two pages.
MANY = 2500
#: Requests whatever the number of servers: three pages and an empty one, two of moves,
#: and the judgment of three kinds.
MOST = 40


@pytest.fixture
def failed_nova(placement, proxy):
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


def fail(failed_nova, *servers):
    failed_nova._bodies["/servers/detail"] = {"servers": list(servers)}
    for body in servers:
        path = f"/servers/{body['id']}"
        failed_nova._bodies[path] = {"server": body}
        failed_nova._bodies[f"{path}/os-instance-actions"] = {"instanceActions": []}
        volumes = {"volumeAttachments": []}
        failed_nova._bodies[f"{path}/os-volume_attachments"] = volumes


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


def test_servers_that_failed_alike_are_one_cause(failed_nova, proxy, openstack):
    fail(
        failed_nova,
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


def test_the_first_line_counts_and_each_cause_has_a_command(failed_nova, openstack):
    fail(failed_nova, server("ssd-1", NO_HOST, SSD), server("ssd-2", NO_HOST, SSD))
    first, cause, now, command = openstack(
        "server", "explain", "--failed", *RELEASE
    ).out.splitlines()
    assert first == "2 servers failed, for 1 reason; 2 would fail again."
    assert cause.endswith("ssd-1, ssd-2")
    assert now == "   It would fail again. 1 lacks trait CUSTOM_SSD"
    assert command == "The whole answer: openstack trait-sched server explain ssd-1"


def test_thousands_of_failed_servers_are_read_in_pages_and_judged_once(
    failed_nova, proxy, openstack
):
    kinds = [server("ssd", NO_HOST, SSD), server("big", NO_HOST, ram=90_000)]
    more = [server(f"small-{number}", NO_HOST) for number in range(MANY)]
    fail(failed_nova, *kinds, *more)
    run = openstack("server", "explain", "--failed", "-f", "json", *RELEASE)
    assert run.json["total"] == MANY + 2
    assert len(run.json["causes"]) == 3
    assert len(proxy.requests) <= MOST


def test_older_failures_do_not_count(failed_nova, openstack):
    fail(failed_nova, server("old", NO_HOST, created="2020-01-01T00:00:00Z"))
    run = openstack("server", "explain", "--failed", "--since", "24h", *RELEASE)
    assert (run.code, run.out) == (0, "No server failed.\n")


@pytest.mark.parametrize("words", [["--since", "24h"], ["--failed", "web"], []])
def test_options_of_all_that_failed_go_without_a_server(failed_nova, openstack, words):
    run = openstack("server", "explain", *words)
    assert (run.code, run.out) == (2, "")


def test_a_span_of_time_has_a_unit(failed_nova, openstack):
    run = openstack("server", "explain", "--failed", "--since", "yesterday")
    assert run.code == 2
    assert "not a time such as 24h: yesterday" in run.err


def test_a_server_that_is_gone_takes_no_other_with_it(failed_nova, openstack):
    servers = [server(f"ssd-{number}", NO_HOST, SSD) for number in range(3)]
    fail(failed_nova, *servers)
    gone = Says(status=404, text=b'{"itemNotFound": {"message": "gone"}}')
    del failed_nova._bodies[f"/servers/{servers[0]['id']}"]
    failed_nova.fault = lambda request: (
        gone if servers[0]["id"] in request.path else None
    )
    run = openstack("server", "explain", "--failed", "-f", "json", *RELEASE)
    (cause,) = run.json["causes"]
    assert run.code == 7, run.err
    assert [each["name"] for each in cause["servers"]] == ["ssd-1", "ssd-2"]
    assert "CUSTOM_SSD" in cause["now"]


def test_servers_of_other_zones_and_hints_are_judged_apart(failed_nova, openstack):
    plain = server("plain", NO_HOST, SSD)
    pinned = {**server("pinned", NO_HOST, SSD), "pinned_availability_zone": "az1"}
    hinted = {**server("hinted", NO_HOST, SSD), "scheduler_hints": {"a": ["b"]}}
    kinds = Kinds()
    kinds.add([plain, pinned, hinted])
    assert [len(servers) for _, servers in kinds.groups] == [1, 1, 1]


def test_a_server_without_a_fault_counts_whenever_it_failed(failed_nova, openstack):
    quiet = server("quiet", NO_HOST)
    del quiet["fault"]
    fail(failed_nova, quiet)
    run = openstack("server", "explain", "--failed", "--since", "24h", *RELEASE)
    assert run.code == 7, run.out + run.err


#: Twelve requests, as on a night's cloud.
KINDS = [
    server("ssd", NO_HOST, SSD),
    server("zone", NO_HOST) | {"pinned_availability_zone": "az1"},
    *(server(f"big-{ram}", NO_HOST, ram=ram) for ram in range(9000, 14000, 500)),
]


def test_a_kind_costs_the_requests_of_its_server_and_one_for_each_new_amount(
    failed_nova, proxy, openstack
):
    fail(failed_nova, *KINDS)
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
    failed_nova, placement, proxy, ram, specs, used, sentence
):
    if used:
        placement.allocate(failed_nova.hosts["cmp00"], MEMORY_MB=used)
    web = server("web", NO_HOST, specs, ram)
    fail(failed_nova, web)
    asked = ("-q", "trait-sched", "server", "explain", web["id"])
    run = shell.run(shell.login(proxy.url), *asked, *RELEASE)
    assert run.out == f"{sentence}\n"


def test_failed_servers_and_findings_are_metrics(failed_nova, openstack):
    fail(failed_nova, server("ssd-1", NO_HOST, SSD), server("ssd-2", NO_HOST, SSD))
    metrics = ("-f", "prometheus", *RELEASE)
    failed = openstack("server", "explain", "--failed", *metrics)
    assert (failed.code, failed.out.splitlines()[-1]) == (7, "traitsched_failed 2")
    checked = openstack("check", "traits", *metrics)
    assert "\ntraitsched_check_rules_not_run 0\n" in checked.out, checked.err
    one = openstack("server", "explain", "ssd-1", *metrics)
    assert (one.code, one.out) == (2, "")
