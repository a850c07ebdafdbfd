"""What is named is what is used: images, projects, zones, hosts and flavors."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.cloud.factory import factory
from tests.functional import shell

GOLD = "CUSTOM_GOLD"
HOSTS = ["cmp00", "cmp01", "cmp02", "cmp03"]


@pytest.fixture
def make(admin):
    with factory(admin) as maker:
        yield maker


@pytest.fixture
def small(make):
    return make.flavor("small")


@pytest.fixture
def openstack(cloud):
    def run(verb, *arguments, variables=cloud.environment):
        needs_file = verb in ("explain", "candidates", "isolate", "check")
        file = ("--nova-conf", str(cloud.nova_conf)) if needs_file else ()
        return shell.run(variables, "trait-sched", verb, *arguments, *file)

    return run


@pytest.fixture
def requirement(openstack, small):
    """Return the key of an image that an explanation names as what requires a trait."""

    def of(name, *options, code=3):
        run = openstack("explain", "small", name, *options, "-f", "json")
        assert run.code == code, run.err
        traits = [c["trait"] for c in run.json["clauses"] if "trait" in c]
        return {name for name in traits if name.startswith("CUSTOM_")}

    return of


def marked(make, name, trait, **more):
    """Make an image that requires a trait which no host has."""
    make.traits(trait)
    return make.image(name, **{f"trait:{trait}": "required"}, **more)


# Images


@pytest.fixture
def rockies(make):
    """Images with names that are one of Glance's operators, and what those mean."""
    names = ["rocky", "in:rocky", "in:rocky,vhd", "vhd", "eq:rocky", 'a "b", c']
    return {
        name: marked(make, name, f"CUSTOM_ROCKY_{number}")
        for number, name in enumerate(names)
    }


def test_an_image_is_found_by_its_very_name(rockies, requirement):
    for number, name in enumerate(rockies):
        assert requirement(name) == {f"CUSTOM_ROCKY_{number}"}


def test_isolate_writes_to_the_image_that_was_named(
    rockies, make, admin, openstack, small
):
    make.traits(GOLD, *HOSTS[:2])
    make.aggregate("gold", *HOSTS[:2])
    run = openstack("isolate", "gold", GOLD, "--image", "in:rocky", "--force")
    assert run.code == 0, run.err
    having = [
        name
        for name, identity in rockies.items()
        if f"trait:{GOLD}" in admin.image.get(f"/images/{identity}").json()
    ]
    assert having == ["in:rocky"]
    assert openstack("unisolate", "gold", GOLD, "--force").code == 0


@pytest.fixture
def namesakes(make, admin):
    """Images of one name: a private one of another project, a hidden one, a public."""
    demo = admin.identity.find_project("demo").id
    theirs = marked(make, "ubuntu", "CUSTOM_THEIRS", visibility="private", owner=demo)
    old = marked(make, "ubuntu", "CUSTOM_OLD", os_hidden=True)
    new = marked(make, "ubuntu", "CUSTOM_NEW")
    return theirs, old, new


def test_of_images_of_one_name_the_one_that_one_can_boot_is_meant(
    namesakes, requirement, make
):
    assert requirement("ubuntu") == {"CUSTOM_NEW"}


def test_with_a_project_it_is_what_its_users_can_boot(
    namesakes, requirement, openstack, admin
):
    run = openstack("explain", "small", "ubuntu", "--project", "demo")
    demo = admin.identity.find_project("demo").id
    assert run.code == 1
    assert run.err.startswith("2 images are named 'ubuntu'; name one by its ID: ")
    assert f"{namesakes[0]} (owner {demo}, private, created 20" in run.err
    assert f"{namesakes[2]} (owner " in run.err
    assert "hidden" not in run.err
    admin.image.delete(f"/images/{namesakes[2]}")
    assert requirement("ubuntu", "--project", "demo") == {"CUSTOM_THEIRS"}


def test_one_that_was_shared_is_one_for_those_who_accepted_it(
    make, admin, requirement, cloud
):
    shared = marked(make, "debian", "CUSTOM_SHARED", visibility="shared")
    marked(make, "debian", "CUSTOM_HIDDEN", os_hidden=True)
    demo = admin.identity.find_project("demo").id
    admin.image.post(f"/images/{shared}/members", json={"member": demo})
    assert requirement("debian", "--project", "demo") == {"CUSTOM_HIDDEN"}
    answer = cloud.connection_of("demo").image.put(
        f"/images/{shared}/members/{demo}", json={"status": "accepted"}
    )
    assert answer.status_code == 200, answer.text
    assert requirement("debian", "--project", "demo") == {"CUSTOM_SHARED"}


def test_what_is_written_is_named_by_its_id_where_several_have_the_name(
    namesakes, make, openstack
):
    make.aggregate("gold", "cmp00")
    make.traits(GOLD, "cmp00")
    run = openstack("isolate", "gold", GOLD, "--image", "ubuntu", "--dry-run")
    assert run.code == 1
    assert run.err.startswith("3 images are named 'ubuntu'; name one by its ID: ")
    assert run.err.count("hidden") == 1


# Projects


def test_a_project_is_named_with_its_domain(make, admin, openstack, small):
    make.image("raw")
    domain = admin.identity.create_domain(name="second", is_enabled=True)
    other = admin.identity.create_project(name="demo", domain_id=domain.id)

    def forget():
        admin.identity.delete_project(other)
        admin.identity.update_domain(domain, is_enabled=False)
        admin.identity.delete_domain(domain)

    make.after(forget)
    run = openstack("explain", "small", "raw", "--project", "demo")
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("2 projects are named 'demo'; name one by its ID: ")
    assert f"{other.id} (domain {domain.id})" in run.err
    for name in ("second", domain.id):
        run = openstack(
            *("explain", "small", "raw", "--project", "demo"),
            *("--project-domain", name, "-f", "json"),
        )
        assert run.json["request"]["project_id"] == other.id
    run = openstack("explain", "small", "raw", "--project-domain", "second")
    assert (run.code, run.err) == (2, "--project-domain requires --project\n")


# Zones and hosts


def test_a_zone_with_a_comma_is_one_zone(make, openstack):
    make.aggregate("rack2", "cmp03", availability_zone="az2,gold")
    zone = ("--availability-zone", "az2,gold")
    run = openstack("list", *zone, "-f", "json")
    assert [row["host"] for row in run.json] == ["cmp03"]
    make.traits(GOLD)
    run = openstack("add", GOLD, "--availability-zone", "gold", "--dry-run")
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("no availability zone matches 'gold'")


# Flavors


@pytest.fixture
def disabled(cloud, small):
    path = cloud.state / "nova_api.db"
    with closing(sqlite3.connect(path, timeout=30)) as database:
        statement = "UPDATE flavors SET disabled = ? WHERE flavorid = ?"
        database.execute(statement, (1, small.id))
        database.commit()
        yield small
        database.execute(statement, (0, small.id))
        database.commit()


def test_a_disabled_flavor_is_refused_as_nova_refuses_it(
    disabled, make, admin, openstack
):
    image = make.image("raw")
    assert make.boot(disabled, image).refused
    for verb in ("explain", "candidates"):
        run = openstack(verb, "small", "raw")
        assert run.code == 3
        said = run.out + run.err
        refused = "the flavor is disabled (FlavorNotFound); use another flavor"
        assert f"nova-api rejects it (HTTP 400): {refused}" in said
