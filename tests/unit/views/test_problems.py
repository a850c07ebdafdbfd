"""Every error has one line of words, whatever the user typed."""

import pytest

from osc_traitsched.core import errors
from osc_traitsched.core.change import effects, impact, traits
from osc_traitsched.core.change import effects as servers
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    ChangedMeanwhile,
    Object,
    ObjectKind,
    Outcome,
    State,
    Status,
)
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.names import Namesake
from osc_traitsched.core.nova import own
from osc_traitsched.core.nova.request import checks
from osc_traitsched.core.wanted import refusals as of_wanted
from osc_traitsched.core.wanted import shorthand
from osc_traitsched.core.wanted.model import ConflictingEntries, EntryError, Place
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
    errors.NovaOwnsTrait("COMPUTE_NODE"),
    errors.NoProvider("cmp1"),
    errors.AmbiguousName("aggregate", "gold", [Namesake("u1")] * 2),
    errors.EmptyAggregate("gold"),
    errors.BadConfiguration("a\nb.conf", 12, "is not true or false", "ye\x1bs"),
    shorthand.Contradiction("f", ("CUSTOM_X",)),
    ChangedMeanwhile(Object(ObjectKind.FLAVOR, "1", "f"), {"trait:CUSTOM_X": "no"}),
    shorthand.NotIsolated("gold"),
    effects.LeavesNoHost((impact.Effect(impact.Asked("f", "i"), EMPTIED, EMPTIED),)),
    traits.RoleChanged(dict.fromkeys(sorted(trait.ROLES), ("cmp1",))),
    traits.OwnedByNova((traits.RevertedByNova("COMPUTE_NODE", Ownership.NOVA_SETS),)),
    servers.ComputesUnlisted(("cmp1\n",)),
    EntryError(LINE, errors.NoProvider("cmp1\n")),
    errors.Mistakes((EntryError(LINE, BROKE), EntryError(LINE, BROKE))),
    ConflictingEntries("g\x1b", "zone", LINE),
    of_wanted.NovaOwnedTrait("HW_X"),
    of_wanted.RoleTrait("CUSTOM_X"),
    of_wanted.NoCompute("card\n"),
    of_wanted.NoNewName("x\x1b", ()),
    of_wanted.NoNewName("x*\x1b", ("xy\n",)),
    of_wanted.NoInventory(),
    of_wanted.NoVariable("h\x1b", "v\n"),
    of_wanted.EmptyExclusive("g\x1b"),
    of_wanted.IronicNode("node\x1b", "CUSTOM_X", is_added=True),
    of_wanted.OthersProvider("card", "Neutron"),
    of_wanted.ServersWouldMove(None, "z\n", {"cmp1\x1b": 2}),
    of_wanted.ServersUncounted(BROKE),
    of_wanted.TwoZones(("cmp1\n",), (("g\x1b", "z"),)),
    of_wanted.HeldHosts(("cmp1\n",), None, "z\n"),
    of_wanted.GoneProject(LINE, "g\x1b", "f" * 32),
    of_wanted.OtherCloud("p\n.json", "http://a\x1b", "http://b\n"),
    of_wanted.TakesMost(LINE, ObjectKind.PROVIDER_TRAITS, "CUSTOM_X", 3, 4),
    of_wanted.NotReviewed("plan\n.json", ("add\x1b", "set\n")),
    traits.LastHolder(
        {"CUSTOM_X": (traits.Requirer("flavor", "f", "trait:CUSTOM_X", "f1"),)}
    ),
    traits.RequirersUnknown(("CUSTOM_X",), BROKE),
    servers.ServersUnknown(("CUSTOM_X",), BROKE),
    servers.ServersNeedTraits(("CUSTOM_X",), (SERVER,), (SERVER,)),
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
    ChangedMeanwhile(Object(ObjectKind.FLAVOR, "1", "f"), {"a": None, "b": "2"}),
    errors.Refusal("ValueError", "no-name-and-count", ("k",), "api", 500),
    checks.zone_refusal("zone-9", {"zone-8": True}),
    *(
        errors.Refusal("E", "group-policy-off", ("affinity", "F"), at)
        for at in STAGES[1:]
    ),
]


def test_all_errors_in_words(golden):
    golden("errors", [f"{type(each).__name__}: {each}" for each in ERRORS + VARIANTS])


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


def test_what_failed_what_nobody_knows_and_what_was_not_done_are_counted(golden):
    def line(*statuses):
        change = Change(Object(ObjectKind.TRAIT, "X", "X"), State({}), {"X": PRESENT})
        return problems.failures([Outcome(change, each) for each in statuses])

    known, unknown = (Status.FAILED, Status.CHANGED), (Status.UNKNOWN, Status.NOT_DONE)
    ends = [line(*known), line(*unknown), line(*known, *unknown)]
    # A command that had nothing left to write does not go on.
    ends += [problems.interrupted(3, 9), problems.interrupted(9, 9)]
    golden("ends-of-commands-that-write", ends)


@pytest.mark.parametrize("stage", STAGES)
def test_what_becomes_of_a_server_that_is_moved_hangs_on_the_move(stage):
    """nova/conductor/manager.py, _cold_migrate leaves it in its state"""
    refusal = errors.Refusal("E", *GROUP_POLICY_OFF, stage)
    of_build, of_move = text(refusal, False), text(refusal, True)
    assert ("goes to ERROR" in of_build) is (stage == "scheduler")
    assert of_move == of_build.replace(", and the server goes to ERROR", "")
