"""Options that say how the scheduler is configured, and sources of them."""

from __future__ import annotations

import argparse
import types

import pytest
from keystoneauth1 import access, session, token_endpoint
from keystoneauth1.identity import v3
from openstack.config import cloud_region

from osc_traitsched.commands import arguments, explain
from osc_traitsched.commands.base import name_of
from osc_traitsched.config import document
from osc_traitsched.config.nova_conf import Entry, Layer
from osc_traitsched.config.sources import SET, SOURCES, FileSource, resolve
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import OWN, PASSES, Fails, Raises, Unknown
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.own import PluginJudgment, Weighed
from tests.functional import shell
from tests.unit.commands.desired import GOLD

# The options that say how the scheduler is configured.


def parse(*argv):
    parser = argparse.ArgumentParser()
    arguments.SCHEDULER(parser)
    return parser.parse_args(argv)


def assume(*argv, maximum=None):
    return resolve(arguments.named(parse(*argv)), maximum)


def test_without_any_option_the_newest_release_is_assumed():
    assert assume() == SchedulerSettings()


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("train", 20),
        ("Wallaby", 23),
        ("23", 23),
        ("2023.1", 27),
        ("antelope", 27),
        ("bobcat", 28),
        ("caracal", 29),
        ("2024.1", 29),
        ("29.2.1", 29),
        ("Dalmatian", 30),
        ("epoxy", 31),
        ("flamingo", 32),
        ("gazpacho", 33),
        ("hibiscus", 34),
        ("2026.2", 34),
    ],
)
def test_a_release_goes_by_its_name_code_name_or_version(name, release):
    found = assume("--nova-release", name, maximum="2.79")
    assert (found.release, found.release_source) == (release, "--nova-release")


@pytest.mark.parametrize("name", ["rocky", "19", "35", "2019.1", "", "x.1"])
def test_a_release_that_is_not_known_is_a_mistake_of_use(name, capsys):
    with pytest.raises(SystemExit) as caught:
        parse("--nova-release", name)
    assert caught.value.code == 2
    assert "is not one of train, ussuri" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("maximum", "release", "source"),
    [
        ("2.79", 20, "compute API 2.79"),
        (
            "2.87",
            22,
            "compute API 2.87, which is that of ussuri and victoria; "
            "the later is taken",
        ),
        ("2.88", 23, "compute API 2.88"),
        (
            "2.96",
            30,
            "compute API 2.96, which is that of 2024.1 and 2024.2; the later is taken",
        ),
        ("2.103", 33, "compute API 2.103"),
        ("2.104", 34, "compute API 2.104"),
        (
            "2.200",
            34,
            "compute API 2.200, newer than any known; the newest known is taken",
        ),
        (
            "2.60",
            20,
            "compute API 2.60, older than any known; the oldest known is taken",
        ),
        ("2.91", 26, "compute API 2.91, on the way to zed"),
        ("2.89", 24, "compute API 2.89, on the way to xena"),
        ("", 34, "the newest release that is known"),
    ],
)
def test_else_the_compute_api_tells_the_release(maximum, release, source):
    found = assume(maximum=maximum)
    assert (found.release, found.release_source) == (release, source)


def test_every_release_has_a_microversion_and_none_goes_back():
    assert list(releases.MICROVERSIONS) == list(releases.RELEASES)
    numbers = list(releases.MICROVERSIONS.values())
    assert numbers == sorted(numbers)


def test_options_are_set_by_hand():
    found = assume(
        *("--set", "Scheduler.max_placement_results = 7"),
        *("--set", "filter_scheduler.enabled_filters=A,B"),
        *("--set", "default.default_schedule_zone=a=b"),
    )
    assert found.value(options.MAX_RESULTS) == 7
    assert found.value(options.ENABLED_FILTERS) == ("A", "B")
    assert found.value(options.DEFAULT_ZONE) == "a=b"
    assert found.setting(options.DEFAULT_ZONE).source == "--set"


