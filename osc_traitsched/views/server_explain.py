"""Why a server failed, and all that failed: as text and as documents."""

from __future__ import annotations

import collections
import dataclasses
import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, Optional

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.judgement import (
    Judgement,
    RefusedRequest,
    RequestResult,
)
from osc_traitsched.core.judge.reasons import breakdown, is_of_zone
from osc_traitsched.core.nova.clause import Condition, HostFilter, Resource
from osc_traitsched.core.servers.failure import (
    Changes,
    FailedKind,
    FailedServer,
    FailedServers,
    Failure,
    ServerAnswer,
    Stage,
)
from osc_traitsched.core.servers.fleet import NotKnown
from osc_traitsched.core.servers.misplaced import of_own_host
from osc_traitsched.core.servers.state import Name
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.paste import Option, Placeholder, line, openstack, printable
from osc_traitsched.text import and_more, count, listed, ranges
from osc_traitsched.views import servers, terminal
from osc_traitsched.views.explain import text, verdict
from osc_traitsched.views.explain import words as explain_words
from osc_traitsched.views.explain.document import ExplainDocument
from osc_traitsched.views.servers import ExistingServer, RequestPart
from osc_traitsched.views.terminal import Gauge, Line, Tone, cut, section, wrapped

# Why a server failed, as text.


# Why a server failed, in lines: Nova's words, what they leave open, what changed.


_SCHEDULER_LOG = (
    "Only nova-scheduler's log names the filter: 'Filtering removed all hosts'."
)

#: What a stage leaves open, and where it is to be found.
_OPEN = {
    Stage.NO_CANDIDATES: "Nova says the same if Placement is unreachable.",
    Stage.NO_HOST_LEFT: _SCHEDULER_LOG,
    Stage.RETRIES: "Each host's nova-compute log has its reason; Nova keeps only the "
    "last one.",
    Stage.SERVICE: "The logs of nova-conductor and nova-scheduler have the traceback.",
    Stage.NOT_KEPT: "Only nova-scheduler's log says whether Placement returned no host "
    "or the filters rejected all.",
}
_LIVE = (
    "Or nova-conductor rejected the type or version of their hypervisors (in its debug "
    "log)."
)
_UNTOLD = "this compute API does not say why"
_NO_FAULT = "Nova records no fault; somebody may have set its state by hand."


_UNKNOWN_CAUSE = (
    "Cause unknown: fixed since (traits, metadata, aggregates, disabled hosts and "
    "nova.conf leave no record), or a {}, a port, or a server group deleted "
    "since."
)


def failure_lines(answer: ServerAnswer) -> Iterator[str]:
    """Nova's words on the failure, and what they leave open."""
    failure = answer.failure
    if failure is None:
        return
    if failure.text:
        source = "fault" if failure.is_fault else "failed step"
        yield f"Nova's words ({source}): {failure.text}"
    elif not failure.action and answer.unread is None:
        yield _NO_FAULT
    if failure.request:
        yield _action(failure)
    yield from _together(answer)
    if failure.stage is Stage.CHECKS and failure.check is not None:
        where = f" ({failure.check.host})" if failure.check.host else ""
        yield f"The last check that failed{where}: {failure.check.details or _UNTOLD}"
    yield from _open(failure)
    if answer.moves:
        last = answer.moves[0]
        to = f" to {last.destination}" if last.destination else ""
        yield f"Its last move: {last.kind} from {last.source}{to}, {last.status}."
    if answer.changes is not None:
        yield _changed(answer.changes)


def _action(failure: Failure) -> str:
    steps = listed(
        f"{each.name}{f' on {each.host}' if each.host else ''}"
        for each in failure.steps
    )
    failed = f", failed step: {steps}" if steps else ""
    tried = ranges(dict.fromkeys(failure.attempts))
    hosts = f", hosts tried: {tried}" if tried else ", no host tried"
    return (
        f"Action: {servers.action(failure.action)} ({failure.request}){failed}{hosts}"
    )


def _open(failure: Failure) -> Iterator[str]:
    found = _OPEN.get(failure.stage)
    if found:
        yield found
    if failure.stage is Stage.NO_HOST_LEFT and failure.action == "live-migration":
        yield _LIVE


def _changed(changes: Changes) -> str:
    parts = [
        _servers(len(changes.made), "created", changes.made),
        _servers(len(changes.deleted), "deleted", changes.deleted),
        _moved(changes),
        _down("went down on", changes.went_down),
        _down("was already down on", changes.was_down),
    ]
    told = listed(filter(None, parts)) or "no relevant change that Nova lists"
    more = "; there may be more" if changes.is_cut else ""
    unread = f"; you may not list {listed(changes.unread)}"
    hidden = unread if changes.unread else ""
    return f"Since the failure: {told}{more}{hidden}."


