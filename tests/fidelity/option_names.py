"""Write the names of all options of Nova: ``python -m tests.fidelity.option_names``.

They come from the releases that are installed (``asking.python``), and tell a
misspelled or misplaced line of nova.conf from one that is none of Nova's.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Mapping

from tests.fidelity import asking

PATH = pathlib.Path("osc_traitsched/config/option_names.txt")
SCRIPT = asking.ROOM / "nova" / "option_names.py"
HEAD = """\
# Options of Nova and its libraries by section, from released code. One with numbers is
# in these releases only; old>new is another name that they read, with its section.
# Made by python -m tests.fidelity.option_names.
"""


def read(release: int) -> list[list[str]]:
    """Return the options of a release, each with its other names behind it."""
    command = [str(asking.python(release)), str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def text(found: Mapping[int, list[list[str]]]) -> str:
    """Return the data file of the options of some releases."""
    names: dict[str, set[int]] = {}
    for release, options in found.items():
        current = {name for name, *_ in options}
        for name, *others in options:
            names.setdefault(name, set()).add(release)
            for old in {*others} - current:
                names.setdefault(f"{old}>{name}", set()).add(release)
    sections: dict[str, list[str]] = {}
    for name, releases in sorted(names.items()):
        section, _, rest = name.partition(".")
        first, last = min(releases), max(releases)
        is_always = (first, last) == (min(found), max(found))
        sections.setdefault(section, []).append(
            rest if is_always else f"{rest}:{first}-{last}"
        )
    lines = (f"{name} {' '.join(rest)}\n" for name, rest in sections.items())
    return HEAD + "".join(lines)


def main(releases: list[int]) -> None:
    """Write the names of these releases' options."""
    found = {release: read(release) for release in releases}
    PATH.write_text(text(found))


if __name__ == "__main__":
    main(list(map(int, sys.argv[1:])) or list(asking.releases()))
