"""Which hosts flavors find in a zone, or as a project, by lines of files alone.

A run that ended early leaves such hosts behind, and no state file tells that it did:
hosts that it put there, hosts that it gave a trait, and hosts that it opened and was to
take from there.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Set

from osc_traitsched.core.change.isolation import (
    aggregates_of_projects,
    aggregates_of_zones,
)
from osc_traitsched.core.change.model import Kind
from osc_traitsched.core.inventory.tenant_keys import is_id
from osc_traitsched.core.inventory.trait_keys import isolated_by
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.wanted.claims import Claims
from osc_traitsched.core.wanted.found import FoundCloud
from osc_traitsched.core.wanted.meant import Meant, hosts_of
from osc_traitsched.core.wanted.requiring import Required

#: Service hosts, or UUIDs of aggregates.
_Names = frozenset[str]

_NONE: _Names = frozenset()


@dataclasses.dataclass(frozen=True)
class _Reach:
    """The hosts of a zone, or of the aggregates to which a project is limited.

    :ivar here: all that are there now
    :ivar placed: those that lines put there, and nobody else
    :ivar leaving: those that lines take out of an aggregate of it, unless they are in
        another one of which no line names them
    """

    here: _Names = _NONE
    placed: _Names = _NONE
    leaving: _Names = _NONE


class Placed:
    """Tells which hosts are somewhere, or will be, by lines of files and nothing else.

    :param claims: what all lines want
    """

    def __init__(
        self,
        claims: Claims,
        meant: Meant,
        found: FoundCloud,
        assumptions: SchedulerSettings,
    ) -> None:
        self._claims, self._meant = claims, meant
        self._found, self._assumptions = found, assumptions
        self._having = functools.cache(found.hosts_having)
        self._in_zone = functools.cache(self._reach_of_zone)
        self._of_project = functools.cache(self._reach_of_project)
        self._led_to = functools.cache(self._hosts_led_to)
        self._opened_for = functools.cache(self._hosts_opened_for)

    def in_zone(self, zone: str, required: Required) -> _Names:
        """Return the service hosts that are found in a zone by files alone."""
        return self._alone(self._in_zone(zone), required)

    def of_project(self, project: str, required: Required) -> _Names:
        """Return those that are so in the aggregates to which a project is limited.

        None for one that is not limited now: it has all hosts to lose.
        """
        return self._alone(self._of_project(project), required)

    def _alone(self, reach: _Reach, required: Required) -> _Names:
        given = reach.here & self._led_to(required.ever)
        return reach.placed | given | reach.leaving & self._opened_for(required.always)

    def _hosts_led_to(self, required: _Names) -> _Names:
        """Return the hosts to which lines give one of some traits."""
        return _NONE.union(*(self._given.get(each, _NONE) for each in required))

    def _hosts_opened_for(self, required: _Names) -> _Names:
        """Return the hosts that flavors with just these traits find by lines that open.

        Lines have an aggregate of theirs no longer isolated for another trait.
        """
        traits = self._opened.keys() - required
        return _NONE.union(*(self._opened[each] for each in traits))

    @functools.cached_property
    def _given(self) -> Mapping[str, Set[str]]:
        """For each trait the hosts that lines give it, or on which they want it."""
        given: dict[str, set[str]] = {}
        for (target, key), claim in self._claims.units.items():
            if target.kind is Kind.PROVIDER_TRAITS and claim.value:
                host = self._found.service_host(target)
                if host is not None:
                    given.setdefault(key, set()).add(host)
        return given

    @functools.cached_property
    def _opened(self) -> Mapping[str, Set[str]]:
        """For each trait the hosts of aggregates that lines no longer isolate for it.

        And those that lines take from an aggregate that is isolated for it, and that
        are no longer there: of several that they leave, one is the last. They have the
        trait: else nothing shows that it kept requests from them, and that they were
        not open all the time. A run takes it from them last.
        """
        opened: dict[str, set[str]] = {}
        for identity, traits in self._claims.opened.items():
            inside = hosts_of(self._meant.bodies[identity])
            for trait in traits:
                hosts = inside | self._claims.taken_of(identity, self._having(trait))
                opened.setdefault(trait, set()).update(hosts & self._having(trait))
        for identity in self._found.isolated & self._claims.taking:
            body = self._meant.bodies[identity]
            for trait in isolated_by(body["metadata"], self._found.collation):
                having = self._having(trait) - hosts_of(body)
                left = self._claims.taken_of(identity, having)
                opened.setdefault(trait, set()).update(left)
        return opened

    # Zones and projects

    @functools.cached_property
    def _zones(self) -> tuple[Mapping[str, _Names], Mapping[str, _Names]]:
        """The UUIDs of zones' aggregates, as they are now, and as lines want them."""
        return self._now_and_then(aggregates_of_zones)

    @functools.cached_property
    def _projects(self) -> tuple[Mapping[str, _Names], Mapping[str, _Names]]:
        """Those of the aggregates to which projects are limited."""
        return self._now_and_then(aggregates_of_projects)

    def _now_and_then(
        self,
        having: Callable[[Iterable[Body], SchedulerSettings], Mapping[str, _Names]],
    ) -> tuple[Mapping[str, _Names], Mapping[str, _Names]]:
        bodies = self._meant.bodies.values()
        wanted = map(self._meant.as_wanted, bodies)
        return having(bodies, self._assumptions), having(wanted, self._assumptions)

    def _reach_of_zone(self, zone: str) -> _Reach:
        return self._reach(zone, *self._zones, self._meant.put_into_zone)

    def _reach_of_project(self, project: str) -> _Reach:
        now, _ = self._projects
        if not is_id(project) or self._assumptions.collation.folded(project) not in now:
            return _Reach()
        return self._reach(project, *self._projects, self._meant.put)

    def _reach(
        self,
        name: str,
        before: Mapping[str, _Names],
        after: Mapping[str, _Names],
        put: Callable[[Body], _Names],
    ) -> _Reach:
        """Return the hosts of a zone or a project.

        :param before: the UUIDs of all zones' or projects' aggregates now
        :param after: the same as lines want it
        :param put: returns the hosts that lines put into a zone, or have a project use,
            by an aggregate that is of it
        """
        folded = self._assumptions.collation.folded(name)
        found, then = before.get(folded, _NONE), after.get(folded, _NONE)
        meant = self._meant
        bodies = meant.bodies.values()
        come = {body["uuid"]: put(body) for body in bodies if body["uuid"] in then}
        now = [body for body in bodies if body["uuid"] in found]
        others = (hosts_of(b) - come.get(b["uuid"], meant.put(b)) for b in now)
        taken = (hosts_of(body) & meant.taken(body) for body in now)
        return _Reach(
            here=_NONE.union(*map(hosts_of, now)),
            placed=_NONE.union(*come.values()).difference(*others),
            leaving=_NONE.union(*taken).difference(*map(meant.unnamed, now)),
        )
