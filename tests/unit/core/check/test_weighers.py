"""Weighers that are on, and what aggregates say of them."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.views import check
from tests.unit.core.check.surveys import aggregate, findings, host, ids, survey

RAM = "nova.scheduler.weights.ram.RAMWeigher"
NUM_INSTANCES = "nova.scheduler.weights.num_instances.NumInstancesWeigher"


def given(*names, release=34):
    setting = Setting(names, "nova.conf:9", given=True)
    return SchedulerSettings(release, {options.WEIGHT_CLASSES: setting})


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


@pytest.mark.parametrize(
    ("settings", "key", "severity", "why"),
    [
        (
            given(RAM),
            "cpu_weight_multiplier",
            "warning",
            "CPUWeigher is not on (nova.conf:9)",
        ),
        (
            SchedulerSettings(27),
            "num_instances_weight_multiplier",
            "note",
            "Nova 27 (2023.1) has no NumInstancesWeigher",
        ),
        (
            SchedulerSettings(34),
            "image_props_weight_multiplier",
            "note",
            "ImagePropertiesWeigher weighs nothing while "
            "[filter_scheduler]image_props_weight_multiplier is 0 (the default of "
            "2026.2)",
        ),
        (
            SchedulerSettings(34),
            "cpus_weight_multiplier",
            "note",
            "no weigher has such a multiplier; did you mean cpu_weight_multiplier?",
        ),
    ],
)
def test_a_multiplier_that_no_weigher_reads_has_no_effect(settings, key, severity, why):
    assert check.rows(findings(with_keys(settings, **{key: "2"})))[1] == [
        (
            "weighers-key-off",
            severity,
            "aggregate agg",
            f"{key}=2 has no effect: {why}",
            f"openstack aggregate unset --property {key} agg",
        )
    ]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (SchedulerSettings(34), "cpu_weigth_multiplier"),
        (given(RAM, "mine.Best"), "best_weight_multiplier"),
        (given(RAM, "mine.Best"), "cpu_weight_multiplier"),
        (given(RAM), "ram_weight_multiplier"),
        (SchedulerSettings(34), "metrics_weight_multiplier"),
        # nova-scheduler does not start with this list, and says so.
        (given("RAMWeigher"), "cpu_weight_multiplier"),
    ],
)
def test_a_multiplier_that_is_read_or_may_be_is_no_finding(settings, key):
    rules = {each.rule for each in findings(with_keys(settings, **{key: "2"}))}
    assert not rules - {"config-weigher-unknown"}
