"""What rules look at."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.check.builder import Builder, FlavorHosts, titles
from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.check.hosts import Hosts, Isolated, isolated
from osc_traitsched.core.check.survey import Demand, Survey
from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.aggregates import metadata_key
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.server.image import public_or_own_images as public_or_own
from osc_traitsched.core.nova.settings import Setting

# Which host filters are on, and the hosts as they see them.


EXTRA_SPECS = "AggregateInstanceExtraSpecsFilter"
CAPABILITIES = "ComputeCapabilitiesFilter"
IMAGE_PROPERTIES = "ImagePropertiesFilter"
IMAGE_ISOLATION = "AggregateImagePropertiesIsolation"
ISOLATED_HOSTS = "IsolatedHostsFilter"


@dataclasses.dataclass(frozen=True)
class Filtering:
    """The host filters of a survey's cloud."""

    survey: Survey

    @property
    def setting(self) -> Setting:
        """The list of those that are on, and where it was read."""
        return self.survey.assumptions.setting(options.ENABLED_FILTERS)

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are on, each once."""
        value = self.setting.value
        return tuple(dict.fromkeys(value)) if isinstance(value, tuple) else ()

    def is_on(self, name: str) -> bool:
        """Whether a filter is on that the release has."""
        release = self.survey.assumptions.release
        return name in self.names and FILTERS[name].is_in(release)

    @property
    def has_own(self) -> bool:
        """Whether filters are on that are none of Nova's: who knows what they read."""
        return any(name not in FILTERS for name in self.names)

    def severity(self, given: Severity, assumed: Severity) -> Severity:
        """One of two: somebody gave the list of filters, or it is assumed."""
        return given if self.setting.given else assumed

    @functools.cached_property
    def states(self) -> tuple[HostState, ...]:
        """All compute nodes, in the order of their names."""
        found = host_states(self.survey.nova.computes, self.survey.aggregates)
        return tuple(sorted(found, key=lambda each: (each.host, each.node)))

    @functools.cached_property
    def alike(self) -> tuple[tuple[HostState, ...], ...]:
        """The compute nodes, those of the same aggregates together."""
        found: dict[tuple[str, ...], list[HostState]] = {}
        for state in self.states:
            key = tuple(each.uuid for each in state.aggregates)
            found.setdefault(key, []).append(state)
        return tuple(map(tuple, found.values()))

    @functools.cached_property
    def keys_of_flavors(self) -> frozenset[str]:
        """The keys of aggregates that extra specs of flavors are compared with."""
        return frozenset(self._keys() if self.is_on(EXTRA_SPECS) else ())

    @functools.cached_property
    def metadata(self) -> tuple[tuple[Aggregate, str, str], ...]:
        """Each aggregate's keys and values that no flavor is compared with, sorted."""
        return tuple(
            (aggregate, key, value)
            for aggregate in sorted(self.survey.nova.aggregates, key=lambda a: a.name)
            for key, value in sorted(aggregate.metadata.items())
            if key not in self.keys_of_flavors
        )

    def _keys(self) -> Iterator[str]:
        for flavor in self.survey.flavors:
            for written in flavor.get("extra_specs") or {}:
                key = metadata_key(written)
                if key is not None:
                    yield key


# What the rules work out of a survey, each thing but once.


