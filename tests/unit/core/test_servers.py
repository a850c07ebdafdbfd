"""What a plan does to servers that exist, as values."""

from __future__ import annotations

from osc_traitsched.core.change.effects import Server, misplaced, without_place

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


def server(name, *required, hidden=False):
    traits = None if hidden else frozenset(required)
    return Server(f"{name}-id", name, "cmp01", "project", traits)


def test_a_server_is_without_a_place_if_it_requires_a_trait_that_no_host_keeps():
    both = server("both", GOLD, SILVER)
    found = without_place([GOLD], [server("plain"), both, server("other", SILVER)])
    assert (found.traits, found.servers, found.unknown) == ((GOLD,), (both,), ())


def test_where_every_trait_is_kept_somewhere_no_server_is_in_the_way():
    servers = [server("gold", GOLD), server("hidden", hidden=True)]
    assert without_place([], servers) is None
    assert without_place([GOLD], [server("plain")]) is None


def test_of_a_server_whose_requirements_are_hidden_nothing_is_assumed():
    hidden = server("hidden", hidden=True)
    found = without_place([GOLD], [hidden])
    assert (found.servers, found.unknown) == ((), (hidden,))


def test_servers_are_misplaced_inside_without_all_traits_and_outside_with_them():
    half, whole, plain = server("h", GOLD), server("w", GOLD, SILVER), server("p")
    hidden = server("hidden", hidden=True)
    servers = [half, whole, plain, hidden]
    found = misplaced([GOLD, SILVER], servers, servers)
    assert found.inside == (half, plain)
    assert found.outside == (whole,)
    assert found.unknown == (hidden, hidden)
