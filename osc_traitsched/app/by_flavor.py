"""Which flavors find a host with one image: the cloud is read once for all."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from osc_traitsched.app.explain import (
    LaterOfEach,
    by_weight,
    matcher_of,
    nothing_from_root,
    with_builds,
    with_nova,
)
from osc_traitsched.app.request import check_visible, question, zone_refusal
from osc_traitsched.app.settings import SettingsSources
from osc_traitsched.cloud import allocation_candidates, lookup, read, request_parts
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core.errors import (
    NotForProject,
    NothingMatches,
    PlacementRefuses,
    Refusal,
)
from osc_traitsched.core.explain import fix
from osc_traitsched.core.explain import verdict as verdicts
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.explain.filtering import filtering
from osc_traitsched.core.explain.option_impact import Matched, Variation
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import evidence
from osc_traitsched.core.nova.filter.row import Reads
from osc_traitsched.core.nova.filter.table import enabled, reading
from osc_traitsched.core.nova.question import Body, Question, ServerSpec
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.server.server import read as read_flavor
from osc_traitsched.core.placement.facts import Amount, Facts
from osc_traitsched.core.placement.matcher import amounts


def by_flavor(
    cloud: Cloud,
    spec: ServerSpec,
    sources: SettingsSources,
    wanted: Callable[[Sequence[Body]], Iterable[Body]] = tuple,
) -> tuple[Explanation, ...]:
    """The image of a request with each flavor, by name; no fixes are tried.

    Requests: one for each different amount of all flavors, one for each trait, and a
    dozen for the cloud. Placement's answer is computed. Flavors that a
    named project may not use are left out. Each flavor is judged once more, without the
    values by evidence.

    :param wanted: chooses among the cloud's flavors
    :raises NothingMatches: for an unknown image, or a cloud without flavors
    :raises Refusal: for an availability zone, or settings that Nova does not start with
    :raises NotForProject: for an image that the project may not use
    """
    every = lookup.flavors(cloud)
    if spec.project is not None:
        lookup.need_all(cloud)
    bodies = sorted(wanted(every), key=lambda each: str(each["name"]))
    if not bodies:
        raise NothingMatches("flavor", "*", ())
    named = dataclasses.replace(spec, flavor=str(bodies[0]["id"]))
    first = question(cloud, named, sources)
    if (refusal := zone_refusal(cloud, first)) is not None:
        raise refusal
    known = read.known_traits(cloud.placement)
    each = (_of_flavor(cloud, first, body, known) for body in bodies)
    starts = [*filter(None, each)]
    nodes = lookup.computes(cloud) if first.nodes is None else first.nodes
    computes = {node.uuid: node for node in with_builds(cloud, first, nodes)}
    whole = Explanation(first, computes=computes)
    facts, rejected = _facts(cloud.placement, whole, starts)
    of_name = set(reading(Reads.FLAVOR_NAME))
    is_named = not of_name.isdisjoint(enabled(first.assumptions))
    judged: dict[object, Explanation] = {}
    found = []
    for start in starts:
        flavor = start.question.flavor
        key = read_flavor(flavor).key, is_named and flavor["name"]
        if start.request is None:
            # Its refusal names the flavor.
            found.append(start)
            continue
        asked = _amounts(_queries(start.request))
        if wrong := [rejected[amount] for amount in asked if amount in rejected]:
            found.append(dataclasses.replace(start, refusal=wrong[0]))
            continue
        if key not in judged:
            judged[key] = _of_facts(start, start.request, facts, computes)
        found.append(dataclasses.replace(judged[key], question=start.question))
    return tuple(found)


def _of_flavor(
    cloud: Cloud, first: Question, body: Body, known: frozenset[str]
) -> Explanation | None:
    """The request with a flavor, or its refusal; None if it is of other projects.

    :param known: all traits that Placement knows; it refuses others, forbidden ones too
    """
    parts = request_parts.with_profiles(cloud, first.parts, body)
    asked = dataclasses.replace(first, flavor=body, parts=parts)
    asked = evidence.of_question(asked.with_flavor(first.spec.flavor_properties))
    try:
        asked.check_enabled()
        check_visible(cloud, asked)
        request = asked.request()
    except NotForProject as refusal:
        if refusal.kind == "flavor":
            return None
        raise
    except Refusal as refusal:
        return Explanation(asked, refusal=refusal)
    if (wrong := fix.misspelled(asked, request, known)) is not None:
        return Explanation(asked, refusal=wrong[0])
    if request.groups_without_amounts or request.lacks_group_policy:
        refused = PlacementRefuses("its groups lack a resource or a group_policy")
        return Explanation(asked, refusal=refused)
    return Explanation(asked, request)


def _facts(
    placement: Service, start: Explanation, starts: Iterable[Explanation]
) -> tuple[Facts, Mapping[Amount, PlacementRefuses]]:
    """What judges all requests, and the amounts that Placement rejects."""
    rejected: dict[Amount, PlacementRefuses] = {}

    def offers(amount: Amount) -> frozenset[str]:
        try:
            return allocation_candidates.offers(placement, amount)
        except PlacementRefuses as refusal:
            rejected[amount] = refusal
            return frozenset()

    starts = [each for each in starts if each.request]
    plain = filter(None, (_without_evidence(each.question) for each in starts))
    requests = [each.request for each in starts] + [each.request for each in plain]
    queries = [query for each in requests for query in _queries(each)]
    later = LaterOfEach(offers, _amounts(queries))
    computes = tuple(start.question.computes or start.computes.values())
    snapshot = with_nova(placement, read.providers(placement), start, computes)
    nothing = allocation_candidates.NOTHING
    facts = allocation_candidates.gather(
        placement, snapshot, queries, nothing, figures=True, known=later.values
    )
    return facts, rejected


def _queries(request: Request | None) -> list[Request]:
    return [request, *filter(None, [request.fallback])] if request else []


def _without_evidence(question: Question) -> Variation | None:
    """The question without values by evidence, which reject more and never less."""
    if not evidence.unconfirmed(question.assumptions):
        return None
    settings = evidence.without_evidence(question.assumptions)
    other = dataclasses.replace(question, assumptions=settings)
    return Variation("", other, other.request())


def _amounts(queries: Iterable[Request]) -> tuple[Amount, ...]:
    return amounts(clause for each in queries for clause in each.clauses)


def _of_facts(
    start: Explanation, request: Request, facts: Facts, computes: Mapping[str, Compute]
) -> Explanation:
    """The explanation, as if Placement gave the hosts that match."""
    filtered = filtering(start.question, computes.values())
    filtered = filtered.beside(request.clauses, facts.traits)
    facts = dataclasses.replace(facts, filtered=filtered.kept_out)
    first, second = by_weight(request, facts)
    other = matcher_of(second, filtered, facts) if second else None
    verdict = verdicts.evaluate(matcher_of(first, filtered, facts), facts, other)
    placed = frozenset(host.uuid for host in facts.snapshot.hosts) - verdict.kept_from
    given = (facts.offers.get(each, ()) for each in _amounts(_queries(request)))
    from_root = placed.intersection(itertools.chain.from_iterable(given))
    refusal = nothing_from_root() if placed and not from_root else None
    now = Matched(start.question, facts, verdict, filtered, tuple(computes.values()))
    otherwise = now.without_evidence(_without_evidence(start.question))
    found = dataclasses.replace(
        start,
        facts=dataclasses.replace(facts, candidates=from_root),
        verdict=dataclasses.replace(verdict, wrongly_admitted=()),
        hosts_without_evidence=otherwise,
        filtering=filtered,
        computes=computes,
    )
    return dataclasses.replace(found, refusal=refusal or found.filter_failure)
