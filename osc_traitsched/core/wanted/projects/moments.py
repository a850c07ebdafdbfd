"""Which hosts projects may use at one time, and surely on the way to another.

The host filter AggregateMultiTenancyIsolation keeps a project out of aggregates that
name others alone (nova/scheduler/filters/aggregate_multitenancy_isolation.py). A host
takes all projects that any of its aggregates names, by the keys that the filter of the
release takes. Where Placement is asked for a project's aggregates, it gives the hosts
of those alone, by keys of each release (nova/scheduler/request_filter.py,
``require_tenant_aggregate``).
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.inventory.collation import Collation
from osc_traitsched.core.inventory.tenant_keys import alone_in, projects_in
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.aggregates import names_projects
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.afterwards import Aggregate, Aggregates

Hosts = frozenset[str]

#: Hosts by the IDs of the aggregates that they are in.
_Inside = Mapping[str, Hosts]

_NONE: _Inside = {}


@dataclasses.dataclass(frozen=True)
class Moment:
    """Which hosts projects may use at one time.

    :ivar open: those that the filter passes for all
    :ivar closed: the aggregates whose hosts some projects have to themselves
    :ivar named: for each project the hosts of the aggregates that name it to the
        filter, by their IDs
    :ivar limits: for each project that Placement does not give all hosts, those of the
        aggregates that it is asked for, by their IDs
    """

    open: Hosts
    closed: tuple[Aggregate, ...]
    named: Mapping[str | None, _Inside]
    limits: Mapping[str | None, _Inside]

    def has(self, project: str | None) -> bool:
        """Tell whether a project has a host; None for one that no aggregate names."""
        theirs = self.named.get(project, _NONE).values()
        if project not in self.limits:
            return bool(self.open) or any(theirs)
        usable = self.open.union(*theirs)
        return not all(map(usable.isdisjoint, self.limits[project].values()))

    def names(self, project: str | None, aggregate: str) -> bool:
        """Tell whether an aggregate names a project to the filter."""
        return aggregate in self.named.get(project, _NONE)

    def lets_in(self, project: str | None, host: str) -> bool:
        """Tell whether each aggregate that closes a host names the project."""
        sets = self.named.get(project, _NONE).values()
        return host in self.open or sum(host in s for s in sets) == self._closing[host]

    @functools.cached_property
    def _closing(self) -> collections.Counter[str]:
        """How many aggregates close each host."""
        hosts = itertools.chain.from_iterable(each.hosts for each in self.closed)
        return collections.Counter(hosts)


def moments(
    stages: Sequence[Aggregates], settings: SchedulerSettings, computes: Hosts
) -> Iterator[Moment]:
    """Yield what Nova makes of the aggregates of each stage.

    :param computes: the service hosts that there are
    """
    # Most aggregates have the same hosts all the time.
    usable = functools.cache(computes.intersection)
    names = {
        project
        for aggregates in stages
        for each in aggregates.values()
        for project in projects_in(each.metadata)
    }
    for aggregates in stages:
        inside = {i: usable(each.hosts) for i, each in aggregates.items()}
        closed: list[Aggregate] = []
        named: dict[str | None, dict[str, Hosts]] = {}
        for identity, each in aggregates.items():
            keys = {
                key: value
                for key, value in each.metadata.items()
                if names_projects(key, settings.release)
            }
            if keys:
                closed.append(each)
            for project in projects_in(keys):
                named.setdefault(project, {})[identity] = inside[identity]
        left = computes.difference(*(each.hosts for each in closed))
        asked = aggregates if settings.value(options.TENANT) else {}
        limits = _limits(asked, inside, names, settings.collation)
        yield Moment(left, tuple(closed), named, limits)


def _limits(
    aggregates: Aggregates, inside: _Inside, names: Iterable[str], collation: Collation
) -> dict[str | None, _Inside]:
    found: dict[str, dict[str, Hosts]] = {}
    for identity, each in aggregates.items():
        for value in alone_in(each.metadata):
            found.setdefault(collation.folded(value), {})[identity] = inside[identity]
    folded = {name: collation.folded(name) for name in names} if found else {}
    return {name: found[fold] for name, fold in folded.items() if fold in found}


def keeps_host(project: str | None, was: Moment, now: Moment) -> bool:
    """Tell whether the filter surely leaves a project one of the hosts that it has.

    What changes between two moments changes one by one, in any order: Placement may be
    asked for any aggregate that limits the project at one of them, or for all hosts,
    but always for those that limit it at both. Where that gives no host, it is not the
    filter's doing.
    """
    before, after = was.limits.get(project, _NONE), now.limits.get(project, _NONE)
    is_sure = functools.partial(_is_sure, project, was, now)
    if both := before.keys() & after.keys():
        sent = [before[each] & after[each] for each in both]
        return not any(sent) or any(map(is_sure, itertools.chain(*sent)))
    return _keeps_any(project, was, now) and all(
        not hosts or moment.names(project, identity) or any(map(is_sure, hosts))
        for moment, limits in ((was, before), (now, after))
        for identity, hosts in limits.items()
    )


def _keeps_any(project: str | None, was: Moment, now: Moment) -> bool:
    """Tell whether the filter surely passes any host for a project."""
    if not was.open.isdisjoint(now.open):
        return True
    sets = (each.named.get(project, _NONE).values() for each in (was, now))
    hosts = itertools.chain.from_iterable(itertools.chain(*sets))
    return any(_is_sure(project, was, now, host) for host in hosts)


def _is_sure(project: str | None, was: Moment, now: Moment, host: str) -> bool:
    """Tell whether the filter surely passes a host for a project.

    It stays in an aggregate that names the project, or whatever closes it names that.
    """
    theirs, then = was.named.get(project, _NONE), now.named.get(project, _NONE)
    both = theirs.keys() & then.keys()
    stays = any(host in theirs[each] and host in then[each] for each in both)
    return stays or (was.lets_in(project, host) and now.lets_in(project, host))
