"""Rules of the areas az and project: aggregates for zones and projects."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import (
    ERROR,
    NOTE,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
)
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.words import aggregate_set, enable, off_by, unset
from osc_traitsched.core.inventory.metadata import TENANT_KEY, projects_of, zone_in
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.settings import az_is_always_on, az_is_on
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import count, listed, option, quoted, ranges

# Zones.


_FILTERS = option(options.ENABLED_FILTERS)


@rule("az-several", SubjectKind.HOST)
def several(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A host in aggregates of different zones.

    A request for either zone can land there. nova-api rejects such a change, but two
    requests at once or a change in the database still cause it.
    """
    for host, zones in sorted(_zones_of_hosts(analysis).items()):
        if len(zones) > 1:
            names = tuple(sorted(zones))
            aggregates = tuple(sorted(set[str]().union(*zones.values())))
            yield ERROR(
                host,
                f"in the zones {' and '.join(map(quoted, names))} at once, by the "
                f"{listed(aggregates, 'aggregate')}",
                openstack("aggregate remove host", Placeholder("AGGREGATE"), host),
                "take the host out of all but one zone's aggregates",
                zones=names,
                aggregates=aggregates,
            )


def _zones_of_hosts(analysis: Analysis) -> dict[str, dict[str, set[str]]]:
    found: dict[str, dict[str, set[str]]] = {}
    for aggregate in analysis.survey.nova.aggregates:
        zone = zone_in(aggregate.metadata, analysis.collation)
        for host in aggregate.hosts if zone is not None else ():
            zones = found.setdefault(host, {})
            zones.setdefault(zone or "", set()).add(aggregate.name)
    return found


@rule("az-default-zone", SubjectKind.ZONE, SubjectKind.HOST)
def default_zone(analysis: Analysis) -> Iterator[Fault]:
    """A default zone with hosts, in a cloud that has aggregates for zones.

    A warning; a note while ``AvailabilityZoneFilter`` is on. Nova shows such hosts in
    the default zone, but a request for that zone can land on any host. Nothing is wrong
    if users never request it.
    """
    # Hosts outside all zones' aggregates are in the default zone. If no aggregate has
    # its name, Placement is asked for any host (nova/scheduler/request_filter.py,
    # map_az_to_placement_aggregate); else these hosts are excluded.
    folded = analysis.collation.folded
    inside, zones = _zones_of_hosts(analysis), set(map(folded, _zones(analysis)))
    if not zones:
        return
    outside: dict[str, set[str]] = {}
    for node in analysis.survey.nova.computes:
        if node.service_host not in inside:
            for zone in node.zones:
                outside.setdefault(zone, set()).add(node.service_host)
    for zone, names in sorted(outside.items()):
        hosts = tuple(sorted(names))
        severity, then = _default_zone_gives(analysis, folded(zone) in zones)
        yield Fault(
            severity,
            zone,
            f"the {ranges(hosts, 'host')} {'is' if len(hosts) == 1 else 'are'} in no "
            f"zone's aggregate; a request for it {then}",
            openstack(
                "aggregate add host", Placeholder("AGGREGATE"), Placeholder("HOST")
            ),
            "put them into a zone's aggregate",
            hosts=hosts,
        )


def _default_zone_gives(
    analysis: Analysis, has_aggregate: bool
) -> tuple[Severity, str]:
    if has_aggregate and az_is_on(analysis.survey.assumptions):
        return Severity.WARNING, "does not get them: an aggregate has its name"
    if analysis.has_filter(special.ZONE):
        return Severity.NOTE, f"gets them, as long as {special.ZONE} is on"
    return Severity.WARNING, "can get any host: no aggregate has its name"


