"""The documents of ``server explain`` and ``server destinations``."""

import datetime
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Optional

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.failure import Failure, ServerAnswer, Stage
from osc_traitsched.core.servers.fleet import FailedServers
from osc_traitsched.core.servers.moves import Because, Destinations
from osc_traitsched.core.servers.parts import Name, Source
from osc_traitsched.documents import JsonObject, field, serialized
from osc_traitsched.paste import Option
from osc_traitsched.views.explain.document import ExplainDocument, verdict
from osc_traitsched.views.server import failed, moves, words

_REBUILT = {Answer.YES: "candidates", Answer.NO: "no host"}


class _Seen(NamedTuple):
    answer: ServerAnswer
    now: datetime.datetime


def _source(failure: Failure) -> Optional[str]:
    if not failure.text:
        return None
    return "fault" if failure.is_fault else "step"


def _hosts(destinations: Destinations) -> list[tuple[str, Answer, Sequence[str]]]:
    reasons = moves.reasons(destinations)
    return [(host, can, reasons[host]) for host, can in destinations.hosts]


def _verdict(destinations: Destinations) -> str:
    if destinations.refusals:
        return "rejected"
    if destinations.judgement is not None:
        answer = verdict(destinations.judgement)
        is_unsure = destinations.is_open and answer == "candidates"
        return "unknown" if is_unsure else answer
    rebuild = destinations.rebuild
    if rebuild is not None and rebuild.refusal is not None:
        return "rejected"
    return _REBUILT.get(destinations.can_be_rebuilt, "unknown")


class ExistingServer(JsonObject):
    """A server, and where it is."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    status: str
    """Its status in the compute API."""
    project_id: str = field("project")
    """The ID of its project."""
    host: Optional[str] = field(lambda state: state.host or None)
    """The service host that it is on; null for none."""


class RequestPart(JsonObject):
    """A part of the request that the server was created by."""

    part: Name = field("name")
    """Which part."""
    value: Optional[str]
    """Its value as text; null for none, or if it is not known."""
    source: Source
    """``server``: Nova keeps it. ``image now``: Glance, as the image is now. ``bound
    now``: Neutron or Cinder, which has it bound to the server. ``option``: an option
    gives it. ``not shown``: not by this compute API. ``gone``: with the image. ``not
    read``."""
    known: bool = field("is_known")
    """It is what the request had, as far as is known."""
    shown_from: Optional[str] = field(
        lambda part: f"2.{part.since}" if part.since else None
    )
    """The first microversion of the compute API that shows it; null if all do, or
    none."""
    option: Optional[str] = field(lambda part: words.OPTIONS.get(part.name))
    """The option that gives it; or null."""


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
    summary: str = field(lambda seen: words.summary(seen.answer, seen.now))
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


class ServerMove(JsonObject):
    """A move."""

    kind: MoveKind
    """The move, as ``--for`` names it."""
    because: Because
    """Why this move. ``asked for``: by ``--for``. Otherwise it follows from the
    server."""


class RefusedMove(JsonObject):
    """A reason why Nova rejects the move before nova-scheduler is asked."""

    reason: str
    """Why."""
    by: Annotated[str, ("nova-api", "nova-conductor")]
    """Who rejects it."""
    exception: str
    """The class of Nova's exception."""
    text: str
    """The same for a person."""


class Destination(JsonObject):
    """A host, and whether it could take the server."""

    host: str = field(lambda row: row[0])
    """Its name."""
    answer: Answer = field(lambda row: row[1])
    """``depends``: an option that is not known decides; ``unknown``: what no API shows
    decides."""
    reasons: Iterable[str] = field(lambda row: row[2])
    """Why it can't, or what decides."""


class FoundOutLater(JsonObject):
    """Something that no API shows before the move is tried."""

    kind: str = field(lambda row: row[0])
    """What it is."""
    text: str = field(lambda row: row[1])
    """What it is, in words."""


class DestinationsDocument(JsonObject):
    """What ``server destinations`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    summary: str = field(moves.summary)
    """The move, and how many hosts could take the server, in one line."""
    verdict: Annotated[
        str, ("candidates", "no host", "unknown", "disagreement", "rejected")
    ] = field(_verdict)
    """``rejected`` if Nova rejects the move as things are; else the verdict of
    ``explain``."""
    reason: Optional[Reason]
    """Why, in one word of :ref:`reasons`; null for a rebuild that Nova does not
    reject."""
    server: ExistingServer = field("state")
    """The server."""
    compute_api: str = field(lambda destinations: f"2.{destinations.minor}")
    """The microversion of the compute API that the server was read with."""
    move: ServerMove = field(lambda destinations: destinations)
    """The move."""
    refusals: Iterable[RefusedMove]
    """Why Nova rejects the move before nova-scheduler is asked. Nova stops at the
    first."""
    ignored_host: Optional[str] = field(
        lambda destinations: destinations.ignored or None
    )
    """The service host that Nova leaves out before its filters; null for none."""
    hosts: Iterable[Destination] = field(_hosts)
    """Each host that has a provider, whatever the refusals; for a rebuild only the
    server's own host."""
    destinations: Iterable[str] = field(
        lambda destinations: [
            host for host, answer in destinations.hosts if answer is Answer.YES
        ]
    )
    """The hosts whose answer is ``yes``."""
    uncertain_destinations: Iterable[str] = field(
        lambda destinations: [
            host for host, answer in destinations.hosts if answer.is_open
        ]
    )
    """The hosts whose answer is ``depends`` or ``unknown``."""
    found_out_later: Iterable[FoundOutLater] = field(
        lambda destinations: moves.UNSEEN[destinations.kind]
    )
    """What no API shows of this move before it is tried."""
    request: Iterable[RequestPart] = field("parts")
    """The parts of the request that the server was created by."""
    explanation: Optional[ExplainDocument]
    """The document of ``explain`` for the request of the move; null for a rebuild. Its
    clauses can be of the kind ``move``."""


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
    causes: Iterable[FailedCause] = field(failed.causes)
    """The causes, the most servers first."""
    unjudged: Iterable[OneFailed]
    """Servers of so many further kinds that they were not judged."""


def document(
    answer: ServerAnswer, now: datetime.datetime, options: Sequence[Option] = ()
) -> dict[str, Any]:
    """Why a server failed, as plain data; ``now`` is for the age in the summary."""
    return serialized(ServerExplainDocument, _Seen(answer, now), options)


def destinations(
    destinations: Destinations, options: Sequence[Option] = ()
) -> dict[str, Any]:
    """Where a server could go, as plain lists, mappings, numbers and text."""
    return serialized(DestinationsDocument, destinations, options)


def all_failed(servers: FailedServers) -> dict[str, Any]:
    """All servers that failed, as plain lists, mappings, numbers and text."""
    return serialized(FailedDocument, servers)
