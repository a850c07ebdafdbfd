"""The words of the area isolation's rules."""

from __future__ import annotations

from osc_traitsched.core.check.rules.isolation import (
    IsolationMemberLacksTrait,
    IsolationNotRequired,
    IsolationOff,
    IsolationOverlap,
    IsolationShutsOut,
    IsolationTraitOutside,
)
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.paste import Option, Placeholder, openstack
from osc_traitsched.text import listed, ranges
from osc_traitsched.views.check.wording import Words, off, word


@word.register
def _(finding: IsolationMemberLacksTrait) -> Words:
    name, hosts = finding.trait, finding.hosts
    if trait.ownership(name) is Ownership.OPERATOR:
        fix = openstack("trait-sched add", name, Option("--aggregate", finding.name))
    else:
        fix = openstack("trait-sched unisolate", finding.name, name)
    return Words(
        f"isolated by {name}, and {len(hosts)} of {finding.members} members "
        f"lack it, so that no server at all gets there: {ranges(hosts, 'host')}",
        fix,
    )


@word.register
def _(finding: IsolationOverlap) -> Words:
    names, hosts = " and ".join(finding.traits), finding.hosts
    then = (
        "some flavor and image require all of them"
        if finding.is_open
        else "no flavor and image require all of them, so that no server can be placed "
        "there"
    )
    return Words(
        f"{ranges(hosts, 'host')} {'is' if len(hosts) == 1 else 'are'} in the isolated "
        f"aggregate {finding.other}, too: there a request needs {names}; {then}",
        openstack("aggregate remove host", finding.name, Placeholder("HOST")),
    )


@word.register
def _(finding: IsolationOff) -> Words:
    return Words(
        f"{off(finding.setting)}, so that {listed(finding.aggregates, 'aggregate')} "
        f"{'is' if len(finding.aggregates) == 1 else 'are'} open to all, "
        "against what the metadata says",
        openstack("trait-sched config nova-conf", Option("--enable", "isolation")),
    )


@word.register
def _(finding: IsolationNotRequired) -> Words:
    names = finding.traits
    what = " and ".join(f"{key}=required" for key in finding.keys)
    problem = (
        f"no flavor and image require {' and '.join(names)} together"
        if finding.is_each_required
        else f"no flavor or image requires {' and '.join(names)}"
    )
    return Words(
        f"{what}, and {problem}: nobody gets in",
        openstack(
            "trait-sched isolate",
            finding.name,
            *names,
            Option("--flavor", Placeholder("FLAVOR")),
        ),
    )


@word.register
def _(finding: IsolationTraitOutside) -> Words:
    hosts = finding.hosts
    chosen = (Option("--host", host) for host in hosts)
    return Words(
        f"{ranges(hosts, 'host')} ha{'s' if len(hosts) == 1 else 've'} it and "
        f"{'is' if len(hosts) == 1 else 'are'} outside the "
        f"{listed(finding.aggregates, 'aggregate')}, which it isolates: servers that "
        "require it may land there",
        openstack("trait-sched remove", finding.name, *chosen)
        if trait.ownership(finding.name) is Ownership.OPERATOR
        else "add the hosts to the aggregate, or isolate by a custom trait",
    )


@word.register
def _(finding: IsolationShutsOut) -> Words:
    return Words(
        "each host that could take it is in the isolated "
        f"{listed(finding.aggregates, 'aggregate')}, and with no image does it "
        "require the traits",
        openstack(
            "flavor set",
            Option("--property", Placeholder("trait:TRAIT=required")),
            finding.id,
        ),
    )
