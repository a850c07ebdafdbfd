"""All servers that failed, by cause."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator, Sequence

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.servers.failure import Stage
from osc_traitsched.core.servers.fleet import FailedKind, FailedServer, FailedServers
from osc_traitsched.paste import Option, line, openstack, printable
from osc_traitsched.text import and_more, count, listed
from osc_traitsched.views import prometheus
from osc_traitsched.views.explain import by_flavor, headline
from osc_traitsched.views.prometheus import Gauge
from osc_traitsched.views.server import words
from osc_traitsched.views.terminal import Line, Tone, cut

#: Rows of a terminal that the causes leave for other lines and the next prompt.
_OTHER_ROWS = 7


@dataclasses.dataclass(frozen=True)
class Cause:
    """Servers that failed at the same stage and would do alike now.

    :ivar failed: how they failed, in a clause
    :ivar now: how they would do now, in sentences
    :ivar has_room: None if unknown
    :ivar reason: None if the request was not judged
    """

    failed: str
    now: str
    has_room: bool | None
    reason: Reason | None
    servers: tuple[FailedServer, ...]


def causes(found: FailedServers) -> list[Cause]:
    """The causes, the most servers first."""
    together: dict[tuple[str, str, bool | None, Reason | None], list[FailedServer]] = {}
    for kind in found.kinds:
        reason = kind.answer.reason if kind.answer else None
        key = _failed(kind), _now(kind), _has_room(kind), reason
        together.setdefault(key, []).extend(kind.servers)
    merged = [Cause(*key, tuple(servers)) for key, servers in together.items()]
    return sorted(merged, key=lambda cause: -len(cause.servers))


def _failed(kind: FailedKind) -> str:
    failure = kind.answer.failure if kind.answer else None
    if failure is None:
        return "failed"
    action = words.action(failure.action) or "request"
    if failure.text and failure.stage in (Stage.UNKNOWN, Stage.REJECTED, Stage.SERVICE):
        return f"{action} failed: {failure.text.splitlines()[0].rstrip('.')}"
    return f"{action} failed: {words.stage(failure)}"


def _now(kind: FailedKind) -> str:
    answer = kind.answer
    if answer is None:
        return f"Not judged: {kind.problem!s}"
    judgement = answer.judgement
    why = ""
    if judgement is not None and not judgement.has_room:
        if rejected := by_flavor.rejected(judgement):
            why = f" Nova rejects it: {rejected}"
        elif reasons := by_flavor.reasons(judgement):
            why = f" {', '.join(reasons)}"
    if kind.problem is not None:
        why = f" {kind.problem!s}"
    return f"{words.now_of(answer)}{why}"


def _has_room(kind: FailedKind) -> bool | None:
    judgement = kind.answer.judgement if kind.answer else None
    return None if judgement is None else judgement.has_room


def lines(
    found: FailedServers,
    options: Sequence[Option] = (),
    width: int = 0,
    height: int = 0,
) -> Iterator[Line]:
    """The number of servers and causes, then the causes.

    :param width: of the terminal; 0 for whole lines
    :param height: of the terminal, which the causes fill; 0 for all
    """
    if not found.total:
        seen = " that you may list" if found.is_partial else ""
        yield Line(f"No server{seen} failed.", Tone.DOUBT if seen else Tone.YES)
        return
    every = causes(found)
    yield _headline(found, every)
    rows = max(height - _OTHER_ROWS, 1) if height else 2 * len(every)
    as_rows = _one_row if rows < 2 * len(every) else _two_rows
    shown = every[:rows]
    for cause in shown:
        yield from map(Line, as_rows(cause, width))
    if len(every) > len(shown):
        yield Line(and_more(len(every) - len(shown), "reason"))
    if found.unjudged:
        yield Line(f"{count(len(found.unjudged), 'server')} not judged (-f json)")
    if every:
        server = every[0].servers[0]
        name = printable(server.name, server.id)
        explain = openstack("trait-sched server explain", name)
        yield Line(f"The whole answer: {line(explain, options)}")


def _two_rows(cause: Cause, width: int) -> Iterator[str]:
    names = [server.name for server in cause.servers]
    start = f"{len(names)} x {cause.failed}: "
    yield headline.fitted(start, names) if width else start + ", ".join(names)
    yield cut(f"   {cause.now}", width)


def _one_row(cause: Cause, width: int) -> Iterator[str]:
    names = listed((server.name for server in cause.servers), most=2)
    again, _ = words.FAILS_AGAIN
    now = cause.now.removeprefix(again).strip() or cause.failed
    yield cut(f"{len(cause.servers)} x {names}: {now}", width)


def _headline(found: FailedServers, every: Sequence[Cause]) -> Line:
    number = f"{count(found.total, 'server')} failed"
    if (problem := found.hidden) is not None:
        service = f"{problem.service.title()} (documentation: Read-only access)"
        why = f"whether they would fail again is unknown: you may not read {service}"
        return Line(f"{number}; {why}.", Tone.DOUBT)
    failing = (each for each in every if each.now.startswith(words.FAILS_AGAIN))
    again = sum(len(each.servers) for each in failing)
    unknown = sum(len(each.servers) for each in every if each.has_room is None)
    parts = [f"{again} would fail again"] if again else []
    parts += [f"{unknown} may"] if unknown else []
    then = f"; {', '.join(parts)}" if parts else ""
    end = "" if again or not unknown else " fail again"
    return Line(f"{number}, for {count(len(every), 'reason')}{then}{end}.", Tone.NO)


def metrics(found: FailedServers) -> str:
    """Servers by stage and reason: a cause's words change with each amount."""
    servers: collections.Counter[tuple[str, str]] = collections.Counter()
    for kind in found.kinds:
        failure = kind.answer.failure if kind.answer else None
        reason = kind.answer.reason if kind.answer else None
        stage = (failure.stage if failure else Stage.UNKNOWN).value
        servers[stage, (reason or Reason.UNKNOWN).value] += len(kind.servers)
    if found.unjudged:
        key = Stage.UNKNOWN.value, Reason.UNKNOWN.value
        servers[key] += len(found.unjudged)
    samples = [
        ({"stage": stage, "reason": reason}, number)
        for (stage, reason), number in servers.items()
    ]
    by_cause = "Servers that failed at the stage, by why the request fits now or not."
    return prometheus.text(
        [
            Gauge("failed_servers", by_cause, samples),
            Gauge("failed", "Servers that failed.", [({}, found.total)]),
        ]
    )