def _servers(number: int, what: str, hosts: tuple[str, ...]) -> str:
    if not number:
        return ""
    return f"{count(number, 'server')} {what} on {ranges(dict.fromkeys(hosts))}"


def _moved(changes: Changes) -> str:
    if not changes.moves:
        return ""
    ways = listed(f"{source} to {to}" for source, to in changes.moves)
    return f"{count(len(changes.moves), 'server')} moved ({ways})"


def _down(when: str, hosts: tuple[str, ...]) -> str:
    return f"nova-compute {when} {ranges(hosts)}" if hosts else ""


# Why a server failed, for a person.


class Seen(NamedTuple):
    """An answer, and when it is shown."""

    answer: ServerAnswer
    now: datetime.datetime


#: Stages whose words of Nova's say more than the verdict.
_TELLING = frozenset([Stage.REJECTED, Stage.SERVICE, Stage.COMPUTE, Stage.RETRIES])


def lines(
    seen: Seen,
    everything: bool,
    options: Sequence[Option] = (),
    width: int = 0,
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param everything: Nova's words, the request, and all of the explanation
    :param width: of the terminal; 0 for none
    """
    answer, now = seen
    explanation, judgement = answer.explanation, answer.judgement
    explained: Iterator[Line] = iter(())
    tone: Tone | None = Tone.DOUBT
    if explanation is not None:
        named = explanation.named
        explained = text.lines(explanation, named, everything, options, width)
        # The summary has the verdict.
        tone = next(explained).tone
    is_doubtful = answer.is_unexplained or answer.may_fail_alike
    is_doubtful |= answer.is_action_hidden
    if answer.unrecorded or is_doubtful:
        tone = Tone.DOUBT
    if answer.refusals:
        tone = Tone.NO
    is_well = answer.failure is None and judgement is not None and answer.state.host
    summary = servers.summary(answer, now)
    yield Line(summary, None if is_well else tone, answer.reason)
    if is_well and judgement is not None:
        yield from _of_host(answer, judgement, options)
    if everything:
        yield from map(Line, failure_lines(answer))
        known = servers.known(answer.parts, answer.is_flavor_changed)
        yield from section("Reconstructed request:", known)
        hidden = servers.hidden(answer.parts, answer.minor, answer.kind is not None)
        yield from section("Not recorded by Nova:", hidden)
        if judgement is not None:
            yield from (Line(""), Line("That request now:", Tone.TITLE))
            yield from explained
        return
    for part in answer.parts:
        if part.problem is not None:
            yield Line(f"Not read: {servers.why(part, answer.minor)}", Tone.DOUBT)
    if answer.unread is not None:
        yield Line(f"Not read: its actions ({answer.unread!s})", Tone.DOUBT)
    yield from map(Line, _essentials(answer, options))
    if is_well:
        yield Line("--long shows its request and the other hosts.")
    elif not answer.unrecorded and not answer.refusals:
        yield from explained


def _of_host(
    answer: ServerAnswer, judgement: RequestResult, options: Sequence[Option]
) -> Iterator[Line]:
    found = of_own_host(judgement, answer.state.node)
    can = found.can
    host = answer.state.host
    hosts = [each for each in judgement.hosts if each.name == answer.state.node]
    why = listed(
        reason
        for each in found.conditions
        if isinstance(judgement, Judgement)
        for reason in _why(each, judgement, hosts)
    )
    if can is Answer.NO and isinstance(judgement, RefusedRequest):
        text = explain_words.text(judgement.refusal, is_moved=False)
        yield Line(f"Nova would no longer allow {host}: {text}", Tone.NO)
    elif can is Answer.NO:
        yield Line(f"Nova would no longer allow {host}: it {why}.", Tone.NO)
        asked = openstack("trait-sched server destinations", _name(answer))
        yield Line(f"Where it could go: {line(asked, options)}")
    elif can is Answer.YES:
        text = f"Nova would still allow {host} for it (room and service not judged)."
        yield Line(text, Tone.YES)
    elif why:
        yield Line(f"Depends on nova.conf: {host} {why}.", Tone.DOUBT)
    elif judgement.refusal is not None:
        text = explain_words.text(judgement.refusal, is_moved=False)
        yield Line(f"A new server like it: {text}", Tone.DOUBT)
    else:
        texts = [e.text for e in found.doubts if isinstance(e, NotKnown)]
        why = f": {'; '.join(texts)}" if texts else ""
        yield Line(f"Can't tell if Nova would allow {host}{why}.", Tone.DOUBT)
    for each in list(verdict.lines(judgement))[1:]:
        if each.tone is Tone.DOUBT:
            yield each


def _why(
    condition: Condition, judgement: Judgement, hosts: Sequence[Provider]
) -> Iterator[str]:
    """Why its host fails; room is not judged."""
    if isinstance(condition, Resource):
        yield f"has no {explain_words.noun(condition.resource_class)}"
    else:
        yield from verdict.of_hosts(condition, judgement, hosts)


def _name(answer: ServerAnswer) -> str:
    return printable(answer.state.name, answer.state.id)


def _essentials(answer: ServerAnswer, options: Sequence[Option]) -> Iterator[str]:
    """What the verdict leaves open, or what Nova says itself."""
    failure = answer.failure
    if failure is None:
        return
    if failure.text and failure.stage in _TELLING:
        yield f"Nova: {failure.text}"
    if failure.stage is Stage.CHECKS and failure.check is not None:
        yield f"Nova: {failure.check.details or _UNTOLD}"
    yield from _together(answer)
    if answer.unrecorded:
        asked = openstack(
            "trait-sched server destinations",
            _name(answer),
            Option("--for", failure.action),
            Option(
                f"--{answer.unrecorded}",
                answer.asked_for * (not answer.is_unlisted)
                or Placeholder(answer.unrecorded.upper()),
            ),
        )
        which = "another" if answer.is_unlisted else "the"
        yield f"Judge it with {which} {answer.unrecorded}: {line(asked, options)}"
    elif answer.of_copy is not None and answer.judgement is not None:
        yield from servers.copies(answer.of_copy.question, answer.judgement.question)
    elif answer.is_unexplained:
        hidden = [part.name for part in answer.parts if not part.is_known]
        # Nova keeps only one that was named with the zone.
        host = "named host" if Name.HOST in hidden else "host named by --host"
        yield _UNKNOWN_CAUSE.format(host)
        is_moved = answer.kind is not None
        for each in servers.hidden(answer.parts, answer.minor, is_moved):
            yield f"  {each}"
    freed = answer.freed
    if not freed.is_empty or (answer.is_unexplained and (freed.is_cut or freed.unread)):
        yield _changed(freed)


def _together(answer: ServerAnswer) -> Iterator[str]:
    if answer.together > 1:
        yield (
            f"{answer.together} servers were created at once: Nova fails all if one "
            "has no host."
        )


# All servers that failed, by cause.


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


def causes_of(found: FailedServers) -> list[Cause]:
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
    action = servers.action(failure.action) or "request"
    if failure.text and failure.stage in (Stage.UNKNOWN, Stage.REJECTED, Stage.SERVICE):
        return f"{action} failed: {failure.text.splitlines()[0].rstrip('.')}"
    together = kind.answer.together if kind.answer else 1
    return f"{action} failed: {servers.stage(failure, together)}"


def _now(kind: FailedKind) -> str:
    answer = kind.answer
    if answer is None:
        return f"Not judged: {kind.problem!s}"
    judgement = answer.judgement
    why = ""
    if judgement is not None and not judgement.has_room:
        if rejected := verdict.rejected(judgement):
            why = f" Nova rejects it: {rejected}"
        elif reasons := verdict.flavor_reasons(judgement):
            why = f" {', '.join(reasons)}"
    if kind.problem is not None:
        why = f" {kind.problem!s}"
    return f"{servers.now_of(answer)}{why}"


def _has_room(kind: FailedKind) -> bool | None:
    judgement = kind.answer.judgement if kind.answer else None
    is_known = judgement and kind.answer and not kind.answer.is_action_hidden
    return judgement.has_room if judgement and is_known else None


def failed_lines(
    found: FailedServers,
    options: Sequence[Option] = (),
    width: int = 0,
    height: int = 0,
) -> Iterator[Line]:
    """The number of servers and causes, then the causes.

    If these do not fit the terminal, servers whose zones or projects differ are one.

    :param width: of the terminal; 0 for whole lines
    :param height: of the terminal, which the causes fill; 0 for all
    """
    if not found.total:
        seen = " that you may list" if found.is_partial else ""
        yield Line(f"No server{seen} failed.", Tone.DOUBT if seen else Tone.YES)
        return
    every = causes_of(found)
    rows = max(height - _OTHER_ROWS, 1) if height else 2 * len(every)
    names = collections.Counter(each.name for one in every for each in one.servers)
    shown = {
        each.id: each.name + f" ({each.id})" * (names[each.name] > 1)
        for one in every
        for each in one.servers
    }
    blocks = [_two_rows(one, shown, width) for one in every]
    if rows < 2 * len(every):
        blocks = _by_reason(found, shown)
    yield _headline(found, every, len(blocks))
    for number, block in enumerate(blocks):
        lines = block.splitlines()
        rows -= sum(wrapped(each, width).count("\n") + 1 for each in lines)
        if rows < 0:
            yield Line(and_more(len(blocks) - number, "reason"))
            break
        yield from map(Line, lines)
    if found.unjudged:
        yield Line(f"{count(len(found.unjudged), 'server')} not judged (-f json)")
    if every:
        server = every[0].servers[0]
        is_shared = names[server.name] > 1
        name = server.id if is_shared else printable(server.name, server.id)
        explain = openstack("trait-sched server explain", name)
        yield Line(f"The whole answer: {line(explain, options)}")


def _two_rows(cause: Cause, shown: Mapping[str, str], width: int) -> str:
    names = [shown[server.id] for server in cause.servers]
    start = f"{len(names)} x {cause.failed}: "
    first = verdict.fitted(start, names) if width else start + ", ".join(names)
    return f"{first}\n{cut(f'   {cause.now}', width)}"


#: Why no host takes servers, for which zone and project do not count.
_NO_HOST = {
    Reason.DISABLED: "hosts are disabled",
    Reason.FULL: "no room",
    Reason.ISOLATED: "hosts are isolated",
    Reason.MISCONFIGURED: "no host suits",
}
#: Names of a reason in one line.
_MOST_SERVERS = 6


def _by_reason(found: FailedServers, shown: Mapping[str, str]) -> list[str]:
    """A line for each reason, the most servers first."""
    groups: dict[str, list[str]] = {}
    for kind in found.kinds:
        names = (shown[server.id] for server in kind.servers)
        groups.setdefault(_reason(kind), []).extend(names)
    ranked = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [
        f"{len(those)}: {why}: {listed(sorted(those), most=_MOST_SERVERS)}"
        for why, those in ranked
    ]


def _reason(kind: FailedKind) -> str:
    answer = kind.answer
    judgement = answer.judgement if answer else None
    reason = answer.reason if answer else None
    why = _NO_HOST.get(reason) if reason else None
    if why is None or not isinstance(judgement, Judgement) or judgement.candidates:
        again, _ = servers.FAILS_AGAIN
        now = _now(kind).removeprefix(again).strip() or _failed(kind)
        return now.rstrip(".")
    is_full = reason is Reason.FULL
    shares = breakdown(judgement, lasting=not is_full)
    shares = tuple(each for each in shares if not is_of_zone(each.clause))
    used = tuple(e for e in shares if isinstance(e.clause, (Resource, HostFilter)))
    shares = (is_full and used) or shares
    if not shares or reason is Reason.DISABLED:
        return why
    most = max(shares, key=lambda share: len(share.hosts))
    return f"{why}, {verdict.share_words(most, judgement).what.removeprefix('are ')}"


def _headline(found: FailedServers, every: Sequence[Cause], reasons: int) -> Line:
    number = f"{count(found.total, 'server')} failed"
    if (problem := found.hidden) is not None:
        service = f"{problem.service.title()} (documentation: Read-only access)"
        why = f"whether they would fail again is unknown: you may not read {service}"
        return Line(f"{number}; {why}.", Tone.DOUBT)
    failing = (each for each in every if each.now.startswith(servers.FAILS_AGAIN))
    again = sum(len(each.servers) for each in failing)
    unknown = sum(len(each.servers) for each in every if each.has_room is None)
    parts = [f"{again} would fail again"] if again else []
    parts += [f"{unknown} may"] if unknown else []
    then = f"; {', '.join(parts)}" if parts else ""
    end = "" if again or not unknown else " fail again"
    return Line(f"{number}, for {count(reasons, 'reason')}{then}{end}.", Tone.NO)


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
    return terminal.text(
        [
            Gauge("failed_servers", by_cause, samples),
            Gauge("failed", "Servers that failed.", [({}, found.total)]),
        ]
    )


def _source(failure: Failure) -> Optional[str]:
    if not failure.text:
        return None
    return "fault" if failure.is_fault else "step"


class FailedStep(JsonObject):
    """An event of the action whose result is Error."""

    step: str = field("name")
    """Nova's name for it."""
    host: Optional[str] = field(lambda event: event.host or None)
    """The host that it was on."""
    text: Optional[str] = field("details")
    """Nova's own words; null before compute API 2.84."""


class ServerFailure(JsonObject):
    """How a server failed."""

    stage: Stage
    """Where it failed."""
    text: Optional[str] = field(lambda failure: failure.text or None)
    """Nova's own words; null if they are not shown."""
    from_: Optional[Annotated[str, ("fault", "step")]] = field(_source)
    """Whose words they are: the server's fault, or a failed step."""
    at: Optional[str] = field(
        lambda failure: failure.when.isoformat() if failure.when else None
    )
    """When, in UTC; null if that is not known."""
    action: Optional[str] = field(lambda failure: failure.action or None)
    """The action that failed, as Nova names it: ``create``, ``live-migration`` and so
    on."""
    request_id: Optional[str] = field(lambda failure: failure.request or None)
    """The ID of the request to the compute API."""
    attempts: Iterable[str]
    """The service hosts that were tried, in their order."""
    failed_steps: Iterable[FailedStep] = field("steps")
    """The failed events of the action."""


class ServerMigration(JsonObject):
    """A migration of the server."""

    type: str = field("kind")
    """Its type in the compute API."""
    status: str
    """Its status in the compute API."""
    source: Optional[str] = field(lambda migration: migration.source or None)
    """The service host that it left."""
    destination: Optional[str] = field(lambda migration: migration.destination or None)
    """The service host that it went to; null if none was chosen."""


class OtherMove(JsonObject):
    """A move of another server."""

    source: str = field(lambda hosts: hosts[0])
    """The service host that it left."""
    destination: str = field(lambda hosts: hosts[1])
    """The service host that it went to."""


class CloudChanges(JsonObject):
    """What changed in the cloud since the server failed."""

    computes_went_down: Iterable[str] = field("went_down")
    """Hosts whose nova-compute last reported after the failure, and is down."""
    computes_down_before: Iterable[str] = field("was_down")
    """Hosts whose nova-compute was down at the failure already."""
    servers_made_on: Iterable[str] = field("made")
    """The host of each server that was created since."""
    servers_deleted_on: Iterable[str] = field("deleted")
    """The host of each server that was deleted since."""
    moves: Iterable[OtherMove]
    """Moves of other servers since."""
    cut: bool = field("is_cut")
    """There may be more servers and moves: a hundred are read."""
    unread: Iterable[str]
    """What this user may not list."""


class ServerExplainDocument(JsonObject):
    """What ``server explain`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    summary: str = field(lambda seen: servers.summary(seen.answer, seen.now))
    """How it failed and whether hosts could take it now, in one line; it has an age."""
    server: ExistingServer = field("answer.state")
    """The server."""
    compute_api: str = field(lambda seen: f"2.{seen.answer.minor}")
    """The microversion of the compute API that the server was read with."""
    failure: Optional[ServerFailure] = field("answer.failure")
    """How it failed; null if no failure of it is shown."""
    moves: Iterable[ServerMigration] = field("answer.moves")
    """The migrations of a server that failed in a move, the last first."""
    changes: Optional[CloudChanges] = field("answer.changes")
    """What changed since; null if it is not known when it failed."""
    request: Iterable[RequestPart] = field("answer.parts")
    """The parts of the request that the server was created by."""
    flavor_changed: Optional[bool] = field("answer.is_flavor_changed")
    """No flavor of that name is like the server's own copy any more; null if that was
    not found out."""
    problem: Optional[str] = field(
        lambda seen: str(seen.answer.problem) if seen.answer.problem else None
    )
    """Why its request can't be explained; null if it is."""
    now: Optional[ExplainDocument] = field("answer.explanation")
    """The document of ``explain`` for its request; null if it can't be explained. If
    the server's copy of a flavor or an image that changed since would fail again, it is
    that for a new server."""


class OneFailed(JsonObject):
    """A server that failed."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    project_id: Optional[str] = field(lambda server: server.project or None)
    """The ID of its project; null if it is not known."""
    failed_at: Optional[str] = field(
        lambda server: server.when.isoformat() if server.when else None
    )
    """When, as ISO 8601; null if Nova does not say."""


class FailedCause(JsonObject):
    """Servers that failed at the same stage and would do alike now."""

    failed: str
    """What failed, and at which stage."""
    now: str
    """How the same request would do now, in words."""
    has_room: Optional[bool]
    """Whether a host could take such a server now; null if unknown."""
    reason: Optional[Reason]
    """Why, in one word of :ref:`reasons`; null if the request is not judged."""
    servers: Iterable[OneFailed]
    """The servers."""


class FailedDocument(JsonObject):
    """What ``server explain --failed`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    total: int
    """How many servers failed."""
    causes: Iterable[FailedCause] = field(causes_of)
    """The causes, the most servers first."""
    unjudged: Iterable[OneFailed]
    """Servers of so many further kinds that they were not judged."""
