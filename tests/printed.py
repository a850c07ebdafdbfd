"""Recorded blocks of the documentation: a command and its output."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Iterator

from tests.services.environment import REPOSITORY

_LEFT_OUT = "[...]"
_HEADING = re.compile(r"^(\S.*)\n=+$", re.MULTILINE)
_BLOCK = re.compile(
    r"^( *)\.\. code-block:: console\n\n((?:\1 +.*\n|\n)+)", re.MULTILINE
)
#: Of a command; an output can have such lines, too.
_CONTINUED = re.compile(r"^(\$ .*) \\\n +", re.MULTILINE)
#: What differs from cloud to cloud: UUIDs, projects, and the IDs of aggregates.
_ID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b"
    r"|(?<=aggregate add host )\d+"
)


@dataclasses.dataclass(frozen=True)
class Printed:
    """A command and its output as a page has them.

    :ivar scene: the heading that it stands under
    :ivar output: lines; ``[...]`` stands for any others
    """

    page: str
    scene: str
    number: int
    command: str
    output: tuple[str, ...]

    def differs_from(self, found: str) -> str:
        """Return the first part of the page's output that a cloud's has not."""
        rest = _plain(found)
        parts = _plain("\n".join(self.output)).split(_LEFT_OUT)
        for number, part in enumerate(parts):
            wanted = part.strip("\n")
            place = rest.find(wanted)
            is_first = number == 0 and place > 0
            is_last = number == len(parts) - 1 and wanted and not rest.endswith(wanted)
            if place < 0 or is_first or is_last:
                return wanted
            rest = rest[place + len(wanted) :]
        return ""


def _plain(text: str) -> str:
    lines = (line.rstrip() for line in _ID.sub("ID", text).splitlines())
    return "\n".join(lines).strip("\n")


def blocks(page: str, verb: str = "") -> Iterator[Printed]:
    """Yield the blocks of a page that show a command of a verb, or any command."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    headings = [(found.start(), found[1]) for found in _HEADING.finditer(text)]
    numbers: dict[str, int] = {}
    for block in _BLOCK.finditer(text):
        typed = textwrap.dedent(block[2])
        while (joined := _CONTINUED.sub(r"\1 ", typed)) != typed:
            typed = joined
        first, *output = typed.strip("\n").splitlines()
        if not f"{first} ".startswith(f"$ openstack trait-sched {verb}".rstrip() + " "):
            continue
        scene = [title for start, title in headings if start < block.start()][-1]
        numbers[scene] = numbers.get(scene, 0) + 1
        if output and not output[0].startswith("$ "):
            command = first.removeprefix("$ ")
            yield Printed(page, scene, numbers[scene], command, tuple(output))
