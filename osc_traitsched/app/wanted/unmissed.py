"""Hosts that nobody misses: files alone have them found, and no server is there."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.cloud import servers
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.change.isolation import Context, Effect
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.inventory.trait_keys import required_by
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.claims import Claim, Unit
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.placed import Placed


def with_missed_hosts(
    effects: Iterable[Effect],
    cloud: Cloud,
    found: FoundCloud,
    units: Mapping[Unit, Claim],
    assumptions: SchedulerSettings,
) -> Iterator[Effect]:
    """Yield the effects that leave flavors without hosts which somebody may miss.

    Each in the contexts in which that is so. Where files alone have a flavor find hosts
    in a zone, or in the aggregates to which a project is limited, a run that ended
    early may have left them; while no server is there, or none of the project, nobody
    loses them when the next goes on.

    :param units: each unit that lines are about
    """
    look = _Look(cloud, found, Placed(units, found, assumptions))
    for effect in effects:
        if not (effect.leaves_no_host or effect.comes_and_goes):
            if effect.may_leave_no_host:
                yield effect
            continue
        missed = [c for c in effect.contexts if look.misses_any(effect, c)]
        if missed:
            yield effect.in_contexts(missed)


class _Look:
    """Looks for servers on hosts; each host is asked for once."""

    def __init__(self, cloud: Cloud, found: FoundCloud, placed: Placed) -> None:
        nova = found.snapshot.nova or Nova()
        self._service_hosts = {c.uuid: c.service_host for c in nova.computes}
        specs = ((body["name"], body.get("extra_specs")) for body in found.flavors)
        self._required = {name: required_by(each or {}) for name, each in specs}
        self._in_zone = functools.cache(placed.in_zone)
        self._of_project = functools.cache(placed.of_project)
        self._any_on = functools.cache(functools.partial(servers.any_on, cloud))

    def misses_any(self, effect: Effect, context: Context) -> bool:
        """Tell whether who asks in a context may miss a host that a flavor loses."""
        roots = effect.before_none
        is_known = bool(roots) and not effect.may_leave_no_host
        if not is_known or not roots <= self._service_hosts.keys():
            return True
        hosts = {self._service_hosts[root] for root in roots}
        required = self._required[effect.flavor]
        zone, project = context.zone, context.project
        by_zone = zone is not None and hosts <= self._in_zone(zone, required)
        if by_zone and not self._has_server(hosts):
            return False
        limited = project is not None and hosts <= self._of_project(project, required)
        return not limited or self._has_server(hosts, project)

    def _has_server(self, hosts: Iterable[str], project: str | None = None) -> bool:
        """Tell whether a server, or one of a project, is on a host, or may be."""
        try:
            return any(self._any_on(host, project) for host in sorted(hosts))
        except CloudBroke:
            return True
