"""Snapshots of small clouds that are drawn: all that decides where servers can go."""

from __future__ import annotations

import dataclasses
import random
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from tests.services import fleet, saved

Body = dict[str, Any]

GOLD, SSD, AVX = "CUSTOM_GOLD", "CUSTOM_SSD", "HW_CPU_X86_AVX512F"
RAW, DISABLED = "COMPUTE_IMAGE_TYPE_RAW", "COMPUTE_STATUS_DISABLED"
METAL, CARD = "CUSTOM_BAREMETAL", "CUSTOM_CARD"
#: Projects; no aggregate names the last.
OURS, THEIRS, ANYONE = "0a" * 16, "0b" * 16, "0c" * 16
NO_SIZES = {f"resources:{name}": "0" for name in ("VCPU", "MEMORY_MB", "DISK_GB")}
SCOPED = "aggregate_instance_extra_specs"

#: The sizes of flavors in VCPU and MB; no host has room for the last.
SIZES = ((1, 512), (1, 512), (4, 8192), (64, 131_072), (2, 400_000), (1, 9_000_000))
SPECS: tuple[Mapping[str, str], ...] = (
    {},
    {f"trait:{GOLD}": "required"},
    {f"trait:{SSD}": "required"},
    {f"trait:{GOLD}": "required", f"trait:{SSD}": "required"},
    {f"trait:{SSD}": "forbidden"},
    {"trait:CUSTOM_GLOD": "required"},
    {f"{SCOPED}:rack": "east"},
    {"rack": "west"},
    {f"resources:{CARD}": "1"},
    {f"resources:{CARD}": "9"},
    {f"resources:{METAL}": "1", **NO_SIZES},
    {f"resources:{METAL}": "1"},
    {"hw:cpu_policy": "dedicated"},
    {"hw:numa_nodes": "2"},
    {f"resources1:{CARD}": "1", f"trait1:{SSD}": "required"},
    {"resources:CUSTOM_NOWHERE": "1"},
)
KEYS: tuple[Mapping[str, str], ...] = (
    {"disk_format": "qcow2"},
    {"disk_format": "vhdx"},
    {f"trait:{GOLD}": "required"},
    {f"trait:{AVX}": "required"},
    {"hw_architecture": "aarch64"},
    {"hw_firmware_type": "uefi"},
    {"os_type": "windows"},
)
METADATA: tuple[Mapping[str, str], ...] = (
    {},
    {"rack": "east"},
    {"rack": "west"},
    {f"trait:{GOLD}": "required"},
    {f"trait:{GOLD}": "required"},
    {f"trait:{SSD}": "required", f"trait:{GOLD}": "required"},
    {f"trait:{AVX}": "required", "rack": "east"},
    {"filter_tenant_id": OURS},
    {"filter_tenant_id_2": THEIRS, "filter_tenant_id": OURS},
    {"filter_tenant_id": THEIRS},
    {"os_type": "windows"},
)
FILTERS = (
    *("ComputeFilter", "ComputeCapabilitiesFilter", "ImagePropertiesFilter"),
    *("ServerGroupAntiAffinityFilter", "ServerGroupAffinityFilter"),
)
MORE_FILTERS = (
    *("AggregateMultiTenancyIsolation", "AggregateInstanceExtraSpecsFilter"),
    *("AggregateImagePropertiesIsolation", "NUMATopologyFilter", "NumInstancesFilter"),
)
SWITCHES = (
    "enable_isolated_aggregate_filtering",
    "limit_tenants_to_placement_aggregate",
    "query_placement_for_image_type_support",
)
POLICIES = ("anti-affinity", "anti-affinity", "affinity", "soft-affinity")
MOVES = ("finished", "migrating", "confirmed", "error")
TIME = "2026-11-25T12:00:00Z"


@dataclasses.dataclass(frozen=True)
class Drawn:
    """The document of a cloud, and what commands can name in it."""

    document: Body
    hosts: tuple[str, ...]
    flavors: tuple[str, ...]
    images: tuple[str, ...]
    zones: tuple[str, ...]
    servers: tuple[str, ...]


