"""Which keys of flavors, images and aggregates require traits."""

import pytest

from osc_traitsched.core.inventory import trait_keys


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
    assert trait_keys.requires(key, value) == required


def test_the_letters_of_an_aggregates_key_can_be_of_any_case():
    metadata = {"Trait:CUSTOM_A": "required", "trait:CUSTOM_B": "forbidden"}
    assert trait_keys.isolated_by(metadata) == {"CUSTOM_A": "Trait:CUSTOM_A"}
    assert trait_keys.isolating_keys(metadata) == ("Trait:CUSTOM_A",)


def test_a_flavor_requires_what_any_of_its_groups_requires():
    specs = {
        "trait:CUSTOM_A": "required",
        "trait1:CUSTOM_B": "required",
        "trait:CUSTOM_C": "forbidden",
        "hw:cpu_policy": "dedicated",
    }
    assert trait_keys.required_by(specs) == {"CUSTOM_A", "CUSTOM_B"}
