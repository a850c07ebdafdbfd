"""Nova's databases as its own Python reads them: cells, secrets, and no writes."""

from __future__ import annotations

import contextlib
import json
import pathlib
import sqlite3
import subprocess

import pytest

from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.core.nova.own import NovaPythonFails
from osc_traitsched.runner import document
from tests.services import driver, environment, mariadb
from tests.services.environment import REPOSITORY
from tests.services.requests import REQUESTED

NAMES = [name for name in OPTIONS if "." in name]
EAST = {"name": "east", "computes": 2, "numa": 1, "pci": 1}
WEST = {"name": "west", "computes": 1, "numa": 1, "pci": 1}
DATABASES = ("api", "cell0", "east", "west")
COMPUTES = {"cell0": 0, "east": 2, "west": 1}

#: Writes the whole nova.conf again with a text in each option that is secret.
SECRETS = """
import sys, nova.conf
from keystoneauth1 import loading
from nova.conf import opts
from oslo_messaging import conffixture
import oslo_db.options
found = {}
every = [*opts.list_opts(), ("database", oslo_db.options.database_opts)]
for plugin in ("password", "v3applicationcredential", "v3oidcpassword"):
    more = loading.get_auth_plugin_conf_options(plugin)
    every += [(group, more) for group in ("neutron", "placement", "service_user")]
for group, options in every:
    name = getattr(group, "name", group) or "DEFAULT"
    for each in options:
        if each.secret and "connection" not in each.name:
            found[name, each.dest] = f"s3cret-{len(found)}"
found["DEFAULT", "transport_url"] = "rabbit://nova:s3cret-rabbit@h:5672/"
for name, key in sorted(found):
    print(f"[{name}]\\n{key} = {found[name, key]}")
"""

#: Writes in every way that is left once reading has begun; prints what it reads then.
WRITES = f"""
import sys
REQUESTED = {REQUESTED!r}
sys.path.insert(0, "osc_traitsched/runner")
import nova_runner
from nova import context, objects
from nova.db.main import api
objects.register_all()
nova_runner.only_read()
nova_runner.reach_the_database("nova-scheduler")
for mapping in nova_runner.cell_mappings():
    with context.target_cell(context.get_admin_context(), mapping) as inside:
        for node in objects.ComputeNodeList.get_all(inside):
            node.vcpus = 99
            request = objects.RequestSpec.get_by_instance_uuid(inside, REQUESTED)
            request.num_instances = 99
            for write in (
                node.save,
                request.save,
                request.destroy,
                node.destroy,
                lambda: api.service_create(inside, {{"host": "new"}}),
                lambda: api.compute_node_delete(inside, node.id),
                lambda: mapping.destroy(),
            ):
                try:
                    write()
                except Exception as exc:
                    print(type(exc).__name__, "written" in str(exc))
"""


def python(folder, packages=""):
    """The command for a Python that finds the nova.conf of a folder."""
    more = f"PYTHONPATH={packages} " if packages else ""
    return f"env HOME={folder} {more}{environment.python()}"


def conf(folder, api, database, more=""):
    text = f"[api_database]\nconnection = {api}\n[database]\nconnection = {database}\n"
    (folder / "nova.conf").write_text(f"{text}{more}")


