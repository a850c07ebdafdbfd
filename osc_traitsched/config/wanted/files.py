"""The files of a wanted state: several, folders of them, and standard input."""

from __future__ import annotations

import pathlib
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
            yield from _in_folder(path) if _is_folder(path) else (path,)
        except OSError as exc:
            mistakes.append(file.unreadable(path, exc))
        except BadConfiguration as exc:
            mistakes.append(exc)


def _is_folder(path: str) -> bool:
    return path != STDIN and file.located(path).is_dir()


def _in_folder(path: str) -> list[str]:
    inside = sorted(
        each.name
        for each in file.located(path).iterdir()
        if each.suffix in _SUFFIXES and not each.name.startswith(".")
    )
    if not inside:
        reason = f"has no file that ends with {', '.join(_SUFFIXES)}"
        raise BadConfiguration(path, None, reason)
    return [str(pathlib.PurePath(path, name)) for name in inside]


def _text(path: str) -> str:
    if path != STDIN:
        return file.read(path)
    if sys.stdin is None:
        raise BadConfiguration(path, None, "standard input is closed")
    try:
        text = sys.stdin.read(file.MOST + 1)
    except UnicodeDecodeError as exc:
        raise BadConfiguration(path, None, "not text (UTF-8)") from exc
    if len(text) > file.MOST:
        raise BadConfiguration(path, None, file.TOO_LARGE)
    return text
