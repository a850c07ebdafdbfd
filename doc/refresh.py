"""Write the outputs and tables of pages: ``python doc/refresh.py [PAGE...]``."""

from __future__ import annotations

import pathlib
import re
import sys
import textwrap
from collections.abc import Sequence

import rows
from session import ROOT, as_page, perform, shown_in

#: A block, and its text: lines that are indented by as much, or empty between such.
_BLOCK = re.compile(
    r"^(?P<head>(?P<at> *)\.\. code-block:: console\n(?P=at)   :class: session.*\n\n)"
    r"(?P<text>(?:(?P=at)   .*\n|\n(?=\n*(?P=at)   ))+)",
    re.M,
)


def refreshed(page: str) -> str:
    """The page with today's output of each session, and today's tables."""
    return _BLOCK.sub(_block, rows.refreshed(page))


def _block(found: re.Match[str]) -> str:
    recorded = shown_in(textwrap.dedent(found["text"]))
    text = as_page(perform(each)[1] for each in recorded)
    return found["head"] + textwrap.indent(text, f"{found['at']}   ") + "\n"


def main(pages: Sequence[str]) -> None:
    """Refresh these pages, or all with the README; name those that change."""
    every = (ROOT / "README.rst", *sorted((ROOT / "doc/source").rglob("*.rst")))
    for path in map(pathlib.Path, pages or every):
        page = path.read_text("utf-8")
        text = refreshed(page)
        if text != page:
            path.write_text(text, "utf-8")
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
