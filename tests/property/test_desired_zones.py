"""Drawn files on clouds with Nova's rules of zones: what a plan foretells is so."""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.app.execute import dry_run, execute
from osc_traitsched.core.change.model import ObjectKind, Plan, Status
from osc_traitsched.core.errors import CloudBroke
from tests.property.test_desired import SURE, planned, zone_moves
from tests.unit.app.living import HOSTS
from tests.unit.app.zoned import ZONE, ZonedCloud

pytestmark = pytest.mark.full

#: What may be of a zone.
ZONED = (ObjectKind.AGGREGATE, ObjectKind.AGGREGATE_HOSTS)


@st.composite
def zoned(draw):
    """Draw a cloud as Nova lets it be, and a document."""
    cloud, document = draw(zone_moves(ZonedCloud))
    cloud.busy = draw(st.frozensets(st.sampled_from(sorted(HOSTS)), max_size=2))
    gold, rack = (cloud.aggregates[number] for number in "12")
    zones = {each["metadata"].get(ZONE) for each in (gold, rack)} - {None}
    if len(zones) > 1:
        rack["hosts"] = [host for host in rack["hosts"] if host not in gold["hosts"]]
        cloud.mirror[rack["uuid"]] = {*rack["hosts"]}
    return cloud, document


def tried_all_the_same(plan, problem):
    """Return a plan that tries what it knows to fail for one reason."""
    stages = (
        tuple(
            dataclasses.replace(change, problem=None)
            if change.problem is problem
            else change
            for change in stage
        )
        for stage in plan.stages
    )
    return Plan.of(*stages)


def test_what_a_plan_foretells_of_zones_is_so():
    seen = Counter()

    @settings(SURE, max_examples=300)
    @given(zoned())
    def check(drawn):
        cloud, document = drawn
        text = yaml.safe_dump(document)
        todo = planned(cloud, text)
        if todo is None:
            return
        foreseen = [each.status for each in dry_run(todo.plan).outcomes]
        run = copy.deepcopy(cloud)
        done = execute(run, todo.plan)
        became = [
            Status.WOULD_CHANGE if each.status is Status.CHANGED else each.status
            for each in done.outcomes
        ]
        assert became == foreseen, (text, cloud.aggregates, cloud.busy)
        seen.update(foreseen)

        # What is said to fail does, or keeps a host where it could not go on.
        for problem in {
            id(change.problem): change.problem
            for change in todo.plan.changes
            if change.problem and change.object.kind in ZONED
        }.values():
            tried = execute(
                copy.deepcopy(cloud), tried_all_the_same(todo.plan, problem)
            )
            refused = [
                each.problem
                for each in tried.outcomes
                if each.status is Status.FAILED and each.change.problem is None
            ]
            assert len(refused) == 1, (text, problem)
            assert isinstance(refused[0], CloudBroke), (text, problem)
            seen["tried"] += 1

    check()
    assert seen[Status.WOULD_CHANGE] > 500
    assert seen[Status.FAILED] > 40
    assert seen["tried"] > 40
