"""Rules of the area tenant: aggregates that are for certain projects."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.check.finding import Finding, Rule, Severity
from osc_traitsched.core.check.rules import mirror
from osc_traitsched.core.check.rules.mirror import Use
from osc_traitsched.core.check.study import Study
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options

#: The host filter that the prefilter took over from; it does split lists
#: (nova/scheduler/filters/utils.py, ``aggregate_metadata_get_by_host``).
TENANT_FILTER = "AggregateMultiTenancyIsolation"


def differing(study: Study) -> Iterator[Finding]:
    """Projects' aggregates that Placement has otherwise, while it is asked for them."""
    return mirror.differing(study, Use.TENANT, "tenant-mirror")


def lists(study: Study) -> Iterator[Finding]:
    """Values with a comma: they are compared as a whole, and equal no project's ID.

    nova/scheduler/request_filter.py, ``require_tenant_aggregate``.
    """
    if study.is_on(options.TENANT):
        severity = Severity.ERROR
    elif study.has_filter(TENANT_FILTER):
        severity = Severity.NOTE
    else:
        severity = Severity.WARNING
    for aggregate, key, value in _pairs(study):
        if "," in value:
            yield Finding(
                "tenant-list",
                severity,
                "aggregate",
                aggregate.name,
                {"id": str(aggregate.id), "key": key, "projects": _split(value)},
            )


def unknown(study: Study) -> Iterator[Finding]:
    """Values that are the ID of no project; a name is no ID."""
    if study.projects is None:
        return
    for aggregate, key, value in _pairs(study):
        if "," not in value and value not in study.projects:
            named = _named(study, value)
            meant = named and study.is_on(options.TENANT)
            yield Finding(
                "tenant-unknown",
                Severity.ERROR if meant else Severity.WARNING,
                "aggregate",
                aggregate.name,
                {"id": str(aggregate.id), "key": key, "value": value, "ids": named},
            )


def without(study: Study) -> Iterator[Finding]:
    """Projects that no aggregate is for, where each project has to have one.

    Those that a value means which never matches are left to the rules on that.
    """
    assumptions = study.assumptions
    if study.projects is None:
        return
    if not study.is_on(options.TENANT):
        return
    if not study.is_on(options.TENANT_REQUIRED):
        return
    meant: set[str] = set()
    for _, _, value in _pairs(study):
        for each in _split(value):
            meant.update([each, *_named(study, each)])
    left = [name for uuid, name in study.projects.items() if uuid not in meant]
    if left:
        none = len(left) == len(study.projects)
        yield Finding(
            "tenant-without",
            Severity.ERROR if none else Severity.WARNING,
            "option",
            options.TENANT_REQUIRED,
            {
                "projects": tuple(sorted(left)),
                "source": assumptions.setting(options.TENANT_REQUIRED).source,
            },
        )


def _pairs(study: Study) -> Iterator[tuple[Aggregate, str, str]]:
    ordered = sorted(study.nova.aggregates, key=lambda each: (each.name, each.id))
    for aggregate in ordered:
        for key, value in sorted(aggregate.tenants.items()):
            yield aggregate, key, value


def _split(value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _named(study: Study, name: str) -> tuple[str, ...]:
    """Return the IDs of the projects of a name; each domain can have one."""
    projects = study.projects or {}
    return tuple(sorted(uuid for uuid, each in projects.items() if each == name))


RULES = (
    Rule("tenant-mirror", "tenant", differing, "aggregates", also=("mirror",)),
    Rule("tenant-list", "tenant", lists, "aggregates"),
    Rule("tenant-unknown", "tenant", unknown, "aggregates"),
    Rule("tenant-without", "tenant", without, "options"),
)
