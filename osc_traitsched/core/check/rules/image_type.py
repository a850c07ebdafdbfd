"""Rules on disk formats of images, and hosts that support them.

nova/scheduler/request_filter.py, ``require_image_type_support``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import (
    ERROR,
    NOTE,
    Fault,
    Finding,
    Severity,
    SubjectKind,
    Words,
)
from osc_traitsched.core.check.rule import Rule, rule
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import enable, off_by
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.paste import Command, Option, Placeholder
from osc_traitsched.text import listed, ranges

_ELSE = "; a server booted from a volume is not concerned"


@rule("image-type-no-host", SubjectKind.FORMAT, SubjectKind.IMAGE)
def no_host(analysis: Analysis) -> Iterator[Fault]:
    """*Error.* A format of images that no host supports.

    No server of these images finds a host unless it boots from a volume. With disks in
    Ceph, hosts support raw images but not qcow2. Convert the image: nova-compute
    removes such a trait if it is added by hand.
    """
    if not analysis.is_on(options.IMAGE_TYPE):
        return
    for each in _formats(analysis):
        if not each.hosts:
            files = Placeholder("FROM"), Placeholder("TO")
            formats = Option("-f", each.name), Option("-O", "raw")
            yield ERROR(
                each.name,
                f"no host has {each.trait.name}, so that none can take a server of the "
                f"{listed(each.titles, 'image')} with its disk on the host",
                Command("convert", (*formats, *files), program="qemu-img"),
                "convert the image to raw, or any other format that a host supports",
                images=each.titles,
            )


@rule("image-type-few-hosts", SubjectKind.FORMAT, SubjectKind.IMAGE)
def few_hosts(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* A format that some hosts lack, while the scheduler enforces formats.

    Servers land correctly, but hosts fill unevenly.
    """
    if not analysis.is_on(options.IMAGE_TYPE):
        return
    every = analysis.all_hosts
    for each in _formats(analysis):
        partial = each.hosts and each.hosts != every
        if partial and not _shut_out(analysis, each):
            lacking = analysis.host_names(every - each.hosts)
            yield NOTE(
                each.name,
                f"{len(lacking)} of {len(every)} hosts lack {each.trait.name} and are "
                f"left out for the {listed(each.titles, 'image')}: "
                f"{ranges(lacking, 'host')}",
                images=each.titles,
                hosts=lacking,
            )


@dataclasses.dataclass(frozen=True)
class ImageTypeFlavorNoHost(Finding):
    """A format that no host of some flavors supports, but other hosts do.

    Images that can change the flavor's CPUs or amounts are not judged.
    """

    rule = "image-type-flavor-no-host"
    severity = Severity.WARNING
    kind = SubjectKind.FORMAT
    name: str
    trait: str
    images: tuple[str, ...]
    flavors: tuple[str, ...]

    @property
    def due_to_images(self) -> tuple[str, ...]:
        """The images of the format."""
        return self.images

    def words(self) -> Words:
        return Words(
            f"no host that can take the {listed(self.flavors, 'flavor')} has "
            f"{self.trait}, which the {listed(self.images, 'image')} "
            f"asks for{_ELSE}",
            "offer the image in a format of those hosts, or do not combine the two",
        )


def flavor_no_host(analysis: Analysis) -> Iterator[ImageTypeFlavorNoHost]:
    """It affects only servers with their disk on the host."""
    if not analysis.is_on(options.IMAGE_TYPE):
        return
    for each in _formats(analysis):
        flavors = _shut_out(analysis, each)
        if each.hosts and flavors:
            yield ImageTypeFlavorNoHost(each.name, each.trait.name, each.plain, flavors)


@rule("image-type-off", SubjectKind.OPTION, SubjectKind.IMAGE)
def off(analysis: Analysis) -> Iterator[Fault]:
    """Formats that not all hosts support, while the scheduler ignores formats.

    An error if the option was supplied, else a warning. Servers can land on hosts that
    do not support their image. There they fail, or nova-compute converts every disk.
    """
    setting = analysis.setting(options.IMAGE_TYPE)
    if setting.value:
        return
    partial = [e for e in _formats(analysis) if e.hosts != analysis.all_hosts]
    if partial:
        supported = ", ".join(f"{each.name} by {len(each.hosts)}" for each in partial)
        images = tuple(title for each in partial for title in each.titles)
        yield Fault(
            Severity.ERROR if setting.given else Severity.WARNING,
            options.IMAGE_TYPE,
            f"{off_by(setting)}, and of {len(analysis.all_hosts)} hosts not all "
            f"support the formats in use: {supported}; servers of the "
            f"{listed(images, 'image')} can land on one that does not",
            enable("image-type", setting),
            images=images,
        )


@dataclasses.dataclass(frozen=True)
class _Format:
    """A disk format with a trait that this cloud knows.

    :ivar hosts: roots of the hosts that have the trait
    """

    name: str
    trait: RootTrait | Trait
    images: tuple[StandaloneRequest, ...]
    hosts: frozenset[str]

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(image.name for image in self.images)

    @property
    def plain(self) -> tuple[str, ...]:
        """Images that change nothing about a flavor's demand but traits."""
        return tuple(i.name for i in self.images if not i.shifts and not i.refusal)


def _formats(analysis: Analysis) -> list[_Format]:
    """The formats in use, by name; none without any host."""
    images: dict[str, list[StandaloneRequest]] = {}
    clauses = {}
    for image in analysis.images:
        known = analysis.survey.known_traits
        if image.format is not None and image.format.name in known:
            name = str(image.body.get("disk_format"))
            clauses[name] = image.format
            images.setdefault(name, []).append(image)
    if not analysis.all_hosts:
        return []
    return [
        _Format(
            name,
            clauses[name],
            tuple(images[name]),
            analysis.hosts.meeting([clauses[name]]),
        )
        for name in sorted(images)
    ]


def _shut_out(analysis: Analysis, each: _Format) -> tuple[str, ...]:
    """Flavors with hosts, but without a host that supports the format."""
    if not each.plain:
        return ()
    return tuple(
        flavor.name
        for flavor in analysis.flavors
        if flavor.requests
        and (able := analysis.hosts.matching_hosts(flavor.requests[0]))
        and able.isdisjoint(each.hosts)
    )


RULES = (
    no_host,
    few_hosts,
    Rule(ImageTypeFlavorNoHost, flavor_no_host, SubjectKind.FLAVOR),
    off,
)
