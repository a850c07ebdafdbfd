"""The words of the area image-type's rules."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.views.check.wording import Wording, Words, command, count, off

_ELSE = "; a server booted from a volume is not concerned"


def _no_host(finding: Finding) -> Words:
    return Words(
        f"no host has {finding.text('trait')}, so that none can take a server of the "
        f"{count(finding.names('images'), 'image')} with its disk on the host",
        f"convert: qemu-img convert -f {finding.name} -O raw FROM TO, or any other "
        "format that a host supports",
    )


def _few_hosts(finding: Finding) -> Words:
    lacking = finding.names("hosts")
    return Words(
        f"{len(lacking)} of {finding.text('total')} hosts lack "
        f"{finding.text('trait')} and are left out for the "
        f"{count(finding.names('images'), 'image')}: {count(lacking, 'host')}"
    )


def _flavor_no_host(finding: Finding) -> Words:
    return Words(
        f"no host that can take the {count(finding.names('flavors'), 'flavor')} has "
        f"{finding.text('trait')}, which the {count(finding.names('images'), 'image')} "
        f"asks for{_ELSE}",
        "offer the image in a format of those hosts, or do not combine the two",
    )


def _off(finding: Finding) -> Words:
    pairs = zip(finding.names("formats"), finding.names("supports"))
    supported = ", ".join(f"{name} by {number}" for name, number in pairs)
    return Words(
        f"{off(finding)}, and of {finding.text('total')} hosts not all "
        f"support the formats in use: {supported}; servers of the "
        f"{count(finding.names('images'), 'image')} can land on one that does not",
        command("trait-sched", "config", "nova-conf", "--enable", "image-type"),
    )


WORDS: Mapping[str, Wording] = {
    "image-type-no-host": _no_host,
    "image-type-few-hosts": _few_hosts,
    "image-type-flavor-no-host": _flavor_no_host,
    "image-type-off": _off,
}
