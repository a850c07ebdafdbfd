"""What Nova's code for NUMA says of flavors and images on a host with plenty of all.

No API shows what a host's NUMA nodes have left. What no host can ever have depends on
flavor and image alone, and there the core must say the same as Nova.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute, read_node_report
from osc_traitsched.core.nova.filter.special import NUMA_TOPOLOGY
from osc_traitsched.core.nova.filter.state import Fails, HostState
from osc_traitsched.core.nova.filter.table import judge
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Question
from tests.fidelity import asking
from tests.fidelity.ours import Answer, Case
from tests.services.nova import FIGURES

#: The first release that has its checks in this order, and mixed policies.
OLDEST = 22
SHOWN = 5
NEVER, FITS = {"fits": False}, {"fits": True}
ROW = "{:>7}  {:>8}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  {:>9}"

_PAGES = ("2048", "2MB", "1GB", "1048576", "large", "any", "small", "4", "4KB")
_SIZES = (511, 512, 513, 768, 1000, 1023, 1024, 2047, 2048, 3072, 4096, 5120, 6144)


def case(seed: str) -> dict[str, Any]:
    """Return one flavor and one image."""
    drawn = random.Random(seed)
    vcpus, ram = drawn.choice((1, 2, 3, 4, 6, 8)), drawn.choice(_SIZES)
    specs: dict[str, str] = {}
    image: dict[str, Any] = {"disk_format": "qcow2"}
    _pages(drawn, specs, image)
    _policies(drawn, specs, image)
    _cells(drawn, vcpus, ram, specs if drawn.random() < 0.75 else image)
    flavor = {"vcpus": vcpus, "ram": ram, "disk": 1, "extra_specs": specs}
    return {"name": seed, "flavor": flavor, "image": image}


def _pages(drawn: random.Random, specs: dict[str, str], image: dict[str, Any]) -> None:
    if drawn.random() < 0.75:
        specs["hw:mem_page_size"] = drawn.choice(_PAGES)
    if drawn.random() < 0.25:
        image["hw_mem_page_size"] = drawn.choice(_PAGES)
        if drawn.random() < 0.7:
            specs["hw:mem_page_size"] = drawn.choice(("any", "large"))


def _policies(
    drawn: random.Random, specs: dict[str, str], image: dict[str, Any]
) -> None:
    if drawn.random() < 0.5:
        policy = drawn.choice(("dedicated", "dedicated", "shared", "mixed"))
        side, key = drawn.choice(((specs, "hw:cpu_policy"), (image, "hw_cpu_policy")))
        side[key] = policy
        if policy == "mixed" and drawn.random() < 0.8:
            specs["hw:cpu_dedicated_mask"] = drawn.choice(("0", "^0", "^0-1"))
    if drawn.random() < 0.2:
        threads = drawn.choice(("prefer", "isolate", "require", "none"))
        specs["hw:cpu_thread_policy"] = threads
    if drawn.random() < 0.2:
        specs["hw:emulator_threads_policy"] = drawn.choice(("share", "isolate"))


def _cells(drawn: random.Random, vcpus: int, ram: int, side: dict[str, Any]) -> None:
    if drawn.random() < 0.5:
        return
    dots = ":" if "disk_format" not in side else "_"
    count = drawn.choice((1, 2, 2, 3, 4, 8))
    side[f"hw{dots}numa_nodes"] = str(count)
    if drawn.random() < 0.6:
        return
    parts = [ram // count] * (count - 1)
    parts.append(ram - sum(parts) + drawn.choice((0, 0, 0, 1)))
    if drawn.random() < 0.5 and count > 1:
        parts[0], parts[1] = parts[0] - 1, parts[1] + 1
    for number, part in enumerate(parts):
        cpus = [str(cpu) for cpu in range(number, vcpus, count)]
        side[f"hw{dots}numa_cpus.{number}"] = ",".join(cpus) or drawn.choice("09")
        if drawn.random() < 0.97:
            side[f"hw{dots}numa_mem.{number}"] = str(part)


def ours(case: Case, release: int) -> Answer:
    """Return what the core says: a refusal, or whether a host could ever do."""
    settings = SchedulerSettings(release=release)
    body = {"name": "f", "swap": 0, **case["flavor"]}
    try:
        spec = Question(body, case["image"], (), settings).request_spec()
    except Refusal as refusal:
        return {"refused": refusal.exception}
    report = {**FIGURES, "cpu_info": {"arch": "x86_64", "topology": {"cells": 4}}}
    compute = Compute("u", "host", "host", report=read_node_report(report))
    answer = judge(NUMA_TOPOLOGY, HostState(compute), spec, settings)
    return NEVER if isinstance(answer, Fails) else FITS


def compare(releases: Sequence[int], number: int, seed: str, processes: int) -> int:
    """Print how so many cases by chance compare, and return how many differ.

    Where Nova never fits a server and the core says that it may, it is missed: no sure
    answer is wrong then.
    """
    cases = [case(f"{seed}-{n}") for n in range(number)]
    print(f"\n{number} flavors and images on a host with 4 NUMA nodes and all pages")
    heads = ("release", "Nova", "cases", "refused", "never", "fits", "missed")
    print(ROW.format(*heads, "different"))
    total = 0
    for release in (each for each in releases if each >= OLDEST):
        answers = asking.ask_numa(release, cases, processes)
        own = [ours(each, release) for each in cases]
        found = list(zip(cases, answers, own))
        counts = [answers.count(each) for each in (NEVER, FITS)]
        refused = number - sum(counts)
        missed = sum(map(is_missed, answers, own))
        different = [
            each for each in found if each[1] != each[2] and not is_missed(*each[1:])
        ]
        figures = (number, refused, *counts, missed, len(different))
        print(ROW.format(release, asking.version(release), *figures), flush=True)
        for each, nova, answer in different[:SHOWN]:
            print(f"  Nova {nova}, ours {answer}: {json.dumps(each)}")
        total += len(different)
    return total


def is_missed(nova: Answer, own: Answer) -> bool:
    """Whether only Nova knows that the server never fits."""
    return (nova, own) == (NEVER, FITS)
