"""nova.conf and its folders, read as Nova reads them."""

import os
import pathlib
import threading

import pytest

from osc_traitsched.config import deployments, nova_conf
from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Setting

WALLABY, XENA, NEWEST = 23, 24, releases.NEWEST


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(tmp_path):
    def write(name, *lines):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return name

    return write


def settings(*paths, release=NEWEST, below=None):
    return nova_conf.settings(deployments.read_files(paths), release, below or {})


def refused(*paths, **kwargs):
    with pytest.raises(BadConfiguration) as caught:
        settings(*paths, **kwargs)
    return caught.value.path, caught.value.line, caught.value.reason


def test_a_value_is_known_with_its_file_and_line(write):
    write(
        "nova.conf",
        "[DEFAULT]",
        "# a comment",
        "; and another",
        "",
        "default_schedule_zone = az1",
        "[scheduler]",
        "max_placement_results: 50",
        "image_metadata_prefilter = yes",
        "[filter_scheduler]",
        "enabled_filters = A,",
        "   B,",
        "\tC",
        "# not part of it",
        "[workarounds]",
        'disable_fallback_pcpu_query = "True"',
    )
    assert settings("nova.conf") == {
        options.DEFAULT_ZONE: Setting("az1", "nova.conf:5", given=True),
        options.MAX_RESULTS: Setting(50, "nova.conf:7", given=True),
        options.IMAGE_METADATA: Setting(True, "nova.conf:8", given=True),
        options.ENABLED_FILTERS: Setting(("A", "B", "C"), "nova.conf:10", given=True),
        options.NO_PCPU_FALLBACK: Setting(True, "nova.conf:15", given=True),
    }


def test_no_file_sets_nothing():
    assert settings() == {}


def test_options_and_sections_that_decide_nothing_here_are_passed_over(write):
    write("nova.conf", "[scheduler]", "workers = lots", "[libvirt]", "virt_type = x")
    assert settings("nova.conf") == {}


@pytest.mark.parametrize("text", ["true", "True", "1", "on", "YES", "'on'"])
def test_oslo_takes_many_words_for_true(write, text):
    write("nova.conf", "[scheduler]", f"image_metadata_prefilter = {text}")
    assert settings("nova.conf")[options.IMAGE_METADATA].value is True


def test_an_empty_number_is_no_limit_as_it_is_to_oslo(write):
    write("nova.conf", "[scheduler]", "max_placement_results =")
    assert settings("nova.conf")[options.MAX_RESULTS].value is None


def test_the_last_of_several_values_in_one_file_wins(write):
    write(
        "nova.conf",
        *("[scheduler]", "max_placement_results = 1"),
        *("[DEFAULT]", "[scheduler]", "max_placement_results = 2"),
    )
    found = settings("nova.conf")[options.MAX_RESULTS]
    assert (found.value, found.source) == (2, "nova.conf:5")


def test_the_last_of_several_files_wins_option_by_option(write):
    write(
        "a.conf",
        *("[scheduler]", "max_placement_results = 1", "image_metadata_prefilter = on"),
    )
    write("b.conf", "[scheduler]", "max_placement_results = 2")
    found = settings("a.conf", "b.conf")
    assert found[options.MAX_RESULTS].source == "b.conf:2"
    assert found[options.IMAGE_METADATA].source == "a.conf:3"
    assert settings("b.conf", "a.conf")[options.MAX_RESULTS].value == 1


def test_a_bad_value_that_a_later_file_replaces_does_no_harm(write):
    write("a.conf", "[scheduler]", "max_placement_results = x")
    write("b.conf", "[scheduler]", "max_placement_results = 2")
    assert settings("a.conf", "b.conf")[options.MAX_RESULTS].value == 2


def test_of_a_directory_the_conf_files_are_read_in_the_order_of_their_names(write):
    for n, name in enumerate(["9.conf", "10.conf", "Z.conf", ".z.conf", "z.conf.bak"]):
        write(f"conf.d/{name}", "[scheduler]", f"max_placement_results = {n + 1}")
    found = settings("conf.d")[options.MAX_RESULTS]
    assert (found.value, found.source) == (3, "conf.d/Z.conf:2")


def test_a_directory_and_a_file_count_in_the_order_given(write):
    write("conf.d/a.conf", "[scheduler]", "max_placement_results = 1")
    write("nova.conf", "[scheduler]", "max_placement_results = 2")
    assert settings("conf.d", "nova.conf")[options.MAX_RESULTS].value == 2
    assert settings("nova.conf", "conf.d")[options.MAX_RESULTS].value == 1


