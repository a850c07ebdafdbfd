"""Lists, numbers, names, commands, notes and errors as text."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import itertools
import random
import shlex
import shutil
import subprocess
import types
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openstackclient import shell

from osc_traitsched import paste
from osc_traitsched import text as osc_traitsched_text
from osc_traitsched.commands.isolation import UnisolateAggregate
from osc_traitsched.commands.trait import AddTraits
from osc_traitsched.core import difference, errors
from osc_traitsched.core.change import effects, impact, traits
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Outcome,
    State,
    Status,
)
from osc_traitsched.core.desired.model import EntryError, Place
from osc_traitsched.core.difference import Comparison, Effect, FlavorHosts, Since
from osc_traitsched.core.nova import building, own
from osc_traitsched.core.servers import fleet
from osc_traitsched.paste import Option, line, openstack, printable
from osc_traitsched.text import Namesake, visible
from osc_traitsched.views import listing, terminal
from osc_traitsched.views.diff import lines, since_lines
from osc_traitsched.views.explain import words

# Lists, numbers and names as every view writes them.


def test_long_lists_are_counted_and_not_printed():
    assert osc_traitsched_text.listed(f"h{n}" for n in range(12)) == (
        "h0, h1, h2, h3, h4, h5, h6, h7, h8, h9 and 2 more"
    )


def test_a_noun_is_of_the_number_of_what_it_stands_before():
    listed = [
        osc_traitsched_text.listed(names, "flavor") for names in ([], ["a"], ["a", "b"])
    ]
    assert listed == ["", "flavor a", "flavors a, b"]
    hosts = ([], ["cmp1"], ["cmp1", "cmp2"], ["cmp1", "cmp2", "cmp3"])
    assert [osc_traitsched_text.ranges(names, "host") for names in hosts] == [
        *("", "host cmp1", "hosts cmp1, cmp2", "hosts cmp[1-3]")
    ]
    counts = [osc_traitsched_text.count(number, "host") for number in range(3)]
    assert counts == ["0 hosts", "1 host", "2 hosts"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("cmp[08-11]", ["cmp08", "cmp09", "cmp10", "cmp11"]),
        ("cmp[008-010].dc1", ["cmp008.dc1", "cmp009.dc1", "cmp010.dc1"]),
        ("r1n[07-08,10]", ["r1n07", "r1n08", "r1n10"]),
        ("r[1-2]-n[07-08]", ["r[1-2]-n07", "r[1-2]-n08"]),
        # Globs, and what is neither.
        *((text, [text]) for text in ("cmp1*", "cmp0[1-3]", "cmp0[12]", "cmp[1-35]")),
        *((text, [text]) for text in ("cmp[11-08]", "cmp[10-12,5]", "n[00-05", "c05")),
        ("cmp[000000000-999999999]", ["cmp[000000000-999999999]"]),
    ],
)
def test_a_range_of_hosts_stands_for_each(text, names):
    assert osc_traitsched_text.unfolded(text) == names


@given(st.sets(st.integers(0, 130), min_size=1))
def test_what_is_folded_unfolds_to_the_same_hosts(numbers):
    hosts = {f"cmp{number:03}.dc1" for number in numbers}
    found = map(osc_traitsched_text.unfolded, osc_traitsched_text.folded(hosts))
    assert {*itertools.chain(*found)} == hosts


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("it fits: openstack x", ["it fits: openstack x"]),
        (
            "  the whole answer: openstack server x",
            ["  the whole answer:", "    openstack server x"],
        ),
        ("first these, then: openstack a b", ["first these, then:", "  openstack a b"]),
        (
            "these words and others: openstack a",
            ["these words and", "  others:", "  openstack a"],
        ),
        ("  openstack server show a-server", ["  openstack server show a-server"]),
        ("  # a name; touch x #: moved", ["  # a name; touch x", "  # #: moved"]),
    ],
)
def test_a_command_has_one_row_and_words_as_many_as_they_need(text, rows):
    assert terminal.wrapped(text, 20).splitlines() == rows


def test_names_that_may_have_been_meant_are_asked_for():
    asked = [osc_traitsched_text.did_you_mean(names) for names in ("", "a", "ab")]
    assert asked == ["", "; did you mean a?", "; did you mean a or b?"]


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("red\x1b[31m", r"red\x1b[31m"),
        ("\x9b31m", r"\x9b31m"),
        ("user\u202egnp", r"user\u202egnp"),
        ("\u2066a\u2069", r"\u2066a\u2069"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\ud800", r"\ud800"),
        ("\ue000", r"\ue000"),
        ("tag\U000e0041", r"tag\U000e0041"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_visible(hidden, shown):
    assert osc_traitsched_text.visible(hidden) == shown


@pytest.mark.parametrize(
    "name",
    [
        *("黄金", "золото", "ذهب", "सोना", "e\u0301", "größe", "naïve 👍", "a b\\c"),
        "全角\u3000空白",
    ],
)
def test_letters_of_any_language_stay_as_they_are(name):
    assert osc_traitsched_text.visible(name) == name
    assert osc_traitsched_text.quoted(name) == f"'{name}'"


def test_no_character_of_a_category_that_is_not_printable_is_left():
    everything = osc_traitsched_text.visible("".join(map(chr, range(0x110000))))
    left = {unicodedata.category(char) for char in everything}
    assert left.isdisjoint({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def test_a_quoted_name_is_abridged_and_has_nothing_in_it_that_is_not_printable():
    assert osc_traitsched_text.quoted("x" * 81) == f"'{'x' * 77}...'"
    assert osc_traitsched_text.quoted("x" * 80) == f"'{'x' * 80}'"
    assert osc_traitsched_text.quoted("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"


def test_a_quote_in_a_name_does_not_end_it():
    assert osc_traitsched_text.quoted("it's") == '"it\'s"'
    assert osc_traitsched_text.quoted('the "best"') == "'the \"best\"'"
    assert osc_traitsched_text.quoted("'\"") == r"""'\'"'"""


@pytest.mark.parametrize(
    ("of_one", "of_two"),
    [
        ("lacks trait X", "lack trait X"),
        ("is disabled", "are disabled"),
        ("has trait X", "have trait X"),
        ("does not support X", "do not support X"),
        ("passes X", "pass X"),
        ("already runs a member", "already run a member"),
    ],
)
def test_the_verb_of_a_clause_agrees_with_a_number(of_one, of_two):
    assert osc_traitsched_text.agreed(of_one, 1) == of_one
    assert osc_traitsched_text.agreed(of_one, 2) == of_two


@pytest.mark.parametrize(
    ("noun", "counted"),
    [
        ("host", "2 hosts"),
        ("fix", "2 fixes"),
        ("resource class", "2 resource classes"),
        ("servers", "2 servers"),
    ],
)
def test_things_are_counted_in_the_plural(noun, counted):
    assert osc_traitsched_text.count(2, noun) == counted
    assert osc_traitsched_text.count(1, noun) == f"1 {noun}"


# Printed commands say to a shell what was meant, whatever things are named.


NAMES = 10_000
ALPHABET = [
    *"abAZ09 .,:;_+@%/\\|&<>()[]{}*?!#~^=-'\"`$",
    *"äß黄金ذهبसो👍\u3000\u0301",
    *("$(id)", "`id`", "${HOME}", "--", "-x", "'\"'", "\\'", "&&", ">x", "!!", "=ls"),
]
HIDDEN = [*"\n\t\r\x1b\x07\x9b\u202e\u2066\u200b\u2028\ud800\ue000", "\nopenstack "]
KNOWN = ["", "-", "--", "---", "--force", "-h", "--os-cloud=x", "=ls", "a=b", "~", "!1"]
ID = "c0000001-0000-4000-8000-000000000000"

#: Prints each argument of ``openstack``, with its end.
REPEATER = """openstack() { for each in "$@"; do printf '%s\\0' "$each"; done; }"""


def names():
    dice = random.Random(17)
    return [*KNOWN, *(made(dice) for _ in range(NAMES))]


def made(dice):
    hidden = dice.choices(HIDDEN, k=dice.randint(0, 9) // 9)
    parts = [*dice.choices(ALPHABET, k=dice.randint(1, 12)), *hidden]
    dice.shuffle(parts)
    return "".join(parts)


PAIRS = list(zip(names(), reversed(names())))


def adding(name):
    return openstack(
        "trait-sched add", "CUSTOM_A", Option("--host", name), Option("--all")
    )


def opening(name, other):
    return openstack("trait-sched unisolate", Option("--force"), name, other)


def of_cloud(name, other):
    return Option("--os-cloud", name), Option("--os-region-name", other)


def printed():
    for name, other in PAIRS:
        lines = [line(adding(name)), line(opening(name, other))]
        assert all(lines) or not all(map(paste.is_printable, (name, other)))
        yield from filter(None, lines)


@pytest.fixture(scope="module")
def parsers():
    app = types.SimpleNamespace(command_manager=types.SimpleNamespace(namespace="none"))
    nothing = argparse.Namespace()
    return {
        "add": AddTraits(app, nothing).get_parser("add"),
        "unisolate": UnisolateAggregate(app, nothing).get_parser("unisolate"),
    }


@pytest.fixture(scope="module")
def of_openstack():
    """The parser of global options, which sees every word first."""
    return shell.OpenStackShell().parser


def test_the_command_gets_the_very_names(parsers):
    for name, other in PAIRS:
        for text, wanted in [
            (
                line(adding(name)),
                {"hosts": [name], "traits": ["CUSTOM_A"], "all": True},
            ),
            (
                line(opening(name, other)),
                {"aggregate": name, "traits": [other], "force": True},
            ),
        ]:
            # No command takes an empty name.
            if text and name and other:
                _, _, verb, *arguments = shlex.split(text)
                found = parsers[verb].parse_args(arguments)
                assert {key: getattr(found, key) for key in wanted} == wanted, text


def test_no_name_is_taken_for_a_global_option_and_those_are_the_very_ones(
    parsers, of_openstack
):
    # That parser is slow.
    for name, other in PAIRS[:: NAMES // 500]:
        text = line(opening(name, other), of_cloud(other, name))
        if text and name and other:
            given, rest = of_openstack.parse_known_args(shlex.split(text)[1:])
            assert (given.cloud, given.region_name) == (other, name)
            found = parsers["unisolate"].parse_args(rest[2:])
            assert (found.aggregate, found.traits) == (name, [other]), text


@pytest.mark.parametrize("program", ["sh", "bash", "zsh"])
def test_a_shell_gives_the_command_the_very_words(program):
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    lines = list(printed())
    assert len(lines) > 1.5 * NAMES
    for first in range(0, len(lines), 2000):
        batch = lines[first : first + 2000]
        script = "\n".join([REPEATER, *batch, ""]).encode()
        done = subprocess.run([program], input=script, capture_output=True, check=True)
        wanted = [word for text in batch for word in shlex.split(text)[1:]]
        assert done.stdout.decode().split("\0")[:-1] == wanted
        assert done.stderr == b""


def test_every_command_is_one_line_that_can_be_seen():
    for text in printed():
        assert visible(text) == text


def test_what_can_not_be_printed_is_meant_by_its_id():
    for name in names():
        if visible(name) != name:
            assert printable(name, ID) == ID
            assert line(openstack("trait-sched unisolate", name)) == ""
        elif name != "--":
            assert printable(name, ID) == name


def test_another_program_does_not_get_the_options_of_openstack():
    command = paste.Command("placement sync_aggregates", program="nova-manage")
    assert line(command, [Option("--os-cloud", "prod")]) == (
        "nova-manage placement sync_aggregates"
    )


@pytest.mark.parametrize(
    ("cloud", "region", "said"),
    [
        ("prod", "", "Of cloud prod:"),
        ("", "west", "Of region west:"),
        ("prod", "west", "Of cloud prod, region west:"),
    ],
)
def test_an_answer_names_what_it_is_of(cloud, region, said):
    assert paste.where(cloud, region) == said


# What is read is named as its service's users name it.


@pytest.mark.parametrize(
    ("path", "noun"),
    [
        ("/resource_providers", "resource providers"),
        ("/resource_providers?required=CUSTOM_GOLD", "resource providers"),
        ("/resource_providers/1d/traits", "resource providers"),
        ("/allocation_candidates?resources=VCPU:1", "allocation candidates"),
        ("/os-hypervisors/detail", "hypervisors"),
        ("/os-services", "compute services"),
        ("/os-aggregates", "host aggregates"),
        ("/os-availability-zone", "availability zones"),
        ("/flavors/detail", "flavors"),
        ("/traits?associated=true", "traits"),
    ],
)
def test_a_path_is_named_by_what_it_begins_with(path, noun):
    assert terminal.line(path) == f"reading {noun} ..."


def test_what_is_read_in_pages_says_how_many():
    assert terminal.line("/servers/detail", 12) == "reading servers (12) ..."


# Every error has one line of words, whatever the user typed.


#: What has words of errors beside those of problems.py.
BROKE = errors.CloudBroke("compute", "no rights", 400)
EMPTIED = impact.HostSets(frozenset("a"), frozenset())
SERVER = effects.Server("id1", "db\x1b", "cmp1", "project", None)
LINE = Place("a\n.yaml", 3)
KINDS = (
    "not-started",
    "timeout",
    "silent",
    "no-answer",
    "no-nova",
    "request",
    "other-release",
)
ERRORS = [
    own.PluginFails("a\n.py:A", "SyntaxError: \x1b"),
    *(own.NovaPythonFails("ssh \x1b", kind, "a\nb") for kind in KINDS),
    own.NovaPythonFails("python3", "nova-conf", "my.conf:1"),
    own.NovaPythonFails("python3", "internal", "KeyError: 'x'"),
    errors.BadUsage("name the hosts"),
    errors.Unexpected(KeyError("a\nb\x1b")),
    BROKE,
    errors.Forbidden("placement", "no rights"),
    errors.ConcurrentUpdate("placement", "changed", 409),
    errors.TooOld("placement", "1.30 at most", 406),
    errors.ExtraSpecsHidden(3, 3),
    errors.Hidden("compute", "hides private flavors of other projects"),
    errors.NotInCatalog("placement"),
    errors.Refusal("Invalid", "dedicated-mask", ("hw:cpu_dedicated_mask",), "api", 400),
    errors.Refusal(
        "RequestFilterFailed", "tenant-without-aggregate", (), "no valid host"
    ),
    errors.NotForProject("flavor", "f"),
    errors.TraitMissing("flavor", "f\n", "CUSTOM_X", ("CUSTOM_Y",)),
    errors.UnknownTrait("CUSTOM_X", False, ("CUSTOM_Y", "CUSTOM_Z")),
    errors.UnknownTrait("HW_NEW", True, ()),
    errors.NothingMatches("host", "x\n", ("y",), "compute is down"),
    errors.NoServer("web\n"),
    errors.NoProvider("cmp1"),
    errors.AmbiguousName("aggregate", "gold", [Namesake("u1")] * 2),
    errors.EmptyAggregate("gold"),
    errors.BadConfiguration("a\nb.conf", 12, "is not true or false", "ye\x1bs"),
    effects.LeavesNoHost(
        (impact.Effect(impact.Combination("f", "i"), EMPTIED, EMPTIED),)
    ),
    EntryError(LINE, errors.NoProvider("cmp1\n")),
    errors.Mistakes((EntryError(LINE, BROKE), EntryError(LINE, BROKE))),
    traits.LastHolder(
        {"CUSTOM_X": (traits.Requirer("flavor", "f", "trait:CUSTOM_X", "f1"),)}
    ),
    fleet.ServersLoseHosts((SERVER,), None, frozenset(), "why"),
]


#: What the words of one type depend on.
OLD = Namesake("u1", "p1", "private", "2025-01-31T10:00:00Z", True)
NEW = Namesake("u2", "p2", "public", "2026-01-31T10:00:00Z")
DOMAIN = Namesake("p1", domain="default")
CONFLICT = "Conflicting required and forbidden traits: CUSTOM_X"
GROUP_POLICY_OFF = ("group-policy-off", ("affinity", "F"))
STAGES = ("api", "scheduler", "no valid host")


def denied(scope, *roles):
    return errors.Forbidden("placement", "no", scope, roles)


VARIANTS = [
    own.NovaPythonFails("ssh ctl1 python3", "timeout", "120"),
    own.NovaPythonFails("nova", "other-release", "34.0.0, and the cloud's is 33"),
    errors.AmbiguousName("image", "rocky", [OLD, NEW]),
    errors.AmbiguousName("project", "red", [DOMAIN, DOMAIN]),
    errors.ExtraSpecsHidden(3, 5),
    errors.ExtraSpecsHidden(1, 1, "gold"),
    denied("project", "reader"),
    denied("project", "admin", "member"),
    denied("project"),
    *(denied(scope, "admin") for scope in ("system", "domain", "")),
    *(denied(scope, "reader") for scope in ("system", "domain")),
    errors.TraitMissing("flavor", "f", "HW_NEW", ()),
    errors.TraitMissing("image", "i", "CUSTOM_X", (), is_forbidden=True),
    errors.PlacementRefuses("No such trait(s): HW_NEW."),
    errors.PlacementRefuses(CONFLICT),
    errors.ConcurrentUpdate("placement", "no", 409, 10),
    errors.Refusal("ValueError", "no-name-and-count", ("k",), "api", 500),
    building.zone_refusal("zone-9", {"zone-8": True}),
    *(
        errors.Refusal("E", "group-policy-off", ("affinity", "F"), at)
        for at in STAGES[1:]
    ),
]


def test_the_words_of_all_errors_are_a_printable_line_each(golden):
    every = ERRORS + VARIANTS
    assert all(str(each) and str(each).isprintable() for each in every)
    golden("errors", [f"{type(each).__name__}: {each}" for each in every])


def test_every_type_of_error_has_been_tried():
    def leaves(kind):
        below = kind.__subclasses__()
        return {leaf for each in below for leaf in leaves(each)} or {kind}

    assert leaves(errors.TraitSchedError) <= {type(error) for error in ERRORS}


def test_what_failed_what_nobody_knows_and_what_was_not_done_are_counted(golden):
    def line(*statuses):
        change = Change(Object(ObjectKind.TRAIT, "X", "X"), State({}), {"X": PRESENT})
        return listing.failures([Outcome(change, each) for each in statuses])

    known, unknown = (Status.FAILED, Status.CHANGED), (Status.UNKNOWN, Status.NOT_DONE)
    ends = [line(*known), line(*unknown), line(*known, *unknown)]
    # A command that had nothing left to write does not go on.
    ends += [listing.interrupted(3, 9), listing.interrupted(9, 9)]
    golden("ends-of-commands-that-write", ends)


@pytest.mark.parametrize("stage", STAGES)
def test_what_becomes_of_a_server_that_is_moved_hangs_on_the_move(stage):
    """nova/conductor/manager.py, _cold_migrate leaves it in its state"""
    refusal = errors.Refusal("E", *GROUP_POLICY_OFF, stage)
    of_build, of_move = words.text(refusal, False), words.text(refusal, True)
    assert ("goes to ERROR" in of_build) is (stage == "scheduler")
    assert of_move == of_build.replace(", and the server goes to ERROR", "")


# Screens of ``diff`` and ``--since``.


THEN = datetime.datetime(2026, 11, 26, 6, tzinfo=datetime.timezone.utc)
NOW = THEN + datetime.timedelta(hours=27)


def change(kind, name, text, *hosts, is_daily=False):
    return difference.Change(kind, name, text, (), frozenset(hosts), is_daily)


LOST = change("host", "cmp00", "- CUSTOM_SSD", "cmp00")
SPEC = change("flavor", "m1.small", "+ trait:CUSTOM_SSD=required")
FULL = Comparison(
    THEN,
    NOW,
    (
        Effect(change("aggregate", "pepper", "- cmp04", "cmp04"), ()),
        Effect(SPEC, (FlavorHosts("m1.small", 8, 3),)),
        Effect(LOST, (FlavorHosts("m1.large", 2, 1), FlavorHosts("ssd", 4, 3))),
        Effect(change("image", "gold", "- trait:X=required"), (FlavorHosts("", 2, 8),)),
        Effect(
            change("host", "cmp06", "used RAM 0 -> 7168", "cmp06", is_daily=True),
            (),
        ),
        Effect(change("server", "web-1", "cmp00 -> cmp01", is_daily=True), ()),
    ),
    use=(FlavorHosts("m1.large", 2, 1), FlavorHosts("m1.tiny", 1, 2)),
    together=(FlavorHosts("win", 3, 0), FlavorHosts("ssd", 4, 3)),
    untried=2,
    unread=("image /images",),
)
SINCE = Since(
    THEN,
    NOW,
    frozenset({"cmp00", "cmp02", "cmp06"}),
    frozenset({"cmp07"}),
    8,
    (
        (LOST, frozenset({"cmp00"})),
        (change("aggregate", "gold", "is gone"), frozenset({"cmp07"})),
    ),
)
NIGHTS = dataclasses.replace(
    FULL,
    effects=tuple(
        dataclasses.replace(each, since=None if each.change.is_daily else THEN)
        for each in FULL.effects
    ),
)
ASKED = NOW + datetime.timedelta(days=3)
SEARCHED = [
    dataclasses.replace(SINCE, searched=14, asked=ASKED, **more)
    for more in (
        {"answers": (True, False), "now": frozenset()},
        {"answers": (False, True), "before": frozenset()},
        {"answers": (True, False), "causes": (), "now": frozenset()},
        {"answers": (True, True), "later": ASKED},
        {"answers": (False, False), "before": frozenset(), "now": frozenset()},
        {"answers": (True, False), "later": ASKED, "now": frozenset()},
    )
]
SCREENS = {
    "changes": lines(FULL, wants_all=False),
    "all": lines(FULL, wants_all=True),
    "nights": lines(NIGHTS, wants_all=True),
    "nothing": lines(Comparison(THEN, NOW, ()), wants_all=False),
    "other-cloud": lines(
        dataclasses.replace(FULL, is_other_cloud=True), wants_all=False
    ),
    "since": since_lines(SINCE),
    "searched": [line for found in SEARCHED for line in since_lines(found)],
    "no-snapshot": since_lines(None),
}


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen(screen, golden):
    found = list(SCREENS[screen])
    golden(
        f"diff/{screen}",
        (f"{each.tone.value if each.tone else '':<6}|{each.text}" for each in found),
    )
