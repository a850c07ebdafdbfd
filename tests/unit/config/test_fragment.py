"""Fragments, read back as Nova, Heat and RHOSO would read them."""

import itertools
import re

import pytest
import yaml

from osc_traitsched.config import deployments
from osc_traitsched.config.sources import (
    CONTROL_PLANE,
    ENVIRONMENTS,
    NOVA_CONF,
    SettingsSources,
    resolve,
)
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import OPTIONS, SchedulerSettings
from osc_traitsched.text import option

WANTED = [
    wanted
    for size in range(1, len(options.switches()) + 1)
    for wanted in itertools.combinations(options.switches(), size)
]
#: Where an option, a filter, a parameter or their meaning comes or goes.
EDGES = [20, 21, 22, 23, 24, 27, 28, 34]

CONFS = {
    "nothing": "",
    "filters": "[filter_scheduler]\nenabled_filters = A, AvailabilityZoneFilter, B\n"
    "[scheduler]\nmax_placement_results = 7\nimage_metadata_prefilter = no\n",
    "the old name": "[DEFAULT]\nscheduler_default_filters = AvailabilityZoneFilter,A\n",
    "another option": "[DEFAULT]\nmine = AvailabilityZoneFilter\ndebug = true\n"
    "[filter_scheduler]\nenabled_filters = A,$DEFAULT.mine\n",
    "the filter alone": "[filter_scheduler]\n"
    "enabled_filters = AvailabilityZoneFilter\n",
    "all on": "[scheduler]\nenable_isolated_aggregate_filtering = 1\n"
    "query_placement_for_availability_zone = yes\n",
}
OVERCLOUDS = {
    "nothing": "",
    "the newer list": "parameter_defaults:\n"
    "  NovaSchedulerEnabledFilters: [A, AvailabilityZoneFilter]\n"
    "  NovaSchedulerQueryImageType: false\n",
    "the older list": "parameter_defaults:\n"
    "  NovaSchedulerDefaultFilters: [AvailabilityZoneFilter, A]\n",
    "no list": "parameter_defaults: {NovaSchedulerEnabledFilters: []}\n",
}
PLANES = {
    "nothing": "kind: OpenStackControlPlane\n",
    "a text": """\
kind: OpenStackControlPlane
spec:
  nova:
    template:
      schedulerServiceTemplate:
        customServiceConfig: |

          # ours: "quoted" and 'so' \\ %(x)s
          [scheduler]
          image_metadata_prefilter = false
          max_placement_results = 50
          [filter_scheduler]
          enabled_filters = A,
              AvailabilityZoneFilter
          [DEFAULT]
          debug = true
""",
}
TEXTS = {NOVA_CONF: CONFS, ENVIRONMENTS: OVERCLOUDS, CONTROL_PLANE: PLANES}
#: Each text with the releases in which it can stand.
PRESENT = [
    *((NOVA_CONF, release, name) for release in releases.RELEASES for name in CONFS),
    *(
        (ENVIRONMENTS, release, name)
        for release in EDGES
        for name in OVERCLOUDS
        if release >= 23 or name != "the newer list"
    ),
    *((CONTROL_PLANE, 27, name) for name in PLANES),
]


def join(release, **named):
    return resolve(SettingsSources(nova_release=release, **named))


def read(source, release, *paths):
    return join(release, **{source.name: paths if source.is_list else paths[-1]})


def possible(source, release, wanted):
    rows = [OPTIONS[name] for each in wanted for name in options.switches()[each]]
    in_tripleo = source is not ENVIRONMENTS or all(row.parameter for row in rows)
    # The switch of zones is always on in releases without the option.
    return in_tripleo and all(row.since <= release for row in rows)


