"""Every error has one line of words, whatever the user typed."""

import pytest

from osc_traitsched.core import errors
from osc_traitsched.core.change import effects, impact, servers, traits
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    ChangedMeanwhile,
    Kind,
    Object,
    Outcome,
    State,
    Status,
)
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.names import Namesake
from osc_traitsched.core.nova import own
from osc_traitsched.core.wanted import refusals as of_wanted
from osc_traitsched.core.wanted import shorthand
from osc_traitsched.core.wanted.model import Place, Wrong
from osc_traitsched.views import problems
from osc_traitsched.views.explain.words import text

#: What has words of errors beside those of problems.py.
BROKE = errors.CloudBroke("compute", "no rights", 400)
EMPTIED = impact.HostSets(frozenset("a"), frozenset())
SERVER = servers.Server("id1", "db\x1b", "cmp1", "project", None)
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
    errors.NotInRelease("image-metadata", "scheduler.image_metadata_prefilter", 20),
    errors.FiltersNotInRelease(("A", "B"), 28, "nova.conf:2"),
    errors.WeighersNotInRelease(("a.A", "a.B"), 27, "nova.conf:3"),
    errors.NoParameter("filter_scheduler.enabled_filters", ()),
    errors.Unexpected(KeyError("a\nb\x1b")),
    BROKE,
    errors.Forbidden("placement", "no rights"),
    errors.ConcurrentUpdate("placement", "changed", 409),
    errors.TooOld("placement", "1.30 at most", 406),
    errors.ExtraSpecsHidden(3, 3),
    errors.PrivateFlavorsHidden(),
    errors.NotInCatalog("placement"),
    errors.Refusal("Invalid", "dedicated-mask", ("hw:cpu_dedicated_mask",), "api", 400),
    errors.Refusal(
        "RequestFilterFailed", "tenant-without-aggregate", (), "no valid host"
    ),
    errors.OtherSettings("~/.config/osc-traitsched/prod.yaml"),
    errors.NotForProject("flavor", "f"),
    errors.PlacementRefuses("No such trait(s): CUSTOM_X."),
    errors.MalformedTrait("a\nb\x1b[31m"),
    errors.UnknownTrait("CUSTOM_X", False, ("CUSTOM_Y", "CUSTOM_Z")),
    errors.UnknownTrait("HW_NEW", True, ()),
    errors.NothingMatches("host", "x\n", ("y",), "compute is down"),
    errors.NoServer("web\n", own_only=True),
    errors.NoProvider("cmp1"),
    errors.AmbiguousName("aggregate", "gold", [Namesake("u1")] * 2),
    errors.EmptyAggregate("gold"),
    errors.BadHostFile("hosts", "names no host"),
    errors.BadConfiguration("a\nb.conf", 12, "is not true or false", "ye\x1bs"),
    shorthand.Contradiction("f", ("CUSTOM_X",)),
    ChangedMeanwhile(Object(Kind.FLAVOR, "1", "f"), {"trait:CUSTOM_X": "no"}),
    shorthand.NotIsolated("gold"),
    effects.LeavesNoHost((impact.Effect(impact.Asked("f", "i"), EMPTIED, EMPTIED),)),
    traits.RoleChanged(dict.fromkeys(trait.ROLES, ("cmp1",))),
    traits.OwnedByNova((traits.RevertedByNova("COMPUTE_NODE", Ownership.NOVA_SETS),)),
    servers.ComputesUnlisted(("cmp1\n",)),
    Wrong(LINE, errors.NoProvider("cmp1\n")),
    errors.Mistakes((Wrong(LINE, BROKE), Wrong(LINE, BROKE))),
    of_wanted.WantedOtherwise("g\x1b", "zone", LINE),
    of_wanted.NotToTake("HW_X"),
    of_wanted.SaysWhatItIs("CUSTOM_X"),
    of_wanted.NoCompute("card\n"),
    of_wanted.NoNewName("x\x1b", ()),
    of_wanted.NoNewName("x*\x1b", ("xy\n",)),
    of_wanted.NoInventory(),
    of_wanted.NoVariable("h\x1b", "v\n"),
    of_wanted.OnlyNobody("g\x1b"),
    of_wanted.IronicNode("node\x1b", "CUSTOM_X", is_added=True),
    of_wanted.OthersProvider("card", "Neutron"),
    of_wanted.ServersWouldMove(None, "z\n", {"cmp1\x1b": 2}),
    of_wanted.ServersUncounted(BROKE),
    of_wanted.TwoZones(("cmp1\n",), (("g\x1b", "z"),)),
    of_wanted.HeldHosts(("cmp1\n",), None, "z\n"),
    of_wanted.GoneProject(LINE, "g\x1b", "f" * 32),
    of_wanted.OtherCloud("p\n.json", "http://a\x1b", "http://b\n"),
    of_wanted.TakesMost(LINE, Kind.PROVIDER_TRAITS, "CUSTOM_X", 3, 4),
    of_wanted.NotReviewed("plan\n.json", ("add\x1b", "set\n")),
    traits.LastHolder(
        {"CUSTOM_X": (traits.Requirer("flavor", "f", "trait:CUSTOM_X", "f1"),)}
    ),
    traits.RequirersUnknown(("CUSTOM_X",), BROKE),
    servers.ServersUnknown(("CUSTOM_X",), BROKE),
    servers.ServersNeedTraits(("CUSTOM_X",), (SERVER,), (SERVER,)),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_the_words_are_one_printable_line(error):
    words = str(error)
    assert words.isprintable()
    assert words


def test_every_type_of_error_has_been_tried():
    def leaves(kind):
        below = kind.__subclasses__()
        return {leaf for each in below for leaf in leaves(each)} or {kind}

    assert leaves(errors.TraitSchedError) <= {type(error) for error in ERRORS}


