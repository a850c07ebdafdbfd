"""Servers that exist, and what a plan does to them.

A server keeps the extra specs that its flavor had when the server was made or last
resized, and the properties that its image had when it was made or last rebuilt. So it
requires their traits whatever becomes of flavor and image (nova/scheduler/utils.py,
``ResourceRequest.from_request_spec``, and nova/objects/instance.py,
``Instance.get_flavor``).

The compute API shows that copy of the extra specs. Of the image's properties it shows
none that is a trait, in no microversion (nova/api/openstack/compute/views/servers.py,
``_get_image``). The evidence is the image in Glance, as it is now.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from osc_traitsched.core import errors
from osc_traitsched.text import count, listed, quoted, visible


@dataclasses.dataclass(frozen=True)
class Server:
    """A server on a host.

    :ivar host: the service host
    :ivar project: its ID
    :ivar of_flavor: the traits that the server's own copy of its flavor requires; None
        where the compute API's policy hides that
    :ivar of_image: the traits that its image requires now; None if Glance has the
        image no longer, or the server was booted from a volume
    """

    id: str
    name: str
    host: str
    project: str
    of_flavor: frozenset[str] | None
    of_image: frozenset[str] | None = frozenset()

    @property
    def required(self) -> frozenset[str]:
        """The traits that it is known to require."""
        return (self.of_flavor or frozenset()) | (self.of_image or frozenset())

    @property
    def is_known_whole(self) -> bool:
        """Whether it is known to require no other traits."""
        return self.of_flavor is not None and self.of_image is not None


@dataclasses.dataclass(eq=False)
class ServersNeedTraits(errors.AnswerIsNo):
    """Servers would have no other place, or may have none.

    :ivar traits: those that no host would have any more
    :ivar servers: those that require one of them
    :ivar unknown: those of which the compute API hides what they require
    """

    traits: tuple[str, ...]
    servers: tuple[Server, ...]
    unknown: tuple[Server, ...] = ()

    def __str__(self) -> str:
        reasons = []
        if self.servers:
            reasons.append(f"it is still required by {_servers(self.servers)}")
        if self.unknown:
            reasons.append(
                "the compute API does not show whether it is required by "
                + _servers(self.unknown)
            )
        return (
            f"nothing written: no host would have {listed(self.traits)} any more, and "
            f"{'; '.join(reasons)}; a server that requires it could not be migrated, "
            "evacuated or unshelved; --force overrides this"
        )


class ComputesUnlisted(errors.CloudBroke):
    """Nova does not list compute nodes that Placement has.

    :ivar hosts: the names of their providers
    """

    def __init__(self, hosts: tuple[str, ...]) -> None:
        super().__init__("compute", f"does not list {', '.join(hosts)}")
        self.hosts = hosts

    def __str__(self) -> str:
        return (
            f"Nova does not list the compute nodes of "
            f"{listed(map(visible, self.hosts))}, nor their servers: a host may have "
            "no mapping, or its service was deleted"
        )


@dataclasses.dataclass(eq=False)
class ServersUnknown(errors.AnswerIsNo):
    """No host would have traits any more, and the servers there can't be read."""

    traits: tuple[str, ...]
    why: errors.CloudBroke

    def __str__(self) -> str:
        return (
            f"nothing written: no host would have {listed(self.traits)} any more, and "
            "whether a server still requires it can't be read "
            f"({self.why!s}); --force overrides this"
        )


def without_place(
    orphaned: Iterable[str], servers: Iterable[Server]
) -> ServersNeedTraits | None:
    """Return which servers no host could take any more; None without any.

    :param orphaned: the traits that no provider has after a plan
    :param servers: those on the hosts that lose them
    """
    traits, servers = tuple(orphaned), tuple(servers)
    stranded = tuple(s for s in servers if not s.required.isdisjoint(traits))
    others = (s for s in servers if s.required.isdisjoint(traits))
    unknown = tuple(s for s in others if s.of_flavor is None)
    if not traits or not (stranded or unknown):
        return None
    return ServersNeedTraits(traits, stranded, unknown)


def without_image(servers: Iterable[Server]) -> tuple[Server, ...]:
    """Return the servers of which it can't be seen what their image requires."""
    return tuple(s for s in servers if s.of_image is None)


@dataclasses.dataclass(frozen=True)
class MisplacedServers:
    """Servers that are on the other side of an isolation than new ones would be.

    :ivar inside: those in the aggregate that do not require all of the traits
    :ivar outside: those on other hosts with the traits that do
    :ivar unknown: those of which the compute API hides what their flavor requires
    :ivar without_image: others of which it can't be seen what their image requires
    :ivar traits: those that isolate
    """

    inside: tuple[Server, ...] = ()
    outside: tuple[Server, ...] = ()
    unknown: tuple[Server, ...] = ()
    without_image: tuple[Server, ...] = ()
    traits: tuple[str, ...] = ()


NO_SERVERS = MisplacedServers()


def misplaced(
    names: Iterable[str], inside: Iterable[Server], outside: Iterable[Server]
) -> MisplacedServers:
    """Return the servers that stay where isolating would put no new one like them.

    :param names: the traits that isolate
    :param inside: all servers in the aggregate
    :param outside: those on the other hosts that have the traits
    """
    names, inside, outside = tuple(names), tuple(inside), tuple(outside)
    wanted = frozenset(names)
    free = [s for s in (*inside, *outside) if not s.required >= wanted]
    return MisplacedServers(
        inside=tuple(
            s for s in inside if s.is_known_whole and not s.required >= wanted
        ),
        outside=tuple(s for s in outside if s.required >= wanted),
        unknown=tuple(s for s in free if s.of_flavor is None),
        without_image=without_image(s for s in free if s.of_flavor is not None),
        traits=names,
    )


def _servers(found: Sequence[Server]) -> str:
    return f"{count(len(found), 'server')}: {listed(map(named, found))}"


def image_unseen(found: Sequence[Server]) -> str:
    """Return a line on servers of which it can't be seen what their image requires."""
    return (
        "what the image requires can't be seen, since it was deleted or the server "
        f"boots from a volume, of {_servers(found)}"
    )


def named(found: Server) -> str:
    """Return how one server is named: its name can be any project's choice."""
    return f"{quoted(found.name)} ({found.id}, on {visible(found.host)})"
