"""The files of a wanted state: several, folders of them, and standard input."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable

from osc_traitsched.config import file
from osc_traitsched.config.wanted import reader
from osc_traitsched.core.errors import BadConfiguration, Mistakes
from osc_traitsched.core.wanted.lines import contradictions
from osc_traitsched.core.wanted.model import Wanted

_SUFFIXES = (".yaml", ".yml", ".json")


def read(paths: Iterable[str]) -> Wanted:
    """Read what files want together.

    :param paths: of files, of folders with files, or ``-``; each is read once
    :raises Mistakes: all mistakes in all files, in the order of files and lines
    """
    parts: dict[str, Wanted] = {}
    mistakes: list[BadConfiguration] = []
    for path in dict.fromkeys(paths):
        try:
            files = _files(path)
        except BadConfiguration as exc:
            parts[path] = Wanted()
            mistakes.append(exc)
            continue
        for each in files:
            if each not in parts:
                parts[each], wrong = _wanted(each)
                mistakes += wrong
    wanted = Wanted.joined(parts.values())
    mistakes += contradictions.mistakes(wanted)
    if mistakes:
        order = {path: number for number, path in enumerate(parts)}
        mistakes.sort(key=lambda each: (order[each.path], each.line or 0))
        raise Mistakes(mistakes)
    return wanted


def _files(path: str) -> list[str]:
    """List the files that a path names: itself, or those of a folder, sorted.

    Hidden files do not count, and folders in the folder do not either.
    """
    if path == reader.STDIN or not file.located(path).is_dir():
        return [path]
    try:
        names = sorted(
            each.name
            for each in file.located(path).iterdir()
            if each.suffix.lower() in _SUFFIXES
            if not each.name.startswith(".") and not each.is_dir()
        )
    except OSError as exc:
        raise file.unreadable(path, exc) from exc
    if not names:
        reason = f"has no file that ends with {', '.join(_SUFFIXES)}"
        raise BadConfiguration(path, None, reason)
    return [str(pathlib.PurePath(path, name)) for name in names]


def _wanted(path: str) -> tuple[Wanted, tuple[BadConfiguration, ...]]:
    try:
        return reader.read(path, _text(path))
    except BadConfiguration as exc:
        return Wanted(), (exc,)


def _text(path: str) -> str:
    if path != reader.STDIN:
        return file.read(path)
    if sys.stdin is None:
        raise BadConfiguration(path, None, "standard input is closed")
    try:
        text = sys.stdin.read(file.MOST + 1)
        # Python may keep bytes that are no text, and write them again as they were.
        text.encode()
    except UnicodeError as exc:
        raise BadConfiguration(path, None, file.NOT_TEXT) from exc
    if len(text) > file.MOST:
        raise BadConfiguration(path, None, file.TOO_LARGE)
    return text