def test_the_database_is_said_by_hand_and_stands_in_no_file(tmp_path):
    text = "[DEFAULT]\ndatabase_collation = x\n[database]\ncollation = x\n"
    (tmp_path / "nova.conf").write_text(text, encoding="utf-8")
    found = assume("--nova-conf", str(tmp_path / "nova.conf"))
    assumed = found.setting(options.COLLATION)
    assert (assumed.value, assumed.given) == ("case-insensitive", False)
    assert assumed.source == "the default of MariaDB and MySQL"
    given = assume("--set", "database_collation=case-sensitive")
    assert given.collation is Collation.CASE_SENSITIVE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("scheduler.max_placement_results", "is not SECTION.OPTION=VALUE"),
        ("max_placement_results=1", "did you mean scheduler.max_placement_results? "),
        ("metrics.weight_seting=1", "did you mean metrics.weight_setting"),
        ("scheduler.workers=1", "is no option that decides here. All: config show"),
        ("DEFAULT.cpu_allocation_ratio=4", "openstack resource provider inventory set"),
        ("DEFAULT.reserved_host_disk_mb=9", "with VCPU, MEMORY_MB or DISK_GB, and "),
        (
            "filter_scheduler.image_metadata_prefiler=1",
            "here; did you mean scheduler.image_metadata_prefilter? All: config show",
        ),
        (
            "scheduler.cpu_dedicated_sett=1",
            "did you mean compute.cpu_dedicated_set? It decides nothing here, too.",
        ),
        (
            "scheduler.track_instance_change=1",
            "did you mean filter_scheduler.track_instance_changes? It decides nothing",
        ),
        ("database_collation=utf8", "not one of case-insensitive, case-sensitive"),
        ("scheduler.max_placement_results=0", "'0' is not a whole number of 1 or more"),
        ("filter_scheduler.pci_in_placement=perhaps", "is not true or false"),
    ],
)
def test_what_can_not_be_set_is_a_mistake_of_use(text, words, capsys):
    with pytest.raises(SystemExit) as caught:
        parse("--set", text)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


def test_one_cloud_is_not_of_two_deployments():
    with pytest.raises(BadUsage):
        assume("--environment", "env.yaml", "--control-plane", "cp.yaml")


def test_a_baseline_that_is_not_known_is_a_mistake_of_use():
    with pytest.raises(SystemExit):
        parse("--baseline", "devstack")


@pytest.mark.parametrize(
    ("argv", "maximum", "others"),
    [
        ((), "2.96", [29]),
        ((), "2.100", [31]),
        ((), "2.93", []),
        ((), "2.89", []),
        (("--nova-release", "30"), "2.96", []),
        # No RHOSO is of 2023.2.
        (("--baseline", "rhoso"), "2.95", []),
    ],
)
def test_releases_of_the_same_compute_api_are_possible_unless_one_is_named(
    argv, maximum, others
):
    found = assume(*argv, maximum=maximum)
    assert [each.release for each in found.others] == others


# A new source of settings is one class in the registry.


class Notes(FileSource):
    """A made-up tool's files: lines of an option and its value."""

    name = "notes"
    flag = "--notes"
    help = "a file of a made-up tool"
    rank = 4
    is_list = True

    def read(self, paths):
        for path in paths:
            lines = document.read_text(path).splitlines()
            pairs = enumerate((line.split(" ") for line in lines), start=1)
            yield Layer(SET.read((n, Entry(v, path, i)) for i, (n, v) in pairs))


@pytest.fixture
def run(cloud, tmp_path, monkeypatch):
    monkeypatch.setitem(SOURCES, Notes.name, Notes())
    (tmp_path / "a.txt").write_text(f"{options.ISOLATION} true\n", encoding="utf-8")
    cloud.metadata[f"trait:{GOLD}"] = "required"
    variables = {**shell.login("http://nowhere"), "XDG_CONFIG_HOME": str(tmp_path)}
    return lambda *arguments: shell.run(variables, "trait-sched", *arguments)


