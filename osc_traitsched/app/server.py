"""Servers that exist: their requests, failures and destinations; all that failed."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import itertools
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, NamedTuple, TypeVar

from osc_traitsched.app import gc_paused, judging, request, settings
from osc_traitsched.app.explain import Explainer, explain
from osc_traitsched.app.judging import asked_of, judge_all, with_builds
from osc_traitsched.app.own_filters import MOST_RECORDS
from osc_traitsched.app.request import zone_refusal
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import (
    allocation_candidates,
    lookup,
    read,
    request_parts,
    servers,
)
from osc_traitsched.cloud.rest import LaterOfEach
from osc_traitsched.cloud.service import Cloud, RememberedCloud, note_unread, unread
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import (
    AnswerIsNo,
    BadUsage,
    CloudBroke,
    ExtraSpecsHidden,
    Forbidden,
    Hidden,
    NoServer,
    Refusal,
    TraitSchedError,
)
from osc_traitsched.core.inventory.snapshot import Compute, Nova, only_host
from osc_traitsched.core.judge.judge import Explanation
from osc_traitsched.core.judge.judgement import (
    Judgement,
    RefusedRequest,
    RequestResult,
)
from osc_traitsched.core.nova import evidence
from osc_traitsched.core.nova.filter.state import ServerGroup, host_states
from osc_traitsched.core.nova.options import ClaimAnswers, SchedulerSettings
from osc_traitsched.core.nova.question import (
    SAME_HOST,
    Body,
    Move,
    MoveKind,
    Question,
    ServerSpec,
)
from osc_traitsched.core.nova.server import Port
from osc_traitsched.core.servers import state as servers_state
from osc_traitsched.core.servers.failure import (
    MOST_JUDGED,
    Changes,
    FailedKind,
    FailedServer,
    FailedServers,
    Failure,
    Kinds,
    ServerAnswer,
    Stage,
    by_record,
    confirmed_by_failure,
    failure,
)
from osc_traitsched.core.servers.moves import (
    OFFLOADED,
    SHELVED,
    Because,
    Destinations,
    Planned,
    Rebuild,
    due,
    hidden_minimum,
    rebuild,
    refusals,
)
from osc_traitsched.core.servers.state import (
    Action,
    Migration,
    MoveRefusal,
    Name,
    Part,
    ServerState,
    Source,
    read_state,
)

# An existing server: its request, its failure, and its possible destinations.


# The request of an existing server, reconstructed.


_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True)
class Found:
    """A server, and related data of other services.

    :ivar body: of the compute API, with the highest microversion known here
    :ivar image: Glance's current image, if it still exists
    :ivar given: the user's arguments, which win over Nova's data
    :ivar ports: bound to the server; None if unknown
    :ivar volume: ID of the boot volume; None if unknown
    :ivar unread: the errors of parts that could not be read
    :ivar unread_action: why its actions are hidden, if they are
    """

    body: Any
    minor: int
    state: ServerState
    action: Action | None
    image: Body | None
    given: ServerSpec
    ports: tuple[Port, ...] | None = None
    volume: str | None = None
    unread: Mapping[Name, CloudBroke] = dataclasses.field(default_factory=dict)
    unread_action: Hidden | None = None

    @property
    def request(self) -> Body:
        """Nova's record of the request; empty without one."""
        found: Body = self.body.get("request", {})
        return found

    @property
    def shown(self) -> int:
        """The microversion that shows what the body has, with Nova's record."""
        return max(self.minor, servers_state.HINTS) if self.request else self.minor

    @property
    def never_placed(self) -> bool:
        """Whether no host was ever chosen for the server."""
        steps = self.action.events if self.action else ()
        return (
            self.unread_action is None
            and not self.state.host
            and not self.state.launched
            and all(not each.name.startswith("compute_") for each in steps)
        )

    @property
    def count(self) -> int:
        """How many servers Nova tried to place at once when the build found no host.

        A build that failed on a host is retried alone. Nova takes no port and no volume
        for several servers.

        nova/conductor/manager.py, ``schedule_and_build_instances``
        """
        is_build = self.action is not None and self.action.name == "create"
        is_alone = bool(self.given.ports or self.given.volume)
        if not is_build or is_alone or not self.never_placed:
            return 1
        return self.request.get("num_instances") or 1

    @property
    def parts(self) -> tuple[Part, ...]:
        """The source of each part of the request."""
        ports = None if self.ports is None else [each.label for each in self.ports]
        found = servers_state.parts(
            self.body,
            self.shown,
            self.image,
            self.given,
            self.never_placed,
            ports,
            self.volume,
        )
        return tuple(self._with_problem(each) for each in found)

    def _with_problem(self, part: Part) -> Part:
        problem = self.unread.get(part.name)
        if part.name is Name.IMAGE and problem is not None:
            # Nova has the image's ID.
            return dataclasses.replace(part, source=Source.SERVER)
        if problem is None or part.is_known:
            return part
        return dataclasses.replace(part, source=Source.NOT_READ, problem=problem)


