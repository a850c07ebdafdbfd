"""The configuration room: files, each read once."""

from __future__ import annotations

import pathlib

from osc_traitsched.core.errors import BadConfiguration


def read(path: str) -> str:
    """Return the text of a file; a pipe will do.

    :raises BadConfiguration: when it can't be read, or is no text
    """
    try:
        return pathlib.Path(path).expanduser().read_text(encoding="utf-8")
    except OSError as exc:
        raise unreadable(path, exc) from exc
    except UnicodeDecodeError as exc:
        raise BadConfiguration(path, None, "not a text file (UTF-8)") from exc


def unreadable(path: str, exc: OSError) -> BadConfiguration:
    """Return the system's own reason as an error on this path."""
    return BadConfiguration(path, None, exc.strerror or str(exc))
