"""What a plan does to flavors, to hosts that they keep, and to servers."""

from __future__ import annotations

import dataclasses
import random

import pytest

from osc_traitsched.app.impact import looks
from osc_traitsched.core.change.cloud_model import ANY_IMAGE, CloudModel
from osc_traitsched.core.change.effects import (
    LeavesNoHost,
    Server,
    lets_in,
    lines_on,
    misplaced,
)
from osc_traitsched.core.change.impact import ImpactAnalysis, RowHosts
from osc_traitsched.core.change.model import (
    PRESENT,
    Change,
    Object,
    ObjectKind,
    State,
    ordered,
)
from osc_traitsched.core.change.traits import gone, present
from osc_traitsched.core.inventory.snapshot import (
    Compute,
    NodeReport,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.judge.hosts import matching_hosts
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.special import PROJECT
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.nova.question import Question, ServerSpec
from osc_traitsched.core.nova.server import RUNNING
from osc_traitsched.core.placement.facts import Facts
from tests.aggregates import aggregate

# What a plan does to flavors, by the matcher alone.


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
    hosts = RowHosts(impact, read or facts(model, **traits))
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


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        ("capabilities:cpu_info:arch", "aarch64", "ComputeCapabilitiesFilter"),
        ("hw:numa_nodes", "1", "NUMATopologyFilter"),
    ],
)
def test_a_flavor_that_no_host_takes_loses_none(key, value, name):
    asking = flavor("asking", **{key: value, KEY: "required"})
    model = cloud(asking)
    info = {"arch": "x86_64"}
    report = NodeReport(8, 0, 9, 9, 9, 0, 9, None, 0, 0, "ironic", 1, None, info)
    nodes = Nova(
        tuple(
            dataclasses.replace(c, report=report) for c in model.snapshot.nova.computes
        )
    )
    model = dataclasses.replace(model, snapshot=model.snapshot.with_nova(nodes))
    settings = ON.changed("filter_scheduler.enabled_filters", (name,))
    steps = [takes("h1"), requires("asking", SSD)]
    assert effects(model, steps, settings=settings, h1=(GOLD,)) == {}
    others = ON.changed("filter_scheduler.enabled_filters", ("AllHostsFilter",))
    said = effects(model, steps, settings=others, h1=(GOLD,))
    assert said["asking", None].leaves_no_host


def test_flavors_that_differ_in_name_alone_are_filtered_apart():
    there = (aggregate("typed", "h1", instance_type="first"), aggregate("a", "h1"))
    model = cloud(flavor("first"), flavor("second"), aggregates=there)
    name = "AggregateTypeAffinityFilter"
    settings = ON.changed("filter_scheduler.enabled_filters", (name,))
    said = effects(model, [isolates("a")], settings=settings)
    assert ends(said["first", None]) == (["h1", "h2", "h3"], ["h2", "h3"])
    assert ("second", None) not in said


def test_an_active_server_shows_numa_nodes_before_and_after():
    asking = flavor("asking", **{"hw:numa_nodes": "1"})
    model = cloud({**asking, RUNNING: asking["extra_specs"]})
    report = NodeReport(8, 0, 9, 9, 9, 0, 9, None, 0, 0, "fake", 1, None)
    nodes = Nova(
        tuple(
            dataclasses.replace(c, report=report) for c in model.snapshot.nova.computes
        )
    )
    model = dataclasses.replace(model, snapshot=model.snapshot.with_nova(nodes))
    settings = ON.changed("filter_scheduler.enabled_filters", ("NUMATopologyFilter",))
    said = effects(model, [gives("h2"), requires("asking")], settings=settings)
    assert ends(said["asking", None]) == (["h1", "h2", "h3"], ["h2"])


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


LIMITED = ON.changed(options.TENANT, True)


