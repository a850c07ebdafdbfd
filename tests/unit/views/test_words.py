"""Words of explanations: host filters, flavors of an image, refusals by Nova."""

from __future__ import annotations

import ast
import dataclasses
import pathlib

import pytest

import osc_traitsched
from osc_traitsched.commands.base import ExitCode
from osc_traitsched.commands.explain import exit_code
from osc_traitsched.core import errors
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.filtering import Filtering
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.judge.reasons import chosen, picks
from osc_traitsched.core.nova import building
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Fails,
    HostState,
    Raises,
    ServerGroup,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import FilterAnswers
from osc_traitsched.core.nova.own import PluginJudgment, Weighed
from osc_traitsched.views import check
from osc_traitsched.views.explain import document
from osc_traitsched.views.explain import reasons as weights
from osc_traitsched.views.explain import text as explain_text
from osc_traitsched.views.explain.reasons import problem
from tests.property.building import identity
from tests.unit.core import scheduled
from tests.unit.core.check.surveys import assumed, findings, flavor, host, image, survey
from tests.unit.core.filter.asked import REPORT
from tests.unit.core.scheduled import asking
from tests.unit.core.test_explanation import explained

# The answer where host filters and weighers have a say in it.


CLOUD = {"cloud": {"a": {}, "b": {}, "c": {}}}
ODD = {
    **CLOUD,
    "flavor": {"aggregate_instance_extra_specs:ssd": ">= many"},
    "aggregates": {"fast": {"hosts": ["a"], "metadata": {"ssd": "true"}}},
}
DOWN = {"is_up": False}


def reports(free_ram_mb, **more):
    free = {"free_ram_mb": free_ram_mb, "running_vms": 0}
    return {"report": dataclasses.replace(REPORT, **free), **more}


def found(body=CLOUD, given="abc", *filters, **states):
    return chosen(scheduled.explained(body, given, *filters, **states))


def text(judgement):
    return [line.text for line in explain_text.lines(Explanation(judgement), (), False)]


def whole(judgement):
    return document.document(Explanation(judgement), judgement.hosts)


def several(judgement, count):
    question = asking(judgement.question, count=count)
    return dataclasses.replace(judgement, question=question)


def refused():
    failed = found(ODD, "abc", scheduled.SPECS)
    return dataclasses.replace(failed, refusal=failed.candidates.failure)


PINNED = {"flavor": {"hw:cpu_policy": "dedicated"}}


def pinned():
    return with_counts(found({**CLOUD, **PINNED}), 900, 1200)


def with_counts(judgement, *counts):
    """Return the judgement with so many allocation requests for each query."""
    placement = dataclasses.replace(judgement.placement, counts=counts)
    return dataclasses.replace(judgement, placement=placement)


BEST = {"a": reports(100), "b": reports(4000), "c": reports(200)}
#: The host that is tried first has a server, which may be from the last minute.
USED = dataclasses.replace(BEST["b"]["report"], running_vms=1)
USED = {**BEST, "b": {"report": USED}}
#: With it the order depends on earlier requests, until Ussuri.
ROOMY = {"free_ram_mb": 1, "disk_available_least": 90, "running_vms": 0}
ROOMY = {**BEST, "a": {"report": dataclasses.replace(REPORT, **ROOMY)}}

STATES = {
    "ended-by-a-filter": refused,
    "hosts-down": lambda: found(a=DOWN, b=DOWN, c={}),
    "filters-decide": lambda: found(CLOUD, "ab", scheduled.OWN),
    "filters-decide-too-many": lambda: several(found(CLOUD, "ab", scheduled.OWN), 17),
    "filters-decide-which-is-first": lambda: found(CLOUD, "abc", scheduled.OWN, **USED),
    "filters-with-other-names": lambda: found(
        CLOUD, "abc", "OurFilter", "AggregateMatchFilter"
    ),
    "pinned-without-dedicated-cpus": lambda: found(
        {**CLOUD, **PINNED}, "abc", "NUMATopologyFilter"
    ),
    "first-host": lambda: found(**BEST),
    "first-host-unless-used": lambda: found(**USED),
    "first-host-of-several": lambda: several(found(**BEST), 2),
    "first-host-by-earlier-requests": lambda: found(release=21, **ROOMY),
    "first-host-is-any": lambda: found(),
    "answers-cut-off-by-nova": pinned,
}


@pytest.mark.parametrize("state", STATES)
def test_a_person_gets_what_filters_decide_and_which_host_is_first(golden, state):
    golden(f"explain/{state}", text(STATES[state]()))


