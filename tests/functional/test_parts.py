"""Ports, networks, volumes and device profiles, asked of a real Placement.

Neutron, Cinder and Cyborg are made up, in the shape of their API references.
"""

from __future__ import annotations

import json

import pytest

from osc_traitsched.commands.base import NOT_SUPPLIED
from tests.functional.nova import Nova

pytestmark = pytest.mark.one_client

EGRESS = "NET_BW_EGR_KILOBIT_PER_SEC"
PORT, NETWORK, SUBNET, SEGMENT, VOLUME = (
    f"a000000{n}-0000-4000-8000-000000000000" for n in range(5)
)
PARTS = {
    "/v2.0/ports": {
        "ports": [
            {
                "id": PORT,
                "name": "web-1",
                "network_id": NETWORK,
                "project_id": "theirs",
                "device_id": "",
                "binding:vnic_type": "normal",
                "fixed_ips": [{"subnet_id": SUBNET, "ip_address": "192.0.2.7"}],
                "ip_allocation": "immediate",
                "resource_request": {"resources": {EGRESS: 1000}, "required": []},
            }
        ]
    },
    f"/v2.0/networks/{NETWORK}": {
        "network": {
            "id": NETWORK,
            "name": "web",
            "subnets": [SUBNET],
            "provider:physical_network": "physnet0",
        }
    },
    "/v2.0/networks": {"networks": []},
    "/v2.0/subnets": {"subnets": [{"id": SUBNET, "segment_id": None}]},
    f"/volumes/{VOLUME}": {
        "volume": {
            "id": VOLUME,
            "name": "root",
            "size": 10,
            "status": "available",
            "availability_zone": "nova",
            "bootable": "true",
            "multiattach": True,
            "volume_image_metadata": {"trait:CUSTOM_FAST": "required"},
        }
    },
    "/device_profiles": {
        "device_profiles": [
            {"name": "fpga", "groups": [{"resources:FPGA": "1"}], "uuid": "u"}
        ]
    },
}
FLAVOR = {"id": "1", "name": "small", "vcpus": 1, "ram": 512, "disk": 1}


@pytest.fixture
def nova(placement, proxy):
    """Two hosts; of the first a card has bandwidth and an FPGA."""
    first, second = placement.add_host("cmp01"), placement.add_host("cmp02")
    card = {EGRESS: 5000, "FPGA": 1}
    placement.add_host("card", (), parent=first, inventories=card)
    for root in (first, second):
        placement.set_traits(root, {"COMPUTE_ACCELERATORS"})
    found = Nova(proxy, [("cmp01", first), ("cmp02", second)], {})
    found._bodies.update(PARTS)
    found._bodies["/flavors/detail"] = {"flavors": [{**FLAVOR, "extra_specs": {}}]}
    return found


def document(openstack, *options):
    """Return explain's document, of a release that does not look for its own mark."""
    how = ("--nova-release", "2026.1", "-f", "json")
    run = openstack("explain", "small", "-", *how, *options)
    assert run.out, run.err
    return json.loads(run.out)


def test_a_port_is_a_group_of_its_own_and_says_whose_it_is(nova, openstack):
    found = document(openstack, "--port", "web-1")
    assert found["candidates"] == ["cmp01"]
    assert f"resources{PORT}={EGRESS}%3A1000" in found["query"]
    (clause,) = (each for each in found["clauses"] if EGRESS in each["id"])
    (origin,) = clause["origins"]
    assert (origin["kind"], origin["name"]) == ("port", "web-1")
    assert found["request"]["ports"] == [{"id": PORT, "name": "web-1"}]
    assert not [each for each in found["not_evaluated"] if each["kind"] == "ports"]


def test_a_volume_stands_for_its_image(nova, openstack, placement):
    placement.create_traits("CUSTOM_FAST")
    found = document(openstack, "--volume", VOLUME)
    assert found["candidates"] == []
    assert "required=CUSTOM_FAST" in found["query"]
    assert "DISK_GB" not in found["query"]
    (beside,) = (e for e in found["not_evaluated"] if e["kind"] == "multiattach")
    assert beside["text"].startswith("volume root: several servers can have it")


def test_a_device_profile_is_cyborg_s_or_a_file_s(nova, openstack, tmp_path):
    profile = ("--flavor-property", "accel:device_profile=fpga")
    found = document(openstack, *profile)
    assert found["candidates"] == ["cmp01"]
    assert "resourcesdevice_profile_0=FPGA%3A1" in found["query"]

    path = tmp_path / "profiles.json"
    path.write_text(json.dumps({"name": "fpga", "groups": [{"resources:FPGA": "2"}]}))
    found = document(openstack, *profile, "--device-profile", str(path))
    assert found["candidates"] == []
    assert "resourcesdevice_profile_0=FPGA%3A2" in found["query"]


