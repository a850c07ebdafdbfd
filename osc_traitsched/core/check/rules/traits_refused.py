"""The rule on flavors and images that Nova takes not at all, or not together."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.builder import decisive
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import Demand
from osc_traitsched.core.errors import Refusal, nova
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.server.image import read as read_image
from osc_traitsched.text import listed

#: The keys that no check of nova-api looks at.
_UNCHECKED = re.compile(r"(trait|resources)(?!.*(HYPERTHREADING|VCPU|PCPU))")

#: An image without properties: some checks are made only where there is an image.
_PLAIN: Body = {"disk_format": "raw"}


@dataclasses.dataclass(frozen=True)
class TraitsRefused(Finding):
    """A flavor or an image that Nova refuses.

    :ivar flavors: of an image the flavors that Nova refuses it with; none where it
        refuses the flavor with all images, or the image with all flavors
    """

    rule = "traits-refused"
    severity: Severity
    kind: Kind
    name: str
    refusal: Refusal
    flavors: tuple[str, ...] = ()

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        wrong = nova.wrong(self.refusal)
        right = nova.right(self.refusal)
        if not self.flavors:
            return Words(f"Nova refuses every server of it: {wrong}", right)
        return Words(
            "Nova refuses every server of it with the "
            f"{listed(self.flavors, 'flavor')}: {wrong}",
            f"do not combine them, or {right}",
        )


def refused(analysis: Analysis) -> Iterator[TraitsRefused]:
    """Find flavors and images that Nova refuses with all there are, and pairs.

    Of pairs only those where a key of the flavor's and a property of the image's
    contradict each other: that an image needs a larger flavor is no fault.
    """
    for flavor in analysis.flavors:
        refusal = flavor.refusal or _refusal(analysis, flavor.body, _PLAIN)
        if refusal is not None:
            images = (decisive(image.body) for image in analysis.images)
            servers = ((flavor.body, each) for each in images)
            yield from _of_one(analysis, flavor, refusal, servers)
    for image in analysis.images:
        if image.refusal is not None and analysis.flavors:
            flavors = (flavor.body for flavor in analysis.flavors)
            body = decisive(image.body)
            servers = ((each, body) for each in flavors)
            yield from _of_one(analysis, image, image.refusal, servers)
    yield from _pairs(analysis)


def _of_one(
    analysis: Analysis,
    demand: Demand,
    refusal: Refusal,
    servers: Iterable[tuple[Body, Body]],
) -> Iterator[TraitsRefused]:
    """Yield a finding unless Nova takes it with something."""
    if all(_refusal(analysis, *server) for server in servers):
        yield TraitsRefused(Severity.ERROR, demand.kind, demand.name, refusal)


def _pairs(analysis: Analysis) -> Iterator[TraitsRefused]:
    release = analysis.survey.assumptions.release
    flavors = _kinds(analysis.flavors, _of_flavor)
    images = _kinds(analysis.images, lambda image: _of_image(image, release))
    for image, alike in images:
        apart: dict[tuple[str, ...], tuple[Refusal, list[str]]] = {}
        for flavor, others in flavors:
            refusal = _refusal(analysis, flavor.body, decisive(image.body))
            if refusal and _is_of_both(refusal, flavor.body, image.body):
                key = (refusal.exception, refusal.reason, *refusal.keys)
                names = apart.setdefault(key, (refusal, []))[1]
                names.extend(other.name for other in others)
        for each in alike:
            for refusal, names in apart.values():
                flavors_apart = tuple(sorted(names))
                yield TraitsRefused(
                    Severity.NOTE, Kind.IMAGE, each.name, refusal, flavors_apart
                )


def _refusal(analysis: Analysis, flavor: Body, image: Body) -> Refusal | None:
    try:
        analysis.builder.request(flavor, image)
    except Refusal as refusal:
        return refusal
    return None


def _is_of_both(refusal: Refusal, flavor: Body, image: Body) -> bool:
    keys = set(refusal.keys)
    specs = flavor.get("extra_specs") or {}
    return bool(keys & set(specs)) and bool(keys & set(image))


def _kinds(
    demands: Iterable[Demand], decide: Callable[[Demand], object]
) -> list[tuple[Demand, list[Demand]]]:
    """Return those that Nova takes alone, by kinds: the first, and all of them."""
    kinds: dict[object, list[Demand]] = {}
    for demand in demands:
        if demand.refusal is None:
            kinds.setdefault(decide(demand), []).append(demand)
    return [(alike[0], alike) for alike in kinds.values()]


def _of_flavor(flavor: Demand) -> object:
    """Return what decides whether a flavor's keys contradict an image."""
    specs = flavor.body.get("extra_specs") or {}
    return frozenset(item for item in specs.items() if not _UNCHECKED.match(item[0]))


def _of_image(image: Demand, release: int) -> object:
    """Return what decides whether an image's properties contradict a flavor."""
    found = read_image(decisive(image.body), release)
    traits = (item for item in found.traits() if not _UNCHECKED.match(item[0]))
    return frozenset(found.values.items()), frozenset(traits)


RULES = (Rule(TraitsRefused, "traits", refused, Kind.FLAVOR),)
