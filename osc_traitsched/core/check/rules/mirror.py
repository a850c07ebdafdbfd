"""Rules of the area mirror: Nova's hosts and aggregates against Placement's."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.inventory.metadata import zone_in
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.inventory.trait import (
    DISABLED,
    Ownership,
    is_custom,
    ownership,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import AZ_FILTER, az_is_on
from osc_traitsched.paste import Command, Option, openstack
from osc_traitsched.text import listed, quoted, ranges


class Use(enum.Enum):
    """The active prefilter that relies on an aggregate; the first of several."""

    AZ = "az"
    PROJECT = "project"
    ISOLATION = "isolation"
    NONE = "none"


#: Effects on hosts that are missing from an aggregate in Placement.
_MISSING = {
    Use.AZ: "no request for the zone gets there",
    Use.PROJECT: "its projects' servers do not get there",
    Use.ISOLATION: "not isolated by it",
    Use.NONE: "no active prefilter uses the aggregate now",
}


#: Effects on hosts that only Placement has in an aggregate.
_EXTRA = {
    Use.AZ: "requests for the zone can land there",
    Use.PROJECT: "its projects' servers can land there",
    Use.ISOLATION: "closed to servers that do not require its traits",
    Use.NONE: _MISSING[Use.NONE],
}


MIRROR_REPAIR = openstack("trait-sched mirror repair")


def use(aggregate: Aggregate, analysis: Analysis) -> Use:
    """The current use of Placement's aggregate."""
    zone = zone_in(aggregate.metadata, analysis.collation)
    if zone is not None and az_is_on(analysis.survey.assumptions):
        return Use.AZ
    if aggregate.projects and analysis.is_on(options.TENANT):
        return Use.PROJECT
    isolated = any(each.uuid == aggregate.uuid for each in analysis.isolated)
    if isolated and analysis.is_on(options.ISOLATION):
        return Use.ISOLATION
    return Use.NONE


@dataclasses.dataclass(frozen=True)
class MirrorMissing(Finding):
    """An aggregate with hosts that Placement lacks in it.

    An error if an active prefilter uses the aggregate, else a warning. The host gets no
    server of the zone or the project, and isolation does not protect it. Often a
    provider was deleted and created again, and lost its custom traits, too.

    :ivar lacking: by isolating trait, the missing hosts without the trait
    """

    rule = "mirror-missing"
    kind = SubjectKind.AGGREGATE
    severity: Severity
    name: str
    hosts: tuple[str, ...]
    use: Use
    lacking: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def words(self) -> Words:
        parts = [
            f"Placement lacks the {ranges(self.hosts, 'host')} in it: "
            f"{_MISSING[self.use]}"
        ]
        for trait, hosts in self.lacking:
            lack = "lack" if len(hosts) > 1 else "lacks"
            parts.append(
                f"the {ranges(hosts, 'host')} also {lack} {trait}, so that no server "
                "gets there once Placement has it right"
            )
        names = [trait for trait, _ in self.lacking]
        fix = MIRROR_REPAIR
        if names and all(ownership(name) is Ownership.OPERATOR for name in names):
            # It adds the trait first, so that the hosts are never closed to all
            # servers.
            fix = openstack("trait-sched isolate", self.name, *names)
        return Words("; ".join(parts), fix)


def missing(analysis: Analysis) -> Iterator[MirrorMissing]:
    nova = analysis.survey.nova
    for found in analysis.differences:
        nodes = [node for node in found.missing if _is_alone(node, nova)]
        if nodes:
            its_use = use(found.aggregate, analysis)
            is_on = analysis.is_on(options.ISOLATION)
            lacking = _lacking(analysis, found.aggregate, nodes) if is_on else ()
            yield MirrorMissing(
                Severity.WARNING if its_use is Use.NONE else Severity.ERROR,
                found.aggregate.name,
                _names(nodes, nova),
                its_use,
                tuple(lacking),
            )


@dataclasses.dataclass(frozen=True)
class MirrorExtra(Finding):
    """An aggregate with hosts that only Placement has in it.

    An error if an active prefilter uses the aggregate, else a warning. The zone's or
    the project's servers can land there. ``nova-manage`` adds hosts but removes none.

    :ivar is_filtered: AvailabilityZoneFilter still rejects a zone's requests
    """

    rule = "mirror-extra"
    kind = SubjectKind.AGGREGATE
    severity: Severity
    name: str
    hosts: tuple[str, ...]
    use: Use
    is_filtered: bool = False

    def words(self) -> Words:
        then = _EXTRA[self.use]
        if self.is_filtered:
            then = f"only {AZ_FILTER} keeps requests for the zone away"
        return Words(
            f"Placement has in it the {ranges(self.hosts, 'host')}, which Nova has "
            f"not: {then}",
            MIRROR_REPAIR,
        )


