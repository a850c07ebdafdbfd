"""Lines of files: hosts, kinds of writes, members, projects, what is never written."""

from __future__ import annotations

import dataclasses
import itertools
import sys

import pytest

from osc_traitsched.cloud import write
from osc_traitsched.cloud.write import Patience
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    Phase,
    State,
    Status,
    foreseen_outcomes,
    plan_of,
)
from osc_traitsched.core.change.traits import gone, present
from osc_traitsched.core.desired import units
from osc_traitsched.core.desired.export import export_of, undo_of
from osc_traitsched.core.desired.model import (
    Claim,
    Claims,
    DesiredState,
    Entry,
    Only,
    Part,
    Place,
    Text,
)
from osc_traitsched.core.desired.planner import (
    ZoneRules,
    claims_of,
    draft,
    rows_of,
    with_problem,
)
from osc_traitsched.core.desired.units import Finder, FoundCloud, keys_of
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import (
    Compute,
    Holding,
    NodeReport,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.inventory.trait import ZONE_KEY, projects_in
from osc_traitsched.core.nova.filter.groups import names_projects
from osc_traitsched.views import desired, listing
from tests.aggregates import aggregate

# Which hosts a line means: whole names first, then the first label of one.


NAMES = ("a.example.org", "b.example.org", "b.example.net", "c", "c.example.org")
ROOTS = tuple(Provider(name, name, 1, name) for name in NAMES)
CARD = Provider("card", "a_pci_1", 1, ROOTS[0].uuid, ROOTS[0].uuid)
NODES = tuple(Compute(name, name, f"service-{name}") for name in NAMES)
PLACE = Place("w.yaml", 3)


def hosts():
    return Finder(Snapshot((*ROOTS, CARD), nova=Nova(NODES)))


def found(text):
    finder = hosts()
    named = [p.name for p in finder.providers(Text(text, PLACE)).providers]
    return named, [str(each) for each in finder.mistakes]


def test_a_first_label_names_the_one_host_that_has_it():
    assert found("a") == (["a.example.org"], [])
    assert found("c") == (["c"], [])
    assert found("service-a.example.org") == (["a.example.org"], [])
    assert found("b") == (
        [],
        ["w.yaml:3: no host matches 'b'; did you mean b.example.net or b.example.org?"],
    )
    assert found("a.example") == (
        [],
        [
            "w.yaml:3: no host matches 'a.example'; did you mean a.example.org or "
            "b.example.net or b.example.org?"
        ],
    )
    assert found("c.example.net") == (
        [],
        ["w.yaml:3: no host matches 'c.example.net'; did you mean c?"],
    )


def test_an_aggregate_has_service_hosts_and_those_that_nova_no_longer_has():
    finder = hosts()
    assert finder.service_hosts(Text("a", PLACE)) == {"service-a.example.org"}
    assert finder.service_hosts(Text("gone", PLACE), {"gone", "c"}) == {"gone"}
    assert finder.mistakes == []


def test_nested_providers_go_by_name_or_glob():
    finder = hosts()
    for text in ("card", "a_pci_1", "a_pci_?"):
        assert finder.nested(Text(text, PLACE)).providers == (CARD,)
    assert not finder.nested(Text("b_pci_*", PLACE)).providers
    (mistake,) = finder.mistakes
    assert str(mistake) == "w.yaml:3: no provider matches 'b_pci_*'"


# A kind of write is a row, a reader and a writer: all else finds them.


RATIO = ObjectKind(
    *("allocation ratio", "ratio", "ratio"),
    *(Phase.PLACE, Phase.LEAVE),
    unit="ratio {key} of {name}",
    not_undone="ratio {key} of {name}: set it with openstack resource provider",
)
CLOUD = FoundCloud(Snapshot(()), (), (), frozenset(), frozenset())
UNIT = Object(RATIO, "r1", "cmp01"), "VCPU"


class Ratios:
    """An inventory of one provider, which keeps what is sent."""

    def __init__(self, now):
        self.now = now

    def read(self):
        return State(dict(self.now))

    def requests(self, change, found):
        return [lambda: self.now.update(change.after)]


@pytest.fixture
def ratios(monkeypatch):
    """The ratios of a cloud whose provider has another than a file wants."""
    now = {"VCPU": "4"}
    monkeypatch.setitem(units.STATES, RATIO, lambda cloud, _: State({"VCPU": "4"}))
    monkeypatch.setitem(write.ACCESS, RATIO, lambda cloud, target: Ratios(now))
    return now


@pytest.fixture
def sketch(ratios):
    """What differs, and the changes."""
    wanted = Claims()
    wanted.add(UNIT, Claim("8", Place("w.yaml", 3)))
    return draft(wanted, CLOUD)


def test_a_made_up_kind_is_planned_in_its_phase_and_said_in_its_words(sketch):
    plan, claims = plan_of(sketch.changes), sketch.claims
    (change,) = plan.changes
    assert change.phase is Phase.PLACE
    outcomes = foreseen_outcomes(plan)
    (row,) = rows_of(outcomes, claims, CLOUD)
    assert (row.change, row.step, row.before, row.after) == ("set", "ratio", "4", "8")
    assert list(desired.lines([row], CLOUD)) == [
        "~ ratio cmp01  VCPU 4 -> 8  (w.yaml:3)"
    ]
    _, (cells,) = listing.result_rows(listing.STEPS, outcomes)
    assert cells == ("ratio", "cmp01", "would change", "with VCPU=8", "")
    assert "ratio VCPU of 'cmp01' (w.yaml:3)" in desired.differs_again(claims)


def test_a_made_up_kind_is_applied_and_its_undo_file_says_what_it_lacks(sketch, ratios):
    outcome = write.apply(None, sketch.changes[0], Patience())
    assert (outcome.status, ratios) == (Status.CHANGED, {"VCPU": "8"})
    assert desired.not_undone(undo_of(sketch.claims, CLOUD).left) == [
        "Not brought back: ratio VCPU of 'cmp01': set it with openstack resource "
        "provider"
    ]


def test_every_kind_is_read_and_written():
    kinds = {kind for kind in vars(ObjectKind).values() if isinstance(kind, ObjectKind)}
    assert kinds == units.STATES.keys() == write.ACCESS.keys()


# Lines about the hosts of aggregates: what they claim, and how much work that is.


GOLD = Object(ObjectKind.AGGREGATE_HOSTS, "1", "gold")
#: Of each aggregate of a large cloud.
HOSTS = 8


def text(name, line=1):
    return Text(name, Place("w.yaml", line))


def snapshot(names):
    roots = tuple(Provider(f"id-{name}", name, 1, f"id-{name}") for name in names)
    nodes = tuple(Compute(r.uuid, r.name, r.name) for r in roots)
    return Snapshot(roots, nova=Nova(nodes))


def claimed(inside, *lines, held=(), only=False):
    """Claim hosts of gold; a line is a pattern, with a minus if it takes."""
    claims = Claims()
    claims.held_hosts = frozenset(held)
    entries = [
        Entry(Part.MEMBERS, text("gold"), text(line.lstrip("-"), n), line[0] == "-")
        for n, line in enumerate(lines, 2)
    ]
    onlys = [Only("aggregates", text("gold"))] if only else []
    hosts = Finder(snapshot(["a1", "a2", "b1", "b2"]))
    found = units.claim_members(claims, GOLD, frozenset(inside), entries, onlys, hosts)
    said = [str(each) for each in (*found, *claims.mistakes, *hosts.mistakes)]
    return {host: c.value for (_, host), c in claims.units.items()}, claims, said


def test_a_pattern_takes_those_who_are_there():
    units, _, said = claimed(["a1", "b1"], "-a*", "-*")
    assert (units, said) == ({"a1": None, "b1": None}, [])


def test_hosts_on_hold_are_counted_as_held_alone():
    units, claims, said = claimed(["a1"], "-*", held=["a1", "a2"])
    assert (units, said) == ({}, [])
    assert {host for _, host in claims.held} == {"a1"}


@pytest.mark.parametrize("lines", [("a*", "-a1"), ("-a1", "a*")])
@pytest.mark.parametrize("held", [(), ("a1",)])
@pytest.mark.parametrize("inside", [(), ("a1",)])
def test_what_one_line_gives_and_another_takes_is_a_mistake(inside, held, lines):
    _, _, said = claimed(inside, *lines, held=held)
    assert said == ["w.yaml:3: conflicts with w.yaml:2 about a1 of 'gold'"]


def test_only_takes_those_that_no_line_names():
    units, _, said = claimed(["a1", "b1", "b2"], "a*", "-b1", only=True)
    there = {"a1": PRESENT, "a2": PRESENT, "b1": None, "b2": None}
    assert (units, said) == (there, [])


def test_only_is_about_hosts_where_a_line_gives_some():
    assert claimed(["a1"], "-b1", only=True)[0] == {}


def test_only_beside_lines_that_contradict_each_other_names_somebody():
    _, _, said = claimed([], "-a1", "a1", only=True)
    assert said == ["w.yaml:3: conflicts with w.yaml:2 about a1 of 'gold'"]


def large(count):
    """Return a cloud of some aggregates, and the hosts of each by its name."""
    parts = {f"agg{n}": [f"h{n}-{i}" for i in range(HOSTS)] for n in range(count)}
    aggregates = tuple(aggregate(name, *hosts) for name, hosts in parts.items())
    cloud = snapshot([host for hosts in parts.values() for host in hosts])
    return FoundCloud(
        cloud, aggregates, (), frozenset(), frozenset(), holdings={}
    ), parts


def only_its_own(parts):
    """Want each aggregate to have the hosts that it has, and no others."""
    own = [(name, host) for name, hosts in parts.items() for host in hosts]
    entries = (Entry(Part.MEMBERS, text(name), text(host)) for name, host in own)
    return DesiredState(
        tuple(entries), tuple(Only("aggregates", text(name)) for name in parts)
    )


def none_of_all(parts):
    """Want no aggregate to have any host."""
    all_hosts = text("h*")
    return DesiredState(
        tuple(Entry(Part.MEMBERS, text(name), all_hosts, True) for name in parts)
    )


def entered(wanted, found):
    """Return the claims, and how many functions were called to make them."""
    count, before = 0, sys.getprofile()

    def profile(frame, event, arg):
        nonlocal count
        count += event == "call"

    hosts = Finder(found.snapshot)
    sys.setprofile(profile)
    try:
        claims = claims_of(wanted, found, hosts)
    finally:
        sys.setprofile(before)
    return claims, count


@pytest.mark.parametrize("wanting", [only_its_own, none_of_all])
def test_four_times_the_cloud_is_four_times_the_work(wanting):
    work = {}
    for count in (10, 40):
        found, parts = large(count)
        claims, work[count] = entered(wanting(parts), found)
        assert len(claims.units) == count * HOSTS
    assert work[40] < 5 * work[10]


# What is never written, whatever a file says: the rows of others' providers.


PROBLEMS_GOLD = "CUSTOM_GOLD"
ROOT = Provider("r", "node-1", 1, "r")
PROBLEMS_CARD = Provider("c", "node-1_pci_1", 1, "r", "r")
NUMBERS = dict.fromkeys(
    [
        "vcpus",
        "vcpus_used",
        "memory_mb",
        "free_ram_mb",
        "local_gb",
        "local_gb_used",
        "free_disk_gb",
        "running_vms",
        "current_workload",
        "hypervisor_version",
    ],
    0,
)


def problems_found(hypervisor="QEMU"):
    report = NodeReport(
        **NUMBERS, disk_available_least=None, hypervisor_type=hypervisor, host_ip=None
    )
    node = Compute("r", "node-1", "ironic-1", report=report)
    snapshot = Snapshot((ROOT, PROBLEMS_CARD), nova=Nova((node,)))
    return FoundCloud(
        snapshot, (), (), frozenset({PROBLEMS_GOLD}), frozenset(), holdings={}
    )


def said(change, cloud):
    marked = with_problem(change, cloud)
    return str(marked.problem) if marked.problem else ""


def change(provider, after, *traits):
    target = Object(ObjectKind.PROVIDER_TRAITS, provider.uuid, provider.name, "node-1")
    return Change(target, State(present(traits), 1), after)


@pytest.mark.parametrize(
    ("after", "verb"),
    [(present([PROBLEMS_GOLD]), "add"), (gone([PROBLEMS_GOLD]), "remove")],
)
def test_an_ironic_node_has_its_traits_in_ironic(after, verb):
    traits = () if verb == "add" else (PROBLEMS_GOLD,)
    assert said(change(ROOT, after, *traits), problems_found("ironic")) == (
        "an Ironic node has the traits that it has in Ironic: openstack baremetal node "
        f"{verb} trait node-1 {PROBLEMS_GOLD}"
    )
    assert said(change(ROOT, after, *traits), problems_found()) == ""


def test_what_an_ironic_node_has_in_ironic_is_exported_as_a_comment_alone():
    there = {"r": Holding(ROOT, frozenset({PROBLEMS_GOLD}))}
    of_ironic, of_nova = (
        export_of(dataclasses.replace(problems_found(each), holdings=there))
        for each in ("ironic", "QEMU")
    )
    assert of_ironic.unsaid == (f"Ironic node node-1 has {PROBLEMS_GOLD} in Ironic",)
    assert not of_ironic.desired.entries
    assert of_nova.unsaid == ()
    assert [entry.of.text for entry in of_nova.desired.entries] == [PROBLEMS_GOLD]


@pytest.mark.parametrize(
    ("other", "owner"),
    [
        ("COMPUTE_MANAGED_PCI_DEVICE", "nova-compute"),
        ("CUSTOM_PHYSNET_PUBLIC", "Neutron"),
        ("CUSTOM_VNIC_TYPE_NORMAL", "Neutron"),
    ],
)
def test_a_provider_that_others_make_keeps_its_traits_and_may_get_more(other, owner):
    taken = said(
        change(PROBLEMS_CARD, gone([PROBLEMS_GOLD]), PROBLEMS_GOLD, other),
        problems_found(),
    )
    assert taken == f"{owner} makes this provider and its traits: none is taken away"
    assert (
        said(change(PROBLEMS_CARD, present([PROBLEMS_GOLD]), other), problems_found())
        == ""
    )


def test_a_host_without_a_provider_can_not_have_a_trait():
    target = Object(ObjectKind.PROVIDER_TRAITS, "", "node-2", "node-2")
    there = dataclasses.replace(change(ROOT, present([PROBLEMS_GOLD])), object=target)
    assert said(there, problems_found()).startswith("Placement has no provider for it")


def test_a_host_whose_servers_can_not_be_counted_does_not_change_its_zone():
    zoned = aggregate("east\x1b", "h\n")
    target = Object(ObjectKind.AGGREGATE, zoned.id, zoned.name)
    moving = Change(target, State({}), {ZONE_KEY: "z\n"})
    why = CloudBroke("compute", "no rights", 403)
    rules = ZoneRules([zoned], why, frozenset())
    assert str(rules.problem([moving])) == (
        "whether the host has servers, which can't get into another zone, can't be "
        "read (compute: no rights (HTTP 403))"
    )
    full = str(ZoneRules([zoned], {"h\n": 2}, frozenset()).problem([moving]))
    assert full.isprintable()
    assert "has 2 servers, and Nova rejects the change from the default zone" in full


# Keys that name an aggregate's projects to the host filter and to the prefilter.


BARE = "filter_tenant_id"
P1, P2, P3, P4 = (str(number) * 32 for number in range(1, 5))
ONE, TWO, THREE = ({f"{BARE}_{each}": each} for each in (P1, P2, P3))
FOUND = [
    {},
    {BARE: P1},
    {BARE: P1, **TWO},
    {BARE: P1, **ONE, **TWO, **THREE},
    {BARE: f"{P1},{P2}"},
    {BARE: f"{P1},{P2}", **ONE, **TWO},
    {BARE: f"{P1}, {P2}", **THREE},
    {BARE: P1, f"{BARE}2": f"{P2},{P3}"},
    TWO,
    {**TWO, **THREE, "kind": P1},
]
SETS = [
    frozenset(each)
    for size in range(4)
    for each in itertools.combinations((P1, P2, P3, P4), size)
]
WANTED = [(ins, outs) for ins in SETS for outs in SETS if not ins & outs]


def after(metadata, inside, outside, reads_suffixes):
    changed = keys_of(metadata, inside, outside, reads_suffixes)
    assert all(metadata.get(key) != value for key, value in changed.items())
    now = {**metadata, **changed}
    return {key: value for key, value in now.items() if value is not None}


def by_filter(metadata, release):
    """Return the projects that the filter knows; none stands for everybody."""
    return projects_in(
        {k: v for k, v in metadata.items() if names_projects(k, release)}
    )


def by_prefilter(metadata):
    return {value for key, value in metadata.items() if key.startswith(BARE)}


@pytest.mark.parametrize("reads_suffixes", [False, True])
@pytest.mark.parametrize("found", FOUND)
def test_whatever_was_there_the_projects_are_those_that_are_wanted(
    found, reads_suffixes
):
    for inside, outside in WANTED:
        now = after(found, inside, outside, reads_suffixes)
        assert projects_in(now) == (projects_in(found) | inside) - outside
        assert not keys_of(now, inside, outside, reads_suffixes)


@pytest.mark.parametrize("found", FOUND)
def test_the_filter_of_no_release_lets_in_everybody_instead_of_the_last_of_several(
    found,
):
    for (inside, outside), suffixes in itertools.product(WANTED, (False, True)):
        now = after(found, inside, outside, suffixes)
        if BARE in found and projects_in(now):
            assert by_filter(now, 29)


@pytest.mark.parametrize("found", FOUND)
def test_who_comes_is_let_in_by_the_filter_of_each_release_and_keeps_nobody_out(found):
    for inside, outside in WANTED:
        now = after(found, inside, outside, reads_suffixes=False)
        if inside - projects_in(found):
            every = projects_in(now)
            assert by_filter(now, 29) == by_filter(now, 30) == every


@pytest.mark.parametrize("reads_suffixes", [False, True])
@pytest.mark.parametrize("found", FOUND)
def test_the_prefilter_finds_who_comes_and_whom_it_found_before(found, reads_suffixes):
    for inside, outside in WANTED:
        now = after(found, inside, outside, reads_suffixes)
        missing = inside - projects_in(found)
        before = by_prefilter(found) & {P1, P2, P3, P4}
        assert by_prefilter(now) >= missing | (before - outside)


def test_a_project_alone_has_one_key():
    assert keys_of({}, {P1}, (), False) == keys_of({}, {P1}, (), True) == {BARE: P1}
    assert keys_of({BARE: P1}, {P2}, {P1}, False) == {BARE: P2}


def test_several_have_keys_of_their_own_and_before_30_a_list_as_well():
    assert keys_of({BARE: P1}, {P2}, (), True) == TWO
    listed = {BARE: f"{P1},{P2}", **ONE, **TWO}
    assert keys_of({BARE: P1}, {P2}, (), False) == listed


def test_a_list_is_no_longer_than_nova_takes_and_has_first_who_was_there():
    many = [f"{number:032}" for number in range(20)]
    old = many[10]
    now = after({BARE: old}, frozenset(many), (), reads_suffixes=False)
    listed = now[BARE].split(",")
    assert (len(listed), listed[0], len(now)) == (7, old, 21)
    assert by_prefilter(now) >= {*many}
    assert len(f"{now[BARE]},{old}") > 255 >= len(now[BARE])


def test_no_key_is_taken_from_another_project():
    odd = {BARE: P1, f"{BARE}_{P2}": P3}
    assert keys_of(odd, {P2}, (), True) == {f"{BARE}_2": P2}
    # To Nova's database these are one.
    assert keys_of({BARE: P1, f"{BARE}_A": P3}, {"a"}, (), True) == {f"{BARE}_2": "a"}
