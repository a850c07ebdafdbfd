"""Files of a desired state: which are read, and their lines as entries."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import pathlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import yaml

from osc_traitsched.config import document
from osc_traitsched.config.document import Branch
from osc_traitsched.core.desired import model
from osc_traitsched.core.desired.model import (
    GROUP,
    MOST_LETTERS,
    DesiredState,
    Entry,
    Group,
    Inventory,
    Only,
    Part,
    Place,
    Source,
    Text,
    is_trait,
    is_zone,
)
from osc_traitsched.core.desired.planner import IDENTITY
from osc_traitsched.core.errors import BadConfiguration, Mistakes
from osc_traitsched.core.inventory.trait import key_of
from osc_traitsched.text import near_names, visible

# From a document to entries; all mistakes of a document are found at once.


#: The path that stands for standard input.
STDIN = "-"

_VERSION = "1"
_GROUP_NAME = re.compile(r"[A-Za-z0-9_.-]+")

_SECTIONS = ("traits", "aggregates", "flavors", "images")
_TOP = ("version", "groups", "hold", *_SECTIONS)
_ONLY = ("traits", "aggregates")
_PARTS_OF_SECTIONS: Mapping[str, Mapping[str, Part]] = {
    section: {part.key: part for part in Part if part.section == section}
    for section in _SECTIONS
}
_SOURCES = {
    source.value: source for source in (Source.INVENTORY, Source.AGGREGATE, Source.ZONE)
}


def read_text(
    path: str, text: str
) -> tuple[DesiredState, tuple[BadConfiguration, ...]]:
    """What the documents of a text want, and all mistakes, by their lines.

    :param path: what the text is named in errors
    """
    try:
        documents = document.parse(path, text)
    except BadConfiguration as exc:
        return DesiredState(), (exc,)
    if not documents:
        reason = "standard input is empty" if path == STDIN else "is empty"
        return DesiredState(), (BadConfiguration(path, None, reason),)
    readers = [_Reader(top) for top in documents]
    desired = DesiredState.joined(each.desired for each in readers)
    mistakes = (mistake for each in readers for mistake in each.fields.mistakes)
    return desired, tuple(sorted(mistakes, key=lambda each: each.line or 0))


#: Returns what is wrong with a text, or nothing.
_Check = Callable[[str], str]


def _any_text(text: str) -> str:
    """An empty one is rejected anyway."""
    return ""


class _Fields:
    """Reads mappings, lists and names; ``mistakes`` has all that was wrong so far."""

    def __init__(self) -> None:
        self.mistakes: list[BadConfiguration] = []

    def wrong(self, branch: Branch, reason: str) -> None:
        sentence = f"{branch.subject} {reason}"
        self.mistakes.append(BadConfiguration(branch.path, branch.line, sentence))

    def entries(self, branch: Branch) -> Iterator[tuple[Branch, Branch]]:
        try:
            found = branch.entries()
        except BadConfiguration as exc:
            self.mistakes.append(exc)
            return
        if branch.is_null:
            self.wrong(branch, "has nothing behind it" if branch.name else "is empty")
        yield from found

    def named(
        self, branch: Branch, check: _Check = _any_text
    ) -> Iterator[tuple[Text, Branch]]:
        for key, value in self.entries(branch):
            name = self.text(key, check, "has an empty name")
            if name is not None:
                yield name, value

    def known(self, branch: Branch, keys: Collection[str]) -> dict[str, Branch]:
        found = {}
        for key, value in self.entries(branch):
            name = key.text() or ""
            if name in keys:
                found[name] = value
            else:
                self.wrong(key, f"has no key {name!r}{_meant(name, keys)}")
        return found

    def texts(self, branch: Branch, check: _Check = _any_text) -> tuple[Text, ...]:
        items = branch.items()
        if items is None:
            self.wrong(branch, "is not a list")
            return ()
        found = (self.text(item, check) for item in items)
        return tuple(each for each in found if each is not None)

    def text(
        self, branch: Branch, check: _Check = _any_text, empty: str = "is empty"
    ) -> Text | None:
        """A name as it is written, whatever YAML would take it for.

        :param empty: what to say of one without letters
        """
        text = branch.text()
        if text is None:
            self.wrong(branch, "is not a name")
        elif branch.is_null or not text.strip():
            self.wrong(branch, empty)
        elif reason := check(text):
            self.wrong(branch, reason)
        else:
            return Text(text, Place(branch.path, branch.line))
        return None

    def is_true(self, branch: Branch) -> bool:
        """``true`` is the one thing that it can say."""
        if branch.text() == "true" and not branch.is_string():
            return True
        self.wrong(branch, "is not true; leave it out for what is not so")
        return False


def _meant(name: str, keys: Collection[str]) -> str:
    near = " or ".join(near_names(name, keys))
    return f"; did you mean {near}?" if near else f"; there are {', '.join(keys)}"


class _Reader:
    """Reads one document; ``desired`` has what can be read."""

    def __init__(self, top: Branch) -> None:
        self.fields = _Fields()
        self.fields.mistakes += document.odd_keys(top)
        self.desired = self._document(top)

    def _document(self, top: Branch) -> DesiredState:
        found = self.fields.known(top, _TOP)
        version = found.get("version")
        if version is None:
            self.fields.wrong(top, "has no version; write version: 1")
        elif version.text() != _VERSION:
            self.fields.wrong(version, "is not 1, the one that this release reads")
        hold = found.get("hold")
        return DesiredState.joined(
            [
                DesiredState(
                    groups=tuple(self._groups(found.get("groups"))),
                    hold=self.fields.texts(hold) if hold else (),
                ),
                *(
                    self._section(name, found[name])
                    for name in _SECTIONS
                    if name in found
                ),
            ]
        )

    def _groups(self, branch: Branch | None) -> Iterator[Group]:
        for name, value in self.fields.named(branch, _group) if branch else ():
            if value.items() is not None:
                names = self.fields.texts(value, _no_group)
                yield Group(name, Source.NAMES, names)
            else:
                yield from self._found_group(name, value)

    def _found_group(self, name: Text, branch: Branch) -> Iterator[Group]:
        before = len(self.fields.mistakes)
        found = self.fields.known(branch, (*_SOURCES, "var"))
        texts = {key: self.fields.text(value) for key, value in found.items()}
        sources = [key for key in texts if key in _SOURCES]
        if len(self.fields.mistakes) > before:
            return
        if len(sources) != 1:
            self.fields.wrong(branch, f"is not one of {', '.join(_SOURCES)}, or a list")
            return
        source, value = _SOURCES[sources[0]], texts[sources[0]]
        if "var" in texts and source is not Source.INVENTORY:
            self.fields.wrong(found["var"], "requires inventory")
        elif value is not None:
            yield Group(name, source, (value,), texts.get("var"))

    def _section(self, section: str, branch: Branch) -> DesiredState:
        check = {"traits": _trait, "aggregates": _aggregate}.get(section, _any_text)
        return DesiredState.joined(
            self._object(section, of, value)
            for of, value in self.fields.named(branch, check)
        )

    def _object(self, section: str, of: Text, branch: Branch) -> DesiredState:
        parts = _PARTS_OF_SECTIONS[section]
        can_be_only = ("only",) if section in _ONLY else ()
        found = self.fields.known(branch, (*parts, *can_be_only, "absent"))
        entries = tuple(self._entries(of, found, parts, absent=False))
        if "absent" in found:
            lists = {key: part for key, part in parts.items() if part is not Part.ZONE}
            absent = self.fields.known(found["absent"], lists)
            entries += tuple(self._entries(of, absent, lists, absent=True))
        is_only = "only" in found and self.fields.is_true(found["only"])
        return DesiredState(entries, (Only(section, of),) if is_only else ())

    def _entries(
        self,
        of: Text,
        found: Mapping[str, Branch],
        parts: Mapping[str, Part],
        absent: bool,
    ) -> Iterator[Entry]:
        for key, part in parts.items():
            if key in found:
                for value in self._values(part, found[key]):
                    yield Entry(part, of, value, absent)

    def _values(self, part: Part, branch: Branch) -> tuple[Text, ...]:
        if part is Part.ZONE:
            zone = self.fields.text(branch, _zone)
            return (zone,) if zone else ()
        return self.fields.texts(branch, _in_key if part.names_traits else _any_text)


def _trait(name: str) -> str:
    if is_trait(name):
        return ""
    return (
        f"{name!r} can't be a trait: a name has A-Z, 0-9 and _, and starts with "
        "CUSTOM_ unless os-traits defines it"
    )


def _in_key(name: str) -> str:
    longest = MOST_LETTERS - len(key_of(""))
    if is_trait(name) and len(name) > longest:
        return f"is a trait of more than {longest} letters, which no key has room for"
    return _trait(name)


def _aggregate(name: str) -> str:
    most = f"has a name of more than {MOST_LETTERS} letters"
    return most if len(name) > MOST_LETTERS else ""


def _zone(name: str) -> str:
    if is_zone(name):
        return ""
    return (
        f"{name!r} can't be a zone: it has 1 to {MOST_LETTERS} letters, none of them a "
        "colon, and neither begins nor ends with a space"
    )


def _group(name: str) -> str:
    if _GROUP_NAME.fullmatch(name):
        return ""
    return f"has the name {name!r}, in which there is other than A-Z a-z 0-9 _ . -"


def _no_group(name: str) -> str:
    return "is a group, which can't be in a group" if name.startswith(GROUP) else ""


# Files of a desired state, inventories and reviewed plans.


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
    if path == STDIN or not document.located(path).is_dir():
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
        return read_text(path, _text(path))
    except BadConfiguration as exc:
        return DesiredState(), (exc,)


def _text(path: str) -> str:
    if path != STDIN:
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
