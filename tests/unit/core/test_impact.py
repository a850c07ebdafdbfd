"""What a plan does to flavors, by the matcher alone."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.change.cloud_model import ANY_IMAGE, CloudModel
from osc_traitsched.core.change.impact import Hosts, ImpactAnalysis
from osc_traitsched.core.change.model import Change, Object, ObjectKind, State
from osc_traitsched.core.change.traits import gone, present
from osc_traitsched.core.inventory.snapshot import Compute, Nova, Provider, Snapshot
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.placement.facts import Facts
from tests.aggregates import aggregate

GOLD, SILVER, SSD = "CUSTOM_GOLD", "CUSTOM_SILVER", "STORAGE_DISK_SSD"
ON = SchedulerSettings.of(33, enable_isolated_aggregate_filtering=True)
NAMES = ("h1", "h2", "h3")


def flavor(name, **specs):
    return {
        "id": name,
        "name": name,
        "vcpus": 1,
        "ram": 1,
        "disk": 0,
        "extra_specs": specs,
    }


def cloud(*flavors, aggregates=(), images=(), sharing=()):
    """Three hosts, each of one provider that goes by its name."""
    providers = tuple(Provider(name, name, 1, name) for name in (*NAMES, *sharing))
    computes = tuple(Compute(name, name, name) for name in NAMES)
    snapshot = Snapshot(providers, sharing=frozenset(sharing)).with_nova(Nova(computes))
    return CloudModel(
        snapshot=snapshot,
        aggregates=aggregates,
        flavors=flavors,
        traits=frozenset({GOLD, SILVER, SSD, "COMPUTE_STATUS_DISABLED"}),
        classes=frozenset({"VCPU", "MEMORY_MB", "DISK_GB"}),
        images=(ANY_IMAGE, *images),
        inside={each.uuid: frozenset(each.hosts) for each in aggregates},
    )


def facts(model, **traits):
    everybody = frozenset(NAMES)
    return Facts(
        snapshot=model.snapshot,
        traits={
            p.uuid: frozenset(traits.get(p.uuid, ())) for p in model.snapshot.providers
        },
        offers={("VCPU", 1): everybody, ("MEMORY_MB", 1): everybody},
        members={frozenset({uuid}): found for uuid, found in model.inside.items()},
        shared={},
        stock={},
        candidates=frozenset(),
    )


def effects(model, *steps, settings=ON, read=None, **traits):
    """Return what becomes of flavors, by flavor, image, zone and project."""
    clouds = [model]
    for step in steps:
        clouds.append(clouds[-1].after(step))
    impact = ImpactAnalysis(clouds, settings)
    hosts = Hosts(impact, read or facts(model, **traits))
    return {
        (e.flavor, e.asked.image, *(each for each in (c.zone, c.project) if each)): e
        for e in impact.effects(hosts, hosts, hosts)
        for c in e.contexts
    }


def ends(effect):
    return sorted(effect.room.now), sorted(effect.room.then)


def sets(kind, name, after, before=None):
    return Change(Object(kind, name, name), State(before or {}), after)


def isolates(name, trait=GOLD):
    return sets(ObjectKind.AGGREGATE, name, {f"trait:{trait}": "required"})


def gives(host, trait=GOLD):
    return sets(ObjectKind.PROVIDER_TRAITS, host, present([trait]))


def requires(name, trait=GOLD, kind=ObjectKind.FLAVOR):
    return sets(kind, name, {f"trait:{trait}": "required"})


def test_others_lose_the_hosts_and_the_named_keep_only_them():
    model = cloud(
        flavor("small"), flavor("golden"), aggregates=(aggregate("a", "h1", "h2"),)
    )
    given = [gives("h1"), gives("h2")]
    said = effects(model, given, [requires("golden")], [isolates("a")])
    assert ends(said["small", None]) == (["h1", "h2", "h3"], ["h3"])
    assert ends(said["golden", None]) == (["h1", "h2", "h3"], ["h1", "h2"])
    assert not any(each.leaves_no_host or each.for_a_moment for each in said.values())


def test_an_image_that_is_named_keeps_every_flavor_to_the_hosts():
    image = {"id": "i", "name": "image"}
    model = cloud(flavor("small"), aggregates=(aggregate("a", "h1"),), images=[image])
    wanted = requires("i", kind=ObjectKind.IMAGE)
    said = effects(model, [gives("h1"), wanted, isolates("a")])
    assert ends(said["small", "image"]) == (["h1", "h2", "h3"], ["h1"])
    assert ends(said["small", None]) == (["h1", "h2", "h3"], ["h2", "h3"])


def test_who_loses_the_last_host_leaves_no_host():
    model = cloud(flavor("small"), aggregates=(aggregate("a", *NAMES),))
    assert effects(model, [isolates("a")])["small", None].leaves_no_host


def test_who_has_no_host_half_way_only_is_told_and_not_refused():
    model = cloud(flavor("golden"), aggregates=(aggregate("a", *NAMES),))
    said = effects(
        model,
        [isolates("a")],
        [requires("golden")],
        golden=(),
        **dict.fromkeys(NAMES, (GOLD,)),
    )
    assert said["golden", None].for_a_moment
    assert not said["golden", None].leaves_no_host


def test_who_goes_from_one_host_to_another_is_told():
    picky = flavor("f", **{f"trait:{GOLD}": "required"})
    taken = sets(ObjectKind.PROVIDER_TRAITS, "h1", gone([GOLD]), present([GOLD]))
    said = effects(cloud(picky), [taken, gives("h2")], h1=(GOLD,))
    assert ends(said["f", None]) == (["h1"], ["h2"])
    assert said["f", None].for_a_moment


def test_a_host_filter_that_is_on_counts_at_both_ends():
    # Placement knows nothing of what binds the flavor to its host.
    pinned = flavor("pinned", **{"aggregate_instance_extra_specs:pinned": "true"})
    there = (aggregate("pin", "h1", pinned="true"), aggregate("a", "h1", "h2"))
    model = cloud(pinned, aggregates=there)
    filters = ON.changed(
        "filter_scheduler.enabled_filters", ("AggregateInstanceExtraSpecsFilter",)
    )
    said = effects(model, [isolates("a")], settings=filters)
    assert ends(said["pinned", None]) == (["h1"], [])
    assert said["pinned", None].leaves_no_host
    assert not effects(model, [isolates("a")])["pinned", None].leaves_no_host


def test_zones_and_projects_lose_their_last_hosts_by_themselves():
    there = (
        aggregate("az1", "h1", availability_zone="az1"),
        aggregate("mine", "h1", filter_tenant_id="p1"),
        aggregate("a", "h1"),
    )
    model = cloud(flavor("small"), aggregates=there)
    limited = ON.changed("scheduler.limit_tenants_to_placement_aggregate", True)
    said = effects(model, [isolates("a")], settings=limited)
    harmed = {key for key, each in said.items() if each.leaves_no_host}
    assert harmed == {
        ("small", None, "az1"),
        ("small", None, "p1"),
        ("small", None, "az1", "p1"),
    }


def test_a_filter_that_may_be_on_is_looked_at_both_ways():
    mine = aggregate("mine", "h1", "h2", "h3")
    named = sets(ObjectKind.AGGREGATE, "mine", {"filter_tenant_id": "p1"})
    model = cloud(flavor("small"), aggregates=(mine,))

    def is_harmed(settings):
        found = effects(model, [named], settings=settings).values()
        return any(each.leaves_no_host for each in found)

    name = "filter_scheduler.enabled_filters"
    off = SchedulerSettings.of(33)
    given = dataclasses.replace(
        off.changed(name, ()).setting(name), value=("ComputeFilter",), given=True
    )
    assert is_harmed(off)
    assert is_harmed(off.changed(name, ("AggregateMultiTenancyIsolation",)))
    assert not is_harmed(dataclasses.replace(off, settings={name: given}))


def test_what_a_pool_shares_goes_with_the_pools_trait_and_its_aggregate():
    fast = {**flavor("fast", **{f"trait:{SSD}": "required"}), "disk": 1}
    zone = aggregate("az", "h1", availability_zone="az1")
    model = cloud(fast, aggregates=(zone,), sharing=["nfs"])
    read = dataclasses.replace(
        facts(model, nfs=(SSD,)),
        offers={
            ("VCPU", 1): frozenset({"h1"}),
            ("MEMORY_MB", 1): frozenset({"h1"}),
            ("DISK_GB", 1): frozenset({"nfs"}),
        },
        shared={"nfs": frozenset({"h1"})},
    )
    taken = sets(ObjectKind.PROVIDER_TRAITS, "nfs", gone([SSD]), present([SSD]))
    said = effects(model, [taken], read=read)
    assert ends(said["fast", None]) == (["h1"], [])


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
    model = cloud(odd, aggregates=(aggregate("a", "h1"),))
    assert ImpactAnalysis([model, model.after([isolates("a")])], ON).queries == ()
    assert effects(model, [isolates("a")]) == {}


def looked_at(change, *flavors):
    model = cloud(*flavors, aggregates=(aggregate("a", "h1"),))
    return {
        row.asked.flavor
        for row in ImpactAnalysis([model, model.after([change])], ON).rows
    }


@pytest.mark.parametrize("means", ["required", "forbidden"])
def test_only_who_names_a_trait_is_looked_at_where_hosts_get_it(means):
    golden = flavor("golden", **{f"trait:{GOLD}": means})
    assert looked_at(gives("h1"), golden, flavor("other")) == {"golden"}


def test_only_who_asks_for_other_things_is_looked_at_where_flavors_change():
    changed = requires("golden")
    assert looked_at(changed, flavor("small"), flavor("golden")) == {"golden"}


def test_everybody_is_looked_at_where_hosts_come_into_an_aggregate():
    joined = sets(ObjectKind.AGGREGATE_HOSTS, "a", present(["h2"]))
    assert looked_at(joined, flavor("small"), flavor("golden")) == {"small", "golden"}


def test_a_flavor_that_forbids_a_new_trait_is_taken_once_there_is_one():
    model = cloud(flavor("small", **{"trait:CUSTOM_NEW": "forbidden"}))
    made = sets(ObjectKind.TRAIT, "CUSTOM_NEW", present(["CUSTOM_NEW"]))
    said = effects(model, [made])["small", None]
    assert ends(said) == ([], ["h1", "h2", "h3"])


def test_flavors_that_ask_for_the_same_are_asked_for_once():
    there = aggregate("a", "h1")
    model = cloud(*(flavor(f"f{n}") for n in range(50)), aggregates=(there,))
    assert len(ImpactAnalysis([model, model.after([isolates("a")])], ON).queries) == 2


# Tables: aggregates, flavors and what changes, and who is left without a host.

LIMITED = ON.changed("scheduler.limit_tenants_to_placement_aggregate", True)


def zoned(name, host, **metadata):
    return aggregate(name, host, availability_zone=name, **metadata)


@pytest.mark.parametrize(
    ("aggregates", "harmed"),
    [
        ([zoned("az1", "h1"), zoned("az2", "h2")], {("az2",)}),
        ([zoned("az1", "h1")], set()),
        ([aggregate("p1s", "h2", filter_tenant_id="p1")], {("p1",)}),
        ([aggregate("p1s", "h1", filter_tenant_id="p1")], set()),
        (
            [zoned("az2", "h2"), aggregate("p1s", "h2", "h1", filter_tenant_id="p1")],
            {("az2",), ("az2", "p1")},
        ),
    ],
    ids=["zone", "zone that keeps", "project", "project that keeps", "both"],
)
@pytest.mark.parametrize("kind", [ObjectKind.FLAVOR, ObjectKind.IMAGE])
def test_what_requires_a_trait_anew_keeps_a_host_in_each_zone_and_for_each_project(
    aggregates, harmed, kind
):
    image = {"id": "i", "name": "i"}
    model = cloud(flavor("f"), aggregates=tuple(aggregates), images=[image])
    name = "f" if kind is ObjectKind.FLAVOR else "i"
    having = dict.fromkeys(("h1", "h3"), (GOLD,))
    said = effects(model, [requires(name, kind=kind)], settings=LIMITED, **having)
    wanted = "i" if kind is ObjectKind.IMAGE else None
    found = {
        key[2:] for key, e in said.items() if e.leaves_no_host and key[1] == wanted
    }
    # Of what is in both, the broader of the two says it.
    assert {each for each in found if len(each) == 1} == {
        each for each in harmed if len(each) == 1
    }
    assert bool(found) is bool(harmed)


DISABLED = "COMPUTE_STATUS_DISABLED"


@pytest.mark.parametrize("by_image", [False, True], ids=["flavor", "image"])
@pytest.mark.parametrize(
    ("others", "full", "is_refused"),
    [
        ((GOLD,), (), False),
        ((GOLD, DISABLED), (), True),
        ((GOLD,), ("h2",), True),
        ((GOLD, DISABLED), ("h1",), True),
        ((GOLD,), ("h1", "h2"), False),
        ((), ("h1",), True),
    ],
    ids=[
        "another host",
        "last that is enabled",
        "last with room",
        "last that is enabled, and full",
        "both are full",
        "last of all",
    ],
)
def test_the_last_host_stays_to_flavors_and_to_images(
    others, full, is_refused, by_image
):
    key = {f"trait:{GOLD}": "required"}
    image = {"id": "i", "name": "i", **(key if by_image else {})}
    model = cloud(flavor("f", **({} if by_image else key)), images=[image])
    taken = sets(ObjectKind.PROVIDER_TRAITS, "h1", gone([GOLD]), present([GOLD]))
    clouds = [model, model.after([taken])]
    impact = ImpactAnalysis(clouds, ON)
    empty = facts(model, h1=(GOLD,), h2=others)
    free = frozenset(NAMES) - frozenset(full)
    now = dataclasses.replace(empty, offers=dict.fromkeys(empty.offers, free))
    ever = Hosts(impact, empty.with_all_enabled())
    found = tuple(impact.effects(Hosts(impact, now), ever, ever))
    assert any(each.leaves_no_host for each in found) is is_refused


def test_what_gets_its_first_host_in_a_zone_loses_it_on_the_way_back():
    model = cloud(flavor("f", **{f"trait:{GOLD}": "required"}))
    (said,) = effects(model, [gives("h1")]).values()
    assert not said.leaves_no_host
    assert said.reverted.leaves_no_host


def test_what_only_hosts_of_a_project_have_is_not_required_of_all_others_unsaid():
    named = aggregate("p1s", "h1", filter_tenant_id="p1")
    filters = ("AggregateMultiTenancyIsolation",)
    on = ON.changed("filter_scheduler.enabled_filters", filters)
    model = cloud(flavor("f"), aggregates=(named,))
    for hosts, is_refused in ((("h1",), True), (("h1", "h2"), False)):
        having = dict.fromkeys(hosts, (GOLD,))
        said = effects(model, [requires("f")], settings=on, **having)
        assert any(each.leaves_no_host for each in said.values()) is is_refused
