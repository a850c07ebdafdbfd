"""Masks a saved cloud: a random word instead of each name, wherever it occurs.

Nothing is computed from what it hides: words, IDs and addresses are drawn, and a table
says what stands for what. :mod:`allowed` has what stays.
"""

from __future__ import annotations

import functools
import ipaddress
import re
import secrets
import urllib.parse
import uuid
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Union

from osc_traitsched.cloud.saved import allowed
from osc_traitsched.cloud.saved.allowed import LABELS, RULES, Masking
from osc_traitsched.cloud.saved.lists import LISTS
from osc_traitsched.core.inventory.metadata import TENANT_KEY
from osc_traitsched.core.nova.filter.aggregates import SCOPE, metadata_key
from osc_traitsched.core.nova.filter.groups import NEAR_ADDRESS, PREFIX
from osc_traitsched.core.nova.server.attachments import PCI_ALIAS

_UUID = re.compile(r"[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}", re.I)
_HEX = re.compile(r"[\da-f]{32,}", re.I)
#: Letters that real names hardly have together: a word is not taken for a name.
_LETTERS, _LENGTH = "fhjkpqvwxz", 10
#: The name in ``name:number``, between commas.
_OF_ALIAS = re.compile(r"(?:(?<=,)|^)[^,]+?(?=(?::\s*\d+\s*)?(?:,|$))")
_GROUP = re.compile(r"(trait|resources)([^:]*):(.*)", re.S)
_SUFFIX = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MULTIPLIER = "weight_multiplier"
#: What has none of these is no name.
_LETTER = re.compile(r"[^\W_]|[^\x00-\x7f]")
#: A file, without the line behind it.
_FILE = re.compile(r"\A.+?(?=(?::\d+)?\Z)", re.S)
#: A string of JSON, with ``"`` or ``"$`` before it, or another value.
_LITERAL = re.compile(r'("\$?)((?:[^"\\]|\\.)*)"|([^\s\[\]{},:"][^\s\[\]{},"]*)')
_Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
#: What lists call one of their objects.
_SINGLE = {each.kind: each.single.replace("_", "-") for each in LISTS}


def masked(
    document: Mapping[str, Any], kept: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, str]]:
    """A document with words instead of names, and the word of each name.

    :param kept: names that stay
    """
    mask = _Mask(document, kept)
    return {**mask.document(document), "masked": str(uuid.uuid4())}, mask.words


