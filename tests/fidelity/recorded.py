"""The recorded cases: what they are, how they are kept, how they are made again.

In the file each case holds its answers by spans of releases.
"""

from __future__ import annotations

import itertools
import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.fidelity.comparing import without_text
from tests.fidelity.ours import Answer, Case

PATH = pathlib.Path(__file__).parents[1] / "unit" / "core" / "data" / "queries.json"
ABOUT = (
    "What Nova's own code asks Placement for, or refuses, in each release.",
    "Made by tests/fidelity/nova/oracle.py in a virtual environment of the last patch "
    "release of each, with the constraints that belong to it.",
    "To make the answers of some releases again: "
    "python -m tests.fidelity --record --releases 33,34",
)


def read() -> list[dict[str, Any]]:
    """Return the cases, each with its ``answers``."""
    with PATH.open() as file:
        cases: list[dict[str, Any]] = json.load(file)["cases"]
    return cases


def questions() -> list[dict[str, Any]]:
    """Return the cases without their answers."""
    return [{k: v for k, v in case.items() if k != "answers"} for case in read()]


def answers(case: Case) -> Iterator[tuple[int, Answer]]:
    """Yield each release that a case was asked in, and its answer."""
    yield from read_spans(case["answers"])


def write(cases: Sequence[Case], found: Mapping[int, Sequence[Answer]]) -> None:
    """Write the cases, with new answers of some releases, a line a case."""
    told = with_answers(cases, found)
    lines = [json.dumps(case, sort_keys=True) for case in told]
    head = json.dumps(list(ABOUT), indent=1)
    PATH.write_text(f'{{"about": {head},\n"cases": [\n' + ",\n".join(lines) + "\n]}\n")


def with_answers(
    cases: Sequence[Case], found: Mapping[int, Sequence[Answer]]
) -> Iterator[dict[str, Any]]:
    """Yield the cases with new answers of some releases beside those they have."""
    for number, case in enumerate(cases):
        each = dict(answers(case)) if "answers" in case else {}
        for release, given in found.items():
            each[release] = without_text(given[number])
        yield {**case, "answers": in_spans(each)}


# Answers by spans of releases: neighbours that gave the same answer share one.


def read_spans(by_span: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    """Yield each release, and its answer."""
    for span, answer in by_span.items():
        first, _, last = span.partition("-")
        for release in range(int(first), int(last or first) + 1):
            yield release, answer


def in_spans(by_release: Mapping[int, Any]) -> dict[str, Any]:
    """Return answers by spans of releases in which they are the same."""
    spans = {}
    ordered = sorted(by_release)
    groups = itertools.groupby(
        ordered, key=lambda r: (r - ordered.index(r), json.dumps(by_release[r]))
    )
    for _, group in groups:
        same = list(group)
        name = f"{same[0]}-{same[-1]}" if len(same) > 1 else str(same[0])
        spans[name] = by_release[same[0]]
    return spans
