"""The words of the area image-type's rules."""

from __future__ import annotations

from osc_traitsched.core.check.rules.image_type import (
    ImageTypeFewHosts,
    ImageTypeFlavorNoHost,
    ImageTypeNoHost,
    ImageTypeOff,
)
from osc_traitsched.paste import Command, Option, Placeholder, openstack
from osc_traitsched.text import listed, ranges
from osc_traitsched.views.check.wording import Words, off, word

_ELSE = "; a server booted from a volume is not concerned"


@word.register
def _(finding: ImageTypeNoHost) -> Words:
    return Words(
        f"no host has {finding.trait}, so that none can take a server of the "
        f"{listed(finding.images, 'image')} with its disk on the host",
        Command(
            "convert",
            (
                Option("-f", finding.name),
                Option("-O", "raw"),
                Placeholder("FROM"),
                Placeholder("TO"),
            ),
            program="qemu-img",
        ),
        "convert the image to raw, or any other format that a host supports",
    )


@word.register
def _(finding: ImageTypeFewHosts) -> Words:
    return Words(
        f"{len(finding.hosts)} of {finding.total} hosts lack "
        f"{finding.trait} and are left out for the "
        f"{listed(finding.images, 'image')}: {ranges(finding.hosts, 'host')}"
    )


@word.register
def _(finding: ImageTypeFlavorNoHost) -> Words:
    return Words(
        f"no host that can take the {listed(finding.flavors, 'flavor')} has "
        f"{finding.trait}, which the {listed(finding.images, 'image')} "
        f"asks for{_ELSE}",
        "offer the image in a format of those hosts, or do not combine the two",
    )


@word.register
def _(finding: ImageTypeOff) -> Words:
    supported = ", ".join(f"{name} by {number}" for name, number in finding.formats)
    return Words(
        f"{off(finding.setting)}, and of {finding.total} hosts not all "
        f"support the formats in use: {supported}; servers of the "
        f"{listed(finding.images, 'image')} can land on one that does not",
        openstack("trait-sched config nova-conf", Option("--enable", "image-type")),
    )
