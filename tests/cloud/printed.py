"""What the documentation prints of commands, and the clouds that it is printed of."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import textwrap
from collections.abc import Callable, Iterator

from tests.cloud.factory import Maker
from tests.services.environment import REPOSITORY

GOLD = "CUSTOM_GOLD"
_SIZE = {"vcpus": 4, "ram": 4096, "disk": 20}
_LEFT_OUT = "[...]"
_HEADING = re.compile(r"^(\S.*)\n=+$", re.MULTILINE)
_BLOCK = re.compile(
    r"^( *)\.\. code-block:: console\n\n((?:\1 +.*\n|\n)+)", re.MULTILINE
)
_CONTINUED = re.compile(r" \\\n +")
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
        typed = _CONTINUED.sub(" ", textwrap.dedent(block[2]))
        first, *output = typed.strip("\n").splitlines()
        if not f"{first} ".startswith(f"$ openstack trait-sched {verb}".rstrip() + " "):
            continue
        scene = [title for start, title in headings if start < block.start()][-1]
        numbers[scene] = numbers.get(scene, 0) + 1
        if output and not output[0].startswith("$ "):
            command = first.removeprefix("$ ")
            yield Printed(page, scene, numbers[scene], command, tuple(output))


def scene_of(printed: Printed) -> Callable[[Maker], None]:
    """Return what makes the cloud that a block is of."""
    where = (pathlib.PurePath(printed.page).stem, printed.scene)
    return _SCENES.get((*where, printed.number)) or _SCENES[(*where, 0)]


def _flavors(make: Maker) -> None:
    make.image("rocky", "qcow2")
    make.flavor("gold", {f"trait:{GOLD}": "required"}, **_SIZE)
    make.flavor("large", vcpus=8, ram=16384, disk=40)


def _alone(make: Maker) -> None:
    _flavors(make)
    make.traits(GOLD)


def _with_silver(make: Maker) -> None:
    _alone(make)
    make.flavor("silver", **_SIZE)


def _busy(make: Maker) -> None:
    """One host is disabled, and one has no room."""
    _with_silver(make)
    large = make.flavor("used", vcpus=2, ram=6144, disk=10)
    make.used("cmp01", large, make.image("of-the-used-one"))
    make.disabled("cmp00", "new DIMMs, till Friday")
    make.gives(GOLD, "cmp00", "cmp01")


def _small(make: Maker) -> None:
    """Nothing is as examples/desired/pinned.yaml wants it."""
    make.flavor("pinned.small")
    make.flavor("small")


def _reserved(make: Maker) -> None:
    """Nothing is as examples/desired/reserved.yaml wants it."""
    make.forgotten("CUSTOM_LICENSED")
    make.dropped("licensed")
    make.flavor("licensed")
    make.flavor("small")


#: By the page's name, the heading and the number of the block below it; 0 is any.
_SCENES: dict[tuple[str, str, int], Callable[[Maker], None]] = {
    ("json", "JSON documents", 0): _busy,
    ("files", "Desired state", 0): _small,
}
