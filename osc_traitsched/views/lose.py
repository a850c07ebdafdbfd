"""What would be lost with a host, a zone or an aggregate."""

from __future__ import annotations

import collections
import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.servers.drain import StuckReason
from osc_traitsched.core.servers.usage import Loss, Losses
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.text import and_more, between, count, listed
from osc_traitsched.views import capacity, terminal
from osc_traitsched.views.moves import MOST_NAMES, DrainedServer
from osc_traitsched.views.terminal import Gauge, Line, Tone

_WIDTH = 80
#: Lines that are no rows: the cloud, the answer, a hint, the head, and the shell.
_OTHER_ROWS = 6


def lines(found: Losses, width: int = 0, height: int = 0) -> Iterator[Line]:
    """The answer, and a row for each loss, the worst first.

    Names are not escaped yet.

    :param width: of the terminal; 0 for no limit
    :param height: of the terminal; 0 for no limit
    """
    assumed = [Line(text, Tone.DOUBT) for text in capacity.assumed(found.now)]
    yield Line(answer_line(found), Tone.of(found.answer))
    yield from assumed
    if found.answer is not Answer.YES:
        hosts = ",".join(found.worst[0].drain.hosts)
        yield Line(f"host drain {hosts} shows why.")
    most = max(height - _OTHER_ROWS - len(assumed), 3) if height else 0
    shown, names = found.several[: most or None], MOST_NAMES if height else None
    rows = [("", "servers", "stay", "", "flavors full then")]
    for each in shown:
        stay = listed(each.staying, most=names or len(each.staying))
        full = f"{len(each.full)}: {listed(each.full, most=names or len(each.full))}"
        is_full = full if each.full else "-"
        number = capacity.short(each.stay)
        rows.append((_label(each), f"{each.drain.total}", number, stay, is_full))
    for text in capacity.aligned(rows, {0, 3, 4}):
        yield Line(terminal.cut(text, width), is_row=True)
    if hidden := len(found.several) - len(shown):
        yield Line(f"  {and_more(hidden, 'row')}")


def _label(loss: Loss) -> str:
    return loss.name if loss.kind == "host" else f"{loss.kind} {loss.name}"


def answer_line(found: Losses) -> str:
    """Whether any of them can be lost, in one line."""
    labels = [_label(each) for each in found.several]
    if found.answer is Answer.YES:
        kinds = collections.Counter(each.kind for each in found.several)
        every = " or ".join(count(number, kind) for kind, number in kinds.items())
        what = labels[0] if len(labels) == 1 else f"any of {every}"
        return f"N+1: yes, {what} can be lost."
    is_sure = found.answer is Answer.NO
    start, verb = ("no", "") if is_sure else ("perhaps", "may ")
    parts: list[str] = []
    for each in found.worst:
        number = between(each.stay.least, each.stay.most)
        is_one = each.stay.most == 1 and not verb
        servers = f" server{'s' * (each.stay.most != 1)} {verb}stay{'s' * is_one}"
        parts.append(f"{_label(each)} ({number}{servers * (not parts)})")
    end = " can't be lost" if is_sure else ""
    for most in range(len(parts), 0, -1):
        text = f"N+1: {start}. {listed(parts, most=most)}{end}."
        if len(text) <= _WIDTH:
            break
    return text


class LostServer(JsonObject):
    """A server that would find no host."""

    server: DrainedServer = field("server_move")
    """The server."""
    why: StuckReason
    """As in ``host drain``."""
    reason: Reason
    """The same in one word of :ref:`reasons`. The lost hosts count as disabled."""


class LossDocument(JsonObject):
    """A host, zone or aggregate that is lost alone."""

    kind: Annotated[str, ("host", "zone", "aggregate")]
    """What it is."""
    name: str
    """Its name."""
    can_be_lost: Answer = field("drain.answer")
    """Whether all its servers find another host: the answer of ``host drain``."""
    hosts: Iterable[str] = field("drain.hosts")
    """Its service hosts."""
    servers: int = field("drain.total")
    """The servers on them."""
    stay: Iterable[LostServer] = field("drain.stuck")
    """The servers that would find no host."""
    may_stay: Iterable[DrainedServer] = field(
        lambda loss: [step.server_move for step in loss.drain.uncertain]
    )
    """The servers whose only hosts may reject them."""
    full: Iterable[str]
    """The flavors that have room now, and would have none."""


class LossesDocument(JsonObject):
    """What ``capacity --lose`` prints."""

    schema: Literal[1]
    """The version of the document."""
    summary: str = field(answer_line)
    """The answer in one line."""
    can_be_lost: Answer = field("answer")
    """Whether any one of them can be lost."""
    losses: Iterable[LossDocument] = field("several")
    """Each host, zone or aggregate, the worst first."""


_GAUGES = {
    "servers": "Servers on a host, zone or aggregate.",
    "servers_stay": "The most servers that find no host if it is lost.",
    "flavors_full": "Flavors that lose their last room if it is lost.",
}


def _values(loss: Loss) -> Mapping[str, int]:
    return dict(zip(_GAUGES, (loss.drain.total, loss.stay.most, len(loss.full))))


def metrics(found: Losses) -> str:
    """Gauges by host, zone or aggregate."""
    return terminal.text(
        Gauge(
            f"lose_{name}",
            text,
            [({each.kind: each.name}, _values(each)[name]) for each in found.several],
        )
        for name, text in _GAUGES.items()
    )


def rows(found: Losses) -> str:
    """A row for each loss, as CSV; without the last newline."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ("kind", "name", *_GAUGES), lineterminator="\n")
    writer.writeheader()
    for each in found.several:
        writer.writerow({"kind": each.kind, "name": each.name, **_values(each)})
    return text.getvalue().removesuffix("\n")
