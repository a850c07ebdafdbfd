"""Answers about the sample cloud, changed in one thing that decides on them."""

from __future__ import annotations

import copy
import json
import re
import uuid

import pytest

from osc_traitsched.commands import base
from tests.functional import shell
from tests.unit.conftest import WHOLE

BOUND = ("acme-1", "db-1", "win-1")
MAY_BE_LOST = {
    "--lose cmp04": "N+1: perhaps. cmp04 (at most 1 server may stay).",
    "--without cmp04": "cmp04 may be lost. ",
}


def server(document, name):
    return next(s for s in document["compute"]["servers"] if s["name"] == name)


# A server that waits to be unshelved.


def test_a_trait_names_shelved_servers_that_need_it_and_no_failed_ones(asked):
    def change(document):
        document["placement"]["traits"].append("CUSTOM_DEAD")
        places = ("OS-EXT-SRV-ATTR:host", "OS-EXT-SRV-ATTR:hypervisor_hostname")
        for name, status in (("web-1", "SHELVED_OFFLOADED"), ("web-2", "ERROR")):
            body = server(document, name)
            body["flavor"]["extra_specs"] = {"trait:CUSTOM_DEAD": "required"}
            body.update({"status": status, **dict.fromkeys(places)})

    said = asked(change, "trait show CUSTOM_DEAD").out.splitlines()
    assert said[1] == "CUSTOM_DEAD: on none of 8 hosts; required by 1 server."
    assert said[2].split() == ["servers", "web-1"]


# Hosts that can be lost, perhaps.


def test_a_cloud_without_servers_of_one_host_can_lose_any_host(asked):
    def change(document):
        servers = document["compute"]["servers"]
        servers[:] = [each for each in servers if each["name"] not in BOUND]

    done = asked(change, "capacity --lose any-host")
    assert done.code == 0
    assert done.out.splitlines()[1] == "N+1: yes, any of 8 hosts can be lost."


def test_no_host_at_all_is_not_bare_metal(asked):
    def change(document):
        document["compute"].update(hypervisors=[], servers=[])
        document["placement"]["providers"] = []
        for aggregate in document["compute"]["aggregates"]:
            aggregate["hosts"] = []

    done = asked(change, "capacity m1.large")
    assert done.out.splitlines()[2] == (
        "never: m1.large needs 80 GB of disk, no host has any"
    )


def test_an_aggregate_with_a_comma_in_its_name_can_be_lost(asked):
    def change(document):
        document["compute"]["aggregates"][0]["name"] = "row1,2"

    done = asked(change, "capacity --lose row1,2")
    assert done.out.splitlines()[1].startswith("N+1: ")


@pytest.mark.parametrize("command", ["--lose cmp04", "--without cmp04"])
def test_what_only_a_filter_knows_leaves_the_loss_open(asked, command):
    def change(document):
        flavor = server(document, "mail-1")["flavor"]
        flavor["extra_specs"] = {"hw:numa_nodes": "1"}
        for node in document["compute"]["hypervisors"]:
            node["hypervisor_type"] = "QEMU"

    done = asked(change, f"capacity {command} --enable-filter NUMATopologyFilter")
    assert done.code == 8
    assert done.out.splitlines()[1].startswith(MAY_BE_LOST[command])


def all_but_windows(*names):
    """Only these servers, no settings, and an aggregate of all hosts open to them."""

    def change(document):
        nothing = {"named": {}, "lines": {}, "files": {}, "options": []}
        document["settings"] = {**nothing, "place": None}
        compute = document["compute"]
        hosts = [f"cmp0{number}" for number in range(6)]
        identity = str(uuid.uuid5(uuid.NAMESPACE_DNS, "plain"))
        body = {**compute["aggregates"][0], "id": 77, "uuid": identity}
        compute["aggregates"].append(
            {**body, "name": "plain", "hosts": hosts, "metadata": {}}
        )
        servers = compute["servers"]
        servers[:] = [each for each in servers if each["name"] in names]

    return change


ISOLATION = "scheduler.enable_isolated_aggregate_filtering"


def test_a_server_that_surely_stays_decides_beside_one_that_may(asked):
    """Only cmp00 to cmp03 have the SSDs that db-1 requires."""
    change = all_but_windows("db-1", "mail-1", "app-1")
    found = asked(change, "capacity --lose plain")
    assert found.code == 3
    line = "N+1: no. aggregate plain (1 to 3 servers stay) can't be lost."
    assert found.out.splitlines()[1] == line
    without = asked(change, "capacity --without cmp0[0-5]")
    assert without.code == 3
    lost = "can't be lost: 1 of their 3 servers finds no host (db-1). "
    assert lost in without.out.splitlines()[1]
    drained = asked(change, "host drain --aggregate plain")
    assert drained.code == 3


