"""How Nova reads the texts that flavors and images hold."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova.server.cpu_set import CpuSet, Range

_TRUE = frozenset({"1", "t", "true", "on", "y", "yes"})
#: What Python reads of a decimal number (``sys.get_int_max_str_digits``).
_MOST_DIGITS = 4300
#: What Nova takes these page sizes for.
PAGE_WORDS: Mapping[str, int] = {"small": -1, "large": -2, "any": -3}
_UNIT_PREFIXES = "KMGTPEZYRQ"
#: The first release whose oslo.utils, 6.2, reads those after T.
_LARGE_PREFIXES, _LARGE_PREFIXES_SINCE = "PEZYRQ", 28
# Digits have one way to match, so that a long value without a unit costs little.
_SIZE = re.compile(r"([-+]?(?:\d+(?:\.\d+)?|\.\d+))([KMGTPEZYRQ]i?)?(b|bit|B)\n?")
_DIGITS = re.compile(r"\d+")
_COMPARED = re.compile(r"\s*(?:<=|>=|<|>|!=|==)\s*(\S+)\s*")
_STRICT_VERSION = re.compile(r"\d+\.\d+(\.\d+)?([ab]\d+)?", re.ASCII)
_VERSION = re.compile(
    r"v?(\d+!)?\d+(\.\d+)*"
    r"([-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?"
    r"(-\d+|[-_.]?(post|rev|r)[-_.]?\d*)?"
    r"([-_.]?dev[-_.]?\d*)?"
    r"(\+[a-z0-9]+([-_.][a-z0-9]+)*)?",
    re.ASCII | re.IGNORECASE,
)


def boolean(value: object) -> bool:
    """Tell whether a value means yes; whatever is not understood means no.

    Nova reads it with oslo_utils.strutils, ``bool_from_string``, not strictly.
    """
    return str(value).strip().lower() in _TRUE


def integer(value: object) -> int | None:
    """Return a whole number, or None for what Python's ``int`` does not take.

    That includes more than 4300 digits. Older Pythons take them, and slowly.
    """
    try:
        text = str(value)
        return None if _is_too_long(text) else int(text)
    except ValueError:
        return None


def _is_too_long(text: str) -> bool:
    return len(text) > _MOST_DIGITS and sum(map(str.isdecimal, text)) > _MOST_DIGITS


def cpus(text: str, key: str) -> CpuSet:
    """Return the CPU numbers of a list such as ``0-3,^2``.

    What is excluded stays out, wherever in the list it is named
    (nova/virt/hardware.py, ``parse_cpu_spec``).

    :raises Refusal: ``Invalid``, where the list can't be read
    """
    included: list[Range] = []
    excluded: list[Range] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        wanted = excluded if item.startswith("^") else included
        first, dash, last = item[item.startswith("^") :].partition("-")
        start, stop = integer(first), integer(last if dash else first)
        if start is None or stop is None or start > stop:
            raise Refusal("Invalid", "cpu-list-malformed", (key,))
        wanted.append((start, stop))
    return CpuSet.of(included) - CpuSet.of(excluded)


def cpu_mask(text: str, vcpus: int, key: str) -> CpuSet:
    """Return the CPUs of a mask; one that begins with ``^`` is taken off all of them.

    nova/virt/hardware.py, ``get_realtime_cpu_constraint`` and
    ``get_dedicated_cpu_constraint``.

    :raises Refusal: as :func:`cpus`
    """
    whole = f"0-{vcpus - 1}," if text.strip().startswith("^") else ""
    return cpus(whole + text, key)


def page_size(text: str, key: str, release: int) -> float:
    """Return a page size in KiB, or Nova's own number for one of its words.

    nova/virt/hardware.py, ``_get_numa_pagesize_constraint``, and oslo_utils.strutils,
    ``string_to_bytes``.

    :raises Refusal: ``MemoryPageSizeInvalid`` for what is neither a word nor a size,
        ``ValueError`` and ``OverflowError`` for a size that Python can't read
    """
    if text in PAGE_WORDS:
        return PAGE_WORDS[text]
    if text.isdigit():
        number = integer(text)
        if number is None:
            raise Refusal("ValueError", "no-number", (key,))
        return number
    found = _SIZE.fullmatch(text)
    if not found:
        raise Refusal("MemoryPageSizeInvalid", "unknown-value", (key,))
    magnitude, prefix, unit = found.groups()
    if prefix and prefix[0] in _LARGE_PREFIXES and release < _LARGE_PREFIXES_SINCE:
        raise Refusal("MemoryPageSizeInvalid", "unknown-value", (key,))
    power: int = _UNIT_PREFIXES.index(prefix[0]) + 1 if prefix else 0
    size = float(magnitude) / (1 if unit == "B" else 8) * 2.0 ** (10 * power)
    if math.isinf(size):
        raise Refusal("OverflowError", "no-number", (key,))
    return math.ceil(size) / 1024


def versions(text: str, strict: bool) -> bool:
    """Tell whether a text compares with versions, as in ``>=2.0,<3.0``.

    oslo_versionedobjects/fields.py, ``VersionPredicate``: it took distutils' strict
    versions, of two or three numbers, before it took all those of PEP 440.
    """
    pattern = _STRICT_VERSION if strict else _VERSION
    found = [_COMPARED.fullmatch(part) for part in text.split(",")]
    readable = not any(map(_is_too_long, _DIGITS.findall(text)))
    return readable and all(each and pattern.fullmatch(each[1]) for each in found)
