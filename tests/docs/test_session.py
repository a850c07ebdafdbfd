"""Sessions: commands that pages run on the sample cloud."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import textwrap
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


HEAD = "As of 2026-11-26 06:00 UTC, from examples/cloud.json:"
EXPLAIN = "openstack trait-sched explain"
FULL = "No host can take it now: 0 of 8."
WHOLE = [
    f"$ {EXPLAIN} ssd.medium \\",
    "    ubuntu-24.04 --no-fixes",
    HEAD,
    FULL,
    "...",
    f"$ {EXPLAIN} m1.small ubuntu-24.04 --count 99",
    HEAD,
    "...",
]


def block(*lines, classes="session"):
    head = f".. code-block:: console\n   :class: {classes}\n"
    return "\n".join((head, *(f"   {line}" for line in lines), ""))


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    check = "$ openstack trait-sched check traits"
    wide = f"$ {EXPLAIN} m1.small - {'--hint a=b ' * 6}"
    pages = {
        "index": block(*WHOLE),
        "seven": block(check, HEAD, "...", classes="session exit-7"),
        "wrong": block(f"$ {EXPLAIN} ssd.mdium", "..."),
        "wide": block(wide.rstrip(), HEAD, "..."),
        "stale": block(f"$ {EXPLAIN} ssd.medium -", HEAD, "No host.", "..."),
        "typed": ".. code-block:: console\n\n   $ openstack server list\n   none",
    }
    return Built(tmp_path_factory.mktemp("pages"), pages)


def test_it_shows_the_answer_of_a_terminal_in_its_colours(built):
    assert f'<span class="ansi-bold ansi-red">{FULL}</span>' in built.block("index")
    assert built.text("index") == WHOLE
    assert str(REPOSITORY) not in built.block("index")


def test_each_block_that_is_wrong_is_a_warning(built):
    assert "exits with 1" in built.warning("wrong")
    assert "no flavor matches" in built.warning("wrong")
    assert "columns; 100 fit" in built.warning("wide")
    assert FULL in built.warning("stale")
    assert "python doc/refresh.py" in built.warning("stale")
    assert len(built.warnings) == 3, built.warnings


def test_other_blocks_of_code_are_not_run(built):
    assert built.text("typed") == ["$ openstack server list", "none"]


def refreshed(folder, page):
    """A page as ``doc/refresh.py`` writes it anew."""
    path = folder / "page.rst"
    path.write_text(page, "utf-8")
    command = [sys.executable, "doc/refresh.py", str(path)]
    subprocess.run(command, cwd=REPOSITORY, check=True)
    return path.read_text("utf-8")


def test_refresh_writes_the_output_and_as_many_lines_as_the_page_has(tmp_path):
    cut = block(f"$ {EXPLAIN} ssd.medium -", "an old line", "another", "...")
    page = "\n".join(
        (
            *("* In a list:", "", textwrap.indent(cut, "  ")),
            block("$ openstack -q trait-sched capacity"),
            *("Not run::", "", "   $ openstack -q trait-sched check", ""),
        )
    )
    typed = "$ openstack -q trait-sched capacity\n"
    answer = "   4 of 7 flavors still fit; largest: m1.large (4 VCPU, 8192 MB).\n"
    expected = page.replace("an old line", HEAD).replace("another", FULL)
    assert refreshed(tmp_path, page) == expected.replace(typed, typed + answer)


def test_the_sessions_of_the_readme_are_as_printed(tmp_path):
    page = (REPOSITORY / "README.rst").read_text("utf-8")
    assert page.count(":class: session") == 3
    assert refreshed(tmp_path, page) == page
