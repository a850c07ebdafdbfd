"""A file with a write in each phase: in which order, and what a failure ends."""

from __future__ import annotations

import pytest

from tests.unit.commands.desired import GOLD, SILVER, second

FILE = """
    traits:
      CUSTOM_SILVER: {absent: {hosts: [cmp00]}}
    aggregates:
      gold: {absent: {hosts: [cmp01]}}
      rack: {hosts: [cmp00], absent: {isolated_for: [CUSTOM_SILVER], hosts: [cmp02]}}
      new: {zone: az2, hosts: [cmp01], isolated_for: [CUSTOM_NEW]}
      other: {hosts: [cmp03], isolated_for: [CUSTOM_GOLD]}
    flavors:
      golden: {requires: [CUSTOM_NEW]}
      small: {absent: {requires: [CUSTOM_SILVER]}}
"""


@pytest.fixture(autouse=True)
def closed(cloud):
    """Has cmp00 and cmp01 in a closed zone; rack is closed, too."""
    cloud.metadata.update({f"trait:{GOLD}": "required", "availability_zone": "az1"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp00", "cmp02")
    second(cloud, "cmp02", CUSTOM_SILVER="required")
    cloud.flavor("small", **{SILVER: "required"})


def test_a_person_gets_a_line_a_change_in_the_order_of_the_writes(trait_sched, golden):
    planned = trait_sched("plan", "w.yaml", w=FILE)
    assert planned.code == 0
    golden("apply/all-phases", planned.out + planned.err)
    done = trait_sched("apply", "w.yaml", w=FILE)
    assert done.code == 0
    # The plan is the same, but for the sums in its first line.
    assert done.err == planned.err
    assert done.out.splitlines()[1:] == planned.out.splitlines()[1:]


#: Of each row, and the writes: an aggregate gets its zone with its name.
PHASES = (1, 1, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11)
WRITES = len(PHASES) - 1


@pytest.mark.parametrize("number", range(WRITES))
def test_a_failure_ends_the_phases_after_it_and_the_reviewed_plan_goes_on(
    trait_sched, apply, plan, cloud, tmp_path, number
):
    reviewed = trait_sched("plan", "w.yaml", "-f", "json", w=FILE)
    (tmp_path / "plan.json").write_text(reviewed.out, "utf-8")
    cloud.dies_after(number)
    found = [row["status"] for row in apply(FILE).json]
    ended = PHASES[found.index("failed")]
    for phase, status in zip(PHASES, found):
        assert phase >= ended or status == "changed"
        assert phase <= ended or status == "not done"
    del cloud.about_to_write
    done = apply(FILE, "--reviewed", "plan.json")
    assert done.code == 0, done.err
    assert plan().json == []
