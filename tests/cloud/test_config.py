"""The release that config commands find by themselves, on a real Nova."""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import os
import re
import sqlite3
import urllib.parse

import pytest

from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.runner import document
from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.conftest import PREFILTERS
from tests.cloud.scenario import Asked, different_hosts, requests
from tests.functional import shell
from tests.functional.proxy import Proxy
from tests.services.release import NEWEST, chosen

#: The release that is taken of what the compute API says, and how that is said.
TOLD = {
    23: (23, "compute API 2.88"),
    27: (
        28,
        "compute API 2.95, which is that of 2023.1 and 2023.2; the later is taken",
    ),
    34: (34, "compute API 2.104"),
}


@pytest.fixture
def nova(cloud, admin):
    """What the commands go through to reach Nova."""
    proxy = Proxy(admin.compute.get_endpoint())
    yield proxy
    proxy.stop()


@pytest.fixture
def openstack(cloud, admin, nova):
    path = urllib.parse.urlsplit(admin.compute.get_endpoint()).path
    variables = {**cloud.environment, **shell.through("compute", nova.url + path)}
    return lambda *arguments: shell.run(variables, "trait-sched", *arguments)


@pytest.mark.short
def test_show_takes_the_release_from_the_compute_api_and_only_reads(
    cloud, openstack, nova
):
    conf = str(cloud.nova_conf)
    run = openstack("config", "show", "--nova-conf", conf, "-f", "json")
    found = {row["option"]: row for row in run.json}
    number, source = TOLD[cloud.release.number]
    assert found["release"] == {
        "option": "release",
        "value": number,
        "source": source,
        "status": "assumed",
    }
    isolation = found["scheduler.enable_isolated_aggregate_filtering"]
    assert (isolation["value"], isolation["status"]) == (True, "given")
    assert isolation["source"].startswith(conf)
    assert {request.method for request in nova.requests} == {"GET"}


def test_a_fragment_is_for_the_release_of_the_cloud_and_only_reads(
    cloud, openstack, nova
):
    number, _ = TOLD[cloud.release.number]
    name = cloud.release.taken_for
    run = openstack("config", "enable", "isolation")
    assert run.out.startswith(f"# Turns on isolation: {name} (Nova {number})\n")
    assert {request.method for request in nova.requests} == {"GET"}


# Nova says itself what its options are.


@pytest.fixture
def python(cloud):
    """A command for the Python beside this cloud's Nova, which finds its nova.conf."""
    return f"env HOME={cloud.state} {cloud.release.python()}"


def test_what_nova_says_is_what_its_file_has(cloud, tmp_path, python):
    variables = {**cloud.environment, "XDG_CONFIG_HOME": str(tmp_path)}
    run = functools.partial(shell.run, variables, "trait-sched", "config")
    for _ in range(2):
        done = run("save", "--nova-python", python)
        assert (done.code, done.err) == (0, "")
        assert "cell1: 4 compute nodes, 0 with NUMA cells" in done.out
    saved = {row["option"]: row for row in run("show", "-f", "json").json}
    given = ("show", "--nova-conf", str(cloud.nova_conf), "-f", "json")
    named = {row["option"]: row["value"] for row in run(*given).json}
    assert {name: row["value"] for name, row in saved.items()} == named
    assert saved["release"]["status"] == "given"
    isolation = saved["scheduler.enable_isolated_aggregate_filtering"]
    assert isolation["source"].startswith("nova.conf of Nova on ")
    assert run("show").out.count("ago\n") == 1


def test_services_that_read_other_options_are_found(cloud, tmp_path, python):
    text = cloud.nova_conf.read_text()
    more = "\n[filter_scheduler]\npci_in_placement = true\n"
    (tmp_path / "nova.conf").write_text(
        f"{text}{more}[DEFAULT]\nservice_down_time = 900\n"
    )
    of_api = python.replace(f"HOME={cloud.state}", f"HOME={tmp_path}")
    services = {"scheduler": python, "api": of_api, "conductor": python}
    asked = [("--nova-python", f"{name}={each}") for name, each in services.items()]
    variables = {**cloud.environment, "XDG_CONFIG_HOME": str(tmp_path)}
    run = functools.partial(shell.run, variables, "trait-sched")
    assert run("config", "save", *(word for pair in asked for word in pair)).code == 0
    rules = ("check", "config-services-differ", "-f", "json")
    found = {row["object"]: row["problem"] for row in run(*rules).json}
    devices, down = (
        "option [filter_scheduler]pci_in_placement",
        "option [DEFAULT]service_down_time",
    )
    assert found.keys() == {devices, down}
    assert "nova-api has 900" in found[down]
    assert "nova-scheduler has 600" in found[down]
    # Once they agree, the same commands say so.
    (tmp_path / "nova.conf").write_text(text)
    again = run("config", "save")
    assert (again.code, again.err) == (0, "")
    assert run(*rules).json == []


