"""What was named lies over what was found, key by key."""

import pytest

from osc_traitsched.app import settings
from osc_traitsched.config import nova_conf
from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core.errors import BadConfiguration, BadUsage
from osc_traitsched.core.nova import options

PLANE = "kind: OpenStackControlPlane\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for n, name in enumerate(["found.conf", "named.conf"]):
        text = f"[scheduler]\nmax_placement_results = {n + 1}\n"
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "plane.yaml").write_text(PLANE, encoding="utf-8")
    (tmp_path / "env.yaml").write_text("parameter_defaults: {}\n", encoding="utf-8")


FOUND = SettingsSources(
    "prod.yaml",
    nova_release=29,
    lines={"nova_release": "prod.yaml:1"},
    baseline="charmed",
    nova_conf=("found.conf",),
    options=((options.IMAGE_METADATA, nova_conf.Entry("on", "prod.yaml", 4)),),
)


def resolved(found=FOUND, maximum="2.103", **named):
    return resolve(SettingsSources(found=found, **named), maximum)


def source(found, option):
    return found.setting(option).source


def test_what_is_found_holds_where_nothing_is_named():
    found = resolved()
    assert (found.release, found.release_source) == (29, "prod.yaml:1")
    assert source(found, options.MAX_RESULTS) == "found.conf:2"
    assert source(found, options.IMAGE_METADATA) == "prod.yaml:4"
    assert source(found, options.ENABLED_FILTERS) == "the baseline charmed"
    assert found.place == "prod.yaml"


def test_without_anything_found_or_named_there_is_no_place():
    assert resolved(None).place is None
    assert resolved(None, nova_release=27).place is None


def test_what_is_named_alone_is_of_the_command_line():
    assert resolved(None, nova_conf=("named.conf",)).place == "the command line"


def test_the_command_line_over_that_of_a_snapshot_is_named_once():
    saved = SettingsSources(nova_conf=("named.conf",))
    assert SettingsSources(found=saved, nova_release=30).place == "the command line"
    assert SettingsSources(found=saved, baseline="rhoso").place == "the command line"


def test_files_that_are_named_replace_those_found_and_nothing_else():
    found = resolved(nova_conf=("named.conf",))
    assert source(found, options.MAX_RESULTS) == "named.conf:2"
    assert source(found, options.IMAGE_METADATA) == "prod.yaml:4"
    assert source(found, options.ENABLED_FILTERS) == "the baseline charmed"
    assert (found.release, found.place) == (29, "the command line, over prod.yaml")


@pytest.mark.parametrize(
    ("named", "baseline"),
    [
        ({"control_plane": "plane.yaml"}, "the baseline rhoso"),
        ({"environments": ("env.yaml",)}, "the baseline tripleo"),
        ({"baseline": "tripleo"}, "the baseline tripleo"),
    ],
)
def test_a_distribution_that_is_named_goes_before_the_one_found(named, baseline):
    found = resolved(nova_release=27, **named)
    assert source(found, options.ISOLATION) == baseline


def test_a_release_or_a_single_option_that_is_named_goes_before_the_one_found():
    found = resolved(nova_release=30, options=((options.IMAGE_METADATA, "off"),))
    assert (found.release, found.release_source) == (30, "--nova-release")
    assert source(found, options.IMAGE_METADATA) == "--set"
    assert source(found, options.MAX_RESULTS) == "found.conf:2"


def test_a_control_plane_that_was_found_tells_which_of_two_releases_it_is():
    plane = SettingsSources("prod.yaml", control_plane="plane.yaml")
    assert resolved(plane, "2.95").release == 27
    assert (
        resolved(SettingsSources("prod.yaml", baseline="rhoso"), "2.95").release == 27
    )
    assert (
        resolved(SettingsSources("prod.yaml", baseline="upstream"), "2.95").release
        == 28
    )


