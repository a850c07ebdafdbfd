"""Host filters in words, and what an answer owes to options that nobody gave."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge import filtering
from osc_traitsched.core.judge.doubts import OWNER_CHECK, Dependence
from osc_traitsched.core.judge.filtering import FilterFailure, Filtering
from osc_traitsched.core.judge.judgement import Judgement, RequestResult
from osc_traitsched.core.judge.reasons import picks
from osc_traitsched.core.nova import options, weighers
from osc_traitsched.core.nova.clause import HostFilter, MoveRule, Resource
from osc_traitsched.core.nova.evidence import assumed_by_evidence
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.groups import ANTI_AFFINITY
from osc_traitsched.core.nova.filter.special import NUMA_TOPOLOGY
from osc_traitsched.core.nova.filter.state import (
    Fails,
    FilterResult,
    HostState,
    Passes,
    Raises,
    Unknown,
)
from osc_traitsched.core.nova.filter.table import (
    FILTERS,
    OWN_FILTER,
    is_list_known,
    without_filter,
)
from osc_traitsched.core.nova.options import OPTIONS, SchedulerSettings, Value
from osc_traitsched.core.nova.own import TOGETHER, PluginJudgment, Weighed
from osc_traitsched.core.nova.question import TRIED_ONCE, Question
from osc_traitsched.core.nova.weighers import Assumption, Ranking
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import (
    agreed,
    and_more,
    by_key,
    count,
    listed,
    option,
    quoted,
    ranges,
)
from osc_traitsched.views.listing import Names, Table
from osc_traitsched.views.terminal import Line, Tone

# The answers of own filters and weighers, and why they may have none.


_FAILS_REQUESTS = "nova-scheduler would fail the whole request"

#: The answers for programs.
ANSWERS = {Passes: "yes", Fails: "no", Unknown: "unknown", Raises: "exception"}

_WORDS = {Passes: "passes", Fails: "fails", Unknown: "unknown", Raises: "raises"}


class Trial(Protocol):
    """A trial of a plugin: the hosts in order, and its answers."""

    @property
    def hosts(self) -> tuple[HostState, ...]:
        """All hosts."""

    @property
    def judgment(self) -> PluginJudgment:
        """The answers of the plugin."""


FILTER_COLUMNS = ("host", "answer", "reason")
WEIGHER_COLUMNS = ("host", "raw", "normalized", "multiplier", "score")


def rows(trial: Trial) -> Table:
    """One row a host: a filter's answer and its reason, or a weigher's figures.

    A weigher's rows begin with its first host.
    """
    found = trial.judgment
    for name, answers in found.answers.items():
        logs = found.logs[name]
        return FILTER_COLUMNS, [
            (each.node, *_cells(answers[each.compute.uuid], logs[each.compute.uuid]))
            for each in trial.hosts
        ]
    for weights in found.weights.values():
        if isinstance(weights, Weighed):
            return WEIGHER_COLUMNS, _weighed(trial.hosts, weights)
    return WEIGHER_COLUMNS, [
        (each.node, None, None, None, None) for each in trial.hosts
    ]


def _cells(answer: FilterResult, log: Iterable[str]) -> tuple[str, Names]:
    why = reason(answer)
    return _WORDS[type(answer)], Names([*([why] if why else []), *log])


def _weighed(hosts: Iterable[HostState], found: Weighed) -> list[tuple[object, ...]]:
    first = sorted(hosts, key=lambda each: -found.score(each.compute.uuid))
    return [
        (
            each.node,
            found.raw[each.compute.uuid],
            found.normalized[each.compute.uuid],
            found.multiplier[each.compute.uuid],
            found.score(each.compute.uuid),
        )
        for each in first
    ]


@functools.singledispatch
def reason(answer: object) -> str:
    """Why an answer is not a plain yes or no; empty for those."""
    return ""


@reason.register
def _(answer: Unknown) -> str:
    if answer.missing == "Nova's database":
        return "it reads Nova's database"
    if answer.missing == "context.remote_address":
        return "it reads where the request comes from: --remote-address says it"
    return f"it reads {answer.missing}, which is not visible here"


@reason.register
def _(answer: Raises) -> str:
    return ": ".join(filter(None, (answer.exception, answer.value)))


def problem(trial: Trial) -> str:
    """The line on a plugin that would fail requests, or can't run here."""
    for answers in trial.judgment.answers.values():
        raised = sum(isinstance(each, Raises) for each in answers.values())
        if raised:
            hosts = f"{raised} of {count(len(answers), 'host')}"
            return f"it raises for {hosts}: {_FAILS_REQUESTS}"
    for weights in trial.judgment.weights.values():
        if isinstance(weights, Raises):
            return f"{reason(weights)}; {_FAILS_REQUESTS}"
        if isinstance(weights, Unknown):
            return f"it can't weigh these hosts: {reason(weights)}"
    return ""


