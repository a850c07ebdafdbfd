"""Rules on the traits in flavors, images and aggregates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from osc_traitsched.core.check.analysis import Analysis
from osc_traitsched.core.check.finding import ERROR, NOTE, Fault, Severity, SubjectKind
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.rules import traits_requests
from osc_traitsched.core.check.words import aggregate_name, corrected, give, together
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import (
    FORBIDDEN,
    REQUIRED,
    Collation,
    names_trait,
)
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait
from osc_traitsched.core.nova.server import server
from osc_traitsched.paste import Command, Option, Placeholder, openstack
from osc_traitsched.text import did_you_mean, listed, ranges

_LOOSE = Collation.CASE_INSENSITIVE


#: A trait, and whether the root of a host's tree must have it.
_Key = tuple[str, bool]
#: Names of flavors, images and aggregates, in their order.
_Namers = dict[SubjectKind, dict[str, None]]


@rule("traits-unknown", SubjectKind.TRAIT, SubjectKind.FLAVOR)
def unknown(analysis: Analysis) -> Iterator[Fault]:
    """A trait of flavors, images or aggregates that Placement does not know.

    An error; a warning if only aggregates without hosts name it. Placement answers 400
    to every request with an unknown trait, even a forbidden one. No other rule reports
    such a trait.
    """
    # placement/objects/trait.py, ids_from_names
    known = analysis.survey.known_traits
    has_formats = analysis.is_on(options.IMAGE_TYPE)
    namers_by_trait: dict[_Key, _Namers] = {}
    for demand in analysis.demands:
        derived = traits_requests.lacking(analysis, demand)
        formats = (demand.format,) if demand.format and has_formats else ()
        for clause in (*demand.traits, *derived, *formats):
            _add(namers_by_trait, (clause.name, False), demand.kind, demand.name)
    for aggregate in analysis.isolated:
        for name in aggregate.traits:
            _add(namers_by_trait, (name, False), SubjectKind.AGGREGATE, aggregate.name)
    for (name, _), namers in sorted(namers_by_trait.items(), key=_by_key):
        # ``traits-malformed`` reports impossible names.
        if name in known or not trait.is_wellformed(name):
            continue
        nearest = trait.nearest(name, known)
        fix = _corrected(analysis, name, namers, nearest)
        if not nearest and trait.is_custom(name):
            fix = give(name, create=True)
        elif not nearest and trait.is_standard(name):
            fix = "upgrade the os-traits library of Placement"
        then = "Placement rejects every request that names it"
        if namers.keys() == {SubjectKind.AGGREGATE}:
            then = "no request can require it, and so get in"
        problem = f"{then}; named by {_listed(namers)}{did_you_mean(nearest)}"
        yield _fault(analysis, name, namers, problem, fix)


@rule("traits-no-host", SubjectKind.TRAIT, SubjectKind.FLAVOR)
def no_host(analysis: Analysis) -> Iterator[Fault]:
    """A trait that flavors, images or aggregates require, but no host has.

    An error; a warning if only aggregates without hosts require it. nova-compute
    decides on traits like ``HW_CPU_...`` and ``COMPUTE_...``; do not add these by hand.
    Nova requires some traits of the root provider.
    """
    if not analysis.all_hosts:
        return
    namers_by_trait: dict[_Key, _Namers] = {}
    for demand in analysis.demands:
        for clause in traits_requests.missing(analysis, demand):
            key = clause.name, isinstance(clause, RootTrait)
            _add(namers_by_trait, key, demand.kind, demand.name)
    for aggregate in analysis.isolated:
        for name in aggregate.traits & analysis.survey.known_traits:
            if not analysis.hosts.having(name):
                kind = SubjectKind.AGGREGATE
                _add(namers_by_trait, (name, False), kind, aggregate.name)
    held = frozenset[str]().union(*analysis.survey.traits.values())
    for (name, at_root), namers in sorted(namers_by_trait.items(), key=_by_key):
        nearest = trait.nearest(name, held) if trait.is_custom(name) else ()
        where = "no host's root provider" if at_root else "no host"
        required = f"required by {_listed(namers)}{did_you_mean(nearest)}"
        problem = f"{where} has it, and it is {required}"
        fix = _corrected(analysis, name, namers, nearest) if nearest else give(name)
        yield _fault(analysis, name, namers, problem, fix)


def _corrected(
    analysis: Analysis, name: str, namers: _Namers, nearest: Sequence[str]
) -> str | Command:
    """The typo is on hosts if several objects agree, and none names the near one."""
    for near in nearest[:1]:
        is_several = sum(map(len, namers.values())) > 1
        if is_several and trait.is_custom(near) and near not in _named(analysis):
            return openstack(
                "trait-sched trait rename", near, name, Option("--dry-run")
            )
    return f"correct {_listed(namers)}"


def _add(
    namers_by_trait: dict[_Key, _Namers], key: _Key, kind: SubjectKind, name: str
) -> None:
    namers_by_trait.setdefault(key, {}).setdefault(kind, {})[name] = None


def _by_key(item: tuple[_Key, _Namers]) -> _Key:
    return item[0]


def _listed(namers: _Namers) -> str:
    return ", ".join(listed(names, kind.value) for kind, names in namers.items())


def _fault(
    analysis: Analysis, name: str, namers: _Namers, problem: str, fix: str | Command
) -> Fault:
    """A trait that only aggregates name closes their hosts to all servers."""
    flavors, images, aggregates = (
        tuple(namers.get(kind, ()))
        for kind in (SubjectKind.FLAVOR, SubjectKind.IMAGE, SubjectKind.AGGREGATE)
    )
    closed = analysis.is_on(options.ISOLATION) and any(
        analysis.inside(each.uuid)
        for each in analysis.isolated
        if each.name in aggregates
    )
    # Other projects' images fail only their own users' requests.
    fails = flavors or closed or {*images} - {*analysis.images_of_others}
    severity = Severity.ERROR if fails else Severity.WARNING
    return Fault(severity, name, problem, fix, "", flavors, images, aggregates)


@rule("traits-bad-value", SubjectKind.FLAVOR)
def bad_value(analysis: Analysis) -> Iterator[Fault]:
    """Keys of a flavor, image or aggregate with a value that Nova ignores.

    An error; a warning for an image's ``forbidden``, which boots on any host, and for a
    value that MariaDB takes for ``required``. A flavor's value must be ``required`` or
    ``forbidden``, that of an image or an aggregate ``required``. Nova only logs other
    values.
    """
    for demand in analysis.demands:
        ignored = (e for e in demand.not_evaluated if e.kind == server.BAD_TRAIT_VALUE)
        pairs = {each.key: each.value for each in ignored}
        is_image = demand.kind is SubjectKind.IMAGE
        boots = is_image and {*pairs.values()} == {FORBIDDEN}
        severity = Severity.WARNING if boots else Severity.ERROR
        yield from _bad_value(severity, demand.kind, demand.name, demand.id, pairs)
    for aggregate in analysis.survey.nova.aggregates:
        # Nova's database compares them. If some accept one, each gets the warning.
        for severity in (Severity.ERROR, Severity.WARNING):
            pairs = {
                key: value
                for key, value in aggregate.metadata.items()
                if names_trait(key, _LOOSE) and value != REQUIRED
                if _LOOSE.equal(value, REQUIRED) is (severity is Severity.WARNING)
            }
            identity = aggregate_name(aggregate)
            kind = SubjectKind.AGGREGATE
            yield from _bad_value(severity, kind, aggregate.name, identity, pairs)


def _bad_value(
    severity: Severity,
    kind: SubjectKind,
    name: str,
    identity: str,
    pairs: Mapping[str, str],
) -> Iterator[Fault]:
    shown = listed(f"{key}={value}" for key, value in pairs.items())
    allowed = (REQUIRED, FORBIDDEN) if kind is SubjectKind.FLAVOR else (REQUIRED,)
    problem = f"Nova ignores {shown}: the value can only be {' or '.join(allowed)}"
    if kind is SubjectKind.AGGREGATE and severity is Severity.WARNING:
        problem = (
            f"MariaDB and MySQL take {shown} for {REQUIRED}, other databases ignore it"
        )
    if pairs:
        fix = corrected(kind, identity, pairs.items(), allowed)
        yield Fault(severity, name, problem, fix, subject=kind)


@rule("traits-few-hosts", SubjectKind.FLAVOR)
def few_hosts(analysis: Analysis) -> Iterator[Fault]:
    """A flavor whose traits exclude hosts that it would otherwise fit.

    A note, because traits exist for that. An error if no host is left that is large
    enough. Flavors for isolated aggregates are not reported.
    """
    isolated = {name for each in analysis.isolated for name in each.traits}
    for flavor in traits_requests.judged(analysis):
        demand, hosts = flavor.demand, analysis.host_names(flavor.left)
        large_enough = f"of the {len(flavor.able)} hosts that are large enough"
        if hosts:
            names = {clause.name for clause in demand.needs}
            if flavor.left < flavor.able and not names <= isolated:
                yield NOTE(
                    demand.name,
                    f"{together(demand.traits)}: leaves {len(hosts)} {large_enough}: "
                    f"{ranges(hosts)}",
                    hosts=hosts,
                )
        elif flavor.able and flavor.alone_in_the_way:
            first = flavor.alone_in_the_way[0]
            key = Option("--property", Placeholder("KEY"))
            unset = openstack("flavor unset", key, demand.id)
            yield ERROR(
                demand.name,
                f"{together(flavor.alone_in_the_way)}: leaves none {large_enough}",
                unset if first.forbidden else give(first.name),
            )


@rule("traits-unused", SubjectKind.TRAIT)
def unused(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* A custom trait that no flavor, image or aggregate names.

    Ports and device profiles are not read and may require it. Traits of nested
    providers, Neutron and Ironic are not reported. Servers that exist may still require
    it: ``remove`` checks that.
    """
    holders = _holders(analysis.survey.traits)
    left = analysis.survey.known_traits - _named(analysis)
    for name in sorted(filter(trait.is_custom, left)):
        roots = holders.get(name, set())
        is_ours = roots <= analysis.all_hosts - analysis.survey.nova.ironic.keys()
        if trait.is_of_neutron(name) or not is_ours:
            continue
        analysis.survey.need_all("flavors and images")
        hosts = analysis.host_names(roots)
        problem = "no host has it, and no flavor, image or aggregate names it"
        fix = openstack("trait delete", name)
        if hosts:
            problem = (
                f"no flavor, image or aggregate names it; {ranges(hosts, 'host')} "
                f"ha{'s' if len(hosts) == 1 else 've'} it; remove stops if a server "
                "requires it"
            )
            fix = openstack("trait-sched remove", name, Option("--all"))
        yield NOTE(name, problem, fix, hosts=hosts)