def draw(seed: object, has_pools: bool = True) -> Drawn:
    """A cloud of up to eight hosts; the same seed gives the same cloud.

    :param has_pools: hosts may share disk
    """
    dice = random.Random(f"drawn {seed}")
    number = dice.randint(3, 6)
    full = dice.randint(0, 1)
    hosts = fleet.draw(number, seed=dice.getrandbits(32), full=full, nested=0.3)
    flavors = [_flavor(dice, n) for n in range(5)]
    kinds = [{}, *dice.sample(KEYS, 2)]
    images = [_image(dice, n, keys) for n, keys in enumerate(kinds)]
    document = saved.snapshot(hosts, flavors=flavors, image={"images": images})
    document["own_project"] = OURS
    document["answers"] = {}
    document["settings"] = _settings(dice)
    names = {OURS: "ours", THEIRS: "theirs", ANYONE: "anyone"}
    projects = [{"id": each, "name": name} for each, name in names.items()]
    document["identity"] = {"projects": projects, "domains": []}
    place, compute = document["placement"], document["compute"]
    place["traits"] += [GOLD, SSD, "COMPUTE_SAME_HOST_COLD_MIGRATE", "COMPUTE_NODE"]
    place["traits"] = sorted({*place["traits"], AVX, *ALSO_KNOWN})
    place["resource_classes"] += [METAL, CARD, "CUSTOM_NOWHERE"]
    for provider in place["providers"]:
        _vary(dice, provider)
    if dice.random() < 0.4:
        _add_metal(dice, document)
    _add_aggregates(dice, document)
    if dice.random() < 0.3 and has_pools:
        _add_pool(dice, document)
    for node in compute["hypervisors"]:
        _switch_off(dice, document, node)
    compute["servers"] = [
        _server(dice, n, flavors, images, compute) for n in range(dice.randint(2, 5))
    ]
    _add_groups(dice, compute)
    for flavor in flavors:
        if not flavor["os-flavor-access:is_public"]:
            project = dice.choice([OURS, THEIRS])
            access = {"flavor_id": flavor["id"], "tenant_id": project}
            path = f"compute /flavors/{flavor['id']}/os-flavor-access"
            document["answers"][path] = {"flavor_access": [access]}
    return Drawn(
        document,
        tuple(node["hypervisor_hostname"] for node in compute["hypervisors"]),
        tuple(each["name"] for each in flavors),
        tuple(each["name"] for each in images),
        tuple(each["zoneName"] for each in compute["availabilityZoneInfo"]),
        tuple(each["name"] for each in compute["servers"]),
    )


#: Traits that Nova's prefilters ask for.
ALSO_KNOWN = (
    *("COMPUTE_IMAGE_TYPE_RAW", "COMPUTE_IMAGE_TYPE_QCOW2", "COMPUTE_IMAGE_TYPE_VHDX"),
    *("HW_ARCH_AARCH64", "HW_ARCH_X86_64", "COMPUTE_NODE", "OWNER_NOVA"),
)


def _identity(dice: random.Random) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128), version=4))


def _flavor(dice: random.Random, number: int) -> Body:
    vcpus, ram = dice.choice(SIZES)
    return {
        **{"id": f"id-{number}", "name": f"f{number}", "vcpus": vcpus, "ram": ram},
        **{"disk": dice.choice([0, 1, 20]), "swap": "", "OS-FLV-EXT-DATA:ephemeral": 0},
        "os-flavor-access:is_public": dice.random() < 0.9,
        "extra_specs": dict(dice.choice(SPECS)) if number else {},
    }


def _image(dice: random.Random, number: int, keys: Mapping[str, str]) -> Body:
    return {
        **{"id": _identity(dice), "name": f"i{number}", "status": "active"},
        **{"visibility": "public", "owner": OURS, "min_ram": 0, "min_disk": 0},
        **{"disk_format": "raw", "container_format": "bare", "tags": [], **keys},
    }


def _settings(dice: random.Random) -> Body:
    """None, all, or those that the API cannot tell, as a deployment tool has them."""
    kind = dice.choice(["none", "complete", "complete", "partial"])
    if kind == "none":
        return dict(saved.SETTINGS)
    options = {
        ("scheduler", name): str(dice.random() < 0.5).lower()
        for name in SWITCHES
        if kind == "complete" or dice.random() < 0.4
    }
    if kind == "complete" or dice.random() < 0.5:
        more = dice.sample(MORE_FILTERS, dice.randint(0, 3))
        names = ",".join([*FILTERS, *more])
        options["filter_scheduler", "enabled_filters"] = names
    rows = [
        [*name, value, "/etc/nova/nova.conf", line, "", None]
        for line, (name, value) in enumerate(options.items(), 1)
    ]
    if kind == "partial":
        return {**saved.SETTINGS, "place": "the command line", "options": rows}
    return of_nova_conf(rows)


def of_nova_conf(rows: Sequence[Sequence[Any]]) -> Body:
    """The settings of a cloud whose nova.conf has these rows and no others."""
    path = "/etc/nova/nova.conf"
    return {
        **{"place": path, "options": [], "lines": {"nova_conf": "--nova-conf"}},
        **{"named": {"nova_conf": [path]}, "files": {"nova_conf": [rows]}},
    }


