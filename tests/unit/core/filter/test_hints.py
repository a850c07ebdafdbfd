"""The filters that read scheduler hints."""

import pytest

from osc_traitsched.core.nova.filter.groups import is_rebuild_by_hint, misshapen
from tests.unit.core.filter.asked import host, says, spec

SAME, DIFFERENT = "SameHostFilter", "DifferentHostFilter"
NETWORK = "SimpleCIDRAffinityFilter"


@pytest.mark.parametrize(
    ("hint", "same", "different"),
    [
        (None, "yes", "yes"),
        ((), "yes", "yes"),
        (("",), "yes", "yes"),
        (("", "s1"), "yes", "no: with-servers"),
        (("", ""), "no: not-with-servers", "yes"),
        (("s1",), "yes", "no: with-servers"),
        (("s9", "s2"), "yes", "no: with-servers"),
        (("s9",), "no: not-with-servers", "yes"),
    ],
)
def test_a_hint_names_servers_to_be_with_or_not(hint, same, different):
    state = host(instances=frozenset(["s1", "s2"]))
    hints = {} if hint is None else {"same_host": hint, "different_host": hint}
    assert says(SAME, state, spec(hints=hints)) == same
    assert says(DIFFERENT, state, spec(hints=hints)) == different


def test_servers_that_were_not_read_are_unknown_where_a_hint_names_some():
    hints = {"same_host": ("s1",), "different_host": ("s1",)}
    for name in (SAME, DIFFERENT):
        assert says(name, host(), spec()) == "yes"
        assert says(name, host(), spec(hints=hints)) == "unknown: instances"


@pytest.mark.parametrize(
    ("near", "prefix", "answer"),
    [
        ("", None, "yes"),
        ("10.0.0.77", None, "yes"),
        ("10.0.1.77", None, "no: outside-network"),
        ("10.0.1.77", "/16", "yes"),
        ("10.0.1.77", "/255.255.0.0", "yes"),
        ("10.0.1.77", "/0.0.255.255", "yes"),
        ("10.0.1.77", "/ 16", "yes"),
        ("10.0.0.5", "", "yes"),
        ("10.0.0.6", "", "no: outside-network"),
        ("fd00::1", None, "no: outside-network"),
        ("fd00::1", "/ffff::", "no: outside-network"),
        ("x", None, "raises: AddrFormatError"),
        ("10.0.0.5", "/33", "raises: AddrFormatError"),
        ("10.0.0.5", "/255.0.255.0", "raises: AddrFormatError"),
        ("10.0.0.5", "/x", "raises: AddrFormatError"),
        ("10.0.0.5", "/24/8", "raises: ValueError"),
    ],
)
def test_the_hosts_address_has_to_be_in_the_hints_network(near, prefix, answer):
    hints = {"build_near_host_ip": (near,)}
    if prefix is not None:
        hints["cidr"] = (prefix,)
    assert says(NETWORK, host(), spec(hints=hints)) == answer


def test_a_prefix_alone_asks_for_nothing():
    assert says(NETWORK, host(), spec(hints={"cidr": ("/x",)})) == "yes"


def test_a_hint_of_an_address_that_is_given_twice_raises():
    hints = {"build_near_host_ip": ("10.0.0.1", "10.0.0.2")}
    assert says(NETWORK, host(), spec(hints=hints)) == "raises: TypeError"


def test_a_host_without_an_address_raises_and_one_without_figures_is_unknown():
    asked = spec(hints={"build_near_host_ip": ("10.0.0.1",)})
    nowhere = host(report={"host_ip": None})
    assert says(NETWORK, nowhere, asked) == "raises: TypeError"
    assert says(NETWORK, host(report=False), asked) == "unknown: host_ip"


SERVER = "5e000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    ("hints", "wrong"),
    [
        ({}, None),
        ({"different_host": (SERVER, SERVER.upper())}, None),
        ({"different_host": (SERVER.replace("-", ""),)}, None),
        ({"different_host": ("db1",)}, "different_host"),
        ({"same_host": ("db1",)}, None),
        ({"same_host": ("db1", SERVER)}, "same_host"),
        ({"build_near_host_ip": ("10.0.0.1",), "cidr": ("/24",)}, None),
        ({"build_near_host_ip": ("fe80::1",)}, None),
        ({"build_near_host_ip": ("10.0.0",)}, "build_near_host_ip"),
        ({"build_near_host_ip": ("10.0.0.1", "10.0.0.2")}, "build_near_host_ip"),
        ({"cidr": ("24",)}, "cidr"),
        ({"colour": ("red", "blue"), "query": ("no JSON",)}, None),
    ],
)
def test_nova_api_takes_hints_of_its_own_in_their_shape_only(hints, wrong):
    assert misshapen(hints) == wrong


@pytest.mark.parametrize(
    ("release", "values", "taken"),
    [
        (30, ("rebuild",), True),
        (31, ("rebuild",), False),
        (30, ("rebuild", "rebuild"), False),
        (30, ("other",), False),
    ],
)
def test_a_user_can_ask_for_the_filters_of_a_rebuild_until_2024_2(
    release, values, taken
):
    assert is_rebuild_by_hint({"_nova_check_type": values}, release) is taken
