"""The files in examples/desired: applied, and servers boot where they say."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from osc_traitsched.core.errors import CloudBroke
from tests.cloud.factory import PLACEMENT, factory, providers
from tests.cloud.test_desired import KEEPS_ZONES
from tests.functional import shell
from tests.services.environment import REPOSITORY
from tests.services.release import chosen
from tests.unit.app.zoned import ZONE, ZonedCloud

FOLDER = REPOSITORY / "examples" / "desired"
INVENTORY = {
    "windows_hosts": {"hosts": ["win-1", "win-2"]},
    "_meta": {
        "hostvars": {"win-1": {"nova_host": "cmp02"}, "win-2": {"nova_host": "cmp03"}}
    },
}


@pytest.fixture(scope="module")
def admin(prefiltering):
    return prefiltering.admin()


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        yield maker


@pytest.fixture
def applied(prefiltering):
    """Applies a file: there is a difference before, and none afterwards."""
    conf = ("--nova-conf", str(prefiltering.nova_conf))

    def run(verb, name, *more):
        words = ("trait-sched", verb, str(FOLDER / name), "-f", "json", *conf, *more)
        return shell.run(prefiltering.environment, *words)

    def apply(name, *more):
        before = run("plan", name, "--exit-code", *more)
        assert (before.code, bool(before.json)) == (6, True), before.err
        done = run("apply", name, *more)
        assert done.code == 0, done.err
        again = run("plan", name, "--exit-code", *more)
        assert (again.code, again.json) == (0, []), again.err

    return apply


@pytest.fixture
def host_of(make):
    """Boots a server, and returns its host; None where no valid host was found."""

    def boot(flavor, image, **more):
        found = make.boot(flavor, image, **more)
        make.after(make.delete, found)
        if found.host is None:
            assert "No valid host" in found.fault, found
        return found.host

    return boot


def test_pinned_servers_get_to_hosts_of_a_zone_that_others_do_not(
    make, applied, host_of
):
    make.traits("CUSTOM_PINNED_CPU", "cmp00", "cmp05")
    pinned, small = make.flavor("pinned.small"), make.flavor("small")
    raw = make.image("raw")
    make.dropped("az1-pinned")
    applied("pinned.yaml")
    assert host_of(pinned, raw) == "cmp00"
    assert host_of(pinned, raw, availability_zone="az1") == "cmp00"
    assert host_of(small, raw, availability_zone="az1") is None
    others = {host_of(small, raw) for _ in range(6)}
    assert not others & {None, "cmp00"}


def test_servers_with_a_device_get_to_the_host_that_has_it(
    make, admin, applied, host_of
):
    make.traits("CUSTOM_VGPU_24G")
    make.traits("CUSTOM_OLD", "cmp00", "cmp05")
    properties = {"resources:VGPU": "1", "trait:CUSTOM_OLD": "required"}
    vgpu, raw = make.flavor("vgpu.24g", properties), make.image("raw")
    for number in (1, 3):
        device(make, admin, "cmp04", f"cmp04_pci_0000_61_01_{number}")
    applied("devices.yaml")
    assert host_of(vgpu, raw) == "cmp04"
    # The other device is of another kind.
    assert host_of(vgpu, raw) is None


def device(make, admin, host, name):
    """Make a nested provider of one VGPU."""
    placement = admin.placement
    body = {"name": name, "parent_provider_uuid": providers(admin)[host]}
    made = placement.post("/resource_providers", json=body, microversion=PLACEMENT)
    path = f"/resource_providers/{made.json()['uuid']}"
    make.after(placement.delete, path, microversion=PLACEMENT)
    body = {
        "resource_provider_generation": made.json()["generation"],
        "inventories": {"VGPU": {"total": 1}},
    }
    answer = placement.put(f"{path}/inventories", json=body, microversion=PLACEMENT)
    assert answer.status_code == 200, answer.text


def test_licensed_images_and_a_project_get_to_the_hosts_of_an_inventory(
    make, prefiltering, applied, host_of, tmp_path
):
    make.traits("CUSTOM_LICENSED_WINDOWS")
    small = make.flavor("small")
    windows, raw = make.image("windows-2022"), make.image("raw")
    make.dropped("windows")
    inventory = tmp_path / "inventory.json"
    inventory.write_text(json.dumps(INVENTORY), encoding="utf-8")
    applied("licensed.yaml", "--inventory", str(inventory))
    licensed = {"cmp02", "cmp03"}
    assert {host_of(small, windows) for _ in range(2)} <= licensed
    demo = prefiltering.connection_of("demo")
    assert {host_of(small, raw, user=demo) for _ in range(2)} <= licensed
    # The hosts are not closed to others, who have more of them.
    assert len({host_of(small, raw) for _ in range(6)}) > 2


def test_reserved_hosts_are_for_one_flavor_alone(make, applied, host_of):
    make.traits("CUSTOM_LICENSED", "cmp01")
    licensed, small = make.flavor("licensed"), make.flavor("small")
    raw = make.image("raw")
    make.dropped("licensed")
    applied("reserved.yaml")
    reserved = {"cmp00", "cmp01"}
    assert {host_of(licensed, raw) for _ in range(3)} <= reserved
    others = {host_of(small, raw) for _ in range(6)}
    assert not others & {None, *reserved}


# The rules of zones that foretold rows are tried with are those of a real Nova.


HOSTS = ("cmp00", "cmp01", "cmp02", "cmp03")
BUSY = "cmp02"


def drawn(model, chance):
    """Return a change of one aggregate, by its ID: of its zone, or of one host."""
    number = chance.choice(sorted(model.aggregates))
    if not chance.randrange(3):
        zone = chance.choice(["az1", "az2"])
        return number, {"set_metadata": {"metadata": {ZONE: zone}}}
    host = chance.choice(HOSTS)
    inside = host in model.aggregates[number]["hosts"]
    return number, {"remove_host" if inside else "add_host": {"host": host}}


@pytest.mark.skipif(
    chosen().number < KEEPS_ZONES, reason="this Nova lets servers change their zone"
)
def test_the_small_cloud_refuses_what_nova_does(make, admin):
    made = [make.aggregate(name) for name in ("rack", "spare")]
    gold = make.aggregate("gold", BUSY, availability_zone="az1")
    make.used(BUSY, make.flavor("used"), make.image("used"))
    model, chance, seen = ZonedCloud(), random.Random(1), Counter()
    model.busy = {BUSY}
    model.aggregates = {
        str(each.id): {"uuid": each.uuid, "hosts": [], "metadata": {}} for each in made
    }
    model.aggregates[str(gold.id)] = {
        "uuid": gold.uuid,
        "hosts": [BUSY],
        "metadata": {ZONE: "az1"},
    }
    for _ in range(200):
        number, body = drawn(model, chance)
        path = f"/os-aggregates/{number}/action"
        status = admin.compute.post(path, json=body).status_code
        try:
            model.compute_post(("os-aggregates", number, "action"), body)
            expected = 200
        except CloudBroke as exc:
            expected = exc.status
        assert status == expected, (number, body, model.aggregates)
        seen[next(iter(body)), status] += 1
    refused = {"set_metadata": 400, "add_host": 409, "remove_host": 409}
    assert seen.keys() == {*refused.items(), *((kind, 200) for kind in refused)}
