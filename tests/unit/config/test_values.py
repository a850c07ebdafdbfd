"""Texts as values of an option's kind, and what is said of those that are none."""

import pytest

from osc_traitsched.config import nova_conf
from osc_traitsched.core.nova.options import Consumer, Option, OptionType

ARCHITECTURES = ("x86_64", "aarch64")


def option(kind, **limits):
    return Option("metrics.some", kind, None, Consumer.WEIGHER, **limits)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (OptionType.BOOLEAN, "Yes", True),
        (OptionType.INTEGER, "-10", -10),
        (OptionType.INTEGER, "", None),
        (OptionType.FLOAT, "-1e4", -10000.0),
        (OptionType.FLOAT, "2", 2.0),
        (OptionType.STRING, " az 1", " az 1"),
        (OptionType.LIST, "a=1.0, b=-1.0,", ("a=1.0", "b=-1.0")),
        (OptionType.LIST, "", ()),
    ],
)
def test_a_text_becomes_a_value_of_the_options_kind(kind, text, value):
    found = nova_conf.parse(option(kind), text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "limits", "text", "words"),
    [
        (OptionType.BOOLEAN, {}, "2", "true or false"),
        (OptionType.INTEGER, {}, "1.5", "a whole number"),
        (OptionType.INTEGER, {"minimum": -1}, "-2", "a whole number of -1 or more"),
        (OptionType.FLOAT, {}, "1,5", "a number"),
        (OptionType.FLOAT, {"minimum": 0}, "-0.5", "a number of 0 or more"),
        (
            OptionType.STRING,
            {"choices": ARCHITECTURES},
            "arm",
            "one of x86_64, aarch64",
        ),
    ],
)
def test_what_nova_would_take_instead_is_said(kind, limits, text, words):
    with pytest.raises(ValueError, match=f"^{words}$"):
        nova_conf.parse(option(kind, **limits), text)


@pytest.mark.parametrize(
    ("kind", "limits", "text"),
    [
        (OptionType.INTEGER, {"minimum": -1}, "-1"),
        (OptionType.FLOAT, {"minimum": 0}, "0"),
        (OptionType.STRING, {"choices": ARCHITECTURES}, "aarch64"),
    ],
)
def test_a_limit_is_within_itself(kind, limits, text):
    assert str(nova_conf.parse(option(kind, **limits), text)).startswith(text)
