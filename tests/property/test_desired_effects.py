"""What is said of flavors before files are applied, and what hosts they have then."""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.app.desired import is_begun, judged, plan_desired, unreviewed
from osc_traitsched.app.execute import dry_run, execute
from osc_traitsched.config import desired
from osc_traitsched.core.change.model import ObjectKind, Plan, Status
from osc_traitsched.core.desired import model
from osc_traitsched.core.errors import CloudBroke, Mistakes
from osc_traitsched.core.inventory.trait import required_by
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.views.desired import rows
from osc_traitsched.views.listing import Cell
from tests.property.test_desired import (
    AGGREGATES,
    HOST_SETS,
    NEW,
    RELEASES,
    SOME_TRAITS,
    SURE,
    TRAITS,
    apart,
    clouds,
    documents,
    planned,
    refusing,
    whole,
    with_projects,
    zone_moves,
)
from tests.unit.app.living import HOSTS
from tests.unit.app.zoned import OWNER, ZONE, ZonedCloud

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


# Drawn files on clouds with Nova's rules of zones: what a plan foretells is so.


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


# Files as people write them, killed before any write: another run ends the same.


#: What hosts are for, and the trait of those.
TRAIT_OF = {"shared": None, "gpu": "CUSTOM_GOLD", "licence": "CUSTOM_SILVER"}
ZONES = st.sampled_from([None, "az1", "az1", "az2", "az3"])
#: The zone and the purpose of each host; all may have one of their own.
HOMES = st.one_of(
    st.fixed_dictionaries(
        {host: st.tuples(ZONES, st.sampled_from(sorted(TRAIT_OF))) for host in HOSTS}
    ),
    st.fixed_dictionaries(
        {
            host: st.tuples(
                st.sampled_from(["az1", "az2"]), st.sampled_from(["gpu", "licence"])
            )
            for host in HOSTS
        }
    ),
)
STYLES = st.fixed_dictionaries(
    {
        "isolated": st.sets(st.sampled_from(["gpu", "licence"])),
        "limited": st.sampled_from([None, None, "az1-shared", "az2-gpu"]),
        "only": st.booleans(),
        "opens": st.booleans(),
        "requires": st.booleans(),
    }
)
ASIDE = st.sampled_from(
    [{}, {}, {"trait:CUSTOM_GOLD": "required"}, {"filter_tenant_id": OWNER}]
)
HERE = "http://placement"
BUSY = st.frozensets(st.sampled_from(sorted(HOSTS)), max_size=2)


def name_of(home):
    zone, purpose = home
    return f"{zone or 'all'}-{purpose}"


def document(homes, before, style):
    """Return what gives hosts their homes, and takes them out of those of before.

    What none of them is in any more may be opened.
    """
    traits, aggregates = {}, {}
    for host, (zone, purpose) in homes.items():
        if (zone, purpose) == (None, "shared"):
            continue
        name = name_of((zone, purpose))
        entry = aggregates.setdefault(name, {"hosts": []})
        entry["hosts"].append(host)
        if zone is not None:
            entry["zone"] = zone
        if purpose in style["isolated"]:
            entry["isolated_for"] = [TRAIT_OF[purpose]]
        elif TRAIT_OF[purpose]:
            given_to = traits.setdefault(TRAIT_OF[purpose], {"hosts": []})
            given_to["hosts"].append(host)
        if name == style["limited"]:
            entry["projects"] = [OWNER]
        if style["only"]:
            entry["only"] = True
    for host, home in before.items():
        if home not in (homes[host], (None, "shared")):
            entry = aggregates.setdefault(name_of(home), {})
            absent = entry.setdefault("absent", {})
            absent.setdefault("hosts", []).append(host)
            is_left = style["opens"] and home not in homes.values()
            if is_left and home[1] in style["isolated"]:
                absent["isolated_for"] = [TRAIT_OF[home[1]]]
    requires = {n: {"requires": [t]} for n, t in TRAIT_OF.items() if t}
    flavors = requires if style["requires"] else {}
    return {
        "version": 1,
        "traits": traits,
        "aggregates": aggregates,
        "flavors": flavors,
    }


