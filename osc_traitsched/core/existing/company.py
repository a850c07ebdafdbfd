"""The other servers that a server is to be with, or apart from: of groups and hints."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from osc_traitsched.core.existing import parts
from osc_traitsched.core.existing.fleet import Fleet, Resident
from osc_traitsched.core.nova.filter.hints import OF_SERVERS
from osc_traitsched.core.nova.filter.state import HostState, RequestSpec, ServerGroup
from osc_traitsched.core.nova.question import Body


@dataclasses.dataclass(frozen=True)
class Company:
    """The others of one server.

    :ivar group: its server group without itself; None for none
    :ivar places: the service hosts of those that are on one, by ID
    :ivar is_whole: it is known of each of them where it is
    """

    group: ServerGroup | None
    places: Mapping[str, str]
    is_whole: bool = True

    def seen(
        self, state: HostState, spec: RequestSpec
    ) -> tuple[HostState, RequestSpec]:
        """Return a host and a request as filters see them that look at servers."""
        here = frozenset(u for u, host in self.places.items() if host == state.host)
        return (
            dataclasses.replace(state, instances=here),
            dataclasses.replace(spec, group=self.group),
        )

    def with_itself(self, host: str) -> Company:
        """Return the company of a server that is moved: its group counts it, too.

        nova/scheduler/utils.py, ``setup_instance_group``

        :param host: the service host that it is on
        """
        if self.group is None:
            return self
        hosts = self.group.hosts | {host}
        return dataclasses.replace(
            self, group=dataclasses.replace(self.group, hosts=hosts)
        )


class Circles:
    """Knows of which servers groups and hints speak, and where they are.

    :param groups: those of all projects
    :ivar unplaced: the IDs of the servers that they speak of and that were not read
    """

    def __init__(self, groups: Iterable[ServerGroup], fleet: Fleet) -> None:
        members = {each.id for each in fleet.residents}
        self._groups = {
            uuid: group
            for group in groups
            if not group.members.isdisjoint(members)
            for uuid in group.members
        }
        self._named = list(map(_named, fleet.kinds))
        spoken_of = frozenset(self._groups).union(*self._named)
        self._places = {
            each.id: each.host for each in fleet.residents if each.id in spoken_of
        }
        self.unplaced = spoken_of - self._places.keys()

    def place(self, hosts: Mapping[str, str], left: Iterable[str]) -> None:
        """Take where servers are that were not read with the others.

        :param hosts: their service hosts, by ID; those that are on none are not there
        :param left: the IDs of those that were not looked for
        """
        self._places.update(hosts)
        self.unplaced = frozenset(left)

    def company(self, server: Resident) -> Company | None:
        """Return the others of a server; None for one that goes by itself."""
        group, named = self._groups.get(server.id), self._named[server.kind]
        if group is None and not named:
            return None
        members = (group.members if group else frozenset[str]()) - {server.id}
        others = (members | named) - {server.id}
        places = {uuid: self._places[uuid] for uuid in others if uuid in self._places}
        if group is not None:
            hosts = frozenset(places[uuid] for uuid in members if uuid in places)
            group = dataclasses.replace(group, members=members, hosts=hosts)
        return Company(group, places, others.isdisjoint(self.unplaced))


def _named(kind: Body) -> frozenset[str]:
    hints = parts.hints(kind)
    return frozenset(uuid for hint in OF_SERVERS for uuid in hints.get(hint, ()))
