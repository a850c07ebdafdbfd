"""What the doctor says of settings."""

import subprocess

import pytest

from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core.answer import Diagnosis, OnMachine
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.paste import Option
from osc_traitsched.views import config

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


def test_it_fits_on_a_screen_and_has_the_commands(golden):
    lines = list(
        config.doctor_lines(Diagnosis(SchedulerSettings(), (), UNKNOWN), CLOUD)
    )
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
    _, rows = config.doctor_rows(Diagnosis(SchedulerSettings(), (), UNKNOWN), ())
    assert [row[1] for row in rows if row[0] == "unknown"] == list(UNKNOWN)
    assert [row[1] for row in rows if row[0] == "how to"] == list(config.HOW_TO)
