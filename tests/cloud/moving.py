"""Moves of servers, carried out with the commands that a plan prints."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
import types
from importlib import metadata

from tests.cloud.factory import COMPUTE
from tests.functional import shell
from tests.services.process import PATIENCE

OSC = tuple(map(int, metadata.version("python-openstackclient").split(".")[:2]))


def openstack(cloud, monkeypatch):
    """Runs openstack, which asks ten times as often whether a move is over."""
    from osc_lib import utils

    quick = types.SimpleNamespace(
        **{**vars(time), "sleep": lambda seconds: time.sleep(seconds / 10)}
    )
    monkeypatch.setattr(utils, "time", quick)
    return lambda *words: shell.run(cloud.environment, *words)


def carry_out(run, commands):
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "openstack"
        done = run(*words)
        if "evacuate" in words and OSC < (6, 1):
            assert "'TupleWithMeta' object has no attribute 'to_dict'" in done.err
            continue
        assert done.code == 0, (command, done.out, done.err)


def body(make, server):
    answer = make.admin.compute.get(f"/servers/{server}", microversion=COMPUTE)
    return answer.json()["server"]


def settled(make, server, host):
    """Return the host of a server once nothing is done with it any more."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = body(make, server)
        if found["OS-EXT-SRV-ATTR:host"] == host and not found["OS-EXT-STS:task_state"]:
            return host, found["status"]
        time.sleep(0.1)
    return found["OS-EXT-SRV-ATTR:host"], found["status"]


def released(admin):
    """Return when no move keeps an allocation on the host that was left."""
    end = time.monotonic() + PATIENCE
    path = "/os-migrations?status={}"
    while any(
        admin.compute.get(path.format(status)).json()["migrations"]
        for status in ("queued", "preparing", "running", "post-migrating")
    ):
        assert time.monotonic() < end, "a migration goes on"
        time.sleep(0.2)
    # The allocation goes after the status has changed.
    time.sleep(1)


def enable(compute, host):
    """Enable a host. A service that was read before would count as enabled."""
    (service,) = compute.services(binary="nova-compute", host=host)
    compute.enable_service(service)


def run_script(cloud, text, folder):
    """Run a script of ``host drain``, which looks at its servers more often."""
    path, sleep = folder / "drain.sh", folder / "sleep"
    path.write_text(text, "utf-8")
    sleep.write_text("#!/bin/sh\nexec /bin/sleep 1\n")
    sleep.chmod(0o755)
    tools = str(pathlib.Path(sys.executable).parent)
    env = {**os.environ, **cloud.environment}
    env["PATH"] = os.pathsep.join([str(folder), tools, env["PATH"]])
    return subprocess.run(
        ["sh", str(path)], env=env, capture_output=True, text=True, check=False
    )


def moves_of(script):
    """Name, ID and new host of each server that a script moves, in its order.

    Another reading could choose other hosts: what nova-compute reports changes once in
    a minute.
    """
    return re.findall(r"^name=(\S+) server=(\S+) from=\S+ to=(\S+)$", script, re.M)
