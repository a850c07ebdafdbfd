"""Options: defaults by release, values the cloud shows, what other values change."""

from __future__ import annotations

import dataclasses
import datetime

import pytest

from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import BadUsage, Refusal
from osc_traitsched.core.judge.doubts import (
    Alternatives,
    Doubts,
    OptionImpact,
    ReleaseImpact,
    not_refusing,
    switches,
)
from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import (
    Evidence,
    assumed_by_evidence,
    of_question,
    with_evidence,
    without_evidence,
)
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.state import Fails
from osc_traitsched.core.nova.filter.table import FilterAnswers, with_filters
from osc_traitsched.core.nova.options import (
    OPTIONS,
    Consumer,
    Option,
    OptionType,
    SchedulerSettings,
    Setting,
    has_filter,
    options_in,
)
from osc_traitsched.core.nova.question import Move, MoveKind, Question, ServerSpec
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.core.servers.drain import (
    Drain,
    MoveRequest,
    ServerMove,
    Stuck,
    StuckReason,
)
from osc_traitsched.core.servers.failure import (
    Changes,
    Failure,
    ServerAnswer,
    Stage,
    confirmed_by_failure,
)
from osc_traitsched.core.servers.misplaced import of_own_host
from osc_traitsched.core.servers.state import ServerState
from osc_traitsched.views import drain, server_explain
from osc_traitsched.views.explain import document, reasons, words
from osc_traitsched.views.terminal import Tone
from tests.aggregates import aggregate
from tests.cases.reading import Case
from tests.property.building import identity
from tests.schemas import closed
from tests.unit.core import scheduled
from tests.unit.core.filter.asked import REPORT
from tests.unit.core.test_explanation import explained

# The table of Nova's options, and what a release makes of a row.


TYPES = {
    OptionType.BOOLEAN: bool,
    OptionType.INTEGER: int,
    OptionType.FLOAT: float,
    OptionType.STRING: str,
    OptionType.LIST: tuple,
    OptionType.MULTI: tuple,
}


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_in_every_release_the_default_of_an_option_is_of_its_kind(option):
    releases = [release for release in RELEASES if option.is_in(release)]
    defaults = [option.default_in(release) for release in releases]
    assert {type(each) for each in defaults} <= {TYPES[option.kind], type(None)}
    assert releases


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_a_row_says_nothing_of_releases_that_do_not_have_the_option(option):
    changes = [release for release, _ in option.changed_defaults]
    assert changes == sorted(changes)
    assert all(option.is_in(release) for release in changes)
    assert all(until > option.since for _, until in option.deprecated_names)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        (options.AZ_QUERY, 20, 27),
        (options.IMAGE_METADATA, 21, 34),
        (options.ROUTED_NETWORKS, 23, 34),
        (options.PCI_IN_PLACEMENT, 27, 34),
        (options.DEFAULT_ZONE, 20, 34),
    ],
)
def test_a_release_has_the_options_that_came_and_did_not_go(name, first, last):
    having = [r for r in RELEASES if OPTIONS[name] in options_in(r)]
    assert having == list(range(first, last + 1))


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (options.AZ_QUERY, False, True),
        (
            options.ENABLED_FILTERS,
            (
                "AvailabilityZoneFilter",
                "ComputeFilter",
                "ComputeCapabilitiesFilter",
                "ImagePropertiesFilter",
                "ServerGroupAntiAffinityFilter",
                "ServerGroupAffinityFilter",
            ),
            (
                "ComputeFilter",
                "ComputeCapabilitiesFilter",
                "ImagePropertiesFilter",
                "ServerGroupAntiAffinityFilter",
                "ServerGroupAffinityFilter",
            ),
        ),
    ],
)
def test_xena_looks_for_zones_in_placement_and_no_longer_in_a_filter(
    name, before, after
):
    defaults = [SchedulerSettings(release).value(name) for release in range(20, 28)]
    assert defaults == [before] * 4 + [after] * 4


