"""How isolating and opening are worded."""

from __future__ import annotations

import pytest

from osc_traitsched.core import errors
from osc_traitsched.core.change import effects as effect_words
from osc_traitsched.core.change.contexts import Context
from osc_traitsched.core.change.impact import Asked, Effect, HostSets
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Kept,
    Kind,
    Object,
    Outcome,
    Reason,
    State,
    Status,
)
from osc_traitsched.core.change.servers import MisplacedServers, Server
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.views import isolation as words

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


def effect(flavor, now, then, image=None, ever=None, **asked):
    """Return an effect; what could ever take it are the same hosts unless said."""
    room, most = (
        HostSets(*map(frozenset, hosts)) for hosts in ((now, then), ever or (now, then))
    )
    return Effect(Asked(flavor, image, **asked), room, most)


def test_flavors_that_lose_as_many_hosts_are_in_one_line():
    effects = [
        effect("small", "abcd", "cd"),
        effect("large", "abc", "c"),
        effect("tiny", "abcd", "cd"),
        effect("golden", "abcd", "ab"),
        effect("other", "cd", "cd"),
        effect("small", "abcd", "", "windows"),
    ]
    assert effect_words.losses(effects) == [
        "flavors 'small', 'tiny', 'golden': hosts with room 4 -> 2",
        "flavor 'large': hosts with room 3 -> 1",
        "flavor 'small' with image 'windows': hosts with room 4 -> 0",
    ]


def test_hosts_that_are_full_now_are_told_apart_where_that_makes_a_difference():
    effects = [
        effect("same", "ab", "b", ever=("ab", "b")),
        effect("some", "abc", "bc", ever=("abcde", "bcd")),
        effect("kept", "bc", "bc", ever=("abcd", "bcd")),
        effect("full", "", "", ever=("abcd", "cd")),
        effect("last", "a", "", ever=("ac", "c")),
    ]
    assert effect_words.losses(effects) == [
        "flavor 'same': hosts with room 2 -> 1",
        "flavor 'some': hosts with room 3 -> 2, all suitable hosts 5 -> 3",
        "flavor 'kept': hosts with room 2 -> 2, all suitable hosts 4 -> 3",
        "flavor 'full': hosts with room 0 -> 0, all suitable hosts 4 -> 2",
        "flavor 'last': hosts with room 1 -> 0, all suitable hosts 2 -> 1",
    ]


def test_hosts_that_are_gained_are_told_apart_from_those_that_stay():
    effects = [effect("small", "ab", "bc"), effect("large", "ab", "abc")]
    said = "flavor 'small': hosts with room 2 -> 2 (1 new)"
    assert effect_words.losses(effects) == [said]


def test_of_zones_and_projects_only_those_without_a_host_are_said():
    effects = [
        effect("small", "ab", "b"),
        effect("small", "ab", "b", context=Context("az1")),
        effect("small", "a", "", context=Context("az2", "p1")),
        effect("small", "a", "ab", context=Context("az3")),
    ]
    assert effect_words.losses(effects) == [
        "flavor 'small': hosts with room 2 -> 1",
        "flavor 'small' in zone 'az2' for project 'p1': hosts with room 1 -> 0",
    ]


def test_the_refusal_names_zone_and_project_and_hosts_that_are_full():
    stranded = [
        effect("f", "a", "", context=Context("az2")),
        effect("g", "b", "", context=Context("az2")),
        effect("f", "a", "", context=Context(None, "p1")),
        effect("full", "", "", ever=("abc", "")),
        effect("last", "a", "", ever=("abc", "bc")),
    ]
    assert str(effect_words.LeavesNoHost(stranded)) == (
        "nothing written: no host would be left for flavors 'f', 'g' in zone 'az2'; "
        "flavor 'f' for project 'p1'; flavor 'full' (3 hosts could ever take one, none "
        "now); no host that can take one now would be left for flavor 'last' (3 hosts "
        "could ever take one, 1 now; 2 full or disabled would be left); --force "
        "overrides this"
    )


def change(kind, *names, value="required", removes=False, kept=()):
    keys = dict.fromkeys(names, value)
    before, after = (keys, dict.fromkeys(keys)) if removes else ({}, keys)
    return Change(Object(kind, "id", "object"), State(before), after, kept=kept)


def host_change(*names, **options):
    return change(Kind.PROVIDER_TRAITS, *names, value=PRESENT, **options)


KEY = f"trait:{GOLD}"


