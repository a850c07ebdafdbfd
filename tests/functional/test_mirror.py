"""The mirror in a real Placement, and its repair."""

from __future__ import annotations

import functools
import random
import threading
import uuid

import pytest

from osc_traitsched.cloud import lookup, write
from osc_traitsched.cloud.write import Patience
from osc_traitsched.core.change.model import PRESENT, Change, Object, ObjectKind, State
from tests.functional.nova import Nova
from tests.functional.proxy import CutAfter, Instead
from tests.services.nova import HalfCloud, MadeUpNova

# Who Placement has in which aggregate, from the real Placement.


pytestmark = pytest.mark.one_client


@pytest.fixture
def service(placement):
    """Our way to Placement."""
    return HalfCloud(placement.url, MadeUpNova()).placement


@pytest.fixture
def thirty(placement):
    """Thirty aggregates of one provider each, as expected; and a place for more."""
    providers = [placement.add_host(f"cmp{n:02d}", traits=()) for n in range(30)]
    expected = {str(uuid.uuid4()): frozenset({each}) for each in providers}
    for aggregate, (provider,) in expected.items():
        put(placement, provider, [aggregate])
    return expected


@pytest.mark.full
def put(placement, provider, aggregates):
    body = {
        "resource_provider_generation": placement.generation(provider),
        "aggregates": aggregates,
    }
    placement.call("PUT", f"/resource_providers/{provider}/aggregates", body)


def test_thirty_aggregates_as_expected_are_told_in_seven_requests(service, thirty):
    assert lookup.members(service, thirty) == thirty
    assert service.requests == 7


def test_a_provider_that_is_elsewhere_is_told_exactly_by_one_request_more(
    placement, service, thirty
):
    first, second, *_ = thirty
    (provider,) = thirty[first]
    put(placement, provider, [second])
    found = lookup.members(service, thirty)
    assert found[first] == frozenset()
    assert found[second] == thirty[second] | {provider}
    assert service.requests == 8


def test_what_nova_has_and_placement_has_not_is_in_no_aggregate(service, thirty):
    first = next(iter(thirty))
    gone = str(uuid.uuid4())
    found = lookup.members(service, {**thirty, first: thirty[first] | {gone}})
    assert found == thirty


def test_when_nothing_is_expected_each_aggregate_is_asked_for(service, thirty):
    assert lookup.members(service, dict.fromkeys(thirty, frozenset())) == thirty


# mirror repair and aggregate list: a real Placement, and a Nova that is made up.


REPAIR = ("mirror", "repair")
HOSTS = 20
KILLS = 10


def mirror_repair_put(placement, provider, *aggregates):
    body = {
        "resource_provider_generation": placement.generation(provider),
        "aggregates": list(aggregates),
    }
    placement.call("PUT", f"/resource_providers/{provider}/aggregates", body)


def aggregates(placement, provider):
    path = f"/resource_providers/{provider}/aggregates"
    return set(placement.call("GET", path)["aggregates"])


def own(number):
    """Return the UUID of an aggregate that Nova knows nothing of."""
    return str(uuid.UUID(int=number + 1))


@pytest.fixture
def hosts(placement):
    """Twenty hosts, each in an aggregate of its own that is not Nova's."""
    found = {f"cmp{n:02d}": placement.add_host(f"cmp{n:02d}") for n in range(HOSTS)}
    for number, provider in enumerate(found.values()):
        mirror_repair_put(placement, provider, own(number))
    return found


@pytest.fixture
def nova(proxy, hosts):
    """All hosts in the aggregate "all"; "none" is empty."""
    members = {"all": ({}, tuple(hosts)), "none": ({}, ())}
    return Nova(proxy, list(hosts.items()), members)


def moved(cloud, provider, into, out_of):
    """Put a provider into an aggregate and take it out of another, as a repair does."""
    planned = Object(ObjectKind.PROVIDER_AGGREGATES, provider, "cmp00", "cmp00")
    change = Change(planned, State({out_of: PRESENT}), {into: PRESENT, out_of: None})
    return write.apply(cloud, change, Patience())


def is_in_step(placement, hosts, nova):
    """Tell whether each host is in what it was in, and where Nova has it."""
    return all(
        aggregates(placement, provider) == {own(number), nova.uuid("all")}
        for number, provider in enumerate(hosts.values())
    )


def test_who_is_missing_is_put_in_and_who_is_not_novas_is_taken_out(
    placement, hosts, nova, openstack, proxy
):
    mirror_repair_put(
        placement, hosts["cmp00"], own(0), nova.uuid("all"), nova.uuid("none")
    )
    mirror_repair_put(placement, hosts["cmp01"], own(1), nova.uuid("all"))
    dry = openstack(*REPAIR, "--dry-run", "--exit-code", "-f", "json")
    assert (dry.code, len(proxy.writes)) == (6, 0)
    assert set(dry.statuses.values()) == {"would change"}
    run = openstack(*REPAIR, "-f", "json")
    assert (run.code, run.err, len(proxy.writes)) == (0, "", HOSTS - 1)
    assert "cmp01" not in run.statuses
    assert set(run.statuses.values()) == {"changed"}
    rows = {row["host"]: (row["added"], row["removed"]) for row in run.json}
    assert rows["cmp00"] == ([], ["none"])
    assert rows["cmp02"] == (["all"], [])
    assert is_in_step(placement, hosts, nova)
    again = openstack(*REPAIR)
    assert (again.code, again.err) == (0, "")
    assert again.out == (
        "nothing to repair: Placement has the hosts of 2 aggregates as Nova has them\n"
    )


