"""One new row of a filter, weigher, prefilter or option counts everywhere."""

from __future__ import annotations

import ast
import dataclasses
import pathlib
import runpy

import pytest

import osc_traitsched
from osc_traitsched.config import deployments
from osc_traitsched.core.answer import Diagnosis
from osc_traitsched.core.check.survey import is_lasting
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.judge import judgement
from osc_traitsched.core.judge.doubts import switches
from osc_traitsched.core.judge.filtering import UnreadHint, filtering, unread_hints
from osc_traitsched.core.nova import options, prefilter
from osc_traitsched.core.nova.clause import HostFilter, MemberOf, Origin
from osc_traitsched.core.nova.evidence import with_evidence
from osc_traitsched.core.nova.filter import compute, special, state, table
from osc_traitsched.core.nova.filter.groups import policies_off
from osc_traitsched.core.nova.filter.table import FILTERS, NovaFilter, Reads
from osc_traitsched.core.nova.options import (
    OPTIONS,
    Consumer,
    Option,
    OptionType,
    SchedulerSettings,
    Setting,
    switch,
)
from osc_traitsched.core.nova.prefilter import PREFILTERS, Prefilter
from osc_traitsched.core.nova.weighers import WEIGHERS, Weigher, Weights, ranking
from osc_traitsched.core.releases import NEWEST
from osc_traitsched.core.servers.fleet import Unmet
from osc_traitsched.views import config, misplaced
from osc_traitsched.views.explain import reasons, words
from tests.unit.core.check.surveys import aggregate, assumed, findings, survey
from tests.unit.core.check.surveys import host as surveyed
from tests.unit.core.filter.asked import REPORT, host, settings, spec
from tests.unit.core.residents import FINE, said, server
from tests.unit.core.scheduled import COMPUTE, computes, question

NAME, KEY = "MadeUpFilter", "made_up"
FAILS = state.Fails(state.AT_LIMIT, KEY, "2", ("3",))
CLOUD = {"cloud": {"a": {}}}
PACKAGE = pathlib.Path(osc_traitsched.__file__).parent
ON = "filter_scheduler__enabled_filters"


def rejects(host, spec, settings):
    """Reject every host (``MadeUpFilter``)."""
    return FAILS


def is_unknown(host, spec, settings):
    """Know nothing."""
    return state.Unknown("secrets", KEY)


@pytest.fixture
def add(monkeypatch):
    """Add a host filter."""

    def add(judge=rejects, **facts):
        row = NovaFilter(NAME, judge, "made-up hosts", **facts)
        monkeypatch.setitem(FILTERS, NAME, row)

    return add


@pytest.fixture
def add_option(monkeypatch):
    """Add a boolean option of [scheduler]."""

    def add_option(consumer=Consumer.PREFILTER, name="scheduler.made_up", **facts):
        row = Option(name, OptionType.BOOLEAN, False, consumer, **facts)
        monkeypatch.setitem(OPTIONS, name, row)
        return name

    return add_option


def tables():
    """What makes the tables of the reference, read now."""
    path = pathlib.Path(__file__).parents[2] / "doc" / "rows.py"
    return runpy.run_path(str(path))["table"]


@pytest.fixture(scope="module")
def reference():
    """Tables of the reference."""
    return tables()


# Host filters.


def test_explain_judges_and_words_a_new_filter(add):
    add()
    found = filtering(question(CLOUD, NAME), computes(CLOUD).values())
    assert [each.name for each in found.conditions] == [NAME]
    assert reasons.wanted(HostFilter(NAME)) == f"made-up hosts ({NAME})"
    assert reasons.answer(FAILS, NAME) == "is at the limit: 3 of 2 (made_up)"
    assert found.filters_of_rebuild == ()


def test_a_new_filter_of_a_rebuild_judges_a_rebuild(add):
    add(on_rebuild=True)
    found = filtering(question(CLOUD, NAME), computes(CLOUD).values())
    assert found.filters_of_rebuild == (NAME,)


def test_a_hint_of_a_new_filter_is_read(add):
    add(hints=(KEY,))
    hints = {KEY: ("x",)}
    off = UnreadHint(KEY, NAME)
    assert unread_hints(question(CLOUD, COMPUTE, hints=hints)) == (off,)
    assert unread_hints(question(CLOUD, NAME, hints=hints)) == ()


@pytest.mark.parametrize(
    ("facts", "metadata", "is_shown"),
    [
        ({}, {}, True),
        ({"aggregate_keys": (KEY,)}, {KEY: "1"}, True),
        ({"aggregate_keys": (KEY,)}, {}, False),
        ({"hints": (KEY,)}, {KEY: "1"}, False),
    ],
)
def test_a_new_filter_may_be_on_if_what_it_reads_is_there(
    add, facts, metadata, is_shown
):
    add(**facts)
    found = table.unsettled([host(metadata=[metadata])], spec(), SchedulerSettings())
    assert (NAME in found.names) is is_shown


def test_what_a_new_filter_claims_counts_without_it(add):
    add(is_unknown, is_claimed=True)
    off = settings(**{ON: (COMPUTE,)})
    assert table.unsettled([host()], spec(), off).names == (NAME,)


