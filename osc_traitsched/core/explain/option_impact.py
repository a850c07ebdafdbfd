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
    """The question with one option switched.

    :ivar request: None where Nova would refuse it
    """

    name: str
    request: Request | None


def variations(question: Question, request: Request) -> tuple[Variation, ...]:
    """Return the switched questions that Nova would ask Placement otherwise."""
    found = []
    for name, other in switches(question):
        try:
            switched: Request | None = other.request()
        except Refusal:
            switched = None
        if switched is None or switched.query() != request.query():
            # Which of its new aggregates a host is in does not matter.
            found.append(
                Variation(name, switched and switched.forbidding_at_once(request))
            )
    return tuple(found)


def option_impacts(
    question: Question, found: tuple[Variation, ...], facts: Facts, verdict: Verdict
) -> tuple[OptionImpact, ...]:
    """Return the switched options with which other hosts match."""
    roots = {host.uuid for host in facts.snapshot.hosts}
    now = roots - set(verdict.rejections)
    changed = []
    for variation in found:
        then = matching_hosts(variation.request, facts) if variation.request else set()
        if then != now or variation.request is None:
            setting = question.assumptions.setting(variation.name)
            changed.append(
                OptionImpact(
                    variation.name,
                    setting,
                    gained=len(then - now),
                    lost=len(now - then),
                    refused=variation.request is None,
                )
            )
    return tuple(changed)