@pytest.mark.parametrize(
    ("names", "options", "code", "answer"),
    [
        (["mail-1", "app-1"], "", 8, "perhaps. aggregate plain (at most 2 servers may"),
        (["mail-1"], f" --set {ISOLATION}=false", 0, "yes, aggregate plain can be"),
        (["mail-1"], f" --set {ISOLATION}=true", 3, "no. aggregate plain (1 server st"),
    ],
)
def test_isolated_hosts_that_an_unknown_option_may_open_are_no_sure_loss(
    asked, names, options, code, answer
):
    change = all_but_windows(*names)
    found = asked(change, f"capacity --lose plain{options}")
    assert found.code == code
    assert found.out.splitlines()[1].startswith(f"N+1: {answer}")
    drained = asked(change, f"host drain --aggregate plain{options}").out
    told = "depends on nova.conf: 2 of 8 hosts if isolation is off, 0 of 8 if it is on."
    assert (told in drained) is (not options)


# Moves of group members that are not confirmed: web-1 is on cmp00, web-2 on cmp02.


def moving(status, source, **more):
    """web-2 has come to cmp02 from another host."""

    def change(document):
        body = {
            "id": 1,
            "instance_uuid": server(document, "web-2")["id"],
            "status": status,
            "migration_type": "resize",
            "source_compute": source,
            "dest_compute": "cmp02",
            **more,
        }
        document["compute"]["migrations"] = [body]

    return change


CONFIRM = (
    "Confirm or revert the resize of web-2 first: openstack server resize confirm web-2"
)
OFF = "--set workarounds.disable_group_policy_check_upcall=true"
MOVING = "until that move is confirmed"


@pytest.mark.parametrize("status", ["finished", "accepted", "migrating", "reverting"])
@pytest.mark.parametrize(
    "command",
    [
        "explain m1.small ubuntu-24.04 --server-group web --on-host cmp03",
        "explain m1.small ubuntu-24.04 --server-group web --availability-zone "
        "az-west:cmp03",
        "server destinations web-1",
        "server destinations web-1 --for migration",
        "explain m1.small ubuntu-24.04 --server-group web --count 2",
        "host drain cmp00",
    ],
)
def test_no_host_takes_a_member_while_another_may_come_back(asked, command, status):
    found = asked(moving(status, "cmp03"), command)
    assert found.code == 3, found
    assert (CONFIRM in found.out) is (status == "finished")
    ends = "Wait until the move of web-2 has ended: openstack server migration list"
    assert (ends in found.out) is (status != "finished")


@pytest.mark.parametrize("status", ["confirmed", "reverted", "error", "done"])
def test_moves_that_are_over_do_not_count(asked, status):
    found = asked(moving(status, "cmp03"), "server destinations web-1")
    assert (found.code, "cmp03" in found.out) == (0, True)
    assert CONFIRM not in found.out


def test_moves_do_not_count_if_nova_compute_does_not_check_the_group(asked):
    found = asked(moving("finished", "cmp03"), f"server destinations web-1 {OFF}")
    assert found.code == 0
    assert "Best first: cmp03\n" in found.out


def test_a_live_migration_is_told_to_name_a_host_where_others_fail_for_good(asked):
    def change(document):
        moving("finished", "cmp03")(document)
        for host in document["compute"]["services"]:
            if host["host"] == "cmp04":
                host["status"] = "enabled"
        for host in document["compute"]["hypervisors"]:
            if host["hypervisor_hostname"] == "cmp04":
                host["status"] = "enabled"
        for provider in document["placement"]["providers"]:
            if provider["name"] == "cmp04":
                provider["traits"].remove("COMPUTE_STATUS_DISABLED")

    sentence = "Name a host: if Nova picks cmp03, the server goes to ERROR."
    found = asked(change, "server destinations web-1")
    assert (found.code, sentence in found.out) == (0, True)
    cold = asked(change, "server destinations web-1 --for migration")
    assert (cold.code, sentence in cold.out) == (0, False)
    named = asked(change, "server destinations web-1 --on-host cmp04")
    assert (named.code, sentence in named.out) == (0, False)