def test_an_empty_directory_beside_a_file_is_usual(write, tmp_path):
    (tmp_path / "conf.d").mkdir()
    write("nova.conf", "[scheduler]", "max_placement_results = 2")
    assert settings("nova.conf", "conf.d")[options.MAX_RESULTS].value == 2


def test_directories_without_any_file_are_a_mistake(tmp_path):
    (tmp_path / "conf.d").mkdir()
    reason = "a directory without any *.conf file"
    assert refused("conf.d") == ("conf.d", None, reason)


def test_the_case_of_a_section_does_not_matter_except_of_default(write):
    write(
        "nova.conf",
        *("[Scheduler]", "max_placement_results = 2"),
        *("[default]", "default_schedule_zone = az1"),
    )
    assert list(settings("nova.conf")) == [options.MAX_RESULTS]


def test_a_pipe_can_be_read_too(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    text = "[scheduler]\nmax_placement_results = 2\n"
    writer = threading.Thread(target=path.write_text, args=(text,))
    writer.start()
    assert settings("pipe")[options.MAX_RESULTS].value == 2
    writer.join()


def test_a_home_directory_is_found(write, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write("nova.conf", "[scheduler]", "max_placement_results = 2")
    assert settings("~/nova.conf")[options.MAX_RESULTS].source == "~/nova.conf:2"


@pytest.mark.parametrize(
    ("option", "text", "reason"),
    [
        ("image_metadata_prefilter", "maybe", "is not true or false"),
        ("image_metadata_prefilter", "", "is not true or false"),
        ("max_placement_results", "many", "is not a whole number of 1 or more"),
        ("max_placement_results", "0", "is not a whole number of 1 or more"),
        ("max_placement_results", "1.5", "is not a whole number of 1 or more"),
    ],
)
def test_what_nova_refuses_is_refused_with_its_line(write, option, text, reason):
    write("nova.conf", "[scheduler]", "# first", f"{option} = {text}")
    assert refused("nova.conf") == ("nova.conf", 3, f"[scheduler] {option} {reason}")


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["[scheduler]", "", "what is this"], 3),
        (["[scheduler"], 1),
        (["[scheduler]", "  goes on"], 2),
        (["[scheduler]", "= 1"], 2),
        (["[]"], 1),
        (["", "max_placement_results = 1", "", "[scheduler]"], 2),
    ],
)
def test_what_oslo_cannot_parse_is_refused_with_its_line(write, lines, line):
    write("nova.conf", *lines)
    assert refused("nova.conf")[:2] == ("nova.conf", line)


def test_a_file_that_is_not_there_is_refused():
    assert refused("none.conf") == ("none.conf", None, "No such file or directory")


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "nova.conf").write_bytes(b"\xff\xfe[\x00")
    assert refused("nova.conf") == ("nova.conf", None, "not a text file (UTF-8)")


def test_a_directory_in_a_directory_can_not_be_read_as_a_file(tmp_path):
    (tmp_path / "conf.d" / "a.conf").mkdir(parents=True)
    assert refused("conf.d")[2] == "Is a directory"


@pytest.mark.skipif(not os.geteuid(), reason="root may read everything")
@pytest.mark.parametrize("name", ["nova.conf", "conf.d"])
def test_what_may_not_be_read_is_refused(write, tmp_path, name):
    write("nova.conf", "[scheduler]")
    (tmp_path / "conf.d").mkdir()
    (tmp_path / name).chmod(0)
    assert refused(name) == (name, None, "Permission denied")
    (tmp_path / name).chmod(0o700)


def test_an_old_name_counts_in_the_releases_that_know_it(write):
    write("nova.conf", "[DEFAULT]", "scheduler_default_filters = A,B")
    found = settings("nova.conf", release=WALLABY)[options.ENABLED_FILTERS]
    assert found == Setting(("A", "B"), "nova.conf:2", given=True)
    assert settings("nova.conf", release=XENA) == {}


def test_in_one_file_the_new_name_wins_and_over_files_the_later_one(write):
    write(
        "both.conf",
        *("[filter_scheduler]", "enabled_filters = New"),
        *("[DEFAULT]", "scheduler_default_filters = Old"),
    )
    write("old.conf", "[DEFAULT]", "scheduler_default_filters = Older")
    one = settings("both.conf", release=WALLABY)
    assert one[options.ENABLED_FILTERS].source == "both.conf:2"
    two = settings("both.conf", "old.conf", release=WALLABY)
    assert two[options.ENABLED_FILTERS].source == "old.conf:2"