def test_xena_does_not_read_the_old_name_of_the_filters():
    option = OPTIONS[options.ENABLED_FILTERS]
    assert option.names_in(23) == (option.name, "DEFAULT.scheduler_default_filters")
    assert option.names_in(24) == (option.name,)


# What has to be set so that something is on.


HOST_FILTERS = (
    "ComputeFilter",
    "ComputeCapabilitiesFilter",
    "ImagePropertiesFilter",
    "ServerGroupAntiAffinityFilter",
    "ServerGroupAffinityFilter",
)


def values(*wanted, release=23, filters=None):
    settings = {}
    if filters is not None:
        settings[options.ENABLED_FILTERS] = Setting(filters, "a test", given=True)
    return options.switch(wanted, SchedulerSettings(release, settings)).values


def test_every_switch_of_nova_that_adds_clauses_can_be_asked_for():
    switches = {o.name for o in OPTIONS.values() if o.consumer is Consumer.PREFILTER}
    asked_for = {name for names in options.switches().values() for name in names}
    assert switches == asked_for


def test_what_is_on_already_is_set_all_the_same():
    on = {options.ISOLATION: Setting(True, "a test", given=True)}
    turned = options.switch(["isolation"], SchedulerSettings(27, on))
    assert turned.values == {options.ISOLATION: True}


def test_an_aggregate_is_only_required_of_tenants_that_are_limited():
    assert values("projects") == {options.TENANT: True}
    assert values("projects-required") == {
        options.TENANT: True,
        options.TENANT_REQUIRED: True,
    }


@pytest.mark.parametrize("release", [20, 23])
def test_zones_in_placement_take_the_filter_out_of_the_default(release):
    assert values("az", release=release) == {
        options.AZ_QUERY: True,
        options.ENABLED_FILTERS: HOST_FILTERS,
    }


@pytest.mark.parametrize("release", [24, 27])
def test_a_default_without_the_filter_is_not_set(release):
    assert values("az", release=release) == {options.AZ_QUERY: True}


def test_filters_of_ones_own_stay_in_their_order():
    found = values("az", release=27, filters=("B", "AvailabilityZoneFilter", "A"))
    assert found[options.ENABLED_FILTERS] == ("B", "A")


@pytest.mark.parametrize("release", [20, 27])
def test_whoever_does_not_ask_for_zones_keeps_the_filter(release):
    found = values("isolation", release=release, filters=("AvailabilityZoneFilter",))
    assert found == {options.ISOLATION: True}


@pytest.mark.parametrize("wanted", ["az", "isolation"])
@pytest.mark.parametrize("release", [28, 34])
def test_a_scheduler_that_would_not_start_with_the_filter_loses_it(release, wanted):
    found = values(wanted, release=release, filters=("AvailabilityZoneFilter", "A"))
    assert found.pop(options.ENABLED_FILTERS) == ("A",)
    assert found == ({} if wanted == "az" else {options.ISOLATION: True})


def test_zones_that_are_always_on_need_nothing():
    assert values("az", release=28) == {}


@pytest.mark.parametrize(
    ("wanted", "release", "told"),
    [
        (
            "image-metadata",
            20,
            "Train (Nova 20) has no [scheduler]image_metadata_prefilter",
        ),
        (
            "routed-networks",
            22,
            "Victoria (Nova 22) has no "
            "[scheduler]query_placement_for_routed_network_aggregates",
        ),
    ],
)
def test_what_a_release_does_not_have_is_refused(wanted, release, told):
    with pytest.raises(BadUsage) as caught:
        values("isolation", wanted, release=release)
    assert str(caught.value) == f"{wanted}: {told}"
    assert values(wanted, release=release + 1)


def test_a_name_counts_once():
    found = options.switch(
        ["isolation", "projects", "isolation"], SchedulerSettings(27)
    )
    assert found.wanted == ("isolation", "projects")


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("tenant", "projects"),
        ("tenant-required", "projects-required"),
        ("isolation", "isolation"),
        ("unknown", "unknown"),
    ],
)
def test_the_options_own_word_for_projects_is_known(alias, name):
    assert options.switch_name(alias) == name
    assert (name in options.switches()) is (name != "unknown")


