"""What the core makes of metadata in other letters, against Nova on each database."""

from __future__ import annotations

import pytest

from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.releases import NEWEST
from tests.fidelity import letters, ours

CASES = letters.read()
LOOSE, STRICT = Collation.CASE_INSENSITIVE, Collation.CASE_SENSITIVE


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_request_or_the_refusal_is_nova_s_own_on_each_database(case):
    answers = case["answers"]

    assert {name: ours.answer(case, NEWEST, name) for name in answers} == answers
    assert set(answers) == set(ours.COLLATIONS)


def test_the_recorded_cases_are_those_that_are_compared():
    recorded = [{k: v for k, v in c.items() if k != "answers"} for c in CASES]
    assert recorded == list(letters.named())


def test_most_of_the_cases_have_other_answers_on_another_database():
    differing = [c for c in CASES if c["answers"]["sqlite"] != c["answers"]["mariadb"]]
    assert len(differing) == len(CASES) - 1


def test_a_case_by_chance_has_no_key_twice_in_an_aggregate():
    for number in range(200):
        for aggregate in letters.by_chance(str(number))["aggregates"]:
            folded = [LOOSE.folded(key) for key in aggregate["metadata"]]
            assert len(set(folded)) == len(folded)


# As MariaDB 10.11 compares them with utf8_general_ci.
@pytest.mark.parametrize(
    ("one", "other", "are_equal"),
    [
        ("required", "REQUIRED", True),
        ("required", "required  ", True),
        ("required", " required", False),
        ("required", "required\t", False),
        ("required", "réquired", True),
        # An accent that is a character of its own counts.
        ("é", "e\N{COMBINING ACUTE ACCENT}", False),
        ("ß", "s", True),
        ("ß", "ss", False),
        ("ø", "o", False),
        ("æ", "ae", False),
        ("ǽ", "Æ", True),
        ("İ", "i", True),
        ("\N{LATIN SMALL LETTER DOTLESS I}", "I", True),
        ("Й", "й", True),
        ("Й", "И", False),
        ("\N{KELVIN SIGN}", "k", False),
        ("가", "ㄱ", False),
        ("", "  ", True),
    ],
)
def test_mariadb_takes_these_for_equal_and_sqlite_none(one, other, are_equal):
    assert LOOSE.equal(one, other) is are_equal
    assert not STRICT.equal(one, other)
    assert STRICT.equal(one, one)
