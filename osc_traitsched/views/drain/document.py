"""A plan that empties a host, as a document for programs."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from osc_traitsched.core.existing.drain.plan import (
    Drain,
    Resident,
    Step,
    Stuck,
    Why,
)
from osc_traitsched.documents import plain
from osc_traitsched.paste import Option, line
from osc_traitsched.views.drain import prose, schema
from osc_traitsched.views.server import moves
from osc_traitsched.views.terminal import settings_from


def document(found: Drain, options: Sequence[Option] = ()) -> dict[str, Any]:
    """All of the plan as plain lists, mappings, numbers and text.

    :param options: the global options of printed commands
    """
    kinds = collections.Counter(step.resident.kind.value for step in found.steps)
    nodes = [node.node for node in found.nodes]
    whole = schema.DrainDocument(
        schema=1,
        summary=prose.summary(found),
        host=schema.DrainedHost(found.host, nodes, found.is_up, found.is_enabled),
        compute_api=f"2.{found.minor}",
        servers=found.total,
        moves=dict(sorted(kinds.items())),
        before=[line(each, options) for each in prose.disabling(found)],
        steps=[_step(each, options) for each in found.steps],
        stuck=[_stuck(each, found, options) for each in found.stuck],
        shortage=_shortage(found),
        unconfirmed=found.unconfirmed,
        remarks=prose.remarks(found),
        not_known=prose.hidden(found),
        not_visible=[
            schema.NotVisible(each, moves.UNSEEN[each], number)
            for each, number in prose.unseen(found).items()
        ],
        release=found.settings.release,
        settings=settings_from(found.settings),
    )
    return dict(plain(whole))


def _server(resident: Resident) -> schema.DrainedServer:
    state, flavor = resident.state, resident.question.flavor
    return schema.DrainedServer(
        id=state.id,
        name=state.name,
        project_id=state.project,
        status=state.status,
        flavor=flavor["name"],
        vcpus=flavor["vcpus"],
        ram=flavor["ram"],
        disk=flavor["disk"],
    )


def _step(step: Step, options: Sequence[Option]) -> schema.DrainStep:
    return schema.DrainStep(
        server=_server(step.resident),
        move=step.resident.kind.value,
        host=step.to.service_host,
        node=step.to.node,
        not_visible_filters=step.unknown,
        commands=prose.of_step(step, options),
    )


def _stuck(stuck: Stuck, found: Drain, options: Sequence[Option]) -> schema.StuckServer:
    text = list(prose.why(stuck, found))
    if stuck.why is Why.NO_ROOM:
        text.append(prose.shortage(found))
    ending = prose.ending(stuck) if prose.has_way_out(stuck, found) else None
    return schema.StuckServer(
        server=_server(stuck.resident),
        move=stuck.resident.kind.value,
        why=stuck.why,
        refusals=[each.why for each in stuck.resident.refusals],
        text=text,
        first=None if ending is None else line(ending, options),
    )


def _shortage(found: Drain) -> schema.DrainShortage | None:
    short = found.shortage
    if short is None:
        return None
    return schema.DrainShortage(
        resource_class=short.resource_class,
        group=short.group,
        servers=[each.id for each in short.servers],
        least=short.least,
        room=short.room,
        hosts=short.hosts,
        text=prose.shortage(found),
    )