def test_moves_that_may_not_be_listed_leave_the_answer_open(asked):
    def change(document):
        del document["compute"]["migrations"]

    found = asked(change, "server destinations web-1 -f json")
    assert found.code == 8
    hosts = {each["host"]: each for each in found.json["hosts"]}
    assert "migrations for anti-affinity" in hosts["cmp03"]["reasons"][0]
    assert asked(change, "explain m1.small ubuntu-24.04").code == 0
    soft = re.sub("web-1", "mail-1", "server destinations web-1")
    assert asked(change, soft).code == 0


# Resizes to smaller disks: the flavors m1.small, m1.medium and m1.large.


def resized(*moves, **image):
    """app-1 (m1.large) was moved; its image was changed."""

    def change(document):
        kinds = dict(each.split("/") for each in moves)
        document["compute"]["migrations"] = [
            {
                "id": number,
                "instance_uuid": server(document, "app-1")["id"],
                "migration_type": kind,
                "status": status,
                "source_compute": "cmp00",
                "dest_compute": "cmp02",
            }
            for number, (kind, status) in enumerate(kinds.items(), 1)
        ]
        for each in document["image"]["images"]:
            each.update(image)

    return change


LATER = "2031-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("change", "flavor", "code", "words"),
    [
        (resized(), "m1.small", 3, "was created with 80 GB, and the flavor has 20 GB"),
        (resized("migration/confirmed"), "m1.small", 3, "was created with 80 GB"),
        (resized("resize/reverted"), "m1.small", 3, "was created with 80 GB"),
        (resized("resize/confirmed"), "m1.small", 8, "was resized before"),
        (resized("resize/confirmed"), "r1.huge", 3, "can ever take it"),
        # The image's own minimum is that of the time at which the server was created.
        (resized(min_ram=60000), "m1.small", 3, "was created with 80 GB"),
    ],
)
def test_a_resize_to_a_smaller_disk(asked, change, flavor, code, words):
    command = f"server destinations app-1 --for resize --flavor {flavor}"
    found = asked(change, command)
    assert (found.code, words in found.out) == (code, True), found


def test_a_changed_image_leaves_less_ram_open(asked):
    def change(document):
        resized(updated_at=LATER)(document)
        for flavor in document["compute"]["flavors"]:
            flavor["disk"] = 80

    command = "server destinations app-1 --for resize --flavor m1.small"
    found = asked(change, command)
    assert (found.code, "Its image was changed since" in found.out) == (8, True)
    assert "unless nova-api rejects the flavor" in found.out
    hosts = [
        each["answer"] for each in asked(change, f"{command} -f json").json["hosts"]
    ]
    assert set(hosts) == {"no", "unknown"}


# Ports: their bandwidth, and what their vnic types leave to Neutron.

GIGABIT = 1_000_000
EGRESS, INGRESS = "NET_BW_EGR_KILOBIT_PER_SEC", "NET_BW_IGR_KILOBIT_PER_SEC"
PHYSNET, NORMAL = "CUSTOM_PHYSNET_DATA", "CUSTOM_VNIC_TYPE_NORMAL"
NIC = {"total": 10 * GIGABIT, "reserved": 0, "used": 0, "allocation_ratio": 1.0}
UNITS = {"min_unit": 1, "max_unit": 10 * GIGABIT, "step_size": 1}


def port(name, egress=0, vnic_type="normal", server=""):
    """A port with a minimum bandwidth in GBit/s."""
    request = None
    if egress:
        group = {
            "id": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"group {name}")),
            "required": [PHYSNET, NORMAL],
            "resources": {EGRESS: egress * GIGABIT},
        }
        request = {"request_groups": [group], "same_subtree": [group["id"]]}
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
        "name": name,
        "network_id": "net",
        "fixed_ips": [{"subnet_id": "sub"}],
        "binding:vnic_type": vnic_type,
        "resource_request": request,
        "project_id": None,
        "device_id": server,
    }


def wired(*ports, nics=("cmp02", "cmp03")):
    """Some hosts have a NIC of 10 GBit/s."""

    def change(document):
        network = {"id": "net", "name": "data", "subnets": ["sub"], "shared": True}
        document["network"] = {
            "networks": [network],
            "ports": [dict(each) for each in ports],
            "subnets": [{"id": "sub", "network_id": "net", "segment_id": None}],
            "rbac_policies": [],
        }
        placement = document["placement"]
        placement["traits"] += [PHYSNET, NORMAL]
        placement["resource_classes"] += [EGRESS, INGRESS]
        for root in [p for p in placement["providers"] if p["name"] in nics]:
            nic = {
                **root,
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"nic {root['name']}")),
                "name": f"{root['name']}:Open vSwitch agent:br-data",
                "parent": root["uuid"],
                "traits": [PHYSNET, NORMAL],
                "aggregates": [],
                "inventories": {EGRESS: {**NIC, **UNITS}},
            }
            placement["providers"].append(nic)

    return change