@pytest.mark.parametrize(
    ("inside", "leaving", "stranded"),
    [
        # Without the pool no server of the project has a disk on h1 now, either.
        (["h1"], "h1", False),
        (["h1", "nfs"], "h1", True),
        (["h1", "h2", "nfs"], "h1", False),
        # The project keeps h2, which has no disk without the pool.
        (["h1", "h2", "h3"], "h3", True),
        (["h1", "h2", "h3", "nfs"], "h3", False),
    ],
)
@pytest.mark.parametrize("kind", ["project", "zone"])
def test_a_pool_counts_for_a_project_and_in_a_zone_if_it_is_in_their_aggregate(
    kind, inside, leaving, stranded
):
    keys = {"project": {"filter_tenant_id": "p1"}, "zone": {"availability_zone": "z"}}
    hosts = [host for host in inside if host in NAMES]
    there = aggregate("there", *hosts, **keys[kind])
    model = cloud({**flavor("f"), "disk": 1}, aggregates=(there,), sharing=["nfs"])
    model = dataclasses.replace(model, inside={"there": frozenset(inside)})
    known = facts(model)
    disks = {("DISK_GB", 1): frozenset({"nfs", "h3"})}
    read = dataclasses.replace(
        known,
        offers={**known.offers, **disks},
        shared={"nfs": frozenset({"h1", "h2"})},
    )
    taken = {leaving: None}
    target = Object(ObjectKind.AGGREGATE_HOSTS, "there", "there")
    leaves = Change(target, State(present(hosts), hosts=frozenset(hosts)), taken)
    said = effects(model, [leaves], settings=LIMITED, read=read)
    harmed = [key for key, each in said.items() if each.leaves_no_host]
    assert bool(harmed) is stranded


@pytest.mark.parametrize("seed", range(30))
def test_hosts_of_zones_and_projects_are_those_that_the_judge_finds(seed):
    dice = random.Random(seed)

    def some(names):
        return frozenset(name for name in names if dice.random() < 0.6)

    keys = [{"filter_tenant_id": "p1"}] * 2 + [{"availability_zone": "z"}]
    names = [f"a{n}" for n in range(len(keys))]
    inside = {name: some([*NAMES, "nfs", "ceph"]) for name in names}
    there = tuple(
        aggregate(name, *sorted(inside[name] & {*NAMES}), **metadata)
        for name, metadata in zip(names, keys)
    )
    model = cloud({**flavor("f"), "disk": 1}, aggregates=there, sharing=["nfs", "ceph"])
    known = facts(dataclasses.replace(model, inside=inside))
    read = dataclasses.replace(
        known,
        offers={**known.offers, ("DISK_GB", 1): some([*NAMES, "nfs", "ceph"])},
        shared={"nfs": some(NAMES), "ceph": some(NAMES)},
        members={**known.members, frozenset(names[:2]): inside["a0"] | inside["a1"]},
    )
    takes = sets(ObjectKind.FLAVOR, "f", {f"trait:{GOLD}": "required"})
    impact = ImpactAnalysis([model, model.after([takes])], LIMITED)
    hosts, (row,) = RowHosts(impact, read), impact.rows
    asked = [each for each in impact.every_context if not each.answer]
    for context in asked:
        spec = ServerSpec(zone=context.zone)
        question = Question(
            model.flavors[0], {}, there, LIMITED, spec, project=context.project
        )
        found = matching_hosts(question.request(), read)
        assert impact.roots(hosts.of(row, context)[0]) == found
    assert len(asked) > 1


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
    ever = RowHosts(impact, empty.with_all_enabled())
    found = tuple(impact.effects(RowHosts(impact, now), ever, ever))
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


# Who gets in where once a plan is carried out, and who does not.


KEY = f"trait:{GOLD}"
REQUIRED = {KEY: "required"}
GOLDEN = aggregate("gold", "h1", trait__CUSTOM_GOLD="required")
TENANT = aggregate("theirs", "h1", "h2", filter_tenant_id="p1")


