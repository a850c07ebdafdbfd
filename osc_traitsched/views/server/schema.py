"""The documents of ``server explain`` and ``server destinations``."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.failure import Stage
from osc_traitsched.core.servers.moves import Because
from osc_traitsched.core.servers.parts import Name, Source
from osc_traitsched.views.explain.schema import ExplainDocument


@dataclass
class ExistingServer:
    """A server, and where it is."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    status: str
    """Its status in the compute API."""
    project_id: str
    """The ID of its project."""
    host: Optional[str]
    """The service host that it is on; null for none."""


@dataclass
class RequestPart:
    """A part of the request that the server was created by."""

    part: Name
    """Which part."""
    value: Optional[str]
    """Its value as text; null for none, or if it is not known."""
    source: Source
    """``server``: Nova keeps it. ``image now``: Glance, as the image is now. ``bound
    now``: Neutron or Cinder, which has it bound to the server. ``option``: an option
    gives it. ``not shown``: not by this compute API. ``gone``: with the image. ``not
    read``."""
    known: bool
    """It is what the request had, as far as is known."""
    shown_from: Optional[str]
    """The first microversion of the compute API that shows it; null if all do, or
    none."""
    option: Optional[str]
    """The option that gives it; or null."""


@dataclass
class FailedStep:
    """An event of the action whose result is Error."""

    step: str
    """Nova's name for it."""
    host: Optional[str]
    """The host that it was on."""
    text: Optional[str]
    """Nova's own words; null before compute API 2.84."""


@dataclass
class ServerFailure:
    """How a server failed."""

    stage: Stage
    """Where it failed."""
    text: Optional[str]
    """Nova's own words; null if they are not shown."""
    from_: Optional[Annotated[str, ("fault", "step")]]
    """Whose words they are: the server's fault, or a failed step."""
    at: Optional[str]
    """When, in UTC; null if that is not known."""
    action: Optional[str]
    """The action that failed, as Nova names it: ``create``, ``live-migration`` and so
    on."""
    request_id: Optional[str]
    """The ID of the request to the compute API."""
    attempts: Iterable[str]
    """The service hosts that were tried, in their order."""
    failed_steps: Iterable[FailedStep]
    """The failed events of the action."""


@dataclass
class ServerMigration:
    """A migration of the server."""

    type: str
    """Its type in the compute API."""
    status: str
    """Its status in the compute API."""
    source: Optional[str]
    """The service host that it left."""
    destination: Optional[str]
    """The service host that it went to; null if none was chosen."""


@dataclass
class OtherMove:
    """A move of another server."""

    source: str
    """The service host that it left."""
    destination: str
    """The service host that it went to."""


@dataclass
class CloudChanges:
    """What changed in the cloud since the server failed."""

    computes_went_down: Iterable[str]
    """Hosts whose nova-compute last reported after the failure, and is down."""
    computes_down_before: Iterable[str]
    """Hosts whose nova-compute was down at the failure already."""
    servers_made_on: Iterable[str]
    """The host of each server that was created since."""
    servers_deleted_on: Iterable[str]
    """The host of each server that was deleted since."""
    moves: Iterable[OtherMove]
    """Moves of other servers since."""
    cut: bool
    """There may be more servers and moves: a hundred are read."""
    unread: Iterable[str]
    """What this user may not list."""


@dataclass
class ServerExplainDocument:
    """What ``server explain`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    summary: str
    """How it failed and whether hosts could take it now, in one line; it has an age."""
    server: ExistingServer
    """The server."""
    compute_api: str
    """The microversion of the compute API that the server was read with."""
    failure: Optional[ServerFailure]
    """How it failed; null if no failure of it is shown."""
    moves: Iterable[ServerMigration]
    """The migrations of a server that failed in a move, the last first."""
    changes: Optional[CloudChanges]
    """What changed since; null if it is not known when it failed."""
    request: Iterable[RequestPart]
    """The parts of the request that the server was created by."""
    flavor_changed: Optional[bool]
    """No flavor of that name is like the server's own copy any more; null if that was
    not found out."""
    problem: Optional[str]
    """Why its request can't be explained; null if it is."""
    now: Optional[ExplainDocument]
    """The document of ``explain`` for its request; null if it can't be explained."""


@dataclass
class ServerMove:
    """A move."""

    kind: MoveKind
    """The move, as ``--for`` names it."""
    because: Because
    """Why this move. ``asked for``: by ``--for``. Otherwise it follows from the
    server."""


@dataclass
class RefusedMove:
    """A reason why Nova rejects the move before nova-scheduler is asked."""

    reason: str
    """Why."""
    by: Annotated[str, ("nova-api", "nova-conductor")]
    """Who rejects it."""
    exception: str
    """The class of Nova's exception."""
    text: str
    """The same for a person."""


@dataclass
class Destination:
    """A host, and whether it could take the server."""

    host: str
    """Its name."""
    answer: Answer
    """``unknown``: what no API shows decides."""
    reasons: Iterable[str]
    """Why it can't, or what decides."""


@dataclass
class FoundOutLater:
    """Something that no API shows before the move is tried."""

    kind: str
    """What it is."""
    text: str
    """What it is, in words."""


@dataclass
class DestinationsDocument:
    """What ``server destinations`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    summary: str
    """The move, and how many hosts could take the server, in one line."""
    verdict: Annotated[
        str, ("candidates", "no host", "unknown", "disagreement", "refused")
    ]
    """``refused`` if Nova rejects the move as things are; else the verdict of
    ``explain``."""
    server: ExistingServer
    """The server."""
    compute_api: str
    """The microversion of the compute API that the server was read with."""
    move: ServerMove
    """The move."""
    refusals: Iterable[RefusedMove]
    """Why Nova rejects the move before nova-scheduler is asked. Nova stops at the
    first."""
    ignored_host: Optional[str]
    """The service host that Nova leaves out before its filters; null for none."""
    hosts: Iterable[Destination]
    """Each host that has a provider, whatever the refusals; for a rebuild only the
    server's own host."""
    destinations: Iterable[str]
    """The hosts whose answer is ``yes``."""
    uncertain_destinations: Iterable[str]
    """The hosts whose answer is ``unknown``."""
    found_out_later: Iterable[FoundOutLater]
    """What no API shows of this move before it is tried."""
    request: Iterable[RequestPart]
    """The parts of the request that the server was created by."""
    explanation: Optional[ExplainDocument]
    """The document of ``explain`` for the request of the move; null for a rebuild. Its
    clauses can be of the kind ``move``."""


@dataclass
class OneFailed:
    """A server that failed."""

    id: str
    """Its ID."""
    name: str
    """Its name."""
    project_id: Optional[str]
    """The ID of its project; null if it is not known."""
    failed_at: Optional[str]
    """When, as ISO 8601; null if Nova does not say."""


@dataclass
class FailedCause:
    """Servers that failed at the same stage and would do alike now."""

    failed: str
    """What failed, and at which stage."""
    now: str
    """How the same request would do now, in words."""
    has_room: Optional[bool]
    """Whether a host could take such a server now; null if unknown."""
    servers: Iterable[OneFailed]
    """The servers."""


@dataclass
class FailedDocument:
    """What ``server explain --failed`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    total: int
    """How many servers failed."""
    causes: Iterable[FailedCause]
    """The causes, the most servers first."""
    unjudged: Iterable[OneFailed]
    """Servers of so many further kinds that they were not judged."""