@rule("traits-twins", SubjectKind.TRAIT)
def twins(analysis: Analysis) -> Iterator[Fault]:
    """*Note.* Two custom traits on exactly the same hosts, at least two, both required.

    They may mean the same. ``trait rename A B`` joins them. Traits that one flavor,
    image or aggregate names together are not reported.
    """
    names_by_holders: dict[frozenset[str], list[str]] = {}
    holders, named = _holders(analysis.survey.traits), _named(analysis)
    for name in sorted(named & holders.keys()):
        if len(holders[name]) > 1 and not trait.is_of_neutron(name):
            names_by_holders.setdefault(frozenset(holders[name]), []).append(name)
    together = [{name for name, _ in demand.named()} for demand in analysis.demands]
    together += [set(each.traits) for each in analysis.isolated]
    for roots, (kept, *others) in names_by_holders.items():
        for name in others:
            if not any({kept, name} <= names for names in together):
                hosts = analysis.host_names(roots & analysis.all_hosts)
                yield NOTE(
                    name,
                    f"on the same {len(roots)} hosts as {kept}: {ranges(hosts)}",
                    openstack(
                        "trait-sched trait rename", name, kept, Option("--dry-run")
                    ),
                    "if both mean the same",
                    hosts=hosts,
                )


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
    unknown,
    *traits_requests.MALFORMED_RULES,
    bad_value,
    no_host,
    few_hosts,
    *traits_requests.TOGETHER_RULES,
    *traits_requests.REFUSED_RULES,
    unused,
    twins,
)