def test_a_new_source_is_an_option_is_saved_is_shown_and_is_judged(run, tmp_path):
    notes, saved = f"{tmp_path}/a.txt", f"{tmp_path}/osc-traitsched/default.yaml"
    assert "--notes FILE" in run("explain", "--help-all").out
    assert "isolation-off" in run("check", "isolation").out
    assert "isolation-off" not in run("check", "isolation", "--notes", notes).out
    written = run("config", "save", "--notes", notes).out
    assert written == f"Wrote {saved}:\nnotes:\n- {notes}\n"
    assert "isolation-off" not in run("check", "isolation").out
    rows = run("config", "show", "-f", "json").json
    sources = {row["option"]: row["source"] for row in rows}
    assert (sources["settings"], sources[options.ISOLATION]) == (saved, f"{notes}:1")


# What filter try exits with, and what it reads of the options.


ERROR = Raises("KeyError", "", "'x'")


def of_filter(*answers):
    found = {str(number): answer for number, answer in enumerate(answers)}
    return PluginJudgment("34.0.0", {"F": found}, {}, {})


def of_weigher(weights):
    return PluginJudgment("34.0.0", {}, {"W": weights}, {})


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (of_filter(PASSES, Fails(OWN), Unknown("pci_stats")), 0),
        (of_filter(Fails(OWN), Unknown("pci_stats")), 8),
        (of_filter(Fails(OWN), Fails(OWN)), 3),
        (of_filter(), 3),
        (of_filter(PASSES, ERROR), 3),
        (of_weigher(Weighed({}, {}, {})), 0),
        (of_weigher(Unknown("pci_stats")), 8),
        (of_weigher(ERROR), 3),
    ],
)
def test_the_exit_code_says_whether_a_host_is_left(found, code):
    assert explain._exit_code_of_try(found) == code


def test_several_classes_are_named_to_choose_from():
    several = PluginJudgment("34.0.0", {"m.all:B": {}}, {"m.all:A": ERROR}, {})
    text = r"2 plugins match; name one: m\.all:A, m\.all:B"
    with pytest.raises(BadUsage, match=text):
        explain._check_one(several)


# Two clouds have no name in common, however alike they are built.


INTERNAL = "http://controller:8778"


class LoggedIn(v3.Token):
    """Has a catalog with Placement in two regions; nobody is asked for it."""

    def __init__(self, *ids):
        super().__init__("http://controller:5000/v3", "token")
        endpoints = [
            {
                "id": f"{identity}-{interface}",
                "interface": interface,
                "region": region,
                "region_id": region,
                "url": f"{INTERNAL}/",
            }
            for identity, region in zip(ids, ("one", "two"))
            for interface in ("public", "internal")
        ]
        service = {"id": "s", "type": "placement", "name": "p", "endpoints": endpoints}
        self._body = {"token": {"catalog": [service]}}

    def get_access(self, session, **kwargs):
        return access.AccessInfoV3(self._body, "token")


def named(auth, **config):
    region = cloud_region.from_session(
        session.Session(auth),
        region_name=config.pop("region_name", "one"),
        interface="internal",
        **config,
    )
    return name_of(types.SimpleNamespace(config=region))


def test_clouds_of_the_same_addresses_differ_by_what_keystone_made():
    assert named(LoggedIn("a")) == f"{INTERNAL} a-internal"
    assert named(LoggedIn("b")) == f"{INTERNAL} b-internal"
    assert named(LoggedIn("a", "b"), region_name="two") == f"{INTERNAL} b-internal"


@pytest.mark.parametrize(("ids", "said"), [(("a",), " a-internal"), ((), "")])
def test_it_is_where_writes_go_whatever_the_catalog_says(ids, said):
    elsewhere = "http://elsewhere/placement"
    found = named(LoggedIn(*ids), placement_endpoint_override=elsewhere)
    assert found == f"{elsewhere}{said}"


def test_without_a_keystone_there_is_an_address_alone():
    assert named(token_endpoint.Token(f"{INTERNAL}/", "admin")) == INTERNAL
