"""Rules on keys that are there for a host filter, and that no filter looks at."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.analysis import EXTRA_SPECS, Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.words import aggregate_set, unset
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import values
from osc_traitsched.core.nova.filter.aggregates import FLAVOR_KEY, SCOPE
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Placeholder
from osc_traitsched.text import listed, option

_FILTERS = option(options.ENABLED_FILTERS)


#: The keys of aggregates that one filter alone looks at. ``filter_tenant_id`` is the
#: matter of ``config-project-off``.
FILTER_OF: Mapping[str, str] = {
    FLAVOR_KEY: "AggregateTypeAffinityFilter",
    values.MAX_IO_OPS: "AggregateIoOpsFilter",
    values.MAX_INSTANCES: "AggregateNumInstancesFilter",
    "cpu_allocation_ratio": "AggregateCoreFilter",
    "ram_allocation_ratio": "AggregateRamFilter",
    "disk_allocation_ratio": "AggregateDiskFilter",
}


@dataclasses.dataclass(frozen=True)
class FiltersKeyOff(Finding):
    """An aggregate's key that only a filter looks at which is not on.

    :ivar id: the aggregate's
    :ivar key: of its metadata, with its value
    :ivar filter: the one that looks at it
    :ivar gone: the release that has no such filter; None where it has it
    """

    rule = "filters-key-off"
    kind = Kind.AGGREGATE
    severity: Severity
    name: str
    id: int
    key: str
    value: str
    filter: str
    gone: int | None
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        remove = unset(Kind.AGGREGATE, [self.key], str(self.id))
        pair = f"{self.key}={self.value}"
        if self.gone is not None:
            return Words(
                f"{pair} has no effect: Nova {release(self.gone)} has no "
                f"{self.filter} any more",
                remove,
                "set the ratio in the inventories of the aggregate's hosts, and take "
                "the key off",
            )
        return Words(
            f"{pair} has no effect: {_not_on(self.filter, self.setting)}",
            remove,
            f"add {self.filter} to {_FILTERS}, or take the key off",
        )


def key_off(analysis: Analysis) -> Iterator[FiltersKeyOff]:
    """Find keys of aggregates for a filter that is not on.

    A filter of one's own may read them: where there is one nothing is said.
    """
    filtering, release = analysis.filtering, analysis.survey.assumptions.release
    if filtering.has_own:
        return
    severity = filtering.severity(Severity.WARNING, Severity.NOTE)
    for aggregate in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        for key, value in sorted(aggregate.metadata.items()):
            name = FILTER_OF.get(key)
            if name is None or key in filtering.keys_of_flavors:
                continue
            if filtering.is_on(name):
                continue
            gone = None if FILTERS[name].is_in(release) else release
            yield FiltersKeyOff(
                severity,
                aggregate.name,
                aggregate.id,
                key,
                value,
                name,
                gone,
                filtering.setting,
            )


@dataclasses.dataclass(frozen=True)
class FiltersExtraSpecsOff(Finding):
    """Extra specs for aggregates, in flavors, while the filter is not on.

    :ivar keys: all of them, as they are written
    :ivar filters: those that are on
    """

    rule = "filters-extra-specs-off"
    kind = Kind.OPTION
    name = options.ENABLED_FILTERS
    severity: Severity
    flavors: tuple[str, ...]
    keys: tuple[str, ...]
    filters: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"{_not_on(EXTRA_SPECS, self.setting)}: "
            f"{listed(self.flavors, 'flavor')} can land on any host, whatever "
            f"{listed(self.keys)} says",
            f"set {_FILTERS} to {','.join((*self.filters, EXTRA_SPECS))}",
        )


def extra_specs_off(analysis: Analysis) -> Iterator[FiltersExtraSpecsOff]:
    """Find flavors that want something of aggregates which nothing compares.

    nova/scheduler/filters/aggregate_instance_extra_specs.py; ComputeCapabilitiesFilter
    ignores that scope.
    """
    filtering = analysis.filtering
    if filtering.is_on(EXTRA_SPECS):
        return
    found = {
        flavor.name: [k for k in specs if k.startswith(f"{SCOPE}:")]
        for flavor in analysis.flavors
        if (specs := flavor.body.get("extra_specs"))
    }
    named = tuple(name for name, keys in found.items() if keys)
    if named:
        keys = {key for each in found.values() for key in each}
        yield FiltersExtraSpecsOff(
            filtering.severity(Severity.ERROR, Severity.WARNING),
            named,
            tuple(sorted(keys)),
            filtering.names,
            filtering.setting,
        )


@dataclasses.dataclass(frozen=True)
class FiltersBadLimit(Finding):
    """A limit or a ratio of an aggregate that is no number.

    :ivar id: the aggregate's
    :ivar key: of its metadata, with its value
    :ivar filter: the one that reads it
    :ivar option: what counts for its hosts instead; None for what each host has
    """

    rule = "filters-bad-limit"
    severity = Severity.WARNING
    kind = Kind.AGGREGATE
    name: str
    id: int
    key: str
    value: str
    filter: str
    option: tuple[str, Setting] | None

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        pair = f"{self.key}={self.value}"
        number = "number" if self.option is None else "whole number"
        return Words(
            f"{pair} is no {number}: {self.filter} logs a warning, and goes by "
            f"{_instead(self)} for the hosts of the aggregate",
            aggregate_set(self.id, Placeholder(f"{self.key}=NUMBER")),
        )


def bad_limit(analysis: Analysis) -> Iterator[FiltersBadLimit]:
    """Find values that are no numbers, so that what is set for all hosts counts.

    nova/scheduler/filters/utils.py, ``validate_num_values``, whose ValueError each of
    the filters catches and logs.
    """
    for aggregate in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        for key, value in sorted(aggregate.metadata.items()):
            name = FILTER_OF.get(key)
            if name is None or not analysis.filtering.is_on(name):
                continue
            if key != FLAVOR_KEY and not values.is_number(key, value):
                limits = FILTERS[name].options
                option = (limits[0], analysis.setting(limits[0])) if limits else None
                yield FiltersBadLimit(
                    aggregate.name, aggregate.id, key, value, name, option
                )


@dataclasses.dataclass(frozen=True)
class FiltersOptionOff(Finding):
    """An option that somebody set for filters of which none is on.

    :ivar filters: those that look at it
    :ivar setting: the option's
    :ivar enabled: the list of filters
    """

    rule = "filters-option-off"
    kind = Kind.OPTION
    severity: Severity
    name: str
    filters: tuple[str, ...]
    setting: Setting
    enabled: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        by = " and ".join(self.filters)
        verb = "are" if len(self.filters) > 1 else "is"
        state = "not on" if self.enabled.given else "assumed not to be on"
        return Words(
            f"set ({self.setting.source}), and without effect: {by} {verb} {state} "
            f"({self.enabled.source})",
            f"add {self.filters[-1]} to {_FILTERS}, or take the option out",
        )


def option_off(analysis: Analysis) -> Iterator[FiltersOptionOff]:
    """Find options that only filters look at, none of which is on.

    What is set to the default is no wish that would be ignored.
    """
    filtering, release = analysis.filtering, analysis.survey.assumptions.release
    severity = filtering.severity(Severity.WARNING, Severity.NOTE)
    for row in options.FILTER_SCHEDULER_ROWS:
        setting = analysis.setting(row.name)
        readers = [
            name
            for name, each in FILTERS.items()
            if row.name in each.options and each.is_in(release)
        ]
        is_read = filtering.has_own or any(map(filtering.is_on, readers))
        is_set = setting.given and setting.value != row.default_in(release)
        if is_set and not is_read:
            yield FiltersOptionOff(
                severity, row.name, tuple(readers), setting, filtering.setting
            )


def _instead(finding: FiltersBadLimit) -> str:
    if finding.option is None:
        return "each host's own ratio"
    name, setting = finding.option
    return f"{option(name)}, {setting.value} ({setting.source}),"


def _not_on(name: str, setting: Setting) -> str:
    state = "is not on" if setting.given else "is assumed not to be on"
    return f"{name} {state} ({setting.source})"
