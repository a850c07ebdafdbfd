"""Facts about a survey for the rules."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping

from osc_traitsched.core.check.builder import Builder, FlavorHosts, titles
from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.check.hosts import Hosts, Isolated, isolated
from osc_traitsched.core.check.survey import StandaloneRequest, Survey
from osc_traitsched.core.inventory import snapshot
from osc_traitsched.core.inventory.metadata import Collation
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.aggregates import metadata_key
from osc_traitsched.core.nova.filter.special import EXTRA_SPECS
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.server.image import public_or_own_images as public_or_own
from osc_traitsched.core.nova.settings import Setting, has_filter

# The enabled host filters, and their view of hosts.


@dataclasses.dataclass(frozen=True)
class Filtering:
    """The host filters of the surveyed cloud."""

    survey: Survey

    @property
    def setting(self) -> Setting:
        """The list of enabled filters, and its source."""
        return self.survey.assumptions.setting(options.ENABLED_FILTERS)

    @property
    def names(self) -> tuple[str, ...]:
        """The enabled filters, without duplicates."""
        return tuple(dict.fromkeys(self.setting.items))

    def is_on(self, name: str) -> bool:
        """Whether a filter is enabled and exists in the release."""
        release = self.survey.assumptions.release
        return name in self.names and FILTERS[name].is_in(release)

    @property
    def has_own(self) -> bool:
        """Whether filters that are not Nova's are enabled; they may read any key."""
        return any(name not in FILTERS for name in self.names)

    def severity(self, given: Severity, assumed: Severity) -> Severity:
        """The first severity if the list of filters is known; the second if assumed."""
        is_known = self.survey.assumptions.is_known(options.ENABLED_FILTERS)
        return given if is_known else assumed

    @functools.cached_property
    def states(self) -> tuple[HostState, ...]:
        """All compute nodes, by name."""
        found = host_states(self.survey.nova.computes, self.survey.nova.aggregates)
        return tuple(sorted(found, key=lambda each: (each.host, each.node)))

    @functools.cached_property
    def alike(self) -> tuple[tuple[HostState, ...], ...]:
        """The compute nodes, grouped by their aggregates."""
        found: dict[tuple[str, ...], list[HostState]] = {}
        for state in self.states:
            key = tuple(each.uuid for each in state.aggregates)
            found.setdefault(key, []).append(state)
        return tuple(map(tuple, found.values()))

    @functools.cached_property
    def keys_of_flavors(self) -> frozenset[str]:
        """Aggregate keys that flavors' extra specs are compared with.

        :raises NotRead: if a flavor that is hidden could have such a key
        """
        return frozenset(self._keys() if self.is_on(EXTRA_SPECS) else ())

    @functools.cached_property
    def metadata(self) -> tuple[tuple[Aggregate, str, str], ...]:
        """Keys and values of aggregates that no flavor is compared with, sorted."""
        return tuple(
            (aggregate, key, value)
            for aggregate in sorted(self.survey.nova.aggregates, key=lambda a: a.name)
            for key, value in sorted(aggregate.metadata.items())
            if key not in self.keys_of_flavors
        )

    def _keys(self) -> Iterator[str]:
        self.survey.need_all("flavors")
        for flavor in self.survey.flavors:
            for written in flavor.get("extra_specs") or {}:
                key = metadata_key(written)
                if key is not None:
                    yield key


# Facts that rules derive from a survey, each only once.


