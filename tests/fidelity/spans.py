"""Answers by spans of releases: neighbours that gave the same answer share one.

``{"20-33": …, "34": …}``
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any


def read(by_span: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    """Yield each release, and its answer."""
    for span, answer in by_span.items():
        first, _, last = span.partition("-")
        for release in range(int(first), int(last or first) + 1):
            yield release, answer


def of(by_release: Mapping[int, Any]) -> dict[str, Any]:
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
