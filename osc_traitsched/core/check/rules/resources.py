"""Rules on amounts of flavors, and their groups."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import (
    ERROR,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
)
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import meant, unset
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import FORBIDDEN, REQUIRED
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.filter.special import EXTRA_SPECS
from osc_traitsched.core.nova.server import server
from osc_traitsched.core.nova.server.attachments import PCI_ALIAS
from osc_traitsched.core.nova.server.extra_specs import GROUP_POLICY
from osc_traitsched.core.nova.server.server import NotEvaluated
from osc_traitsched.core.placement import capacity
from osc_traitsched.paste import Command, Option, openstack
from osc_traitsched.text import did_you_mean, listed, quoted

#: Input that Nova drops from a flavor's amounts and groups, and why.
_IGNORED = {
    server.UNKNOWN_RESOURCE_CLASS: "no resource class",
    server.BAD_AMOUNT: "no amount",
    server.BAD_SUFFIX: "no suffix of a group",
}

#: Starts of classes that nova-compute creates for its devices.
_OF_COMPUTES = ("CUSTOM_PCI_", "CUSTOM_PMEM_NAMESPACE_")


@rule("resources-unknown", SubjectKind.RESOURCE_CLASS, SubjectKind.FLAVOR)
def unknown(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A resource class of flavors that Placement does not know.

    Placement answers 400 to every such request. nova-compute creates the classes of its
    devices and of ``provider.yaml``; those of PCI devices only with
    ``[pci]report_in_placement``.
    """
    # placement/handlers/allocation_candidate.py, list_allocation_candidates
    known = analysis.survey.known_classes
    asked = [
        (clause.resource_class, flavor.name, {each.key for each in clause.origins})
        for flavor in analysis.flavors
        for request in flavor.requests
        for clause in request.clauses
        if isinstance(clause, Resource) and clause.resource_class not in known
    ]
    for name in sorted({name for name, *_ in asked}):
        flavors = tuple(dict.fromkeys(f for each, f, _ in asked if each == name))
        is_of_alias = any(PCI_ALIAS in keys for each, _, keys in asked if each == name)
        nearest = trait.nearest(name, known)
        fix = "correct the flavor's key, or give providers an inventory of the class"
        if is_of_alias or name.startswith(_OF_COMPUTES):
            correct = "correct the key if that is meant, else " * bool(nearest)
            of_class = _OF_COMPUTES[0] if is_of_alias else name
            fix = f"{correct}{trait.where_to_look(of_class)}"
        yield ERROR(
            name,
            "Placement does not know it, and rejects every request of the "
            f"{listed(flavors, 'flavor')}{did_you_mean(nearest)}",
            fix,
            flavors=flavors,
        )