@rule("az-filter", SubjectKind.OPTION)
def filtered(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* AvailabilityZoneFilter, while Placement enforces zones.

    The filter repeats Placement's work. From 2023.2 on, nova-scheduler does not start
    with it (``config-filter-gone``).
    """
    assumptions = analysis.survey.assumptions
    is_gone = az_is_always_on(assumptions.release)
    if analysis.has_filter(special.ZONE) and az_is_on(assumptions) and not is_gone:
        setting = analysis.setting(options.ENABLED_FILTERS)
        yield WARNING(
            options.ENABLED_FILTERS,
            f"{special.ZONE} does again what Placement did, and 2023.2 (Nova 28) does "
            f"not start with it ({setting.source})",
            enable(options.AZ_QUERY, setting),
        )


@rule("az-ignored", SubjectKind.OPTION)
def ignored(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* Zones that neither Placement nor a filter enforces.

    A request for a zone lands on any host. From 2023.2 on this can't happen.
    """
    zones, setting = _zones(analysis), analysis.setting(options.AZ_QUERY)
    is_on = az_is_on(analysis.survey.assumptions)
    if zones and not is_on and not analysis.has_filter(special.ZONE):
        yield ERROR(
            options.AZ_QUERY,
            f"{off_by(setting)}, and {_FILTERS} has no {special.ZONE}: a request for "
            f"the {listed(zones, 'zone')} gets any host",
            enable(options.AZ_QUERY, setting),
            zones=zones,
        )


def _zones(analysis: Analysis) -> tuple[str, ...]:
    aggregates = analysis.survey.nova.aggregates
    found = (zone_in(each.metadata, analysis.collation) for each in aggregates)
    return tuple(sorted({zone for zone in found if zone is not None}))


# Projects.


@rule("project-list", SubjectKind.AGGREGATE)
def lists(analysis: Analysis) -> Iterator[Fault]:
    """An aggregate whose project value has a comma.

    An error while the option is on, else a warning; a note if
    ``AggregateMultiTenancyIsolation`` is on instead, which accepts lists. Nova compares
    the value as a whole, so it matches no project.
    """
    # Lists are fine if each project also has its own key, for the host filter before 30
    # (nova/scheduler/request_filter.py, require_tenant_aggregate).
    if analysis.is_on(options.TENANT):
        severity = Severity.ERROR
    elif analysis.has_filter(special.PROJECT):
        severity = Severity.NOTE
    else:
        severity = Severity.WARNING
    for aggregate, key, value in _pairs(analysis):
        projects = projects_of(value)
        if "," in value and not {*projects} <= {*aggregate.projects.values()}:
            first, *others = projects
            own_keys = (f"{TENANT_KEY}_{project}={project}" for project in others)
            yield Fault(
                severity,
                aggregate.name,
                f"{key} is a list: Nova compares it as a whole, and it equals no "
                "project's ID",
                aggregate_set(aggregate, f"{key}={first}", *own_keys),
                projects=projects,
            )


@rule("project-unknown", SubjectKind.AGGREGATE)
def unknown(analysis: Analysis) -> Iterator[Fault]:
    """An aggregate with a value that is not a project's ID.

    An error if it is a project's name and the option is on, else a warning. The value
    limits no project. Users who can't list all projects do not see this finding.
    """
    folded = analysis.collation.folded
    pairs = tuple(_pairs(analysis))
    ids = set(map(folded, analysis.survey.project_names)) if pairs else set()
    for aggregate, key, value in pairs:
        if "," in value or folded(value) in ids:
            continue
        severity, named = Severity.WARNING, _named(analysis, value)
        if named:
            if analysis.is_on(options.TENANT):
                severity = Severity.ERROR
            problem = "must be a project's ID, not its name"
            fix = aggregate_set(aggregate, f"{key}={named[0]}")
        else:
            problem = "no project has this ID"
            fix = unset(SubjectKind.AGGREGATE, [key], aggregate)
        yield Fault(
            severity,
            aggregate.name,
            f"{key}={value}: {problem}",
            fix if len(named) < 2 else "",
        )


@rule("project-without", SubjectKind.OPTION)
def without(analysis: Analysis) -> Iterator[Fault]:
    """Projects without an aggregate, while each needs one.

    A warning; an error if no project has one. nova-scheduler rejects the requests of
    these projects. It may be intended, as for the services' own project.
    """
    # Other rules report projects behind a value that never matches.
    required = analysis.setting(options.TENANT_REQUIRED)
    if not required.value or not analysis.is_on(options.TENANT):
        return
    projects = analysis.survey.project_names
    folded = analysis.collation.folded
    meant: set[str] = set()
    for _, _, value in _pairs(analysis):
        for each in projects_of(value):
            meant.update(map(folded, [each, *_named(analysis, each)]))
    left = sorted(name for uuid, name in projects.items() if folded(uuid) not in meant)
    if left:
        yield Fault(
            Severity.ERROR if len(left) == len(projects) else Severity.WARNING,
            options.TENANT_REQUIRED,
            f"on ({required.source}), and no aggregate is for the "
            f"{listed(left, 'project')}: their servers find no valid host",
            openstack(
                "aggregate set",
                Placeholder("AGGREGATE"),
                Option("--property", Placeholder(f"{TENANT_KEY}SUFFIX=PROJECT_ID")),
            ),
            projects=tuple(left),
        )


def _pairs(analysis: Analysis) -> Iterator[tuple[Aggregate, str, str]]:
    aggregates = analysis.survey.nova.aggregates
    for aggregate in sorted(aggregates, key=lambda each: (each.name, each.id)):
        for key, value in sorted(aggregate.projects.items()):
            yield aggregate, key, value


def _named(analysis: Analysis, name: str) -> tuple[str, ...]:
    """Each domain can have a project of that name."""
    projects = analysis.survey.project_names
    return tuple(sorted(uuid for uuid, each in projects.items() if each == name))


@rule("project-off", SubjectKind.OPTION, SubjectKind.AGGREGATE)
def off(analysis: Analysis) -> Iterator[Fault]:
    """Aggregates that are for projects, while the scheduler ignores that.

    An error if the options were supplied, else a warning. Two settings enforce it, each
    by half: AggregateMultiTenancyIsolation keeps other projects off the aggregate's
    hosts, and ``limit_tenants_to_placement_aggregate`` keeps a project on them.
    """
    # nova/scheduler/filters/aggregate_multitenancy_isolation.py, and
    # nova/scheduler/request_filter.py, require_tenant_aggregate
    aggregates = tuple(a.name for a in analysis.survey.nova.aggregates if a.projects)
    setting = analysis.setting(options.TENANT)
    if aggregates and not setting.value and not analysis.has_filter(special.PROJECT):
        is_known = setting.given and analysis.setting(options.ENABLED_FILTERS).given
        yield Fault(
            Severity.ERROR if is_known else Severity.WARNING,
            options.TENANT,
            f"any project can land in {listed(aggregates, 'aggregate')}, and the "
            f"projects of {TENANT_KEY} anywhere: {off_by(setting)}, and {_FILTERS} has "
            f"no {special.PROJECT}",
            enable(options.TENANT, setting),
            f"to keep other projects off these hosts, add {special.PROJECT} to "
            f"{_FILTERS}; to keep the projects on these hosts, turn "
            f"{option(options.TENANT)} on, which still lets other projects in",
            aggregates=aggregates,
        )


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
    if analysis.has_filter(special.PROJECT):
        return
    is_known = analysis.survey.assumptions.is_known(options.ENABLED_FILTERS)
    state = "off" if is_known else "taken as off"
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
            f"other projects may land here ({special.PROJECT} is {state})"
            + there * bool(servers),
            f"add {special.PROJECT} to {_FILTERS}",
            hosts=tuple(sorted(aggregate.hosts)),
            servers=servers,
        )


