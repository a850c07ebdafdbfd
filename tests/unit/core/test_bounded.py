"""Whatever users write into a flavor or an image: an answer, soon, in little memory."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.core.nova import properties
from osc_traitsched.core.releases import NEWEST, OLDEST
from tests.fidelity import large, ours
from tests.fidelity.values import CHECKED, SHAPING
from tests.services.environment import REPOSITORY

#: For one case, of CPU time.
MOST_SECONDS = 2
NUMBERS = ("0", "-1", "+3", " 7 ", "1_0", "٣", "²", "1e9", "1000000", large.DIGITS)
PIECES = (*NUMBERS, "0-", "^", ",", "-", ".", "M", "MB", "ib", ">=", "[", "{", "", "é")
KEYS = [
    *(key for key, *_ in (*SHAPING, *CHECKED) if key),
    *("hw:numa_cpus.0", "hw:numa_mem.0", "hw:cpu_dedicated_mask", "hw:pmem"),
    *("hw:cpu_realtime", "hw:cpu_realtime_mask", "resources:VCPU", "resources1:PCPU"),
    *("trait:CUSTOM_A", "trait_x:", "resources:", "resources²:X", "group_policy"),
]
PROPERTIES = [
    *properties.BY_NAME,
    *properties.OLD_NAMES,
    properties.OLD_ADAPTER,
    *("hw_numa_cpus.0", "hw_numa_cpus.1", "hw_numa_mem.0", "trait:CUSTOM_A", "trait:"),
    *("bdm_v2", "block_device_mapping", "mappings", "min_ram", "min_disk", "size"),
]

WRITTEN = [
    value for *_, good, bad in (*SHAPING, *CHECKED) for value in f"{good} {bad}".split()
]
#: What makes Nova look at what an image says of pages and masks.
LOOKING = {
    "hw:mem_page_size": "any",
    "hw:cpu_policy": "mixed",
    "hw:cpu_realtime": "yes",
}

texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
values = texts | st.text(max_size=20) | st.sampled_from(WRITTEN)
sizes = st.sampled_from([0, 1, 4, 2**31 - 1])


def test_huge_values_cost_little():
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.core.bounded"],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers = json.loads(done.stdout)
    assert len(answers) > 100
    slow = {name: each for name, each in answers.items() if each[1] > MOST_SECONDS}
    assert not slow


def is_answer(found):
    """Tell whether it is a query or a refusal, and nothing else."""
    known = {"query", "fallback_query", "refused", "stage", "http"}
    return bool(found.get("query") or found["refused"]) and found.keys() <= known


@pytest.mark.parametrize("value", PIECES)
def test_each_key_with_such_a_value_makes_a_request_or_a_refusal(value):
    alone = [large.case("flavor", {key: value}, {}) for key in KEYS]
    alone += [large.case("image", LOOKING, {key: value}) for key in PROPERTIES]
    assert all(is_answer(ours.answer(case, 34)) for case in alone)


@settings(max_examples=400, deadline=None)
@given(
    specs=st.dictionaries(st.sampled_from(KEYS), values, max_size=6),
    image=st.dictionaries(st.sampled_from(PROPERTIES), values, max_size=6),
    vcpus=sizes,
    ram=sizes,
    release=st.integers(OLDEST, NEWEST),
)
def test_whatever_is_written_makes_a_request_or_a_refusal(
    specs, image, vcpus, ram, release
):
    case = large.case("drawn", specs, image, vcpus=vcpus, ram=ram)
    assert is_answer(ours.answer(case, release))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9" * 4300, int("9" * 4300)),
        ("9" * 4301, None),
        ("0" * 4301, None),
        (" " * 9000 + "7", 7),
        ("²", None),
        ("", None),
        (None, None),
    ],
)
def test_a_number_has_4300_digits_at_most(text, number):
    assert properties.integer(text) == number
