"""Files of a desired state, inventories and reviewed plans."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import pathlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from osc_traitsched.config import document
from osc_traitsched.config.desired import reader
from osc_traitsched.core.desired import model
from osc_traitsched.core.desired.model import DesiredState, Entry, Inventory, Part
from osc_traitsched.core.desired.planner import IDENTITY
from osc_traitsched.core.errors import BadConfiguration, Mistakes
from osc_traitsched.text import visible

# An Ansible inventory, as ``ansible-inventory --list`` prints it.


_META = "_meta"


def read_inventory(path: str) -> Inventory:
    """The groups of an inventory's JSON, without Ansible; raises BadConfiguration."""
    try:
        found = json.loads(document.read_text(path))
    except (ValueError, RecursionError) as exc:
        line = getattr(exc, "lineno", None)
        reason = "is no JSON; ansible-inventory --list prints it"
        raise BadConfiguration(path, line, reason) from exc
    if not isinstance(found, dict):
        raise BadConfiguration(path, None, "has no groups, as ansible-inventory has")
    groups = {name: each for name, each in found.items() if name != _META}
    return Inventory(
        {name: _names(path, name, each, "hosts") for name, each in groups.items()},
        {name: _names(path, name, each, "children") for name, each in groups.items()},
        _variables(found.get(_META)),
    )


def _names(path: str, group: str, body: Any, part: str) -> tuple[str, ...]:
    found = body.get(part, []) if isinstance(body, dict) else None
    if not isinstance(found, list) or not all(isinstance(e, str) for e in found):
        raise BadConfiguration(path, None, f"group {group}: {part} is no list of names")
    return tuple(found)


def _variables(meta: Any) -> Mapping[str, Mapping[str, str]]:
    found = meta.get("hostvars") if isinstance(meta, dict) else None
    pairs: Iterable[tuple[str, Any]] = found.items() if isinstance(found, dict) else ()
    return {
        host: {key: str(value) for key, value in each.items() if _is_plain(value)}
        for host, each in pairs
        if isinstance(each, dict)
    }


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


# A plan that was reviewed, as ``plan -f json`` printed it.


def read_plan(path: str) -> tuple[Mapping[str, Any], ...]:
    """The rows of a plan, each of which names its cloud; raises BadConfiguration."""
    try:
        found = json.loads(document.read_text(path))
    except (ValueError, RecursionError) as exc:
        line = getattr(exc, "lineno", None)
        raise BadConfiguration(
            path, line, "is no JSON; plan -f json prints it"
        ) from exc
    if not isinstance(found, list) or not all(map(_is_row, found)):
        raise BadConfiguration(path, None, "is no plan, as plan -f json prints it")
    return tuple(found)


def _is_row(found: object) -> bool:
    if not isinstance(found, dict) or not found.keys() >= {*IDENTITY}:
        return False
    cloud = found.get("cloud")
    if not isinstance(cloud, str) or not cloud:
        return False
    return all(isinstance(found[name], (str, type(None))) for name in IDENTITY)


# The files of a desired state: several, folders of them, and standard input.


_SUFFIXES = (".yaml", ".yml", ".json")


def read(paths: Iterable[str]) -> DesiredState:
    """Read what files want together.

    :param paths: of files, of folders with files, or ``-``; each is read once
    :raises Mistakes: all mistakes in all files, in the order of files and lines
    """
    parts: dict[str, DesiredState] = {}
    mistakes: list[BadConfiguration] = []
    for path in dict.fromkeys(paths):
        try:
            files = _files(path)
        except BadConfiguration as exc:
            parts[path] = DesiredState()
            mistakes.append(exc)
            continue
        for each in files:
            if each not in parts:
                parts[each], wrong = _read_one(each)
                mistakes += wrong
    desired = DesiredState.joined(parts.values())
    mistakes += model.mistakes(desired)
    if mistakes:
        order = {path: number for number, path in enumerate(parts)}
        mistakes.sort(key=lambda each: (order[each.path], each.line or 0))
        raise Mistakes(mistakes)
    return desired


def _files(path: str) -> list[str]:
    """Sorted; hidden files and folders in the folder do not count."""
    if path == reader.STDIN or not document.located(path).is_dir():
        return [path]
    try:
        names = sorted(
            each.name
            for each in document.located(path).iterdir()
            if each.suffix.lower() in _SUFFIXES
            if not each.name.startswith(".") and not each.is_dir()
        )
    except OSError as exc:
        raise document.unreadable(path, exc) from exc
    if not names:
        reason = f"has no file that ends with {', '.join(_SUFFIXES)}"
        raise BadConfiguration(path, None, reason)
    return [str(pathlib.PurePath(path, name)) for name in names]


def _read_one(path: str) -> tuple[DesiredState, tuple[BadConfiguration, ...]]:
    try:
        return reader.read(path, _text(path))
    except BadConfiguration as exc:
        return DesiredState(), (exc,)


def _text(path: str) -> str:
    if path != reader.STDIN:
        return document.read_text(path)
    if sys.stdin is None:
        raise BadConfiguration(path, None, "standard input is closed")
    try:
        text = sys.stdin.read(document.MOST + 1)
        # Python may keep bytes that are no text, and write them again as they were.
        text.encode()
    except UnicodeError as exc:
        raise BadConfiguration(path, None, document.NOT_TEXT) from exc
    if len(text) > document.MOST:
        raise BadConfiguration(path, None, document.TOO_LARGE)
    return text


# Wishes as the text of a file, and a new file on disk.


_SECTIONS = ("traits", "aggregates", "flavors", "images")
_PARTS = tuple(Part)


def text(
    desired: DesiredState, comments: Iterable[str] = (), encoding: str | None = None
) -> str:
    """A document that says what is desired, sorted, with comments on top.

    :param encoding: of the stream that it is written to; None for UTF-8. Other streams
        get ASCII with YAML's escapes.
    """
    is_utf8 = encoding is None or codecs.lookup(encoding).name == "utf-8"
    body: dict[str, Any] = {"version": 1}
    groups = {
        group.name.text: [value.text for value in group.values]
        for group in desired.groups
    }
    if groups:
        body["groups"] = groups
    for section in _SECTIONS:
        if found := _section(desired, section):
            body[section] = found
    written = yaml.safe_dump(
        body, sort_keys=False, allow_unicode=True, default_flow_style=False
    )
    shown = written.replace("\n", "")
    if not is_utf8 or visible(shown) != shown:
        # Else PyYAML writes what turns a line around as it is.
        written = yaml.safe_dump(body, sort_keys=False, default_flow_style=False)
    return "".join(f"# {visible(line)}\n" for line in comments) + written


def _section(desired: DesiredState, section: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    entries = [entry for entry in desired.entries if entry.part.section == section]
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
    """Write a new file that only its user can read, and sync it to the disk.

    :raises BadConfiguration: if it exists, or can't be written
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
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
