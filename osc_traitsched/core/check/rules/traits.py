"""Rules on the traits in flavors, images and aggregates."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core import errors
from osc_traitsched.core.check.analysis import Analysis, decisive
from osc_traitsched.core.check.rule import (
    aggregate_name,
    corrected,
    give,
    rule,
    together,
    unset,
)
from osc_traitsched.core.check.survey import (
    ERROR,
    NOTE,
    Fault,
    Severity,
    StandaloneRequest,
    SubjectKind,
    is_certain,
    is_of_format,
)
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.trait import (
    FORBIDDEN,
    REQUIRED,
    Collation,
    names_trait,
    trait_in,
)
from osc_traitsched.core.nova import options, server
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.image import read as read_image
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.request import Request
from osc_traitsched.paste import Command, Option, Placeholder, openstack
from osc_traitsched.text import did_you_mean, listed, quoted, ranges

# Rules of the area traits: requests that no host can meet.


# Impossible names.


#: Separators in Placement's queries: lists, ``in:`` and ``!``.
_READ_BY_PLACEMENT = frozenset(",:!")


@rule("traits-malformed", SubjectKind.FLAVOR)
def malformed(analysis: Analysis) -> Iterator[Fault]:
    """A flavor, an image or an aggregate with an impossible trait name.

    An error; a warning for an aggregate without hosts. Nova does not check names in
    images and aggregates, and Placement answers 400. Often there is a trailing space.
    """
    # placement/schemas/trait.py. Nova accepts others below microversion 2.86, and
    # always in images and aggregates.
    known = analysis.survey.known_traits
    for demand in analysis.demands:
        names = ((o.key, each.name) for each in demand.traits for o in each.origins)
        yield from _malformed(
            Severity.ERROR, demand.kind, demand.name, demand.id, names, known
        )
    for each in analysis.isolated:
        names = ((key, trait_in(key, each.collation)) for key in each.keys)
        closes = analysis.is_on(options.ISOLATION) and analysis.inside(each.uuid)
        severity = Severity.ERROR if closes else Severity.WARNING
        identity = aggregate_name(each)
        yield from _malformed(
            severity, SubjectKind.AGGREGATE, each.name, identity, names, known
        )


def _malformed(
    severity: Severity,
    kind: SubjectKind,
    name: str,
    identity: str,
    names: Iterable[tuple[str, str]],
    known: frozenset[str],
) -> Iterator[Fault]:
    wrong = {key: named for key, named in names if not trait.is_wellformed(named)}
    if not wrong:
        return
    distinct = dict.fromkeys(wrong.values())
    near = (trait.nearest(each, known) for each in distinct if each)
    nearest = dict.fromkeys(itertools.chain.from_iterable(near))
    is_aggregate = kind is SubjectKind.AGGREGATE
    then = "Placement rejects every request that names it"
    if is_aggregate:
        then = "no request can require it, and so get in"
    elif any(set(each) & _READ_BY_PLACEMENT for each in distinct):
        then += ", or takes it for something else"
    shown = listed(map(quoted, distinct))
    problem = f"no trait can be named {shown}: {then}{did_you_mean(nearest)}"
    fix: str | Command = f"correct {listed(map(quoted, wrong))}"
    when = ""
    if not nearest:
        fix = unset(kind, wrong, identity)
        when = "take the key off" + ", once the right one is set" * is_aggregate
    yield Fault(severity, name, problem, fix, when, subject=kind)


MALFORMED_RULES = (malformed,)


# Flavors and images that Nova rejects, alone or together.


#: Keys that no check of nova-api reads.
_UNCHECKED = re.compile(r"(trait|resources)(?!.*(HYPERTHREADING|VCPU|PCPU))")

#: An image without properties: some checks need an image.
_PLAIN: Body = {"disk_format": "raw"}


@rule("traits-rejected", SubjectKind.FLAVOR)
def refused(analysis: Analysis) -> Iterator[Fault]:
    """A flavor or an image that Nova rejects.

    An error; a note for an image with a flavor. Nova rejects the request before it asks
    Placement. Nova's exception is in brackets.
    """
    # A single one is reported if Nova rejects it with all others. A pair is reported
    # only if a key of the flavor contradicts a property of the image: an image that
    # needs a larger flavor is not a fault.
    flavors = [flavor.body for flavor in analysis.flavors]
    images = [decisive(image.body) for image in analysis.images]
    for flavor in analysis.flavors:
        refusal = flavor.refusal or _refusal(analysis, flavor.body, _PLAIN)
        if refusal and all(_refusal(analysis, flavor.body, each) for each in images):
            yield _refused(flavor, refusal)
    for image in analysis.images:
        if image.refusal is None or not flavors:
            continue
        body = decisive(image.body)
        if all(_refusal(analysis, each, body) for each in flavors):
            yield _refused(image, image.refusal)
    yield from _pairs(analysis)


def _refused(demand: StandaloneRequest, refusal: Refusal) -> Fault:
    problem = f"Nova rejects every server of it: {errors.wrong(refusal)}"
    return ERROR(demand.name, problem, errors.right(refusal), subject=demand.kind)


def _pairs(analysis: Analysis) -> Iterator[Fault]:
    release = analysis.survey.assumptions.release
    flavors = _kinds(filter(_checked, analysis.flavors), _of_flavor)
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
                yield NOTE(
                    each.name,
                    "Nova rejects every server of it with the "
                    f"{listed(sorted(names), 'flavor')}: {errors.wrong(refusal)}",
                    f"do not combine them, or {errors.right(refusal)}",
                    flavors=tuple(sorted(names)),
                    subject=SubjectKind.IMAGE,
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
    demands: Iterable[StandaloneRequest], decide: Callable[[StandaloneRequest], object]
) -> list[tuple[StandaloneRequest, list[StandaloneRequest]]]:
    kinds: dict[object, list[StandaloneRequest]] = {}
    for demand in demands:
        if demand.refusal is None:
            kinds.setdefault(decide(demand), []).append(demand)
    return [(alike[0], alike) for alike in kinds.values()]


def _of_flavor(flavor: StandaloneRequest) -> object:
    return _checked(flavor), flavor.body["vcpus"], flavor.body["ram"]


def _checked(flavor: StandaloneRequest) -> frozenset[tuple[str, str]]:
    """The extra specs that nova-api compares with an image."""
    specs = flavor.specs
    return frozenset(item for item in specs.items() if not _UNCHECKED.match(item[0]))


def _of_image(image: StandaloneRequest, release: int) -> object:
    found = read_image(decisive(image.body), release)
    traits = (item for item in found.traits() if not _UNCHECKED.match(item[0]))
    return frozenset(found.values.items()), frozenset(traits)


REFUSED_RULES = (refused,)


# Traits that exclude each other, on a host or in a request.


@dataclasses.dataclass(frozen=True)
class Judged:
    """A flavor with traits that some host has.

    :ivar able: roots of hosts that could take it without its traits
    :ivar left: roots of hosts that could take it
    :ivar alone_in_the_way: the traits that alone exclude all hosts
    """

    demand: StandaloneRequest
    able: frozenset[str]
    left: frozenset[str]
    alone_in_the_way: tuple[Trait | RootTrait, ...] = ()


def judged(analysis: Analysis) -> Iterator[Judged]:
    """Flavors whose traits all exist on hosts, and the hosts that are left."""
    for flavor in analysis.flavors:
        if not flavor.traits or not _is_plain(analysis, flavor):
            continue
        able = matching_hosts(analysis, flavor, ())
        left = analysis.flavor_hosts.matching(flavor)
        if left:
            yield Judged(flavor, able, left)
        elif able and not analysis.flavor_hosts.with_any_image(flavor):
            alone = (
                c for c in flavor.traits if not matching_hosts(analysis, flavor, (c,))
            )
            yield Judged(flavor, able, left, tuple(alone))


def _is_plain(analysis: Analysis, demand: StandaloneRequest) -> bool:
    known = all(clause.name in analysis.survey.known_traits for clause in demand.traits)
    return known and not any(missing(analysis, demand)) and not _contradicting(demand)


def missing(
    analysis: Analysis, demand: StandaloneRequest
) -> Iterator[Trait | RootTrait]:
    """Required, known traits that no host has.

    A trait that an image may change is left out if some image finds a host.
    """
    for clause in demand.needs:
        if clause.name not in analysis.survey.known_traits or analysis.hosts.meeting(
            [clause]
        ):
            continue
        if is_certain(clause) or not analysis.flavor_hosts.with_any_image(demand):
            yield clause
    known = analysis.survey.known_traits
    yield from (each for each in lacking(analysis, demand) if each.name in known)


def lacking(
    analysis: Analysis, demand: StandaloneRequest
) -> tuple[Trait | RootTrait, ...]:
    """The traits that an image's properties ask for, and that leave it no host.

    With a flavor such a property could mean something else: each flavor is tried.
    """
    if demand.kind is not SubjectKind.IMAGE:
        return ()
    found = tuple(
        clause
        for clause in demand.clauses
        if isinstance(clause, (Trait, RootTrait))
        and not (clause.forbidden or is_certain(clause) or is_of_format(clause))
        and not analysis.hosts.meeting([clause])
    )
    return found if found and has_no_host(analysis, demand) else ()


def has_no_host(analysis: Analysis, image: StandaloneRequest) -> bool:
    """Whether no host could take an image's properties with any flavor that has hosts.

    Traits that the image names are left out. False if Nova rejects all flavors.
    """
    body = {k: v for k, v in decisive(image.body).items() if not k.startswith("trait:")}
    kind = repr(sorted(body.items()))
    if kind not in analysis.images_without_host:
        analysis.images_without_host[kind] = _is_refused_everywhere(analysis, body)
    return analysis.images_without_host[kind]


def _is_refused_everywhere(analysis: Analysis, image: Body) -> bool:
    is_tried = False
    for flavor in analysis.flavors:
        if not analysis.flavor_hosts.matching(flavor):
            continue
        for from_volume in (False, True):
            try:
                request = analysis.builder.request(flavor.body, image, from_volume)
            except Refusal:
                continue
            is_tried = True
            if analysis.hosts.matching_hosts(request):
                return False
    return is_tried


def matching_hosts(
    analysis: Analysis, flavor: StandaloneRequest, traits: Iterable[Trait | RootTrait]
) -> frozenset[str]:
    """Hosts that could take a flavor if it had only these traits."""
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


@rule("traits-not-together", SubjectKind.FLAVOR)
def not_together(analysis: Analysis) -> Iterator[Fault]:
    """A flavor or an image whose traits no host has together.

    An error; a note for an image with a flavor, which may be meant for different hosts.
    Each trait exists on some host, and still every request fails.
    """
    if not analysis.all_hosts:
        return
    for flavor in judged(analysis):
        if not flavor.left and not flavor.alone_in_the_way:
            yield _apart(flavor.demand, flavor.demand.traits)
    for image in analysis.images:
        plain = image.needs and _is_plain(analysis, image)
        if plain and not _having_all(analysis, image):
            yield _apart(image, image.needs)
    yield from _pairs_not_together(analysis)


def _apart(demand: StandaloneRequest, traits: tuple[Trait | RootTrait, ...]) -> Fault:
    required = [each.name for each in traits if not each.forbidden]
    fix = give(*required) if required else "forbid less"
    if any(each.forbidden and each.name in required for each in traits):
        fix = "require it or forbid it in one group, not both in two"
    problem = f"hosts meet each by itself, and none all together: {together(traits)}"
    return ERROR(demand.name, problem, fix, subject=demand.kind)


def _having_all(analysis: Analysis, image: StandaloneRequest) -> frozenset[str]:
    each = (analysis.hosts.meeting([clause]) for clause in image.needs)
    return analysis.all_hosts.intersection(*each)


def _pairs_not_together(analysis: Analysis) -> Iterator[Fault]:
    """Traits that only isolate aggregates are left out: that is intended."""
    isolated = {name for each in analysis.isolated for name in each.traits}
    flavors = [
        (flavor.demand, flavor.left) for flavor in judged(analysis) if flavor.left
    ]
    for image in analysis.images:
        if {clause.name for clause in image.needs} <= isolated or image.shifts:
            continue
        plain = _is_plain(analysis, image)
        having = _having_all(analysis, image) if plain else frozenset()
        names = tuple(
            flavor.name
            for flavor, left in flavors
            if left.isdisjoint(having) and not _clashing(flavor, image)
        )
        if having and names:
            yield NOTE(
                image.name,
                f"no host has {together(image.needs)} together with the traits of the "
                f"{listed(names, 'flavor')}",
                "do not combine them, or give some host the traits of both",
                flavors=names,
                subject=SubjectKind.IMAGE,
            )


@rule("traits-contradiction", SubjectKind.FLAVOR)
def contradiction(analysis: Analysis) -> Iterator[Fault]:
    """A trait that one request both requires and forbids.

    An error; a note for an image with a flavor, which may be intended. Placement
    rejects such a request.
    """
    # Placement rejects both in one group (placement/lib.py, _check_forbidden).
    for flavor in analysis.flavors:
        for name in _contradicting(flavor):
            if not analysis.flavor_hosts.with_any_image(flavor):
                yield ERROR(
                    flavor.name,
                    f"requires and forbids {name}: Placement rejects every request of "
                    "it",
                    unset(SubjectKind.FLAVOR, [f"trait:{name}"], flavor.id),
                )
    for image in analysis.images:
        clashes: dict[str, list[str]] = {}
        for flavor in analysis.flavors if image.needs else ():
            for name in _clashing(flavor, image):
                clashes.setdefault(name, []).append(flavor.name)
        for name, flavors in sorted(clashes.items()):
            forbid = f"forbid{'s' * (len(flavors) == 1)}"
            yield NOTE(
                image.name,
                f"requires {name}, which the {listed(flavors, 'flavor')} {forbid}: "
                "Placement rejects a request of both",
                "do not combine them",
                flavors=tuple(flavors),
                subject=SubjectKind.IMAGE,
            )


def _contradicting(demand: StandaloneRequest) -> list[str]:
    return _both(demand.traits, demand.traits)


def _clashing(flavor: StandaloneRequest, image: StandaloneRequest) -> list[str]:
    return _both(image.traits, flavor.traits)


def _both(
    requiring: Iterable[Trait | RootTrait], forbidding: Iterable[Trait | RootTrait]
) -> list[str]:
    asked = {_place(clause) for clause in requiring if not clause.forbidden}
    refused = {_place(clause) for clause in forbidding if clause.forbidden}
    return sorted({name for _, name in asked & refused})


def _place(clause: Trait | RootTrait) -> tuple[str | None, str]:
    return (clause.group if isinstance(clause, Trait) else None), clause.name


TOGETHER_RULES = (not_together, contradiction)


# Rules on the traits in flavors, images and aggregates.


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
        derived = lacking(analysis, demand)
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
        for clause in missing(analysis, demand):
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
    for flavor in judged(analysis):
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
    *MALFORMED_RULES,
    bad_value,
    no_host,
    few_hosts,
    *TOGETHER_RULES,
    *REFUSED_RULES,
    unused,
    twins,
)