# The options that are tried otherwise, since they may change the verdict.


FLAVOR = {"name": "f", "vcpus": 1, "ram": 1, "disk": 1, "extra_specs": {}}
ON_OR_OFF = {
    options.ISOLATION,
    options.TENANT,
    options.TENANT_REQUIRED,
    options.AZ_QUERY,
    options.IMAGE_TYPE,
    options.IMAGE_METADATA,
    options.ROUTED_NETWORKS,
    options.PCI_IN_PLACEMENT,
    options.NO_PCPU_FALLBACK,
}


def otherwise(release=27, **settings):
    """Return the value that each option gets which is tried."""
    assumed = SchedulerSettings(release, settings)
    tried = switches(Question(FLAVOR, None, (), assumed))
    return {name: other.assumptions.value(name) for name, other in tried}


def test_what_is_on_or_off_is_tried_the_other_way():
    found = otherwise(**{options.TENANT: Setting(True, "a test")})
    assert set(found) >= ON_OR_OFF
    assert {name for name in ON_OR_OFF if found[name] is False} == {
        options.TENANT,
        options.AZ_QUERY,
    }


def test_a_default_zone_is_tried_without():
    found = otherwise(**{options.DEFAULT_ZONE: Setting("az1", "a test")})
    assert found[options.DEFAULT_ZONE] is None


def test_an_option_that_the_release_does_not_have_is_not_tried():
    assert ON_OR_OFF - set(otherwise(20)) == {
        options.IMAGE_METADATA,
        options.ROUTED_NETWORKS,
        options.PCI_IN_PLACEMENT,
    }


@pytest.mark.parametrize(
    ("consumer", "is_tried"),
    [
        (Consumer.API, True),
        (Consumer.PREFILTER, True),
        (Consumer.SCHEDULER, True),
        (Consumer.FILTER, False),
        (Consumer.WEIGHER, False),
    ],
)
def test_what_is_read_after_placement_answered_is_not_tried(
    monkeypatch, consumer, is_tried
):
    option = Option("metrics.required", OptionType.BOOLEAN, True, consumer)
    monkeypatch.setitem(OPTIONS, option.name, option)
    assert (option.name in otherwise()) is is_tried


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("case-insensitive", "case-sensitive"),
        ("case-sensitive", "case-insensitive"),
    ],
)
def test_the_database_is_tried_the_other_way(value, other):
    found = otherwise(**{options.COLLATION: Setting(value, "a test")})
    assert found[options.COLLATION] == other


@pytest.mark.parametrize(
    ("value", "matters"), [("Required", True), ("required", False)]
)
def test_the_database_matters_only_for_metadata_in_other_letters(value, matters):
    gold = aggregate("a", trait__CUSTOM_GOLD=value)
    assumed = SchedulerSettings.of(enable_isolated_aggregate_filtering=True)
    question = Question(
        FLAVOR, None, (gold,), assumed, ServerSpec(boot_from_volume=True)
    )
    tried = Alternatives.of(question, question.request()).variations
    assert (options.COLLATION in {each.name for each in tried}) is matters


TPM = ["COMPUTE_SECURITY_TPM_2_0"]
NEW_TPM = [*TPM, "COMPUTE_SECURITY_TPM_TIS"]


def varied(asked, body, nodes=None):
    """Return the judgement with what each option and each release would change."""
    tried = Alternatives.of(asked, asked.request())
    return scheduled.judgement_of(asked, body, (), nodes, tried)


def of_either_release(release, other, specs, cloud):
    """Return what one release would change, of those that it can be."""
    body = {"cloud": cloud, "flavor": specs}
    case = Case({"name": "made up", **body})
    assumed = SchedulerSettings(release, others=(SchedulerSettings(other),))
    asked = dataclasses.replace(case.question, assumptions=assumed)
    return varied(asked, body).doubts.releases


NONE = frozenset()


