"""What plan, apply and isolate print."""

from __future__ import annotations

import argparse

import pytest

from osc_traitsched.commands import base
from osc_traitsched.core import errors
from osc_traitsched.core.change import effects as effect_words
from osc_traitsched.core.change import traits
from osc_traitsched.core.change.cloud_model import Context
from osc_traitsched.core.change.effects import MisplacedServers, Server
from osc_traitsched.core.change.impact import Combination, Effect, HostSets
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Outcome,
    State,
    Status,
)
from osc_traitsched.core.change.traits import Requirer
from osc_traitsched.core.desired.model import Claim, Place
from osc_traitsched.core.desired.planner import Row
from osc_traitsched.core.desired.units import FoundCloud
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.nova.options import Setting
from osc_traitsched.views import listing
from osc_traitsched.views.desired import lines, summary
from tests.aggregates import aggregate
from tests.golden import screens

# Rows of several providers of one host, for a person.


HOST = ("cmp01", "u1", "", "unchanged", "")
GPU = ("cmp01", "u2", "", "unchanged", "cmp01_gpu")


def test_a_nested_provider_that_did_not_change_has_its_own_name():
    rows, line = listing.for_people(listing.ADDED, [HOST, GPU])
    assert (rows, line) == ([], "Unchanged: cmp01, cmp01_gpu")


NESTED = ("cmp01", "u2", "CUSTOM_GOLD", "added", "cmp01_gpu")
FAILED = ("cmp01", "u2", "", "failed", "no answer")


@pytest.mark.parametrize(
    ("rows", "is_shown"),
    [([HOST, NESTED], False), ([FAILED, (*FAILED[:1], "u3", *FAILED[2:])], True)],
)
def test_the_uuid_is_shown_if_nothing_else_tells_providers_apart(rows, is_shown):
    shown = base._for_people(argparse.Namespace(), listing.ADDED, rows)
    assert ("provider" in shown) is is_shown


# The lines that plan and apply print for a person.


CLOUD = FoundCloud(
    Snapshot(()),
    (aggregate("gold-a"),),
    (),
    frozenset({"CUSTOM_GOLD"}),
    frozenset(),
    holdings={},
)


KINDS = {
    kind.step: kind
    for kind in vars(ObjectKind).values()
    if isinstance(kind, ObjectKind)
}
KINDS["provider"] = ObjectKind.PROVIDER_TRAITS


def step(
    kind,
    name,
    key,
    after=PRESENT,
    before=None,
    line=3,
    status=Status.WOULD_CHANGE,
    problem=None,
    phase=0,
    rest=False,
    known=None,
):
    what = "remove" if after is None else "add" if before is None else "set"
    owner = Object(KINDS[kind], "id", name)
    change = Change(owner, State({}), {}, phase=phase, problem=known)
    claim = Claim(after, Place("w.yaml", line), rest)
    outcome = Outcome(change, status, problem)
    return Row(what, kind, name, "id", key, before, after, claim, outcome)


def text(*steps):
    return list(lines(steps, CLOUD))


def hosts(*names, key="CUSTOM_A", **more):
    return [step("host", name, key, **more) for name in names]


BROKEN = CloudBroke("placement", "no", 403)
KNOWN = CloudBroke("compute", "cmp00 has 2 servers")
TAKEN = {"after": None, "before": PRESENT, "rest": True}

