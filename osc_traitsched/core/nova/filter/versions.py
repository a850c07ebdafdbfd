"""How the version of a hypervisor is compared with what an image wants."""

from __future__ import annotations

import re

_COMPARED = re.compile(r"\s*(<=|>=|<|>|!=|==)\s*(\S+)\s*")
_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<numbers>\d+(?:\.\d+)*)"
    r"(?P<pre>[-_.]?(?:alpha|beta|preview|pre|rc|a|b|c)[-_.]?\d*)?"
    r"(?P<post>-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?"
    r"(?P<dev>[-_.]?dev[-_.]?\d*)?"
    r"(?P<local>\+.*)?",
    re.ASCII | re.IGNORECASE,
)


def numbers_of(version: int) -> tuple[int, ...]:
    """Return the parts of a version that is one number: 1002003 is 1.2.3.

    oslo_utils.versionutils, ``convert_version_to_str``
    """
    parts: list[int] = []
    while version > 0:
        version, part = divmod(version, 1000)
        parts.insert(0, part)
    return tuple(parts)


def text_of(version: int) -> str:
    """Return a version that is one number as people write it."""
    return ".".join(map(str, numbers_of(version)))


def satisfies(version: int, wanted: str) -> bool:
    """Tell whether a hypervisor's version is what an image wants: ``>=2.5,<3``.

    :param wanted: as :func:`~osc_traitsched.core.nova.server.reading.versions` takes it
    """
    found = numbers_of(version)
    return all(_holds(found, part) for part in wanted.split(","))


def _holds(found: tuple[int, ...], comparison: str) -> bool:
    compared = _COMPARED.fullmatch(comparison)
    other = _VERSION.fullmatch(compared[2]) if compared else None
    if not compared or not other:
        return False
    order = _order(found, other)
    return {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "==": order == 0,
        "!=": order != 0,
    }[compared[1]]


def _order(found: tuple[int, ...], other: re.Match[str]) -> int:
    """Return -1, 0 or 1: a version of numbers alone beside any other of PEP 440."""
    if int(other["epoch"] or 0):
        return -1
    numbers = [int(part) for part in other["numbers"].split(".")]
    width = max(len(found), len(numbers))
    ours, theirs = ([*each, *[0] * (width - len(each))] for each in (found, numbers))
    if ours != theirs:
        return -1 if ours < theirs else 1
    if other["pre"]:
        return 1
    if other["post"]:
        return -1
    if other["dev"]:
        return 1
    return -1 if other["local"] else 0
