"""What else is read and written for a desired state: an inventory, a reviewed plan."""

from __future__ import annotations

import json
import os
import stat

import pytest

from osc_traitsched.config import desired
from osc_traitsched.core.desired.model import DesiredState
from osc_traitsched.core.desired.planner import IDENTITY
from osc_traitsched.core.errors import BadConfiguration, BadQuestion, NothingMatches

ROW = {**dict.fromkeys(IDENTITY, "x"), "cloud": "http://here"}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(content):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "file").write_text(text, encoding="utf-8")
        return "file"

    return write


def refused(read, path):
    with pytest.raises(BadConfiguration) as caught:
        read(path)
    return str(caught.value)


def test_groups_have_the_hosts_of_the_groups_below_them_even_in_a_circle(write):
    found = desired.read_inventory(
        write(
            {
                "_meta": {"hostvars": {"a": {"ip": 1, "x": [1]}, "b": {"ip": "::2"}}},
                "all": {"children": ["row", "ungrouped"]},
                "row": {"hosts": ["b", "a"], "children": ["all"]},
            }
        )
    )
    assert found.of_group("all") == ("a", "b")
    assert found.of_group("row", "ip") == ("1", "::2")
    for group in ("rows", "ungrouped"):
        with pytest.raises(NothingMatches):
            found.of_group(group)
    for variable, said in (
        ("x", "a has no variable 'x' in the inventory that is a name"),
        ("ipv6", "a has no variable 'ipv6' in the inventory that is a name"),
    ):
        with pytest.raises(BadQuestion) as caught:
            found.of_group("row", variable)
        assert str(caught.value) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "file:1: is no JSON; ansible-inventory --list prints it"),
        ("[" * 99_999, "file: is no JSON; ansible-inventory --list prints it"),
        ([], "file: has no groups, as ansible-inventory has"),
        ({"a": []}, "file: group a: hosts is no list of names"),
        ({"a": {"hosts": {"b": {}}}}, "file: group a: hosts is no list of names"),
        ({"a": {"children": [1]}}, "file: group a: children is no list of names"),
    ],
)
def test_what_is_no_inventory_is_refused_in_one_line(write, content, said):
    assert refused(desired.read_inventory, write(content)) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "file:1: is no JSON; plan -f json prints it"),
        ({}, "file: is no plan, as plan -f json prints it"),
        ([1], "file: is no plan, as plan -f json prints it"),
        ([{}], "file: is no plan, as plan -f json prints it"),
        ([{**ROW, "cloud": ""}], "file: is no plan, as plan -f json prints it"),
        ([{**ROW, "cloud": None}], "file: is no plan, as plan -f json prints it"),
        ([{**ROW, "before": [1]}], "file: is no plan, as plan -f json prints it"),
    ],
)
def test_what_is_no_plan_is_refused_in_one_line(write, content, said):
    assert refused(desired.read_plan, write(content)) == said
    assert desired.read_plan(write([{**ROW, "before": None}]))


def test_a_file_is_never_written_where_one_is_or_where_none_can_be(write):
    path = write("mine")
    text = desired.text(DesiredState(), ["one", "two"])
    assert text == "# one\n# two\nversion: 1\n"
    for place, said in (
        (path, "file: exists; name a new file"),
        ("no/file", "no/file: No such file or directory"),
    ):
        with pytest.raises(BadConfiguration) as caught:
            desired.write_new(place, text)
        assert str(caught.value) == said


def test_a_new_file_and_its_name_are_on_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle)))
    desired.write_new(str(tmp_path / "new"), "text")
    assert [stat.S_ISDIR(each.st_mode) for each in synced] == [False, True]
    assert synced[0].st_size == len("text")
