"""Paths of a desired state: files, folders of them, standard input, and their order."""

from __future__ import annotations

import io
import os
import sys

import pytest

from osc_traitsched.config import desired
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
    wanted = desired.read(["folder", "-", "folder/a.yaml", "-"])
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


def test_folders_in_a_folder_and_hidden_files_do_not_count(write, tmp_path):
    write("version: 1\nhold: [good]", "folder/good.yaml")
    write("version: 1\nhold: [deep]", "folder/inner.yaml/a.yaml")
    write("version: 1\nhold: [deep]", "folder/sub/a.yaml")
    (tmp_path / "folder" / "gone.yaml").symlink_to("nowhere")
    assert said("folder") == ["folder/gone.yaml: No such file or directory"]
    (tmp_path / "folder" / "gone.yaml").unlink()
    assert [text.text for text in desired.read(["folder"]).hold] == ["good"]


@pytest.mark.skipif(not os.geteuid(), reason="root may read everything")
def test_a_folder_that_can_not_be_read_is_said(write, tmp_path):
    write("version: 1", "folder/a.yaml")
    (tmp_path / "folder").chmod(0)
    found = said("folder")
    (tmp_path / "folder").chmod(0o700)
    assert found == ["folder: Permission denied"]
