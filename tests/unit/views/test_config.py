"""SchedulerSettings as rows, and the comments of a fragment."""

import pytest

from osc_traitsched.core import releases
from osc_traitsched.core.nova import options, switch
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.text import option
from osc_traitsched.views import config

GIVEN = Setting(("A", "AvailabilityZoneFilter"), "nova.conf:3", given=True)


def rows(release=23, settings=None, ignored=(), given=True):
    found = SchedulerSettings(release, settings or {}, "a test", ignored=ignored)
    return {row[0]: row[1:] for row in config.rows(found, given)[1]}


def cautions(*wanted, release=23, settings=None, named=False, replaces=False):
    turned = switch.switched(wanted, SchedulerSettings(release, settings or {}))
    return config.cautions(turned, named, replaces)


@pytest.mark.parametrize("release", releases.RELEASES)
def test_one_row_for_release_and_settings_and_one_for_each_option(release):
    names = [each.name for each in options.options_in(release)]
    assert list(rows(release)) == ["release", "settings", *names]


def test_the_release_is_a_number_to_programs_and_has_its_name_for_people():
    value, source, status = rows(given=False)["release"]
    assert (value.machine_readable(), value.human_readable()) == (23, "23 (wallaby)")
    assert (source, status) == ("a test", "assumed")
    assert rows(given=True)["release"][2] == "given"


def test_values_keep_their_types_for_programs_and_have_novas_words_for_people():
    found = rows(settings={options.ENABLED_FILTERS: GIVEN})
    value, source, status = found[options.ENABLED_FILTERS]
    assert value.machine_readable() == ["A", "AvailabilityZoneFilter"]
    assert value.human_readable() == "A\nAvailabilityZoneFilter"
    assert (source, status) == ("nova.conf:3", "given")
    value, source, status = found[options.ISOLATION]
    assert (value.machine_readable(), value.human_readable()) == (False, "false")
    assert (source, status) == ("the default of wallaby", "assumed")


def test_what_the_release_ignores_comes_last_and_has_no_value():
    ignored = ((options.PCI_IN_PLACEMENT, "nova.conf:7"),)
    found = rows(ignored=ignored)
    value, source, status = found[options.PCI_IN_PLACEMENT]
    assert list(found)[-1] == options.PCI_IN_PLACEMENT
    assert value.machine_readable() is None
    assert (source, status) == ("nova.conf:7", "ignored")


def test_filters_made_from_a_default_that_nobody_confirmed_are_a_caution():
    (line,) = cautions("az")
    assert line.startswith("the filters are the default of wallaby without")
    assert cautions("az", named=True) == []
    assert cautions("az", settings={options.ENABLED_FILTERS: GIVEN}) == []
    assert cautions("isolation") == []


@pytest.mark.parametrize("release", [27, 28])
def test_a_filter_that_may_be_where_nobody_looked_is_a_caution(release):
    (line,) = cautions("az", release=release)
    assert line.startswith("AvailabilityZoneFilter must not be in enabled_filters")
    assert cautions("az", release=release, named=True) == []


def test_a_text_that_is_replaced_is_a_caution():
    (line,) = cautions("isolation", replaces=True)
    assert "--control-plane" in line


@pytest.mark.parametrize("deployment", ["tripleo", "nova-conf", "rhoso"])
def test_comments_are_one_line_each_and_ascii(deployment):
    turned = switch.switched(["isolation", "az"], SchedulerSettings(28))
    found = config.comments(deployment, turned, ["take care"], has_body=True)
    lines = found.splitlines()
    assert lines[0] == "# Turns on isolation, az: Nova 28 (2023.2)"
    assert lines[1] == "# az is always on in this release; no option is needed"
    assert lines[3:] == ["# Caution: take care"]
    assert found.isascii()
    assert all(line.startswith("# ") for line in lines)


def test_nothing_to_set_is_said():
    turned = switch.switched(["az"], SchedulerSettings(28))
    found = config.comments("nova-conf", turned, [], has_body=False)
    assert found.splitlines()[-1] == "# Nothing has to be set."


def test_what_stands_in_no_file_is_named_in_words():
    assert option(options.ISOLATION).startswith("[scheduler]enable_isolated")
    assert option(options.COLLATION) == "database collation"
