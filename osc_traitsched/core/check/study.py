"""A survey with what the rules work out of it, each but once."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping

from osc_traitsched.core.check.builder import Builder, decisive
from osc_traitsched.core.check.demand import Demand, is_certain_of_flavor
from osc_traitsched.core.check.hosts import Hosts
from osc_traitsched.core.check.isolated import Isolated, isolated
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import mirror
from osc_traitsched.core.inventory.mirror import Difference
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.question import Body

#: An image that makes a flavor without a CPU policy ask for pinned CPUs.
_PINNING: Body = {"hw_cpu_policy": "dedicated"}


@dataclasses.dataclass(frozen=True)
class Study(Survey):
    """What the rules look at; they are functions of it."""

    @classmethod
    def of(cls, survey: Survey) -> Study:
        """Return the survey as a study."""
        fields = dataclasses.fields(Survey)
        return cls(**{field.name: getattr(survey, field.name) for field in fields})

    def is_on(self, option: str) -> bool:
        """Tell whether an option that is on or off is on."""
        return bool(self.assumptions.value(option))

    def told(self, option: str) -> dict[str, str | int]:
        """Return what the words say of where an option's value comes from."""
        setting = self.assumptions.setting(option)
        return {"source": setting.source, "given": setting.given}

    def is_given(self, option: str) -> bool:
        """Tell whether an option's value was found somewhere, and not assumed."""
        return self.assumptions.setting(option).given

    def has_filter(self, name: str) -> bool:
        """Tell whether a host filter is in the list of those that are on."""
        filters = self.assumptions.value(options.ENABLED_FILTERS)
        return isinstance(filters, tuple) and name in filters

    @functools.cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Each host aggregate against Placement's of the same UUID, by name."""
        return mirror.differences(self.snapshot, self.members)

    @functools.cached_property
    def builder(self) -> Builder:
        """Builds all requests that the rules need."""
        return Builder(self.assumptions)

    @functools.cached_property
    def of_flavors(self) -> tuple[Demand, ...]:
        """What each flavor asks for, by name."""
        return _by_name(self.builder.of_flavors(self.flavors))

    @functools.cached_property
    def of_images(self) -> tuple[Demand, ...]:
        """What each image asks for, by name."""
        return _by_name(self.builder.of_images(self.images))

    @property
    def demands(self) -> tuple[Demand, ...]:
        """All of them."""
        return (*self.of_flavors, *self.of_images)

    @functools.cached_property
    def isolated(self) -> tuple[Isolated, ...]:
        """The aggregates that ``trait:…=required`` isolates, were the option on."""
        return isolated(self.aggregates)

    @functools.cached_property
    def hosts(self) -> Hosts:
        """Says which hosts could take what."""
        names = {clause.name for each in self.demands for clause in each.traits}
        names |= {each.format.name for each in self.of_images if each.format}
        names |= {clause.name for each in self.of_images for clause in each.devices}
        names |= {name for each in self.isolated for name in each.traits}
        return Hosts(self, frozenset(names))

    @functools.cached_property
    def all_hosts(self) -> frozenset[str]:
        """The UUIDs of all hosts' roots."""
        return frozenset(host.uuid for host in self.snapshot.hosts)

    def named(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Return the names of hosts by the UUIDs of their roots, sorted."""
        return tuple(sorted(self.snapshot.by_uuid[uuid].name for uuid in roots))

    def matching_hosts(self, flavor: Demand) -> frozenset[str]:
        """Return the roots of hosts that could take a flavor, be they isolated.

        With whatever image that does not change the flavor's amounts: see
        :meth:`widest` for the others.
        """
        found = (self.hosts.matching_hosts(request) for request in flavor.requests)
        return frozenset[str]().union(*found)

    def bound(self, flavor: Demand) -> frozenset[str]:
        """Return the hosts that meet each thing which no image takes from a flavor.

        Nobody else can take it with whatever image, and it costs little to know.
        """
        both = set(flavor.clauses).intersection(*(r.clauses for r in flavor.requests))
        met = (self.hosts.meeting([c]) for c in both if is_certain_of_flavor(c))
        return self.all_hosts.intersection(*met)

    def widest(self, flavor: Demand) -> frozenset[str]:
        """Return the takers of a flavor with whatever image, those that shift too.

        An image can ask for more amounts, which other providers of a tree give, and
        for pinned CPUs in place of the flavor's.
        """
        if flavor.name not in self._widest and not self.bound(flavor):
            self._widest[flavor.name] = frozenset()
        if flavor.name not in self._widest:
            shifted = (
                self._matching_hosts(flavor.body, image, from_volume)
                for image in (_PINNING, *self._shifting)
                for from_volume in (False, True)
            )
            self._widest[flavor.name] = self.matching_hosts(flavor).union(*shifted)
        return self._widest[flavor.name]

    @functools.cached_property
    def _widest(self) -> dict[str, frozenset[str]]:
        return {}

    @functools.cached_property
    def _shifting(self) -> tuple[Body, ...]:
        """One image of each kind that may change a flavor's amounts."""
        found = (each.body for each in self.of_images if each.shifts)
        return tuple({repr(decisive(body)): body for body in found}.values())

    def _matching_hosts(
        self, flavor: Body, image: Body, from_volume: bool
    ) -> frozenset[str]:
        try:
            request = self.builder.request(flavor, image, from_volume)
        except Refusal:
            return frozenset()
        return self.hosts.matching_hosts(request)

    @functools.cached_property
    def closed_to(self) -> Mapping[frozenset[str], frozenset[str]]:
        """For all traits that a flavor and an image may require together, who is out.

        That is the UUIDs of the providers that isolation leaves out all the same.
        """
        own = {each.opens for each in self.of_flavors} or {frozenset[str]()}
        more = {frozenset[str](), *(each.opens for each in self.of_images)}
        isolated = frozenset(name for each in self.isolated for name in each.traits)
        together = {(one | other) & isolated for one in own for other in more}
        return {traits: self._closed(traits) for traits in together}

    def inside(self, aggregate: str) -> frozenset[str]:
        """Return the roots of hosts that are in an aggregate by Nova and Placement.

        Where the two differ the rules of the mirror speak.
        """
        nova = self.nova.members.get(aggregate, frozenset())
        return nova & self.members.get(aggregate, frozenset()) & self.all_hosts

    def _closed(self, traits: frozenset[str]) -> frozenset[str]:
        left = (each for each in self.isolated if not each.is_open_to(traits))
        members = (self.members.get(each.uuid, frozenset()) for each in left)
        return frozenset[str]().union(*members)


def _by_name(demands: Iterable[Demand]) -> tuple[Demand, ...]:
    return tuple(sorted(demands, key=lambda demand: demand.name))