def test_what_is_no_compute_node_stays_where_it_is(placement, hosts, nova, openstack):
    pool = placement.add_host("pool", ["MISC_SHARES_VIA_AGGREGATE"])
    orphan = placement.add_host("orphan")
    nested = placement.add_host("cmp00_numa0", parent=hosts["cmp00"])
    for provider in (pool, orphan, nested):
        mirror_repair_put(placement, provider, nova.uuid("all"), nova.uuid("none"))
    assert openstack(*REPAIR).code == 0
    for provider in (pool, orphan, nested):
        assert aggregates(placement, provider) == {nova.uuid("all"), nova.uuid("none")}
    assert is_in_step(placement, hosts, nova)


def test_a_node_without_a_provider_is_a_failed_row(placement, proxy, openstack):
    there = placement.add_host("cmp00")
    known = [("cmp00", there), ("cmp01", str(uuid.uuid4()))]
    nova = Nova(proxy, known, {"all": ({}, ("cmp00", "cmp01"))})
    run = openstack(*REPAIR, "-f", "json")
    assert run.code == 1
    assert run.statuses == {"cmp00": "changed", "cmp01": "failed"}
    assert run.json[1]["detail"] == (
        "Placement has no provider for it, as far as Nova lists it"
    )
    assert aggregates(placement, there) == {nova.uuid("all")}


@pytest.mark.parametrize(
    "fault",
    [
        Instead(409, "placement.concurrent_update"),
        CutAfter(),
    ],
    ids=["409", "cut after"],
)
def test_passing_trouble_is_got_over_in_one_run(
    placement, hosts, nova, openstack, fault
):
    nova.fault = lambda request: (
        fault if request.is_write and request.number % 5 == 0 else None
    )
    run = openstack(*REPAIR, "-f", "json")
    assert run.code == 0
    assert run.statuses == dict.fromkeys(hosts, "changed")
    assert all(row["added"] == ["all"] for row in run.json)
    assert is_in_step(placement, hosts, nova)