class _Mask:
    """Draws words, and replaces names by them.

    :ivar words: by name
    """

    def __init__(self, document: Mapping[str, Any], kept: Collection[str]) -> None:
        self.words: dict[str, str] = {}
        self._kept = allowed.COMMON.union(kept)
        self._bases: dict[str, str] = {}
        self._used = set[str]()
        #: By bits of an address, length of a network and its number.
        self._networks: dict[tuple[int, int, int], int] = {}
        self._taken = set[tuple[int, int, int]]()
        #: Hints compare addresses as networks: those of one network of such a length
        #: stay in one.
        lengths = set[int]()
        #: Own keys whose values flavors compare as numbers.
        self._amounts = set[str]()
        for key, text in leaves(document):
            first, *more = text.split() or [""]
            if more and first in allowed.COMPARES_NUMBERS:
                self._amounts.add(metadata_key(key) or key)
            if key in (NEAR_ADDRESS, PREFIX):
                lengths.add(int(text[1:]) if re.fullmatch(r"/\d{1,3}", text) else 24)
        self._lengths = sorted(lengths)

    def document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """All of a document; Nova's lists come first, since they name words best."""
        parts = sorted(document, key=lambda part: (part != "compute", part))
        found = {self._key(part): self._walk(document[part], part) for part in parts}
        listed = document["placement"]["providers"]
        names = {each["uuid"]: each["name"] for each in listed}
        for body, masked in zip(listed, found["placement"]["providers"]):
            masked["name"] = self._provider(
                body["name"], names.get(body["root"], body["name"])
            )
        return found

    def _provider(self, name: str, root: str) -> str:
        """The name of a provider below another begins with that one's."""
        if name == root or not name.startswith(root):
            return self.word(name, "provider")
        end = name[len(root) :]
        is_plain = re.fullmatch(r"_NUMA\d+", end)
        return self.word(root) + (end if is_plain else f"_{self.word(end)}")

    def _walk(self, value: Any, key: str = "", kind: str = "") -> Any:
        kind = _SINGLE.get(key, kind)
        if isinstance(value, list):
            return [self._walk(each, key, kind) for each in value]
        if isinstance(value, dict) and key == "settings":
            return self._settings(value)
        if isinstance(value, dict) and key in ("answers", "missing"):
            return {self._path(k): self._walk(v) for k, v in value.items()}
        if isinstance(value, dict):
            return {self._key(k): self._walk(v, k, kind) for k, v in value.items()}
        if not isinstance(value, str):
            return value
        rule = _rule(key)
        if rule is Masking.TEXT:
            return self._text(value)
        if key == "query":
            return self._json(value)
        if key in ("name", "id"):
            return self._value(value, kind)
        if key == PCI_ALIAS:
            return _OF_ALIAS.sub(lambda found: self._part(found[0], "", False), value)
        is_kept = rule is Masking.KEPT or (metadata_key(key) or key) in self._amounts
        return self._value(value, LABELS.get(key, ""), is_kept)

    def _key(self, text: str) -> str:
        """A key; those of a cloud's own become words, behind scopes that Nova reads."""
        if _is_known(text) or allowed.is_standard(text):
            return text
        if found := _GROUP.fullmatch(text):
            start, suffix, name = found.groups()
            if not re.fullmatch(r"_?\d{0,3}|s{1,2}", suffix):
                # Nova rejects a suffix with other letters.
                suffix = f"_{self.word(suffix)}{'.' * (not _SUFFIX.fullmatch(suffix))}"
            return f"{start}{suffix}:{self.word(name)}"
        head, colon, rest = text.partition(":")
        if not colon:
            return self._plain_key(text)
        if head == "capabilities":
            parts = (p if p in RULES else self.word(p) for p in rest.split(":"))
            return f"{head}:{':'.join(parts)}"
        if head == SCOPE:
            return f"{head}:{self._key(rest)}"
        return (
            f"{head if allowed.is_scope(head) else self.word(head)}:{self.word(rest)}"
        )

    def _plain_key(self, text: str) -> str:
        """A key without a scope; Nova reads some by how they begin or end."""
        if text.startswith(TENANT_KEY):
            end = text[len(TENANT_KEY) :]
            is_plain = re.fullmatch(r"_?\d{0,3}", end)
            return text if is_plain else f"{TENANT_KEY}_{self.word(end)}"
        if text.endswith(_MULTIPLIER):
            return f"{self.word(text[: -len(_MULTIPLIER)])}_{_MULTIPLIER}"
        return self.word(text)

    def _value(self, text: str, label: str = "", is_kept: bool = False) -> str:
        """Names between commas, with the operators of extra specs."""

        def part(found: re.Match[str]) -> str:
            first = next(iter(found[0].split()), "")
            if first not in allowed.OPERATORS:
                return self._part(found[0], label, is_kept)
            stays = is_kept or first in allowed.COMPARES_NUMBERS
            return re.sub(r"\S+", lambda m: self._part(m[0], label, stays), found[0])

        return re.sub("[^,]+", part, text)

    def _part(self, text: str, label: str, is_kept: bool) -> str:
        name = text.strip()
        if not name or name in allowed.OPERATORS or (is_kept and allowed.is_kept(name)):
            return text
        return text.replace(name, self.word(name, label))

    def word(self, name: str, label: str = "") -> str:
        """The word of a name; it has the label if it is drawn now."""
        if name in self.words:
            return self.words[name]
        stays = name in self._kept or allowed.is_standard(name)
        if not stays and _LETTER.search(name):
            self.words[name] = self._drawn(name, label)
        return self.words.get(name, name)

    def _drawn(self, name: str, label: str) -> str:
        if _UUID.fullmatch(name):
            return str(uuid.uuid4())
        if _HEX.fullmatch(name):
            return secrets.token_hex(len(name))[: len(name)]
        if name.startswith("req-"):
            return f"req-{self.word(name[4:])}"
        if address := _address(name):
            return str(type(address)(self._moved(address)))
        if start := allowed.CUSTOM.match(name):
            end = name[start.end() :]
            return self._letters(end, start[0]) if end else name
        is_trait = re.fullmatch("[A-Z0-9_]+", name)
        return self._letters(name, f"{label}-" if label and not is_trait else "")

    def _letters(self, name: str, start: str) -> str:
        """Letters of a name; in another case if only the case of two names differs.

        Nova makes traits and classes of other names in this way.
        """
        folded = re.sub("[^A-Za-z0-9]+", "_", name).upper()
        base = self._bases.setdefault(folded, _draw())
        while True:
            styled = base if name == name.lower() else base.capitalize()
            styled = base.upper() if re.fullmatch("[A-Z0-9_]+", name) else styled
            if start + styled not in self._used:
                self._used.add(start + styled)
                return start + styled
            base = _draw()

    def _moved(self, address: _Address) -> int:
        """A number for an address, and one for each network that hints compare."""
        bits, number, at, last = address.max_prefixlen, int(address), 0, 0
        for length in (*(each for each in self._lengths if each < bits), bits):
            place = (bits, length, number >> (bits - length))
            while place not in self._networks:
                drawn = at << (length - last) | secrets.randbits(length - last)
                if (bits, length, drawn) not in self._taken:
                    self._taken.add((bits, length, drawn))
                    self._networks[place] = drawn
            at, last = self._networks[place], length
        return at

    def _text(self, text: str) -> str:
        """The sentences of Nova's in it, with words for names."""
        parts, at = [], 0
        for found in allowed.SENTENCE.finditer(text):
            parts.append(self._other(text[at : found.start()]))
            at = found.start()
            for number, name in enumerate(found.groups(), 1):
                if name is not None:
                    parts += [text[at : found.start(number)], self.word(name)]
                    at = found.end(number)
            parts.append(text[at : found.end()])
            at = found.end()
        return "".join((*parts, self._other(text[at:])))

    def _other(self, text: str) -> str:
        """A word for what is no sentence of Nova's; two if it had several."""
        other = text.strip()
        if not re.search(r"\w", other):
            return text
        start = "masked " if len(other.split()) > 1 else ""
        return text.replace(other, start + self.word(other, "text"))

    def _json(self, text: str) -> str:
        """JSON of an option or a hint, valid or not, with words in it."""

        def literal(found: re.Match[str]) -> str:
            mark, name = found[1] or "", found[2] or found[3] or ""
            is_path = all(part in RULES for part in name.split("."))
            stays = is_path or name in allowed.OPERATORS or allowed.is_kept(name)
            return f"{mark}{name if stays else self._value(name)}{mark[:1]}"

        return _LITERAL.sub(literal, text)

    def _path(self, text: str) -> str:
        parts = re.split("([/ ])", text)
        return "".join(
            part if part in allowed.PATHS else self.word(urllib.parse.unquote(part))
            for part in parts
        )

    def _settings(self, found: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **{key: self._walk(found[key], key) for key in ("named", "place")},
            "options": list(map(self._row, found["options"])),
            "lines": {self._key(k): self._source(v) for k, v in found["lines"].items()},
            "files": {
                self._key(name): [list(map(self._row, rows)) for rows in layers]
                for name, layers in found["files"].items()
            },
        }

    def _row(self, row: list[Any]) -> list[Any]:
        """An option; notes are dropped."""
        section, key, value, path, line, _, why, *service = row
        if why:
            why = {
                **why,
                "name": self._option(why["name"]),
                "source": self._source(why["source"]),
                "meant": why["meant"] and self._option(why["meant"]),
                "nearest": [self._option(each) for each in why["nearest"]],
                "reason": self._text(why["reason"]),
            }
        head = [self._option(section), self._option(key), self._set(key, value)]
        return [*head, self._source(path), line, "", why, *service]

    def _option(self, name: str) -> str:
        parts = name.split(".")
        return ".".join(p if allowed.is_option(p) else self.word(p) for p in parts)

    def _set(self, key: str, value: str) -> str:
        def part(found: re.Match[str]) -> str:
            if allowed.is_class_of_nova(found[0].strip()):
                return found[0]
            return self._part(found[0], LABELS.get(key, ""), True)

        is_json = value.lstrip()[:1] in ("{", "[")
        return self._json(value) if is_json else re.sub("[^,=]+", part, value)

    def _source(self, text: str) -> str:
        """A file, with its line if it has one."""
        return _FILE.sub(lambda found: self._part(found[0], "file", True), text)


