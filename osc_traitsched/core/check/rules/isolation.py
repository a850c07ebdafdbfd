"""Rules on isolated aggregates, and on the mirror of aggregates in Placement."""

from __future__ import annotations

import collections
import enum
import itertools
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.rule import aggregate_name, enable, off_by, rule
from osc_traitsched.core.check.survey import (
    ERROR,
    WARNING,
    Fault,
    Isolated,
    Severity,
    StandaloneRequest,
    SubjectKind,
    Survey,
)
from osc_traitsched.core.inventory.snapshot import (
    HOW_TO_LIST,
    Aggregate,
    Compute,
    Nova,
    Provider,
)
from osc_traitsched.core.inventory.trait import (
    DISABLED,
    Ownership,
    is_custom,
    nearest,
    ownership,
    trait_in,
    zone_in,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter import special
from osc_traitsched.core.nova.options import az_is_on
from osc_traitsched.paste import Command, Option, Placeholder, openstack
from osc_traitsched.text import did_you_mean, listed, quoted, ranges

_REPAIR = openstack("trait-sched mirror repair")

# Rules on aggregates that are isolated by traits (``isolate_aggregates``).


@rule("isolation-member-lacks-trait", SubjectKind.AGGREGATE)
def member_lacks_trait(analysis: Analysis) -> Iterator[Fault]:
    """An isolated aggregate with hosts that lack one of its traits.

    An error; a warning while the option is off. Such a host gets no server at all:
    servers without the trait are kept out, and servers with it can't use the host.
    """
    severity = _severity(analysis, Severity.ERROR, Severity.WARNING)
    for aggregate in analysis.isolated:
        inside = analysis.inside(aggregate.uuid)
        for trait in sorted(aggregate.traits & analysis.survey.known_traits):
            having = analysis.hosts.having(trait)
            if not having or inside <= having:
                continue
            hosts = analysis.host_names(inside - having)
            lack, there = ("lacks", "it") if len(hosts) == 1 else ("lack", "them")
            fix = openstack("trait-sched unisolate", aggregate.name, trait)
            if ownership(trait) is Ownership.OPERATOR:
                option = Option("--aggregate", aggregate.name)
                fix = openstack("trait-sched add", trait, option)
            yield Fault(
                severity,
                aggregate.name,
                f"{ranges(hosts)} {lack} {trait}, so no server can be scheduled on "
                f"{there} ({len(hosts)} of {len(inside)} members)",
                fix,
                hosts=hosts,
            )


@rule("isolation-overlap", SubjectKind.AGGREGATE)
def overlap(analysis: Analysis) -> Iterator[Fault]:
    """Two isolated aggregates with common hosts and different traits.

    A note; a warning if the option is on and no flavor requires both traits. A server
    needs both traits to land there.
    """
    for one, other in itertools.combinations(analysis.isolated, 2):
        shared = analysis.inside(one.uuid) & analysis.inside(other.uuid)
        if not shared or one.folded == other.folded:
            continue
        if not _is_open(analysis, one) or not _is_open(analysis, other):
            continue
        hosts = analysis.host_names(shared)
        severity = Severity.NOTE
        then = "some flavor and image require all of them"
        if not _is_open(analysis, one, other):
            severity = _severity(analysis, Severity.WARNING, Severity.NOTE)
            then = (
                "no flavor and image require all of them, so that no server can be "
                "placed there"
            )
        yield Fault(
            severity,
            one.name,
            f"{ranges(hosts, 'host')} {'is' if len(hosts) == 1 else 'are'} in the "
            f"isolated aggregate {other.name}, too: there a request needs "
            f"{' and '.join(sorted(one.traits | other.traits))}; {then}",
            openstack(
                "aggregate remove host", aggregate_name(one), Placeholder("HOST")
            ),
            hosts=hosts,
        )


@rule("isolation-off", SubjectKind.OPTION, SubjectKind.AGGREGATE)
def off(analysis: Analysis) -> Iterator[Fault]:
    """Aggregates with isolation metadata, while the option is off.

    An error if the option was supplied, else a warning. These aggregates accept any
    server. Look at the other rules of this area before you turn the option on.
    """
    setting = analysis.setting(options.ISOLATION)
    if not analysis.isolated or setting.value:
        return
    assumptions = analysis.survey.assumptions
    is_known = assumptions.is_known(options.ISOLATION)
    aggregates = tuple(aggregate.name for aggregate in analysis.isolated)
    accept = "accepts" if len(aggregates) == 1 else "accept"
    accept_any = f"{listed(aggregates, 'aggregate')} {accept} any server"
    in_spite = f"{accept_any} in spite of the isolation metadata"
    if setting.given:
        problem = f"{in_spite}: {off_by(setting)}"
    elif is_known and assumptions.files:
        problem = f"{in_spite}: off (not set in {listed(assumptions.files)})"
    else:
        problem = (
            "nova.conf is unknown; if the option is off, which is the default, "
            f"{accept_any}"
        )
    yield Fault(
        Severity.ERROR if is_known else Severity.WARNING,
        options.ISOLATION,
        problem,
        enable(options.ISOLATION, setting),
        aggregates=aggregates,
    )


@rule("isolation-not-required", SubjectKind.AGGREGATE)
def not_required(analysis: Analysis) -> Iterator[Fault]:
    """An isolated aggregate whose traits no flavor and image require together.

    A warning; a note while the option is off. No server gets in. ``isolate`` makes
    flavors require the traits.
    """
    severity = _severity(analysis, Severity.WARNING, Severity.NOTE)
    required = frozenset().union(*analysis.closed_to)
    requests = (*analysis.flavors, *analysis.images)
    # Those that isolate other aggregates are no other spelling.
    others = {trait for each in requests for trait in each.opens}
    others -= {trait for each in analysis.isolated for trait in each.traits}
    for aggregate in analysis.isolated:
        is_known = aggregate.traits <= analysis.survey.known_traits
        if not is_known or _is_open(analysis, aggregate):
            continue
        traits = {key: trait_in(key, analysis.collation) for key in aggregate.keys}
        left = {key: trait for key, trait in traits.items() if trait not in required}
        closing = left or traits
        names = " and ".join(closing.values())
        near = [each for name in left.values() for each in nearest(name, others)[:1]]
        fix = openstack(
            "trait-sched isolate",
            aggregate.name,
            *closing.values(),
            Option("--flavor", Placeholder("FLAVOR")),
        )
        if near:
            pairs = (Option("--property", f"trait:{each}=required") for each in near)
            fix = openstack("aggregate set", *pairs, aggregate_name(aggregate))
        yield Fault(
            severity,
            aggregate.name,
            f"{' and '.join(f'{key}=required' for key in closing)}, and "
            + (
                f"no flavor or image requires {names}"
                if left
                else f"no flavor and image require {names} together"
            )
            + f": nobody gets in{did_you_mean(near)}",
            fix,
            f"then take {listed(left)} off the aggregate" if near else "",
            hosts=analysis.host_names(analysis.inside(aggregate.uuid)),
        )


def _is_open(analysis: Analysis, *aggregates: Isolated) -> bool:
    return any(
        all(each.is_open_to(traits) for each in aggregates)
        for traits in analysis.closed_to
    )


@rule("isolation-trait-outside", SubjectKind.TRAIT, SubjectKind.AGGREGATE)
def trait_outside(analysis: Analysis) -> Iterator[Fault]:
    """An isolating trait on hosts outside its aggregates.

    A warning; a note while the option is off. Servers that require the trait may land
    there, among all others.
    """
    severity = _severity(analysis, Severity.WARNING, Severity.NOTE)
    for trait in sorted({name for each in analysis.isolated for name in each.traits}):
        isolated = [each for each in analysis.isolated if trait in each.traits]
        members = (_either(analysis, each.uuid) for each in isolated)
        outside = analysis.hosts.having(trait) - frozenset[str]().union(*members)
        if not outside:
            continue
        aggregates = tuple(each.name for each in isolated)
        hosts = analysis.host_names(outside)
        chosen = (Option("--host", host) for host in hosts)
        have, are = ("has", "is") if len(hosts) == 1 else ("have", "are")
        yield Fault(
            severity,
            trait,
            f"{ranges(hosts, 'host')} {have} it and {are} outside the "
            f"{listed(aggregates, 'aggregate')}, which it isolates: servers that "
            "require it may land there",
            openstack("trait-sched remove", trait, *chosen)
            if ownership(trait) is Ownership.OPERATOR
            else "add the hosts to the aggregate, or isolate by a custom trait",
            aggregates=aggregates,
            hosts=hosts,
        )


def _either(analysis: Analysis, aggregate: str) -> frozenset[str]:
    nobody = frozenset[str]()
    nova = analysis.survey.nova.members.get(aggregate, nobody)
    return nova | analysis.survey.members.get(aggregate, nobody)


@rule("isolation-shuts-out", SubjectKind.FLAVOR)
def shuts_out(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor whose hosts are all isolated from it, with any image.

    Each aggregate may be as intended, but together they leave the flavor no host. If
    only Placement has such a host in the aggregate, repair the mirror.
    """
    if not analysis.is_on(options.ISOLATION):
        return
    for flavor in analysis.flavors:
        able = analysis.flavor_hosts.matching(flavor)
        closed = analysis.closed_for(flavor) if able else able
        if able and able <= closed and _most(analysis, flavor, closed) <= closed:
            aggregates = _around(analysis, able)
            required = Option("--property", Placeholder("trait:TRAIT=required"))
            fix, astray = openstack("flavor set", required, flavor.id), ""
            if left := able - _isolated_by_nova(analysis, flavor):
                fix, hosts = _REPAIR, ranges(analysis.host_names(left), "host")
                astray = f"; only Placement has the {hosts} in it"
            yield ERROR(
                flavor.name,
                "each host that could take it is in the isolated "
                f"{listed(aggregates, 'aggregate')}, and with no image does it require "
                f"the traits{astray}",
                fix,
                aggregates=aggregates,
                hosts=analysis.host_names(able),
            )


def _most(
    analysis: Analysis, flavor: StandaloneRequest, closed: frozenset[str]
) -> frozenset[str]:
    """An upper bound."""
    most = analysis.flavor_hosts.at_most(flavor)
    return most if most <= closed else analysis.flavor_hosts.with_any_image(flavor)


def _isolated_by_nova(analysis: Analysis, flavor: StandaloneRequest) -> frozenset[str]:
    """Hosts of aggregates that are closed to a flavor once the mirror is right."""
    closed = (e.uuid for e in analysis.isolated if not e.is_open_to(flavor.opens))
    members = analysis.survey.nova.members
    return frozenset[str]().union(*(members.get(uuid, ()) for uuid in closed))


def _around(analysis: Analysis, hosts: frozenset[str]) -> tuple[str, ...]:
    members = analysis.survey.members
    return tuple(
        each.name
        for each in analysis.isolated
        if not hosts.isdisjoint(members.get(each.uuid, frozenset()))
    )


def _severity(analysis: Analysis, on: Severity, off: Severity) -> Severity:
    return on if analysis.is_on(options.ISOLATION) else off


RULES = (
    member_lacks_trait,
    overlap,
    off,
    not_required,
    trait_outside,
    shuts_out,
)


# Rules of the area mirror: Nova's hosts and aggregates against Placement's.


class _Use(enum.Enum):
    """The active prefilter that relies on an aggregate; the first of several.

    Values: its effect on hosts that Placement lacks, and on those that only it has.
    """

    AZ = "no request for the zone gets there", "requests for the zone can land there"
    PROJECT = (
        "its projects' servers do not get there",
        "its projects' servers can land there",
    )
    ISOLATION = (
        "not isolated by it",
        "closed to servers that do not require its traits",
    )
    NONE = ("no active prefilter uses the aggregate now",) * 2

    def severity(self) -> Severity:
        return Severity.WARNING if self is _Use.NONE else Severity.ERROR


def _use(aggregate: Aggregate, analysis: Analysis) -> _Use:
    zone = zone_in(aggregate.metadata, analysis.collation)
    if zone is not None and az_is_on(analysis.survey.assumptions):
        return _Use.AZ
    if aggregate.projects and analysis.is_on(options.TENANT):
        return _Use.PROJECT
    isolated = any(each.uuid == aggregate.uuid for each in analysis.isolated)
    if isolated and analysis.is_on(options.ISOLATION):
        return _Use.ISOLATION
    return _Use.NONE


@rule("mirror-missing", SubjectKind.AGGREGATE)
def missing(analysis: Analysis) -> Iterator[Fault]:
    """An aggregate with hosts that Placement lacks in it.

    An error if an active prefilter uses the aggregate, else a warning. The host gets no
    server of the zone or the project, and isolation does not protect it. Often a
    provider was deleted and created again, and lost its custom traits, too.
    """
    nova = analysis.survey.nova
    for difference in analysis.differences:
        aggregate = difference.aggregate
        nodes = [node for node in difference.missing if _is_alone(node, nova)]
        if not nodes:
            continue
        use, hosts = _use(aggregate, analysis), _names(nodes, nova)
        lacking = _lacking(analysis, aggregate, nodes)
        also = "".join(
            f"; the {ranges(names, 'host')} also lack{'' if len(names) > 1 else 's'} "
            f"{trait}, so that no server gets there once Placement has it right"
            for trait, names in lacking.items()
        )
        fix = _REPAIR
        if lacking and all(ownership(name) is Ownership.OPERATOR for name in lacking):
            # It adds the trait first, so that the hosts are never closed to all
            # servers.
            fix = openstack("trait-sched isolate", aggregate.name, *lacking)
        yield Fault(
            use.severity(),
            aggregate.name,
            f"Placement lacks the {ranges(hosts, 'host')} in it: {use.value[0]}{also}",
            fix,
            hosts=hosts,
        )


def _lacking(
    analysis: Analysis, aggregate: Aggregate, nodes: Iterable[Compute]
) -> dict[str, tuple[str, ...]]:
    """Isolating traits of an aggregate, with the nodes that lack them.

    A provider that nova-compute created again has lost its aggregates and such traits.
    """
    if not analysis.is_on(options.ISOLATION):
        return {}
    uuids = frozenset(node.uuid for node in nodes)
    isolating = (e.traits for e in analysis.isolated if e.uuid == aggregate.uuid)
    traits = sorted(frozenset[str]().union(*isolating))
    lacking = {name: uuids - analysis.hosts.having(name) for name in traits}
    return {name: analysis.host_names(left) for name, left in lacking.items() if left}


@rule("mirror-extra", SubjectKind.AGGREGATE)
def extra(analysis: Analysis) -> Iterator[Fault]:
    """An aggregate with hosts that only Placement has in it.

    An error if an active prefilter uses the aggregate, else a warning. The zone's or
    the project's servers can land there. ``nova-manage`` adds hosts but removes none.
    """
    for difference in analysis.differences:
        if not difference.extra:
            continue
        use = _use(difference.aggregate, analysis)
        severity, then = use.severity(), use.value[1]
        if use is _Use.AZ and analysis.has_filter(special.ZONE):
            severity = Severity.WARNING
            then = f"only {special.ZONE} keeps requests for the zone away"
        hosts = _names(difference.extra, analysis.survey.nova)
        yield Fault(
            severity,
            difference.aggregate.name,
            f"Placement has in it the {ranges(hosts, 'host')}, which Nova has not: "
            f"{then}",
            _REPAIR,
            hosts=hosts,
        )


@rule("mirror-node-missing", SubjectKind.HOST)
def node_missing(analysis: Analysis) -> Iterator[Fault]:
    """A host with several nodes; Placement lacks some of them in aggregates.

    An error if an active prefilter uses the aggregate, else a warning. nova-api syncs
    only the first node of an Ironic host, and ``nova-manage placement sync_aggregates``
    stops there.
    """
    # nova/compute/api.py, add_host_to_aggregate; nova/cmd/manage.py,
    # _get_rp_uuid_for_host
    lacking: dict[str, list[tuple[Compute, Aggregate]]] = {}
    for difference in analysis.differences:
        for node in difference.missing:
            if not _is_alone(node, analysis.survey.nova):
                pair = node, difference.aggregate
                lacking.setdefault(node.service_host, []).append(pair)
    for host, pairs in sorted(lacking.items()):
        uses = {_use(aggregate, analysis) for _, aggregate in pairs}
        nodes = tuple(sorted({node.node for node, _ in pairs}))
        aggregates = tuple(sorted({aggregate.name for _, aggregate in pairs}))
        yield Fault(
            Severity.WARNING if uses == {_Use.NONE} else Severity.ERROR,
            host,
            f"Placement lacks the {ranges(nodes, 'node')} in the "
            f"{listed(aggregates, 'aggregate')}: Nova syncs one node of a host alone",
            _REPAIR,
            nodes=nodes,
            aggregates=aggregates,
        )


@rule("mirror-host-no-hypervisor", SubjectKind.HOST, SubjectKind.AGGREGATE)
def host_no_hypervisor(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A host of aggregates without a hypervisor.

    Nothing can be synced. When its nova-compute comes back, nothing adds the host to
    Placement's aggregate.
    """
    nova = analysis.survey.nova
    hosts = {host for aggregate in nova.aggregates for host in aggregate.hosts}
    for host in sorted(hosts - nova.by_service_host.keys()):
        aggregates = tuple(sorted({a.name for a in nova.aggregates if host in a.hosts}))
        yield WARNING(
            host,
            f"in the {listed(aggregates, 'aggregate')}, and Nova has no hypervisor on "
            "it: there is nothing to sync",
            "start its nova-compute, or take the host out of the aggregates",
            aggregates=aggregates,
        )


def _is_alone(node: Compute, nova: Nova) -> bool:
    return len(nova.by_service_host[node.service_host]) == 1


def _names(nodes: Iterable[Compute], nova: Nova) -> tuple[str, ...]:
    return tuple(
        sorted(n.service_host if _is_alone(n, nova) else n.node for n in nodes)
    )


# Hypervisors and their providers.


@rule("mirror-no-provider", SubjectKind.HOST)
def no_provider(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A hypervisor whose UUID and name Placement lacks.

    No server can be placed on it. nova-compute creates the provider in its next update,
    or its log says why not.
    """
    snapshot = analysis.survey.snapshot
    for node in _hypervisors(analysis):
        if node.uuid not in snapshot.by_uuid and node.node not in snapshot.by_name:
            yield ERROR(
                node.node,
                f"Placement has no provider {node.uuid} for this hypervisor: no server "
                "can be placed on it",
                f"nova-compute on {node.service_host} makes it by itself: its log says "
                "why it did not",
            )


@rule("mirror-other-uuid", SubjectKind.HOST)
def other_uuid(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A hypervisor whose name belongs to a provider with another UUID.

    Names of providers are unique, so nova-compute can't create the right one. A
    reinstalled host causes this. The old provider's custom traits and aggregates go
    with it: the finding lists them.
    """
    snapshot = analysis.survey.snapshot
    for node in _hypervisors(analysis):
        provider = snapshot.by_name.get(node.node)
        if provider and node.uuid not in snapshot.by_uuid:
            yield ERROR(
                node.node,
                f"Placement has a provider of this name with the UUID {provider.uuid}, "
                f"and the hypervisor's is {node.uuid}: nova-compute can't make its "
                "own, and no server can be placed on it",
                _show(provider),
                f"{_note_what_is_lost(provider, analysis.survey)}delete the old one if "
                "this shows no allocations",
            )


@rule("mirror-other-name", SubjectKind.HOST)
def other_name(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A hypervisor whose provider has another name.

    Servers are placed there, but nova-api looks for the provider by name when the host
    joins an aggregate, and only logs that it is missing.
    """
    # nova/scheduler/client/report.py, aggregate_add_host
    for node in _hypervisors(analysis):
        provider = analysis.survey.snapshot.by_uuid.get(node.uuid)
        if provider and provider.name != node.node:
            yield WARNING(
                node.node,
                f"its provider {node.uuid} is named {quoted(provider.name)}: nova-api "
                "looks for it by name and mirrors no aggregate",
                openstack(
                    "resource provider set", node.uuid, Option("--name", node.node)
                ),
            )


@rule("mirror-no-hypervisor", SubjectKind.PROVIDER, SubjectKind.HOST)
def no_hypervisor(analysis: Analysis) -> Iterator[Fault]:
    """A provider like a compute node's, without a hypervisor.

    A warning if it has VCPU or MEMORY_MB, or a nova-compute created it, else a note.
    Placement may offer it, and the scheduler drops it. If the host still exists,
    restart its nova-compute, unless ``openstack compute service list`` shows it, then
    run ``nova-manage cell_v2 discover_hosts --by-service``. The finding lists what is
    allocated from it, and custom traits that a deletion would lose.
    """
    # other_uuid reports those with the name of a hypervisor.
    survey, snapshot = analysis.survey, analysis.survey.snapshot
    by_uuid = snapshot.by_uuid
    taken = {node.node for node in survey.nova.computes if node.uuid not in by_uuid}
    roots = (by_uuid[uuid] for uuid in snapshot.unmanaged_roots)
    for provider in sorted(roots, key=lambda root: root.name):
        if provider.name in taken:
            continue
        problem = (
            f"Nova has no hypervisor for the provider {provider.uuid}: Placement may "
            "give it for a server, and the scheduler then drops it"
        )
        is_listed = provider.uuid not in snapshot.unlisted
        tree = snapshot.host_trees.get(provider.uuid, (provider.uuid,))
        stock = survey.stock.get(provider.uuid)
        total = collections.Counter[str]()
        for name, own in itertools.chain.from_iterable(
            survey.stock.get(uuid, {}).items() for uuid in tree
        ):
            total[name] += own.used
        used = [f"{n} {name}" for name, n in sorted(total.items()) if n]
        # Placement deletes no provider with children.
        is_free = stock is not None and not used and len(tree) == 1 and is_listed
        gone = f"{_note_what_is_lost(provider, survey)}delete it if the host is gone"
        when = f"{gone}{' and this shows no allocations' * (not is_free)}"
        if not is_listed:
            every = snapshot.listed + len(snapshot.unlisted)
            problem = (
                f"Nova lists {snapshot.listed} of the {every} compute nodes that "
                f"Placement has, and not this one ({provider.uuid}): its list may be "
                "incomplete, so no provider is called orphaned"
            )
            when = f"if the host exists, {HOW_TO_LIST}; what is allocated from it"
        if used:
            problem += f"; allocated from it: {', '.join(used)}"
        names = (*survey.traits.get(provider.uuid, ()), *(stock or ()))
        is_novas = any(
            each.startswith(("COMPUTE_", "VCPU", "MEMORY_MB")) for each in names
        )
        yield Fault(
            Severity.WARNING if is_novas else Severity.NOTE,
            provider.name,
            problem,
            openstack("resource provider delete", provider.uuid)
            if is_free
            else _show(provider),
            when,
        )


def _hypervisors(analysis: Analysis) -> list[Compute]:
    return sorted(analysis.survey.nova.computes, key=lambda node: node.node)


def _note_what_is_lost(provider: Provider, survey: Survey) -> str:
    traits = sorted(filter(is_custom, survey.traits.get(provider.uuid, ())))
    aggregates = sorted(
        aggregate.name
        for aggregate in survey.nova.aggregates
        if provider.uuid in survey.members.get(aggregate.uuid, ())
    )
    lost = (listed(traits, "trait"), listed(aggregates, "aggregate"))
    also = " and the ".join(filter(None, lost))
    return f"note the {also}, and " if also else ""


def _show(provider: Provider) -> Command:
    return openstack("resource provider show", Option("--allocations"), provider.uuid)


@rule("mirror-status", SubjectKind.HOST)
def status(analysis: Analysis) -> Iterator[Fault]:
    """A host that is enabled in Nova and disabled in Placement, or the reverse.

    An error if Nova has the host enabled, else a warning. Placement gives such a host
    no server. nova-compute syncs the trait within 5 minutes; if it does not, its log
    says why.
    """
    # nova/compute/resource_tracker.py, _sync_compute_service_disabled_trait; a
    # nova-compute that is down syncs nothing.
    survey = analysis.survey
    if DISABLED not in survey.known_traits:
        return
    fix = "check the log of its nova-compute, and restart it"
    for node in _hypervisors(analysis):
        if not node.is_up or node.uuid not in survey.traits:
            continue
        is_marked = DISABLED in survey.traits[node.uuid]
        if is_marked and node.is_enabled:
            yield ERROR(
                node.node,
                f"Placement still marks it as disabled ({DISABLED}), but its "
                "nova-compute is enabled: no server gets there",
                fix,
            )
        elif not is_marked and not node.is_enabled:
            yield WARNING(
                node.node,
                "its nova-compute is disabled, but Placement does not mark it "
                f"({DISABLED}): Placement returns it, and the scheduler drops it",
                fix,
            )


MIRROR_RULES = (
    missing,
    extra,
    node_missing,
    host_no_hypervisor,
    no_provider,
    other_uuid,
    other_name,
    no_hypervisor,
    status,
)
