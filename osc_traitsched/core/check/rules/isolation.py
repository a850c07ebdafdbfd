"""Rules on aggregates that are isolated by traits (``isolate_aggregates``)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import ERROR, Fault, Severity, SubjectKind
from osc_traitsched.core.check.hosts import Isolated
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import aggregate_name, enable, off_by
from osc_traitsched.core.inventory.metadata import trait_in
from osc_traitsched.core.inventory.trait import Ownership, nearest, ownership
from osc_traitsched.core.nova import options
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import did_you_mean, listed, ranges


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

    Each aggregate may be as intended, but together they leave the flavor no host.
    """
    if not analysis.is_on(options.ISOLATION):
        return
    for flavor in analysis.flavors:
        able = analysis.flavor_hosts.matching(flavor)
        closed = analysis.closed_for(flavor) if able else able
        if able and able <= closed and _most(analysis, flavor, closed) <= closed:
            aggregates = _around(analysis, able)
            required = Option("--property", Placeholder("trait:TRAIT=required"))
            yield ERROR(
                flavor.name,
                "each host that could take it is in the isolated "
                f"{listed(aggregates, 'aggregate')}, and with no image does it require "
                "the traits",
                openstack("flavor set", required, flavor.id),
                aggregates=aggregates,
                hosts=analysis.host_names(able),
            )


def _most(
    analysis: Analysis, flavor: StandaloneRequest, closed: frozenset[str]
) -> frozenset[str]:
    """An upper bound."""
    most = analysis.flavor_hosts.at_most(flavor)
    return most if most <= closed else analysis.flavor_hosts.with_any_image(flavor)


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
