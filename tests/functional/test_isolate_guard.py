"""What isolate refuses, by a real Placement and a Nova that is made up."""

from __future__ import annotations

import pytest

from osc_traitsched.core.change.effects import LeavesNoHost, losses
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.views.servers import with_reasons
from tests.functional.placement import INVENTORIES, STANDARD
from tests.services.nova import CloudWithImages, MadeUpNova
from tests.unit.app import shorthands

pytestmark = pytest.mark.one_client

GOLD, QCOW2 = "CUSTOM_GOLD", "COMPUTE_IMAGE_TYPE_QCOW2"
PROJECT, OTHER = "5a1e01", "5a1e03"
HOSTS = ("cmp00", "cmp01", "cmp02", "cmp03")
ALL_OF_IT = {"VCPU": INVENTORIES["VCPU"]}
ZONES = {
    "az1": ({"availability_zone": "az1"}, HOSTS[:2]),
    "az2": ({"availability_zone": "az2"}, HOSTS[2:]),
}


def flavor(name, vcpus=2, **specs):
    return {
        "id": name,
        "name": name,
        "vcpus": vcpus,
        "ram": 512,
        "disk": 1,
        "os-flavor-access:is_public": True,
        "extra_specs": specs,
    }


def add(placement, name, *traits, **inventories):
    made = placement.add_host(name, (*STANDARD, *traits))
    if inventories:
        generation = placement.generation(made)
        totals = {**INVENTORIES, **inventories}
        bodies = {
            k: v if isinstance(v, dict) else {"total": v} for k, v in totals.items()
        }
        placement.call(
            "PUT",
            f"/resource_providers/{made}/inventories",
            {"resource_provider_generation": generation, "inventories": bodies},
        )
    return made


@pytest.fixture
def cloud(placement):
    """Makes a cloud of these hosts and aggregates, which Placement has as well."""
    placement.create_traits(GOLD)

    def make(hosts, aggregates, *flavors, servers=()):
        nova = MadeUpNova(list(hosts.items()), aggregates)
        nova._bodies["/flavors/detail"] = {"flavors": list(flavors)}
        nova._bodies["/servers/detail"] = {"servers": list(servers)}
        for name, provider in hosts.items():
            inside = [a["uuid"] for a in nova.aggregates if name in a["hosts"]]
            body = {
                "resource_provider_generation": placement.generation(provider),
                "aggregates": inside,
            }
            path = f"/resource_providers/{provider}/aggregates"
            placement.call("PUT", path, body)
        return CloudWithImages(placement.url, nova)

    return make


@pytest.fixture
def hosts(placement):
    """Four hosts, by name: the first two have no support for images in qcow2."""
    return {
        name: add(placement, name, *((QCOW2,) if name in HOSTS[2:] else ()))
        for name in HOSTS
    }


def isolate(cloud, **options):
    return planned(cloud, SchedulerSettings.of(33, **options))


def planned(cloud, on):
    return shorthands.isolated(cloud, "gold", [GOLD], on)


def refusal(cloud, **options):
    (why,) = isolate(cloud, **options).refusals
    assert isinstance(why, LeavesNoHost)
    return str(why)


def is_allowed(todo):
    return todo.plan.has_changes and not todo.refusals


def of(*inside, **more):
    return {"gold": ({}, inside), **ZONES, **more}


def test_a_zone_whose_hosts_are_all_closed_is_named(cloud, hosts):
    found = cloud(hosts, of("cmp02", "cmp03"), flavor("small"))
    assert refusal(found) == (
        "Refused: no host would be left for flavor 'small' in zone 'az2'; "
        "--force overrides this"
    )


def test_a_zone_that_keeps_a_host_is_not_in_the_way(cloud, hosts):
    assert is_allowed(isolate(cloud(hosts, of("cmp01", "cmp03"), flavor("small"))))


def test_a_zone_without_a_host_for_a_flavor_before_is_not_in_the_way(cloud, hosts):
    # No host of az2 ever could: it is not the plan that takes them away.
    away = flavor("away", **{f"trait:{QCOW2}": "forbidden"})
    assert is_allowed(isolate(cloud(hosts, of("cmp02", "cmp03"), away)))


def test_where_no_scheduler_looks_at_zones_they_make_no_difference(cloud, hosts):
    found = cloud(hosts, of("cmp02", "cmp03"), flavor("small"))
    off = SchedulerSettings.of(26, query_placement_for_availability_zone=False)
    assert is_allowed(planned(found, off))
    # Before 24 it was a host filter that did, unless it was left out.
    assert planned(found, SchedulerSettings.of(23)).refusals


