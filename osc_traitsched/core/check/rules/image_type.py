"""Rules on disk formats of images, and the hosts that can read them.

nova/scheduler/request_filter.py, ``require_image_type_support``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.demand import Demand
from osc_traitsched.core.check.finding import Datum, Finding, Rule, Severity
from osc_traitsched.core.check.study import Study
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait, Trait


@dataclasses.dataclass(frozen=True)
class _Format:
    """A disk format that has a trait which this cloud knows.

    :ivar hosts: the roots of the hosts that have the trait
    """

    name: str
    trait: RootTrait | Trait
    images: tuple[Demand, ...]
    hosts: frozenset[str]

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(image.name for image in self.images)


def no_host(study: Study) -> Iterator[Finding]:
    """Find formats of images that no host supports."""
    if not study.is_on(options.IMAGE_TYPE):
        return
    for each in _formats(study):
        if not each.hosts:
            data: dict[str, Datum] = {"trait": each.trait.name, "images": each.titles}
            yield Finding(
                "image-type-no-host", Severity.ERROR, "format", each.name, data
            )


def few_hosts(study: Study) -> Iterator[Finding]:
    """Find formats that some hosts do not support, and which the scheduler minds.

    Not those that leave a flavor no host, which is worse.
    """
    if not study.is_on(options.IMAGE_TYPE):
        return
    for each in _formats(study):
        partial = each.hosts and each.hosts != study.all_hosts
        if partial and not _shut_out(study, each):
            data: dict[str, Datum] = {
                "trait": each.trait.name,
                "images": each.titles,
                "hosts": study.named(study.all_hosts - each.hosts),
                "total": len(study.all_hosts),
            }
            yield Finding(
                "image-type-few-hosts", Severity.NOTE, "format", each.name, data
            )


def flavor_no_host(study: Study) -> Iterator[Finding]:
    """Find flavors whose hosts do not support a format that others do.

    It is about servers whose disk is on the host.
    """
    if not study.is_on(options.IMAGE_TYPE):
        return
    for each in _formats(study):
        flavors = _shut_out(study, each)
        if each.hosts and flavors:
            data: dict[str, Datum] = {
                "trait": each.trait.name,
                "images": _plain(each),
                "flavors": flavors,
            }
            yield Finding(
                "image-type-flavor-no-host",
                Severity.WARNING,
                "format",
                each.name,
                data,
            )


def _shut_out(study: Study, each: _Format) -> tuple[str, ...]:
    """Return the flavors that hosts could take, and none that has the format."""
    if not _plain(each):
        return ()
    return tuple(
        flavor.name
        for flavor in study.of_flavors
        if flavor.requests
        and (able := study.hosts.matching_hosts(flavor.requests[0]))
        and able.isdisjoint(each.hosts)
    )


def _plain(each: _Format) -> tuple[str, ...]:
    """Return the images that ask for no more than a flavor by itself, but traits."""
    return tuple(i.name for i in each.images if not i.shifts and not i.refusal)


def off(study: Study) -> Iterator[Finding]:
    """Find that formats are not looked at though not every host supports all."""
    option = options.IMAGE_TYPE
    if study.is_on(option):
        return
    partial = [each for each in _formats(study) if each.hosts != study.all_hosts]
    if not partial:
        return
    data: dict[str, Datum] = {
        "formats": tuple(each.name for each in partial),
        "supports": tuple(str(len(each.hosts)) for each in partial),
        "total": len(study.all_hosts),
        "images": tuple(title for each in partial for title in each.titles),
        **study.told(option),
    }
    severity = Severity.ERROR if study.is_given(option) else Severity.WARNING
    yield Finding("image-type-off", severity, "option", option, data)


def _formats(study: Study) -> list[_Format]:
    """Return the formats in use, by name; none where there is no host at all."""
    images: dict[str, list[Demand]] = {}
    clauses = {}
    for image in study.of_images:
        if image.format is not None and image.format.name in study.known_traits:
            name = str(image.body.get("disk_format"))
            clauses[name] = image.format
            images.setdefault(name, []).append(image)
    if not study.all_hosts:
        return []
    return [
        _Format(
            name,
            clauses[name],
            tuple(images[name]),
            study.hosts.meeting([clauses[name]]),
        )
        for name in sorted(images)
    ]


RULES: tuple[Rule, ...] = (
    Rule("image-type-no-host", "image-type", no_host, "images"),
    Rule("image-type-few-hosts", "image-type", few_hosts, "images"),
    Rule("image-type-flavor-no-host", "image-type", flavor_no_host, "flavors"),
    Rule("image-type-off", "image-type", off, "images"),
)
