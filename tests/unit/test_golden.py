"""The golden files: each is compared with something, by some test."""

from __future__ import annotations

import pytest

from osc_traitsched.views import terminal
from tests import golden as files
from tests.services.environment import REPOSITORY


def test_no_golden_file_is_unused():
    tests = (REPOSITORY / "tests").rglob("test_*.py")
    source = "\n".join(path.read_text(encoding="utf-8") for path in tests)
    ends = {name: f'{name.rpartition("/")[2]}"' for name in files.names()}
    assert ends, f"no file in {files.FILES}"
    unused = [name for name, end in ends.items() if end not in source]
    assert not unused, "delete these files, or compare something with them"


def test_another_text_and_a_missing_file_fail(golden, tmp_path, monkeypatch, request):
    monkeypatch.setattr(files, "FILES", tmp_path)
    if not request.config.getoption(files.OPTION):
        with pytest.raises(pytest.fail.Exception, match="rewrites it"):
            golden("a/b", "a text")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("a text\n", encoding="utf-8")
    golden("a/b", ["a text"])
    if not request.config.getoption(files.OPTION):
        with pytest.raises(pytest.fail.Exception, match=r"-a text\n\+another text"):
            golden("a/b", "another text")


@pytest.mark.parametrize("name", files.names())
def test_a_terminal_of_80_columns_shows_every_line_with_its_words_whole(name):
    """Tables are fitted; a command stays on one line, so that it can be pasted."""
    text = (files.FILES / f"{name}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        rows = terminal.wrapped(line, 80).splitlines()
        assert " ".join(rows).split() == line.split()
        if line[:1] not in ("+", "|") and "openstack " not in line:
            assert all(len(row) <= 80 or " " not in row.strip() for row in rows)
