"""Sessions: commands that pages run on the sample cloud."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.docs.test_site import REPOSITORY

pytest.importorskip("sphinx", reason="tox -e docs has it")

CONF = f"""
import sys
sys.path.append({str(REPOSITORY / "doc")!r})
extensions = ["session"]
html_theme = "basic"
"""


class Built:
    """Pages as they were built, and the warnings."""

    def __init__(self, folder, pages: Mapping[str, str]) -> None:
        (folder / "conf.py").write_text(CONF)
        for name, text in pages.items():
            (folder / f"{name}.rst").write_text(
                f":orphan:\n\n{name}\n{'=' * len(name)}\n\n{text}\n"
            )
        arguments = ["-q", "-b", "html", str(folder), str(folder / "built")]
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
        self.warnings = re.split(r"(?m)^(?=\S+?\.rst:)", done.stderr)[1:]
        self._folder = folder / "built"

    def block(self, name: str) -> str:
        """The first session of a page as HTML."""
        page = (self._folder / f"{name}.html").read_text("utf-8")
        return page.partition("<pre>")[2].partition("</pre>")[0]

    def text(self, name: str) -> list[str]:
        return html.unescape(re.sub("<.*?>", "", self.block(name))).splitlines()

    def warning(self, name: str) -> str:
        (found,) = (each for each in self.warnings if f"/{name}.rst:" in each)
        return found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    explain = "openstack trait-sched explain"
    long = f"{explain} m1.small ubuntu-24.04 " + "--hint a=b " * 6
    return Built(
        tmp_path_factory.mktemp("pages"),
        {
            "index": f".. session::\n\n   {explain} ssd.medium \\\n     ubuntu-24.04",
            "short": f".. session::\n   :rows: 3\n\n   {explain} ssd.medium -",
            "narrow": ".. session::\n   :width: 40\n   :exit: 7\n\n"
            "   openstack trait-sched check traits",
            "wrong": f".. session::\n\n   {explain} ssd.mdium",
            "wide": f".. session::\n\n   {long}",
        },
    )


def test_it_shows_the_answer_of_a_terminal_in_its_colours(built):
    assert '<span class="ansi-bold ansi-red">No host can take it' in built.block(
        "index"
    )
    lines = built.text("index")
    assert lines[:2] == [
        "$ openstack trait-sched explain ssd.medium \\",
        "  ubuntu-24.04",
    ]
    # The short form, in which --long is offered.
    assert any(line.startswith("--long shows") for line in lines)
    assert str(REPOSITORY) not in built.block("index")


def test_rows_are_cut_and_a_narrow_terminal_wraps(built):
    assert len(built.text("short")) == 1 + 3 + 1
    assert built.text("short")[-1] == "..."
    prose = [line for line in built.text("narrow")[1:] if "openstack" not in line]
    assert len(prose) > 4


def test_an_unexpected_exit_code_and_a_wide_line_are_warnings(built):
    assert "exits with 1" in built.warning("wrong")
    assert "no flavor matches" in built.warning("wrong")
    assert "columns; 100 fit" in built.warning("wide")
    assert len(built.warnings) == 2
