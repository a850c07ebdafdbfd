"""Rules of the area mirror on hypervisors and the providers that stand for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.snapshot import Compute, Provider, Snapshot
from osc_traitsched.paste import Command, Option, openstack
from osc_traitsched.text import listed, quoted


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

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"Placement has no provider {self.uuid} for this hypervisor: no "
            "server can be placed on it",
            f"nova-compute on {self.service} makes it by itself: its log says "
            "why it did not",
        )


def no_provider(analysis: Analysis) -> Iterator[MirrorNoProvider]:
    """Find hypervisors of which Placement has neither the UUID nor the name."""
    snapshot = analysis.survey.snapshot
    for node in _hypervisors(analysis):
        if node.uuid not in snapshot.by_uuid and node.node not in snapshot.by_name:
            yield MirrorNoProvider(node.node, node.service_host, node.uuid)


@dataclasses.dataclass(frozen=True)
class Own:
    """What a provider has that goes with it, and that no nova-compute gives another.

    :ivar traits: custom ones
    :ivar aggregates: the names of Nova's aggregates that Placement has it in
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
        tuple(sorted(filter(trait.is_custom, traits))),
        tuple(sorted(inside)),
    )


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
    own: Own = Own()

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"Placement has a provider of this name with the UUID {self.provider}, and "
            f"the hypervisor's is {self.uuid}: nova-compute can't make its own, and "
            "no server can be placed on it",
            _show(self.provider),
            f"{_note(self.own)}delete the old one if this shows no allocations",
        )


def other_uuid(analysis: Analysis) -> Iterator[MirrorOtherUuid]:
    """Find hypervisors whose name is taken by a provider of another UUID."""
    survey = analysis.survey
    for node in _hypervisors(analysis):
        provider = survey.snapshot.by_name.get(node.node)
        if provider and node.uuid not in survey.snapshot.by_uuid:
            own = _own(provider, survey)
            yield MirrorOtherUuid(node.node, node.uuid, provider.uuid, own)


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

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"its provider {self.uuid} is named {quoted(self.provider)}: "
            "nova-api looks for it by name and mirrors no aggregate",
            openstack("resource provider set", self.uuid, Option("--name", self.name)),
        )


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
    """A provider that looks like a compute node's, and no hypervisor for it.

    :ivar unlisted: a nova-compute made it, so that Nova's list may be incomplete
    """

    rule = "mirror-no-hypervisor"
    kind = Kind.PROVIDER
    severity: Severity
    name: str
    uuid: str
    own: Own = Own()
    unlisted: Unlisted | None = None

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
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
    """How many compute nodes Placement has, and how many of them Nova lists."""

    listed: int
    total: int


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
    """Return the compute nodes, by name."""
    return sorted(analysis.survey.nova.computes, key=lambda node: node.node)


RULES = (
    Rule(MirrorNoProvider, "mirror", no_provider, Kind.HOST),
    Rule(MirrorOtherUuid, "mirror", other_uuid, Kind.HOST),
    Rule(MirrorOtherName, "mirror", other_name, Kind.HOST),
    Rule(MirrorNoHypervisor, "mirror", no_hypervisor, Kind.HOST),
)


def _note(own: Own) -> str:
    """Say what goes with a provider and does not come back by itself."""
    lost = (listed(own.traits, "trait"), listed(own.aggregates, "aggregate"))
    also = " and the ".join(filter(None, lost))
    return f"note the {also}, and " if also else ""


def _show(provider: str) -> Command:
    return openstack("resource provider show", Option("--allocations"), provider)
