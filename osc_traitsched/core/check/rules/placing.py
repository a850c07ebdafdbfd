"""Rules of the areas az and project: aggregates for zones and projects."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import (
    WARNING,
    Fault,
    Finding,
    Severity,
    SubjectKind,
    Words,
)
from osc_traitsched.core.check.rule import Rule, rule
from osc_traitsched.core.check.words import aggregate_set, enable, off_by, unset
from osc_traitsched.core.inventory.metadata import TENANT_KEY, projects_of, zone_in
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import (
    AZ_FILTER,
    PROJECT_FILTER,
    Setting,
    az_is_always_on,
    az_is_on,
)
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import count, listed, option, quoted, ranges

# Zones.


_FILTERS = option(options.ENABLED_FILTERS)


@dataclasses.dataclass(frozen=True)
class AzSeveral(Finding):
    """A host in aggregates of different zones.

    A request for either zone can land there. nova-api rejects such a change, but two
    requests at once or a change in the database still cause it.
    """

    rule = "az-several"
    severity = Severity.ERROR
    kind = SubjectKind.HOST
    name: str
    zones: tuple[str, ...]
    aggregates: tuple[str, ...]

    def words(self) -> Words:
        zones = " and ".join(map(quoted, self.zones))
        return Words(
            f"in the zones {zones} at once, by the "
            f"{listed(self.aggregates, 'aggregate')}",
            openstack("aggregate remove host", Placeholder("AGGREGATE"), self.name),
            "take the host out of all but one zone's aggregates",
        )


def several(analysis: Analysis) -> Iterator[AzSeveral]:
    for host, zones in sorted(_zones_of_hosts(analysis).items()):
        if len(zones) > 1:
            aggregates = set[str]().union(*zones.values())
            yield AzSeveral(host, tuple(sorted(zones)), tuple(sorted(aggregates)))


def _zones_of_hosts(analysis: Analysis) -> dict[str, dict[str, set[str]]]:
    """Zones by host, each with the names of its aggregates."""
    found: dict[str, dict[str, set[str]]] = {}
    for aggregate in analysis.survey.nova.aggregates:
        zone = zone_in(aggregate.metadata, analysis.collation)
        for host in aggregate.hosts if zone is not None else ():
            zones = found.setdefault(host, {})
            zones.setdefault(zone or "", set()).add(aggregate.name)
    return found


class DefaultZone(enum.Enum):
    """Hosts for a request for the default zone."""

    #: Any host, since no aggregate has the zone's name.
    ANY = "any"
    #: None of its default members, since an aggregate has its name.
    OTHERS = "others"
    #: Its default members, only thanks to AvailabilityZoneFilter.
    FILTERED = "filtered"


_GIVEN = {
    DefaultZone.ANY: "a request for it can get any host: no aggregate has its name",
    DefaultZone.OTHERS: "a request for it does not get them: an aggregate has its name",
    DefaultZone.FILTERED: f"a request for it gets them, as long as {AZ_FILTER} is on",
}


@dataclasses.dataclass(frozen=True)
class AzDefaultZone(Finding):
    """A default zone with hosts, in a cloud that has aggregates for zones.

    A warning; a note while ``AvailabilityZoneFilter`` is on. Nova shows such hosts in
    the default zone, but a request for that zone can land on any host. Nothing is wrong
    if users never request it.

    :ivar given: the hosts for a request for the zone
    """

    rule = "az-default-zone"
    kind = SubjectKind.ZONE
    severity: Severity
    name: str
    hosts: tuple[str, ...]
    given: DefaultZone

    def words(self) -> Words:
        return Words(
            f"the {ranges(self.hosts, 'host')} "
            f"{'is' if len(self.hosts) == 1 else 'are'} in no zone's aggregate; "
            f"{_GIVEN[self.given]}",
            openstack(
                "aggregate add host", Placeholder("AGGREGATE"), Placeholder("HOST")
            ),
            "put them into a zone's aggregate",
        )


def default_zone(analysis: Analysis) -> Iterator[AzDefaultZone]:
    """Hosts outside all zones' aggregates are in the default zone.

    If no aggregate has its name, Placement is asked for any host
    (nova/scheduler/request_filter.py, ``map_az_to_placement_aggregate``); else these
    hosts are excluded.
    """
    folded = analysis.collation.folded
    inside, zones = _zones_of_hosts(analysis), set(map(folded, _zones(analysis)))
    if not zones:
        return
    outside: dict[str, set[str]] = {}
    for node in analysis.survey.nova.computes:
        if node.service_host not in inside:
            for zone in node.zones:
                outside.setdefault(zone, set()).add(node.service_host)
    for zone, hosts in sorted(outside.items()):
        given = _given(analysis, folded(zone) in zones)
        filtered = given is DefaultZone.FILTERED
        severity = Severity.NOTE if filtered else Severity.WARNING
        yield AzDefaultZone(severity, zone, tuple(sorted(hosts)), given)


def _given(analysis: Analysis, has_aggregate: bool) -> DefaultZone:
    if has_aggregate and az_is_on(analysis.survey.assumptions):
        return DefaultZone.OTHERS
    is_filtered = analysis.has_filter(AZ_FILTER)
    return DefaultZone.FILTERED if is_filtered else DefaultZone.ANY


@dataclasses.dataclass(frozen=True)
class AzFilter(Finding):
    """AvailabilityZoneFilter, while Placement enforces zones.

    An error from 2023.2 on, because nova-scheduler no longer has this filter and does
    not start. Before that a warning: the filter repeats Placement's work.

    :ivar stops: nova-scheduler does not start with it
    """

    rule = "az-filter"
    kind = SubjectKind.OPTION
    name = options.ENABLED_FILTERS
    severity: Severity
    release: int
    setting: Setting
    stops: bool

    def words(self) -> Words:
        if self.stops:
            nova = f"Nova {release(self.release)}"
            then = f"{nova} has no {AZ_FILTER}, and nova-scheduler does not start"
        else:
            then = (
                f"{AZ_FILTER} does again what Placement did, and Nova 28 (2023.2) does "
                "not start with it"
            )
        fix = enable("az", self.setting)
        return Words(f"{then} ({self.setting.source})", fix)


def filtered(analysis: Analysis) -> Iterator[AzFilter]:
    """Nova 28 removed the filter, and does not start with it
    (nova/scheduler/host_manager.py, ``_choose_host_filters``).
    """
    assumptions = analysis.survey.assumptions
    if analysis.has_filter(AZ_FILTER) and az_is_on(assumptions):
        stops = az_is_always_on(assumptions.release)
        severity = Severity.ERROR if stops else Severity.WARNING
        setting = analysis.setting(options.ENABLED_FILTERS)
        yield AzFilter(severity, assumptions.release, setting, stops)


@dataclasses.dataclass(frozen=True)
class AzIgnored(Finding):
    """Zones that neither Placement nor a filter enforces.

    A request for a zone lands on any host. From 2023.2 on this can't happen.
    """

    rule = "az-ignored"
    severity = Severity.ERROR
    kind = SubjectKind.OPTION
    name = options.AZ_QUERY
    zones: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        return Words(
            f"{off_by(self.setting)}, and {_FILTERS} has no {AZ_FILTER}: a request "
            f"for the {listed(self.zones, 'zone')} gets any host",
            enable("az", self.setting),
        )


def ignored(analysis: Analysis) -> Iterator[AzIgnored]:
    zones = _zones(analysis)
    is_on = az_is_on(analysis.survey.assumptions)
    if zones and not is_on and not analysis.has_filter(AZ_FILTER):
        yield AzIgnored(zones, analysis.setting(options.AZ_QUERY))


def _zones(analysis: Analysis) -> tuple[str, ...]:
    aggregates = analysis.survey.nova.aggregates
    found = (zone_in(each.metadata, analysis.collation) for each in aggregates)
    return tuple(sorted({zone for zone in found if zone is not None}))


# Projects.


@dataclasses.dataclass(frozen=True)
class ProjectList(Finding):
    """An aggregate whose project value has a comma.

    An error while the option is on, else a warning; a note if
    ``AggregateMultiTenancyIsolation`` is on instead, which accepts lists. Nova compares
    the value as a whole, so it matches no project.
    """

    rule = "project-list"
    kind = SubjectKind.AGGREGATE
    severity: Severity
    name: str
    id: int
    key: str
    projects: tuple[str, ...]

    def words(self) -> Words:
        key, (first, *others) = self.key, self.projects
        pairs = [f"{key}={first}", *(f"{TENANT_KEY}_{each}={each}" for each in others)]
        return Words(
            f"{key} is a list: Nova compares it as a whole, and it equals no project's "
            "ID",
            aggregate_set(self.id, *pairs),
        )


def lists(analysis: Analysis) -> Iterator[ProjectList]:
    """Compared as a whole, such a value is not a project's ID.

    Lists are fine if each project also has its own key, for the host filter before 30
    (nova/scheduler/request_filter.py, ``require_tenant_aggregate``).
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
    """An aggregate with a value that is not a project's ID.

    An error if it is a project's name and the option is on, else a warning. The value
    limits no project. Users who can't list all projects do not see this finding.

    :ivar named: IDs of the projects with this name
    """

    rule = "project-unknown"
    kind = SubjectKind.AGGREGATE
    severity: Severity
    name: str
    id: int
    key: str
    value: str
    named: tuple[str, ...]

    def words(self) -> Words:
        pair = f"{self.key}={self.value}"
        if not self.named:
            return Words(
                f"{pair}: no project has this ID",
                unset(SubjectKind.AGGREGATE, [self.key], str(self.id)),
            )
        meant = f"{self.key}={self.named[0]}"
        return Words(
            f"{pair}: must be a project's ID, not its name",
            aggregate_set(self.id, meant) if len(self.named) == 1 else "",
        )