def test_a_release_that_it_may_be_as_well_is_told_if_other_hosts_match():
    cloud = {"old": {"traits": TPM}, "new": {"traits": NEW_TPM}}
    specs = {"hw:tpm_version": "2.0"}
    old = frozenset({identity("old")})
    gaining = ReleaseImpact(old, NONE, rejected=False, release=29)
    losing = ReleaseImpact(NONE, old, rejected=False, release=30)
    assert of_either_release(30, 29, specs, cloud) == (gaining,)
    assert of_either_release(29, 30, specs, cloud) == (losing,)
    assert of_either_release(30, 29, {}, cloud) == ()


def test_where_nova_refuses_the_releases_are_told_that_would_not():
    # The policy is new in 22.
    specs = {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "0"}
    flavor = {**FLAVOR, "vcpus": 2, "extra_specs": specs}
    assumed = SchedulerSettings(21, others=(SchedulerSettings(22),))
    question = Question(flavor, None, (), assumed)
    with pytest.raises(Refusal):
        question.request()
    accepting = ReleaseImpact(NONE, NONE, rejected=False, release=22)
    assert not_refusing(question) == (accepting,)
    refusing = dataclasses.replace(assumed, others=(SchedulerSettings(20),))
    assert not_refusing(dataclasses.replace(question, assumptions=refusing)) == ()


@pytest.mark.parametrize("release", [23, 27])
def test_without_a_default_zone_its_filter_passes_all_hosts(release):
    body = {
        "cloud": {"a": {"aggregates": ["one"]}, "b": {}},
        "aggregates": {
            "one": {"hosts": ["a"], "metadata": {"availability_zone": "az1"}}
        },
    }
    asked = scheduled.question(body, "AvailabilityZoneFilter", release=release)
    zone = {options.DEFAULT_ZONE: Setting("az1", "a test")}
    settings = {**asked.assumptions.settings, **zone}
    assumed = dataclasses.replace(asked.assumptions, settings=settings)
    asked = dataclasses.replace(asked, assumptions=assumed)
    (impact,) = (
        each
        for each in varied(asked, body).doubts.options
        if each.name == options.DEFAULT_ZONE
    )
    assert (impact.gained, impact.lost, impact.rejected) == (1, 0, False)


def test_where_a_filter_of_another_release_raises_it_takes_no_host():
    body = {"cloud": {"a": {}}, "image": {"hw_architecture": "x86_64"}}
    wanted = {"img_hv_requested_version": ">=1.0"}
    report = dataclasses.replace(REPORT, hypervisor_version=7)
    nodes = scheduled.computes(body, a={"report": report})
    assumed = scheduled.question(body, "ImagePropertiesFilter", release=31)
    old = dataclasses.replace(assumed.assumptions, release=30)
    settings = dataclasses.replace(assumed.assumptions, others=(old,))
    asked = dataclasses.replace(assumed, assumptions=settings).with_image(wanted)
    refusing = ReleaseImpact(NONE, frozenset(nodes), rejected=True, release=30)
    found = varied(asked, body, nodes)
    assert found.verdict.rejections == {}
    assert found.doubts.releases == (refusing,)


@pytest.mark.parametrize("of_moves", [True, False])
def test_a_move_is_asked_as_the_service_that_decides_on_moves(of_moves):
    name = options.PCI_IN_PLACEMENT
    boots, moves = Setting(not of_moves, "api:1"), Setting(of_moves, "conductor:1")
    settings = SchedulerSettings(34, {name: boots}, of_moves={name: moves})
    boot = Question(FLAVOR, None, (), settings)
    assert boot.server.pci_in_placement is not of_moves
    move = dataclasses.replace(boot, move=Move(MoveKind.MIGRATION, "s"))
    assert move.server.pci_in_placement is of_moves


# Options that the cloud shows, though nobody gave them.


PROJECT = "0a" * 16
GOLD = aggregate("gold", trait__CUSTOM_GOLD="required")
ACME = aggregate("acme", filter_tenant_id=PROJECT)
SCOPED = {"aggregate_instance_extra_specs:ssd": "true"}
EVIDENCE_FLAVOR = {
    "name": "fast",
    "vcpus": 1,
    "ram": 1,
    "disk": 1,
    "extra_specs": SCOPED,
}


