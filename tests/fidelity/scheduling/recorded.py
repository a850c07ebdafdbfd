"""Recorded hosts and requests: what each release's filters and weighers say of them.

In the file each answer is kept by name, and by the releases that gave it:
``{"RAMWeigher": {"20-21": …, "22-34": …}}``. A filter or weigher that a release does
not have has no answer there.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fidelity import recorded
from tests.fidelity.scheduling.ours import Case

PATH = pathlib.Path(__file__).parents[2] / "unit" / "core" / "data" / "scheduling.json"
ABOUT = (
    "What Nova's own filters and weighers say of hosts, in each release.",
    "Made by tests/fidelity/nova/scheduling.py in a virtual environment of the last "
    "patch release of each, with the constraints that belong to it.",
    "To make the answers of some releases again: "
    "python -m tests.fidelity --record --releases 33,34",
)
_NAMED = ("filters", "weighers")
# Rounding depends on the order in which weights are added: that of files on a disk.
_DIGITS = 12

Answer = Mapping[str, Any]


def read() -> list[dict[str, Any]]:
    """Return the cases, each with its ``answers``."""
    with PATH.open() as file:
        cases: list[dict[str, Any]] = json.load(file)["cases"]
    return cases


def questions() -> list[dict[str, Any]]:
    """Return the cases without their answers."""
    return [{k: v for k, v in case.items() if k != "answers"} for case in read()]


def answers(case: Case) -> dict[int, dict[str, Any]]:
    """Return what each release says to a case, in the form of Nova's own answers."""
    found: dict[int, dict[str, Any]] = {}
    for kind, named in case["answers"].items():
        for name, by_span in named.items():
            for release, said in recorded.read_spans(by_span):
                answer = found.setdefault(release, {each: {} for each in _NAMED})
                (answer[kind] if kind in _NAMED else answer)[name] = said
    return found


def write(cases: Sequence[Case], found: Mapping[int, Sequence[Answer]]) -> None:
    """Write the cases, with new answers of some releases, a line a case."""
    lines = []
    for number, case in enumerate(cases):
        each = answers(case)
        each.update({release: given[number] for release, given in found.items()})
        row = {**case, "answers": _by_name(each)}
        lines.append(json.dumps(row, sort_keys=True, separators=(",", ":")))
    head = json.dumps(list(ABOUT), indent=1)
    PATH.write_text(f'{{"about": {head},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n")


def _by_name(by_release: Mapping[int, Answer]) -> dict[str, Any]:
    """Return answers by their kind, their name, and the releases that gave them."""
    found: dict[str, dict[str, dict[int, Any]]] = {}
    for release, answer in by_release.items():
        for kind, name, said in _parts(answer):
            found.setdefault(kind, {}).setdefault(name, {})[release] = _rounded(said)
    return {
        kind: {name: recorded.in_spans(each) for name, each in named.items()}
        for kind, named in found.items()
    }


def _parts(answer: Answer) -> Iterator[tuple[str, str, Any]]:
    for kind, said in answer.items():
        if kind in _NAMED:
            yield from ((kind, name, each) for name, each in said.items())
        else:
            yield "ranking", kind, said


def _rounded(said: Any) -> Any:
    """Return an answer with its numbers in as many digits as matter."""
    if isinstance(said, float):
        return float(f"{said:.{_DIGITS}g}")
    if isinstance(said, list):
        return list(map(_rounded, said))
    if isinstance(said, dict):
        return {name: _rounded(each) for name, each in said.items()}
    return said
