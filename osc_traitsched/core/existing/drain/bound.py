"""Shows that servers can't all have room, whatever their order and their hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from osc_traitsched.core.existing.drain.model import Asked, Leaving
from osc_traitsched.core.existing.drain.state import Free, State
from osc_traitsched.core.nova.filter import groups
from osc_traitsched.core.nova.filter.state import HostState

#: The hosts that can take servers, each with the providers that would give something.
_Givers = dict[str, set[str]]


@dataclasses.dataclass(frozen=True)
class Shortage:
    """Servers for which there is too little room on all hosts that could take any.

    :ivar resource_class: what there is too little of; None where the servers of a
        group are to be apart
    :ivar servers: all that need so much of it, or are of the group
    :ivar least: how much each of them needs at least
    :ivar room: so many of them fit at most
    :ivar hosts: how many hosts could take any of them
    :ivar group: its name
    """

    resource_class: str | None
    servers: tuple[Leaving, ...]
    least: int
    room: int
    hosts: int
    group: str | None = None


def shortage(servers: Sequence[Leaving], state: State) -> Shortage | None:
    """Return what proves that servers can't all be moved; None where nothing does.

    Of all that need an amount or more so many fit at most as the amount goes into what
    each host has free. Those that need much are looked at by themselves, and with those
    that need less.

    :param servers: that each have a host, if they are moved alone
    :param state: before the first move
    """
    usable = {asked: _usable(state, asked) for asked in {s.asked for s in servers}}
    found = [
        *_of_amounts(servers, usable, state.free),
        *_of_groups(servers, usable, state.hosts),
    ]
    return max(found, key=lambda each: len(each.servers) - each.room, default=None)


def _usable(state: State, asked: Asked) -> _Givers:
    return {
        root: {each.provider for claim in asked.claims[root] for each in claim}
        for root, _ in state.open_to(asked)
    }


def _of_amounts(
    servers: Sequence[Leaving], usable: Mapping[Asked, _Givers], free: Free
) -> Iterator[Shortage]:
    for name in sorted({name for asked in usable for name in asked.need}):
        needing: list[Leaving] = []
        givers: _Givers = {}
        seen: set[Asked] = set()
        for server in _most_first(servers, name):
            needing.append(server)
            if server.asked not in seen:
                seen.add(server.asked)
                for root, providers in usable[server.asked].items():
                    givers.setdefault(root, set()).update(providers)
            least = server.asked.need[name]
            if least:
                room = sum(
                    sum(free.get((uuid, name), 0) for uuid in each) // least
                    for each in givers.values()
                )
                if room < len(needing):
                    yield Shortage(name, tuple(needing), least, room, len(givers))


def _most_first(servers: Sequence[Leaving], name: str) -> list[Leaving]:
    needing = (server for server in servers if name in server.asked.need)
    return sorted(needing, key=lambda each: -each.asked.need[name])


def _of_groups(
    servers: Sequence[Leaving],
    usable: Mapping[Asked, _Givers],
    hosts: Mapping[str, HostState],
) -> Iterator[Shortage]:
    """Yield the groups whose servers are to be apart, and have too few hosts."""
    members: dict[frozenset[str], list[Leaving]] = {}
    for server in servers:
        group = server.asked.spec.group
        if group is not None and group.policy == groups.ANTI_AFFINITY:
            members.setdefault(group.members, []).append(server)
    for needing in members.values():
        group = needing[0].asked.spec.group
        if group is None:
            continue
        roots = {root for server in needing for root in usable[server.asked]}
        room = sum(
            group.max_server_per_host
            - len((hosts[root].instances or frozenset()) & group.members)
            for root in roots
        )
        if room < len(needing):
            yield Shortage(None, tuple(needing), 1, room, len(roots), group.name)