MISPLACED = f"{reasons.answer(FAILS, NAME)} ({NAME})"


@pytest.mark.parametrize(
    ("judge", "facts", "image", "answer"),
    [
        (rejects, {}, "raw", "misplaced"),
        (rejects, {"reads": (Reads.USE,)}, "raw", "fine"),
        (rejects, {"reads": (Reads.SERVICE,)}, "raw", "fine"),
        # Other servers are looked for only if a group or a hint names them.
        (rejects, {"reads": (Reads.SERVERS,)}, "raw", "fine"),
        (rejects, {}, "deleted", "misplaced"),
        (rejects, {"reads": (Reads.IMAGE,)}, "deleted", "unknown"),
        (is_unknown, {}, "raw", "unknown"),
        (is_unknown, {"is_claimed": True}, "raw", "fine"),
    ],
)
def test_misplaced_asks_a_new_filter_what_stays_of_its_answer(
    add, judge, facts, image, answer
):
    add(judge, **facts)
    found = said(CLOUD, [server("s", "a", image=image)], NAME)["s"]
    assert found.answer == answer
    if answer == "misplaced":
        assert found.why == (MISPLACED,)


def test_before_hints_are_shown_misplaced_does_not_know_what_a_new_filter_reads(add):
    add(lambda *_: state.PASSES)
    assert said(CLOUD, [server("s", "a")], NAME, minor=99) == {"s": FINE}
    add(lambda *_: state.PASSES, hints=(KEY,))
    found = said(CLOUD, [server("s", "a")], NAME, minor=99)["s"]
    assert "hints are not shown" in found.why[0]


@pytest.mark.parametrize(("keys", "lower"), [((), 5), ((compute.MAX_INSTANCES,), 1)])
def test_capacity_counts_what_a_new_filter_counts(add, keys, lower):
    counts = compute.MAX_INSTANCES
    add(options=(options.MAX_INSTANCES,), aggregate_keys=keys, counts=counts)
    on = settings(**{ON: (NAME,), "filter_scheduler__max_instances_per_host": 8})
    assert REPORT.running_vms == 3
    for metadata, left in ((), 5), ([{counts: "4"}], lower):
        one = host(metadata=metadata)
        found = table.servers_left([one], spec(), on)
        assert found == {one.compute.uuid: (left, left)}


def test_a_new_filter_of_flavor_names_is_among_those_that_read_them(add):
    add(reads=(Reads.FLAVOR_NAME,))
    assert NAME in table.reading(Reads.FLAVOR_NAME)


def checked(rule, *aggregates, release=33, enabled=(COMPUTE,), **given):
    """What check finds with these filters on."""
    values = {ON: enabled, **given}
    found = {
        name.replace("__", "."): Setting(value, "nova.conf:1", given=True)
        for name, value in values.items()
    }
    on = dataclasses.replace(assumed(release), settings=found)
    cloud = survey([surveyed("a")], aggregates=aggregates, assumptions=on)
    return [each.words() for each in findings(cloud, rule)]


def test_check_finds_the_key_and_the_option_of_a_new_filter_that_is_off(
    add, add_option
):
    add_option(Consumer.FILTER, "filter_scheduler.made_up")
    add(aggregate_keys=(KEY,), options=("filter_scheduler.made_up",))
    (words,) = checked("filters-key-off", aggregate("x", "a", made_up="1"))
    assert NAME in words.problem
    given = {"filter_scheduler__made_up": True}
    (words,) = checked("filters-option-off", **given)
    assert NAME in words.problem
    (words,) = checked("config-reader-off", **given)
    assert NAME in words.problem
    assert checked("filters-option-off", enabled=(NAME,), **given) == []


def test_check_says_what_replaces_a_new_filter_that_went(add):
    add(until=30, successor="a spell does its work")
    assert checked("config-filter-gone", release=29, enabled=(COMPUTE, NAME)) == []
    (words,) = checked("config-filter-gone", release=30, enabled=(COMPUTE, NAME))
    assert words.fix == "take it out of the list: a spell does its work"


# Weighers.


def weigh(hosts, spec, settings):
    """Weigh names (made_up.py)."""
    return Weights([float(len(each.host)) for each in hosts])


def test_a_new_weigher_is_ranked_checked_and_needed(monkeypatch, add_option, reference):
    name = "filter_scheduler.made_up_weight_multiplier"
    add_option(Consumer.WEIGHER, name)
    monkeypatch.setitem(OPTIONS, name, dataclasses.replace(OPTIONS[name], default=2.0))
    row = Weigher("MadeUpWeigher", "made_up", weigh, name, policy="made-up")
    monkeypatch.setitem(WEIGHERS, row.name, row)
    found = ranking([host("a"), host("bbb")], spec(), settings())
    assert "MadeUpWeigher" in [each.weigher for each in found.columns]
    only_others = {"filter_scheduler__weight_classes": (WEIGHERS["RAMWeigher"].path,)}
    assert policies_off(settings(**only_others))["made-up"] == row.name
    agg = aggregate("x", "a", made_up_weight_multiplier="1")
    (words,) = checked("weighers-key-off", agg, **only_others)
    assert "MadeUpWeigher is not on" in words.problem
    given = {"filter_scheduler__made_up_weight_multiplier": 3.0}
    (words,) = checked("config-reader-off", **only_others, **given)
    assert row.name in words.problem
    assert "``MadeUpWeigher``" in reference("weighers")
    assert "- Weigh names. Times ``[filter_scheduler]made_up" in reference("weighers")