def own_differences(
    question: Question, filtering: Filtering, names: Mapping[str, str]
) -> Iterator[str]:
    """Lines on the filters whose copy in Nova answers differently.

    :param names: of the hosts that matter, by the UUIDs of their nodes
    """
    version = question.own.version if question.own else ""
    found = by_key(
        ((e.filter, _WORDS[type(e.novas)], _WORDS[type(e.ours)]), names[e.host])
        for e in filtering.differences
        if e.host in names
    )
    for (name, novas, ours), hosts in found.items():
        yield (
            f"Of {ranges(hosts)} the {name} of Nova {version} says {quoted(novas)}, "
            f"and the one here {quoted(ours)}. Nova is believed."
        )


# Host filters in words: what they require, and why they keep hosts out.


class ClauseWords(NamedTuple):
    """Why hosts fail a condition, in parts that make a clause at the end.

    :ivar what: ``lacks trait X``, in the number of the hosts
    :ivar need: the value or amount: ``need 4096 MB``; may be empty
    :ivar origin: the flavor or image that requires it; may be empty
    """

    what: str
    need: str = ""
    origin: str = ""

    def __str__(self) -> str:
        more = (f" ({part})" for part in (self.need, self.origin) if part)
        return f"{self.what}{''.join(more)}"


#: What the rules of moves want.
_RULES = {
    "move:hypervisor": "a hypervisor like the source's, no older one",
    "move:source": "not the server's own host",
}

#: What can't be known of filters that are none of Nova's, and what to do.
_OF_ONES_OWN = {
    OWN_FILTER: "it is none of Nova's (--nova-python runs it)",
    TOGETHER: "it looks at all remaining hosts together",
    Unknown("context.remote_address"): "it reads where the request comes from "
    "(--remote-address says it)",
}


def wanted(condition: HostFilter | MoveRule) -> str:
    """What a filter or a move requires of hosts, with the filter's name."""
    if isinstance(condition, MoveRule):
        return _RULES[condition.name]
    row = FILTERS.get(condition.name)
    return f"{row.wants} ({row.name})" if row and row.wants else condition.name


def said(
    condition: HostFilter | MoveRule,
    judgement: Judgement,
    hosts: Sequence[Provider],
) -> ClauseWords:
    """Why a filter or a move keeps hosts out, in words.

    If the reasons differ: the filter, and what it requires.
    """
    answers = [judgement.filtering.answer(condition.name, host.uuid) for host in hosts]
    if len(set(answers)) > 1:
        # A full group, in the same words for all.
        answers = [
            dataclasses.replace(each, reason=state.GROUP_HERE, found=())
            if isinstance(each, Fails) and each.key == ANTI_AFFINITY
            else each
            for each in answers
        ]
    if len(set(answers)) == 1 and answers[0] is not None:
        return _answer(answers[0], condition.name, len(hosts))
    wants = {(a.key, a.wanted) if isinstance(a, Fails) else None for a in answers}
    one = wants.pop() if len(wants) == 1 else None
    asked = f" for {one[0]}={one[1]}" if one and all(one) else ""
    # Nova says the whole need.
    need = one[1] if one and not one[0] else ""
    is_claim = all(getattr(a, "reason", "") == state.CLAIM_FAILS for a in answers)
    what = state.SAID[state.CLAIM_FAILS][0] if is_claim else failing(condition)
    return ClauseWords(f"{agreed(what, len(hosts))}{asked}", need)


def failing(condition: HostFilter | MoveRule) -> str:
    """That a host fails a filter, or lacks what a move requires."""
    if isinstance(condition, MoveRule):
        return f"does not have {wanted(condition)}"
    return f"fails {condition.name}"


