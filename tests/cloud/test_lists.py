"""Commands know the whole cloud, however few things its services list at once."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.cloud.factory import factory, providers
from tests.functional import shell

GOLD = "CUSTOM_GOLD"
HOSTS = [f"cmp{number:02d}" for number in range(5)]
UNLISTED = (
    "Nova lists 4 of the 5 compute nodes that Placement has, and not cmp00: its list "
    "may be incomplete, so no provider is called orphaned"
)


@pytest.fixture(scope="module")
def admin(small_pages):
    return small_pages.admin()


@pytest.fixture(scope="module")
def all_hosts(admin):
    """Five flavors, five images and seven projects; an aggregate of all hosts."""
    with factory(admin) as make:
        make.traits(GOLD, *HOSTS)
        for number in range(5):
            make.flavor(f"flavor{number}")
            make.image(f"image{number}")
            project = admin.identity.create_project(name=f"project{number}")
            make.after(admin.identity.delete_project, project)
        yield make.aggregate("all", *HOSTS, availability_zone="east")


@pytest.fixture(scope="module")
def openstack(small_pages, all_hosts):
    def run(verb, *arguments):
        needs_file = verb not in ("list", "aggregate", "mirror")
        file = ("--nova-conf", str(small_pages.nova_conf)) if needs_file else ()
        command = ("trait-sched", verb, *arguments, *file)
        return shell.run(small_pages.environment, *command)

    return run


@pytest.fixture
def hidden(small_pages, openstack):
    """No mapping of the first host, so that Nova leaves it out of its first page."""
    path = small_pages.state / "nova_api.db"
    columns = "id, cell_id, host, created_at, updated_at"
    with closing(sqlite3.connect(path, timeout=30)) as database:
        query = f"SELECT {columns} FROM host_mappings WHERE host = 'cmp00'"
        (row,) = database.execute(query).fetchall()
        database.execute("DELETE FROM host_mappings WHERE host = 'cmp00'")
        database.commit()
        yield
        insert = f"INSERT INTO host_mappings ({columns}) VALUES (?, ?, ?, ?, ?)"
        database.execute(insert, row)
        database.commit()


def test_nova_itself_lists_one_node_then_and_no_next_page(hidden, admin):
    page = admin.compute.get("/os-hypervisors", microversion="2.53").json()
    assert [each["hypervisor_hostname"] for each in page["hypervisors"]] == ["cmp01"]
    assert "hypervisors_links" not in page


# All pages are full


@pytest.mark.parametrize("options", [("--aggregate", "all"), ("--host", "*")])
def test_all_hosts_are_listed(openstack, options):
    run = openstack("list", *options, "-f", "json")
    assert ([row["host"] for row in run.json], run.err) == (HOSTS, "")


def test_all_hosts_are_explained_with_the_last_flavor_and_image(openstack):
    run = openstack("explain", "flavor4", "image0", "-f", "json")
    assert (run.json["candidates"], run.json["total_hosts"]) == (HOSTS, 5)
    assert run.json["computes_without_provider"] == []
    assert run.json["unlisted_computes"] == []
    assert run.json["unmanaged_roots"] == []


def test_a_whole_cloud_has_no_finding_and_all_its_things_were_looked_at(openstack):
    assert openstack("check", "mirror", "-f", "json").json == []
    rules = ("image-type-no-host", "traits-unknown", "mirror-no-provider")
    assert openstack("check", *rules).out == (
        "Nothing found: 3 rules looked at 5 images, 5 flavors, 5 hosts.\n"
        "Settings: the command line\n"
    )


def test_no_host_is_missing_in_an_aggregate(openstack):
    run = openstack("aggregate", "list", "-f", "json")
    (row,) = run.json
    assert (row["hosts"], row["mirror"]) == (HOSTS, {"missing": [], "extra": []})


def test_an_isolation_is_planned_with_all_hosts_and_the_last_flavor(openstack):
    run = openstack(
        *("isolate", "all", GOLD, "--flavor", "flavor4", "--image", "image0"),
        *("--dry-run", "-f", "json", "--force"),
    )
    hosts = [row["object"] for row in run.json if row["step"] == "host"]
    others = [row["object"] for row in run.json if row["step"] in ("flavor", "image")]
    assert (hosts, others) == (HOSTS, ["flavor4", "image0"])
    assert {row["status"] for row in run.json} <= {"unchanged", "would change"}


# A page is not full, and has no link to the next


def test_hosts_after_a_page_that_is_not_full_are_listed(hidden, openstack):
    run = openstack("list", "--aggregate", "all", "-f", "json")
    assert [row["host"] for row in run.json] == HOSTS[1:]
    assert run.err.count("\n") == 1
    assert "cmp00" in run.err


def test_hosts_after_it_are_explained_and_the_one_left_out_is_said(hidden, openstack):
    run = openstack("explain", "flavor4", "image0", "-f", "json")
    assert (run.json["candidates"], run.json["total_hosts"]) == (HOSTS[1:], 4)
    assert run.json["unlisted_computes"] == ["cmp00"]
    assert run.json["unmanaged_roots"] == []
    said = openstack("explain", "flavor4", "image0").out
    assert "Placement returns cmp00, which Nova does not list" in said


def test_no_command_deletes_the_provider_of_the_one_left_out(hidden, openstack, admin):
    rows = openstack("check", "mirror", "-f", "json").json
    assert [(row["id"], row["severity"], row["object"]) for row in rows] == [
        ("mirror-host-no-hypervisor", "warning", "host cmp00"),
        ("mirror-no-hypervisor", "warning", "provider cmp00"),
    ]
    assert "Nova lists 4 of the 5 compute nodes" in rows[1]["problem"]
    assert "delete" not in rows[1]["fix"]
    assert providers(admin)["cmp00"] in rows[1]["fix"]


def test_the_aggregate_is_in_step_with_those_that_nova_lists(hidden, openstack):
    run = openstack("aggregate", "list", "-f", "json")
    (row,) = run.json
    assert (row["hosts"], row["mirror"]) == (HOSTS, {"missing": [], "extra": []})
    assert run.err == f"{UNLISTED}\n"
    run = openstack("mirror", "repair", "--dry-run")
    assert run.err == f"{UNLISTED}\n"


def test_an_isolation_is_planned_with_the_hosts_after_it(hidden, openstack):
    run = openstack(
        *("isolate", "all", GOLD, "--flavor", "flavor4"),
        *("--dry-run", "-f", "json", "--force"),
    )
    rows = {r["object"]: r["status"] for r in run.json if r["step"] == "host"}
    assert rows == {"cmp00": "failed", **dict.fromkeys(HOSTS[1:], "unchanged")}
    assert UNLISTED in run.err
