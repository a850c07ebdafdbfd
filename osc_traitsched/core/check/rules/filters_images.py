"""Rules on AggregateImagePropertiesIsolation: keys and values that it can't compare.

nova/scheduler/filters/aggregate_image_properties_isolation.py
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.check.analysis import IMAGE_ISOLATION, Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.words import aggregate_set
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.filter.aggregates import compared_start
from osc_traitsched.core.nova.question import NO_PROPERTIES
from osc_traitsched.core.nova.server import image
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.text import listed, quoted


@dataclasses.dataclass(frozen=True)
class FiltersNamespace(Finding):
    """A namespace by which the filter compares nothing at all.

    :ivar keys: those of aggregates that begin with it
    """

    rule = "filters-namespace"
    severity = Severity.ERROR
    kind = Kind.OPTION
    name = options.IMAGE_NAMESPACE
    namespace: str
    aggregates: tuple[str, ...]
    keys: tuple[str, ...]
    setting: Setting

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        return Words(
            f"{quoted(self.namespace)} begins no property of an image that Nova knows "
            f"({self.setting.source}): {IMAGE_ISOLATION} compares nothing, and "
            f"{listed(self.keys)} of {listed(self.aggregates, 'aggregate')} keeps no "
            "image out",
            f"take the option out, and {self.namespace} off the keys; Nova compares "
            "its own properties only",
        )


def namespace(analysis: Analysis) -> Iterator[FiltersNamespace]:
    """Find a namespace that aggregates' keys have, so that none of them is compared.

    No property of Nova's own begins with one, and others are not looked up.
    """
    start = compared_start(analysis.survey.assumptions)
    if not analysis.filtering.is_on(IMAGE_ISOLATION) or not start:
        return
    named = [
        (aggregate.name, key)
        for aggregate in analysis.survey.nova.aggregates
        for key in aggregate.metadata
        if key.startswith(start)
    ]
    if named:
        setting = analysis.setting(options.IMAGE_NAMESPACE)
        aggregates, keys = (tuple(sorted(set(each))) for each in zip(*named))
        yield FiltersNamespace(start, aggregates, keys, setting)


@dataclasses.dataclass(frozen=True)
class FiltersImageKey(Finding):
    """An aggregate's key that images have, and that the filter does not compare.

    :ivar id: the aggregate's
    :ivar key: of its metadata, with its value
    :ivar current: what Nova calls the property now; empty for a custom one
    """

    rule = "filters-image-key"
    severity = Severity.WARNING
    kind = Kind.AGGREGATE
    name: str
    id: int
    key: str
    value: str
    current: str
    images: tuple[str, ...]

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        having = listed(self.images, "image")
        if self.current:
            return Words(
                f"{self.key} is the old name of {self.current}, and "
                f"{IMAGE_ISOLATION} does not compare it, whatever {having} has",
                aggregate_set(self.id, f"{self.current}={self.value}"),
                f"name the property by its name of today, and take {self.key} off",
            )
        return Words(
            f"{self.key} is a property that Nova does not know, and {IMAGE_ISOLATION} "
            f"does not compare it, whatever {having} has",
            "isolate the aggregate by a trait that the images require: "
            "openstack trait-sched isolate",
        )


def image_key(analysis: Analysis) -> Iterator[FiltersImageKey]:
    """Find keys under which Nova keeps no property of an image: a custom or an old one.

    Those of Glance's own are not meant, nor traits, which isolate an aggregate.
    """
    release = analysis.survey.assumptions.release
    for aggregate, key, value in _compared(analysis):
        if image.is_property(key, release) or key.startswith("trait:"):
            continue
        if key in NO_PROPERTIES:
            continue
        current = image.current_name(key)
        having = tuple(
            each.name
            for each in analysis.images
            if key in each.body or (current and current in each.body)
        )
        if having:
            yield FiltersImageKey(
                aggregate.name, aggregate.id, key, value, current or "", having
            )


@dataclasses.dataclass(frozen=True)
class FiltersImageValue(Finding):
    """A value that no image's property can equal, as the filter compares it.

    :ivar id: the aggregate's
    :ivar key: of its metadata, with its value, which can be a list
    :ivar odd: the one that can't be
    :ivar meant: how Nova writes what it stands for
    """

    rule = "filters-image-value"
    severity = Severity.ERROR
    kind = Kind.AGGREGATE
    name: str
    id: int
    key: str
    value: str
    odd: str
    meant: str

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        values = [each.strip() for each in self.value.split(",")]
        mended = (self.meant if each == self.odd else each for each in values)
        return Words(
            f"{self.key}={self.value}: {IMAGE_ISOLATION} compares {self.meant}, "
            f"and {self.odd} equals no image's property: images that have it are kept "
            "out",
            aggregate_set(self.id, f"{self.key}={','.join(mended)}"),
        )


def image_value(analysis: Analysis) -> Iterator[FiltersImageValue]:
    """Find values that are written as no property of an image is.

    A property is compared as Python writes it: ``True``, and ``x86_64`` for ``amd64``.
    """
    release = analysis.survey.assumptions.release
    for aggregate, key, value in _compared(analysis):
        values = [each.strip() for each in value.split(",")]
        for odd in values:
            meant = image.as_written(key, odd, release)
            if meant not in (None, *values):
                yield FiltersImageValue(
                    aggregate.name, aggregate.id, key, value, odd, meant or ""
                )


def _compared(analysis: Analysis) -> Iterator[tuple[Aggregate, str, str]]:
    """Yield the keys that may be for the filter, if it is on and compares any."""
    filtering = analysis.filtering
    is_off = not filtering.is_on(IMAGE_ISOLATION)
    if is_off or compared_start(analysis.survey.assumptions):
        return
    for aggregate in sorted(analysis.survey.nova.aggregates, key=lambda a: a.name):
        for key, value in sorted(aggregate.metadata.items()):
            if key not in filtering.keys_of_flavors:
                yield aggregate, key, value
