"""Rules on the traits that flavors, images and aggregates name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.demand import Demand
from osc_traitsched.core.check.finding import Datum, Finding, Rule, Severity
from osc_traitsched.core.check.rules import refused, together
from osc_traitsched.core.check.study import Study
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait_keys import REQUIRED, names_trait
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.server import not_evaluated


@dataclasses.dataclass
class _Namers:
    """Who names a trait: the names of flavors, images and aggregates."""

    flavors: dict[str, None] = dataclasses.field(default_factory=dict)
    images: dict[str, None] = dataclasses.field(default_factory=dict)
    aggregates: dict[str, None] = dataclasses.field(default_factory=dict)

    def add(self, demand: Demand) -> None:
        (self.flavors if demand.kind == "flavor" else self.images)[demand.name] = None

    def data(self) -> dict[str, Datum]:
        return {
            "flavors": tuple(self.flavors),
            "images": tuple(self.images),
            "aggregates": tuple(self.aggregates),
        }


def unknown(study: Study) -> Iterator[Finding]:
    """Find traits that Placement does not know: it refuses every such request.

    Be they required or forbidden (placement/objects/trait.py, ``ids_from_names``).
    """
    found: dict[str, _Namers] = {}
    for demand in study.demands:
        clauses = [*demand.traits, *_format(demand, study)]
        for clause in clauses:
            if clause.name not in study.known_traits:
                found.setdefault(clause.name, _Namers()).add(demand)
    for aggregate in study.isolated:
        for name in aggregate.traits - study.known_traits:
            found.setdefault(name, _Namers()).aggregates[aggregate.name] = None
    for name, namers in sorted(found.items()):
        data = {**namers.data(), "nearest": trait.nearest(name, study.known_traits)}
        yield Finding("traits-unknown", _severity(study, namers), "trait", name, data)


def _format(demand: Demand, study: Study) -> Iterator[Trait | RootTrait]:
    if demand.format is not None and study.is_on(options.IMAGE_TYPE):
        yield demand.format


def _severity(study: Study, namers: _Namers) -> Severity:
    """Return how bad it is that no request can have a trait.

    Where only aggregates name it, it closes their hosts to everybody.
    """
    closed = study.is_on(options.ISOLATION) and any(
        study.inside(each.uuid)
        for each in study.isolated
        if each.name in namers.aggregates
    )
    fails = namers.flavors or namers.images or closed
    return Severity.ERROR if fails else Severity.WARNING


def bad_value(study: Study) -> Iterator[Finding]:
    """Find keys that name a trait and that Nova ignores for their value.

    A flavor's is ``required`` or ``forbidden``, all others' ``required``.
    """
    for demand in study.demands:
        kind = not_evaluated.BAD_TRAIT_VALUE
        keys = {e.key: e.value for e in demand.not_evaluated if e.kind == kind}
        if keys:
            yield _ignored(demand.kind, demand.name, keys, str(demand.body["id"]))
    for aggregate in study.nova.aggregates:
        keys = {
            key: value
            for key, value in aggregate.metadata.items()
            if names_trait(key) and value != REQUIRED
        }
        if keys:
            yield _ignored("aggregate", aggregate.name, keys, str(aggregate.id))


def _ignored(kind: str, name: str, keys: Mapping[str, str], identity: str) -> Finding:
    data: dict[str, Datum] = {
        "keys": tuple(keys),
        "pairs": tuple(f"{key}={value}" for key, value in keys.items()),
        "id": identity,
    }
    return Finding("traits-bad-value", Severity.ERROR, kind, name, data)


def no_host(study: Study) -> Iterator[Finding]:
    """Find traits that are required and that no host has."""
    if not study.all_hosts:
        return
    found: dict[tuple[str, bool], _Namers] = {}
    for demand in study.demands:
        for clause in together.missing(study, demand):
            at_root = isinstance(clause, RootTrait)
            found.setdefault((clause.name, at_root), _Namers()).add(demand)
    for aggregate in study.isolated:
        for name in aggregate.traits & study.known_traits:
            if not study.hosts.having(name):
                key = (name, False)
                found.setdefault(key, _Namers()).aggregates[aggregate.name] = None
    for (name, at_root), namers in sorted(found.items(), key=lambda each: each[0]):
        data = {**namers.data(), "root": int(at_root)}
        yield Finding("traits-no-host", _severity(study, namers), "trait", name, data)


def few_hosts(study: Study) -> Iterator[Finding]:
    """Find flavors that a trait leaves fewer hosts than all else of them does.

    Not those whose traits are those of isolated aggregates alone: that is meant.
    """
    isolated = {name for each in study.isolated for name in each.traits}
    for flavor in together.judged(study):
        if flavor.left and {c.name for c in flavor.demand.needs} <= isolated:
            continue
        if flavor.left < flavor.able and (flavor.left or flavor.alone_in_the_way):
            clauses = flavor.demand.traits if flavor.left else flavor.alone_in_the_way
            severity = Severity.NOTE if flavor.left else Severity.ERROR
            data: dict[str, Datum] = {
                "traits": together.spelled(clauses),
                "left": len(flavor.left),
                "able": len(flavor.able),
                "hosts": study.named(flavor.left),
                "id": str(flavor.demand.body["id"]),
            }
            name = flavor.demand.name
            yield Finding("traits-few-hosts", severity, "flavor", name, data)


def unused(study: Study) -> Iterator[Finding]:
    """Find custom traits that no flavor, image or aggregate names.

    Those of nested providers are other services', whose ports and devices may ask
    for them.
    """
    named = {name for demand in study.demands for name, _ in demand.named()}
    named |= {clause.name for demand in study.demands for clause in demand.traits}
    for aggregate in study.nova.aggregates:
        named |= {key.partition(":")[2] for key in aggregate.metadata if ":" in key}
    holders = _holders(study)
    for name in sorted(filter(trait.is_custom, study.known_traits - named)):
        roots = holders.get(name, set())
        if roots <= study.all_hosts:
            data: dict[str, Datum] = {"hosts": study.named(roots)}
            yield Finding("traits-unused", Severity.NOTE, "trait", name, data)


def _holders(study: Study) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for uuid, names in study.traits.items():
        for name in filter(trait.is_custom, names):
            found.setdefault(name, set()).add(uuid)
    return found


RULES: tuple[Rule, ...] = (
    Rule("traits-unknown", "traits", unknown, "flavors"),
    Rule("traits-bad-value", "traits", bad_value, "flavors"),
    Rule("traits-no-host", "traits", no_host, "flavors"),
    Rule("traits-few-hosts", "traits", few_hosts, "flavors"),
    *together.RULES,
    *refused.RULES,
    Rule("traits-unused", "traits", unused, "traits"),
)