def answer(found: FilterResult, name: str) -> str:
    """Any answer of one host but yes, in words."""
    return str(_answer(found, name, 1))


def _answer(found: FilterResult, name: str, number: int) -> ClauseWords:
    what, need = _said(found, name), ""
    if isinstance(found, Fails) and found.reason != state.OWN:
        what, need = (
            part.format(
                group=found.origin.name if found.origin else "",
                key=found.key,
                wanted=found.wanted,
                found=listed(found.found),
            )
            for part in state.SAID[found.reason]
        )
    return ClauseWords(agreed(what, number), need)


def _said(found: FilterResult, name: str) -> str:
    if isinstance(found, Fails):
        parts = [*filter(None, (found.wanted, *found.found))]
        why = f" ({'; '.join(parts)})" if parts else ""
        return f"is kept out by {name}{why}"
    if isinstance(found, Raises):
        return f"makes {name} fail: {found.exception}, {_value(found)}"
    if isinstance(found, Unknown):
        if found in _OF_ONES_OWN:
            return f"is not known to pass {name}: {_OF_ONES_OWN[found]}"
        return f"depends on {unknown(found)} ({name})"
    return f"passes {name}"


def _value(found: Raises) -> str:
    """Of an own filter, the exception's text."""
    return f"{found.key}={found.value}" if found.key else found.value


def unknown(found: Unknown) -> str:
    """What can't be known, and what is visible of it."""
    asked = f" for {found.key}" if found.key else ""
    seen = f"; {found.evidence}" if found.evidence else ""
    return f"{found.missing}{asked}, which no API shows{seen}"


def uncertain(judgement: Judgement) -> Iterator[str]:
    """Lines on what decides on candidates and can't be known."""
    found: dict[tuple[str, Unknown], list[str]] = {}
    pinned: list[str] = []
    for host in judgement.candidates.uncertain:
        for name, each in judgement.filtering.unknown(host.uuid):
            if name == NUMA_TOPOLOGY and judgement.pins_shared_cpus(host):
                pinned.append(host.name)
            elif name not in judgement.filtering.unsettled:
                found.setdefault((name, each), []).append(host.name)
    if pinned:
        has = agreed("has", len(pinned))
        yield (
            f"{ranges(pinned)} {has} no dedicated CPUs ([compute]cpu_dedicated_set is "
            "not set). Nova pins servers there only if [compute]cpu_shared_set is not "
            "set either, or [DEFAULT]vcpu_pin_set is."
        )
    for (name, each), hosts in found.items():
        why = _OF_ONES_OWN.get(each) or f"it reads {unknown(each)}"
        yield f"{name} may keep out {ranges(hosts)}: {why}."
    names = {host.uuid: host.name for host in judgement.candidates.placement_hosts}
    yield from may_fail(judgement.candidates.may_fail, names)


def leaving(judgement: Judgement) -> Iterator[str]:
    """What to do about the group's members that nova-compute counts on two hosts."""
    group, move = judgement.question.group, judgement.question.move
    moves = group.moves or () if group else ()
    held, picked = set[str](), set[str]()
    for host in judgement.hosts if moves else ():
        answers = [each for _, each in judgement.filtering.answers(host.uuid)]
        failing = getattr(judgement.rejections.get(host.uuid), "failing", ())
        if [getattr(each, "reason", "") for each in answers] == [state.GROUP_LEAVING]:
            # A move that is not confirmed also takes room there.
            is_only_full = all(isinstance(c, (HostFilter, Resource)) for c in failing)
            held.update(getattr(answers[0], "found", ()) if is_only_full else ())
            picked |= {host.name} if host.uuid in judgement.candidates.placed else set()
    for each in (each for each in moves if each.name in held):
        confirm = openstack("server resize confirm", each.name)
        shown = openstack("server migration list", Option("--server", each.name))
        yield (
            f"Confirm or revert the resize of {each.name} first: {line(confirm)}"
            if each.is_finished
            else f"Wait until the move of {each.name} has ended: {line(shown)}"
        )
    is_tried_once = move is not None and move.kind in TRIED_ONCE
    is_open = is_tried_once and judgement.candidates and not judgement.question.nodes
    if picked and is_open:
        yield f"Name a host: if Nova picks {ranges(picked)}, the server goes to ERROR."