def read_server(
    cloud: Cloud, name: str, given: ServerSpec, claims: ClaimAnswers | None = None
) -> Found:
    """Read a server by name or ID, and the data that shows its request.

    :param claims: of a Nova that is asked for its record of the request, if that may
        have more
    :raises BadUsage: for an argument that does not fit the server
    :raises NoServer: if the user can see no such server
    :raises AmbiguousName: for a name that several servers have
    """
    body = servers.server(cloud, name)
    state = read_state(body)
    _check(servers_state.image_id(body), given)
    image = _image(cloud, body)
    ports, volume = _ports(cloud, state, given), _volume(cloud, body, given)
    asked = {
        Name.IMAGE: image,
        Name.PROPERTIES: image,
        Name.MORE: image,
        Name.PORTS: ports,
        Name.VOLUME: volume,
    }
    action, hidden = _action(cloud, state)
    minor = servers.minor_version(cloud)
    is_gone = bool(body["image"]) and image is None
    is_failed = action is not None and action.name in _RECORDED
    if is_failed or is_gone or minor < servers_state.HINTS:
        found = _records(cloud, [state.id], claims)
        body = servers_state.with_request(body, found.get(state.id, {}))
    return Found(
        body=body,
        minor=minor,
        state=state,
        action=action,
        image=None if isinstance(image, CloudBroke) else image,
        ports=None if isinstance(ports, CloudBroke) else ports,
        volume=None if isinstance(volume, CloudBroke) else volume,
        unread={k: v for k, v in asked.items() if isinstance(v, CloudBroke)},
        unread_action=hidden,
        given=given,
    )


def _records(
    cloud: Cloud, servers: Collection[str], claims: ClaimAnswers | None
) -> Mapping[str, Body]:
    """Nova's records of the requests of servers, by ID, if it is asked."""
    return cloud.requests or (claims.requests(servers) if claims else {})


#: Actions whose requests no API shows whole.
_RECORDED = ("create", "resize", "rebuild")


def _action(cloud: Cloud, state: ServerState) -> tuple[Action | None, Hidden | None]:
    """The action that failed, or why it is hidden; a lost server was only built."""
    try:
        return servers.action_that_failed(cloud, state), None
    except Hidden as problem:
        return Action("create", "", None, True) if state.is_lost else None, problem


def _check(image: str | None, given: ServerSpec) -> None:
    if image is None and given.image_properties:
        raise BadUsage(
            "--image-property requires an image, and the server boots from a volume"
        )
    if image is not None and given.volume is not None:
        raise BadUsage("--volume requires a server that boots from a volume")


def _image(cloud: Cloud, body: Any) -> Body | CloudBroke | None:
    identity = servers_state.image_id(body)
    if identity is None:
        return None
    return _if_shown(lambda: lookup.image_of_id(cloud, identity))


def _ports(
    cloud: Cloud, state: ServerState, given: ServerSpec
) -> tuple[Port, ...] | CloudBroke | None:
    """None if the user names some; of a server that never started, if none is left."""
    if given.ports or given.networks:
        return None
    found = _if_shown(lambda: request_parts.ports_of(cloud, state.id))
    is_left = bool(found) and not isinstance(found, CloudBroke)
    return found if is_left or not state.is_lost else None


def _volume(cloud: Cloud, body: Any, given: ServerSpec) -> str | CloudBroke | None:
    if body["image"] or given.volume is not None:
        return None
    return _if_shown(lambda: servers.root_volume(cloud, body))


