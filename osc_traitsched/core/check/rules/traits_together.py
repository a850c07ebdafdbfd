"""Rules on traits that can't be had together, by one host or in one request."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import Demand, is_certain
from osc_traitsched.core.check.words import give, together
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.request import Request
from osc_traitsched.paste import Option, openstack
from osc_traitsched.text import listed


@dataclasses.dataclass(frozen=True)
class Judged:
    """A flavor that requires or forbids traits that hosts have.

    :ivar able: the roots of the hosts that could take it but for its traits
    :ivar left: of those that could take it
    :ivar alone_in_the_way: the traits each of which leaves none by itself
    """

    demand: Demand
    able: frozenset[str]
    left: frozenset[str]
    alone_in_the_way: tuple[Trait | RootTrait, ...] = ()


def judged(analysis: Analysis) -> Iterator[Judged]:
    """Yield the flavors that traits keep from hosts, some or all, for certain.

    Not those with a trait that this cloud does not know or no host has.
    """
    for flavor in analysis.flavors:
        if not flavor.traits or not _is_plain(analysis, flavor):
            continue
        able = _matching_hosts(analysis, flavor, ())
        left = analysis.flavor_hosts.matching(flavor)
        if left:
            yield Judged(flavor, able, left)
        elif able and not analysis.flavor_hosts.with_any_image(flavor):
            alone = (
                c for c in flavor.traits if not _matching_hosts(analysis, flavor, (c,))
            )
            yield Judged(flavor, able, left, tuple(alone))


def _is_plain(analysis: Analysis, demand: Demand) -> bool:
    known = all(clause.name in analysis.survey.known_traits for clause in demand.traits)
    return known and not any(missing(analysis, demand)) and not _contradicting(demand)


def missing(analysis: Analysis, demand: Demand) -> Iterator[Trait | RootTrait]:
    """Yield the traits that are required, and known, and that no host has.

    What an image may change is not, as long as one that there is finds a host.
    """
    for clause in demand.needs:
        if clause.name not in analysis.survey.known_traits or analysis.hosts.meeting(
            [clause]
        ):
            continue
        if is_certain(clause) or not analysis.flavor_hosts.with_any_image(demand):
            yield clause


def _matching_hosts(
    analysis: Analysis, flavor: Demand, traits: Iterable[Trait | RootTrait]
) -> frozenset[str]:
    """Return the hosts that could take a flavor if it named these traits only."""
    kept = frozenset(traits)
    found = (
        analysis.hosts.matching_hosts(_only(request, kept))
        for request in flavor.requests
    )
    return frozenset[str]().union(*found)


def _only(request: Request, kept: frozenset[Trait | RootTrait]) -> Request:
    clauses = tuple(
        c for c in request.clauses if c in kept or not isinstance(c, (Trait, RootTrait))
    )
    second = _only(request.fallback, kept) if request.fallback else None
    return dataclasses.replace(request, clauses=clauses, fallback=second)


@dataclasses.dataclass(frozen=True)
class TraitsNotTogether(Finding):
    """A flavor or an image whose traits no host has together.

    :ivar traits: that it requires, and of a flavor those that it forbids
    :ivar flavors: of an image the flavors that it can't be combined with; none where
        no host has the traits whatever the flavor
    """

    rule = "traits-not-together"
    severity: Severity
    kind: Kind
    name: str
    traits: tuple[Trait | RootTrait, ...]
    flavors: tuple[str, ...] = ()

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        names = together(self.traits)
        if self.flavors:
            return Words(
                f"no host has {names} together with the traits of the "
                f"{listed(self.flavors, 'flavor')}",
                "do not combine them, or give some host the traits of both",
            )
        required = [each.name for each in self.traits if not each.forbidden]
        fix = give(*required) if required else "forbid less"
        if any(each.forbidden and each.name in required for each in self.traits):
            fix = "require it or forbid it in one group, not both in two"
        return Words(f"hosts meet each by itself, and none all together: {names}", fix)


def not_together(analysis: Analysis) -> Iterator[TraitsNotTogether]:
    """Find flavors and images whose traits no host has together, each by itself."""
    if not analysis.all_hosts:
        return
    for flavor in judged(analysis):
        if not flavor.left and not flavor.alone_in_the_way:
            demand = flavor.demand
            yield TraitsNotTogether(
                Severity.ERROR, Kind.FLAVOR, demand.name, demand.traits
            )
    for image in analysis.images:
        plain = image.needs and _is_plain(analysis, image)
        if plain and not _having_all(analysis, image):
            yield TraitsNotTogether(Severity.ERROR, Kind.IMAGE, image.name, image.needs)
    yield from _pairs_not_together(analysis)


def _having_all(analysis: Analysis, image: Demand) -> frozenset[str]:
    """Return the roots of the hosts that have each of an image's traits."""
    each = (analysis.hosts.meeting([clause]) for clause in image.needs)
    return analysis.all_hosts.intersection(*each)


