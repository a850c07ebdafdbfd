"""The configuration room: files, each read once."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile

from osc_traitsched.core.errors import BadConfiguration

#: Of characters: many times what is in the largest configuration.
MOST = 10_000_000
TOO_LARGE = "larger than 10 MB"
NOT_TEXT = "not a text file (UTF-8)"


def read(path: str) -> str:
    """Return the text of a file; a pipe will do.

    :raises BadConfiguration: when it can't be read, is not a text, or is too large
    """
    try:
        with located(path).open(encoding="utf-8") as stream:
            text = stream.read(MOST + 1)
    except OSError as exc:
        raise unreadable(path, exc) from exc
    except UnicodeDecodeError as exc:
        raise BadConfiguration(path, None, NOT_TEXT) from exc
    if len(text) > MOST:
        raise BadConfiguration(path, None, TOO_LARGE)
    return text


def write(path: str, text: str) -> None:
    """Make a text the whole of a file that only its user can read.

    Whoever reads it meanwhile has the old text or the new one. The folder is made, and
    where the path is a link, what it points to is written.

    :raises BadConfiguration: when it can't be written
    """
    try:
        target = located(path).resolve()
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with open(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(name, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as exc:
        raise unreadable(path, exc) from exc


def located(path: str) -> pathlib.Path:
    """Return a path of the file system; ``~`` and ``~USER`` are homes.

    :raises BadConfiguration: for a user who has no home, and for what is not a path
    """
    if "\0" in path:
        raise BadConfiguration(path, None, "has a null byte, which no path has")
    try:
        return pathlib.Path(path).expanduser()
    except RuntimeError as exc:
        raise BadConfiguration(path, None, "no such user, or no home") from exc


def unreadable(path: str, exc: OSError) -> BadConfiguration:
    """Return the system's own reason as an error on this path."""
    return BadConfiguration(path, None, exc.strerror or str(exc))