def unknown(analysis: Analysis) -> Iterator[ProjectUnknown]:
    folded = analysis.collation.folded
    pairs = tuple(_pairs(analysis))
    known = set(map(folded, analysis.survey.project_names)) if pairs else set()
    for aggregate, key, value in pairs:
        if "," not in value and folded(value) not in known:
            named = _named(analysis, value)
            meant = named and analysis.is_on(options.TENANT)
            severity = Severity.ERROR if meant else Severity.WARNING
            yield ProjectUnknown(
                severity, aggregate.name, aggregate.id, key, value, named
            )


@dataclasses.dataclass(frozen=True)
class ProjectWithout(Finding):
    """Projects without an aggregate, while each needs one.

    A warning; an error if no project has one. nova-scheduler rejects the requests of
    these projects. It may be intended, as for the services' own project.
    """

    rule = "project-without"
    kind = SubjectKind.OPTION
    name = options.TENANT_REQUIRED
    severity: Severity
    projects: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
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
    """Other rules report projects behind a value that never matches."""
    required = analysis.setting(options.TENANT_REQUIRED)
    if not required.value or not analysis.is_on(options.TENANT):
        return
    projects = analysis.survey.project_names
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
    """Keys that name projects, with their values, by aggregate."""
    aggregates = analysis.survey.nova.aggregates
    for aggregate in sorted(aggregates, key=lambda each: (each.name, each.id)):
        for key, value in sorted(aggregate.projects.items()):
            yield aggregate, key, value


