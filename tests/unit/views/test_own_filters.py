"""What one's own filters and weighers say, as rows and lines."""

import dataclasses

from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.filter.state import (
    PASSES,
    Fails,
    HostState,
    Raises,
    Unknown,
)
from osc_traitsched.core.nova.own import PluginJudgment, Weighed
from osc_traitsched.views.explain import reasons
from osc_traitsched.views.explain.reasons import problem

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
    columns, rows = reasons.rows(filtered())
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
    columns, rows = reasons.rows(weighed(Weighed(figures, normal, minus)))
    assert columns == ("host", "raw", "normalized", "multiplier", "score")
    assert [row[0] for row in rows] == ["cmp0", "cmp3", "cmp2", "cmp1"]
    assert rows[-1] == ("cmp1", 3.0, 1.0, -2.0, -2.0)


def test_a_weigher_that_can_not_be_judged_has_rows_without_figures():
    _, rows = reasons.rows(weighed(Unknown("pci_stats")))
    assert rows[0] == ("cmp0", None, None, None, None)
    assert len(rows) == len(HOSTS)


NO_FIGURES = weighed(Unknown("Nova's database"))
RAISED = weighed(Raises("KeyError", "", "'x'"))


def test_what_would_fail_requests_is_one_line(golden):
    golden("filter-try/problems", map(problem, (filtered(), NO_FIGURES, RAISED)))
    for trial in (filtered({"u0": PASSES}), weighed(Weighed({}, {}, {}))):
        assert problem(trial) == ""
