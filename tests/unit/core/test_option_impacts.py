"""The options that are tried otherwise, since they may change the verdict."""

import dataclasses

import pytest

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.judge.doubts import (
    Alternatives,
    ReleaseImpact,
    not_refusing,
    switches,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import (
    OPTIONS,
    Consumer,
    Option,
    OptionType,
    SchedulerSettings,
    Setting,
)
from osc_traitsched.core.nova.question import Move, MoveKind, Question, ServerSpec
from tests.aggregates import aggregate
from tests.cases.reading import Case
from tests.property.building import identity
from tests.unit.core import scheduled
from tests.unit.core.filter.asked import REPORT

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
