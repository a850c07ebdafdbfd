"""Rules on settings, on zones and projects, and on servers on wrong hosts."""

from __future__ import annotations

from collections.abc import Iterator

from osc_traitsched.core import errors
from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.rule import aggregate_set, enable, off_by, rule, unset
from osc_traitsched.core.check.rules.filters import enabled
from osc_traitsched.core.check.survey import (
    ERROR,
    NOTE,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
)
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.inventory.trait import TENANT_KEY, projects_of, zone_in
from osc_traitsched.core.nova import options, server
from osc_traitsched.core.nova import weighers as nova_weighers
from osc_traitsched.core.nova.building import zone_refusal
from osc_traitsched.core.nova.clause import RootTrait
from osc_traitsched.core.nova.filter import special, table
from osc_traitsched.core.nova.options import NoEffect, az_is_always_on, az_is_on
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import count, did_you_mean, listed, option, quoted, ranges

# Rules of the area config: the scheduler's options.


# Options, compared with the cloud's needs.


@rule("config-ignored", SubjectKind.OPTION)
def ignored(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* A set option that this release of Nova does not read.

    From 2023.2 on, for example, Nova always looks up zones in Placement, and the option
    for that is gone.
    """
    settings = analysis.survey.assumptions
    for name, source in settings.ignored:
        yield NOTE(
            name,
            f"set ({source}), and {release(settings.release)} does not look at it",
            "take it out, or name the release by --nova-release",
        )


@rule("config-filter-gone", SubjectKind.OPTION)
def filter_gone(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* An enabled host filter that this release of Nova lacks.

    nova-scheduler does not start. The finding says what replaces the filter.
    """
    number = analysis.survey.assumptions.release
    setting = analysis.setting(options.ENABLED_FILTERS)
    for name in dict.fromkeys(setting.items):
        successor = table.successor(name, number)
        if successor is not None:
            yield ERROR(
                options.ENABLED_FILTERS,
                f"{release(number)} has no {name}, and nova-scheduler does not "
                f"start ({setting.source})",
                f"take it out of the list: {successor}",
            )


@rule("config-filter-unknown", SubjectKind.OPTION)
def filter_unknown(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* An enabled host filter that nova-scheduler can't load.

    nova-scheduler does not start. The name is misspelled, has quotes or brackets, or
    ``available_filters`` does not load it.
    """
    # nova/scheduler/host_manager.py, _choose_host_filters
    settings = analysis.survey.assumptions
    source = settings.setting(options.ENABLED_FILTERS).source
    available = option(options.AVAILABLE_FILTERS)
    for name, nearest in table.not_loadable(settings).items():
        if table.successor(name, settings.release) is not None:
            continue
        if name in table.FILTERS:
            fix = f"add a line to {available}: {options.ALL_FILTERS}"
        elif nearest:
            fix = f"write {nearest[0]}"
        elif not name.isidentifier():
            fix = "write class names with commas between them, and nothing else"
        else:
            fix = f"take it out, or add the path of its class to {available}"
        yield ERROR(
            options.ENABLED_FILTERS,
            "nova-scheduler does not start: it can't load a host filter "
            f"{quoted(name)} ({source})",
            fix,
        )


@rule("config-weigher-unknown", SubjectKind.OPTION)
def weigher_unknown(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* An enabled weigher that nova-scheduler can't load.

    nova-scheduler does not start. The name is misspelled, or has no module.
    """
    source = analysis.setting(options.WEIGHT_CLASSES).source
    for name in nova_weighers.not_loadable(analysis.survey.assumptions):
        yield ERROR(
            options.WEIGHT_CLASSES,
            "nova-scheduler does not start: it can't load a weigher "
            f"{quoted(name)} ({source})",
            "take it out, or write the whole path of its class",
        )


@rule("config-no-compute-filter", SubjectKind.OPTION)
def no_compute_filter(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A list of host filters that lets hosts pass whose nova-compute is
    down.

    Servers can land on hosts whose nova-compute is down, and fail there.
    """
    setting = analysis.setting(options.ENABLED_FILTERS)
    # With brackets or quotes it is another finding.
    is_named = special.COMPUTE in str(setting.value)
    if setting.given and not is_named:
        yield WARNING(
            options.ENABLED_FILTERS,
            f"the list has no {special.COMPUTE} ({setting.source}): servers can go to "
            "a host whose nova-compute is down, and fail there",
            f"add {special.COMPUTE} to the list",
        )


@rule("config-no-effect", SubjectKind.OPTION)
def no_effect(analysis: Analysis) -> Iterator[Fault]:
    """A line of nova.conf, or of a deployment's file, that Nova does not read.

    A warning; a note if the option is also set where Nova reads it. oslo.config ignores
    unknown and misplaced options without a message.
    """
    for line in analysis.survey.assumptions.no_effect:
        if not line.is_unread:
            yield Fault(
                Severity.NOTE if _is_set(analysis, line) else Severity.WARNING,
                line.name,
                f"no effect: {line.reason or 'Nova does not read this line'} "
                f"({line.source})",
                line.fix,
            )


@rule("config-not-read", SubjectKind.OPTION)
def not_read(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A line of a file that may set an option, and that is not read here.

    A warning, unless another line sets the option. Answers treat it as unknown.
    """
    for line in analysis.survey.assumptions.no_effect:
        if line.is_unread and not _is_set(analysis, line):
            problem = f"seen, not read: {line.reason} ({line.source})"
            yield WARNING(line.name, problem, line.fix)


@rule("config-services-differ", SubjectKind.OPTION)
def services_differ(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An option that the services of Nova read with different values.

    Services must agree on ``pci_in_placement``, ``[pci]alias``, ``cross_az_attach``,
    ``service_down_time``, ``max_attempts`` and ``default_availability_zone``, and all
    controllers on what nova-scheduler reads; else the option counts as unknown. Name
    the nova.conf of each service, or ask each by ``config save --nova-python``.
    """
    for name, settings in analysis.survey.assumptions.disagreements.items():
        values = (
            f"{service} has {','.join(each.items) or each.value} ({each.source})"
            for service, each in settings.items()
        )
        differs = options.OPTIONS[name].differs or "schedulers decide differently"
        problem = f"{differs}: {'; '.join(values)}"
        yield WARNING(name, problem, "set the same value for all")


def _is_set(analysis: Analysis, line: NoEffect) -> bool:
    return line.meant in options.OPTIONS and analysis.setting(line.meant).given


@rule("config-reader-off", SubjectKind.OPTION)
def reader_off(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* A set option that only disabled filters or weighers read.

    Skipped if custom filters or weighers are loaded: they may read any option.
    """
    settings = analysis.survey.assumptions
    if (
        not settings.is_known(options.ENABLED_FILTERS)
        or table.has_own(settings)
        or nova_weighers.has_own(settings)
    ):
        return
    on = {*analysis.filtering.names, *enabled(analysis)}
    weighers = {each.option: each.name for each in nova_weighers.WEIGHERS.values()}
    for row in options.OPTIONS.values():
        names = table.readers(row.name, settings.release)
        if row.name in weighers:
            names = (*names, weighers[row.name])
        setting = settings.setting(row.name)
        is_read = not names or row.is_read_elsewhere or on & {*names}
        if setting.given and not is_read:
            yield NOTE(
                row.name,
                f"no effect ({setting.source}): {' and '.join(names)} "
                f"{'is' if len(names) == 1 else 'are'} off",
                "take it out, or enable what reads it",
            )


@rule("config-max-results", SubjectKind.OPTION, SubjectKind.HOST, pedantic=True)
def max_results(analysis: Analysis) -> Iterator[Fault]:
    """A limit for Placement's answer that is below the number of hosts.

    A warning if the option was supplied, else a note. nova-scheduler never sees the
    other hosts. A request fails if host filters reject all that it sees.
    """
    # nova/scheduler/client/report.py, get_allocation_candidates
    setting = analysis.setting(options.MAX_RESULTS)
    limit, total = setting.value, len(analysis.all_hosts)
    if isinstance(limit, int) and total > limit:
        yield Fault(
            Severity.WARNING if setting.given else Severity.NOTE,
            options.MAX_RESULTS,
            f"nova-scheduler sees at most {limit} of {total} hosts ({setting.source}). "
            "A request fails if filters reject all of these",
            f"set {option(options.MAX_RESULTS)} to {total} or more",
        )


@rule("config-project-required", SubjectKind.OPTION)
def project_required(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An option without effect that requires an aggregate for each project.

    Nova reads ``placement_aggregate_required_for_tenants`` only if
    ``limit_tenants_to_placement_aggregate`` is on.
    """
    # nova/scheduler/request_filter.py, require_tenant_aggregate, returns early.
    setting = analysis.setting(options.TENANT_REQUIRED)
    if setting.value and not analysis.is_on(options.TENANT):
        yield WARNING(
            options.TENANT_REQUIRED,
            f"on ({setting.source}), and without effect as long as "
            f"{option(options.TENANT)} is off",
            enable(options.TENANT_REQUIRED, setting),
        )


@rule("config-image-metadata-off", SubjectKind.OPTION, SubjectKind.IMAGE)
def image_metadata_off(analysis: Analysis) -> Iterator[Fault]:
    """Devices of images that not all hosts have, and that Nova does not check.

    An error if the option was supplied, else a warning. Servers can land on hosts whose
    nova-compute can't create their devices. The option exists from Ussuri on.
    """
    # nova/scheduler/request_filter.py, transform_image_metadata
    setting = analysis.setting(options.IMAGE_METADATA)
    number = analysis.survey.assumptions.release
    exists = options.OPTIONS[options.IMAGE_METADATA].is_in(number)
    if setting.value or not exists or not analysis.all_hosts:
        return
    partial = {
        name: images
        for name, images in sorted(_images_by_device(analysis).items())
        if analysis.hosts.meeting([RootTrait(name, False, ())]) != analysis.all_hosts
    }
    if partial:
        images = tuple(sorted(set[str]().union(*partial.values())))
        yield Fault(
            Severity.ERROR if setting.given else Severity.WARNING,
            options.IMAGE_METADATA,
            f"{off_by(setting)}, and not every host has {', '.join(partial)}: servers "
            f"of the {listed(images, 'image')} can land where their devices can't be "
            "made",
            enable(options.IMAGE_METADATA, setting),
            images=images,
        )


#: The property that ImagePropertiesFilter reads as well, and its old name.
_FILTERED = frozenset({"hw_architecture", "architecture"})


def _images_by_device(analysis: Analysis) -> dict[str, list[str]]:
    images: dict[str, list[str]] = {}
    for image in analysis.images:
        for clause in image.devices:
            is_filtered = any(origin.key in _FILTERED for origin in clause.origins)
            if clause.name in analysis.survey.known_traits and not is_filtered:
                images.setdefault(clause.name, []).append(image.name)
    return images


@rule("config-image-metadata-no-trait", SubjectKind.IMAGE)
def image_metadata_no_trait(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An image property without a trait, which disables the prefilter for
    the image.

    The prefilter then ignores all properties of the image, and only logs that.
    """
    # nova/scheduler/request_filter.py, transform_image_metadata
    if not analysis.is_on(options.IMAGE_METADATA):
        return
    for image in analysis.images:
        for dropped in image.not_evaluated:
            if dropped.kind == server.IMAGE_METADATA:
                yield WARNING(
                    image.name,
                    f"no trait stands for {dropped.key}={dropped.value}, so that "
                    "image_metadata_prefilter looks at none of the image's properties",
                    unset(SubjectKind.IMAGE, [dropped.key], image.id),
                )


RULES = (
    ignored,
    filter_gone,
    filter_unknown,
    weigher_unknown,
    no_compute_filter,
    no_effect,
    not_read,
    services_differ,
    reader_off,
    max_results,
    project_required,
    image_metadata_off,
    image_metadata_no_trait,
)


# Rules of the areas az and project: aggregates for zones and projects.


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
def zones_ignored(analysis: Analysis) -> Iterator[Fault]:
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


@rule("az-without-host", SubjectKind.OPTION)
def without_host(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* ``[DEFAULT]default_schedule_zone`` is a zone without hosts.

    nova-api rejects every new server whose request names no zone.
    """
    setting = analysis.setting(options.DEFAULT_ZONE)
    zones = {z: True for node in analysis.survey.nova.computes for z in node.zones}
    refusal = zone_refusal(str(setting.value), zones) if setting.value else None
    if zones and refusal is not None:
        yield ERROR(
            options.DEFAULT_ZONE,
            f"{errors.wrong(refusal)}: Nova rejects every new server that names no "
            f"zone ({setting.source})",
            f"name another zone{did_you_mean(refusal.nearest)}",
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


PLACING_RULES = (
    several,
    default_zone,
    filtered,
    zones_ignored,
    without_host,
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
