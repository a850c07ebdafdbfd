"""What an operator needs first is not below what can be asked for."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.explain.fix import (
    Action,
    HostChange,
    HostFix,
    RequestChange,
    RequestFix,
)
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.clause import MemberOf, Origin, RootTrait
from osc_traitsched.core.nova.request.checks import zone_refusal
from osc_traitsched.views.explain import prose, reasons, words
from tests.unit.core.test_explanation import explained

RAW = RequestChange("image", "disk_format", "raw")
GOLD = RequestChange("flavor", "trait:CUSTOM_GOLD", "required")
SILVER = RequestChange("flavor", "trait:CUSTOM_SILVER", "required")
ENABLE = HostChange(Action.ENABLE_SERVICE)
JOIN = HostChange(Action.JOIN_AGGREGATE, "a")
FULL = {
    "inventories": {"VCPU": 8, "MEMORY_MB": {"total": 1024, "used": 768}, "DISK_GB": 9}
}


def text(explanation, shown=(), everything=False):
    return [line.text for line in prose.lines(explanation, shown, everything)]


def helping(*fixes):
    found = explained({"cloud": {"a": {}}, "flavor": {"trait:X": "required"}})
    return dataclasses.replace(found, fixes=fixes)


def test_a_change_with_another_one_added_is_counted_and_shown_when_asked_for():
    found = helping(
        RequestFix((RAW,)), RequestFix((RAW, GOLD)), RequestFix((SILVER, RAW))
    )
    lines = text(found)
    start = lines.index("What would help, safest first (each was tried):")
    assert [line.split(":")[0] for line in lines[start + 1 : start + 3]] == [
        "  an image in the format raw",
        "  2 more combine some of these with another change; --long shows all",
    ]
    assert any("CUSTOM_SILVER" in line for line in text(found, everything=True))
    assert not any("more combine" in line for line in text(found, everything=True))


def test_changes_that_help_only_together_are_shown():
    both, other = RequestFix((RAW, GOLD)), HostFix((ENABLE, JOIN), ())
    lines = "\n".join(text(helping(both, RequestFix((SILVER,)), other)))
    assert "an image in the format raw and flavor with trait:CUSTOM_GOLD" in lines
    assert "enable nova-compute on the host and add the host" in lines
    assert "more combine" not in lines


def test_what_one_host_fails_stands_above_what_it_meets():
    found = explained({"cloud": {"a": FULL}, "flavor": {"trait:X": "required"}})
    lines = text(found, found.hosts)
    start = lines.index("a: cannot take it")
    signs = [
        line[2:5]
        for line in lines[start + 1 :]
        if line.startswith(("  no   ", "  yes  "))
    ]
    assert signs == sorted(signs)
    assert lines[start + 1].startswith("  no   trait X")
    assert lines[start + 2].startswith("  no   512 MB of memory")


@pytest.mark.parametrize(
    ("clause", "number", "said"),
    [
        (
            RootTrait("COMPUTE_IMAGE_TYPE_QCOW2", False, ()),
            6,
            "lack support for qcow2 images",
        ),
        (
            RootTrait("COMPUTE_IMAGE_TYPE_ISO", False, ()),
            1,
            "lacks support for iso images",
        ),
        (
            RootTrait("COMPUTE_IMAGE_TYPE_ISO", True, ()),
            1,
            "has the trait COMPUTE_IMAGE_TYPE_ISO",
        ),
        (RootTrait("CUSTOM_GOLD", False, ()), 2, "lack the trait CUSTOM_GOLD"),
    ],
)
def test_a_format_is_said_as_an_operator_calls_it(clause, number, said):
    assert reasons.said(clause, helping(), number) == said


def test_hosts_that_are_in_none_of_the_aggregates_are_outside():
    asked = MemberOf(frozenset({"a"}), False, (Origin("flavor", "x"),))
    assert reasons.said(asked, helping(), 4) == "are outside aggregate a"


def test_a_zone_without_an_enabled_host_is_not_taken_for_a_typo():
    zones = {"az-south": False, "az-north": True}
    assert zone_refusal("az-south", zones).nearest == ()
    assert zone_refusal("az-suoth", zones).nearest[0] == "az-south"
    assert zone_refusal("az-north", zones) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [("", "project a00e"), ("demo", "project demo (a00e)"), ("a00e", "project a00e")],
)
def test_a_project_is_called_as_the_user_called_it(name, said):
    question = dataclasses.replace(helping().question, project="a00e")
    question = question.with_spec(project=name)
    assert words.request(question).endswith(f", {said}")


@pytest.mark.parametrize("reason", ["", "new DIMMs"])
def test_that_a_host_is_disabled_is_said_once(reason):
    found = explained({"cloud": {"a": {"traits": ["COMPUTE_STATUS_DISABLED"]}}})
    (host,) = found.hosts
    found.computes[host.uuid] = Compute(
        host.uuid, "a", "a", is_enabled=False, disabled_reason=reason
    )
    lines = text(found)
    start = lines.index("Nearest hosts:")
    nearest = lines[start + 1 : lines.index("", start)]
    assert nearest == [f"  a is disabled{f': {reason}' if reason else ''}"]
