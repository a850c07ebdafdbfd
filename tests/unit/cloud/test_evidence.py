"""How many inventories are read of hosts that are full."""

from __future__ import annotations

from osc_traitsched.cloud import allocation_candidates
from osc_traitsched.core.errors import CloudBroke
from tests.unit.cloud.services import Answering


def inventories(path, params):
    """Return an inventory of as many VCPUs as the provider's name says."""
    provider = path.split("/")[2]
    if provider == "gone":
        raise CloudBroke("placement", "no such provider", 404)
    units = {"min_unit": 1, "max_unit": int(provider), "step_size": 1}
    total = {"total": int(provider), "reserved": 0, "allocation_ratio": 1.0}
    return {"inventories": {"VCPU": {**total, **units}}}


def read(kinds):
    """Return what was read of kinds of providers, and of which it was asked for."""
    placement = Answering(inventories, "placement")
    found = allocation_candidates.unused(placement, kinds)
    return found, [path.split("/")[2] for path, _ in placement.asked]


def numbered(first, count):
    return [str(number) for number in range(first, first + count)]


def test_each_of_a_few_is_read():
    found, asked = read([numbered(1, 20), numbered(21, 5)])
    assert asked == numbered(1, 25)
    assert found["7"]["VCPU"].max_unit == 7


def test_of_many_one_of_each_size_is_read_and_the_others_are_like_it():
    found, asked = read([numbered(1, 20), numbered(21, 6)])
    assert asked == ["1", "21"]
    assert {found[each]["VCPU"].max_unit for each in numbered(1, 20)} == {1}
    assert found["26"]["VCPU"].max_unit == 21


def test_of_very_many_sizes_some_are_not_read():
    found, asked = read([[each] for each in numbered(1, 40)])
    assert asked == list(found) == numbered(1, 25)


def test_a_provider_that_was_deleted_gives_nothing():
    found, _ = read([["gone"]])
    assert found == {"gone": {}}
