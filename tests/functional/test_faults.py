"""Services that are dead, hang or fail half way."""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid

import pytest

from osc_traitsched.app import execute
from osc_traitsched.cloud import write
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Plan,
    State,
    Status,
)
from tests.functional import shell
from tests.functional.placement import STANDARD
from tests.functional.proxy import CutAfter, CutBefore, Instead
from tests.functional.test_shell import PROGRAM
from tests.services.nova import HalfCloud, MadeUpNova

# A Placement that fails half way, and a command that is killed.


HOSTS = 15
KILLED_HOSTS = 100


@pytest.fixture
def hosts(placement):
    placement.create_traits("CUSTOM_GOLD")
    return {
        name: placement.add_host(name, [*STANDARD, f"CUSTOM_OWN_{number}"])
        for number, name in enumerate(f"cmp{n:02d}" for n in range(HOSTS))
    }


def every_fifth_write(fault):
    return lambda request: (
        fault if request.is_write and request.number % 5 == 0 else None
    )


@pytest.mark.parametrize(
    "fault",
    [
        Instead(409, "placement.concurrent_update"),
        Instead(503),
        CutBefore(),
        CutAfter(),
    ],
    ids=["409", "503", "cut before", "cut after"],
)
def test_passing_trouble_is_got_over_in_one_run(
    hosts, placement, proxy, openstack, fault
):
    proxy.fault = every_fifth_write(fault)
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 0
    assert set(run.statuses.values()) == {"changed"}
    for number, provider in enumerate(hosts.values()):
        assert placement.traits(provider) == {
            *STANDARD,
            "CUSTOM_GOLD",
            f"CUSTOM_OWN_{number}",
        }


@pytest.mark.full
@pytest.mark.parametrize(
    "fault",
    [
        Instead(403),
        Instead(409, "placement.undefined_code"),
    ],
    ids=["403", "409 of another kind"],
)
def test_a_final_answer_fails_the_row_and_the_same_again_finishes(
    hosts, placement, proxy, openstack, fault
):
    proxy.fault = every_fifth_write(fault)
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 1
    failed = [row for row in run.json if row["status"] == "failed"]
    assert len(failed) == HOSTS // 5
    assert all(row["detail"].startswith("placement: as the test") for row in failed)
    assert all(row["added"] == [] for row in failed)
    assert len(proxy.writes) == HOSTS
    proxy.fault = lambda request: None
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 0
    assert list(run.statuses.values()).count("changed") == HOSTS // 5
    assert all("CUSTOM_GOLD" in placement.traits(p) for p in hosts.values())


def test_trouble_that_does_not_pass_ends_after_ten_tries(hosts, proxy, openstack):
    proxy.fault = lambda request: (
        Instead(409, "placement.concurrent_update") if request.is_write else None
    )
    run = openstack("add", "CUSTOM_GOLD", "--host", "cmp01", "-f", "json")
    assert run.statuses == {"cmp01": "failed"}
    assert "others changed this provider during every try" in run.json[0]["detail"]
    assert len(proxy.writes) == 10


def test_a_write_of_which_every_answer_is_lost_is_no_failure(
    hosts, placement, proxy, openstack
):
    def lose(request):
        if request.is_write:
            return CutAfter()
        return Instead(503) if proxy.writes else None

    proxy.fault = lose
    run = openstack("add", "CUSTOM_GOLD", "--host", "cmp01", "-f", "json")
    assert (run.code, run.statuses) == (1, {"cmp01": "unknown"})
    assert run.err == "1 of 1 unknown; to continue, run the same command again\n"
    assert run.json[0]["added"] == []
    assert "CUSTOM_GOLD" in placement.traits(hosts["cmp01"])


def test_a_provider_that_vanishes_half_way_fails_alone(
    hosts, placement, proxy, openstack
):
    def vanish(request):
        if request.is_write and request.number == 3:
            placement.call("DELETE", f"/resource_providers/{hosts['cmp02']}")

    proxy.fault = vanish
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert run.code == 1
    assert [h for h, status in run.statuses.items() if status == "failed"] == ["cmp02"]


def test_a_rival_who_does_the_same_first_leaves_the_row_unchanged(
    hosts, placement, proxy, openstack
):
    def overtake(request):
        if request.is_write and request.number == 1:
            placement.set_traits(hosts["cmp00"], [*STANDARD, "CUSTOM_GOLD"])

    proxy.fault = overtake
    run = openstack("add", "CUSTOM_GOLD", "--host", "cmp00", "-f", "json")
    assert (run.code, run.statuses) == (0, {"cmp00": "unchanged"})


