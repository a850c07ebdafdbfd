"""SchedulerSettings as rows, and the comments of a fragment."""

import pytest

from osc_traitsched.config.sources import CONTROL_PLANE, ENVIRONMENTS, NOVA_CONF
from osc_traitsched.core import releases
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import NoEffect, SchedulerSettings, Setting
from osc_traitsched.text import option
from osc_traitsched.views import config
from tests.golden import screens

GIVEN = Setting(("A", "AvailabilityZoneFilter"), "nova.conf:3", given=True)


def rows(release=23, settings=None, ignored=(), given=True):
    found = SchedulerSettings(release, settings or {}, "a test", ignored=ignored)
    return {row[0]: row[1:] for row in config.rows(found, given)[1]}


def cautions(*wanted, release=23, settings=None, named=False, replaces=False):
    turned = options.switch(wanted, SchedulerSettings(release, settings or {}))
    return config.cautions(turned, named, replaces)


@pytest.mark.parametrize("release", releases.RELEASES)
def test_one_row_for_release_and_settings_and_one_for_each_option(release):
    names = [each.name for each in options.options_in(release)]
    assert list(rows(release)) == ["release", "settings", *names]


def test_the_release_is_a_number_to_programs_and_has_its_name_for_people():
    value, source, status = rows(given=False)["release"]
    assert (value.machine_readable(), value.human_readable()) == (
        23,
        "Wallaby (Nova 23)",
    )
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


def test_what_was_not_confirmed_or_looked_at_is_a_caution(golden):
    said = {
        "the default filters": cautions("az"),
        "a filter that may be elsewhere": cautions("az", release=27),
        "a text that is replaced": cautions("isolation", replaces=True),
    }
    golden("config/cautions", [line for found in said.values() for line in found])
    assert [len(found) for found in said.values()] == [1, 1, 1]
    assert cautions("az", release=28) == cautions("az", release=27)


def test_what_is_confirmed_or_does_not_depend_on_filters_is_none():
    for found in (
        cautions("az", named=True),
        cautions("az", release=27, named=True),
        cautions("az", settings={options.ENABLED_FILTERS: GIVEN}),
        cautions("isolation"),
    ):
        assert found == []


def test_comments_are_one_line_each_and_ascii(golden):
    both = options.switch(["isolation", "az"], SchedulerSettings(28))
    nothing = options.switch(["az"], SchedulerSettings(28))
    texts = {
        source.tool: config.comments(source.where, both, ["take care"], has_body=True)
        for source in (ENVIRONMENTS, NOVA_CONF, CONTROL_PLANE)
    }
    texts["nothing to set"] = config.comments("THIS", nothing, [], has_body=False)
    lines = {name: text.splitlines() for name, text in texts.items()}
    golden("config/comments", screens(lines))
    assert all(map(str.isascii, texts.values()))
    assert all(line.startswith("# ") for found in lines.values() for line in found)


def test_what_is_written_is_shown_as_no_terminal_obeys_it(golden):
    golden(
        "config/saved", config.saved("a\nb\x1b.yaml", "baseline: a\x1b\n", False, False)
    )


def test_what_stands_in_no_file_is_named_in_words():
    assert option(options.ISOLATION).startswith("[scheduler]enable_isolated")
    assert option(options.COLLATION) == "database collation"


def test_a_person_sees_what_is_not_the_default_and_what_has_no_effect(golden):
    default = Setting(True, "nova.conf:1", given=True)
    found = SchedulerSettings(
        33,
        {
            options.ENABLED_FILTERS: Setting(
                ("ComputeFilter", "ImagePropertiesFilter", "NUMATopologyFilter"),
                "/etc/kolla/nova-scheduler/nova.conf:3",
                given=True,
            ),
            options.ISOLATION: Setting(True, "nova.conf:9", given=True),
            options.RESTRICT_ISOLATED_HOSTS: default,
        },
        "compute API 2.103",
        ignored=((options.AZ_QUERY, "nova.conf:7"),),
        no_effect=(
            NoEffect("DEFAULT.max_placement_results", "c:3", options.MAX_RESULTS),
        ),
        place="nova.conf",
    )
    short, whole = list(config.lines(found)), list(config.lines(found, is_all=True))
    golden("config/show", short)
    golden("config/show-all", whole)
    assert all(len(line) <= 80 for line in whole)
    assert not any("(--all)" in line for line in whole)
