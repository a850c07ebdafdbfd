"""Parts of the document of ``explain``: the request, its conditions, and hosts."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple, Optional, Union

from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.doubts import OptionImpact, ReleaseImpact
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import RejectionCause, out_of_sync
from osc_traitsched.core.judge.verdict import ClauseCount
from osc_traitsched.core.nova.clause import (
    AFTER_PLACEMENT,
    Condition,
    HostFilter,
    MemberOf,
    MoveRule,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter.state import FilterResult
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.options import Option as NovaOption
from osc_traitsched.core.nova.question import MOVE_CHECKS
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.documents import JsonObject, Whole, field
from osc_traitsched.views.explain import filters, words
from osc_traitsched.views.own_filters import ANSWERS

_ORIGINS = "flavor image prefilter aggregate option hint group port network volume move"

_KINDS: dict[type, str] = {
    Resource: "resource",
    Trait: "trait",
    RootTrait: "root trait",
    MemberOf: "member of",
    HostFilter: "host filter",
    MoveRule: "move",
}


class _Row(NamedTuple):
    clause: Condition
    id: str
    numbers: Optional[ClauseCount]


class _Amount(NamedTuple):
    clause: Resource
    provider: Provider
    stock: Stock


def clause_ids(clauses: Sequence[Condition]) -> tuple[str, ...]:
    """A name for each condition, as in Placement's query."""
    ids: list[str] = []
    for each in clauses:
        name = _clause_id(each)
        ids.append(name if name not in ids else f"{name}#{ids.count(name) + 1}")
    return tuple(ids)


def _clause_id(each: Condition) -> str:
    if isinstance(each, Resource):
        return f"resources{each.group}:{each.resource_class}"
    if isinstance(each, MemberOf):
        uuids = ",".join(sorted(each.aggregates))
        return f"member_of:{'!' if each.forbidden else ''}in:{uuids}"
    if isinstance(each, AFTER_PLACEMENT):
        return each.name
    prefix = "root_required" if isinstance(each, RootTrait) else f"required{each.group}"
    return f"{prefix}:{'!' if each.forbidden else ''}{each.name}"


def rows(judgement: Judgement) -> Iterator[_Row]:
    """The conditions, each with its ID and numbers of hosts."""
    clauses = judgement.clauses
    ids = clause_ids(clauses)
    yield from map(_Row._make, itertools.zip_longest(clauses, ids, judgement.counts))


def conflicts(judgement: Judgement) -> list[list[str]]:
    """The IDs of conditions that no host meets together."""
    ids = _ids(judgement)
    return [[ids[clause] for clause in clauses] for clauses in judgement.conflicts]


def _ids(judgement: Judgement) -> dict[Condition, str]:
    return dict(zip(judgement.clauses, clause_ids(judgement.clauses)))


def _own(attribute: str) -> Any:
    return field(lambda row: getattr(row.clause, attribute, None), can_be_omitted=True)


def _name(*kinds: type) -> Any:
    return field(
        lambda row: row.clause.name if type(row.clause) in kinds else None,
        can_be_omitted=True,
    )


def _number(attribute: str) -> Any:
    return field(lambda row: row.numbers and getattr(row.numbers, attribute))


def _impact(release: int, whole: Whole) -> Optional[ReleaseImpact]:
    impacts = {
        impact.release: impact for impact in whole.value.judgement.doubts.releases
    }
    return impacts.get(release)


def _option_impact(option: NovaOption, whole: Whole) -> Optional[OptionImpact]:
    impacts = {impact.name: impact for impact in whole.value.judgement.doubts.options}
    return impacts.get(option.name)


def _setting(attribute: str) -> Any:
    def get(option: NovaOption, whole: Whole) -> Any:
        setting = whole.value.judgement.question.assumptions.setting(option.name)
        return getattr(setting, attribute)

    return field(get)


def _is_own(name: str, whole: Whole) -> bool:
    own = whole.value.judgement.question.own
    return name not in FILTERS or (own is not None and name in own.filters)


def _answered(word: str) -> Any:
    def get(name: str, whole: Whole) -> int:
        answers = whole.value.judgement.filtering.judgment.answers[name].values()
        return sum(ANSWERS[type(answer)] == word for answer in answers)

    return field(get)


def _is_given(host: Provider, whole: Whole) -> bool:
    facts = whole.value.judgement.facts
    return bool(facts and host.uuid in facts.candidates)


def _failing(host: Provider, whole: Whole) -> list[str]:
    rejection, ids = (
        whole.value.judgement.rejections.get(host.uuid),
        _ids(whole.value.judgement),
    )
    return [ids[clause] for clause in rejection.failing] if rejection else []