def _if_shown(read: Callable[[], _T]) -> _T | CloudBroke:
    try:
        return read()
    except CloudBroke as problem:
        return problem


def question_of(
    cloud: Cloud, found: Found, sources: SettingsSources
) -> tuple[Question, bool]:
    """The server's question, and whether its flavor has changed since.

    :raises ExtraSpecsHidden: if Nova hides extra specs
    :raises BadConfiguration: for bad scheduler settings
    :raises NothingMatches: for an unknown object that the user names
    """
    flavor = own_flavor(found)
    failed = failure(found.state, found.action)
    host = servers_state.forced(found.request)
    if host and failed and failed.action == "create":
        zone = found.body["pinned_availability_zone"] or ""
        if not (found.given.zone or found.given.names_host):
            given = dataclasses.replace(found.given, zone=f"{zone}:{host}")
            found = dataclasses.replace(found, given=given)
    current = _current_flavor(cloud, flavor)
    is_there = current is not None and (found.image or not found.body["image"])
    is_kept = not (found.state.is_lost and is_there)
    asked = _asked(cloud, found, settings.of_cloud(cloud, sources))
    asked = dataclasses.replace(
        asked,
        flavor=flavor if is_kept or current is None else current,
        is_kept=is_kept,
    ).with_spec(count=found.count)
    group = _group(cloud, found)
    if group is not None:
        # As for a new server: this one does not block itself.
        others = group.members - {found.state.id}
        group = dataclasses.replace(group, members=others)
    question = _whole(cloud, asked, found, group)
    if failed is not None and failed.action == "create" and group is None:
        question = dataclasses.replace(question, tried=failed.attempts)
    return question, current is None


def _renewed(cloud: Cloud, found: Found, question: Question) -> Question | None:
    """The request of a new server, for one that is lost and has other copies."""
    flavors = {each["name"]: each for each in lookup.known_flavors(cloud)}
    flavor, spec = flavors.get(question.flavor["name"]), question.spec
    image = question.image if spec.image_properties else found.image
    is_gone = found.image is None and bool(found.body["image"])
    is_other = question.is_kept or image != question.image
    if flavor is None or is_gone or not (is_other and found.state.is_lost):
        return None
    newer = dataclasses.replace(question, flavor=flavor, image=image, is_kept=False)
    return newer.with_flavor(spec.flavor_properties)


def own_flavor(found: Found) -> Body:
    """The server's own copy of its flavor; raises ExtraSpecsHidden."""
    if "extra_specs" not in found.body["flavor"]:
        raise ExtraSpecsHidden(1, 1, found.body["flavor"]["original_name"])
    return servers_state.flavor(found.body)


def moved(
    cloud: Cloud,
    found: Found,
    assumptions: SchedulerSettings,
    move: Move,
) -> Question:
    """The question of a server's move, with its own flavor and image.

    The server counts as a member of its group, and its host as one of the group's
    (nova/scheduler/utils.py, ``setup_instance_group``).

    :raises ExtraSpecsHidden: if Nova hides extra specs
    :raises NothingMatches: for an unknown object that the user names
    """
    asked = _asked(cloud, found, assumptions)
    image = servers_state.kept(asked.image, asked.flavor["disk"])
    asked = dataclasses.replace(asked, image=image, is_kept=True, move=move)
    return _whole(cloud, asked, found, _group(cloud, found))


def _asked(cloud: Cloud, found: Found, assumptions: SchedulerSettings) -> Question:
    if Name.MORE in found.unread:
        raise found.unread[Name.MORE]
    image = servers_state.image(found.body, found.image)
    is_copy = found.image is not None and image != found.image
    if image and is_copy and found.action and found.action.name == "rebuild":
        image = {**image, "name": f"{image['name']} (copy left by the failed rebuild)"}
    given = found.given
    zone = servers_state.zone(found.body, found.shown, found.never_placed)
    spec = dataclasses.replace(
        given,
        zone=given.zone or zone,
        boot_from_volume=image is None,
        hints={**servers_state.hints(found.body), **given.hints},
    )
    return Question(
        flavor=own_flavor(found),
        image=image,
        aggregates=read.aggregates(cloud.compute),
        assumptions=assumptions,
        spec=spec,
        project=found.state.project,
        computes=lookup.computes(cloud) if given.names_host else None,
    )


