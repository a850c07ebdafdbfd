"""Whichever write is refused, flavors keep room: in each zone, and for each project."""

from __future__ import annotations

import copy
import itertools

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.app.execute import execute
from osc_traitsched.app.wanted.judging import judged
from osc_traitsched.app.wanted.planning import plan_wanted
from osc_traitsched.config.wanted import reader
from osc_traitsched.core.errors import Mistakes
from osc_traitsched.core.inventory.trait_keys import required_by
from osc_traitsched.core.nova.settings import SchedulerSettings
from tests.property.test_wanted import HOST_SETS, SURE, apart, refusing, with_projects
from tests.unit.app.living import HOSTS, LivingCloud
from tests.unit.commands.wanted import GOLD, SILVER, second

PROJECTS = ONE, TWO, THREE = tuple(number * 32 for number in "123")
ASSUMED = SchedulerSettings.of(
    enable_isolated_aggregate_filtering=True, limit_tenants_to_placement_aggregate=True
)
#: What closes an aggregate now, and what is to: of a project that no other one names.
CLOSED_BY = {
    project: st.sampled_from(
        [{}, {}, {"availability_zone": "az1"}, {"filter_tenant_id": project}]
    )
    for project in PROJECTS
}
WANTED = {
    project: [{}, {"isolated_for": [GOLD]}, {"zone": "az1"}, {"tenants": [project]}]
    for project in PROJECTS
}
NAMED = [
    [("gold", ONE)],
    [("rack", TWO)],
    [("gold", ONE), ("rack", TWO)],
    [("new", THREE), ("rack", TWO)],
]


def rooms(cloud):
    """Return the hosts of each flavor, in each zone or in any, for each project.

    All have room, so it hangs on traits and aggregates; of these a project is named by
    one alone.
    """
    found = {}
    for flavor in cloud.flavors:
        required = required_by(cloud.flavors[flavor]["extra_specs"])
        for zone, project in itertools.product((None, "az1"), (None, *PROJECTS)):
            hosts = {name for name in HOSTS if required <= cloud.traits[name]}
            for each in cloud.aggregates.values():
                metadata, inside = each["metadata"], cloud.mirror.get(each["uuid"], ())
                if not required_by(metadata) <= required:
                    hosts.difference_update(inside)
                if project in metadata.values():
                    hosts.intersection_update(inside)
            if zone is not None:
                hosts &= _in_zone(cloud, zone)
            found[flavor, zone, project] = hosts
    return found


def _in_zone(cloud, zone):
    making = (
        each["hosts"]
        for each in cloud.aggregates.values()
        if each["metadata"].get("availability_zone") == zone
    )
    return set().union(*making)


@st.composite
def scenes(draw):
    """Draw a cloud, and what moves a trait between hosts and closes some of them."""
    cloud = LivingCloud()
    cloud.flavor("silver", **{SILVER: "required"})
    cloud.flavor("both", **{GOLD: "required", SILVER: "required"})
    having, gaining = draw(apart(HOST_SETS.filter(bool)))
    cloud.gives(SILVER, *having)
    cloud.gives(GOLD, *draw(HOST_SETS))
    inside, others = draw(apart(HOST_SETS))
    gold = cloud.aggregates["1"]
    gold["hosts"], cloud.mirror[gold["uuid"]] = inside, {*inside}
    second(cloud, *others)
    for each, project in zip(cloud.aggregates.values(), PROJECTS):
        each["metadata"].update(draw(CLOSED_BY[project]))
    losing = draw(st.sampled_from([[], having]))
    traits = {SILVER: {"hosts": gaining, "absent": {"hosts": losing}}}
    aggregates = {}
    for name, project in draw(st.sampled_from(NAMED)):
        joining, leaving = draw(apart(HOST_SETS))
        wanted = draw(st.sampled_from(WANTED[project]))
        aggregates[name] = {"hosts": joining, **wanted}
        if name != "new":
            aggregates[name]["absent"] = {"hosts": leaving}
    return cloud, {"version": 1, "traits": traits, "aggregates": aggregates}


def planned(cloud, text):
    """Return the plan of a file; None for one that leaves a flavor without a host."""
    wanted, _ = reader.read("w.yaml", text)
    try:
        todo = judged(with_projects(cloud), plan_wanted(cloud, wanted, ASSUMED))
    except Mistakes:
        return None
    return None if todo.refusals else todo


def test_whichever_write_is_refused_what_keeps_a_host_has_one_in_the_end():
    seen = []

    @given(scenes())
    @settings(SURE, max_examples=600)
    def check(drawn):
        start, document = drawn
        text = yaml.safe_dump(document)
        todo = planned(copy.deepcopy(start), text)
        if todo is None:
            return
        whole_run = copy.deepcopy(start)
        execute(whole_run, todo.plan)
        before, after = rooms(start), rooms(whole_run)
        for number in range(1, len(whole_run.written) + 1):
            failing = copy.deepcopy(start)
            refusing(failing, number)
            execute(failing, todo.plan)
            left = rooms(failing)
            for asked in before:
                if before[asked] and after[asked]:
                    assert left[asked], (text, asked, number)
            seen.append(before != after)

    check()
    assert sum(seen) > 100
