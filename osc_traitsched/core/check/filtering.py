"""Which host filters are on, and the hosts as they see them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from osc_traitsched.core.check.finding import Severity
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.aggregates import metadata_key
from osc_traitsched.core.nova.filter.state import HostState, host_states
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.settings import Setting

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
        """Tell whether a filter is on that the release has."""
        release = self.survey.assumptions.release
        return name in self.names and FILTERS[name].is_in(release)

    @property
    def has_own(self) -> bool:
        """Whether filters are on that are none of Nova's: who knows what they read."""
        return any(name not in FILTERS for name in self.names)

    def severity(self, given: Severity, assumed: Severity) -> Severity:
        """Return one of two: somebody gave the list of filters, or it is assumed."""
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

    def _keys(self) -> Iterator[str]:
        for flavor in self.survey.flavors:
            for written in flavor.get("extra_specs") or {}:
                key = metadata_key(written)
                if key is not None:
                    yield key
