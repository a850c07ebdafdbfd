"""The hosts that could take a server that is moved."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from osc_traitsched.app import server_request, settings
from osc_traitsched.app.explain import Explainer, explain
from osc_traitsched.app.server_request import Found
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import existing_servers, lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.question import SAME_HOST, Kind, Move, ServerSpec
from osc_traitsched.core.servers.failure import ServerState
from osc_traitsched.core.servers.moves import (
    SHELVED,
    Because,
    Destinations,
    Rebuild,
    due,
    rebuild,
)
from osc_traitsched.core.servers.parts import Name
from osc_traitsched.core.servers.refusals import Planned, refusals


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
    _check(asked, given)
    found = server_request.read_server(cloud, name, given)
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


def _check(asked: Asked, given: ServerSpec) -> None:
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
    before = server_request.moved(cloud, found, given, assumptions, move)
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
