"""Weighers that are on, and what aggregates say of them."""

from __future__ import annotations

import pytest

from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.check.rules.weighers import Cause
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from tests.unit.core.check.surveys import aggregate, findings, host, ids, survey

AREA = "weighers"
RAM = "nova.scheduler.weights.ram.RAMWeigher"
NUM_INSTANCES = "nova.scheduler.weights.num_instances.NumInstancesWeigher"


def given(*names, release=34):
    setting = Setting(names, "nova.conf:9", given=True)
    return SchedulerSettings(release, {options.WEIGHT_CLASSES: setting})


@pytest.mark.parametrize(
    ("name", "release", "nearest"),
    [
        (NUM_INSTANCES, 27, ()),
        ("nova.scheduler.weights.ram.RamWeigher", 34, (RAM,)),
        ("RAMWeigher", 34, (RAM,)),
    ],
)
def test_a_name_that_can_not_be_loaded_is_an_error(name, release, nearest):
    of = survey([host("a")], assumptions=given(RAM, name, release=release))
    (found,) = findings(of, AREA)
    assert (found.rule, found.severity) == ("weighers-gone", Severity.ERROR)
    assert (found.weigher, found.release) == (name, release)
    assert found.nearest[:1] == nearest or not nearest


@pytest.mark.parametrize(
    "names",
    [
        (RAM, "mine.weighers.Best"),
        (options.ALL_WEIGHERS,),
        (NUM_INSTANCES,),
        (),
    ],
)
def test_what_can_be_loaded_or_may_be_ones_own_is_no_finding(names):
    assert ids(survey([host("a")], assumptions=given(*names))) == []


def with_keys(settings, flavors=(), **metadata):
    aggregates = [aggregate("agg", "a", **metadata)]
    return survey([host("a")], flavors, [], aggregates, assumptions=settings)


def test_a_multiplier_that_is_no_number_is_not_what_counts():
    of = with_keys(SchedulerSettings(), cpu_weight_multiplier="high")
    (found,) = findings(of)
    assert (found.rule, found.severity) == ("weighers-bad-multiplier", Severity.WARNING)
    assert (found.weigher, found.option) == ("CPUWeigher", options.CPU)
    assert found.setting.value == 1.0
    for value in ("2", "-1.5", "1e6"):
        assert ids(with_keys(SchedulerSettings(), cpu_weight_multiplier=value)) == []


@pytest.mark.parametrize(
    ("settings", "key", "cause", "severity"),
    [
        (given(RAM), "cpu_weight_multiplier", Cause.OFF, Severity.WARNING),
        (
            SchedulerSettings(27),
            "num_instances_weight_multiplier",
            Cause.RELEASE,
            Severity.NOTE,
        ),
        (
            SchedulerSettings(34),
            "image_props_weight_multiplier",
            Cause.OPTION,
            Severity.NOTE,
        ),
        (SchedulerSettings(34), "cpu_weigth_multiplier", None, None),
        (
            SchedulerSettings(34),
            "cpus_weight_multiplier",
            Cause.UNKNOWN,
            Severity.NOTE,
        ),
        (given(RAM, "mine.Best"), "best_weight_multiplier", None, None),
        (given(RAM, "mine.Best"), "cpu_weight_multiplier", None, None),
        (given(RAM), "ram_weight_multiplier", None, None),
        (SchedulerSettings(34), "metrics_weight_multiplier", None, None),
    ],
)
def test_a_multiplier_that_no_weigher_reads_has_no_effect(
    settings, key, cause, severity
):
    found = [
        (f.rule, f.cause, f.severity)
        for f in findings(with_keys(settings, **{key: "2"}))
    ]
    assert found == ([("weighers-key-off", cause, severity)] if cause else [])


def test_a_multiplier_that_is_like_another_may_be_meant_so():
    (found,) = findings(with_keys(SchedulerSettings(), cpus_weight_multiplier="2"))
    assert found.nearest == ("cpu_weight_multiplier",)


def test_a_list_that_can_not_be_loaded_is_the_only_finding():
    of = with_keys(given("RAMWeigher"), cpu_weight_multiplier="high")
    assert ids(of, AREA) == ["weighers-gone"]
