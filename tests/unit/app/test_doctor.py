"""The doctor looks at this machine, and reads the aggregates once."""

from __future__ import annotations

import pytest

from osc_traitsched.app import settings
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.config import saved
from osc_traitsched.config.saved import Places
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova import options
from tests.unit.app.recorded import RecordedCloud

SCHEDULERS = [
    {"host": "nova-scheduler-1", "state": "down"},
    {"host": "nova-scheduler-0", "state": "up"},
]

ALWAYS = [options.IMAGE_TYPE, options.ENABLED_FILTERS]


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(saved, "SYSTEM_FOLDER", str(tmp_path / "etc"))
    kolla, package = tmp_path / "kolla.conf", tmp_path / "nova.conf"
    monkeypatch.setattr(saved, "ON_CONTROLLERS", {"a package's": (str(package),)})
    monkeypatch.setattr(saved, "INPUTS", {str(kolla): ("input", "kolla-ansible")})
    return tmp_path


def diagnose(release, sources=None, **more):
    sources = sources or SettingsSources(nova_release=release, **more)
    listed = {"/os-services?binary=nova-scheduler": {"services": SCHEDULERS}}
    cloud = RecordedCloud(compute=listed)
    return settings.diagnose(cloud, sources, Places())


def test_options_that_no_aggregate_needs_are_left_out():
    found = diagnose(34)
    assert dict(found.unknown) == {
        options.ISOLATION: ("gold",),
        **dict.fromkeys(ALWAYS, ()),
    }
    assert diagnose(27).unknown[options.AZ_QUERY] == ("zone1",)
    assert found.unused == ()


def test_what_is_supplied_is_known(machine):
    found = diagnose(34, options=((options.ISOLATION, "true"),))
    assert list(found.unknown) == ALWAYS
    (machine / "nova.conf").write_text("[scheduler]\n", encoding="utf-8")
    assert diagnose(34, nova_conf=(str(machine / "nova.conf"),)).unknown == {}


def test_files_of_this_machine_that_are_not_in_use_are_found(machine):
    for name in ("kolla.conf", "nova.conf", ".config/osc-traitsched/default.yaml"):
        path = machine / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    nova_conf = str(machine / "nova.conf")
    package = SettingsSources(f"{nova_conf} (a package's)", nova_conf=(nova_conf,))
    found = diagnose(34, SettingsSources(found=package))
    document, kolla = found.unused
    assert (document.whose, document.is_nova_conf) == ("settings document", False)
    assert (kolla.paths, kolla.baseline) == (
        (str(machine / "kolla.conf"),),
        "kolla-ansible",
    )
    assert kolla.is_readable
    assert found.assumed.place == package.place


def test_the_scheduler_that_is_up_tells_how_to_start_a_python_beside_it():
    (found,) = diagnose(34).pythons
    assert (found.tool, found.host) == ("RHOSO", "nova-scheduler-0")


def test_a_cloud_that_lists_no_services_leaves_all_tools():
    forbidden = CloudBroke("compute", "not allowed", 403)
    cloud = RecordedCloud(compute={"/os-services?binary=nova-scheduler": forbidden})
    assert len(settings.nova_pythons(cloud)) > 1
