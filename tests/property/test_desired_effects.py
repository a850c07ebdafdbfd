"""What is said of flavors before files are applied, and what hosts they have then."""

from __future__ import annotations

import copy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.app.execute import execute
from osc_traitsched.core.change.model import Status
from osc_traitsched.core.inventory.trait import required_by
from tests.property.test_desired import (
    AGGREGATES,
    HOST_SETS,
    NEW,
    SOME_TRAITS,
    SURE,
    TRAITS,
    apart,
    clouds,
    documents,
    planned,
    refusing,
)
from tests.unit.app.living import HOSTS

pytestmark = pytest.mark.full

WRITTEN = {Status.CHANGED, Status.UNCHANGED}


def hosts(cloud, flavor):
    """Return the UUIDs of the hosts that Placement would give for Nova's request.

    All have room, so it hangs on traits, and on the aggregates that these isolate.
    """
    specs = cloud.specs(flavor)
    required = required_by(specs)
    forbidden = {k.partition(":")[2] for k, v in specs.items() if v == "forbidden"}
    if not required | forbidden <= cloud.known:
        return set()
    closed = (
        cloud.mirror.get(each["uuid"], set())
        for each in cloud.aggregates.values()
        if not required_by(each["metadata"]) <= required
    )
    shut = set().union(*closed)
    return {
        HOSTS[host]
        for host, traits in cloud.traits.items()
        if required <= traits and not forbidden & traits and host not in shut
    }


def watched(cloud):
    """Return the hosts of each flavor now, and from now on after each write."""
    flavors = [each["name"] for each in cloud.flavors.values()]
    seen = {each: [hosts(cloud, each)] for each in flavors}

    def write_and_look(write):
        def written(parts, body):
            write(parts, body)
            for flavor in flavors:
                seen[flavor].append(hosts(cloud, flavor))

        return written

    for name in ("placement_put", "compute_post", "compute_delete", "image_patch"):
        setattr(cloud, name, write_and_look(getattr(cloud, name)))
    return seen


def of_flavors(todo):
    """Return the effect on each flavor that is asked for by anyone without an image."""
    general = [e for e in todo.effects if e.asked.image is None and e.asked.is_general]
    found = {effect.flavor: effect for effect in general}
    assert len(found) == len(general)
    return found


def test_what_is_said_of_flavors_is_so():
    changed, emptied = [], []

    @given(clouds(), documents())
    @SURE
    def check(cloud, document):
        text = yaml.safe_dump(document)
        todo = planned(cloud, text)
        if todo is None:
            return
        said = of_flavors(todo)
        seen = watched(cloud)
        done = execute(cloud, todo.plan)
        assert {each.status for each in done.outcomes} <= WRITTEN, text
        for flavor, course in seen.items():
            now, then = course[0], course[-1]
            if flavor not in said:
                assert now == then, (text, flavor)
                assert all(course) or not now, (text, flavor)
                continue
            effect = said[flavor]
            assert (effect.room.now, effect.room.then) == (now, then), (text, flavor)
            assert effect.leaves_no_host is (bool(now) and not then), (text, flavor)
            lacks_one = bool(now and then) and not all(course)
            assert effect.for_a_moment or not lacks_one, (text, flavor)
            changed.append(now != then)
            emptied.append(effect.leaves_no_host)

    check()
    assert sum(changed) > 40
    assert sum(emptied) > 10


@st.composite
def swaps(draw):
    """Draw what lets flavors find their hosts by another trait than before."""
    traits = {}
    for name in (*TRAITS, NEW):
        joining, leaving = draw(apart(HOST_SETS))
        traits[name] = {"hosts": joining, "absent": {"hosts": leaving}}
    flavors = {}
    for name in ("small", "golden"):
        required, left = draw(apart(SOME_TRAITS))
        # Nova takes extra specs away one by one, and between two of them is no moment
        # that a plan looks at.
        flavors[name] = {"requires": required[:1], "absent": {"requires": left[:1]}}
    closed, opened = draw(apart(SOME_TRAITS))
    aggregate = {"isolated_for": closed, "absent": {"isolated_for": opened}}
    aggregates = {draw(st.sampled_from(AGGREGATES)): aggregate}
    some = {"traits": traits, "aggregates": aggregates, "flavors": flavors}
    return {"version": 1, **some}


def test_whichever_write_is_refused_a_flavor_that_keeps_a_host_always_has_one():
    seen = []

    @given(clouds(), swaps())
    @settings(SURE, max_examples=200)
    def check(start, document):
        text = yaml.safe_dump(document)
        todo = planned(start, text)
        if todo is None or todo.refusals:
            return
        said = of_flavors(todo)
        whole_run = copy.deepcopy(start)
        execute(whole_run, todo.plan)
        for number in range(1, len(whole_run.written) + 1):
            failing = copy.deepcopy(start)
            refusing(failing, number)
            courses = watched(failing)
            execute(failing, todo.plan)
            for flavor, course in courses.items():
                is_told = flavor in said and said[flavor].for_a_moment
                if course[0] and hosts(whole_run, flavor) and not is_told:
                    assert all(course), (text, flavor, number)
                    seen.append(course[0] != hosts(whole_run, flavor))

    check()
    assert sum(seen) > 100
