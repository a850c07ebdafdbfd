"""Drawn flavors with NUMA cells, pages, pinning and PCI devices, booted one by one.

With what Nova's database tells no answer is open, and none is contradicted; without it
no sure answer is. Servers stay for a while, so hosts are used in many ways.
TRAITSCHED_DRAWN_CLAIMS is the number of boots, TRAITSCHED_DRAWN_SECONDS ends earlier,
and TRAITSCHED_SEED draws others.
"""

from __future__ import annotations

import collections
import json
import os
import random
import time

import pytest

from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import factory
from tests.cloud.test_claims import (
    ALIAS,
    DEFAULT_FILTERS,
    DEVICE,
    LIBVIRT,
    MAY,
    NO,
    YES,
    is_contradicted,
)
from tests.functional import shell
from tests.services.release import NEWEST, chosen

BOOTS = int(os.environ.get("TRAITSCHED_DRAWN_CLAIMS", "12"))
SECONDS = float(os.environ.get("TRAITSCHED_DRAWN_SECONDS", "inf"))
SEED = os.environ.get("TRAITSCHED_SEED", "44")
#: So many servers exist at once.
KEPT = 9

_PF = {"vendor_id": "8086", "product_id": "1528"}
_VF = {"vendor_id": "8086", "product_id": "1515"}
ALIASES = (
    ALIAS,
    {**_PF, "device_type": "type-PF", "name": "pf"},
    {**_VF, "device_type": "type-VF", "name": "vf"},
)
OPTIONS = (
    ISOLATION,
    *(f"pci.alias={json.dumps(alias)}" for alias in ALIASES),
    *(f"pci.device_spec={json.dumps(spec)}" for spec in (DEVICE, _PF, _VF)),
    f"filter_scheduler.enabled_filters={DEFAULT_FILTERS},"
    "NUMATopologyFilter,PciPassthroughFilter",
)
HYPERVISORS = {
    "cmp00": {**LIBVIRT, "cells": [{"shared": 2, "dedicated": 3}] * 2},
    "cmp01": {**LIBVIRT, "cells": [{"shared": 4, "dedicated": 6}], "devices": 2},
    "cmp02": {
        **LIBVIRT,
        "cells": [{"dedicated": 4, "shared": 2, "threads": 1, "pages": 512}] * 2,
        "functions": [2, 2],
    },
    "cmp03": {
        **LIBVIRT,
        "cells": [{"any": 4, "large": 1}, {"any": 4, "pages": 256}],
        "devices": 1,
        "functions": [1],
    },
    "cmp04": {**LIBVIRT, "cells": [{"shared": 5, "pages": 512, "large": 2}] * 2},
}
DEDICATED = ("dedicated", "mixed")


def drawn(dice: random.Random) -> tuple[dict[str, str], dict[str, int]]:
    """Extra specs and size of a flavor that nova-api accepts."""
    keys: dict[str, str] = {}

    def sometimes(chance: float, key: str, *values: str) -> None:
        if dice.random() < chance:
            keys[key] = dice.choice(values)

    size = {
        "vcpus": dice.choice((1, 2, 2, 3, 4)),
        "ram": dice.choice((512, 1024, 2048)),
    }
    sometimes(0.5, "hw:mem_page_size", "small", "large", "2MB", "1GB", "any", "4")
    sometimes(0.6, "hw:cpu_policy", "shared", "dedicated", "dedicated", "mixed")
    policy = keys.get("hw:cpu_policy")
    if policy == "mixed":
        size["vcpus"] = max(2, size["vcpus"])
        keys["hw:cpu_dedicated_mask"] = dice.choice(("1", "^0"))
    if policy in DEDICATED:
        sometimes(0.4, "hw:cpu_thread_policy", "prefer", "isolate", "require")
    if policy == "dedicated":
        sometimes(0.3, "hw:emulator_threads_policy", "share", "isolate")
    sometimes(0.4, "hw:numa_nodes", "1", "2")
    if size["vcpus"] % int(keys.get("hw:numa_nodes", "1")):
        size["vcpus"] += 1
    sometimes(0.4, "pci_passthrough:alias", "a1:1", "a1:2", "pf:1", "vf:1", "vf:2")
    if "pci_passthrough:alias" in keys:
        policies = ("required", "preferred", "legacy", "socket")
        sometimes(0.5, "hw:pci_numa_affinity_policy", *policies)
    return keys, size


@pytest.fixture(scope="module")
def claiming(tmp_path_factory):
    """A cloud, its maker, and the environment in which Nova's options are saved."""
    if chosen() != NEWEST:
        pytest.skip("the driver's objects are those of the newest release")
    with (
        Cloud(computes=6, nova_options=OPTIONS, hypervisors=HYPERVISORS) as cloud,
        factory(cloud.admin()) as maker,
    ):
        home = {"XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("home"))}
        python = f"env HOME={cloud.state} {cloud.release.python()}"
        words = ("trait-sched", "config", "save", "--nova-python", python)
        run = shell.run({**cloud.environment, **home}, *words)
        assert run.out.endswith("5 with NUMA cells, 3 with PCI devices\n")
        yield cloud, maker, home


@pytest.mark.full
def test_no_drawn_claim_contradicts_a_sure_answer(claiming, record_property):
    cloud, maker, home = claiming
    without = (("--nova-conf", str(cloud.nova_conf)), ("--set", ISOLATION), ())
    image, dice, kept = maker.image("raw"), random.Random(f"claims {SEED}"), []
    codes, wrong, start = collections.Counter(), [], time.monotonic()
    open_ones = []
    for number in range(BOOTS):
        if time.monotonic() - start > SECONDS:
            break
        keys, size = drawn(dice)
        flavor = maker.flavor(f"drawn-{number}", keys, **size)
        words = ("trait-sched", "explain", flavor.name, "raw", "--project", "admin")
        words = (*words, "--no-fixes", "-f", "json")
        asked = shell.run({**cloud.environment, **home}, *words)
        alone = shell.run(cloud.environment, *words, *without[number % len(without)])
        boot = maker.boot(flavor, image)
        for name, answer in (("with facts", asked), ("without", alone)):
            codes[name, answer.code] += 1
            if is_contradicted(answer, boot):
                said = answer.json["summary"] if answer.out else answer.err
                wrong.append(f"{keys} {size}, {name}: {said} {boot}")
        if asked.code == MAY:
            open_ones.append(f"{keys} {size}: {asked.json['summary']}")
        codes["booted", boot.status or "refused"] += 1
        kept += [boot] if boot.server else []
        while len(kept) > KEPT or (kept and kept[-1].status == "ERROR"):
            gone = -1 if kept[-1].status == "ERROR" else dice.randrange(len(kept))
            maker.delete(kept.pop(gone))
    for boot in kept:
        maker.delete(boot)
    record_property("table", f"drawn claims: {dict(codes)}")
    assert not wrong, "\n".join(wrong)
    assert not open_ones, "\n".join(open_ones)
    assert {code for name, code in codes if name == "with facts"} <= {YES, NO}
