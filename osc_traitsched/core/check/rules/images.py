"""Rules on images that no flavor boots, and on device profiles that are missing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.builder import decisive, titles
from osc_traitsched.core.check.finding import (
    ERROR,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
)
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.errors import Refusal, nova
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.server.attachments import PROFILE
from osc_traitsched.core.nova.server.image import public_or_own_images
from osc_traitsched.paste import Option, openstack

_GB = 1024**3
_PLAIN: Body = {"disk_format": "raw"}


@rule("images-not-active", SubjectKind.IMAGE)
def not_active(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An image that is queued, deactivated or killed.

    Nova refuses every new server of it. A queued image has no data yet. Images that
    are being uploaded, those of other projects and snapshots of servers are not
    reported.
    """
    survey = analysis.survey
    for body, name in titles(
        public_or_own_images(survey.idle_images, survey.own_project)
    ):
        if "instance_uuid" in body or body.get("image_type") == "snapshot":
            # A shelved server may need it.
            continue
        status, identity = body["status"], body["id"]
        problem = f"{status}: Nova refuses every new server of it"
        if status == "deactivated":
            fix = openstack("image set", Option("--activate"), identity)
            yield WARNING(name, problem, fix, "if it may be used")
        elif status in ("queued", "killed"):
            yield WARNING(name, problem, "upload its data, or delete it")


@rule("images-no-flavor", SubjectKind.IMAGE)
def no_flavor(analysis: Analysis) -> Iterator[Fault]:
    """An image that Nova refuses with every flavor.

    An error; a warning if the cloud has Cinder, and servers boot from a volume of the
    image. ``min_ram`` or ``min_disk`` is above every flavor, or its properties fit the
    CPUs, NUMA nodes or page sizes of none.
    """
    flavors = {
        repr(sorted(flavor.body.items(), key=str)): flavor.body
        for flavor in sorted(analysis.flavors, key=lambda each: each.body["ram"])
        if flavor.refusal is None and _accepts(analysis, flavor.body, _PLAIN)
    }
    largest_first = list(flavors.values())[::-1]
    judged: dict[str, tuple[Severity, Refusal] | None] = {}
    for image in analysis.images if largest_first else ():
        kind = repr((decisive(image.body), *_sizes(image.body)))
        if kind not in judged:
            judged[kind] = _refused(analysis, image, largest_first)
        if verdict := judged[kind]:
            severity, refusal = verdict
            volume = " with its disk on the host" * (severity is Severity.WARNING)
            yield Fault(
                severity,
                image.name,
                f"Nova refuses every server of it{volume}, whatever the flavor: "
                f"{nova.wrong(refusal)}",
                f"add a flavor that fits, or correct the image: {nova.right(refusal)}",
            )


def _sizes(image: Body) -> tuple[int, int, int]:
    """What an image needs of a flavor: MB of memory, GB of disk, GB of its data."""
    size = int(image.get("size") or 0)
    return image.get("min_ram") or 0, image.get("min_disk") or 0, -(-size // _GB)


def _refused(
    analysis: Analysis, image: StandaloneRequest, flavors: list[Body]
) -> tuple[Severity, Refusal] | None:
    """Why Nova refuses an image with all flavors; None if it accepts one.

    None, too, if it refuses the image without its sizes: traits-refused reports that.
    """
    settings = analysis.survey.assumptions
    refusals: list[Refusal] = []
    boots_from_volume = False
    for from_volume, flavor in itertools.product((False, True), flavors):
        spec = ServerSpec(boot_from_volume=from_volume)
        try:
            Question(flavor, image.body, (), settings, spec).request()
        except Refusal as refusal:
            refusals.append(refusal)
        else:
            if not from_volume:
                return None
            boots_from_volume = True
            break
    alone = image.refusal
    if alone and not any(_accepts(analysis, each, image.body) for each in flavors):
        return None
    is_warning = boots_from_volume and analysis.survey.has_volumes
    return (Severity.WARNING if is_warning else Severity.ERROR), refusals[0]


def _accepts(analysis: Analysis, flavor: Body, image: Body) -> bool:
    """Whether Nova accepts an image without its sizes."""
    try:
        analysis.builder.request(flavor, decisive(image))
    except Refusal:
        return False
    return True


@rule("resources-no-profile", SubjectKind.FLAVOR)
def no_profile(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor whose device profile Cyborg does not have.

    nova-api refuses every server of it. Without Cyborg it refuses all device profiles.
    """
    missing = analysis.survey.missing_profiles
    for flavor in analysis.flavors:
        name = flavor.specs.get(PROFILE, "")
        if name in missing:
            yield ERROR(
                flavor.name,
                f"{PROFILE}={name}: {missing[name]}, and Nova refuses every server",
                f"create the profile in Cyborg, or correct {PROFILE}",
            )


RULES = (not_active, no_flavor)
PROFILE_RULES = (no_profile,)
