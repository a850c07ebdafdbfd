"""Hosts that the scheduler's host filters keep out for the metadata of aggregates.

Only filters that are on, and whose answer hangs on nothing else: what they say of each
host is exactly known. AggregateMultiTenancyIsolation and AvailabilityZoneFilter are in
``contexts``, as they go by project and zone.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping

from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Nova
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.state import Fails, HostState, Raises, host_states
from osc_traitsched.core.nova.filter.table import AGGREGATES, FILTERS, judge
from osc_traitsched.core.nova.question import Body, Question
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.switch import AZ_FILTER, PROJECT_FILTER

_NONE: frozenset[str] = frozenset()


class Filters:
    """The host filters of the settings, for many flavors in one cloud."""

    def __init__(self, cloud: CloudModel, settings: SchedulerSettings) -> None:
        names = settings.value(options.ENABLED_FILTERS)
        self._settings = settings.changed(options.TENANT, False)
        self._names = tuple(
            name
            for name in (names if isinstance(names, tuple) else ())
            if name in FILTERS and FILTERS[name].reads == (AGGREGATES,)
            if name not in (AZ_FILTER, PROJECT_FILTER)
        )
        self._cloud = cloud
        self._known: dict[Hashable, frozenset[str]] = {}

    @functools.cached_property
    def _alike(self) -> Mapping[Hashable, list[HostState]]:
        """Hosts that are in the same aggregates."""
        computes = (self._cloud.snapshot.nova or Nova()).computes
        found: dict[Hashable, list[HostState]] = {}
        for host in host_states(computes, self._cloud.aggregates):
            found.setdefault(tuple(each.uuid for each in host.aggregates), []).append(
                host
            )
        return found

    def kept_out(self, flavor: Body, image: Body) -> frozenset[str]:
        """Roots of the hosts that a filter surely refuses a flavor with an image."""
        if not self._names:
            return _NONE
        key = (flavor["id"], repr(flavor.get("extra_specs")), repr(image))
        if key not in self._known:
            self._known[key] = self._kept_out(flavor, image)
        return self._known[key]

    def _kept_out(self, flavor: Body, image: Body) -> frozenset[str]:
        try:
            spec = Question(flavor, image, (), self._settings).spec()
        except Refusal:
            return _NONE
        found: set[str] = set()
        for hosts in self._alike.values():
            answers = (judge(n, hosts[0], spec, self._settings) for n in self._names)
            if any(isinstance(answer, (Fails, Raises)) for answer in answers):
                found.update(host.compute.uuid for host in hosts)
        return frozenset(found)
