"""Cases on hosts and nodes that are named with the availability zone or beside it.

The recorded ones have the answers of Nova's newest release.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from tests.fidelity.comparing import without_text
from tests.fidelity.ours import Answer

PATH = (
    pathlib.Path(__file__).parents[1] / "unit" / "core" / "data" / "destinations.json"
)

#: Two hosts of a zone, one of which has two nodes, and one in no zone's aggregate.
_COMPUTES = [
    {"uuid": f"c{n:07}-0000-4000-8000-000000000000", "host": host, "node": node}
    for n, (host, node) in enumerate(
        [("one", "one"), ("two", "n1"), ("two", "n2"), ("three", "three")]
    )
]
_ZONES = (
    *("az1", "nova", "nowhere"),
    *("az1:one", "az2:one", "nova:one", ":one", "nowhere:one"),
    *("az1:two", "az1:two:n2", "az1::n1", "::n2", "az1:one:n1"),
    *("nova:three", "az1:three", ":three", "nova::three", "odd:three"),
    *("az1:nohost", "az1:one:nonode", "az1::nonode", "az1:ONE"),
    *("az1:", "az1::", ":", "::", ":::", "az1:one:one:one"),
)
#: A zone, ``host`` and ``hypervisor_hostname``.
_BESIDE = (
    *(("", "one", ""), ("", "one", "one"), ("", "", "one"), ("az1", "one", "")),
    *(("az2", "one", ""), ("nova", "one", ""), ("nova", "three", "")),
    *(("", "two", ""), ("", "two", "n2"), ("", "", "n1"), ("az1", "two", "")),
    *(("", "nohost", ""), ("", "one", "nonode"), ("", "", "nonode")),
    *(("", "one", "n1"), ("", "ONE", ""), ("", "", "two")),
    *(("az1:one", "one", ""), ("az1::n1", "", "n1"), (":one", "", "one")),
    *(("az1:", "one", ""), ("az1:one:one:one", "one", "")),
)


def named() -> Iterator[dict[str, Any]]:
    """Yield cases that name each one host or node, or try to."""
    aggregates = [
        _aggregate(1, "in az1", ["one", "two"], availability_zone="az1"),
        _aggregate(2, "in az2", [], availability_zone="az2"),
        _aggregate(3, "in no zone", ["one", "three"], ssd="true"),
    ]
    for zone in _ZONES:
        yield _case(zone, aggregates)
    for zone, host, node in _BESIDE:
        named = _case(zone, aggregates, f" beside {host!r} and {node!r}")
        yield {**named, "on_host": host, "on_node": node}
    # A zone's aggregate that has the name of the default zone.
    odd = _aggregate(4, "odd", ["two"], availability_zone="nova")
    for zone in ("nova", "nova:one", "nova:three", "nova::three", "nova:nohost"):
        yield _case(zone, [*aggregates[1:], odd], " beside an odd aggregate")
    default = {"DEFAULT.default_schedule_zone": "az1:one"}
    yield _case("", aggregates, " and a colon in the default", default)


def _case(
    zone: str,
    aggregates: Sequence[dict[str, Any]],
    more: str = "",
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "name": f"destination {zone!r}{more}",
        "flavor": {"vcpus": 1, "ram": 512, "disk": 1, "swap": "", "extra_specs": {}},
        "image": {"disk_format": "raw"},
        "aggregates": list(aggregates),
        "computes": _COMPUTES,
        "options": {
            "scheduler.query_placement_for_availability_zone": True,
            **(options or {}),
        },
        "availability_zone": zone,
    }


def _aggregate(
    number: int, name: str, hosts: Sequence[str], **metadata: str
) -> dict[str, Any]:
    uuid = f"a{number:07}-0000-4000-8000-000000000000"
    row = {"id": number, "uuid": uuid, "name": name, "hosts": list(hosts)}
    return {**row, "metadata": metadata}


def read() -> list[dict[str, Any]]:
    """Return the recorded cases, each with its ``answer``."""
    with PATH.open() as file:
        cases: list[dict[str, Any]] = json.load(file)
    return cases


def write(answers: Sequence[Answer]) -> None:
    """Write the cases with the newest release's answers, a line a case."""
    found = zip(named(), answers)
    cases = [{**case, "answer": without_text(answer)} for case, answer in found]
    lines = ",\n".join(json.dumps(case, sort_keys=True) for case in cases)
    PATH.write_text(f"[\n{lines}\n]\n")
