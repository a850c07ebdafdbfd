"""What has to be set so that something is on."""

import pytest

from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import (
    OPTIONS,
    Consumer,
    SchedulerSettings,
    Setting,
)

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
