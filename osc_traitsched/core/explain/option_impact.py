"""Options and releases that would change a verdict, found by trying each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.explain.filtering import Filtering, filtering
from osc_traitsched.core.explain.verdict import Verdict
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.options import Consumer, Option, Value, options_in
from osc_traitsched.core.nova.question import Question, skips_version
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import matching_hosts


@dataclasses.dataclass(frozen=True)
class OptionImpact:
    """An option that would change the verdict with another value.

    :ivar gained: hosts that only the other value allows
    :ivar lost: hosts that only the current value allows
    :ivar refused: Nova would reject the request
    """

    name: str
    setting: Setting
    gained: int
    lost: int
    refused: bool = False


@dataclasses.dataclass(frozen=True)
class ReleaseImpact:
    """A possible release of the cloud that would change the verdict.

    Fields are those of :class:`OptionImpact`.
    """

    release: int
    gained: int
    lost: int
    refused: bool = False


_AFTER_PLACEMENT = frozenset([Consumer.FILTER, Consumer.WEIGHER])


def switches(question: Question) -> Iterator[tuple[str, Question]]:
    """Options with another value, and the question with it.

    These are booleans, the default zone if set, and the database's comparison. Options
    of filters and weighers do not affect Placement. Options of moves count for moves
    only.
    """
    assumptions = question.assumptions
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
            now.question.assumptions.setting(each.name),
            gained,
            lost,
            refused,
        )
        for each, gained, lost, refused in _changing(now, switched)
    )


def release_impacts(
    now: Matched, found: Iterable[Variation]
) -> tuple[ReleaseImpact, ...]:
    """Other possible releases that change the matching hosts."""
    of_releases = [each for each in found if not each.name]
    return tuple(
        ReleaseImpact(each.release, gained, lost, refused)
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
) -> Iterator[tuple[Variation, int, int, bool]]:
    roots = {host.uuid for host in now.facts.snapshot.hosts}
    matching = roots - set(now.verdict.rejections)
    for each in found:
        then = now.then(each)
        if then is None:
            yield each, 0, len(matching), True
        elif then != matching:
            yield each, len(then - matching), len(matching - then), False
