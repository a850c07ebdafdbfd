"""Options that the cloud shows, though nobody gave them."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import (
    assumed_by_evidence,
    of_question,
    with_evidence,
    without_evidence,
)
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.filter.table import with_filters
from osc_traitsched.core.nova.options import SchedulerSettings, Setting, has_filter
from osc_traitsched.core.nova.question import Question
from tests.aggregates import aggregate

PROJECT = "0a" * 16
GOLD = aggregate("gold", trait__CUSTOM_GOLD="required")
ACME = aggregate("acme", filter_tenant_id=PROJECT)
SCOPED = {"aggregate_instance_extra_specs:ssd": "true"}
FLAVOR = {"name": "fast", "vcpus": 1, "ram": 1, "disk": 1, "extra_specs": SCOPED}


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
    found = of_question(Question(FLAVOR, None, (), SchedulerSettings()))
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
