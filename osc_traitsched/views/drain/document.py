"""A plan that empties hosts, as a document for programs."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from osc_traitsched.core.servers.drain import Drain, ServerMove, Step, Stuck
from osc_traitsched.documents import plain
from osc_traitsched.paste import Option, line
from osc_traitsched.views.drain import prose, schema
from osc_traitsched.views.terminal import settings_from


def document(found: Drain, options: Sequence[Option] = ()) -> dict[str, Any]:
    """All of the plan as plain lists, mappings, numbers and text.

    :param options: the global options of printed commands
    """
    kinds = collections.Counter(step.server_move.kind.value for step in found.steps)
    hosts = [_host(each, found) for each in found.hosts]
    whole = schema.DrainDocument(
        schema=1,
        summary=prose.summary(found),
        host=hosts[0],
        hosts=hosts,
        compute_api=f"2.{found.minor}",
        servers=found.total,
        moves=dict(sorted(kinds.items())),
        before=[line(each, options) for each in prose.disabling(found)],
        steps=[_step(each, options) for each in found.steps],
        stuck=[_stuck(each, found, options) for each in found.stuck],
        unconfirmed=found.unconfirmed,
        remarks=prose.remarks(found),
        not_known=prose.hidden(found),
        not_visible=[
            schema.NotVisible(what, text, number)
            for (what, text), number in prose.unseen(found).items()
        ],
        release=found.settings.release,
        settings=settings_from(found.settings),
    )
    return dict(plain(whole))


def _host(name: str, found: Drain) -> schema.DrainedHost:
    nodes = [node.node for node in found.nodes if node.service_host == name]
    is_up, is_enabled = name not in found.down, name in found.enabled
    return schema.DrainedHost(name, nodes, is_up, is_enabled)


def _server(server_move: ServerMove) -> schema.DrainedServer:
    state, flavor = server_move.state, server_move.question.flavor
    return schema.DrainedServer(
        id=state.id,
        name=state.name,
        project_id=state.project,
        status=state.status,
        host=state.host,
        flavor=flavor["name"],
        vcpus=flavor["vcpus"],
        ram=flavor["ram"],
        disk=flavor["disk"],
    )


def _step(step: Step, options: Sequence[Option]) -> schema.DrainStep:
    return schema.DrainStep(
        server=_server(step.server_move),
        move=step.server_move.kind.value,
        host=step.to.service_host,
        node=step.to.node,
        not_visible_filters=step.unknown,
        commands=prose.of_step(step, options),
    )


def _stuck(stuck: Stuck, found: Drain, options: Sequence[Option]) -> schema.StuckServer:
    text = list(prose.why(stuck, found))
    ending = prose.ending(stuck) if prose.has_way_out(stuck, found) else None
    return schema.StuckServer(
        server=_server(stuck.server_move),
        move=stuck.server_move.kind.value,
        why=stuck.why,
        refusals=[each.reason for each in stuck.server_move.refusals],
        text=text,
        first=None if ending is None else line(ending, options),
    )