@pytest.mark.parametrize(
    ("ports", "code", "words"),
    [
        (["p1"], 0, "2 of 8 hosts can take it"),
        (["p1", "p3"], 0, "2 of 8 hosts can take it"),
        (
            ["p1", "p2"],
            3,
            "cmp02, cmp03 are short of egress bandwidth: 10000000 kbit/s free, "
            "port p1, port p2 need 12000000",
        ),
        (
            ["p1", "p3", "p4"],
            3,
            "10000000 kbit/s free, port p1, port p3, port p4 need 11000000",
        ),
    ],
)
def test_ports_that_fit_alone_are_short_of_bandwidth_together(
    asked, ports, code, words
):
    every = wired(port("p1", 6), port("p2", 6), port("p3", 4), port("p4", 1))
    named = " ".join(f"--port {name}" for name in ports)
    found = asked(every, f"explain m1.small ubuntu-24.04 {named}")
    assert (found.code, words in found.out) == (code, True), found.out
    assert "lack trait" not in found.out.partition("cmp00")[0]


def test_a_host_that_is_short_of_bandwidth_does_not_lack_the_network(asked):
    every = wired(port("p5", 7), port("p6", 8), nics=("cmp04", "cmp05", "cmp07"))

    def change(document):
        every(document)
        for each in document["placement"]["providers"]:
            if each["name"].startswith("cmp07:"):
                each["inventories"][EGRESS]["used"] = 5 * GIGABIT
            if each["name"] == "cmp05":
                each["traits"] = [*each["traits"], "COMPUTE_STATUS_DISABLED"]

    found = asked(change, "explain m1.small ubuntu-24.04 --port p5 --port p6 --long")
    nearest = found.out.partition("Nearest hosts:")[2].partition("Where hosts")[0]
    short = "short of egress bandwidth: {}000000 kbit/s free, port p5, port p6 need"
    assert short.format(10) in nearest, found.out
    assert short.format(5) in nearest, found.out
    for host in ("cmp04", "cmp05", "cmp07"):
        _, _, reasons = nearest.partition(f"  {host}")
        assert "trait" not in reasons.partition("\n  cmp")[0], found.out


@pytest.mark.parametrize(
    ("vnic_type", "code"),
    [
        ("normal", 0),
        *dict.fromkeys(
            ["baremetal", "direct", "macvtap", "vdpa", "smart-nic"], 8
        ).items(),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        "explain m1.small ubuntu-24.04 --port odd",
        "explain m1.small ubuntu-24.04 --port odd --availability-zone az-west:cmp03",
        "server destinations app-1 --for migration",
    ],
)
def test_what_neutron_binds_is_not_sure(asked, vnic_type, code, command):
    app = server(WHOLE, "app-1")["id"]
    of_server = app if "app-1" in command else ""
    change = wired(port("odd", vnic_type=vnic_type, server=of_server))
    found = asked(change, command)
    assert found.code == code, found
    assert ("binding:vnic_type" in found.out) is (code == 8)


# What is known of a failed build: db-2 (ssd.medium) found no host, all were full.

ROOM = {"VCPU": 0, "MEMORY_MB": 0, "DISK_GB": 0}


def emptied(document, hosts=("cmp00", "cmp01")):
    """Somebody made room on hosts, and nothing shows it."""
    for provider in document["placement"]["providers"]:
        if provider["name"] in hosts:
            for each in provider["inventories"].values():
                each["used"] = 0


def mistyped(document, name="CUSTOM_SDD"):
    """The flavor was corrected after the build."""
    copy_of_flavor = server(document, "db-2")["flavor"]
    specs = {**copy_of_flavor["extra_specs"], f"trait:{name}": "required"}
    copy_of_flavor["extra_specs"] = specs


def test_a_failure_that_nothing_explains_is_never_a_sure_yes(asked):
    found = asked(emptied, "server explain db-2")
    assert found.code == 8
    assert "Now 2 of 8 hosts may take it; why it failed is not known." in found.out
    assert "Cause unknown: fixed since" in found.out
    quiet = asked(emptied, "server explain db-2 -f json")
    assert quiet.json["summary"].endswith("why it failed is not known.")