def _whole(
    cloud: Cloud, question: Question, found: Found, group: ServerGroup | None
) -> Question:
    """The server may use its volume already, so the volume's status is not checked."""
    spec = question.spec
    ports = found.ports or request_parts.ports(cloud, spec.ports)
    volume = spec.volume or found.volume
    question = request.whole(cloud, question, group, ports, volume)
    own = [dataclasses.replace(each, status="") for each in question.parts.volumes]
    named = dataclasses.replace(question.parts, volumes=tuple(own))
    return dataclasses.replace(question, parts=named)


def _group(cloud: Cloud, found: Found) -> ServerGroup | None:
    if found.given.group is not None:
        return request_parts.group(cloud, found.given.group)
    identity = servers_state.group_id(found.body)
    return None if identity is None else request_parts.group_of_id(cloud, identity)


_SIZE = ("vcpus", "ram", "disk", "swap")
_EPHEMERAL = "OS-FLV-EXT-DATA:ephemeral"


def _current_flavor(cloud: Cloud, own: Body) -> Body | None:
    """The flavor of the same name, if the server's own copy still equals it."""
    for each in lookup.known_flavors(cloud):
        if each["name"] == own["name"]:
            is_same = (
                all((each.get(key) or 0) == (own.get(key) or 0) for key in _SIZE)
                and (each.get(_EPHEMERAL) or 0) == (own.get("ephemeral") or 0)
                and (each.get("extra_specs") or {}) == own["extra_specs"]
            )
            return each if is_same else None
    return None


# The failure of an existing server, and hosts that could take it now.


#: Actions that record a server's old and new host.
_MOVES = frozenset(["evacuate", "live-migration", "migrate", "resize"])
_KINDS = {
    "evacuate": MoveKind.EVACUATION,
    "live-migration": MoveKind.LIVE_MIGRATION,
    "migrate": MoveKind.MIGRATION,
    "unshelve": MoveKind.UNSHELVE,
}


def answer(
    cloud: Cloud,
    name: str,
    given: ServerSpec,
    sources: SettingsSources,
    explainer: Explainer = explain,
) -> ServerAnswer:
    """Explain a server's failure, and its request as a new one.

    If the request can't be read, the answer has the error in its place.

    :param given: the user's arguments, which win over Nova's data
    :param explainer: explains the request; all its errors but ``CloudBroke`` are raised
    :raises NothingMatches: for an unknown server or host
    :raises AmbiguousName: for a name that several servers have
    :raises BadConfiguration: for bad scheduler settings
    :raises CloudBroke: if the server or its history can't be read
    """
    start, question = asked_again(cloud, name, given, sources)
    start = dataclasses.replace(start, changes=changes(cloud, start))
    if question is None:
        return start
    try:
        found = _with_own_host(cloud, explained(start, explainer(cloud, question)))
        judgement = found.judgement
        if found.renewed and judgement and judgement.answer is Answer.NO:
            newer = explainer(cloud, found.renewed)
            return dataclasses.replace(found, explanation=newer, of_copy=judgement)
        return found
    except CloudBroke as problem:
        return dataclasses.replace(start, problem=problem)


def _with_own_host(cloud: Cloud, found: ServerAnswer) -> ServerAnswer:
    """The answer with all that decides about a server's host, if it runs there well."""
    explanation, placement = found.explanation, cloud.placement
    judgement = found.judgement
    if explanation is None or found.failure or not isinstance(judgement, Judgement):
        return found
    own = [host for host in judgement.hosts if host.name == found.state.node]
    if not own:
        return found
    facts = allocation_candidates.with_figures(placement, judgement.facts, own)
    facts = allocation_candidates.with_pools(placement, facts)
    question, nodes = judgement.question, judgement.computes
    if (claims := question.assumptions.claims) is not None:
        there = [nodes[host.uuid] for host in own if host.uuid in nodes]
        asked = [(question.request_spec(), question.assumptions)]
        claims.emptied.ask(asked, host_states(there, question.aggregates))
    judgement = dataclasses.replace(judgement, facts=facts)
    return dataclasses.replace(
        found, explanation=dataclasses.replace(explanation, judgement=judgement)
    )


