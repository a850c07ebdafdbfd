"""Rules of the area mirror on hypervisors and the providers that stand for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.inventory.snapshot import Compute


@dataclasses.dataclass(frozen=True)
class MirrorNoProvider(Finding):
    """A hypervisor of which Placement has neither the UUID nor the name.

    :ivar service: the host of its nova-compute
    """

    rule = "mirror-no-provider"
    severity = Severity.ERROR
    kind = Kind.HOST
    name: str
    service: str
    uuid: str


def no_provider(analysis: Analysis) -> Iterator[MirrorNoProvider]:
    """Find hypervisors of which Placement has neither the UUID nor the name."""
    snapshot = analysis.survey.snapshot
    for node in _hypervisors(analysis):
        if node.uuid not in snapshot.by_uuid and node.node not in snapshot.by_name:
            yield MirrorNoProvider(node.node, node.service_host, node.uuid)


@dataclasses.dataclass(frozen=True)
class MirrorOtherUuid(Finding):
    """A hypervisor whose name is taken by a provider of another UUID.

    :ivar uuid: the hypervisor's
    :ivar provider: the provider's UUID
    """

    rule = "mirror-other-uuid"
    severity = Severity.ERROR
    kind = Kind.HOST
    name: str
    uuid: str
    provider: str


def other_uuid(analysis: Analysis) -> Iterator[MirrorOtherUuid]:
    """Find hypervisors whose name is taken by a provider of another UUID."""
    snapshot = analysis.survey.snapshot
    for node in _hypervisors(analysis):
        provider = snapshot.by_name.get(node.node)
        if provider and node.uuid not in snapshot.by_uuid:
            yield MirrorOtherUuid(node.node, node.uuid, provider.uuid)


@dataclasses.dataclass(frozen=True)
class MirrorOtherName(Finding):
    """A hypervisor whose provider has another name.

    :ivar uuid: of both
    :ivar provider: the provider's name
    """

    rule = "mirror-other-name"
    severity = Severity.WARNING
    kind = Kind.HOST
    name: str
    uuid: str
    provider: str


def other_name(analysis: Analysis) -> Iterator[MirrorOtherName]:
    """Find hypervisors whose provider has another name.

    nova-api finds the provider to mirror by its name
    (nova/scheduler/client/report.py, ``aggregate_add_host``).
    """
    for node in _hypervisors(analysis):
        provider = analysis.survey.snapshot.by_uuid.get(node.uuid)
        if provider and provider.name != node.node:
            yield MirrorOtherName(node.node, node.uuid, provider.name)


@dataclasses.dataclass(frozen=True)
class MirrorNoHypervisor(Finding):
    """A provider that looks like a compute node's, and no hypervisor for it."""

    rule = "mirror-no-hypervisor"
    kind = Kind.PROVIDER
    severity: Severity
    name: str
    uuid: str


def no_hypervisor(analysis: Analysis) -> Iterator[MirrorNoHypervisor]:
    """Find roots that nobody shares, as compute nodes are, without a hypervisor.

    Those that keep a hypervisor from its own are left to :func:`other_uuid`.
    """
    survey = analysis.survey
    by_uuid = survey.snapshot.by_uuid
    taken = {each.node for each in survey.nova.computes if each.uuid not in by_uuid}
    unmanaged_roots = (by_uuid[uuid] for uuid in survey.snapshot.unmanaged_roots)
    for provider in sorted(unmanaged_roots, key=lambda each: each.name):
        if provider.name not in taken:
            traits = survey.traits.get(provider.uuid, frozenset())
            novas = any(name.startswith("COMPUTE_") for name in traits)
            severity = Severity.WARNING if novas else Severity.NOTE
            yield MirrorNoHypervisor(severity, provider.name, provider.uuid)


def _hypervisors(analysis: Analysis) -> list[Compute]:
    """Return the compute nodes, by name."""
    return sorted(analysis.survey.nova.computes, key=lambda node: node.node)


RULES = (
    Rule(MirrorNoProvider, "mirror", no_provider, Kind.HOST),
    Rule(MirrorOtherUuid, "mirror", other_uuid, Kind.HOST),
    Rule(MirrorOtherName, "mirror", other_name, Kind.HOST),
    Rule(MirrorNoHypervisor, "mirror", no_hypervisor, Kind.HOST),
)