@pytest.mark.parametrize(
    ("hosts", "code"),
    [
        (("cmp00",), 0),
        # No server left cmp01: its room may have been there before.
        (("cmp00", "cmp01"), 8),
    ],
)
def test_servers_that_left_explain_the_failure_on_their_hosts(asked, hosts, code):
    def change(document):
        emptied(document, hosts)
        move = moving("confirmed", "cmp00", updated_at="2026-11-26T05:00:00Z")
        move(document)

    found = asked(change, "server explain db-2")
    assert (found.code, "1 server moved (cmp00 to cmp02)" in found.out) == (code, True)


def test_a_snapshot_without_a_host_explains_the_failure(asked, tmp_path):
    path = tmp_path / "then.json"
    path.write_text(json.dumps(WHOLE))
    found = asked(emptied, f"server explain db-2 --since {path}")
    assert (found.code, "why it failed is not known" in found.out) == (0, False)


@pytest.mark.parametrize("name", ["CUSTOM_SDD", "CUSTOM_WINDOWS"])
def test_after_a_correction_of_the_flavor_a_new_server_is_judged(asked, name):
    def change(document):
        emptied(document)
        mistyped(document, name)

    found = asked(change, "server explain db-2")
    assert found.code == 0, found.out
    first, kept, hosts, *_ = found.out.splitlines()[1:]
    again = "A new server: 2 of 8 hosts can take it. Delete it and create it again."
    assert first.endswith(f"It would fail again. {again}")
    copies = f"with trait:{name}=required; it has changed since."
    assert kept == f"The server keeps its copy of flavor ssd.medium, {copies}"
    assert hosts.startswith("Candidates: cmp00, cmp01")
    assert name not in "".join(found.out.splitlines()[3:])


def test_after_a_correction_that_does_not_help_a_new_server_fails_as_well(asked):
    found = asked(mistyped, "server explain db-2")
    assert found.code == 3
    assert "A new server: no host can take it now: 0 of 8." in found.out
    assert "Delete it" not in found.out


def test_after_a_correction_of_the_image_a_new_server_is_judged(asked):
    def change(document):
        emptied(document)
        properties = {"hw_architecture": "aarch64", "hw_machine_type": "virt"}
        server(document, "db-2")["image"]["properties"] = properties

    found = asked(change, "server explain db-2")
    assert found.code == 0, found.out
    assert "copy of its image, with hw_architecture=aarch64" in found.out


def test_a_copy_that_has_a_host_does_not_explain_the_failure(asked):
    def change(document):
        emptied(document)
        server(document, "db-2")["flavor"]["ram"] = 4095

    found = asked(change, "server explain db-2")
    assert (found.code, "why it failed is not known" in found.out) == (8, True)


def test_the_copy_of_a_failed_rebuild_is_not_blamed_on_the_image(asked):
    def change(document):
        body = server(document, "app-1")
        body["image"]["properties"] = {"hw_architecture": "aarch64"}
        begun = {
            "action": "rebuild",
            "request_id": "req-r",
            "start_time": "2026-11-26T05:00:00.000000",
            "message": "Error",
        }
        path = f"compute /servers/{body['id']}/os-instance-actions"
        document["answers"][path] = {"instanceActions": [begun]}
        one = {"instanceAction": {**begun, "events": []}}
        document["answers"][f"{path}/req-r"] = one

    found = asked(change, "server destinations app-1 --for migration")
    assert "image ubuntu-24.04 (copy left by the failed rebuild)" in found.out
    assert "A rebuild with its own image clears that." in found.out


# Providers that no answer on many hosts shows: Ironic's nodes, and shared pools.


def provided(document, name, **inventories):
    """A provider like that of cmp00, in its aggregates; returns its body."""
    body = copy.deepcopy(document["placement"]["providers"][0])
    identity = str(uuid.uuid5(uuid.NAMESPACE_DNS, name))
    units = {"reserved": 0, "min_unit": 1, "step_size": 1, "allocation_ratio": 1.0}
    body.update(uuid=identity, root=identity, name=name)
    body["inventories"] = {
        each: {"total": total, "max_unit": total, "used": 0, **units}
        for each, total in inventories.items()
    }
    document["placement"]["providers"].append(body)
    return body


