"""Weighers that are on, and what aggregates say of them."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from tests.unit.core.check.surveys import assert_told, survey

RAM = "nova.scheduler.weights.ram.RAMWeigher"
NUM_INSTANCES = "nova.scheduler.weights.num_instances.NumInstancesWeigher"


def given(*names, release=34):
    setting = Setting(names, "nova.conf:9", given=True)
    return SchedulerSettings(release, {options.WEIGHT_CLASSES: setting})


def of(key, *names, release=34):
    settings = given(*names, release=release) if names else SchedulerSettings(release)
    return survey("a", aggregates=f"agg a {key}=2", assumptions=settings)


FAULTS = {
    f"{severity} weighers-key-off aggregate agg: {key}=2 has no effect: {why} -> "
    "openstack "
    f"aggregate unset --property {key} agg": of(key, *names, release=release)
    for key, severity, release, names, why in [
        (
            "cpu_weight_multiplier",
            "warning",
            34,
            [RAM],
            "CPUWeigher is not on (nova.conf:9)",
        ),
        (
            "num_instances_weight_multiplier",
            "note",
            27,
            [],
            "2023.1 (Nova 27) has no NumInstancesWeigher",
        ),
        (
            "image_props_weight_multiplier",
            "note",
            34,
            [],
            "ImagePropertiesWeigher weighs nothing while "
            "[filter_scheduler]image_props_weight_multiplier is 0 (the default of "
            "2026.2)",
        ),
        (
            "cpus_weight_multiplier",
            "note",
            34,
            [],
            "no weigher has such a multiplier; did you mean cpu_weight_multiplier?",
        ),
    ]
}


@pytest.mark.parametrize(("text", "surveys"), FAULTS.items())
def test_a_multiplier_that_no_weigher_reads_has_no_effect(text, surveys):
    assert_told(text, surveys)


HEALTHY = [
    *(
        survey("a", assumptions=given(*names))
        for names in (
            (RAM, "mine.weighers.Best"),
            (options.ALL_WEIGHERS,),
            (NUM_INSTANCES,),
            (),
        )
    ),
    of("cpu_weigth_multiplier"),
    of("best_weight_multiplier", RAM, "mine.Best"),
    of("cpu_weight_multiplier", RAM, "mine.Best"),
    of("ram_weight_multiplier", RAM),
    of("metrics_weight_multiplier"),
    # nova-scheduler does not start with this list, which is another rule's matter.
    (of("cpu_weight_multiplier", "RAMWeigher"), "weighers"),
]


@pytest.mark.parametrize("surveys", HEALTHY)
def test_a_multiplier_or_a_weigher_that_may_have_an_effect_is_no_finding(surveys):
    assert_told("", surveys)
