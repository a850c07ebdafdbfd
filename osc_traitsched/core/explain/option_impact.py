"""Options and releases that would change a verdict, found by trying each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.explain.filtering import Filtering, filtering
from osc_traitsched.core.explain.verdict import Verdict
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import evidence, options
from osc_traitsched.core.nova.options import Consumer, Option, Value, options_in
from osc_traitsched.core.nova.question import Question, skips_version
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import matching_hosts
from osc_traitsched.core.releases import OWNER_NOVA_RELEASE


@dataclasses.dataclass(frozen=True)
class OptionImpact:
    """An option that would change the verdict with another value.

    :ivar gained: hosts that only the other value allows
    :ivar lost: hosts that only the current value allows
    :ivar refused: Nova would reject the request
    :ivar other: the other value
    :ivar lost_roots: UUIDs of the lost hosts
    """

    name: str
    setting: Setting
    gained: int
    lost: int
    refused: bool = False
    other: Value = None
    lost_roots: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Dependence:
    """An unknown option or host filter whose other value changes the hosts.

    :ivar name: of the option, or of the filter
    :ivar source: why the value is assumed
    :ivar hosts: number of candidates with the assumed value
    :ivar otherwise: number of candidates with the other value
    :ivar lost: UUIDs of the candidates that the other value loses
    :ivar more: options and filters that need their other value, too
    """

    name: str
    assumed: Value
    other: Value
    source: str
    hosts: int
    otherwise: int
    lost: frozenset[str] = frozenset()
    more: tuple[str, ...] = ()

    @property
    def gains(self) -> bool:
        """Whether the other value adds hosts."""
        return self.otherwise > self.hosts - len(self.lost)


@dataclasses.dataclass(frozen=True)
class ReleaseImpact:
    """A possible release of the cloud that would change the verdict.

    Fields are those of :class:`OptionImpact`.
    """

    release: int
    gained: int
    lost: int
    refused: bool = False


#: In place of an option: Nova requires OWNER_NOVA once all nova-computes are new.
OWNER_CHECK = "OWNER_NOVA"

_AFTER_PLACEMENT = frozenset([Consumer.FILTER, Consumer.WEIGHER])


def switches(question: Question) -> Iterator[tuple[str, Question]]:
    """Options with another value, and the question with it.

    These are booleans, the default zone if set, and the database's comparison. Options
    of filters and weighers do not affect Placement. Options of moves count for moves
    only. Whether Nova asks for OWNER_NOVA is no option, but may be unknown as well.
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
    """Other values to try."""
    if isinstance(value, bool):
        yield not value
    elif option.name == options.DEFAULT_ZONE and value:
        yield None
    elif option.name == options.COLLATION:
        yield from (each for each in option.choices if each != value)


@dataclasses.dataclass(frozen=True)
class Variation:
    """The question with one option changed, or of another release.

    :ivar name: of the option; empty for a release
    :ivar request: None if Nova rejects it
    """

    name: str
    question: Question
    request: Request | None

    @property
    def release(self) -> int:
        """Its release."""
        return self.question.assumptions.release


def variations(question: Question, request: Request) -> tuple[Variation, ...]:
    """Variations with other queries: of each option, and of each possible release."""
    tried = (*switches(question), *_other_releases(question))
    found = []
    for name, other in tried:
        switched = _request(other)
        # Another release may have other host filters, too.
        is_same = switched is not None and switched.query() == request.query()
        if not name or not is_same or not _is_judged_alike(other, question):
            # Which of its new aggregates a host is in does not matter.
            single = switched and switched.forbidding_at_once(request)
            found.append(Variation(name, other, single))
    return tuple(found)


def _is_judged_alike(other: Question, question: Question) -> bool:
    """Whether filters and rules of moves are the same, in the same release."""
    demands = [
        (each.move, each.ignored_host, _skips(each)) for each in (other, question)
    ]
    return demands[0] == demands[1] and other.request_spec() == question.request_spec()


def _skips(question: Question) -> bool:
    return question.move is not None and skips_version(question.assumptions)


def _other_releases(question: Question) -> Iterator[tuple[str, Question]]:
    for assumptions in question.assumptions.others:
        yield "", dataclasses.replace(question, assumptions=assumptions)


def without_evidence(question: Question) -> Variation | None:
    """The question without any value by evidence, if there are several."""
    settings = question.assumptions
    other = dataclasses.replace(
        question, assumptions=evidence.without_evidence(settings)
    )
    is_of_several = len(evidence.unconfirmed(settings)) > 1
    return Variation("", other, _request(other)) if is_of_several else None


def _request(question: Question) -> Request | None:
    try:
        return question.request()
    except Refusal:
        return None


def option_impacts(
    now: Matched, found: Iterable[Variation]
) -> tuple[OptionImpact, ...]:
    """Changed options that change the matching hosts."""
    switched = [each for each in found if each.name]
    return tuple(
        OptionImpact(
            each.name,
            _setting(now.question, each.name),
            gained,
            len(lost),
            refused,
            _setting(each.question, each.name).value,
            lost,
        )
        for each, gained, lost, refused in _changing(now, switched)
    )


def _setting(question: Question, name: str) -> Setting:
    settings = question.assumptions
    if name == OWNER_CHECK:
        is_on = settings.all_computes_new is not False
        return Setting(is_on, "some hosts have the trait")
    return settings.setting(name)


def release_impacts(
    now: Matched, found: Iterable[Variation]
) -> tuple[ReleaseImpact, ...]:
    """Other possible releases that change the matching hosts."""
    of_releases = [each for each in found if not each.name]
    return tuple(
        ReleaseImpact(each.release, gained, len(lost), refused)
        for each, gained, lost, refused in _changing(now, of_releases)
    )


def not_refusing(question: Question) -> tuple[ReleaseImpact, ...]:
    """Other possible releases that accept the question."""
    others = (other for _, other in _other_releases(question))
    return tuple(
        ReleaseImpact(other.assumptions.release, 0, 0)
        for other in others
        if _request(other) is not None
    )


@dataclasses.dataclass(frozen=True)
class Matched:
    """Matching hosts now, and everything needed to match a variation.

    :ivar computes: all compute nodes, for host filters
    """

    question: Question
    facts: Facts
    verdict: Verdict
    filtering: Filtering
    computes: tuple[Compute, ...]

    def then(self, variation: Variation) -> set[str] | None:
        """Roots that would match; None if the request is rejected."""
        if variation.request is None:
            return None
        try:
            found = self._filtering(variation)
        except Refusal:
            return None
        matching = matching_hosts(variation.request, self.facts)
        return None if found.failure(matching) else matching - found.all_kept_out

    def without_evidence(self, variation: Variation | None) -> frozenset[str]:
        """Roots that would match without any value by evidence."""
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
        return frozenset(matching_hosts(variation.request, self.facts)) - kept

    def _filtering(self, variation: Variation) -> Filtering:
        """Filter answers for the variation: its zone, move or release may change them.

        :raises Refusal: as :func:`filtering`
        """
        asked, release = variation.question, self.question.assumptions.release
        is_alike = _is_judged_alike(asked, self.question)
        if variation.release == release and is_alike:
            return self.filtering
        return filtering(asked, self.computes)


def _changing(
    now: Matched, found: Iterable[Variation]
) -> Iterator[tuple[Variation, int, frozenset[str], bool]]:
    roots = frozenset(host.uuid for host in now.facts.snapshot.hosts)
    matching = roots - now.verdict.rejections.keys()
    for each in found:
        then = now.then(each)
        if then is None:
            yield each, 0, matching, True
        elif then != matching:
            yield each, len(then - matching), matching - then, False
