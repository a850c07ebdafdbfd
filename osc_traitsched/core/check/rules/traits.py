"""Rules on the traits in flavors, images and aggregates."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import Finding, Severity, SubjectKind, Words
from osc_traitsched.core.check.rule import Rule
from osc_traitsched.core.check.rules import traits_requests
from osc_traitsched.core.check.survey import StandaloneRequest
from osc_traitsched.core.check.words import corrected, give, together
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import (
    FORBIDDEN,
    REQUIRED,
    Collation,
    names_trait,
)
from osc_traitsched.core.inventory.snapshot import Aggregate
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.server import server
from osc_traitsched.paste import Command, Option, Placeholder, openstack
from osc_traitsched.text import did_you_mean, listed, ranges

_LOOSE = Collation.CASE_INSENSITIVE


@dataclasses.dataclass(frozen=True)
class TraitsUnknown(Finding):
    """A trait of flavors, images or aggregates that Placement does not know.

    An error; a warning if only aggregates without hosts name it. Placement answers 400
    to every request with an unknown trait, even a forbidden one. No other rule reports
    such a trait.

    :ivar nearest: similar known traits, best first
    """

    rule = "traits-unknown"
    kind = SubjectKind.TRAIT
    severity: Severity
    name: str
    flavors: tuple[str, ...]
    images: tuple[str, ...]
    aggregates: tuple[str, ...]
    nearest: tuple[str, ...]

    def words(self) -> Words:
        fix: str | Command = f"correct {_namers(self)}"
        if not self.nearest and trait.is_custom(self.name):
            fix = give(self.name, create=True)
        elif not self.nearest and trait.is_standard(self.name):
            fix = "upgrade the os-traits library of Placement"
        then = (
            "Placement refuses every request that names it"
            if self.flavors or self.images
            else "no request can require it, and so get in"
        )
        meant = did_you_mean(self.nearest)
        return Words(f"{then}; named by {_namers(self)}{meant}", fix)


def unknown(analysis: Analysis) -> Iterator[TraitsUnknown]:
    """Placement rejects requests that require or forbid it (placement/objects/trait.py,
    ``ids_from_names``).

    ``traits-malformed`` reports impossible names.
    """
    known = analysis.survey.known_traits
    found: dict[str, _Namers] = {}
    for demand in analysis.demands:
        derived = traits_requests.lacking(analysis, demand)
        for clause in (*demand.traits, *derived, *_format(demand, analysis)):
            if clause.name not in known and trait.is_wellformed(clause.name):
                found.setdefault(clause.name, _Namers()).add(demand)
    for aggregate in analysis.isolated:
        for name in filter(trait.is_wellformed, aggregate.traits - known):
            found.setdefault(name, _Namers()).aggregates[aggregate.name] = None
    for name, namers in sorted(found.items()):
        nearest = trait.nearest(name, known)
        yield TraitsUnknown(_severity(analysis, namers), name, *namers.names, nearest)


def _format(
    demand: StandaloneRequest, analysis: Analysis
) -> Iterator[Trait | RootTrait]:
    if demand.format is not None and analysis.is_on(options.IMAGE_TYPE):
        yield demand.format


@dataclasses.dataclass(frozen=True)
class TraitsBadValue(Finding):
    """Keys of a flavor, image or aggregate with a value that Nova ignores.

    An error; a warning for an image's ``forbidden``, which boots on any host, and for a
    value that MariaDB takes for ``required``. A flavor's value must be ``required`` or
    ``forbidden``, that of an image or an aggregate ``required``. Nova only logs other
    values.

    :ivar pairs: keys that name a trait, with their values
    :ivar by_database: an aggregate's values, which only some databases ignore
    """

    rule = "traits-bad-value"
    severity: Severity
    kind: SubjectKind
    name: str
    pairs: tuple[tuple[str, str], ...]
    id: str
    by_database: bool = False

    def words(self) -> Words:
        pairs = listed(f"{key}={value}" for key, value in self.pairs)
        is_flavor = self.kind is SubjectKind.FLAVOR
        allowed = (REQUIRED, FORBIDDEN) if is_flavor else (REQUIRED,)
        fix = corrected(self.kind, self.id, self.pairs, allowed)
        if self.by_database:
            return Words(
                f"MariaDB and MySQL take {pairs} for {REQUIRED}, other databases "
                "ignore it",
                fix,
            )
        values = " or ".join(allowed)
        return Words(f"Nova ignores {pairs}: the value can only be {values}", fix)


def bad_value(analysis: Analysis) -> Iterator[TraitsBadValue]:
    """A flavor's value must be ``required`` or ``forbidden``, others ``required``.

    Nova's database compares an aggregate's value. A value that only some databases
    accept works by chance; every database gets the warning.
    """
    for demand in analysis.demands:
        kind = server.BAD_TRAIT_VALUE
        keys = {e.key: e.value for e in demand.not_evaluated if e.kind == kind}
        if keys:
            pairs = tuple(keys.items())
            forbids = demand.kind is SubjectKind.IMAGE and {*keys.values()} == {
                FORBIDDEN
            }
            severity = Severity.WARNING if forbids else Severity.ERROR
            yield TraitsBadValue(severity, demand.kind, demand.name, pairs, demand.id)
    for aggregate in analysis.survey.nova.aggregates:
        yield from _bad_values_of(aggregate)


def _bad_values_of(aggregate: Aggregate) -> Iterator[TraitsBadValue]:
    ignored = {False: Severity.ERROR, True: Severity.WARNING}
    for by_database, severity in ignored.items():
        pairs = tuple(
            (key, value)
            for key, value in aggregate.metadata.items()
            if names_trait(key, _LOOSE) and value != REQUIRED
            if _LOOSE.equal(value, REQUIRED) is by_database
        )
        if pairs:
            yield TraitsBadValue(
                severity,
                SubjectKind.AGGREGATE,
                aggregate.name,
                pairs,
                str(aggregate.id),
                by_database,
            )


@dataclasses.dataclass(frozen=True)
class TraitsNoHost(Finding):
    """A trait that flavors, images or aggregates require, but no host has.

    An error; a warning if only aggregates without hosts require it. nova-compute
    decides on traits like ``HW_CPU_...`` and ``COMPUTE_...``; do not add these by hand.
    Nova requires some traits of the root provider.

    :ivar at_root: the root of a host's tree must have it
    :ivar nearest: similar custom traits that hosts have
    """

    rule = "traits-no-host"
    kind = SubjectKind.TRAIT
    severity: Severity
    name: str
    flavors: tuple[str, ...]
    images: tuple[str, ...]
    aggregates: tuple[str, ...]
    at_root: bool
    nearest: tuple[str, ...]

    def words(self) -> Words:
        where = "no host's root provider" if self.at_root else "no host"
        meant = did_you_mean(self.nearest)
        return Words(
            f"{where} has it, and it is required by {_namers(self)}{meant}",
            f"correct {_namers(self)}" if self.nearest else give(self.name),
        )


def no_host(analysis: Analysis) -> Iterator[TraitsNoHost]:
    if not analysis.all_hosts:
        return
    found: dict[tuple[str, bool], _Namers] = {}
    for demand in analysis.demands:
        for clause in traits_requests.missing(analysis, demand):
            at_root = isinstance(clause, RootTrait)
            found.setdefault((clause.name, at_root), _Namers()).add(demand)
    for aggregate in analysis.isolated:
        for name in aggregate.traits & analysis.survey.known_traits:
            if not analysis.hosts.having(name):
                namers = found.setdefault((name, False), _Namers())
                namers.aggregates[aggregate.name] = None
    had = frozenset[str]().union(*analysis.survey.traits.values())
    for (name, at_root), namers in sorted(found.items(), key=lambda each: each[0]):
        severity = _severity(analysis, namers)
        nearest = trait.nearest(name, had) if trait.is_custom(name) else ()
        yield TraitsNoHost(severity, name, *namers.names, at_root, nearest)


@dataclasses.dataclass
class _Namers:
    flavors: dict[str, None] = dataclasses.field(default_factory=dict)
    images: dict[str, None] = dataclasses.field(default_factory=dict)
    aggregates: dict[str, None] = dataclasses.field(default_factory=dict)

    def add(self, demand: StandaloneRequest) -> None:
        of_kind = self.flavors if demand.kind is SubjectKind.FLAVOR else self.images
        of_kind[demand.name] = None

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        return tuple(self.flavors), tuple(self.images), tuple(self.aggregates)


def _severity(analysis: Analysis, namers: _Namers) -> Severity:
    """The severity of a trait that no request can have.

    If only aggregates name it, it closes their hosts to all servers.
    """
    closed = analysis.is_on(options.ISOLATION) and any(
        analysis.inside(each.uuid)
        for each in analysis.isolated
        if each.name in namers.aggregates
    )
    # Other projects' images fail only their own users' requests.
    images = namers.images.keys() - analysis.images_of_others
    fails = namers.flavors or images or closed
    return Severity.ERROR if fails else Severity.WARNING


@dataclasses.dataclass(frozen=True)
class TraitsFewHosts(Finding):
    """A flavor whose traits exclude hosts that it would otherwise fit.

    A note, because traits exist for that. An error if no host is left that is large
    enough. Flavors for isolated aggregates are not reported.

    :ivar traits: all of its traits; if no host is left, each that alone excludes all
    :ivar hosts: the hosts that are left
    :ivar large_enough: number of hosts that could take it without its traits
    """

    rule = "traits-few-hosts"
    kind = SubjectKind.FLAVOR
    severity: Severity
    name: str
    traits: tuple[Trait | RootTrait, ...]
    hosts: tuple[str, ...]
    large_enough: int
    id: str

    def words(self) -> Words:
        names, large_enough = together(self.traits), self.large_enough
        if self.hosts:
            return Words(
                f"{names}: leaves {len(self.hosts)} of the {large_enough} hosts that "
                f"are large enough: {ranges(self.hosts)}"
            )
        first = self.traits[0]
        return Words(
            f"{names}: leaves none of the {large_enough} hosts that are large enough",
            openstack("flavor unset", Option("--property", Placeholder("KEY")), self.id)
            if first.forbidden
            else give(first.name),
        )


def few_hosts(analysis: Analysis) -> Iterator[TraitsFewHosts]:
    """Flavors whose traits all isolate aggregates are left out: that is intended."""
    isolated = {name for each in analysis.isolated for name in each.traits}
    for flavor in traits_requests.judged(analysis):
        demand, left = flavor.demand, flavor.left
        if left and {c.name for c in demand.needs} <= isolated:
            continue
        if left < flavor.able and (left or flavor.alone_in_the_way):
            yield TraitsFewHosts(
                Severity.NOTE if left else Severity.ERROR,
                demand.name,
                demand.traits if left else flavor.alone_in_the_way,
                analysis.host_names(left),
                len(flavor.able),
                demand.id,
            )


@dataclasses.dataclass(frozen=True)
class TraitsUnused(Finding):
    """A custom trait that no flavor, image or aggregate names.

    Ports and device profiles are not read and may require it. Traits of nested
    providers, Neutron and Ironic are not reported. Servers that exist may still require
    it: ``remove`` checks that.

    :ivar hosts: hosts that have it
    """

    rule = "traits-unused"
    severity = Severity.NOTE
    kind = SubjectKind.TRAIT
    name: str
    hosts: tuple[str, ...]

    def words(self) -> Words:
        hosts = self.hosts
        if not hosts:
            return Words(
                "no host has it, and no flavor, image or aggregate names it",
                openstack("trait delete", self.name),
            )
        return Words(
            f"no flavor, image or aggregate names it; {ranges(hosts, 'host')} "
            f"ha{'s' if len(hosts) == 1 else 've'} it; remove stops if a server "
            "requires it",
            openstack("trait-sched remove", self.name, Option("--all")),
        )


def unused(analysis: Analysis) -> Iterator[TraitsUnused]:
    """Custom traits without a use.

    Traits of nested providers and of Neutron are left out: ports and devices may ask
    for them. So are traits of Ironic's nodes, which Ironic sets.
    """
    holders = _holders(analysis.survey.traits)
    left = analysis.survey.known_traits - _named(analysis)
    for name in sorted(filter(trait.is_custom, left)):
        if trait.is_of_neutron(name):
            continue
        roots = holders.get(name, set())
        if roots <= analysis.all_hosts - analysis.survey.nova.ironic.keys():
            analysis.survey.need_all("flavors and images")
            yield TraitsUnused(name, analysis.host_names(roots))


def _named(analysis: Analysis) -> set[str]:
    named = {name for demand in analysis.demands for name, _ in demand.named()}
    named |= {clause.name for demand in analysis.demands for clause in demand.traits}
    for aggregate in analysis.survey.nova.aggregates:
        keys = map(analysis.collation.folded, aggregate.metadata)
        named |= {key.partition(":")[2] for key in keys if ":" in key}
    return named


def _holders(traits: Mapping[str, frozenset[str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for uuid, names in traits.items():
        for name in filter(trait.is_custom, names):
            found.setdefault(name, set()).add(uuid)
    return found


RULES = (
    Rule(TraitsUnknown, unknown, SubjectKind.FLAVOR),
    *traits_requests.MALFORMED_RULES,
    Rule(TraitsBadValue, bad_value, SubjectKind.FLAVOR),
    Rule(TraitsNoHost, no_host, SubjectKind.FLAVOR),
    Rule(TraitsFewHosts, few_hosts, SubjectKind.FLAVOR),
    *traits_requests.TOGETHER_RULES,
    *traits_requests.REFUSED_RULES,
    Rule(TraitsUnused, unused, SubjectKind.TRAIT),
)


def _namers(finding: TraitsUnknown | TraitsNoHost) -> str:
    parts = (
        listed(finding.flavors, "flavor"),
        listed(finding.images, "image"),
        listed(finding.aggregates, "aggregate"),
    )
    return ", ".join(filter(None, parts))