def unsettled(
    question: Question, found: Filtering, hosts: Mapping[str, str]
) -> Iterator[str]:
    """Lines on filters that may be on, and on what is decided without a filter."""
    for name in found.unsettled:
        unknown = found.unknown_hosts[name] & hosts.keys()
        out = sorted(hosts[u] for u in unknown if found.may_be_on(name, u))
        if out:
            drop = agreed("drops", len(out))
            yield (
                f"Depends on nova.conf: if {name} is enabled, {ranges(out)} {drop} out."
            )
    yield from decided_later(question, found, hosts)


def decided_later(
    question: Question, found: Filtering, hosts: Collection[str]
) -> Iterator[str]:
    """Lines on what nova-compute or Cyborg decides after the host filters."""
    for name in found.unsettled:
        unknown = found.unknown_hosts[name].intersection(hosts)
        uuids = sorted(u for u in unknown if not found.may_be_on(name, u))
        doubt = found.answer(name, uuids[0]) if uuids else None
        if not isinstance(doubt, Unknown) or name not in without_filter():
            continue
        if name not in FILTERS:
            yield (
                f"{name} checks {doubt.key} after the scheduler; no API of Nova shows "
                f"its {doubt.missing}."
            )
        elif question.is_forced or is_list_known(question.assumptions):
            is_off = "does not run" if question.is_forced else "is off"
            yield (
                f"{name} {is_off}: nova-compute checks {doubt.key} itself, after up to "
                "[scheduler]max_attempts hosts."
            )
        else:
            yield (
                f"nova-compute checks {doubt.key}, and {name} if it is enabled: no API "
                "shows the result."
            )


def may_fail(found: Iterable[FilterFailure], names: Mapping[str, str]) -> Iterator[str]:
    """Lines on the filters that may end the whole request, and why."""
    hosts = by_key(
        ((each.name, each.answer, each.behind), names[each.uuid]) for each in found
    )
    for (name, answer, behind), on in hosts.items():
        if isinstance(answer, Raises):
            why = f"{answer.exception}, {_value(answer)}"
        else:
            why = f"it reads {unknown(answer)}"
        keep = agreed("keeps", len(behind))
        out = "it" if len(on) == 1 else "them"
        unless = f", unless {' or '.join(behind)} {keep} {out} out first"
        yield (
            f"{name} may end the whole request on {ranges(on)}: {why}"
            f"{unless if behind else ''}."
        )


def differences(judgement: Judgement) -> Iterator[str]:
    """Lines on the filters whose copy in Nova answers differently."""
    names = {host.uuid: host.name for host in judgement.hosts}
    yield from own_differences(judgement.question, judgement.filtering, names)


def unread_hints(question: Question) -> Iterator[str]:
    """Lines on hints that no filter reads."""
    for each in filtering.unread_hints(question):
        why = "no enabled filter reads it"
        if each.reader:
            off = "off" if is_list_known(question.assumptions) else "assumed off"
            why = f"{each.reader} reads it, which is {off}"
        elif each.without:
            why = f"it needs the hint {each.without}"
        yield f"Hint {each.hint} has no effect: {why}."


def unread_zone(question: Question) -> Iterator[str]:
    """A line if the server is pinned to a zone that no aggregate has."""
    zone = filtering.unread_zone(question)
    if zone:
        yield f"No aggregate defines zone {zone}: it keeps no host out."


def without_effect(names: Iterable[str]) -> str:
    """The line on the filters that pass all hosts; empty for none."""
    found = ", ".join(names)
    return f"  Filters that rejected nothing: {found}" if found else ""


# Weighers in words: the host that is picked, and what that assumes.


_TAKEN = {
    weighers.NONE: "no host has any {missing}",
    weighers.ALIKE: "{missing} is the same on all hosts",
    weighers.REPORTED: "all hosts report {missing}, and the same",
    weighers.ALL_IO: "assumes no recent boots, and that each running task is I/O",
    weighers.DEFAULT: "{missing} is the release's default",
    weighers.ZERO: "{missing} counts as zero if a host has none",
    weighers.UNSEEN: "it reads {missing}, and is taken to weigh all hosts alike",
    weighers.NOT_RAISING: (
        "it raises {missing} on a host that may not be weighed, which would end the "
        "request; else it is taken to weigh all hosts alike"
    ),
    weighers.FIRST_REQUEST: "no request was scheduled since nova-scheduler started",
}

