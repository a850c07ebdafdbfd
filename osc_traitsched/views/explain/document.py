"""The document of ``explain``: the request, its conditions, hosts and fixes."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union

from osc_traitsched.core.answer import Answer, Reason
from osc_traitsched.core.errors import (
    CloudBroke,
    NotForProject,
    PlacementRefuses,
    Refusal,
    TraitSchedError,
)
from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge.doubts import OptionImpact, ReleaseImpact
from osc_traitsched.core.judge.fix import HostFix, RequestFix
from osc_traitsched.core.judge.judge import Explanation, differing, kept_out_by
from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest, RequestResult
from osc_traitsched.core.judge.reasons import (
    RejectionCause,
    breakdown,
    out_of_sync,
    picks,
)
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
from osc_traitsched.core.nova.filter.table import FILTERS, is_list_known
from osc_traitsched.core.nova.options import Option as NovaOption
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.question import MOVE_CHECKS
from osc_traitsched.core.nova.request import Request as NovaRequest
from osc_traitsched.core.nova.weighers import Assumption as WeighingAssumption
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.documents import JsonObject, Whole, field
from osc_traitsched.paste import Option, line
from osc_traitsched.views.diff import SinceDocument
from osc_traitsched.views.explain import fixes, reasons, words
from osc_traitsched.views.explain import verdict as explain_verdict
from osc_traitsched.views.explain.reasons import ANSWERS
from osc_traitsched.views.moves import DrainStep

# Parts of the document of ``explain``: the request, its conditions, and hosts.


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


def rows(judgement: RequestResult) -> Iterator[_Row]:
    """The conditions, each with its ID and numbers of hosts."""
    verdict = judgement.verdict if isinstance(judgement, Judgement) else None
    asked = verdict or judgement.request
    clauses, counts = asked.clauses if asked else (), verdict.counts if verdict else ()
    ids = clause_ids(clauses)
    yield from map(_Row._make, itertools.zip_longest(clauses, ids, counts))


def conflicts(judgement: Judgement) -> list[list[str]]:
    """The IDs of conditions that no host meets together."""
    ids = _ids(judgement)
    return [
        [ids[clause] for clause in clauses] for clauses in judgement.verdict.conflicts
    ]


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


class ShareJson(JsonObject):
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


class FlavorJson(JsonObject):
    """A flavor."""

    id: Optional[str] = field(lambda body: body.get("id"))
    """The flavor's ID."""
    name: str = field(lambda body: body["name"])
    """The flavor's name."""


class ImageJson(JsonObject):
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


class RequestJson(JsonObject):
    """The server that is requested."""

    flavor: FlavorJson
    """The flavor."""
    image: Optional[ImageJson] = field(lambda question: question.image or None)
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


class ImpactJson(JsonObject):
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
    impact: Optional[ImpactJson] = field(_impact)
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


class AssumptionJson(JsonObject):
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
    impact: Optional[ImpactJson] = field(_option_impact)
    """What switching the option would change; null if nothing, if there is nothing to
    switch, or if filters or weighers read it."""


class OriginJson(JsonObject):
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
    origins: Iterable[OriginJson] = field("clause.origins")
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


class FilterAnswerJson(JsonObject):
    """A host filter that does not surely pass a host."""

    filter: str = field(lambda row: row[0])
    """Its name."""
    answer: Annotated[str, ("no", "unknown", "exception")] = field(
        lambda row: ANSWERS[type(row[1])]
    )
    """``no``: it keeps the host out. ``unknown``: it reads what no API shows.
    ``exception``: it fails."""
    text: str = field(lambda row: reasons.answer(row[1], row[0]))
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


class InventoryJson(JsonObject):
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


class ServiceJson(JsonObject):
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


