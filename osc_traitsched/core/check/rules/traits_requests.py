"""Rules of the area traits: requests that no host can meet."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Iterator

from osc_traitsched.core.check.analysis import Analysis, decisive
from osc_traitsched.core.check.finding import ERROR, NOTE, Fault, Severity, SubjectKind
from osc_traitsched.core.check.rule import rule
from osc_traitsched.core.check.survey import StandaloneRequest, is_certain, is_of_format
from osc_traitsched.core.check.words import aggregate_name, give, together, unset
from osc_traitsched.core.errors import Refusal, nova
from osc_traitsched.core.inventory import trait
from osc_traitsched.core.inventory.metadata import trait_in
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.clause import RootTrait, Trait
from osc_traitsched.core.nova.question import Body
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server.image import read as read_image
from osc_traitsched.paste import Command
from osc_traitsched.text import did_you_mean, listed, quoted

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
    problem = f"Nova rejects every server of it: {nova.wrong(refusal)}"
    return ERROR(demand.name, problem, nova.right(refusal), subject=demand.kind)


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
                    f"{listed(sorted(names), 'flavor')}: {nova.wrong(refusal)}",
                    f"do not combine them, or {nova.right(refusal)}",
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
