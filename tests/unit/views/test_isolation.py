"""How isolating and opening are worded."""

from __future__ import annotations

from osc_traitsched.core import errors
from osc_traitsched.core.change import effects as effect_words
from osc_traitsched.core.change import traits
from osc_traitsched.core.change.cloud_model import Context
from osc_traitsched.core.change.effects import MisplacedServers, Server
from osc_traitsched.core.change.impact import Asked, Effect, HostSets
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
from osc_traitsched.core.nova.options import Setting
from osc_traitsched.views import listing

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


def effect(flavor, now, then, image=None, ever=None, **asked):
    """Return an effect; what could ever take it are the same hosts unless said."""
    room, most = (
        HostSets(*map(frozenset, hosts)) for hosts in ((now, then), ever or (now, then))
    )
    return Effect(Asked(flavor, image, **asked), room, most)


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
