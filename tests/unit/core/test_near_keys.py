"""Keys of flavors and images that Nova ignores, and the ones they are meant for."""

from __future__ import annotations

import pytest

from osc_traitsched.core.nova.extra_specs import near_flavor_key, near_image_key
from osc_traitsched.core.nova.properties import BY_NAME, OLD_NAMES
from osc_traitsched.core.releases import NEWEST, OLDEST


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("RESOURCES:CUSTOM_X", "resources:CUSTOM_X"),
        ("resource:VGPU", "resources:VGPU"),
        ("Trait:CUSTOM_X", "trait:CUSTOM_X"),
        ("traits:CUSTOM_X", "trait:CUSTOM_X"),
        ("hw:cpu_polcy", "hw:cpu_policy"),
        ("hw_cpu_policy", "hw:cpu_policy"),
        ("HW:mem_page_size", "hw:mem_page_size"),
        ("hw:numa_mems.1", "hw:numa_mem.1"),
        ("accel:device-profile", "accel:device_profile"),
        ("pci_passthrough:aliases", "pci_passthrough:alias"),
        ("aggregate_instance_extra_spec:ssd", "aggregate_instance_extra_specs:ssd"),
        ("capability:hypervisor_type", "capabilities:hypervisor_type"),
        ("os:secureboot", "os:secure_boot"),
    ],
)
def test_a_key_of_a_flavor_that_nova_ignores_stands_for_one_it_reads(key, meant):
    assert near_flavor_key(key) == meant
    assert near_flavor_key(meant) == ""


@pytest.mark.parametrize(
    "key",
    [
        "trait1:CUSTOM_X",
        "traitGOLD:CUSTOM_X",
        "resources_net:VGPU",
        "hw:numa_cpus.0",
        "quota:cpu_quota",
        "hide_hypervisor_id",
        "group_policy",
        "ssd",
        "vendor:anything",
    ],
)
def test_groups_and_keys_of_others_are_no_misspelling(key):
    assert near_flavor_key(key) == ""


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("hw:cpu_policy", "hw_cpu_policy"),
        ("hw_firmware_typ", "hw_firmware_type"),
        ("hw-disk-bus", "hw_disk_bus"),
        ("Traits:CUSTOM_X", "trait:CUSTOM_X"),
        ("trait1:CUSTOM_X", "trait:CUSTOM_X"),
    ],
)
def test_a_property_of_an_image_that_nova_ignores_stands_for_one_it_reads(key, meant):
    assert near_image_key(key, NEWEST) == meant
    assert near_image_key(meant, NEWEST) == ""


@pytest.mark.parametrize("release", [OLDEST, NEWEST])
def test_no_property_that_nova_reads_is_a_misspelling(release):
    read = [name for name, each in BY_NAME.items() if each.since <= release]
    for name in (*read, *OLD_NAMES, "os_hash_algo", "os_distro", "os_version", "owner"):
        assert near_image_key(name, release) == ""
