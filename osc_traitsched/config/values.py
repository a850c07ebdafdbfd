"""The configuration room: the text of an option as a value of its kind."""

from __future__ import annotations

from typing import Any

from oslo_config import types

from osc_traitsched.core.nova.option import Kind, Option, Value

_WORDS = {
    Kind.BOOLEAN: "true or false",
    Kind.INTEGER: "a whole number",
    Kind.FLOAT: "a number",
    Kind.STRING: "a text",
    Kind.LIST: "a list",
}


def parse(option: Option, text: str) -> Value:
    """Return the value that Nova reads from a text.

    :raises ValueError: for a text that Nova refuses
    """
    value: Any = _type(option)(text)
    return tuple(value) if option.kind is Kind.LIST else value


def expected(option: Option) -> str:
    """Return what Nova takes for an option, in words that follow "is not"."""
    if option.choices:
        return f"one of {', '.join(option.choices)}"
    words = _WORDS[option.kind]
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
