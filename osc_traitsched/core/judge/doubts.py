"""Options and releases that would change a verdict, found by trying each."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.filtering import Filtering, KnownAnswers
from osc_traitsched.core.judge.hosts import matching
from osc_traitsched.core.nova import attachments, evidence, options
from osc_traitsched.core.nova.filter.groups import SAME_HOST
from osc_traitsched.core.nova.filter.table import FILTERS, with_filters
from osc_traitsched.core.nova.options import (
    Consumer,
    Option,
    SchedulerSettings,
    Setting,
    Value,
    options_in,
)
from osc_traitsched.core.nova.prefilter import PREFILTERS
from osc_traitsched.core.nova.question import Question, skips_version
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement.facts import Amount, Facts
from osc_traitsched.core.placement.matcher import amounts
from osc_traitsched.core.releases import OWNER_NOVA_RELEASE

# Options and releases that would change a verdict, found by trying each.


@dataclasses.dataclass(frozen=True)
class Impact:
    """A variation of the question that would change the hosts.

    :ivar gained_roots: UUIDs of the hosts that only the variation allows
    :ivar lost_roots: UUIDs of the hosts that it does not allow
    :ivar rejected: Nova would reject the request
    """

    gained_roots: frozenset[str]
    lost_roots: frozenset[str]
    rejected: bool

    @property
    def gained(self) -> int:
        """Number of gained hosts."""
        return len(self.gained_roots)

    @property
    def lost(self) -> int:
        """Number of lost hosts."""
        return len(self.lost_roots)


@dataclasses.dataclass(frozen=True)
class OptionImpact(Impact):
    """An option with another value."""

    name: str
    setting: Setting
    other: Value


@dataclasses.dataclass(frozen=True)
class ReleaseImpact(Impact):
    """Another possible release of the cloud."""

    release: int


@dataclasses.dataclass(frozen=True)
class Dependence:
    """An unknown option or host filter whose other value changes the hosts.

    :ivar source: why the value is assumed
    :ivar hosts: number of candidates with the assumed value
    :ivar gained: UUIDs of the hosts that the other value adds
    :ivar lost: UUIDs of the candidates that it loses
    :ivar more: options and filters that need their other value, too
    """

    name: str
    assumed: Value
    other: Value
    source: str
    hosts: int
    gained: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    more: tuple[str, ...] = ()

    @property
    def otherwise(self) -> int:
        """Number of candidates with the other value."""
        return self.hosts + len(self.gained) - len(self.lost)


#: In place of an option: Nova requires OWNER_NOVA once all nova-computes are new.
OWNER_CHECK = "OWNER_NOVA"

_AFTER_PLACEMENT = frozenset([Consumer.FILTER, Consumer.WEIGHER])


def switches(question: Question) -> Iterator[tuple[str, Question]]:
    """Options with another value, and the question with it.

    These are booleans, the default zone if set, and the database's comparison. Options
    of filters and weighers do not affect Placement. Options of moves count for moves
    only. It may also be unknown whether Nova asks for OWNER_NOVA.
    """
    assumptions = question.assumptions
    asks_owner = assumptions.release >= OWNER_NOVA_RELEASE
    if asks_owner and assumptions.all_computes_new is None:
        other = dataclasses.replace(assumptions, all_computes_new=False)
        yield OWNER_CHECK, dataclasses.replace(question, assumptions=other)
    for option in options_in(assumptions.release):
        is_of_none = option.consumer is Consumer.MOVE and question.move is None
        if option.consumer in _AFTER_PLACEMENT or is_of_none:
            continue
        for value in _others(option, assumptions.value(option.name)):
            other = assumptions.changed(option.name, value)
            yield option.name, dataclasses.replace(question, assumptions=other)


def _others(option: Option, value: Value) -> Iterator[Value]:
    if isinstance(value, bool):
        yield not value
    elif option.name == options.DEFAULT_ZONE and value:
        yield None
    elif option.name == options.COLLATION:
        yield from (each for each in option.choices if each != value)


@dataclasses.dataclass(frozen=True)
class Variation:
    """The question with one option changed, or of another release (empty name).

    :ivar request: None if Nova rejects it
    """

    name: str
    question: Question
    request: Request | None

    @property
    def release(self) -> int:
        """Its release."""
        return self.question.assumptions.release


@dataclasses.dataclass(frozen=True)
class Alternatives:
    """Variations of a question that may change its hosts.

    :ivar variations: each option, and each possible release
    :ivar plain: without any value by evidence, if there is one
    """

    variations: tuple[Variation, ...] = ()
    plain: Variation | None = None

    @classmethod
    def of(
        cls, question: Question, request: Request, only_unknown: bool = False
    ) -> Alternatives:
        """Variations with other queries, other host filters or other rules of a move.

        :param only_unknown: not of options whose value is known, and not of releases
        """
        tried = [
            (name, other)
            for name, other in switches(question)
            if not only_unknown or not _is_known(question, name)
            if _is_read(name, question)
        ]
        if not only_unknown:
            tried += _other_releases(question)
        differing = []
        for name, other in tried:
            switched = _request(other)
            # Another release may have other host filters, too.
            is_same = switched is not None and switched.query() == request.query()
            if not name or not is_same or not _is_judged_alike(other, question):
                # Which of its new aggregates a host is in does not matter.
                single = switched and switched.forbidding_at_once(request)
                differing.append(Variation(name, other, single))
        return cls(tuple(differing), _without_evidence(question))

    def __bool__(self) -> bool:
        return bool(self.variations) or self.plain is not None

    @property
    def queries(self) -> Iterator[Request]:
        """Queries whose amounts, traits and aggregates have to be read."""
        for each in (*self.variations, self.plain):
            if each is not None and each.request is not None:
                yield each.request
                yield from filter(None, [each.request.fallback])


def _is_read(name: str, question: Question) -> bool:
    """Whether an option may change the request, or how it is judged."""
    settings, server = question.assumptions, question.server
    rows = [row for row in PREFILTERS if name and row.option == name]
    if rows:
        return all(row.is_on(settings) or row.may_add(server, settings) for row in rows)
    if name == options.TENANT_REQUIRED:
        return bool(settings.value(options.TENANT))
    if name == options.NO_PCPU_FALLBACK:
        return attachments.policy(server).value == "dedicated"
    if name == options.PCI_IN_PLACEMENT:
        return attachments.PCI_ALIAS in server.flavor.specs
    if name == options.CROSS_AZ_ATTACH:
        return bool(server.parts.volumes)
    return name != options.NO_GROUP_CHECK or question.group is not None


def _is_known(question: Question, name: str) -> bool:
    return name != OWNER_CHECK and question.assumptions.is_known(name)


def _is_judged_alike(other: Question, question: Question) -> bool:
    demands = [
        (each.move, each.ignored_host, _skips(each), each.is_group_checked)
        for each in (other, question)
    ]
    return demands[0] == demands[1] and other.request_spec() == question.request_spec()


def _skips(question: Question) -> bool:
    return question.move is not None and skips_version(question.assumptions)


def _other_releases(question: Question) -> Iterator[tuple[str, Question]]:
    for assumptions in question.assumptions.others:
        yield "", dataclasses.replace(question, assumptions=assumptions)


def _without_evidence(question: Question) -> Variation | None:
    settings = question.assumptions
    if not evidence.unconfirmed(settings):
        return None
    plain = evidence.without_evidence(settings)
    other = dataclasses.replace(question, assumptions=plain)
    return Variation("", other, _request(other))


def _request(question: Question) -> Request | None:
    try:
        return question.request()
    except Refusal:
        return None


def _setting(question: Question, name: str) -> Setting:
    settings = question.assumptions
    if name == OWNER_CHECK:
        is_on = settings.all_computes_new is not False
        return Setting(is_on, "some hosts have the trait")
    return settings.setting(name)


def not_refusing(question: Question) -> tuple[ReleaseImpact, ...]:
    """Other possible releases that accept the question."""
    others = (other for _, other in _other_releases(question))
    return tuple(
        ReleaseImpact(frozenset(), frozenset(), False, other.assumptions.release)
        for other in others
        if _request(other) is not None
    )


@dataclasses.dataclass(frozen=True)
class Matched:
    """Matching hosts now, and everything needed to match a variation.

    :ivar answers: of host filters, for variations that they tell apart
    """

    question: Question
    facts: Facts
    matching: frozenset[str]
    filtering: Filtering
    answers: KnownAnswers

    def doubts(self, alternatives: Alternatives) -> Doubts:
        """Variations that change the matching hosts."""
        changing: list[OptionImpact] = []
        releases: list[ReleaseImpact] = []
        for each in alternatives.variations:
            then = self._then(each)
            gained = frozenset(then or ()) - self.matching
            lost = self.matching - (then or frozenset())
            if then is not None and not gained and not lost:
                continue
            change = (gained, lost, then is None)
            if each.name:
                now = _setting(self.question, each.name)
                other = _setting(each.question, each.name).value
                changing.append(OptionImpact(*change, each.name, now, other))
            else:
                releases.append(ReleaseImpact(*change, each.release))
        plain = self._without_evidence(alternatives.plain)
        return Doubts(tuple(changing), tuple(releases), plain)

    def _then(self, variation: Variation) -> frozenset[str] | None:
        """None if the request is rejected."""
        if variation.request is None:
            return None
        try:
            filtered = self._filtering(variation, variation.request)
        except Refusal:
            return None
        found = self.facts.snapshot.bits.kept(matching(variation.request, self.facts))
        return None if filtered.failure(found) else found - filtered.all_kept_out

    def _without_evidence(self, variation: Variation | None) -> frozenset[str]:
        if variation is None or variation.request is None:
            return frozenset()
        by_evidence = dict(evidence.filters_of(self.question.assumptions))
        kept = frozenset[str]().union(
            *(
                roots
                for name, roots in self.filtering.kept_out.items()
                if name not in by_evidence
            )
        )
        bits = self.facts.snapshot.bits
        return bits.kept(matching(variation.request, self.facts) & ~bits.once(kept))

    def _filtering(self, variation: Variation, request: Request) -> Filtering:
        """Its zone, move or release may change the answers; raises Refusal."""
        asked, release = variation.question, self.question.assumptions.release
        is_alike = _is_judged_alike(asked, self.question)
        if variation.release == release and is_alike:
            return self.filtering
        return self.answers.of(asked, request, self.facts)


# What the answer depends on.


@dataclasses.dataclass(frozen=True)
class OpenOptions:
    """What unknown options decide about a request.

    :ivar dependences: options, each with another value, that change the candidates
    :ivar turning: those that decide whether all requested servers find a host
    :ivar depends: whether options decide that, alone or together
    :ivar may_be_rejected: hosts have room, and an option may reject the request
    """

    dependences: tuple[Dependence, ...] = ()
    turning: tuple[Dependence, ...] = ()
    depends: bool = False
    may_be_rejected: bool = False

    @functools.cached_property
    def gained(self) -> frozenset[str]:
        """UUIDs of the hosts that another value would add."""
        return frozenset[str]().union(*(each.gained for each in self.dependences))

    @functools.cached_property
    def lost(self) -> frozenset[str]:
        """UUIDs of the candidates that another value would drop."""
        return frozenset[str]().union(*(each.lost for each in self.dependences))

    def of_hosts(self, roots: Iterable[str]) -> tuple[str, ...]:
        """Options with which one of these candidates would drop out."""
        hosts = frozenset(roots)
        names = [each.name for each in self.dependences if each.lost & hosts]
        return (*names, options.TENANT_REQUIRED) if self.may_be_rejected else (*names,)


@dataclasses.dataclass(frozen=True)
class Doubts:
    """Unknown options and releases that would change the hosts of a request.

    :ivar without_evidence: UUIDs of the hosts that could take it without any value by
        evidence; empty if there is no such value
    """

    options: tuple[OptionImpact, ...] = ()
    releases: tuple[ReleaseImpact, ...] = ()
    without_evidence: frozenset[str] = frozenset()

    def without(self, lost: frozenset[str]) -> Doubts:
        """The same without some hosts, by UUID."""
        return Doubts(
            tuple(
                dataclasses.replace(each, gained_roots=each.gained_roots - lost)
                for each in self.options
            ),
            self.releases,
            self.without_evidence - lost,
        )

    def dependences(
        self,
        question: Question,
        candidates: frozenset[str],
        placed: frozenset[str],
        filtering: Filtering,
    ) -> tuple[Dependence, ...]:
        """Unknown options, each with another value, that change the candidates.

        Values by evidence are changed together, too, if none alone adds a host. An
        option that Nova reads only with a second unknown one does not count.

        :param candidates: UUIDs of the hosts that could take it
        :param placed: UUIDs of the hosts that Placement returns
        """
        single = (
            *self._by_option(question.assumptions, candidates),
            *_by_filter(question.assumptions, candidates, placed, filtering),
        )
        gained = self.without_evidence - candidates
        if not gained or any(each.gained for each in single):
            return single
        assumed = dict(evidence.unconfirmed(question.assumptions))
        first, *more = assumed
        why = "; ".join(dict.fromkeys(assumed.values()))
        joint = Dependence(
            first, True, False, why, len(candidates), gained, more=tuple(more)
        )
        return (*single, joint)

    def _by_option(
        self, settings: SchedulerSettings, candidates: frozenset[str]
    ) -> Iterator[Dependence]:
        for each in self.options:
            is_required = each.name == options.TENANT_REQUIRED
            of_two = is_required and not settings.is_known(options.TENANT)
            is_option = each.name != OWNER_CHECK
            is_known = is_option and settings.is_known(each.name)
            if each.setting.given or is_known or of_two:
                continue
            yield Dependence(
                each.name,
                each.setting.value,
                each.other,
                each.setting.source,
                len(candidates),
                each.gained_roots - candidates,
                candidates if each.rejected else candidates & each.lost_roots,
            )


def _by_filter(
    settings: SchedulerSettings,
    candidates: frozenset[str],
    placed: frozenset[str],
    filtering: Filtering,
) -> Iterator[Dependence]:
    """Only filters that evidence enables, and that alone reject a host."""
    kept = filtering.kept_out
    for name, why in evidence.filters_of(settings):
        others = frozenset[str]().union(
            *(roots for each, roots in kept.items() if each != name)
        )
        gained = (placed & kept.get(name, frozenset())) - others
        if gained:
            yield Dependence(name, True, False, why, len(candidates), gained)


# Clouds with less in the way of a request: they tell "not now" from "never".


class Relaxed(NamedTuple):
    """What a judgement has of a cloud; the hosts that match are the candidates."""

    question: Question
    request: Request
    facts: Facts
    computes: Mapping[str, Compute]
    filtering: Filtering


def relaxations(
    question: Question, facts: Facts, answers: KnownAnswers
) -> Iterator[tuple[Reason, Relaxed]]:
    """Clouds with ever less in the way, each with the reason if it has room.

    First all hosts are enabled, then they are empty, then nothing is isolated.

    :param answers: of the host filters
    """
    answers = answers.if_enabled
    facts = dataclasses.replace(facts, traits=answers.traits)
    yield Reason.DISABLED, _relaxed(question, facts, answers)
    question, answers = _without_servers(question), answers.if_empty
    facts = answers.unused(facts, asked(question.request()))
    if question.spec.count > 1:
        stock = {
            uuid: {
                name: dataclasses.replace(each, used=0) for name, each in has.items()
            }
            for uuid, has in facts.stock.items()
        }
        facts = dataclasses.replace(facts, stock=stock)
    yield Reason.FULL, _relaxed(question, facts, answers)
    yield Reason.ISOLATED, _relaxed(_without_isolation(question), facts, answers)


def _relaxed(question: Question, facts: Facts, answers: KnownAnswers) -> Relaxed:
    request = question.request()
    candidates = facts.giving(matching(request, facts), asked(request))
    facts = dataclasses.replace(facts, candidates=candidates, fits={})
    filtering = answers.of(question, request, facts)
    return Relaxed(question, request, facts, answers.computes, filtering)


def asked(request: Request) -> tuple[Amount, ...]:
    """Amounts of both of Nova's queries."""
    queries = filter(None, (request, request.fallback))
    return amounts(clause for each in queries for clause in each.clauses)


def _without_servers(question: Question) -> Question:
    """The question with an empty server group, and only servers of ``same_host``."""
    group, servers = question.group, question.servers or {}
    nothing = frozenset[str]()
    if group is not None:
        group = dataclasses.replace(group, members=nothing, hosts=nothing)
    kept = question.spec.hints.get(SAME_HOST, ())
    left = {uuid: servers[uuid] for uuid in kept if uuid in servers}
    return dataclasses.replace(question, group=group, servers=left)


def _without_isolation(question: Question) -> Question:
    names = (name for name, row in FILTERS.items() if row.isolates)
    settings = with_filters(question.assumptions, ((name, False) for name in names))
    for option in (row.option for row in PREFILTERS if row.isolates):
        settings = settings.changed(option, False)
    return dataclasses.replace(question, assumptions=settings)
