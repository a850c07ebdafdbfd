"""Reads nova.conf files, and tells options without effect by the names of all."""

from __future__ import annotations

import dataclasses
import functools
import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from oslo_config import cfg, iniparser, types

from osc_traitsched.config import document
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import (
    OPTIONS,
    NoEffect,
    Option,
    OptionType,
    Setting,
    Value,
)
from osc_traitsched.core.releases import NEWEST, OLDEST
from osc_traitsched.core.releases import release as release_name
from osc_traitsched.text import near_names

# Lines of nova.conf that no service reads, and what they were meant to set.


#: Sections in which unknown names are reported; others may be read by other code.
_MISSPELLED_IN = ("DEFAULT", "scheduler", "filter_scheduler")

#: Names that guides invent have these words; the first that is in a name decides.
_MEANT_BY_WORD: Mapping[str, str] = {
    "isolated_hosts": options.ISOLATED_HOSTS,
    "isolated_images": options.ISOLATED_IMAGES,
    "image_type": options.IMAGE_TYPE,
    "disk_format": options.IMAGE_TYPE,
    "image_meta": options.IMAGE_METADATA,
    "image_prop": options.IMAGE_METADATA,
    "routed": options.ROUTED_NETWORKS,
    "isolat": options.ISOLATION,
    "tenant": options.TENANT,
    "project": options.TENANT,
    "zone": options.AZ_QUERY,
    "_az": options.AZ_QUERY,
    "pci_alias": options.PCI_ALIAS,
    "filters": options.ENABLED_FILTERS,
    "weigher": options.WEIGHT_CLASSES,
    "shuffle": options.SHUFFLE,
    "subset": options.HOST_SUBSET_SIZE,
}
OF_COMPUTE = re.compile("(cpu|ram|disk)_allocation_ratio|reserved_host_")
_MULTIPLIER, _NEAR = "_weight_multiplier", 0.85


@functools.cache
def _names() -> Mapping[str, tuple[int, int, str]]:
    """Every name that Nova ever read, with its first and last release.

    An old name also has the name that took its place.
    """
    text = pkgutil.get_data(__package__, "option_names.txt") or b""
    found: dict[str, tuple[int, int, str]] = {}
    for line in text.decode().splitlines():
        section, *names = line.split()
        for each in names if section != "#" else ():
            name, _, span = each.partition(":")
            old, _, new = name.partition(">")
            first, _, last = span.partition("-")
            releases = int(first or OLDEST), int(last or NEWEST)
            found[f"{section}.{old}"] = (*releases, new)
    return found


@functools.cache
def current_names(release: int) -> Mapping[str, tuple[str, ...]]:
    """Options of a release by all their names within a section, old ones too."""
    names, found = _names(), dict[str, set[str]]()
    for name, (_, _, new) in names.items():
        first, last, _ = names.get(new or name, (NEWEST, OLDEST, ""))
        if first <= release <= last:
            found.setdefault(name.rpartition(".")[2], set()).add(new or name)
    return {key: tuple(sorted(meant)) for key, meant in found.items()}


def unread(section: str, key: str, release: int, source: str) -> NoEffect | None:
    """Why a release of Nova does not read a line; None if it may read it.

    Unknown names are reported in [scheduler], [filter_scheduler] and, if they are near
    a known one, in [DEFAULT].
    """
    name, known = f"{section}.{key}", current_names(release)
    first, last, _ = _names().get(name, (NEWEST, OLDEST, ""))
    if name in OPTIONS or first <= release <= last:
        return None
    is_own = section in _MISSPELLED_IN
    if is_own and OF_COMPUTE.search(key):
        return NoEffect(name, source, None, "only nova-compute reads it, in [DEFAULT]")
    one, *others = known.get(key, ("",))
    if one and not others and "_" in key and (is_own or one in OPTIONS):
        return NoEffect(name, source, one)
    reason = f"{release_name(release)} has no such option"
    if not is_own or first <= last:
        gone = NoEffect(name, source, None, reason, is_gone=True)
        return gone if is_own else None
    stems = {
        each.replace(_MULTIPLIER, ""): option
        for home in (*_MISSPELLED_IN[1:], section)
        for each, of in known.items()
        for option in of
        if option.startswith(f"{home}.") and "_" in each
    }
    near = near_names(key.replace(_MULTIPLIER, ""), stems, _NEAR)
    if not near and section == "DEFAULT":
        return None
    words = () if key.endswith(_MULTIPLIER) else _MEANT_BY_WORD
    invented = (_MEANT_BY_WORD[word] for word in words if word in key)
    found = stems[near[0]] if near else next(invented, "")
    if found and (near or OPTIONS[found].is_in(release)):
        return NoEffect(name, source, found)
    nearest = tuple(stems[each] for each in near_names(key, stems)[:1])
    return NoEffect(name, source, None, reason, nearest)


# nova.conf: INI files and the values in them.