def _named(analysis: Analysis, name: str) -> tuple[str, ...]:
    """IDs of the projects with a name; each domain can have one."""
    projects = analysis.survey.project_names
    return tuple(sorted(uuid for uuid, each in projects.items() if each == name))


@dataclasses.dataclass(frozen=True)
class ProjectOff(Finding):
    """Aggregates that are for projects, while the scheduler ignores that.

    An error if the options were supplied, else a warning. Two settings enforce it, each
    by half: AggregateMultiTenancyIsolation keeps other projects off the aggregate's
    hosts, and ``limit_tenants_to_placement_aggregate`` keeps a project on them.
    """

    rule = "project-off"
    kind = SubjectKind.OPTION
    name = options.TENANT
    severity: Severity
    aggregates: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        which = listed(self.aggregates, "aggregate")
        return Words(
            f"any project can land in {which}, and the projects of {TENANT_KEY} "
            f"anywhere: {off_by(self.setting)}, and {_FILTERS} has no {PROJECT_FILTER}",
            enable("projects", self.setting),
            f"to keep other projects off these hosts, add {PROJECT_FILTER} to "
            f"{_FILTERS}; to keep the projects on these hosts, turn "
            f"{option(options.TENANT)} on, which still lets other projects in",
        )


def off(analysis: Analysis) -> Iterator[ProjectOff]:
    """Find that aggregates are for projects, and the scheduler ignores it.

    nova/scheduler/filters/aggregate_multitenancy_isolation.py, and
    nova/scheduler/request_filter.py, ``require_tenant_aggregate``.
    """
    aggregates = analysis.survey.nova.aggregates
    named = tuple(each.name for each in aggregates if each.projects)
    setting = analysis.setting(options.TENANT)
    if named and not setting.value and not analysis.has_filter(PROJECT_FILTER):
        is_known = setting.given and analysis.setting(options.ENABLED_FILTERS).given
        severity = Severity.ERROR if is_known else Severity.WARNING
        yield ProjectOff(severity, named, setting)


