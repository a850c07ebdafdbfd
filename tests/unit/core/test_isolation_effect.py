"""What a plan does to flavors, by the matcher alone."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.change.isolation import (
    AggregateState,
    PredictedCloud,
    courses,
    isolate_plan,
    predicted_stages,
    queries,
    request_matrix,
    unisolate_plan,
)
from osc_traitsched.core.change.model import Kind, Plan
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts
from tests.unit.core.isolated import (
    AGGREGATE,
    GOLD,
    SILVER,
    SSD,
    aggregate,
    flavor,
    host,
    state,
)

ON = SchedulerSettings.of(33, enable_isolated_aggregate_filtering=True)
HOSTS = {"h1-uuid", "h2-uuid", "h3-uuid"}


def cloud(*flavors, inside=("h1", "h2"), mirrored=("h1-uuid",), **metadata):
    """Three hosts with room for all, two of them in the aggregate."""
    members = [host(name) for name in ("h1", "h2", "h3")]
    found = state(*members, flavors=flavors, mirrored=mirrored, **metadata)
    first = {**found.aggregate, "hosts": list(inside)}
    return AggregateState(
        snapshot=found.snapshot,
        aggregate=first,
        aggregates=(first, aggregate(2, "h3", **{SILVER: "required"})),
        members=tuple(m for m in members if m.host in inside),
        mirrored=found.mirrored,
        flavors=found.flavors,
        traits=found.traits,
        classes=found.classes,
    )


def facts(found, lonely=frozenset()):
    """Return what Placement would say: all have room; nobody is in aggregate 2."""
    everybody = frozenset(HOSTS)
    return Facts(
        snapshot=found.snapshot,
        traits={uuid: frozenset() for uuid in HOSTS},
        offers={("VCPU", 1): everybody, ("MEMORY_MB", 1): everybody},
        members={
            frozenset({AGGREGATE}): found.mirrored,
            frozenset({"aggregate-2"}): lonely,
        },
        shared={},
        stock={},
        candidates=frozenset(),
    )


def foreseen(found, plan, images=(), lonely=frozenset()):
    clouds = predicted_stages(PredictedCloud.now(found, images), plan)
    rows = request_matrix(clouds, ON)
    said = courses(clouds, rows, facts(found, lonely))
    return {
        (row.asked.flavor, row.asked.image): course for row, course in zip(rows, said)
    }


def counts(course):
    return [len(hosts) for hosts in course.hosts]


def test_others_lose_the_hosts_and_the_named_keep_only_them():
    found = cloud(flavor("small"), flavor("golden"))
    said = foreseen(found, isolate_plan(found, [GOLD], (), found.flavors[1:], ()))
    # Now, then after traits, hosts, the mirror, flavors, the aggregate.
    assert counts(said["small", None]) == [3, 3, 3, 3, 3, 1]
    assert counts(said["golden", None]) == [3, 3, 3, 3, 2, 2]
    assert said["small", None].lost == {"h1-uuid", "h2-uuid"}
    assert said["golden", None].lost == {"h3-uuid"}
    assert not any(course.becomes_empty for course in said.values())


def test_an_image_that_is_named_keeps_every_flavor_to_the_hosts():
    found = cloud(flavor("small"))
    image = {"id": "i", "name": "image"}
    said = foreseen(found, isolate_plan(found, [GOLD], (), (), [image]), [image])
    assert counts(said["small", "image"]) == [3, 3, 3, 3, 2, 2]
    assert counts(said["small", None]) == [3, 3, 3, 3, 3, 1]


def test_who_would_have_no_host_leaves_no_host():
    found = cloud(flavor("small"), inside=("h1", "h2", "h3"))
    said = foreseen(found, isolate_plan(found, [GOLD], (), (), ()))
    assert said["small", None].becomes_empty


def test_who_would_have_no_host_half_way_only_leaves_no_host_too():
    # Placement lost all from an aggregate that is closed already: when it has them
    # again nobody gets in, until the flavor requires the trait.
    found = cloud(
        flavor("golden"),
        inside=("h1", "h2", "h3"),
        mirrored=(),
        **{GOLD: "required"},
    )
    said = foreseen(found, isolate_plan(found, [GOLD], (), found.flavors, ()))
    assert counts(said["golden", None]) == [3, 3, 3, 0, 3, 3]
    assert said["golden", None].becomes_empty
    assert not said["golden", None].lost


def test_who_may_have_no_host_between_two_hosts_leaves_no_host_too():
    # h1 loses what the flavor requires, h2 what it forbids, one after the other.
    picky = flavor("f", **{f"trait:{GOLD}": "required", f"trait:{SILVER}": "forbidden"})
    found = state(
        host("h1", GOLD),
        host("h2", GOLD, SILVER),
        others=(aggregate(2, "h2", **{GOLD: "required"}),),
        mirrored=("h1-uuid", "h2-uuid"),
        flavors=[picky],
    )
    held = {member.holding.provider.uuid: member.holding for member in found.members}
    holders = {GOLD: frozenset(held), SILVER: frozenset({"h2-uuid"})}
    clouds = predicted_stages(
        PredictedCloud.now(found, ()),
        unisolate_plan(found, [GOLD, SILVER], holders, ()),
    )
    now = dataclasses.replace(
        facts(found),
        traits={uuid: holding.traits for uuid, holding in held.items()},
        members={},
    )
    (course,) = courses(clouds, request_matrix(clouds, ON), now)
    assert (course.now, course.then) == ({"h1-uuid"}, {"h2-uuid"})
    assert course.becomes_empty


def test_who_uses_what_a_pool_shares_loses_its_hosts_with_the_pools_trait():
    fast = {**flavor("fast", **{f"trait:{SSD}": "required"}), "disk": 1}
    found = state(host("h1"), host("nfs", SSD), flavors=[fast])
    providers = dataclasses.replace(found.snapshot, sharing=frozenset({"nfs-uuid"}))
    found = dataclasses.replace(
        found, snapshot=providers, classes=found.classes | {"DISK_GB"}
    )
    now = PredictedCloud.now(found, ())
    clouds = (now, dataclasses.replace(now, changes={"nfs-uuid": {SSD: None}}))
    h1 = frozenset({"h1-uuid"})
    read = dataclasses.replace(
        facts(found),
        traits={"nfs-uuid": frozenset({SSD})},
        offers={
            ("VCPU", 1): h1,
            ("MEMORY_MB", 1): h1,
            ("DISK_GB", 1): frozenset({"nfs-uuid"}),
        },
        shared={"nfs-uuid": h1},
    )
    (course,) = courses(clouds, request_matrix(clouds, ON), read)
    assert (course.now, course.then) == (h1, frozenset())


@pytest.mark.parametrize(
    "odd",
    [
        flavor("odd", **{"resources:CUSTOM_NONE": "1"}),
        flavor("odd", **{"trait:CUSTOM_UNKNOWN": "forbidden"}),
        flavor("odd", **{f"trait1:{GOLD}": "required"}),
        flavor("odd", **{"hw:mem_page_size": "nonsense"}),
    ],
    ids=["class", "trait", "group without resources", "refused by Nova"],
)
def test_what_is_refused_has_no_host_and_is_not_asked_for(odd):
    found = cloud(odd)
    plan = isolate_plan(found, [GOLD], (), (), ())
    clouds = predicted_stages(PredictedCloud.now(found, ()), plan)
    assert queries(request_matrix(clouds, ON)) == ()
    assert set(counts(foreseen(found, plan)["odd", None])) == {0}


def looked_at(kind, *flavors):
    """Return the flavors that such changes of isolating by GOLD may concern."""
    found = cloud(*flavors)
    whole = isolate_plan(found, [GOLD], (), found.flavors[1:], ())
    part = Plan.of([each for each in whole.changes if each.object.kind is kind])
    assert part.has_changes
    return {name for name, _ in foreseen(found, part)}


@pytest.mark.parametrize("means", ["required", "forbidden"])
def test_only_who_names_a_trait_is_looked_at_where_hosts_get_it(means):
    golden = flavor("golden", **{f"trait:{GOLD}": means})
    assert looked_at(Kind.PROVIDER_TRAITS, golden, flavor("other")) == {"golden"}


def test_only_who_asks_for_other_things_is_looked_at_where_flavors_change():
    assert looked_at(Kind.FLAVOR, flavor("small"), flavor("golden")) == {"golden"}


def test_everybody_is_looked_at_where_providers_come_into_an_aggregate():
    both = flavor("small"), flavor("golden")
    assert looked_at(Kind.PROVIDER_AGGREGATES, *both) == {"small", "golden"}


def test_a_flavor_that_forbids_a_new_trait_is_taken_once_there_is_one():
    found = cloud(flavor("small", **{"trait:CUSTOM_NEW": "forbidden"}))
    plan = isolate_plan(found, ["CUSTOM_NEW"], ["CUSTOM_NEW"], (), ())
    course = foreseen(found, plan)["small", None]
    assert counts(course) == [0, 3, 1, 1, 1]
    assert not course.becomes_empty


def test_flavors_that_ask_for_the_same_are_asked_for_once():
    found = cloud(*(flavor(f"f{number}") for number in range(50)))
    clouds = predicted_stages(
        PredictedCloud.now(found, ()), isolate_plan(found, [GOLD], (), (), ())
    )
    assert len(queries(request_matrix(clouds, ON))) == 2
