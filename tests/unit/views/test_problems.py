"""Every error has one line of words, whatever the user typed."""

import pytest

from osc_traitsched.core import errors
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
from osc_traitsched.core.nova import building, own
from osc_traitsched.text import Namesake
from osc_traitsched.views import listing
from osc_traitsched.views.explain.words import text

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
    effects.LeavesNoHost((impact.Effect(impact.Asked("f", "i"), EMPTIED, EMPTIED),)),
    EntryError(LINE, errors.NoProvider("cmp1\n")),
    errors.Mistakes((EntryError(LINE, BROKE), EntryError(LINE, BROKE))),
    traits.LastHolder(
        {"CUSTOM_X": (traits.Requirer("flavor", "f", "trait:CUSTOM_X", "f1"),)}
    ),
    effects.ServersNeedTraits(("CUSTOM_X",), (SERVER,), (SERVER,)),
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
    of_build, of_move = text(refusal, False), text(refusal, True)
    assert ("goes to ERROR" in of_build) is (stage == "scheduler")
    assert of_move == of_build.replace(", and the server goes to ERROR", "")
