"""A Placement that is dead or hangs no longer blocks a command."""

from __future__ import annotations

import collections
import json
import os
import signal
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
from tests.functional.proxy import CutBefore
from tests.functional.test_progress import PROGRAM
from tests.services.nova import HalfCloud, MadeUpNova

HOSTS = 1000
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
    plan = Plan.of(change(number, generation) for number in range(HOSTS))
    found = execute.execute(cloud, plan, jobs)
    assert time.monotonic() - begin < 60
    # What was read before is written at once, and may be written.
    given_up = found.count(Status.FAILED if generation is None else Status.UNKNOWN)
    assert 3 <= given_up <= 2 + jobs
    assert found.count(Status.NOT_DONE) == HOSTS - given_up
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