def extra(analysis: Analysis) -> Iterator[MirrorExtra]:
    for found in analysis.differences:
        if found.extra:
            its_use = use(found.aggregate, analysis)
            is_filtered = its_use is Use.AZ and analysis.has_filter(AZ_FILTER)
            harmless = is_filtered or its_use is Use.NONE
            yield MirrorExtra(
                Severity.WARNING if harmless else Severity.ERROR,
                found.aggregate.name,
                _names(found.extra, analysis.survey.nova),
                its_use,
                is_filtered,
            )


def _lacking(
    analysis: Analysis, aggregate: Aggregate, nodes: Iterable[Compute]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Isolating traits of an aggregate, with the nodes that lack them.

    A provider that nova-compute created again has lost its aggregates and such traits.
    """
    uuids = frozenset(node.uuid for node in nodes)
    isolating = (e.traits for e in analysis.isolated if e.uuid == aggregate.uuid)
    for name in sorted(frozenset[str]().union(*isolating)):
        lacking = uuids - analysis.hosts.having(name)
        if lacking:
            yield name, analysis.host_names(lacking)


@dataclasses.dataclass(frozen=True)
class MirrorNodeMissing(Finding):
    """A host with several nodes; Placement lacks some of them in aggregates.

    An error if an active prefilter uses the aggregate, else a warning. nova-api syncs
    only the first node of an Ironic host, and ``nova-manage placement sync_aggregates``
    stops there.
    """

    rule = "mirror-node-missing"
    kind = SubjectKind.HOST
    severity: Severity
    name: str
    nodes: tuple[str, ...]
    aggregates: tuple[str, ...]

    def words(self) -> Words:
        return Words(
            f"Placement lacks the {ranges(self.nodes, 'node')} in the "
            f"{listed(self.aggregates, 'aggregate')}: Nova syncs one node of a host "
            "alone",
            MIRROR_REPAIR,
        )


def node_missing(analysis: Analysis) -> Iterator[MirrorNodeMissing]:
    """nova-api syncs only the first node (nova/compute/api.py,
    ``add_host_to_aggregate``), and ``sync_aggregates`` stops at such a host
    (nova/cmd/manage.py, ``_get_rp_uuid_for_host``).
    """
    lacking: dict[str, list[tuple[Compute, Aggregate]]] = {}
    for found in analysis.differences:
        for node in found.missing:
            if not _is_alone(node, analysis.survey.nova):
                pair = node, found.aggregate
                lacking.setdefault(node.service_host, []).append(pair)
    for host, pairs in sorted(lacking.items()):
        uses = {use(aggregate, analysis) for _, aggregate in pairs}
        yield MirrorNodeMissing(
            Severity.WARNING if uses == {Use.NONE} else Severity.ERROR,
            host,
            tuple(sorted({node.node for node, _ in pairs})),
            tuple(sorted({each.name for _, each in pairs})),
        )


@dataclasses.dataclass(frozen=True)
class MirrorHostNoHypervisor(Finding):
    """A host of aggregates without a hypervisor.

    Nothing can be synced. When its nova-compute comes back, nothing adds the host to
    Placement's aggregate.
    """

    rule = "mirror-host-no-hypervisor"
    severity = Severity.WARNING
    kind = SubjectKind.HOST
    name: str
    aggregates: tuple[str, ...]

    def words(self) -> Words:
        return Words(
            f"in the {listed(self.aggregates, 'aggregate')}, and Nova has no "
            "hypervisor on it: there is nothing to sync",
            "start its nova-compute, or take the host out of the aggregates",
        )


def host_no_hypervisor(analysis: Analysis) -> Iterator[MirrorHostNoHypervisor]:
    nova = analysis.survey.nova
    empty: dict[str, set[str]] = {}
    for aggregate in nova.aggregates:
        for host in aggregate.hosts:
            if host not in nova.by_service_host:
                empty.setdefault(host, set()).add(aggregate.name)
    for host, aggregates in sorted(empty.items()):
        yield MirrorHostNoHypervisor(host, tuple(sorted(aggregates)))


def _is_alone(node: Compute, nova: Nova) -> bool:
    return len(nova.by_service_host[node.service_host]) == 1


def _names(nodes: Iterable[Compute], nova: Nova) -> tuple[str, ...]:
    """Names of service hosts, or of nodes if a service host has several."""
    return tuple(
        sorted(n.service_host if _is_alone(n, nova) else n.node for n in nodes)
    )


# Hypervisors and their providers.


@dataclasses.dataclass(frozen=True)
class MirrorNoProvider(Finding):
    """A hypervisor whose UUID and name Placement lacks.

    No server can be placed on it. nova-compute creates the provider in its next update,
    or its log says why not.
    """

    rule = "mirror-no-provider"
    severity = Severity.ERROR
    kind = SubjectKind.HOST
    name: str
    service: str
    uuid: str

    def words(self) -> Words:
        return Words(
            f"Placement has no provider {self.uuid} for this hypervisor: no "
            "server can be placed on it",
            f"nova-compute on {self.service} makes it by itself: its log says "
            "why it did not",
        )


def no_provider(analysis: Analysis) -> Iterator[MirrorNoProvider]:
    snapshot = analysis.survey.snapshot
    for node in _hypervisors(analysis):
        if node.uuid not in snapshot.by_uuid and node.node not in snapshot.by_name:
            yield MirrorNoProvider(node.node, node.service_host, node.uuid)


@dataclasses.dataclass(frozen=True)
class Own:
    """Data that is lost with a provider.

    :ivar traits: custom ones
    :ivar aggregates: names of Nova's aggregates that Placement has it in
    """

    traits: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()


def _own(provider: Provider, survey: Survey) -> Own:
    traits = survey.traits.get(provider.uuid, frozenset())
    inside = (
        aggregate.name
        for aggregate in survey.nova.aggregates
        if provider.uuid in survey.members.get(aggregate.uuid, ())
    )
    return Own(
        tuple(sorted(filter(is_custom, traits))),
        tuple(sorted(inside)),
    )


@dataclasses.dataclass(frozen=True)
class MirrorOtherUuid(Finding):
    """A hypervisor whose name belongs to a provider with another UUID.

    Names of providers are unique, so nova-compute can't create the right one. A
    reinstalled host causes this. The old provider's custom traits and aggregates go
    with it: the finding lists them.

    :ivar provider: the provider's UUID
    """

    rule = "mirror-other-uuid"
    severity = Severity.ERROR
    kind = SubjectKind.HOST
    name: str
    uuid: str
    provider: str
    own: Own = Own()

    def words(self) -> Words:
        return Words(
            f"Placement has a provider of this name with the UUID {self.provider}, and "
            f"the hypervisor's is {self.uuid}: nova-compute can't make its own, and "
            "no server can be placed on it",
            _show(self.provider),
            f"{_note(self.own)}delete the old one if this shows no allocations",
        )


def other_uuid(analysis: Analysis) -> Iterator[MirrorOtherUuid]:
    survey = analysis.survey
    for node in _hypervisors(analysis):
        provider = survey.snapshot.by_name.get(node.node)
        if provider and node.uuid not in survey.snapshot.by_uuid:
            own = _own(provider, survey)
            yield MirrorOtherUuid(node.node, node.uuid, provider.uuid, own)


@dataclasses.dataclass(frozen=True)
class MirrorOtherName(Finding):
    """A hypervisor whose provider has another name.

    Servers are placed there, but nova-api looks for the provider by name when the host
    joins an aggregate, and only logs that it is missing.

    :ivar provider: the provider's name
    """

    rule = "mirror-other-name"
    severity = Severity.WARNING
    kind = SubjectKind.HOST
    name: str
    uuid: str
    provider: str

    def words(self) -> Words:
        return Words(
            f"its provider {self.uuid} is named {quoted(self.provider)}: "
            "nova-api looks for it by name and mirrors no aggregate",
            openstack("resource provider set", self.uuid, Option("--name", self.name)),
        )


def other_name(analysis: Analysis) -> Iterator[MirrorOtherName]:
    """nova-api finds a provider by its name (nova/scheduler/client/report.py,
    ``aggregate_add_host``).
    """
    for node in _hypervisors(analysis):
        provider = analysis.survey.snapshot.by_uuid.get(node.uuid)
        if provider and provider.name != node.node:
            yield MirrorOtherName(node.node, node.uuid, provider.name)


@dataclasses.dataclass(frozen=True)
class MirrorNoHypervisor(Finding):
    """A provider like a compute node's, without a hypervisor.

    A warning if a nova-compute created it, else a note. Placement may offer it, and the
    scheduler drops it. If the host still exists, run ``nova-manage cell_v2
    discover_hosts --by-service``. The finding lists custom traits that a deletion
    would lose.

    :ivar unlisted: Placement's and Nova's counts, if a nova-compute made the provider
        and Nova's list may be incomplete
    """

    rule = "mirror-no-hypervisor"
    kind = SubjectKind.PROVIDER
    severity: Severity
    name: str
    uuid: str
    own: Own = Own()
    unlisted: Unlisted | None = None

    def words(self) -> Words:
        if self.unlisted is not None:
            return Words(
                f"Nova lists {self.unlisted.listed} of the {self.unlisted.total} "
                f"compute nodes that Placement has, and not this one ({self.uuid}): "
                "its list may be incomplete, so no provider is called orphaned",
                _show(self.uuid),
                "see whether its host has a mapping (nova-manage cell_v2 list_hosts) "
                "and a nova-compute service; what is allocated from it",
            )
        return Words(
            f"Nova has no hypervisor for the provider {self.uuid}: Placement "
            "may give it for a server, and the scheduler then drops it",
            _show(self.uuid),
            f"{_note(self.own)}delete it if the host is gone and this shows no "
            "allocations",
        )


@dataclasses.dataclass(frozen=True)
class Unlisted:
    """Number of compute nodes in Placement, and of those that Nova lists."""

    listed: int
    total: int


def no_hypervisor(analysis: Analysis) -> Iterator[MirrorNoHypervisor]:
    """Finds roots that are not compute nodes, and share nothing.

    :func:`other_uuid` reports those with the name of a hypervisor.
    """
    survey = analysis.survey
    by_uuid = survey.snapshot.by_uuid
    taken = {each.node for each in survey.nova.computes if each.uuid not in by_uuid}
    unmanaged_roots = (by_uuid[uuid] for uuid in survey.snapshot.unmanaged_roots)
    for provider in sorted(unmanaged_roots, key=lambda each: each.name):
        if provider.name not in taken:
            traits = survey.traits.get(provider.uuid, frozenset())
            novas = any(name.startswith("COMPUTE_") for name in traits)
            yield MirrorNoHypervisor(
                Severity.WARNING if novas else Severity.NOTE,
                provider.name,
                provider.uuid,
                _own(provider, survey),
                _unlisted(provider, survey.snapshot),
            )


def _unlisted(provider: Provider, snapshot: Snapshot) -> Unlisted | None:
    if provider.uuid not in snapshot.unlisted:
        return None
    return Unlisted(snapshot.listed, snapshot.listed + len(snapshot.unlisted))


def _hypervisors(analysis: Analysis) -> list[Compute]:
    return sorted(analysis.survey.nova.computes, key=lambda node: node.node)


def _note(own: Own) -> str:
    lost = (listed(own.traits, "trait"), listed(own.aggregates, "aggregate"))
    also = " and the ".join(filter(None, lost))
    return f"note the {also}, and " if also else ""


def _show(provider: str) -> Command:
    return openstack("resource provider show", Option("--allocations"), provider)


@dataclasses.dataclass(frozen=True)
class MirrorStatus(Finding):
    """A host that is enabled in Nova and disabled in Placement, or the reverse.

    An error if Nova has the host enabled, else a warning. Placement gives such a host
    no server. nova-compute syncs the trait within 5 minutes; if it does not, its log
    says why.

    :ivar is_marked: Placement has it as disabled
    """

    rule = "mirror-status"
    kind = SubjectKind.HOST
    severity: Severity
    name: str
    is_marked: bool

    def words(self) -> Words:
        fix = "check the log of its nova-compute, and restart it"
        if self.is_marked:
            return Words(
                f"Placement still marks it as disabled ({DISABLED}), but its "
                "nova-compute is enabled: no server gets there",
                fix,
            )
        return Words(
            "its nova-compute is disabled, but Placement does not mark it "
            f"({DISABLED}): Placement returns it, and the scheduler drops it",
            fix,
        )


def status(analysis: Analysis) -> Iterator[MirrorStatus]:
    """A nova-compute syncs the trait of its nodes, but not while it is down.

    nova/compute/resource_tracker.py, ``_sync_compute_service_disabled_trait``.
    """
    survey = analysis.survey
    if DISABLED not in survey.known_traits:
        return
    for node in _hypervisors(analysis):
        if not node.is_up or node.uuid not in survey.traits:
            continue
        is_marked = DISABLED in survey.traits[node.uuid]
        if is_marked is node.is_enabled:
            severity = Severity.ERROR if is_marked else Severity.WARNING
            yield MirrorStatus(severity, node.node, is_marked)


RULES = (
    Rule(MirrorMissing, missing, SubjectKind.AGGREGATE),
    Rule(MirrorExtra, extra, SubjectKind.AGGREGATE),
    Rule(MirrorNodeMissing, node_missing, SubjectKind.HOST),
    Rule(MirrorHostNoHypervisor, host_no_hypervisor, SubjectKind.AGGREGATE),
    Rule(MirrorNoProvider, no_provider, SubjectKind.HOST),
    Rule(MirrorOtherUuid, other_uuid, SubjectKind.HOST),
    Rule(MirrorOtherName, other_name, SubjectKind.HOST),
    Rule(MirrorNoHypervisor, no_hypervisor, SubjectKind.HOST),
    Rule(MirrorStatus, status, SubjectKind.HOST),
)
