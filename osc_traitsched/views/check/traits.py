"""The words of the area traits' rules."""

from __future__ import annotations

from osc_traitsched.core.check.finding import Kind
from osc_traitsched.core.check.rules.traits import (
    TraitsBadValue,
    TraitsFewHosts,
    TraitsNoHost,
    TraitsUnknown,
    TraitsUnused,
)
from osc_traitsched.core.check.rules.traits_malformed import TraitsMalformed
from osc_traitsched.core.check.rules.traits_refused import TraitsRefused
from osc_traitsched.core.check.rules.traits_together import (
    TraitsContradiction,
    TraitsNotTogether,
)
from osc_traitsched.core.errors import nova
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import Ownership
from osc_traitsched.core.inventory.trait_keys import REQUIRED
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.paste import (
    Command,
    Option,
    Placeholder,
    is_printable,
    openstack,
)
from osc_traitsched.text import did_you_mean, listed, quoted, ranges
from osc_traitsched.views.check.wording import Words, unset, word


def _namers(finding: TraitsUnknown | TraitsNoHost) -> str:
    """Return the flavors, images and aggregates of a finding."""
    parts = (
        listed(finding.flavors, "flavor"),
        listed(finding.images, "image"),
        listed(finding.aggregates, "aggregate"),
    )
    return ", ".join(filter(None, parts))


def _give(*names: str, create: bool = False) -> str | Command:
    """Return how hosts get traits: by a command, or not by one."""
    if any(trait.ownership(name) is not Ownership.OPERATOR for name in names):
        return (
            "nova-compute decides which hosts have it: take the key off, or use other "
            "hosts"
        )
    options = [Option("--create")] if create else []
    return openstack(
        "trait-sched add", *names, *options, Option("--host", Placeholder("HOST"))
    )


@word.register
def _(finding: TraitsUnknown) -> Words:
    fix: str | Command = "take the key off"
    if trait.is_custom(finding.name):
        fix = _give(finding.name, create=True)
    then = (
        "Placement refuses every request that names it"
        if finding.flavors or finding.images
        else "no request can require it, and so get in"
    )
    meant = did_you_mean(finding.nearest)
    return Words(f"{then}; named by {_namers(finding)}{meant}", fix)


@word.register
def _(finding: TraitsBadValue) -> Words:
    pairs = listed(f"{key}={value}" for key, value in finding.pairs)
    if finding.by_database:
        given = dict.fromkeys(
            Option(
                "--property",
                f"{key}={REQUIRED}"
                if is_printable(key)
                else Placeholder(f"KEY={REQUIRED}"),
            )
            for key, _ in finding.pairs
        )
        return Words(
            f"MariaDB and MySQL take {pairs} for {REQUIRED}, other databases ignore it",
            openstack("aggregate set", *given, finding.id),
        )
    is_flavor = finding.kind is Kind.FLAVOR
    values = "required or forbidden" if is_flavor else "required"
    return Words(
        f"Nova ignores {pairs}: the value can only be {values}",
        unset(finding.kind, (key for key, _ in finding.pairs), finding.id),
    )


@word.register
def _(finding: TraitsMalformed) -> Words:
    names = listed(map(quoted, finding.names))
    is_aggregate = finding.kind is Kind.AGGREGATE
    then = "no request can require it, and so get in"
    if not is_aggregate:
        read = any(set(name) & _READ_BY_PLACEMENT for name in finding.names)
        then = "Placement refuses every request that names it"
        then += ", or takes it for something else" if read else ""
    return Words(
        f"no trait can be named {names}: {then}{did_you_mean(finding.nearest)}",
        unset(finding.kind, finding.keys, finding.id),
        "take the key off" + ", once the right one is set" * is_aggregate,
    )


#: What is no part of a name in Placement's queries: lists, ``in:`` and ``!``.
_READ_BY_PLACEMENT = frozenset(",:!")


@word.register
def _(finding: TraitsNoHost) -> Words:
    where = "the root of no host" if finding.at_root else "no host"
    return Words(
        f"{where} has it, and it is required by {_namers(finding)}",
        _give(finding.name),
    )


@word.register
def _(finding: TraitsFewHosts) -> Words:
    names, large_enough = _together(finding.traits), finding.large_enough
    if finding.hosts:
        return Words(
            f"{names}: leaves {len(finding.hosts)} of the {large_enough} hosts that "
            f"are large enough: {ranges(finding.hosts)}"
        )
    first = finding.traits[0]
    return Words(
        f"{names}: leaves none of the {large_enough} hosts that are large enough",
        openstack("flavor unset", Option("--property", Placeholder("KEY")), finding.id)
        if first.forbidden
        else _give(first.name),
    )


def _together(traits: tuple[Trait | RootTrait, ...]) -> str:
    names = [f"{'not ' * each.forbidden}{each.name}" for each in traits]
    return " and ".join(names) if len(names) < 3 else listed(names)


@word.register
def _(finding: TraitsNotTogether) -> Words:
    names = _together(finding.traits)
    if finding.flavors:
        return Words(
            f"no host has {names} together with the traits of the "
            f"{listed(finding.flavors, 'flavor')}",
            "do not combine them, or give some host the traits of both",
        )
    required = [each.name for each in finding.traits if not each.forbidden]
    fix = _give(*required) if required else "forbid less"
    if any(each.forbidden and each.name in required for each in finding.traits):
        fix = "require it or forbid it in one group, not both in two"
    return Words(f"hosts meet each by itself, and none all together: {names}", fix)


@word.register
def _(finding: TraitsContradiction) -> Words:
    flavors, name = finding.flavors, finding.trait
    if not flavors:
        return Words(
            f"requires and forbids {name}: Placement refuses every request of it",
            openstack(
                "flavor unset", Option("--property", f"trait:{name}"), finding.id
            ),
        )
    forbid = f"forbid{'s' * (len(flavors) == 1)}"
    return Words(
        f"requires {name}, which the {listed(flavors, 'flavor')} {forbid}: Placement "
        "refuses a request of both",
        "do not combine them",
    )


@word.register
def _(finding: TraitsRefused) -> Words:
    wrong = nova.wrong(finding.refusal)
    right = nova.right(finding.refusal)
    if not finding.flavors:
        return Words(f"Nova refuses every server of it: {wrong}", right)
    return Words(
        "Nova refuses every server of it with the "
        f"{listed(finding.flavors, 'flavor')}: {wrong}",
        f"do not combine them, or {right}",
    )


@word.register
def _(finding: TraitsUnused) -> Words:
    hosts = finding.hosts
    if not hosts:
        return Words(
            "no host has it, and no flavor, image or aggregate names it",
            openstack("trait delete", finding.name),
        )
    return Words(
        f"no flavor, image or aggregate names it; {ranges(hosts, 'host')} "
        f"ha{'s' if len(hosts) == 1 else 've'} it; remove refuses while a server that "
        "exists requires it",
        openstack("trait-sched remove", finding.name, Option("--all")),
    )
