"""What the doctor says of settings."""

from osc_traitsched.core.diagnosis import Diagnosis, OnMachine
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.paste import Option
from osc_traitsched.views import doctor

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
    lines = list(doctor.lines(Diagnosis(SchedulerSettings(), (), UNKNOWN), CLOUD))
    golden("config/doctor", lines)
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)


def test_files_that_are_not_in_use_have_the_command_that_saves_them(golden):
    used = SchedulerSettings(place="prod.yaml")
    found = Diagnosis(used, UNUSED, {})
    golden("config/doctor-unused", doctor.lines(found, CLOUD))
    columns, rows = doctor.rows(found, CLOUD)
    assert all(len(row) == len(columns) for row in rows)
    assert [row[0] for row in rows] == ["in use", *["not in use"] * 3]
    assert [bool(row[3]) for row in rows] == [False, True, False, False]


def test_rows_name_options_and_deployments():
    _, rows = doctor.rows(Diagnosis(SchedulerSettings(), (), UNKNOWN), ())
    assert [row[1] for row in rows if row[0] == "unknown"] == list(UNKNOWN)
    assert [row[1] for row in rows if row[0] == "how to"] == list(doctor.HOW_TO)
