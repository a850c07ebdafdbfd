"""Trait names: which can exist, which are alike, and who owns them."""

import os_traits
import pytest

from osc_traitsched.core import errors
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.text import quoted

KNOWN = {"CUSTOM_GOLD", "CUSTOM_SILVER", "HW_CPU_X86_AVX", "HW_CPU_X86_AVX2"}


def test_names_are_kept_in_order_and_each_once():
    assert trait.parse(["CUSTOM_B", "CUSTOM_A", "CUSTOM_B"]) == ("CUSTOM_B", "CUSTOM_A")


def test_every_name_of_os_traits_is_well_formed():
    assert trait.parse(os_traits.get_traits()) == tuple(os_traits.get_traits())


@pytest.mark.parametrize("name", ["", "a", "A B", "A-B", "CUSTOM_", "Ä", "A" * 256])
def test_a_malformed_name_is_refused_by_name(name):
    with pytest.raises(errors.BadQuestion) as caught:
        trait.parse(["CUSTOM_FINE", name])
    assert str(caught.value).startswith(f"{quoted(name)} can't be a trait: ")


def test_an_unknown_custom_trait_comes_with_names_that_are_really_alike():
    with pytest.raises(errors.UnknownTrait) as caught:
        trait.check_exist(["CUSTOM_GOLDEN"], KNOWN)
    assert caught.value.nearest == ("CUSTOM_GOLD",)
    assert not caught.value.standard


def test_being_custom_makes_no_two_names_alike():
    assert trait.nearest("CUSTOM_X", {"CUSTOM_Y", "CUSTOM_Z"}) == ()
    assert trait.nearest("CUSTOM_SDD", {"CUSTOM_SSD", "CUSTOM_GOLD"}) == ("CUSTOM_SSD",)


def test_a_standard_trait_that_an_old_cloud_lacks_is_told_from_a_typo():
    with pytest.raises(errors.UnknownTrait) as caught:
        trait.check_exist(["HW_CPU_X86_AVX512F"], KNOWN)
    assert caught.value.standard


def test_only_custom_names_can_be_created():
    names = ("CUSTOM_NEW", "CUSTOM_GOLD")
    assert trait.to_create(names, KNOWN, create=True) == ("CUSTOM_NEW",)
    with pytest.raises(errors.UnknownTrait) as caught:
        trait.to_create((*names, "HW_CPU_X86_NEW"), KNOWN, create=True)
    assert not caught.value.creatable


def test_a_custom_name_that_is_not_to_be_created_could_be():
    with pytest.raises(errors.UnknownTrait) as caught:
        trait.to_create(("CUSTOM_GOLD", "CUSTOM_NEW"), KNOWN, create=False)
    assert (caught.value.name, caught.value.creatable) == ("CUSTOM_NEW", True)


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("CUSTOM_GOLD", Ownership.OPERATOR),
        ("STORAGE_DISK_SSD", Ownership.OPERATOR),
        ("MISC_SHARES_VIA_AGGREGATE", Ownership.OPERATOR),
        ("HW_NUMA_ROOT", Ownership.OPERATOR),
        ("COMPUTE_MIGRATE_POST_COPY", Ownership.OPERATOR),
        ("HW_CPU_X86_STIBP", Ownership.OPERATOR),
        ("COMPUTE_NODE", Ownership.NOVA_SETS),
        ("OWNER_NOVA", Ownership.NOVA_SETS),
        ("HW_ARCH_X86_64", Ownership.NOVA_SETS),
        ("COMPUTE_STATUS_DISABLED", Ownership.NOVA_SETS_AND_CLEARS),
        ("COMPUTE_IMAGE_TYPE_QCOW2", Ownership.NOVA_SETS_AND_CLEARS),
        ("COMPUTE_SOUND_MODEL_VIRTIO", Ownership.NOVA_SETS_AND_CLEARS),
        ("COMPUTE_SOUND_MODEL_AC97", Ownership.NOVA_SETS),
        ("HW_CPU_X86_AVX2", Ownership.NOVA_SETS_AND_CLEARS),
        ("HW_CPU_HYPERTHREADING", Ownership.NOVA_SETS_AND_CLEARS),
        ("COMPUTE_SOMETHING_NEW", Ownership.NOVA_SETS_AND_CLEARS),
    ],
)
def test_who_owns_a_trait(name, owner):
    assert trait.ownership(name) is owner


@pytest.mark.parametrize(
    ("name", "common"),
    [
        ("COMPUTE_IMAGE_TYPE_QCOW2", True),
        ("COMPUTE_NODE", True),
        ("OWNER_NOVA", True),
        ("COMPUTE_STATUS_DISABLED", False),
        ("COMPUTE_MANAGED_PCI_DEVICE", False),
        ("HW_CPU_X86_AVX512F", False),
        ("CUSTOM_COMPUTE_NODE", False),
    ],
)
def test_what_every_nova_compute_says_of_itself_is_common(name, common):
    assert trait.is_common(name) is common
