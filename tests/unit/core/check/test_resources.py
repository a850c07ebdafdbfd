"""Amounts of flavors that Placement refuses, or Nova ignores."""

from __future__ import annotations

import dataclasses

import pytest

from osc_traitsched.core.check.finding import Severity, SubjectKind
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.views import check
from tests.unit.core.check.surveys import (
    assumed,
    findings,
    flavor,
    host,
    identity,
    ids,
    image,
    survey,
)
from tests.unit.core.check.test_filters import REPORT, with_computes

NO_AMOUNTS = {"resources__VCPU": "0", "resources__MEMORY_MB": "0"}
NOTHING = {**NO_AMOUNTS, "resources__DISK_GB": "0"}


def only(found):
    (finding,) = found
    return finding


def words(of):
    _, (row,) = check.rows(findings(of, "resources"))
    return row[3], row[4]


# resources-near-key


def test_a_misspelled_key_is_a_warning_with_the_command_that_corrects_it():
    of = survey([host("a")], [flavor("f", Trait__CUSTOM_A="required")])
    finding = only(findings(of, "resources-near-key"))
    assert (finding.severity, finding.name) == (Severity.WARNING, "f")
    problem, fix = words(of)
    assert (
        "Nova ignores Trait:CUSTOM_A=required; did you mean trait:CUSTOM_A" in problem
    )
    assert fix == (
        "set trait:CUSTOM_A=required first, if that is meant: "
        "openstack flavor unset --property Trait:CUSTOM_A f"
    )


def test_a_misspelled_property_of_an_image_is_a_warning():
    of = survey([host("a")], [flavor("f")], [image("i", hw_cpu_polcy="dedicated")])
    finding = only(findings(of, "resources-near-key"))
    assert (finding.severity, finding.kind) == (Severity.WARNING, SubjectKind.IMAGE)
    assert "did you mean hw_cpu_policy" in finding.words().problem


def test_keys_that_nova_reads_and_keys_of_others_are_no_misspelling():
    specs = {"trait__CUSTOM_A": "forbidden", "ssd": "true", "quota__cpu_quota": "1"}
    of = survey([host("a")], [flavor("f", **specs)], [image("i", os_version="12")])
    assert not findings(of, "resources-near-key")


# resources-unknown


def test_a_class_that_placement_does_not_know_is_one_finding_for_all_flavors():
    flavors = [
        flavor("f", resources__CUSTOM_GPUS="1"),
        flavor("g", resources1__CUSTOM_GPUS="1"),
    ]
    child = {"card": (frozenset(), {"CUSTOM_GPU": 1})}
    of = survey([host("a", children=child)], flavors)
    found = only(findings(of))
    assert (found.rule, found.severity) == ("resources-unknown", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.RESOURCE_CLASS, "CUSTOM_GPUS")
    assert found.flavors == ("f", "g")
    assert "flavors f, g; did you mean CUSTOM_GPU?" in words(of)[0]


def test_a_class_that_another_key_stands_for_counts_too():
    of = survey([host("a")], [flavor("f", hw__pmem="6GB")])
    assert only(findings(of, "resources")).name == "CUSTOM_PMEM_NAMESPACE_6GB"


def test_a_class_of_which_nothing_is_asked_for_may_be_unknown():
    assert ids(survey([host("a")], [flavor("f", resources__CUSTOM_GPU="0")])) == []


# resources-ignored


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("resources:GPU", "1", "no resource class"),
        ("resources:CUSTOM_GPU", "one", "no amount"),
        ("resources:CUSTOM_GPU", "-1", "no amount"),
        ("resources.1:CUSTOM_GPU", "1", "no suffix of a group"),
    ],
)
def test_a_key_that_nova_ignores_is_found_with_the_reason(key, value, reason):
    of = survey([host("a")], [flavor("f", **{key: value})])
    found = only(findings(of))
    assert (found.rule, found.severity) == ("resources-ignored", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.FLAVOR, "f")
    assert words(of) == (
        f"Nova ignores {key}={value} ({reason})",
        f"openstack flavor unset --property {key} f",
    )


def test_a_group_with_a_word_for_a_suffix_is_ignored_in_train_only():
    flavors = [flavor("f", resources_A__VCPU="1")]
    for release, expected in ((20, ["resources-ignored"]), (21, [])):
        of = survey([host("a")], flavors, assumptions=assumed(release))
        assert ids(of, "resources") == expected


# resources-leaked


