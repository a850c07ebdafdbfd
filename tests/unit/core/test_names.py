"""Names that are like another."""

import pytest

from osc_traitsched.core.names import near_names

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