def given(name, value):
    return SchedulerSettings(settings={name: Setting(value, "nova.conf:2", True)})


def test_an_isolated_aggregate_shows_that_aggregates_are_isolated():
    found = with_evidence(SchedulerSettings(), [ACME, GOLD]).setting(options.ISOLATION)
    assert (found.value, found.given) == (True, False)
    assert found.source == "aggregate gold has trait:CUSTOM_GOLD=required"


@pytest.mark.parametrize("metadata", [{}, {"trait:CUSTOM_GOLD": "forbidden"}])
def test_other_metadata_shows_nothing(metadata):
    found = with_evidence(SchedulerSettings(), [aggregate("a", **metadata)])
    assert assumed_by_evidence(found) == ()


def test_an_aggregate_of_a_project_shows_both_ways_to_keep_it_for_the_project():
    found = with_evidence(SchedulerSettings(), [ACME])
    assert found.value(options.TENANT)
    assert not found.value(options.TENANT_REQUIRED)
    assert has_filter(found, special.PROJECT)
    assert PROJECT not in found.setting(options.TENANT).source


@pytest.mark.parametrize(
    ("name", "value"), [(options.ISOLATION, False), (options.ENABLED_FILTERS, ("A",))]
)
def test_what_is_given_stays(name, value):
    known = given(name, value)
    found = with_evidence(known, [GOLD, ACME], "fast", SCOPED)
    assert found.setting(name) == known.setting(name)


def test_a_file_without_an_option_has_its_default():
    whole = SchedulerSettings(files=("nova.conf",))
    assert assumed_by_evidence(with_evidence(whole, [ACME, GOLD], "f", SCOPED)) == ()
    assert whole.is_known(options.TENANT_REQUIRED)
    assert not whole.is_known(options.COLLATION)


def test_a_filter_that_is_disabled_by_hand_stays_so():
    by_hand = with_filters(SchedulerSettings(), [("ComputeFilter", False)])
    assert not has_filter(with_evidence(by_hand, [ACME]), special.PROJECT)


def test_a_flavor_with_a_scoped_key_shows_the_filter_that_reads_it():
    found = of_question(Question(EVIDENCE_FLAVOR, None, (), SchedulerSettings()))
    filters = found.assumptions.setting(options.ENABLED_FILTERS)
    assert special.EXTRA_SPECS in filters.value
    assert f"flavor fast has {next(iter(SCOPED))}" in filters.source


def test_evidence_is_taken_once_and_back():
    known = with_filters(SchedulerSettings(), [("IoOpsFilter", True)])
    once = with_evidence(known, [GOLD, ACME])
    assert with_evidence(once, [GOLD, ACME]) == once
    assert without_evidence(once) == known


def test_settings_without_set_and_of_other_releases_have_the_evidence_too():
    known = SchedulerSettings(33)
    both = dataclasses.replace(known, without_set=known, others=(known,))
    found = with_evidence(both, [GOLD])
    assert all(
        each.value(options.ISOLATION) for each in (found.without_set, *found.others)
    )


# Answers that hang on options that nobody gave.


ASSUMED = Setting(True, "aggregate gold has trait:CUSTOM_GOLD=required")
DEFAULT = Setting(False, "the default of 2026.2")
NOTHING = Changes()
SSD = "aggregate_instance_extra_specs:ssd"
UNSURE, NO, YES = ExitCode.UNKNOWN, ExitCode.NO_HOST, ExitCode.DONE


def found(candidates, *impacts):
    """Return what is found of three hosts.

    :param impacts: the setting, the gained hosts, and the lost hosts
    """
    full = {"inventories": {}}
    cloud = {name: {} if name in candidates else full for name in "abc"}
    made = explained({"cloud": cloud}, candidates)
    names = (options.ISOLATION, options.IMAGE_TYPE, options.IMAGE_METADATA)
    changing = (
        OptionImpact(
            uuids(gained), uuids(lost), False, name, setting, not setting.value
        )
        for name, (setting, gained, lost) in zip(names, impacts)
    )
    return dataclasses.replace(made, doubts=Doubts(tuple(changing)))


