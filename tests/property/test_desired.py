"""Drawn files on drawn clouds: what is applied holds, and can be killed and undone."""

from __future__ import annotations

import copy
from collections import Counter

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from osc_traitsched.app.desired import judged, plan_desired
from osc_traitsched.app.execute import execute
from osc_traitsched.config import desired
from osc_traitsched.core.change.model import ObjectKind, Status
from osc_traitsched.core.desired import model
from osc_traitsched.core.desired.export import undo_of
from osc_traitsched.core.errors import CloudBroke, Mistakes
from osc_traitsched.core.inventory.trait import projects_in
from osc_traitsched.core.nova.filter.groups import names_projects
from osc_traitsched.core.nova.options import SchedulerSettings
from tests.unit.app.living import HOSTS, LivingCloud

pytestmark = pytest.mark.full

NEWEST = 34
#: In the first the host filter takes one key of projects only.
RELEASES = st.sampled_from([29, NEWEST])
TRAITS = ("CUSTOM_GOLD", "CUSTOM_SILVER")
NEW = "CUSTOM_NEW"
HOST_SETS = st.lists(st.sampled_from(sorted(HOSTS)), unique=True)
SOME_TRAITS = st.lists(st.sampled_from([*TRAITS, NEW]), unique=True, max_size=2)
PROJECTS = st.lists(st.sampled_from(["1" * 32, "2" * 32, "3" * 32]), unique=True)
AGGREGATES = ("gold", "rack")