def test_a_value_of_an_option_that_the_release_lacks_is_left_as_it_is(write):
    write(
        "nova.conf", "[scheduler]", "query_placement_for_availability_zone = whatever"
    )
    found = settings("nova.conf", release=28)[options.AZ_QUERY]
    assert found == Setting("whatever", "nova.conf:2", given=True)
    assert refused("nova.conf", release=27)[1] == 2


def test_a_dollar_stands_for_another_option(write):
    write(
        "nova.conf",
        *("[DEFAULT]", "site = az", "default_schedule_zone = ${site}1"),
        *("[scheduler]", "image_metadata_prefilter = $limit_tenants"),
        *("limit_tenants = $limit_tenants_to_placement_aggregate",),
        *("max_placement_results = ${other.number}", "[other]", "number = 7"),
        *("[filter_scheduler]", "enabled_filters = $site,${other.number}"),
    )
    found = settings("nova.conf")
    assert found[options.DEFAULT_ZONE].value == "az1"
    assert found[options.IMAGE_METADATA].value is False
    assert found[options.MAX_RESULTS].value == 7
    assert found[options.ENABLED_FILTERS].value == ("az", "7")


def test_a_dollar_reaches_what_holds_below_the_files(write):
    write(
        "nova.conf",
        *("[scheduler]", "image_metadata_prefilter = $max_placement_results"),
    )
    below = {options.MAX_RESULTS: Setting(1, "the baseline of a test")}
    found = settings("nova.conf", below=below)
    assert found[options.IMAGE_METADATA].value is True


def test_a_dollar_can_be_escaped(write):
    write("nova.conf", "[DEFAULT]", r"default_schedule_zone = \$a$$b")
    assert settings("nova.conf")[options.DEFAULT_ZONE].value == "$a$b"


def test_a_dollar_that_leads_nowhere_or_in_a_circle_is_refused(write):
    write("a.conf", "[DEFAULT]", "default_schedule_zone = $nothing")
    assert refused("a.conf")[1:] == (2, "refers to an option that is set nowhere here")
    write("b.conf", "[DEFAULT]", "default_schedule_zone = $x", "x = $y", "y = $x")
    assert refused("b.conf")[1:] == (3, "refers to itself")


#: The line sets no option of Nova at all.
NOTHING = ""
DISCOVER = "scheduler.discover_hosts_in_cells_interval"


@pytest.mark.parametrize(
    ("section", "key", "release", "meant"),
    [
        ("DEFAULT", "enable_isolated_aggregate_filtering", 34, options.ISOLATION),
        ("default", "max_placement_results", 34, options.MAX_RESULTS),
        ("scheduler", "enabled_filters", 34, options.ENABLED_FILTERS),
        ("scheduler", "host_subset_size", 34, options.HOST_SUBSET_SIZE),
        ("filter_scheduler", "max_placement_results", 34, options.MAX_RESULTS),
        ("scheduler", "limit_tenants_to_placement_agregate", 34, options.TENANT),
        ("filter_scheduler", "enable_filters", 34, options.ENABLED_FILTERS),
        ("DEFAULT", "scheduler_defaults_filters", 34, options.ENABLED_FILTERS),
        ("DEFAULT", "scheduler_default_filters", 24, options.ENABLED_FILTERS),
        ("DEFAULT", "scheduler_default_filters", 23, None),
        ("scheduler", "query_placement_for_isolated_aggregates", 34, options.ISOLATION),
        ("scheduler", "query_placement_for_tenants", 34, options.TENANT),
        ("filter_scheduler", "default_filters", 34, options.ENABLED_FILTERS),
        ("scheduler", "query_placement_for_az", 27, options.AZ_QUERY),
        ("filter_scheduler", "gpu_weight_multiplier", 34, NOTHING),
        ("scheduler", "query_placement_for_az", 28, NOTHING),
        ("scheduler", "driver", 22, None),
        ("scheduler", "driver", 23, NOTHING),
        ("scheduler", "host_manager", 20, NOTHING),
        ("filter_scheduler", "ram_allocation_ratio", 34, NOTHING),
        ("DEFAULT", "ram_allocation_ratio", 34, None),
        ("scheduler", "max_attempts", 34, None),
        ("filter_scheduler", "max_attempts", 34, "scheduler.max_attempts"),
        ("scheduler", "max_atempts", 27, "scheduler.max_attempts"),
        ("DEFAULT", "discover_hosts_in_cells_interval", 30, DISCOVER),
        ("filter_scheduler", "discover_hosts_in_cell_interval", 34, DISCOVER),
        (
            *("filter_scheduler", "track_instances_changes", 34),
            "filter_scheduler.track_instance_changes",
        ),
        ("scheduler", "scheduler_max_attempts", 34, "scheduler.max_attempts"),
        ("DEFAULT", "service_down_times", 34, "DEFAULT.service_down_time"),
        ("scheduler", "service_down_time", 34, "DEFAULT.service_down_time"),
        ("DEFAULT", "a_plugins_own_option", 34, None),
        ("libvirt", "num_memory_encrypted_guests", 34, None),
        # Many sections have one of that name.
        ("scheduler", "auth_url", 34, NOTHING),
        ("filter_scheduler", "track_instance_changes", 34, None),
        ("scheduler", "query_placement_for_availability_zone", 34, None),
        ("scheduler", "my_filter_limit", 34, NOTHING),
        ("neutron", "required", 34, None),
        ("blazar", "enable_filters", 34, None),
    ],
)
def test_a_line_that_nova_does_not_read_names_the_option_it_means(
    section, key, release, meant
):
    files = (nova_conf.parse_ini(nova_conf.Text("c", f"[{section}]\n\n{key} = 1\n")),)
    found = nova_conf.without_effect(files, release)
    lines = [] if meant is None else [("c:3", meant or None)]
    assert [(e.source, e.meant) for e in found] == lines


