"""Nova's own scheduler places as many servers as was said, and no more."""

from __future__ import annotations

import pytest

from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import factory
from tests.functional import shell
from tests.schemas import closed

GOLD = "CUSTOM_GOLD"
REQUIRED = {f"trait:{GOLD}": "required"}
#: VCPUs, RAM, disk and extra specs.
FLAVORS = {
    "half": (4, 2048, 5, {}),
    "tall": (1, 6144, 5, {}),
    "gold": (2, 1024, 5, REQUIRED),
    "cells": (4, 2048, 5, {"hw:numa_nodes": "2"}),
}
#: More servers than any of them could be.
MANY = 40


@pytest.fixture(scope="module")
def image(admin):
    """An image on four hosts: one isolated, one partly used, one disabled."""
    with factory(admin) as maker:
        found = maker.image("raw")
        maker.traits(GOLD, "cmp00", "cmp01")
        maker.aggregate("gold", "cmp00", **REQUIRED)
        maker.used("cmp02", maker.flavor("used", ram=1024), found)
        maker.disabled("cmp03", "for the test")
        yield found


@pytest.fixture
def make(admin, image):
    with factory(admin) as maker:
        yield maker


@pytest.mark.parametrize("name", FLAVORS)
def test_as_many_servers_find_a_host_as_was_said(cloud, make, image, name):
    vcpus, ram, disk, extra_specs = FLAVORS[name]
    flavor = make.flavor(name, extra_specs, vcpus=vcpus, ram=ram, disk=disk)
    run = shell.run(
        cloud.environment,
        *("trait-sched", "capacity", name, "--image", "raw", "-f", "json"),
        *("--by", "host", "--nova-conf", str(cloud.nova_conf)),
    )
    closed("capacity").validate(run.json)
    (said,) = run.json["flavors"]
    booted = []
    while len(booted) < MANY:
        boot = make.boot(flavor, image)
        make.after(make.delete, boot)
        if boot.fault:
            assert boot.fault.startswith("No valid host was found."), boot
            break
        booted.append(boot.host)
    for host in set(booted):
        assert booted.count(host) <= said["groups"][host]["servers"]["max"]
    assert said["servers"]["min"] <= len(booted) <= said["servers"]["max"]
    if not said["may_reject"]:
        assert said["servers"]["min"] == said["servers"]["max"] > 0


# Hosts that a plan takes from projects, where a real nova-scheduler keeps them out.


FILTERS = (
    "filter_scheduler.enabled_filters=ComputeFilter,AggregateMultiTenancyIsolation"
)
#: Placement is asked for the aggregates of projects as well.
PREFILTER = "scheduler.limit_tenants_to_placement_aggregate=true"
WANTED = "version: 1\naggregates: {{ours: {{hosts: [{}], projects: [demo]}}}}\n"


SEVERAL = (
    "version: 1\naggregates: {{ours: {{hosts: [cmp00], projects: [{}], only: true}}}}\n"
)


@pytest.fixture(scope="module")
def isolating():
    options = (ISOLATION, FILTERS, PREFILTER)
    with Cloud(computes=2, nova_options=options) as isolating:
        yield isolating


def test_all_hosts_go_to_a_project_only_with_force(isolating, tmp_path):
    def run(verb, hosts, *more):
        path = tmp_path / "desired.yaml"
        path.write_text(WANTED.format(hosts), encoding="utf-8")
        file = ("--nova-conf", str(isolating.nova_conf), *more)
        return shell.run(isolating.environment, "trait-sched", verb, str(path), *file)

    with factory(isolating.admin()) as make:
        make.dropped("ours")
        asked = (make.flavor("small"), make.image("raw"))

        def boots():
            boot = make.boot(*asked)
            if boot.server:
                make.after(make.delete, boot)
            return boot.host

        some = run("apply", "cmp00")
        assert some.code == 0, some.err
        assert boots() == "cmp01"
        refused = run("apply", "'*'")
        assert refused.code == 5, refused.err
        assert "for projects that no aggregate names" in refused.err
        assert boots() == "cmp01"
        forced = run("apply", "'*'", "--force")
        assert forced.code == 0, forced.err
        assert boots() is None


def test_projects_come_and_go_and_nobody_else_gets_in(isolating, tmp_path):
    path = tmp_path / "desired.yaml"

    def applied(*projects):
        path.write_text(SEVERAL.format(", ".join(projects)), encoding="utf-8")
        file = (str(path), "--nova-conf", str(isolating.nova_conf))
        done = shell.run(isolating.environment, "trait-sched", "apply", *file)
        assert done.code == 0, done.err

    with factory(isolating.admin()) as make:
        identity = make.admin.identity
        first = identity.create_project(name="first", domain_id="default")
        make.after(identity.delete_project, first)
        make.dropped("ours")
        asked = (make.flavor("small"), make.image("raw"))

        def hosts():
            """Return where servers of demo and of another project land."""
            boots = [make.boot(*asked, user=user) for user in users for _ in range(3)]
            for boot in boots:
                make.delete(boot)
            found = [boot.host for boot in boots]
            return {*found[:3]}, {*found[3:]}

        users = (isolating.connection_of("demo"), make.admin)
        applied("first")
        applied("first", "demo")
        assert hosts() == ({"cmp00"}, {"cmp01"})
        applied("demo")
        assert hosts() == ({"cmp00"}, {"cmp01"})