def _correction_sets(host: Provider, whole: Whole) -> list[list[str]]:
    rejection, ids = (
        whole.value.judgement.rejections.get(host.uuid),
        _ids(whole.value.judgement),
    )
    sets = rejection.correction_sets if rejection else ()
    return [[ids[clause] for clause in clauses] for clauses in sets]


def _answers(host: Provider, whole: Whole) -> list[tuple[str, FilterResult]]:
    answers = whole.value.judgement.filtering.answers(host.uuid)
    return [(name, answer) for name, answer in answers if name not in MOVE_CHECKS]


def _weighed(host: Provider, whole: Whole) -> Optional[Provider]:
    ranking = whole.value.judgement.ranking
    return host if ranking and host.uuid in ranking.place_of else None


def _amounts(host: Provider, whole: Whole) -> Iterator[_Amount]:
    for clause in whole.value.judgement.clauses:
        if isinstance(clause, Resource):
            for provider, stock in whole.value.judgement.stock(
                host, clause.resource_class
            ):
                yield _Amount(clause, provider, stock)


class Share(JsonObject):
    """Hosts that are out for one cause."""

    cause: RejectionCause
    """``clause``: they fail a condition. ``together``: they meet each condition, but
    not all of them together. ``placement``: they match by what was read, and Placement
    leaves them out. ``no provider``: Placement has no provider for them. ``not
    listed``: Nova does not list them. ``lost``: Nova has them in a required aggregate,
    and Placement does not."""
    clause: Optional[str] = field(
        lambda share, whole: _ids(whole.value.judgement).get(share.clause)
    )
    """The id of the condition that all of them fail; null for any other cause."""
    hosts: Iterable[str]
    """Their names."""


class Flavor(JsonObject):
    """A flavor."""

    id: Optional[str] = field(lambda body: body.get("id"))
    """The flavor's ID."""
    name: str = field(lambda body: body["name"])
    """The flavor's name."""


class Image(JsonObject):
    """An image."""

    id: Optional[str] = field(lambda body: body.get("id"))
    """The image's ID."""
    name: Optional[str] = field(lambda body: body.get("name"))
    """The image's name; null if it has none."""


class Hint(JsonObject):
    """A scheduler hint."""

    hint: str = field(lambda item: item[0])
    """Its name."""
    values: Iterable[str] = field(lambda item: item[1])
    """Its values, in the order given."""


class Named(JsonObject):
    """A port, a network or a volume."""

    id: str
    """Its ID."""
    name: str
    """Its name; empty if it has none."""


class Request(JsonObject):
    """The server that is requested."""

    flavor: Flavor
    """The flavor."""
    image: Optional[Image] = field(lambda question: question.image or None)
    """The image; null for none."""
    availability_zone: Optional[str] = field("spec.zone")
    """The requested availability zone; null for none."""
    host: Optional[str] = field("spec.on_host")
    """The requested service host; null for none."""
    hypervisor_hostname: Optional[str] = field("spec.on_node")
    """The requested compute node; null for none."""
    project_id: Optional[str] = field("project")
    """The ID of the project that the server is for."""
    boot_from_volume: bool = field("spec.boot_from_volume")
    """The root disk is a volume."""
    count: int = field("spec.count")
    """How many such servers."""
    hints: Iterable[Hint] = field(lambda question: sorted(question.spec.hints.items()))
    """The scheduler hints, by name."""
    server_group: Optional[str] = field(
        lambda question: question.group.name if question.group else None
    )
    """The name of the server group; null for none."""
    ports: Iterable[Named] = field("parts.ports")
    """The ports of the request that exist already."""
    networks: Iterable[Named] = field("parts.networks")
    """The networks on which Nova would create ports."""
    volumes: Iterable[Named] = field("parts.volumes")
    """The volumes of the request."""


class Impact(JsonObject):
    """What would change with another value of an option, or in another release."""

    gained: int
    """How many more hosts could take the server."""
    lost: int
    """How many hosts could not take it any more."""
    rejected: bool
    """Nova would reject the request."""


class OtherRelease(JsonObject):
    """Another release that the cloud may run: it has the same compute API."""

    major: int = field(lambda release: release)
    """Nova's major version."""
    name: str = field(lambda release: RELEASES[release])
    """OpenStack's name for the release."""
    impact: Optional[Impact] = field(_impact)
    """What that release would change; null if nothing. If Nova rejects the request
    before any host is judged, it is not null for a release that would not reject it."""


class Release(JsonObject):
    """The release of Nova whose rules apply."""

    major: int = field("release")
    """Nova's major version."""
    name: str = field(lambda settings: RELEASES[settings.release])
    """OpenStack's name for the release."""
    source: str = field("release_source")
    """How the release is known."""
    others: Iterable[OtherRelease] = field(
        lambda settings: [other.release for other in settings.others]
    )
    """The other releases that the cloud may run; empty if the release was named."""


