"""Cases on the letters of aggregates' metadata, which the database compares.

The recorded ones have the answers of Nova's newest release, by database.
"""

from __future__ import annotations

import json
import pathlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fidelity import generator
from tests.fidelity.comparing import without_text
from tests.fidelity.ours import Answer, Case

PATH = pathlib.Path(__file__).parents[1] / "unit" / "core" / "data" / "letters.json"

_METADATA = (
    {"trait:CUSTOM_A": "required"},
    {"trait:CUSTOM_B": "Required"},
    {"Trait:CUSTOM_C": "required"},
    {"trait:custom_d": "REQUIRED"},
    {"trait:CUSTOM_E ": "required"},
    {"trait:CUSTOM_F": "required  "},
    {"trait:CUSTOM_G": "réquired"},
    {"trait:CUSTOM_H": " required"},
    {"trait:CUSTOM_I": "required\t"},
    {"trait:CUSTOM_J": "forbidden"},
    {"availability_zone": "az1"},
    {"availability_zone": "AZ1"},
    {"availability_zone": "az1 "},
    {"Availability_Zone": "az1"},
    {"availability_zone": "Zürich"},
    {"availability_zone": "zurich"},
    {"availability_zone": "Straße"},
    {"availability_zone": "łódź"},
    {"availability_zone": "가"},
    {"filter_tenant_id": "p1"},
    {"filter_tenant_id": "P1"},
    {"filter_tenant_id_2": "p1 "},
    {"Filter_Tenant_Id": "p1"},
    {"filter_tenant_idé": "p2"},
)
_OPTIONS = {
    "scheduler.enable_isolated_aggregate_filtering": True,
    "scheduler.limit_tenants_to_placement_aggregate": True,
    "scheduler.query_placement_for_availability_zone": True,
}
_ZONES = ("az1", "AZ1", "Az1", "zurich", "ZÜRICH", "strase", "STRASSE", "Łódź", "lodz")
_TRAITS = tuple(f"CUSTOM_{letter}" for letter in "ABCDEFGHIJ")


def named() -> Iterator[dict[str, Any]]:
    """Yield cases that show each what one thing in other letters leads to."""
    yield _case("nothing required")
    for name in _TRAITS:
        yield _case(f"{name} required", specs={f"trait:{name}": "required"})
    yield _case("all required", specs={f"trait:{n}": "required" for n in _TRAITS})
    yield _case("small letters required", specs={"trait:custom_a": "required"})
    for zone in (*_ZONES, "ㄱ", "가"):
        yield _case(f"zone {zone}", availability_zone=zone)
    for project in ("p1", "P1", "p2", "P2", "p3"):
        must = {"scheduler.placement_aggregate_required_for_tenants": True}
        yield _case(f"project {project}", project_id=project)
        yield _case(f"project {project} must", must, project_id=project)


def _case(
    name: str,
    more: Mapping[str, Any] | None = None,
    specs: Mapping[str, str] | None = None,
    **asked: str,
) -> dict[str, Any]:
    size = {"vcpus": 1, "ram": 512, "disk": 1, "swap": ""}
    return {
        "name": f"letters: {name}",
        "flavor": {**size, "extra_specs": dict(specs or {})},
        "image": {"disk_format": "raw"},
        "aggregates": [_aggregate(n, each) for n, each in enumerate(_METADATA, 1)],
        "options": {**_OPTIONS, **(more or {})},
        **asked,
    }


def _aggregate(number: int, metadata: Mapping[str, str]) -> dict[str, Any]:
    uuid = f"a{number:07}-0000-4000-8000-000000000000"
    name = f"aggregate {number}"
    row = {"id": number, "uuid": uuid, "name": name, "hosts": []}
    return {**row, "metadata": dict(metadata)}


def by_chance(seed: str) -> dict[str, Any]:
    """Return a case by chance, with its aggregates' metadata in other letters."""
    case = generator.case(seed)
    drawn = random.Random(f"letters {seed}")
    for aggregate in case["aggregates"]:
        changed: dict[str, str] = {}
        keys = set()
        for key, value in aggregate["metadata"].items():
            key = _written(drawn, key, accents=False)
            # The database does not take a key twice.
            if key.lower().rstrip() not in keys:
                keys.add(key.lower().rstrip())
                changed[key] = _written(drawn, value, accents=True)
        aggregate["metadata"] = changed
    # The default project and zone are in other letters as often as any.
    case["project_id"] = _written(drawn, case["project_id"], accents=True)
    return case


def _written(drawn: random.Random, text: str, accents: bool) -> str:
    """Return a text in other letters, more often than not."""
    ways = [text, text, text.upper(), text.title(), text.swapcase(), f"{text} "]
    if accents:
        ways += [text.replace("e", "é"), text.replace("o", "Ö"), f" {text}"]
    return drawn.choice(ways)


def read() -> list[dict[str, Any]]:
    """Return the recorded cases, each with its ``answers`` by database."""
    with PATH.open(encoding="utf-8") as file:
        cases: list[dict[str, Any]] = json.load(file)
    return cases


def write(answers: Mapping[str, Sequence[Answer]]) -> None:
    """Write the named cases with these answers, and with those of other databases."""
    known = {case["name"]: case["answers"] for case in read()} if PATH.exists() else {}
    lines = []
    for number, case in enumerate(named()):
        own = {name: without_text(each[number]) for name, each in answers.items()}
        full: Case = {**case, "answers": {**known.get(case["name"], {}), **own}}
        lines.append(json.dumps(full, sort_keys=True))
    PATH.write_text("[\n" + ",\n".join(lines) + "\n]\n")
