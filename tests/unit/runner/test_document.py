"""The runner is told what the API shows, and its answers become values."""

import dataclasses
import json

import pytest

from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.snapshot import NodeReport
from osc_traitsched.core.nova import image, server
from osc_traitsched.core.nova.filter.state import (
    OWN,
    PASSES,
    Fails,
    HostState,
    Raises,
    RequestSpec,
    ServerGroup,
    Unknown,
)
from osc_traitsched.core.nova.own import (
    TOGETHER,
    NovaPythonFails,
    PluginFails,
    PluginName,
    Weighed,
)
from osc_traitsched.core.nova.server import Server
from osc_traitsched.core.nova.weighers import OwnWeigher
from osc_traitsched.runner import document

REPORT = NodeReport(
    vcpus=10,
    vcpus_used=3,
    memory_mb=8192,
    free_ram_mb=-512,
    local_gb=100,
    local_gb_used=40,
    free_disk_gb=60,
    disk_available_least=50,
    running_vms=2,
    current_workload=0,
    hypervisor_type="QEMU",
    hypervisor_version=8002000,
    host_ip="192.0.2.7",
    cpu_info={"arch": "x86_64"},
)
COMPUTE = snapshot.Compute("u1", "cmp1.example", "cmp1", report=REPORT)
SSD = snapshot.Aggregate("7", "a1", "ssd", ("cmp1", "cmp9"), {"ssd": "true"})
HOST = HostState(COMPUTE, (SSD,))
SERVER = Server(
    flavor=server.read({"vcpus": 2, "ram": 512, "disk": 1, "extra_specs": {"a": "b"}}),
    image=image.read({"id": "i1", "hw_disk_bus": "scsi"}, 34),
    aggregates=(SSD,),
    zone="",
    project_id="p1",
    boot_from_volume=False,
    release=34,
)
SPEC = RequestSpec(SERVER, "small", "i1", {"same_host": ("s1", "s2")})


def asked(host=HOST, spec=SPEC, **more):
    """Return what the runner is asked of one host, as it arrives."""
    return json.loads(json.dumps(document.question([host], spec, [], **more)))


def host_with(**more):
    return dataclasses.replace(HOST, compute=dataclasses.replace(COMPUTE, **more))


def test_a_host_has_the_figures_that_nova_makes_of_a_nodes_report():
    (host,) = asked()["hosts"]
    assert (host["host"], host["node"], host["uuid"]) == ("cmp1", "cmp1.example", "u1")
    assert host["state"] == {
        "hypervisor_hostname": "cmp1.example",
        "vcpus_total": 10,
        "vcpus_used": 3,
        "total_usable_ram_mb": 8192,
        "free_ram_mb": -512,
        "total_usable_disk_gb": 100,
        "disk_mb_used": 40960,
        "free_disk_mb": 51200,
        "num_instances": 2,
        "hypervisor_type": "QEMU",
        "hypervisor_version": 8002000,
        "host_ip": "192.0.2.7",
        "cpu_info": '{"arch": "x86_64"}',
    }
    assert host["stats"] == {"num_instances": "2"}
    assert host["has_own_stats"] is False


@pytest.mark.parametrize(
    ("servers", "tasks", "builds", "stats"),
    [
        (2, 0, 0, {"num_instances": "2", "io_workload": "0"}),
        # Such a node has no statistics of servers unless it had some a moment ago.
        (0, 0, None, {}),
    ],
)
def test_a_host_on_which_nothing_can_be_at_work_has_no_io(
    servers, tasks, builds, stats
):
    report = dataclasses.replace(REPORT, running_vms=servers, current_workload=tasks)
    (host,) = asked(host_with(report=report, builds=builds))["hosts"]
    assert host["state"]["num_io_ops"] == 0
    assert host["stats"] == stats


@pytest.mark.parametrize(("tasks", "builds"), [(0, None), (0, 1), (2, 0)])
def test_how_much_a_host_that_may_be_at_work_has_to_do_is_left_out(tasks, builds):
    report = dataclasses.replace(REPORT, current_workload=tasks)
    (host,) = asked(host_with(report=report, builds=builds))["hosts"]
    assert "num_io_ops" not in host["state"]
    assert host["stats"] == {"num_instances": "2"}


