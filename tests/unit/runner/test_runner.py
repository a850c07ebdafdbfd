"""The runner: what the other Python is told, how it is started, and its answers."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys

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

# The runner is told what the API shows, and its answers become values.


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


# The other Python is started, and whatever keeps it from answering is one error.


RUNNER = pathlib.Path(document.__file__).with_name("nova_runner.py")
EXAMPLES = pathlib.Path(__file__).parents[3] / "examples" / "nova_filters"
SENT = (RUNNER, *sorted(EXAMPLES.glob("*.py")))

#: Answers the last line of its input with its length, and prints before.
ECHO = """import json, sys
text = sys.stdin.read()
print("a banner")
last = text.splitlines()[-1][:13]
print(json.dumps({"plugins": [], "length": len(text), "last": last}))
"""


def failure(command, timeout=30.0):
    with pytest.raises(NovaPythonFails) as raised:
        document.ask(command, {"plugins": []}, timeout)
    assert raised.value.command == command
    return raised.value.kind, raised.value.reason


@pytest.fixture
def script(tmp_path):
    """Write a program for this Python, and return the command that runs it."""

    def write(text):
        path = tmp_path / "it's a program.py"
        path.write_text(text)
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    return write


def test_program_and_question_go_through_standard_input(script):
    answer = document.ask(script(ECHO), {"hosts": ["h" * 100_000]}, 30.0)
    assert answer["last"] == 'main_packed("'
    # The question is packed.
    assert answer["length"] < 50_000


def test_a_python_without_nova_says_so():
    answer = document.ask(sys.executable, {"plugins": []}, 60.0)
    assert answer["error"] == "no-nova"
    version = ".".join(map(str, sys.version_info[:3]))
    assert answer["text"] == f"no module nova in {sys.executable} (Python {version})"


def test_a_path_with_spaces_is_one_word(tmp_path):
    python = tmp_path / "a python"
    python.touch()
    assert document.arguments(str(python)) == [str(python)]


def test_a_virtual_environment_stands_for_its_python(tmp_path):
    assert document.arguments(str(tmp_path)) == [str(tmp_path / "bin" / "python")]


def test_a_command_line_is_split_as_a_shell_does():
    found = document.arguments("podman exec -i 'nova scheduler' python3")
    assert found == ["podman", "exec", "-i", "nova scheduler", "python3"]


def test_what_is_not_there_can_not_be_started(tmp_path):
    kind, reason = failure("no-such-program python3")
    assert (kind, reason) == ("not-started", "No such file or directory")
    assert failure(str(tmp_path))[0] == "not-started"
    assert failure("python3 '") == ("not-started", "No closing quotation")
    assert failure(" ")[0] == "not-started"


def test_a_file_that_may_not_be_run_can_not_be_started(tmp_path):
    path = tmp_path / "python"
    path.touch(mode=0o600)
    assert failure(str(path)) == ("not-started", "Permission denied")


def test_a_command_that_does_not_pass_standard_input_on_is_silent():
    assert failure("true") == ("silent", "")


def test_the_last_line_of_its_errors_is_why_there_is_no_answer(script):
    text = 'import sys; print("warning\\n\\nno such container", file=sys.stderr)'
    assert failure(script(text)) == ("no-answer", "no such container")
    assert failure("false") == ("no-answer", "it exited with 1")
    for line in ("[1]", '{"level": "info"}'):
        assert failure(script(f"print({line!r})")) == ("no-answer", line)


def test_it_may_not_take_longer_than_it_is_given(script):
    text = "import time; time.sleep(60)"
    assert failure(script(text), 0.5) == ("timeout", "0.5")


def test_the_runner_is_a_program_by_itself(tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", str(RUNNER)],
        input=json.dumps({"plugins": []}).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=True,
    )
    assert json.loads(done.stdout)["error"] == "no-nova"


@pytest.mark.parametrize("path", SENT, ids=lambda path: path.name)
def test_what_runs_in_the_python_of_train_is_of_its_language(path):
    assert ast.parse(path.read_text("utf-8"), feature_version=(3, 6)).body


def test_a_command_line_may_be_longer_than_any_file_name():
    command = f"ssh -o {'x' * 300} ctl1 python3"
    assert document.arguments(command) == ["ssh", "-o", "x" * 300, "ctl1", "python3"]


#: Modules that are imported before and by the runner, or while a Python starts.
TRAPS = (
    *("base64", "json", "logging", "typing", "os", "site", "posix", "sys", "codecs"),
    *("sitecustomize", "usercustomize", "inspect", "tempfile", "zlib", "_bootlocale"),
    *("nova", "encodings/__init__", "encodings/utf_8", "oslo_config/__init__"),
)

#: Stands for Nova, and says what the other Python can see.
NOVA = """import os
login = [name for name in os.environ if name.startswith("OS_")]
raise ImportError(f"{login} {os.listdir('.')}")
"""


@pytest.fixture
def trapped(tmp_path, monkeypatch):
    """The current folder: whatever module of it is imported leaves a file beside it."""
    folder = tmp_path / "here"
    for name in TRAPS:
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(tmp_path / 'sprung')!r}, 'w').write({name!r})")
    python = folder / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OS_PASSWORD", "secret")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    yield folder
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()


@pytest.mark.parametrize("safe", ["", "1"])
@pytest.mark.parametrize("path", [None, "./", ":/nowhere:", "/nowhere:."])
@pytest.mark.parametrize(
    "command",
    [
        "{python}",
        "env {python}",
        "{python} -S",
        "./venv/bin/python",
        "env ./venv/bin/python -u",
        "sh -c 'exec {python} -'",
    ],
)
def test_no_code_of_the_current_folder_runs(command, path, safe, trapped, monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", safe)
    if path is not None:
        monkeypatch.setenv("PYTHONPATH", path)
    asked = command.format(python=shlex.quote(sys.executable))
    assert document.ask(asked, {"plugins": []}, 60.0)["error"] == "no-nova"


def test_a_far_python_drops_the_folder_that_its_own_pythonpath_names(trapped):
    (trapped / "encodings" / "__init__.py").unlink()
    for name in ("os", "site", "codecs", "sitecustomize", "usercustomize", "zlib"):
        (trapped / f"{name}.py").unlink()
    # It starts with this variable as ssh's other end would.
    command = f"env PYTHONPATH=: {shlex.quote(sys.executable)}"
    assert document.ask(command, {"plugins": []}, 60.0)["error"] == "no-nova"


def test_the_folders_of_the_environment_are_still_imported_from(trapped, monkeypatch):
    (trapped / "plugins").mkdir()
    (trapped / "plugins" / "nova.py").write_text(NOVA)
    for path in ("plugins", f":{trapped}/plugins"):
        monkeypatch.setenv("PYTHONPATH", path)
        answer = document.ask(sys.executable, {"plugins": []}, 60.0)
        # It has no login, and stands in an empty folder.
        assert answer["text"].startswith("ImportError: [] [] in ")


def test_a_relative_path_is_of_the_current_folder(trapped):
    python = str(trapped / "venv" / "bin" / "python")
    for command in ("venv", "./venv", "venv/bin/python"):
        assert os.path.normpath(document.arguments(command)[0]) == python
        answer = document.ask(command, {"plugins": []}, 60.0)
        assert answer["error"] == "no-nova"


def test_a_name_on_the_path_is_no_folder_of_the_same_name(trapped, monkeypatch):
    (trapped / "python3" / "bin").mkdir(parents=True)
    (trapped / "python3" / "bin" / "python").symlink_to("/bin/false")
    monkeypatch.setenv(
        "PATH", os.path.dirname(sys.executable) + os.pathsep + os.defpath
    )
    assert document.arguments("python3") == ["python3"]
    assert document.ask("python3", {"plugins": []}, 60.0)["error"] == "no-nova"
