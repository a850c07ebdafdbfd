"""The operators of extra specs, as the scheduler compares with them."""

import pytest

from osc_traitsched.core.nova.filter import compute as ops


@pytest.mark.parametrize(
    ("value", "wanted", "is_match"),
    [
        ("true", "true", True),
        ("True", "true", False),
        ("a b", "a b", True),
        ("b", "a <or> b", False),
        ("", "", True),
        ("", " ", False),
        ("5", "= 4", True),
        ("4", "= 4.0", True),
        ("3", "= 4", False),
        ("4", "== 4.0", True),
        ("5", "!= 4", True),
        ("4", ">= 4", True),
        ("4", "<= 3", False),
        ("1_0", ">= 1e1", True),
        ("10", "s< 9", True),
        ("a", "s== a", True),
        ("a", "s!= a", False),
        ("b", "s<= a", False),
        ("b", "s> a", True),
        ("b", "s>= b", True),
        ("['vmx', 'aes']", "<in> vmx", True),
        ("vmx", "<in> vmx aes", True),
        ("['vmx', 'aes']", "<all-in> vmx aes", True),
        ("['vmx']", "<all-in> vmx aes", False),
        ("b", "<or> a <or> b", True),
        ("c", "<or> a <or> b", False),
        ("b", "<or> a b", False),
        ("a", "<or> a <or>", True),
    ],
)
def test_the_first_word_can_be_an_operator(value, wanted, is_match):
    assert ops.match(value, wanted) is is_match


@pytest.mark.parametrize("op", ["=", "==", "!=", ">=", "s==", "<in>", "<all-in>"])
def test_an_operator_without_an_operand_matches_nothing(op):
    assert not ops.match("4", op)
    assert not ops.match(op, op)


@pytest.mark.parametrize(("value", "wanted"), [("x", ">= 4"), ("4", "= x")])
def test_comparing_what_is_no_number_raises(value, wanted):
    with pytest.raises(ValueError, match="x"):
        ops.match(value, wanted)


def test_an_or_alone_raises():
    with pytest.raises(IndexError):
        ops.match("a", "<or>")


@pytest.mark.parametrize(
    ("wanted", "may_raise"),
    [
        (">= 4", True),
        ("<or>", True),
        ("<or> a", False),
        (">=", False),
        ("s== a", False),
    ],
)
def test_what_can_raise_is_known_without_the_value(wanted, may_raise):
    assert ops.may_raise(wanted) is may_raise


@pytest.mark.parametrize(
    ("wanted", "can_match"),
    [
        ("a", True),
        ("", True),
        ("a b", True),
        ("s== 4", True),
        ("<or> a", True),
        (" a", False),
        ("a ", False),
        (" ", False),
        ("a,b", False),
        ("==", False),
        ("<in> ", False),
    ],
)
def test_what_no_value_of_a_list_with_commas_matches_is_known(wanted, can_match):
    values = {each.strip() for each in f"{wanted},a,4".split(",")}
    assert ops.can_match(wanted) is can_match
    assert any(ops.match(each, wanted) for each in values) is can_match
