"""The reason of a no beside a real Placement, whose hosts are enabled and emptied."""

from __future__ import annotations

import json

import pytest

from tests.functional.nova import Nova
from tests.functional.placement import STANDARD

pytestmark = pytest.mark.one_client

EVERY = {"VCPU": 8, "MEMORY_MB": 4096, "DISK_GB": 100}
FLAVOR = {"id": "1", "name": "asked", "vcpus": 1, "ram": 512, "disk": 1}
DISABLED = "COMPUTE_STATUS_DISABLED"
#: Units of VCPU, how many are used, further traits, and how many are asked for.
HOSTS = {
    "fits": ({}, 7, (), 1),
    "disabled": ({}, 0, (DISABLED,), 1),
    "full": ({}, 8, (), 1),
    "full-and-disabled": ({}, 8, (DISABLED,), 1),
    "full-of-eight": ({}, 1, (), 8),
    "too-much-at-once": ({"max_unit": 4}, 8, (), 5),
    "too-much-at-once-of-free-ones": ({"max_unit": 4}, 0, (), 5),
    "odd-step": ({"step_size": 2}, 8, (), 3),
    "too-few-in-all": ({}, 8, (), 9),
}
REASONS = {
    "fits": ("fits", "fits", "fits"),
    "disabled": ("disabled", "fits", "fits"),
    "full": ("full", "full", "fits"),
    "full-and-disabled": ("full", "full", "fits"),
    "full-of-eight": ("full", "full", "fits"),
    **dict.fromkeys([*HOSTS][5:], ("misconfigured",) * 3),
}


def made(placement, name):
    """A host as the table has it, and the flavor that is asked for."""
    units, used, traits, vcpus = HOSTS[name]
    host = placement.add_host(name, (*STANDARD, *traits), inventories=EVERY)
    path = f"/resource_providers/{host}/inventories"
    found = placement.call("GET", path)
    found["inventories"]["VCPU"].update(units)
    placement.call("PUT", path, found)
    step = units.get("step_size", 1)
    for _ in range(used // step):
        placement.allocate(host, VCPU=step)
    return host, {**FLAVOR, "vcpus": vcpus, "extra_specs": {}}


def emptied(placement, host):
    found = placement.call("GET", f"/resource_providers/{host}/allocations")
    for consumer in found["allocations"]:
        placement.call("DELETE", f"/allocations/{consumer}")


@pytest.mark.parametrize("name", HOSTS)
def test_the_reason_now_then_enabled_then_empty(placement, proxy, openstack, name):
    host, flavor = made(placement, name)
    nova = Nova(proxy, [(name, host)], {})
    nova._bodies["/flavors/detail"] = {"flavors": [flavor]}

    def reason(*command):
        how = ("-f", "json", "--nova-release", "2026.1")
        found = json.loads(openstack(*command, *how).out)
        return found["reason"] if "reason" in found else found["flavors"][0]["reason"]

    found = []
    changes = (
        lambda: None,
        lambda: placement.set_traits(host, STANDARD),
        lambda: emptied(placement, host),
    )
    for change in changes:
        change()
        found.append(reason("explain", "asked", "-"))
        assert reason("capacity", "asked") == found[-1]
    assert tuple(found) == REASONS[name]
