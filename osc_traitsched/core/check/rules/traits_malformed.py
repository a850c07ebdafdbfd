"""The rule on names that no trait can have."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Kind, Severity, Words
from osc_traitsched.core.check.hosts import Isolated
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.survey import Demand
from osc_traitsched.core.check.words import unset
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import trait_in
from osc_traitsched.core.nova import options
from osc_traitsched.text import did_you_mean, listed, quoted

#: What is no part of a name in Placement's queries: lists, ``in:`` and ``!``.
_READ_BY_PLACEMENT = frozenset(",:!")


@dataclasses.dataclass(frozen=True)
class TraitsMalformed(Finding):
    """A flavor, an image or an aggregate that names what no trait can be named.

    :ivar keys: that do so
    :ivar names: in the keys
    :ivar nearest: traits like those that Placement knows
    :ivar id: of the flavor, the image or the aggregate
    """

    rule = "traits-malformed"
    severity: Severity
    kind: Kind
    name: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    nearest: tuple[str, ...]
    id: str

    def words(self) -> Words:
        """What is wrong, and what fixes it."""
        names = listed(map(quoted, self.names))
        is_aggregate = self.kind is Kind.AGGREGATE
        then = "no request can require it, and so get in"
        if not is_aggregate:
            read = any(set(name) & _READ_BY_PLACEMENT for name in self.names)
            then = "Placement refuses every request that names it"
            then += ", or takes it for something else" if read else ""
        return Words(
            f"no trait can be named {names}: {then}{did_you_mean(self.nearest)}",
            unset(self.kind, self.keys, self.id),
            "take the key off" + ", once the right one is set" * is_aggregate,
        )


def malformed(analysis: Analysis) -> Iterator[TraitsMalformed]:
    """Find names that no trait can have (placement/schemas/trait.py).

    Nova takes them below microversion 2.86, and of images and aggregates always.
    """
    for demand in analysis.demands:
        if keys := dict(_of_demand(demand)):
            identity = str(demand.body["id"])
            yield _finding(
                analysis, Severity.ERROR, demand.kind, demand.name, keys, identity
            )
    ids = {each.uuid: str(each.id) for each in analysis.survey.nova.aggregates}
    for each in analysis.isolated:
        if keys := dict(_of_aggregate(each)):
            closes = analysis.is_on(options.ISOLATION) and analysis.inside(each.uuid)
            severity = Severity.ERROR if closes else Severity.WARNING
            identity = ids.get(each.uuid, each.uuid)
            yield _finding(
                analysis, severity, Kind.AGGREGATE, each.name, keys, identity
            )


def _of_demand(demand: Demand) -> Iterator[tuple[str, str]]:
    """Yield the keys that name no trait, with what they name."""
    for clause in demand.traits:
        if not trait.is_wellformed(clause.name):
            yield from ((origin.key, clause.name) for origin in clause.origins)


def _of_aggregate(each: Isolated) -> Iterator[tuple[str, str]]:
    names = ((key, trait_in(key, each.collation)) for key in each.keys)
    return ((key, name) for key, name in names if not trait.is_wellformed(name))


def _finding(
    analysis: Analysis,
    severity: Severity,
    kind: Kind,
    name: str,
    keys: dict[str, str],
    identity: str,
) -> TraitsMalformed:
    names = tuple(dict.fromkeys(keys.values()))
    nearest = _nearest(names, analysis.survey.known_traits)
    return TraitsMalformed(severity, kind, name, tuple(keys), names, nearest, identity)


def _nearest(names: Iterable[str], known: frozenset[str]) -> tuple[str, ...]:
    near = (trait.nearest(name, known) for name in names if name)
    return tuple(dict.fromkeys(itertools.chain.from_iterable(near)))


RULES = (Rule(TraitsMalformed, "traits", malformed, Kind.FLAVOR),)
