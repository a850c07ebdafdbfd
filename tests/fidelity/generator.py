"""Cases by chance, the same for the same seed on every Python."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.fidelity.values import (
    BOOLEANS,
    CHECKED,
    CLASSES,
    FORMATS,
    MASKS,
    NUMBERS,
    OPTIONS,
    SHAPING,
    SUFFIXES,
    TENANT_KEYS,
    TOO_LONG,
    TRAITS,
)

Specs = dict[str, str]


def case(seed: str) -> dict[str, Any]:
    """Return one case; a third of them hold values that are bad by themselves."""
    drawn = random.Random(seed)
    wild = drawn.random() < 0.35
    flavor, image = _sizes(drawn), {"disk_format": drawn.choice(FORMATS)}
    specs = flavor["extra_specs"]
    _set(drawn, wild, specs, image)
    if not wild:
        _reconcile(drawn, flavor, image)
    _realtime(drawn, specs, image)
    _explicit(drawn, wild, flavor, image)
    if drawn.random() < 0.1:
        _numa(drawn, wild, flavor, image)
    if drawn.random() < 0.06:
        labels = ("6GB", "6GB,6GB", "6GB, small one", ",", "a-b.c,a_b_c")
        specs["hw:pmem"] = drawn.choice(labels)
    found = {"name": seed, "flavor": flavor, "image": image, **_cloud(drawn)}
    found.update(by_chance(drawn))
    if "volumes" in found:
        found["image"] = {}
    if drawn.random() < 0.1:
        profile = device_profile(drawn)
        specs["accel:device_profile"] = profile.pop("name")
        found.update(profile)
    if drawn.random() < 0.15:
        specs["pci_passthrough:alias"], options = aliases(drawn)
        found["options"].update(options)
    if drawn.random() < 0.5:
        found["options"]["cinder.cross_az_attach"] = False
    return found


def _sizes(drawn: random.Random) -> dict[str, Any]:
    return {
        "vcpus": drawn.choice([1, 2, 2, 3, 4, 4, 4, 8]),
        "ram": drawn.choice([512, 1024, 2048, 4096, 4097]),
        "disk": drawn.choice([0, 1, 10, 20, 20]),
        "OS-FLV-EXT-DATA:ephemeral": drawn.choice([0, 0, 0, 1, 5]),
        "swap": drawn.choice(["", "", "", 1, 512, 1024, 1500]),
        "extra_specs": {},
    }


def _set(drawn: random.Random, wild: bool, specs: Specs, image: dict[str, Any]) -> None:
    """Set some keys, of the flavor, the image, or both."""
    for _ in range(drawn.choice([1, 2, 3, 5, 8] if wild else [0, 1, 1, 2, 3, 4])):
        table = SHAPING if drawn.random() < 0.7 else CHECKED
        key, prop, good, bad = drawn.choice(table)
        values = good.split() or list(BOOLEANS)
        if wild:
            values += [*bad.split(), *([""] if key else [])]
        where = drawn.random()
        value = drawn.choice(values)
        if key and (where < 0.55 or where > 0.85 or not prop):
            specs[key] = value
        if prop and (where >= 0.55 or not key):
            image[prop] = value if drawn.random() < 0.6 else drawn.choice(values)
    image.update({name: int(image[name]) for name in NUMBERS if name in image})


def _reconcile(
    drawn: random.Random, flavor: dict[str, Any], image: dict[str, Any]
) -> None:
    """Make most combinations hold together."""
    specs = flavor["extra_specs"]
    policy = specs.get("hw:cpu_policy", image.get("hw_cpu_policy"))
    if policy == "mixed" and drawn.random() < 0.9:
        specs["hw:cpu_dedicated_mask"] = drawn.choice(["0", "^0"])
        flavor["vcpus"] = max(flavor["vcpus"], 2)
    threads = "hw:cpu_thread_policy" in specs or "hw_cpu_thread_policy" in image
    isolated = specs.get("hw:emulator_threads_policy") == "isolate"
    if (threads or isolated) and drawn.random() < 0.85:
        specs.setdefault("hw:cpu_policy", "dedicated")
    encrypted = "hw:mem_encryption" in specs or "hw_mem_encryption" in image
    if encrypted and drawn.random() < 0.85:
        image["hw_firmware_type"] = "uefi"
        image["hw_machine_type"] = "q35"
        if drawn.random() < 0.5:
            image.update(hw_firmware_stateless="true", hw_video_model="none")
    if "hw_mem_page_size" in image:
        specs["hw:mem_page_size"] = drawn.choice(["any", "large"])
    if "hw:locked_memory" in specs or "hw_locked_memory" in image:
        specs.setdefault("hw:mem_page_size", "large")
    if "hw:numa_nodes" in specs or "hw_numa_nodes" in image:
        flavor.update(vcpus=drawn.choice([2, 4]), ram=2048)


def _realtime(drawn: random.Random, specs: Specs, image: dict[str, Any]) -> None:
    if drawn.random() < 0.12:
        specs["hw:cpu_realtime"] = drawn.choice(["yes", "true", "no", "maybe"])
        mask = drawn.choice(MASKS)
        where = drawn.random()
        if where < 0.55:
            specs["hw:cpu_realtime_mask"] = mask
        elif where < 0.8:
            image["hw_cpu_realtime_mask"] = mask
        if drawn.random() < 0.8:
            policy = drawn.choice(["dedicated", "dedicated", "mixed"])
            specs["hw:cpu_policy"] = policy
    if drawn.random() < 0.06:
        specs["hw:cpu_dedicated_mask"] = drawn.choice(MASKS)
        if drawn.random() < 0.8:
            specs["hw:cpu_policy"] = "mixed"


def _explicit(
    drawn: random.Random, wild: bool, flavor: dict[str, Any], image: dict[str, Any]
) -> None:
    """Name resources and traits."""
    specs, vcpus = flavor["extra_specs"], str(flavor["vcpus"])
    suffixes = (*SUFFIXES, TOO_LONG) if wild else SUFFIXES
    for _ in range(drawn.choice([0, 0, 0, 1, 1, 2, 3])):
        name, suffix = drawn.choice(CLASSES), drawn.choice(suffixes)
        amounts = ["0", "1", "2", "10", vcpus, vcpus]
        if wild and drawn.random() < 0.2:
            amounts = ["-1", "x", "1.5", " 3 ", "", "007"]
        if name in ("PCPU", "VCPU") and not wild and drawn.random() < 0.8:
            amounts = [vcpus, "0"]
            specs.pop("hw:cpu_policy", None)
            image.pop("hw_cpu_policy", None)
        specs[f"resources{suffix}:{name}"] = drawn.choice(amounts)
    for _ in range(drawn.choice([0, 0, 0, 1, 1, 2, 3])):
        name = drawn.choice(TRAITS if wild or drawn.random() < 0.3 else TRAITS[:5])
        value = drawn.choice(["required", "required", "forbidden", "x", "Required"])
        if drawn.random() < 0.3:
            image[f"trait:{name}"] = value
        else:
            specs[f"trait{drawn.choice(suffixes)}:{name}"] = value


def _numa(
    drawn: random.Random, wild: bool, flavor: dict[str, Any], image: dict[str, Any]
) -> None:
    """Lay out NUMA nodes by hand, on one side."""
    vcpus, ram = flavor["vcpus"], flavor["ram"]
    side, prefix = (flavor["extra_specs"], "hw:")
    if drawn.random() < 0.3:
        side, prefix = image, "hw_"
    if drawn.random() < 0.5:
        cpus, memory = [f"0-{vcpus - 1}"], [str(ram)]
    else:
        rest = f"1-{max(1, vcpus - 1)}"
        cpus, memory = ["0", rest], ["256", str(ram - 256)]
        if wild:
            cpus[1] = drawn.choice([rest, "1", "0-1", "9", "x"])
            memory[1] = drawn.choice([memory[1], "1", "x"])
    keys = {f"{prefix}numa_nodes": str(len(cpus))}
    keys.update({f"{prefix}numa_cpus.{node}": v for node, v in enumerate(cpus)})
    keys.update({f"{prefix}numa_mem.{node}": v for node, v in enumerate(memory)})
    if wild and drawn.random() < 0.3:
        del keys[drawn.choice(sorted(keys))]
    side.update(keys)


def _cloud(drawn: random.Random) -> dict[str, Any]:
    """Return what the case holds besides flavor and image."""
    odds = {f"scheduler.{name}": 0.35 for name in OPTIONS}
    odds["scheduler.placement_aggregate_required_for_tenants"] = 0.08
    odds["workarounds.disable_fallback_pcpu_query"] = 0.05
    options: dict[str, Any] = {
        n: True for n, odd in odds.items() if drawn.random() < odd
    }
    if drawn.random() < 0.1:
        options["scheduler.query_placement_for_availability_zone"] = False
    if drawn.random() < 0.05:
        options["scheduler.max_placement_results"] = drawn.choice([1, 50, 5000])
    if drawn.random() < 0.05:
        options["DEFAULT.default_schedule_zone"] = "az1"
    cloud: dict[str, Any] = {
        "options": options,
        "aggregates": [_aggregate(drawn, n) for n in range(drawn.choice([0, 0, 2, 7]))],
        "project_id": drawn.choice(["project", "project", "other", "third"]),
        "boot_from_volume": drawn.random() < 0.15,
        "all_computes_new": drawn.random() < 0.8,
    }
    if drawn.random() < 0.3:
        cloud["availability_zone"] = drawn.choice(["az1", "az2", "nova", "nowhere"])
    return cloud


def _aggregate(drawn: random.Random, number: int) -> dict[str, Any]:
    metadata = {}
    if drawn.random() < 0.4:
        metadata["availability_zone"] = drawn.choice(["az1", "az2", "nova"])
    if drawn.random() < 0.4:
        owners = ["project", "other", "project,other"]
        metadata[drawn.choice(TENANT_KEYS)] = drawn.choice(owners)
    for _ in range(drawn.choice([0, 0, 1, 2])):
        value = drawn.choice(["required", "required", "required", "forbidden"])
        metadata[f"trait:{drawn.choice(TRAITS)}"] = value
    return {
        "id": number + 1,
        "uuid": f"{drawn.getrandbits(32):08x}-0000-4000-8000-{number:012x}",
        "name": f"aggregate {number}",
        "metadata": metadata,
        "hosts": [f"host{number}"],
    }


# Ports, networks, volumes and device profiles by chance, as their APIs give them.


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


def device_profile(drawn: random.Random) -> dict[str, Any]:
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
