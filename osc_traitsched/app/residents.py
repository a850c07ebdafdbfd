"""The servers of a host, each with the move that takes it away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from osc_traitsched.app import server_request
from osc_traitsched.app.server_request import Found
from osc_traitsched.cloud import residents as reading
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import CloudBroke, Forbidden, NotInCatalog, Refusal
from osc_traitsched.core.existing import parts
from osc_traitsched.core.existing.drain.plan import Resident
from osc_traitsched.core.existing.history import read_state
from osc_traitsched.core.existing.moves.due import due
from osc_traitsched.core.existing.moves.planned import Planned
from osc_traitsched.core.existing.moves.refusals import refusals
from osc_traitsched.core.existing.moves.unseen import unseen
from osc_traitsched.core.existing.parts import Given, Name
from osc_traitsched.core.explain.filtering import check_policy
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova.move import Move
from osc_traitsched.core.nova.settings import SchedulerSettings

_NOTHING_SAID = Given()


def residents(
    cloud: Cloud, nodes: Sequence[Compute], assumptions: SchedulerSettings
) -> tuple[int, tuple[Resident, ...]]:
    """Return the servers of a host, and the minor version they were read with.

    What they have in common is read once.

    :param nodes: the compute nodes of the service host
    :raises ExtraSpecsHidden: when Nova leaves them out for this user
    :raises CloudBroke: when a service can't be read
    """
    found = reading.residents(cloud, nodes[0].service_host)
    remembered = reading.remembering(cloud, found)
    return found.minor, tuple(
        _resident(remembered, _found(remembered, found, body), nodes, assumptions)
        for body in found.bodies
    )


def _found(cloud: Cloud, found: reading.Residents, body: Any) -> Found:
    ports, unread = None, {}
    if isinstance(found.ports, CloudBroke):
        unread[Name.PORTS] = found.ports
    else:
        ports = found.ports.get(body["id"], ())
    return Found(
        body=body,
        minor=found.minor,
        state=read_state(body),
        action=None,
        image=found.images.get(parts.image_id(body) or ""),
        ports=ports,
        volume=_root_volume(cloud, body),
        unread=unread,
    )


def _root_volume(cloud: Cloud, body: Any) -> str | None:
    try:
        return reading.root_volume(cloud, body)
    except (Forbidden, NotInCatalog):
        return None


def _resident(
    cloud: Cloud,
    found: Found,
    nodes: Sequence[Compute],
    assumptions: SchedulerSettings,
) -> Resident:
    """Return a server with the move that is due, and what Nova says of it at once."""
    state = found.state
    is_up = any(node.is_up for node in nodes)
    kind, _ = due(state, is_up)
    source = next((node for node in nodes if node.node == state.node), None)
    move = Move(kind, state.id, state.host, source)
    question = server_request.moved(cloud, found, _NOTHING_SAID, assumptions, move)
    refusal = None
    try:
        question.request()
        check_policy(question.spec(), assumptions)
    except Refusal as exc:
        refusal = exc
    planned = Planned(kind, state, is_up, before=question, question=question)
    return Resident(
        state,
        kind,
        question,
        found.parts(_NOTHING_SAID),
        refusals(planned),
        unseen(planned),
        refusal,
    )
