"""Rules on disk formats of images, and hosts that support them.

nova/scheduler/request_filter.py, ``require_image_type_support``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from osc_traitsched.core.check.analysis import Analysis
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
from osc_traitsched.core.nova import options
from osc_traitsched.paste import Command, Option, Placeholder
from osc_traitsched.text import listed, ranges


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

    :ivar images: their names
    :ivar plain: names of images that change nothing about a flavor's demand but traits
    :ivar hosts: roots of the hosts that have the trait
    """

    name: str
    trait: str
    images: tuple[str, ...]
    plain: tuple[str, ...]
    hosts: frozenset[str]


def _enforced(analysis: Analysis) -> Iterator[_Format]:
    """The formats in use, while the scheduler enforces formats."""
    return _formats(analysis) if analysis.is_on(options.IMAGE_TYPE) else iter(())


def _formats(analysis: Analysis) -> Iterator[_Format]:
    """The formats in use, by name; none without any host."""
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
    """Flavors with hosts, but without a host that supports the format."""
    return tuple(
        flavor.name
        for flavor in (analysis.flavors if image_format.plain else ())
        if flavor.requests
        and (able := analysis.hosts.matching_hosts(flavor.requests[0]))
        and able.isdisjoint(image_format.hosts)
    )


RULES = (no_host, few_hosts, flavor_no_host, off)
