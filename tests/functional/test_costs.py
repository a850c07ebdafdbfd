"""Requests to the services in large clouds, counted."""

from __future__ import annotations

import collections
import dataclasses
import gc
import threading

import pytest

from osc_traitsched.app import explain
from osc_traitsched.app.desired import plan_desired
from osc_traitsched.app.impact import compute_effects, looks
from osc_traitsched.core.change.cloud_model import ANY_IMAGE
from osc_traitsched.core.change.impact import ImpactAnalysis
from osc_traitsched.core.desired.export import isolate
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.judge.fix import Topic
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from tests.bench import lists
from tests.functional import shell
from tests.functional.nova import Nova
from tests.functional.placement import INVENTORIES, STANDARD, Placement
from tests.functional.proxy import Proxy
from tests.services import fill
from tests.services.nova import HalfCloud, MadeUpNova
from tests.services.placement import PlacementServer

# What plan and apply cost the servers in a cloud of a thousand hosts, counted.


pytestmark = pytest.mark.one_client

HOSTS = 1000
#: All that a check reads of a cloud of that size (test_survey_cost.py), and Nova's and
#: Glance's lists.
MOST = 30


@pytest.fixture(scope="module")
def thousand(tmp_path_factory):
    """A Placement of its own, and a Nova with its hosts in zones and racks."""
    with PlacementServer(tmp_path_factory.mktemp("thousand")) as server:
        Placement(server.url).create_traits("CUSTOM_OLD")
        drawn = fill.fill(server.database, HOSTS)
        members = collections.defaultdict(list)
        for host in drawn:
            for uuid in host.aggregates:
                members[uuid].append(host.name)
        proxy = Proxy(server.url)
        hosts = [(host.name, host.uuid) for host in drawn]
        nova = Nova(
            proxy, hosts, {uuid: ({}, names) for uuid, names in members.items()}
        )
        for body in nova.aggregates:
            body["uuid"] = body["name"]
        nova._bodies["/flavors/detail"] = {"flavors": lists.flavors()[:20]}
        yield proxy
        proxy.stop()


