"""The files of a wanted state: several, folders of them, and standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from osc_traitsched.config import file
from osc_traitsched.config.wanted import folders, reader
from osc_traitsched.config.wanted.folders import Found
from osc_traitsched.core.errors import BadConfiguration, Mistakes
from osc_traitsched.core.wanted.lines import contradictions
from osc_traitsched.core.wanted.model import Wanted


def read(paths: Iterable[str]) -> Wanted:
    """Return what files want together.

    :param paths: of files, of folders with files, or ``-``; each is read once
    :raises Mistakes: all that is wrong in any of them
    """
    given = tuple(dict.fromkeys(folders.files(tuple(paths))))
    parts: list[Wanted] = []
    mistakes: list[BadConfiguration] = []
    for each in given:
        wanted, wrong = _wanted(each)
        parts.append(wanted)
        mistakes += wrong
    found = Wanted.joined(parts)
    mistakes += contradictions.mistakes(found)
    if mistakes:
        raise Mistakes(_in_order(mistakes, given))
    return found


def _wanted(given: Found) -> tuple[Wanted, tuple[BadConfiguration, ...]]:
    if isinstance(given, BadConfiguration):
        return Wanted(), (given,)
    try:
        return reader.read(given, _text(given))
    except BadConfiguration as exc:
        return Wanted(), (exc,)


def _in_order(
    mistakes: Iterable[BadConfiguration], given: Iterable[Found]
) -> list[BadConfiguration]:
    """Return mistakes by their files, as these are given, and by their lines."""
    paths = (e.path if isinstance(e, BadConfiguration) else e for e in given)
    order = {path: number for number, path in enumerate(paths)}
    return sorted(mistakes, key=lambda each: (order[each.path], each.line or 0))


def _text(path: str) -> str:
    if path != reader.STDIN:
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
