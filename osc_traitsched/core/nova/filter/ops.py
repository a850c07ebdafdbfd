"""How the value of an extra spec is compared with what a host has."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

#: What :func:`match` can raise.
ERRORS = (ValueError, IndexError)

_NUMBERS: Mapping[str, Callable[[float, float], bool]] = {
    "=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
}
_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "s==": operator.eq,
    "s!=": operator.ne,
    "s<": operator.lt,
    "s<=": operator.le,
    "s>": operator.gt,
    "s>=": operator.ge,
    "<in>": operator.contains,
}


def match(value: str, wanted: str) -> bool:
    """Tell whether a host's value is what an extra spec wants.

    The first word of what is wanted can be an operator; ``=`` means "at least". Without
    one the whole text is compared. An operator without an operand matches nothing.

    nova/scheduler/filters/extra_specs_ops.py, ``match``

    :raises ValueError: where numbers are compared and one of the two is none
    :raises IndexError: for ``<or>`` alone
    """
    op, *operands = wanted.split() or [""]
    if op == "<or>":
        return _is_one_of(value, operands)
    if op == "<all-in>":
        return bool(operands) and all(each in value for each in operands)
    if op not in _NUMBERS and op not in _TEXTS:
        return value == wanted
    if not operands:
        return False
    if op in _TEXTS:
        return _TEXTS[op](value, operands[0])
    return _NUMBERS[op](float(value), float(operands[0]))


def may_raise(wanted: str) -> bool:
    """Tell whether there are values for which :func:`match` raises an exception."""
    op, *operands = wanted.split() or [""]
    return op in _NUMBERS if operands else op == "<or>"


def can_match(wanted: str) -> bool:
    """Tell whether there is a value of an aggregate that matches.

    Those are parts of a list that is split at commas, without the spaces around them
    (nova/scheduler/filters/utils.py, ``aggregate_metadata_get_by_host``).
    """
    if is_plain(wanted):
        return "," not in wanted and wanted == wanted.strip()
    return len(wanted.split()) > 1


def is_plain(wanted: str) -> bool:
    """Tell whether the whole text is compared: it begins with no operator."""
    op = next(iter(wanted.split()), "")
    return op not in _NUMBERS and op not in _TEXTS and op not in ("<or>", "<all-in>")


def _is_one_of(value: str, words: list[str]) -> bool:
    """Compare with every other word, whatever stands between them."""
    if not words:
        raise IndexError
    return value in words[::2]
