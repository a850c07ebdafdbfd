"""A server's failure: its history, later changes, and the answer; all that failed."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.errors import Hidden, TraitSchedError
from osc_traitsched.core.judge.doubts import Doubts
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.judge.judgement import RefusedRequest, RequestResult
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import assumed_by_evidence, confirmed, filters_of
from osc_traitsched.core.nova.question import Body, MoveKind, Question
from osc_traitsched.core.servers.state import (
    ERROR,
    Action,
    Event,
    Migration,
    MoveRefusal,
    Part,
    ServerState,
    moment,
    read_state,
)

# Changes in a cloud since a server failed, as far as Nova shows them.


_HOST = "OS-EXT-SRV-ATTR:host"
#: Statuses of moves that took a server to another host, or back.
_ENDED = frozenset(["completed", "confirmed", "done", "finished", "reverted"])


@dataclasses.dataclass(frozen=True)
class Changes:
    """Changes in the cloud since a moment.

    Nova keeps only the last report of a nova-compute, so a host that came up is not
    seen.

    :ivar was_down: hosts that were down before
    :ivar made: the host of each new server
    :ivar deleted: the host of each deleted server
    :ivar moves: source and destination of each finished move
    :ivar is_cut: more servers and moves may exist
    :ivar unread: lists that this user may not read
    """

    went_down: tuple[str, ...] = ()
    was_down: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    moves: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False
    unread: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no change is known."""
        return not (self.went_down or self.made or self.deleted or self.moves)

    def that_freed(self, hosts: Collection[str]) -> Changes:
        """Only the servers that left some hosts."""
        return dataclasses.replace(
            self,
            went_down=(),
            was_down=(),
            made=(),
            deleted=tuple(host for host in self.deleted if host in hosts),
            moves=tuple(move for move in self.moves if move[0] in hosts),
        )


