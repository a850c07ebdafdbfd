"""Hosts and requests by chance, the same for the same seed on every Python.

A case is a mapping:

``hosts``
    ``body``, the host's body of ``/os-hypervisors/detail`` at microversion 2.87;
    ``ratios``, its allocation ratios in Placement; ``instances``, the UUIDs of its
    servers; ``builds``, how many it may be building by their list, if that is known;
    and ``hidden``, what no API shows
``aggregates``, ``flavor``, ``image``
    the bodies of the compute API and the image API
``hints``, ``group``, ``project_id``, ``availability_zone``, ``boot_from_volume``
    what the user asks for besides
``instance_uuid``
    of a server that is moved; None for one that is to be made
``options``
    options of nova.conf that are set, ``section.name`` to value
"""

from __future__ import annotations

import json
import random
import uuid
from typing import Any

from tests.fidelity.scheduling import values

Body = dict[str, Any]


def case(seed: str) -> Body:
    """Return one case: up to six hosts, and one request."""
    drawn = random.Random(seed)
    servers = [_uuid(drawn) for _ in range(8)]
    hosts = _hosts(drawn, servers)
    names = [host["body"]["service"]["host"] for host in hosts]
    return {
        "name": seed,
        "hosts": hosts,
        "aggregates": [_aggregate(drawn, n, names) for n in range(drawn.randint(0, 4))],
        "flavor": _flavor(drawn),
        "image": _image(drawn),
        "hints": _hints(drawn, servers),
        "group": _group(drawn, servers),
        "project_id": drawn.choice(values.PROJECTS),
        "availability_zone": drawn.choice([None, None, "az1", "nova"]),
        "boot_from_volume": drawn.random() < 0.15,
        "instance_uuid": drawn.choice([None, None, servers[0]]),
        "options": _options(drawn),
    }


def _uuid(drawn: random.Random) -> str:
    return str(uuid.UUID(int=drawn.getrandbits(128), version=4))


def _hosts(drawn: random.Random, servers: list[str]) -> list[Body]:
    hosts: list[Body] = []
    waiting = list(servers)
    hidden = drawn.random() < 0.3
    for number in range(drawn.choice([1, 2, 3, 4, 6])):
        host = _host(drawn, number, hidden)
        if hosts and drawn.random() < 0.25:
            # Alike, so that their weights are, too.
            own = {"id", "hypervisor_hostname", "service"}
            alike = {k: v for k, v in hosts[-1]["body"].items() if k not in own}
            host["body"].update(alike)
            for key in ("ratios", "builds", "hidden"):
                host[key] = hosts[-1][key]
        host["instances"] = [
            waiting.pop() for _ in range(drawn.randint(0, 2)) if waiting
        ]
        hosts.append(host)
    return hosts


def _host(drawn: random.Random, number: int, hidden: bool) -> Body:
    vcpus, memory, disk = drawn.choice([0, 4, 8]), drawn.choice([4096, 8192]), 100
    free_disk = drawn.choice([-5, 0, 40, 60, 100])
    workload, builds = drawn.choice([0, 0, 0, 1, 4]), drawn.choice([None, 0, 1, 6])
    # No server has two tasks at a time.
    running = max(workload, drawn.choice([0, 1, 2, 12]))
    # All of them may be building, unless it is known how many.
    most = running if builds is None else min(running, workload + builds)
    kind = drawn.choice(sorted(values.SUPPORTED))
    features = drawn.choice([["vmx", "aes"], ["vmx"], []])
    # What libvirt's own nodes are of they run, too.
    own = ["x86_64"] if kind == "QEMU" else ["x86_64", "aarch64"]
    cpu_info = {"arch": drawn.choice(own), "features": features}
    if drawn.random() < 0.7:
        cpu_info["topology"] = {"cells": 1, "cores": drawn.choice([2, 4, 8])}
    if drawn.random() < 0.3:
        cpu_info["maxphysaddr"] = {"mode": "emulate", "bits": drawn.choice([40, 46])}
    return {
        "body": {
            "id": _uuid(drawn),
            "hypervisor_hostname": drawn.choice([f"host{number}", f"node{number}.x"]),
            "service": {"id": _uuid(drawn), "host": f"host{number}"},
            "state": drawn.choice(["up"] * 5 + ["down"]),
            "status": drawn.choice(["enabled"] * 5 + ["disabled"]),
            "vcpus": vcpus,
            "vcpus_used": drawn.choice([0, 1, 4, 40]),
            "memory_mb": memory,
            "free_ram_mb": memory - drawn.choice([0, 512, 2048, 9000]),
            "local_gb": disk,
            "local_gb_used": disk - free_disk,
            "free_disk_gb": free_disk,
            "disk_available_least": drawn.choice([None, 30, 200, -3]),
            "running_vms": running,
            "current_workload": workload,
            "hypervisor_type": kind,
            "hypervisor_version": drawn.choice([2005000, 8002002, 0, 1]),
            "host_ip": drawn.choice(["10.0.0.5", "10.0.1.5", "fd00::5"]),
            "cpu_info": cpu_info,
        },
        "ratios": {
            "VCPU": drawn.choice([1.0, 4.0, 16.0, 1.5, 0.3]),
            "MEMORY_MB": drawn.choice([1.0, 1.5]),
            "DISK_GB": 1.0,
        },
        "instances": [],
        "builds": builds,
        "hidden": {**_hidden(drawn, workload, most, hidden), **_runs(kind)},
    }


