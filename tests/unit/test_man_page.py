"""The man page that the wheel installs."""

from __future__ import annotations

import pathlib
import re
import runpy
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
pytestmark = pytest.mark.one_client

PAGE = ROOT / "doc" / "openstack-trait-sched.1"


def test_it_is_what_doc_man_py_writes_today():
    written = runpy.run_path(str(ROOT / "doc" / "man.py"))["page"]()
    assert PAGE.read_text("utf-8") == written, f"python doc/man.py > {PAGE}"


def test_it_names_all_variables_of_the_environment():
    files = (ROOT / "osc_traitsched").rglob("*.py")
    code = "".join(file.read_text("utf-8") for file in files)
    names = set(re.findall(r'"(TRAITSCHED_\w+)"', code))
    assert names
    assert names == set(re.findall(r"^\.B (TRAITSCHED_\w+)$", PAGE.read_text(), re.M))


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_groff_finds_nothing_wrong_in_it():
    command = ["groff", "-man", "-ww", "-z", str(PAGE)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
    assert done.stderr == ""
