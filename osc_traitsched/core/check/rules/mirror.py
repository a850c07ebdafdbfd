"""Rules of the area mirror: Nova's hosts and aggregates against Placement's.

Of one aggregate that differs one rule speaks: the one of the area whose prefilter
rests on it, and ``mirror-missing`` and ``mirror-extra`` of all others.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.rules import mirror_providers
from osc_traitsched.core.inventory.metadata import zone_in
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute, Nova
from osc_traitsched.core.inventory.snapshot import MembershipDifference as Difference
from osc_traitsched.core.inventory.trait import Ownership, ownership
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import az_is_on
from osc_traitsched.paste import Command, openstack
from osc_traitsched.text import listed, ranges

_UNUSED = "no prefilter that is on looks there now"


class Use(enum.Enum):
    """The prefilter that is on and rests on an aggregate; of several the first."""

    AZ = "az"
    PROJECT = "project"
    ISOLATION = "isolation"
    NONE = "none"


class Repair(enum.Enum):
    """The command that puts Placement's aggregates right."""

    #: ``openstack trait-sched mirror repair``: takes hosts out, and knows their nodes.
    MIRROR_REPAIR = "mirror repair"
    #: ``nova-manage placement sync_aggregates``, where that is enough.
    SYNC_AGGREGATES = "sync_aggregates"


_REPAIRS = {
    Repair.MIRROR_REPAIR: openstack("trait-sched mirror repair"),
    Repair.SYNC_AGGREGATES: Command("placement sync_aggregates", program="nova-manage"),
}


@dataclasses.dataclass(frozen=True)
class OutOfStep:
    """The hosts that only one of Nova and Placement has in an aggregate.

    :ivar missing: from Placement's
    :ivar extra: in Placement's
    """

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    repair: Repair


def use(aggregate: Aggregate, analysis: Analysis) -> Use:
    """Tell what Placement's aggregate decides now."""
    zone = zone_in(aggregate.metadata, analysis.collation)
    if zone is not None and az_is_on(analysis.survey.assumptions):
        return Use.AZ
    if aggregate.projects and analysis.is_on(options.TENANT):
        return Use.PROJECT
    isolated = any(each.uuid == aggregate.uuid for each in analysis.isolated)
    if isolated and analysis.is_on(options.ISOLATION):
        return Use.ISOLATION
    return Use.NONE


def differing(analysis: Analysis, wanted: Use) -> Iterator[tuple[Aggregate, OutOfStep]]:
    """Yield each aggregate of a use that differs either way."""
    nova = analysis.survey.nova
    for found in analysis.differences:
        missing = _of_one_node(found.missing, nova)
        in_use = use(found.aggregate, analysis) is wanted
        if in_use and (missing or found.extra):
            repair = _repair(nova, removing=bool(found.extra))
            names = _names(missing, nova), _names(found.extra, nova)
            yield found.aggregate, OutOfStep(*names, repair)


@dataclasses.dataclass(frozen=True)
class MirrorMissing(Finding):
    """An aggregate with hosts that Placement does not have in it.

    :ivar lacking: where it isolates, for each of its traits the hosts that lack it
    """

    rule = "mirror-missing"
    kind = Kind.AGGREGATE
    severity: Severity
    name: str
    hosts: tuple[str, ...]
    use: Use
    repair: Repair
    lacking: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        isolated = self.use is Use.ISOLATION
        then = "not isolated by it" if isolated else _UNUSED
        parts = [_lacks(self.hosts, then)]
        for trait, hosts in self.lacking:
            lack = "lack" if len(hosts) > 1 else "lacks"
            parts.append(
                f"the {ranges(hosts, 'host')} also {lack} {trait}, so that no server "
                "gets there once Placement has it right"
            )
        names = [trait for trait, _ in self.lacking]
        if names and all(ownership(name) is Ownership.OPERATOR for name in names):
            # It gives the trait before the place, so that they are never closed to all.
            return Words(
                "; ".join(parts), openstack("trait-sched isolate", self.name, *names)
            )
        return Words("; ".join(parts), _REPAIRS[self.repair])


def missing(analysis: Analysis) -> Iterator[MirrorMissing]:
    """Find hosts of an aggregate that Placement does not have in it."""
    nova = analysis.survey.nova
    for found, its_use in _others(analysis):
        nodes = _of_one_node(found.missing, nova)
        if nodes:
            repair = _repair(nova, removing=False)
            in_use = its_use is Use.ISOLATION
            lacking = _lacking(analysis, found.aggregate, nodes) if in_use else ()
            yield MirrorMissing(
                _severity(its_use),
                found.aggregate.name,
                _names(nodes, nova),
                its_use,
                repair,
                tuple(lacking),
            )


