"""Parsers, values of options, and fragments that are written."""

from __future__ import annotations

import itertools
import pathlib
import random
import re
import sys

import pytest
import yaml

from osc_traitsched import text
from osc_traitsched.config import deployments, document, nova_conf
from osc_traitsched.config.sources import (
    CONTROL_PLANE,
    ENVIRONMENTS,
    NOVA_CONF,
    SettingsSources,
    resolve,
)
from osc_traitsched.core import releases
from osc_traitsched.core.errors import BadConfiguration, BadUsage
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import (
    OPTIONS,
    Consumer,
    Option,
    OptionType,
    SchedulerSettings,
)

# libyaml, where PyYAML has it, and PyYAML's own parser: the same is read.


EXAMPLES = sorted(pathlib.Path(__file__).parents[3].glob("examples/**/*.y*ml"))
TEXTS = [
    *(path.read_text(encoding="utf-8") for path in EXAMPLES),
    "a: {b: [c, d], e: 'f'}\n",
    "- x\n- y: |\n    lit\n    two\n",
    "a: &x {b: 1}\nc: {<<: *x, d: no}\n",
    "version: 1\ntraits: {CUSTOM_A: {hosts: ['cmp*', \"x\"]}}\n---\nversion: 1\n",
]
PARTS = [
    *"abAB01 \n:-,[]{}#&*|>'\"%@=~.x",
    *("\n  ", "\n- ", ": ", "\n---\n", "<<: ", "''"),
]
BROKEN = [
    "a: [b\nc: d",
    "a: 'b",
    "a: b: c",
    "\tx: 1",
    "a: \x00",
    'a: "\\uD800"',
    "a: !!python/name:os.system x\nb: [",
    "a: *unknown",
    "[" * 9000 + "]" * 9000,
]

with_both = pytest.mark.skipif(
    not yaml.__with_libyaml__, reason="PyYAML is built without libyaml here"
)
with_limit = pytest.mark.skipif(
    not hasattr(sys, "get_int_max_str_digits"), reason="this Python reads any number"
)


def read(text, monkeypatch, *, fast):
    """Return what is read of a text as tuples, or what is wrong with it."""
    monkeypatch.setattr(yaml, "__with_libyaml__", fast)
    try:
        return [_tree(each.node) for each in document.parse("f", text)]
    except BadConfiguration as exc:
        return str(exc)


def _tree(node):
    place = node.tag, node.start_mark.line
    if isinstance(node, yaml.ScalarNode):
        return (*place, node.value, node.style or None)
    if isinstance(node, yaml.SequenceNode):
        return (*place, *map(_tree, node.value))
    return (*place, *((_tree(key), _tree(value)) for key, value in node.value))


@with_both
def test_drawn_documents_are_read_alike(monkeypatch):
    drawn, same, refused = random.Random(4), 0, 0
    for _ in range(4000):
        text = drawn.choice(TEXTS)
        for _ in range(drawn.randint(0, 4)):
            at = drawn.randint(0, len(text))
            text = text[:at] + drawn.choice(PARTS) + text[at + drawn.randint(0, 2) :]
        own = read(text, monkeypatch, fast=False)
        found = read(text, monkeypatch, fast=True)
        if isinstance(found, str):
            assert found == own
            refused += 1
        elif not isinstance(own, str):
            assert found == own, text
            same += 1
    assert min(same, refused) > 500


@with_both
@pytest.mark.parametrize("text", BROKEN)
def test_what_is_wrong_is_said_alike(text, monkeypatch):
    own = read(text, monkeypatch, fast=False)
    assert isinstance(own, str)
    assert read(text, monkeypatch, fast=True) == own


@pytest.mark.parametrize("fast", [False, pytest.param(True, marks=with_both)])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a: b\nc: "\\U00110000"', 2),
        ('a: b\nc: "d\n  \\UFFFFFFFF"', 3),
        pytest.param(f"# a\n%YAML 1.{'9' * 5000}\n---\nb: c", 2, marks=with_limit),
    ],
)
def test_what_pyyaml_itself_breaks_on_is_no_yaml(text, line, fast, monkeypatch):
    monkeypatch.setattr(yaml, "__with_libyaml__", fast)
    with pytest.raises(BadConfiguration) as caught:
        document.parse("f", text)
    said = str(caught.value)
    assert said == f"f:{line}: not YAML: a version or an escape is too large"


# Texts as values of an option's kind, and what is said of those that are none.


ARCHITECTURES = ("x86_64", "aarch64")


def option(kind, **limits):
    return Option("metrics.some", kind, None, Consumer.WEIGHER, **limits)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (OptionType.BOOLEAN, "Yes", True),
        (OptionType.INTEGER, "-10", -10),
        (OptionType.INTEGER, "", None),
        (OptionType.FLOAT, "-1e4", -10000.0),
        (OptionType.FLOAT, "2", 2.0),
        (OptionType.STRING, " az 1", " az 1"),
        (OptionType.LIST, "a=1.0, b=-1.0,", ("a=1.0", "b=-1.0")),
        (OptionType.LIST, "", ()),
    ],
)
def test_a_text_becomes_a_value_of_the_options_kind(kind, text, value):
    found = nova_conf.parse(option(kind), text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "limits", "text", "words"),
    [
        (OptionType.BOOLEAN, {}, "2", "true or false"),
        (OptionType.INTEGER, {}, "1.5", "a whole number"),
        (OptionType.INTEGER, {"minimum": -1}, "-2", "a whole number of -1 or more"),
        (OptionType.FLOAT, {}, "1,5", "a number"),
        (OptionType.FLOAT, {"minimum": 0}, "-0.5", "a number of 0 or more"),
        (
            OptionType.STRING,
            {"choices": ARCHITECTURES},
            "arm",
            "one of x86_64, aarch64",
        ),
    ],
)
def test_what_nova_would_take_instead_is_said(kind, limits, text, words):
    with pytest.raises(ValueError, match=f"^{words}$"):
        nova_conf.parse(option(kind, **limits), text)


@pytest.mark.parametrize(
    ("kind", "limits", "text"),
    [
        (OptionType.INTEGER, {"minimum": -1}, "-1"),
        (OptionType.FLOAT, {"minimum": 0}, "0"),
        (OptionType.STRING, {"choices": ARCHITECTURES}, "aarch64"),
    ],
)
def test_a_limit_is_within_itself(kind, limits, text):
    assert str(nova_conf.parse(option(kind, **limits), text)).startswith(text)


# Fragments, read back as Nova, Heat and RHOSO would read them.


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
FRAGMENT_TEXTS = {NOVA_CONF: CONFS, ENVIRONMENTS: OVERCLOUDS, CONTROL_PLANE: PLANES}
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


def fragment_read(source, release, *paths):
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
    present = write("10", FRAGMENT_TEXTS[source][name])
    before = fragment_read(source, release, present)
    text = "".join(layer.text for layer in source.read([present]))
    for wanted in WANTED:
        if possible(source, release, wanted):
            values = options.switch(wanted, before).values
            last = write("99", source.write(values, release, text))
            check(before, fragment_read(source, release, present, last), wanted)


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
    told = rf"no parameter for {re.escape(text.option(name))}; it takes hieradata"
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
