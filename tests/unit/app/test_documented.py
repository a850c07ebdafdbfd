"""The page on Python: its examples run, and print what it says."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import re
import textwrap

import openstack
import pytest

from osc_traitsched.cloud.connection import HttpCloud
from osc_traitsched.commands.overview import GROUPS
from tests.services.environment import REPOSITORY

PAGE = REPOSITORY / "doc/source/reference/python.rst"
FUNCTION = re.compile(r"^(\w.*?)  +``([\w.]+)\.(\w+)\((.*)\)``$", re.M)


def blocks(language):
    found = re.finditer(
        rf"^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", PAGE.read_text(), re.M
    )
    return [textwrap.dedent(each[1]).strip() + "\n" for each in found]


def printed(source, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, str(PAGE), "exec"), names)
    return out.getvalue()


def test_the_examples_print_what_the_page_says(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    first, _, *more = blocks("python")
    names = {}
    found = [printed(example, names) for example in (first, *more)]
    assert found == blocks("text")


def test_a_cloud_is_made_from_a_connection_and_asks_nothing_yet(monkeypatch):
    wanted = []
    monkeypatch.setattr(openstack, "connect", lambda cloud: wanted.append(cloud))
    names = {}
    exec(blocks("python")[1], names)
    assert wanted == ["mycloud"]
    assert isinstance(names["cloud"], HttpCloud)


@pytest.mark.parametrize("row", FUNCTION.findall(PAGE.read_text()), ids=lambda r: r[0])
def test_a_function_takes_the_arguments_of_the_table(row):
    _, module, name, arguments = row
    function = getattr(importlib.import_module(f"osc_traitsched.app.{module}"), name)
    inspect.signature(function).bind(*arguments.split(", "))
    assert list(inspect.signature(function).parameters)[: arguments.count(",") + 1] == (
        arguments.split(", ")
    )


def test_the_table_has_all_commands_but_those_that_print_a_part_of_nova_conf():
    named = {
        command.partition(" --")[0]
        for row in FUNCTION.findall(PAGE.read_text())
        for command in row[0].split(", ")
    }
    every = {command for group in GROUPS.values() for command in group}
    assert every - named == {"config nova-conf", "config tripleo", "config rhoso"}
