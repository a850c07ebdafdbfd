"""Options against what the cloud has that needs them."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from tests.unit.core.check.surveys import (
    assumed,
    findings,
    host,
    ids,
    image,
    survey,
)

VIRTIO = "COMPUTE_GRAPHICS_MODEL_VIRTIO"


def test_a_cloud_that_needs_no_option_is_no_finding():
    assert findings(survey([host("a")])) == []


def test_an_option_that_the_release_does_not_have_is_a_note():
    assumptions = dataclasses.replace(
        assumed(), ignored=(("scheduler.image_metadata_prefilter", "nova.conf:3"),)
    )
    (found,) = findings(survey([host("a")], assumptions=assumptions))
    assert (found.rule, found.severity) == ("config-ignored", Severity.NOTE)
    assert found.source == "nova.conf:3"


def with_filters(release, *names):
    setting = Setting(names, "nova.conf:7", given=True)
    return SchedulerSettings(release, {options.ENABLED_FILTERS: setting}, "given")


@pytest.mark.parametrize(
    ("name", "until"),
    [
        ("CoreFilter", 20),
        ("RetryFilter", 22),
        ("AggregateCoreFilter", 22),
    ],
)
def test_a_host_filter_that_the_release_does_not_have_any_more_is_an_error(name, until):
    of = survey([host("a")], assumptions=with_filters(until, "ComputeFilter", name))
    (found,) = findings(of)
    assert (found.rule, found.severity) == ("config-filter-gone", Severity.ERROR)
    assert (found.filter, found.release) == (name, until)
    assert found.setting.source == "nova.conf:7"
    if until > 20:
        before = with_filters(until - 1, "ComputeFilter", name)
        assert ids(dataclasses.replace(of, assumptions=before)) == []


def test_that_of_zones_and_those_of_other_projects_are_not_the_rules_matter():
    assumptions = with_filters(28, "AvailabilityZoneFilter", "BlazarFilter")
    assert ids(survey([host("a")], assumptions=assumptions)) == ["az-filter"]


@pytest.mark.parametrize(
    ("given", "severity"), [(True, Severity.WARNING), (False, Severity.NOTE)]
)
def test_more_hosts_than_placement_is_asked_for_are_found(given, severity):
    assumptions = assumed(given=given, max_placement_results=1)
    (found,) = findings(survey([host("a"), host("b")], assumptions=assumptions))
    assert (found.rule, found.severity) == ("config-max-results", severity)
    assert (found.limit, found.total) == (1, 2)
    assert ids(survey([host("a")], assumptions=assumptions)) == []


def test_aggregates_that_projects_must_have_take_the_other_option():
    required = assumed(placement_aggregate_required_for_tenants=True)
    (found,) = findings(survey([host("a")], assumptions=required))
    assert (found.rule, found.severity) == ("config-project-required", Severity.WARNING)
    both = assumed(
        placement_aggregate_required_for_tenants=True,
        limit_tenants_to_placement_aggregate=True,
    )
    assert ids(survey([host("a")], assumptions=both)) == []


@pytest.mark.parametrize(
    ("given", "severity"), [(True, Severity.ERROR), (False, Severity.WARNING)]
)
def test_devices_of_images_that_not_all_hosts_have_take_the_prefilter(given, severity):
    images = [image("i", hw_video_model="virtio")]
    off = assumed(given=given, image_metadata_prefilter=False)
    of = survey([host("a", VIRTIO), host("b")], images=images, assumptions=off)
    (found,) = findings(of)
    assert (found.rule, found.severity) == ("config-image-metadata-off", severity)
    assert (found.traits, found.images) == ((VIRTIO,), ("i",))
    everywhere = survey([host("a", VIRTIO)], images=images, assumptions=off)
    assert ids(everywhere) == []


def test_a_host_filter_looks_at_the_architecture_too():
    images = [image("i", hw_architecture="aarch64")]
    of = survey([host("a"), host("b", "HW_ARCH_AARCH64")], images=images)
    assert ids(of) == []


def test_a_release_without_the_prefilter_is_not_told_to_use_it():
    images = [image("i", hw_video_model="virtio")]
    hosts = [host("a", VIRTIO), host("b")]
    assert ids(survey(hosts, images=images, assumptions=assumed(20)), "config") == []


def test_one_value_without_a_trait_turns_the_prefilter_off_for_its_image():
    images = [image("i", hw_viommu_model="virtio"), image("j", hw_disk_bus="virtio")]
    on = assumed(image_metadata_prefilter=True)
    hosts = [host("a", "COMPUTE_STORAGE_BUS_VIRTIO")]
    (found,) = findings(survey(hosts, images=images, assumptions=on))
    assert (found.rule, found.severity) == (
        "config-image-metadata-no-trait",
        Severity.WARNING,
    )
    assert (found.name, found.key, found.value) == ("i", "hw_viommu_model", "virtio")
