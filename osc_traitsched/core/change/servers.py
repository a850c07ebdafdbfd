"""Servers that exist, and what a plan does to them.

A server keeps the extra specs that its flavor had when the server was made or last
resized, and so it requires their traits whatever becomes of the flavor
(nova/scheduler/utils.py, ``ResourceRequest.from_request_spec``, and
nova/objects/instance.py, ``Instance.get_flavor``).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from osc_traitsched.core import errors


@dataclasses.dataclass(frozen=True)
class Server:
    """A server on a host.

    :ivar host: the service host
    :ivar project: its ID
    :ivar required: the traits that the server's own copy of its flavor requires; None
        where the compute API's policy hides that
    """

    id: str
    name: str
    host: str
    project: str
    required: frozenset[str] | None


class ServersNeedTraits(errors.AnswerIsNo):
    """Servers would have no other place, or may have none.

    :ivar traits: those that no host would have any more
    :ivar servers: those that require one of them
    :ivar unknown: those of which the compute API hides what they require
    """

    def __init__(
        self,
        traits: tuple[str, ...],
        servers: tuple[Server, ...],
        unknown: tuple[Server, ...] = (),
    ) -> None:
        super().__init__(", ".join(each.id for each in (*servers, *unknown)))
        self.traits = traits
        self.servers = servers
        self.unknown = unknown


class ComputesUnlisted(errors.CloudBroke):
    """Nova does not list compute nodes that Placement has.

    :ivar hosts: the names of their providers
    """

    def __init__(self, hosts: tuple[str, ...]) -> None:
        super().__init__("compute", f"does not list {', '.join(hosts)}")
        self.hosts = hosts


class ServersUnknown(errors.AnswerIsNo):
    """No host would have traits any more, and the servers there can't be read."""

    def __init__(self, traits: tuple[str, ...], why: errors.CloudBroke) -> None:
        super().__init__(", ".join(traits))
        self.traits = traits
        self.why = why


def without_place(
    orphaned: Iterable[str], servers: Iterable[Server]
) -> ServersNeedTraits | None:
    """Return which servers no host could take any more; None without any.

    :param orphaned: the traits that no provider has after a plan
    :param servers: those on the hosts that lose them
    """
    traits, servers = tuple(orphaned), tuple(servers)
    stranded = tuple(s for s in servers if s.required and s.required & {*traits})
    unknown = tuple(s for s in servers if s.required is None)
    if not traits or not (stranded or unknown):
        return None
    return ServersNeedTraits(traits, stranded, unknown)


@dataclasses.dataclass(frozen=True)
class MisplacedServers:
    """Servers that are on the other side of an isolation than new ones would be.

    :ivar inside: those in the aggregate that do not require all of the traits
    :ivar outside: those on other hosts with the traits that do
    :ivar unknown: those of which the compute API hides what they require
    """

    inside: tuple[Server, ...] = ()
    outside: tuple[Server, ...] = ()
    unknown: tuple[Server, ...] = ()


NO_SERVERS = MisplacedServers()


def misplaced(
    names: Iterable[str], inside: Iterable[Server], outside: Iterable[Server]
) -> MisplacedServers:
    """Return the servers that stay where isolating would put no new one like them.

    :param names: the traits that isolate
    :param inside: all servers in the aggregate
    :param outside: those on the other hosts that have the traits
    """
    wanted, inside, outside = frozenset(names), tuple(inside), tuple(outside)
    return MisplacedServers(
        _known(inside, wanted, requiring=False),
        _known(outside, wanted, requiring=True),
        tuple(s for s in (*inside, *outside) if s.required is None),
    )


def _known(
    servers: Iterable[Server], wanted: frozenset[str], requiring: bool
) -> tuple[Server, ...]:
    return tuple(
        server
        for server in servers
        if server.required is not None and (server.required >= wanted) is requiring
    )
