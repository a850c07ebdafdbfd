"""A plan that empties a host, for programs: schema 1."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from osc_traitsched.core.existing.drain.plan import (
    Drain,
    Resident,
    Shortage,
    Step,
    Stuck,
    Why,
)
from osc_traitsched.paste import Option, line
from osc_traitsched.views.drain import prose
from osc_traitsched.views.server import moves
from osc_traitsched.views.terminal import settings_from

SCHEMA = 1


def document(found: Drain, options: Sequence[Option] = ()) -> dict[str, Any]:
    """Return all of it as plain lists, mappings, numbers and text.

    :param options: the global ones of printed commands
    """
    kinds = collections.Counter(step.resident.kind.value for step in found.steps)
    return {
        "schema": SCHEMA,
        "summary": prose.summary(found),
        "host": {
            "name": found.host,
            "nodes": [node.node for node in found.nodes],
            "up": found.is_up,
            "enabled": found.is_enabled,
        },
        "compute_api": f"2.{found.minor}",
        "servers": found.total,
        "moves": dict(sorted(kinds.items())),
        "before": [line(each, options) for each in prose.disabling(found)],
        "steps": [_step(each, options) for each in found.steps],
        "stuck": [_stuck(each, found, options) for each in found.stuck],
        "shortage": found.shortage and _shortage(found.shortage, found),
        "unconfirmed": None if found.unconfirmed is None else list(found.unconfirmed),
        "remarks": list(prose.remarks(found)),
        "not_known": list(prose.hidden(found)),
        "not_visible": [
            {"what": each.value, "text": moves.UNSEEN[each], "servers": number}
            for each, number in prose.unseen(found).items()
        ],
        "release": found.settings.release,
        "settings": settings_from(found.settings),
    }


def _server(resident: Resident) -> dict[str, Any]:
    state, flavor = resident.state, resident.question.flavor
    return {
        "id": state.id,
        "name": state.name,
        "project_id": state.project,
        "status": state.status,
        "flavor": flavor["name"],
        "vcpus": flavor["vcpus"],
        "ram": flavor["ram"],
        "disk": flavor["disk"],
    }


def _step(step: Step, options: Sequence[Option]) -> dict[str, Any]:
    return {
        "server": _server(step.resident),
        "move": step.resident.kind.value,
        "host": step.to.service_host,
        "node": step.to.node,
        "not_visible_filters": list(step.unknown),
        "commands": list(prose.of_step(step, options)),
    }


def _stuck(stuck: Stuck, found: Drain, options: Sequence[Option]) -> dict[str, Any]:
    text = list(prose.why(stuck, found))
    if stuck.why is Why.NO_ROOM:
        text.append(prose.shortage(found))
    ending = prose.ending(stuck) if prose.has_way_out(stuck, found) else None
    return {
        "server": _server(stuck.resident),
        "move": stuck.resident.kind.value,
        "why": stuck.why.value,
        "refusals": [each.why.value for each in stuck.resident.refusals],
        "text": text,
        "first": None if ending is None else line(ending, options),
    }


def _shortage(short: Shortage, found: Drain) -> dict[str, Any]:
    return {
        "resource_class": short.resource_class,
        "group": short.group,
        "servers": [each.id for each in short.servers],
        "least": short.least,
        "room": short.room,
        "hosts": short.hosts,
        "text": prose.shortage(found),
    }