def test_of_a_node_without_a_report_nothing_is_said():
    (host,) = asked(host_with(report=None))["hosts"]
    assert host["state"] == {"hypervisor_hostname": "cmp1.example"}
    assert (host["stats"], host["has_own_stats"]) == ({}, True)


def test_a_node_of_ironic_may_have_stats_of_its_own():
    ironic = dataclasses.replace(REPORT, hypervisor_type="ironic")
    assert asked(host_with(report=ironic))["hosts"][0]["has_own_stats"] is True


def test_why_a_service_is_down_is_left_out():
    (host,) = asked(host_with(is_up=False))["hosts"]
    assert host["is_up"] is False
    assert "forced_down" not in host["service"]
    assert asked()["hosts"][0]["service"]["forced_down"] is False


def test_servers_and_ratios_are_told_if_they_were_read():
    assert asked()["hosts"][0]["instances"] is None
    read = dataclasses.replace(
        HOST,
        instances=frozenset({"s2", "s1"}),
        allocation_ratios={"VCPU": 4.0, "MEMORY_MB": 1.5, "CUSTOM_X": 1.0},
    )
    (host,) = asked(read)["hosts"]
    assert host["instances"] == ["s1", "s2"]
    assert host["state"]["cpu_allocation_ratio"] == 4.0
    assert host["state"]["ram_allocation_ratio"] == 1.5
    assert "disk_allocation_ratio" not in host["state"]


def test_it_is_known_of_the_servers_that_the_request_speaks_of_where_they_are():
    group = ServerGroup("g", "affinity", 1, frozenset({"s3"}))
    spec = dataclasses.replace(SPEC, group=group)
    read = dataclasses.replace(HOST, instances=frozenset({"s4"}))
    assert asked(read, spec)["servers"] == ["s1", "s2", "s3", "s4"]


def test_a_host_has_its_aggregates_with_all_their_hosts():
    assert asked()["hosts"][0]["aggregates"] == ["a1"]
    body = {"id": 7, "name": "ssd", "hosts": ["cmp1", "cmp9"]}
    assert asked()["aggregates"] == {"a1": {**body, "metadata": {"ssd": "true"}}}


def test_a_request_has_flavor_image_hints_and_where_it_comes_from():
    spec = asked(spec=dataclasses.replace(SPEC, remote_address="192.0.2.1"))["spec"]
    assert spec["flavor"] == {
        "name": "small",
        "vcpus": 2,
        "memory_mb": 512,
        "root_gb": 1,
        "ephemeral_gb": 0,
        "swap": 0,
        "extra_specs": {"a": "b"},
    }
    assert spec["image"] == {"id": "i1", "hw_disk_bus": "scsi"}
    assert spec["hints"] == {"same_host": ["s1", "s2"]}
    assert (spec["project_id"], spec["availability_zone"]) == ("p1", None)
    assert spec["remote_address"] == "192.0.2.1"


def test_the_image_of_a_volume_has_no_id():
    spec = asked(spec=dataclasses.replace(SPEC, image_id=""))["spec"]
    assert spec["image"] == {"hw_disk_bus": "scsi"}


def test_a_group_has_a_limit_of_servers_a_host_if_it_is_of_anti_affinity():
    group = ServerGroup("g", "anti-affinity", 3, frozenset({"s1"}), frozenset({"h"}))
    found = asked(spec=dataclasses.replace(SPEC, group=group))["spec"]["group"]
    assert found["rules"] == {"max_server_per_host": "3"}
    assert (found["members"], found["hosts"]) == (["s1"], ["h"])
    soft = dataclasses.replace(group, policy="soft-affinity")
    found = asked(spec=dataclasses.replace(SPEC, group=soft))["spec"]["group"]
    assert found["rules"] == {}


def test_the_text_of_a_file_goes_along():
    names = [(PluginName.read("a.py:A"), "class A: 1"), (PluginName.read("m:B"), None)]
    body = document.question([], SPEC, names, nova_conf=[("nova.conf", "[x]")])
    mine = {"kind": None, "is_novas": False}
    assert body["plugins"] == [
        {"name": "a.py:A", "path": "A", "file": "a.py", "source": "class A: 1", **mine},
        {"name": "m:B", "path": "m:B", "file": None, "source": None, **mine},
    ]
    assert body["nova_conf"] == [{"name": "nova.conf", "text": "[x]"}]


