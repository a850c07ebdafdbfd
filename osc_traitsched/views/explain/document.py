"""An explanation as a document for programs."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable

from osc_traitsched.core.errors import (
    NotForProject,
    PlacementRefuses,
    Refusal,
    TraitSchedError,
)
from osc_traitsched.core.explain.comparison import differing, kept_out_by
from osc_traitsched.core.explain.explanation import (
    Explanation,
    breakdown,
    out_of_sync,
    picks,
)
from osc_traitsched.core.explain.fix import Advice, Fix, HostFix, RequestFix
from osc_traitsched.core.explain.option_impact import (
    OptionImpact,
    ReleaseImpact,
)
from osc_traitsched.core.inventory.snapshot import Compute, Provider
from osc_traitsched.core.nova.clause import (
    Condition,
    HostFilter,
    MemberOf,
    MoveRule,
    Resource,
    RootTrait,
    Trait,
)
from osc_traitsched.core.nova.filter.table import FILTERS, is_list_known
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.question import MOVE_CHECKS
from osc_traitsched.core.nova.server.parts import Network, Port, Volume
from osc_traitsched.core.releases import RELEASES
from osc_traitsched.documents import plain
from osc_traitsched.paste import Option, line
from osc_traitsched.views.explain import (
    filters,
    fixes,
    headline,
    schema,
    weights,
    words,
)
from osc_traitsched.views.own_filters import ANSWERS

Ids = Callable[[Iterable[Condition]], list[str]]


def document(
    explanation: Explanation,
    shown: tuple[Provider, ...],
    options: Sequence[Option] = (),
) -> dict[str, Any]:
    """All of an explanation as plain lists, mappings, numbers and text.

    :param shown: the hosts to list; the counts are of all hosts anyway
    :param options: the global options of printed commands
    """
    return dict(plain(explained(explanation, shown, options)))


def explained(
    explanation: Explanation, shown: tuple[Provider, ...], options: Sequence[Option]
) -> schema.ExplainDocument:
    """The same as dataclasses, for use in other documents."""
    request = explanation.request
    fallback = request.fallback if request else None
    names: dict[Condition | None, str] = dict(
        zip(explanation.clauses, words.clause_ids(explanation.clauses))
    )

    def ids(clauses: Iterable[Condition]) -> list[str]:
        return [names[each] for each in clauses]

    return schema.ExplainDocument(
        schema=1,
        verdict=verdict(explanation),
        summary=words.verdict(explanation),
        why=headline.sentence(explanation),
        shares=[
            schema.Share(each.cause, names.get(each.clause), each.hosts)
            for each in breakdown(explanation)
        ],
        request=_request(explanation),
        release=_release(explanation),
        settings_from=explanation.question.assumptions.place,
        assumptions=_assumptions(explanation),
        refusal=_refusal(explanation.refusal, explanation.question.move is not None),
        query=request.query() if request else None,
        fallback_query=fallback.query() if fallback else None,
        total_hosts=explanation.total_hosts,
        candidates=_names(explanation.candidates),
        depends=explanation.depends,
        dependences=_dependences(explanation),
        sure_candidates=_names(explanation.sure_candidates),
        uncertain_candidates=_names(explanation.uncertain),
        picks=_names(picks(explanation)),
        weight_assumptions=_weight_assumptions(explanation),
        fallback_candidates=_names(explanation.fallback_candidates),
        cut_off_candidates=_names(explanation.cut_off_candidates),
        min_servers=explanation.room.least,
        max_servers=explanation.room.most,
        allocation_request_count=sum(explanation.allocation_request_counts),
        clauses=_clauses(explanation),
        filters=_filters(explanation),
        filters_assumed_off=_assumed_off(explanation),
        in_nova=_in_nova(explanation),
        hosts=[_host(explanation, host, ids) for host in shown],
        computes_without_provider=[
            each.node for each in explanation.computes_without_provider
        ],
        unmanaged_roots=_names(explanation.unmanaged_roots),
        unlisted_computes=_names(explanation.unlisted_computes),
        conflicts=map(ids, explanation.conflicts),
        without_set=_without_set(explanation),
        advice=[_advice(each, explanation, options) for each in explanation.advice],
        fixes=[_fix(each, explanation, options) for each in explanation.fixes],
        disagreement=schema.Disagreement(
            unjudged_roots=_names(explanation.unjudged_roots),
            wrongly_admitted=_names(explanation.wrongly_admitted),
            wrongly_rejected=_names(explanation.wrongly_rejected),
        ),
        not_evaluated=words.not_evaluated(explanation),
    )


def _names(providers: Iterable[Provider]) -> list[str]:
    return [provider.name for provider in providers]


def _dependences(explanation: Explanation) -> Iterator[schema.Dependence]:
    for each in explanation.dependences:
        yield schema.Dependence(
            each.name,
            each.assumed,
            each.source,
            each.hosts,
            each.otherwise,
            each.more,
            each in explanation.turning,
        )


def verdict(explanation: Explanation) -> str:
    """The answer in a word or two."""
    if explanation.refusal is not None:
        return "refused"
    if explanation.is_in_doubt:
        return "disagreement"
    if explanation.depends:
        return "unknown"
    if not explanation.candidates:
        return "no host"
    if not explanation.has_room:
        return "no room"
    may_fail = explanation.is_uncertain or explanation.may_be_rejected
    if may_fail or not explanation.is_room_sure:
        return "unknown"
    return "candidates"


def _request(explanation: Explanation) -> schema.Request:
    question = explanation.question
    flavor, image, spec = question.flavor, question.image, question.spec
    return schema.Request(
        flavor=schema.Flavor(flavor.get("id"), flavor["name"]),
        image=schema.Image(image.get("id"), image.get("name")) if image else None,
        availability_zone=spec.zone,
        host=spec.on_host,
        hypervisor_hostname=spec.on_node,
        project_id=question.project,
        boot_from_volume=spec.boot_from_volume,
        count=spec.count,
        hints=itertools.starmap(schema.Hint, sorted(spec.hints.items())),
        server_group=question.group.name if question.group else None,
        ports=map(_named, question.parts.ports),
        networks=map(_named, question.parts.networks),
        volumes=map(_named, question.parts.volumes),
    )


def _named(part: Port | Network | Volume) -> schema.Named:
    return schema.Named(part.id, part.name)


def _release(explanation: Explanation) -> schema.Release:
    settings = explanation.question.assumptions
    impacts = {each.release: each for each in explanation.release_impacts}
    others = [each.release for each in settings.others]
    return schema.Release(
        major=settings.release,
        name=RELEASES[settings.release],
        source=settings.release_source,
        others=[
            schema.OtherRelease(n, RELEASES[n], _impact(impacts.get(n))) for n in others
        ],
    )


def _impact(impact: OptionImpact | ReleaseImpact | None) -> schema.Impact | None:
    if impact is None:
        return None
    return schema.Impact(impact.gained, impact.lost, impact.refused)


def _assumptions(explanation: Explanation) -> Iterator[schema.Assumption]:
    settings = explanation.question.assumptions
    impacts = {each.name: each for each in explanation.option_impacts}
    for option in options_in(settings.release):
        setting = settings.setting(option.name)
        yield schema.Assumption(
            option=option.name,
            value=setting.value,
            source=setting.source,
            given=setting.given,
            impact=_impact(impacts.get(option.name)),
        )


def _refusal(
    refusal: TraitSchedError | None, is_moved: bool = False
) -> schema.RefusedRequest | None:
    """Who refuses the request, and why.

    :param is_moved: it is a move's request
    """
    if refusal is None:
        return None
    nova = refusal if isinstance(refusal, Refusal) else None
    # nova-api does not find what the project may not use.
    stage = "api" if isinstance(refusal, NotForProject) else None
    return schema.RefusedRequest(
        by="placement" if isinstance(refusal, PlacementRefuses) else "nova",
        exception=nova.exception if nova else None,
        keys=nova.keys if nova else (),
        stage=nova.stage if nova else stage,
        text=words.text(refusal, is_moved),
    )


def _weight_assumptions(explanation: Explanation) -> Iterator[schema.WeightAssumption]:
    names = {host.uuid: host.name for host in explanation.hosts}
    for each in weights.assumptions(explanation):
        yield schema.WeightAssumption(
            weigher=each.weigher or None,
            missing=each.missing or None,
            hosts=sorted(names.get(uuid, uuid) for uuid in each.hosts),
            text=weights.assumption(each),
        )


def _clauses(explanation: Explanation) -> Iterator[schema.Clause]:
    found = explanation.clauses
    ids = words.clause_ids(found)
    for clause, name, count in itertools.zip_longest(found, ids, explanation.counts):
        yield schema.Clause(
            id=name,
            **_of_kind(clause),
            text=words.clause(clause, explanation),
            origins=[
                schema.Origin(
                    kind=origin.kind,
                    key=origin.key,
                    aggregate=origin.name if origin.kind == "aggregate" else None,
                    name=origin.name or None,
                    option=origin.option or None,
                )
                for origin in clause.origins
            ],
            alone=count.alone if count else None,
            only=count.only if count else None,
            left=count.left if count else None,
        )


#: Of each kind of clause: its name, and the fields that not all kinds have.
_KINDS = {
    Resource: ("resource", ("group", "resource_class", "amount")),
    Trait: ("trait", ("group", "trait", "forbidden")),
    RootTrait: ("root trait", ("trait", "forbidden")),
    MemberOf: ("member of", ("aggregates", "forbidden")),
    HostFilter: ("host filter", ("filter",)),
    MoveRule: ("move", ("rule",)),
}
_ATTRIBUTES = {"trait": "name", "filter": "name", "rule": "name"}
_NO_KIND = dict.fromkeys(key for _, keys in _KINDS.values() for key in keys)


def _of_kind(clause: Condition) -> dict[str, Any]:
    kind, keys = _KINDS[type(clause)]
    own = {key: getattr(clause, _ATTRIBUTES.get(key, key)) for key in keys}
    return {"kind": kind, **_NO_KIND, **own}


def _filters(explanation: Explanation) -> Iterator[schema.FilterCounts]:
    judgment = explanation.filtering.judgment
    own = explanation.question.own.filters if explanation.question.own else ()
    for name in explanation.filtering.filters:
        numbers = collections.Counter(map(type, judgment.answers[name].values()))
        yield schema.FilterCounts(
            filter=name,
            own=name in own or name not in FILTERS,
            **{word: numbers[each] for each, word in ANSWERS.items()},
        )


def _assumed_off(explanation: Explanation) -> Iterator[schema.FilterAssumedOff]:
    found = explanation.filtering
    if not is_list_known(explanation.question.assumptions):
        for name in filter(FILTERS.__contains__, found.unsettled):
            roots = found.unknown_hosts[name]
            names = [h.name for h in explanation.candidates if h.uuid in roots]
            if names:
                yield schema.FilterAssumedOff(name, names)


def _in_nova(explanation: Explanation) -> schema.InNova | None:
    own = explanation.question.own
    if own is None:
        return None
    names = {host.uuid: host.name for host in explanation.hosts}
    return schema.InNova(
        nova=own.version,
        compared=sorted(own.novas),
        differences=[
            schema.Difference(
                filter=each.filter,
                host=names.get(each.host, each.host),
                here=ANSWERS[type(each.ours)],
                nova=ANSWERS[type(each.novas)],
            )
            for each in explanation.filtering.differences
        ],
    )


def _host(explanation: Explanation, host: Provider, ids: Ids) -> schema.Host:
    facts = explanation.facts
    rejection = explanation.rejections.get(host.uuid)
    return schema.Host(
        host=host.name,
        provider_uuid=host.uuid,
        candidate=explanation.is_candidate(host),
        given_by_placement=bool(facts and host.uuid in facts.candidates),
        failing=ids(rejection.failing) if rejection else (),
        correction_sets=map(ids, rejection.correction_sets) if rejection else (),
        filters=[
            schema.FilterAnswer(name, ANSWERS[type(each)], filters.answer(each, name))
            for name, each in explanation.filtering.answers(host.uuid)
            if name not in MOVE_CHECKS
        ],
        weight=_weight(explanation, host),
        inventories=_inventories(explanation, host),
        service=_service(explanation.computes.get(host.uuid)),
        out_of_sync_aggregates=[
            schema.OutOfSyncAggregate(each.aggregate, each.in_nova, not each.in_nova)
            for each in out_of_sync(explanation, host)
        ],
    )


def _service(compute: Compute | None) -> schema.Service | None:
    if compute is None:
        return None
    return schema.Service(
        host=compute.service_host,
        up=compute.is_up,
        enabled=compute.is_enabled,
        disabled_reason=compute.disabled_reason or None,
    )


def _weight(explanation: Explanation, host: Provider) -> schema.Weight | None:
    ranking = explanation.ranking
    if ranking is None or host.uuid not in ranking.place_of:
        return None
    return schema.Weight(
        total=ranking.total(host.uuid),
        place=ranking.place_of[host.uuid],
        terms=[
            schema.WeightTerm(
                weigher=term.weigher,
                raw=term.raw,
                normalized=term.normalized,
                multiplier=term.multiplier,
            )
            for term in ranking.terms(host.uuid)
        ],
    )


def _inventories(
    explanation: Explanation, host: Provider
) -> Iterator[schema.Inventory]:
    for clause in explanation.clauses:
        if not isinstance(clause, Resource):
            continue
        for provider, stock in explanation.stock(host, clause.resource_class):
            yield schema.Inventory(
                provider_name=provider.name,
                resource_class=clause.resource_class,
                asked=clause.amount,
                free=stock.free,
                capacity=stock.capacity,
                used=stock.used,
                total=stock.total,
                reserved=stock.reserved,
                allocation_ratio=stock.ratio,
                min_unit=stock.min_unit,
                max_unit=stock.max_unit,
                step_size=stock.step_size,
            )


def _without_set(explanation: Explanation) -> schema.WithoutSet | None:
    before = explanation.without_set
    if before is None:
        return None
    settings = before.question.assumptions
    gained, lost = differing(explanation)
    return schema.WithoutSet(
        settings_from=settings.place,
        options=[
            schema.OtherSetting(
                name, settings.value(name), settings.setting(name).source
            )
            for name in explanation.question.assumptions.set_otherwise
        ],
        summary=words.verdict(before),
        refusal=_refusal(before.refusal),
        candidates=_names(before.candidates),
        uncertain_candidates=_names(before.uncertain),
        picks=_names(picks(before)),
        let_in=_changed(before, gained),
        kept_out=_changed(explanation, lost),
    )


def _changed(
    explanation: Explanation, hosts: Sequence[Provider]
) -> Iterator[schema.ChangedHost]:
    for names, those in kept_out_by(explanation, hosts).items():
        for host in those:
            yield schema.ChangedHost(host.name, names)


def _advice(
    advice: Advice, explanation: Explanation, options: Sequence[Option]
) -> schema.Advice:
    return schema.Advice(
        text=fixes.advice(advice, explanation),
        commands=[line(each, options) for each in fixes.commands(advice, explanation)],
    )


def _fix(fix: Fix, explanation: Explanation, options: Sequence[Option]) -> schema.Fix:
    return schema.Fix(
        target="hosts" if isinstance(fix, HostFix) else "request",
        text=fixes.word(fix, explanation),
        caution=fixes.caution(fix),
        deciding_filters=fix.deciding,
        gained_hosts=fixes.hosts(fix, explanation),
        is_cut=isinstance(fix, RequestFix) and fix.is_cut,
        lost_hosts=fixes.lost(fix, explanation),
        min_servers=fix.room.least if fix.room else None,
        max_servers=fix.room.most if fix.room else None,
        commands=[line(each, options) for each in fixes.commands(fix, explanation)],
    )
