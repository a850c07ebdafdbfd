"""Rules on images that no flavor boots, and on device profiles that are missing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from osc_traitsched.core.check.analysis import Analysis, decisive, titles
from osc_traitsched.core.check.finding import (
    ERROR,
    NOTE,
    WARNING,
    Fault,
    Severity,
    SubjectKind,
)
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import enable, off_by
from osc_traitsched.core.errors import Refusal, nova
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.server.attachments import PROFILE
from osc_traitsched.core.nova.server.image import public_or_own_images
from osc_traitsched.paste import Command, Option, Placeholder, openstack
from osc_traitsched.text import listed, ranges

_GB = 1024**3
_PLAIN: Body = {"disk_format": "raw"}


@rule("images-not-active", SubjectKind.IMAGE)
def not_active(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* An image that is queued, deactivated or killed.

    Nova rejects every new server of it. A queued image has no data yet. Images that
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
        problem = f"{status}: Nova rejects every new server of it"
        if status == "deactivated":
            fix = openstack("image set", Option("--activate"), identity)
            yield WARNING(name, problem, fix, "if it may be used")
        elif status in ("queued", "killed"):
            yield WARNING(name, problem, "upload its data, or delete it")


@rule("images-no-flavor", SubjectKind.IMAGE)
def no_flavor(analysis: Analysis) -> Iterator[Fault]:
    """An image that Nova rejects with every flavor.

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
                f"Nova rejects every server of it{volume}, whatever the flavor: "
                f"{nova.wrong(refusal)}",
                f"add a flavor that fits, or correct the image: {nova.right(refusal)}",
            )