def _lacking(
    analysis: Analysis, aggregate: Aggregate, nodes: Iterable[Compute]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the traits that isolate an aggregate with the nodes that lack them.

    A provider that nova-compute made again has lost its aggregates and such traits.
    """
    uuids = frozenset(node.uuid for node in nodes)
    isolating = (e.traits for e in analysis.isolated if e.uuid == aggregate.uuid)
    for name in sorted(frozenset[str]().union(*isolating)):
        lacking = uuids - analysis.hosts.having(name)
        if lacking:
            yield name, analysis.host_names(lacking)


@dataclasses.dataclass(frozen=True)
class MirrorExtra(Finding):
    """An aggregate in which Placement has hosts that Nova has not."""

    rule = "mirror-extra"
    kind = Kind.AGGREGATE
    severity: Severity
    name: str
    hosts: tuple[str, ...]
    use: Use

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        isolated = self.use is Use.ISOLATION
        then = (
            "closed to servers that do not require its traits" if isolated else _UNUSED
        )
        return Words(_has(self.hosts, then), _REPAIRS[Repair.MIRROR_REPAIR])


def extra(analysis: Analysis) -> Iterator[MirrorExtra]:
    """Find hosts that only Placement has in an aggregate."""
    for found, its_use in _others(analysis):
        if found.extra:
            hosts = _names(found.extra, analysis.survey.nova)
            name = found.aggregate.name
            yield MirrorExtra(_severity(its_use), name, hosts, its_use)


def _others(analysis: Analysis) -> Iterator[tuple[Difference, Use]]:
    """Yield the aggregates that no other area's rule speaks of."""
    for found in analysis.differences:
        its_use = use(found.aggregate, analysis)
        if its_use in (Use.ISOLATION, Use.NONE):
            yield found, its_use


def _severity(its_use: Use) -> Severity:
    return Severity.WARNING if its_use is Use.NONE else Severity.ERROR


@dataclasses.dataclass(frozen=True)
class MirrorNodeMissing(Finding):
    """A host with several nodes, of which Placement lacks some in aggregates."""

    rule = "mirror-node-missing"
    kind = Kind.HOST
    severity: Severity
    name: str
    nodes: tuple[str, ...]
    aggregates: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"Placement lacks the {ranges(self.nodes, 'node')} in the "
            f"{listed(self.aggregates, 'aggregate')}: Nova mirrors one node of a "
            "host, and sync_aggregates stops at a host with several",
            _REPAIRS[Repair.MIRROR_REPAIR],
        )


def node_missing(analysis: Analysis) -> Iterator[MirrorNodeMissing]:
    """Find nodes that Placement lacks in an aggregate, of hosts with several nodes.

    nova-api mirrors the first node alone (nova/compute/api.py,
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
    """A host of aggregates that Nova has no hypervisor for."""

    rule = "mirror-host-no-hypervisor"
    severity = Severity.WARNING
    kind = Kind.HOST
    name: str
    aggregates: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"in the {listed(self.aggregates, 'aggregate')}, and Nova has no "
            "hypervisor on it: there is nothing to mirror",
            "start its nova-compute, or take the host out of the aggregates",
        )


def host_no_hypervisor(analysis: Analysis) -> Iterator[MirrorHostNoHypervisor]:
    """Find hosts of an aggregate that Nova has no hypervisor for."""
    nova = analysis.survey.nova
    empty: dict[str, set[str]] = {}
    for aggregate in nova.aggregates:
        for host in aggregate.hosts:
            if host not in nova.by_service_host:
                empty.setdefault(host, set()).add(aggregate.name)
    for host, aggregates in sorted(empty.items()):
        yield MirrorHostNoHypervisor(host, tuple(sorted(aggregates)))


def _of_one_node(nodes: Iterable[Compute], nova: Nova) -> list[Compute]:
    return [node for node in nodes if _is_alone(node, nova)]


def _is_alone(node: Compute, nova: Nova) -> bool:
    """Tell whether a node is the only one of its service host."""
    return len(nova.by_service_host[node.service_host]) == 1


def _repair(nova: Nova, removing: bool) -> Repair:
    """Tell what repairs it; Nova's own never removes, and some hosts stop it."""
    members = {host for aggregate in nova.aggregates for host in aggregate.hosts}
    stops = any(len(nova.by_service_host.get(host, ())) > 1 for host in members)
    return Repair.MIRROR_REPAIR if removing or stops else Repair.SYNC_AGGREGATES


def _names(nodes: Iterable[Compute], nova: Nova) -> tuple[str, ...]:
    """Return service hosts, as Nova's commands take them, or nodes of one with more."""
    return tuple(
        sorted(n.service_host if _is_alone(n, nova) else n.node for n in nodes)
    )


RULES = (
    Rule(MirrorMissing, "mirror", missing, Kind.AGGREGATE),
    Rule(MirrorExtra, "mirror", extra, Kind.AGGREGATE),
    Rule(MirrorNodeMissing, "mirror", node_missing, Kind.HOST),
    *mirror_providers.RULES,
    Rule(MirrorHostNoHypervisor, "mirror", host_no_hypervisor, Kind.AGGREGATE),
)


def out_of_step_words(found: OutOfStep, missing: str, extra: str) -> Words:
    """Word an aggregate that differs either way.

    :param missing: what follows for hosts that Placement lacks
    :param extra: what follows for hosts that only Placement has in it
    """
    parts = []
    if found.missing:
        parts.append(_lacks(found.missing, missing))
    if found.extra:
        parts.append(_has(found.extra, extra))
    return Words("; ".join(parts), _REPAIRS[found.repair])


def _lacks(hosts: tuple[str, ...], then: str) -> str:
    return f"Placement lacks the {ranges(hosts, 'host')} in it: {then}"


def _has(hosts: tuple[str, ...], then: str) -> str:
    return (
        f"Placement has in it the {ranges(hosts, 'host')}, which Nova has not: {then}"
    )