def test_ctrl_c_is_no_failure_even_if_the_write_that_it_hits_fails(
    hosts, proxy, openstack
):
    def interrupt(request):
        if request.is_write and request.number == 1:
            os.kill(os.getpid(), signal.SIGINT)
            return Instead(403)
        return None

    proxy.fault = interrupt
    run = openstack("add", "CUSTOM_GOLD", "--all", "-f", "json")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert run.code == 130
    assert run.statuses["cmp00"] in ("failed", "unknown")
    assert run.statuses["cmp14"] == "not done"
    assert run.err.splitlines()[-1].startswith("interrupted after ")


@pytest.mark.full
@pytest.mark.parametrize("kills", [5, pytest.param(15, marks=pytest.mark.full)])
def test_killed_at_any_moment_no_host_has_fewer_traits_and_the_next_run_finishes(
    placement, proxy, background, openstack, kills
):
    hosts = [placement.add_host(f"cmp{n:03d}") for n in range(KILLED_HOSTS)]
    moments = random.Random(20)
    part_way = 0
    names: list[str] = []
    for kill in range(kills):
        name = f"CUSTOM_K{kill}"
        names.append(name)
        placement.create_traits(name)
        before = placement.all_traits()
        start = functools.partial(background, "add", name, "--all", "--jobs", "2")
        proxy.kill_after(moments.randrange(KILLED_HOSTS), start)
        after = placement.all_traits()
        assert all(after[provider] >= before[provider] for provider in hosts)
        assert all(after[provider] <= {*STANDARD, *names} for provider in hosts)
        part_way += 0 < sum(name in after[provider] for provider in hosts) < len(hosts)
    assert part_way > kills // 2
    assert openstack("add", *names, "--all").code == 0
    after = placement.all_traits()
    assert all(after[provider] == {*STANDARD, *names} for provider in hosts)


# A Placement that is dead or hangs no longer blocks a command.


DEAD_SERVICE_HOSTS = 1000
FASTER = 12


def change(number, generation):
    identity = str(uuid.UUID(int=number + 1))
    target = Object(
        ObjectKind.PROVIDER_TRAITS, identity, f"cmp{number}", f"cmp{number}"
    )
    return Change(target, State({}, generation), {"CUSTOM_GOLD": PRESENT})


@pytest.fixture
def hanging(proxy):
    """Make Placement take requests and never answer; it does again at the end."""
    end = threading.Event()

    def hang(is_asked=lambda request: True):
        proxy.fault = lambda request: end.wait() and None if is_asked(request) else None

    yield hang
    end.set()


def refused(proxy, hanging):
    # Connections that are kept open would still be answered.
    proxy.fault = lambda request: CutBefore()
    proxy.stop()


def silent(proxy, hanging):
    hanging()


@pytest.mark.full
@pytest.mark.parametrize(
    ("trouble", "jobs", "generation"),
    [(refused, 1, None), (refused, 16, 1), (silent, 1, 1), (silent, 16, None)],
)
def test_a_thousand_hosts_end_within_a_minute(
    proxy, hanging, monkeypatch, trouble, jobs, generation
):
    # Not to wait: a twelfth of what it is, as is what a change gets in all.
    monkeypatch.setattr(write, "TIMEOUT", write.TIMEOUT / FASTER)
    monkeypatch.setattr(write, "_PATIENCE", write._PATIENCE / FASTER)
    cloud = HalfCloud(proxy.url, MadeUpNova())
    cloud.placement.get("/traits", {"name": "in:CUSTOM_GOLD"})
    trouble(proxy, hanging)
    before = cloud.placement.requests
    begin = time.monotonic()
    plan = Plan.of(change(number, generation) for number in range(DEAD_SERVICE_HOSTS))
    found = execute.execute(cloud, plan, jobs)
    assert time.monotonic() - begin < 60
    # What was read before is written at once, and may be written.
    given_up = found.count(Status.FAILED if generation is None else Status.UNKNOWN)
    assert 3 <= given_up <= 2 + jobs
    assert found.count(Status.NOT_DONE) == DEAD_SERVICE_HOSTS - given_up
    # Ten tries of each that was under way at first, and one of each after them.
    assert cloud.placement.requests - before <= 20 * jobs + 2


