"""What is said of changes that would help."""

import pytest

from osc_traitsched.views.explain import fixes
from tests.unit.core.test_fixes import (
    ENABLE,
    FLAVOR,
    FORMAT,
    IMAGE,
    LESS,
    REQUEST,
    TRAIT,
)

ALL = "changes it for everyone"


@pytest.mark.parametrize(
    ("fix", "caution"),
    [
        (REQUEST, None),
        (FORMAT, None),
        (FLAVOR, ALL),
        (IMAGE, ALL),
        (TRAIT, "only if it is true of the host"),
        (LESS, "only if it is not true of the host"),
        (ENABLE, None),
    ],
)
def test_a_change_that_others_feel_or_that_claims_something_has_a_caution(fix, caution):
    assert fixes.caution(fix) == caution