def lines(model, changes, **traits):
    then = model.after(changes)
    impact = ImpactAnalysis([model, then], ON)
    hosts = RowHosts(impact, facts(model, **traits))
    found = tuple(impact.effects(hosts, hosts, hosts))
    return lets_in(found, model, then, ON.collation)


def drops(kind, name, key=KEY):
    return sets(kind, name, {key: None}, {key: "required"})


def leaves(host, name):
    return sets(ObjectKind.AGGREGATE_HOSTS, name, gone([host]), present([host]))


def takes(host, trait=GOLD):
    return sets(ObjectKind.PROVIDER_TRAITS, host, gone([trait]), present([trait]))


@pytest.mark.parametrize(
    ("aggregates", "flavors", "changes", "said"),
    [
        (
            [GOLDEN],
            [flavor("small")],
            [drops(ObjectKind.AGGREGATE, "gold")],
            ["gold (h1): any server may land here, 1 more flavor"],
        ),
        (
            # Another aggregate goes on to isolate the host.
            [GOLDEN, aggregate("also", "h1", trait__CUSTOM_SILVER="required")],
            [flavor("small")],
            [drops(ObjectKind.AGGREGATE, "gold")],
            [],
        ),
        (
            [
                aggregate(
                    "gold",
                    "h1",
                    trait__CUSTOM_GOLD="required",
                    trait__CUSTOM_SILVER="required",
                )
            ],
            [flavor("small"), flavor("half", **{f"trait:{SILVER}": "required"})],
            [drops(ObjectKind.AGGREGATE, "gold")],
            ["gold (h1): flavor 'half' may land here"],
        ),
        (
            [aggregate("gold", "h1", "h2", trait__CUSTOM_GOLD="required")],
            [flavor("small")],
            [leaves("h2", "gold")],
            ["gold (h2): any server may land here, 1 more flavor"],
        ),
        (
            [],
            [flavor("golden", **REQUIRED), flavor("small")],
            [drops(ObjectKind.FLAVOR, "golden")],
            ["CUSTOM_GOLD: flavor 'golden' may land on any host"],
        ),
        (
            [aggregate("other", "h3", trait__CUSTOM_SILVER="required")],
            [flavor("golden", **REQUIRED), flavor("small")],
            [drops(ObjectKind.FLAVOR, "golden")],
            ["CUSTOM_GOLD: flavor 'golden' may land on any host that is not isolated"],
        ),
        (
            [],
            [flavor("never", **{KEY: "forbidden"}), flavor("small")],
            [takes("h1")],
            ["CUSTOM_GOLD: flavor 'never' may land on h1"],
        ),
        (
            [],
            [flavor("golden", **REQUIRED), flavor("small")],
            [gives("h2")],
            ["CUSTOM_GOLD: flavor 'golden' may land on h2"],
        ),
        (
            [TENANT],
            [flavor("small")],
            [drops(ObjectKind.AGGREGATE, "theirs", "filter_tenant_id")],
            ["theirs (h1, h2): servers of any project may land here"],
        ),
        (
            [TENANT],
            [flavor("small")],
            [sets(ObjectKind.AGGREGATE, "theirs", {"filter_tenant_id2": "p2"})],
            ["theirs (h1, h2): servers of project 'p2' may land here"],
        ),
        (
            # Renamed on the only host: all stays as it is.
            [],
            [flavor("golden", **REQUIRED)],
            [
                drops(ObjectKind.FLAVOR, "golden"),
                requires("golden", SILVER),
                takes("h1"),
            ],
            [],
        ),
        (
            [GOLDEN],
            [flavor("small")],
            [requires("small")],
            ["CUSTOM_GOLD: flavor 'small' may land on h1"],
        ),
        (
            [aggregate("gold", "h1", **REQUIRED, filter_tenant_id="p1")],
            [flavor("small")],
            [drops(ObjectKind.AGGREGATE, "gold")],
            [
                "gold (h1): any server, with AggregateMultiTenancyIsolation of its "
                "projects, may land here, 1 more flavor"
            ],
        ),
        ([aggregate("a", "h1")], [flavor("golden", **REQUIRED)], [takes("h1")], []),
    ],
    ids=[
        "opened",
        "isolated by another",
        "one of two traits",
        "a host leaves",
        "a flavor requires it no more",
        "a flavor, and another isolated host",
        "a flavor forbids it",
        "a host gets it",
        "no project is named",
        "another project is named",
        "renamed",
        "a flavor comes to require it",
        "opened, and a project's",
        "the only host loses it",
    ],
)
def test_who_gets_in_is_told_on_a_line_by_aggregate_or_trait(
    aggregates, flavors, changes, said
):
    model = cloud(*flavors, aggregates=tuple(aggregates))
    found = lines(model, changes, h1=(GOLD, SILVER))
    assert [*found.values()] == said


