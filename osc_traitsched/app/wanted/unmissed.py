"""Hosts that nobody misses: files alone have them found, and no server is there."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

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

    A run that ended early may have left them where it put them, or on their way.
    While no server is there, nobody loses them when the next run goes on.

    :param servers_there: how many servers hosts have, as far as that was read
    """

    def __init__(
        self,
        cloud: Cloud,
        found: FoundCloud,
        placed: Placed,
        servers_there: Mapping[str, int],
    ) -> None:
        nova = found.snapshot.nova or Nova()
        self._service_hosts = {c.uuid: c.service_host for c in nova.computes}
        specs = ((body["name"], body.get("extra_specs")) for body in found.flavors)
        self._required = {name: required_by(each or {}) for name, each in specs}
        self._of_images: dict[str, list[frozenset[str]]] = {}
        for body in found.images:
            traits = required_by_image(body)
            self._of_images.setdefault(body["name"], []).append(traits)
        self._placed = placed
        self._empty = {host for host, number in servers_there.items() if not number}
        self._in_zone = functools.cache(placed.in_zone)
        self._of_project = functools.cache(placed.of_project)
        self._any_on = functools.cache(functools.partial(servers.any_on, cloud))

    @functools.cached_property
    def crossing(self) -> frozenset[str]:
        """The service hosts that are between two zones, and have no server."""
        hosts = self._placed.crossing
        return frozenset(host for host in hosts if not self._has_server([host]))

    def split(self, effects: Iterable[Effect]) -> tuple[_Effects, _Effects]:
        """Return the effects that leave flavors without hosts which somebody may miss.

        And those that leave them without hosts which nobody misses; each in the
        contexts in which that is so.
        """
        missed, unmissed = [], []
        for effect in effects:
            contexts = self._missed_in(effect)
            if contexts:
                missed.append(effect.in_contexts(contexts))
            rest = [c for c in effect.contexts if c not in contexts]
            if rest and effect.leaves_no_host:
                unmissed.append(effect.in_contexts(rest))
        return tuple(missed), tuple(unmissed)

    def _missed_in(self, effect: Effect) -> tuple[Context, ...]:
        """Return the contexts in which somebody may miss hosts that a flavor loses."""
        if effect.may_leave_no_host:
            return effect.contexts
        seen = effect.arriving(self._roots)
        if not (seen.leaves_no_host or seen.comes_and_goes):
            return ()
        return tuple(each for each in seen.contexts if self._misses(seen, each))

    def _misses(self, effect: Effect, context: Context) -> bool:
        """Tell whether who asks in a context may miss a host that a flavor loses."""
        roots = effect.before_none
        if not roots <= self._service_hosts.keys():
            return True
        hosts = {self._service_hosts[root] for root in roots}
        images = self._of_images.get(effect.asked.image or "", ())
        required = self._required[effect.flavor].union(*images)
        zone, project = context.zone, context.project
        by_zone = zone is not None and hosts <= self._in_zone(zone, required)
        if by_zone and not self._has_server(hosts):
            return False
        limited = project is not None and hosts <= self._of_project(project, required)
        return not limited or self._has_server(hosts, project)

    @functools.cached_property
    def _roots(self) -> frozenset[str]:
        """The UUIDs of the nodes of the hosts that are between two zones."""
        nodes = self._service_hosts.items() if self.crossing else ()
        return frozenset(uuid for uuid, host in nodes if host in self.crossing)

    def _has_server(self, hosts: Iterable[str], project: str | None = None) -> bool:
        """Tell whether a server, or one of a project, is on a host, or may be."""
        try:
            rest = sorted({*hosts} - self._empty)
            return any(self._any_on(host, project) for host in rest)
        except CloudBroke:
            return True