# Prefilters.


def restricts(so_far, server, assumptions):
    """Restrict to made-up aggregates."""
    yield MemberOf(frozenset(["x"]), False, ())


@pytest.fixture
def add_prefilter(monkeypatch):
    """Add a prefilter."""

    def add_prefilter(**facts):
        row = Prefilter("made_up_filter", restricts, **facts)
        monkeypatch.setattr(prefilter, "PREFILTERS", (*PREFILTERS, row))
        return MemberOf(frozenset("x"), False, (Origin("prefilter", row.name),))

    return add_prefilter


def asked_by(asked):
    """Names of the prefilters in a request."""
    return {prefilter.name_of(each) for each in asked.request().clauses}


def test_a_new_prefilter_asks_placement_if_its_option_is_on(add_option, add_prefilter):
    add_prefilter(option=add_option())
    asked = question(CLOUD)
    assert "made_up_filter" not in asked_by(asked)
    varied = dict(switches(asked))["scheduler.made_up"]
    assert "made_up_filter" in asked_by(varied)


def test_a_new_prefilter_has_its_words(add_prefilter, reference):
    clause = add_prefilter(place="the made-up {names}", objection="is not in {names}")
    assert words.clause(clause, filtered()) == "in the made-up x"
    assert misplaced.text(Unmet(clause), {"x": "nice"}) == "is not in nice"
    assert "``made_up_filter``" in reference("prefilters")


def filtered():
    """A request for a cloud."""
    return judgement.RefusedRequest(question(CLOUD), Refusal("ImageBad", "too-bad"))


@pytest.mark.parametrize("is_passing", [True, False])
def test_a_new_prefilter_that_hosts_pass_makes_no_server_misplaced(
    add_prefilter, is_passing
):
    clause = add_prefilter(is_passing=is_passing)
    assert is_lasting(clause) is not is_passing


# Options.


def test_a_new_option_has_its_names_and_defaults(add_option, reference):
    name = add_option(
        title="the made-up check",
        effect=("made-up", "if on, all is made up"),
        switches=("made-up", "invented"),
        needs=options.TENANT,
        baselines=((options.OSA, 20, True),),
    )
    assert reasons.name(name) == "the made-up check"
    unknown = Diagnosis(SchedulerSettings(), (), {name: ()})
    assert "made-up" in config.verdict(unknown)
    assert "all is made up" in str(config.doctor_rows(unknown, ()))
    turned = switch(["made-up"], SchedulerSettings(29))
    assert turned.values == {options.TENANT: True, name: True}
    assert deployments.settings(options.OSA, NEWEST)[name].value
    assert "``[scheduler]made_up``" in reference("options")
    assert "- ``made-up``\n" in reference("switches")


def test_a_new_option_can_be_assumed_by_evidence(add_option):
    name = add_option(
        keys=lambda metadata, _: [each for each in metadata if each == KEY],
        evidence="{key}={value}",
    )
    aggregates = [aggregate("x", **{KEY: "1"})]
    found = with_evidence(SchedulerSettings(), aggregates).setting(name)
    assert (found.value, found.source) == (True, "aggregate x has made_up=1")


def test_a_parameter_of_tripleo_is_one_of_an_option():
    rows = OPTIONS.values()
    expected = {row.parameter: row.name for row in rows if row.parameter}
    assert expected == deployments.PARAMETERS


# Columns.


def test_a_new_column_is_in_the_reference(monkeypatch):
    monkeypatch.setattr(config, "COLUMNS", (*config.COLUMNS, KEY))
    assert "``status``, ``made_up``\n" in tables()("columns")


# No table stands beside the rows.

#: Where the rows are, and their names.
HOMES = {
    "core/nova/filter": frozenset(FILTERS),
    "core/nova/weigher": frozenset(WEIGHERS),
    "core/nova/prefilter.py": frozenset(row.name for row in PREFILTERS),
    "core/nova/options.py": frozenset(OPTIONS),
}


@pytest.mark.parametrize("home", HOMES)
def test_the_name_of_a_row_is_written_beside_the_rows_alone(home):
    elsewhere = [
        (str(path.relative_to(PACKAGE)), node.value)
        for path in sorted(PACKAGE.rglob("*.py"))
        if not str(path.relative_to(PACKAGE)).startswith(home)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and node.value in HOMES[home]
    ]
    assert elsewhere == []


def test_every_row_of_a_filter_is_in_the_reference(reference):
    text = reference("host-filters")
    assert all(f"``{name}``" in text for name in FILTERS)
    row = text.partition(f"``{special.ZONE}``\n")[2].partition("\n   * ")[0]
    assert "     - until 2023.1" in row
