"""Who may have no host on the way, compared with the host filter after each write."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st
from osc_traitsched.core.wanted.projects.reserved import reserved

from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Kind,
    Object,
    Plan,
    State,
)
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.inventory.tenant_keys import projects_of
from osc_traitsched.core.nova.settings import SchedulerSettings
from tests.property.test_wanted import SURE

HOSTS, NOBODY = ("h1", "h2", "h3"), "nobody"
SUFFIXED = f"{TENANT_KEY}_x"
VALUES = st.sampled_from(["A", "B", "A,B", "C"])
METADATA = st.dictionaries(st.sampled_from([TENANT_KEY, SUFFIXED]), VALUES)
HOST_SETS = st.frozensets(st.sampled_from(HOSTS))
AGGREGATES = st.lists(st.tuples(HOST_SETS, METADATA), min_size=1, max_size=3)


@st.composite
def stages(draw):
    """Draw aggregates as they are, and after each of some stages.

    In one stage either hosts change or metadata does.
    """
    found = [draw(AGGREGATES)]
    for _ in range(draw(st.integers(1, 3))):
        moves = draw(st.booleans())
        found.append(
            [
                (draw(HOST_SETS), metadata) if moves else (hosts, draw(METADATA))
                for hosts, metadata in found[-1]
            ]
        )
    return found


def writes(before, after):
    """Return each aggregate with what one write puts into it, or takes out."""
    for number, ((hosts, keys), (then, changed)) in enumerate(zip(before, after)):
        for host in sorted(hosts ^ then):
            yield number, host
        if keys != changed:
            yield number, changed


def written(aggregates, some):
    """Return the aggregates after some writes."""
    after = list(aggregates)
    for number, write in some:
        hosts, metadata = after[number]
        is_host = isinstance(write, str)
        after[number] = (hosts ^ {write}, metadata) if is_host else (hosts, write)
    return after


def on_the_way(found):
    """Yield the aggregates after any of the writes of each stage, in any order."""
    for before, after in zip(found, found[1:]):
        every = tuple(writes(before, after))
        for number in range(len(every) + 1):
            for some in itertools.combinations(every, number):
                yield written(before, some)


def change(number, before, write):
    hosts, metadata = before[number]
    if isinstance(write, str):
        target = Object(Kind.AGGREGATE_HOSTS, str(number), f"a{number}")
        was = {write: PRESENT} if write in hosts else {}
        return Change(target, State(was), {write: None if was else PRESENT})
    target = Object(Kind.AGGREGATE, str(number), f"a{number}")
    gone = dict.fromkeys(metadata.keys() - write.keys())
    return Change(target, State(metadata, hosts=hosts), {**write, **gone})


def read_by(release):
    """Return the keys that AggregateMultiTenancyIsolation reads."""
    return (TENANT_KEY, SUFFIXED) if release >= 30 else (TENANT_KEY,)


def passed(project, aggregates, release):
    """Return the hosts that AggregateMultiTenancyIsolation passes for a project."""
    values = {
        host: [
            metadata[key]
            for hosts, metadata in aggregates
            for key in read_by(release)
            if host in hosts and key in metadata
        ]
        for host in HOSTS
    }
    return {
        host
        for host, listed in values.items()
        if not listed or any(project in projects_of(value) for value in listed)
    }


def given_by_placement(project, aggregates):
    """Return the hosts that require_tenant_aggregate leaves a project."""
    theirs = [hosts for hosts, keys in aggregates if project in keys.values()]
    return set().union(*theirs) if theirs else set(HOSTS)


@given(found=stages(), release=st.sampled_from([29, 34]), limits=st.booleans())
@settings(SURE, max_examples=800)
def test_who_may_have_no_host_on_the_way_is_known(found, release, limits):
    cloud = SimpleNamespace(
        aggregates=[
            {"id": number, "name": f"a{number}", "hosts": hosts, "metadata": metadata}
            for number, (hosts, metadata) in enumerate(found[0])
        ],
        snapshot=SimpleNamespace(nova=SimpleNamespace(by_service_host=set(HOSTS))),
    )
    plan = Plan.of(
        *(
            [change(number, before, write) for number, write in writes(before, after)]
            for before, after in zip(found, found[1:])
        )
    )
    assumed = SchedulerSettings.of(release, limit_tenants_to_placement_aggregate=limits)
    taken = next(iter(reserved(plan, cloud, assumed)), None)

    named = {
        project
        for aggregates in found
        for _, metadata in aggregates
        for key, value in metadata.items()
        for project in ("A", "B", "C")
        if (limits and value == project)
        or (key in read_by(release) and project in projects_of(value))
    }

    def sent(project, aggregates):
        return given_by_placement(project, aggregates) if limits else set(HOSTS)

    def has_host(project, aggregates):
        theirs = sent(project, aggregates)
        return bool(theirs & passed(project, aggregates, release))

    on_way = tuple(on_the_way(found))
    lose, wait, unsent = set(), set(), set()
    for project in {NOBODY, *named}:
        if not all(sent(project, each) for each in on_way):
            # What is said of flavors tells that.
            unsent.add(project)
        elif has_host(project, found[0]):
            if not has_host(project, found[-1]):
                lose.add(project)
            elif not all(has_host(project, each) for each in on_way):
                wait.add(project)
    assert set(taken.projects if taken else ()) - unsent == lose - {NOBODY}
    waiting = set(taken.waiting if taken else ()) - unsent
    # An aggregate that limits a project is not looked at together with others.
    assert waiting >= wait - {NOBODY} if limits else waiting == wait - {NOBODY}
    assert bool(taken and taken.for_a_moment) == (NOBODY in wait)
    assert bool(taken and taken.lost and not taken.kept and not taken.gained) == (
        NOBODY in lose
    )
