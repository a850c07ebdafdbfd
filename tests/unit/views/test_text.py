"""Lists, numbers and names as every view writes them."""

from __future__ import annotations

import unicodedata

import pytest

from osc_traitsched import text


def test_long_lists_are_counted_and_not_printed():
    assert text.listed(f"h{n}" for n in range(12)) == (
        "h0, h1, h2, h3, h4, h5, h6, h7, h8, h9 and 2 more"
    )


def test_a_noun_is_of_the_number_of_what_it_stands_before():
    listed = [text.listed(names, "flavor") for names in ([], ["a"], ["a", "b"])]
    assert listed == ["", "flavor a", "flavors a, b"]
    hosts = ([], ["cmp1"], ["cmp1", "cmp2"], ["cmp1", "cmp2", "cmp3"])
    assert [text.ranges(names, "host") for names in hosts] == [
        *("", "host cmp1", "hosts cmp1, cmp2", "hosts cmp[1-3]")
    ]
    counts = [text.count(number, "host") for number in range(3)]
    assert counts == ["0 hosts", "1 host", "2 hosts"]


def test_names_that_may_have_been_meant_are_asked_for():
    asked = [text.did_you_mean(names) for names in ("", "a", "ab")]
    assert asked == ["", "; did you mean a?", "; did you mean a or b?"]


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("red\x1b[31m", r"red\x1b[31m"),
        ("\x9b31m", r"\x9b31m"),
        ("user\u202egnp", r"user\u202egnp"),
        ("\u2066a\u2069", r"\u2066a\u2069"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\ud800", r"\ud800"),
        ("\ue000", r"\ue000"),
        ("tag\U000e0041", r"tag\U000e0041"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_visible(hidden, shown):
    assert text.visible(hidden) == shown


@pytest.mark.parametrize(
    "name",
    [
        *("黄金", "золото", "ذهب", "सोना", "e\u0301", "größe", "naïve 👍", "a b\\c"),
        "全角\u3000空白",
    ],
)
def test_letters_of_any_language_stay_as_they_are(name):
    assert text.visible(name) == name
    assert text.quoted(name) == f"'{name}'"


def test_no_character_of_a_category_that_is_not_printable_is_left():
    everything = text.visible("".join(map(chr, range(0x110000))))
    left = {unicodedata.category(char) for char in everything}
    assert left.isdisjoint({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def test_a_quoted_name_is_abridged_and_has_nothing_in_it_that_is_not_printable():
    assert text.quoted("x" * 81) == f"'{'x' * 77}...'"
    assert text.quoted("x" * 80) == f"'{'x' * 80}'"
    assert text.quoted("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"


def test_a_quote_in_a_name_does_not_end_it():
    assert text.quoted("it's") == '"it\'s"'
    assert text.quoted('the "best"') == "'the \"best\"'"
    assert text.quoted("'\"") == r"""'\'"'"""


@pytest.mark.parametrize(
    ("of_one", "of_two"),
    [
        ("lacks trait X", "lack trait X"),
        ("is disabled", "are disabled"),
        ("has trait X", "have trait X"),
        ("does not support X", "do not support X"),
        ("passes X", "pass X"),
        ("already runs a member", "already run a member"),
    ],
)
def test_the_verb_of_a_clause_agrees_with_a_number(of_one, of_two):
    assert text.agreed(of_one, 1) == of_one
    assert text.agreed(of_one, 2) == of_two


@pytest.mark.parametrize(
    ("noun", "counted"),
    [
        ("host", "2 hosts"),
        ("fix", "2 fixes"),
        ("resource class", "2 resource classes"),
        ("servers", "2 servers"),
    ],
)
def test_things_are_counted_in_the_plural(noun, counted):
    assert text.count(2, noun) == counted
    assert text.count(1, noun) == f"1 {noun}"