_HISTORY = "depends on earlier requests (bug 1870096)"


def pick(judgement: Judgement, everything: bool = True) -> str:
    """Which host nova-scheduler tries first; empty for fewer than two candidates.

    A host that a filter keeps out is not weighed, which may change the order of all.
    """
    found, ranking = picks(judgement), judgement.ranking
    if len(judgement.candidates) < 2:
        return ""
    if ranking is not None and not ranking.first:
        return f"the order {_HISTORY}"
    if not found or judgement.candidates.is_uncertain:
        return ""
    unsure = ranges(host.name for host in judgement.candidates.uncertain)
    conditions = [f"if all filters pass {unsure}"] if unsure else []
    changing = _changing(ranking) if everything and ranking is not None else []
    if changing:
        conditions.append(f"{' and '.join(changing)} can change this")
    but = f" ({'; '.join(conditions)})" if conditions else ""
    if len(found) == len(judgement.candidates):
        return f"all are equally likely{but}"
    one = "one of " if len(found) > 1 else ""
    server = " for the first" if judgement.question.spec.count > 1 else ""
    return f"most likely {one}{ranges(host.name for host in found)}{server}{but}"


def _changing(ranking: Ranking) -> list[str]:
    """What no API shows and may put another host first."""
    boots = ["recent boots"] if ranking.rests_on_tasks else []
    is_blind = any(each.missing == weighers.FAILED_BUILDS for each in ranking.assumed)
    return [*boots, *(["failed builds"] if is_blind else [])]


def order(ranking: Ranking) -> Iterator[str]:
    """What the order of unequal candidates depends on."""
    if ranking.remembers and len(ranking.places) > 1:
        yield f"The order {_HISTORY}; here it is that of the first one."


def assumed_weights(judgement: RequestResult) -> Iterator[str]:
    """The assumptions in words."""
    yield from map(assumption, assumptions(judgement))


def assumptions(judgement: RequestResult) -> tuple[Assumption, ...]:
    """What the weights assume, since no API shows it."""
    ranking = judgement.ranking if isinstance(judgement, Judgement) else None
    return ranking.assumed if ranking and len(ranking.hosts) > 1 else ()


def assumption(each: Assumption) -> str:
    """An assumption in words."""
    missing = each.missing or "its weight"
    text = _TAKEN[each.taken].format(missing=missing.replace("_", " "))
    return f"{each.weigher or 'weighers'}: {text}"


# What an answer owes to options of nova.conf that nobody gave.


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


def deciding_lines(judgement: RequestResult) -> Iterator[Line]:
    """Lines below the verdict: evidence, and options that change other numbers."""
    first = _decisive(judgement)[:1] if judgement.open.depends else ()
    for each in first:
        yield Line(f"{_CAREFUL} {_is(each, each.assumed)} ({each.source}).")
    others = [each for each in judgement.open.dependences if each not in first]
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


def of_several(judgements: Sequence[RequestResult]) -> Iterator[str]:
    """One line that names all unknown options which change the hosts of any."""
    lost = {
        key: each.assumed
        for judgement in judgements
        for each in judgement.open.dependences
        for key in (each.name, *each.more)
        if each.lost
    }
    if any(each.open.may_be_rejected for each in judgements):
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
            f"{' and '.join(map(_in_short, keys))} {agreed(f'is {state}', len(keys))}"
            for state, keys in keys_by_state.items()
        )
        yield f"{_CAREFUL} {', and '.join(parts)}; run config doctor."
    for why, (key, value) in values.items() if len(values) == 1 else ():
        because = f" ({why})" if why != key else ""
        yield f"{_CAREFUL} {name(key)} is {_state(key, value)}{because}."


#: The words of a filter's name, without the first that say it is about aggregates.
_WORD = re.compile(r"^Aggregate(?:Instance)?|([A-Z]+(?![a-z])|[A-Z][a-z]+)")


def _in_short(key: str) -> str:
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


def _decisive(judgement: RequestResult) -> tuple[Dependence, ...]:
    """Each decides alone, or else they do together."""
    lost = tuple(each for each in judgement.open.dependences if each.lost)
    return judgement.open.turning or lost


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
