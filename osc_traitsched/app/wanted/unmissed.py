"""Which plans leave flavors without hosts that nobody misses.

Files alone have the flavor find the hosts, and no server is there:

* in a zone: none on these hosts, and none that was asked for there and is shelved;
* for a project that Placement limits: none of the project, wherever it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping

from osc_traitsched.cloud import read, servers
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.isolation import Context, Effect
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Compute, Nova
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.placed import Placed
from osc_traitsched.core.wanted.requiring import Required, RequiredTraits

_Effects = tuple[Effect, ...]


class Unmissed:
    """Tells which hosts nobody misses; each host is asked for its servers once.

    A run that ended early may have left them where it put them. While no server is
    there, nobody loses them when the next run goes on.

    :param servers_there: how many servers hosts have, as far as that was read
    """

    def __init__(
        self,
        cloud: Cloud,
        found: FoundCloud,
        placed: Placed,
        required: RequiredTraits,
        servers_there: Mapping[str, int],
    ) -> None:
        self._cloud, self._placed, self._required = cloud, placed, required
        self._nodes = (found.snapshot.nova or Nova()).by_service_host
        self._service_hosts = {
            node.uuid: host for host, nodes in self._nodes.items() for node in nodes
        }
        self._servers_there = servers_there
        self._has_server = functools.cache(self._any_on)
        self._has_any = functools.cache(self._any_of)
        #: Once they can't be read, every host may have one.
        self._can_be_read = True

    def without_server(self, hosts: Iterable[str]) -> frozenset[str]:
        """Return which of some service hosts surely have no server."""
        return frozenset(host for host in sorted(hosts) if not self._has_server(host))

    def split(
        self, effects: Iterable[Effect], crossing: Iterable[str]
    ) -> tuple[_Effects, _Effects]:
        """Return the effects that leave flavors without hosts which somebody may miss.

        And those that leave them without hosts which nobody misses; each in the
        contexts in which that is so.

        :param crossing: service hosts without a server that are between two zones, and
            that flavors find there for a moment only
        """
        there = frozenset(crossing)
        nodes = self._service_hosts.items() if there else ()
        roots = frozenset(uuid for uuid, host in nodes if host in there)
        missed, unmissed = [], []
        for effect in effects:
            contexts = self._missed_in(effect, roots)
            if contexts:
                missed.append(effect.in_contexts(contexts))
            rest = [c for c in effect.contexts if c not in contexts]
            if rest and effect.leaves_no_host:
                unmissed.append(effect.in_contexts(rest))
        return tuple(missed), tuple(unmissed)

    def _missed_in(
        self, effect: Effect, crossing: frozenset[str]
    ) -> tuple[Context, ...]:
        """Return the contexts in which somebody may miss hosts that a flavor loses."""
        if effect.may_leave_no_host:
            return effect.contexts
        seen = effect.without_at_first(crossing) if crossing else effect
        if not (seen.leaves_no_host or seen.comes_and_goes):
            return ()
        roots = seen.before_none
        if not roots <= self._service_hosts.keys():
            return seen.contexts
        hosts = frozenset(self._service_hosts[root] for root in roots)
        required = self._required.of(effect.flavor, effect.asked.image)
        return tuple(
            context
            for context in seen.contexts
            if self._is_missed_by_zone(hosts, context.zone, required)
            and self._is_missed_by_project(hosts, context.project, required)
        )

    def _is_missed_by_zone(
        self, hosts: frozenset[str], zone: str | None, required: Required
    ) -> bool:
        """Tell whether who asks in a zone, if in any, may miss some hosts."""
        if zone is None or not hosts <= self._placed.in_zone(zone, required):
            return True
        return self._is_shelved(zone) or any(map(self._has_server, sorted(hosts)))

    def _is_missed_by_project(
        self, hosts: frozenset[str], project: str | None, required: Required
    ) -> bool:
        """Tell whether who asks as a project may miss some hosts; None for others."""
        if project is None or not hosts <= self._placed.of_project(project, required):
            return True
        return self._has_any(project)

    def _any_on(self, host: str) -> bool:
        """Tell whether a server is on a service host, or may be.

        Placement knows of those that are still on their way, or may come back: Nova
        shows one whose resize is not confirmed on its new host alone.
        """
        if self._servers_there.get(host):
            return True
        is_counted = host in self._servers_there
        return self._may_be(
            lambda: not is_counted and servers.any_on(self._cloud, host)
        ) or self._may_be(lambda: any(map(self._is_claimed, self._nodes.get(host, ()))))

    def _is_claimed(self, node: Compute) -> bool:
        return read.has_allocations(self._cloud.placement, node.uuid)

    def _any_of(self, project: str) -> bool:
        """Tell whether a project has a server, or may have."""
        return self._may_be(lambda: servers.any_of(self._cloud, project))

    def _is_shelved(self, zone: str) -> bool:
        """Tell whether a server that is shelved may come back to a zone."""
        return self._may_be(lambda: zone in self._shelved)

    @functools.cached_property
    def _shelved(self) -> frozenset[str]:
        """The zones of servers that are shelved and on no host."""
        return servers.zones_of_shelved(self._cloud)

    def _may_be(self, is_so: Callable[[], bool]) -> bool:
        """Tell whether something is so, or can't be read."""
        try:
            return not self._can_be_read or is_so()
        except CloudBroke:
            self._can_be_read = False
            return True