@dataclasses.dataclass(frozen=True)
class Analysis:
    """A survey, and what follows from it; the rules are functions of it."""

    survey: Survey

    def setting(self, option: str) -> Setting:
        """An option's value and where it was read."""
        return self.survey.assumptions.setting(option)

    def is_on(self, option: str) -> bool:
        """Whether an option that is on or off is on."""
        return bool(self.setting(option).value)

    def has_filter(self, name: str) -> bool:
        """Whether a host filter is in the list of those that are on."""
        filters = self.setting(options.ENABLED_FILTERS).value
        return isinstance(filters, tuple) and name in filters

    @functools.cached_property
    def filtering(self) -> Filtering:
        """The host filters, and the hosts as they see them."""
        return Filtering(self.survey)

    @property
    def collation(self) -> Collation:
        """How Nova's database compares the metadata of aggregates."""
        return self.survey.assumptions.collation

    @functools.cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Each host aggregate against Placement's of the same UUID, by name."""
        return snapshot.membership_differences(
            self.survey.snapshot, self.survey.members
        )

    @functools.cached_property
    def builder(self) -> Builder:
        """Builds all requests that the rules need."""
        return Builder(self.survey.assumptions)

    @functools.cached_property
    def flavors(self) -> tuple[Demand, ...]:
        """What each flavor asks for, by name."""
        demands = self.builder.of_flavors(self.survey.flavors)
        return tuple(sorted(demands, key=lambda each: each.name))

    @functools.cached_property
    def images(self) -> tuple[Demand, ...]:
        """What each image asks for, by name; last those of :attr:`images_of_others`."""
        survey, others = self.survey, self.images_of_others
        demands = self.builder.of_images(survey.images, survey.image_owners)
        return tuple(sorted(demands, key=lambda each: (each.name in others, each.name)))

    @functools.cached_property
    def images_of_others(self) -> frozenset[str]:
        """The names of images that are neither public nor the caller's own."""
        titled = titles(self.survey.images, self.survey.image_owners)
        trusted = public_or_own(self.survey.images, self.survey.own_project)
        identities = {each["id"] for each in trusted}
        return frozenset(name for body, name in titled if body["id"] not in identities)

    @property
    def demands(self) -> tuple[Demand, ...]:
        """What flavors and images ask for."""
        return (*self.flavors, *self.images)

    @functools.cached_property
    def isolated(self) -> tuple[Isolated, ...]:
        """The aggregates that ``trait:…=required`` isolates, were the option on."""
        return isolated(self.survey.aggregates, self.collation)

    @functools.cached_property
    def hosts(self) -> Hosts:
        """Says which hosts could take what."""
        names = {clause.name for each in self.demands for clause in each.traits}
        names |= {each.format.name for each in self.images if each.format}
        names |= {clause.name for each in self.images for clause in each.devices}
        names |= {name for each in self.isolated for name in each.traits}
        return Hosts(self.survey, frozenset(names))

    @functools.cached_property
    def flavor_hosts(self) -> FlavorHosts:
        """Says which hosts could take a flavor, with which images."""
        return FlavorHosts(self.hosts, self.all_hosts, self.builder, self.images)

    @functools.cached_property
    def all_hosts(self) -> frozenset[str]:
        """The UUIDs of all hosts' roots."""
        return frozenset(host.uuid for host in self.survey.snapshot.hosts)

    def host_names(self, roots: Iterable[str]) -> tuple[str, ...]:
        """The names of hosts by the UUIDs of their roots, sorted."""
        by_uuid = self.survey.snapshot.by_uuid
        return tuple(sorted(by_uuid[uuid].name for uuid in roots))

    @functools.cached_property
    def closed_to(self) -> Mapping[frozenset[str], frozenset[str]]:
        """The providers that isolation leaves out, by the traits that are required.

        For all traits that a flavor and an image may require together; the providers
        by their UUIDs.
        """
        own = {each.opens for each in self.flavors} or {frozenset[str]()}
        more = {frozenset[str](), *(each.opens for each in self.images)}
        isolated = frozenset(name for each in self.isolated for name in each.traits)
        together = {(one | other) & isolated for one in own for other in more}
        return {traits: self._closed(traits) for traits in together}

    def _closed(self, traits: frozenset[str]) -> frozenset[str]:
        left = (each for each in self.isolated if not each.is_open_to(traits))
        return frozenset[str]().union(*(self._mirrored(each.uuid) for each in left))

    def inside(self, aggregate: str) -> frozenset[str]:
        """The roots of hosts that are in an aggregate by Nova and Placement.

        Where the two differ the rules of the mirror speak.
        """
        nova = self.survey.nova.members.get(aggregate, frozenset())
        return nova & self._mirrored(aggregate) & self.all_hosts

    def _mirrored(self, aggregate: str) -> frozenset[str]:
        return self.survey.members.get(aggregate, frozenset())