def asked_again(
    cloud: Cloud, name: str, given: ServerSpec, sources: SettingsSources
) -> tuple[ServerAnswer, Question | None]:
    """A server's failure without an explanation, and its request as a new one.

    Raises as :func:`answer`. If the request can't be read, it is None, and the answer
    has the error.
    """
    found = read_server(cloud, name, given, sources.claims)
    failed = failure(found.state, found.action)
    if failed is None and found.unread_action is not None:
        failed = Failure(Stage.UNKNOWN)
    new, is_listed = _asked_for(found, failed), True
    if failed and failed.action == "resize" and new is not None:
        flavors = lookup.known_flavors(cloud) if new else ()
        is_listed = any(each["name"] == new for each in flavors)
    start = ServerAnswer(
        state=found.state,
        minor=found.minor,
        failure=failed,
        parts=found.parts,
        moves=_moves(cloud, found.state, failed),
        unread=found.unread_action,
        asked_for=new or "",
        is_unlisted=not is_listed,
        together=found.count,
    )
    kind, flavor = _failed_move(found.state, failed), None
    if failed and failed.action == "resize" and new and is_listed and found.state.host:
        kind, flavor = MoveKind.RESIZE, new
    blocked: tuple[MoveRefusal, ...] = ()
    try:
        if kind is None:
            question, is_changed = question_of(cloud, found, sources)
            newer = _renewed(cloud, found, question)
            start = dataclasses.replace(start, renewed=newer)
        else:
            _check_zone(given)
            planned = _planned(cloud, found, sources, AskedMove(kind, flavor))
            question, blocked = planned.question, refusals(planned)
            start = dataclasses.replace(start, parts=_of_move(found.parts))
            is_changed = _current_flavor(cloud, planned.before.flavor) is None
    except CloudBroke as problem:
        return dataclasses.replace(start, problem=problem), None
    start = dataclasses.replace(
        start, kind=kind, refusals=blocked, is_flavor_changed=is_changed
    )
    return start, question


