"""What an answer owes to options of nova.conf that nobody gave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from osc_traitsched.core.judge.doubts import OWNER_CHECK, Dependence
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova import options
from osc_traitsched.core.nova.evidence import assumed_by_evidence
from osc_traitsched.core.nova.options import OPTIONS, Value
from osc_traitsched.core.nova.settings import SchedulerSettings
from osc_traitsched.text import agreed, and_more, count, listed, option
from osc_traitsched.views.terminal import Line, Tone

_START = "Depends on nova.conf:"
#: The careful reading: as if options were on for which the cloud shows evidence.
_CAREFUL = "Unknown options: counted as if"
_MOST = 2
_NO_VALUES: Mapping[str, Value] = {}


def headline(judgement: Judgement) -> str:
    """The verdict if unknown options decide: the hosts for both values of one."""
    first = _decisive(judgement)[0]
    both = [(first.assumed, first.hosts), (first.other, first.otherwise)]
    (value, hosts), (other, others) = sorted(both, key=lambda each: each[0] is True)
    total = judgement.total_hosts
    wanted = judgement.question.spec.count
    if wanted > 1 and judgement.candidates and first.gained:
        return (
            f"{_START} room for {judgement.room.most} of {wanted} if "
            f"{_is(first, first.assumed)}; {first.otherwise} of {count(total, 'host')} "
            "can take one if not."
        )
    it = "they are" if first.more else "it is"
    return (
        f"{_START} {hosts} of {count(total, 'host')} if {_is(first, value)}, "
        f"{others} of {total} if {it} {_state(first.name, other)}."
    )


def otherwise(judgement: Judgement) -> str:
    """The value of an option that would change the verdict: ``isolation is off``."""
    first = _decisive(judgement)[0]
    return _is(first, first.other)


def lines(judgement: Judgement) -> Iterator[Line]:
    """Lines below the verdict: evidence, and options that change other numbers."""
    first = _decisive(judgement)[:1] if judgement.depends else ()
    for each in first:
        yield Line(f"{_CAREFUL} {_is(each, each.assumed)} ({each.source}).")
    others = [each for each in judgement.dependences if each not in first]
    if others:
        total = judgement.total_hosts
        parts = [
            f"{each.otherwise} of {count(total, 'host')} if {_is(each, each.other)}"
            for each in others[:_MOST]
        ]
        if len(others) > _MOST:
            parts.append(and_more(len(others) - _MOST, "option"))
        start = "Also:" if first else _START
        yield Line(f"{start} {'; '.join(parts)}.", Tone.DOUBT)
    for key, setting in assumed_by_evidence(judgement.question.assumptions):
        for known, _ in (setting.filters or ((key, ""),)) if setting.given else ():
            state = _state(known, value=True)
            yield Line(f"Taken as known: {name(known)} is {state} ({setting.source}).")


def of_several(judgements: Sequence[Judgement]) -> Iterator[str]:
    """One line that names all unknown options which change the hosts of any."""
    lost = {
        key: each.assumed
        for judgement in judgements
        for each in judgement.dependences
        for key in (each.name, *each.more)
        if each.lost
    }
    if any(each.may_be_rejected for each in judgements):
        lost[options.TENANT_REQUIRED] = False
    for judgement in judgements[:1]:
        yield from assumed(judgement.question.assumptions, lost)


def assumed(
    settings: SchedulerSettings, more: Mapping[str, Value] = _NO_VALUES
) -> Iterator[str]:
    """A line on assumed values; a single one with its evidence.

    If an option and a filter have the same evidence, only the option is named.

    :param more: other values that the answer depends on, by option or host filter
    """
    values: dict[str, tuple[str, Value]] = {}
    for key, setting in reversed(assumed_by_evidence(settings)):
        for each, why in setting.filters or ((key, setting.source),):
            values.setdefault(why, (each, True))
    keys = {key for key, _ in values.values()}
    values |= {key: (key, more[key]) for key in more if key not in keys}
    keys_by_state: dict[str, list[str]] = {}
    for key, value in values.values():
        is_switch = isinstance(value, bool)
        state = ("on" if value else "off") if is_switch else _state(key, value)
        keys_by_state.setdefault(state, []).append(key)
    if len(values) > 1:
        parts = (
            f"{' and '.join(map(_short, keys))} {agreed(f'is {state}', len(keys))}"
            for state, keys in keys_by_state.items()
        )
        yield f"{_CAREFUL} {', and '.join(parts)}; run config doctor."
    for why, (key, value) in values.items() if len(values) == 1 else ():
        because = f" ({why})" if why != key else ""
        yield f"{_CAREFUL} {name(key)} is {_state(key, value)}{because}."


#: The words of a filter's name, without the first that say it is about aggregates.
_WORD = re.compile(r"^Aggregate(?:Instance)?|([A-Z]+(?![a-z])|[A-Z][a-z]+)")


def _short(key: str) -> str:
    if "." in key or key == OWNER_CHECK:
        return name(key)
    return " ".join(filter(None, _WORD.findall(key))).lower()


def name(key: str) -> str:
    """Short name of an option or host filter."""
    if key == OWNER_CHECK:
        return "the OWNER_NOVA check"
    row = OPTIONS.get(key)
    if row is None:
        return key if "." not in key else option(key)
    return row.title or option(key)


def _decisive(judgement: Judgement) -> tuple[Dependence, ...]:
    """Each decides alone, or else they do together."""
    lost = tuple(each for each in judgement.dependences if each.lost)
    return judgement.turning or lost


def _is(each: Dependence, value: Value) -> str:
    names = listed(map(name, (each.name, *each.more)))
    are = "are" if each.more else "is"
    return f"{names} {are} {_state(each.name, value)}"


def _state(key: str, value: Value) -> str:
    if isinstance(value, bool):
        is_filter = "." not in key
        words = ("disabled", "enabled") if is_filter else ("off", "on")
        return words[value]
    return "unset" if value is None else str(value)
