"""Requests as explain suggests to make them instead, in words."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from tests.cloud.factory import factory
from tests.cloud.scenario import FLAVORS, IMAGES, Asked, Scenario

_SIZES = {"VCPU": "vcpus", "MB": "ram", "GB": "disk"}
_SIZE = re.compile(r"(?:with )?(\d+) (VCPU|MB|GB)")


@dataclasses.dataclass(frozen=True)
class _Entry:
    """What a request comes to: a flavor's properties and size, an image, a zone."""

    properties: dict[str, Any]
    size: dict[str, int]
    image: dict[str, Any]
    zone: str | None

    def sized(self, sizes: str) -> _Entry:
        found = {_SIZES[unit]: int(amount) for amount, unit in _SIZE.findall(sizes)}
        return dataclasses.replace(self, size={**self.size, **found})

    def in_format(self, disk_format: str) -> _Entry:
        image = {**self.image, "disk_format": disk_format}
        return dataclasses.replace(self, image=image)

    def in_zone(self, zone: str) -> _Entry:
        return dataclasses.replace(self, zone=zone)

    def without(self, what: str, key: str) -> _Entry:
        found = self.properties if what == "flavor" else self.image
        return self._with(what, {k: v for k, v in found.items() if k != key})

    def having(self, what: str, key: str, value: str) -> _Entry:
        found = self.properties if what == "flavor" else self.image
        return self._with(what, {**found, key: value})

    def copied(self, what: str, changes: str) -> _Entry:
        entry = self
        for change in changes.split(", "):
            verb, _, key = change.partition(" ")
            if _SIZE.fullmatch(change):
                entry = entry.sized(change)
            elif verb == "without":
                entry = entry.without(what, key)
            else:
                entry = entry.having(what, *key.split("=", 1))
        return entry

    def _with(self, what: str, properties: dict[str, Any]) -> _Entry:
        name = "properties" if what == "flavor" else "image"
        return dataclasses.replace(self, **{name: properties})


_TEXTS = (
    ("size", r"a flavor (with .*)", _Entry.sized),
    ("format", r"an image in the format (\w+)", _Entry.in_format),
    ("zone", r"ask for availability zone (\S+)", _Entry.in_zone),
    ("property", r"a copy of (flavor|image) \S+ (.*)", _Entry.copied),
)


@contextlib.contextmanager
def asked(scenario: Scenario, before: Asked, text: str) -> Iterator[Asked]:
    """Yield the request as a fix's text wants it; what it needs is there meanwhile."""
    properties, size = FLAVORS[before.flavor]
    entry = _Entry(properties, size, IMAGES[before.image], before.zone)
    for part in _parts(text):
        _, found, change = _meaning(part)
        entry = change(entry, *found.groups())
    flavor, image = before.flavor, before.image
    with factory(scenario.maker.admin) as make:
        if (entry.properties, entry.size) != FLAVORS[before.flavor]:
            flavor = "wished-for"
            scenario.flavors[flavor] = make.flavor(
                flavor, entry.properties, **entry.size
            )
        if entry.image != IMAGES[before.image]:
            image = "wished-for"
            scenario.images[image] = make.image(image, **entry.image)
        yield dataclasses.replace(before, flavor=flavor, image=image, zone=entry.zone)


def kinds(text: str) -> list[str]:
    """Return what a text wants to be another: size, format, zone or property."""
    return [f"another {_meaning(part)[0]}" for part in _parts(text)]


def _parts(text: str) -> list[str]:
    return text.split(" and ")


def _meaning(part: str) -> Any:
    found = ((kind, re.fullmatch(text, part), does) for kind, text, does in _TEXTS)
    (meant,) = (each for each in found if each[1])
    return meant