def metal(flavor, **specs):
    """Three nodes with CUSTOM_RACK3, and a flavor with these resources."""

    def change(document):
        compute = document["compute"]
        document["placement"]["resource_classes"] += ["CUSTOM_RACK3", "CUSTOM_KEYS"]
        for number in range(3):
            node = copy.deepcopy(compute["hypervisors"][0])
            body = provided(document, f"iron{number}", CUSTOM_RACK3=1)
            node.update(
                id=body["uuid"],
                hypervisor_hostname=body["name"],
                hypervisor_type="ironic",
                cpu_info="",
            )
            compute["hypervisors"].append(node)
        wanted = {f"resources:{name}": str(n) for name, n in specs.items()}
        (found,) = (each for each in compute["flavors"] if each["name"] == flavor)
        found["extra_specs"] = wanted

    return change


SIZELESS = {"VCPU": 0, "MEMORY_MB": 0, "DISK_GB": 0}
ZEROS = "resources:VCPU=0, resources:MEMORY_MB=0, resources:DISK_GB=0 on the flavor"


@pytest.mark.parametrize(
    ("specs", "is_for_nodes", "rule"),
    [
        ({"CUSTOM_RACK3": 1}, True, "resources-not-together  flavor m1.small"),
        ({"CUSTOM_KEYS": 1}, False, "resources-no-host  resource class CUSTOM_KEYS"),
        ({"VGPU": 1}, False, "resources-no-host  resource class VGPU"),
        ({"MEM_ENCRYPTION_CONTEXT": 1}, False, "resources-no-host  resource class MEM"),
        (
            {"CUSTOM_KEYS": 1, "CUSTOM_RACK3": 1},
            False,
            "resources-no-host  resource class CUSTOM_KEYS",
        ),
        (
            {"CUSTOM_KEYS": 1, **SIZELESS},
            False,
            "resources-no-host  resource class CUSTOM_KEYS",
        ),
    ],
)
def test_only_flavors_with_a_class_of_bare_metal_are_to_ask_no_sizes(
    asked, specs, is_for_nodes, rule
):
    change = metal("m1.small", **specs)
    explained = asked(change, "explain m1.small ubuntu-24.04")
    assert explained.code == 3
    assert (ZEROS in explained.out) is is_for_nodes
    found = asked(change, "check resources --flavor m1.small")
    assert found.code == 7
    assert f"ERROR  {rule}" in found.out
    zeros = "--property resources:VCPU=0 --property resources:MEMORY_MB=0 --property"
    assert (zeros in found.out) is is_for_nodes
    assert ("iron[0-2]: bare metal has no VCPU" in found.out) is is_for_nodes
    assert "no host has any" in found.out or is_for_nodes


def test_a_flavor_whose_only_hosts_are_bare_metal_says_so(asked):
    def change(document):
        metal("m1.small")(document)
        document["placement"]["traits"].append("CUSTOM_IRON")
        for each in document["placement"]["providers"]:
            each["traits"] += ["CUSTOM_IRON"] * each["name"].startswith("iron")
        flavors = document["compute"]["flavors"]
        (small,) = (each for each in flavors if each["name"] == "m1.small")
        small["extra_specs"] = {"trait:CUSTOM_IRON": "required"}

    said = "20 GB of disk, only bare metal suits it, and has no disk in Placement"
    assert f"never: m1.small needs {said}" in asked(change, "capacity m1.small").out
    assert said in asked(change, "flavor show m1.small").out


def test_a_flavor_of_bare_metal_has_hosts(asked):
    change = metal("m1.small", CUSTOM_RACK3=1, **SIZELESS)
    assert asked(change, "explain m1.small ubuntu-24.04").code == 0
    assert asked(change, "check resources --flavor m1.small").code == 0


def test_a_shared_pool_is_no_host_of_unknown_size(asked):
    """r1.huge needs more RAM than any host has, and no pool gives RAM."""

    def change(document):
        pool = provided(document, "pool", DISK_GB=90000)
        pool["traits"] = ["MISC_SHARES_VIA_AGGREGATE"]

    found = asked(change, "check resources --flavor r1.huge")
    assert found.code == 7
    assert "r1.huge needs 65536 MB on one host; the largest has 32256" in found.out


# A provider that no nova-compute has any more.


GONE = "openstack resource provider {} 2a5a7e0b-9d4f-58f2-9f5c-5c4f0c4f2d11"