@pytest.mark.parametrize(
    ("found", "step", "detail"),
    [
        (change(Kind.TRAIT, GOLD), "trait", "created"),
        (host_change(GOLD, SILVER), "host", f"with {GOLD}, {SILVER}"),
        (
            change(Kind.PROVIDER_AGGREGATES, "uuid"),
            "mirror",
            "joins the aggregate in Placement",
        ),
        (change(Kind.FLAVOR, KEY), "flavor", f"with {KEY}=required"),
        (
            change(Kind.AGGREGATE, KEY, removes=True),
            "aggregate",
            f"without {KEY}=required",
        ),
        (change(Kind.FLAVOR), "flavor", ""),
        (
            host_change(SILVER, removes=True, kept=(Kept(GOLD, Reason.STANDARD),)),
            "host",
            f"without {SILVER}; {GOLD} stays: a standard trait says what a host is",
        ),
        (
            change(Kind.FLAVOR, kept=(Kept(GOLD, Reason.OTHER_HOSTS, ("h1", "h2")),)),
            "flavor",
            f"{GOLD} stays: h1, h2 have it, too",
        ),
    ],
)
def test_a_row_says_what_changes_and_what_stays(found, step, detail):
    status = Status.CHANGED if found.is_needed else Status.UNCHANGED
    columns, (row,) = words.rows([Outcome(found, status)])
    assert columns == ("step", "object", "status", "detail")
    assert row == (step, "object", status.value, detail)


def image_change(identity, name, owner="", kept=()):
    named = Object(Kind.IMAGE, identity, name, owner=owner)
    return Outcome(Change(named, State({}), {}, kept=kept), Status.UNCHANGED)


def test_an_image_of_two_with_one_name_has_its_id_and_of_another_project_its_owner():
    kept = (Kept(GOLD, Reason.OTHER_PROJECT),)
    outcomes = [
        image_change("i1", "rocky"),
        image_change("i2", "rocky"),
        image_change("i3", "own"),
        image_change("i4", "theirs", "p1", kept),
    ]
    rows = words.rows(outcomes)[1]
    assert [name for _, name, *_ in rows] == [
        "rocky (i1)",
        "rocky (i2)",
        "own",
        "theirs (i4, owner p1)",
    ]
    assert rows[-1][-1] == (
        f"{GOLD} stays without --all-images: another project's image"
    )


@pytest.mark.parametrize(
    ("status", "problem", "detail"),
    [
        (Status.FAILED, errors.EmptyAggregate("x"), "aggregate 'x' has no hosts"),
        (Status.NOT_DONE, None, f"with {GOLD}"),
        # Somebody else was faster.
        (Status.UNCHANGED, None, ""),
    ],
)
def test_a_row_that_changed_nothing_does_not_say_that_it_did(status, problem, detail):
    _, ((*_, text),) = words.rows([Outcome(host_change(GOLD), status, problem)])
    assert text == detail


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (Setting(True, "nova.conf:1", given=True), None),
        (Setting(True, "the baseline rhoso"), None),
        (
            Setting(False, "nova.conf:1", given=True),
            "[scheduler]enable_isolated_aggregate_filtering is off (nova.conf:1): ",
        ),
        (
            Setting(False, "the default of train"),
            "[scheduler]enable_isolated_aggregate_filtering is assumed to be off "
            "(the default of train): ",
        ),
    ],
)
def test_it_says_when_nothing_may_be_isolated(setting, said):
    found = words.without_effect(setting)
    assert found is None if said is None else found.startswith(said)


def server(name, host="cmp00"):
    return Server(f"{name}-id", name, host, "project", None)


def test_servers_that_stay_on_the_other_side_are_counted_and_named():
    found = MisplacedServers(
        inside=(server("a"), server("b", "cmp\n01")),
        outside=(server("c"),),
        unknown=(server("d"),),
        without_image=(server("e"),),
        traits=(GOLD,),
    )
    assert words.misplaced(found) == [
        f"2 servers in the aggregate not requiring {GOLD}, left there: 'a' (a-id, "
        "on cmp00), 'b' (b-id, on cmp\\n01)",
        f"1 server outside of the aggregate requiring {GOLD}, left there: 'c' (c-id, "
        "on cmp00)",
        "1 server with requirements that the compute API does not show: 'd' (d-id, "
        "on cmp00)",
        "what the image requires can't be seen, since it was deleted or the server "
        "boots from a volume, of 1 server: 'e' (e-id, on cmp00)",
    ]
    assert words.misplaced(MisplacedServers()) == []


def test_it_says_why_servers_can_t_be_read():
    why = errors.CloudBroke("compute", "out of order", 500)
    assert words.misplaced(why) == [
        "which servers exist can't be read (compute: out of order (HTTP 500))"
    ]


def test_who_would_have_no_host_is_named_once_for_each_image():
    stranded = [effect("f", "a", ""), effect("g", "b", ""), effect("f", "a", "", "i")]
    assert str(effect_words.LeavesNoHost(stranded)) == (
        "nothing written: no host would be left for flavors 'f', 'g'; flavor 'f' with "
        "image 'i'; --force overrides this"
    )