def _of_move(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Without the host that a server's creation named: it does not bind a move."""
    old = Name.HOST, Source.SERVER
    return tuple(each for each in parts if (each.name, each.source) != old)


def explained(start: ServerAnswer, explanation: Explanation) -> ServerAnswer:
    """The answer with its explanation, which the failure may confirm."""
    if not start.is_flavor_changed:
        explanation = confirmed_by_failure(start, explanation)
    return dataclasses.replace(start, explanation=explanation)


def _failed_move(state: ServerState, failed: Failure | None) -> MoveKind | None:
    """Nova does not show the new flavor or image of a resize or a rebuild."""
    kind = _KINDS.get(failed.action) if failed else None
    is_movable = state.host or state.vm_state == OFFLOADED
    return kind if is_movable and state.vm_state != SHELVED else None


def _asked_for(found: Found, failed: Failure | None) -> str | None:
    """Name of the new flavor or image, if Nova's record has it; empty if deleted."""
    action = failed.action if failed else ""
    if action == "resize":
        name: str | None = found.request.get("resized_to")
        return name
    kept = found.request.get("image") if action == "rebuild" else None
    # Nova puts the server's own image back after a failure, but not into its record.
    is_new = kept and kept.get("id") != servers_state.image_id(found.body)
    return str(kept.get("name") or kept.get("id")) if kept and is_new else None


def _moves(
    cloud: Cloud, state: ServerState, failed: Failure | None
) -> tuple[Migration, ...]:
    if failed is None or failed.action not in _MOVES:
        return ()
    return servers.moves_of(cloud, state)


def changes(cloud: Cloud, answer: ServerAnswer) -> Changes | None:
    """What changed since the failure; None if its time is unknown."""
    failed = answer.failure
    if failed is None or failed.when is None:
        return None
    return servers.changes_since(cloud, answer.state, failed.when)


# Hosts that could take a server's move.


@dataclasses.dataclass(frozen=True)
class AskedMove:
    """The requested move; ``flavor`` and ``image`` are names or IDs.

    :ivar kind: None for the move that the server's state suggests
    """

    kind: MoveKind | None = None
    flavor: str | None = None
    image: str | None = None


def destinations(
    cloud: Cloud,
    name: str,
    asked: AskedMove,
    given: ServerSpec,
    sources: SettingsSources,
    explainer: Explainer = explain,
) -> Destinations:
    """Find the hosts that could take a server's move, and why others could not.

    :param given: the user's arguments, which win over Nova's data
    :param explainer: explains the move's request; its errors are raised
    :raises BadUsage: for an argument that does not fit the move
    :raises NothingMatches: for an unknown server, host, flavor or image
    :raises AmbiguousName: for a name that several servers or images have
    :raises ExtraSpecsHidden: if Nova hides extra specs
    :raises BadConfiguration: for bad scheduler settings
    """
    _check_move(asked, given)
    found = read_server(cloud, name, given, sources.claims)
    because = Because.ASKED
    if asked.kind is None:
        kind, because = due(found.state, _is_up(_there(cloud, found)))
        asked = dataclasses.replace(asked, kind=kind)
    planned = _planned(cloud, found, sources, asked)
    answer = _before(found, planned, because)
    if planned.kind is MoveKind.REBUILD:
        return dataclasses.replace(answer, rebuild=_rebuilt(cloud, planned))
    explanation = explainer(cloud, planned.question)
    return dataclasses.replace(answer, explanation=explanation)


def _before(found: Found, planned: Planned, because: Because) -> Destinations:
    return Destinations(
        state=found.state,
        minor=found.minor,
        kind=planned.kind,
        because=because,
        # The host that its creation named does not bind a move.
        parts=tuple(p for p in found.parts if p.name is not Name.HOST),
        refusals=refusals(planned),
        ignored=planned.question.ignored_host,
        hidden=hidden_minimum(planned),
        has_refused_image=found.action is not None and found.action.name == "rebuild",
    )


def _check_move(asked: AskedMove, given: ServerSpec) -> None:
    for kind, option, value in (
        (MoveKind.RESIZE, "--flavor", asked.flavor),
        (MoveKind.REBUILD, "--image", asked.image),
    ):
        if (asked.kind is kind) is not (value is not None):
            raise BadUsage(f"{option} and --for {kind.value} go together")
    if asked.kind is MoveKind.REBUILD and given.names_host:
        raise BadUsage("a rebuild is where the server is; --on-host is for moves")
    _check_zone(given)


def _check_zone(given: ServerSpec) -> None:
    if ":" in (given.zone or ""):
        raise BadUsage("a move has no ZONE:HOST; --on-host names its host")


def _check_offloaded(state: ServerState, kind: MoveKind) -> None:
    """A server on its host is unshelved there.

    nova/conductor/manager.py, ``unshelve_instance``
    """
    if kind is MoveKind.UNSHELVE and state.vm_state == SHELVED:
        where = f" on {state.host}" if state.host else ""
        raise BadUsage(
            f"{state.name} is shelved and not offloaded: unshelving starts it where it "
            f"is{where}, and asks for no host"
        )


def _move(cloud: Cloud, found: Found, there: Sequence[Compute], kind: MoveKind) -> Move:
    """The move, and whether its own host allows it to stay."""
    state = found.state
    source = next((c for c in there if c.node == state.node), None)
    may_stay = False
    if kind is MoveKind.MIGRATION and source is not None:
        may_stay = SAME_HOST in read.traits_of(cloud.placement, source.uuid)
    return Move(kind, state.id, state.host, source, may_stay)


def _there(cloud: Cloud, found: Found) -> list[Compute]:
    servers.check_host(cloud, found.body)
    return [c for c in lookup.computes(cloud) if c.service_host == found.state.host]


def _is_up(there: Sequence[Compute]) -> bool | None:
    """None for a host that Nova does not list."""
    return any(compute.is_up for compute in there) if there else None


def _planned(
    cloud: Cloud, found: Found, sources: SettingsSources, asked: AskedMove
) -> Planned:
    there = _there(cloud, found)
    kind = asked.kind or due(found.state, _is_up(there))[0]
    _check_offloaded(found.state, kind)
    move = _move(cloud, found, there, kind)
    assumptions = settings.of_cloud(cloud, sources)
    before = moved(cloud, found, assumptions, move)
    question = before
    if asked.flavor is not None:
        flavor = lookup.flavor(cloud, asked.flavor)
        question = dataclasses.replace(before, flavor=flavor)
        question = question.with_flavor(found.given.flavor_properties)
    if asked.image is not None:
        image = lookup.image(cloud, asked.image)
        question = dataclasses.replace(before, image=image)
        question = question.with_image(found.given.image_properties)
    question = evidence.of_question(question)
    changed, created = (found.image or {}).get("updated_at"), found.body.get("created")
    planned = Planned(kind, found.state, _is_up(there), before, question)
    return dataclasses.replace(
        planned,
        was_resized=planned.is_disk_smaller and servers.was_resized(cloud, found.state),
        is_image_newer=bool(changed and created and changed > created),
    )


def _rebuilt(cloud: Cloud, planned: Planned) -> Rebuild | None:
    """None if Nova has the server on no node."""
    move = planned.question.move
    if move is None or move.source is None:
        return None
    traits: frozenset[str] = frozenset()
    for provider in _used(cloud, planned.before, move.server, move.source):
        traits |= read.traits_of(cloud.placement, provider)
    return rebuild(planned.question, move.source, traits, planned.has_image)


def _used(
    cloud: Cloud, question: Question, server: str, node: Compute
) -> tuple[str, ...]:
    """UUIDs of the providers that a server uses.

    A snapshot has no allocations: then its node, if that alone can give all.

    :raises Hidden: if only the allocations tell
    """
    try:
        return read.providers_used_by(cloud.placement, server)
    except Hidden as hidden:
        try:
            request = question.request()
        except Refusal:
            raise hidden from None
        own = allocation_candidates.read_figures(cloud.placement, node.uuid, None) or {}
        if request.groups != ("",) or not own.keys() >= request.resources().keys():
            raise
        return (node.uuid,)


# All servers that failed: read in pages, and each kind of failure judged once.


@dataclasses.dataclass(frozen=True)
class FailedQuery:
    """Which servers in ERROR and failed moves are wanted.

    :ivar project: name or ID; None for all that the user may see
    :ivar host: only servers on this host, and moves from it
    """

    since: datetime.datetime | None = None
    project: str | None = None
    host: str | None = None


def failed(
    cloud: Cloud, sources: SettingsSources, query: FailedQuery = FailedQuery()
) -> FailedServers:
    """Servers in ERROR and failed moves, and how each kind of them would do now.

    Requests: one for each thousand servers in ERROR, two for moves, a few for each of
    at most 25 kinds, and those of :func:`app.judging.judge_all` for all of them.

    :raises NothingMatches: for an unknown project or host
    :raises BadConfiguration: for bad scheduler settings
    """
    since, project = query.since, query.project
    owner = None if project is None else lookup.project(cloud, project)
    host = None if query.host is None else _service_host(cloud, query.host)
    kinds = Kinds(since)
    kinds.add(servers.in_error(cloud, _query(since, owner, host)))
    groups = [tuple(servers) for _, servers in kinds.groups]
    in_error = frozenset(each.id for servers in groups for each in servers)
    moved = _moved(cloud, in_error, since, host) if project is None else ()
    groups += ((each,) for each in moved)
    # At once; a thread for each kind would start a Python for each.
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups))
    every = [each.id for each in filter(None, turns)][:MOST_RECORDS]
    groups = by_record(groups, _records(cloud, every, sources.claims))
    remembered = RememberedCloud(cloud)
    first, rest = groups[:MOST_JUDGED], groups[MOST_JUDGED:]
    start = functools.partial(_asked_again, remembered, sources=sources)
    started = LaterOfEach(start, first).values()
    judged = _judged_failures(remembered, started.values())
    unjudged = [each for servers in rest for each in servers]
    judged.sort(key=lambda kind: -len(kind.servers))
    return FailedServers(tuple(judged), tuple(unjudged), bool(unread(cloud)))


