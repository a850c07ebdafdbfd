"""The words of the area config's rules."""

from __future__ import annotations

from collections.abc import Mapping

from osc_traitsched.core.check.finding import Finding
from osc_traitsched.core.inventory.snapshot import TENANT_KEY
from osc_traitsched.core.nova import options
from osc_traitsched.views.check.wording import Wording, Words, command, count, off
from osc_traitsched.views.options import option, release


def _ignored(finding: Finding) -> Words:
    nova = f"Nova {release(int(finding.text('release')))}"
    return Words(
        f"set ({finding.text('source')}), and {nova} does not look at it",
        "take it out, or name the release by --nova-release",
    )


def _max_results(finding: Finding) -> Words:
    return Words(
        f"{finding.text('limit')} ({finding.text('source')}), and there are "
        f"{finding.text('total')} hosts: where more can take a request, the "
        "scheduler weighs a part of them only",
        f"set {option(finding.name)} to {finding.text('total')} or more",
    )


def _tenant_off(finding: Finding) -> Words:
    aggregates = finding.names("aggregates")
    return Words(
        f"{off(finding)}, and no host filter looks at "
        f"{TENANT_KEY}: all projects get into {count(aggregates, 'aggregate')}, "
        "and those named get anywhere",
        command("trait-sched", "config", "nova-conf", "--enable", "tenant"),
    )


def _tenant_required(finding: Finding) -> Words:
    return Words(
        f"on ({finding.text('source')}), and without effect as long as "
        f"{option(options.TENANT)} is off",
        command("trait-sched", "config", "nova-conf", "--enable", "tenant-required"),
    )


def _image_metadata_off(finding: Finding) -> Words:
    return Words(
        f"{off(finding)}, and not every host has "
        f"{', '.join(finding.names('traits'))}: servers of the "
        f"{count(finding.names('images'), 'image')} can land where their devices can't "
        "be made",
        command("trait-sched", "config", "nova-conf", "--enable", "image-metadata"),
    )


def _image_metadata_untold(finding: Finding) -> Words:
    key = finding.text("pair").partition("=")[0]
    return Words(
        f"no trait stands for {finding.text('pair')}, so that image_metadata_prefilter "
        "looks at none of the image's properties",
        command("image", "unset", "--property", key, finding.text("id")),
    )


WORDS: Mapping[str, Wording] = {
    "config-ignored": _ignored,
    "config-max-results": _max_results,
    "config-tenant-off": _tenant_off,
    "config-tenant-required": _tenant_required,
    "config-image-metadata-off": _image_metadata_off,
    "config-image-metadata-untold": _image_metadata_untold,
}
