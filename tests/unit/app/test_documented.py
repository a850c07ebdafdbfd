"""The page on Python: its examples run, and print what it says."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import textwrap

import openstack
import pytest

from osc_traitsched.cloud.connection import HttpCloud
from tests.unit.app.recorded import RecordedCloud

PAGE = pathlib.Path(__file__).parents[3] / "doc/source/reference/python.rst"


def blocks(language):
    found = re.finditer(
        rf"^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", PAGE.read_text(), re.M
    )
    return [textwrap.dedent(each[1]).strip() + "\n" for each in found]


def printed(source, **names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, str(PAGE), "exec"), names)
    return out.getvalue()


@pytest.mark.parametrize("number", [0, 1], ids=["of-a-cloud", "without-a-cloud"])
def test_an_example_prints_what_the_page_says(number):
    _, *examples = blocks("python")
    assert len(examples) == len(blocks("text")) == 2
    found = printed(examples[number], cloud=RecordedCloud())
    assert found == blocks("text")[number]


def test_a_cloud_is_made_from_a_connection_and_asks_nothing_yet(monkeypatch):
    wanted = []
    monkeypatch.setattr(openstack, "connect", lambda cloud: wanted.append(cloud))
    names = {}
    exec(blocks("python")[0], names)
    assert wanted == ["mycloud"]
    assert isinstance(names["cloud"], HttpCloud)