PLANS = {
    "every-kind": [
        step("trait", "CUSTOM_SSD", "CUSTOM_SSD"),
        step("aggregate", "az1", "name", "az1"),
        step("aggregate", "a", "availability_zone", "az1"),
        step("host", "cmp00", "CUSTOM_SSD"),
        step("host", "a\x1b", "CUSTOM_A"),
        step("provider", "gpu", "CUSTOM_A"),
        step("mirror", "cmp00", "gold"),
        step("member", "gold", "cmp00"),
        step("flavor", "small", "trait:CUSTOM_SSD", "forbidden", "required"),
        step("flavor", "f", "k", "x\ny", "z"),
        step("image", "win", "trait:CUSTOM_SSD", None, "required"),
        step("host", "cmp03", "CUSTOM_OLD", None, PRESENT),
    ],
    # Names with the same change of lines in a row are one line.
    "names-in-one-line": [
        *(
            step("host", f"cmp0{number}", trait)
            for number in range(3)
            for trait in ("CUSTOM_A", "CUSTOM_B")
        ),
        *hosts("cmp03", line=5),
        *(step("member", "gold", f"cmp0{number}") for number in range(3)),
        step("member", "vip", "cmp03"),
        *(
            step("host", f"cmp1{number}", "CUSTOM_C", line=line)
            for number, line in enumerate((8, 7, 6, 20, 7))
        ),
    ],
    "phases": [
        *hosts("cmp00", phase=1),
        step("flavor", "f", "trait:CUSTOM_A", "required", phase=2),
        *hosts("cmp01", phase=3),
    ],
    "names-that-are-like-others": [
        step("trait", "CUSTOM_GOLDD", "CUSTOM_GOLDD"),
        step("aggregate", "gold-b", "name", "gold-b", status=Status.CHANGED),
    ],
    # At the end of the line, or below if the line is long.
    "taken-by-only": [
        *hosts("cmp00", **TAKEN),
        *hosts("cmp00", key="CUSTOM_LONGER_THAN_WHAT_ONE_LINE_HAS", **TAKEN),
    ],
    "failed": [
        *hosts("cmp00", status=Status.CHANGED),
        *hosts("cmp01", "cmp02", status=Status.FAILED, problem=BROKEN),
        *hosts("cmp03", status=Status.UNKNOWN, problem=BROKEN),
        *hosts("cmp04", status=Status.UNCHANGED),
        step("trait", "CUSTOM_A", "CUSTOM_A", status=Status.NOT_DONE),
    ],
    "known-to-fail": [
        step(
            *("member", "gold-a", "cmp00"),
            status=Status.FAILED,
            problem=KNOWN,
            known=KNOWN,
        )
    ],
}


def test_a_line_says_what_is_done_to_what_and_where_it_is_wanted(golden):
    plans = {
        name: [summary(["w.yaml"], steps, 1, 0), *text(*steps)]
        for name, steps in PLANS.items()
    }
    golden("plan/lines", screens(plans))


def test_all_names_are_there_in_lines_of_80_columns():
    names = [f"compute-{letter}" for letter in "abcdefghijkl"]
    found = text(*(step("host", name, "CUSTOM_A") for name in names))
    assert max(map(len, found)) <= 80
    parts = [line.split("  ", 1) for line in found]
    assert {end for _, end in parts} == {"trait CUSTOM_A  (w.yaml:3)"}
    said = [start.removeprefix("+ host ").split(", ") for start, _ in parts]
    assert [name for some in said for name in some] == names


# How isolating and opening are worded.


GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


def effect(flavor, now, then, image=None, ever=None, **asked):
    """Return an effect; what could ever take it are the same hosts unless said."""
    room, most = (
        HostSets(*map(frozenset, hosts)) for hosts in ((now, then), ever or (now, then))
    )
    return Effect(Combination(flavor, image, **asked), room, most)


def test_what_flavors_lose_and_gain_is_said_as_hosts_before_and_after(golden):
    effects = [
        # Those that lose as many are in one line, those that lose nothing in none.
        effect("small", "abcd", "cd"),
        effect("large", "abc", "c"),
        effect("tiny", "abcd", "cd"),
        effect("golden", "abcd", "ab"),
        effect("other", "cd", "cd"),
        effect("small", "abcd", "", "windows"),
        # Hosts that are full now are told apart if that makes a difference.
        effect("same-ever", "ab", "b", ever=("ab", "b")),
        effect("more-ever", "abc", "bc", ever=("abcde", "bcd")),
        effect("all-kept", "bc", "bc", ever=("abcd", "bcd")),
        effect("all-full", "", "", ever=("abcd", "cd")),
        effect("last", "a", "", ever=("ac", "c")),
        # Hosts that are gained are told apart from those that stay.
        effect("some-new", "ab", "bc"),
        effect("more", "ab", "abc"),
        # Of zones and projects only those without a host are said.
        effect("zoned", "abe", "be"),
        effect("zoned", "ab", "b", context=Context("az1")),
        effect("zoned", "a", "", context=Context("az2", "p1")),
        effect("zoned", "a", "ab", context=Context("az3")),
    ]
    golden("isolate/hosts-of-flavors", effect_words.losses(effects))


