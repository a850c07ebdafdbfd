"""A server that exists: its request, why it failed, and where it could go."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from osc_traitsched.app import request, settings
from osc_traitsched.app.explain import Explainer, explain
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import existing_servers, lookup, networks, read, server_groups
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import (
    BadUsage,
    CloudBroke,
    ExtraSpecsHidden,
)
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.filter.state import ServerGroup
from osc_traitsched.core.nova.question import (
    SAME_HOST,
    Body,
    Kind,
    Move,
    Question,
    ServerSpec,
)
from osc_traitsched.core.nova.server.parts import Port
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.servers import parts
from osc_traitsched.core.servers.failure import (
    Action,
    Changes,
    Failure,
    Migration,
    ServerAnswer,
    ServerState,
    failure,
    read_state,
)
from osc_traitsched.core.servers.moves import (
    SHELVED,
    Because,
    Destinations,
    Rebuild,
    due,
    rebuild,
)
from osc_traitsched.core.servers.parts import Name, Part, Source
from osc_traitsched.core.servers.refusals import Planned, refusals

# The request of a server that exists: read of the cloud, and put together again.


_T = TypeVar("_T")


@dataclasses.dataclass(frozen=True)
class Found:
    """A server, and what else was read of it.

    :ivar body: of the compute API, with its highest microversion that is known here
    :ivar image: what Glance has of its image now, if it has it
    :ivar ports: those that are bound to it; None if that is not known
    :ivar volume: the ID of the one that it boots from; None if that is not known
    :ivar unread: why parts are not known that could not be read
    """

    body: Any
    minor: int
    state: ServerState
    action: Action | None
    image: Body | None
    ports: tuple[Port, ...] | None = None
    volume: str | None = None
    unread: Mapping[Name, CloudBroke] = dataclasses.field(default_factory=dict)

    @property
    def never_placed(self) -> bool:
        """Whether no host was ever chosen for it."""
        steps = self.action.events if self.action else ()
        return (
            not self.state.host
            and not self.state.launched
            and all(not each.name.startswith("compute_") for each in steps)
        )

    def parts(self, given: ServerSpec) -> tuple[Part, ...]:
        """Return where each part of its request is from."""
        ports = None if self.ports is None else [each.label for each in self.ports]
        found = parts.parts(
            self.body,
            self.minor,
            self.image,
            given,
            self.never_placed,
            ports,
            self.volume,
        )
        return tuple(self._with_problem(each) for each in found)

    def _with_problem(self, part: Part) -> Part:
        problem = self.unread.get(part.name)
        if part.name is Name.IMAGE and problem is not None:
            # Nova has its ID.
            return dataclasses.replace(part, source=Source.SERVER)
        if problem is None or part.is_known:
            return part
        return dataclasses.replace(part, source=Source.NOT_READ, problem=problem)


def read_server(cloud: Cloud, name: str, given: ServerSpec) -> Found:
    """Read a server, and what else shows what it was asked for with.

    :param name: a name or an ID
    :raises BadUsage: for what the user says and the server can't have
    :raises NoServer: when there is none that this user may see
    :raises AmbiguousName: for a name that several servers have
    :raises CloudBroke: when a service can't be read
    """
    body = existing_servers.server(cloud, name)
    state = read_state(body)
    _check(parts.image_id(body), given)
    image = _image(cloud, body)
    ports, volume = _ports(cloud, state, given), _volume(cloud, body, given)
    asked = {
        Name.IMAGE: image,
        Name.PROPERTIES: image,
        Name.MORE: image,
        Name.PORTS: ports,
        Name.VOLUME: volume,
    }
    return Found(
        body=body,
        minor=existing_servers.minor_version(cloud),
        state=state,
        action=existing_servers.action_that_failed(cloud, state),
        image=None if isinstance(image, CloudBroke) else image,
        ports=None if isinstance(ports, CloudBroke) else ports,
        volume=None if isinstance(volume, CloudBroke) else volume,
        unread={k: v for k, v in asked.items() if isinstance(v, CloudBroke)},
    )


def _check(image: str | None, given: ServerSpec) -> None:
    """Accept only what goes with an image, or with a volume."""
    if image is None and given.image_properties:
        raise BadUsage(
            "--image-property goes with an image, and the server boots from a volume"
        )
    if image is not None and given.volume is not None:
        raise BadUsage("--volume goes with a server that boots from a volume")


def _image(cloud: Cloud, body: Any) -> Body | CloudBroke | None:
    identity = parts.image_id(body)
    if identity is None:
        return None
    return _if_shown(lambda: lookup.image_of_id(cloud, identity))


def _ports(
    cloud: Cloud, state: ServerState, given: ServerSpec
) -> tuple[Port, ...] | CloudBroke | None:
    """Return the ports of a server; one that never came to be has none any more."""
    if given.ports or given.networks or state.is_lost:
        return None
    return _if_shown(lambda: networks.ports_of(cloud, state.id))


def _volume(cloud: Cloud, body: Any, given: ServerSpec) -> str | CloudBroke | None:
    if body["image"] or given.volume is not None:
        return None
    return _if_shown(lambda: existing_servers.root_volume(cloud, body))


def _if_shown(read: Callable[[], _T]) -> _T | CloudBroke:
    """Return what is read, or why it can't be."""
    try:
        return read()
    except CloudBroke as problem:
        return problem


