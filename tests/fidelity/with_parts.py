"""Cases on ports, networks, volumes and device profiles, with the answers of Novas."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fidelity import recorded
from tests.fidelity.ours import Answer

PATH = pathlib.Path(__file__).parents[1] / "unit" / "core" / "data" / "parts.json"

_NET, _SUBNET, _SEGMENT, _PORT, _SECOND, _VOLUME, _OTHER = (
    f"a000000{n}-0000-4000-8000-000000000000" for n in range(7)
)
_RATE_GROUP, _WIDTH_GROUP = (f"b000000{n}-0000-4000-8000-000000000000" for n in "12")
_WIDTH = {
    "resources": {
        "NET_BW_EGR_KILOBIT_PER_SEC": 1000,
        "NET_BW_IGR_KILOBIT_PER_SEC": 2000,
    },
    "required": ["CUSTOM_PHYSNET_PHYSNET0", "CUSTOM_VNIC_TYPE_NORMAL"],
}
_EXTENDED = {
    "request_groups": [
        {"id": _WIDTH_GROUP, **_WIDTH},
        {
            "id": _RATE_GROUP,
            "resources": {"NET_PACKET_RATE_KILOPACKET_PER_SEC": 100},
            "required": ["CUSTOM_VNIC_TYPE_NORMAL"],
        },
    ],
    "same_subtree": [_WIDTH_GROUP, _RATE_GROUP],
}
_FPGA = [{"resources:FPGA": "1", "trait:CUSTOM_FPGA": "required", "accel:x": "y"}]
_ROUTED = {"scheduler.query_placement_for_routed_network_aggregates": True}
_SAME_ZONE = {"cinder.cross_az_attach": False}


def named() -> Iterator[dict[str, Any]]:
    """Yield the cases."""
    yield _case("port", ports=[_port(resource_request=_WIDTH)])
    two = [_port(resource_request=_WIDTH), _port(_SECOND, resource_request=_WIDTH)]
    yield _case("two ports get a group policy", ports=two)
    specs = {"resources1:VGPU": "1", "resources2:VGPU": "1"}
    yield _case("two groups of the flavor get none", specs, ports=two)
    specs = {"resources1:VGPU": "1", "group_policy": "isolate"}
    yield _case("the flavor's group policy counts", specs, ports=two)
    yield _case("port with packet rate", ports=[_port(resource_request=_EXTENDED)])
    specs = {f"resources{_PORT}:VGPU": "1"}
    yield _case("a suffix twice", specs, ports=[_port(resource_request=_WIDTH)])
    yield _case("port in use", ports=[_port(device_id="other")])
    yield _case("port without address", ports=[_port(fixed_ips=[])])
    without = _port(fixed_ips=[], ip_allocation="none")
    yield _case("port that needs no address", ports=[without])
    remote = {"binding:vnic_type": "remote-managed"}
    yield _case("remote-managed port", ports=[_port(**remote)])
    yield from _routed()
    yield from _devices()
    yield from _volumes()
    yield from _aliases()


def _routed() -> Iterator[dict[str, Any]]:
    found = {"segments": {_SEGMENT: [_OTHER]}, "options": _ROUTED}
    yield _case("routed network", requested_networks=[_NET], **found)
    yield _case("port of a routed network", ports=[_port()], **found)
    none = {"segments": {}, "options": _ROUTED}
    yield _case("segment without an aggregate", requested_networks=[_NET], **none)
    yield _case("routed network, option off", requested_networks=[_NET])


def _devices() -> Iterator[dict[str, Any]]:
    specs = {"accel:device_profile": "p"}
    two = [*_FPGA, {"resources:CUSTOM_B": "2", "trait:CUSTOM_C": "forbidden"}]
    yield _case("device profile", specs, device_profiles={"p": _FPGA})
    yield _case("device profile of two groups", specs, device_profiles={"p": two})
    yield _case("no such device profile", specs, device_profiles={"p": None})
    empty = [{"accel:x": "y"}]
    yield _case("empty group of a profile", specs, device_profiles={"p": empty})
    port = _port(**{"binding:vnic_type": "accelerator-direct", "device_profile": "p"})
    yield _case("port of a device", ports=[port], device_profiles={"p": _FPGA})
    yield _case("port of two devices", ports=[port], device_profiles={"p": two})
    port = {**port, "device_profile": None}
    yield _case("port of no device", ports=[port])


def _aliases() -> Iterator[dict[str, Any]]:
    one = {"name": "gpu", "vendor_id": "10de", "product_id": "1eb8"}
    other = {**one, "product_id": "1eb9", "device_type": "type-PF"}
    by_class = {"name": "gpu", "resource_class": "big gpu", "traits": "CUSTOM_A,b c"}
    for name, asked, aliases in (
        ("alias", "gpu:1", [one]),
        ("alias of two devices", "gpu:2", [one]),
        ("alias by its class", "gpu:1", [by_class]),
        ("alias that is not defined", "card:1", [one]),
        ("alias that is none", "gpu:1", [{"name": "gpu", "colour": "green"}]),
        ("alias without IDs", "gpu:1", [{"name": "gpu"}]),
        ("alias of two kinds", "gpu:1", [{**one, "device_type": "type-PF"}, other]),
    ):
        texts = [json.dumps(each) for each in aliases]
        specs = {"pci_passthrough:alias": asked}
        on = {"pci.alias": texts, "filter_scheduler.pci_in_placement": True}
        yield _case(name, specs, options=on)
    off = {"pci.alias": [json.dumps(one)]}
    yield _case("alias beside Placement", specs, options=off)


def _volumes() -> Iterator[dict[str, Any]]:
    yield _case("volume", volumes=[_volume()])
    yield _case("volume that is not bootable", volumes=[_volume(bootable="false")])
    yield _case("multiattach volume", volumes=[_volume(multiattach=True)])
    metadata = {"trait:CUSTOM_X": "required", "hw_disk_bus": "scsi", "min_ram": "64"}
    one = [_volume(volume_image_metadata={**metadata, "disk_format": "qcow2"})]
    on = {"scheduler.image_metadata_prefilter": True}
    on["scheduler.query_placement_for_image_type_support"] = True
    yield _case("volume of an image", volumes=one, options=on)
    one = [_volume(volume_image_metadata={"min_ram": "4096"})]
    yield _case("volume of an image with more memory", volumes=one)
    one = [_volume(availability_zone="az1")]
    az = {"scheduler.query_placement_for_availability_zone": True}
    yield _case("zone of a volume", volumes=one, options={**_SAME_ZONE, **az})
    yield _case("zone of a volume does not count", volumes=one, options=az)
    other = {"availability_zone": "az2", "options": {**_SAME_ZONE, **az}}
    yield _case("volume of another zone", volumes=one, **other)
    nova = [_volume()]
    yield _case("default zone of a volume", volumes=nova, options={**_SAME_ZONE, **az})
    both = [*nova, {**one[0], "id": _OTHER}]
    yield _case("volumes of two zones", volumes=both, options=_SAME_ZONE)


def _case(
    name: str, specs: Mapping[str, str] | None = None, **more: Any
) -> dict[str, Any]:
    flavor = {"vcpus": 1, "ram": 512, "disk": 1, "swap": ""}
    network = {"id": _NET, "name": "web", "subnets": [_SUBNET]}
    return {
        "name": name,
        "flavor": {**flavor, "extra_specs": dict(specs or {})},
        "image": {"disk_format": "raw"},
        "aggregates": [
            {
                "id": 1,
                "uuid": _OTHER,
                "name": "az1",
                "metadata": {"availability_zone": "az1"},
                "hosts": [],
            }
        ],
        "networks": [{**network, "provider:physical_network": "physnet0"}],
        "subnets": [{"id": _SUBNET, "network_id": _NET, "segment_id": _SEGMENT}],
        **more,
    }


def _port(identity: str = _PORT, **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "name": "",
        "network_id": _NET,
        "device_id": "",
        "fixed_ips": [{"subnet_id": _SUBNET}],
        "ip_allocation": "immediate",
        "binding:vnic_type": "normal",
        "binding:profile": {},
        **more,
    }


def _volume(**more: Any) -> dict[str, Any]:
    return {
        "id": _VOLUME,
        "name": "root",
        "status": "available",
        "size": 10,
        "availability_zone": "nova",
        "bootable": "true",
        "multiattach": False,
        **more,
    }


def read() -> list[dict[str, Any]]:
    """Return the recorded cases, each with its ``answers``."""
    found: list[dict[str, Any]] = json.loads(PATH.read_text())
    return found


def write(answers: Mapping[int, Sequence[Answer]]) -> None:
    """Write the cases with Nova's answers by release, a line a case."""
    lines = [json.dumps(each) for each in recorded.with_answers(list(named()), answers)]
    PATH.write_text("[\n" + ",\n".join(lines) + "\n]\n")
