"""What paths stand for: files, and all files of a kind that are in folders."""

from __future__ import annotations

import pathlib
import stat
from collections.abc import Iterator, Sequence
from typing import Union

from osc_traitsched.config import file
from osc_traitsched.config.wanted.reader import STDIN
from osc_traitsched.core.errors import BadConfiguration

_SUFFIXES = (".yaml", ".yml", ".json")

#: The path of a file, or why there is none to read.
Found = Union[str, BadConfiguration]


def files(paths: Sequence[str]) -> Iterator[Found]:
    """Yield the files that paths stand for, in their order.

    :param paths: of files, of folders with files, or ``-``
    """
    for path in paths:
        try:
            yield from _in_folder(path) if _is_folder(path) else (path,)
        except OSError as exc:
            yield file.unreadable(path, exc)
        except BadConfiguration as exc:
            yield exc


def _is_folder(path: str) -> bool:
    return path != STDIN and file.located(path).is_dir()


def _in_folder(path: str) -> Iterator[Found]:
    inside = sorted(each.name for each in file.located(path).iterdir())
    if not any(map(_is_read, inside)):
        reason = f"has no file that ends with {', '.join(_SUFFIXES)}"
        raise BadConfiguration(path, None, reason)
    for name in inside:
        found = str(pathlib.PurePath(path, name))
        if not _is_read(name):
            continue
        if _is_odd(file.located(found)):
            yield BadConfiguration(found, None, "is no regular file")
        else:
            yield found


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _is_read(name: str) -> bool:
    """Tell whether a file of a folder is one that the folder stands for."""
    return not _is_hidden(name) and pathlib.PurePath(name).suffix in _SUFFIXES


def _is_odd(path: pathlib.Path) -> bool:
    """Tell whether something is no file, such as a pipe that nobody writes to."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        # Whoever reads it learns why.
        return False
