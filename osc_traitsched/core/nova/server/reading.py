"""How Nova reads the texts that flavors and images hold."""

from __future__ import annotations

import re

from osc_traitsched.core.errors import Refusal

_TRUE = frozenset({"1", "t", "true", "on", "y", "yes"})
_SIZE = re.compile(r"[-+]?\d*\.?\d+([KMGTPEZYRQ]i?)?(b|bit|B)")
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
    """Return a whole number, or None for what Python's ``int`` does not take."""
    try:
        return int(str(value))
    except ValueError:
        return None


def cpus(text: str, key: str) -> frozenset[int]:
    """Return the CPU numbers of a list such as ``0-3,^2``.

    What is excluded stays out, wherever in the list it is named
    (nova/virt/hardware.py, ``parse_cpu_spec``).

    :raises Refusal: ``Invalid``, where the list can't be read
    """
    included: set[int] = set()
    excluded: set[int] = set()
    for item in filter(None, (part.strip() for part in text.split(","))):
        wanted = excluded if item.startswith("^") else included
        first, dash, last = item[item.startswith("^") :].partition("-")
        start, stop = integer(first), integer(last if dash else first)
        if start is None or stop is None or start > stop:
            raise Refusal("Invalid", "cpu-list-malformed", (key,))
        wanted.update(range(start, stop + 1))
    return frozenset(included - excluded)


def cpu_mask(text: str, vcpus: int, key: str) -> frozenset[int]:
    """Return the CPUs of a mask; one that begins with ``^`` is taken off all of them.

    nova/virt/hardware.py, ``get_realtime_cpu_constraint`` and
    ``get_dedicated_cpu_constraint``.

    :raises Refusal: as :func:`cpus`
    """
    whole = f"0-{vcpus - 1}," if text.strip().startswith("^") else ""
    return cpus(whole + text, key)


def page_size(text: str) -> bool:
    """Tell whether a text names a page size: a word, a number of KiB, or with a unit.

    nova/virt/hardware.py, ``_numa_get_pagesize_constraints``.
    """
    words = ("any", "large", "small")
    return text in words or text.isdigit() or _SIZE.fullmatch(text) is not None


def versions(text: str, strict: bool) -> bool:
    """Tell whether a text compares with versions, as in ``>=2.0,<3.0``.

    oslo_versionedobjects/fields.py, ``VersionPredicate``: it took distutils' strict
    versions, of two or three numbers, before it took all those of PEP 440.
    """
    pattern = _STRICT_VERSION if strict else _VERSION
    found = [_COMPARED.fullmatch(part) for part in text.split(",")]
    return all(each and pattern.fullmatch(each[1]) for each in found)
