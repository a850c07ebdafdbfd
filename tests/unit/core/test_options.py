"""The table of Nova's options, and what a release makes of a row."""

import pytest

from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import (
    OPTIONS,
    OptionType,
    SchedulerSettings,
    options_in,
)
from osc_traitsched.core.releases import RELEASES

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
