"""Surveys of clouds that are made by hand, for rules to be run on."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from osc_traitsched.core import check
from osc_traitsched.core.check.finding import Finding
from osc_traitsched.core.check.survey import Survey
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.nova.settings import SchedulerSettings, Setting
from osc_traitsched.core.placement.facts import Stock

#: What nova-compute gives each host, as far as rules look at it.
OWN = frozenset({"COMPUTE_NODE", "COMPUTE_IMAGE_TYPE_RAW", "COMPUTE_IMAGE_TYPE_QCOW2"})
#: The resource classes that every Placement knows, as far as tests name them.
CLASSES = frozenset({"VCPU", "PCPU", "MEMORY_MB", "DISK_GB", "MEM_ENCRYPTION_CONTEXT"})
_SIZE = {"VCPU": 16, "MEMORY_MB": 8192, "DISK_GB": 100}


@dataclasses.dataclass(frozen=True)
class Host:
    """A compute node: a provider with these traits besides its own.

    :ivar lacks: of its own traits
    :ivar size: by class; None for one that is full, so that no answer shows it
    :ivar children: traits and sizes of nested providers, by their names
    """

    name: str
    traits: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    size: Mapping[str, int] | None = dataclasses.field(default_factory=lambda: _SIZE)
    children: Mapping[str, tuple[frozenset[str], Mapping[str, int]]] = (
        dataclasses.field(default_factory=dict)
    )


def host(name: str, *traits: str, **more: Any) -> Host:
    """Return a host of 16 VCPU, 8,192 MB and 100 GB."""
    return Host(name, frozenset(traits), **more)


def flavor(name: str, _size: Mapping[str, int] | None = None, **specs: str) -> Any:
    """Return a flavor of 1 VCPU, 512 MB and 1 GB; ``trait__X`` is ``trait:X``."""
    size = {"vcpus": 1, "ram": 512, "disk": 1, **(_size or {})}
    return {"id": identity(name), "name": name, **size, "extra_specs": keys(specs)}


def image(name: str, disk_format: str = "raw", **properties: str) -> Any:
    """Return an image; ``trait__X`` is ``trait:X``."""
    own = {"id": identity(name), "name": name, "disk_format": disk_format}
    return {**own, "status": "active", **keys(properties)}


def aggregate(name: str, *hosts: str, **metadata: str) -> Aggregate:
    """Return a host aggregate; ``trait__X`` is ``trait:X``."""
    made = str(len(name)), identity(name), name, hosts, keys(metadata)
    return Aggregate(*made)


def keys(given: Mapping[str, str]) -> dict[str, str]:
    """Return keys with the colons that Python does not take."""
    return {key.replace("__", ":"): value for key, value in given.items()}


def identity(name: str) -> str:
    """Return the UUID of a thing, always the same for its name."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


def assumed(release: int = 33, given: bool = True, **options: Any) -> SchedulerSettings:
    """Return assumptions with options of [scheduler] that somebody gave."""
    settings = {
        f"scheduler.{name}": Setting(value, "nova.conf:1", given)
        for name, value in options.items()
    }
    return SchedulerSettings(release, settings, "given")


def survey(
    hosts: Iterable[Host],
    flavors: Iterable[Any] = (),
    images: Iterable[Any] = (),
    aggregates: Iterable[Aggregate] = (),
    known: Iterable[str] = (),
    **more: Any,
) -> Survey:
    """Return a survey; Placement has all in the aggregates that Nova has.

    :param known: traits that Placement knows though nobody has them
    """
    hosts, aggregates = tuple(hosts), tuple(aggregates)
    computes = tuple(Compute(identity(h.name), h.name, h.name) for h in hosts)
    nova = Nova(computes, aggregates)
    traits = {identity(h.name): (OWN | h.traits) - h.lacks for h in hosts}
    sizes = {identity(h.name): h.size for h in hosts if h.size is not None}
    providers = [Provider(c.uuid, c.node, 1, c.uuid) for c in computes]
    for each in hosts:
        root = identity(each.name)
        for name, (own, size) in each.children.items():
            providers.append(Provider(identity(name), name, 1, root, root))
            traits[identity(name)], sizes[identity(name)] = own, size
    fields = {
        "snapshot": Snapshot(tuple(providers)).with_nova(nova),
        "assumptions": assumed(),
        "flavors": tuple(flavors),
        "images": tuple(images),
        "traits": traits,
        "known_traits": OWN.union(known, *traits.values()),
        "known_classes": CLASSES.union(*(s for s in sizes.values())),
        "members": dict(nova.members),
        "stock": {
            uuid: {name: Stock(amount, 0) for name, amount in size.items()}
            for uuid, size in sizes.items()
        },
        **more,
    }
    return Survey(**fields)


def findings(of: Survey, *rules: str) -> list[Finding]:
    """What the rules find; all of them, pedantic ones too, if none is named."""
    return list(check.run(check.select(rules, pedantic=True), of)[0])


def ids(of: Survey, *rules: str) -> list[str]:
    """Return the IDs of the rules that find something, once for each finding."""
    return [finding.rule for finding in findings(of, *rules)]