@rule("project-not-exclusive", SubjectKind.AGGREGATE)
def not_exclusive(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An aggregate for projects whose hosts other projects may use.

    ``limit_tenants_to_placement_aggregate`` keeps a project on its hosts, and other
    projects off them only if every project needs an aggregate. Otherwise
    AggregateMultiTenancyIsolation does. With ``--servers`` the finding names the
    servers of other projects that are there.
    """
    is_closed = analysis.is_on(options.TENANT_REQUIRED)
    if not analysis.is_on(options.TENANT) or is_closed:
        return
    if analysis.has_filter(PROJECT_FILTER):
        return
    is_known = analysis.survey.assumptions.is_known(options.ENABLED_FILTERS)
    state = "off" if is_known else "assumed to be off"
    folded, counts = analysis.collation.folded, analysis.survey.servers
    for aggregate in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        if not aggregate.projects or not aggregate.hosts:
            continue
        values = aggregate.projects.values()
        own = {folded(project) for value in values for project in projects_of(value)}
        servers = tuple(
            server.name
            for server in (counts.residents if counts else ())
            if server.host in aggregate.hosts and folded(server.project) not in own
        )
        do = "does" if len(servers) == 1 else "do"
        there = f"; {count(len(servers), 'server')} {do}: {listed(servers)}"
        yield WARNING(
            aggregate.name,
            f"other projects may land here ({PROJECT_FILTER} is {state})"
            + there * bool(servers),
            f"add {PROJECT_FILTER} to {_FILTERS}",
            hosts=tuple(sorted(aggregate.hosts)),
            servers=servers,
        )


RULES = (
    Rule(AzSeveral, several, SubjectKind.HOST),
    Rule(AzDefaultZone, default_zone, SubjectKind.HOST),
    Rule(AzFilter, filtered, SubjectKind.OPTION),
    Rule(AzIgnored, ignored, SubjectKind.OPTION),
    Rule(ProjectOff, off, SubjectKind.AGGREGATE),
    not_exclusive,
    Rule(ProjectList, lists, SubjectKind.AGGREGATE),
    Rule(ProjectUnknown, unknown, SubjectKind.AGGREGATE),
    Rule(ProjectWithout, without, SubjectKind.OPTION),
)