def script(text, folder, packages=""):
    """Run a text in that Python, and return what it prints."""
    command = [*document.arguments(python(folder, packages)), "-W", "ignore", "-c"]
    done = subprocess.run(
        [*command, text], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def make(folder, url, in_mapping, packages=""):
    """Make the databases; the functions give the URL of each by its name."""
    conf(folder, url("api"), url("cell0"))
    cells = [f"{n};{url(n)};{in_mapping(n)};{COMPUTES[n]}" for n in COMPUTES]
    command = document.arguments(python(folder, packages))
    subprocess.run(
        [*command, "-m", "tests.services.cells", str(folder / "nova.conf"), *cells],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    )


@pytest.fixture(scope="module")
def nova(tmp_path_factory):
    """A folder with a nova.conf and its databases: two cells with computes."""
    folder = tmp_path_factory.mktemp("nova")

    def url(name):
        return f"sqlite:///{folder}/{name}.db"

    make(folder, url, url)
    more = script(SECRETS, folder)
    conf(folder, url("api"), url("cell0"), more)
    return folder


def test_each_cell_answers_for_its_own_computes(nova):
    found = document.read(python(nova), "nova-scheduler", NAMES, 120)
    assert found["cells"] == [EAST, WEST]
    assert len(records(python(nova))["hosts"]) == 3


def records(command, *servers):
    return document.records(command, "nova-scheduler", servers, True, 120)


#: What leaves of the request in tests/services/cells.py.
REQUEST = {
    "availability_zone": "az1",
    "force_hosts": ["east-1"],
    "force_nodes": None,
    "scheduler_hints": {"group": [REQUESTED], "same_host": ["x", "y"]},
    "num_instances": 3,
    "image": {
        "id": REQUESTED,
        "name": "raw",
        "disk_format": "raw",
        "container_format": "bare",
        "min_disk": 0,
        "min_ram": 0,
        "properties": {
            "hw_disk_bus": "scsi",
            "hw_numa_nodes": 2,
            "hw_numa_cpus.0": "0",
            "hw_numa_cpus.1": "1",
            "hw_numa_mem.0": "256",
            "hw_numa_mem.1": "256",
            "trait:CUSTOM_GOLD": "required",
        },
    },
    "devices": [{"count": 1, "alias_name": "a1"}],
    "resized_to": "gold",
}


def test_of_a_request_only_these_fields_leave_and_of_a_deleted_one_none(nova):
    gone = REQUESTED.replace("9", "8")
    found = records(python(nova), REQUESTED, gone)
    assert (found["requests"], found["unread"]) == ({REQUESTED: REQUEST}, {})


@pytest.fixture
def changed(nova):
    """Run a statement on a database, and put back what was there."""
    with contextlib.ExitStack() as stack:

        def change(name, statement):
            path = nova / f"{name}.db"
            stack.callback(path.write_bytes, path.read_bytes())
            with contextlib.closing(sqlite3.connect(path)) as database:
                database.execute(statement)
                database.commit()

        yield change


@pytest.mark.parametrize(
    ("name", "statement", "new"),
    [
        ("api", "DELETE FROM flavors", ""),
        ("api", "DELETE FROM instance_mappings", None),
        ("api", "UPDATE instance_mappings SET cell_id = NULL", None),
        ("east", "DELETE FROM migrations", None),
        ("east", "DROP TABLE migrations", None),
        ("east", "UPDATE migrations SET status = 'done'", None),
    ],
    ids=["flavor deleted", "server gone", "no cell", "no move", "cell down", "moved"],
)
def test_a_request_is_told_without_what_is_gone(nova, changed, name, statement, new):
    changed(name, statement)
    found = records(python(nova), REQUESTED)
    assert found["requests"] == {REQUESTED: {**REQUEST, "resized_to": new}}
    assert found["unread"] == {}


def test_an_odd_record_of_a_request_is_named_and_the_others_are_told(nova, changed):
    changed("api", "UPDATE request_specs SET spec = '{'")
    found = records(python(nova), REQUESTED)
    assert found["requests"] == {}
    assert found["unread"] == {REQUESTED: "JSONDecodeError"}
    assert len(found["hosts"]) == 3


def test_a_cell_that_is_down_is_named_and_the_other_one_answers(nova):
    west = nova / "west.db"
    try:
        west.rename(nova / "gone")
        found = document.read(python(nova), "nova-scheduler", NAMES, 120)
        hosts = records(python(nova))["hosts"]
    finally:
        (nova / "gone").rename(west)
    down = {"name": "west", "down": "DBNonExistentTable"}
    assert [each["name"] for each in found["cells"]] == ["east", "west"]
    assert found["cells"][0] == EAST
    assert found["cells"][1].keys() == down.keys()
    names = {each["nova_object.data"]["hypervisor_hostname"] for each in hosts.values()}
    assert names == {"east-0", "east-1"}


def test_no_value_that_oslo_calls_secret_leaves_nova(nova):
    text = (nova / "nova.conf").read_text()
    secrets = {
        line.partition(" = ")[2]
        for line in text.splitlines()
        if "s3cret" in line or "connection" in line
    }
    assert len(secrets) > 10
    answers = [
        document.read(python(nova), "nova-scheduler", NAMES, 120),
        records(python(nova), REQUESTED),
    ]
    said = json.dumps(answers)
    assert not [each for each in secrets if each in said]
    assert "s3cret" not in said
    assert str(nova) not in said


def test_nothing_is_written_whatever_writes(nova):
    before = {path: path.read_bytes() for path in nova.glob("*.db")}
    lines = script(WRITES, nova).splitlines()
    assert len(lines) == 3 * 7
    assert all(line.endswith(" True") for line in lines), lines
    assert {path: path.read_bytes() for path in nova.glob("*.db")} == before


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """The same databases on MariaDB, for a user who may SELECT and nothing else."""
    try:
        mariadb.program()
    except mariadb.NoMariaDB as exc:
        pytest.skip(str(exc))
    folder = tmp_path_factory.mktemp("mariadb")
    (packages,) = pathlib.Path(driver.python()).parents[1].glob("lib/*/site-packages")
    grants = ["CREATE USER reader@localhost;"]
    grants += [f"GRANT SELECT ON {name}.* TO reader@localhost;" for name in DATABASES]
    with contextlib.ExitStack() as stack:
        socket = stack.enter_context(mariadb.server(DATABASES, grants))

        def url(name):
            return mariadb.url(socket, name)

        def of_conf(name):
            return url(name).replace("//root@", "//{username}@")

        make(folder, url, of_conf, packages)
        as_reader = [url(name).replace("root@", "reader@") for name in DATABASES[:2]]
        conf(folder, *as_reader)
        yield folder, packages


def test_a_database_user_who_may_only_select_is_enough(readers):
    folder, packages = readers
    command = python(folder, packages)
    found = document.read(command, "nova-scheduler", NAMES, 120)
    assert found["cells"] == [EAST, WEST]
    found = records(command, REQUESTED)
    assert len(found["hosts"]) == 3
    assert found["requests"][REQUESTED]["resized_to"] == "gold"
    left = WRITES.replace("nova_runner.only_read()\n", "").replace("written", "denied")
    lines = script(left, folder, packages).splitlines()
    assert len(lines) == 3 * 7
    assert all(line.endswith(" True") for line in lines), lines


def test_an_api_database_that_is_gone_is_one_line(nova, tmp_path):
    conf(tmp_path, "sqlite:////none/s3cret.db", "sqlite:////none/s3cret.db")
    with pytest.raises(NovaPythonFails) as raised:
        document.read(python(tmp_path), "nova-scheduler", NAMES, 120)
    assert raised.value.kind == "no-database"
    assert "s3cret" not in str(raised.value)
