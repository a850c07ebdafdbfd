"""The sdist and the wheel of ``tox -e build``, and the wheel as it is installed."""

from __future__ import annotations

import configparser
import email.message
import email.parser
import importlib
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator

import pytest
from cliff.command import Command
from packaging.requirements import Requirement
from packaging.version import Version

trove_classifiers = pytest.importorskip(
    "trove_classifiers", reason="tox -e build builds them, and has what this needs"
)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
NAME, PACKAGE = "osc-traitsched", "osc_traitsched"
SCHEMA = f"{PACKAGE}/config/desired/desired-state-1.schema.json"
MAN_PAGE = "doc/openstack-trait-sched.1"
# pbr keeps what only git needs out of an sdist.
ONLY_GIT = {".gitignore"}


@pytest.fixture(scope="module")
def path() -> pathlib.Path:
    """Where the wheel is; the sdist that it was built from is beside it."""
    return pathlib.Path(os.environ["TOX_PACKAGE"])


@pytest.fixture(scope="module")
def wheel(path: pathlib.Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def info(wheel: zipfile.ZipFile) -> str:
    """The folder of the wheel that describes it."""
    (found,) = {top for top in tops(wheel) if top.endswith(".dist-info")}
    return found


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile, info: str) -> email.message.Message:
    return email.parser.BytesParser().parsebytes(wheel.read(f"{info}/METADATA"))


@pytest.fixture(scope="module")
def declared() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(REPOSITORY / "setup.cfg")
    return parser


def tops(wheel: zipfile.ZipFile) -> set[str]:
    return {name.partition("/")[0] for name in wheel.namelist()}


def tracked(*paths: str) -> set[str]:
    command = ["git", "ls-files", "--", *paths]
    done = subprocess.run(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True
    )
    return set(done.stdout.splitlines())


def test_the_version_is_on_the_way_to_the_declared_one(metadata, declared):
    version = Version(metadata["Version"])
    assert version.base_version == declared["metadata"]["version"]
    assert version.is_devrelease or version.public == version.base_version


def test_the_description_is_the_readme(metadata):
    readme = (REPOSITORY / "README.rst").read_text("utf-8")
    assert metadata.get_payload(decode=True).decode().strip() == readme.strip()
    assert metadata["Description-Content-Type"] == "text/x-rst; charset=UTF-8"


def test_every_link_of_the_description_leads_to_a_page_of_the_repository(metadata):
    readme = metadata.get_payload(decode=True).decode()
    link = r"`[^`]*<([^`>]+)>`_|^\.\. (?:_[^:\n]+|(?:\|\w+\| )?\w+:): *(\S+)"
    targets = [a or b for a, b in re.findall(link, readme, re.M)]
    assert {each for each in targets if "://" not in each} <= tracked()
    # An index shows the text of a picture instead.
    pictures = re.findall(r"^\.\. image:: (\S+)\n +:alt: \S", readme, re.M)
    assert len(pictures) == readme.count(".. image::")
    assert re.findall(link, "`a <doc/b.rst>`__\n") == [("doc/b.rst", "")]


def test_the_lowest_versions_of_the_description_are_the_required_ones(metadata):
    readme = metadata.get_payload(decode=True).decode()
    table = readme.partition("Package       Lowest\n")[2].split("\n\n")[0]
    rows = dict(re.findall(r"^([a-z][\w-]+) +(\S+)$", table, re.M))
    required = map(Requirement, metadata.get_all("Requires-Dist"))
    lowest = {r.name: str(r.specifier).removeprefix(">=") for r in required}
    assert rows
    assert rows.items() <= lowest.items()


def test_the_license_is_named_and_in_the_wheel(metadata, wheel, info):
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE"]
    text = (REPOSITORY / "LICENSE").read_bytes()
    assert wheel.read(f"{info}/licenses/LICENSE") == text


def test_every_classifier_is_one_that_an_index_takes(metadata):
    classifiers = set(metadata.get_all("Classifier"))
    assert classifiers <= trove_classifiers.classifiers
    assert classifiers.isdisjoint(trove_classifiers.deprecated_classifiers)


def test_the_wheel_has_the_package_and_the_examples(wheel, info):
    data = info.replace(".dist-info", ".data")
    assert tops(wheel) == {PACKAGE, info, data}
    found = {pathlib.PurePath(n) for n in wheel.namelist() if n.startswith(data)}
    shown = {*tracked("examples"), SCHEMA, MAN_PAGE}
    assert {each.name for each in found} == {
        pathlib.PurePath(name).name for name in shown
    }
    folders = {each.parts[1:-1] for each in found if each.suffix == ".1"}
    assert folders == {("data", "share", "man", "man1")}
    others = [each for each in found if each.suffix != ".1"]
    assert all(each.parts[1:4] == ("data", "share", NAME) for each in others)
    names = {name for name in wheel.namelist() if name.startswith(f"{PACKAGE}/")}
    assert names == tracked(PACKAGE)
    assert all(wheel.read(name) == (REPOSITORY / name).read_bytes() for name in names)


def test_the_sdist_has_all_that_is_tracked(path):
    (sdist,) = path.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        names = {member.name.partition("/")[2] for member in opened.getmembers()}
    assert tracked() - ONLY_GIT <= names


def test_what_pytest_and_modules_of_the_tests_import_is_the_wheel():
    installed = pathlib.Path(sysconfig.get_path("purelib")) / PACKAGE / "__init__.py"
    assert importlib.import_module(PACKAGE).__file__ == str(installed)
    program = f"import tests, {PACKAGE}; print({PACKAGE}.__file__)"
    found = subprocess.check_output(
        [sys.executable, "-c", program], cwd=REPOSITORY, text=True
    )
    assert found == f"{installed}\n"


def test_every_declared_command_is_there_with_what_the_wheel_requires(declared):
    lines = declared["entry_points"]["openstack.extension"].strip().splitlines()
    names = {line.partition("=")[0].strip() for line in lines}
    found = importlib.metadata.distribution(NAME).entry_points
    assert {point.name for point in found} == names
    assert all(isinstance(point.load()(None, None), Command) for point in found)


def test_the_installed_package_prints_the_schema_of_explain():
    program = [sys.executable, "-m", f"{PACKAGE}.views.schemas", "explain"]
    schema = json.loads(subprocess.check_output(program, cwd="/", text=True))
    assert schema["$schema"].startswith("https://json-schema.org/")
