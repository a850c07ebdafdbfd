"""The Pythons that a virtual environment can be made with."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator

Version = tuple[int, int]
#: The newest that is looked for by its number.
NEWEST = (3, 14)


@dataclasses.dataclass(frozen=True)
class Pythons:
    """Versions of Python from one on.

    :ivar newest: the last that will do; None where any later one will
    """

    oldest: Version
    newest: Version | None = None

    def find(self) -> str | None:
        """Return one of them: the running one, or one on the PATH; None for none."""
        if self._includes(sys.version_info[:2]):
            return sys.executable
        return next(filter(self._is_one, self._paths()), None)

    def lacking(self) -> str:
        """Return that there is none, in words."""
        running = "{}.{}".format(*sys.version_info)
        return f"no Python {self} on the PATH, and this is {running}"

    def __str__(self) -> str:
        oldest = "{}.{}".format(*self.oldest)
        if self.newest is None:
            return f"{oldest} or later"
        newest = "{}.{}".format(*self.newest)
        return oldest if self.newest == self.oldest else f"{oldest} to {newest}"

    def _includes(self, version: tuple[int, ...]) -> bool:
        return self.oldest <= version <= (self.newest or version)

    def _paths(self) -> Iterator[str]:
        for path in filter(None, map(shutil.which, self._names())):
            yield path
            yield from _behind(pathlib.Path(path))

    def _names(self) -> Iterator[str]:
        major, last = self.newest or NEWEST
        for minor in range(self.oldest[1], last + 1):
            yield f"python{major}.{minor}"
        yield "python3"

    def _is_one(self, path: str) -> bool:
        # What is on the PATH can be a stand-in for a Python that is not there.
        ask = "import sys; print(*sys.version_info[:2])"
        done = subprocess.run(
            [path, "-c", ask], capture_output=True, text=True, check=False
        )
        numbers = tuple(map(int, done.stdout.split()))
        return not done.returncode and self._includes(numbers)


def _behind(path: pathlib.Path) -> Iterator[str]:
    """Yield what a stand-in of pyenv's is for.

    It runs none but the versions that are chosen, though others are installed.
    """
    if path.parent.name == "shims":
        found = path.parents[1].glob(f"versions/*/bin/{path.name}")
        yield from map(str, sorted(found))
