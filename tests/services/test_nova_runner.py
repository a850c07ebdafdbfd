"""The runner, in the services' own Python: what Nova's objects say and do not say."""

from __future__ import annotations

import json
import subprocess

import pytest

from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.snapshot import NodeReport
from osc_traitsched.core.nova import image, server
from osc_traitsched.core.nova.filter.state import (
    OWN,
    PASSES,
    Fails,
    HostState,
    Passes,
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
from osc_traitsched.runner import document
from tests.services import environment
from tests.services.environment import REPOSITORY

EXAMPLES = REPOSITORY / "examples" / "nova_filters"
UUIDS = [f"c000000{n}-0000-4000-8000-000000000000" for n in range(4)]
SERVER_ID = "5e000001-0000-4000-8000-000000000000"
REPORT = NodeReport(
    vcpus=8,
    vcpus_used=2,
    memory_mb=8192,
    free_ram_mb=7168,
    local_gb=100,
    local_gb_used=10,
    free_disk_gb=90,
    disk_available_least=None,
    running_vms=2,
    current_workload=0,
    hypervisor_type="QEMU",
    hypervisor_version=8002000,
    host_ip="192.0.2.1",
    cpu_info={"arch": "x86_64"},
)
SSD = snapshot.Aggregate(
    "1", "a0000001-0000-4000-8000-000000000000", "ssd", (), {"ssd": "true"}
)

PLUGINS = '''
"""Filters and weighers, a case each."""
from nova import context, objects
from nova.scheduler import filters, weights


class Filter(filters.BaseHostFilter):
    def host_passes(self, host_state, spec_obj):
        return self.judge(host_state, spec_obj)


class ReadsNuma(Filter):
    def judge(self, host, spec):
        return host.numa_topology is None


class CatchesEverything(Filter):
    def judge(self, host, spec):
        try:
            return not host.pci_stats
        except:
            return True


class AsksWhetherItIsThere(Filter):
    def judge(self, host, spec):
        return hasattr(host, "metrics")


class ReadsStats(Filter):
    def judge(self, host, spec):
        return host.stats["num_instances"] == "2" and "no_such_key" not in host.stats


class ReadsOtherStats(Filter):
    def judge(self, host, spec):
        return int(host.stats.get("num_proj_p1", 0)) < 3


class FindsServer(Filter):
    def judge(self, host, spec):
        return (
            "5e000001-0000-4000-8000-000000000000" in host.instances
            and spec.get_scheduler_hint("same_host") not in host.instances
        )


class FindsOtherServer(Filter):
    def judge(self, host, spec):
        return "5e000002" in host.instances


class ReadsServer(Filter):
    def judge(self, host, spec):
        return host.instances["5e000001-0000-4000-8000-000000000000"].flavor


class CountsServers(Filter):
    def judge(self, host, spec):
        return len(host.instances) < 1


class ReadsDatabase(Filter):
    def judge(self, host, spec):
        objects.ComputeNodeList.get_all(context.get_admin_context())


class ReadsFlavorId(Filter):
    def judge(self, host, spec):
        return spec.flavor.flavorid


class ReadsUser(Filter):
    def judge(self, host, spec):
        return spec.user_id


class ReadsRoles(Filter):
    def judge(self, host, spec):
        return "admin" in spec._context.roles


class ReadsTraitsOfTheRequest(Filter):
    def judge(self, host, spec):
        return not spec.root_required


class ReadsNothingThatIsThere(Filter):
    def judge(self, host, spec):
        return host.no_such_attribute


class RaisesOnFirst(Filter):
    def judge(self, host, spec):
        if host.host == "cmp0":
            raise ValueError("not a number:\\n 'x'")
        return True


class Prints(Filter):
    def judge(self, host, spec):
        print("{}")
        return 1


class KeepsLast(filters.BaseHostFilter):
    def filter_all(self, filter_obj_list, spec_obj):
        return list(filter_obj_list)[-1:]


class Checks(Filter):
    """Says of each thing that is known that it is so."""

    def judge(self, host, spec):
        (aggregate,) = host.aggregates
        group, image = spec.instance_group, spec.image.properties
        return (
            host.free_ram_mb == 7168
            and host.service["disabled"] is False
            and aggregate.metadata == {"ssd": "true"}
            and spec.flavor.extra_specs == {"a": "b"}
            and spec.memory_mb == 512
            and image.hw_disk_bus == "scsi"
            and spec.get_scheduler_hint("same_host") == "x"
            and group.policy == "anti-affinity"
            and group.rules == {"max_server_per_host": 2}
            and spec.project_id == "p1"
            and spec.numa_topology is None
            and not spec.pci_requests.requests
            and spec._context.remote_address == "192.0.2.1"
        )


class NoPlugin:
    pass


class NeedsConfiguration(Filter):
    def __init__(self):
        raise RuntimeError("no section [mine]")


def everything():
    return [Prints, Ram]


class Ram(weights.BaseHostWeigher):
    minval = 0

    def weight_multiplier(self, host_state):
        return 2.0

    def _weigh_object(self, host_state, weight_properties):
        return int(host_state.host[-1]) * 10 - 10


class Pci(weights.BaseHostWeigher):
    def _weigh_object(self, host_state, weight_properties):
        return len(host_state.pci_stats.pools)


class PciOfSome(weights.BaseHostWeigher):
    def _weigh_object(self, host_state, weight_properties):
        return 1 if host_state.host != "cmp0" else len(host_state.pci_stats.pools)


class WeighsAllTogether(weights.BaseHostWeigher):
    def _weigh_object(self, host_state, weight_properties):
        return 1

    def weigh_objects(self, weighed_obj_list, weight_properties):
        return [1 for each in weighed_obj_list]


class Broken(weights.BaseHostWeigher):
    def _weigh_object(self, host_state, weight_properties):
        return host_state.host + 1
'''


def host(number, aggregates=(SSD,), **more):
    name = f"cmp{number}"
    found = {"report": REPORT, **more}
    compute = snapshot.Compute(UUIDS[number], f"{name}.x", name, **found)
    return HostState(compute, aggregates, frozenset({SERVER_ID}))


HOSTS = [host(0), host(1), host(2)]
SERVER = Server(
    flavor=server.read({"vcpus": 1, "ram": 512, "disk": 1, "extra_specs": {"a": "b"}}),
    image=image.read({"id": SERVER_ID, "name": "raw", "hw_disk_bus": "scsi"}, 34),
    aggregates=(SSD,),
    zone="",
    project_id="p1",
    boot_from_volume=False,
    release=34,
)
SPEC = RequestSpec(
    SERVER,
    "small",
    SERVER_ID,
    {"same_host": ("x",)},
    ServerGroup("g", "anti-affinity", 2),
    remote_address="192.0.2.1",
)


def ask(*plugins, hosts=HOSTS, spec=SPEC, nova_conf=(), **more):
    """Ask with files' texts, or of what the services' Python finds."""
    named = []
    for each in plugins:
        name = PluginName.read(each) if isinstance(each, str) else each
        in_file = {"plugins.py": PLUGINS}.get(name.file)
        if name.file is not None and in_file is None:
            in_file = (EXAMPLES / name.file).read_text()
        named.append((name, in_file))
    asked = document.question(hosts, spec, named, nova_conf, **more)
    return document.ask(str(environment.python()), asked, 120.0)


def judge(*plugins, **more):
    """Judge, as ``filter try`` does."""
    return document.judgment(ask(*plugins, **more), str(environment.python()))


def ran(*plugins, **more):
    """Return what each class says, as explain asks it."""
    answer = ask(*plugins, all_lines=False, **more)
    return {each.name: each for each in document.runs(answer, "python")}


def of_settings(name, kind, is_novas=False):
    return PluginName(name, None, name, kind, is_novas)


def one(name):
    return f"plugins.py:{name}"


CASES = {
    "ReadsNuma": Unknown("numa_topology"),
    "CatchesEverything": Unknown("pci_stats"),
    "AsksWhetherItIsThere": Unknown("metrics"),
    "ReadsStats": PASSES,
    "ReadsOtherStats": Unknown("stats.num_proj_p1"),
    "FindsServer": PASSES,
    "FindsOtherServer": Unknown("instances.5e000002"),
    "ReadsServer": Unknown("instances.flavor"),
    "CountsServers": Unknown("instances"),
    "ReadsDatabase": Unknown("Nova's database"),
    "ReadsFlavorId": Unknown("flavor.flavorid"),
    "ReadsUser": Unknown("spec.user_id"),
    "ReadsRoles": Unknown("context.roles"),
    "ReadsTraitsOfTheRequest": Unknown("spec.request_level_params"),
    "ReadsNothingThatIsThere": Raises(
        "AttributeError", "", "'HostState' object has no attribute 'no_such_attribute'"
    ),
    "Prints": PASSES,
    "Checks": PASSES,
}


@pytest.fixture(scope="module")
def judgment():
    names = [*CASES, "RaisesOnFirst", "KeepsLast", "Ram", "Pci", "Broken"]
    stock = ["ComputeFilter", "nova.scheduler.weights.ram:RAMWeigher"]
    return judge(*map(one, names), *stock)


@pytest.mark.parametrize("name", CASES)
def test_a_filter_is_judged_by_what_it_reads(judgment, name):
    assert judgment.answers[one(name)] == {h.compute.uuid: CASES[name] for h in HOSTS}


def test_a_filter_that_raises_for_a_host_judges_the_others(judgment):
    assert judgment.answers[one("RaisesOnFirst")] == {
        UUIDS[0]: Raises("ValueError", "", "not a number: 'x'"),
        UUIDS[1]: PASSES,
        UUIDS[2]: PASSES,
    }


def test_a_filter_that_looks_at_all_hosts_together_gets_all(judgment):
    found = judgment.answers[one("KeepsLast")]
    out = Fails(OWN)
    assert found == {UUIDS[0]: out, UUIDS[1]: out, UUIDS[2]: PASSES}


def test_a_weigher_has_novas_normalized_figures(judgment):
    raw = dict(zip(UUIDS, (0.0, 0.0, 10.0)))
    twice = dict(zip(UUIDS, (2.0, 2.0, 2.0)))
    normalized = dict(zip(UUIDS, (0.0, 0.0, 1.0)))
    assert judgment.weights[one("Ram")] == Weighed(raw, normalized, twice)
    assert judgment.weights[one("Pci")] == Unknown("pci_stats")
    broken = judgment.weights[one("Broken")]
    assert (broken.exception, broken.value[:16]) == ("TypeError", "can only concate")


def test_the_filters_and_weighers_of_that_nova_go_by_their_names(judgment):
    assert set(judgment.answers["ComputeFilter"].values()) == {PASSES}
    weighed = judgment.weights["nova.scheduler.weights.ram:RAMWeigher"]
    assert set(weighed.raw.values()) == {7168.0}
    assert judgment.nova == "34.0.0"


def test_a_filters_log_is_its_reason():
    down, off = host(0, is_up=False), host(1, is_enabled=False, disabled_reason="disk")
    found = judge("ComputeFilter", hosts=[down, off]).answers["ComputeFilter"]
    (line,) = found[UUIDS[0]].found
    assert line.startswith("(cmp0, cmp0.x) has not been heard from")
    assert found[UUIDS[1]].found == ("(cmp1, cmp1.x) is disabled, reason: disk",)


def test_a_nova_conf_configures_the_plugins():
    conf = "[source_network_filter]\nrules = 192.0.2.0/24=cmp1, 192.0.0.0/16=cmp\n"
    plugin = "source_network_filter.py:SourceNetworkFilter"
    found = judge(plugin, nova_conf=[("nova.conf", conf)]).answers[plugin]
    assert found[UUIDS[1]] == PASSES
    reason = "cmp0: requests from 192.0.2.0/24 go to hosts named cmp1..."
    assert found[UUIDS[0]] == Fails(OWN, found=(reason,))


@pytest.mark.full
@pytest.mark.parametrize(
    ("plugin", "reason"),
    [
        ("plugins.py:Missing", "plugins has no Missing"),
        ("Missing", "neither available_filters nor weight_classes has Missing"),
        (
            "plugins.py:NoPlugin",
            "NoPlugin is no subclass of nova.scheduler.filters.BaseHostFilter or of "
            "nova.scheduler.weights.BaseHostWeigher",
        ),
        (
            "plugins.py:NeedsConfiguration",
            "NeedsConfiguration() fails: RuntimeError: no section [mine]",
        ),
    ],
)
def test_a_plugin_that_can_not_be_loaded_is_one_line(plugin, reason):
    with pytest.raises(PluginFails) as raised:
        judge(plugin)
    assert (raised.value.plugin, raised.value.reason) == (plugin, reason)


def test_a_file_with_a_mistake_says_in_which_line():
    asked = document.question(HOSTS, SPEC, [(PluginName.read("a.py:A"), "\nimport nv")])
    python = str(environment.python())
    with pytest.raises(PluginFails) as raised:
        document.judgment(document.ask(python, asked, 120.0), python)
    reason = "ModuleNotFoundError: No module named 'nv' (line 2)"
    assert raised.value.reason == reason


def test_a_function_stands_for_the_classes_that_it_returns():
    found = judge("plugins.py:everything")
    assert set(found.answers) == {"plugins.py:everything:Prints"}
    assert set(found.weights) == {"plugins.py:everything:Ram"}


def test_a_filter_of_the_settings_is_one_that_nova_conf_makes_available():
    novas = of_settings("ComputeFilter", "filter", is_novas=True)
    conf = "[filter_scheduler]\navailable_filters = nova.scheduler.filters.none\n"
    (found,) = ran(novas, nova_conf=[("nova.conf", conf)]).values()
    assert set(found.answers.values()) == {PASSES}


@pytest.mark.parametrize(
    ("is_novas", "reason"),
    [
        (
            False,
            "available_filters does not have Mine (--custom-filter gives its class)",
        ),
        (True, "this Nova has no filter Mine"),
    ],
)
def test_a_filter_of_the_settings_that_is_not_there_is_named(is_novas, reason):
    with pytest.raises(PluginFails) as raised:
        ran(of_settings("Mine", "filter", is_novas))
    assert raised.value.reason == reason


def test_a_weigher_is_no_filter_to_the_settings():
    with pytest.raises(PluginFails) as raised:
        ran(of_settings("nova.scheduler.weights.ram.RAMWeigher", "filter"))
    assert raised.value.reason == "RAMWeigher is a weigher and no filter"


@pytest.mark.full
def test_a_class_that_is_given_takes_the_place_of_the_settings():
    settings = (("Prints", "filter"), ("no.such.path.Ram", "weigher"))
    named = [of_settings(*each) for each in settings]
    assert set(ran(one("Prints"), one("Ram"), *named)) == {"Prints", "Ram"}


def test_options_that_are_known_go_before_the_nova_conf():
    conf = "[filter_scheduler]\nmax_instances_per_host = 5\n"
    novas = of_settings("NumInstancesFilter", "filter", is_novas=True)
    few = {"filter_scheduler.max_instances_per_host": "1"}
    none = {"filter_scheduler.no_such_option": "1"}
    for options, kind in (none, Passes), (few, Fails):
        found = ran(novas, nova_conf=[("nova.conf", conf)], options=options)
        kinds = {type(each) for each in found["NumInstancesFilter"].answers.values()}
        assert kinds == {kind}
    with pytest.raises(NovaPythonFails) as raised:
        ran(novas, options={"filter_scheduler.max_instances_per_host": "many"})
    assert raised.value.kind == "nova-conf"


@pytest.mark.full
@pytest.mark.full
def test_of_a_log_the_last_line_of_a_no_is_enough():
    conf = "[source_network_filter]\nrules = 192.0.2.0/24=cmp1\n"
    log = "log_everything_filter.py:LogEverythingFilter"
    source = "source_network_filter.py:SourceNetworkFilter"
    body = ask(log, source, nova_conf=[("nova.conf", conf)], all_lines=False)
    everything, network = (each["answers"] for each in body["plugins"])
    assert everything[UUIDS[0]] == {"passes": True}
    line = "cmp0: requests from 192.0.2.0/24 go to hosts named cmp1..."
    assert network[UUIDS[0]] == {"passes": False, "log": [line]}


@pytest.mark.full
def test_what_judges_all_hosts_together_has_no_answer_for_one():
    together = one("KeepsLast"), one("WeighsAllTogether")
    found = ran(one("Ram"), one("PciOfSome"), *together)
    ram = found["Ram"].weigher
    assert ram.raw == dict(zip(UUIDS, (0.0, 0.0, 10.0)))
    assert (ram.minimum, ram.maximum, set(ram.multipliers.values())) == (0, None, {2.0})
    some = found["PciOfSome"].weigher
    assert some.raw == {UUIDS[1]: 1.0, UUIDS[2]: 1.0}
    assert some.without == {UUIDS[0]: Unknown("pci_stats")}
    together = found["WeighsAllTogether"].weigher
    assert set(together.without.values()) == {TOGETHER}
    assert set(found["KeepsLast"].answers.values()) == {TOGETHER}


def test_a_nova_conf_that_can_not_be_read_is_named():
    with pytest.raises(NovaPythonFails) as raised:
        judge("ComputeFilter", nova_conf=[("my/nova.conf", "[oops\n")])
    assert raised.value.kind == "nova-conf"
    assert "my/nova.conf:1" in raised.value.reason


def test_what_comes_out_is_one_document_whatever_is_printed():
    name = PluginName.read("plugins.py:Prints")
    asked = document.question(HOSTS, SPEC, [(name, PLUGINS)], ())
    runner = REPOSITORY / "osc_traitsched" / "runner" / "nova_runner.py"
    done = subprocess.run(
        [environment.python(), runner],
        input=json.dumps(asked).encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["nova"] == "34.0.0"


# What is read of a running Nova, and what never leaves it.

NAMES = ["scheduler.max_placement_results", "pci.alias"]


def read_with(folder, conf):
    """Read as nova-api's Python would whose home has this nova.conf."""
    (folder / "nova.conf").write_text(conf)
    command = f"env HOME={folder} {environment.python()}"
    return document.read(command, "nova-api", NAMES, 120.0)


@pytest.mark.parametrize(
    ("conf", "kind", "words"),
    [
        ("", "no-database", "CantStartEngineError"),
        (
            "[api_database]\nconnection = sqlite:////none/s3cret.db\n",
            "no-database",
            "DBNonExistentDatabase",
        ),
        (
            "[api_database]\nconnection = s3cret\n",
            "no-database",
            "ArgumentError",
        ),
        ("[database]\npassword s3cret\n", "nova-conf", "ConfigFileParseError"),
        (
            "[scheduler]\nmax_placement_results = s3cret\n",
            "nova-conf",
            "[scheduler]max_placement_results: ConfigFileValueError",
        ),
    ],
)
def test_an_error_of_reading_names_no_value(tmp_path, conf, kind, words):
    with pytest.raises(NovaPythonFails) as raised:
        read_with(tmp_path, conf)
    assert raised.value.kind == kind
    assert words in raised.value.reason
    assert "s3cret" not in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_objects_of_nova_can_not_be_written_while_it_is_read():
    script = (
        "import sys; sys.path.insert(0, 'osc_traitsched/runner')\n"
        "import nova_runner\n"
        "from nova import context, objects\n"
        "objects.register_all()\n"
        "nova_runner.only_read()\n"
        "names = 'Instance Service ComputeNode CellMapping RequestSpec Aggregate '\n"
        "names += 'Migration InstanceMapping InstanceGroup Flavor BuildRequest'\n"
        "for cls in (getattr(objects, name) for name in names.split()):\n"
        "    for write in ('create', 'save', 'destroy', 'add_members', 'add_access'):\n"
        "        if hasattr(cls, write):\n"
        "            try:\n"
        "                getattr(cls(context.get_admin_context()), write)()\n"
        "            except nova_runner.Failed:\n"
        "                print(cls.__name__, write)\n"
    )
    command = [str(environment.python()), "-c", script]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == 34