@pytest.mark.parametrize("jobs", ["1", "8"])
def test_ctrl_c_ends_at_once_and_tells_what_was_done(
    placement, proxy, hanging, tmp_path, jobs
):
    placement.create_traits("CUSTOM_GOLD")
    for number in range(20):
        placement.add_host(f"cmp{number:02d}")
    hanging(lambda request: request.is_write and request.number > 2)
    process = started(proxy, tmp_path, "--jobs", jobs)
    wait_for(lambda: len(proxy.writes) == 2 + int(jobs))
    seconds, out, err = interrupted(process)
    # Two on a machine that has nothing else to do; one request would take twelve.
    assert seconds < 8
    assert process.returncode == 130
    statuses = {row["provider"]: row["status"] for row in json.loads(out)}
    count = collections.Counter(statuses.values())
    changed = {uuid for uuid, status in statuses.items() if status == "changed"}
    # Of two writers at once SQLite can turn one away, whose next try then hangs.
    assert changed == {
        u for u, t in placement.all_traits().items() if "CUSTOM_GOLD" in t
    }
    assert 1 <= len(changed) <= 2
    assert count == {
        "changed": len(changed),
        "unknown": int(jobs),
        "not done": 20 - len(changed) - int(jobs),
    }
    again = "to continue, run the same command again"
    said = f"interrupted after {len(changed)} of 20; {again}\n"
    assert err == said


def test_ctrl_c_ends_what_hangs_while_it_reads(placement, proxy, hanging, tmp_path):
    hanging()
    process = started(proxy, tmp_path)
    wait_for(lambda: proxy.requests)
    seconds, out, _ = interrupted(process)
    assert (process.returncode, seconds < 8, out) == (130, True, "")


def started(proxy, folder, *options):
    arguments = ("trait-sched", "add", "CUSTOM_GOLD", "--all", "-f", "json", *options)
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
        env={**os.environ, **shell.login(proxy.url)},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(is_so, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)


def interrupted(process):
    """Press Ctrl-C; return how long it takes to end, and what was printed."""
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return time.monotonic() - begin, out, err


# A service that hangs or that nobody runs is named in one line, in time.


TIMEOUT = 2


@pytest.fixture
def unreached_silent():
    """The URL of a service that takes connections and says nothing, and these."""
    taken = []

    def take(server):
        with contextlib.suppress(OSError):
            while True:
                taken.append(server.accept()[0])

    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        threading.Thread(target=take, args=(server,), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", taken
        server.shutdown(socket.SHUT_RDWR)
    for each in taken:
        each.close()


@pytest.fixture
def closed():
    """The URL of a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    return url


def listed(url, *options):
    return shell.run(shell.login(url), *options, "trait-sched", "list")


def test_a_service_that_hangs_is_named_after_the_timeout(unreached_silent):
    url, taken = unreached_silent
    options = ("--timeout", str(TIMEOUT))
    run = shell.run(shell.login(url), "trait-sched", "list", *options)
    assert (run.code, run.out) == (1, "")
    # The oldest client does not look first which versions there are.
    assert re.fullmatch(
        rf"placement: no answer from {url}/\S* within {TIMEOUT} s\n", run.err
    )
    # It is not asked again.
    assert len(taken) == 1


def test_a_service_that_begins_to_hang_is_named_after_the_timeout(proxy, openstack):
    end = threading.Event()
    proxy.fault = lambda request: end.wait() and None if request.path != "/" else None
    run = openstack("list", "--timeout", str(TIMEOUT))
    end.set()
    hung = [each.path for each in proxy.requests if each.path != "/"]
    assert len(hung) == 1
    assert run.err == (
        f"placement: no answer from {proxy.url}/resource_providers within {TIMEOUT} s\n"
    )


def test_a_port_that_nobody_listens_on_is_one_line(closed):
    run = listed(closed)
    assert (run.code, run.out) == (1, "")
    assert re.fullmatch(
        rf"placement: no connection to {closed}/\S*: connection refused\n", run.err
    )


def test_a_name_that_is_not_known_is_one_line():
    run = listed("http://placement.invalid:8778")
    assert run.code == 1
    (line,) = run.err.splitlines()
    assert line.startswith("placement: no connection to http://placement.invalid:8778/")
    assert "HTTPConnectionPool" not in line


def test_a_service_that_hangs_up_is_one_line(proxy, openstack):
    proxy.fault = lambda request: CutBefore() if request.path != "/" else None
    run = openstack("list")
    assert run.err == (
        f"placement: {proxy.url}/resource_providers ended the connection before the "
        "end of its answer\n"
    )


def test_a_read_whose_connection_was_kept_too_long_is_sent_again(proxy, openstack):
    proxy.fault = lambda request: CutBefore() if request.number == 2 else None
    run = openstack("list")
    assert (run.code, run.err) == (0, "")