def question_of(
    cloud: Cloud, found: Found, given: ServerSpec, sources: SettingsSources
) -> tuple[Question, bool]:
    """Return the question that the server was, and whether its flavor is changed.

    :raises ExtraSpecsHidden: when Nova leaves them out for this user
    :raises BadConfiguration: for a file of the scheduler's or a value that can't be
    :raises NothingMatches: for what the user names and is not there
    :raises CloudBroke: when a service can't be read
    """
    flavor = own_flavor(found)
    current = _current_flavor(cloud, flavor)
    is_there = current is not None and (found.image or not found.body["image"])
    is_kept = not (found.state.is_lost and is_there)
    asked = _asked(cloud, found, given, settings.of_cloud(cloud, sources))
    asked = dataclasses.replace(
        asked,
        flavor=flavor if is_kept or current is None else current,
        is_kept=is_kept,
    )
    group = _group(cloud, found, given)
    if group is not None:
        # It is as it is for a new server: this one is not in its own way.
        others = group.members - {found.state.id}
        group = dataclasses.replace(group, members=others)
    return _whole(cloud, asked, found, group), current is None


def own_flavor(found: Found) -> Body:
    """Return the server's own copy of its flavor.

    :raises ExtraSpecsHidden: when Nova leaves them out for this user
    """
    if "extra_specs" not in found.body["flavor"]:
        raise ExtraSpecsHidden(1, 1, found.body["flavor"]["original_name"])
    return parts.flavor(found.body)


def moved(
    cloud: Cloud,
    found: Found,
    given: ServerSpec,
    assumptions: SchedulerSettings,
    move: Move,
) -> Question:
    """Return the question that a move of a server is, with its flavor and its image.

    Its group counts it, and the hosts of the group its host
    (nova/scheduler/utils.py, ``setup_instance_group``).

    :raises ExtraSpecsHidden: when Nova leaves them out for this user
    :raises NothingMatches: for what the user names and is not there
    :raises CloudBroke: when a service can't be read
    """
    asked = _asked(cloud, found, given, assumptions)
    image = parts.kept(asked.image)
    asked = dataclasses.replace(asked, image=image, is_kept=True, move=move)
    return _whole(cloud, asked, found, _group(cloud, found, given))


