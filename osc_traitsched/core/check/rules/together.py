"""Rules on traits that can't be had together, by one host or in one request."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.demand import Demand, is_certain
from osc_traitsched.core.check.finding import Datum, Finding, Rule, Severity
from osc_traitsched.core.check.study import Study
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.request import Request


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


def judged(study: Study) -> Iterator[Judged]:
    """Yield the flavors that traits keep from hosts, some or all, for certain.

    Not those with a trait that this cloud does not know or no host has.
    """
    for flavor in study.of_flavors:
        if not flavor.traits or not _is_plain(study, flavor):
            continue
        able = _matching_hosts(study, flavor, ())
        left = study.matching_hosts(flavor)
        if left:
            yield Judged(flavor, able, left)
        elif able and not study.widest(flavor):
            alone = (
                c for c in flavor.traits if not _matching_hosts(study, flavor, (c,))
            )
            yield Judged(flavor, able, left, tuple(alone))


def _is_plain(study: Study, demand: Demand) -> bool:
    known = all(clause.name in study.known_traits for clause in demand.traits)
    return known and not any(missing(study, demand)) and not _contradicting(demand)


def missing(study: Study, demand: Demand) -> Iterator[Trait | RootTrait]:
    """Yield the traits that are required, and known, and that no host has.

    What an image may change is not, as long as one that there is finds a host.
    """
    for clause in demand.needs:
        if clause.name not in study.known_traits or study.hosts.meeting([clause]):
            continue
        if is_certain(clause) or not study.widest(demand):
            yield clause


def _matching_hosts(
    study: Study, flavor: Demand, traits: Iterable[Trait | RootTrait]
) -> frozenset[str]:
    """Return who could take a flavor if it named these traits only."""
    kept = frozenset(traits)
    found = (
        study.hosts.matching_hosts(_only(request, kept)) for request in flavor.requests
    )
    return frozenset[str]().union(*found)


def _only(request: Request, kept: frozenset[Trait | RootTrait]) -> Request:
    clauses = tuple(
        c for c in request.clauses if c in kept or not isinstance(c, (Trait, RootTrait))
    )
    second = _only(request.fallback, kept) if request.fallback else None
    return dataclasses.replace(request, clauses=clauses, fallback=second)


def not_together(study: Study) -> Iterator[Finding]:
    """Find flavors and images whose traits no host has together, each by itself."""
    if not study.all_hosts:
        return
    for flavor in judged(study):
        if not flavor.left and not flavor.alone_in_the_way:
            data: dict[str, Datum] = {"traits": spelled(flavor.demand.traits)}
            name = flavor.demand.name
            yield Finding("traits-not-together", Severity.ERROR, "flavor", name, data)
    for image in study.of_images:
        if image.needs and _is_plain(study, image) and not _havers(study, image):
            data = {"traits": spelled(image.needs)}
            yield Finding(
                "traits-not-together", Severity.ERROR, "image", image.name, data
            )
    yield from _pairs_not_together(study)


def _havers(study: Study, image: Demand) -> frozenset[str]:
    """Return the roots of the hosts that have each of an image's traits."""
    each = (study.hosts.meeting([clause]) for clause in image.needs)
    return study.all_hosts.intersection(*each)


def _pairs_not_together(study: Study) -> Iterator[Finding]:
    """Yield images that some flavors can't be combined with.

    Not those whose traits are those of isolated aggregates: that is meant.
    """
    isolated = {name for each in study.isolated for name in each.traits}
    flavors = [(flavor.demand, flavor.left) for flavor in judged(study) if flavor.left]
    for image in study.of_images:
        if {clause.name for clause in image.needs} <= isolated or image.shifts:
            continue
        havers = _havers(study, image) if _is_plain(study, image) else frozenset()
        apart = tuple(
            flavor.name
            for flavor, left in flavors
            if left.isdisjoint(havers) and not _clashing(flavor, image)
        )
        if havers and apart:
            data: dict[str, Datum] = {"traits": spelled(image.needs), "flavors": apart}
            yield Finding(
                "traits-not-together", Severity.NOTE, "image", image.name, data
            )


def contradiction(study: Study) -> Iterator[Finding]:
    """Find traits that one request both requires and forbids, in the same group.

    Placement refuses it (placement/lib.py, ``_check_forbidden``).
    """
    for flavor in study.of_flavors:
        for name in _contradicting(flavor):
            if not study.widest(flavor):
                yield _contradiction(flavor, name, Severity.ERROR, ())
    for image in study.of_images:
        clashes: dict[str, list[str]] = {}
        for flavor in study.of_flavors if image.needs else ():
            for name in _clashing(flavor, image):
                clashes.setdefault(name, []).append(flavor.name)
        for name, names in sorted(clashes.items()):
            yield _contradiction(image, name, Severity.NOTE, names)


def _contradiction(
    demand: Demand, name: str, severity: Severity, flavors: Iterable[str]
) -> Finding:
    data: dict[str, Datum] = {
        "trait": name,
        "flavors": tuple(flavors),
        "id": str(demand.body["id"]),
    }
    return Finding("traits-contradiction", severity, demand.kind, demand.name, data)


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


def spelled(clauses: Iterable[Trait | RootTrait]) -> tuple[str, ...]:
    """Return the traits' names, with ``!`` before those that are forbidden."""
    return tuple(f"{'!' * c.forbidden}{c.name}" for c in clauses)


RULES: tuple[Rule, ...] = (
    Rule("traits-not-together", "traits", not_together, "flavors"),
    Rule("traits-contradiction", "traits", contradiction, "flavors"),
)
