"""The first lines of an explanation: the answer, and why."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest

from osc_traitsched.core.explain.option_impact import OptionImpact
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.views.explain import headline, prose, reasons
from osc_traitsched.views.terminal import Tone
from tests.unit.core.test_explanation import explained

GOLD = {"trait:CUSTOM_GOLD": "required"}
FULL = {
    "inventories": {"VCPU": 8, "MEMORY_MB": {"total": 1024, "used": 768}, "DISK_GB": 9}
}


def text(explanation, shown=(), width=0):
    return [line.text for line in prose.lines(explanation, shown, False, width=width)]


def gold(candidates=(), **cloud):
    return explained({"cloud": cloud, "flavor": GOLD}, candidates)


HAS = {"traits": ["CUSTOM_GOLD"]}


def test_the_first_lines_are_the_answer_and_why():
    lines = text(gold(a={}, b={}, c={**FULL, **HAS}))
    assert lines[:2] == [
        "No host can take it: 0 of 3.",
        "2 lack the trait CUSTOM_GOLD (flavor flavor), 1 more cannot give 512 MB "
        "of memory (flavor flavor).",
    ]


def test_candidates_are_named_and_the_others_are_accounted_for():
    cloud = {f"cmp{n:03}": HAS for n in range(1, 13)}
    found = gold(tuple(cloud), **cloud, **{"cmp013": {}})
    assert text(found)[:3] == [
        "12 of 13 hosts can take it.",
        "Candidates: cmp[001-012]",
        "Of the others 1 lacks the trait CUSTOM_GOLD (flavor flavor).",
    ]


@pytest.mark.parametrize(
    ("candidates", "tone"), [((), Tone.NO), (("a",), Tone.YES), (("b",), Tone.DOUBT)]
)
def test_yes_no_and_doubt_can_be_told_at_a_glance(candidates, tone):
    cloud = {"a": HAS, "b": {}} if candidates == ("a",) else {"b": {}}
    first, *_ = headline.lines(gold(candidates, **cloud))
    assert first.tone is tone


@pytest.mark.parametrize(
    ("setting", "gained", "lost", "is_beside"),
    [
        (Setting(False, "the default of 2026.1"), 0, 1, True),
        (Setting(False, "the default of 2026.1"), 1, 1, False),
        (Setting(False, "nova.conf:3", given=True), 0, 1, False),
    ],
)
def test_only_what_is_assumed_and_would_turn_the_verdict_stands_beside_it(
    setting, gained, lost, is_beside
):
    impact = OptionImpact("scheduler.some_option", setting, gained, lost)
    found = dataclasses.replace(gold(["a"], a=HAS), option_impacts=(impact,))
    said = (
        "ASSUMED: [scheduler]some_option = false (the default of 2026.1); otherwise no "
        "host could take it"
    )
    assert (said in text(found)) is is_beside


@pytest.mark.parametrize(
    ("stock", "said"),
    [
        (
            Stock(7680, 6144),
            "has too little memory: 1536 MB free of 7680, 4096 asked",
        ),
        (
            Stock(65536, 0, 65536, 0, 1.0, 1, 2048, 1),
            "cannot give 4096 MB of memory: 2048 MB at most for one server (max_unit), "
            "4096 asked",
        ),
        (
            Stock(65536, 0, 65536, 0, 1.0, 8192, 65536, 1),
            "cannot give 4096 MB of memory: 8192 MB at least (min_unit), 4096 asked",
        ),
        (
            Stock(65536, 0, 65536, 0, 1.0, 1, 65536, 3),
            "cannot give 4096 MB of memory: only multiples of 3 MB (step_size), 4096 "
            "asked",
        ),
    ],
)
def test_a_unit_is_named_only_where_it_is_in_the_way(stock, said):
    assert reasons.shortage(Resource("", "MEMORY_MB", 4096, ()), stock) == said


def test_the_reason_of_one_host_has_its_figures():
    lines = text(gold(a={**FULL, **HAS}))
    assert "  a has too little memory: 256 MB free of 1024, 512 asked" in lines


def test_hosts_of_one_reason_are_one_line_with_the_figures_of_the_first():
    cloud = {f"cmp{n}": {**FULL, **HAS} for n in range(1, 5)}
    assert (
        "  cmp[1-4] cannot give 512 MB of memory (cmp1: 256 MB free of 1024, 512 asked)"
        in text(gold(**cloud))
    )
    assert text(gold(**cloud))[1] == (
        "None of the 4 can give 512 MB of memory (flavor flavor)."
    )


def test_hosts_that_are_all_down_are_no_promise():
    found = gold(["a"], a=HAS)
    (host,) = found.candidates
    down = Compute(host.uuid, "a", "a", is_up=False)
    found = dataclasses.replace(found, computes={host.uuid: down})
    assert text(found)[0] == (
        "Placement gives 1 of 1 host, but nova-compute is down there."
    )


def test_too_little_room_for_all_servers_is_said_first():
    found = gold(["a"], a=HAS)
    question = found.question.with_spec(count=900)
    found = dataclasses.replace(found, question=question)
    assert text(found)[0].startswith("Not all 900 find a host, and then ")


def test_a_host_that_fails_more_has_a_line_for_each():
    lines = text(gold(a=FULL))
    where = lines.index("  a:")
    assert lines[where + 1 : where + 3] == [
        "    lacks the trait CUSTOM_GOLD",
        "    has too little memory: 256 MB free of 1024, 512 asked",
    ]


def test_why_a_service_was_disabled_is_said_once():
    found = explained({"cloud": {"a": {"traits": ["COMPUTE_STATUS_DISABLED"]}}})
    (host,) = found.hosts
    down = Compute(host.uuid, "a", "a", is_enabled=False, disabled_reason="new DIMMs")
    found.computes[host.uuid] = down
    assert [line for line in text(found) if "disabled" in line][1:2] == [
        "  a is disabled: new DIMMs"
    ]
    assert "\n".join(text(found)).count("new DIMMs") == 1


def test_different_reasons_for_disabling_are_said_of_each_host():
    disabled = {"traits": ["COMPUTE_STATUS_DISABLED"]}
    found = explained({"cloud": {"a": disabled, "b": disabled}})
    for host in found.hosts:
        found.computes[host.uuid] = Compute(
            host.uuid,
            host.name,
            host.name,
            is_enabled=False,
            disabled_reason=f"reason {host.name}",
        )
    lines = text(found)
    where = lines.index("  a, b are disabled")
    assert lines[where + 1 : where + 3] == [
        "    a: its nova-compute is disabled: reason a",
        "    b: its nova-compute is disabled: reason b",
    ]


def test_a_table_is_no_wider_than_the_terminal():
    option = {"scheduler.enable_isolated_aggregate_filtering": True}
    aggregates = {
        "gold": {"metadata": {"trait:CUSTOM_GOLD": "required"}, "hosts": ["a"]}
    }
    body = {"cloud": {"a": {"aggregates": ["gold"]}}, "aggregates": aggregates}
    found = explained({**body, "options": option})
    rows = [line for line in text(found, width=80) if line.startswith(("|", "+"))]
    assert rows
    assert max(map(len, rows)) <= 80
    wide = [line for line in text(found) if line.startswith("|")]
    assert max(map(len, wide)) > 80


@pytest.mark.parametrize(
    ("width", "environment", "shown"),
    [
        (80, {"FORCE_COLOR": "1"}, "\x1b[1m\x1b[31mNo\\x1b[2J\x1b[0m"),
        (80, {"NO_COLOR": "1"}, r"No\x1b[2J"),
        (0, {"FORCE_COLOR": "1"}, r"No\x1b[2J"),
    ],
)
def test_only_a_terminal_with_color_is_painted(width, environment, shown):
    code = (
        "from osc_traitsched.views.terminal import Line, Tone, painted;"
        f"print(painted(Line('No\\x1b[2J', Tone.NO), {width}), end='')"
    )
    # termcolor looks at the environment once.
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == shown
