"""An explanation as a document for programs."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable

from osc_traitsched.core.answer import Answer
from osc_traitsched.core.errors import (
    NotForProject,
    PlacementRefuses,
    Refusal,
    TraitSchedError,
)
from osc_traitsched.core.explain.doubts import (
    OptionImpact,
    ReleaseImpact,
)
from osc_traitsched.core.explain.explanation import Explanation, differing, kept_out_by
from osc_traitsched.core.explain.fix import Advice, Fix, HostFix, RequestFix
from osc_traitsched.core.explain.judgement import Judgement
from osc_traitsched.core.explain.order import picks
from osc_traitsched.core.explain.reasons import breakdown, out_of_sync
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
    judgement = explanation.judgement
    request = judgement.request
    fallback = request.fallback if request else None
    names: dict[Condition | None, str] = dict(
        zip(judgement.clauses, words.clause_ids(judgement.clauses))
    )

    def ids(clauses: Iterable[Condition]) -> list[str]:
        return [names[each] for each in clauses]

    return schema.ExplainDocument(
        schema=1,
        verdict=verdict(judgement),
        summary=words.verdict(judgement),
        why=headline.sentence(judgement),
        shares=[
            schema.Share(each.cause, names.get(each.clause), each.hosts)
            for each in breakdown(judgement)
        ],
        request=_request(judgement),
        release=_release(judgement),
        settings_from=judgement.question.assumptions.place,
        assumptions=_assumptions(judgement),
        refusal=_refusal(judgement.refusal, judgement.question.move is not None),
        query=request.query() if request else None,
        fallback_query=fallback.query() if fallback else None,
        total_hosts=judgement.total_hosts,
        candidates=_names(judgement.candidates),
        depends=judgement.depends,
        dependences=_dependences(judgement),
        sure_candidates=_names(judgement.sure_candidates),
        uncertain_candidates=_names(judgement.uncertain),
        picks=_names(picks(judgement)),
        weight_assumptions=_weight_assumptions(judgement),
        fallback_candidates=_names(judgement.fallback_candidates),
        cut_off_candidates=_names(judgement.cut_off_candidates),
        min_servers=judgement.room.least,
        max_servers=judgement.room.most,
        allocation_request_count=sum(judgement.allocation_request_counts),
        clauses=_clauses(judgement),
        filters=_filters(judgement),
        filters_assumed_off=_assumed_off(judgement),
        in_nova=_in_nova(judgement),
        hosts=[_host(judgement, host, ids) for host in shown],
        computes_without_provider=[
            each.node for each in judgement.computes_without_provider
        ],
        unmanaged_roots=_names(judgement.unmanaged_roots),
        unlisted_computes=_names(judgement.unlisted_computes),
        conflicts=map(ids, judgement.conflicts),
        without_set=_without_set(judgement, explanation.without_set),
        advice=[_advice(each, judgement, options) for each in explanation.advice],
        fixes=[_fix(each, judgement, options) for each in explanation.fixes],
        disagreement=schema.Disagreement(
            unjudged_roots=_names(judgement.unjudged_roots),
            wrongly_admitted=_names(judgement.wrongly_admitted),
            wrongly_rejected=_names(judgement.wrongly_rejected),
        ),
        not_evaluated=words.not_evaluated(judgement),
    )


def _names(providers: Iterable[Provider]) -> list[str]:
    return [provider.name for provider in providers]


def _dependences(judgement: Judgement) -> Iterator[schema.Dependence]:
    for each in judgement.dependences:
        yield schema.Dependence(
            each.name,
            each.assumed,
            each.source,
            each.hosts,
            each.otherwise,
            each.more,
            each in judgement.turning,
        )


def verdict(judgement: Judgement) -> str:
    """The answer in a word or two."""
    if judgement.refusal is not None:
        return "refused"
    if judgement.is_in_doubt:
        return "disagreement"
    if judgement.answer.is_open:
        return "unknown"
    if judgement.answer is Answer.YES:
        return "candidates"
    return "no room" if judgement.candidates else "no host"


def _request(judgement: Judgement) -> schema.Request:
    question = judgement.question
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


def _release(judgement: Judgement) -> schema.Release:
    settings = judgement.question.assumptions
    impacts = {each.release: each for each in judgement.doubts.releases}
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


def _assumptions(judgement: Judgement) -> Iterator[schema.Assumption]:
    settings = judgement.question.assumptions
    impacts = {each.name: each for each in judgement.doubts.options}
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


def _weight_assumptions(judgement: Judgement) -> Iterator[schema.WeightAssumption]:
    names = {host.uuid: host.name for host in judgement.hosts}
    for each in weights.assumptions(judgement):
        yield schema.WeightAssumption(
            weigher=each.weigher or None,
            missing=each.missing or None,
            hosts=sorted(names.get(uuid, uuid) for uuid in each.hosts),
            text=weights.assumption(each),
        )


def _clauses(judgement: Judgement) -> Iterator[schema.Clause]:
    found = judgement.clauses
    ids = words.clause_ids(found)
    for clause, name, count in itertools.zip_longest(found, ids, judgement.counts):
        yield schema.Clause(
            id=name,
            **_of_kind(clause),
            text=words.clause(clause, judgement),
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


def _filters(judgement: Judgement) -> Iterator[schema.FilterCounts]:
    judgment = judgement.filtering.judgment
    own = judgement.question.own.filters if judgement.question.own else ()
    for name in judgement.filtering.filters:
        numbers = collections.Counter(map(type, judgment.answers[name].values()))
        yield schema.FilterCounts(
            filter=name,
            own=name in own or name not in FILTERS,
            **{word: numbers[each] for each, word in ANSWERS.items()},
        )


def _assumed_off(judgement: Judgement) -> Iterator[schema.FilterAssumedOff]:
    found = judgement.filtering
    if not is_list_known(judgement.question.assumptions):
        for name in filter(FILTERS.__contains__, found.unsettled):
            roots = found.unknown_hosts[name]
            names = [h.name for h in judgement.candidates if h.uuid in roots]
            if names:
                yield schema.FilterAssumedOff(name, names)


def _in_nova(judgement: Judgement) -> schema.InNova | None:
    own = judgement.question.own
    if own is None:
        return None
    names = {host.uuid: host.name for host in judgement.hosts}
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
            for each in judgement.filtering.differences
        ],
    )


def _host(judgement: Judgement, host: Provider, ids: Ids) -> schema.Host:
    facts = judgement.facts
    rejection = judgement.rejections.get(host.uuid)
    return schema.Host(
        host=host.name,
        provider_uuid=host.uuid,
        candidate=judgement.is_candidate(host),
        given_by_placement=bool(facts and host.uuid in facts.candidates),
        failing=ids(rejection.failing) if rejection else (),
        correction_sets=map(ids, rejection.correction_sets) if rejection else (),
        filters=[
            schema.FilterAnswer(name, ANSWERS[type(each)], filters.answer(each, name))
            for name, each in judgement.filtering.answers(host.uuid)
            if name not in MOVE_CHECKS
        ],
        weight=_weight(judgement, host),
        inventories=_inventories(judgement, host),
        service=_service(judgement.computes.get(host.uuid)),
        out_of_sync_aggregates=[
            schema.OutOfSyncAggregate(each.aggregate, each.in_nova, not each.in_nova)
            for each in out_of_sync(judgement, host)
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


def _weight(judgement: Judgement, host: Provider) -> schema.Weight | None:
    ranking = judgement.ranking
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


def _inventories(judgement: Judgement, host: Provider) -> Iterator[schema.Inventory]:
    for clause in judgement.clauses:
        if not isinstance(clause, Resource):
            continue
        for provider, stock in judgement.stock(host, clause.resource_class):
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


def _without_set(
    judgement: Judgement, before: Judgement | None
) -> schema.WithoutSet | None:
    if before is None:
        return None
    settings = before.question.assumptions
    gained, lost = differing(judgement, before)
    return schema.WithoutSet(
        settings_from=settings.place,
        options=[
            schema.OtherSetting(
                name, settings.value(name), settings.setting(name).source
            )
            for name in judgement.question.assumptions.set_otherwise
        ],
        summary=words.verdict(before),
        refusal=_refusal(before.refusal),
        candidates=_names(before.candidates),
        uncertain_candidates=_names(before.uncertain),
        picks=_names(picks(before)),
        let_in=_changed(before, gained),
        kept_out=_changed(judgement, lost),
    )


def _changed(
    judgement: Judgement, hosts: Sequence[Provider]
) -> Iterator[schema.ChangedHost]:
    for names, those in kept_out_by(judgement, hosts).items():
        for host in those:
            yield schema.ChangedHost(host.name, names)


def _advice(
    advice: Advice, judgement: Judgement, options: Sequence[Option]
) -> schema.Advice:
    return schema.Advice(
        text=fixes.advice(advice, judgement),
        commands=[line(each, options) for each in fixes.commands(advice, judgement)],
    )


def _fix(fix: Fix, judgement: Judgement, options: Sequence[Option]) -> schema.Fix:
    return schema.Fix(
        target="hosts" if isinstance(fix, HostFix) else "request",
        text=fixes.word(fix, judgement),
        caution=fixes.caution(fix),
        deciding_filters=fix.deciding,
        gained_hosts=fixes.hosts(fix, judgement),
        is_cut=isinstance(fix, RequestFix) and fix.is_cut,
        lost_hosts=fixes.lost(fix, judgement),
        min_servers=fix.room.least if fix.room else None,
        max_servers=fix.room.most if fix.room else None,
        commands=[line(each, options) for each in fixes.commands(fix, judgement)],
    )
