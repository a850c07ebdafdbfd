"""What the services' manage programs make, kept for the clouds that start later.

The schema of a service's database takes it seconds to make, and is always the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import pathlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable

from tests.services.release import Release

_ROOM = pathlib.Path(__file__).resolve().parent
#: What is kept hangs on these.
_SOURCES = ("config.py", "identity.py", "startup.py")


class Prepared:
    """Files of one release's services, beside the services that made them."""

    def __init__(self, state: pathlib.Path, release: Release) -> None:
        sources = b"".join((_ROOM / name).read_bytes() for name in _SOURCES)
        name = f"prepared-{hashlib.sha256(sources).hexdigest()[:12]}"
        self._state, self._folder = state, release.environment().home / name

    def have(self, service: str, make: Callable[[], object], *files: str) -> None:
        """Put a service's files into the state: copies of kept ones, or new ones."""
        kept = self._folder / service
        if kept.exists():
            shutil.copytree(kept, self._state, dirs_exist_ok=True)
            return
        make()
        self._folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._folder) as made:
            for name in files:
                _copy(self._state / name, pathlib.Path(made) / service / name)
            # Another cloud may have come first.
            with contextlib.suppress(OSError):
                (pathlib.Path(made) / service).rename(kept)

    def change(self, database: str, statement: str, *values: str) -> None:
        """Change what differs from cloud to cloud."""
        with contextlib.closing(sqlite3.connect(self._state / database)) as connection:
            connection.execute(statement, values)
            connection.commit()


def _copy(source: pathlib.Path, target: pathlib.Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
        return
    target.parent.mkdir(exist_ok=True)
    # A service that runs may have written some of it into another file.
    with contextlib.ExitStack() as opened:
        source_of, target_of = (
            opened.enter_context(contextlib.closing(sqlite3.connect(path)))
            for path in (source, target)
        )
        source_of.backup(target_of)