def uuids(names):
    return frozenset(map(identity, names))


GIVEN = Setting(False, "nova.conf:3", given=True)
CASES = {
    "a host for either value": (("ab", (DEFAULT, "", "a")), False, YES),
    "other hosts for the other value": (("a", (DEFAULT, "b", "a")), False, YES),
    "no host for the other value": (("ab", (DEFAULT, "", "ab")), True, UNSURE),
    "a host for the other value": (("", (ASSUMED, "a", "")), True, UNSURE),
    "each loses one": (("ab", (DEFAULT, "", "a"), (DEFAULT, "", "b")), True, UNSURE),
    "no host for any value": ((("",)), False, NO),
    "given": (("ab", (GIVEN, "", "ab")), False, YES),
}


@pytest.mark.parametrize("name", CASES)
def test_the_answer_depends_if_another_value_turns_it(name):
    arguments, is_unsure, code = CASES[name]
    answer = found(*arguments)
    assert (answer.open.depends, exit_code(answer)) == (is_unsure, code)
    whole = document.document(Explanation(answer))
    closed("explain").validate(whole)
    assert (whole["depends"], whole["verdict"] == "unknown") == (is_unsure, is_unsure)


def test_candidates_that_no_single_option_takes_away_are_sure():
    answer = found("abc", (DEFAULT, "", "a"), (DEFAULT, "", "b"))
    assert [host.name for host in answer.sure_candidates] == ["c"]


EVIDENCE = Evidence(True, "metadata")
NEEDS_BOTH = "isolation, project isolation"


@pytest.mark.parametrize(
    ("candidates", "impacts", "is_unsure"),
    [("", (), True), ("a", (), False), ("", ((ASSUMED, "a", ""),), True)],
)
def test_two_pieces_of_evidence_may_decide_only_together(
    candidates, impacts, is_unsure
):
    answer = found(candidates, *impacts)
    settings = dict.fromkeys((options.ISOLATION, options.TENANT), EVIDENCE)
    question = dataclasses.replace(
        answer.question, assumptions=SchedulerSettings(settings=settings)
    )
    doubts = dataclasses.replace(answer.doubts, without_evidence=uuids("ab"))
    answer = dataclasses.replace(answer, question=question, doubts=doubts)
    assert answer.open.depends is is_unsure
    joint = [each for each in answer.open.dependences if each.more]
    assert bool(joint) is not bool(impacts)
    if is_unsure and joint:
        assert words.verdict(answer) == (
            f"Depends on nova.conf: 2 of 3 hosts if {NEEDS_BOTH} are off, 0 of 3 if "
            "they are on."
        )


def test_the_verdict_has_the_hosts_for_both_values_and_the_evidence():
    answer = found("", (ASSUMED, "ab", ""))
    assert words.verdict(answer) == (
        "Depends on nova.conf: 2 of 3 hosts if isolation is off, 0 of 3 if it is on."
    )
    assert [line.text for line in reasons.deciding_lines(answer)] == [
        "Unknown options: counted as if isolation is on (aggregate gold has "
        "trait:CUSTOM_GOLD=required)."
    ]


def test_of_many_servers_the_verdict_has_the_room():
    answer = found("a", (ASSUMED, "bc", ""))
    answer = dataclasses.replace(answer, question=answer.question.with_spec(count=90))
    assert (answer.open.depends, exit_code(answer)) == (True, UNSURE)
    room = answer.room.most
    assert 0 < room < 90
    assert words.verdict(answer) == (
        f"Depends on nova.conf: room for {room} of 90 if isolation is on; 3 of 3 hosts "
        "can take one if not."
    )