def test_namesakes_are_listed_with_what_tells_them_apart():
    old = Namesake("u1", "p1", "private", "2025-01-31T10:00:00Z", True)
    new = Namesake("u2", "p2", "public", "2026-01-31T10:00:00Z")
    assert str(errors.AmbiguousName("image", "rocky", [old, new])) == (
        "2 images are named 'rocky'; name one by its ID: "
        "u1 (owner p1, private, created 2025-01-31T10:00:00Z, hidden), "
        "u2 (owner p2, public, created 2026-01-31T10:00:00Z)"
    )
    there = Namesake("p1", domain="default")
    assert "p1 (domain default)" in str(
        errors.AmbiguousName("project", "red", [there, there])
    )


def test_hidden_extra_specs_are_counted_or_named_with_the_right_that_is_missing():
    policy = "os_compute_api:os-flavor-extra-specs:index"
    every = str(errors.ExtraSpecsHidden(3, 5))
    one = str(errors.ExtraSpecsHidden(1, 1, "gold"))
    assert every.startswith("Nova hides the extra specs of 3 of 5 flavors from")
    assert one.startswith("Nova hides the extra specs of the flavor 'gold' from")
    assert policy in every
    assert policy in one


@pytest.mark.parametrize(
    ("scope", "roles", "why"),
    [
        ("project", ("reader",), "reader (by default it takes admin)"),
        ("project", ("admin", "member"), "admin, member"),
        ("project", (), "none (by default it takes admin)"),
    ],
)
def test_roles_that_are_not_enough_are_named(scope, roles, why):
    words = str(errors.Forbidden("placement", "no", scope, roles))
    assert words == (
        f"placement: no (HTTP 403); this user's roles are not enough: {why}"
    )


@pytest.mark.parametrize(
    ("scope", "what"),
    [("system", "the system"), ("domain", "a domain"), ("", "nothing")],
)
def test_who_is_in_no_project_is_told_to_log_in_to_one(scope, what):
    words = str(errors.Forbidden("placement", "no", scope, ("admin",)))
    assert words.endswith(f"; log in to a project; this login is to {what}")


@pytest.mark.parametrize("scope", ["system", "domain"])
def test_a_reader_in_no_project_is_not_sent_to_one_without_the_role(scope):
    words = str(errors.Forbidden("placement", "no", scope, ("reader",)))
    assert words.endswith(
        f"; this user's roles in the {scope} are not enough: reader (by default it "
        "takes admin in a project)"
    )


def test_where_roles_are_not_known_nothing_is_said_of_them():
    words = str(errors.Forbidden("placement", "no"))
    assert words == "placement: no (HTTP 403); this user's roles are not enough"


def test_a_refusal_names_what_still_requires_the_trait():
    words = str(ERRORS[-4])
    assert "flavor 'f' (trait:CUSTOM_X)" in words
    assert "--force" in words


@pytest.mark.parametrize(
    ("reason", "helps"),
    [
        ("No such trait(s): CUSTOM_X.", True),
        ("No such trait(s): HW_NEW.", False),
        ("Conflicting required and forbidden traits: CUSTOM_X", False),
    ],
)
def test_only_a_custom_trait_that_is_not_there_can_be_made(reason, helps):
    text = str(errors.PlacementRefuses(reason))
    assert ("add --create" in text) is helps


def test_a_server_in_the_way_is_named_with_its_id_and_its_host():
    words = str(ERRORS[-1])
    assert "1 server: 'db\\x1b' (id1, on cmp1)" in words
    assert "--force" in words


def test_a_provider_that_others_changed_once_was_not_changed_during_every_try():
    once, often = (errors.ConcurrentUpdate("placement", "no", 409, n) for n in (1, 10))
    assert str(once) == (
        "others changed this provider meanwhile; run the command again"
    )
    assert str(often) == (
        "others changed this provider during every try; run the command again"
    )


def test_a_key_that_somebody_removed_is_gone():
    error = ChangedMeanwhile(Object(Kind.FLAVOR, "1", "f"), {"a": None, "b": "2"})
    assert str(error) == (
        "changed meanwhile: 'a' is gone, 'b' is '2' now; run the command again"
    )


def test_what_failed_what_nobody_knows_and_what_was_not_done_are_counted():
    def line(*statuses):
        change = Change(Object(Kind.TRAIT, "X", "X"), State({}), {"X": PRESENT})
        return problems.failures([Outcome(change, each) for each in statuses])

    known, unknown = (Status.FAILED, Status.CHANGED), (Status.UNKNOWN, Status.NOT_DONE)
    again = "to continue, run the same command again"
    assert line(*known) == f"1 of 2 failed; {again}"
    assert line(*unknown) == f"1 of 2 unknown, 1 not done; {again}"
    assert line(*known, *unknown) == f"1 of 4 failed, 1 unknown, 1 not done; {again}"


def test_an_interrupted_command_that_had_nothing_left_to_write_does_not_go_on():
    again = "to continue, run the same command again"
    assert problems.interrupted(3, 9).endswith(f"3 of 9; {again}")
    assert problems.interrupted(9, 9).endswith("9 of 9; nothing was left to write")


@pytest.mark.parametrize("stage", ["api", "scheduler", "no valid host"])
def test_what_becomes_of_a_server_that_is_moved_hangs_on_the_move(stage):
    """nova/conductor/manager.py, _cold_migrate leaves it in its state"""
    refusal = errors.Refusal("E", "group-policy-off", ("affinity", "F"), stage)
    of_build, of_move = text(refusal, False), text(refusal, True)
    assert ("goes to ERROR" in of_build) is (stage == "scheduler")
    assert of_move == of_build.replace(", and the server goes to ERROR", "")
