"""Names that are like another."""

import pytest

from osc_traitsched.text import near_names, near_or_longer

NAMES = ["cmp00", "cmp01", "Gold", "gold", "silver"]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("CMP00", ("cmp00", "cmp01")),
        ("GOLD", ("Gold", "gold")),
        ("SILVR", ("silver",)),
        ("bronze", ()),
    ],
)
def test_the_case_of_letters_makes_no_difference(name, near):
    assert near_names(name, NAMES) == near


def test_there_are_three_at_most():
    assert len(near_names("cmp0", [f"cmp{number}" for number in range(9)])) == 3


def test_a_name_that_is_like_none_may_be_the_start_of_one():
    assert near_or_longer("cm", NAMES) == ("cmp00", "cmp01")
    assert near_or_longer("silv", NAMES) == ("silver",)
    assert near_or_longer("", NAMES) == ()