def shelved(**specs):
    size = {"original_name": "was", "vcpus": 2, "ram": 512, "disk": 1}
    return {
        "id": "shelved",
        "name": "shelved",
        "status": "SHELVED_OFFLOADED",
        "tenant_id": PROJECT,
        "OS-EXT-SRV-ATTR:host": None,
        "flavor": {**size, "extra_specs": specs},
        "image": {"id": "gone"},
    }


def test_a_shelved_server_keeps_its_last_host_by_its_own_copy_of_the_flavor(
    cloud, hosts
):
    # New servers of any flavor go elsewhere; it needs one of the hosts that close.
    server = shelved(**{f"trait:{QCOW2}": "required"})
    away = flavor("away", **{f"trait:{QCOW2}": "forbidden"})
    found = cloud(hosts, {"gold": ({}, HOSTS[2:])}, away, servers=[server])
    (why,) = with_reasons(isolate(found).refusals)
    assert "server 'shelved' (shelved, on no host)" in str(why)
    assert "2 lack support for qcow2 images (flavor was), 2 are in the iso" in str(why)
    half = cloud(hosts, {"gold": ({}, HOSTS[2:3])}, away, servers=[server])
    assert is_allowed(isolate(half))


TENANTS = {"limit_tenants_to_placement_aggregate": True}
NO_TENANTS = {"limit_tenants_to_placement_aggregate": False}


def test_a_project_whose_hosts_are_all_closed_is_named(cloud, hosts):
    theirs = {"filter_tenant_id": PROJECT}
    aggregates = of("cmp01", "cmp02", theirs=(theirs, ("cmp01", "cmp02")))
    found = cloud(hosts, aggregates, flavor("small"))
    assert refusal(found, **TENANTS) == (
        "Refused: no host would be left for flavor 'small' for project "
        f"'{PROJECT}'; --force overrides this"
    )
    assert is_allowed(isolate(found, **NO_TENANTS))
    # The aggregate tells that an option which is not known may be on.
    assert refusal(found) == refusal(found, **TENANTS)
    found.identity = MadeUpNova([], {})
    projects = [{"id": PROJECT, "name": "pepper"}, {"id": OTHER, "name": "salt"}]
    found.identity._bodies["/projects"] = {"projects": projects, "links": {}}
    assert "for flavor 'small' for project 'pepper';" in refusal(found, **TENANTS)
    projects[1]["name"] = "pepper"
    assert f"for flavor 'small' for project '{PROJECT}';" in refusal(found, **TENANTS)


def test_a_project_that_has_no_host_left_in_a_zone_alone_is_named_with_it(cloud, hosts):
    theirs = {"filter_tenant_id3": PROJECT}
    aggregates = of("cmp02", theirs=(theirs, ("cmp01", "cmp02")))
    found = cloud(hosts, aggregates, flavor("small"))
    assert refusal(found, **TENANTS) == (
        "Refused: no host would be left for flavor 'small' in zone 'az2' for "
        f"project '{PROJECT}'; --force overrides this"
    )


def test_a_private_flavor_counts_for_the_projects_that_may_use_it(cloud, hosts):
    theirs = ({"filter_tenant_id": PROJECT}, ("cmp01",))
    private = {**flavor("private"), "os-flavor-access:is_public": False}
    found = cloud(hosts, of("cmp01", theirs=theirs), private)
    access = "/flavors/private/os-flavor-access"
    for project, is_refused in ((OTHER, False), (PROJECT, True)):
        allowed = [{"flavor_id": "private", "tenant_id": project}]
        found.compute._bodies[access] = {"flavor_access": allowed}
        if is_refused:
            assert f"'private' for project '{PROJECT}'" in refusal(found, **TENANTS)
        else:
            assert is_allowed(isolate(found, **TENANTS))


def test_a_cloud_that_is_full_now_is_not_closed_for_good(cloud, hosts, placement):
    for provider in hosts.values():
        placement.allocate(provider, **ALL_OF_IT)
    found = cloud(hosts, {"gold": ({}, HOSTS)}, flavor("small"))
    assert refusal(found) == (
        "Refused: no host would be left for flavor 'small' (4 hosts could ever "
        "take one, none now); --force overrides this"
    )
    found = cloud(hosts, {"gold": ({}, HOSTS[1:])}, flavor("small"))
    todo = isolate(found)
    assert losses(todo.effects) == [
        "flavor 'small': hosts with room 0 -> 0, all suitable hosts 4 -> 1"
    ]