RULES = (
    several,
    default_zone,
    filtered,
    ignored,
    off,
    not_exclusive,
    lists,
    unknown,
    without,
)


# Rules on existing servers, which need all servers and so run on demand.


_MISPLACED = openstack("trait-sched server misplaced")


@rule("servers-misplaced", SubjectKind.SERVERS, reads_servers=True)
def misplaced(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* Servers on hosts that Nova would not choose for them today.

    Servers stay if traits, aggregates, groups or filters change. After a move they
    could not come back. ``server misplaced`` lists them.
    """
    counts = analysis.survey.servers
    if counts is not None and counts.misplaced:
        yield WARNING(
            f"{counts.misplaced} of {counts.looked_at}",
            f"{count(counts.misplaced, 'server')} could not be given "
            f"{_their_hosts(counts.misplaced)} today: {ranges(counts.hosts, 'host')}",
            _MISPLACED,
            "to list them, with why",
            hosts=counts.hosts,
        )


@rule("servers-not-known", SubjectKind.SERVERS, reads_servers=True)
def not_known(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* Servers that could not be judged against their hosts.

    Nova does not show a part of their request, or their cell does not answer.
    """
    counts = analysis.survey.servers
    if counts is None:
        return
    problems = []
    if counts.unknown:
        problems.append(
            f"not known of {count(counts.unknown, 'server')} if "
            f"{_their_hosts(counts.unknown)} could be given to a new one"
        )
    if counts.silent:
        problems.append(
            f"not read: the servers of {ranges(counts.silent, 'host')}, whose cell "
            "does not answer"
        )
    if problems:
        yield NOTE(
            f"{counts.unknown} of {counts.looked_at}",
            "; ".join(problems),
            _MISPLACED,
            "to list why",
            hosts=counts.silent,
        )


def _their_hosts(servers: int) -> str:
    return "its host" if servers == 1 else "their hosts"


SERVER_RULES = (misplaced, not_known)