def _vary(dice: random.Random, provider: Body) -> None:
    if provider["parent"] is None:
        traits = {*provider["traits"], "COMPUTE_NODE"} - {AVX, DISABLED}
        traits |= {name for name in (GOLD, SSD, AVX) if dice.random() < 0.5}
        provider["traits"] = sorted(traits - ({RAW} if dice.random() < 0.15 else set()))
        if dice.random() < 0.3:
            provider["inventories"][CARD] = _inventory(dice.choice([1, 2, 8]), dice)
    elif dice.random() < 0.5:
        provider["inventories"][CARD] = _inventory(dice.choice([1, 2]), dice)
        provider["traits"] = sorted({*provider["traits"], *dice.sample([SSD, GOLD], 1)})


def _inventory(total: int, dice: random.Random) -> Body:
    return {
        **{"total": total, "reserved": 0, "min_unit": 1, "max_unit": total},
        **{"step_size": 1, "allocation_ratio": 1.0, "used": dice.choice([0, 0, total])},
    }


def _add_metal(dice: random.Random, document: Body) -> None:
    """Nodes of Ironic's, of one service."""
    for number in range(dice.randint(1, 2)):
        identity, name = _identity(dice), f"metal{number}"
        inventory = _inventory(1, dice)
        inventory["reserved"] = dice.choice([0, 0, 1])
        traits = ["COMPUTE_NODE", *(t for t in (GOLD, SSD) if dice.random() < 0.4)]
        document["placement"]["providers"].append(
            {
                **{"uuid": identity, "name": name, "generation": 5, "root": identity},
                **{"parent": None, "traits": sorted(traits), "aggregates": []},
                "inventories": {METAL: inventory},
            }
        )
        compute = document["compute"]
        node = {**compute["hypervisors"][0], "id": identity, "cpu_info": ""}
        service = {"host": "ironic", "disabled_reason": None}
        node.update(hypervisor_hostname=name, service=service, hypervisor_type="ironic")
        compute["hypervisors"].append(node)
    service = dict(compute["services"][0])
    compute["services"].append({**service, "id": _identity(dice), "host": "ironic"})


def _add_aggregates(dice: random.Random, document: Body) -> None:
    """Zones, and other aggregates that hosts are in; Placement may lack a member."""
    compute = document["compute"]
    hosts = list(dict.fromkeys(e["service"]["host"] for e in compute["hypervisors"]))
    zones = dice.choice([(), ("az-east",), ("az-east", "az-west")])
    members: dict[str, list[str]] = {zone: [] for zone in zones}
    for host in hosts:
        if zones and dice.random() < 0.8:
            members[dice.choice(zones)].append(host)
    kinds = dice.sample(METADATA, dice.randint(1, 3))
    several = [(each, {"availability_zone": each}, members[each]) for each in zones]
    for number, metadata in enumerate(kinds):
        inside = [host for host in hosts if dice.random() < 0.45]
        several.append((f"a{number}", metadata, inside))
    compute["aggregates"] = [
        {
            **{"id": number, "uuid": _identity(dice), "name": name},
            **{"hosts": inside, "metadata": dict(metadata)},
        }
        for number, (name, metadata, inside) in enumerate(several, 1)
    ]
    nodes = {each["id"]: each["service"]["host"] for each in compute["hypervisors"]}
    for provider in document["placement"]["providers"]:
        provider["aggregates"] = sorted(
            each["uuid"]
            for each in compute["aggregates"]
            if nodes.get(provider["uuid"]) in each["hosts"] and dice.random() < 0.97
        )
    shown = {zone for zone in zones if members[zone]}
    shown |= {"nova"} if {*hosts}.difference(*members.values()) else set()
    compute["availabilityZoneInfo"] = [
        {"zoneName": zone, "zoneState": {"available": True}, "hosts": None}
        for zone in sorted(shown)
    ]
    for service in compute["services"]:
        zone = next((z for z in zones if service["host"] in members[z]), "nova")
        service["zone"] = zone


def _add_pool(dice: random.Random, document: Body) -> None:
    """A pool of disk that some hosts share."""
    identity, aggregate = _identity(dice), _identity(dice)
    place, disk = document["placement"], "DISK_GB"
    size = {**_inventory(9000, dice), "used": dice.choice([0, 100])}
    for provider in place["providers"]:
        if disk in provider["inventories"] and dice.random() < 0.5:
            del provider["inventories"][disk]
            provider["aggregates"] = sorted([*provider["aggregates"], aggregate])
    place["providers"].append(
        {
            **{"uuid": identity, "name": "pool", "generation": 5, "root": identity},
            **{"parent": None, "aggregates": [aggregate], "inventories": {disk: size}},
            "traits": ["MISC_SHARES_VIA_AGGREGATE"],
        }
    )