def _draw() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def _rule(key: str) -> Masking:
    """What becomes of the strings behind a key."""
    head, _, rest = key.partition(":")
    if _is_known(key):
        return RULES.get(key, Masking.KEPT)
    if head in (SCOPE, "capabilities"):
        return _rule(rest.rpartition(":")[2])
    is_kept = _GROUP.fullmatch(key) or key.endswith(_MULTIPLIER)
    return Masking.KEPT if is_kept else Masking.NAME


@functools.lru_cache(maxsize=4096)
def _is_known(key: str) -> bool:
    """Whether a key is Nova's, numbered perhaps, or spelled almost like one."""
    plain = re.sub(r"\.\d+$", "", key)
    return plain in RULES or bool(allowed.misspelled(plain))


def _address(text: str) -> _Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """All strings of a document, each with its key, and the keys with themselves."""
    if isinstance(value, dict):
        for inner, each in value.items():
            yield inner, inner
            yield from leaves(each, inner)
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each, key)
    elif isinstance(value, str):
        yield key, value


# The masked document, searched for what should not be in it.


_BETWEEN = re.compile(r"[\s,;|='\"()\[\]{}<>/@]+")


def leaks(
    found: Mapping[str, Any], words: Mapping[str, str], kept: Collection[str] = ()
) -> list[str]:
    """Texts of a masked document that no mask makes, in the file as it was read again.

    All in it has to be made of allowed words, numbers, times and drawn words.

    :param kept: names that stay
    """
    drawn = {*words.values(), str(found["masked"])}
    stays = drawn.union(kept, allowed.COMMON)
    stays.update(token for each in drawn for token in allowed.TOKEN.findall(each))
    there = {text for _, text in leaves(found)}
    return sorted(text for text in there if not _is_made(text, stays))


def _is_made(text: str, stays: Collection[str]) -> bool:
    if not text or text in stays or allowed.is_allowed(text):
        return True
    if _address(text) or not text.isascii():
        return False
    parts = _BETWEEN.split(text)
    if len(parts) == 1:
        parts = text.split(":")
    if len(parts) > 1:
        is_made = all(_is_made(part, stays) for part in parts)
    else:
        tokens = allowed.TOKEN.findall(text)
        is_made = all(each in stays or allowed.is_allowed(each) for each in tokens)
    is_near = _is_known(text) or allowed.is_option(text) or allowed.is_scope(text)
    return is_made or is_near
