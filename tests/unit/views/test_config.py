"""Settings as rows, and what the doctor says of them."""

from __future__ import annotations

import pathlib
import subprocess
import textwrap

import pytest

from osc_traitsched.config import deployments, sources
from osc_traitsched.config.sources import (
    CONTROL_PLANE,
    ENVIRONMENTS,
    SettingsSources,
    resolve,
)
from osc_traitsched.core import releases
from osc_traitsched.core.answer import Diagnosis, OnMachine
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import NoEffect, SchedulerSettings, Setting
from osc_traitsched.paste import Option
from osc_traitsched.text import option
from osc_traitsched.views import config
from tests.golden import screens

# SchedulerSettings as rows, and the comments of a fragment.


GIVEN = Setting(("A", "AvailabilityZoneFilter"), "nova.conf:3", given=True)


def rows(release=23, settings=None, ignored=(), given=True):
    found = SchedulerSettings(release, settings or {}, "a test", ignored=ignored)
    return {row[0]: row[1:] for row in config.rows(found, given)[1]}


def cautions(*wanted, release=23, settings=None, named=False, replaces=False):
    turned = options.switch(wanted, SchedulerSettings(release, settings or {}))
    return config.cautions(turned, named, replaces)


@pytest.mark.parametrize("release", releases.RELEASES)
def test_one_row_for_release_and_settings_and_one_for_each_option(release):
    names = [each.name for each in options.options_in(release)]
    assert list(rows(release)) == ["release", "settings", *names]


def test_the_release_is_a_number_to_programs_and_has_its_name_for_people():
    value, source, status = rows(given=False)["release"]
    assert (value.machine_readable(), value.human_readable()) == (
        23,
        "Wallaby (Nova 23)",
    )
    assert (source, status) == ("a test", "assumed")
    assert rows(given=True)["release"][2] == "given"


def test_values_keep_their_types_for_programs_and_have_novas_words_for_people():
    found = rows(settings={options.ENABLED_FILTERS: GIVEN})
    value, source, status = found[options.ENABLED_FILTERS]
    assert value.machine_readable() == ["A", "AvailabilityZoneFilter"]
    assert value.human_readable() == "A\nAvailabilityZoneFilter"
    assert (source, status) == ("nova.conf:3", "given")
    value, source, status = found[options.ISOLATION]
    assert (value.machine_readable(), value.human_readable()) == (False, "false")
    assert (source, status) == ("the default of wallaby", "assumed")


def test_what_the_release_ignores_comes_last_and_has_no_value():
    ignored = ((options.PCI_IN_PLACEMENT, "nova.conf:7"),)
    found = rows(ignored=ignored)
    value, source, status = found[options.PCI_IN_PLACEMENT]
    assert list(found)[-1] == options.PCI_IN_PLACEMENT
    assert value.machine_readable() is None
    assert (source, status) == ("nova.conf:7", "ignored")


def test_what_was_not_confirmed_or_looked_at_is_a_caution(golden):
    said = {
        "the default filters": cautions("az"),
        "a filter that may be elsewhere": cautions("az", release=27),
        "a text that is replaced": cautions("isolation", replaces=True),
    }
    golden("config/cautions", [line for found in said.values() for line in found])
    assert [len(found) for found in said.values()] == [1, 1, 1]
    assert cautions("az", release=28) == cautions("az", release=27)


def test_what_is_confirmed_or_does_not_depend_on_filters_is_none():
    for found in (
        cautions("az", named=True),
        cautions("az", release=27, named=True),
        cautions("az", settings={options.ENABLED_FILTERS: GIVEN}),
        cautions("isolation"),
    ):
        assert found == []


def test_comments_are_one_line_each_and_ascii(golden):
    both = options.switch(["isolation", "az"], SchedulerSettings(28))
    nothing = options.switch(["az"], SchedulerSettings(28))
    texts = {
        source.tool: config.comments(source.where, both, ["take care"], has_body=True)
        for source in (ENVIRONMENTS, sources.NOVA_CONF, CONTROL_PLANE)
    }
    texts["nothing to set"] = config.comments("THIS", nothing, [], has_body=False)
    lines = {name: text.splitlines() for name, text in texts.items()}
    golden("config/comments", screens(lines))
    assert all(map(str.isascii, texts.values()))
    assert all(line.startswith("# ") for found in lines.values() for line in found)


def test_what_is_written_is_shown_as_no_terminal_obeys_it(golden):
    golden(
        "config/saved", config.saved("a\nb\x1b.yaml", "baseline: a\x1b\n", False, False)
    )


def test_what_stands_in_no_file_is_named_in_words():
    assert option(options.ISOLATION).startswith("[scheduler]enable_isolated")
    assert option(options.COLLATION) == "database collation"


def test_a_person_sees_what_is_not_the_default_and_what_has_no_effect(golden):
    default = Setting(True, "nova.conf:1", given=True)
    found = SchedulerSettings(
        33,
        {
            options.ENABLED_FILTERS: Setting(
                ("ComputeFilter", "ImagePropertiesFilter", "NUMATopologyFilter"),
                "/etc/kolla/nova-scheduler/nova.conf:3",
                given=True,
            ),
            options.ISOLATION: Setting(True, "nova.conf:9", given=True),
            options.RESTRICT_ISOLATED_HOSTS: default,
        },
        "compute API 2.103",
        ignored=((options.AZ_QUERY, "nova.conf:7"),),
        no_effect=(
            NoEffect("DEFAULT.max_placement_results", "c:3", options.MAX_RESULTS),
        ),
        place="nova.conf",
    )
    short, whole = list(config.lines(found)), list(config.lines(found, is_all=True))
    golden("config/show", short)
    golden("config/show-all", whole)
    assert all(len(line) <= 80 for line in whole)
    assert not any("(--all)" in line for line in whole)


