"""Ports, networks, volumes and device profiles by chance, as their APIs give them."""

from __future__ import annotations

import json
import random
from typing import Any

_CLASSES = ("NET_BW_EGR_KILOBIT_PER_SEC", "NET_BW_IGR_KILOBIT_PER_SEC")
_RATE = "NET_PACKET_RATE_KILOPACKET_PER_SEC"
_VNICS = (
    *("normal", "normal", "direct", "direct-physical", "macvtap", "vdpa"),
    *("remote-managed", "accelerator-direct", "virtio-forwarder"),
)
_TRAITS = ("CUSTOM_PHYSNET_PHYSNET0", "CUSTOM_VNIC_TYPE_NORMAL", "CUSTOM_T1")
_PROFILES = {
    "fpga": [{"resources:FPGA": "1", "trait:CUSTOM_FPGA": "required"}],
    "two groups": [
        {"resources:CUSTOM_A": "2", "trait:CUSTOM_T1": "forbidden"},
        {"resources:CUSTOM_B": "1", "accel:bitstream_id": "b", "trait:CUSTOM_X": "x"},
    ],
    "odd": [{"resources:NONE": "1", "resources:FPGA": "1", "resources:PGPU": "-1"}],
    "empty": [],
    "nowhere": None,
    "an empty group": [{"accel:function": "f"}],
}
_INTEL = {"vendor_id": "8086", "product_id": "1521"}
_NVIDIA = {"vendor_id": "10de", "product_id": "1eb8", "device_type": "type-PF"}
_BY_CLASS = {"resource_class": "gpu-b", "traits": "hw_gpu_api_vulkan,blue one"}
_ALIASES: tuple[Any, ...] = (
    {"name": "a1", **_INTEL},
    {"name": "a1", **_INTEL, "numa_policy": "socket"},
    {"name": "a2", **_NVIDIA},
    {"name": "a2", **_NVIDIA, "product_id": "1eb9"},
    {"name": "a2", **_NVIDIA, "device_type": "type-VF"},
    {"name": " a3 ", **_BY_CLASS},
    {"name": "a3", "resource_class": "PGPU", "traits": "HW_CPU_X86_AVX,CUSTOM_a"},
    {"name": "a4", "resource_class": "CUSTOM_x", "live_migratable": "yes"},
    *({"name": "a4", "vendor_id": "8"}, {"name": "a4"}, [], {"name": ""}, "text"),
    {"name": "a4", "colour": "red"},
)
_ALIASED = ("a1:1", "a1:2", "a2:1", "a3:1,a1:1", " a3:2", "a4:1", "a9:1", "a1:0", "a1")
_NAMES = (None, "fpga", "fpga", "fpga", "two groups", "nowhere")


def by_chance(drawn: random.Random) -> dict[str, Any]:
    """Return the parts of one case; most have none."""
    found: dict[str, Any] = {}
    if drawn.random() < 0.3:
        found.update(_networks(drawn))
    if drawn.random() < 0.15:
        number = drawn.choice([1, 1, 2])
        found["volumes"] = [_volume(drawn, n) for n in range(number)]
    return found


def profile(drawn: random.Random) -> dict[str, Any]:
    """Return what a case has where its flavor names a profile, and that name."""
    return {"device_profiles": _PROFILES, "name": drawn.choice(sorted(_PROFILES))}


def _networks(drawn: random.Random) -> dict[str, Any]:
    networks = [_network(drawn, n) for n in range(3)]
    subnets = [
        {
            "id": _uuid("5b", n),
            "network_id": networks[n % 3]["id"],
            "segment_id": drawn.choice([None, _uuid("5e", n), _uuid("5e", n)]),
        }
        for n in range(5)
    ]
    if drawn.random() < 0.3:
        subnets.append({**subnets[-1], "id": _uuid("5b", len(subnets))})
    for each in subnets:
        if each["network_id"] == networks[0]["id"]:
            each["segment_id"] = None
    known = [_uuid("5e", n) for n in range(5) if drawn.random() < 0.95]
    extended = drawn.random() < 0.5
    number = drawn.choice([0, 1, 1, 2, 3])
    return {
        "networks": networks,
        "subnets": subnets,
        "segments": {each: [_uuid("a9", int(each[-1]))] for each in known},
        "requested_networks": [networks[2]["id"]] * (drawn.random() < 0.4),
        "ports": [_port(drawn, n, subnets, extended) for n in range(number)],
        "device_profiles": _PROFILES,
    }


