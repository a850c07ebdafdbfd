"""Rules of the area filters: what host filters stumble over, or do not look at.

A filter that the release does not have any more is :mod:`config`'s matter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.rules import (
    filters_flavors,
    filters_images,
    filters_isolating,
    filters_raising,
)
from osc_traitsched.core.names import near_names
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.text import did_you_mean, quoted


@dataclasses.dataclass(frozen=True)
class FiltersMisnamed(Finding):
    """A name in the list of filters that is not a filter's, and so nothing starts.

    :ivar filter: the name
    :ivar nearest: the one like it that the release has; none if there is none
    """

    rule = "filters-misnamed"
    severity = Severity.ERROR
    kind = Kind.OPTION
    name = options.ENABLED_FILTERS
    filter: str
    nearest: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"{quoted(self.filter)} is no name of a class, and nova-scheduler does not "
            f"start ({self.setting.source}){did_you_mean(self.nearest)}",
            "name the class alone; [filter_scheduler]available_filters says where its "
            "module is",
        )


def misnamed(analysis: Analysis) -> Iterator[FiltersMisnamed]:
    """Find paths in the list of filters: it has the names of classes.

    nova/scheduler/host_manager.py, ``_choose_host_filters``. What is any other name may
    be a filter of one's own.
    """
    release = analysis.survey.assumptions.release
    known = [name for name, each in FILTERS.items() if each.is_in(release)]
    for name in analysis.filtering.names:
        if "." in name:
            nearest = near_names(name.rpartition(".")[2], known)
            yield FiltersMisnamed(name, nearest[:1], analysis.filtering.setting)


RULES = (
    Rule(FiltersMisnamed, "filters", misnamed, Kind.OPTION),
    Rule(
        filters_raising.FiltersRaises, "filters", filters_raising.raising, Kind.FLAVOR
    ),
    Rule(
        filters_raising.FiltersImageRaises,
        "filters",
        filters_raising.image_raising,
        Kind.IMAGE,
    ),
    Rule(
        filters_flavors.FiltersExtraSpecsOff,
        "filters",
        filters_flavors.extra_specs_off,
        Kind.FLAVOR,
    ),
    Rule(
        filters_flavors.FiltersNoAggregate,
        "filters",
        filters_flavors.no_aggregate,
        Kind.FLAVOR,
    ),
    Rule(
        filters_flavors.FiltersUnscoped,
        "filters",
        filters_flavors.unscoped,
        Kind.FLAVOR,
    ),
    Rule(
        filters_flavors.FiltersGroupPolicy,
        "filters",
        filters_flavors.group_policy,
        Kind.OPTION,
    ),
    Rule(
        filters_flavors.FiltersBadLimit,
        "filters",
        filters_flavors.bad_limit,
        Kind.AGGREGATE,
    ),
    Rule(
        filters_flavors.FiltersOptionOff,
        "filters",
        filters_flavors.option_off,
        Kind.OPTION,
    ),
    Rule(
        filters_flavors.FiltersKeyOff,
        "filters",
        filters_flavors.key_off,
        Kind.AGGREGATE,
    ),
    Rule(
        filters_isolating.FiltersTenantSuffix,
        "filters",
        filters_isolating.tenant_suffix,
        Kind.AGGREGATE,
    ),
    Rule(
        filters_isolating.FiltersIsolated,
        "filters",
        filters_isolating.isolated,
        Kind.OPTION,
    ),
    Rule(
        filters_images.FiltersNamespace,
        "filters",
        filters_images.namespace,
        Kind.AGGREGATE,
    ),
    Rule(
        filters_images.FiltersImageKey,
        "filters",
        filters_images.image_key,
        Kind.AGGREGATE,
    ),
    Rule(
        filters_images.FiltersImageValue,
        "filters",
        filters_images.image_value,
        Kind.AGGREGATE,
    ),
)