@pytest.mark.parametrize(
    ("used", "report", "is_found"),
    [
        (512, {}, True),
        (0, {}, False),
        (512, {"running_vms": 1}, False),
        (512, {"current_workload": 1}, False),
        (512, {"hypervisor_type": "ironic"}, False),
        # A resize that is not confirmed.
        (512, {"free_ram_mb": 8192 - 256 - 512}, False),
        (1024, {"free_ram_mb": 8192 - 256 - 512}, True),
    ],
)
def test_memory_that_placement_alone_counts_is_leaked(used, report, is_found):
    of = survey([host("a")])
    stock = {identity("a"): {"MEMORY_MB": Stock(7936, used, 8192, reserved=256)}}
    figures = {"memory_mb": 8192, "free_ram_mb": 8192 - 256, "running_vms": 0, **report}
    figures = dataclasses.replace(REPORT, **figures)
    of = with_computes(of, lambda node: {"report": figures})
    found = findings(dataclasses.replace(of, stock=stock), "resources")
    expected = [("resources-leaked", "a")] if is_found else []
    assert [(each.rule, each.name) for each in found] == expected
    assert all(f"counts {used} MB of memory" in each.problem for each in found)
    down = with_computes(of, lambda node: {"is_up": False})
    assert ids(dataclasses.replace(down, stock=stock), "resources") == []


# resources-no-policy

TWO = {"resources1__VCPU": "1", "resources2__VCPU": "1"}


@pytest.mark.parametrize("release", [20, 34])
def test_two_groups_without_a_policy_are_an_error(release):
    of = survey([host("a")], [flavor("f", **TWO)], assumptions=assumed(release))
    found = only(findings(of))
    assert (found.rule, found.severity) == ("resources-no-policy", Severity.ERROR)
    assert (found.name, found.groups) == ("f", ("1", "2"))
    assert "Nova ignores" not in found.problem
    assert words(of)[1].endswith("openstack flavor set --property group_policy=none f")


def test_a_policy_that_nova_does_not_know_is_none():
    of = survey([host("a")], [flavor("f", **TWO, group_policy="any")])
    assert only(findings(of)).rule == "resources-no-policy"
    assert "groups 1, 2 and no group_policy (Nova ignores 'any')" in words(of)[0]


@pytest.mark.parametrize(
    "specs",
    [
        {**TWO, "group_policy": "none"},
        {**TWO, "group_policy": "isolate"},
        {"resources1__VCPU": "1"},
        {"resources1__VCPU": "1", "resources2__VCPU": "0"},
    ],
)
def test_a_policy_or_a_single_group_is_no_finding(specs):
    found = ids(survey([host("a")], [flavor("f", **specs)]), "resources-no-policy")
    assert found == []


# resources-none


def test_a_flavor_that_asks_for_no_amount_is_an_error():
    of = survey([host("a")], [flavor("f", **NOTHING)])
    found = only(findings(of))
    assert (found.rule, found.severity) == ("resources-none", Severity.ERROR)
    assert (found.kind, found.name) == (SubjectKind.FLAVOR, "f")
    assert found.problem.startswith("asks for no amount outside of groups: ")


def test_a_group_of_traits_without_an_amount_is_an_error():
    specs = {"trait1__CUSTOM_GOLD": "required"}
    of = survey([host("a", "CUSTOM_GOLD")], [flavor("f", **specs)])
    assert only(findings(of, "resources")).groups == ("1",)
    problem, fix = words(of)
    assert problem.startswith("group 1: traits and no amount")
    assert "resources1:CLASS=AMOUNT" in fix


@pytest.mark.parametrize(
    "specs",
    [
        NO_AMOUNTS,
        {**NOTHING, "resources__DISK_GB": "1"},
        {**NOTHING, "resources1__DISK_GB": "1"},
    ],
    ids=["a disk of its own", "another class", "a group"],
)
def test_a_flavor_that_gets_an_amount_in_some_way_is_no_finding(specs):
    assert ids(survey([host("a")], [flavor("f", **specs)]), "resources") == []


def test_a_flavor_that_an_image_gives_an_amount_is_no_finding():
    flavors = [flavor("f", **NOTHING)]
    plain, encrypted = (
        image("i"),
        image("e", hw_mem_encryption="true", hw_firmware_type="uefi"),
    )
    rule = "resources-none"
    assert ids(survey([host("a")], flavors, [plain]), rule) == [rule]
    assert ids(survey([host("a")], flavors, [plain, encrypted]), rule) == []
