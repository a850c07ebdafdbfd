"""Surveys of clouds that are made by hand, for rules to be run on."""

from __future__ import annotations

import dataclasses
import itertools
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from osc_traitsched.core import check
from osc_traitsched.core.check.survey import Finding, Survey
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Compute,
    Nova,
    Provider,
    Snapshot,
)
from osc_traitsched.core.nova.options import SchedulerSettings, Setting
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.views import check as words

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


def described(text: str) -> Iterator[tuple[str, list[str], dict[str, str]]]:
    """Yield name, single words and pairs of things that are divided by semicolons."""
    for thing in text.split(";"):
        name, *words = thing.split()
        pairs = dict(word.split("=", 1) for word in words if "=" in word)
        yield name, [word for word in words if "=" not in word], pairs


def _numbers(pairs: dict[str, str], *keys: str) -> dict[str, int]:
    """Take these keys out of pairs, and return their values."""
    return {key: int(pairs.pop(key)) for key in keys if key in pairs}


def _host(name: str, words: list[str], pairs: dict[str, str]) -> Host:
    size = _numbers(pairs, *pairs)
    traits = {word for word in words if word[0] not in "-?"}
    lacks = frozenset(word[1:] for word in words if word[0] == "-")
    sizes = {"size": None} if "?" in words else {"size": size} if size else {}
    return host(name, *traits, lacks=lacks, **sizes)


def _flavor(name: str, _: list[str], pairs: dict[str, str]) -> Any:
    size = _numbers(pairs, "vcpus", "ram", "disk")
    return flavor(name, size, **pairs)


def _image(name: str, words: list[str], pairs: dict[str, str]) -> Any:
    own = _numbers(pairs, "min_ram", "min_disk")
    return {**image(name, *words, **pairs), **own}


def _aggregate(name: str, hosts: list[str], metadata: dict[str, str]) -> Aggregate:
    return aggregate(name, *hosts, **metadata)


def things(given: str | Iterable[Any], make: Callable[..., Any]) -> tuple[Any, ...]:
    """Return things, which may be given as text such as ``a CUSTOM_GOLD; b``."""
    if isinstance(given, str):
        return tuple(make(*thing) for thing in described(given))
    return tuple(given)


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
    hosts: str | Iterable[Host],
    flavors: str | Iterable[Any] = (),
    images: str | Iterable[Any] = (),
    aggregates: str | Iterable[Aggregate] = (),
    known: Iterable[str] = (),
    **more: Any,
) -> Survey:
    """Return a survey; Placement has all in the aggregates that Nova has.

    All may be text: hosts ``a CUSTOM_GOLD; b -COMPUTE_NODE VCPU=8; full ?`` (without a
    trait, of a size, of no known size), flavors ``f ram=512 hw:cpu_policy=shared``,
    images ``i qcow2 min_ram=512``, aggregates ``gold a b trait:CUSTOM_GOLD=required``.

    :param known: traits that Placement knows though nobody has them
    """
    hosts, aggregates = things(hosts, _host), things(aggregates, _aggregate)
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
        "flavors": things(flavors, _flavor),
        "images": things(images, _image),
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


def told(of: Survey, *rules: str) -> list[str]:
    """Return each finding as ``severity rule object (affected): problem -> fix``."""
    found = findings(of, *rules)
    return [
        f"{severity} {rule} {subject}"
        + (f" ({', '.join(finding.affected)})" if finding.affected else "")
        + f": {problem}"
        + (f" -> {fix}" if fix else "")
        for finding, row in zip(found, words.rows(found)[1])
        for rule, severity, subject, problem, fix in [row]
    ]


def assert_told(expected: str, surveys: Any) -> None:
    """Assert findings, one a line, in which ``...`` stands for any text.

    :param expected: after ``~`` findings of other rules may be there as well
    :param surveys: one or a list; each a survey, or a tuple of it and rules to run
    """
    text = expected.removeprefix("~")
    rules = [] if text == expected else [line.split()[1] for line in text.splitlines()]
    for of in surveys if isinstance(surveys, list) else [surveys]:
        assert_agree(text, told(*of) if isinstance(of, tuple) else told(of, *rules))


def assert_agree(expected: str, texts: list[str]) -> None:
    """Assert these lines, in which ``...`` stands for any text."""
    pairs = itertools.zip_longest(expected.splitlines(), texts, fillvalue="")
    assert texts == [text if _agree(line, text) else line for line, text in pairs]


def _agree(line: str, text: str) -> bool:
    return bool(re.fullmatch(".*".join(map(re.escape, line.split("..."))), text))


def ids(of: Survey, *rules: str) -> list[str]:
    """Return the IDs of the rules that find something, once for each finding."""
    return [finding.rule for finding in findings(of, *rules)]
