"""The words of the area mirror's rules."""

from __future__ import annotations

from osc_traitsched.core.check.rules.mirror import (
    MirrorExtra,
    MirrorHostNoHypervisor,
    MirrorMissing,
    MirrorNodeMissing,
    OutOfStep,
    Repair,
    Use,
)
from osc_traitsched.core.check.rules.mirror_providers import (
    MirrorNoHypervisor,
    MirrorNoProvider,
    MirrorOtherName,
    MirrorOtherUuid,
    Own,
)
from osc_traitsched.core.inventory.trait import Ownership, ownership
from osc_traitsched.paste import Command, Option, openstack
from osc_traitsched.text import listed, quoted, ranges
from osc_traitsched.views.check.wording import Words, word

_REPAIRS = {
    Repair.MIRROR_REPAIR: openstack("trait-sched mirror repair"),
    Repair.SYNC_AGGREGATES: Command("placement sync_aggregates", program="nova-manage"),
}


def out_of_step(found: OutOfStep, missing: str, extra: str) -> Words:
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


_UNUSED = "no prefilter that is on looks there now"


@word.register
def _(finding: MirrorMissing) -> Words:
    isolated = finding.use is Use.ISOLATION
    then = "not isolated by it" if isolated else _UNUSED
    parts = [_lacks(finding.hosts, then)]
    for trait, hosts in finding.lacking:
        lack = "lack" if len(hosts) > 1 else "lacks"
        parts.append(
            f"the {ranges(hosts, 'host')} also {lack} {trait}, so that no server gets "
            "there once Placement has it right"
        )
    names = [trait for trait, _ in finding.lacking]
    if names and all(ownership(name) is Ownership.OPERATOR for name in names):
        # It gives the trait before the place, so that they are never closed to all.
        return Words(
            "; ".join(parts), openstack("trait-sched isolate", finding.name, *names)
        )
    return Words("; ".join(parts), _REPAIRS[finding.repair])


@word.register
def _(finding: MirrorExtra) -> Words:
    isolated = finding.use is Use.ISOLATION
    then = "closed to servers that do not require its traits" if isolated else _UNUSED
    return Words(_has(finding.hosts, then), _REPAIRS[Repair.MIRROR_REPAIR])


@word.register
def _(finding: MirrorNodeMissing) -> Words:
    return Words(
        f"Placement lacks the {ranges(finding.nodes, 'node')} in the "
        f"{listed(finding.aggregates, 'aggregate')}: Nova mirrors one node of a "
        "host, and sync_aggregates stops at a host with several",
        _REPAIRS[Repair.MIRROR_REPAIR],
    )


@word.register
def _(finding: MirrorNoProvider) -> Words:
    return Words(
        f"Placement has no provider {finding.uuid} for this hypervisor: no "
        "server can be placed on it",
        f"nova-compute on {finding.service} makes it by itself: its log says "
        "why it did not",
    )


@word.register
def _(finding: MirrorOtherUuid) -> Words:
    return Words(
        f"Placement has a provider of this name with the UUID {finding.provider}, and "
        f"the hypervisor's is {finding.uuid}: nova-compute can't make its own, and "
        "no server can be placed on it",
        _show(finding.provider),
        f"{_note(finding.own)}delete the old one if this shows no allocations",
    )


@word.register
def _(finding: MirrorOtherName) -> Words:
    return Words(
        f"its provider {finding.uuid} is named {quoted(finding.provider)}: "
        "nova-api looks for it by name and mirrors no aggregate",
        openstack(
            "resource provider set", finding.uuid, Option("--name", finding.name)
        ),
    )


@word.register
def _(finding: MirrorNoHypervisor) -> Words:
    if finding.unlisted is not None:
        return Words(
            f"Nova lists {finding.unlisted.listed} of the {finding.unlisted.total} "
            f"compute nodes that Placement has, and not this one ({finding.uuid}): its "
            "list may be incomplete, so no provider is called orphaned",
            _show(finding.uuid),
            "see whether its host has a mapping (nova-manage cell_v2 list_hosts) and a "
            "nova-compute service; what is allocated from it",
        )
    return Words(
        f"Nova has no hypervisor for the provider {finding.uuid}: Placement "
        "may give it for a server, and the scheduler then drops it",
        _show(finding.uuid),
        f"{_note(finding.own)}delete it if the host is gone and this shows no "
        "allocations",
    )


def _note(own: Own) -> str:
    """Say what goes with a provider and does not come back by itself."""
    lost = (listed(own.traits, "trait"), listed(own.aggregates, "aggregate"))
    also = " and the ".join(filter(None, lost))
    return f"note the {also}, and " if also else ""


def _show(provider: str) -> Command:
    return openstack("resource provider show", Option("--allocations"), provider)


@word.register
def _(finding: MirrorHostNoHypervisor) -> Words:
    return Words(
        f"in the {listed(finding.aggregates, 'aggregate')}, and Nova has no hypervisor "
        "on it: there is nothing to mirror",
        "start its nova-compute, or take the host out of the aggregates",
    )