def test_an_image_that_requires_no_trait_any_more_is_named_once():
    image = {"id": "i", "name": "rocky", **REQUIRED}
    model = cloud(flavor("a"), flavor("b"), images=[image])
    found = lines(model, [drops(ObjectKind.IMAGE, "i")], h1=(GOLD,))
    assert [*found.values()] == ["CUSTOM_GOLD: image 'rocky' may land on any host"]


def test_a_row_has_the_line_on_its_aggregate_or_its_trait():
    said = {"gold": "G", GOLD: "T", "other": "O"}
    assert lines_on(drops(ObjectKind.AGGREGATE, "gold"), said) == "G; T"
    assert lines_on(takes("h1"), said) == "T"
    assert lines_on(takes("h1", SILVER), said) == ""


# The hosts that flavors have to keep: in zones, for projects, and for all others.
#
# A case is what aggregates are before and after, and who is left without a host. After
# an aggregate's name come its hosts, its zone, its projects (1, 2) and whether it is
# closed. Of the hosts h1, h2 and h3, all have the trait that closes; silver is on h3.


KEPT_HOSTS_KEY = "filter_tenant_id"
BOTH = "flavors 'golden', 'small'"
SUFFIX = {f"{KEPT_HOSTS_KEY}_x": "1"}

KEPT_HOSTS_LIMITED = {"limit_tenants_to_placement_aggregate": True}
OPTIONS = {
    "limited": KEPT_HOSTS_LIMITED,
    "required": {
        **KEPT_HOSTS_LIMITED,
        "placement_aggregate_required_for_tenants": True,
    },
    "zones": {"query_placement_for_availability_zone": True},
}

IN_ZONES_AND_FOR_PROJECTS = """
closing the hosts of a zone
    gold h1 h2, other h1 h2 az1 -> gold h1 h2 closed: both in zone 'az1'
closing other hosts
    gold h1, other h2 h3 az1 -> gold h1 closed: none
closing the hosts of a project
    gold h1 h2, other h1 h2 2 -> gold h1 h2 closed: both for project '2' | limited
closing the hosts of a project that may use others
    gold h1 h2, other h1 h2 2 -> gold h1 h2 closed: none
a zone that gets another name
    other h1 h2 az1 -> other h1 h2 az2: both in zone 'az1'
a zone in other letters
    other h1 h2 az1 -> other h1 h2 AZ1: none
zones that change their places
    gold h1 az1, rack h3 az2 -> gold h1 az2, rack h3 az1: silver in zone 'az2' | silver
all hosts that no aggregate puts into a zone
    gold h1 h2, rack h3 az1 -> gold h1 h2 closed: both in the default zone | old zones
one of the hosts that no aggregate puts into a zone
    gold h1, rack h3 az1 -> gold h1 closed: none | old zones
a host in any zone is one of the default zone without the filter
    gold h1 h2, rack h3 az1 -> gold h1 h2 closed: none | zones
a project that an aggregate without hosts names
    -> new 1: both for project '1' | limited
a project that may use others
    -> new 1: none
a project that is named with a host
    -> new h3 1: none | limited
a project that is named for the first time
    other h1 -> other h1 1: silver for project '1' | limited silver
a project that comes to the hosts of another one
    gold h1 1 -> gold h1 1 2: silver for project '2' | limited silver
projects that change their places
    gold h1 1, rack h3 2 -> gold h1 2, rack h3 1: silver for project '2' | limited silver
a project that is named in one zone loses the hosts of others
    gold h1 az1, other h2 h3 az2 -> gold h1 az1 1: both in zone 'az2' for project '1' | limited
a project that no aggregate names any more
    gold h1 az1, other h1 h2 1 -> other h1 h2: none | limited
a project that no aggregate names any more where Nova rejects it
    gold h1 az1, other h1 h2 1 -> other h1 h2: both for project '1' | required
"""  # noqa: E501