@pytest.mark.parametrize(
    ("used", "traits", "told", "command"),
    [
        (0, [], "delete it if the host is gone:", "delete"),
        (3, [], "; allocated from it: 1024 MEMORY_MB, 3 VCPU\n", "show --allocations"),
        (0, ["COMPUTE_NODE"], "; what is allocated from it:", "show --allocations"),
        (
            3,
            ["COMPUTE_NODE"],
            "; allocated from it: 1024 MEMORY_MB, 3 VCPU\n",
            "show --allocations",
        ),
        (0, ["CUSTOM_TOP"], "note the trait CUSTOM_TOP, and delete it if", "delete"),
        (
            0,
            ["CUSTOM_TOP", "COMPUTE_NODE"],
            "its list may be incomplete, so no provider is called orphaned",
            "show --allocations",
        ),
    ],
)
def test_a_provider_without_nova_compute(asked, used, traits, told, command):
    def change(document):
        body = provided(document, "cmp77", VCPU=24, MEMORY_MB=9000)
        body.update(traits=traits, aggregates=[])
        body["uuid"] = body["root"] = GONE.split()[-1]
        body["inventories"]["VCPU"]["used"] = used
        body["inventories"]["MEMORY_MB"]["used"] = 1024 * bool(used)

    found = asked(change, "check mirror")
    assert "WARNING  mirror-no-hypervisor  provider cmp77\n" in found.out
    assert told in found.out
    assert f"    {GONE.format(command)}\n" in found.out
    explained = asked(change, "explain m1.small ubuntu-24.04")
    assert "of 8 hosts can take it" in explained.out


def test_a_provider_of_other_resources_is_only_worth_a_note(asked):
    def change(document):
        provided(document, "addresses", IPV4_ADDRESS=24).update(traits=[])

    assert asked(change, "check mirror").out.count("1 note") == 1


# Long lines, and lines that say nothing new.


def misspelled(document, number=40):
    """Flavors of one misspelling."""
    flavors = document["compute"]["flavors"]
    one = next(each for each in flavors if each["name"] == "ssd.large")
    flavors += ({**one, "id": f"id-{n}", "name": f"ssd-{n}"} for n in range(number))


@pytest.mark.parametrize(
    "command",
    [
        "check",
        "check --long",
        "capacity",
        "host show cmp00",
        "explain m1.large - --long",
    ],
)
def test_text_in_a_pipe_has_at_most_100_columns_and_all_names(
    asked, command, monkeypatch
):
    whole = asked(misspelled, command).out
    assert max(map(len, whole.splitlines())) > 100
    monkeypatch.setattr(shell, "IN_PIPE", base.IN_PIPE)
    found = asked(misspelled, command).out
    _, *rows = found.splitlines()
    rows = [row for row in rows if row.split()[:1] != ["openstack"]]
    # A table is no text; its rows are whole.
    assert all(row[:1] in "+|" for row in rows if len(row) > 100)
    assert found.split() == whole.split()


def test_with_q_the_verdict_is_one_line_in_a_pipe(asked, monkeypatch):
    monkeypatch.setattr(shell, "IN_PIPE", base.IN_PIPE)
    names = " ".join(f"m1.{size}" for size in ("small", "medium", "large"))
    long = f"{names} acme.large win.medium ssd.medium r1.huge ssd.large"
    done = asked(dict, f"flavor show {long} -q")
    assert done.out.count("\n") == 1
    assert len(done.out) > 100


NUMA = "--set filter_scheduler.enabled_filters=NUMATopologyFilter"


@pytest.mark.parametrize(
    ("properties", "is_near"),
    [
        (f"hw:numa_nodes=2 {NUMA}", False),
        (f"hw:numa_nodes=2 {NUMA} --flavor-property trait:CUSTOM_SSD=required", False),
        ("trait:CUSTOM_SSD=required", True),
    ],
)
def test_no_host_is_near_if_a_filter_rejects_every_host(asked, properties, is_near):
    request = f"m1.large ubuntu-24.04 --no-fixes --flavor-property {properties}"
    found = asked(all_full, f"explain {request}").out
    assert "No host can " in found
    assert ("Nearest hosts:" in found) is is_near


def all_full(document):
    for provider in document["placement"]["providers"]:
        memory = provider["inventories"]["MEMORY_MB"]
        memory["used"] = memory["total"] - memory["reserved"]


def test_one_line_says_what_long_shows(asked):
    found = asked(all_full, "server destinations web-1").out.splitlines()
    assert [row for row in found if row.startswith("--long")] == [
        "--long shows conditions, all hosts and assumptions."
    ]


