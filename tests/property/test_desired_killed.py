"""Files as people write them, killed before any write: another run ends the same."""

from __future__ import annotations

import copy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.app.desired import is_begun, judged, plan_desired, unreviewed
from osc_traitsched.app.execute import dry_run, execute
from osc_traitsched.config import desired
from osc_traitsched.core.change.model import Status
from osc_traitsched.core.desired import model
from osc_traitsched.core.errors import Mistakes
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.views.desired import rows
from osc_traitsched.views.listing import Cell
from tests.property.test_desired import RELEASES, SURE, whole, with_projects, zone_moves
from tests.unit.app.living import HOSTS
from tests.unit.app.zoned import OWNER, ZonedCloud

pytestmark = pytest.mark.full

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
        made = planned(cloud, document(before, {}, style), 34)
        execute(cloud, made.plan)
        cloud.written.clear()
        cloud.busy = draw(BUSY)
    some = draw(st.sets(st.sampled_from(sorted(HOSTS)), max_size=3))
    homes = {h: home if h in some else before[h] for h, home in draw(HOMES).items()}
    return cloud, document(homes, before, style)


def planned(cloud, wanted, release):
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
    todo = planned(start, wanted, release)
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
        rest = planned(again, wanted, release)
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