@rule("resources-ignored", SubjectKind.FLAVOR)
def ignored(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor with keys for amounts or groups that Nova ignores.

    Nova only logs an unknown class, an amount that is not a number, or an invalid
    suffix. Servers land on hosts without the resource.
    """
    # nova/scheduler/utils.py, ResourceRequest._process_extra_specs
    for flavor in analysis.flavors:
        dropped = [each for each in flavor.not_evaluated if each.kind in _IGNORED]
        pairs = (f"{e.key}={e.value} ({_IGNORED[e.kind]})" for e in dropped)
        if dropped:
            yield ERROR(
                flavor.name,
                f"Nova ignores {', '.join(pairs)}",
                unset(SubjectKind.FLAVOR, (each.key for each in dropped), flavor.id),
            )


@rule("resources-near-key", SubjectKind.FLAVOR)
def near_key(analysis: Analysis) -> Iterator[Fault]:
    """A key of a flavor, or a property of an image, that resembles one Nova reads.

    A warning if Nova drops it without an error: servers get hosts, but not what the key
    asks for. An error if no server gets a host: Nova reads ``traits:X`` as a trait
    of a group "s", and AggregateInstanceExtraSpecsFilter looks for a key without a
    colon in aggregates. Glance keeps any property.
    """
    for demand in analysis.demands:
        for each in demand.not_evaluated:
            is_image = demand.kind is SubjectKind.IMAGE
            if each.meant and (is_image or analysis.filtering.misspelled(each.key)):
                severity, problem = _misread(analysis, demand, each)
                is_trait = each.meant.startswith("trait:")
                value = is_trait and meant(each.value, (REQUIRED, FORBIDDEN))
                pair = f"{each.meant}={value or each.value}"
                is_set = each.meant in (demand.specs or demand.body)
                yield Fault(
                    severity,
                    demand.name,
                    f"{problem}{did_you_mean([each.meant])}",
                    unset(demand.kind, [each.key], demand.id),
                    "" if is_set else f"set {pair} first, if that is meant",
                    subject=demand.kind,
                )


def _misread(
    analysis: Analysis, demand: StandaloneRequest, each: NotEvaluated
) -> tuple[Severity, str]:
    """What a misspelled key does."""
    pair, filtering = f"{each.key}={each.value}", analysis.filtering
    rejects = [request.is_malformed for request in demand.requests]
    is_refused = bool(rejects) and all(rejects)
    rejected = ", and Placement rejects every request of it" * is_refused
    severity = Severity.ERROR if is_refused else Severity.WARNING
    if each.kind == server.MISREAD_KEY and ":" in each.key:
        return severity, f'Nova reads {pair} as a key of a group "s"{rejected}'
    if each.kind == server.MISREAD_KEY and filtering.is_on(EXTRA_SPECS):
        return (
            filtering.severity(Severity.ERROR, Severity.WARNING),
            f"{EXTRA_SPECS} looks for {pair} in the aggregates of hosts, and keeps all "
            "hosts out",
        )
    if each.meant == GROUP_POLICY:
        return severity, f"Nova ignores {pair}{rejected}"
    return Severity.WARNING, f"Nova ignores {pair}"


def _is_misread(analysis: Analysis, flavor: StandaloneRequest) -> bool:
    """Whether a misspelled key explains why Placement rejects the flavor."""
    return any(
        each.meant == GROUP_POLICY
        or (each.kind == server.MISREAD_KEY and ":" in each.key)
        for each in flavor.not_evaluated
        if analysis.filtering.misspelled(each.key)
    )


@rule("resources-no-policy", SubjectKind.FLAVOR)
def no_policy(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor with several groups and no policy for sharing providers.

    Placement answers 400 to a request with two groups and no ``group_policy``. Use
    ``isolate`` if each group needs a provider of its own, else ``none``.
    """
    for flavor in analysis.flavors:
        lacking = [request.lacks_group_policy for request in flavor.requests]
        if lacking and all(lacking) and not _is_misread(analysis, flavor):
            groups = tuple(filter(None, flavor.requests[0].groups))
            value = flavor.specs.get(GROUP_POLICY)
            unread = f" (Nova ignores {quoted(value)})" if value else ""
            policy = Option("--property", f"{GROUP_POLICY}=none")
            yield ERROR(
                flavor.name,
                f"{listed(groups, 'group')} and no {GROUP_POLICY}{unread}: Placement "
                "rejects every request of it",
                openstack("flavor set", policy, flavor.id),
                "isolate instead of none gives each group a provider of its own",
                groups=groups,
            )


@rule("resources-none", SubjectKind.FLAVOR)
def none(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor with a group that has no amount.

    Placement answers 400. ``resources:VCPU=0`` and the like remove the flavor's own
    amounts; bare metal flavors need another class instead.
    """
    for flavor in analysis.flavors:
        empty = [request.groups_without_amounts for request in flavor.requests]
        # Some get an amount from a local disk or an image.
        is_fine = not empty or not all(empty) or _is_misread(analysis, flavor)
        if is_fine or _images_add_amounts(analysis, flavor):
            continue
        suffixes = [suffix for suffix in empty[0] if suffix] or [""]
        problem = f"{listed(suffixes, 'group')}: traits and no amount, and"
        if suffixes == [""]:
            problem = "asks for no amount outside of groups:"
        yield ERROR(
            flavor.name,
            f"{problem} Placement rejects every request of it",
            f"ask for an amount of some class by resources{suffixes[0]}:CLASS=AMOUNT",
            groups=tuple(filter(None, empty[0])),
        )


def _images_add_amounts(analysis: Analysis, flavor: StandaloneRequest) -> bool:
    for image in analysis.images:
        with contextlib.suppress(Refusal):
            request = analysis.builder.request(flavor.body, image.body)
            if not request.groups_without_amounts:
                return True
    return False


@rule("resources-leaked", SubjectKind.HOST)
def leaked(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A host without servers that has allocations in Placement.

    Servers that were deleted, or moves that failed, left allocations. They keep the
    host full and block ``openstack compute service delete``. A server that is being
    built looks the same: check again after a minute.
    """
    for node in analysis.survey.nova.computes:
        if used := capacity.leaked(node, analysis.survey.stock.get(node.uuid, {})):
            yield WARNING(
                node.node,
                f"Placement counts {used} MB of memory in use, but Nova has no server "
                "there",
                Command("placement audit --verbose", program="nova-manage"),
                "if a second check a minute later says the same, list the allocations",
            )


RULES = (unknown, ignored, near_key, no_policy, none, leaked)
