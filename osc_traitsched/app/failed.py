"""All servers that failed: read in pages, and each kind of failure judged once."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Iterator, Mapping

from osc_traitsched.app import server
from osc_traitsched.app.explain import explain
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import existing_servers, lookup
from osc_traitsched.cloud.service import Cloud, RememberedCloud, note_unread, unread
from osc_traitsched.core.errors import Forbidden, NoServer, TraitSchedError
from osc_traitsched.core.nova.question import ServerSpec
from osc_traitsched.core.servers.failed import (
    MOST_JUDGED,
    FailedKind,
    FailedServer,
    FailedServers,
    Kinds,
)
from osc_traitsched.core.servers.failure import ServerAnswer

#: So many servers of a kind are looked for, if they are deleted meanwhile.
_MOST_TRIED = 3


def failed(
    cloud: Cloud,
    sources: SettingsSources,
    since: datetime.datetime | None = None,
    project: str | None = None,
    host: str | None = None,
) -> FailedServers:
    """Servers in ERROR and failed moves, and how each kind of them would do now.

    Requests: one for each thousand servers in ERROR, two for moves, and those of
    :func:`app.server.answer` for at most 25 kinds, which share most of their answers.

    :param project: name or ID; None for all that the user may see
    :param host: only servers on this service host, and moves from it
    :raises NothingMatches: for an unknown project
    :raises BadConfiguration: for bad scheduler settings
    :raises CloudBroke: if servers can't be read
    """
    owner = None if project is None else lookup.project(cloud, project)
    kinds = Kinds(since)
    kinds.add(existing_servers.in_error(cloud, _query(since, owner, host)))
    groups = [tuple(servers) for _, servers in kinds.groups]
    in_error = frozenset(each.id for servers in groups for each in servers)
    moved = _moved(cloud, in_error, since, host) if project is None else ()
    groups += ((each,) for each in moved)
    remembered = RememberedCloud(cloud)
    first, rest = groups[:MOST_JUDGED], groups[MOST_JUDGED:]
    judged = (_judged(remembered, servers, sources) for servers in first)
    found = [kind for kind in judged if kind is not None]
    unjudged = [each for servers in rest for each in servers]
    found.sort(key=lambda kind: -len(kind.servers))
    return FailedServers(tuple(found), tuple(unjudged), bool(unread(cloud)))


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
    """Servers of failed moves that are not in ERROR; none if the user may list none."""
    try:
        bodies = existing_servers.failed_moves(cloud, _query(since, None, None))
    except Forbidden:
        note_unread(cloud, "failed moves")
        return
    seen = set(in_error)
    for body in bodies:
        identity = body["instance_uuid"]
        if identity not in seen and host in (None, body["source_compute"]):
            seen.add(identity)
            yield FailedServer(identity, identity)


def _judged(
    cloud: Cloud, servers: tuple[FailedServer, ...], sources: SettingsSources
) -> FailedKind | None:
    """How one of some servers would do; None if it is gone, or did not fail.

    If it was deleted since it was listed, the next one is taken.
    """
    quickly = functools.partial(explain, want_fixes=False)
    left, gone = servers, None
    while left and len(servers) - len(left) < _MOST_TRIED:
        try:
            answer = server.answer(cloud, left[0].id, ServerSpec(), sources, quickly)
        except NoServer as problem:
            if unread(cloud):
                return FailedKind(left, None, problem)
            left, gone = left[1:], problem
        except TraitSchedError as problem:
            return FailedKind(left, None, problem)
        else:
            return _kind(left, answer) if answer.failure else None
    return FailedKind(left, None, gone) if left else None


def _kind(servers: tuple[FailedServer, ...], answer: ServerAnswer) -> FailedKind:
    """A kind; of a move, only the answer has the server's name."""
    if len(servers) == 1:
        state, failure = answer.state, answer.failure
        failed_at = failure.when if failure else None
        servers = (FailedServer(state.id, state.name, state.project, failed_at),)
    return FailedKind(servers, answer, answer.problem)
