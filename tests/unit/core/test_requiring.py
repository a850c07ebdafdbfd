"""Which keys of flavors, images and aggregates require traits."""

import pytest

from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Collation


@pytest.mark.parametrize(
    ("key", "value", "required"),
    [
        ("trait:CUSTOM_X", "required", "CUSTOM_X"),
        ("trait1:CUSTOM_X", "required", "CUSTOM_X"),
        ("trait_gpu-0:CUSTOM_X", "required", "CUSTOM_X"),
        ("trait:CUSTOM_X", "forbidden", None),
        ("trait:", "required", None),
        ("resources:CUSTOM_X", "required", None),
        # To Nova this is the granular group "s".
        ("traits:CUSTOM_X", "required", "CUSTOM_X"),
        ("traitgold!:CUSTOM_X", "required", None),
        ("quota:trait", "required", None),
    ],
)
def test_which_keys_require_a_trait(key, value, required):
    assert trait.requires(key, value) == required


ODD = {
    "Trait:CUSTOM_A": "required",
    "trait:custom_b": "required",
    "trait:CUSTOM_C": "Required",
    "trait:CUSTOM_D": "forbidden",
}


def test_sqlite_takes_trait_in_any_case_and_nothing_else():
    found = trait.isolated_by(ODD, Collation.CASE_SENSITIVE)
    assert found == {"CUSTOM_A": "Trait:CUSTOM_A", "custom_b": "trait:custom_b"}


def test_mariadb_takes_keys_and_values_in_any_case():
    found = trait.isolated_by(ODD, Collation.CASE_INSENSITIVE)
    assert found == {
        "CUSTOM_A": "Trait:CUSTOM_A",
        "CUSTOM_B": "trait:custom_b",
        "CUSTOM_C": "trait:CUSTOM_C",
    }


def test_a_flavor_requires_what_any_of_its_groups_requires():
    specs = {
        "trait:CUSTOM_A": "required",
        "trait1:CUSTOM_B": "required",
        "trait:CUSTOM_C": "forbidden",
        "hw:cpu_policy": "dedicated",
    }
    assert trait.required_by(specs) == {"CUSTOM_A", "CUSTOM_B"}
