"""Wishes as the text of a file, and a new file on disk."""

from __future__ import annotations

import codecs
import contextlib
import os
import pathlib
from collections.abc import Iterable
from typing import Any

import yaml

from osc_traitsched.config import document
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.wanted.model import Entry, Part, Wanted

_SECTIONS = ("traits", "aggregates", "flavors", "images")
_PARTS = tuple(Part)


def text(
    wanted: Wanted, comments: Iterable[str] = (), encoding: str | None = None
) -> str:
    """Return a document that says what is wanted, sorted, with comments on top.

    :param encoding: of the stream that it is written to; None for UTF-8. Other streams
        get ASCII with YAML's escapes.
    """
    is_utf8 = encoding is None or codecs.lookup(encoding).name == "utf-8"
    body: dict[str, Any] = {"version": 1}
    groups = {
        group.name.text: [value.text for value in group.values]
        for group in wanted.groups
    }
    if groups:
        body["groups"] = groups
    for section in _SECTIONS:
        if found := _section(wanted, section):
            body[section] = found
    written = yaml.safe_dump(
        body, sort_keys=False, allow_unicode=is_utf8, default_flow_style=False
    )
    return "".join(f"# {line}\n" for line in comments) + written


def _section(wanted: Wanted, section: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    entries = [entry for entry in wanted.entries if entry.part.section == section]
    for entry in sorted(entries, key=_in_file):
        body = found.setdefault(entry.of.text, {})
        if entry.part is Part.ZONE:
            body[entry.part.key] = entry.value.text
            continue
        if entry.absent:
            body = body.setdefault("absent", {})
        body.setdefault(entry.part.key, []).append(entry.value.text)
    return found


def _in_file(entry: Entry) -> tuple[str, bool, int, str]:
    return entry.of.text, entry.absent, _PARTS.index(entry.part), entry.value.text


def write_new(path: str, written: str) -> None:
    """Write a file that only its user can read, and that is not there yet.

    It is on the disk when this returns.

    :raises BadConfiguration: when it is there, or can't be written
    """
    target = document.located(path)
    try:
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        descriptor = os.open(target, flags, 0o600)
    except FileExistsError as exc:
        raise BadConfiguration(path, None, "exists; name a new file") from exc
    except OSError as exc:
        raise document.unreadable(path, exc) from exc
    try:
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(written)
            stream.flush()
            os.fsync(stream.fileno())
        _sync(target.parent)
    except OSError as exc:
        # By half of it nobody would get back.
        with contextlib.suppress(OSError):
            target.unlink()
        raise document.unreadable(path, exc) from exc


def _sync(folder: pathlib.Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
