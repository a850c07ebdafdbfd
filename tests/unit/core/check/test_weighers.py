"""Weighers that are on, and what aggregates say of them."""

from __future__ import annotations

import pytest

from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.nova import weigher_options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from tests.unit.core.check.surveys import findings, host, ids, survey

AREA = "weighers"
RAM = "nova.scheduler.weights.ram.RAMWeigher"
NUM_INSTANCES = "nova.scheduler.weights.num_instances.NumInstancesWeigher"


def given(*names, release=34):
    setting = Setting(names, "nova.conf:9", given=True)
    return SchedulerSettings(release, {weigher_options.WEIGHT_CLASSES: setting})


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
        (weigher_options.ALL_WEIGHERS,),
        (NUM_INSTANCES,),
        (),
    ],
)
def test_what_can_be_loaded_or_may_be_ones_own_is_no_finding(names):
    assert ids(survey([host("a")], assumptions=given(*names))) == []