def test_a_refusal_names_each_flavor_once_with_its_image_zone_and_project(golden):
    stranded = [
        effect("f", "a", ""),
        effect("g", "b", ""),
        effect("f", "a", "", "i"),
        effect("h", "a", "", context=Context("az2")),
        effect("j", "b", "", context=Context("az2")),
        effect("h", "a", "", context=Context(None, "p1")),
        effect("full", "", "", ever=("abc", "")),
        effect("last", "a", "", ever=("abc", "bc")),
    ]
    refusal = effect_words.LeavesNoHost(stranded)
    golden("isolate/no-host-left", [str(refusal), refusal.brief])


def change(kind, *names, value="required", removes=False, kept=()):
    keys = dict.fromkeys(names, value)
    before, after = (keys, dict.fromkeys(keys)) if removes else ({}, keys)
    return Change(Object(kind, "id", "object"), State(before), after, kept=kept)


def host_change(*names, **options):
    return change(ObjectKind.PROVIDER_TRAITS, *names, value=PRESENT, **options)


KEY = f"trait:{GOLD}"


def image_change(identity, name, owner="", kept=()):
    named = Object(ObjectKind.IMAGE, identity, name, owner=owner)
    return Change(named, State({}), {}, kept=kept)


STAYS_HERE = (f"{GOLD} stays: a standard trait says what a host is",)
CHANGES = [
    change(ObjectKind.TRAIT, GOLD),
    host_change(GOLD, SILVER),
    host_change(SILVER, removes=True, kept=STAYS_HERE),
    change(ObjectKind.PROVIDER_AGGREGATES, "uuid"),
    change(ObjectKind.FLAVOR, KEY),
    change(ObjectKind.FLAVOR),
    change(ObjectKind.FLAVOR, kept=(f"{GOLD} stays: h1, h2 have it, too",)),
    change(ObjectKind.AGGREGATE, KEY, removes=True),
    # Of two with one name each has its ID, one of another project its owner.
    image_change("i1", "rocky"),
    image_change("i2", "rocky"),
    image_change("i3", "own"),
    image_change(
        "i4",
        "theirs",
        "p1",
        (f"{GOLD} stays without --all-images: another project's image",),
    ),
]


def test_a_row_says_what_changes_and_what_stays(golden):
    outcomes = [
        Outcome(each, Status.CHANGED if each.is_needed else Status.UNCHANGED)
        for each in CHANGES
    ]
    not_changed = [
        Outcome(host_change(GOLD), Status.FAILED, errors.EmptyAggregate("x")),
        Outcome(host_change(GOLD), Status.NOT_DONE),
        # Somebody else was faster.
        Outcome(host_change(GOLD), Status.UNCHANGED),
    ]
    opens = {"gold": "gold opens"}
    columns, table = listing.result_rows(
        listing.STEPS, [*outcomes, *not_changed], opens
    )
    golden("isolate/rows", [" | ".join(row).rstrip() for row in (columns, *table)])


def test_it_says_when_nothing_may_be_isolated(golden):
    off = Setting(False, "nova.conf:1", given=True), Setting(False, "its default")
    golden("isolate/isolation-is-off", map(listing.without_effect, off))
    for on in Setting(True, "nova.conf:1", given=True), Setting(True, "a baseline"):
        assert listing.without_effect(on) is None


def server(name, host="cmp00"):
    return Server(f"{name}-id", name, host, "project", None)


def test_servers_that_stay_on_the_other_side_are_counted_and_named(golden):
    found = MisplacedServers(
        inside=(server("a"), server("b", "cmp\n01")),
        outside=(server("c"),),
        unknown=(server("d"),),
        without_image=(server("e"),),
        traits=(GOLD,),
    )
    unread = listing.misplaced(errors.CloudBroke("compute", "out of order", 500))
    golden("isolate/servers-that-stay", [*listing.misplaced(found), "", *unread])
    assert listing.misplaced(MisplacedServers()) == []


def test_images_of_other_projects_are_named_with_id_and_owner(golden):
    found = Requirer("image", "win\x1b", "trait:CUSTOM_GOLD", "i1", "p1")
    golden("remove/images-of-others", traits.passed_over([found]))