def test_a_yes_with_other_numbers_has_one_line():
    answer = found("abc", *((DEFAULT, "", lost) for lost in "abb"))
    assert words.verdict(answer) == "3 of 3 hosts can take it."
    assert [line.text for line in reasons.deciding_lines(answer)] == [
        "Depends on nova.conf: 2 of 3 hosts if isolation is on; "
        "2 of 3 hosts if the image type check is on; and 1 more option (--long)."
    ]


def server(changes, stage):
    """Return a server whose build failed."""
    return ServerAnswer(
        ServerState("id", "db-5", "ERROR", "project"),
        79,
        (),
        failure=Failure(stage, "create"),
        changes=changes,
    )


def failed(changes=NOTHING, stage=Stage.NO_CANDIDATES, evidence=True):
    """Return the answer on a server that failed, with isolation by evidence."""
    isolation = Evidence(True, "metadata") if evidence else Setting(True, "a default")
    answer = found("", (isolation, "a", ""))
    assumed = SchedulerSettings(settings={options.ISOLATION: isolation})
    question = dataclasses.replace(answer.question, assumptions=assumed)
    answer = dataclasses.replace(answer, question=question)
    return confirmed(server(changes, stage), answer)


def confirmed(failed, answer):
    return confirmed_by_failure(failed, Explanation(answer)).judgement


@pytest.mark.parametrize("stage", [Stage.NO_CANDIDATES, Stage.NO_HOST_LEFT])
def test_a_failure_since_which_nothing_changed_confirms_the_evidence(stage):
    answer = failed(stage=stage)
    assert exit_code(answer) is NO
    assert [line.text for line in reasons.deciding_lines(answer)] == [
        "Taken as known: isolation is on (server db-5 failed, which shows it)."
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"changes": None},
        {"changes": Changes(deleted=("a",))},
        {"changes": Changes(unread=("servers",))},
        {"stage": Stage.COMPUTE},
        {"evidence": False},
    ],
)
def test_another_failure_confirms_nothing(more):
    assert exit_code(failed(**more)) is UNSURE


def test_of_several_servers_filters_may_have_left_a_host_for_some():
    answer = failed(evidence=True, changes=None)
    for stage, code in (Stage.NO_CANDIDATES, NO), (Stage.NO_HOST_LEFT, UNSURE):
        several = dataclasses.replace(server(NOTHING, stage), together=2)
        assert exit_code(confirmed(several, answer)) is code


@pytest.mark.parametrize("stage", [Stage.NO_CANDIDATES, Stage.NO_HOST_LEFT])
def test_servers_that_took_room_since_do_not_matter(stage):
    changes = Changes(made=("a",), went_down=("b",))
    assert exit_code(failed(changes=changes, stage=stage)) is NO


@pytest.mark.parametrize(
    ("stage", "changes", "code"),
    [
        (Stage.NO_HOST_LEFT, NOTHING, NO),
        (Stage.NO_CANDIDATES, NOTHING, UNSURE),
        (Stage.NO_HOST_LEFT, Changes(made=("a",)), NO),
        (Stage.NO_HOST_LEFT, Changes(deleted=("a",)), UNSURE),
    ],
    ids=["explained", "Placement had none", "others made", "room was made"],
)
def test_a_failure_confirms_the_filter_that_alone_explains_it(stage, changes, code):
    answer = found("abc")
    fails = {host.uuid: Fails("ssd") for host in answer.hosts}
    settings = with_evidence(SchedulerSettings(), (), "fast", {SSD: "true"})
    answer = dataclasses.replace(
        answer,
        question=dataclasses.replace(answer.question, assumptions=settings),
        filtering=Filtering(
            FilterAnswers((special.EXTRA_SPECS,), {special.EXTRA_SPECS: fails})
        ),
    )
    assert exit_code(answer) is UNSURE
    answer = confirmed(server(changes, stage), answer)
    assert exit_code(answer) is code
    assert [line.text for line in reasons.deciding_lines(answer)][-1:] == (
        [
            "Taken as known: AggregateInstanceExtraSpecsFilter is enabled (server db-5 "
            "failed, which shows it)."
        ]
        if code is NO
        else [
            "Unknown options: counted as if AggregateInstanceExtraSpecsFilter is "
            "enabled (flavor fast has aggregate_instance_extra_specs:ssd)."
        ]
    )