def test_without_cyborg_one_line_says_so_and_the_rest_is_answered(nova, openstack):
    del nova._bodies["/device_profiles"]
    found = document(openstack, "--flavor-property", "accel:device_profile=fpga")
    assert found["candidates"] == ["cmp01", "cmp02"]
    said = {each["kind"]: each["text"] for each in found["not_evaluated"]}
    assert said["device profiles"].startswith("device profiles: accelerator: ")
    assert said["device profile"].startswith("device profile accel:device_profile=fpga")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--port", "web-2"), "no port matches 'web-2'"),
        (("--network", "lan"), "no network matches 'lan'"),
        (("--volume", "data"), "no volume matches 'data'"),
        (("--device-profile", "nowhere.json"), "nowhere.json"),
    ],
    ids=str,
)
def test_what_is_not_there_is_one_clear_line(nova, openstack, options, said):
    nova._bodies["/v2.0/ports"] = {"ports": []}
    nova._bodies["/volumes/detail"] = {"volumes": []}
    run = openstack("explain", "small", "-", "--nova-release", "2026.1", *options)
    assert (run.code, run.out) == (1, "")
    (line,) = run.err.splitlines()
    assert said in line


@pytest.mark.parametrize(
    ("parent", "expected"), [("agent", ["cmp01"]), (None, [])], ids=str
)
def test_the_groups_of_a_port_are_of_one_subtree(
    nova, openstack, placement, parent, expected
):
    """An agent processes packets, and its bridge carries them."""
    rate, width = f"{PORT[:-1]}1", f"{PORT[:-1]}2"
    packets = "NET_PACKET_RATE_KILOPACKET_PER_SEC"
    root = nova._bodies["/os-hypervisors/detail"]["hypervisors"][0]["id"]
    agent = placement.add_host("agent", (), parent=root, inventories={packets: 100})
    above = agent if parent else root
    placement.add_host("bridge", (), parent=above, inventories={EGRESS: 9000})
    groups = [
        {"id": rate, "resources": {packets: 10}, "required": []},
        {"id": width, "resources": {EGRESS: 9000}, "required": []},
    ]
    request = {"request_groups": groups, "same_subtree": [rate, width]}
    (port,) = PARTS["/v2.0/ports"]["ports"]
    nova._bodies["/v2.0/ports"] = {"ports": [{**port, "resource_request": request}]}
    found = document(openstack, "--port", PORT)
    assert found["candidates"] == expected
    assert not any(found["disagreement"].values())


ALIAS = '{"name": "card", "vendor_id": "10de", "product_id": "1eb8"}'
ASKED = ("--flavor-property", "pci_passthrough:alias=card:1")


def test_the_devices_of_an_alias_are_asked_of_placement(nova, openstack, placement):
    root = nova._bodies["/os-hypervisors/detail"]["hypervisors"][0]["id"]
    device = "CUSTOM_PCI_10DE_1EB8"
    placement.call("PUT", f"/resource_classes/{device}")
    placement.add_host("gpu", (), parent=root, inventories={device: 1})
    how = ("--set", f"pci.alias={ALIAS}")
    on = ("--set", "filter_scheduler.pci_in_placement=true")
    found = document(openstack, *ASKED, *how, *on)
    assert found["candidates"] == ["cmp01"]
    assert f"resourcespci0-0={device}%3A1" in found["query"]
    assert not [e for e in found["not_evaluated"] if e["kind"].startswith("pci")]

    beside = document(openstack, *ASKED, *how)
    assert "CUSTOM_PCI" not in beside["query"]


def test_an_alias_is_unknown_unless_nova_conf_is_given(nova, openstack, tmp_path):
    found = document(openstack, *ASKED)
    assert [e for e in found["not_evaluated"] if e["kind"].startswith("pci")]

    other = ALIAS.replace("card", "cards")
    path = tmp_path / "nova.conf"
    path.write_text(f"[pci]\nalias = {other}\nalias = {other.replace('8', '9')}\n")
    found = document(openstack, *ASKED, "--nova-conf", str(path))
    assert found["rejection"]["exception"] == "PciInvalidAlias"
    path.write_text(f"[pci]\nalias = {other}\n")
    found = document(openstack, *ASKED, "--nova-conf", str(path))
    assert found["rejection"]["exception"] == "PciRequestAliasNotDefined"
    assert "did you mean cards?" in found["rejection"]["text"]


