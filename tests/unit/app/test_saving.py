"""What is kept of how the scheduler is set, and how it is written."""

import os
import stat

import pytest

from osc_traitsched.app import settings
from osc_traitsched.app.settings import SettingsSources, save
from osc_traitsched.config import saved
from osc_traitsched.config.saved import Places
from osc_traitsched.config.sources import SET
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "nova.conf").write_text("[scheduler]\n", encoding="utf-8")
    (folder / "env.yaml").write_text("parameter_defaults: {}\n", encoding="utf-8")
    return folder


@pytest.fixture
def prod(tmp_path):
    return Places("prod", variables={"XDG_CONFIG_HOME": str(tmp_path / "config")})


CONF = SettingsSources(nova_conf=("nova.conf",))


def test_what_is_kept_is_found_again_with_absolute_paths(here, prod):
    sources = SettingsSources(
        nova_release=29,
        baseline="tripleo",
        nova_conf=("nova.conf", "."),
        environments=("./env.yaml",),
        options=((options.MAX_RESULTS, "5"), (options.ISOLATION, "true")),
    )
    text, _ = save(sources, prod)
    assert text.splitlines()[:3] == [
        *("nova_release: '2024.1'", "baseline: tripleo", "nova_conf:"),
    ]
    found = saved.find(prod)
    assert found.place == prod.own_document
    assert (found.release, found.distributions[0]) == (29, "tripleo")
    assert found.conf_files == (f"{here}/nova.conf", str(here))
    assert found.paths == (*found.conf_files, f"{here}/env.yaml")
    assert [entry.value for _, entry in found.named[SET]] == ["5", "true"]


def test_only_its_user_can_read_it_and_nothing_else_is_left(prod):
    save(CONF, prod)
    folder, name = os.path.split(prod.own_document)
    assert os.listdir(folder) == [name]
    assert stat.S_IMODE(os.stat(prod.own_document).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700


def test_what_a_link_points_to_is_written_and_the_link_stays(tmp_path, prod):
    kept = tmp_path / "dotfiles.yaml"
    kept.write_text("", encoding="utf-8")
    os.makedirs(os.path.dirname(prod.own_document))
    os.symlink(kept, prod.own_document)
    save(CONF, prod, force=True)
    assert os.path.islink(prod.own_document)
    assert "nova.conf" in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "sources",
    [
        SettingsSources(nova_conf=("none.conf",)),
        SettingsSources(options=((options.MAX_RESULTS, "many"),)),
        SettingsSources(control_plane="env.yaml"),
    ],
)
def test_what_cannot_be_is_not_kept(prod, sources):
    with pytest.raises(BadConfiguration):
        save(sources, prod)
    assert not os.path.lexists(prod.own_document)


def test_a_pipe_is_not_kept(here, prod):
    os.mkfifo(here / "pipe")
    with pytest.raises(BadConfiguration, match="not a file"):
        save(SettingsSources(nova_conf=("pipe",)), prod)


def test_a_write_that_fails_leaves_what_was_there(prod, monkeypatch):
    save(CONF, prod)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadConfiguration, match="No space left"):
        save(SettingsSources(baseline="charmed"), prod, force=True)
    assert saved.find(prod).distributions == ["upstream"]
    assert len(os.listdir(os.path.dirname(prod.own_document))) == 1


def test_a_folder_that_cannot_be_made_is_one_line(here):
    nowhere = Places("prod", variables={"XDG_CONFIG_HOME": f"{here}/nova.conf"})
    with pytest.raises(BadConfiguration):
        save(CONF, nowhere)


@pytest.mark.parametrize(("mode", "is_open"), [(0o600, False), (0o644, True)])
def test_a_file_with_a_password_is_named_with_its_line(here, mode, is_open):
    path = here / "whole.conf"
    path.write_text("[scheduler]\n[database]\nconnection = mysql://nova:x@db\n")
    path.chmod(mode)
    (caution,) = settings.exposed(SettingsSources(nova_conf=("whole.conf",)))
    assert caution.startswith("whole.conf:3 has a password")
    assert ("others can read it" in caution) is is_open
    assert list(settings.exposed(CONF)) == []
    path.write_text(
        "[libvirt]\nrbd_secret_uuid = 1\nconnection_uri = qemu:///system\n"
        "[placement]\npassword =\nauth_url = http://keystone:5000\n"
    )
    assert list(settings.exposed(SettingsSources(nova_conf=("whole.conf",)))) == []
