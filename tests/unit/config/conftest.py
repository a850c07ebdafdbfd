"""Files of a desired state, in a folder of their own."""

from __future__ import annotations

import textwrap

import pytest


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a text, and returns the path to name it by."""
    monkeypatch.chdir(tmp_path)

    def write(text, name="desired.yaml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return name

    return write