def check(before, after, wanted):
    """What was wanted is on, the filter is out, and all else is as before."""
    turned_on = {name for each in wanted for name in options.switches()[each]}
    for row in options.options_in(before.release):
        expected = before.value(row.name)
        if row.name in turned_on:
            expected = True
        if row.name == options.ENABLED_FILTERS and (
            "az" in wanted or before.release >= 28
        ):
            expected = tuple(n for n in expected if n != "AvailabilityZoneFilter")
        assert after.value(row.name) == expected, (row.name, wanted)


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.mark.parametrize(("source", "release", "name"), PRESENT)
def test_files_with_the_fragment_say_what_was_asked(write, source, release, name):
    present = write("10", TEXTS[source][name])
    before = read(source, release, present)
    text = "".join(layer.text for layer in source.read([present]))
    for wanted in WANTED:
        if possible(source, release, wanted):
            values = options.switch(wanted, before).values
            last = write("99", source.write(values, release, text))
            check(before, read(source, release, present, last), wanted)


def custom_config(text):
    tree = yaml.safe_load(text)
    for key in deployments.SCHEDULER:
        tree = tree[key]
    return tree


def test_a_control_planes_own_text_stays_word_by_word_and_in_lines(write):
    *_, layer = deployments.read(write("plane.yaml", PLANES["a text"]))
    text = layer.text
    written = deployments.control_plane({options.ISOLATION: True}, text + "x = 1  \n")
    assert custom_config(written) == (
        text.strip("\n") + "\nx = 1\n\n"
        "[scheduler]\nenable_isolated_aggregate_filtering = true\n"
    )
    assert "\n          # ours: \"quoted\" and 'so' \\ %(x)s\n" in written


def test_a_control_plane_without_anything_to_set_is_as_it_was():
    assert (
        custom_config(deployments.control_plane({}, "[a]\nb = 1\n")) == "[a]\nb = 1\n"
    )


def test_nothing_to_set_is_nothing_to_write():
    assert deployments.nova_conf_text({}) == ""
    assert deployments.environment({}, 23) == ""
    assert deployments.control_plane({}, "\n") == ""


def test_ini_has_each_section_once():
    values = {
        options.ISOLATION: True,
        options.ENABLED_FILTERS: ("A", "B"),
        options.TENANT: True,
    }
    assert deployments.nova_conf_text(values) == (
        "[scheduler]\nenable_isolated_aggregate_filtering = true\n"
        "limit_tenants_to_placement_aggregate = true\n\n"
        "[filter_scheduler]\nenabled_filters = A,B\n"
    )


def test_tripleo_before_wallaby_has_the_older_parameter_for_filters():
    values = {options.ENABLED_FILTERS: ("A",)}
    for release, parameter in [
        (20, "NovaSchedulerDefaultFilters"),
        (22, "NovaSchedulerDefaultFilters"),
        (23, "NovaSchedulerEnabledFilters"),
    ]:
        written = yaml.safe_load(deployments.environment(values, release))
        assert written == {"parameter_defaults": {parameter: ["A"]}}


@pytest.mark.parametrize(
    "name", [row.name for row in OPTIONS.values() if row.switches and not row.parameter]
)
def test_a_switch_without_a_parameter_of_tripleo_is_refused(name):
    told = rf"no parameter for {re.escape(option(name))}; it takes hieradata"
    with pytest.raises(BadUsage, match=told):
        deployments.environment({name: True}, 23)


def test_filters_that_tripleo_would_take_for_novas_own_are_refused(write):
    filters = (
        "parameter_defaults: {NovaSchedulerEnabledFilters: AvailabilityZoneFilter}"
    )
    before = join(23, environments=(write("a.yaml", filters),))
    values = options.switch(["az"], before).values
    told = r"^\[filter_scheduler\]enabled_filters would be empty, which TripleO takes"
    with pytest.raises(BadUsage, match=told):
        deployments.environment(values, 23)


def test_a_fragment_needs_no_baseline(write):
    values = options.switch(["isolation", "projects"], SchedulerSettings(27)).values
    last = write("99.conf", deployments.nova_conf_text(values))
    for baseline in ("upstream", "tripleo", "rhoso"):
        after = join(27, nova_conf=(last,), baseline=baseline)
        assert after.setting(options.ISOLATION).given
        assert after.setting(options.TENANT).given
