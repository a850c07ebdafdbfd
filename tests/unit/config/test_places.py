"""Where settings are found when nobody names them, and which place goes first."""

import os
import pathlib

import pytest

from osc_traitsched.config import saved
from osc_traitsched.config.saved import Places
from osc_traitsched.core.errors import BadConfiguration

CLOUDS = """\
clouds:
  prod:
    auth: {}
    traitsched:
      nova_conf: clouds.conf
  regional:
    regions:
    - plain
    - name: west
      values:
        traitsched: {nova_conf: west.conf}
    traitsched: {nova_conf: all.conf}
"""

PACKAGE = ("nova.conf", "nova-scheduler.conf", "nova.conf.d", "nova-scheduler.conf.d")


@pytest.fixture(autouse=True)
def host(tmp_path, monkeypatch):
    """A host whose folders are all in one, and empty at first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(saved, "SYSTEM_FOLDER", str(tmp_path / "etc"))
    on_controllers = {
        "Kolla's": (str(tmp_path / "kolla" / "nova.conf"),),
        "a package's": tuple(str(tmp_path / "nova" / each) for each in PACKAGE),
    }
    monkeypatch.setattr(saved, "ON_CONTROLLERS", on_controllers)
    return tmp_path


def write(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def user(host, cloud="prod"):
    return host / "home" / ".config" / "osc-traitsched" / f"{cloud}.yaml"


def fill(host):
    """Have settings in every place, and return the places."""
    write(host / "kolla" / "nova.conf", "")
    write(host / "nova" / "nova.conf", "")
    write(host / "etc" / "prod.yaml", "nova_conf: system.conf")
    write(user(host), "nova_conf: user.conf")
    clouds = write(host / "clouds.yaml", CLOUDS)
    variable = write(host / "variable.yaml", "nova_conf: variable.conf")
    return Places("prod", clouds_file=clouds, variables={saved.VARIABLE: variable})


def test_on_a_host_without_any_there_are_none():
    assert saved.find(Places("prod")) is None


def test_the_first_place_that_says_anything_is_taken_whole(host):
    everywhere = fill(host)
    clouds = everywhere.clouds_file
    without_variable = Places("prod", clouds_file=clouds)
    found = [saved.find(everywhere), saved.find(without_variable)]
    bare = Places("prod")
    for path in (user(host), host / "etc/prod.yaml", host / "kolla/nova.conf"):
        found.append(saved.find(bare))
        path.unlink()
    found.append(saved.find(bare))
    assert [each.place for each in found] == [
        f"{host}/variable.yaml (TRAITSCHED_SETTINGS)",
        f"{clouds}:5 (cloud prod)",
        "~/.config/osc-traitsched/prod.yaml",
        f"{host}/etc/prod.yaml",
        f"{host}/kolla/nova.conf (Kolla's)",
        f"{host}/nova/nova.conf (a package's)",
    ]
    assert [pathlib.Path(each.conf_files[0]).name for each in found] == [
        *("variable.conf", "clouds.conf", "user.conf", "system.conf"),
        *("nova.conf", "nova.conf"),
    ]


def test_a_document_that_says_nothing_is_passed_over(host):
    write(user(host), "# nothing yet\n")
    write(host / "etc" / "prod.yaml", "nova_conf: system.conf")
    assert saved.find(Places("prod")).place == f"{host}/etc/prod.yaml"


def test_each_cloud_has_its_own_document_and_so_has_a_login_without_one(host):
    write(user(host), "nova_release: 27")
    write(user(host, "default"), "nova_release: 29")
    assert saved.find(Places("prod")).release == 27
    assert saved.find(Places()).release == 29
    assert saved.find(Places("stage")) is None


def test_a_region_of_a_cloud_can_have_settings_of_its_own(host):
    clouds = write(host / "clouds.yaml", CLOUDS)
    for region, name in (("west", "west"), ("plain", "all"), ("", "all")):
        found = saved.find(Places("regional", region, clouds))
        assert found.conf_files == (f"{host}/{name}.conf",)


def test_settings_of_a_cloud_that_are_not_in_its_entry_are_not_passed_over(host):
    clouds = write(host / "clouds.yaml", "clouds: {prod: {profile: acme}}")
    with pytest.raises(BadConfiguration, match="must stand in the cloud's own entry"):
        saved.find(Places("prod", clouds_file=clouds))


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("prod", "prod.yaml"),
        ("prod 2", "prod 2.yaml"),
        ("../../etc/passwd", "..%2F..%2Fetc%2Fpasswd.yaml"),
        ("/", "%2F.yaml"),
        ("..", "...yaml"),
        ("a\nb\udcff", "a%0Ab%FF.yaml"),
    ],
)
def test_no_name_of_a_cloud_leads_out_of_the_folder(name, file_name):
    folder, own = os.path.split(Places(name).own_document)
    assert (folder, own) == ("~/.config/osc-traitsched", file_name)


def test_the_users_folder_is_where_xdg_says_if_that_is_an_absolute_path(host):
    there = Places("prod", variables={"XDG_CONFIG_HOME": "/there"})
    assert there.own_document == "/there/osc-traitsched/prod.yaml"
    relative = Places("prod", variables={"XDG_CONFIG_HOME": "here"})
    assert relative.own_document == "~/.config/osc-traitsched/prod.yaml"


def test_a_document_that_the_variable_names_and_is_not_there_is_an_error():
    named = Places("prod", variables={saved.VARIABLE: "none.yaml"})
    with pytest.raises(BadConfiguration) as caught:
        saved.find(named)
    assert (caught.value.path, caught.value.value) == (saved.VARIABLE, "none.yaml")


@pytest.mark.parametrize("text", ["nova_conf: {a: b}", "a: 'b", "nova_conf: \udcff"])
def test_a_document_that_cannot_be_read_is_an_error_wherever_it_is(host, text):
    user(host).parent.mkdir(parents=True)
    user(host).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(BadConfiguration):
        saved.find(Places("prod"))


def test_a_link_to_nowhere_is_an_error(host):
    user(host).parent.mkdir(parents=True)
    user(host).symlink_to("nowhere.yaml")
    with pytest.raises(BadConfiguration, match="No such file"):
        saved.find(Places("prod"))


def test_of_a_package_what_oslo_config_reads_is_read_in_its_order(host):
    for name in (*PACKAGE[:2], f"{PACKAGE[3]}/10.conf"):
        write(host / "nova" / name, "")
    found = saved.find(Places("prod"))
    names = [os.path.basename(each) for each in found.conf_files]
    assert names == ["nova.conf", "nova-scheduler.conf", "nova-scheduler.conf.d"]


def test_a_controllers_file_that_may_not_be_read_is_passed_over(host, monkeypatch):
    for path in ("kolla/nova.conf", "nova/nova.conf", "nova/nova.conf.d/10.conf"):
        write(host / path, "")
    secret = {f"{host}/kolla/nova.conf"}
    monkeypatch.setattr(os, "access", lambda path, mode: path not in secret)
    assert saved.find(Places("prod")).place == f"{host}/nova/nova.conf (a package's)"
    # What it leaves out would be missing.
    secret.add(f"{host}/nova/nova.conf.d/10.conf")
    assert saved.find(Places("prod")) is None