class Assumption(JsonObject):
    """An option of nova.conf that the release has, or the database's collation."""

    option: str = field("name")
    """``section.option``; ``database_collation`` has no section."""
    value: Union[bool, int, float, str, Iterable[str], None] = _setting("value")
    """Its value; a list if the option has several."""
    source: str = _setting("source")
    """Where the value comes from: a file and line, a parameter, ``--set``, or the
    default of a release or a distribution."""
    given: bool = _setting("given")
    """It was given; false for a default that is only assumed."""
    impact: Optional[Impact] = field(_option_impact)
    """What switching the option would change; null if nothing, if there is nothing to
    switch, or if filters or weighers read it."""


class Origin(JsonObject):
    """Where a condition of the request comes from."""

    kind: Annotated[str, tuple(_ORIGINS.split())]
    """What it comes from."""
    key: str
    """The key of the flavor, the image or the aggregate's metadata; of a prefilter,
    Nova's name for it."""
    aggregate: Optional[str] = field(
        lambda origin: origin.name if origin.kind == "aggregate" else None
    )
    """The aggregate's name; null for other origins."""
    name: Optional[str] = field(lambda origin: origin.name or None)
    """The name of the aggregate, port, network, volume or server group; else null."""
    option: Optional[str] = field(lambda origin: origin.option or None)
    """The option of nova.conf that enables the prefilter, as ``section.option``; or
    null."""


class Clause(JsonObject):
    """A condition of the request. Which fields it has depends on its ``kind``."""

    id: str = field("id")
    """The condition's name in this document."""
    kind: Annotated[
        str, ("resource", "trait", "root trait", "member of", "host filter", "move")
    ] = field(lambda row: _KINDS[type(row.clause)])
    """``root trait``: a trait of the root provider. ``member of``: the aggregates of a
    host. ``move``: what a move requires of hosts, only in ``server destinations``. A
    host filter that passes all hosts is left out."""
    group: Optional[str] = _own("group")
    """Of a resource and a trait: the suffix of its group; empty for the unsuffixed
    one."""
    resource_class: Optional[str] = _own("resource_class")
    """Of a resource: the resource class."""
    amount: Optional[int] = _own("amount")
    """Of a resource: how much is required, in the unit of the class."""
    aggregates: Optional[Iterable[str]] = _own("aggregates")
    """Of a member of: the UUIDs of aggregates. A host must be in one of them, or in
    none."""
    trait: Optional[str] = _name(Trait, RootTrait)
    """Of a trait and a root trait: the trait."""
    forbidden: Optional[bool] = _own("forbidden")
    """Of a trait, a root trait and a member of: a host must not have the trait, or must
    be in none of the aggregates."""
    filter: Optional[str] = _name(HostFilter)
    """Of a host filter: its name."""
    rule: Optional[Annotated[str, ("move:source", "move:hypervisor")]] = _name(MoveRule)
    """Of a move: ``move:source`` is the host that the server is on, which most moves
    leave out. ``move:hypervisor`` is the type and version of the hypervisor, which
    nova-conductor compares for a live migration."""
    text: str = field(
        lambda row, whole: words.clause(row.clause, whole.value.judgement)
    )
    """The condition in words."""
    origins: Iterable[Origin] = field("clause.origins")
    """Where it comes from, one or more."""
    alone: Optional[int] = _number("alone")
    """How many hosts meet the condition by itself; null if no host was judged."""
    only: Optional[int] = _number("only")
    """How many hosts fail nothing but this condition; null if no host was judged."""
    left: Optional[int] = _number("left")
    """How many hosts meet it and all conditions above it; null if no host was
    judged."""


class FilterCounts(JsonObject):
    """A host filter of nova-scheduler, run on all compute nodes."""

    filter: str = field(lambda name: name)
    """Its name."""
    own: bool = field(_is_own)
    """It is not one of Nova's. Without ``--nova-python`` all its answers are
    unknown."""
    yes: int = _answered("yes")
    """How many hosts it passes."""
    no: int = _answered("no")
    """How many hosts it keeps out."""
    unknown: int = _answered("unknown")
    """For how many hosts it reads what no API shows."""
    exception: int = _answered("exception")
    """On how many hosts it fails, which ends the whole request if it comes to them."""