def _sizes(image: Body) -> tuple[int, int, int]:
    """MB of memory, GB of disk, and GB of the image's data."""
    size = int(image.get("size") or 0)
    return image.get("min_ram") or 0, image.get("min_disk") or 0, -(-size // _GB)


def _refused(
    analysis: Analysis, image: StandaloneRequest, flavors: list[Body]
) -> tuple[Severity, Refusal] | None:
    """None, too, if Nova rejects it without its sizes: traits-rejected reports that."""
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
    try:
        analysis.builder.request(flavor, decisive(image))
    except Refusal:
        return False
    return True


@rule("resources-no-profile", SubjectKind.FLAVOR)
def no_profile(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A flavor whose device profile Cyborg does not have.

    nova-api rejects every server of it. Without Cyborg it rejects all device profiles.
    """
    missing = analysis.survey.missing_profiles
    for flavor in analysis.flavors:
        name = flavor.specs.get(PROFILE, "")
        if name in missing:
            yield ERROR(
                flavor.name,
                f"{PROFILE}={name}: {missing[name]}, and Nova rejects every server",
                f"create the profile in Cyborg, or correct {PROFILE}",
            )


RULES = (not_active, no_flavor)
PROFILE_RULES = (no_profile,)


# Rules on disk formats of images, and hosts that support them.


@rule("image-type-no-host", SubjectKind.FORMAT, SubjectKind.IMAGE)
def no_host(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A format of images that no host supports.

    No server of these images finds a host unless it boots from a volume. With disks in
    Ceph, hosts support raw images but not qcow2. Convert the image: nova-compute
    removes such a trait if it is added by hand.
    """
    files = Placeholder("FROM"), Placeholder("TO")
    for image_format in _enforced(analysis):
        if not image_format.hosts:
            formats = Option("-f", image_format.name), Option("-O", "raw")
            yield ERROR(
                image_format.name,
                f"no host has {image_format.trait}, so that none can take a server of "
                f"the {listed(image_format.images, 'image')} with its disk on the host",
                Command("convert", (*formats, *files), program="qemu-img"),
                "convert the image to raw, or any other format that a host supports",
                images=image_format.images,
            )


@rule("image-type-few-hosts", SubjectKind.FORMAT, SubjectKind.IMAGE)
def few_hosts(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* A format that some hosts lack, while the scheduler enforces formats.

    Servers land correctly, but hosts fill unevenly.
    """
    # Formats that leave a flavor without a host have a rule of their own.
    for image_format in _enforced(analysis):
        every = analysis.all_hosts
        partial = image_format.hosts and image_format.hosts != every
        if partial and not _shut_out(analysis, image_format):
            hosts = analysis.host_names(every - image_format.hosts)
            yield NOTE(
                image_format.name,
                f"{len(hosts)} of {len(every)} hosts lack {image_format.trait} "
                f"and are left out for the {listed(image_format.images, 'image')}: "
                f"{ranges(hosts, 'host')}",
                images=image_format.images,
                hosts=hosts,
            )


@rule("image-type-flavor-no-host", SubjectKind.FORMAT, SubjectKind.FLAVOR)
def flavor_no_host(analysis: Analysis) -> Iterator[Fault]:
    """*Warning.* A format that no host of some flavors supports, but other hosts do.

    Images that can change the flavor's CPUs or amounts are not judged.
    """
    for image_format in _enforced(analysis):
        flavors = _shut_out(analysis, image_format)
        if image_format.hosts and flavors:
            yield WARNING(
                image_format.name,
                f"no host that can take the {listed(flavors, 'flavor')} has "
                f"{image_format.trait}, which the "
                f"{listed(image_format.plain, 'image')} asks for; a server booted from "
                "a volume is not concerned",
                "offer the image in a format of those hosts, or do not combine the two",
                flavors=flavors,
                images=image_format.plain,
            )


@rule("image-type-off", SubjectKind.OPTION, SubjectKind.IMAGE)
def off(analysis: Analysis) -> Iterator[Fault]:
    """Formats that not all hosts support, while the scheduler ignores formats.

    An error if the option was supplied, else a warning. Servers can land on hosts that
    do not support their image. There they fail, or nova-compute converts every disk.
    """
    setting = analysis.setting(options.IMAGE_TYPE)
    if setting.value:
        return
    every = analysis.all_hosts
    partial = [each for each in _formats(analysis) if each.hosts != every]
    if partial:
        images = tuple(name for each in partial for name in each.images)
        supported = ", ".join(f"{each.name} by {len(each.hosts)}" for each in partial)
        yield Fault(
            Severity.ERROR if setting.given else Severity.WARNING,
            options.IMAGE_TYPE,
            f"{off_by(setting)}, and of {len(every)} hosts not all support the formats "
            f"in use: {supported}; servers of the {listed(images, 'image')} can land "
            "on one that does not",
            enable(options.IMAGE_TYPE, setting),
            images=images,
        )


class _Format(NamedTuple):
    """A disk format with a trait that this cloud knows.

    :ivar plain: names of images that change nothing about a flavor's demand but traits
    :ivar hosts: roots of the hosts that have the trait
    """

    name: str
    trait: str
    images: tuple[str, ...]
    plain: tuple[str, ...]
    hosts: frozenset[str]


def _enforced(analysis: Analysis) -> Iterator[_Format]:
    return _formats(analysis) if analysis.is_on(options.IMAGE_TYPE) else iter(())


def _formats(analysis: Analysis) -> Iterator[_Format]:
    known, clauses = analysis.survey.known_traits, {}
    images: dict[str, list[StandaloneRequest]] = {}
    for image in analysis.images:
        if image.format is not None and image.format.name in known:
            name = str(image.body.get("disk_format"))
            clauses[name] = image.format
            images.setdefault(name, []).append(image)
    for name in sorted(images) if analysis.all_hosts else ():
        yield _Format(
            name,
            clauses[name].name,
            tuple(image.name for image in images[name]),
            tuple(i.name for i in images[name] if not i.shifts and not i.refusal),
            analysis.hosts.meeting([clauses[name]]),
        )


def _shut_out(analysis: Analysis, image_format: _Format) -> tuple[str, ...]:
    return tuple(
        flavor.name
        for flavor in (analysis.flavors if image_format.plain else ())
        if flavor.requests
        and (able := analysis.hosts.matching_hosts(flavor.requests[0]))
        and able.isdisjoint(image_format.hosts)
    )


TYPE_RULES = (no_host, few_hosts, flavor_no_host, off)
