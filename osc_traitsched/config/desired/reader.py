"""From a document to entries; all mistakes of a document are found at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from osc_traitsched.config import document
from osc_traitsched.config.document import Branch
from osc_traitsched.core.desired.model import (
    GROUP,
    MOST_LETTERS,
    DesiredState,
    Entry,
    Group,
    Only,
    Part,
    Place,
    Source,
    Text,
    is_trait,
    is_zone,
)
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.inventory.metadata import key_of
from osc_traitsched.core.names import near_names

#: The path that stands for standard input.
STDIN = "-"

_VERSION = "1"
_GROUP_NAME = re.compile(r"[A-Za-z0-9_.-]+")

_SECTIONS = ("traits", "aggregates", "flavors", "images")
_TOP = ("version", "groups", "hold", *_SECTIONS)
_ONLY = ("traits", "aggregates")
_PARTS: Mapping[str, Mapping[str, Part]] = {
    section: {part.key: part for part in Part if part.section == section}
    for section in _SECTIONS
}
_SOURCES = {
    source.value: source for source in (Source.INVENTORY, Source.AGGREGATE, Source.ZONE)
}


def read(path: str, text: str) -> tuple[DesiredState, tuple[BadConfiguration, ...]]:
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
        parts = _PARTS[section]
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