@pytest.fixture
def run(thousand, tmp_path):
    def run(verb, text):
        (tmp_path / "w.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
        thousand.requests.clear()
        command = ("trait-sched", verb, str(tmp_path / "w.yaml"), "-f", "json")
        found = shell.run(shell.login(thousand.url), *command)
        assert found.code == 0, found.err
        writes = len(thousand.writes)
        return found.json, writes, len(thousand.requests) - writes

    return run


@pytest.mark.full
def test_a_thousand_hosts_cost_a_write_each_and_no_more_reads_than_ten(run):
    text = 'traits: {CUSTOM_NEW: {hosts: ["*"]}}'
    few = 'traits: {CUSTOM_FEW: {hosts: ["cmp0000[1-9].*"]}}'
    _, _, reads_of_few = run("apply", few)
    rows, writes, reads = run("apply", text)
    assert (len(rows), writes) == (HOSTS + 1, HOSTS + 1)
    assert reads == reads_of_few
    rows, writes, reads = run("apply", text)
    assert (rows, writes) == ([], 0)
    assert reads <= MOST


def test_what_no_line_isolates_costs_no_look_at_who_is_in_aggregates(run, thousand):
    _, _, reads = run("plan", 'traits: {CUSTOM_OLD: {absent: {hosts: ["*"]}}}')
    assert reads <= 12
    assert not any("member_of" in request.path for request in thousand.requests)


# How many requests explain sends to Placement, counted.


#: Beside one for each set of aggregates in the request, and one by one those of a
#: few hosts that stand for others.
EXPLAIN_COST_MOST = 12

SMALL = {"name": "small", "vcpus": 1, "ram": 512, "disk": 1, "extra_specs": {}}
LARGE = {**SMALL, "name": "large", "ram": 1_000_000}
PICKY = {
    **LARGE,
    "name": "picky",
    "extra_specs": {
        "trait:CUSTOM_ONE": "required",
        "trait:CUSTOM_TWO": "required",
        "trait:CUSTOM_THREE": "forbidden",
    },
}
IMAGE = {"name": "image", "disk_format": "qcow2", "hw_disk_bus": "virtio"}


@pytest.fixture
def explain_cost_hosts(placement):
    placement.create_traits("CUSTOM_ONE", "CUSTOM_TWO", "CUSTOM_THREE")

    def make(count):
        names = [f"cmp{number:02d}" for number in range(count)]
        return [(name, placement.add_host(name)) for name in names]

    return make


def explained(placement, nova, flavor, release=33, **options):
    """Explain, and return the explanation and how many requests it took.

    Those for the figures of single hosts do not count.
    """
    sent = []
    cloud = HalfCloud(placement.url, nova)
    service = cloud.placement
    get = service.get

    def count(path, params=None, microversion=None, timeout=None):
        sent.append(path)
        return get(path, params, microversion)

    service.get = count
    question = Question(
        flavor,
        IMAGE,
        tuple(map(Aggregate.read, nova.aggregates)),
        SchedulerSettings.of(release, **options),
    )
    found = explain.explain(cloud, question, (), want_figures=True, want_fixes=True)
    single = [p for p in sent if p.endswith(("/inventories", "/usages"))]
    return found, len(sent) - len(single)


@pytest.mark.full
@pytest.mark.parametrize("flavor", [LARGE, PICKY], ids=lambda f: f["name"])
def test_the_number_of_requests_is_bounded_and_does_not_grow_with_the_hosts(
    placement, explain_cost_hosts, flavor
):
    options = {
        "query_placement_for_image_type_support": True,
        "image_metadata_prefilter": True,
    }
    costs = []
    for count in (30, 60):
        nova = MadeUpNova(explain_cost_hosts(count))
        found, cost = explained(placement, nova, flavor, **options)
        assert found.judgement.total_hosts == count
        assert gc.isenabled()
        costs.append(cost)
        placement.wipe()
        placement.create_traits("CUSTOM_ONE", "CUSTOM_TWO", "CUSTOM_THREE")
    assert costs[0] == costs[1]
    assert costs[0] <= EXPLAIN_COST_MOST


#: Placement's workers that one command keeps busy at most.
AT_ONCE = 4


@pytest.mark.parametrize("flavor", [SMALL, LARGE, PICKY], ids=lambda f: f["name"])
def test_what_explains_the_answer_is_read_while_nova_s_query_is_answered(
    placement, explain_cost_hosts, flavor
):
    nova = MadeUpNova(explain_cost_hosts(3))
    cloud = HalfCloud(placement.url, nova)
    get = cloud.placement.get
    lock, meanwhile = threading.Lock(), threading.Event()
    under_way, most, explaining = [], [], []

    def listen(path, params=None, microversion=None, timeout=None):
        with lock:
            under_way.append(path)
            most.append(len(under_way))
            if path == "/resource_providers":
                explaining.append(params)
            # The list, those that are shared, and the three amounts.
            if len(explaining) == 5:
                meanwhile.set()
        if path.startswith("/allocation_candidates?"):
            assert meanwhile.wait(30)
        try:
            return get(path, params, microversion)
        finally:
            with lock:
                under_way.remove(path)

    cloud.placement.get = listen
    found = explain.explain(
        cloud, Question(flavor, IMAGE, (), SchedulerSettings.of(33))
    )
    assert found.judgement.agrees
    assert max(most) <= AT_ONCE


QCOW2, DISABLED = "COMPUTE_IMAGE_TYPE_QCOW2", "COMPUTE_STATUS_DISABLED"


def asked_traits(placement, nova, flavor):
    """Judge for a qcow2 image, and return how the providers were asked for traits."""
    cloud = HalfCloud(placement.url, nova)
    get, asked = cloud.placement.get, []

    def listen(path, params=None, microversion=None, timeout=None):
        asked.append((params or {}).get("required"))
        return get(path, params, microversion)

    cloud.placement.get = listen
    options = {"query_placement_for_image_type_support": True}
    assumptions = SchedulerSettings.of(33, **options)
    image = {"name": "image", "disk_format": "qcow2"}
    found = explain.explain(cloud, Question(flavor, image, (), assumptions)).judgement
    return found, {each for each in asked if each and "SHARES" not in each}


def test_the_question_on_a_trait_is_the_one_with_the_shorter_answer(placement):
    """Where most hosts have a trait those are listed that lack it, as few as they are.

    Of the candidates all have what the flavor requires, so that they say nothing of
    how many of the others have it.
    """
    placement.create_traits("CUSTOM_ONE")
    common = [QCOW2, "COMPUTE_NODE"]
    traits = {
        f"cmp{n}": [*common, "CUSTOM_ONE"] if n == 1 else common for n in range(9)
    }
    traits["cmp7"] = ["COMPUTE_NODE", DISABLED]
    made = [(name, placement.add_host(name, each)) for name, each in traits.items()]
    picky = {**SMALL, "extra_specs": {"trait:CUSTOM_ONE": "required"}}
    found, asked = asked_traits(placement, MadeUpNova(made), picky)
    assert asked == {f"!{QCOW2}", DISABLED, "CUSTOM_ONE"}
    assert [host.name for host in found.candidates] == ["cmp1"]
    assert found.agrees
    alone = {each.clause.name: each.alone for each in found.verdict.counts[:3]}
    assert alone == {QCOW2: 8, DISABLED: 8, "CUSTOM_ONE": 1}


def test_where_most_providers_are_no_hosts_those_are_listed_that_have_the_trait(
    placement,
):
    made = [(f"cmp{n}", placement.add_host(f"cmp{n}", [QCOW2])) for n in range(6)]
    for name, parent in made:
        for n in range(2):
            placement.add_host(f"{name}_NUMA{n}", [], parent, {"PCPU": 4})
    placement.create_traits("CUSTOM_ONE")
    placement.set_traits(made[0][1], [QCOW2, "CUSTOM_ONE"])
    picky = {**SMALL, "extra_specs": {"trait:CUSTOM_ONE": "required"}}
    found, asked = asked_traits(placement, MadeUpNova(made), picky)
    assert asked == {QCOW2, DISABLED, "CUSTOM_ONE"}
    assert len(found.candidates) == 1
    assert found.agrees


@pytest.mark.full
@pytest.mark.parametrize("largest", [4000, 4200], ids=["no host", "some hosts"])
def test_twelve_groups_of_different_amounts_are_28_requests_more_at_most(
    placement, largest
):
    """They have 4095 sums: twelve amounts are asked for, and sixteen sums."""
    groups = {f"resources_{n}:CUSTOM_CARD": 2**n for n in range(12)}
    flavor = {**SMALL, "extra_specs": {**groups, "group_policy": "none"}}
    placement.call("PUT", "/resource_classes/CUSTOM_CARD")
    made = [
        (
            f"cmp{n}",
            placement.add_host(
                f"cmp{n}", inventories={**INVENTORIES, "CUSTOM_CARD": n}
            ),
        )
        for n in range(largest - 290, largest, 10)
    ]
    found, cost = explained(placement, MadeUpNova(made), flavor)
    assert found.judgement.agrees
    assert len(found.judgement.candidates) == sum(
        int(name[3:]) >= 4095 for name, _ in made
    )
    assert cost <= EXPLAIN_COST_MOST + 12 + 16


@pytest.mark.full
@pytest.mark.parametrize("isolating", [True, False])
def test_forty_isolated_aggregates_are_no_forty_requests(
    placement, explain_cost_hosts, isolating
):
    placement.create_traits("CUSTOM_ONE")
    made = explain_cost_hosts(45)
    isolated = {
        f"isolated{number:02d}": ({f"trait:CUSTOM_A{number}": "required"}, [name])
        for number, (name, _) in enumerate(made[:40])
    }
    nova = MadeUpNova(made, isolated)
    for aggregate, (_, provider) in zip(nova.aggregates, made):
        mirror(placement, provider, [aggregate["uuid"]])
    found, cost = explained(
        placement, nova, SMALL, enable_isolated_aggregate_filtering=isolating
    )
    assert len(found.judgement.candidates) == (5 if isolating else 45)
    assert cost <= EXPLAIN_COST_MOST + (10 if isolating else 1)


def mirror(placement, provider, aggregates):
    """Put a provider into Placement's aggregates of these UUIDs."""
    placement.call(
        "PUT",
        f"/resource_providers/{provider}/aggregates",
        {
            "resource_provider_generation": placement.generation(provider),
            "aggregates": aggregates,
        },
    )


@pytest.mark.parametrize("when", ["/traits", "/inventories", "/resource_providers"])
def test_a_host_that_is_deleted_meanwhile_ends_nothing_and_is_said(
    placement, explain_cost_hosts, when
):
    made = explain_cost_hosts(2)
    # It is in no answer for many, since it has no inventory: it is read by itself.
    gone = placement.add_host("gone", ["CUSTOM_ONE"], inventories={})
    nova = MadeUpNova([*made, ("gone", gone)])
    cloud = HalfCloud(placement.url, nova)
    get = cloud.placement.get

    def vanish(path, params=None, microversion=None, timeout=None):
        if path.endswith(when) and (gone in path or path == when):
            placement.try_call("DELETE", f"/resource_providers/{gone}")
        return get(path, params, microversion)

    cloud.placement.get = vanish
    question = Question(PICKY, IMAGE, (), SchedulerSettings.of(33))
    explanation = explain.explain(
        cloud, question, (), want_figures=True, want_fixes=True
    )
    found = explanation.judgement
    assert found.agrees
    # When the hosts were listed it was there, but for the last of the three.
    listed = when != "/resource_providers"
    assert found.facts.vanished == (("gone",) if listed else ())
    assert {host.name for host in found.hosts} >= {"cmp00", "cmp01"}


@pytest.mark.parametrize(
    ("name", "is_typo"), [("CUSTOM_GLOD", True), ("CUSTOM_GOLD_2", False)]
)
def test_a_typo_that_somebody_created_is_corrected_and_given_to_no_host(
    placement, name, is_typo
):
    placement.create_traits("CUSTOM_GOLD", "CUSTOM_GOLD_1", name)
    host = placement.add_host("cmp00", (*STANDARD, "CUSTOM_GOLD_1"))
    gold = placement.add_host("cmp01", (*STANDARD, "CUSTOM_GOLD"))
    nova = MadeUpNova([("cmp00", host), ("cmp01", gold)])
    flavor = {**SMALL, "id": "f", "extra_specs": {f"trait:{name}": "required"}}
    found, _ = explained(placement, nova, flavor)
    topics = [each.topic for each in found.advice]
    assert topics.count(Topic.MISSPELLED) == is_typo
    assert bool(found.fixes) is not is_typo


# How many requests it takes to look ahead before an aggregate is isolated, counted.


GOLD = "CUSTOM_GOLD"
ISOLATING = SchedulerSettings.of(33, enable_isolated_aggregate_filtering=True)
#: Ten sizes: four numbers of processors, five of memory, one of disks.
SIZES = [(1 + n % 4, 512 * (1 + n % 5)) for n in range(20)]
AMOUNTS = 4 + 5 + 1


def flavors(count):
    return [
        {
            "id": str(number),
            "name": f"f{number:03}",
            "vcpus": SIZES[number % 20][0],
            "ram": SIZES[number % 20][1],
            "disk": 1,
            "extra_specs": {"trait:CUSTOM_OTHER": "required"} if number % 2 else {},
        }
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def cost(tmp_path_factory):
    """Looks ahead in a cloud of so many hosts and flavors, and counts the requests."""

    def count(hosts, inside, number_of_flavors):
        folder = tmp_path_factory.mktemp(f"hosts-{hosts}")
        with PlacementServer(folder) as server:
            Placement(server.url).create_traits(GOLD, "CUSTOM_OTHER")
            drawn = fill.fill(server.database, hosts)
            names = [host.name for host in drawn]
            nova = MadeUpNova(
                [(host.name, host.uuid) for host in drawn],
                {"gold": ({}, names[:inside])},
            )
            found = flavors(number_of_flavors)
            nova._bodies["/flavors/detail"] = {"flavors": found}
            cloud = HalfCloud(server.url, nova)
            wanted = isolate("gold", [GOLD], found[:1]).desired
            todo = plan_desired(cloud, wanted, ISOLATING)
            model = dataclasses.replace(todo.found, images=(ANY_IMAGE,))
            impact = ImpactAnalysis(looks(model, todo.plan), ISOLATING)
            assert len(impact.rows) == number_of_flavors
            effects = tuple(compute_effects(cloud.placement, impact))
            # It could see what there is to see.
            assert any(effect.room.lost for effect in effects)
            return cloud.placement.requests

    return count


@pytest.mark.full
def test_hosts_add_no_requests_nor_do_flavors_of_the_same_sizes(cost):
    few = cost(hosts=40, inside=20, number_of_flavors=20)
    assert cost(hosts=400, inside=200, number_of_flavors=100) == few
    # The lists of providers, traits and classes; traits and figures of all, twice at
    # most for the aggregate's hosts and once more for the others; the mirror, twice.
    assert few - AMOUNTS <= 14