def test_a_host_that_is_full_counts_only_if_its_units_let_it(cloud, placement):
    # The first has 32 VCPU and gives at most 4 at once; it is half full.
    small = {"total": 8, "allocation_ratio": 4.0, "max_unit": 4}
    found = {
        "cmp00": add(placement, "cmp00", VCPU=small),
        "cmp01": add(placement, "cmp01"),
    }
    for amount in (4, 4, 4, 4, 4, 4):
        placement.allocate(found["cmp00"], VCPU=amount)
    placement.allocate(found["cmp01"], **ALL_OF_IT)
    gold = {"gold": ({}, ["cmp01"])}
    assert is_allowed(isolate(cloud(found, gold, flavor("small", 4))))
    assert "flavor 'large'" in refusal(cloud(found, gold, flavor("large", 10)))


def test_where_only_full_hosts_are_left_it_refuses_as_well(cloud, hosts, placement):
    for name in HOSTS[:2]:
        placement.allocate(hosts[name], **ALL_OF_IT)
    found = cloud(hosts, {"gold": ({}, HOSTS[2:])}, flavor("small"))
    assert refusal(found) == (
        "Refused: no host that can take one now would be left for flavor "
        "'small' (4 hosts could ever take one, 2 now; 2 full or disabled would be "
        "left); --force overrides this"
    )


# What it costs


def many(cloud, placement):
    """Return a cloud of ten flavors, and its twelve hosts.

    Each of three zones has two hosts of each of two projects, and one of them is to be
    closed.
    """
    names = [f"cmp{number:02d}" for number in range(12)]
    added = {name: add(placement, name) for name in names}
    aggregates = {"gold": ({}, names[:6])}
    for number in range(3):
        metadata = {"availability_zone": f"az{number}"}
        aggregates[f"az{number}"] = (metadata, names[number::3])
    for number in range(2):
        metadata = {"filter_tenant_id": f"project{number}"}
        inside = [name for n, name in enumerate(names) if n // 3 % 2 == number]
        aggregates[f"project{number}"] = (metadata, inside)
    sizes = (flavor(f"f{number}", 1 + number % 4) for number in range(10))
    return cloud(added, aggregates, *sizes), added


def requests(cloud, settings):
    before = cloud.placement.requests
    todo = planned(cloud, settings)
    return cloud.placement.requests - before, todo.effects


def test_zones_and_projects_add_one_request_each_and_none_for_a_flavor(
    cloud, placement
):
    found, _ = many(cloud, placement)
    zones_off = {"query_placement_for_availability_zone": False}
    neither = SchedulerSettings.of(26, **zones_off, **NO_TENANTS)
    plain, effects = requests(found, neither)
    assert len(effects) == 10
    zoned, effects = requests(found, SchedulerSettings.of(33, **NO_TENANTS))
    # Of zones and projects only losses are told.
    assert len(effects) == 10
    both, effects = requests(found, SchedulerSettings.of(33, **TENANTS))
    assert len(effects) == 10
    assert (zoned - plain, both - zoned) == (3, 2)
    # The lists, traits and figures, six amounts, the mirror.
    assert plain <= 20


def test_units_are_read_only_where_a_flavor_has_no_host_with_room(cloud, placement):
    found, added = many(cloud, placement)
    settings = SchedulerSettings.of(33, **TENANTS)
    before, _ = requests(found, settings)
    for provider in added.values():
        placement.allocate(provider, **ALL_OF_IT)
    full, effects = requests(found, settings)
    assert not any(effect.room.now for effect in effects)
    assert all(effect.ever.then for effect in effects)
    # One for each of the twelve hosts. Full hosts show their traits only to the second
    # question, which the plan asks, and then the look at flavors.
    assert full - before == len(added) + 2


HUGE = 99999999999999999999999


def failing(cloud, amount, error):
    """Let Placement fail for one amount of VCPU."""
    service = cloud.placement
    get = service.get

    def fail(path, params=None, microversion=None, timeout=None):
        if f"VCPU:{amount}" in path + str(params):
            raise error
        return get(path, params, microversion)

    service.get = fail
    return cloud


def test_a_flavor_that_placement_refuses_is_in_nobodys_way(cloud, hosts):
    refused = CloudBroke("placement", "no such amount", 400)
    found = cloud(hosts, of("cmp01"), flavor("small"), flavor("odd", 7))
    todo = isolate(failing(found, 7, refused))
    assert [each.flavor for each in todo.effects] == ["small"]


def test_a_placement_that_fails_ends_it(cloud, hosts):
    broken = CloudBroke("placement", "it broke", 500, passing=True)
    found = failing(cloud(hosts, of("cmp01"), flavor("odd", 7)), 7, broken)
    with pytest.raises(CloudBroke):
        isolate(found)


def test_an_amount_that_no_inventory_can_give_is_in_nobodys_way(cloud, hosts):
    found = cloud(hosts, of("cmp01"), flavor("small"), flavor("odd", HUGE))
    todo = isolate(found)
    assert is_allowed(todo)
    assert [each.flavor for each in todo.effects] == ["small"]