SURE = settings(
    max_examples=100,
    phases=(Phase.generate,),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def apart(values):
    """Draw what is wanted, and what is to be absent."""
    return st.tuples(values, values).map(
        lambda both: (both[0], [each for each in both[1] if each not in both[0]])
    )


@st.composite
def clouds(draw, make=LivingCloud):
    cloud = make()
    for name in TRAITS:
        cloud.gives(name, *draw(HOST_SETS))
    cloud.aggregates["2"] = {
        "id": 2,
        "uuid": "a0000002-0000-4000-8000-000000000000",
        "name": "rack",
        "hosts": draw(HOST_SETS),
        "metadata": {"kind": "rack"},
    }
    for number in ("1", "2"):
        found = cloud.aggregates[number]
        cloud.mirror[found["uuid"]] = {*found["hosts"]}
        for project in draw(PROJECTS):
            found["metadata"][f"filter_tenant_id_{project}"] = project
        for name in draw(st.lists(st.sampled_from(TRAITS), unique=True)):
            found["metadata"][f"trait:{name}"] = "required"
            # Who isolates an aggregate gives its hosts the trait.
            cloud.gives(name, *found["hosts"])
    for flavor in ("small", "golden"):
        values = st.sampled_from(["required", "forbidden"])
        keys = draw(st.dictionaries(st.sampled_from(TRAITS), values))
        cloud.flavor(flavor, **keys)
    required = draw(st.sets(st.sampled_from(TRAITS)))
    cloud.picture("win", **dict.fromkeys(required, "required"))
    return cloud


@st.composite
def older_clouds(draw):
    """Draw clouds where a key of projects may have no suffix."""
    cloud = draw(clouds())
    for number in ("1", "2"):
        if projects := draw(PROJECTS):
            listed = projects if draw(st.booleans()) else projects[:1]
            metadata = cloud.aggregates[number]["metadata"]
            metadata["filter_tenant_id"] = ",".join(listed)
    return cloud


@st.composite
def documents(draw):
    document = {"version": 1, "traits": {}, "aggregates": {}, "flavors": {}}
    for name in draw(SOME_TRAITS):
        hosts, absent = draw(apart(HOST_SETS))
        entry = {"hosts": hosts, "absent": {"hosts": absent}}
        if hosts and draw(st.booleans()):
            entry["only"] = True
        document["traits"][name] = entry
    for name in draw(st.lists(st.sampled_from([*AGGREGATES, "new"]), unique=True)):
        hosts, no_hosts = draw(apart(HOST_SETS))
        projects, no_projects = draw(apart(PROJECTS))
        traits, no_traits = draw(apart(SOME_TRAITS))
        document["aggregates"][name] = {
            "hosts": hosts,
            "projects": projects,
            "isolated_for": traits,
            "absent": {
                "hosts": no_hosts,
                "projects": no_projects,
                "isolated_for": no_traits,
            },
        }
        if (hosts or projects) and draw(st.booleans()):
            document["aggregates"][name]["only"] = True
    for name in draw(st.lists(st.sampled_from(["small", "golden", "*"]), unique=True)):
        requires, no_more = draw(apart(SOME_TRAITS))
        document["flavors"][name] = {
            "requires": requires,
            "forbids": [t for t in draw(SOME_TRAITS) if t not in requires],
            "absent": {"requires": no_more},
        }
    if draw(st.booleans()):
        requires, no_more = draw(apart(SOME_TRAITS))
        entry = {"requires": requires, "absent": {"requires": no_more}}
        document["images"] = {"win": entry}
    return document


@st.composite
def moves(draw):
    """Draw what moves hosts between aggregates, and opens and closes these."""
    aggregates = {}
    for name in AGGREGATES:
        hosts, no_hosts = draw(apart(HOST_SETS))
        traits = draw(st.lists(st.sampled_from(TRAITS), max_size=1))
        entry = {"hosts": hosts, "isolated_for": traits, "absent": {"hosts": no_hosts}}
        if draw(st.booleans()):
            entry["absent"]["projects"] = ["p1", "p2", "p3"]
            others = [each for each in TRAITS if each not in traits]
            entry["absent"]["isolated_for"] = others
        aggregates[name] = entry
    return {"version": 1, "aggregates": aggregates}


def planned(cloud, text, release=NEWEST):
    """Return the plan of a file; None for one that contradicts itself."""
    wanted, mistakes = desired.read_text("w.yaml", text)
    assert not mistakes, text
    if list(model.mistakes(wanted)):
        return None
    assumed = SchedulerSettings.of(release, enable_isolated_aggregate_filtering=True)
    try:
        named = with_projects(cloud)
        return judged(named, plan_desired(named, wanted, assumed))
    except Mistakes:
        return None


def with_projects(cloud):
    cloud.identity_get = lambda parts, params: (
        {"project": {"id": parts[1], "name": parts[1]}}
        if len(parts) > 1
        else {parts[0]: [], "links": {}}
    )
    return cloud


def whole(cloud):
    """Return all units of a cloud, by what they are of."""
    found = {("known", name): True for name in cloud.known}
    for host, traits in cloud.traits.items():
        found.update({("host", host, name): True for name in traits})
    for each in cloud.aggregates.values():
        name = each["name"]
        found["aggregate", name] = True
        found.update({("member", name, host): True for host in each["hosts"]})
        metadata = each["metadata"].items()
        projects = projects_in(each["metadata"])
        found.update({("project", name, project): True for project in projects})
        rest = ((k, v) for k, v in metadata if not k.startswith("filter_tenant_id"))
        found.update({("metadata", name, key): value for key, value in rest})
        inside = cloud.mirror.get(each["uuid"], ())
        found.update({("mirror", name, host): True for host in inside})
    for flavor in cloud.flavors.values():
        specs = flavor["extra_specs"].items()
        found.update({("flavor", flavor["name"], k): v for k, v in specs})
    for image in cloud.images.values():
        found.update({("image", image["name"], k): v for k, v in image.items()})
    return found


def refusing(cloud, number):
    """Let a cloud refuse one write, and take the others."""
    before = cloud.about_to_write

    def about_to_write(parts):
        before(parts)
        if len(cloud.written) == number:
            raise CloudBroke("compute", "refused", 403)

    cloud.about_to_write = about_to_write


def closed(cloud, release):
    """Return the aggregates that keep some requests from their hosts."""
    return {
        each["name"]
        for each in cloud.aggregates.values()
        if any(
            key.startswith("trait:") or names_projects(key, release)
            for key in each["metadata"]
        )
    }


def sheltered(cloud, release=NEWEST):
    """Return the hosts that are in closed aggregates, and these."""
    names = closed(cloud, release)
    there = (e["hosts"] for e in cloud.aggregates.values() if e["name"] in names)
    return names.union(*there)


def watched(cloud, release):
    """Return what is closed now, and from now on after each write to Nova."""
    seen, write = [sheltered(cloud, release)], cloud.compute_post

    def compute_post(parts, body):
        write(parts, body)
        seen.append(sheltered(cloud, release))

    cloud.compute_post = compute_post
    return seen


def test_what_is_applied_holds_and_what_is_not_named_stays():
    seen = []

    @SURE
    @given(older_clouds(), documents(), RELEASES, st.data())
    def check(cloud, document, release, data):
        text = yaml.safe_dump(document)
        start = copy.deepcopy(cloud)
        todo = planned(cloud, text, release)
        if todo is None:
            return
        assert not cloud.written
        before = whole(cloud)
        undo = desired.text(undo_of(todo.draft.claims, todo.found).desired)
        closings = watched(cloud, release)
        done = execute(cloud, todo.plan)
        always = closings[0] & closings[-1]
        assert all(always <= each for each in closings), text
        assert {o.status for o in done.outcomes} <= {Status.CHANGED, Status.UNCHANGED}
        again = planned(cloud, text, release)
        assert not again.draft.claims, (text, again.draft.claims)
        after = whole(cloud)
        units = {key for _, key in todo.draft.claims}
        for unit in before.keys() | after.keys():
            if before.get(unit) != after.get(unit):
                assert _is_named(unit, units, todo), (unit, text)
        for host in HOSTS.keys() - {target.name for target, _ in todo.draft.claims}:
            assert cloud.generations[host] == start.generations[host], text

        # Killed after any number of writes, and applied again, it is the same.
        killed = copy.deepcopy(start)
        writes = data.draw(st.integers(0, max(0, len(cloud.written) - 1)))
        killed.dies_after(writes)
        execute(killed, planned(killed, text, release).plan)
        survivor = start.with_state_of(killed)
        execute(survivor, planned(survivor, text, release).plan)
        assert whole(survivor) == after

        # The undo file leads back, but for what is made and can't be unmade.
        undone = planned(cloud, undo, release)
        assert undone is not None, (text, undo)
        execute(cloud, undone.plan)
        made = {("known", NEW), ("aggregate", "new")}
        left = whole(cloud)
        differing = {
            unit
            for unit in before.keys() | left.keys()
            if before.get(unit) != left.get(unit)
        }
        assert not differing - made, (text, undo, differing)
        seen.append(bool(todo.draft.claims))

    check()
    assert sum(seen) > 40


def test_whichever_write_is_refused_what_is_closed_now_and_later_always_is():
    seen = []

    @SURE
    @given(older_clouds(), moves(), RELEASES)
    def check(start, document, release):
        text = yaml.safe_dump(document)
        whole_run = copy.deepcopy(start)
        execute(whole_run, planned(whole_run, text, release).plan)
        always = sheltered(start, release) & sheltered(whole_run, release)
        for number in range(1, len(whole_run.written) + 1):
            refused = copy.deepcopy(start)
            refusing(refused, number)
            closings = watched(refused, release)
            execute(refused, planned(refused, text, release).plan)
            assert all(always <= each for each in closings), (text, number)
            seen.append(bool(always))

    check()
    assert sum(seen) > 200


@st.composite
def zone_moves(draw, make=LivingCloud):
    """Draw a cloud of up to two zones, and a document that moves hosts and closes."""
    cloud, document = draw(clouds(make)), draw(documents())
    gold, rack = (cloud.aggregates[number] for number in "12")
    zones = st.sampled_from([None, "az1", "az2"])
    for each in (gold, rack):
        if zone := draw(zones):
            each["metadata"]["availability_zone"] = zone
    if draw(st.booleans()):
        rack["hosts"] = [host for host in rack["hosts"] if host not in gold["hosts"]]
        cloud.mirror[rack["uuid"]] = {*rack["hosts"]}
    moving = draw(st.lists(st.sampled_from(sorted(HOSTS)), unique=True))
    _moves(document, "gold", [], moving)
    _moves(document, draw(st.sampled_from(["rack", "new"])), moving, [])
    for entry in document["aggregates"].values():
        if zone := draw(zones):
            entry["zone"] = zone
    return cloud, document


def _moves(document, name, joining, leaving):
    """Let hosts join an aggregate, or leave it, whatever else is wanted of it."""
    entry = document["aggregates"].setdefault(name, {})
    entry.pop("only", None)
    hosts = {*entry.get("hosts", ()), *joining} - {*leaving}
    absent = {*entry.setdefault("absent", {}).get("hosts", ()), *leaving} - hosts
    entry["hosts"], entry["absent"]["hosts"] = sorted(hosts), sorted(absent)


class Refusing:
    """Lets one write fail, and watches who is in a closed aggregate after each.

    :param joins: how many aggregates hosts are to join
    :ivar seen: these, and who has left an aggregate and not yet joined all others
    :ivar refused: the body of the write that failed, if it was one to Nova
    """

    def __init__(self, cloud, number, joins):
        self._cloud, self._number = cloud, number
        self._joins, self._left = Counter(joins), set()
        self._write, self._post = cloud.about_to_write, cloud.compute_post
        cloud.about_to_write, cloud.compute_post = self._about_to_write, self._to_nova
        self.refused = {}
        self.seen = [(set(), sheltered(cloud))]

    def _about_to_write(self, parts):
        self._write(parts)
        if self._is_refused and parts[0] != "os-aggregates":
            raise CloudBroke("placement", "no", 403)

    @property
    def _is_refused(self):
        return len(self._cloud.written) == self._number

    def _to_nova(self, parts, body):
        if self._is_refused:
            self.refused = body
            raise CloudBroke("compute", "no", 403)
        self._post(parts, body)
        self._joins.subtract(body.get("add_host", {}).values())
        self._left |= {*body.get("remove_host", {}).values()}
        on_the_way = {host for host in self._left if self._joins[host] > 0}
        self.seen.append((on_the_way, sheltered(self._cloud)))


def test_whatever_fails_closed_hosts_are_open_only_on_their_way_to_another_zone():
    seen = []

    @settings(SURE, max_examples=250)
    @given(zone_moves())
    def check(drawn):
        cloud, document = drawn
        text = yaml.safe_dump(document)
        whole_run = copy.deepcopy(cloud)
        todo = planned(whole_run, text)
        if todo is None:
            return
        execute(whole_run, todo.plan)
        shelter = sheltered(cloud) & sheltered(whole_run)
        members = [
            change
            for change in todo.plan.changes
            if change.object.kind is ObjectKind.AGGREGATE_HOSTS
        ]
        leaving = frozenset().union(*(change.removed for change in members))
        joins = Counter(host for change in members for host in change.added)
        moving = leaving & joins.keys()
        seen.append(bool(moving & shelter))
        for number in range(1, len(whole_run.written) + 2) if shelter else ():
            failing = copy.deepcopy(cloud)
            watch = Refusing(failing, number, joins)
            execute(failing, todo.plan)
            for on_the_way, now in watch.seen:
                assert shelter - now <= moving & on_the_way, (text, number)
            # Nobody is sent on the way if it is known that it can't arrive.
            left = shelter - sheltered(failing)
            assert left <= {*watch.refused.get("add_host", {}).values()}, (text, number)

    check()
    assert sum(seen) > 10


def _is_named(unit, keys, todo):
    names = {target.name for target, _ in todo.draft.claims}
    kind, name = unit[:2]
    if kind == "known":
        return name in keys
    if kind == "mirror":
        return name in names or unit[2] in names
    if kind == "host":
        return name in names and unit[2] in keys
    if kind in ("flavor", "image"):
        return name in names and unit[2] in keys
    return name in names
