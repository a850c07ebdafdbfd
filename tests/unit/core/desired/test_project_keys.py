"""Keys that name an aggregate's projects to the host filter and to the prefilter."""

from __future__ import annotations

import itertools

import pytest

from osc_traitsched.core.desired.units import keys_of
from osc_traitsched.core.inventory.trait import projects_in
from osc_traitsched.core.nova.filter.groups import names_projects

BARE = "filter_tenant_id"
P1, P2, P3, P4 = (str(number) * 32 for number in range(1, 5))
ONE, TWO, THREE = ({f"{BARE}_{each}": each} for each in (P1, P2, P3))
FOUND = [
    {},
    {BARE: P1},
    {BARE: P1, **TWO},
    {BARE: P1, **ONE, **TWO, **THREE},
    {BARE: f"{P1},{P2}"},
    {BARE: f"{P1},{P2}", **ONE, **TWO},
    {BARE: f"{P1}, {P2}", **THREE},
    {BARE: P1, f"{BARE}2": f"{P2},{P3}"},
    TWO,
    {**TWO, **THREE, "kind": P1},
]
SETS = [
    frozenset(each)
    for size in range(4)
    for each in itertools.combinations((P1, P2, P3, P4), size)
]
WANTED = [(ins, outs) for ins in SETS for outs in SETS if not ins & outs]


def after(metadata, inside, outside, reads_suffixes):
    changed = keys_of(metadata, inside, outside, reads_suffixes)
    assert all(metadata.get(key) != value for key, value in changed.items())
    now = {**metadata, **changed}
    return {key: value for key, value in now.items() if value is not None}


def by_filter(metadata, release):
    """Return the projects that the filter knows; none stands for everybody."""
    return projects_in(
        {k: v for k, v in metadata.items() if names_projects(k, release)}
    )


def by_prefilter(metadata):
    return {value for key, value in metadata.items() if key.startswith(BARE)}


@pytest.mark.parametrize("reads_suffixes", [False, True])
@pytest.mark.parametrize("found", FOUND)
def test_whatever_was_there_the_projects_are_those_that_are_wanted(
    found, reads_suffixes
):
    for inside, outside in WANTED:
        now = after(found, inside, outside, reads_suffixes)
        assert projects_in(now) == (projects_in(found) | inside) - outside
        assert not keys_of(now, inside, outside, reads_suffixes)


@pytest.mark.parametrize("found", FOUND)
def test_the_filter_of_no_release_lets_in_everybody_instead_of_the_last_of_several(
    found,
):
    for (inside, outside), suffixes in itertools.product(WANTED, (False, True)):
        now = after(found, inside, outside, suffixes)
        if BARE in found and projects_in(now):
            assert by_filter(now, 29)


@pytest.mark.parametrize("found", FOUND)
def test_who_comes_is_let_in_by_the_filter_of_each_release_and_keeps_nobody_out(found):
    for inside, outside in WANTED:
        now = after(found, inside, outside, reads_suffixes=False)
        if inside - projects_in(found):
            every = projects_in(now)
            assert by_filter(now, 29) == by_filter(now, 30) == every


@pytest.mark.parametrize("reads_suffixes", [False, True])
@pytest.mark.parametrize("found", FOUND)
def test_the_prefilter_finds_who_comes_and_whom_it_found_before(found, reads_suffixes):
    for inside, outside in WANTED:
        now = after(found, inside, outside, reads_suffixes)
        missing = inside - projects_in(found)
        before = by_prefilter(found) & {P1, P2, P3, P4}
        assert by_prefilter(now) >= missing | (before - outside)


def test_a_project_alone_has_one_key():
    assert keys_of({}, {P1}, (), False) == keys_of({}, {P1}, (), True) == {BARE: P1}
    assert keys_of({BARE: P1}, {P2}, {P1}, False) == {BARE: P2}


def test_several_have_keys_of_their_own_and_before_30_a_list_as_well():
    assert keys_of({BARE: P1}, {P2}, (), True) == TWO
    listed = {BARE: f"{P1},{P2}", **ONE, **TWO}
    assert keys_of({BARE: P1}, {P2}, (), False) == listed


def test_a_list_is_no_longer_than_nova_takes_and_has_first_who_was_there():
    many = [f"{number:032}" for number in range(20)]
    old = many[10]
    now = after({BARE: old}, frozenset(many), (), reads_suffixes=False)
    listed = now[BARE].split(",")
    assert (len(listed), listed[0], len(now)) == (7, old, 21)
    assert by_prefilter(now) >= {*many}
    assert len(f"{now[BARE]},{old}") > 255 >= len(now[BARE])


def test_no_key_is_taken_from_another_project():
    odd = {BARE: P1, f"{BARE}_{P2}": P3}
    assert keys_of(odd, {P2}, (), True) == {f"{BARE}_2": P2}
    # To Nova's database these are one.
    assert keys_of({BARE: P1, f"{BARE}_A": P3}, {"a"}, (), True) == {f"{BARE}_2": "a"}
