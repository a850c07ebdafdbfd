"""No number of one command contradicts that of another, on clouds that are drawn."""

from __future__ import annotations

import dataclasses
import random

import pytest

from osc_traitsched.app import capacity, explain, host, request
from osc_traitsched.app import flavor as app_flavor
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers.usage import CapacityQuery
from osc_traitsched.views import flavor as views
from tests.services.nova import CloudWithImages, MadeUpNova

pytestmark = pytest.mark.one_client

HOSTS, COUNT = 5, 30
MORE = [pytest.param(seed, marks=pytest.mark.full) for seed in range(5, 20)]
GOLD, SSD = "CUSTOM_GOLD", "CUSTOM_SSD"
SOURCES = SettingsSources(nova_release=33)
SPEC = ServerSpec(image="")
EMPTY = {"/servers/detail": {"servers": []}, "/os-availability-zone": {}}
EMPTY["/os-availability-zone"] = {"availabilityZoneInfo": []}
FLAVORS = {
    "small": ({}, 1000),
    "large": ({}, 6000),
    "huge": ({}, 90_000),
    "gold": ({f"trait:{GOLD}": "required"}, 2000),
    "ssd": ({f"trait:{SSD}": "required"}, 3000),
    "not-ssd": ({f"trait:{SSD}": "forbidden"}, 500),
}


def draw(placement, seed):
    """A cloud with hosts of any state, in zones, isolated and for tenants or not."""
    drawn = random.Random(seed)
    placement.create_traits(GOLD, SSD)
    hosts = []
    for number in range(HOSTS):
        traits = [name for name in (GOLD, SSD) if drawn.random() < 0.5]
        is_enabled = drawn.random() < 0.8
        traits += [] if is_enabled else ["COMPUTE_STATUS_DISABLED"]
        ram = drawn.choice([4000, 8000, 16_000])
        sizes = {"VCPU": drawn.choice([4, 64]), "MEMORY_MB": ram, "DISK_GB": 900}
        name = f"cmp{number:02d}"
        hosts.append((name, placement.add_host(name, traits, inventories=sizes)))
        used = {"MEMORY_MB": drawn.randrange(ram + 1), "VCPU": drawn.randrange(5)}
        if used := {key: amount for key, amount in used.items() if amount}:
            placement.allocate(hosts[-1][1], **used)
    some = lambda: [name for name, _ in hosts if drawn.random() < 0.4]  # noqa: E731
    half = drawn.randrange(HOSTS)
    aggregates = {
        "east": ({"availability_zone": "az-east"}, [name for name, _ in hosts[:half]]),
        "golden": ({f"trait:{GOLD}": "required"}, some()),
        "theirs": ({"filter_tenant_id": "0b" * 16}, some() if seed % 2 else []),
    }
    flavors = [
        {"id": f"f-{name}", "name": name, "vcpus": 1, "ram": ram, "disk": 1}
        | {"extra_specs": specs, "os-flavor-access:is_public": True}
        for name, (specs, ram) in FLAVORS.items()
    ]
    nova = MadeUpNova(hosts, aggregates, flavors)
    nova._bodies |= EMPTY
    services = [{"host": name, "zone": "nova", "updated_at": None} for name, _ in hosts]
    nova._bodies["/os-services"] = {"services": services}
    for body in nova._bodies["/os-hypervisors/detail"]["hypervisors"]:
        is_off = "COMPUTE_STATUS_DISABLED" in placement.traits(body["id"])
        body["status"] = "disabled" if is_off else "enabled"
        body["state"] = "up" if drawn.random() < 0.9 else "down"
    for each in nova.aggregates:
        for name, uuid in hosts:
            if name in each["hosts"]:
                inside = [e["uuid"] for e in nova.aggregates if name in e["hosts"]]
                path = f"/resource_providers/{uuid}/aggregates"
                body = {"resource_provider_generation": placement.generation(uuid)}
                placement.call("PUT", path, {**body, "aggregates": inside})
    return CloudWithImages(placement.url, nova), dict(hosts)


def of_explain(cloud, flavor):
    """Room that ``explain --count`` finds: together, and by host."""
    spec = dataclasses.replace(SPEC, flavor=flavor, count=COUNT)
    question = request.question(cloud, spec, SOURCES)
    judgement = explain.explain(cloud, question, want_fixes=False).judgement
    return judgement.room.most, dict(judgement.room_by_host)


@pytest.mark.parametrize("seed", [*range(5), *MORE])
def test_no_number_contradicts_another(placement, seed):
    cloud, hosts = draw(placement, seed)
    query = CapacityQuery(by="zone")
    fits = {e.name: e for e in capacity.capacity(cloud, SPEC, SOURCES, query).flavors}
    on_hosts = {name: host.host(cloud, name, SPEC, SOURCES) for name in hosts}
    rooms = {
        flavor: {
            name: view.fits[flavor]
            for name, view in on_hosts.items()
            if flavor in view.fits
        }
        for flavor in FLAVORS
    }
    for flavor, fit in fits.items():
        by_host = {
            name: fit.hosts[uuid].room
            for name, uuid in hosts.items()
            if uuid in fit.hosts
        }
        assert rooms[flavor] == by_host, flavor
        most = {name: room.most for name, room in by_host.items()}
        assert of_explain(cloud, flavor) == (fit.room.most, most), flavor
        shown = app_flavor.flavor(cloud, flavor, SPEC, SOURCES)
        assert shown.fit is not None
        assert (shown.fit.room, shown.fit.hosts) == (fit.room, fit.hosts)
        assert fit.groups == shown.fit.groups
        assert sum(number for number, _, _ in fit.groups.values()) == len(fit.hosts)
        assert sum(suited for _, _, suited in fit.groups.values()) == len(fit.suited)
        assert sum(room.most for _, room, _ in fit.groups.values()) == fit.room.most
        out = [name for names in views.never_on_of(shown).values() for name in names]
        assert out or len(fit.suited) == HOSTS
    uses = {use.name: use for use in host.host_uses(cloud, SOURCES)}
    assert uses.keys() == hosts.keys()
    for name, use in uses.items():
        stock = on_hosts[name].stock[hosts[name]]["MEMORY_MB"]
        (own,) = use.ram
        assert (own.used, own.free) == (stock.used, stock.free), name
        assert not (use.is_full and on_hosts[name].fits), name
        if "down" in use.unusable or "disabled" in use.unusable:
            assert not on_hosts[name].fits, name
