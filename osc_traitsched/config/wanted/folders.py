"""What paths stand for: files, and all files of a kind that are in folders."""

from __future__ import annotations

import os
import pathlib
import stat
from collections.abc import Iterator, Sequence, Set
from typing import Union

from osc_traitsched.config import file
from osc_traitsched.config.wanted.reader import STDIN
from osc_traitsched.core.errors import BadConfiguration

_SUFFIXES = (".yaml", ".yml", ".json")
_NOT_READ = (
    "has files, and folders in folders are not read: name it as well, or move it away"
)

#: The path of a file, or why there is none to read.
Found = Union[str, BadConfiguration]


def files(paths: Sequence[str]) -> Iterator[Found]:
    """Yield the files that paths stand for, in their order.

    Files of a folder in a folder are a mistake, unless it is hidden, or they or the
    folder are named as well.

    :param paths: of files, of folders with files, or ``-``
    """
    named = frozenset(_real_paths(paths))
    for path in paths:
        try:
            yield from _in_folder(path, named) if _is_folder(path) else (path,)
        except OSError as exc:
            yield file.unreadable(path, exc)
        except BadConfiguration as exc:
            yield exc


def _real_paths(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        try:
            yield os.path.realpath(file.located(path))
        except BadConfiguration:
            # It is said where the path itself is looked at.
            continue


def _is_folder(path: str) -> bool:
    return path != STDIN and file.located(path).is_dir()


def _in_folder(path: str, named: Set[str]) -> Iterator[Found]:
    inside = sorted(each.name for each in file.located(path).iterdir())
    if not any(map(_is_read, inside)):
        reason = f"has no file that ends with {', '.join(_SUFFIXES)}"
        raise BadConfiguration(path, None, reason)
    for name in inside:
        found = str(pathlib.PurePath(path, name))
        if not _is_read(name):
            yield from _left_out(found, named) if not _is_hidden(name) else ()
        elif _is_odd(file.located(found)):
            yield BadConfiguration(found, None, "is no regular file")
        else:
            yield found


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _is_read(name: str) -> bool:
    """Tell whether a file of a folder is one that the folder stands for."""
    return not _is_hidden(name) and pathlib.PurePath(name).suffix.lower() in _SUFFIXES


def _is_odd(path: pathlib.Path) -> bool:
    """Tell whether something is no file, such as a pipe that nobody writes to."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        # Whoever reads it learns why.
        return False


def _left_out(path: str, named: Set[str]) -> Iterator[BadConfiguration]:
    """Yield the first folder, from one downwards, with files that nobody named."""
    top = file.located(path)
    try:
        for folder in _with_files(top, named) if top.is_dir() else ():
            shown = pathlib.PurePath(path, os.path.relpath(folder, top))
            yield BadConfiguration(str(shown), None, _NOT_READ)
            return
    except OSError as exc:
        yield file.unreadable(path, exc)


def _with_files(top: pathlib.Path, named: Set[str]) -> Iterator[str]:
    """Yield the folders, from one downwards, with files to read that nobody named."""
    # Links may lead in circles.
    seen: set[str] = set()
    for folder, below, names in os.walk(top, onerror=_refuse, followlinks=True):
        real = os.path.realpath(folder)
        if real in named or real in seen:
            # What is in one that is named is said where it is read itself.
            below.clear()
            continue
        seen.add(real)
        below[:] = sorted(name for name in below if not _is_hidden(name))
        inside = {os.path.realpath(os.path.join(real, n)) for n in names if _is_read(n)}
        if not inside <= named:
            yield folder


def _refuse(error: OSError) -> None:
    raise error
