"""What ``--set`` changes against the cloud's own settings."""

from __future__ import annotations

import dataclasses

from osc_traitsched.app import explain
from osc_traitsched.core.nova import options
from osc_traitsched.views.explain import document, text
from tests.schemas import closed
from tests.services.nova import FIGURES
from tests.unit.app.test_filtered import ask, cloud, with_settings
from tests.unit.core.scheduled import COMPUTE, OWN, SPECS

GOLD = {"aggregate_instance_extra_specs:trait:CUSTOM_GOLD": "required"}
ODD = {"availability_zone": ">= many"}
FILTERS = options.ENABLED_FILTERS
RAM, DISK = options.RAM, options.DISK
SUBSET = options.HOST_SUBSET_SIZE
FREE = {
    "cmp01": {**FIGURES, "free_ram_mb": 60000},
    "cmp02": {**FIGURES, "free_disk_gb": 950},
}


def compared(own, now, specs=None, nodes=FREE):
    """Return the explanation with the settings as they are now, beside one's own."""
    recorded_cloud = cloud(**nodes)
    question = ask(recorded_cloud, COMPUTE, specs=specs)
    own = dataclasses.replace(with_settings(question, own), place="nova.conf")
    now = dataclasses.replace(with_settings(question, now), without_set=own)
    question = dataclasses.replace(question, assumptions=now)
    found = explain.explain(recorded_cloud, question, want_fixes=False)
    whole = document.document(found)
    closed("explain").validate(whole)
    said = text.comparison_lines(found.judgement, found.without_set)
    return found, [line.text for line in said][1:], whole


def test_a_filter_that_is_set_on_keeps_hosts_out():
    _, said, whole = compared({}, {FILTERS: (COMPUTE, SPECS)}, GOLD)
    assert said == [
        "Without --set (settings: nova.conf):",
        f"  [filter_scheduler]enabled_filters: with {SPECS} (a test)",
        "  2 of 3 hosts can take it.",
        f"  kept out: cmp02 ({SPECS})",
        "  nova-scheduler picks cmp01 instead of cmp02.",
    ]
    assert whole["without_set"]["candidates"] == ["cmp01", "cmp02"]
    assert whole["without_set"]["kept_out"] == [{"host": "cmp02", "filters": [SPECS]}]
    assert whole["without_set"]["let_in"] == []


def test_a_filter_that_is_set_off_lets_hosts_in():
    _, said, whole = compared({FILTERS: (SPECS,)}, {FILTERS: (COMPUTE,)}, GOLD)
    assert said[1].endswith(f": with {COMPUTE}, without {SPECS} (a test)")
    assert said[2:4] == [
        "  1 of 3 hosts can take it.",
        f"  let in: cmp02 (else out by {SPECS})",
    ]
    assert whole["without_set"]["let_in"] == [{"host": "cmp02", "filters": [SPECS]}]


def test_a_multiplier_changes_whom_the_scheduler_picks():
    _, said, whole = compared({DISK: 0.0}, {DISK: 9.0})
    assert said[1:] == [
        "  [filter_scheduler]disk_weight_multiplier: 9.0 instead of 0.0 (a test)",
        "  2 of 3 hosts can take it.",
        "  The candidates are the same.",
        "  nova-scheduler picks cmp02 instead of cmp01.",
    ]
    assert (whole["picks"], whole["without_set"]["picks"]) == (["cmp02"], ["cmp01"])


def test_a_large_subset_is_the_scheduler_that_picked_by_chance():
    _, said, _ = compared({DISK: 0.0}, {DISK: 0.0, SUBSET: 999})
    assert said[-1] == ("  nova-scheduler picks one of cmp01, cmp02 instead of cmp01.")


def test_what_changes_nothing_is_said_to():
    _, said, _ = compared({RAM: 2.0}, {RAM: 3.0}, nodes={})
    assert said[-2:] == [
        "  The candidates are the same.",
        "  nova-scheduler picks one of cmp01, cmp02 with and without it.",
    ]


def test_a_request_that_only_one_of_both_refuses_is_compared_as_a_whole():
    found, said, whole = compared({}, {FILTERS: (SPECS,)}, ODD)
    assert found.judgement.refusal is not None
    assert said[-1] == "  2 of 3 hosts can take it."
    assert (whole["without_set"]["rejection"], whole["verdict"]) == (None, "rejected")
    _, said, whole = compared({FILTERS: (SPECS,)}, {}, ODD)
    assert said[-2] == "  Rejected; Placement alone would give 2 of 3 hosts."
    assert "ValueError" in said[-1]
    assert whole["without_set"]["let_in"] == []


def test_settings_with_which_the_scheduler_does_not_start_are_refused():
    old = {options.WEIGHT_CLASSES: ("nova.scheduler.weights.ram.OldWeigher",)}
    _, said, whole = compared(old, {})
    assert "Rejected before scheduling; no host was tried." in said[-2]
    assert "OldWeigher" in whole["without_set"]["rejection"]["text"]


def test_where_placement_is_asked_otherwise_hosts_are_matched_and_none_is_picked():
    forbidding = {options.ISOLATION: True}
    found, said, whole = compared(forbidding, {options.ISOLATION: False})
    assert [host.name for host in found.judgement.candidates] == ["cmp01", "cmp02"]
    assert said[2:] == [
        "  1 of 3 hosts can take it.",
        "  let in: cmp01 (else out by Placement)",
    ]
    assert whole["without_set"]["picks"] == []


def test_hosts_that_a_filter_may_keep_out_are_uncertain_there_too():
    _, said, whole = compared({FILTERS: (OWN,)}, {})
    assert said[2] == "  It is not known whether a host can take it: 2 of 3 may."
    assert said[-1].endswith(", if all filters pass them.")
    assert whole["without_set"]["uncertain_candidates"] == ["cmp01", "cmp02"]


def test_nothing_is_compared_where_nothing_is_set_otherwise():
    found, said, whole = compared({RAM: 2.0}, {RAM: 2.0})
    assert (found.without_set, said, whole["without_set"]) == (None, [], None)
    printed = [line.text for line in text.lines(found, (), False)]
    assert not any("Without --set" in each for each in printed)
