"""Ansible's own tests of a collection, on ours as it is installed."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest
import yaml

from tests.services.environment import REPOSITORY

pytest.importorskip("ansible.module_utils.basic", reason="tox -e ansible has it")

#: Those that need a program which no package index has.
LEFT_OUT = ("pslint", "shellcheck")

#: What an environment of ansible-test gets pip from; it would fetch this file from a
#: site of its own, whose name has the version.
GET_PIP = "import ensurepip\n\nensurepip.bootstrap()\n"
VERSION = re.compile(r"default_packages = dict\(\s*pip='([\d.]+)'")


@pytest.fixture
def home():
    """Where ansible-test keeps its environments: beside its own, for the next run."""
    from ansible_test._internal import python_requirements

    found = VERSION.search(pathlib.Path(python_requirements.__file__).read_text())
    folder = pathlib.Path(sys.prefix, "ansible-test")
    cache = folder / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    name = found[1].replace(".", "_")
    (cache / f"get_pip_{name}.py").write_text(GET_PIP)
    return folder


def test_ansible_finds_nothing_wrong(collections, home):
    version = "{}.{}".format(*sys.version_info)
    skipped = [f"--skip-test={name}" for name in LEFT_OUT]
    command = ("sanity", "--python", version, "--color", "no", *skipped)
    done = subprocess.run(
        [pathlib.Path(sys.prefix, "bin", "ansible-test"), *command],
        cwd=collections / "ansible_collections" / "traitsched" / "cloud",
        env={**os.environ, "HOME": str(home), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    for name in ("validate-modules", "yamllint", "import", "pep8", "pylint"):
        assert f'Running sanity test "{name}"' in done.stdout


def test_the_version_is_that_of_the_command():
    galaxy = yaml.safe_load((REPOSITORY / "ansible" / "galaxy.yml").read_text())
    setup = (REPOSITORY / "setup.cfg").read_text("utf-8")
    assert f"\nversion = {galaxy['version']}\n" in setup
