"""Which assumptions would change a verdict, found by switching each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from osc_traitsched.core.errors import Refusal
from osc_traitsched.core.explain.verdict import Verdict
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.option import Consumer, Option, Value
from osc_traitsched.core.nova.options import options_in
from osc_traitsched.core.nova.question import Question
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.nova.settings import Setting
from osc_traitsched.core.placement.facts import Facts
from osc_traitsched.core.placement.matcher import matching_hosts


@dataclasses.dataclass(frozen=True)
class OptionImpact:
    """An option that would change the verdict if it were otherwise.

    :ivar gained: hosts that could take the request then and can't now
    :ivar lost: hosts that can take it now and could not then
    :ivar refused: Nova would refuse the request then
    """

    name: str
    setting: Setting
    gained: int
    lost: int
    refused: bool = False


@dataclasses.dataclass(frozen=True)
class ReleaseImpact:
    """A release that the cloud can be of, and that would change the verdict.

    :ivar gained: hosts that could take the request then and can't now
    :ivar lost: hosts that can take it now and could not then
    :ivar refused: Nova would refuse the request then
    """

    release: int
    gained: int
    lost: int
    refused: bool = False


_AFTER_PLACEMENT = frozenset([Consumer.FILTER, Consumer.WEIGHER])


def switches(question: Question) -> Iterator[tuple[str, Question]]:
    """Yield each option that could be otherwise, and the question if it were.

    Those that are on or off, the default zone where there is one, and how the database
    compares. What filters and weighers read is left out, since it comes after
    Placement's answer.
    """
    assumptions = question.assumptions
    for option in options_in(assumptions.release):
        if option.consumer in _AFTER_PLACEMENT:
            continue
        for value in _others(option, assumptions.value(option.name)):
            other = assumptions.changed(option.name, value)
            yield option.name, dataclasses.replace(question, assumptions=other)


def _others(option: Option, value: Value) -> Iterator[Value]:
    """Yield what else an option is tried with."""
    if isinstance(value, bool):
        yield not value
    elif option.name == options.DEFAULT_ZONE and value:
        yield None
    elif option.name == options.COLLATION:
        yield from (each for each in option.choices if each != value)


@dataclasses.dataclass(frozen=True)
class Variation:
    """The question with one option switched, or of another release.

    :ivar name: the option's; empty for a release
    :ivar request: None where Nova would refuse it
    :ivar release: the one that it is of
    """

    name: str
    request: Request | None
    release: int


def variations(question: Question, request: Request) -> tuple[Variation, ...]:
    """Return the questions that Nova would ask Placement otherwise.

    With one option switched each, and of each other release that it may be.
    """
    tried = (*switches(question), *_other_releases(question))
    found = []
    for name, other in tried:
        switched = _request(other)
        if switched is None or switched.query() != request.query():
            # Which of its new aggregates a host is in does not matter.
            single = switched and switched.forbidding_at_once(request)
            found.append(Variation(name, single, other.assumptions.release))
    return tuple(found)


def _other_releases(question: Question) -> Iterator[tuple[str, Question]]:
    for assumptions in question.assumptions.others:
        yield "", dataclasses.replace(question, assumptions=assumptions)


def _request(question: Question) -> Request | None:
    try:
        return question.request()
    except Refusal:
        return None


def option_impacts(
    question: Question, found: tuple[Variation, ...], facts: Facts, verdict: Verdict
) -> tuple[OptionImpact, ...]:
    """Return the switched options with which other hosts match."""
    return tuple(
        OptionImpact(
            each.name,
            question.assumptions.setting(each.name),
            gained,
            lost,
            refused=each.request is None,
        )
        for each, gained, lost in _changing(found, facts, verdict)
        if each.name
    )


def release_impacts(
    found: tuple[Variation, ...], facts: Facts, verdict: Verdict
) -> tuple[ReleaseImpact, ...]:
    """Return the releases that it may be as well, and in which other hosts match."""
    return tuple(
        ReleaseImpact(each.release, gained, lost, refused=each.request is None)
        for each, gained, lost in _changing(found, facts, verdict)
        if not each.name
    )


def not_refusing(question: Question) -> tuple[ReleaseImpact, ...]:
    """Return the releases that it may be as well, and that do not refuse a question."""
    others = (other for _, other in _other_releases(question))
    return tuple(
        ReleaseImpact(other.assumptions.release, 0, 0)
        for other in others
        if _request(other) is not None
    )


def _changing(
    found: tuple[Variation, ...], facts: Facts, verdict: Verdict
) -> Iterator[tuple[Variation, int, int]]:
    """Yield those with which other hosts match: how many more, and how many fewer."""
    roots = {host.uuid for host in facts.snapshot.hosts}
    now = roots - set(verdict.rejections)
    for each in found:
        then = matching_hosts(each.request, facts) if each.request else set[str]()
        if then != now or each.request is None:
            yield each, len(then - now), len(now - then)
