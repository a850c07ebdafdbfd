"""A new source of settings is one class in the registry."""

from __future__ import annotations

import pytest

from osc_traitsched.config import document
from osc_traitsched.config.nova_conf import Entry, Layer
from osc_traitsched.config.sources import SET, SOURCES, FileSource
from osc_traitsched.core.nova import options
from tests.functional import shell
from tests.unit.commands.desired import GOLD


class Notes(FileSource):
    """A made-up tool's files: lines of an option and its value."""

    name = "notes"
    flag = "--notes"
    help = "a file of a made-up tool"
    rank = 4
    is_list = True

    def read(self, paths):
        for path in paths:
            lines = document.read_text(path).splitlines()
            pairs = enumerate((line.split(" ") for line in lines), start=1)
            yield Layer(SET.read((n, Entry(v, path, i)) for i, (n, v) in pairs))


@pytest.fixture
def run(cloud, tmp_path, monkeypatch):
    monkeypatch.setitem(SOURCES, Notes.name, Notes())
    (tmp_path / "a.txt").write_text(f"{options.ISOLATION} true\n", encoding="utf-8")
    cloud.metadata[f"trait:{GOLD}"] = "required"
    variables = {**shell.login("http://nowhere"), "XDG_CONFIG_HOME": str(tmp_path)}
    return lambda *arguments: shell.run(variables, "trait-sched", *arguments)


def test_a_new_source_is_an_option_is_saved_is_shown_and_is_judged(run, tmp_path):
    notes, saved = f"{tmp_path}/a.txt", f"{tmp_path}/osc-traitsched/default.yaml"
    assert "--notes FILE" in run("explain", "--help-all").out
    assert "isolation-off" in run("check", "isolation").out
    assert "isolation-off" not in run("check", "isolation", "--notes", notes).out
    written = run("config", "save", "--notes", notes).out
    assert written == f"Wrote {saved}:\nnotes:\n- {notes}\n"
    assert "isolation-off" not in run("check", "isolation").out
    rows = run("config", "show", "-f", "json").json
    sources = {row["option"]: row["source"] for row in rows}
    assert (sources["settings"], sources[options.ISOLATION]) == (saved, f"{notes}:1")
