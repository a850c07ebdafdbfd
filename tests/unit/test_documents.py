"""What users read: no placeholders, and tables that say what the code does."""

from __future__ import annotations

import pathlib
import re
import shutil
import textwrap

import pytest

from osc_traitsched.core.change.model import Status
from tests import examples, scripts
from tests.functional import shell

ROOT = pathlib.Path(__file__).parents[2]
PAGES = (ROOT / "README.rst", *(ROOT / "doc/source").rglob("*.rst"))
SOURCES = (ROOT / "osc_traitsched").rglob("*.py")
NOTES = tuple((ROOT / "releasenotes/notes").glob("*.yaml"))

#: A directive with all that is indented below it, or a block after "::".
_BLOCK = re.compile(r"^( *)(?:\.\. |\S.*::$).*\n(?:\1 +\S.*\n|\s*\n)+", re.M)
_LITERAL = re.compile(r"``.*?``", re.S)
#: The help of a command that prints JSON and YAML.
_JSON = re.compile(r"--format FORMAT\n? .*\bjson\b.*\byaml\b", re.S)
_SHOUTED = re.compile(r"\b[A-Z]{4,}\b")


def prose(text):
    """Return a page without its blocks of code and its literals."""
    return _LITERAL.sub("", _BLOCK.sub("", text))


def test_no_placeholder_is_left_in_what_users_read():
    assert _SHOUTED.findall(prose("It took MANYRAN. ``--env FILE``\n")) == ["MANYRAN"]
    # An abbreviation that a page needs is somewhere in the code as well.
    known = {"README"}.union(*(_SHOUTED.findall(p.read_text("utf-8")) for p in SOURCES))
    for path in (*PAGES, *NOTES):
        left = {*_SHOUTED.findall(prose(path.read_text("utf-8")))} - known
        assert not left, path


def test_the_release_note_names_the_commands_that_print_no_json():
    (note,) = NOTES
    text = re.search(
        r"print JSON and YAML, except (.*?), whose", note.read_text(), re.S
    )
    without = [
        verb.removeprefix("trait-sched ")
        for verb in examples.verbs()
        if not _JSON.search(shell.run({}, *verb.split(), "--help-all").out)
    ]
    assert re.findall(r"``(.+?)``", text[1]) == without


def test_the_statuses_of_changes_are_those_of_the_table():
    page = (ROOT / "doc/source/reference/json.rst").read_text("utf-8")
    table = page.partition("``status`` is one of these:")[2].split("\n\n")[1]
    head, *rows = re.findall(r"^``(.+?)``", table, re.M)
    assert head == "status"
    assert rows == [each.value for each in Status]


@pytest.mark.skipif(not shutil.which("jq"), reason="needs jq")
def test_the_page_on_json_prints_what_jq_finds_on_the_sample_cloud(tmp_path):
    page = (ROOT / "doc/source/reference/json.rst").read_text("utf-8")
    block = page.partition("code-block:: console\n\n")[2].partition("\n\n")[0]
    typed, *shown = textwrap.dedent(block).splitlines()
    variables = {"TRAITSCHED_SNAPSHOT": str(ROOT / "examples/cloud.json")}
    text = typed.removeprefix("$ ")
    done = scripts.run(tmp_path, "typed", text=text, variables=variables)
    assert done.out.splitlines() == shown, done.err
