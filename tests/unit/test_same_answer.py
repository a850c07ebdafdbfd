"""Commands that answer one question give one answer and one exit code."""

from __future__ import annotations

import copy
import json
import random
import shlex

import pytest

from tests.functional import shell
from tests.services.environment import REPOSITORY

SAMPLE = json.loads((REPOSITORY / "examples" / "cloud.json").read_text("utf-8"))
OPTIONS = (
    "",
    "--set scheduler.query_placement_for_image_type_support=true",
    "--set filter_scheduler.enabled_filters=ComputeFilter",
    "--enable-filter NUMATopologyFilter",
    "--nova-release wallaby",
)
SPECS = (
    {},
    {"trait:CUSTOM_SSD": "required"},
    {"trait:CUSTOM_SDD": "required"},
    {"trait:COMPUTE_NODE": "forbidden"},
    {"hw:numa_nodes": "1"},
    {"aggregate_instance_extra_specs:rack": "east"},
    {"resources:VCPU": "999"},
)
KEYS = ({}, {"disk_format": "qcow2"}, {"hw_firmware_type": "uefi"}, {"os_type": "x"})
METADATA = (
    {},
    {"rack": "east"},
    {"trait:CUSTOM_SSD": "required"},
    {"filter_tenant_id": "9bc3d22383bf44fa85e3250a5634df04"},
    {"filter_tenant_id": "1288b028380a46f79f1f65f5921d6e2b"},
    {"availability_zone": "az-east"},
)


def drawn(seed):
    """A cloud, and the options to ask it with."""
    dice, whole = random.Random(seed), copy.deepcopy(SAMPLE)
    if dice.random() < 0.6:
        whole["settings"].update(place=None, files={}, lines={}, named={})
    for aggregate in whole["compute"]["aggregates"]:
        aggregate["metadata"] = dict(dice.choice(METADATA))
    for service in whole["compute"]["services"]:
        service["status"] = dice.choice(["enabled", "enabled", "disabled"])
    for flavor in whole["compute"]["flavors"]:
        flavor["extra_specs"] = dict(dice.choice(SPECS))
    for image in whole["image"]["images"]:
        image.update(dice.choice(KEYS))
    return whole, dice.choice(OPTIONS)


@pytest.mark.parametrize("seed", range(12))
def test_candidates_and_explain_agree(tmp_path, seed):
    whole, options = drawn(seed)
    path = tmp_path / "cloud.json"
    path.write_text(json.dumps(whole), "utf-8")

    def ask(verb, *more):
        variables = {"TRAITSCHED_SNAPSHOT": str(path)}
        words = (verb, *asked, *shlex.split(options), "-f", "json", *more)
        return shell.run(variables, "trait-sched", *words)

    for flavor in ("m1.small", "m1.large", "ssd.medium"):
        asked = (flavor, random.Random(flavor).choice(["ubuntu-24.04", "windows-2022"]))
        listed, explained = ask("candidates"), ask("explain")
        hosts = [row["host"] for row in listed.json]
        assert listed.code == explained.code, (asked, listed.err)
        assert sorted(hosts) == sorted(explained.json["candidates"])
