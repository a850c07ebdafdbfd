"""The words of the area config's rules."""

from __future__ import annotations

from osc_traitsched.core.check.rules.config import (
    ConfigFilterGone,
    ConfigIgnored,
    ConfigImageMetadataNoTrait,
    ConfigImageMetadataOff,
    ConfigMaxResults,
    ConfigProjectOff,
    ConfigProjectRequired,
)
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.nova import options
from osc_traitsched.core.releases import release
from osc_traitsched.paste import Option, openstack
from osc_traitsched.text import listed, option
from osc_traitsched.views.check.wording import Words, off, word


@word.register
def _(finding: ConfigIgnored) -> Words:
    return Words(
        f"set ({finding.source}), and Nova {release(finding.release)} does not look "
        "at it",
        "take it out, or name the release by --nova-release",
    )


_RATIOS = "the allocation ratios of Placement's inventories do its work"
_BARE_METAL = "resource classes of bare metal nodes do its work"
_AMOUNTS = "Placement does its work"

#: What became of the filters that Nova does not have any more.
_SUCCESSORS = {
    "TrustedFilter": "traits can do its work",
    "TypeAffinityFilter": "nothing does its work",
    "ExactCoreFilter": _BARE_METAL,
    "ExactDiskFilter": _BARE_METAL,
    "ExactRamFilter": _BARE_METAL,
    "CoreFilter": _AMOUNTS,
    "DiskFilter": _AMOUNTS,
    "RamFilter": _AMOUNTS,
    "AggregateCoreFilter": _RATIOS,
    "AggregateDiskFilter": _RATIOS,
    "AggregateRamFilter": _RATIOS,
    "RetryFilter": "the alternate hosts that Nova chooses at once do its work",
}


@word.register
def _(finding: ConfigFilterGone) -> Words:
    return Words(
        f"Nova {release(finding.release)} has no {finding.filter}, and nova-scheduler "
        f"does not start ({finding.setting.source})",
        f"take it out of the list: {_SUCCESSORS[finding.filter]}",
    )


@word.register
def _(finding: ConfigMaxResults) -> Words:
    return Words(
        f"{finding.limit} ({finding.setting.source}), and there are "
        f"{finding.total} hosts: where more can take a request, the "
        "scheduler weighs a part of them only",
        f"set {option(finding.name)} to {finding.total} or more",
    )


@word.register
def _(finding: ConfigProjectOff) -> Words:
    return Words(
        f"{off(finding.setting)}, and no host filter looks at "
        f"{TENANT_KEY}: all projects get into "
        f"{listed(finding.aggregates, 'aggregate')}, and those named get anywhere",
        openstack("trait-sched config nova-conf", Option("--enable", "projects")),
    )


@word.register
def _(finding: ConfigProjectRequired) -> Words:
    return Words(
        f"on ({finding.setting.source}), and without effect as long as "
        f"{option(options.TENANT)} is off",
        openstack(
            "trait-sched config nova-conf", Option("--enable", "projects-required")
        ),
    )


@word.register
def _(finding: ConfigImageMetadataOff) -> Words:
    return Words(
        f"{off(finding.setting)}, and not every host has "
        f"{', '.join(finding.traits)}: servers of the "
        f"{listed(finding.images, 'image')} can land where their devices can't "
        "be made",
        openstack("trait-sched config nova-conf", Option("--enable", "image-metadata")),
    )


@word.register
def _(finding: ConfigImageMetadataNoTrait) -> Words:
    return Words(
        f"no trait stands for {finding.key}={finding.value}, so that "
        "image_metadata_prefilter looks at none of the image's properties",
        openstack("image unset", Option("--property", finding.key), finding.id),
    )