@dataclasses.dataclass(frozen=True)
class Analysis:
    """A survey, and cached facts about it; rules are functions of it."""

    survey: Survey

    def setting(self, option: str) -> Setting:
        """An option's value and its source."""
        return self.survey.assumptions.setting(option)

    def is_on(self, option: str) -> bool:
        """Whether a boolean option is on."""
        return bool(self.setting(option).value)

    def has_filter(self, name: str) -> bool:
        """Whether a host filter is in the list of enabled ones."""
        return has_filter(self.survey.assumptions, name)

    @functools.cached_property
    def images_without_host(self) -> dict[str, bool]:
        """Whether no host could take the properties of an image, by what they are."""
        return {}

    @functools.cached_property
    def filtering(self) -> Filtering:
        """The host filters, and their view of hosts."""
        return Filtering(self.survey)

    @property
    def collation(self) -> Collation:
        """How Nova's database compares aggregate metadata."""
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
    def flavors(self) -> tuple[StandaloneRequest, ...]:
        """The demand of each flavor, by name."""
        demands = self.builder.of_flavors(self.survey.flavors)
        return tuple(sorted(demands, key=lambda each: each.name))

    @functools.cached_property
    def images(self) -> tuple[StandaloneRequest, ...]:
        """The demand of each image, by name; those of :attr:`images_of_others` last."""
        survey, others = self.survey, self.images_of_others
        demands = self.builder.of_images(survey.images, survey.image_owners)
        return tuple(sorted(demands, key=lambda each: (each.name in others, each.name)))

    @functools.cached_property
    def images_of_others(self) -> frozenset[str]:
        """Names of images that are neither public nor the caller's own."""
        titled = titles(self.survey.images, self.survey.image_owners)
        trusted = public_or_own(self.survey.images, self.survey.own_project)
        identities = {each["id"] for each in trusted}
        return frozenset(name for body, name in titled if body["id"] not in identities)

    @property
    def demands(self) -> tuple[StandaloneRequest, ...]:
        """The demands of flavors and images."""
        return (*self.flavors, *self.images)

    @functools.cached_property
    def isolated(self) -> tuple[Isolated, ...]:
        """The aggregates that ``trait:…=required`` isolates if the option is on."""
        return isolated(self.survey.nova.aggregates, self.collation)

    @functools.cached_property
    def hosts(self) -> Hosts:
        """Finds the hosts for requests."""
        names = {clause.name for each in self.demands for clause in each.traits}
        names |= {each.format.name for each in self.images if each.format}
        names |= {clause.name for each in self.images for clause in each.devices}
        names |= {name for each in self.isolated for name in each.traits}
        return Hosts(self.survey, frozenset(names))

    @functools.cached_property
    def flavor_hosts(self) -> FlavorHosts:
        """Finds the hosts for a flavor, with and without images."""
        return FlavorHosts(self.hosts, self.all_hosts, self.builder, self.images)

    @functools.cached_property
    def all_hosts(self) -> frozenset[str]:
        """UUIDs of all hosts' roots."""
        return frozenset(host.uuid for host in self.survey.snapshot.hosts)

    def host_names(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Sorted names of hosts, by their roots' UUIDs."""
        by_uuid = self.survey.snapshot.by_uuid
        return tuple(sorted(by_uuid[uuid].name for uuid in roots))

    @functools.cached_property
    def closed_to(self) -> Mapping[frozenset[str], frozenset[str]]:
        """UUIDs of providers that isolation excludes, by the required traits.

        For each set of traits that a flavor and an image can require together.

        :raises NotRead: if a flavor or an image that is hidden could require others
        """
        self.survey.need_all("flavors and images")
        own = {each.opens for each in self.flavors} or {frozenset[str]()}
        more = {frozenset[str](), *(each.opens for each in self.images)}
        isolated = frozenset(name for each in self.isolated for name in each.traits)
        together = {(one | other) & isolated for one in own for other in more}
        return {traits: self._closed(traits) for traits in together}

    def _closed(self, traits: frozenset[str]) -> frozenset[str]:
        left = (each for each in self.isolated if not each.is_open_to(traits))
        return frozenset[str]().union(*(self._mirrored(each.uuid) for each in left))

    def inside(self, aggregate: str) -> frozenset[str]:
        """Roots of the hosts that Nova and Placement both have in an aggregate.

        The rules of the area mirror report differences.
        """
        nova = self.survey.nova.members.get(aggregate, frozenset())
        return nova & self._mirrored(aggregate) & self.all_hosts

    def _mirrored(self, aggregate: str) -> frozenset[str]:
        return self.survey.members.get(aggregate, frozenset())