@pytest.mark.parametrize(
    ("peers", "is_like"), [(("cmp01",), True), (("cmp01", "cmp04"), False)]
)
def test_a_host_is_like_its_peers_if_these_are_in_the_same_aggregates(
    asked, peers, is_like
):
    """cmp00 is in no aggregate; cmp01 is in east, cmp04 in west."""

    def change(document):
        nodes = document["compute"]["hypervisors"]
        for each in nodes:
            of_peer = each["service"]["host"] in (*peers, "cmp00")
            vcpus, size = 8 if of_peer else 9, {"memory_mb": 4096, "local_gb": 99}
            each.update(size, vcpus=vcpus, status="enabled", state="up")
        for aggregate in document["compute"]["aggregates"]:
            aggregate["hosts"] = [h for h in aggregate["hosts"] if h != "cmp00"]

    found = asked(change, "host show cmp00").out
    assert "In no zone and no aggregate." in found
    assert ("Like cmp01?" in found) is ("--like" in found) is is_like


# What is in use now is no reason for never.


def filled(**flavor):
    """All RAM is in use, on disabled and isolated hosts, too; m1.large is changed."""

    def change(document):
        for provider in document["placement"]["providers"]:
            memory = provider["inventories"]["MEMORY_MB"]
            memory["used"] = memory["total"] - memory["reserved"]
        bodies = document["compute"]["flavors"]
        next(e for e in bodies if e["name"] == "m1.large").update(flavor)

    return change


@pytest.mark.parametrize(
    ("flavor", "out"),
    [
        ({}, "windows (isolated); cmp04 (disabled); cmp05 (is reserved for other"),
        ({"ram": 30000}, "cmp00, cmp01 (are short of RAM); windows (isolated); cmp04"),
        ({"disk": 700}, "cmp00, cmp01 (are short of disk); windows (isolated); cmp04"),
        ({"vcpus": 99}, "cmp[00-07] (are short of VCPU)\n"),
        (
            {"extra_specs": {"trait:CUSTOM_SSD": "required"}},
            "cmp[02-07] (lack trait CUSTOM_SSD)\n",
        ),
    ],
)
def test_a_flavor_is_never_on_hosts_for_what_lasts(asked, flavor, out):
    found = asked(filled(**flavor), "flavor show m1.large")
    assert f"  not on       {out}" in found.out


def test_an_image_never_boots_for_what_lasts(asked):
    found = asked(filled(), "flavor show m1.large")
    assert "cannot boot  debian-12-arm64 (8 do not support hw_arch" in found.out
    assert found.code == 3


def test_capacity_says_never_for_what_lasts(asked):
    """Half of the hosts have the trait, and the others the disk."""

    def change(document):
        wanted = {"trait:CUSTOM_SSD": "required"}
        filled(disk=700, extra_specs=wanted)(document)
        for provider in document["placement"]["providers"]:
            if "CUSTOM_SSD" not in provider["traits"]:
                provider["inventories"]["DISK_GB"].update(total=900, max_unit=900)

    found = asked(change, "capacity m1.large")
    assert (
        "never: m1.large needs 700 GB of disk, the largest suitable host has 500 GB: "
        "6 lack trait CUSTOM_SSD, 2 are short of disk\n"
    ) in found.out


@pytest.mark.parametrize(("zone", "code"), [("az-nord", 3), ("az-east", 0)])
def test_a_default_zone_without_hosts_is_found_where_explain_says_no(asked, zone, code):
    options = f"--set DEFAULT.default_schedule_zone={zone}"
    explained = asked(dict, f"explain m1.small ubuntu-24.04 {options}")
    found = asked(dict, f"check az {options}")
    assert (explained.code, found.code) == (code, 7 if code else 0)
    assert ("ERROR  az-without-host  option [DEFAULT]" in found.out) is bool(code)


@pytest.mark.parametrize(
    ("options", "ratios", "names"),
    [
        ("--ratio RAM=2", ["ratio MEMORY_MB=2"], []),
        (
            "--ratio east:ram=2 --ratio VCPU=9 --disable-filter ComputeFilter",
            ["ratio east:MEMORY_MB=2", "ratio VCPU=9"],
            ["filter_scheduler.enabled_filters"],
        ),
        (
            "--disable-filter ComputeFilter",
            [],
            ["filter_scheduler.enabled_filters"],
        ),
    ],
)
def test_the_answer_without_ratios_names_them(asked, options, ratios, names):
    command = f"explain m1.large ubuntu-24.04 --no-fixes {options} -f json"
    found = asked(dict, command).json["without_set"]
    assert found["ratios"] == ratios
    assert [each["option"] for each in found["options"]] == names