def test_a_port_that_no_host_has_room_for_is_why_there_is_none(nova, openstack):
    (port,) = PARTS["/v2.0/ports"]["ports"]
    large = {"resources": {EGRESS: 99999}, "required": ["CUSTOM_PHYSNET_X"]}
    body = {"ports": [{**port, "resource_request": large}]}
    nova._bodies["/v2.0/ports"] = body
    run = openstack("explain", "small", "-", "--nova-release", "2026.1", "--port", PORT)
    assert run.code == 3, run.err
    why = "Port web-1 requires trait CUSTOM_PHYSNET_X, which does not exist."
    assert why in run.out.splitlines()

    body["ports"][0]["resource_request"] = {**large, "required": []}
    asked = "explain", "small", "-", "--nova-release", "2026.1", "--port", PORT
    run = openstack(*asked)
    hint = f"{NOT_SUPPLIED} openstack trait-sched config save --nova-conf FILE\n"
    assert (run.code, run.err) == (3, hint)
    why, *_ = run.out.splitlines()[1].split(": ")
    assert why == "  2 are short of egress bandwidth (need 99999 kbit/s, port web-1)"
    assert "openstack flavor" not in run.out
    found = openstack(*asked, "--long")
    assert "port web-1 resource_request" in found.out
    assert "Not looked at:" not in found.out


def test_a_request_that_neutron_does_not_show_is_named(nova, openstack):
    (port,) = PARTS["/v2.0/ports"]["ports"]
    shown = {key: each for key, each in port.items() if key != "resource_request"}
    nova._bodies["/v2.0/ports"] = {"ports": [shown]}
    found = document(openstack, "--port", "web-1")
    assert found["candidates"] == ["cmp01", "cmp02"]
    (beside,) = (e for e in found["not_evaluated"] if e["kind"] == "resource request")
    assert beside["text"].startswith("port web-1: Neutron shows no resource_request")


def test_what_placement_rejects_of_another_option_is_no_refusal(
    nova, openstack, tmp_path
):
    """No compute reports devices, so Placement does not know their class."""
    path = tmp_path / "nova.conf"
    path.write_text(f"[pci]\nalias = {ALIAS.replace('1eb8', '20f1')}\n")
    how = ("--nova-conf", str(path), "--nova-release", "2026.1")
    done = openstack("explain", "small", "-", *ASKED, *how, "-f", "json")
    assert done.code == 8
    assert done.json["rejection"] is None
    assert done.json["uncertain_candidates"] == ["cmp01", "cmp02"]
    on = ("--set", "filter_scheduler.pci_in_placement=true")
    done = openstack("explain", "small", "-", *ASKED, *how, *on, "-f", "json")
    assert done.code == 3
    assert "No such resource class" in done.json["rejection"]["text"]


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (
            "pci_passthrough:alias=card:1",
            "PciPassthroughFilter is off: nova-compute checks pci_passthrough:alias",
        ),
        (
            "hw:numa_nodes=1",
            "NUMATopologyFilter is off: nova-compute checks hw:numa_nodes itself",
        ),
        ("accel:device_profile=fpga", "Cyborg checks accel:device_profile"),
    ],
)
def test_what_is_claimed_later_is_a_may_for_every_command(
    nova, openstack, tmp_path, key, line
):
    name, value = key.split("=")
    flavor = {**FLAVOR, "extra_specs": {name: value}}
    nova._bodies["/flavors/detail"] = {"flavors": [flavor]}
    path = tmp_path / "nova.conf"
    path.write_text(f"[pci]\nalias = {ALIAS}\n")
    how = ("--nova-conf", str(path), "--nova-release", "2026.1")
    for command in ("explain", "candidates", "capacity"):
        image = ("-",) if command != "capacity" else ()
        done = openstack(command, "small", *image, *how)
        assert done.code == 8, command
        assert line in done.out + done.err, command
        plain = openstack(command, "small", *image, "--nova-release", "2026.1")
        assert plain.code == 8, command


def test_an_alias_that_nova_conf_lacks_is_refused_by_nova_api(
    nova, openstack, tmp_path
):
    path = tmp_path / "nova.conf"
    path.write_text(f"[pci]\nalias = {ALIAS}\n")
    wrong = ("--flavor-property", "pci_passthrough:alias=crad:1")
    how = ("--nova-conf", str(path), "--nova-release", "2026.1")
    done = openstack("explain", "small", "-", *wrong, *how)
    assert done.code == 3
    verdict, why, *_ = done.out.splitlines()
    assert verdict == "Rejected before scheduling; no host was tried."
    assert "HTTP 400" in why
    assert "card" in why
    path.write_text("[DEFAULT]\n")
    assert openstack("explain", "small", "-", *ASKED, *how).code == 3
    by_hand = ("--set", "scheduler.max_placement_results=500")
    done = openstack("explain", "small", "-", *ASKED, "--nova-release", "33", *by_hand)
    assert done.code == 8
