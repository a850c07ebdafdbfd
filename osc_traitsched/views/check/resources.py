"""The words of the area resources' rules."""

from __future__ import annotations

from osc_traitsched.core.check.rules.resources import (
    ResourcesIgnored,
    ResourcesNone,
    ResourcesNoPolicy,
    ResourcesUnknown,
)
from osc_traitsched.core.nova.server import not_evaluated as kinds
from osc_traitsched.core.nova.server.extra_specs import GROUP_POLICY
from osc_traitsched.paste import Option, openstack
from osc_traitsched.text import did_you_mean, listed, quoted
from osc_traitsched.views.check.wording import Words, unset, word

_REASONS = {
    kinds.UNKNOWN_RESOURCE_CLASS: "no resource class",
    kinds.BAD_AMOUNT: "no amount",
    kinds.BAD_SUFFIX: "no suffix of a group",
}


@word.register
def _(finding: ResourcesUnknown) -> Words:
    return Words(
        "Placement does not know it, and refuses every request of the "
        f"{listed(finding.flavors, 'flavor')}{did_you_mean(finding.nearest)}",
        "correct the flavor's key, or give providers an inventory of the class",
    )


@word.register
def _(finding: ResourcesIgnored) -> Words:
    keys = (f"{e.key}={e.value} ({_REASONS[e.kind]})" for e in finding.ignored)
    return Words(
        f"Nova ignores {', '.join(keys)}",
        unset(finding.kind, (each.key for each in finding.ignored), finding.id),
    )


@word.register
def _(finding: ResourcesNoPolicy) -> Words:
    unknown = f" (Nova ignores {quoted(finding.given)})" if finding.given else ""
    policy = Option("--property", f"{GROUP_POLICY}=none")
    return Words(
        f"{listed(finding.groups, 'group')} and no {GROUP_POLICY}{unknown}: Placement "
        "refuses every request of it",
        openstack("flavor set", policy, finding.id),
        "isolate instead of none gives each group a provider of its own",
    )


@word.register
def _(finding: ResourcesNone) -> Words:
    if finding.groups == ("",):
        return Words(
            "asks for no amount outside of groups: Placement refuses every request of "
            "it",
            "ask for an amount of some class by resources:CLASS=AMOUNT",
        )
    suffixes = [each for each in finding.groups if each]
    return Words(
        f"{listed(suffixes, 'group')}: traits and no amount, and Placement refuses "
        "every request of it",
        f"ask for an amount of some class by resources{suffixes[0]}:CLASS=AMOUNT",
    )
