"""The configuration room: the text of an option as a value of its kind."""

from __future__ import annotations

from typing import Any

from oslo_config import types

from osc_traitsched.core.nova.options import Kind, Option, Value

# oslo.config refuses no list, and no string that is free.
_EXPECTED = {
    Kind.BOOLEAN: "true or false",
    Kind.INTEGER: "a whole number",
    Kind.FLOAT: "a number",
}


def parse(option: Option, text: str) -> Value:
    """Return the value that Nova reads from a text.

    :raises ValueError: for a text that Nova refuses; says what Nova takes instead
    """
    try:
        value: Any = _type(option)(text)
    except ValueError as exc:
        raise ValueError(_expected(option)) from exc
    return tuple(value) if option.kind is Kind.LIST else value


def _expected(option: Option) -> str:
    if option.choices:
        return f"one of {', '.join(option.choices)}"
    words = _EXPECTED[option.kind]
    return words if option.minimum is None else f"{words} of {option.minimum} or more"


def _type(option: Option) -> Any:
    """Return the type that Nova registers the option with."""
    if option.kind is Kind.BOOLEAN:
        return types.Boolean()
    if option.kind is Kind.INTEGER:
        return types.Integer(min=option.minimum)
    if option.kind is Kind.FLOAT:
        return types.Float(min=option.minimum)
    if option.kind is Kind.LIST:
        return types.List()
    return types.String(choices=option.choices or None)