# oslo.config refuses no list, and no string that is free.
_EXPECTED = {
    OptionType.BOOLEAN: "true or false",
    OptionType.INTEGER: "a whole number",
    OptionType.FLOAT: "a number",
}


def parse(option: Option, text: str) -> Value:
    """The value that Nova reads from a text; ValueError says what Nova takes."""
    try:
        value: Any = _type(option)(text)
    except ValueError as exc:
        raise ValueError(_expected(option)) from exc
    return tuple(value) if option.kind is OptionType.LIST else value


def _expected(option: Option) -> str:
    if option.choices:
        return f"one of {', '.join(option.choices)}"
    words = _EXPECTED[option.kind]
    return words if option.minimum is None else f"{words} of {option.minimum} or more"


def _type(option: Option) -> Any:
    if option.kind is OptionType.BOOLEAN:
        return types.Boolean()
    if option.kind is OptionType.INTEGER:
        return types.Integer(min=option.minimum)
    if option.kind is OptionType.FLOAT:
        return types.Float(min=option.minimum)
    if option.kind is OptionType.LIST:
        return types.List()
    return types.String(choices=option.choices or None)


# INI text as oslo.config parses it, with its lines.


DEFAULT = "DEFAULT"


@dataclasses.dataclass(frozen=True)
class Text:
    """INI text, and where it stands.

    :ivar first_line: the line of the file that the text begins on
    :ivar in_one_line: its lines can't be told apart in the file
    :ivar service: the only one that reads it; empty for all
    """

    path: str
    text: str
    first_line: int = 1
    in_one_line: bool = False
    service: str = ""

    def line(self, number: int) -> int:
        """Return the line in the file of a line of the text, both from 1."""
        return self.first_line + (0 if self.in_one_line else number - 1)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A value as it is written, and where.

    :ivar note: what the place is called there
    :ivar no_effect: why it sets nothing, whatever the release
    :ivar service: the only one that reads its file; empty for all
    :ivar every: all that stand under the key in one file, this one too; they share it
    """

    value: str
    path: str
    line: int | None = None
    note: str = ""
    no_effect: NoEffect | None = None
    service: str = ""
    every: list[Entry] = dataclasses.field(
        default_factory=list, compare=False, repr=False
    )

    @property
    def source(self) -> str:
        """The place, as ``nova.conf:12``."""
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place} ({self.note})" if self.note else place


#: The last value of each section and key.
Ini = Mapping[tuple[str, str], Entry]


@dataclasses.dataclass(frozen=True)
class Layer:
    """What a file sets; ``text`` would be replaced by a new text for the scheduler."""

    entries: Ini = dataclasses.field(default_factory=dict)
    text: str = ""


def put(
    entries: dict[tuple[str, str], Entry], name: tuple[str, str], entry: Entry
) -> None:
    """Add a value under a section and key; it is the last one then."""
    before = entries.get(name)
    every = before.every if before else []
    entries[name] = dataclasses.replace(entry, every=every)
    every.append(entries[name])


def section_and_key(name: str) -> tuple[str, str]:
    """Split ``section.option``; the case of sections other than DEFAULT is ignored.

    oslo_config/cfg.py, ``_normalize_group_name``
    """
    section, _, key = name.rpartition(".")
    return _normalized(section), key


def parse_ini(text: Text) -> Ini:
    """Parse text; raises BadConfiguration if oslo.config can't."""
    document.check_rendered(text.path, text.text)
    parser = _Parser(text)
    try:
        # A last empty line, so that every value ends before the text does.
        parser.parse([*text.text.split("\n"), ""])
    except iniparser.ParseError as exc:
        line = text.line(exc.lineno)
        raise BadConfiguration(text.path, line, exc.msg, exc.line) from exc
    return parser.entries


class _Parser(iniparser.BaseParser):
    """It also keeps the lines (cfg.ConfigParser)."""

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
        service = self._text.service
        entry = Entry("\n".join(value), self._text.path, line, service=service)
        put(self.entries, (self._section, key), entry)


def _normalized(section: str) -> str:
    return section if section == DEFAULT else section.lower()


# Nova.conf and its folders, as Nova itself reads them.
#
# Parser, types and templates are oslo.config's. What comes between is done here, since
# its ConfigOpts reads nothing but paths and does not say on which line a value stands;
# the tests hold the two against each other.


#: The characters of one value, and of all that references are replaced by; and how
#: many options may refer to each other in a row.
_MOST = 100_000
_MOST_IN_A_ROW = 50


def settings(
    files: Sequence[Ini], release: int, below: Mapping[str, Setting]
) -> Mapping[str, Setting]:
    """The settings that files make, the last file first in rank.

    A value that the release does not have is left as written, since Nova ignores it.

    :param below: what holds where no file says otherwise; ``$other`` needs it
    :raises BadConfiguration: for a value that Nova rejects
    """
    reader = _OptionReader(files, release, below)
    found = ((option.name, reader.setting(option)) for option in OPTIONS.values())
    return {name: setting for name, setting in found if setting is not None}