@pytest.mark.parametrize(
    ("key", "release", "fix"),
    [
        ("driver", 23, "take it out"),
        ("periodic_task_interval", 34, "take it out"),
        ("ours_only", 34, "correct its name, unless code of your own reads it"),
        ("max_atempts", 34, "set [scheduler]max_attempts instead"),
    ],
)
def test_only_what_nova_had_is_taken_out(key, release, fix):
    line = nova_conf.unread("scheduler", key, release, "c:3")
    assert line
    assert line.fix == fix


def test_the_names_of_released_code_have_the_releases_of_our_options():
    lines = (pathlib.Path(nova_conf.__file__).parent / "option_names.txt").read_text()
    listed = {line.split()[0]: line.split()[1:] for line in lines.splitlines()}
    for option in options.OPTIONS.values():
        last = min(option.until - 1, NEWEST)
        span = f":{option.since}-{last}"
        is_always = (option.since, last) == (releases.OLDEST, NEWEST)
        if option.section:
            assert option.key + ("" if is_always else span) in listed[option.section]


def test_the_default_of_such_an_option_names_the_line(tmp_path):
    path = tmp_path / "nova.conf"
    path.write_text("[DEFAULT]\nenable_isolated_aggregate_filtering = true\n")
    found = resolve(SettingsSources(nova_release=34, nova_conf=(str(path),)))
    setting = found.setting(options.ISOLATION)
    assert (setting.value, setting.given) == (False, False)
    assert setting.source == f"the default of 2026.2; {path}:2 has no effect"


def test_the_values_of_openstack_helm_are_read_with_their_lines(write):
    path = write(
        "values.yaml",
        "conf:",
        "  nova:",
        "    scheduler:",
        "      max_placement_results: 50",
        "      limit_tenants_to_placement_aggregate: null",
        "    filter_scheduler:",
        "      enabled_filters: ComputeFilter,JsonFilter",
        "      available_filters:",
        "        type: multistring",
        "        values: [a.A, b.B]",
        "      isolated_hosts: [h1, h2]",
    )
    found = nova_conf.settings(deployments.read_files([path]), 34, {})
    assert {name: each.value for name, each in found.items()} == {
        options.MAX_RESULTS: 50,
        options.ENABLED_FILTERS: ("ComputeFilter", "JsonFilter"),
        options.AVAILABLE_FILTERS: ("a.A", "b.B"),
        options.ISOLATED_HOSTS: ("h1", "h2"),
    }
    assert found[options.MAX_RESULTS].source == "values.yaml:4"


def test_other_yaml_is_not_nova_conf(write):
    with pytest.raises(BadConfiguration, match=r"no conf\.nova"):
        deployments.read_files([write("env.yaml", "parameter_defaults: {}")])