def _service_host(cloud: Cloud, name: str) -> str:
    """Nova's name of a host of this name or UUID."""
    computes = lookup.computes(cloud)
    if any(name == each.service_host for each in computes):
        return name
    hosts = read.providers(cloud.placement).with_nova(Nova(computes))
    root = only_host(name, hosts)
    return next((e.service_host for e in computes if e.uuid == root.uuid), root.name)


def _query(
    since: datetime.datetime | None, project: str | None, host: str | None
) -> Mapping[str, str]:
    query = {"project_id": project, "host": host}
    if since is not None:
        query["changes-since"] = since.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {key: value for key, value in query.items() if value is not None}


def _moved(
    cloud: Cloud,
    in_error: frozenset[str],
    since: datetime.datetime | None,
    host: str | None,
) -> Iterator[FailedServer]:
    """None if the user may list none."""
    try:
        bodies = servers.failed_moves(cloud, _query(since, None, None))
    except Forbidden:
        note_unread(cloud, "failed moves")
        return
    seen = set(in_error)
    for body in bodies:
        identity = body["instance_uuid"]
        if identity not in seen and host in (None, body["source_compute"]):
            seen.add(identity)
            yield FailedServer(identity, identity)


class _KindStart(NamedTuple):
    """A kind before it is judged, and the request to judge."""

    kind: FailedKind
    question: Question | None = None


