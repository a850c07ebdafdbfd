"""Prometheus' text format, for the textfile collector of the node exporter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

#: The name of the format on the command line.
FORMAT = "prometheus"


class Gauge(NamedTuple):
    """A gauge, with the labels and the value of each of its samples."""

    name: str
    help: str
    samples: Sequence[tuple[Mapping[str, str], int]]


def text(gauges: Iterable[Gauge]) -> str:
    """Gauges with their help, without a newline at the end."""
    return "\n".join(line for gauge in gauges for line in _lines(gauge))


def _lines(gauge: Gauge) -> Iterator[str]:
    name = f"traitsched_{gauge.name}"
    yield f"# HELP {name} {gauge.help}"
    yield f"# TYPE {name} gauge"
    for labels, value in gauge.samples:
        shown = ",".join(f'{key}="{_escaped(label)}"' for key, label in labels.items())
        yield f"{name}{{{shown}}} {value}" if shown else f"{name} {value}"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
