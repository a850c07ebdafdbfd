"""Which plans leave flavors without hosts that nobody misses.

Files alone have the flavor find the hosts, and no server is there:

* in a zone: no server at all, and none that is shelved and was asked for in the zone;
* for a project that Placement limits: none of the project.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping

from osc_traitsched.cloud import servers
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.isolation import Context, Effect
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.trait_keys import required_by, required_by_image
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.placed import Placed

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
        servers_there: Mapping[str, int],
    ) -> None:
        self._cloud, self._placed = cloud, placed
        nova = found.snapshot.nova or Nova()
        self._service_hosts = {c.uuid: c.service_host for c in nova.computes}
        specs = ((body["name"], body.get("extra_specs")) for body in found.flavors)
        self._required = {name: required_by(each or {}) for name, each in specs}
        self._of_images: dict[str, list[frozenset[str]]] = {}
        for body in found.images:
            traits = required_by_image(body)
            self._of_images.setdefault(body["name"], []).append(traits)
        self._servers_there = servers_there
        self._has_server = functools.cache(self._any_on)
        #: Once they can't be read, every host may have one.
        self._can_be_read = True

    def without_server(self, hosts: Iterable[str]) -> frozenset[str]:
        """Return which of some service hosts surely have no server."""
        return frozenset(host for host in hosts if not self._has_server(host))

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
        images = self._of_images.get(effect.asked.image or "", ())
        required = self._required[effect.flavor].union(*images)
        return tuple(
            context
            for context in seen.contexts
            if self._is_missed_by_zone(hosts, context.zone, required)
            and self._is_missed_by_project(hosts, context.project, required)
        )

    def _is_missed_by_zone(
        self, hosts: frozenset[str], zone: str | None, required: frozenset[str]
    ) -> bool:
        """Tell whether who asks in a zone, if in any, may miss some hosts."""
        if zone is None or not hosts <= self._placed.in_zone(zone, required):
            return True
        return any(map(self._has_server, hosts)) or self._is_shelved(zone=zone)

    def _is_missed_by_project(
        self, hosts: frozenset[str], project: str | None, required: frozenset[str]
    ) -> bool:
        """Tell whether who asks as a project may miss some hosts; None for others."""
        if project is None or not hosts <= self._placed.of_project(project, required):
            return True
        there = any(self._has_server(host, project) for host in hosts)
        return there or self._is_shelved(project=project)

    def _any_on(self, host: str, project: str | None = None) -> bool:
        """Tell whether a server, or one of a project, is on a host, or may be."""
        if self._servers_there.get(host) == 0:
            return False
        if project is not None and not self._has_server(host):
            return False
        try:
            return not self._can_be_read or servers.any_on(self._cloud, host, project)
        except CloudBroke:
            self._can_be_read = False
            return True

    def _is_shelved(self, zone: str | None = None, project: str | None = None) -> bool:
        """Tell whether a server on no host is to be in a zone, or is a project's."""
        if self._shelved is None:
            return True
        return any(
            each.zone == zone if project is None else each.project == project
            for each in self._shelved
        )

    @functools.cached_property
    def _shelved(self) -> Collection[servers.Shelved] | None:
        """The servers that are shelved and on no host; None if they can't be read."""
        try:
            return servers.shelved(self._cloud)
        except CloudBroke:
            return None