def test_a_final_answer_fails_the_row_and_the_same_again_finishes(
    placement, hosts, nova, openstack, proxy
):
    nova.fault = lambda request: (
        Instead(403) if request.is_write and request.number % 5 == 0 else None
    )
    run = openstack(*REPAIR, "-f", "json")
    assert run.code == 1
    failed = [row for row in run.json if row["status"] == "failed"]
    assert (len(failed), len(proxy.writes)) == (HOSTS // 5, HOSTS)
    assert all(row["added"] == [] for row in failed)
    nova.fault = lambda request: None
    run = openstack(*REPAIR, "-f", "json")
    assert (run.code, len(run.json)) == (0, HOSTS // 5)
    assert is_in_step(placement, hosts, nova)


def test_what_a_rival_adds_in_between_is_kept(placement, hosts, nova, openstack):
    def overtake(request):
        if request.is_write and request.number == 1:
            mirror_repair_put(placement, hosts["cmp00"], own(0), own(100))
            placement.set_traits(hosts["cmp00"], ["CUSTOM_RIVAL"])

    nova.fault = overtake
    run = openstack(*REPAIR, "-f", "json")
    assert (run.code, run.statuses["cmp00"]) == (0, "changed")
    expected = {own(0), own(100), nova.uuid("all")}
    assert aggregates(placement, hosts["cmp00"]) == expected
    assert placement.traits(hosts["cmp00"]) == {"CUSTOM_RIVAL"}


def test_a_rival_who_does_the_same_first_leaves_the_row_unchanged(
    placement, hosts, nova, openstack
):
    def overtake(request):
        if request.is_write and request.number == 1:
            mirror_repair_put(placement, hosts["cmp00"], own(0), nova.uuid("all"))

    nova.fault = overtake
    run = openstack(*REPAIR, "-f", "json")
    assert (run.code, run.statuses["cmp00"]) == (0, "unchanged")
    assert run.json[0]["added"] == []
    assert is_in_step(placement, hosts, nova)


def test_a_host_that_joins_while_placement_is_read_is_not_taken_out_again(
    placement, hosts, nova, openstack
):
    """nova-api writes its own aggregate first, and Placement's after it."""

    def join():
        (none,) = (a for a in nova.aggregates if a["name"] == "none")
        none["hosts"].append("cmp00")

    mirror_repair_put(
        placement, hosts["cmp00"], own(0), nova.uuid("all"), nova.uuid("none")
    )
    nova.when_read = {2: join}
    run = openstack(*REPAIR, "-f", "json")
    assert run.code == 0
    assert "cmp00" not in run.statuses
    assert nova.uuid("none") in aggregates(placement, hosts["cmp00"])


@pytest.mark.full
def test_a_host_that_leaves_while_others_are_written_is_said(nova, openstack):
    nova.when_read = {3: lambda: nova.aggregates[0]["hosts"].pop()}
    run = openstack(*REPAIR, "-f", "json")
    assert run.code == 1
    assert run.err == "1 of 20 no longer as desired: run the command again\n"


def test_killed_at_any_moment_nothing_is_lost_and_the_next_run_finishes(
    placement, hosts, nova, proxy, background, openstack
):
    moments = random.Random(4)
    part_way = 0
    for _ in range(KILLS):
        for number, provider in enumerate(hosts.values()):
            mirror_repair_put(placement, provider, own(number))
        start = functools.partial(background, *REPAIR, "--jobs", "2")
        proxy.kill_after(moments.randrange(1, HOSTS), start)
        found = [aggregates(placement, provider) for provider in hosts.values()]
        assert all({own(n)} <= each for n, each in enumerate(found))
        part_way += 0 < sum(nova.uuid("all") in each for each in found) < HOSTS
    assert part_way > KILLS // 2
    assert openstack(*REPAIR).code == 0
    assert is_in_step(placement, hosts, nova)


def test_many_who_add_and_remove_at_once_lose_nothing(placement, proxy):
    """Each adds an aggregate and removes one; somebody else changes the traits."""
    provider = placement.add_host("cmp00")
    mirror_repair_put(placement, provider, *(own(n) for n in range(8)), own(99))
    stop = threading.Event()

    def change_traits():
        path = f"/resource_providers/{provider}/traits"
        while not stop.is_set():
            body = {
                "resource_provider_generation": placement.generation(provider),
                "traits": ["COMPUTE_NODE"],
            }
            placement.try_call("PUT", path, body)
            stop.wait(0.05)

    def change_aggregates(number):
        cloud = HalfCloud(proxy.url, MadeUpNova())
        for _ in range(10):
            if moved(cloud, provider, own(100 + number), own(number)).problem is None:
                return

    rivals = [threading.Thread(target=change_aggregates, args=[n]) for n in range(8)]
    traits = threading.Thread(target=change_traits)
    for thread in (traits, *rivals):
        thread.start()
    for thread in rivals:
        thread.join()
    stop.set()
    traits.join()
    expected = {own(99), *(own(100 + n) for n in range(8))}
    assert aggregates(placement, provider) == expected


def test_a_provider_that_is_as_wanted_is_not_written(placement, hosts, proxy):
    cloud = HalfCloud(proxy.url, MadeUpNova())
    outcome = moved(cloud, hosts["cmp00"], own(0), own(50))
    assert outcome.status.value == "unchanged"
    assert proxy.writes == []


def test_aggregates_are_listed_with_the_state_of_their_mirror(
    placement, proxy, openstack
):
    known = [(f"cmp0{n}", placement.add_host(f"cmp0{n}")) for n in range(3)]
    nova = Nova(
        proxy,
        known,
        {
            "zone": ({"availability_zone": "east"}, ("cmp00",)),
            "gold": (
                {"trait:CUSTOM_GOLD": "required", "TRAIT:CUSTOM_OLD": "required"},
                ("cmp01", "cmp02"),
            ),
            "tenant": ({"filter_tenant_id": "2", "filter_tenant_id1": "1"}, ()),
        },
    )
    mirror_repair_put(placement, known[0][1], nova.uuid("zone"), nova.uuid("gold"))
    run = openstack("aggregate", "list", "-f", "json")
    assert (run.code, run.err) == (0, "")
    in_step = {"missing": [], "extra": []}
    row = ("name", "zone", "traits", "projects", "hosts", "mirror")
    assert [tuple(each[key] for key in row) for each in run.json] == [
        (
            *("gold", "", ["CUSTOM_GOLD", "CUSTOM_OLD"], [], ["cmp01", "cmp02"]),
            {"missing": ["cmp01", "cmp02"], "extra": ["cmp00"]},
        ),
        ("tenant", "", [], ["1", "2"], [], in_step),
        ("zone", "east", [], [], ["cmp00"], in_step),
    ]
    assert openstack("aggregate", "list", "-f", "value").out == (
        "gold  CUSTOM_GOLD,CUSTOM_OLD  cmp01,cmp02 missing 2, extra 1\n"
        "tenant   1,2  synced\n"
        "zone east   cmp00 synced\n"
    )
    table = openstack("aggregate", "list", "--long").out
    assert "missing cmp01 cmp02, extra cmp00" in table
    assert proxy.writes == []


def test_options_that_do_not_go_together(openstack):
    run = openstack(*REPAIR, "--exit-code")
    assert (run.code, run.err) == (2, "--exit-code requires --dry-run\n")