WITH_THE_FILTER = """
all hosts are reserved
    -> new h1 h2 h3 1: others
one host is reserved
    -> new h1 1: none
the last hosts join
    gold h1 2 -> gold h1 h2 h3 2: others
hosts that a project has already
    gold h1 h2 2 -> new h1 1: none
hosts that come are enough
    gold h1 2 -> gold h1, new h2 h3 2: none
a project loses its last aggregate
    gold h1 2, rack h2 h3 1 -> gold h1 1: both for project '2'
a project keeps a host that is open to all
    gold h1 2, rack h2 1 -> gold h1 1: none
a project moves to another aggregate
    gold h1 1 2, rack h2 h3 2 -> gold h1 2, rack h2 h3 1 2: none
a project stays in one of two
    gold h1 1 2, rack h2 h3 1 2 -> gold h1 2: none
a host stays while others leave
    gold h1 h2 h3 1, rack h1 h2 h3 2 -> gold h3 1: none
all hosts leave
    gold h1 h2 1, rack h1 h2 h3 2 -> gold 1: both for project '1'
"""


def cases(text):
    """The cases of a text, by title: before, after, who is stranded, the options."""
    lines = iter(text.strip().splitlines())
    for title, case in zip(lines, lines):
        states, _, more = case.partition(":")
        stranded, _, asked = more.partition("|")
        yield pytest.param(
            *map(aggregates, states.split("->")),
            stranded.strip().replace("none", "").replace("both", BOTH),
            asked.split(),
            id=title,
        )


def aggregates(text):
    """Hosts and metadata of aggregates, by name."""
    found = {}
    for name, *words in filter(None, (one.split() for one in text.split(","))):
        zones = [word for word in words if word.lower().startswith("az")]
        metadata = {
            "availability_zone": zones and zones[0],
            **{f"{KEPT_HOSTS_KEY}_{word}": word for word in words if word.isdecimal()},
            f"trait:{GOLD}": "required" if "closed" in words else "",
        }
        hosts = [word for word in words if word in NAMES]
        found[name] = hosts, {key: v for key, v in metadata.items() if v}
    return found


def changes(before, after):
    for name, (hosts, metadata) in after.items():
        was_in, was = before.get(name, ((), {}))
        if name not in before:
            new = Object(ObjectKind.NEW_AGGREGATE, name, name)
            yield Change(new, State({}), {"name": name})
        keys = {key: metadata.get(key) for key in {**was, **metadata}}
        differing = {key: v for key, v in keys.items() if was.get(key) != v}
        inside = frozenset(was_in)
        if differing:
            target = Object(ObjectKind.AGGREGATE, name, name)
            yield Change(target, State(was, hosts=inside), differing)
        target = Object(ObjectKind.AGGREGATE_HOSTS, name, name)
        for host in sorted(inside ^ {*hosts}):
            value = None if host in inside else PRESENT
            yield Change(target, State(present(inside), hosts=inside), {host: value})


