"""From a server that exists to why it failed, and whether hosts could take it now."""

from __future__ import annotations

import dataclasses

from osc_traitsched.app import server_request
from osc_traitsched.app.explain import Explainer, explain
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import existing_servers
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers.failure import (
    Changes,
    Failure,
    Migration,
    ServerAnswer,
    ServerState,
    failure,
)

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
    found = server_request.read_server(cloud, name, given)
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
        question, is_changed = server_request.question(cloud, found, given, sources)
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