def _pairs_not_together(analysis: Analysis) -> Iterator[TraitsNotTogether]:
    """Yield images that some flavors can't be combined with.

    Not those whose traits are those of isolated aggregates: that is meant.
    """
    isolated = {name for each in analysis.isolated for name in each.traits}
    flavors = [
        (flavor.demand, flavor.left) for flavor in judged(analysis) if flavor.left
    ]
    for image in analysis.images:
        if {clause.name for clause in image.needs} <= isolated or image.shifts:
            continue
        plain = _is_plain(analysis, image)
        having = _having_all(analysis, image) if plain else frozenset()
        apart = tuple(
            flavor.name
            for flavor, left in flavors
            if left.isdisjoint(having) and not _clashing(flavor, image)
        )
        if having and apart:
            yield TraitsNotTogether(
                Severity.NOTE, Kind.IMAGE, image.name, image.needs, apart
            )


@dataclasses.dataclass(frozen=True)
class TraitsContradiction(Finding):
    """A trait that one request both requires and forbids.

    :ivar trait: that the flavor or the image requires
    :ivar id: of the flavor or the image
    :ivar flavors: of an image the flavors that forbid it; none where a flavor
        contradicts itself
    """

    rule = "traits-contradiction"
    severity: Severity
    kind: Kind
    name: str
    trait: str
    id: str
    flavors: tuple[str, ...] = ()

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        flavors, name = self.flavors, self.trait
        if not flavors:
            return Words(
                f"requires and forbids {name}: Placement refuses every request of it",
                openstack(
                    "flavor unset", Option("--property", f"trait:{name}"), self.id
                ),
            )
        forbid = f"forbid{'s' * (len(flavors) == 1)}"
        return Words(
            f"requires {name}, which the {listed(flavors, 'flavor')} {forbid}: "
            "Placement refuses a request of both",
            "do not combine them",
        )


def contradiction(analysis: Analysis) -> Iterator[TraitsContradiction]:
    """Find traits that one request both requires and forbids, in the same group.

    Placement refuses it (placement/lib.py, ``_check_forbidden``).
    """
    for flavor in analysis.flavors:
        for name in _contradicting(flavor):
            if not analysis.flavor_hosts.with_any_image(flavor):
                yield _contradiction(flavor, name, Severity.ERROR)
    for image in analysis.images:
        clashes: dict[str, list[str]] = {}
        for flavor in analysis.flavors if image.needs else ():
            for name in _clashing(flavor, image):
                clashes.setdefault(name, []).append(flavor.name)
        for name, names in sorted(clashes.items()):
            yield _contradiction(image, name, Severity.NOTE, names)


def _contradiction(
    demand: Demand, name: str, severity: Severity, flavors: Iterable[str] = ()
) -> TraitsContradiction:
    identity = str(demand.body["id"])
    return TraitsContradiction(
        severity, demand.kind, demand.name, name, identity, tuple(flavors)
    )


def _contradicting(demand: Demand) -> list[str]:
    """Return the traits that a flavor both requires and forbids."""
    return _both(demand.traits, demand.traits)


def _clashing(flavor: Demand, image: Demand) -> list[str]:
    """Return the traits that a flavor forbids and an image requires."""
    return _both(image.traits, flavor.traits)


def _both(
    requiring: Iterable[Trait | RootTrait], forbidding: Iterable[Trait | RootTrait]
) -> list[str]:
    asked = {_place(clause) for clause in requiring if not clause.forbidden}
    refused = {_place(clause) for clause in forbidding if clause.forbidden}
    return sorted({name for _, name in asked & refused})


def _place(clause: Trait | RootTrait) -> tuple[str | None, str]:
    return (clause.group if isinstance(clause, Trait) else None), clause.name


RULES = (
    Rule(TraitsNotTogether, "traits", not_together, Kind.FLAVOR),
    Rule(TraitsContradiction, "traits", contradiction, Kind.FLAVOR),
)