class HostJson(JsonObject):
    """A host, and why it can take the server or not."""

    host: str = field("name")
    """The name of its root provider."""
    provider_uuid: str = field("uuid")
    """The UUID of its root provider."""
    candidate: bool = field(
        lambda host, whole: host in whole.value.judgement.candidates
    )
    """Placement returns it, and no host filter keeps it out."""
    given_by_placement: bool = field(
        lambda host, whole: host.uuid in whole.value.judgement.facts.candidates
    )
    """Placement returns it."""
    failing: Iterable[str] = field(_failing)
    """The ids of the conditions that it fails, each by itself."""
    correction_sets: Iterable[Iterable[str]] = field(_correction_sets)
    """The minimal sets of conditions, by id, without which it could take the server.
    One set is ``failing``, with more conditions if the rest can't be met together."""
    filters: Iterable[FilterAnswerJson] = field(_answers)
    """The host filters that do not surely pass it."""
    weight: Optional[Weight] = field(_weighed)
    """Its weight; null for a host that can't take the server."""
    inventories: Iterable[InventoryJson] = field(_amounts)
    """What its providers have of the requested resource classes. It is read for the
    hosts of ``--host``, for a few that represent others, and for all that lack room if
    they are at most 25. With ``--long``: for all that lack room. Other hosts may have
    none."""
    service: Optional[ServiceJson] = field(
        lambda host, whole: whole.value.judgement.computes.get(host.uuid)
    )
    """Its nova-compute; null if Nova has none for this provider."""
    out_of_sync_aggregates: Iterable[OutOfSyncAggregate] = field(
        lambda host, whole: out_of_sync(whole.value.judgement, host)
    )
    """The request's aggregates that are not in sync for this host."""


# The documents of ``explain``.


SureAnswer = Annotated[str, ("yes", "no", "exception")]


def names(providers: Iterable[Provider]) -> list[str]:
    """The names of providers, in their order."""
    return [provider.name for provider in providers]


def of_result(get: Callable[[RequestResult], Any]) -> Any:
    """A field of an explanation whose value is taken from its judgement or refusal."""
    return field(lambda explanation: get(explanation.judgement))


def of_judgement(get: Callable[[Judgement], Any], otherwise: Any = ()) -> Any:
    """A field of an explanation or a judgement, whose value is taken from the latter.

    :param otherwise: its value if the request is rejected before any host is judged
    """

    def value(whole: Any) -> Any:
        found = getattr(whole, "judgement", whole)
        return get(found) if isinstance(found, Judgement) else otherwise

    return field(value)


def named(attribute: str) -> Any:
    """A field with the names of providers, which an attribute of a judgement has."""
    providers = operator.attrgetter(attribute)
    return of_judgement(lambda found: names(providers(found)))


def verdict(judgement: RequestResult) -> str:
    """The answer in a word or two."""
    if isinstance(judgement, RefusedRequest) or judgement.refusal is not None:
        return "rejected"
    if judgement.is_in_doubt:
        return "disagreement"
    if judgement.answer.is_open:
        return "unknown"
    if judgement.answer is Answer.YES:
        return "candidates"
    return "no room" if judgement.candidates else "no host"


def _before(attribute: str) -> Any:
    def get(name: str, whole: Whole) -> Any:
        settings = whole.value.without_set.question.assumptions
        return getattr(settings.setting(name), attribute)

    return field(get)


def _query(request: Optional[NovaRequest]) -> Optional[str]:
    return request.query() if request else None


def _changed(
    judgement: Judgement, hosts: Sequence[Provider]
) -> Iterator[tuple[Provider, tuple[str, ...]]]:
    for filters, kept_out in kept_out_by(judgement, hosts).items():
        yield from ((host, filters) for host in kept_out)


def _differing(whole: Whole) -> tuple[tuple[Provider, ...], tuple[Provider, ...]]:
    return differing(whole.value.judgement, whole.value.without_set)


def _commands(change: Any, whole: Whole) -> list[Optional[str]]:
    commands = fixes.commands(change, whole.value.judgement)
    return [line(command, whole.options) for command in commands]


def _stage(refusal: TraitSchedError) -> Optional[str]:
    if isinstance(refusal, Refusal):
        return refusal.stage
    # nova-api does not find what the project may not use.
    return "api" if isinstance(refusal, NotForProject) else None


def _assumed_off(judgement: Judgement) -> Iterator[tuple[str, list[str]]]:
    filtering = judgement.filtering
    if not is_list_known(judgement.question.assumptions):
        for name in filter(FILTERS.__contains__, filtering.unsettled):
            roots = filtering.unknown_hosts[name]
            hosts = [h.name for h in judgement.candidates if h.uuid in roots]
            if hosts:
                yield name, hosts


def _host_names(judgement: Judgement) -> dict[str, str]:
    return {host.uuid: host.name for host in judgement.hosts}


def _concerned(assumption: WeighingAssumption, whole: Whole) -> list[str]:
    names = _host_names(whole.value.judgement)
    return sorted(names.get(uuid, uuid) for uuid in assumption.hosts)


