"""What snapshots of a large cloud cost: saving, answers from them, differences."""

from __future__ import annotations

import copy
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from osc_traitsched.app import snapshot
from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.cloud.saved.cloud import SavedCloud
from osc_traitsched.cloud.service import Service
from osc_traitsched.config.sources import SettingsSources
from tests.services.fleet import Host
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer
from tests.services.saved import snapshot as made_up

FLAVORS = [
    {
        "id": f"f{number}",
        "name": f"f{number}",
        "vcpus": 1 + number % 8,
        "ram": 1024 * (1 + number),
        "disk": 10,
        "swap": "",
        "OS-FLV-EXT-DATA:ephemeral": 0,
        "os-flavor-access:is_public": True,
        "extra_specs": {"trait:CUSTOM_GPU_NODE": "required"} if number == 9 else {},
    }
    for number in range(10)
]
#: In a process of its own: a child starts with the memory of its parent.
_MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


class RealPlacement(SavedCloud):
    """A saved cloud in front of a real Placement."""

    def __init__(self, url: str, hosts: Sequence[Host]) -> None:
        super().__init__(made_up(hosts, [{"availability_zone": "az1"}], FLAVORS))
        self._real: HttpCloud = HalfCloud(url, MadeUpNova())

    def service(self, service_type: str) -> Service:
        if service_type == "placement":
            return self._real.placement
        return super().service(service_type)


def report(server: PlacementServer, hosts: Sequence[Host]) -> None:
    """Measure, and print seconds, memory and size."""
    print(f"snapshots, {len(hosts)} hosts, {len(FLAVORS)} flavors")
    cloud = RealPlacement(server.url, hosts)
    with tempfile.TemporaryDirectory(prefix="traitsched-bench-") as folder:
        old, new = (str(pathlib.Path(folder, f"{n}.json.gz")) for n in (1, 2))
        start = time.process_time()
        document = snapshot.save(cloud, SettingsSources(), light=True)
        _print("light save: CPU seconds", time.process_time() - start)
        # What a full one has: Placement's own inventories.
        document["placement"]["providers"] = made_up(hosts)["placement"]["providers"]
        snapshot.write(old, document)
        _print("size: MB", os.path.getsize(old) / 1e6, "at most 1.5")
        later = copy.deepcopy(document)
        for provider in later["placement"]["providers"][::7]:
            provider["inventories"]["VCPU"]["used"] += 1
        later["placement"]["providers"][1]["traits"].append("CUSTOM_GPU_NODE")
        later["compute"]["flavors"][5]["ram"] *= 4
        snapshot.write(new, later)
        _command("explain", "at most 4 s, 400 MB", "explain", "f3", "--snapshot", old)
        _command("diff", "at most 5 s", "diff", old, new)


def _command(name: str, limits: str, *arguments: str) -> None:
    """Run it as a user does, with the time that Python needs to start."""
    words = [sys.executable, "-c", _MEASURE, "openstack", "trait-sched", *arguments]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    seconds, memory = map(float, done.stdout.split())
    _print(f"{name}: CPU seconds", seconds, limits)
    _print(f"{name}: peak MB", memory)


def _print(name: str, value: float, remark: str = "") -> None:
    print(f"  {name:36}{value:10.2f}  {remark}".rstrip())
