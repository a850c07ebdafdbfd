"""An image or a flavor that can't be is a finding about itself, and about no other."""

from __future__ import annotations

import pytest

from tests.fidelity import large
from tests.unit.core.check.surveys import (
    aggregate,
    assumed,
    findings,
    flavor,
    host,
    image,
    survey,
)

GOLD = "CUSTOM_GOLD"
ON = assumed(
    enable_isolated_aggregate_filtering=True,
    query_placement_for_image_type_support=True,
)
BOMBS = {
    "cpus": {"hw_numa_nodes": "1", "hw_numa_cpus.0": "0-999999999"},
    "nodes": {"hw_numa_nodes": "1000000000"},
    "digits": {"hw_numa_nodes": large.DIGITS},
    "devices": {"block_device_mapping": "[" * large.LONGEST},
}


def found(images=(), flavors=()):
    """Return what is found in a cloud with two images and two flavors, and more."""
    small = flavor("small", {"vcpus": 2})
    gold = flavor("gold", trait__CUSTOM_GOLD="required")
    two = [image("raw"), image("vmdk", "vmdk", trait__CUSTOM_GOLT="required")]
    gpu = aggregate("gpu", "b", trait__CUSTOM_GOLD="required")
    hosts = [host("a"), host("b", GOLD)]
    seen = survey(
        hosts, [small, gold, *flavors], [*two, *images], [gpu], assumptions=ON
    )
    return [
        (each.rule, each.severity.value, each.kind.value, each.name)
        for each in findings(seen)
    ]


@pytest.mark.parametrize("properties", BOMBS.values(), ids=BOMBS)
def test_an_image_that_can_t_be_is_a_finding_and_leaves_the_others(properties):
    bomb = image("bomb", **properties)
    own = ("traits-rejected", "error", "image", "bomb")
    assert found()
    assert sorted(found([bomb])) == sorted([*found(), own])


def test_an_image_whose_huge_list_leaves_the_right_cpus_is_no_finding():
    cpus = {"hw_numa_cpus.0": "0-999999999,^2-999999999", "hw_numa_mem.0": "512"}
    assert found([image("odd", **cpus)]) == found()


@pytest.mark.parametrize(
    "specs",
    [
        {"hw:cpu_policy": "mixed", "hw:cpu_dedicated_mask": "0-99999999"},
        {"hw:numa_nodes": "1", "hw:numa_cpus.0": "0-99999999", "hw:numa_mem.0": "512"},
        {"hw:mem_page_size": "²"},
    ],
)
def test_a_flavor_that_can_t_be_is_a_finding_and_leaves_the_others(specs):
    bomb = flavor("bomb", **specs)
    own = ("traits-rejected", "error", "flavor", "bomb")
    assert sorted(found(flavors=[bomb])) == sorted([*found(), own])
