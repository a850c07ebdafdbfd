"""What Nova rejects is said in words for whoever has to change it."""

from __future__ import annotations

import ast
import pathlib

import osc_traitsched
from osc_traitsched.core import errors
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.nova import building
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
    found = {*reasons(), building.zone_refusal("z", {}).reason}
    assert len(found) > 30
    for reason in sorted(found):
        refusal = Refusal("ValueError", reason, ("a_key",))
        assert errors.wrong(refusal).endswith(" (ValueError)")
        assert "{}" not in errors.wrong(refusal) + errors.right(refusal)


def row(*, specs=None, properties=None, release=33):
    """Return the words of what Nova rejects: the problem, and what to do."""
    flavors = [flavor("f", {"vcpus": 4}, **(specs or {}))]
    images = [image("i", **properties)] if properties else []
    cloud = survey([host("a")], flavors, images, assumptions=assumed(release))
    ((_, _, _, problem, fix),) = check.rows(findings(cloud, "traits-rejected"))[1]
    return f"{problem}\n    {fix}"


REFUSED = [
    {"specs": {"hw__numa_nodes": "3"}},
    {"properties": {"block_device_mapping": "["}},
    {"specs": {"pci_passthrough__alias": "a1"}},
    {"specs": {"hw__cpu_policy": "odd"}},
    # No value is offered that the release does not have yet.
    {"specs": {"hw__cpu_policy": "odd"}, "release": 21},
    {"specs": {"hw__pci_numa_affinity_policy": "odd"}, "release": 22},
    {"properties": {"hw_mem_encryption": "true", "hw_firmware_type": "bios"}},
    {"properties": {"hw_firmware_type": "odd"}},
    {"properties": {"hw_architecture": "odd"}},
    # Of a flavor and an image that contradict each other both are named.
    {
        "specs": {"hw__cpu_policy": "shared"},
        "properties": {"hw_cpu_policy": "dedicated"},
    },
]


def test_the_words_say_what_is_wrong_and_what_would_be_right(golden):
    golden("check/rejected-by-nova", [row(**each) for each in REFUSED])


def test_no_line_is_long_however_many_keys_are_wrong():
    many = {f"hw_numa_cpus.{n}": "0" for n in range(128)}
    problem = row(properties={"hw_numa_nodes": "130", **many})
    assert problem.count("hw_numa_") == 10
    assert " and 119 more (ImageNUMATopologyIncomplete)" in problem