def judged(*plugins):
    return document.judgment({"nova": "34.0.0", "plugins": list(plugins)}, "python")


def test_a_filters_answers_are_those_of_novas_own_filters():
    answers = {
        "u1": {"passes": True, "log": ["fine"]},
        "u2": {"passes": False, "log": ["too", "small"]},
        "u3": {"passes": False},
        "u4": {"unknown": "numa_topology"},
        "u5": {"raises": "ValueError: not a: number"},
        "u6": {"raises": "KeyError"},
    }
    found = judged(
        {"plugin": "m:F", "class": "F", "kind": "filter", "answers": answers}
    )
    assert found.answers["m:F"] == {
        "u1": PASSES,
        "u2": Fails(OWN, found=("too", "small")),
        "u3": Fails(OWN),
        "u4": Unknown("numa_topology"),
        "u5": Raises("ValueError", "", "not a: number"),
        "u6": Raises("KeyError", "", ""),
    }
    assert found.logs["m:F"]["u1"] == ("fine",)
    assert (found.nova, found.weights) == ("34.0.0", {})


def test_a_weigher_has_figures_or_a_reason_for_none():
    figures = {"raw": {"u": 3.0}, "normalized": {"u": 1.0}, "multiplier": {"u": -1.0}}
    found = judged(
        {"plugin": "A", "class": "A", "kind": "weigher", **figures, "log": ["a"]},
        {"plugin": "B", "class": "B", "kind": "weigher", "unknown": "pci_stats"},
    )
    assert found.weights == {
        "A": Weighed({"u": 3.0}, {"u": 1.0}, {"u": -1.0}),
        "B": Unknown("pci_stats"),
    }
    assert found.logs["A"] == {"": ("a",)}


def test_the_classes_that_a_function_returns_are_told_apart():
    found = judged(
        {"plugin": "m.all", "class": "F", "kind": "filter", "answers": {}},
        {"plugin": "m.all", "class": "G", "kind": "filter", "answers": {}},
    )
    assert set(found.answers) == {"m.all:F", "m.all:G"}


def test_what_keeps_the_runner_from_judging_is_an_error():
    wrong = {"error": "import", "plugin": "m:F", "text": "SyntaxError"}
    with pytest.raises(PluginFails) as plugin:
        document.judgment(wrong, "python")
    assert (plugin.value.plugin, plugin.value.reason) == ("m:F", "SyntaxError")
    wrong = {"error": "no-nova", "plugin": "", "text": "no module nova"}
    with pytest.raises(NovaPythonFails) as python:
        document.judgment(wrong, "python9")
    assert (python.value.command, python.value.kind) == ("python9", "no-nova")


def test_options_are_told_by_section_and_name():
    assert asked(options={"filter_scheduler.max_io_ops_per_host": "3"})["options"] == [
        {"section": "filter_scheduler", "option": "max_io_ops_per_host", "value": "3"}
    ]


def run_of(**body):
    (found,) = document.runs({"nova": "34.0.0", "plugins": [body]}, "python")
    return found


def test_what_a_filter_says_of_all_hosts_together_is_not_taken_for_its_answer():
    answers = {"u1": {"passes": False}, "u2": {"passes": True}}
    one = {"plugin": "m:F", "class": "F", "answers": answers}
    found = run_of(**one, together=False)
    assert (found.plugin, found.name, found.weigher) == ("m:F", "F", None)
    assert found.answers == {"u1": Fails(OWN), "u2": PASSES}
    assert run_of(**one, together=True).answers == {"u1": TOGETHER, "u2": TOGETHER}


def test_a_weigher_has_figures_of_the_hosts_that_it_answers_for():
    figures = {"u1": {"value": [2.0, 3.0]}, "u2": {"unknown": "pci_stats"}}
    one = {"plugin": "m:W", "class": "W", "figures": figures, "limits": [0, None]}
    without = {"u2": Unknown("pci_stats")}
    expected = OwnWeigher("W", {"u1": 2.0}, {"u1": 3.0}, 0, None, without)
    assert run_of(**one, together=False).weigher == expected
    without = {"u1": TOGETHER, "u2": Unknown("pci_stats")}
    expected = OwnWeigher("W", {}, {}, 0, None, without)
    assert run_of(**one, together=True).weigher == expected
