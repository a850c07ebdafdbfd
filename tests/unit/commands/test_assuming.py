"""The options that say how the scheduler is configured."""

import argparse

import pytest

from osc_traitsched.commands import arguments
from osc_traitsched.config.sources import resolve
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.trait import Collation
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import SchedulerSettings


def parse(*argv):
    parser = argparse.ArgumentParser()
    arguments.add_scheduler_options(parser)
    return parser.parse_args(argv)


def assume(*argv, maximum=None):
    return resolve(arguments.named(parse(*argv)), maximum)


def test_without_any_option_the_newest_release_is_assumed():
    assert assume() == SchedulerSettings()


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("train", 20),
        ("Wallaby", 23),
        ("23", 23),
        ("2023.1", 27),
        ("antelope", 27),
        ("bobcat", 28),
        ("caracal", 29),
        ("2024.1", 29),
        ("29.2.1", 29),
        ("Dalmatian", 30),
        ("epoxy", 31),
        ("flamingo", 32),
        ("gazpacho", 33),
        ("hibiscus", 34),
        ("2026.2", 34),
    ],
)
def test_a_release_goes_by_its_name_code_name_or_version(name, release):
    found = assume("--nova-release", name, maximum="2.79")
    assert (found.release, found.release_source) == (release, "--nova-release")


@pytest.mark.parametrize("name", ["rocky", "19", "35", "2019.1", "", "x.1"])
def test_a_release_that_is_not_known_is_a_mistake_of_use(name, capsys):
    with pytest.raises(SystemExit) as caught:
        parse("--nova-release", name)
    assert caught.value.code == 2
    assert "is not one of train, ussuri" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("maximum", "release", "source"),
    [
        ("2.79", 20, "compute API 2.79"),
        (
            "2.87",
            22,
            "compute API 2.87, which is that of ussuri and victoria; "
            "the later is taken",
        ),
        ("2.88", 23, "compute API 2.88"),
        (
            "2.96",
            30,
            "compute API 2.96, which is that of 2024.1 and 2024.2; the later is taken",
        ),
        ("2.103", 33, "compute API 2.103"),
        ("2.104", 34, "compute API 2.104"),
        (
            "2.200",
            34,
            "compute API 2.200, newer than any known; the newest known is taken",
        ),
        (
            "2.60",
            20,
            "compute API 2.60, older than any known; the oldest known is taken",
        ),
        ("2.91", 26, "compute API 2.91, on the way to zed"),
        ("2.89", 24, "compute API 2.89, on the way to xena"),
        ("", 34, "the newest release that is known"),
    ],
)
def test_else_the_compute_api_tells_the_release(maximum, release, source):
    found = assume(maximum=maximum)
    assert (found.release, found.release_source) == (release, source)


def test_every_release_has_a_microversion_and_none_goes_back():
    assert list(releases.MICROVERSIONS) == list(releases.RELEASES)
    numbers = list(releases.MICROVERSIONS.values())
    assert numbers == sorted(numbers)


def test_options_are_set_by_hand():
    found = assume(
        *("--set", "Scheduler.max_placement_results = 7"),
        *("--set", "filter_scheduler.enabled_filters=A,B"),
        *("--set", "default.default_schedule_zone=a=b"),
    )
    assert found.value(options.MAX_RESULTS) == 7
    assert found.value(options.ENABLED_FILTERS) == ("A", "B")
    assert found.value(options.DEFAULT_ZONE) == "a=b"
    assert found.setting(options.DEFAULT_ZONE).source == "--set"


def test_the_database_is_said_by_hand_and_stands_in_no_file(tmp_path):
    text = "[DEFAULT]\ndatabase_collation = x\n[database]\ncollation = x\n"
    (tmp_path / "nova.conf").write_text(text, encoding="utf-8")
    found = assume("--nova-conf", str(tmp_path / "nova.conf"))
    assumed = found.setting(options.COLLATION)
    assert (assumed.value, assumed.given) == ("case-insensitive", False)
    assert assumed.source == "the default of MariaDB and MySQL"
    given = assume("--set", "database_collation=case-sensitive")
    assert given.collation is Collation.CASE_SENSITIVE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("scheduler.max_placement_results", "is not SECTION.OPTION=VALUE"),
        ("max_placement_results=1", "did you mean scheduler.max_placement_results? "),
        ("metrics.weight_seting=1", "did you mean metrics.weight_setting"),
        ("scheduler.workers=1", "is no option that decides here. All: config show"),
        ("DEFAULT.cpu_allocation_ratio=4", "openstack resource provider inventory set"),
        ("database_collation=utf8", "not one of case-insensitive, case-sensitive"),
        ("scheduler.max_placement_results=0", "'0' is not a whole number of 1 or more"),
        ("filter_scheduler.pci_in_placement=perhaps", "is not true or false"),
    ],
)
def test_what_can_not_be_set_is_a_mistake_of_use(text, words, capsys):
    with pytest.raises(SystemExit) as caught:
        parse("--set", text)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


def test_one_cloud_is_not_of_two_deployments():
    with pytest.raises(BadUsage):
        assume("--environment", "env.yaml", "--control-plane", "cp.yaml")


def test_a_baseline_that_is_not_known_is_a_mistake_of_use():
    with pytest.raises(SystemExit):
        parse("--baseline", "devstack")


@pytest.mark.parametrize(
    ("argv", "maximum", "others"),
    [
        ((), "2.96", [29]),
        ((), "2.100", [31]),
        ((), "2.93", []),
        ((), "2.89", []),
        (("--nova-release", "30"), "2.96", []),
        # No RHOSO is of 2023.2.
        (("--baseline", "rhoso"), "2.95", []),
    ],
)
def test_releases_of_the_same_compute_api_are_possible_unless_one_is_named(
    argv, maximum, others
):
    found = assume(*argv, maximum=maximum)
    assert [each.release for each in found.others] == others