@st.composite
def moving(draw):
    """Draw a cloud where hosts have homes, and a document that gives some others.

    Some are in an aggregate besides that no line names.
    """
    cloud = ZonedCloud()
    cloud.aggregates.clear()
    cloud.mirror.clear()
    aside = draw(st.lists(st.sampled_from(sorted(HOSTS)), unique=True))
    cloud.compute_post(("os-aggregates",), {"aggregate": {"name": "aside"}})
    cloud.aggregates["1"]["metadata"].update(draw(ASIDE))
    for host in aside:
        cloud.compute_post(("os-aggregates", "1"), {"add_host": {"host": host}})
    for name in ("small", *TRAIT_OF):
        cloud.flavor(name)
    before = dict.fromkeys(HOSTS, (None, "shared"))
    style = draw(STYLES)
    if draw(st.booleans()):
        before = draw(HOMES)
        made = planned_files(cloud, document(before, {}, style), 34)
        execute(cloud, made.plan)
        cloud.written.clear()
        cloud.busy = draw(BUSY)
    some = draw(st.sets(st.sampled_from(sorted(HOSTS)), max_size=3))
    homes = {h: home if h in some else before[h] for h, home in draw(HOMES).items()}
    return cloud, document(homes, before, style)


def planned_files(cloud, wanted, release):
    """Return the plan of a document; None for one that contradicts itself."""
    found, mistakes = desired.read_text("w.yaml", yaml.safe_dump(wanted))
    assert not mistakes
    assumed = SchedulerSettings.of(
        release,
        enable_isolated_aggregate_filtering=True,
        limit_tenants_to_placement_aggregate=True,
    )
    try:
        if list(model.mistakes(found)):
            return None
        return judged(with_projects(cloud), plan_desired(cloud, found, assumed))
    except Mistakes:
        return None


def reviewed(todo):
    """Return the rows of a plan as plan -f json prints them."""
    columns, table = rows(
        todo.rows(dry_run(todo.plan).outcomes), todo.found, HERE, todo.lets_in
    )
    plain = [
        [c.machine_readable() if isinstance(c, Cell) else c for c in row]
        for row in table
    ]
    return [dict(zip(columns, row)) for row in plain]


def goes_on(start, wanted, release):
    """Return how many runs, each killed before another write, were gone on with."""
    todo = planned_files(start, wanted, release)
    if todo is None or todo.refusals:
        return 0
    done = copy.deepcopy(start)
    outcomes = execute(done, todo.plan).outcomes
    if any(each.status is Status.FAILED for each in outcomes):
        return 0
    rows = reviewed(todo)
    for writes in range(1, len(done.written)):
        killed = copy.deepcopy(start)
        killed.dies_after(writes)
        execute(killed, todo.plan)
        again = start.with_state_of(killed)
        rest = planned_files(again, wanted, release)
        # As apply --reviewed: a plan that was begun is not judged again.
        assert unreviewed(rest, "plan.json", rows, HERE) is None, (wanted, writes)
        assert is_begun(rest, rows) or not rest.plan.has_changes
        execute(again, rest.plan)
        assert whole(again) == whole(done), (wanted, writes)
    return max(0, len(done.written) - 1)


def test_hosts_that_move_do_so_however_often_a_run_is_killed():
    seen = []

    @settings(SURE, max_examples=400)
    @given(moving(), RELEASES)
    def check(drawn, release):
        seen.append(goes_on(*drawn, release))

    check()
    assert sum(seen) > 150
    assert sum(map(bool, seen)) > 30


def test_whatever_is_wanted_of_zones_is_so_however_often_a_run_is_killed():
    seen = []

    @settings(SURE, max_examples=300)
    @given(zone_moves(ZonedCloud), BUSY, RELEASES)
    def check(drawn, busy, release):
        cloud, wanted = drawn
        cloud.busy = busy
        seen.append(goes_on(cloud, wanted, release))

    check()
    assert sum(seen) > 80
