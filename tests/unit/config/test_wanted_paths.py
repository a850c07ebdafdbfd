"""Paths of a wanted state: files, folders of them, standard input, and their order."""

from __future__ import annotations

import io
import os
import sys

import pytest

from osc_traitsched.config.wanted import files
from tests.unit.config.mistakes import said


def test_mistakes_come_in_the_order_of_files_as_given_and_of_their_lines(
    write, tmp_path
):
    bad = "groups: {a b: [x]}\nhold: ['@c']\nversion: 2\n"
    (tmp_path / "none").mkdir()
    write(bad, "b.yaml")
    write(bad, "a.yaml")
    found = [each.split(": ")[0] for each in said("b.yaml", "none", "a.yaml")]
    assert found == [
        *("b.yaml:1", "b.yaml:2", "b.yaml:3", "none"),
        *("a.yaml:1", "a.yaml:2", "a.yaml:3"),
    ]


def test_folders_stand_for_their_files_and_each_is_read_once(write, monkeypatch):
    for name in ("b.yml", "a.yaml", "c.JSON", ".hidden.yaml", "notes.txt"):
        write(f'{{"version": 1, "hold": ["{name}"]}}', f"folder/{name}")
    monkeypatch.setattr(sys, "stdin", io.StringIO("version: 1\nhold: [piped]"))
    wanted = files.read(["folder", "-", "folder/a.yaml", "-"])
    assert [text.text for text in wanted.hold] == ["a.yaml", "b.yml", "c.JSON", "piped"]
    assert str(wanted.hold[-1].place) == "-:2"


def test_all_files_are_tried(write, tmp_path, monkeypatch):
    (tmp_path / "none").mkdir()
    (tmp_path / "latin").write_bytes(b"\xe9")
    monkeypatch.setattr(sys, "stdin", None)
    assert said(
        "none", "latin", "missing", write("", "empty"), write("{", "bad"), "-"
    ) == [
        "none: has no file that ends with .yaml, .yml, .json",
        "latin: not a text file (UTF-8)",
        "missing: No such file or directory",
        "empty: is empty",
        "bad:1: not YAML: expected the node content, but found '<stream end>'",
        "-: standard input is closed",
    ]


def test_standard_input_without_a_document_is_empty(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("# none\n"))
    assert said("-") == ["-: standard input is empty"]


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_standard_input_that_is_no_text_is_said_as_of_a_file(
    write, tmp_path, monkeypatch, errors
):
    body = b"version: 1\nhold: [\xe9]"
    given = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", errors=errors)
    monkeypatch.setattr(sys, "stdin", given)
    (tmp_path / "latin").write_bytes(body)
    reason = "not a text file (UTF-8)"
    assert said("-", "latin") == [f"-: {reason}", f"latin: {reason}"]


def test_what_is_no_file_in_a_folder_is_not_read(write, tmp_path):
    write("version: 1", "folder/good.yaml")
    folder = tmp_path / "folder"
    os.mkfifo(folder / "pipe.yaml")
    (folder / "linked.yaml").symlink_to("pipe.yaml")
    (folder / "inner.yaml").mkdir()
    (folder / "gone.yaml").symlink_to("nowhere")
    (folder / "fine.yaml").symlink_to("good.yaml")
    assert sorted(said("folder")) == [
        "folder/gone.yaml: No such file or directory",
        "folder/inner.yaml: is no regular file",
        "folder/linked.yaml: is no regular file",
        "folder/pipe.yaml: is no regular file",
    ]


LEFT_OUT = (
    "has files, and folders in folders are not read: name it as well, or move it away"
)


@pytest.fixture
def teams(write, tmp_path):
    """A folder with a file, and with folders, some of which have such files."""
    (tmp_path / "all" / "notes").mkdir(parents=True)
    (tmp_path / "all" / "notes" / "read.me").touch()
    for name in ("all", "all/.git", "all/red", "all/old", "all/old/2024"):
        write(f"version: 1\nhold: [{name}]", f"{name}/a.yaml")
    (tmp_path / "all" / "old" / "a.yaml").unlink()
    return "all"


def test_folders_in_a_folder_are_not_left_out_in_silence(teams):
    assert said(teams) == [f"all/old/2024: {LEFT_OUT}", f"all/red: {LEFT_OUT}"]
    assert said(teams, "all/old/2024") == [f"all/red: {LEFT_OUT}"]


def test_a_folder_that_is_left_out_is_said_once(write, teams, tmp_path):
    write("version: 1", "all/old/2024/may/a.yaml")
    assert said(teams, "all/red", "all/old/2024") == [f"all/old/2024/may: {LEFT_OUT}"]


@pytest.mark.parametrize("red", ["all/red", "all/red/", "./all/red/a.yaml"])
def test_folders_in_a_folder_may_be_named_besides_or_all_of_their_files(teams, red):
    wanted = files.read([red, teams, "all/old/2024"])
    assert [text.text for text in wanted.hold] == ["all/red", "all", "all/old/2024"]


def test_a_link_to_a_folder_is_no_other_folder(write, tmp_path):
    write("version: 1", "folder/a.yaml")
    (tmp_path / "folder" / "self").symlink_to(".")
    (tmp_path / "folder" / "loop").symlink_to("loop")
    assert files.read(["folder"]).hold == ()
    write("version: 1", "other/a.yaml")
    (tmp_path / "folder" / "other").symlink_to("../other")
    assert said("folder") == [f"folder/other: {LEFT_OUT}"]
    assert files.read(["folder", "other"]).hold == ()


def test_a_link_further_down_is_followed_and_in_no_circle(write, tmp_path):
    write("version: 1", "folder/a.yaml")
    write("version: 1", "team/a.yaml")
    (tmp_path / "folder" / "sub" / "deep").mkdir(parents=True)
    (tmp_path / "folder" / "sub" / "deep" / "back").symlink_to("..")
    (tmp_path / "folder" / "sub" / "deep" / "top").symlink_to("../..")
    (tmp_path / "folder" / "sub" / "team").symlink_to("../../team")
    assert said("folder") == [f"folder/sub/team: {LEFT_OUT}"]
    assert files.read(["folder", "team"]).hold == ()


@pytest.mark.skipif(not os.geteuid(), reason="root may read everything")
def test_a_folder_in_a_folder_that_can_not_be_read_is_said(teams, tmp_path):
    red = tmp_path / "all" / "red"
    red.chmod(0)
    found = said(teams, "all/old/2024")
    red.chmod(0o700)
    assert found == ["all/red: Permission denied"]
