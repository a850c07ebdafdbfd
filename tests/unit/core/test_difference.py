"""Each kind of change between two saved clouds is found, and made."""

from __future__ import annotations

import copy
import json

import pytest

from osc_traitsched.core.difference import (
    applied,
    by_name,
    difference,
    not_compared,
)

HOST = "OS-EXT-SRV-ATTR:host"


def provider(uuid, name, root=None, **more):
    return {
        "uuid": uuid,
        "name": name,
        "generation": 1,
        "root": root or uuid,
        "parent": root,
        "traits": ["CUSTOM_SSD", "COMPUTE_NODE"],
        "aggregates": ["a1"],
        "inventories": {
            "MEMORY_MB": {
                "total": 8192,
                "reserved": 512,
                "allocation_ratio": 1.0,
                "min_unit": 1,
                "max_unit": 8192,
                "step_size": 1,
                "used": 0,
            }
        },
        **more,
    }


def node(identity, host, status="enabled", reason=None):
    service = {"host": host, "disabled_reason": reason}
    return {
        **{"hypervisor_type": "QEMU", "cpu_info": {"model": "A", "features": ["x"]}},
        **{"id": identity, "hypervisor_hostname": host, "service": service},
        **{"state": "up", "status": status},
    }


OLD = {
    "placement": {
        "providers": [
            provider("p1", "cmp01"),
            provider("p2", "cmp02"),
            provider("c1", "cmp01_gpu", "p1"),
        ],
        "traits": [],
        "resource_classes": [],
    },
    "compute": {
        "hypervisors": [
            node("p1", "cmp01"),
            node("p2", "cmp02"),
            # Ironic's.
            *(node(each, "cmp03", "disabled", "DIMM") for each in ("p3", "p4")),
        ],
        "services": [
            {
                "id": f"s{number}",
                "binary": "nova-compute",
                "host": f"cmp0{number}",
                "status": "enabled",
            }
            for number in (1, 2)
        ],
        "aggregates": [
            {
                "id": 1,
                "uuid": "a1",
                "name": "east",
                "hosts": ["cmp01", "cmp02"],
                "metadata": {"availability_zone": "az-east"},
            }
        ],
        "flavors": [
            {
                "id": "f1",
                "name": "small",
                "vcpus": 1,
                "ram": 512,
                "disk": 1,
                "extra_specs": {"hw:cpu_policy": "shared"},
            }
        ],
        "servers": [
            {
                **{"id": "v1", "name": "web", "status": "ACTIVE", HOST: "cmp01"},
                "flavor": {"original_name": "small", "vcpus": 1},
            },
        ],
        "server_groups": [
            {
                **{"id": "g1", "name": "ha", "policy": "affinity", "rules": {}},
                "members": ["v1"],
            },
        ],
    },
    "image": {"images": [{"id": "i1", "name": "raw", "hw_disk_bus": "virtio"}]},
    "identity": {"projects": [{"id": "t1", "name": "acme"}]},
    "answers": {
        "compute /flavors/f1/os-flavor-access": {"flavor_access": []},
        "image /images/i1/members": {"members": []},
    },
    "missing": {},
    "settings": {},
}


def leave(new):
    """Take a host from an aggregate, in Nova and in Placement."""
    of(new, "compute", "aggregates", "a1", "hosts").remove("cmp02")
    of(new, "placement", "providers", "p2")["aggregates"].clear()


def found_aggregate(new):
    """Create an aggregate with both hosts, in Nova and in Placement."""
    body = {"id": 5, "uuid": "a5", "name": "gold", "metadata": {"trait:X": "required"}}
    new["compute"]["aggregates"].append({**body, "hosts": ["cmp01", "cmp02"]})
    for each in ("p1", "p2"):
        of(new, "placement", "providers", each, "aggregates").append("a5")


def drop_aggregate(new):
    """Delete an aggregate, in Nova and in Placement."""
    new["compute"]["aggregates"].clear()
    for each in new["placement"]["providers"]:
        each["aggregates"] = []


def of(document, *keys):
    """The part at some keys; an ID chooses from a list."""
    for key in keys:
        if isinstance(document, list):
            ids = [each.get("uuid") or each["id"] for each in document]
            document = document[ids.index(key)]
        else:
            document = document[key]
    return document


def ram(key, value):
    def change(new):
        path = ("placement", "providers", "p1", "inventories", "MEMORY_MB")
        of(new, *path)[key] = value

    return change