def _asked(
    cloud: Cloud, found: Found, given: ServerSpec, assumptions: SchedulerSettings
) -> Question:
    """Return the question of a server, with its own flavor and none of the rest.

    :raises CloudBroke: when its image could not be read, or Nova can't be
    """
    if Name.MORE in found.unread:
        raise found.unread[Name.MORE]
    image = parts.image(found.body, found.image)
    zone = parts.zone(found.body, found.minor, found.never_placed)
    spec = dataclasses.replace(
        given,
        zone=given.zone or zone,
        boot_from_volume=image is None,
        hints={**parts.hints(found.body), **given.hints},
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
    """The question with all that comes with flavor and image.

    The server may have its volume already: whether one is free does not count.
    """
    spec = question.spec
    ports = found.ports or networks.ports(cloud, spec.ports)
    volume = spec.volume or found.volume
    question = request.whole(cloud, question, group, ports, volume)
    own = [dataclasses.replace(each, status="") for each in question.parts.volumes]
    named = dataclasses.replace(question.parts, volumes=tuple(own))
    return dataclasses.replace(question, parts=named)


def _group(cloud: Cloud, found: Found, given: ServerSpec) -> ServerGroup | None:
    """Return the group that the server is in, or is said to be in."""
    if given.group is not None:
        return server_groups.group(cloud, given.group)
    identity = parts.group_id(found.body)
    return None if identity is None else server_groups.group_of_id(cloud, identity)


_SIZE = ("vcpus", "ram", "disk", "swap")
_EPHEMERAL = "OS-FLV-EXT-DATA:ephemeral"


def _current_flavor(cloud: Cloud, own: Body) -> Body | None:
    """Return the flavor of the same name, if a server's own copy still equals it."""
    for each in lookup.known_flavors(cloud):
        if each["name"] == own["name"]:
            is_same = (
                all((each.get(key) or 0) == (own.get(key) or 0) for key in _SIZE)
                and (each.get(_EPHEMERAL) or 0) == (own.get("ephemeral") or 0)
                and (each.get("extra_specs") or {}) == own["extra_specs"]
            )
            return each if is_same else None
    return None


# From a server that exists to why it failed, and whether hosts could take it now.


#: The actions that write down where a server was moved from and to.
_MOVES = frozenset(["evacuate", "live-migration", "migrate", "resize"])


def answer(
    cloud: Cloud,
    name: str,
    given: ServerSpec,
    sources: SettingsSources,
    explainer: Explainer = explain,
) -> ServerAnswer:
    """Find out why a server failed, and explain its request as a new one.

    What can't be read leaves the answer without that part, and says so.

    :param name: a name or an ID
    :param given: what the user says of the request, before what Nova shows
    :param explainer: explains the request; what it raises but for ``CloudBroke`` is
        raised
    :raises NothingMatches: when there is no such server or host
    :raises AmbiguousName: for a name that several servers have
    :raises BadConfiguration: for a file of the scheduler's or a value that can't be
    :raises CloudBroke: when the server can't be read, nor what became of it
    """
    found = read_server(cloud, name, given)
    failed = failure(found.state, found.action)
    start = ServerAnswer(
        state=found.state,
        minor=found.minor,
        failure=failed,
        parts=found.parts(given),
        moves=_moves(cloud, found.state, failed),
        changes=_changes(cloud, found.state, failed),
    )
    try:
        question, is_changed = question_of(cloud, found, given, sources)
        explanation = explainer(cloud, question)
    except CloudBroke as problem:
        return dataclasses.replace(start, problem=problem)
    return dataclasses.replace(
        start, explanation=explanation, is_flavor_changed=is_changed
    )


def _moves(
    cloud: Cloud, state: ServerState, failed: Failure | None
) -> tuple[Migration, ...]:
    if failed is None or failed.action not in _MOVES:
        return ()
    return existing_servers.moves_of(cloud, state)


def _changes(
    cloud: Cloud, state: ServerState, failed: Failure | None
) -> Changes | None:
    if failed is None or failed.when is None:
        return None
    return existing_servers.changes_since(cloud, state, failed.when)


# The hosts that could take a server that is moved.


@dataclasses.dataclass(frozen=True)
class Asked:
    """Which move is asked for.

    :ivar kind: None for the one that is due
    :ivar flavor: of a resize: a name or an ID
    :ivar image: of a rebuild: a name or an ID
    """

    kind: Kind | None = None
    flavor: str | None = None
    image: str | None = None


def destinations(
    cloud: Cloud,
    name: str,
    asked: Asked,
    given: ServerSpec,
    sources: SettingsSources,
    explainer: Explainer = explain,
) -> Destinations:
    """Find out which hosts could take a server that is moved, and why others could not.

    :param name: a name or an ID
    :param given: what the user says of the request, before what Nova shows
    :param explainer: explains the request that the move makes; what it raises is raised
    :raises BadUsage: for what does not go with the move
    :raises NothingMatches: when there is no such server, host, flavor or image
    :raises AmbiguousName: for a name that several servers or images have
    :raises ExtraSpecsHidden: when Nova leaves them out for this user
    :raises BadConfiguration: for a file of the scheduler's or a value that can't be
    :raises CloudBroke: when a service can't be read
    """
    _check_move(asked, given)
    found = read_server(cloud, name, given)
    existing_servers.check_host(cloud, found.body)
    there = [c for c in lookup.computes(cloud) if c.service_host == found.state.host]
    # Of a host that Nova does not list it is not known.
    is_up = any(compute.is_up for compute in there) if there else None
    kind, because = due(found.state, is_up)
    if asked.kind is not None:
        kind, because = asked.kind, Because.ASKED
    _check_offloaded(found.state, kind)
    move = _move(cloud, found, there, kind)
    planned = _planned(cloud, found, given, sources, move, asked, is_up)
    answer = _before(found, given, planned, because)
    if kind is Kind.REBUILD:
        return dataclasses.replace(answer, rebuild=_rebuilt(cloud, planned))
    explanation = explainer(cloud, planned.question)
    return dataclasses.replace(answer, explanation=explanation)


def _before(
    found: Found, given: ServerSpec, planned: Planned, because: Because
) -> Destinations:
    """Return what is known of a move before any host is looked at."""
    return Destinations(
        state=found.state,
        minor=found.minor,
        kind=planned.kind,
        because=because,
        # A host that was named when it was made does not bind a move.
        parts=tuple(p for p in found.parts(given) if p.name is not Name.HOST),
        refusals=refusals(planned),
        ignored=planned.question.ignored_host,
        has_refused_image=found.action is not None and found.action.name == "rebuild",
    )


def _check_move(asked: Asked, given: ServerSpec) -> None:
    for kind, option, value in (
        (Kind.RESIZE, "--flavor", asked.flavor),
        (Kind.REBUILD, "--image", asked.image),
    ):
        if (asked.kind is kind) is not (value is not None):
            raise BadUsage(f"{option} and --for {kind.value} go together")
    if asked.kind is Kind.REBUILD and given.names_host:
        raise BadUsage("a rebuild is where the server is; --on-host is for moves")
    if ":" in (given.zone or ""):
        raise BadUsage("a move has no ZONE:HOST; --on-host names its host")


def _check_offloaded(state: ServerState, kind: Kind) -> None:
    """Accept no unshelving of a server that is still on its host: it starts there.

    nova/conductor/manager.py, ``unshelve_instance``
    """
    if kind is Kind.UNSHELVE and state.vm_state == SHELVED:
        where = f" on {state.host}" if state.host else ""
        raise BadUsage(
            f"{state.name} is shelved and not offloaded: unshelving starts it where it "
            f"is{where}, and asks for no host"
        )


def _move(cloud: Cloud, found: Found, there: Sequence[Compute], kind: Kind) -> Move:
    """Return the move, with what its own host lets it do.

    :param there: the compute nodes of that host
    """
    state = found.state
    source = next((c for c in there if c.node == state.node), None)
    may_stay = False
    if kind is Kind.MIGRATION and source is not None:
        may_stay = SAME_HOST in read.traits_of(cloud.placement, source.uuid)
    return Move(kind, state.id, state.host, source, may_stay)


def _planned(
    cloud: Cloud,
    found: Found,
    given: ServerSpec,
    sources: SettingsSources,
    move: Move,
    asked: Asked,
    is_up: bool | None,
) -> Planned:
    """Return the move with what nova-scheduler is asked for it."""
    assumptions = settings.of_cloud(cloud, sources)
    before = moved(cloud, found, given, assumptions, move)
    question = before
    if asked.flavor is not None:
        flavor = lookup.flavor(cloud, asked.flavor)
        question = dataclasses.replace(before, flavor=flavor)
        question = question.with_flavor(given.flavor_properties)
    if asked.image is not None:
        image = lookup.image(cloud, asked.image)
        question = dataclasses.replace(before, image=image)
        question = question.with_image(given.image_properties)
    return Planned(move.kind, found.state, is_up, before, question)


def _rebuilt(cloud: Cloud, planned: Planned) -> Rebuild | None:
    """Return what comes of a rebuild; None for a server that Nova has on no node."""
    move = planned.question.move
    if move is None or move.source is None:
        return None
    traits: frozenset[str] = frozenset()
    for provider in read.providers_used_by(cloud.placement, move.server):
        traits |= read.traits_of(cloud.placement, provider)
    return rebuild(planned.question, move.source, traits, planned.has_image)