def without_host(before, after, asked=(), filters=None, release=33):
    """Who is left without a host when aggregates change.

    :param asked: words of the cases
    :param filters: those that are enabled; None where nobody says it
    """
    flavors = [flavor("golden"), flavor("small")]
    if "silver" in asked:
        flavors = [flavor("silver", **{f"trait:{SILVER}": "required"})]
    bodies = tuple(aggregate(n, *hosts, **keys) for n, (hosts, keys) in before.items())
    model = cloud(*flavors, aggregates=bodies)
    given = {k: v for word in asked for k, v in OPTIONS.get(word, {}).items()}
    release = 23 if "zones" in asked else release
    settings = SchedulerSettings.of(
        release, enable_isolated_aggregate_filtering=True, **given
    )
    if "zones" in asked:
        filters = ("AvailabilityZoneFilter",) if "old" in asked else ()
    if filters is not None:
        enabled = Setting(filters, "given", given=True)
        settings.settings[options.ENABLED_FILTERS] = enabled
    plan = ordered(changes(before, after), bodies, settings.collation)
    impact = ImpactAnalysis(looks(model, plan), settings)
    known = facts(model, **dict.fromkeys(("h1", "h2"), (GOLD,)), h3=(GOLD, SILVER))
    # Placement is asked for the members of new aggregates, too.
    members = {**{frozenset({name}): frozenset() for name in after}, **known.members}
    hosts = RowHosts(impact, dataclasses.replace(known, members=members))
    found = [e for e in impact.effects(hosts, hosts, hosts) if e.leaves_no_host]
    return LeavesNoHost(found).reasons.rpartition("be left for ")[2] if found else ""


@pytest.mark.parametrize(
    ("before", "after", "stranded", "asked"), cases(IN_ZONES_AND_FOR_PROJECTS)
)
def test_a_flavor_keeps_a_host_in_its_zone_and_for_its_project(
    before, after, stranded, asked
):
    expected = stranded.replace("silver", "flavor 'silver'")
    assert without_host(before, after, asked) == expected


OTHERS = f"{BOTH} for projects that no aggregate names ({PROJECT})"


@pytest.mark.parametrize(
    ("before", "after", "stranded", "asked"), cases(WITH_THE_FILTER)
)
def test_who_is_named_and_who_is_not_keep_a_host_if_the_filter_may_be_on(
    before, after, stranded, asked
):
    expected = stranded.replace("others", OTHERS)
    assert without_host(before, after, filters=(PROJECT,)) == expected
    assert without_host(before, after) == expected
    assert without_host(before, after, filters=("ComputeFilter",)) == ""


@pytest.mark.parametrize(("release", "is_read"), [(29, False), (30, True)])
def test_a_key_with_a_suffix_reserves_hosts_from_30_on(release, is_read):
    before = {"gold": ([*NAMES], SUFFIX)}
    after = {"gold": ([*NAMES], {**SUFFIX, KEPT_HOSTS_KEY: "1,2"})}
    found = without_host(before, after, release=release)
    assert found == ("" if is_read else OTHERS)
    # The filter of 29 does not see that the project is named by the only aggregate.
    before, after = {"gold": (["h1"], SUFFIX)}, {"new": (["h1"], {KEPT_HOSTS_KEY: "2"})}
    found = without_host(before, after, ["limited"], release=release)
    assert found == ("" if is_read else f"{BOTH} for project '1'")


# What a plan does to servers that exist, as values.


SERVERS_GOLD, SERVERS_SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


def server(name, *required, hidden=False):
    traits = None if hidden else frozenset(required)
    return Server(f"{name}-id", name, "cmp01", "project", traits)


def test_servers_are_misplaced_inside_without_all_traits_and_outside_with_them():
    half, whole, plain = (
        server("h", SERVERS_GOLD),
        server("w", SERVERS_GOLD, SERVERS_SILVER),
        server("p"),
    )
    hidden = server("hidden", hidden=True)
    servers = [half, whole, plain, hidden]
    found = misplaced([SERVERS_GOLD, SERVERS_SILVER], servers, servers)
    assert found.inside == (half, plain)
    assert found.outside == (whole,)
    assert found.unknown == (hidden, hidden)
