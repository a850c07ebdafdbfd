"""The files of a wanted state: several, folders of them, and standard input."""

from __future__ import annotations

import pathlib
import stat
import sys
from collections.abc import Iterable, Iterator

from osc_traitsched.config import file
from osc_traitsched.config.wanted import reader
from osc_traitsched.core.errors import BadConfiguration, Mistakes
from osc_traitsched.core.wanted import contradictions
from osc_traitsched.core.wanted.model import Wanted

STDIN = "-"
_SUFFIXES = (".yaml", ".yml", ".json")


def read(paths: Iterable[str]) -> Wanted:
    """Return what files want together.

    :param paths: of files, of folders with files, or ``-``; each is read once
    :raises Mistakes: all that is wrong in any of them
    """
    mistakes: list[BadConfiguration] = []
    parts = []
    for path in dict.fromkeys(_files(paths, mistakes)):
        try:
            wanted, wrong = reader.read(path, _text(path))
        except BadConfiguration as exc:
            mistakes.append(exc)
            continue
        parts.append(wanted)
        mistakes += wrong
    found = Wanted.joined(parts)
    mistakes += contradictions.mistakes(found)
    if mistakes:
        raise Mistakes(mistakes)
    return found


def _files(paths: Iterable[str], mistakes: list[BadConfiguration]) -> Iterator[str]:
    for path in paths:
        try:
            yield from _in_folder(path, mistakes) if _is_folder(path) else (path,)
        except OSError as exc:
            mistakes.append(file.unreadable(path, exc))
        except BadConfiguration as exc:
            mistakes.append(exc)


def _is_folder(path: str) -> bool:
    return path != STDIN and file.located(path).is_dir()


def _in_folder(path: str, mistakes: list[BadConfiguration]) -> Iterator[str]:
    inside = sorted(
        each.name
        for each in file.located(path).iterdir()
        if each.suffix in _SUFFIXES and not each.name.startswith(".")
    )
    if not inside:
        reason = f"has no file that ends with {', '.join(_SUFFIXES)}"
        raise BadConfiguration(path, None, reason)
    for name in inside:
        found = str(pathlib.PurePath(path, name))
        if _is_odd(file.located(found)):
            mistakes.append(BadConfiguration(found, None, "is no regular file"))
        else:
            yield found


def _is_odd(path: pathlib.Path) -> bool:
    """Tell whether something is no file, such as a pipe that nobody writes to."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        # Whoever reads it learns why.
        return False


def _text(path: str) -> str:
    if path != STDIN:
        return file.read(path)
    if sys.stdin is None:
        raise BadConfiguration(path, None, "standard input is closed")
    try:
        text = sys.stdin.read(file.MOST + 1)
        # Python may keep bytes that are no text, for who writes them again.
        text.encode()
    except UnicodeError as exc:
        raise BadConfiguration(path, None, file.NOT_TEXT) from exc
    if len(text) > file.MOST:
        raise BadConfiguration(path, None, file.TOO_LARGE)
    return text