def _hidden(drawn: random.Random, workload: int, most: int, hidden: bool) -> Body:
    """Return what no API shows; it is worth nothing to weighers unless ``hidden``."""
    stats = {"io_workload": drawn.randint(0, most) if hidden else workload}
    found: Body = {"pci": [], "metrics": {}, "stats": stats}
    if hidden:
        stats["failed_builds"] = drawn.choice([0, 0, 2])
        found["pci"] = drawn.choice([[], [4], [60, 70]])
        found["metrics"] = drawn.choice([{}, {"cpu.frequency": 1200}])
    return found


def _runs(kind: str) -> Body:
    return {"supported_instances": [each.split() for each in values.SUPPORTED[kind]]}


def _aggregate(drawn: random.Random, number: int, hosts: list[str]) -> Body:
    metadata = {}
    for key in drawn.sample(sorted(values.METADATA), drawn.choice([0, 1, 2, 3])):
        metadata[key] = drawn.choice(values.METADATA[key])
    for name in drawn.sample(values.MULTIPLIERS, drawn.choice([0, 0, 1, 3])):
        metadata[f"{name}_weight_multiplier"] = drawn.choice(values.NUMBERS)
    return {
        "id": number + 1,
        "uuid": _uuid(drawn),
        "name": f"aggregate {number}",
        "metadata": metadata,
        "hosts": [host for host in hosts if drawn.random() < 0.5],
    }


def _flavor(drawn: random.Random) -> Body:
    specs = {}
    for _ in range(drawn.choice([0, 0, 1, 1, 2])):
        key = drawn.choice(values.BARE if drawn.random() < 0.4 else values.SCOPED)
        specs[key] = drawn.choice(values.ASKED)
    if drawn.random() < 0.05:
        specs["hw:maxphysaddr_bits"] = drawn.choice(["40", "46"])
    if drawn.random() < 0.08:
        specs["hw:numa_nodes"] = "1"
    if drawn.random() < 0.08:
        specs["pci_passthrough:alias"] = "a1:1"
    size = {"vcpus": 2, "ram": 1024, "disk": drawn.choice([0, 20])}
    return {"name": drawn.choice(values.FLAVORS), **size, "extra_specs": specs}


def _image(drawn: random.Random) -> Body:
    names = drawn.sample(sorted(values.IMAGE), drawn.choice([0, 0, 1, 2, 3]))
    properties = {name: drawn.choice(values.IMAGE[name]) for name in names}
    return {"id": "image", **properties}


def _hints(drawn: random.Random, servers: list[str]) -> dict[str, list[str]]:
    hints = {}
    for name in ("same_host", "different_host"):
        if drawn.random() < 0.15:
            hints[name] = drawn.sample([*servers, _uuid(drawn)], drawn.choice([1, 2]))
    if drawn.random() < 0.15:
        hints["build_near_host_ip"] = [drawn.choice(["10.0.0.9", "fd00::9", "x"])]
    if drawn.random() < 0.1:
        hints["cidr"] = [drawn.choice(["/16", "/32", "/x"])]
    if drawn.random() < 0.15:
        hints["query"] = [drawn.choice(values.QUERIES)]
    return hints


def _group(drawn: random.Random, servers: list[str]) -> Body | None:
    policy = drawn.choice(
        [None, None, "affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"]
    )
    if policy is None:
        return None
    members = drawn.sample(servers, drawn.choice([0, 1, 3, 6]))
    rules = {"max_server_per_host": "2"} if drawn.random() < 0.3 else {}
    if policy != "anti-affinity":
        rules = {}
    return {"name": "group", "policy": policy, "rules": rules, "members": members}


def _options(drawn: random.Random) -> Body:
    options: Body = {
        name: drawn.choice(found)
        for name, found in values.OPTIONS.items()
        if drawn.random() < 0.2
    }
    for name in drawn.sample(values.MULTIPLIERS, drawn.choice([0, 0, 1, 4])):
        number = drawn.choice([0.0, 2.0, 0.25, 5.0])
        if name == "metrics":
            options["metrics.weight_multiplier"] = number
        elif name != "image_props":
            # With it, the weigher would read servers' images from a database.
            options[f"filter_scheduler.{name}_weight_multiplier"] = number
    if drawn.random() < 0.06:
        settings = ["cpu.frequency=1.0"], ["cpu.frequency=-2", "x"], ["a=0", "=1"]
        options["metrics.weight_setting"] = drawn.choice(settings)
        options["metrics.required"] = drawn.random() < 0.5
    return json.loads(json.dumps(options))