def without_effect(files: Iterable[Ini], release: int) -> tuple[NoEffect, ...]:
    """Lines that set no option, and should."""
    lines = (
        entry.no_effect or unread(*name, release, entry.source)
        for each in files
        for name, entry in each.items()
    )
    return tuple(filter(None, lines))


#: Names of a file, or of its folder, that one service alone reads.
_OF_SERVICE = re.compile(
    r"(?:^|/)nova[-_](api|scheduler|conductor|compute)(?:[^/]*\.conf)?(?:/[^/]*)?$"
)


def service_of(path: str) -> str:
    """The only service that reads a file, by its name or its folder's; or empty."""
    found = _OF_SERVICE.search(path)
    return f"nova-{found[1]}" if found else ""


def files_of(path: str) -> list[str]:
    """A file itself, or the ``*.conf`` of a directory; raises BadConfiguration."""
    folder = document.located(path)
    try:
        if not folder.is_dir():
            return [path]
        inside = [each for each in folder.iterdir() if each.suffix == ".conf"]
    except OSError as exc:
        raise document.unreadable(path, exc) from exc
    return sorted(str(each) for each in inside if not each.name.startswith("."))


class _OptionReader:
    """Looks options up as oslo_config/cfg.py does (ConfigOpts._do_get)."""

    def __init__(
        self, files: Sequence[Ini], release: int, below: Mapping[str, Setting]
    ) -> None:
        self._files = tuple(reversed(files))
        self._release = release
        self._below = below
        self._referred = 0

    def setting(self, option: Option, asking: tuple[Entry, ...] = ()) -> Setting | None:
        if option.kind is OptionType.MULTI:
            return self._several(option)
        entry = self._entry(map(section_and_key, option.names_in(self._release)))
        if entry is None:
            return None
        if not option.is_in(self._release):
            return Setting(entry.value, entry.source, given=True)
        text = self._substituted(entry, option.section, asking)
        try:
            value = parse(option, text)
        except ValueError as exc:
            section = f"[{option.section}] " if option.section else ""
            reason = f"{section}{option.key} is not {exc}"
            raise BadConfiguration(entry.path, entry.line, reason, text) from exc
        return Setting(value, entry.source, given=True)

    def _several(self, option: Option) -> Setting | None:
        """Files and lines add to each other."""
        names = list(map(section_and_key, option.names_in(self._release)))
        found = [
            entry
            for each in reversed(self._files)
            for name in reversed(names)
            if name in each
            for entry in each[name].every
        ]
        if not found:
            return None
        texts = [self._substituted(each, option.section, ()) for each in found]
        return Setting(tuple(texts), found[-1].source, given=True)

    def _entry(self, names: Iterable[tuple[str, str]]) -> Entry | None:
        # A later file under an old name goes before an earlier one under the new.
        names = tuple(names)
        found = (each[name] for each in self._files for name in names if name in each)
        return next(found, None)

    def _substituted(
        self, entry: Entry, section: str, asking: tuple[Entry, ...]
    ) -> str:
        """A value with the values of other options in place of ``$other``."""
        if entry in asking:
            raise _bad(entry, "refers to itself")
        if len(entry.value) > _MOST:
            raise _bad(entry, f"a value of more than {_MOST} characters")
        if len(asking) > _MOST_IN_A_ROW:
            raise _bad(entry, "refers to too many others in a row")
        asking = (*asking, entry)
        template = cfg.ConfigOpts.Template(entry.value.replace(r"\$", "$$"))
        found = template.pattern.finditer(template.template)
        names = (match["named"] or match["braced"] for match in found)
        # Each time that one is named counts.
        others = {name: self._other(name, section, asking) for name in names if name}
        return str(template.safe_substitute(others))

    def _other(self, key: str, section: str, asking: tuple[Entry, ...]) -> str:
        text = self._looked_up(key, section, asking)
        self._referred += len(text) + 1
        if self._referred > _MOST:
            raise _bad(asking[-1], f"refers to more than {_MOST} characters")
        return text

    def _looked_up(self, key: str, section: str, asking: tuple[Entry, ...]) -> str:
        in_default = f"{DEFAULT}.{key}"
        names = (key,) if "." in key else (f"{section}.{key}", in_default)
        for each, key in map(section_and_key, names):
            option = OPTIONS.get(f"{each}.{key}")
            if option is not None and option.is_in(self._release):
                return self._text(option, asking)
            entry = self._entry([(each, key)])
            if entry is not None:
                return self._substituted(entry, each, asking)
        raise _bad(asking[-1], "refers to an option that is set nowhere here")

    def _text(self, option: Option, asking: tuple[Entry, ...]) -> str:
        found = self.setting(option, asking) or self._below.get(option.name)
        value = found.value if found else option.default_in(self._release)
        if isinstance(value, tuple):
            return str(list(value))
        return "" if value is None else str(value)


def _bad(entry: Entry, reason: str) -> BadConfiguration:
    return BadConfiguration(entry.path, entry.line, reason, entry.value)