def _differences(own: Any, whole: Whole) -> Iterator[tuple[Any, str]]:
    names = _host_names(whole.value.judgement)
    for difference in whole.value.judgement.filtering.differences:
        yield difference, names.get(difference.host, difference.host)


class DependenceJson(JsonObject):
    """An unknown option or host filter whose other value changes the candidates."""

    option: str = field("name")
    """``section.option``, or the name of a host filter."""
    assumed: Union[bool, int, float, str, Iterable[str], None]
    """The value that the answer assumes."""
    source: str
    """Why it is assumed: a default, or what the cloud shows."""
    hosts: int
    """How many candidates there are with that value."""
    otherwise: int
    """How many there would be with the other value."""
    more: Iterable[str]
    """Options and filters that have to have their other value, too."""
    decides: bool = field(
        lambda dependence, whole: dependence in whole.value.judgement.open.turning
    )
    """Whether the other value turns the verdict."""


class RejectedRequest(JsonObject):
    """Why the request as a whole is rejected."""

    by: Annotated[str, ("nova", "placement")] = field(
        lambda refusal: "placement" if isinstance(refusal, PlacementRefuses) else "nova"
    )
    """Who rejects it."""
    exception: Optional[str] = field(
        lambda refusal: refusal.exception if isinstance(refusal, Refusal) else None
    )
    """Nova's exception; null for Placement, and for a flavor or an image that the
    project may not use."""
    keys: Iterable[str] = field(
        lambda refusal: refusal.keys if isinstance(refusal, Refusal) else ()
    )
    """The keys of the flavor and the image that it concerns, or the availability
    zone."""
    stage: Optional[Annotated[str, ("api", "scheduler", "no valid host")]] = field(
        _stage
    )
    """``api``: Nova rejects it at once. ``scheduler``: the server goes to ERROR with
    that exception. ``no valid host``: it goes to ERROR as if no host matched. Null for
    Placement."""
    text: str = field(
        lambda refusal, whole: words.text(
            refusal, whole.value.judgement.question.move is not None
        )
    )
    """The rejection in one line, for a person."""


class WeightAssumption(JsonObject):
    """An assumption behind weights and ``picks``, since no API shows it."""

    weigher: Optional[str] = field(lambda assumption: assumption.weigher or None)
    """The weigher that reads it; null for all of them."""
    missing: Optional[str] = field(lambda assumption: assumption.missing or None)
    """What is not shown, under Nova's name; null for an unknown weigher."""
    hosts: Iterable[str] = field(_concerned)
    """The hosts that it concerns, sorted; empty for all candidates."""
    text: str = field(reasons.assumption)
    """What is assumed, in words."""


class FilterAssumedOff(JsonObject):
    """A host filter that may be on, and that could keep candidates out."""

    filter: str = field(lambda row: row[0])
    """Its name."""
    hosts: Iterable[str] = field(lambda row: row[1])
    """The candidates that it could keep out, by name."""


class DifferenceJson(JsonObject):
    """A host on which a filter of Nova and its copy here disagree. Nova is believed."""

    filter: str = field(lambda row: row[0].filter)
    """The filter's name."""
    host: str = field(lambda row: row[1])
    """The host's name."""
    here: SureAnswer = field(lambda row: ANSWERS[type(row[0].ours)])
    """The answer of the copy here."""
    nova: SureAnswer = field(lambda row: ANSWERS[type(row[0].novas)])
    """The answer of Nova's filter."""


class InNova(JsonObject):
    """What ran in the Nova of ``--nova-python``."""

    nova: str = field("version")
    """Its version."""
    compared: Iterable[str] = field(lambda own: sorted(own.novas))
    """Nova's own filters that ran there too, with ``--with-nova``."""
    differences: Iterable[DifferenceJson] = field(_differences)
    """The hosts on which they disagree with the filters here, if both are sure."""


class OtherSetting(JsonObject):
    """An option that ``--set`` changes."""

    option: str = field(lambda name: name)
    """``section.option``"""
    value: Union[bool, int, float, str, Iterable[str], None] = _before("value")
    """Its value without ``--set``."""
    source: str = _before("source")
    """Where that value comes from, for a person."""


class ChangedHost(JsonObject):
    """A candidate only with ``--set`` and ``--ratio``, or only without."""

    host: str = field(lambda row: row[0].name)
    """Its name."""
    filters: Iterable[str] = field(lambda row: row[1])
    """The host filters that keep it out otherwise; empty if Placement does."""


