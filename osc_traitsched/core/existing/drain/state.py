"""The hosts of a cloud as they are after each move of a plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.existing.drain.model import Asked, Claim, Leaving
from osc_traitsched.core.nova.filter.state import HostState

#: Amounts that are free, by the UUID of the provider and the resource class.
Free = Mapping[tuple[str, str], int]

#: What filters say of hosts as they were when they were asked.
Memory = dict[Asked, dict[str, tuple[HostState, "tuple[str, ...] | None"]]]


class State:
    """What is free, and what filters and weighers are given of each host.

    It changes with each move. What several trials find out again is remembered.

    :param hosts: by the UUID of the root
    """

    def __init__(
        self, hosts: Mapping[str, HostState], free: Free, memory: Memory | None = None
    ) -> None:
        self.hosts = dict(hosts)
        self.free = dict(free)
        self._memory = {} if memory is None else memory

    def copy(self) -> State:
        """Return the same state, for a trial of its own."""
        return State(self.hosts, self.free, self._memory)

    def claim(self, asked: Asked, root: str) -> Claim | None:
        """Return the first claim that there is still room for; None for none."""
        for claim in asked.claims.get(root, ()):
            if all(
                self.free.get((t.provider, t.resource_class), 0) >= t.amount
                for t in claim
            ):
                return claim
        return None

    def doubts(self, asked: Asked, root: str) -> tuple[str, ...] | None:
        """Return the filters that may keep a host out; None where one does for sure."""
        known = self._memory.get(asked)
        if known is None:
            hosts = [self.hosts[each] for each in asked.claims if each in self.hosts]
            found = asked.doubts(hosts)
            known = {
                host.compute.uuid: (host, found[host.compute.uuid]) for host in hosts
            }
            self._memory[asked] = known
        host = self.hosts[root]
        if known[root][0] is not host:
            known[root] = (host, asked.doubts([host])[root])
        return known[root][1]

    def open_to(self, asked: Asked) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the hosts that can take one more server, and what may keep it out."""
        for root in asked.claims:
            if root in self.hosts and self.claim(asked, root) is not None:
                doubts = self.doubts(asked, root)
                if doubts is not None:
                    yield root, doubts

    def move(self, server: Leaving, root: str) -> None:
        """Let a host have a server that there is room for."""
        for each in self.claim(server.asked, root) or ():
            self.free[each.provider, each.resource_class] -= each.amount
        self.hosts[root] = _with(self.hosts[root], server)


def _with(host: HostState, server: Leaving) -> HostState:
    """Return a host as it is once its nova-compute counts one more server."""
    flavor, report = server.asked.spec.server.flavor, host.compute.report
    is_volume = server.asked.spec.server.root_disk_is_a_volume
    disk = flavor.ephemeral + (0 if is_volume else flavor.disk)
    grown = report and report.with_server(flavor.vcpus, flavor.ram, disk)
    instances = host.instances
    return dataclasses.replace(
        host,
        compute=dataclasses.replace(host.compute, report=grown),
        instances=None if instances is None else instances | {server.id},
    )
