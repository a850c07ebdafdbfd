"""Lines of a terminal, where settings come from, and Prometheus' text format."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import termcolor

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.inventory.snapshot import Snapshot
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.text import listed, visible

# Lines of a terminal: colors, notes while reading, where settings come from.


# Lines of text, and how a terminal shows them.


class Tone(enum.Enum):
    """The color of a line; its words say the same."""

    TITLE = "title"
    YES = "yes"
    NO = "no"
    DOUBT = "doubt"

    @classmethod
    def of(cls, answer: Answer) -> Tone:
        """The color of a yes, a no, or an open answer."""
        return cls.DOUBT if answer.is_open else cls(answer.value)


_COLORS = {Tone.TITLE: None, Tone.YES: "green", Tone.NO: "red", Tone.DOUBT: "yellow"}


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of text. Names in it are not escaped yet.

    :ivar reason: of an answer
    :ivar cause: of an answer, in a sentence that only the line alone needs
    :ivar is_row: of a table, which no width breaks
    """

    text: str
    tone: Tone | None = None
    reason: Reason | None = None
    cause: str = ""
    is_row: bool = False

    @property
    def alone(self) -> Line:
        """The line without others: a no begins with its reason, for programs.

        If a server fits and several do not, no word is the reason.
        """
        if self.reason in (None, Reason.FITS) or self.tone is not Tone.NO:
            return self
        return Line(
            f"{self.reason.value}: {self.text} {self.cause}".rstrip(), self.tone
        )


def section(title: str, texts: Iterable[str], indent: str = "  ") -> Iterator[Line]:
    """A title and the lines under it; nothing without lines."""
    lines = [Line(f"{indent}{text}") for text in texts]
    if lines:
        yield from (Line(""), Line(title, Tone.TITLE), *lines)


def painted(line: Line, width: int, in_pipe: int = 0) -> str:
    """A line that is safe to print, in its color.

    termcolor respects ``NO_COLOR`` and terminals without colors.

    :param width: of the terminal; 0 for none
    :param in_pipe: columns without a terminal; 0 for any number
    """
    shown = visible(line.text)
    if not line.is_row:
        shown = wrapped(shown, width or in_pipe)
    if line.tone is None or not width:
        return shown
    return termcolor.colored(shown, _COLORS[line.tone], attrs=["bold"])


#: Between words and a command to paste.
_COMMAND = ": openstack "


def wrapped(text: str, width: int) -> str:
    """A line on as many rows as a width needs; a command to paste has one of its own.

    Each row of a comment between commands is a comment: a shell would run it.

    :param width: 0 for any
    """
    words, colon, command = text.partition(_COMMAND)
    if not width or len(text) <= width or ("openstack " in text and not colon):
        return text
    margin = " " * (len(text) - len(text.lstrip()))
    margin += "# " if text.lstrip().startswith("#") else "  "
    rows = textwrap.wrap(
        words + colon[:1],
        width,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if colon:
        rows.append(f"{margin}{colon[2:]}{command}")
    return "\n".join(rows)


def cut(text: str, most: int) -> str:
    """The words of a text that fit so many columns; 0 for all."""
    if len(text) <= most or not most:
        return text
    return f"{text[: most - 4].rpartition(' ')[0].rstrip(',')} ..."


# What is being read, for a person who waits for it.


_NOUNS = {
    "os-aggregates": "host aggregates",
    "os-availability-zone": "availability zones",
    "os-hypervisors": "hypervisors",
    "os-services": "compute services",
}


def line(path: str, number: int = 1) -> str:
    """The line for a request, or for a number of requests in a row for that path."""
    kind = path.partition("?")[0].strip("/").partition("/")[0]
    noun = _NOUNS.get(kind, kind.replace("_", " "))
    return f"reading {noun} ..." if number == 1 else f"reading {noun} ({number}) ..."


def snapshot(path: str, time: datetime.datetime) -> str:
    """The line above an answer that is not of the cloud now."""
    return f"As of {time:%Y-%m-%d %H:%M} UTC, from {visible(path)}:"


# Lines on hosts that an answer is without, and why.


def without_provider(hosts: Iterable[str]) -> str:
    """A line on hosts that are not shown because they have no provider."""
    return (
        "Placement has no provider for hosts of Nova's, as far as Nova lists them: "
        f"{listed(hosts)}"
    )


def unlisted(snapshot: Snapshot) -> str:
    """A line on compute nodes that Placement has and Nova does not list."""
    every = snapshot.listed + len(snapshot.unlisted)
    return (
        f"Nova lists {snapshot.listed} of the {every} compute nodes that Placement "
        f"has, and not {listed(snapshot.names_of(snapshot.unlisted))}: its list may be "
        "incomplete, so no provider is called orphaned"
    )


def vanished(providers: Iterable[str]) -> str:
    """A line on providers that were deleted while a command was reading."""
    return f"left out, since they were deleted meanwhile: {listed(providers)}"


# Nova's options and releases, as people write them.


def settings_from(settings: SchedulerSettings) -> str:
    """Where the settings are from, or what is assumed without them."""
    if settings.place is not None:
        return settings.place
    return "none found, upstream defaults assumed (see trait-sched config save)"


def settings_line(settings: SchedulerSettings) -> str:
    """The line below an answer that says which settings it assumes."""
    return f"Settings: {visible(settings_from(settings))}"


LABEL = 13


# Prometheus' text format, for the textfile collector of the node exporter.


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
