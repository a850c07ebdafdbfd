"""Cases with values that nobody means: huge numbers, long texts, odd digits.

Nova has to live through those of :func:`cases`, since it is asked. It would hold all
CPUs of :func:`bombs` in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: As long as an image's property can be (glance/db/sqlalchemy/models.py, a TEXT).
LONGEST = 65535
#: One digit more than Python reads of a number.
DIGITS = "9" * 4301

_PAGES = (
    *("0MB", "0b", "0", "-0.5b", ".5KB", "1.MB", "1.5.5MB", "+2MB", "2MB\n", "any "),
    *("-2KB", "-3KB", "4KiB", "4ki", "1bit", "1e5MB", "²", "٣", "٣MB"),
    *("1" * 400 + "MB", "1" * 300 + "QB", "1" * 400, DIGITS),
    *("1TB", "1PB", "1PiB"),
)
_VERSIONS = (
    *(f">={DIGITS}", f">=1.{DIGITS}", f">={DIGITS}!1", f">=1a{DIGITS}"),
    *(f">=1.post{DIGITS}", ">=" + ".".join(["1" * 3000] * 2), ">=1\n", ">=1," * 999),
)
_DOCUMENTS = ("[", "x", "", "null", "{}", '["x"]', "[" * LONGEST, DIGITS, "[]")
_NUMBERS = ("hw_cpu_sockets", "hw_numa_nodes", "hw_numa_mem.0", "hw_video_ram")
_AMOUNTS = ("hw:cpu_sockets", "hw:numa_nodes", "hw:numa_mem.0", "resources:VCPU")
_ANY_PAGE = {"hw:mem_page_size": "any"}
_MIXED = {"hw:cpu_policy": "mixed"}
_REAL_TIME = {**_MIXED, "hw:cpu_realtime": "yes"}


def case(
    name: str, specs: dict[str, str], image: dict[str, str], **size: int
) -> dict[str, Any]:
    """Return a case of a flavor of 4 VCPU and 1 GB."""
    flavor = {"vcpus": 4, "ram": 1024, "disk": 20, "swap": "", **size}
    return {
        "name": f"large {name}",
        "flavor": {**flavor, "extra_specs": specs},
        "image": {"disk_format": "raw", **image},
    }


def cases() -> Iterator[dict[str, Any]]:
    """Yield the cases that Nova can answer."""
    yield from _of_cpus("999999")
    yield case("nodes", {}, {"hw_numa_nodes": "1000000000"})
    yield case("flavor's nodes", {"hw:numa_nodes": "1000000000"}, {})
    yield case("all dedicated", {"hw:cpu_policy": "dedicated"}, {}, vcpus=2**16)
    for number, size in enumerate(_PAGES):
        spec = {"hw:mem_page_size": size}
        cells = {"hw:numa_cpus.0": "0-9", "hw:numa_mem.0": "1024"}
        yield case(f"page {number}", spec, {})
        yield case(f"page and nodes {number}", {**spec, **cells}, {})
        yield case(
            f"page beside the image's {number}", spec, {"hw_mem_page_size": "any"}
        )
        both = {"hw:mem_page_size": "any"}
        yield case(f"image's page {number}", both, {"hw_mem_page_size": size})
    for number, text in enumerate(_VERSIONS):
        yield case(f"version {number}", {}, {"img_hv_requested_version": text})
    for number, text in enumerate(_DOCUMENTS):
        devices = {"bdm_v2": "true", "block_device_mapping": text}
        yield case(f"devices {number}", {}, devices)
    for key in _NUMBERS:
        yield case(f"digits of {key}", {}, {key: DIGITS})
    for key in _AMOUNTS:
        yield case(f"digits of {key}", {key: DIGITS}, {})


def bombs() -> Iterator[dict[str, Any]]:
    """Yield the cases that are not for Nova, or for no Nova with a memory of today."""
    yield from _of_cpus("9" * 4000)
    most = 2**31 - 1
    for policy in ("dedicated", "shared"):
        specs = {"hw:cpu_policy": policy}
        yield case(f"{policy} CPUs", specs, {}, vcpus=most)
    yield case("mixed CPUs", {**_MIXED, "hw:cpu_dedicated_mask": "^0"}, {}, vcpus=most)
    mask = {"hw_cpu_realtime_mask": "^0"}
    yield case("CPUs in real time", _REAL_TIME, mask, vcpus=most)
    nodes = {"hw:numa_nodes": str(most)}
    yield case("as many nodes as CPUs", nodes, {}, vcpus=most, ram=most)
    yield case("commas", {}, {"hw_numa_cpus.0": "," * LONGEST})
    yield case("carets", {}, {"hw_numa_cpus.0": "^0-1," * 13000 + "0-9"})
    lists = {f"hw_numa_cpus.{n}": "0," * 1000 + "1-" + "9" * 99 for n in range(128)}
    yield case("many lists", {}, lists)
    for number, end in enumerate(("x", "MB", "", ".", "." + "1" * 999 + "!")):
        page = {"hw_mem_page_size": "1" * LONGEST + end}
        yield case(f"long page {number}", {"hw:mem_page_size": "any"}, page)
    for number, text in enumerate(
        (" ", "1.", "1", "a.", "<", ">=1,", "1-", "1a1-1.dev")
    ):
        version = {"img_hv_requested_version": ">=1" + text * (LONGEST // len(text))}
        yield case(f"long version {number}", {}, version)
    yield case("deep devices", {}, {"block_device_mapping": '[{"a":' * 9999})
    traits = {f"trait:CUSTOM_{n}": "required" for n in range(3000)}
    yield case("many traits of the image", {}, traits)
    yield case("many traits of the flavor", traits, {})
    groups = {f"resources{n}:CUSTOM_{n}": "1" for n in range(1000)}
    yield case("many groups", groups, {})
    yield case("many labels", {"hw:pmem": "a," * (LONGEST // 2)}, {})
    yield case("many aliases", {"pci_passthrough:alias": "a:1," * 9999}, {})


def _of_cpus(last: str) -> Iterator[dict[str, Any]]:
    """Yield cases with lists of CPUs of which most have this last one."""
    cells = {"hw_numa_nodes": "1", "hw_numa_mem.0": "1024"}
    lists = (f"0-{last}", f"0-{last},^4-{last}", f"0-3,{last}", f"^0-{last},0-3")
    for number, text in enumerate(lists):
        yield case(f"list {number}", {}, {**cells, "hw_numa_cpus.0": text})
    masks = (f"0-{last}", f"^1-{last}", f"^0-{last}", f"0-{last},^1-{last}")
    for number, text in enumerate(masks):
        yield case(f"mask {number}", {**_MIXED, "hw:cpu_dedicated_mask": text}, {})
        mask = {"hw_cpu_realtime_mask": text}
        yield case(f"mask of real time {number}", _REAL_TIME, mask)