class WithoutSet(JsonObject):
    """The answer without ``--set`` and ``--ratio``."""

    settings_from: Optional[str] = field("question.assumptions.place")
    """Where those settings are from, for a person."""
    options: Iterable[OtherSetting] = field(
        lambda before, whole: whole.value.judgement.question.assumptions.set_otherwise
    )
    """The options that ``--set`` changes."""
    ratios: Iterable[str] = field(lambda before, whole: whole.value.ratios)
    """The ratios of ``--ratio``, such as ``ratio MEMORY_MB=2``; empty without it."""
    summary: str = field(words.verdict)
    """The verdict without them, in one line."""
    rejection: Optional[RejectedRequest] = field("refusal")
    """Why the request would be rejected without them; null if it would not."""
    candidates: Iterable[str] = named("candidates")
    """The names of the candidates without them."""
    uncertain_candidates: Iterable[str] = named("candidates.uncertain")
    """Those of them that a host filter may keep out."""
    picks: Iterable[str] = of_judgement(lambda before: names(picks(before)))
    """nova-scheduler would pick one of these; empty if that is not known, or if Nova's
    query would differ."""
    let_in: Iterable[ChangedHost] = field(
        lambda before, whole: _changed(before, _differing(whole)[0])
    )
    """The candidates only with them."""
    kept_out: Iterable[ChangedHost] = field(
        lambda before, whole: _changed(whole.value.judgement, _differing(whole)[1])
    )
    """The candidates only without them."""


class AdviceJson(JsonObject):
    """Where to look, or a name to correct. It was not tried."""

    text: str = field(lambda advice, whole: fixes.advice(advice, whole.value.judgement))
    """What is wrong, and what to do."""
    commands: Iterable[str] = field(_commands)
    """The commands that correct a name, to paste into a shell; else empty."""


class Fix(JsonObject):
    """A change that would help. It was tried."""

    target: Annotated[str, ("hosts", "request")] = field(
        lambda fix: "hosts" if isinstance(fix, HostFix) else "request"
    )
    """What to change."""
    text: str = field(lambda fix, whole: fixes.word(fix, whole.value.judgement))
    """The change in words."""
    caution: Optional[str] = field(fixes.caution)
    """What to consider first; null if nothing is at risk."""
    deciding_filters: Iterable[str] = field("deciding")
    """The host filters that decide on the gained hosts, since their answers can't be
    known; empty if the gain is certain."""
    gained_hosts: Iterable[str] = field(
        lambda fix, whole: fixes.hosts(fix, whole.value.judgement)
    )
    """The names of hosts that can't take the server now and could then; or might, if
    filters decide."""
    is_cut: bool = field(lambda fix: isinstance(fix, RequestFix) and fix.is_cut)
    """There may be more such hosts: Placement was asked for a limited number."""
    lost_hosts: Iterable[str] = field(
        lambda fix, whole: fixes.lost(fix, whole.value.judgement)
    )
    """The names of the hosts that can take the server now, and could not then."""
    min_servers: Optional[int] = field(lambda fix: fix.room.least if fix.room else None)
    """How many of the requested servers surely find a host then; null for one server.
    If no fix reaches all of them, the fixes are those that come nearest."""
    max_servers: Optional[int] = field(lambda fix: fix.room.most if fix.room else None)
    """How many find a host then, at most; null for one server."""
    commands: Iterable[str] = field(_commands)
    """Commands to run, with the global options that chose this cloud. Empty if no
    command does all of it, if an operator must decide first, or if a name in one can't
    be printed."""


class MakeRoom(JsonObject):
    """Moves of running servers that make room for all requested servers."""

    tried: Iterable[str]
    """The hosts whose servers were tried, nearest first."""
    hosts: Iterable[str]
    """The hosts with room after the moves, by name; empty if no moves make room."""
    moves: Iterable[DrainStep] = field("steps")
    """The moves, in order; empty if none make room."""
    deciding_filters: Iterable[str] = field("deciding")
    """Host filters that decide on these hosts, since their answers can't be known."""