def down(
    services: Iterable[Any], since: datetime.datetime
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Hosts whose nova-compute went down since a moment, and those down before."""
    after: list[str] = []
    before: list[str] = []
    for each in services:
        heard = moment(each.get("updated_at"))
        if each["binary"] == "nova-compute" and each["state"] == "down" and heard:
            (after if heard > since else before).append(each["host"])
    return tuple(sorted(after)), tuple(sorted(before))


def servers(
    bodies: Iterable[Any], since: datetime.datetime, but: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Hosts of servers created since a moment, and hosts of deleted ones.

    :param bodies: of servers that changed since then
    :param but: the ID of a server to leave out
    """
    made: list[str] = []
    deleted: list[str] = []
    for each in bodies:
        host, created = each.get(_HOST), moment(each["created"])
        if not host or each["id"] == but or created is None:
            continue
        is_new, is_gone = created > since, each["status"] == "DELETED"
        if is_new and not is_gone:
            made.append(host)
        elif is_gone and not is_new:
            deleted.append(host)
    return tuple(sorted(made)), tuple(sorted(deleted))


def moves(bodies: Iterable[Any], but: str) -> tuple[tuple[str, str], ...]:
    """Source and destination of each move that ended, but for one server."""
    return tuple(
        (each["source_compute"], each["dest_compute"])
        for each in bodies
        if each["status"] in _ENDED
        and each["instance_uuid"] != but
        and each["source_compute"]
        and each["dest_compute"]
    )


# The stage of a server's failure.


class Stage(enum.Enum):
    """The stage of a failed request; the values are those of documents."""

    NO_CANDIDATES = "no allocation candidates"
    """Placement gave no host, or nova-scheduler could not ask it."""

    NO_HOST_LEFT = "no host left"
    """Filters, a named host or lost claims ruled out all hosts from Placement."""

    CHECKS = "checks failed"
    """Checks before a live migration rejected the chosen hosts."""

    RETRIES = "retries exhausted"
    """The build or the move failed on each chosen host."""

    REJECTED = "rejected"
    """Nova rejects the whole request, and says why."""

    SERVICE = "service failed"
    """A service raised an exception that Nova has no words for."""

    COMPUTE = "compute failed"
    """nova-compute failed on the chosen host."""

    NOT_KEPT = "reason not kept"
    """No host was found, and Nova overwrote the reason."""

    UNKNOWN = "unknown"
    """This user sees no reason."""


_NO_HOST = "No valid host was found."
_NO_HOST_LEFT = "There are not enough hosts available."
#: nova/conductor/manager.py, ``_cold_migrate``
_NOT_KEPT = (
    "No valid host found for cold migrate",
    "No valid host found for resize",
)
_RETRIES = "Exceeded maximum number of retries."
_NO_POLICY = "ServerGroup policy is not supported:"

_LIVE_CHECKS = frozenset(
    [
        "compute_check_can_live_migrate_destination",
        "compute_check_can_live_migrate_source",
    ]
)
#: Each chosen host has one of these steps.
_ATTEMPTS = frozenset(
    [
        "compute__do_build_and_run_instance",
        "compute_check_can_live_migrate_destination",
        "compute_prep_resize",
        "compute_rebuild_instance",
        "compute_unshelve_instance",
    ]
)
_ON_COMPUTE = "compute_"


@dataclasses.dataclass(frozen=True)
class Failure:
    """A server's failure; unknown fields are empty or None.

    :ivar request: the compute API's request ID
    :ivar text: Nova's own words
    :ivar is_fault: the text is the server's fault
    :ivar attempts: the service hosts that were tried, in order
    :ivar steps: the failed events, each with the host of its last attempt
    """

    stage: Stage
    action: str = ""
    request: str = ""
    when: datetime.datetime | None = None
    text: str = ""
    is_fault: bool = False
    attempts: tuple[str, ...] = ()
    steps: tuple[Event, ...] = ()

    @property
    def host(self) -> str:
        """The last host that failed; empty if unknown."""
        on_computes = (each.host for each in self.steps if _is_on_compute(each))
        found = (*on_computes, *self.attempts[-1:])
        return next(filter(None, found), "")

    @property
    def check(self) -> Event | None:
        """The last failed check before a live migration, if any."""
        found = (each for each in reversed(self.steps) if each.name in _LIVE_CHECKS)
        return next(found, None)


def failure(server: ServerState, action: Action | None) -> Failure | None:
    """A server's failure; None if it did not fail.

    The texts are the same from Nova 20 to 34 (nova/exception.py, ``NoValidHost``,
    ``MaxRetriesExceeded``, ``UnsupportedPolicyException``).

    :param action: of :func:`failed_action`, with its events
    """
    fault = server.fault
    if fault is None and action is None:
        return Failure(Stage.UNKNOWN) if server.status == ERROR else None
    events = action.events if action else ()
    steps = tuple(_of_last(each, events) for each in events if each.failed)
    text = fault.message if fault else _told(steps)
    return Failure(
        stage=_stage(text, steps, events),
        action=action.name if action else "",
        request=action.request if action else "",
        when=fault.created if fault else _began(action),
        text=text.strip(),
        is_fault=fault is not None,
        attempts=tuple(
            each.host for each in events if each.name in _ATTEMPTS and each.host
        ),
        steps=steps,
    )


def _has_live_checks(steps: tuple[Event, ...]) -> bool:
    return any(each.name in _LIVE_CHECKS for each in steps)


def _of_last(step: Event, events: tuple[Event, ...]) -> Event:
    """Nova writes each end into the first event of that name.

    nova/db/main/api.py, ``action_event_finish``
    """
    hosts = [each.host for each in events if each.name == step.name]
    return dataclasses.replace(step, host=hosts[-1])


def _is_on_compute(step: Event) -> bool:
    return step.name.startswith(_ON_COMPUTE)


def _told(steps: tuple[Event, ...]) -> str:
    """Text of the outermost failed event: the conductor's contains the others."""
    outer = [each for each in steps if not _is_on_compute(each)]
    told = (each.details for each in (*outer, *steps))
    return next(filter(None, told), "")


def _began(action: Action | None) -> datetime.datetime | None:
    if action is None:
        return None
    started = [each.started for each in action.events if each.failed and each.started]
    return max(started, default=action.started)


def _stage(text: str, steps: tuple[Event, ...], events: tuple[Event, ...]) -> Stage:
    found = text.strip()
    if found.startswith(_NO_HOST):
        return _no_host(found[len(_NO_HOST) :].strip(), steps)
    if found.startswith(_RETRIES):
        return Stage.RETRIES
    if found.startswith(_NO_POLICY):
        return Stage.REJECTED
    if not found and _has_live_checks(steps):
        return Stage.CHECKS
    if any(map(_is_on_compute, steps)):
        return Stage.COMPUTE
    if not found:
        return Stage.UNKNOWN
    if steps:
        # An exception without Nova's words is shown as its class name.
        return Stage.REJECTED if " " in found else Stage.SERVICE
    # A build that failed without a retry ends its step like a good one.
    chosen = any(each.name in _ATTEMPTS for each in events)
    return Stage.COMPUTE if chosen else Stage.UNKNOWN


def _no_host(reason: str, steps: tuple[Event, ...]) -> Stage:
    if reason in _NOT_KEPT:
        return Stage.NOT_KEPT
    if reason not in ("", _NO_HOST_LEFT):
        return Stage.REJECTED
    if _has_live_checks(steps):
        # Nova skips a host that a check rejects, and tries the next
        # (nova/conductor/tasks/live_migrate.py, ``_find_destination``).
        return Stage.CHECKS
    return Stage.NO_HOST_LEFT if reason else Stage.NO_CANDIDATES


# The answer about a failed server.


@dataclasses.dataclass(frozen=True)
class ServerAnswer:
    """A server's failure, and hosts that could take it now.

    :ivar minor: of the compute API with which it was read
    :ivar moves: the last one first
    :ivar changes: None if the time of the failure is unknown
    :ivar is_flavor_changed: the flavor of that name has changed or is gone; None if it
        was not read
    :ivar kind: the move that failed, if its request is judged; else a build's is
    :ivar refusals: of that move now
    :ivar explanation: of the same request now; None if there is a problem
    :ivar renewed: the request of a new server, if flavor or image changed since
    :ivar unread: why the action that failed is not known, if it could not be read
    :ivar asked_for: the new flavor or image of the action that failed, if Nova's
        record has it and it is not deleted
    :ivar is_unlisted: that flavor is deleted, or this user may not list it
    :ivar together: so many servers were created at once; Nova fails all if one has no
        host
    :ivar of_copy: the judgement of its own copies, if no host can take them now; then
        the explanation is of the renewed request
    """

    state: ServerState
    minor: int
    parts: tuple[Part, ...]
    failure: Failure | None = None
    moves: tuple[Migration, ...] = ()
    changes: Changes | None = None
    is_flavor_changed: bool | None = None
    kind: MoveKind | None = None
    refusals: tuple[MoveRefusal, ...] = ()
    explanation: Explanation | None = None
    problem: TraitSchedError | None = None
    renewed: Question | None = None
    of_copy: RequestResult | None = None
    unread: Hidden | None = None
    asked_for: str = ""
    is_unlisted: bool = False
    together: int = 1

    @property
    def judgement(self) -> RequestResult | None:
        """The judgement of the explanation."""
        return self.explanation.judgement if self.explanation else None

    @property
    def reason(self) -> Reason | None:
        """The reason of its request now; None if that is not judged."""
        if self.refusals:
            return Reason.REJECTED
        return self.judgement.reason if self.judgement else None

    @property
    def unrecorded(self) -> str:
        """What decides on the failed action, and is not judged; or nothing."""
        action = self.failure.action if self.failure else ""
        return "" if self.kind else _UNRECORDED.get(action, "")

    @property
    def freed(self) -> Changes:
        """The servers that left hosts that can take it now, since it failed."""
        return self.changes.that_freed(self._hosts) if self.changes else Changes()

    @property
    def _hosts(self) -> set[str]:
        found = self.judgement
        if found is None or isinstance(found, RefusedRequest):
            return set()
        nodes = (found.computes.get(each.uuid) for each in found.candidates)
        return {node.service_host for node in nodes if node is not None}

    @property
    def is_all_freed(self) -> bool:
        """Whether a server left each host that can take it now, since it failed.

        A host that no server left could take it before.
        """
        left = {*self.freed.deleted, *(source for source, _ in self.freed.moves)}
        return bool(left) and self._hosts <= left

    @property
    def has_room(self) -> bool:
        """Whether it failed, and its request has a host now."""
        found = self.judgement
        is_judged = self.failure is not None and not self.refusals
        return is_judged and found is not None and found.has_room

    @property
    def is_action_hidden(self) -> bool:
        """Whether it is not known which action of the server failed."""
        return self.unread is not None and not self.state.is_lost

    @property
    def is_unexplained(self) -> bool:
        """Whether no host was found, now one is, and nothing that is seen explains it.

        The cause may be in what Nova does not record: a named host or a port. Seen are
        servers that left each of the hosts, a flavor or an image that changed, and a
        snapshot in which no host could take it.
        """
        stage = self.failure.stage if self.failure else None
        since = self.explanation.since if self.explanation else None
        is_seen = self.of_copy is not None or (since is not None and not since.before)
        is_open = stage in _NO_HOST_FOUND and self.has_room
        return is_open and not self.is_all_freed and not is_seen

    @property
    def may_fail_alike(self) -> bool:
        """Whether it failed by what no verdict on hosts judges, and may do so again.

        Servers that left a host help if nova-compute had no room there.
        """
        failure = self.failure
        if failure is None or failure.stage in _NO_HOST_FOUND or not self.has_room:
            return False
        is_claim_met = _CLAIM in failure.text and self.is_all_freed
        is_told = bool(failure.text) or failure.stage is Stage.CHECKS
        return is_told and not is_claim_met


_NO_HOST_FOUND = frozenset([Stage.NO_CANDIDATES, Stage.NO_HOST_LEFT, Stage.NOT_KEPT])
#: nova-compute had no room for NUMA nodes or devices (nova/compute/claims.py)
_CLAIM = "Insufficient compute resources"
#: By actions that no API shows in full once they failed.
_UNRECORDED = {"resize": "flavor", "rebuild": "image"}


def confirmed_by_failure(answer: ServerAnswer, explanation: Explanation) -> Explanation:
    """The explanation, with its evidence known if only that explains the failure.

    Placement gave the server no host, or filters left none. Nothing since made room.
    All options or filters that would let a host take it are those for which the cloud
    shows evidence. Servers made since do not matter: there was more room before.
    """
    failed, changes = answer.failure, answer.changes
    judgement = explanation.judgement
    if (
        isinstance(judgement, RefusedRequest)
        or judgement.candidates
        or failed is None
        or changes is None
    ):
        return explanation
    made_room = changes.deleted or changes.moves or changes.is_cut or changes.unread
    if made_room or failed.action != "create":
        return explanation
    settings = judgement.question.assumptions
    turning = judgement.open.turning
    names = {name for each in turning for name in (each.name, *each.more)}
    filters = {name for name, _ in filters_of(settings)}
    shown = {name for name, _ in assumed_by_evidence(settings)}
    # Of several servers, filters may have left a host for some.
    if failed.stage is Stage.NO_HOST_LEFT and answer.together == 1:
        if filters and filters <= names:
            names = (names - filters) | {options.ENABLED_FILTERS}
    elif failed.stage is not Stage.NO_CANDIDATES:
        return explanation
    if not names <= shown:
        return explanation
    known = confirmed(settings, names, answer.state.name)
    question = dataclasses.replace(judgement.question, assumptions=known)
    impacts = judgement.doubts.options
    left = tuple(each for each in impacts if each.name not in names)
    doubts = Doubts(left, judgement.doubts.releases)
    judgement = dataclasses.replace(judgement, question=question, doubts=doubts)
    return dataclasses.replace(explanation, judgement=judgement)


# Servers that failed, grouped by what they asked for and what Nova said.


#: So many different failures are judged; of more, those with the most servers.
MOST_JUDGED = 25
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|req-[0-9a-f-]+")


@dataclasses.dataclass(frozen=True)
class FailedServer:
    """One server that failed.

    :ivar name: its ID, if only a migration names it
    :ivar when: None if Nova does not say
    """

    id: str
    name: str
    project: str = ""
    when: datetime.datetime | None = None


class Kinds:
    """Servers in ERROR, those with the same request and the same fault together.

    It keeps one body a kind, so that very many servers take little memory.

    :param since: servers that failed before it do not count
    """

    def __init__(self, since: datetime.datetime | None = None) -> None:
        self._since = since
        self._bodies: dict[str, Any] = {}
        self._servers: dict[str, list[FailedServer]] = {}

    def add(self, bodies: Iterable[Any]) -> None:
        """Add servers of the compute API, as a list shows them."""
        for body in bodies:
            state = read_state(body)
            when = state.fault.created if state.fault else None
            # The list has only servers that changed since then.
            is_old = self._since and when is not None and when < self._since
            if state.status != ERROR or is_old:
                continue
            text = state.fault.message if state.fault else ""
            key = _key(body, _ID.sub("ID", text))
            self._bodies.setdefault(key, body)
            server = FailedServer(state.id, state.name, state.project, when)
            self._servers.setdefault(key, []).append(server)

    @property
    def groups(self) -> list[tuple[Any, list[FailedServer]]]:
        """A body and the servers of each kind, the most servers first."""
        found = [(self._bodies[key], each) for key, each in self._servers.items()]
        return sorted(found, key=lambda group: -len(group[1]))


def _key(body: Any, text: str) -> str:
    image = body["image"]["id"] if body["image"] else None
    parts = (
        body["flavor"],
        image,
        body.get("OS-EXT-AZ:availability_zone"),
        body.get("pinned_availability_zone"),
        body.get("scheduler_hints"),
        body.get("OS-EXT-SRV-ATTR:host"),
        body.get("server_groups"),
        body["tenant_id"],
        text,
    )
    return json.dumps(parts, sort_keys=True)


def by_record(
    groups: Iterable[Iterable[FailedServer]], records: Mapping[str, Body]
) -> list[tuple[FailedServer, ...]]:
    """The groups, each split by what Nova's records of the requests say.

    The most servers come first.

    :param records: by server ID
    """
    found: dict[tuple[int, str], list[FailedServer]] = {}
    for number, servers in enumerate(groups):
        for each in servers:
            record = dict(records.get(each.id, {}))
            # Of ports, which each server has of its own, only the number counts.
            devices = record.pop("devices", ())
            kinds = sorted([e.get("alias_name") or "", e["count"]] for e in devices)
            key = number, json.dumps([record, kinds], sort_keys=True)
            found.setdefault(key, []).append(each)
    return sorted(map(tuple, found.values()), key=len, reverse=True)


@dataclasses.dataclass(frozen=True)
class FailedKind:
    """Servers that failed alike, and how one would do now, or why that is unknown."""

    servers: tuple[FailedServer, ...]
    answer: ServerAnswer | None
    problem: TraitSchedError | None = None


@dataclasses.dataclass(frozen=True)
class FailedServers:
    """All servers that failed; kinds with the most servers come first.

    :ivar unjudged: servers of further kinds
    :ivar is_partial: not all servers and moves were read
    """

    kinds: tuple[FailedKind, ...]
    unjudged: tuple[FailedServer, ...] = ()
    is_partial: bool = False

    @property
    def hidden(self) -> Hidden | None:
        """Why no kind could be judged, if that is for lack of rights."""
        problems = [each.problem for each in self.kinds]
        hidden = [each for each in problems if isinstance(each, Hidden)]
        return hidden[0] if hidden and len(hidden) == len(problems) else None

    @property
    def total(self) -> int:
        """How many servers failed."""
        return sum(len(each.servers) for each in self.kinds) + len(self.unjudged)
