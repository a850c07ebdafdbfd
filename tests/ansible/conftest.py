"""The collection as it is installed, and plays of it on a real cloud."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile

import pytest
import yaml

from tests.ansible.playing import Player
from tests.cloud.conftest import admin, cloud
from tests.cloud.factory import factory
from tests.services.environment import REPOSITORY

__all__ = ["admin", "cloud"]

#: The names that the deployment tools of the examples give a cloud.
CLOUDS = ("overcloud", "kolla-admin", "default")

CO_WRITERS = "ansible_collections/openstack/cloud/"


@pytest.fixture(scope="session")
def collections(tmp_path_factory):
    """A folder that ansible-galaxy has installed the collection in."""
    folder = tmp_path_factory.mktemp("collections")
    program = (sys.executable, "-m", "ansible", "galaxy")
    built = REPOSITORY / "ansible"
    install = ("collection", "install", built, "-p", folder, "--offline")
    variables = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(folder)}
    subprocess.run(
        [*program, *install], env=variables, check=True, stdout=subprocess.PIPE
    )
    return folder


@pytest.fixture(scope="session")
def co_writers(collections, tmp_path_factory):
    """The variables to play openstack.cloud with, which is unpacked beside ours.

    A package index has it only in the wheel of all collections.
    """
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps")
    subprocess.run([*pip, "--dest", folder, "ansible"], check=True)
    (wheel,) = folder.iterdir()
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if name.startswith(CO_WRITERS)]
        opened.extractall(collections, names)
    wheel.unlink()
    # Version 2.5.0 takes it for granted that an SDK imports this module by itself.
    (folder / "sitecustomize.py").write_text("import openstack.version\n")
    return {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory):
    """A Python that has nothing but its own library."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    return folder / "bin" / "python"


@pytest.fixture
def play(cloud, collections, bare_python, tmp_path):
    """Plays a playbook on the cloud, which clouds.yaml has by several names."""
    variables = cloud.environment
    auth = {
        key[len("OS_") :].lower(): value
        for key, value in variables.items()
        if key.startswith(("OS_AUTH_URL", "OS_PASSWORD", "OS_PROJECT", "OS_USER"))
    }
    entry = {"auth": auth, "traitsched": {"nova_conf": [str(cloud.nova_conf)]}}
    clouds = {"clouds": dict.fromkeys(CLOUDS, entry)}
    (tmp_path / "clouds.yaml").write_text(yaml.safe_dump(clouds), "utf-8")
    return Player(tmp_path, collections, bare_python)


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        yield maker
