"""The words of the area isolation's rules."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.views.check.wording import Wording, Words, command, count, off


def _member_lacks_trait(finding: Finding) -> Words:
    name = finding.text("trait")
    hosts = finding.names("hosts")
    if trait.ownership(name) is Ownership.OPERATOR:
        mend = command("trait-sched", "add", name, "--aggregate", finding.name)
    else:
        mend = command("trait-sched", "unisolate", finding.name, name)
    return Words(
        f"isolated by {name}, and {len(hosts)} of {finding.text('members')} members "
        f"lack it, so that no server at all gets there: {count(hosts, 'host')}",
        mend,
    )


def _overlap(finding: Finding) -> Words:
    names = " and ".join(finding.names("traits"))
    _, other = finding.names("aggregates")
    then = (
        "some flavor and image require all of them"
        if finding.data["open"]
        else "no flavor and image require all of them, so that nobody gets there"
    )
    hosts = finding.names("hosts")
    return Words(
        f"{count(hosts, 'host')} {'is' if len(hosts) == 1 else 'are'} in the isolated "
        f"aggregate {other}, too: there a request needs {names}; {then}",
        command("aggregate", "remove", "host", finding.name, "HOST"),
    )


def _off(finding: Finding) -> Words:
    return Words(
        f"{off(finding)}, so that "
        f"{count(finding.names('aggregates'), 'aggregate')} "
        f"{'is' if len(finding.names('aggregates')) == 1 else 'are'} open to all, "
        "against what the metadata says",
        command("trait-sched", "config", "nova-conf", "--enable", "isolation"),
    )


def _nobody(finding: Finding) -> Words:
    keys = finding.names("keys")
    names = [key.partition(":")[2] for key in keys]
    what = " and ".join(f"{key}=required" for key in keys)
    problem = (
        f"no flavor and image require {' and '.join(names)} together"
        if finding.data["apart"]
        else f"no flavor or image requires {' and '.join(names)}"
    )
    return Words(
        f"{what}, and {problem}: nobody gets in",
        command("trait-sched", "isolate", finding.name, *names, "--flavor", "FLAVOR"),
    )


def _trait_outside(finding: Finding) -> Words:
    aggregates = finding.names("aggregates")
    hosts = finding.names("hosts")
    remove = (word for host in hosts for word in ("--host", host))
    return Words(
        f"{count(hosts, 'host')} ha{'s' if len(hosts) == 1 else 've'} it and "
        f"{'is' if len(hosts) == 1 else 'are'} outside the "
        f"{count(aggregates, 'aggregate')}, which it isolates: servers that require it "
        "may land there",
        command("trait-sched", "remove", finding.name, *remove)
        if trait.ownership(finding.name) is Ownership.OPERATOR
        else "add the hosts to the aggregate, or isolate by a custom trait",
    )


def _shuts_out(finding: Finding) -> Words:
    return Words(
        "each host that could take it is in the isolated "
        f"{count(finding.names('aggregates'), 'aggregate')}, and with no image does it "
        "require the traits",
        command(
            *("flavor", "set", "--property", "trait:TRAIT=required"),
            finding.text("id"),
        ),
    )


WORDS: Mapping[str, Wording] = {
    "isolation-member-lacks-trait": _member_lacks_trait,
    "isolation-overlap": _overlap,
    "isolation-off": _off,
    "isolation-nobody": _nobody,
    "isolation-trait-outside": _trait_outside,
    "isolation-shuts-out": _shuts_out,
}
