"""Rules of the area mirror: Nova's hosts and aggregates against Placement's.

Of one aggregate that differs one rule speaks: the one of the area whose prefilter
rests on it, and ``mirror-missing`` and ``mirror-extra`` of all others.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.finding import Finding, Rule, Severity
from osc_traitsched.core.check.study import Study
from osc_traitsched.core.inventory.mirror import Difference
from osc_traitsched.core.inventory.snapshot import Aggregate, Compute, Nova, Provider
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.core.nova.switch import az_is_always_on

#: What mends an aggregate: our own command, or Nova's where that is enough.
CHECK, SYNC = "check", "sync_aggregates"


class Use(enum.Enum):
    """The prefilter that is on and rests on an aggregate; of several the first."""

    AZ = "az"
    TENANT = "tenant"
    ISOLATION = "isolation"
    NONE = ""


def use(aggregate: Aggregate, study: Study) -> Use:
    """Tell what Placement's aggregate decides now."""
    if aggregate.zone is not None and az_is_on(study.assumptions):
        return Use.AZ
    if aggregate.tenants and study.is_on(options.TENANT):
        return Use.TENANT
    isolated = any(each.uuid == aggregate.uuid for each in study.isolated)
    if isolated and study.is_on(options.ISOLATION):
        return Use.ISOLATION
    return Use.NONE


def az_is_on(assumptions: SchedulerSettings) -> bool:
    """Tell whether Nova asks Placement for an availability zone's hosts."""
    always = az_is_always_on(assumptions.release)
    return always or bool(assumptions.value(options.AZ_QUERY))


def differing(study: Study, rests: Use, rule: str) -> Iterator[Finding]:
    """Yield one finding for each aggregate of a use that differs either way."""
    for found in study.differences:
        missing = _of_one_node(found.missing, study.nova)
        in_use = use(found.aggregate, study) is rests
        if in_use and (missing or found.extra):
            yield Finding(
                rule,
                Severity.ERROR,
                "aggregate",
                found.aggregate.name,
                {
                    "missing": _names(missing, study.nova),
                    "extra": _names(found.extra, study.nova),
                    "mend": _mend(study.nova, bool(found.extra)),
                },
            )


def missing(study: Study) -> Iterator[Finding]:
    """Hosts of an aggregate that Placement does not have in it."""
    for found, severity in _others(study):
        nodes = _of_one_node(found.missing, study.nova)
        if nodes:
            yield Finding(
                "mirror-missing",
                severity,
                "aggregate",
                found.aggregate.name,
                {
                    "hosts": _names(nodes, study.nova),
                    "mend": _mend(study.nova, False),
                    "use": use(found.aggregate, study).value,
                },
            )


def extra(study: Study) -> Iterator[Finding]:
    """Hosts that only Placement has in an aggregate."""
    for found, severity in _others(study):
        if found.extra:
            yield Finding(
                "mirror-extra",
                severity,
                "aggregate",
                found.aggregate.name,
                {
                    "hosts": _names(found.extra, study.nova),
                    "use": use(found.aggregate, study).value,
                },
            )


def _others(study: Study) -> Iterator[tuple[Difference, Severity]]:
    for found in study.differences:
        rests = use(found.aggregate, study)
        if rests in (Use.ISOLATION, Use.NONE):
            error = rests is Use.ISOLATION
            yield found, Severity.ERROR if error else Severity.WARNING


def nodes(study: Study) -> Iterator[Finding]:
    """Nodes that Placement lacks in an aggregate, of hosts with several nodes.

    nova-api mirrors the first node alone (nova/compute/api.py,
    ``add_host_to_aggregate``), and ``sync_aggregates`` stops at such a host
    (nova/cmd/manage.py, ``_get_rp_uuid_for_host``).
    """
    lacking: dict[str, list[tuple[Compute, Aggregate]]] = {}
    for found in study.differences:
        for node in found.missing:
            if not _is_alone(node, study.nova):
                pair = node, found.aggregate
                lacking.setdefault(node.service_host, []).append(pair)
    for host, pairs in sorted(lacking.items()):
        uses = {use(aggregate, study) for _, aggregate in pairs}
        yield Finding(
            "mirror-nodes",
            Severity.WARNING if uses == {Use.NONE} else Severity.ERROR,
            "host",
            host,
            {
                "nodes": tuple(sorted({node.node for node, _ in pairs})),
                "aggregates": tuple(sorted({each.name for _, each in pairs})),
            },
        )