def test_evidence_is_one_line_and_each_piece_is_named_once():
    aggregates = [
        aggregate("gold", trait__CUSTOM_GOLD="required"),
        aggregate("acme", filter_tenant_id="0a" * 16),
    ]
    assert [*reasons.assumed(SchedulerSettings())] == []
    settings = with_evidence(SchedulerSettings(), aggregates)
    assert [*reasons.assumed(settings)] == [
        "Unknown options: counted as if project isolation and isolation are on; run "
        "config doctor."
    ]
    more = {special.EXTRA_SPECS: True, options.ISOLATION: True}
    more[options.IMAGE_TYPE] = False
    assert [*reasons.assumed(settings, more)] == [
        "Unknown options: counted as if project isolation and isolation and extra "
        "specs filter are on, and the image type check is off; run config doctor."
    ]
    assert [*reasons.assumed(SchedulerSettings(), {special.NUMA_TOPOLOGY: False})] == [
        "Unknown options: counted as if NUMATopologyFilter is disabled."
    ]


def test_a_server_that_runs_is_evidence_against_an_option_by_evidence():
    body = {
        "cloud": {"a": {"aggregates": ["gold"]}, "b": {}},
        "aggregates": {
            "gold": {"hosts": ["a"], "metadata": {"trait:CUSTOM_GOLD": "required"}}
        },
        "options": {"enable_isolated_aggregate_filtering": True},
    }
    sure = explained(body, ["b"])
    settings = with_evidence(SchedulerSettings(), sure.question.aggregates)
    question = dataclasses.replace(sure.question, assumptions=settings)
    unsure = dataclasses.replace(sure, question=question)
    certain, doubtful = of_own_host(sure, "a"), of_own_host(unsure, "a")
    assert (certain.can, doubtful.can) == (Answer.NO, Answer.UNKNOWN)
    assert certain.conditions == doubtful.conditions != ()
    state = ServerState("id", "web", "ACTIVE", "project", "a", "a")
    now = datetime.datetime.now(datetime.timezone.utc)
    answer = ServerAnswer(state, 79, (), explanation=Explanation(unsure))
    seen = server_explain.Seen(answer, now)
    line = list(server_explain.lines(seen, everything=False))[1]
    assert line.tone is Tone.DOUBT
    assert line.text == "Depends on nova.conf: a is in the isolated aggregate gold."


def test_a_drain_that_an_option_decides_is_unknown():
    """Unless another server stays whatever the option is."""
    answer = found("", (ASSUMED, "a", ""))
    state = ServerState("id", "web", "ACTIVE", "project", "cmp00", "cmp00")
    request = MoveRequest(answer.question, {}, judgement=answer)
    move = ServerMove(
        state, MoveKind.LIVE_MIGRATION, answer.question, move_request=request
    )
    stuck = Stuck(move, StuckReason.NO_HOST)
    unsure = Drain(("cmp00",), (), 100, SchedulerSettings(), stuck=(stuck,))
    assert unsure.dependent == (stuck,)
    first, *_, last = drain.lines(unsure)
    assert (first.text, first.tone) == (
        "web perhaps can't move off cmp00.",
        Tone.DOUBT,
    )
    assert last.text == (
        "  web: depends on nova.conf: 1 of 3 hosts if isolation is off, 0 of 3 if it "
        "is on."
    )
    full = Stuck(move, StuckReason.NO_ROOM)
    both = dataclasses.replace(unsure, stuck=(stuck, full))
    first = next(drain.lines(both))
    assert (first.text, first.tone) == (
        "None of 2 servers can move off cmp00 (1 can if isolation is off).",
        Tone.NO,
    )
    sure = dataclasses.replace(unsure, stuck=(full,))
    assert not sure.dependent
    assert next(drain.lines(sure)).tone is Tone.NO