class Disagreement(JsonObject):
    """Hosts on which the matcher here and Placement disagree. Placement is believed.

    All three lists are usually empty. On a busy cloud they may have single hosts: the
    verdict stands while both find a host, or both find none.
    """

    unjudged_roots: Iterable[str] = named("unjudged_roots")
    """The names of root providers that Placement returns, and that neither Nova lists
    as hosts nor others share. They are not judged."""
    wrongly_admitted: Iterable[str] = named("wrongly_admitted")
    """The names of hosts that match by what was read, and that Placement leaves out."""
    wrongly_rejected: Iterable[str] = named("wrongly_rejected")
    """The names of hosts that do not match by what was read, and that Placement
    returns."""


class NotEvaluatedJson(JsonObject):
    """Something that the answer does not cover."""

    kind: str
    """What it is, for a program."""
    text: str
    """What it is, in one line for a person."""


class ExplainDocument(JsonObject):
    """What ``explain`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    verdict: Annotated[
        str,
        ("candidates", "no host", "no room", "unknown", "rejected", "disagreement"),
    ] = of_result(verdict)
    """The answer in a word or two."""
    reason: Reason = field("judgement.reason")
    """Why, in one word of :ref:`reasons`."""
    summary: str = of_result(words.verdict)
    """The verdict in one line, for a person."""
    why: str = of_judgement(explain_verdict.sentence, "")
    """Why the other hosts are out, in one sentence; empty if none is, or if they were
    not judged."""
    shares: Iterable[ShareJson] = of_judgement(breakdown)
    """Why the other hosts are out. Each host is counted once: with the candidates they
    add up to ``total_hosts``."""
    request: RequestJson = field("judgement.question")
    """The request."""
    release: Release = field("judgement.question.assumptions")
    """The release of Nova whose rules apply."""
    settings_from: Optional[str] = field("judgement.question.assumptions.place")
    """Where the scheduler's settings are from, in words; null if none were named or
    found."""
    assumptions: Iterable[AssumptionJson] = of_result(
        lambda judgement: options_in(judgement.question.assumptions.release)
    )
    """The options of nova.conf that the request depends on, and the collation of Nova's
    database. No API shows them."""
    rejection: Optional[RejectedRequest] = field("judgement.refusal")
    """Why the request as a whole is rejected; null if it is not."""
    query: Optional[str] = of_result(lambda judgement: _query(judgement.request))
    """The query of ``GET /allocation_candidates``, byte for byte as Nova sends it; null
    if Nova rejects the request before."""
    fallback_query: Optional[str] = of_result(
        lambda judgement: _query(judgement.request and judgement.request.fallback)
    )
    """The second query that Nova sends for a server with dedicated CPUs: it requests
    VCPU in place of PCPU. Null for none."""
    since: Optional[SinceDocument] = field("since", can_be_omitted=True)
    """The hosts in an earlier snapshot, and what changed: with ``--since``."""
    total_hosts: int = field("judgement.total_hosts")
    """How many hosts Nova has, without providers that it does not list."""
    candidates: Iterable[str] = named("candidates")
    """The names of the hosts that Placement returns and that no host filter keeps out,
    sorted."""
    depends: bool = of_result(
        lambda found: found.open.depends or found.open.may_be_rejected
    )
    """Whether options that are not known decide the verdict."""
    dependences: Iterable[DependenceJson] = field("judgement.open.dependences")
    """Options and host filters that are not known, and whose other value changes the
    candidates."""
    sure_candidates: Iterable[str] = named("sure_candidates")
    """The candidates that stay candidates with the other value of each of these options
    alone, and that no host filter may keep out; sorted."""
    uncertain_candidates: Iterable[str] = named("candidates.uncertain")
    """The candidates that a host filter may keep out, since it reads what no API shows,
    sorted; all of them, if one host may end the request."""
    picks: Iterable[str] = of_judgement(lambda judgement: names(picks(judgement)))
    """The candidates that nova-scheduler may try first, sorted; several if their
    weights are equal or ``host_subset_size`` leaves it to chance. It is assumed that
    all filters pass all candidates. Empty if Nova may not see all candidates, or if it
    depends on earlier requests."""
    weight_assumptions: Iterable[WeightAssumption] = of_judgement(reasons.assumptions)
    """What weights and ``picks`` assume. Empty if fewer than two candidates are
    weighed."""
    fallback_candidates: Iterable[str] = named("fallback_candidates")
    """The candidates that only the fallback query returns."""
    cut_off_candidates: Iterable[str] = named("cut_off_candidates")
    """The candidates that Placement returns only if asked for them alone, since it
    truncates its answers at its own maximum."""
    min_servers: int = of_judgement(lambda found: found.room.least, 0)
    """How many such servers surely find a host, in whatever order hosts are tried."""
    max_servers: int = of_judgement(lambda found: found.room.most, 0)
    """How many such servers find a host, at most."""
    allocation_request_count: int = of_judgement(
        lambda judgement: sum(judgement.allocation_request_counts), 0
    )
    """How many allocation requests Placement's answers have. Nova takes at most
    ``scheduler.max_placement_results`` of each answer."""
    clauses: Iterable[Clause] = of_result(rows)
    """The conditions of the request, in Nova's order. Host filters come last."""
    filters: Iterable[FilterCounts] = of_judgement(
        lambda judgement: judgement.filtering.filters
    )
    """The host filters that are on, in Nova's order; none if a host is forced."""
    filters_assumed_off: Iterable[FilterAssumedOff] = of_judgement(_assumed_off)
    """Filters of the release that are off, and that might keep candidates out if they
    were on. Empty if it is known which filters are on."""
    in_nova: Optional[InNova] = field("judgement.question.own")
    """What ran in the Nova of ``--nova-python``; null if nothing did."""
    hosts: Iterable[HostJson] = field(
        lambda explanation: explanation.named or explanation.judgement.hosts
    )
    """The hosts, by name: all of them, or those of ``--host``. Empty if the request is
    rejected, except for an availability zone that has hosts."""
    computes_without_provider: Iterable[str] = of_judgement(
        lambda judgement: [
            compute.node for compute in judgement.computes_without_provider
        ]
    )
    """The names of Nova's compute nodes without a provider in Placement: no server can
    go there."""
    unmanaged_roots: Iterable[str] = named("unmanaged_roots")
    """The names of Placement's root providers that Nova does not use as compute nodes.
    They are not judged."""
    unlisted_computes: Iterable[str] = named("unlisted_computes")
    """The names of root providers that a nova-compute created, but whose compute nodes
    Nova does not list: its list may be incomplete. They are not judged."""
    conflicts: Iterable[Iterable[str]] = of_judgement(conflicts)
    """The minimal sets of conditions, by id, that no host meets together; empty if
    there are candidates."""
    without_set: Optional[WithoutSet]
    """The answer without ``--set`` and ``--ratio``; null if they change nothing, or if
    Nova rejects the request before any host is considered."""
    advice: Iterable[AdviceJson]
    """Where to look if no change can be tried: what no host reports, a trait that does
    not exist and its near name, a full server group."""
    fixes: Iterable[Fix]
    """Fixes that would work, safest first: sync an aggregate, change hosts, use another
    zone, image or size, change an image, enable a host. Fixes to decide on come last.
    Empty with ``--no-fixes``, and if there is room unless ``--fixes`` is given."""
    make_room: Optional[MakeRoom]
    """The moves that ``--make-room`` found; null without it, and if there is room."""
    disagreement: Disagreement = field("judgement")
    """The hosts on which the matcher here and Placement disagree."""
    not_evaluated: Iterable[NotEvaluatedJson] = of_result(words.not_evaluated)
    """What the answer does not cover."""


class FlavorHostsJson(JsonObject):
    """A flavor with the image."""

    flavor: FlavorJson = field("question.flavor")
    """The flavor."""
    candidates: Iterable[str] = named("candidates")
    """The hosts that could take a server now, by name."""
    uncertain: Iterable[str] = named("candidates.uncertain")
    """Those of them that a host filter may reject, since it reads what no API shows."""
    total_hosts: int
    """How many hosts were judged; 0 if the request is rejected."""
    rejection: Optional[str] = field(
        lambda judgement: str(judgement.refusal) if judgement.refusal else None
    )
    """Why Nova or Placement rejects the flavor with the image; null if neither does."""
    reason: Reason
    """Why, in one word of :ref:`reasons`."""
    reasons: Iterable[str] = field(explain_verdict.flavor_reasons)
    """Why the other hosts are out, each counted once."""


def document(
    explanation: Explanation, options: Sequence[Option] = ()
) -> dict[str, Any]:
    """All of an explanation as plain lists, mappings, numbers and text."""
    return ExplainDocument.of(explanation, options)


def if_read(servers: Any) -> Any:
    """Servers, or None if they could not be read."""
    return None if isinstance(servers, CloudBroke) else servers