def test_a_filter_that_only_down_hosts_fail_leaves_nothing_uncertain():
    states = {"a": DOWN, "b": DOWN, "c": {}}
    body = {**CLOUD, "flavor": {"aggregate_instance_extra_specs:ssd": "true"}}
    assert found(body, "abc", "JsonFilter", **states).candidates.uncertain == ()


def test_more_servers_than_there_is_room_for_are_a_no_whatever_filters_say():
    unsure = found(CLOUD, "ab", scheduled.OWN)
    assert exit_code(unsure) is ExitCode.UNKNOWN
    many = several(unsure, 17)
    assert exit_code(many) is ExitCode.NO_HOST
    assert whole(many)["verdict"] == "no room"


def test_no_host_is_picked_if_there_is_one_or_the_order_is_not_known():
    assert weights.pick(found(given="a")) == ""
    unknown = found(release=21, **ROOMY)
    assert whole(unknown)["picks"] == []
    (line,) = weights.order(unknown.ranking)
    assert "bug 1870096" in line
    assert [*weights.order(found(release=21).ranking)] == []
    assert [*weights.order(found(**BEST).ranking)] == []


@pytest.mark.parametrize(
    ("counts", "named"),
    [((1000,), ["b"]), ((1001,), []), ((900, 900), ["b"]), ((1, 1001), [])],
)
def test_no_host_is_picked_where_nova_does_not_see_all_candidates(counts, named):
    """Of a pinned server Nova takes as many of each of its two queries."""
    many = with_counts(found(**BEST), *counts)
    assert [host.name for host in picks(many)] == named
    assert whole(many)["allocation_request_count"] == sum(counts)


def test_no_host_is_picked_where_placement_cuts_its_answer():
    judgement = found(**BEST)
    facts = judgement.facts.with_cut_off(frozenset({identity("b")}))
    assert picks(dataclasses.replace(judgement, facts=facts)) == ()


@pytest.mark.parametrize(
    ("policy", "most", "is_there"),
    [
        ("anti-affinity", 3, True),
        ("anti-affinity", 4, False),
        ("affinity", 8, True),
        ("affinity", 9, False),
        ("soft-affinity", 24, True),
    ],
)
def test_the_policy_of_a_group_says_how_many_servers_have_room(policy, most, is_there):
    judgement = found()
    asked = asking(judgement.question, count=most, group=ServerGroup("g", policy))
    assert dataclasses.replace(judgement, question=asked).has_room is is_there


def test_servers_of_the_group_on_a_host_take_its_room():
    group = ServerGroup("g", "anti-affinity", 2, frozenset({"s1"}), frozenset("a"))
    judgement = found()
    asked = dataclasses.replace(
        judgement.question, group=group, servers={"s1": ("a", "a")}
    )
    assert dataclasses.replace(judgement, question=asked).room.most == 5


# Which flavors can boot an image, on one screen.


FILTER = "NUMATopologyFilter"


def of_flavor(name, hosts, is_sure=True):
    """Return a flavor that so many hosts can take."""
    names = [f"cmp{number:02d}" for number in range(hosts)]
    found = explained({"cloud": {each: {} for each in names}}, names)
    body = {**found.question.flavor, "name": name}
    question = dataclasses.replace(found.question, flavor=body, image={"name": "raw"})
    answers = {} if is_sure else {h.uuid: Unknown("cells") for h in found.hosts}
    judgment = FilterAnswers((FILTER,), {FILTER: answers})
    return dataclasses.replace(found, question=question, filtering=Filtering(judgment))


# What Nova rejects is said in words for whoever has to change it.


_NOVA = pathlib.Path(osc_traitsched.__file__).parent / "core" / "nova"