def disable(new):
    of(new, "compute", "services", "s1")["status"] = "disabled"
    of(new, "compute", "hypervisors", "p1")["status"] = "disabled"
    of(new, "compute", "hypervisors", "p1", "service")["disabled_reason"] = "DIMM"
    of(new, "placement", "providers", "p1", "traits").append("COMPUTE_STATUS_DISABLED")


def share(new):
    member = {"member_id": "t1", "status": "accepted"}
    new["answers"]["image /images/i1/members"] = {"members": [member]}


def delete(new):
    """Delete a server, which leaves its group."""
    new["compute"]["servers"].clear()
    of(new, "compute", "server_groups", "g1", "members").clear()


def give(new):
    key = "compute /flavors/f1/os-flavor-access"
    new["answers"][key] = {"flavor_access": [{"tenant_id": "t1"}]}


#: What was changed: kind, name and text of the change, hosts, and whether it is daily.
CHANGES = {
    "trait lost": (
        lambda new: of(new, "placement", "providers", "p1", "traits").remove(
            "CUSTOM_SSD"
        ),
        ("host", "cmp01", "- CUSTOM_SSD", {"cmp01"}, False),
    ),
    "trait of a child": (
        lambda new: of(new, "placement", "providers", "c1", "traits").append(
            "CUSTOM_GPU"
        ),
        ("provider", "cmp01_gpu", "+ CUSTOM_GPU", {"cmp01"}, False),
    ),
    "reserved": (
        ram("reserved", 3600),
        ("host", "cmp01", "reserved RAM 512 -> 3600", {"cmp01"}, False),
    ),
    "ratio": (
        ram("allocation_ratio", 1.5),
        ("host", "cmp01", "ratio RAM 1.0 -> 1.5", {"cmp01"}, False),
    ),
    "use": (
        ram("used", 4096),
        ("host", "cmp01", "used RAM 0 -> 4096", {"cmp01"}, True),
    ),
    "class lost": (
        lambda new: of(new, "placement", "providers", "p1")["inventories"].clear(),
        ("host", "cmp01", "- RAM", {"cmp01"}, False),
    ),
    "mirror": (
        lambda new: of(new, "placement", "providers", "p2")["aggregates"].clear(),
        ("host", "cmp02", "- east in Placement", {"cmp02"}, False),
    ),
    "host gone": (
        lambda new: new["placement"]["providers"].pop(1),
        ("host", "cmp02", "is gone", {"cmp02"}, False),
    ),
    "host new": (
        lambda new: new["placement"]["providers"].append(provider("p9", "cmp09")),
        ("provider", "cmp09", "is new", set(), False),
    ),
    "disabled": (
        disable,
        ("host", "cmp01", 'disabled "DIMM"', {"cmp01"}, False),
    ),
    "host gone in both": (
        lambda new: [
            new["placement"]["providers"].pop(1),
            new["compute"]["hypervisors"].pop(1),
        ],
        ("host", "cmp02", "is gone", {"cmp02"}, False),
    ),
    "host gone in Nova": (
        lambda new: new["compute"]["hypervisors"].pop(1),
        ("host", "cmp02", "is gone in Nova", {"cmp02"}, False),
    ),
    "hypervisor": (
        lambda new: of(new, "compute", "hypervisors", "p2").update(
            hypervisor_type="lxc"
        ),
        ("host", "cmp02", "hypervisor_type: QEMU -> lxc", {"cmp02"}, False),
    ),
    "CPU": (
        lambda new: of(new, "compute", "hypervisors", "p1", "cpu_info").update(
            features=["x", "avx"]
        ),
        ("host", "cmp01", "CPU + avx", {"cmp01"}, False),
    ),
    "name of a provider": (
        lambda new: of(new, "placement", "providers", "c1").update(name="cmp01_card"),
        ("provider", "cmp01_card", "name: cmp01_gpu -> cmp01_card", {"cmp01"}, False),
    ),
    "another reason": (
        lambda new: of(new, "compute", "hypervisors", "p3", "service").update(
            disabled_reason="PSU"
        ),
        ("host", "cmp03", 'disabled "DIMM" -> disabled "PSU"', {"cmp03"}, False),
    ),
    "nodes of one service": (
        lambda new: [
            of(new, "compute", "hypervisors", each).update(state="down")
            for each in ("p3", "p4")
        ],
        ("host", "cmp03", "nova-compute is down", {"cmp03"}, False),
    ),
    "disabled, and Placement was not told": (
        lambda new: of(new, "compute", "hypervisors", "p2").update(status="disabled"),
        ("host", "cmp02", "disabled", {"cmp02"}, False),
    ),
    "down": (
        lambda new: of(new, "compute", "hypervisors", "p2").update(state="down"),
        ("host", "cmp02", "nova-compute is down", {"cmp02"}, False),
    ),
    "member": (
        lambda new: of(new, "compute", "aggregates", "a1", "hosts").remove("cmp02"),
        ("aggregate", "east", "- cmp02", {"cmp02"}, False),
    ),
    "member, mirrored": (
        leave,
        ("aggregate", "east", "- cmp02", {"cmp02"}, False),
    ),
    "metadata": (
        lambda new: of(new, "compute", "aggregates", "a1", "metadata").update(ssd="1"),
        ("aggregate", "east", "+ ssd=1", {"cmp01", "cmp02"}, False),
    ),
    "aggregate gone": (
        lambda new: new["compute"]["aggregates"].clear(),
        ("aggregate", "east", "is gone", {"cmp01", "cmp02"}, False),
    ),
    "aggregate gone in both": (
        drop_aggregate,
        ("aggregate", "east", "is gone", {"cmp01", "cmp02"}, False),
    ),
    "aggregate new in both": (
        found_aggregate,
        ("aggregate", "gold", "is new", {"cmp01", "cmp02"}, False),
    ),
    "spec": (
        lambda new: of(new, "compute", "flavors", "f1", "extra_specs").update(
            {"hw:cpu_policy": "dedicated"}
        ),
        ("flavor", "small", "hw:cpu_policy: shared -> dedicated", set(), False),
    ),
    "size": (
        lambda new: of(new, "compute", "flavors", "f1").update(ram=1024),
        ("flavor", "small", "ram: 512 -> 1024", set(), False),
    ),
    "access": (
        give,
        ("flavor", "small", "+ project acme", set(), False),
    ),
    "image shared": (
        share,
        ("image", "raw", "+ project acme (accepted)", set(), False),
    ),
    "property": (
        lambda new: of(new, "image", "images", "i1").pop("hw_disk_bus"),
        ("image", "raw", "- hw_disk_bus=virtio", set(), False),
    ),
    "group": (
        lambda new: of(new, "compute", "server_groups", "g1").update(policy="soft"),
        ("server group", "ha", "policy: affinity -> soft", set(), False),
    ),
    "name": (
        lambda new: new["placement"]["traits"].append("CUSTOM_NEW"),
        ("trait", "CUSTOM_NEW", "is new", set(), False),
    ),
    "renamed": (
        lambda new: of(new, "compute", "aggregates", "a1").update(name="west"),
        ("aggregate", "west", "name: east -> west", {"cmp01", "cmp02"}, False),
    ),
    "server moved": (
        lambda new: of(new, "compute", "servers", "v1").update({HOST: "cmp02"}),
        ("server", "web", "cmp01 -> cmp02", {"cmp01", "cmp02"}, True),
    ),
    "server resized": (
        lambda new: of(new, "compute", "servers", "v1").update(
            flavor={"original_name": "large", "vcpus": 4}
        ),
        ("server", "web", "flavor small -> large", {"cmp01"}, True),
    ),
    "server gone": (
        delete,
        ("server", "web", "is gone", {"cmp01"}, True),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_found_alone_and_can_be_made(change):
    make, (kind, name, text, hosts, is_daily) = CHANGES[change]
    new = copy.deepcopy(OLD)
    make(new)
    original, kept = copy.deepcopy((OLD, new))
    (found,) = difference(OLD, new)
    assert (found.kind, found.name, found.text) == (kind, name, text)
    assert (found.hosts, found.is_daily) == (hosts, is_daily)
    assert difference(applied(OLD, [found]), new) == ()
    assert (OLD, new) == (original, kept)


def test_all_changes_at_once_are_found_and_made():
    new = copy.deepcopy(OLD)
    apart = {"gone", "lost", "member", "mirror", "renamed", "resized"}
    made = [key for key in CHANGES if not apart & {*key.split()}]
    for key in made:
        CHANGES[key][0](new)
    found = difference(OLD, new)
    assert {(each.kind, each.text) for each in found} == {
        (kind, text) for kind, _, text, *_ in (CHANGES[key][1] for key in made)
    }
    assert difference(applied(OLD, found), new) == ()


def rename_zone(new):
    of(new, "compute", "aggregates", "a1", "metadata")["availability_zone"] = "az-far"


def disable_all(new):
    for host in new["compute"]["hypervisors"]:
        host["status"] = "disabled"


@pytest.mark.parametrize(
    ("change", "zones"),
    [
        (rename_zone, {"az-far": True}),
        (drop_aggregate, {}),
        (disable, {"az-east": True}),
        (disable_all, {"az-east": False}),
    ],
)
def test_zones_change_with_their_aggregates_and_hosts(change, zones):
    """Another zone, which Nova lists for hosts without an aggregate, stays."""
    old = copy.deepcopy(OLD)
    old["compute"]["availabilityZoneInfo"] = [
        {"zoneName": name, "zoneState": {"available": True}, "hosts": None}
        for name in ("az-east", "nova")
    ]
    new = copy.deepcopy(old)
    change(new)
    made = applied(old, difference(old, new))
    found = made["compute"]["availabilityZoneInfo"]
    listed = {each["zoneName"]: each["zoneState"]["available"] for each in found}
    assert listed == {"nova": True, **zones}


def test_each_project_is_a_change_of_its_own():
    new = copy.deepcopy(OLD)
    key = "compute /flavors/f1/os-flavor-access"
    entries = [{"tenant_id": "t1"}, {"tenant_id": "t2"}]
    new["answers"][key] = {"flavor_access": entries}
    first, second = difference(OLD, new)
    assert (first.text, second.text) == ("+ project acme", "+ project t2")
    with_first = applied(OLD, [first])
    assert with_first["answers"][key] == {"flavor_access": entries[:1]}
    (left,) = difference(with_first, new)
    assert left.text == "+ project t2"


def test_clouds_with_the_same_names_do_not_differ_by_uuids():
    uuids = {
        "p1": "4e8e5957-649f-477b-9e5b-f1f75b21c03c",
        "a1": "9bfdcbde-b0f6-4f0d-8d4e-3f4a6a0b7a41",
        "t1": "5d0b9a0cc0f54f1b8e0c0a3d6a6a8c5e",
    }
    text = json.dumps(OLD)
    for short, uuid in uuids.items():
        text = text.replace(f'"{short}"', f'"{uuid}"')
    other = json.loads(text)
    assert difference(OLD, other)
    of(other, "placement", "providers", uuids["p1"], "traits").append("CUSTOM_Q")
    (found,) = difference(OLD, by_name(OLD, other))
    assert (found.name, found.text) == ("cmp01", "+ CUSTOM_Q")


def test_flavors_of_another_cloud_are_compared_by_name_whatever_their_ids():
    """Their short numbers are another flavor's there; the size of m2 differs."""
    access = "compute /flavors/{}/os-flavor-access"
    old, new = copy.deepcopy(OLD), copy.deepcopy(OLD)
    of_acme = {"flavor_access": [{"tenant_id": "t1"}]}
    for document, ids in (
        (old, {"m1": "1", "m2": "2", "m3": "3", "gone": "4"}),
        (new, {"m2": "1", "m3": "2", "came": "3", "m1": "4"}),
    ):
        body = document["compute"]["flavors"][0]
        document["compute"]["flavors"] = [
            {**body, "id": identity, "name": name} for name, identity in ids.items()
        ]
        document["answers"] = {access.format(ids["m3"]): of_acme}
        document["answers"][access.format(ids["m1"])] = {"flavor_access": []}
    of(new, "compute", "flavors", "1")["vcpus"] = 6
    before = copy.deepcopy(new)
    found = difference(old, by_name(old, new))
    assert {(each.name, each.text) for each in found} == {
        ("m2", "vcpus: 1 -> 6"),
        ("gone", "is gone"),
        ("came", "is new"),
    }
    assert len(found) == 3
    assert new == before


def test_another_service_of_a_host_is_no_compute_service():
    new = copy.deepcopy(OLD)
    conductor = {"id": "s9", "binary": "nova-conductor", "host": "cmp01"}
    old = copy.deepcopy(OLD)
    old["compute"]["services"].append({**conductor, "status": "enabled"})
    new["compute"]["services"].append({**conductor, "status": "disabled"})
    assert difference(old, new) == ()


def test_what_one_could_not_read_is_not_compared():
    new = copy.deepcopy(OLD)
    del new["image"]
    new["missing"] = {"image /images": {"error": "Forbidden"}}
    assert difference(OLD, new) == ()
    assert not_compared(OLD, new) == ("image /images",)


def test_a_service_that_the_cloud_lacks_is_not_missing():
    lacks = {"accelerator /device_profiles": {"error": "NotInCatalog"}}
    old, new = ({**OLD, "missing": lacks} for _ in range(2))
    assert not_compared(old, new) == ()