def _switch_off(dice: random.Random, document: Body, node: Body) -> None:
    """Disable the service or take it down; Placement knows it of the first."""
    host = node["service"]["host"]
    compute, place = document["compute"], document["placement"]
    (service,) = (each for each in compute["services"] if each["host"] == host)
    if node["hypervisor_type"] != "ironic" or node["hypervisor_hostname"] == "metal0":
        service["status"] = "disabled" if dice.random() < 0.2 else "enabled"
        service["state"] = "down" if dice.random() < 0.1 else "up"
    node["status"], node["state"] = service["status"], service["state"]
    if service["status"] == "disabled":
        (provider,) = (e for e in place["providers"] if e["uuid"] == node["id"])
        provider["traits"] = sorted([*provider["traits"], DISABLED])


def _is_of_metal(flavor: Body) -> bool:
    return NO_SIZES.items() <= flavor["extra_specs"].items()


def _server(
    dice: random.Random,
    number: int,
    flavors: Sequence[Body],
    images: Sequence[Body],
    compute: Body,
) -> Body:
    node, image = dice.choice(compute["hypervisors"]), dice.choice(images)
    is_metal = node["hypervisor_type"] == "ironic"
    flavor = dice.choice([e for e in flavors if _is_of_metal(e) is is_metal] or flavors)
    status = dice.choice(["ACTIVE"] * 4 + ["SHUTOFF", "SHELVED_OFFLOADED", "ERROR"])
    is_placed = status not in ("SHELVED_OFFLOADED", "ERROR")
    specs = flavor["extra_specs"]
    if dice.random() < 0.15:
        # The server keeps what the flavor had.
        specs = {**dice.choice(SPECS[:7]), **({} if not is_metal else specs)}
    host = node["service"]["host"] if is_placed else None
    zones = [each["zoneName"] for each in compute["availabilityZoneInfo"]]
    pinned = dice.choice(zones) if zones and dice.random() < 0.2 else None
    fault = {"code": 500, "created": TIME, "message": "No valid host was found. "}
    return {
        **{"id": _identity(dice), "name": f"s{number}", "status": status},
        **{"tenant_id": dice.choice([OURS, OURS, THEIRS]), "created": TIME},
        "updated": TIME,
        "flavor": {
            **{key: flavor[key] for key in ("vcpus", "ram", "disk")},
            **{"ephemeral": 0, "swap": 0, "original_name": flavor["name"]},
            "extra_specs": dict(specs),
        },
        "image": {"id": image["id"], "properties": {}},
        "locked": False,
        "scheduler_hints": {},
        "server_groups": [],
        "pinned_availability_zone": pinned,
        "OS-EXT-AZ:availability_zone": "",
        "OS-EXT-SRV-ATTR:host": host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": host and node["hypervisor_hostname"],
        "OS-EXT-SRV-ATTR:root_device_name": "/dev/vda",
        "OS-EXT-STS:vm_state": {"SHUTOFF": "stopped"}.get(status, status.lower()),
        "OS-EXT-STS:task_state": None,
        "OS-EXT-STS:power_state": 1 if status == "ACTIVE" else 4,
        "OS-SRV-USG:launched_at": "2026-11-25T12:00:00",
        "os-extended-volumes:volumes_attached": [],
        **({"fault": fault} if status == "ERROR" else {}),
    }


def _add_groups(dice: random.Random, compute: Body) -> None:
    """A group of some servers; one of them is being moved, or was."""
    members = dice.sample(compute["servers"], dice.randint(0, 2))
    if not members:
        return
    policy = dice.choice(POLICIES)
    group = {
        **{"id": _identity(dice), "name": "group", "policy": policy, "rules": {}},
        **{"members": [each["id"] for each in members], "project_id": OURS},
    }
    compute["server_groups"] = [group]
    for each in members:
        each["server_groups"] = [group["id"]]
    moved, host = members[0], members[0]["OS-EXT-SRV-ATTR:host"]
    others = [e["host"] for e in compute["services"] if e["host"] != host]
    if host and others and dice.random() < 0.5:
        compute["migrations"] = [
            {
                **{"id": 1, "instance_uuid": moved["id"], "migration_type": "resize"},
                **{"source_compute": dice.choice(others), "dest_compute": host},
                "status": dice.choice(MOVES),
                **{"created_at": TIME, "updated_at": TIME},
            }
        ]
