"""Nova's own scheduler places as many servers as was said, and no more."""

from __future__ import annotations

import pytest

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