def _network(drawn: random.Random, number: int) -> dict[str, Any]:
    has_subnets = number < 2 or drawn.random() < 0.95
    return {
        "id": _uuid("7e", number),
        "name": f"network {number}",
        "subnets": [_uuid("5b", number)] if has_subnets else [],
        "provider:physical_network": drawn.choice([None, "physnet0"]),
        "provider:network_type": "vlan",
    }


def _port(
    drawn: random.Random, number: int, subnets: list[Any], extended: bool
) -> dict[str, Any]:
    subnet = drawn.choice(subnets)
    identity = _uuid("90", number)
    request = None
    if drawn.random() < 0.7:
        request = _extended(drawn, number) if extended else _group(drawn, _CLASSES)
    return {
        "id": identity,
        "name": f"port {number}",
        "network_id": subnet["network_id"],
        "device_id": "somebody" if drawn.random() < 0.03 else "",
        "fixed_ips": [{"subnet_id": subnet["id"]}] * (drawn.random() < 0.7),
        "ip_allocation": drawn.choice(["immediate", "deferred", "deferred", "none"]),
        "binding:vnic_type": drawn.choice(_VNICS),
        "binding:profile": {},
        "resource_request": request,
        "device_profile": drawn.choice(_NAMES),
    }


def _group(drawn: random.Random, classes: tuple[str, ...]) -> dict[str, Any]:
    resources = {each: drawn.choice([0, 100, 1000]) for each in classes}
    # Nova takes a group of zeros alone, and refuses it when it sees it once more.
    resources[classes[-1]] = drawn.choice([100, 1000])
    found: dict[str, Any] = {"resources": resources}
    if drawn.random() < 0.8:
        found["required"] = drawn.sample(_TRAITS, drawn.choice([1, 2]))
    return found


def _extended(drawn: random.Random, number: int) -> dict[str, Any]:
    groups = [
        {"id": _uuid(f"b{kind}", number), **_group(drawn, classes)}
        for kind, classes in enumerate((_CLASSES, (_RATE,)))
    ][: drawn.choice([1, 2, 2])]
    ids = [each["id"] for each in groups]
    return {"request_groups": groups, "same_subtree": ids if len(ids) > 1 else []}


def _volume(drawn: random.Random, number: int) -> dict[str, Any]:
    metadata = {"image_id": _uuid("1a", 1), "min_ram": drawn.choice(["0", "0", "4096"])}
    metadata["disk_format"] = "qcow2"
    if drawn.random() < 0.5:
        metadata["hw_disk_bus"] = drawn.choice(["virtio", "scsi"])
    if drawn.random() < 0.2:
        metadata["trait:CUSTOM_T1"] = "required"
    return {
        "id": _uuid("70", number),
        "name": f"volume {number}",
        "status": "available",
        "size": 10,
        "availability_zone": drawn.choice(["nova", "nova", "az1", "az2"]),
        "bootable": drawn.choice(["true"] * 19 + ["false"]),
        "multiattach": drawn.random() < 0.2,
        "volume_image_metadata": metadata,
    }


def _uuid(kind: str, number: int) -> str:
    return f"{kind}{number:06}-0000-4000-8000-{number:012x}"


def aliases(drawn: random.Random) -> tuple[str, dict[str, Any]]:
    """Return what a flavor asks for by PCI aliases, and the options that say them."""
    good = drawn.random() < 0.7
    pool = [_ALIASES[0], _ALIASES[2], _ALIASES[5]] if good else list(_ALIASES)
    found = list(map(json.dumps, drawn.sample(pool, drawn.choice([1, 2, 3]))))
    found += ["{"] * (not good and drawn.random() < 0.1)
    on = drawn.random() < 0.7
    options = {"pci.alias": found, "filter_scheduler.pci_in_placement": on}
    return drawn.choice(_ALIASED), options
