"""The words of the area mirror's rules."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.core.check.rules.mirror import SYNC
from osc_traitsched.views.check.wording import Wording, Words, command, count

_CHECK = command("trait-sched", "mirror", "repair")
_SYNC = "nova-manage placement sync_aggregates"


def mend(finding: Finding) -> str:
    """Return the command that puts Placement's aggregates right."""
    return _SYNC if finding.text("mend") == SYNC else _CHECK


def differing(finding: Finding, missing: str, extra: str) -> Words:
    """Word an aggregate that differs either way.

    :param missing: what follows for hosts that Placement lacks
    :param extra: what follows for hosts that only Placement has in it
    """
    parts = []
    if finding.names("missing"):
        hosts = count(finding.names("missing"), "host")
        parts.append(f"Placement lacks the {hosts} in it: {missing}")
    if finding.names("extra"):
        hosts = count(finding.names("extra"), "host")
        parts.append(f"Placement has in it the {hosts}, which Nova has not: {extra}")
    return Words("; ".join(parts), mend(finding))


def _missing(finding: Finding) -> Words:
    hosts = count(finding.names("hosts"), "host")
    then = {
        "isolation": "not isolated by it",
        "": "no prefilter that is on looks there now",
    }[finding.text("use")]
    return Words(f"Placement lacks the {hosts} in it: {then}", mend(finding))


def _extra(finding: Finding) -> Words:
    hosts = count(finding.names("hosts"), "host")
    then = {
        "isolation": "closed to who does not require its traits",
        "": "no prefilter that is on looks there now",
    }[finding.text("use")]
    return Words(f"Placement has in it the {hosts}, which Nova has not: {then}", _CHECK)


def _nodes(finding: Finding) -> Words:
    nodes = count(finding.names("nodes"), "node")
    aggregates = count(finding.names("aggregates"), "aggregate")
    return Words(
        f"Placement lacks the {nodes} in the {aggregates}: Nova mirrors one node of a "
        "host, and sync_aggregates stops at a host with several",
        _CHECK,
    )


def _no_provider(finding: Finding) -> Words:
    return Words(
        f"Placement has no provider {finding.text('uuid')} for this hypervisor: no "
        "server can be placed on it",
        f"nova-compute on {finding.text('service')} makes it by itself: its log says "
        "why it did not",
    )


def _other_uuid(finding: Finding) -> Words:
    other = finding.text("provider")
    return Words(
        f"Placement has a provider of this name with the UUID {other}, and the "
        f"hypervisor's is {finding.text('uuid')}: nova-compute can't make its own, and "
        "no server can be placed on it",
        "if nothing is allocated from it: "
        + command("resource", "provider", "delete", other),
    )


def _other_name(finding: Finding) -> Words:
    return Words(
        f"its provider {finding.text('uuid')} is named {finding.text('provider')!a}: "
        "nova-api looks for it by name and mirrors no aggregate",
        command(
            *("resource", "provider", "set", finding.text("uuid")),
            *("--name", finding.name),
        ),
    )


def _no_hypervisor(finding: Finding) -> Words:
    return Words(
        f"Nova has no hypervisor for the provider {finding.text('uuid')}: Placement "
        "may give it for a server, and the scheduler then drops it",
        "if the host is gone and nothing is allocated from it: "
        + command("resource", "provider", "delete", finding.text("uuid")),
    )


def _no_node(finding: Finding) -> Words:
    aggregates = count(finding.names("aggregates"), "aggregate")
    return Words(
        f"in the {aggregates}, and Nova has no hypervisor on it: there is nothing to "
        "mirror",
        "start its nova-compute, or take the host out of the aggregates",
    )


WORDS: Mapping[str, Wording] = {
    "mirror-missing": _missing,
    "mirror-extra": _extra,
    "mirror-nodes": _nodes,
    "mirror-no-provider": _no_provider,
    "mirror-other-uuid": _other_uuid,
    "mirror-other-name": _other_name,
    "mirror-no-hypervisor": _no_hypervisor,
    "mirror-no-node": _no_node,
}