# What the doctor says of settings.


NOVA_CONF = """\
[DEFAULT]
# transport_url=rabbit://guest:guest@old
transport_url = rabbit://nova:hunter2@10.0.0.1:5672,
  rabbit://nova:hunter2@10.0.0.2:5672
default_schedule_zone = az-east
allow_resize_to_same_host: true
[api_database]
connection = mysql+pymysql://nova_api:hunter2@10.0.0.9/nova_api
[keystone_authtoken]
password=hunter2
[oslo_messaging_rabbit]
rabbit_password = hunter2
[cinder]
auth_url = https://10.0.0.1:5000
cross_az_attach = false
password = hunter2
[pci]
alias = {"name": "a1", "vendor_id": "10de", "product_id": "20f1"}
alias = {"name": "a2", "vendor_id": "8086"}
[scheduler]
enable_isolated_aggregate_filtering = true

[filter_scheduler]
enabled_filters = ComputeFilter,
    NUMATopologyFilter,
\tPciPassthroughFilter
[neutron]
metadata_proxy_shared_secret = hunter2
enabled_filters = JsonFilter
[workarounds]
disable_fallback_pcpu_query = true
"""


def only_read(text):
    command = ["sh", "-c", config.ONLY_READ]
    return subprocess.run(command, input=text, capture_output=True, text=True).stdout


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_command_keeps_what_is_read_and_no_password(tmp_path, end):
    kept = only_read(NOVA_CONF.replace("\n", end))
    for secret in ("password", "connection", "transport_url", "rabbit", "hunter2"):
        assert secret not in kept
    values = []
    for name, text in (("whole", NOVA_CONF), ("kept", kept)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        settings = resolve(
            SettingsSources(nova_release=34, nova_conf=(str(tmp_path / name),))
        )
        values.append({key: each.value for key, each in settings.settings.items()})
    assert values[0] == values[1]
    assert len(values[0]) == 7


def test_the_command_keeps_every_option_by_all_its_names():
    for name in options.NAMES:
        section, _, key = name.rpartition(".")
        text = f"[{section}]\n{key} = 1\n"
        assert not section or only_read(text) == text


CLOUD = (Option("--os-cloud", "prod"),)
KOLLA = "/etc/kolla/config/nova.conf"
OSA = "/etc/openstack_deploy/user_variables.yml"
UNUSED = (
    OnMachine("input of kolla-ansible", (KOLLA,), True, baseline="kolla-ansible"),
    OnMachine("input of openstack-ansible", (OSA,), True, is_nova_conf=False),
    OnMachine("on this host", ("/etc/nova/nova.conf", "/etc/nova/nova.conf.d"), False),
)
UNKNOWN = {
    options.ISOLATION: ("gold", "windows"),
    options.TENANT: ("acme-hosts",),
    options.IMAGE_TYPE: (),
    options.ENABLED_FILTERS: (),
}


def unknown(*hosts):
    pythons = deployments.nova_pythons(hosts, "laptop")
    return Diagnosis(SchedulerSettings(), (), UNKNOWN, pythons)


def test_it_fits_on_a_screen_and_has_the_commands(golden):
    lines = list(config.doctor_lines(unknown(), CLOUD))
    golden("config/doctor", lines)
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)


def test_files_that_are_not_in_use_have_the_command_that_saves_them(golden):
    used = SchedulerSettings(place="prod.yaml")
    found = Diagnosis(used, UNUSED, {})
    golden("config/doctor-unused", config.doctor_lines(found, CLOUD))
    columns, rows = config.doctor_rows(found, CLOUD)
    assert all(len(row) == len(columns) for row in rows)
    assert [row[0] for row in rows] == ["in use", *["not in use"] * 3]
    assert [bool(row[3]) for row in rows] == [False, True, False, False]


def test_rows_name_options_and_deployments():
    found = unknown()
    _, rows = config.doctor_rows(found, ())
    assert [row[1] for row in rows if row[0] == "unknown"] == list(UNKNOWN)
    tools = [each.tool for each in found.pythons]
    assert [row[1] for row in rows if row[0] == "how to"] == tools


def test_the_line_for_a_known_host_is_to_be_pasted(golden):
    lines = list(config.doctor_lines(unknown("nova-scheduler-0"), CLOUD))
    golden("config/doctor-rhoso", lines)


def test_options_that_name_settings_are_in_the_command_that_saves_them():
    named = [Option("--nova-conf", "my nova.conf")]
    found = Diagnosis(SchedulerSettings(place="the command line"), (), {})
    _, command, *_ = config.doctor_lines(found, CLOUD, named)
    assert command == (
        "  openstack --os-cloud prod trait-sched config save --nova-conf 'my nova.conf'"
    )


def test_the_page_on_nova_conf_has_the_command():
    root = pathlib.Path(__file__).parents[3]
    page = root / "doc/source/administer/nova-conf.rst"
    assert textwrap.indent(config.ONLY_READ, "   ") in page.read_text("utf-8")