#: So many servers of a kind are looked for, if they are deleted meanwhile.
_MOST_TRIED = 3


def _asked_again(
    cloud: Cloud, servers: tuple[FailedServer, ...], sources: SettingsSources
) -> _KindStart | None:
    """None for servers that are gone or did not fail.

    A list of servers lacks their groups, so one of each kind is read.
    """
    left, gone = servers, None
    while left and len(servers) - len(left) < _MOST_TRIED:
        try:
            answer, question = asked_again(cloud, left[0].id, ServerSpec(), sources)
        except TraitSchedError as problem:
            if not isinstance(problem, NoServer) or unread(cloud):
                return _KindStart(FailedKind(left, None, problem))
            left, gone = left[1:], problem
        else:
            return _KindStart(_kind(left, answer), question) if answer.failure else None
    return _KindStart(FailedKind(left, None, gone)) if left else None


@gc_paused()
def _judged_failures(
    cloud: Cloud, started: Iterable[_KindStart | None]
) -> list[FailedKind]:
    """Changes are read only if they may explain why a request has a host now."""
    starts = [start for start in started if start is not None]
    questions = [start.question for start in starts if start.question is not None]
    try:
        judgements = iter(_judgements(cloud, questions))
    except TraitSchedError as problem:
        return [_with_problem(start.kind, problem) for start in starts]
    kinds = []
    for kind, question in starts:
        if kind.answer is not None and question is not None:
            judgement, answer = next(judgements), kind.answer
            if judgement.has_room or judgement.open.turning:
                since_then = changes(cloud, answer)
                answer = dataclasses.replace(answer, changes=since_then)
            answer = explained(answer, Explanation(judgement))
            kind = dataclasses.replace(kind, answer=answer)
        kinds.append(kind)
    return kinds


def _with_problem(kind: FailedKind, problem: TraitSchedError) -> FailedKind:
    return kind if kind.problem else dataclasses.replace(kind, problem=problem)


def _judgements(cloud: Cloud, questions: Sequence[Question]) -> Iterator[RequestResult]:
    """In the order of the questions, on one reading of the cloud."""
    if not questions:
        return iter(())
    known = read.known_traits(cloud.placement)
    several: list[judging.Asked | RefusedRequest] = []
    for question in questions:
        try:
            if (refusal := zone_refusal(cloud, question)) is not None:
                raise refusal
            several.append(asked_of(cloud, question, known))
        except AnswerIsNo as refusal:
            several.append(RefusedRequest(question, refusal))
    groups: dict[tuple[Compute, ...], list[judging.Asked]] = {}
    for each in several:
        if isinstance(each, judging.Asked):
            # A named host is the only one that is judged.
            nodes = each.question.nodes
            there = lookup.computes(cloud) if nodes is None else nodes
            groups.setdefault(tuple(there), []).append(each)
    judged: dict[int, RequestResult] = {}
    for nodes, asked in groups.items():
        nodes = with_builds(cloud, asked[0].question, nodes)
        computes = {node.uuid: node for node in nodes}
        found = judge_all(cloud.placement, computes, asked)
        judged.update(zip(map(id, asked), found))
    return (judged[id(x)] if isinstance(x, judging.Asked) else x for x in several)


def _kind(servers: tuple[FailedServer, ...], answer: ServerAnswer) -> FailedKind:
    """Of a move, only the answer has the server's name."""
    if len(servers) == 1:
        state, failure = answer.state, answer.failure
        failed_at = failure.when if failure else None
        servers = (FailedServer(state.id, state.name, state.project, failed_at),)
    return FailedKind(servers, answer, answer.problem)