def reasons():
    """Return the second argument of each refusal in the core."""
    for path in sorted(_NOVA.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Refusal":
                reason = node.args[1]
                if isinstance(reason, ast.Constant):
                    yield reason.value


def test_each_reason_has_words():
    found = {*reasons(), building.zone_refusal("z", {}).reason}
    assert len(found) > 30
    for reason in sorted(found):
        refusal = Refusal("ValueError", reason, ("a_key",))
        assert errors.wrong(refusal).endswith(" (ValueError)")
        assert "{}" not in errors.wrong(refusal) + errors.right(refusal)


def row(*, specs=None, properties=None, release=33):
    """Return the words of what Nova rejects: the problem, and what to do."""
    flavors = [flavor("f", {"vcpus": 4}, **(specs or {}))]
    images = [image("i", **properties)] if properties else []
    cloud = survey([host("a")], flavors, images, assumptions=assumed(release))
    ((_, _, _, problem, fix),) = check.rows(findings(cloud, "traits-rejected"))[1]
    return f"{problem}\n    {fix}"


REFUSED = [
    {"specs": {"hw__numa_nodes": "3"}},
    {"properties": {"block_device_mapping": "["}},
    {"specs": {"pci_passthrough__alias": "a1"}},
    {"specs": {"hw__cpu_policy": "odd"}},
    # No value is offered that the release does not have yet.
    {"specs": {"hw__cpu_policy": "odd"}, "release": 21},
    {"specs": {"hw__pci_numa_affinity_policy": "odd"}, "release": 22},
    {"properties": {"hw_mem_encryption": "true", "hw_firmware_type": "bios"}},
    {"properties": {"hw_firmware_type": "odd"}},
    {"properties": {"hw_architecture": "odd"}},
    # Of a flavor and an image that contradict each other both are named.
    {
        "specs": {"hw__cpu_policy": "shared"},
        "properties": {"hw_cpu_policy": "dedicated"},
    },
]


def test_the_words_say_what_is_wrong_and_what_would_be_right(golden):
    golden("check/rejected-by-nova", [row(**each) for each in REFUSED])


def test_no_line_is_long_however_many_keys_are_wrong():
    many = {f"hw_numa_cpus.{n}": "0" for n in range(128)}
    problem = row(properties={"hw_numa_nodes": "130", **many})
    assert problem.count("hw_numa_") == 10
    assert " and 119 more (ImageNUMATopologyIncomplete)" in problem


# What one's own filters and weighers say, as rows and lines.


HOSTS = tuple(HostState(Compute(f"u{n}", f"cmp{n}", f"cmp{n}")) for n in range(4))
ANSWERS = {
    "u0": PASSES,
    "u1": Fails("too small\nnot ours"),
    "u2": Unknown("numa_topology"),
    "u3": Raises("ValueError", "", "no number"),
}
LOGS = {"u0": (), "u1": ("too small", "not ours"), "u2": ("tried",), "u3": ()}


@dataclasses.dataclass(frozen=True)
class Trial:
    judgment: PluginJudgment
    hosts: tuple[HostState, ...] = HOSTS


def filtered(answers=ANSWERS):
    return Trial(PluginJudgment("34.0.0", {"F": answers}, {}, {"F": LOGS}))


def weighed(weights):
    return Trial(PluginJudgment("34.0.0", {}, {"W": weights}, {"W": {"": ()}}))


def machine(row):
    return [getattr(cell, "machine_readable", lambda c=cell: c)() for cell in row]


def test_a_filter_has_a_row_a_host_with_answer_and_reason():
    columns, rows = weights.rows(filtered())
    unseen = "it reads numa_topology, which is not visible here"
    assert columns == ("host", "answer", "reason")
    assert [machine(row) for row in rows] == [
        ["cmp0", "passes", []],
        ["cmp1", "fails", ["too small", "not ours"]],
        ["cmp2", "unknown", [unseen, "tried"]],
        ["cmp3", "raises", ["ValueError: no number"]],
    ]


def test_a_weighers_first_row_is_the_host_that_it_puts_first():
    figures = {"u0": 1.0, "u1": 3.0, "u2": 2.0, "u3": 1.0}
    normal = {"u0": 0.0, "u1": 1.0, "u2": 0.5, "u3": 0.0}
    minus = dict.fromkeys(figures, -2.0)
    columns, rows = weights.rows(weighed(Weighed(figures, normal, minus)))
    assert columns == ("host", "raw", "normalized", "multiplier", "score")
    assert [row[0] for row in rows] == ["cmp0", "cmp3", "cmp2", "cmp1"]
    assert rows[-1] == ("cmp1", 3.0, 1.0, -2.0, -2.0)


def test_a_weigher_that_can_not_be_judged_has_rows_without_figures():
    _, rows = weights.rows(weighed(Unknown("pci_stats")))
    assert rows[0] == ("cmp0", None, None, None, None)
    assert len(rows) == len(HOSTS)


NO_FIGURES = weighed(Unknown("Nova's database"))
RAISED = weighed(Raises("KeyError", "", "'x'"))


def test_what_would_fail_requests_is_one_line(golden):
    golden("filter-try/problems", map(problem, (filtered(), NO_FIGURES, RAISED)))
    for trial in (filtered({"u0": PASSES}), weighed(Weighed({}, {}, {}))):
        assert problem(trial) == ""