def test_no_secret_leaves_nova(cloud, python):
    names = [name for name in OPTIONS if "." in name]
    answer = json.dumps(document.read(python, "nova-scheduler", names, 120))
    secrets = set()
    for line in cloud.nova_conf.read_text().splitlines():
        key, _, value = line.partition(" = ")
        if re.search("password|connection|_url|path", key):
            secrets.add(value)
    assert len(secrets) >= 6
    assert not [each for each in secrets if each in answer]
    assert str(cloud.state) not in answer


def test_a_cell_that_does_not_answer_is_named(cloud, tmp_path, python):
    copy, url = tmp_path / "nova_api.db", "sqlite:////none/s3cret.db"
    with contextlib.closing(sqlite3.connect(cloud.state / copy.name)) as database:
        database.execute("VACUUM INTO ?", (str(copy),))
    with contextlib.closing(sqlite3.connect(copy)) as database:
        of_cell = "UPDATE cell_mappings SET database_connection = ? WHERE name = ?"
        database.execute(of_cell, (url, "cell1"))
        database.commit()
    conf = cloud.nova_conf.read_text().replace(
        f"{cloud.state}/nova_api", f"{tmp_path}/nova_api"
    )
    (tmp_path / "nova.conf").write_text(conf)
    elsewhere = python.replace(f"HOME={cloud.state}", f"HOME={tmp_path}")
    found = document.read(elsewhere, "nova-scheduler", [], 120)
    assert found["cells"] == [{"name": "cell1", "down": "DBNonExistentDatabase"}]


# Without nova.conf, no sure verdict is one that Nova's own scheduler contradicts.


BOOTS = int(os.environ.get("TRAITSCHED_BOOTS", "30"))
SEED = 36
FILTERS = (
    "ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter,"
    "ServerGroupAntiAffinityFilter,ServerGroupAffinityFilter,"
    "AggregateInstanceExtraSpecsFilter,AggregateMultiTenancyIsolation,"
    "AggregateImagePropertiesIsolation,PciPassthroughFilter,NUMATopologyFilter"
)
#: What a deployment may turn on.
DEPLOYED = {
    "nothing": (),
    "isolation": (ISOLATION,),
    "tenants": ("scheduler.limit_tenants_to_placement_aggregate=true",),
    "image types": ("scheduler.query_placement_for_image_type_support=true",),
    "prefilters": PREFILTERS,
    "filters": (f"filter_scheduler.enabled_filters={FILTERS}",),
}
#: A sure yes, a sure no, and what depends on nova.conf.
YES, NO, DEPENDS = 0, 3, 8


@pytest.fixture(scope="module", params=DEPLOYED)
def scenario(request):
    if chosen() != NEWEST:
        pytest.skip("the options of the newest release")
    options = DEPLOYED[request.param]
    with (
        Cloud(computes=6, nova_options=options) as cloud,
        different_hosts(cloud) as scenario,
    ):
        key = "aggregate_instance_extra_specs:ssd"
        scenario.flavors["fast"] = scenario.maker.flavor("fast", {key: "true"})
        scenario.maker.aggregate("fast", "cmp00", ssd="true")
        yield scenario


def test_no_boot_contradicts_a_sure_verdict(scenario, record_property):
    wrong, codes = [], collections.Counter()
    fast = (Asked("fast"), Asked("fast", zone="az-west"))
    for asked in (*requests(BOOTS, SEED), *fast):
        said = scenario.run("trait-sched", "explain", *asked.options, "-f", "json")
        boot = scenario.boot(asked)
        codes[said.code] += 1
        is_up = boot.status == "ACTIVE"
        may_be_more = any(
            each["otherwise"] > each["hosts"] for each in said.json["dependences"]
        )
        is_named = boot.host in said.json["candidates"] or may_be_more
        if (said.code == YES and not (is_up and is_named)) or (
            said.code == NO and is_up
        ):
            wrong.append(f"{asked}: {said.json['summary']} {boot}")
    record_property("table", f"verdicts without settings: {dict(codes)}")
    assert not wrong, "\n".join(wrong)
    assert codes.keys() <= {YES, NO, DEPENDS}
    assert codes[YES]
    assert codes[NO]
