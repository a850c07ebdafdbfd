"""The configuration room: INI text as oslo.config parses it, with its lines."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from oslo_config import iniparser

from osc_traitsched.core.errors import BadConfiguration

DEFAULT = "DEFAULT"


@dataclasses.dataclass(frozen=True)
class Text:
    """INI text, and where it stands.

    :ivar first_line: the line of the file that the text begins on
    :ivar in_one_line: its lines can't be told apart in the file
    """

    path: str
    text: str
    first_line: int = 1
    in_one_line: bool = False

    def line(self, number: int) -> int:
        """Return the line in the file of a line of the text, both from 1."""
        return self.first_line + (0 if self.in_one_line else number - 1)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A value as it is written, and where.

    :ivar every: all that stand under the key in one file, this one too; they share it
    """

    value: str
    path: str
    line: int | None = None
    every: list[Entry] = dataclasses.field(
        default_factory=list, compare=False, repr=False
    )

    @property
    def source(self) -> str:
        """The place, as ``nova.conf:12``."""
        return self.path if self.line is None else f"{self.path}:{self.line}"


#: The last value of each section and key.
Ini = Mapping[tuple[str, str], Entry]


def put(
    entries: dict[tuple[str, str], Entry], name: tuple[str, str], entry: Entry
) -> None:
    """Add a value under a section and key; it is the last one then."""
    before = entries.get(name)
    every = before.every if before else []
    entries[name] = dataclasses.replace(entry, every=every)
    every.append(entries[name])


def section_and_key(name: str) -> tuple[str, str]:
    """Split ``section.option``; the section's case does not matter to oslo.config.

    Only ``DEFAULT`` must be written so (oslo_config/cfg.py,
    _normalize_group_name).
    """
    section, _, key = name.rpartition(".")
    return _normalized(section), key


def parse(text: Text) -> Ini:
    """Parse text.

    :raises BadConfiguration: for what oslo.config can't parse
    """
    parser = _Parser(text)
    try:
        # A last empty line, so that every value ends before the text does.
        parser.parse([*text.text.split("\n"), ""])
    except iniparser.ParseError as exc:
        line = text.line(exc.lineno)
        raise BadConfiguration(text.path, line, exc.msg, exc.line) from exc
    return parser.entries


class _Parser(iniparser.BaseParser):
    """oslo.config's own parser, which also keeps the lines (cfg.ConfigParser)."""

    def __init__(self, text: Text) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], Entry] = {}
        self._text = text
        self._section = ""

    def new_section(self, section: str) -> None:
        self._section = _normalized(section)

    def assignment(self, key: str, value: list[str]) -> None:
        # The parser stands on the line after the value's last one.
        line = self._text.line(self.lineno - len(value))
        if not self._section:
            reason = "a value before the first [section]"
            raise BadConfiguration(self._text.path, line, reason, key)
        entry = Entry("\n".join(value), self._text.path, line)
        put(self.entries, (self._section, key), entry)


def _normalized(section: str) -> str:
    return section if section == DEFAULT else section.lower()
