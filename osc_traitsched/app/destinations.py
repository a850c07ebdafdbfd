"""From a server that is to be moved to the hosts that could take it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from osc_traitsched.app import explain, server_request, settings
from osc_traitsched.app.own_filters import OwnSources
from osc_traitsched.app.server_request import Found
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import lookup, read
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import BadUsage
from osc_traitsched.core.existing.history import ServerState
from osc_traitsched.core.existing.moves.destinations import Destinations
from osc_traitsched.core.existing.moves.due import SHELVED, Because, due
from osc_traitsched.core.existing.moves.refusals import Planned, refusals
from osc_traitsched.core.existing.moves.unseen import unseen
from osc_traitsched.core.existing.parts import Given, Name
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.move import SAME_HOST, SAME_HOST_SINCE, Kind, Move
from osc_traitsched.core.nova.question import Question


@dataclasses.dataclass(frozen=True)
class Asked:
    """Which move is asked for.

    :ivar kind: None for the one that is due
    :ivar flavor: of a resize: a name or an ID
    """

    kind: Kind | None = None
    flavor: str | None = None


def destinations(
    cloud: Cloud,
    name: str,
    asked: Asked,
    given: Given,
    sources: SettingsSources,
    named: Sequence[str] = (),
    want_figures: bool = False,
    want_fixes: bool | None = None,
    own: OwnSources | None = None,
) -> Destinations:
    """Find out which hosts could take a server that is moved, and why others could not.

    :param name: a name or an ID
    :param given: what the user says of the request, before what Nova shows
    :param named: as for :func:`explain.explain`, with what follows
    :raises BadUsage: for what does not go with the move
    :raises NothingMatches: when there is no such server, host or flavor
    :raises AmbiguousName: for a name that several servers have
    :raises ExtraSpecsHidden: when Nova leaves them out for this user
    :raises BadConfiguration: for a file of the scheduler's or a value that can't be
    :raises CloudBroke: when a service can't be read
    """
    _check(asked, given)
    found = server_request.read_server(cloud, name, given)
    there = [c for c in lookup.computes(cloud) if c.service_host == found.state.host]
    # Of a host that Nova does not list it is not known.
    is_up = any(compute.is_up for compute in there) if there else None
    kind, because = due(found.state, is_up)
    if asked.kind is not None:
        kind, because = asked.kind, Because.ASKED
    _check_offloaded(found.state, kind)
    question = _question(cloud, found, given, sources, kind, asked, there)
    planned = Planned(
        kind=kind,
        state=found.state,
        is_up=is_up,
        question=question,
        old_flavor=server_request.own_flavor(found),
    )
    explanation = explain.explain(cloud, question, named, want_figures, want_fixes, own)
    return Destinations(
        state=found.state,
        minor=found.minor,
        kind=kind,
        because=because,
        # A host that was named when it was made does not bind a move.
        parts=tuple(p for p in found.parts(given) if p.name is not Name.HOST),
        explanation=explanation,
        refusals=refusals(planned),
        ignored=question.ignored_host,
        unseen=unseen(planned),
    )


def _check(asked: Asked, given: Given) -> None:
    if (asked.kind is Kind.RESIZE) is not (asked.flavor is not None):
        raise BadUsage("--flavor goes with --for resize, and --for resize with it")
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


def _question(
    cloud: Cloud,
    found: Found,
    given: Given,
    sources: SettingsSources,
    kind: Kind,
    asked: Asked,
    there: Sequence[Compute],
) -> Question:
    """Return what nova-scheduler is asked for the move."""
    assumptions = settings.of_cloud(cloud, sources)
    source = next((c for c in there if c.node == found.state.node), None)
    looks_for_trait = kind is Kind.MIGRATION and assumptions.release >= SAME_HOST_SINCE
    may_stay = False
    if looks_for_trait and source is not None:
        may_stay = SAME_HOST in read.traits_of(cloud.placement, source.uuid)
    move = Move(kind, found.state.id, found.state.host, source, may_stay)
    flavor = None if asked.flavor is None else lookup.flavor(cloud, asked.flavor)
    return server_request.moved(cloud, found, given, assumptions, move, flavor)
