"""Rules of the area project: aggregates that are for certain projects."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.rules import mirror
from osc_traitsched.core.check.rules.mirror import OutOfStep, Use
from osc_traitsched.core.check.words import aggregate_set, unset
from osc_traitsched.core.inventory.metadata import TENANT_KEY, projects_of
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import PROJECT_FILTER, Setting
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed

#: The host filter that the prefilter took over from; it does split lists
#: (nova/scheduler/filters/utils.py, ``aggregate_metadata_get_by_host``).


@dataclasses.dataclass(frozen=True)
class ProjectMirror(Finding):
    """A project's aggregate that Placement has otherwise, while it is asked for it."""

    rule = "project-mirror"
    severity = Severity.ERROR
    kind = Kind.AGGREGATE
    name: str
    out_of_step: OutOfStep

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return mirror.out_of_step_words(
            self.out_of_step,
            "its projects' servers do not get there",
            "its projects' servers can land there",
        )


def differing(analysis: Analysis) -> Iterator[ProjectMirror]:
    """Find projects' aggregates that Placement has otherwise."""
    for aggregate, found in mirror.differing(analysis, Use.PROJECT):
        yield ProjectMirror(aggregate.name, found)


@dataclasses.dataclass(frozen=True)
class ProjectList(Finding):
    """An aggregate with a value that has a comma.

    :ivar id: the aggregate's
    :ivar key: of its metadata
    :ivar projects: what the value lists
    """

    rule = "project-list"
    kind = Kind.AGGREGATE
    severity: Severity
    name: str
    id: int
    key: str
    projects: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        key, (first, *others) = self.key, self.projects
        pairs = [f"{key}={first}", *(f"{TENANT_KEY}_{each}={each}" for each in others)]
        return Words(
            f"{key} is a list: Nova compares it as a whole, and it equals no project's "
            "ID",
            aggregate_set(self.id, *pairs),
        )


def lists(analysis: Analysis) -> Iterator[ProjectList]:
    """Find values with a comma: compared as a whole, they equal no project's ID.

    Not where each project has a key of its own as well, for the host filter of before
    30 (nova/scheduler/request_filter.py, ``require_tenant_aggregate``).
    """
    if analysis.is_on(options.TENANT):
        severity = Severity.ERROR
    elif analysis.has_filter(PROJECT_FILTER):
        severity = Severity.NOTE
    else:
        severity = Severity.WARNING
    for aggregate, key, value in _pairs(analysis):
        projects = projects_of(value)
        if "," in value and not {*projects} <= {*aggregate.projects.values()}:
            yield ProjectList(severity, aggregate.name, aggregate.id, key, projects)


@dataclasses.dataclass(frozen=True)
class ProjectUnknown(Finding):
    """An aggregate with a value that is the ID of no project.

    :ivar id: the aggregate's
    :ivar key: of its metadata, with the value
    :ivar named: the IDs of the projects that have the value as their name
    """

    rule = "project-unknown"
    kind = Kind.AGGREGATE
    severity: Severity
    name: str
    id: int
    key: str
    value: str
    named: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        pair = f"{self.key}={self.value}"
        if not self.named:
            return Words(
                f"{pair}: no project has this ID",
                unset(Kind.AGGREGATE, [self.key], str(self.id)),
            )
        meant = f"{self.key}={self.named[0]}"
        return Words(
            f"{pair}: this is the name of a project, and Nova looks for its ID",
            aggregate_set(self.id, meant) if len(self.named) == 1 else "",
        )


def unknown(analysis: Analysis) -> Iterator[ProjectUnknown]:
    """Find values that are the ID of no project; a name is no ID."""
    projects = analysis.survey.projects
    if projects is None:
        return
    folded = analysis.collation.folded
    known = set(map(folded, projects))
    for aggregate, key, value in _pairs(analysis):
        if "," not in value and folded(value) not in known:
            named = _named(analysis, value)
            meant = named and analysis.is_on(options.TENANT)
            severity = Severity.ERROR if meant else Severity.WARNING
            yield ProjectUnknown(
                severity, aggregate.name, aggregate.id, key, value, named
            )


@dataclasses.dataclass(frozen=True)
class ProjectWithout(Finding):
    """Projects that no aggregate is for, where each project has to have one.

    :ivar projects: their names
    """

    rule = "project-without"
    kind = Kind.OPTION
    name = options.TENANT_REQUIRED
    severity: Severity
    projects: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"on ({self.setting.source}), and no aggregate is for the "
            f"{listed(self.projects, 'project')}: their servers find no valid host",
            openstack(
                "aggregate set",
                Placeholder("AGGREGATE"),
                Option("--property", Placeholder(f"{TENANT_KEY}SUFFIX=PROJECT_ID")),
            ),
        )


def without(analysis: Analysis) -> Iterator[ProjectWithout]:
    """Find projects that no aggregate is for, where each has to have one.

    Those that a value means which never matches are left to the rules on that.
    """
    projects = analysis.survey.projects
    required = analysis.setting(options.TENANT_REQUIRED)
    if not projects or not required.value or not analysis.is_on(options.TENANT):
        return
    folded = analysis.collation.folded
    meant: set[str] = set()
    for _, _, value in _pairs(analysis):
        for each in projects_of(value):
            meant.update(map(folded, [each, *_named(analysis, each)]))
    left = [name for uuid, name in projects.items() if folded(uuid) not in meant]
    if left:
        none = len(left) == len(projects)
        severity = Severity.ERROR if none else Severity.WARNING
        yield ProjectWithout(severity, tuple(sorted(left)), required)


def _pairs(analysis: Analysis) -> Iterator[tuple[Aggregate, str, str]]:
    """Yield each aggregate's keys that name projects, with their values."""
    aggregates = analysis.survey.nova.aggregates
    for aggregate in sorted(aggregates, key=lambda each: (each.name, each.id)):
        for key, value in sorted(aggregate.projects.items()):
            yield aggregate, key, value


def _named(analysis: Analysis, name: str) -> tuple[str, ...]:
    """Return the IDs of the projects of a name; each domain can have one."""
    projects = analysis.survey.projects or {}
    return tuple(sorted(uuid for uuid, each in projects.items() if each == name))


RULES = (
    Rule(ProjectMirror, "project", differing, Kind.AGGREGATE, also=("mirror",)),
    Rule(ProjectList, "project", lists, Kind.AGGREGATE),
    Rule(ProjectUnknown, "project", unknown, Kind.AGGREGATE),
    Rule(ProjectWithout, "project", without, Kind.OPTION),
)
