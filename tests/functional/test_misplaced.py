"""What it takes to judge all servers of a large cloud: requests, and memory."""

from __future__ import annotations

import collections
import dataclasses
import json
import subprocess
import sys

import pytest

from tests.functional import shell
from tests.functional.crowd import FLAVORS, TRAIT, Crowd
from tests.functional.proxy import Proxy
from tests.services import fill
from tests.services.placement import PlacementServer

pytestmark = pytest.mark.one_client

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
