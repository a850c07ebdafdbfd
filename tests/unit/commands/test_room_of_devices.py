"""Flavors that ask devices below hosts for traits keep their room as others do."""

from __future__ import annotations

import pytest

from osc_traitsched.commands import base, write_args
from osc_traitsched.core.errors import CloudBroke
from tests.unit.app.devices import GPU, UUIDS, CloudOfDevices
from tests.unit.app.living import HOSTS
from tests.unit.commands.wanted import GOLD, SILVER, keystone, second, statuses

#: A flavor asks for a GPU with SILVER; to gain it fails.
GAINS = 'traits: {CUSTOM_SILVER: {providers: ["cmp02_p*"]}}'
FAILED = ("provider", "cmp02_pci", SILVER)


@pytest.fixture
def cloud(monkeypatch):
    """Has one flavor, which asks for a GPU with SILVER; that below cmp02 gains none."""
    found = CloudOfDevices()
    found.flavor("f")
    found.specs("f").update({f"resources1:{GPU}": "1", f"trait1:{SILVER}": "required"})
    monkeypatch.setattr(base.Command, "cloud", lambda command: found)
    monkeypatch.setattr(write_args, "_SETTLING", 0.0)

    def ungained():
        raise CloudBroke("placement", "no", 403)

    found.rivals[UUIDS["cmp02_pci"]] = ungained
    return found


@pytest.mark.parametrize("closing", [f"trait:{GOLD}", "availability_zone"])
def test_no_host_joins_what_keeps_others_out_before_other_devices_have_its_traits(
    cloud, apply, closing
):
    cloud.leaves("cmp01")
    cloud.metadata[closing] = "required"
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp01_pci")
    done = statuses(apply(f"{GAINS}\naggregates: {{gold: {{hosts: [cmp01]}}}}"))
    assert done[FAILED] == "failed"
    assert done["member", "gold", "cmp01"] == "not done"


def test_no_host_leaves_a_zone_before_other_devices_have_its_traits(cloud, apply):
    cloud.metadata["availability_zone"] = "az1"
    cloud.gives(SILVER, "cmp01_pci")
    second(cloud, "cmp02", availability_zone="az1")
    leaves = "aggregates: {gold: {absent: {hosts: [cmp01]}}}"
    done = statuses(apply(f"{GAINS}\n{leaves}"))
    assert done[FAILED] == "failed"
    assert done["member", "gold", "cmp01"] == "not done"


def test_no_aggregate_is_closed_before_other_devices_have_its_traits(cloud, apply):
    cloud.flavor("golden", **{GOLD: "required"})
    cloud.gives(GOLD, "cmp00", "cmp01")
    cloud.gives(SILVER, "cmp01_pci")
    closes = "aggregates: {gold: {isolated_for: [CUSTOM_GOLD]}}"
    done = statuses(apply(f"{GAINS}\n{closes}"))
    assert done[FAILED] == "failed"
    assert done["aggregate", "gold", f"trait:{GOLD}"] == "not done"


def test_a_host_keeps_a_trait_until_other_devices_have_those_of_its_own(cloud, apply):
    cloud.specs("f")[f"trait:{GOLD}"] = "required"
    cloud.gives(GOLD, "cmp01", "cmp02")
    cloud.gives(SILVER, "cmp01_pci")
    done = apply("""
        traits:
          CUSTOM_SILVER: {providers: [cmp02_pci]}
          CUSTOM_GOLD: {absent: {hosts: [cmp01]}}
    """)
    assert statuses(done) == {FAILED: "failed", ("host", "cmp01", GOLD): "not done"}


def test_no_device_loses_a_trait_before_other_hosts_have_those_of_its_host(
    cloud, apply
):
    cloud.rivals[HOSTS["cmp02"]] = cloud.rivals.pop(UUIDS["cmp02_pci"])
    cloud.specs("f")[f"trait:{GOLD}"] = "required"
    cloud.gives(GOLD, "cmp01")
    cloud.gives(SILVER, "cmp01_pci", "cmp02_pci")
    done = apply("""
        traits:
          CUSTOM_GOLD: {hosts: [cmp02]}
          CUSTOM_SILVER: {absent: {providers: [cmp01_pci]}}
    """)
    assert statuses(done) == {
        ("host", "cmp02", GOLD): "failed",
        ("provider", "cmp01_pci", SILVER): "not done",
    }


def test_no_project_is_limited_to_hosts_whose_devices_did_not_gain_their_traits(
    cloud, apply, monkeypatch
):
    project = "1" * 32
    keystone(cloud, monkeypatch, project)
    second(cloud, "cmp02")
    cloud.gives(SILVER, "cmp01_pci")
    named = f"aggregates: {{rack: {{tenants: ['{project}']}}}}"
    done = statuses(apply(f"{GAINS}\n{named}"))
    assert done[FAILED] == "failed"
    assert done["aggregate", "rack", "filter_tenant_id"] == "not done"