class FilterAnswer(JsonObject):
    """A host filter that does not surely pass a host."""

    filter: str = field(lambda row: row[0])
    """Its name."""
    answer: Annotated[str, ("no", "unknown", "exception")] = field(
        lambda row: ANSWERS[type(row[1])]
    )
    """``no``: it keeps the host out. ``unknown``: it reads what no API shows.
    ``exception``: it fails."""
    text: str = field(lambda row: filters.answer(row[1], row[0]))
    """Why, in words."""


class WeightTerm(JsonObject):
    """What a weigher adds to a host's weight: multiplier times normalized."""

    weigher: str
    """Its name."""
    raw: float
    """The weight that it gives the host."""
    normalized: float
    """The same among all candidates, from 0 to 1."""
    multiplier: float
    """The multiplier of the option, or of the host's aggregates."""


class Weight(JsonObject):
    """What nova-scheduler's weighers give a candidate."""

    total: float = field(
        lambda host, whole: whole.value.judgement.ranking.total(host.uuid)
    )
    """The sum of the terms."""
    place: int = field(
        lambda host, whole: whole.value.judgement.ranking.place_of[host.uuid]
    )
    """Its place in the order of hosts, from 1; hosts of equal weight share a place."""
    terms: Iterable[WeightTerm] = field(
        lambda host, whole: whole.value.judgement.ranking.terms(host.uuid)
    )
    """What each weigher adds; empty for a single candidate."""


class Inventory(JsonObject):
    """What a provider of a host has of a requested resource class."""

    provider_name: str = field("provider.name")
    """The name of the provider."""
    resource_class: str = field("clause.resource_class")
    """The resource class."""
    asked: int = field("clause.amount")
    """How much is requested."""
    free: int = field("stock.free")
    """How much is left: capacity - used, and not below zero."""
    capacity: int = field("stock.capacity")
    """How much can be allocated: (total - reserved) * allocation_ratio."""
    used: int = field("stock.used")
    """How much is allocated."""
    total: Optional[int] = field("stock.total")
    """The inventory's total; this and all below are null if it was not read."""
    reserved: Optional[int] = field("stock.reserved")
    """How much of the total is reserved."""
    allocation_ratio: Optional[float] = field("stock.ratio")
    """The overcommit ratio."""
    min_unit: Optional[int] = field("stock.min_unit")
    """The least that one request can ask for."""
    max_unit: Optional[int] = field("stock.max_unit")
    """The most that one request can ask for."""
    step_size: Optional[int] = field("stock.step_size")
    """An amount must be a multiple of it."""


class Service(JsonObject):
    """The nova-compute of a host."""

    host: str = field("service_host")
    """The name of the service host."""
    up: bool = field("is_up")
    """It reports to Nova."""
    enabled: bool = field("is_enabled")
    """It is enabled."""
    disabled_reason: Optional[str] = field(
        lambda compute: compute.disabled_reason or None
    )
    """Why it is disabled, in the words of whoever did it; null for no reason."""


class OutOfSyncAggregate(JsonObject):
    """An aggregate that only Nova, or only Placement, has the host in."""

    aggregate: str
    """Its name."""
    in_nova: bool
    """Nova has the host in it."""
    in_placement: bool = field(lambda aggregate: not aggregate.in_nova)
    """Placement has the host in it."""


class Host(JsonObject):
    """A host, and why it can take the server or not."""

    host: str = field("name")
    """The name of its root provider."""
    provider_uuid: str = field("uuid")
    """The UUID of its root provider."""
    candidate: bool = field(
        lambda host, whole: whole.value.judgement.is_candidate(host)
    )
    """Placement returns it, and no host filter keeps it out."""
    given_by_placement: bool = field(_is_given)
    """Placement returns it."""
    failing: Iterable[str] = field(_failing)
    """The ids of the conditions that it fails, each by itself."""
    correction_sets: Iterable[Iterable[str]] = field(_correction_sets)
    """The minimal sets of conditions, by id, without which it could take the server.
    One set is ``failing``, with more conditions if the rest can't be met together."""
    filters: Iterable[FilterAnswer] = field(_answers)
    """The host filters that do not surely pass it."""
    weight: Optional[Weight] = field(_weighed)
    """Its weight; null for a host that can't take the server."""
    inventories: Iterable[Inventory] = field(_amounts)
    """What its providers have of the requested resource classes. It is read for the
    hosts of ``--host``, for a few that represent others, and for all that lack room if
    they are at most 25. With ``--long``: for all that lack room. Other hosts may have
    none."""
    service: Optional[Service] = field(
        lambda host, whole: whole.value.judgement.computes.get(host.uuid)
    )
    """Its nova-compute; null if Nova has none for this provider."""
    out_of_sync_aggregates: Iterable[OutOfSyncAggregate] = field(
        lambda host, whole: out_of_sync(whole.value.judgement, host)
    )
    """The request's aggregates that are not in sync for this host."""
