"""The configuration room: files, each read once."""

from __future__ import annotations

import pathlib

from osc_traitsched.core.errors import BadConfiguration

#: Of characters: many times what is in the largest configuration.
MOST = 10_000_000
TOO_LARGE = "larger than 10 MB"


def read(path: str) -> str:
    """Return the text of a file; a pipe will do.

    :raises BadConfiguration: when it can't be read, is no text, or is too large
    """
    try:
        with located(path).open(encoding="utf-8") as stream:
            text = stream.read(MOST + 1)
    except OSError as exc:
        raise unreadable(path, exc) from exc
    except UnicodeDecodeError as exc:
        raise BadConfiguration(path, None, "not a text file (UTF-8)") from exc
    if len(text) > MOST:
        raise BadConfiguration(path, None, TOO_LARGE)
    return text


def located(path: str) -> pathlib.Path:
    """Return a path of the file system; ``~`` and ``~USER`` are homes.

    :raises BadConfiguration: for a user who has no home
    """
    try:
        return pathlib.Path(path).expanduser()
    except RuntimeError as exc:
        raise BadConfiguration(path, None, "no such user, or no home") from exc


def unreadable(path: str, exc: OSError) -> BadConfiguration:
    """Return the system's own reason as an error on this path."""
    return BadConfiguration(path, None, exc.strerror or str(exc))