def no_provider(study: Study) -> Iterator[Finding]:
    """Hypervisors of which Placement has neither the UUID nor the name."""
    for node in _by_name(study.nova.computes):
        has_name = node.node in study.snapshot.by_name
        if node.uuid not in study.snapshot.by_uuid and not has_name:
            yield Finding(
                "mirror-no-provider",
                Severity.ERROR,
                "host",
                node.node,
                {"service": node.service_host, "uuid": node.uuid},
            )


def other_uuid(study: Study) -> Iterator[Finding]:
    """Hypervisors whose name is taken by a provider of another UUID."""
    for node in _by_name(study.nova.computes):
        provider = study.snapshot.by_name.get(node.node)
        if provider and node.uuid not in study.snapshot.by_uuid:
            yield Finding(
                "mirror-other-uuid",
                Severity.ERROR,
                "host",
                node.node,
                {
                    "service": node.service_host,
                    "uuid": node.uuid,
                    "provider": provider.uuid,
                },
            )


def other_name(study: Study) -> Iterator[Finding]:
    """Hypervisors whose provider has another name.

    nova-api finds the provider to mirror by its name
    (nova/scheduler/client/report.py, ``aggregate_add_host``).
    """
    for node in _by_name(study.nova.computes):
        provider = study.snapshot.by_uuid.get(node.uuid)
        if provider and provider.name != node.node:
            yield Finding(
                "mirror-other-name",
                Severity.WARNING,
                "host",
                node.node,
                {"provider": provider.name, "uuid": node.uuid},
            )


def no_hypervisor(study: Study) -> Iterator[Finding]:
    """Roots that nobody shares, as compute nodes are, and no hypervisor for them.

    Those that keep a hypervisor from its own are left to :func:`other_uuid`.
    """
    by_uuid = study.snapshot.by_uuid
    named = {each.node for each in study.nova.computes if each.uuid not in by_uuid}
    for provider in sorted(_unmanaged_roots(study), key=lambda each: each.name):
        if provider.name not in named:
            traits = study.traits.get(provider.uuid, frozenset())
            novas = any(name.startswith("COMPUTE_") for name in traits)
            yield Finding(
                "mirror-no-hypervisor",
                Severity.WARNING if novas else Severity.NOTE,
                "provider",
                provider.name,
                {"uuid": provider.uuid},
            )


def _unmanaged_roots(study: Study) -> Iterable[Provider]:
    return (study.snapshot.by_uuid[uuid] for uuid in study.snapshot.unmanaged_roots)


def no_node(study: Study) -> Iterator[Finding]:
    """Hosts of an aggregate that Nova has no hypervisor for."""
    empty: dict[str, set[str]] = {}
    for aggregate in study.nova.aggregates:
        for host in aggregate.hosts:
            if host not in study.nova.by_service_host:
                empty.setdefault(host, set()).add(aggregate.name)
    for host, aggregates in sorted(empty.items()):
        yield Finding(
            "mirror-no-node",
            Severity.WARNING,
            "host",
            host,
            {"aggregates": tuple(sorted(aggregates))},
        )


def _of_one_node(nodes: Iterable[Compute], nova: Nova) -> list[Compute]:
    return [node for node in nodes if _is_alone(node, nova)]


def _is_alone(node: Compute, nova: Nova) -> bool:
    """Tell whether a node is the only one of its service host."""
    return len(nova.by_service_host[node.service_host]) == 1


def _mend(nova: Nova, removing: bool) -> str:
    """Tell what mends it; Nova's own command never removes, and some hosts stop it."""
    members = {host for aggregate in nova.aggregates for host in aggregate.hosts}
    stops = any(len(nova.by_service_host.get(host, ())) > 1 for host in members)
    return CHECK if removing or stops else SYNC


def _names(nodes: Iterable[Compute], nova: Nova) -> tuple[str, ...]:
    """Return service hosts, as Nova's commands take them, or nodes of one with more."""
    return tuple(
        sorted(n.service_host if _is_alone(n, nova) else n.node for n in nodes)
    )


def _by_name(nodes: Iterable[Compute]) -> list[Compute]:
    return sorted(nodes, key=lambda node: node.node)


RULES = (
    Rule("mirror-missing", "mirror", missing, "aggregates"),
    Rule("mirror-extra", "mirror", extra, "aggregates"),
    Rule("mirror-nodes", "mirror", nodes, "hosts"),
    Rule("mirror-no-provider", "mirror", no_provider, "hosts"),
    Rule("mirror-other-uuid", "mirror", other_uuid, "hosts"),
    Rule("mirror-other-name", "mirror", other_name, "hosts"),
    Rule("mirror-no-hypervisor", "mirror", no_hypervisor, "hosts"),
    Rule("mirror-no-node", "mirror", no_node, "aggregates"),
)
