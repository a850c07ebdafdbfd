"""What Nova refuses is said in words for whoever has to change it."""

from __future__ import annotations

import ast
import pathlib

import pytest

import osc_traitsched
from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.check.rules.traits_requests import TraitsRefused
from osc_traitsched.core.errors import Refusal, nova
from osc_traitsched.core.nova.request import checks
from osc_traitsched.views import check
from tests.unit.core.check.surveys import assumed, findings, flavor, host, image, survey

_NOVA = pathlib.Path(osc_traitsched.__file__).parent / "core" / "nova"


def reasons():
    """Return the second argument of each refusal in the core."""
    for path in sorted(_NOVA.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Refusal":
                reason = node.args[1]
                if isinstance(reason, ast.Constant):
                    yield reason.value


def test_each_reason_has_words():
    found = {*reasons(), checks.zone_refusal("z", {}).reason}
    assert len(found) > 30
    for reason in sorted(found):
        refusal = Refusal("ValueError", reason, ("a_key",))
        assert nova.wrong(refusal).endswith(" (ValueError)")
        assert "{}" not in nova.wrong(refusal) + nova.right(refusal)


def test_explain_says_what_is_wrong_and_what_would_be_right():
    refusal = Refusal("ValueError", "no-name-and-count", ("k",), "api", 500)
    assert str(refusal) == (
        "nova-api refuses it (HTTP 500): k is no list of NAME:NUMBER (ValueError); "
        "correct k"
    )
    refusal = checks.zone_refusal("zone-9", {"zone-8": True})
    assert str(refusal) == (
        "nova-api refuses it (HTTP 400): no enabled nova-compute is in the zone zone-9 "
        "(InvalidRequest); name another zone, or enable a nova-compute of this one; "
        "did you mean zone-8?"
    )


def row(*, specs=None, properties=None, release=33):
    """Return the words of what Nova refuses: the problem, and what to do."""
    flavors = [flavor("f", {"vcpus": 4}, **(specs or {}))]
    images = [image("i", **properties)] if properties else []
    cloud = survey([host("a")], flavors, images, assumptions=assumed(release))
    ((_, _, _, problem, fix),) = check.rows(findings(cloud, "traits-refused"))[1]
    return problem, fix


@pytest.mark.parametrize(
    ("specs", "properties", "problem", "fix"),
    [
        (
            {"hw__numa_nodes": "3"},
            {},
            "the NUMA nodes can't share the CPUs and the memory evenly, by "
            "hw:numa_nodes, vcpus, ram (ImageNUMATopologyAsymmetric)",
            "choose a number of NUMA nodes that divides both the vcpus and the ram",
        ),
        (
            {},
            {"block_device_mapping": "["},
            "block_device_mapping is no JSON (JSONDecodeError)",
            "correct block_device_mapping, or take it off",
        ),
        (
            {"pci_passthrough__alias": "a1"},
            {},
            "pci_passthrough:alias is no list of NAME:NUMBER (ValueError)",
            "correct pci_passthrough:alias",
        ),
        (
            {"hw__cpu_policy": "odd"},
            {},
            "hw:cpu_policy has a value that Nova does not know "
            "(InvalidCPUAllocationPolicy)",
            "set hw:cpu_policy to dedicated, shared or mixed, or take the key off",
        ),
        (
            {},
            {"hw_mem_encryption": "true", "hw_firmware_type": "bios"},
            "encrypted memory needs UEFI, by hw_mem_encryption, hw_firmware_type "
            "(FlavorImageConflict)",
            "set hw_firmware_type=uefi on the image",
        ),
        (
            {},
            {"hw_firmware_type": "odd"},
            "hw_firmware_type has a value that Nova does not know (InvalidRequest)",
            "set hw_firmware_type to uefi or bios, or take the key off",
        ),
        (
            {},
            {"hw_architecture": "odd"},
            "hw_architecture has a value that Nova does not know (InvalidRequest)",
            "correct hw_architecture, or take it off",
        ),
    ],
)
def test_the_words_say_what_is_wrong_and_what_would_be_right(
    specs, properties, problem, fix
):
    assert row(specs=specs, properties=properties) == (
        f"Nova refuses every server of it: {problem}",
        fix,
    )


def test_a_value_that_a_release_does_not_have_yet_is_not_offered():
    _, fix = row(specs={"hw__cpu_policy": "odd"}, release=21)
    assert fix == "set hw:cpu_policy to dedicated or shared, or take the key off"
    _, fix = row(specs={"hw__pci_numa_affinity_policy": "odd"}, release=22)
    assert "legacy" in fix
    assert "socket" not in fix


def test_an_image_and_a_flavor_that_contradict_each_other_are_named_together():
    problem, fix = row(
        specs={"hw__cpu_policy": "shared"}, properties={"hw_cpu_policy": "dedicated"}
    )
    assert problem == (
        "Nova refuses every server of it with the flavor f: the image pins more CPUs "
        "than the flavor lets it, by hw:cpu_policy, hw_cpu_policy "
        "(ImageCPUPinningForbidden)"
    )
    assert fix == (
        "do not combine them, or make both say the same, or take the image's property "
        "off"
    )


def test_no_line_is_long_however_many_keys_are_wrong():
    names = tuple(f"hw_numa_cpus.{n}" for n in range(128))
    refusal = Refusal("ImageNUMATopologyIncomplete", "nodes-incomplete", names)
    kind = findings(survey([host("a")], [flavor("f", hw__cpu_policy="odd")]))[0].kind
    found = TraitsRefused(Severity.ERROR, kind, "f", refusal)
    ((*_, problem, _),) = check.rows([found])[1]
    assert problem.count("hw_numa_cpus") == 10
