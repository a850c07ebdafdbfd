"""The environment files of TripleO, as Heat reads them."""

import pytest

from osc_traitsched.config import deployments, nova_conf
from osc_traitsched.config.sources import SettingsSources, resolve
from osc_traitsched.core.errors import BadConfiguration
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Setting


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, *lines):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return name

    return write


@pytest.fixture
def defaults(write):
    return lambda *lines: write(
        "env.yaml", "parameter_defaults:", *(f"  {line}" for line in lines)
    )


def settings(paths):
    return nova_conf.settings([deployments.environments(paths)], 23, {})


def refused(*paths):
    with pytest.raises(BadConfiguration) as caught:
        settings(paths)
    return caught.value.path, caught.value.line, caught.value.reason


def test_a_parameter_sets_its_option_and_is_named_with_its_line(write):
    write(
        "env.yaml",
        "# of the overcloud",
        "resource_registry:",
        "  OS::TripleO::Services::NovaScheduler: nova.yaml",
        "parameter_defaults:",
        "  ComputeCount: 3",
        "  NovaSchedulerEnableIsolatedAggregateFiltering: true",
    )
    assert settings(["env.yaml"]) == {
        options.ISOLATION: Setting(
            True,
            "env.yaml:6 (NovaSchedulerEnableIsolatedAggregateFiltering)",
            given=True,
        )
    }


@pytest.mark.parametrize("parameter", deployments.PARAMETERS)
def test_every_switch_is_a_parameter(defaults, parameter):
    found = settings([defaults(f"{parameter}: 'yes'")])
    assert found[deployments.PARAMETERS[parameter]].value is True


@pytest.mark.parametrize("written", ["false", "no", "'Off'", "0", "n"])
def test_heat_takes_many_words_for_false(defaults, written):
    found = settings([defaults(f"NovaSchedulerQueryImageType: {written}")])
    assert found[options.IMAGE_TYPE].value is False


def test_the_last_of_several_files_wins(write):
    one = write("a.yaml", "parameter_defaults: {NovaSchedulerQueryImageType: true}")
    two = write("b.yaml", "parameter_defaults: {NovaSchedulerQueryImageType: false}")
    found = settings([one, two])[options.IMAGE_TYPE]
    assert found.source == "b.yaml:1 (NovaSchedulerQueryImageType)"
    assert settings([two, one])[options.IMAGE_TYPE].value is True


def test_a_null_takes_back_what_an_earlier_file_gave(write):
    one = write("a.yaml", "parameter_defaults: {NovaSchedulerQueryImageType: true}")
    two = write("b.yaml", "parameter_defaults: {NovaSchedulerQueryImageType: }")
    assert settings([one, two]) == {}


@pytest.mark.parametrize("written", ["[A, B]", "'A,B'", "A, B", "\n  - A\n  - B"])
def test_filters_are_a_list_or_a_text_with_commas(defaults, written):
    found = settings([defaults(f"NovaSchedulerEnabledFilters: {written}")])
    assert found[options.ENABLED_FILTERS].value == ("A", "B")


def test_the_older_list_of_filters_counts_only_where_the_newer_is_empty(defaults):
    old, new = "NovaSchedulerDefaultFilters: [Old]", "NovaSchedulerEnabledFilters: "
    for lines, expected in [
        ([old], ("Old",)),
        ([old, f"{new}[]"], ("Old",)),
        ([old, f"{new}''"], ("Old",)),
        ([old, f"{new}[New]"], ("New",)),
    ]:
        found = settings([defaults(*lines)])
        assert found[options.ENABLED_FILTERS].value == expected


def test_empty_filters_leave_novas_own(defaults):
    assert settings([defaults("NovaSchedulerEnabledFilters: []")]) == {}


@pytest.mark.parametrize(
    "lines",
    [[], ["---"], ["parameter_defaults:"], ["resource_registry: {}"], ["# nothing"]],
)
def test_a_file_without_parameters_sets_nothing(write, lines):
    assert settings([write("env.yaml", *lines)]) == {}