@pytest.mark.parametrize(
    "files",
    [
        {"nova_conf": ("none",)},
        {"environments": ("none",)},
        {"control_plane": "none"},
    ],
)
def test_a_file_that_is_gone_is_said_with_what_names_it(files):
    with pytest.raises(BadConfiguration) as caught:
        resolved(SettingsSources("prod.yaml", **files))
    words = "none: No such file or directory (named by prod.yaml)"
    assert str(caught.value) == words
    with pytest.raises(BadConfiguration) as caught:
        resolved(FOUND, **files)
    assert str(caught.value) == "none: No such file or directory"


SUBSET = "filter_scheduler.host_subset_size"


def test_what_is_set_on_the_command_line_lies_over_what_is_known_without_it():
    found = resolved(options=((options.MAX_RESULTS, "9"), (SUBSET, "1")))
    own = found.without_set
    assert (own.value(options.MAX_RESULTS), found.value(options.MAX_RESULTS)) == (1, 9)
    assert source(own, options.MAX_RESULTS) == "found.conf:2"
    assert (own.place, own.without_set) == ("prod.yaml", None)
    assert found.set_otherwise == (options.MAX_RESULTS,)


def test_what_is_only_assumed_is_nothing_to_compare_with():
    assert resolved(None, options=((SUBSET, "9"),)).without_set is None
    assert resolved().without_set is None
    assert resolved().set_otherwise == ()


def test_named_files_are_what_the_command_line_lies_over():
    found = resolved(None, nova_conf=("named.conf",), options=((SUBSET, "9"),))
    assert found.without_set.value(options.MAX_RESULTS) == 2
    assert found.without_set.place == "the command line"


def test_a_file_that_only_holds_with_what_is_set_is_not_compared(tmp_path):
    text = "[filter_scheduler]\nhost_subset_size = none\n"
    (tmp_path / "bad.conf").write_text(text, encoding="utf-8")
    found = resolved(None, nova_conf=("bad.conf",), options=((SUBSET, "9"),))
    assert (found.value(SUBSET), found.without_set) == (9, None)


def test_whether_all_computes_are_new_does_not_depend_on_what_is_set():
    found = resolved(nova_release=34, options=((SUBSET, "9"),))
    found = settings.with_compute_versions(found, {"a"}, {"a"})
    assert (found.all_computes_new, found.without_set.all_computes_new) == (False,) * 2


@pytest.mark.parametrize(
    ("nodes", "unmarked", "are_new"),
    [("abc", "", True), ("abc", "c", None), ("abc", "abc", False), ("", "a", None)],
)
def test_hosts_without_owner_nova_may_be_old_or_have_lost_it(nodes, unmarked, are_new):
    found = resolved(nova_release=34)
    found = settings.with_compute_versions(found, {*nodes}, {*unmarked})
    assert found.all_computes_new is are_new


def test_single_filters_lie_over_everything():
    before = resolved().value(options.ENABLED_FILTERS)
    found = resolved(
        filters=(("NUMATopologyFilter", True), ("ComputeFilter", False)),
    )
    expected = [each for each in before if each != "ComputeFilter"]
    if "NUMATopologyFilter" not in expected:
        expected.append("NUMATopologyFilter")
    assert list(found.value(options.ENABLED_FILTERS)) == expected
    assert found.set_otherwise == (options.ENABLED_FILTERS,)
    assert found.without_set.value(options.ENABLED_FILTERS) == before
    assert found.place == "the command line, over prod.yaml"


def test_single_filters_lie_over_a_list_that_is_set_by_hand():
    by_hand = ((options.ENABLED_FILTERS, "ComputeFilter,OurFilter"),)
    changes = (("OurFilter", False), ("JsonFilter", True), ("JsonFilter", True))
    found = resolved(options=by_hand, filters=changes)
    setting = found.setting(options.ENABLED_FILTERS)
    assert setting.value == ("ComputeFilter", "JsonFilter")
    assert setting.source == "--set, --disable-filter and --enable-filter"


@pytest.mark.parametrize("is_on", [True, False])
def test_a_filter_that_there_is_not_is_no_filter(is_on):
    with pytest.raises(BadUsage) as caught:
        resolved(filters=(("ComputFilter", is_on),))
    assert str(caught.value) == (
        "no host filter 'ComputFilter'; did you mean ComputeFilter?"
    )