def test_anchors_and_merges_are_followed(write):
    write(
        "env.yaml",
        "base: &base",
        "  NovaSchedulerQueryImageType: false",
        "parameter_defaults:",
        "  <<: *base",
    )
    found = settings(["env.yaml"])[options.IMAGE_TYPE]
    assert found.source == "env.yaml:2 (NovaSchedulerQueryImageType)"


def test_values_that_nobody_asks_for_may_be_anything(defaults):
    assert settings([defaults("Day: 2024-13-45", "Key: !secret x")]) == {}


@pytest.mark.parametrize("written", ["maybe", "2", "[true]", "{}", "''"])
def test_a_switch_that_is_not_true_or_false_is_refused(defaults, written):
    path = defaults("A: 1", f"NovaSchedulerQueryImageType: {written}")
    name = "parameter_defaults.NovaSchedulerQueryImageType"
    assert refused(path) == (path, 3, f"{name} is not true or false")


@pytest.mark.parametrize("written", ["{A: B}", "[[A]]"])
def test_filters_that_are_no_list_of_names_are_refused(defaults, written):
    assert refused(defaults(f"NovaSchedulerEnabledFilters: {written}"))[1] == 2


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (["parameter_defaults:", "  a: b: c"], 2),
        (["parameter_defaults: {", "a: 1"], 3),
        (["a: 1", "\tb: 2"], 2),
        (["a: *nowhere"], 1),
        (["parameter_defaults:", "  <<: 1"], 2),
        (["a: 1", "b: \x01"], 2),
        (["a: 1", "b: " + "[" * 2000], 2),
        (["- a"], 1),
        (["a"], 1),
        (["parameter_defaults: [a]"], 1),
        (["a: 1", "---", "b: 2"], 3),
    ],
)
def test_what_heat_cannot_read_is_refused_with_its_line(write, lines, line):
    assert refused(write("env.yaml", *lines))[:2] == ("env.yaml", line)


def test_a_file_that_is_not_there_is_refused():
    assert refused("none.yaml") == ("none.yaml", None, "No such file or directory")


def test_hieradata_for_nova_conf_is_read_with_its_lines(write):
    write(
        "env.yaml",
        "parameter_defaults:",
        "  ExtraConfig:",
        "    nova::config::nova_config:",
        "      scheduler/max_placement_results: {value: 5}",
        "      DEFAULT/default_schedule_zone: {value: one}",
        "  ControllerExtraConfig:",
        "    nova::config::nova_config:",
        "      scheduler/max_placement_results:",
        "        value: 7",
        "      scheduler/image_metadata_prefilter: {value: true}",
        "      filter_scheduler/weight_classes: {value: [a.A, b.B]}",
        "      scheduler/workers: {ensure: absent}",
        "  ComputeExtraConfig:",
        "    nova::config::nova_config:",
        "      scheduler/max_placement_results: {value: 9}",
    )
    found = resolve(SettingsSources(nova_release=23, environments=("env.yaml",)))
    given = {k: (v.value, v.source) for k, v in found.settings.items() if v.given}
    assert given == {
        options.MAX_RESULTS: (7, "env.yaml:9"),
        options.DEFAULT_ZONE: ("one", "env.yaml:5"),
        options.IMAGE_METADATA: (True, "env.yaml:10"),
        options.WEIGHT_CLASSES: (("a.A", "b.B"), "env.yaml:11"),
    }
    assert found.value(options.IMAGE_TYPE) is True


def test_the_filters_that_can_be_loaded_are_a_parameter(defaults):
    found = settings([defaults("NovaSchedulerAvailableFilters: [a.A, b]")])
    assert found[options.AVAILABLE_FILTERS].value == ("a.A", "b")
    assert options.ENABLED_FILTERS not in found
