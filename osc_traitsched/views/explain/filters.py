"""Host filters in words: what they require, and why they keep hosts out."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from osc_traitsched.core.inventory.snapshot import Provider
from osc_traitsched.core.judge import filtering
from osc_traitsched.core.judge.filtering import FilterFailure, Filtering
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.judge.reasons import picks
from osc_traitsched.core.nova.clause import HostFilter, MoveRule, Resource
from osc_traitsched.core.nova.filter import state
from osc_traitsched.core.nova.filter.groups import ANTI_AFFINITY
from osc_traitsched.core.nova.filter.special import NUMA_TOPOLOGY
from osc_traitsched.core.nova.filter.state import Fails, FilterResult, Raises, Unknown
from osc_traitsched.core.nova.filter.table import (
    FILTERS,
    OWN_FILTER,
    is_list_known,
    without_filter,
)
from osc_traitsched.core.nova.own import TOGETHER
from osc_traitsched.core.nova.question import TRIED_ONCE, Question
from osc_traitsched.core.nova.weigher import weighing
from osc_traitsched.core.nova.weigher.ranking import Ranking
from osc_traitsched.core.nova.weigher.weighing import Assumption
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import agreed, listed, ranges
from osc_traitsched.views import own_filters

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
) -> str:
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
        return answer(answers[0], condition.name, len(hosts))
    wants = {(a.key, a.wanted) if isinstance(a, Fails) else None for a in answers}
    one = wants.pop() if len(wants) == 1 else None
    asked = f" for {one[0]}={one[1]}" if one and all(one) else ""
    return f"{failing(condition, len(hosts))}{asked}"


def failing(condition: HostFilter | MoveRule, number: int = 1) -> str:
    """That hosts fail a filter, or lack what a move requires."""
    if isinstance(condition, MoveRule):
        return agreed(f"does not have {wanted(condition)}", number)
    return agreed(f"fails {condition.name}", number)


def answer(found: FilterResult, name: str, number: int = 1) -> str:
    """Any answer but yes, in words.

    :param number: of hosts, for the verb
    """
    return agreed(_answer(found, name), number)


def _answer(found: FilterResult, name: str) -> str:
    if isinstance(found, Fails) and found.reason == state.OWN:
        why = f" ({'; '.join(found.found)})" if found.found else ""
        return f"is kept out by {name}{why}"
    if isinstance(found, Fails):
        return state.SAID[found.reason].format(
            group=found.origin.name if found.origin else "",
            key=found.key,
            wanted=found.wanted,
            found=listed(found.found),
        )
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
    for host in judgement.uncertain:
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
    names = {host.uuid: host.name for host in judgement.placement_hosts}
    yield from may_fail(judgement.may_fail, names)


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
            picked |= {host.name} & {each.name for each in judgement.placement_hosts}
    for each in (each for each in moves if each.name in held):
        confirm = openstack("server resize confirm", each.name)
        shown = openstack("server migration list", Option("--server", each.name))
        yield (
            f"Confirm or revert the resize of {each.name} first: {line(confirm)}"
            if each.is_finished
            else f"Wait until the move of {each.name} has ended: {line(shown)}"
        )
    is_tried_once = move is not None and move.kind in TRIED_ONCE
    is_open = is_tried_once and judgement.candidates and not judgement.requested_nodes
    if picked and is_open:
        yield f"Name a host: if Nova picks {ranges(picked)}, the server goes to ERROR."


def unsettled(
    question: Question, found: Filtering, hosts: Mapping[str, str]
) -> Iterator[str]:
    """Lines on filters that may be on, and on what is decided without a filter."""
    for name in found.unsettled:
        out = sorted(hosts[u] for u in found.unknown_hosts[name] & hosts.keys())
        if out and name not in without_filter():
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
        uuids = sorted(found.unknown_hosts[name].intersection(hosts))
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
    hosts: dict[tuple[str, Raises | Unknown, tuple[str, ...]], list[str]] = {}
    for each in found:
        kind = each.name, each.answer, each.behind
        hosts.setdefault(kind, []).append(names[each.uuid])
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
    yield from own_filters.differences(judgement.question, judgement.filtering, names)


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
    weighing.NONE: "no host has any {missing}",
    weighing.ALIKE: "{missing} is the same on all hosts",
    weighing.REPORTED: "all hosts report {missing}, and the same",
    weighing.ALL_IO: "assumes no recent boots, and that each running task is I/O",
    weighing.DEFAULT: "{missing} is the release's default",
    weighing.ZERO: "{missing} counts as zero if a host has none",
    weighing.UNSEEN: "it reads {missing}, and is taken to weigh all hosts alike",
    weighing.NOT_RAISING: (
        "it raises {missing} on a host that may not be weighed, which would end the "
        "request; else it is taken to weigh all hosts alike"
    ),
    weighing.FIRST_REQUEST: "no request was scheduled since nova-scheduler started",
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
    if not found or judgement.is_uncertain:
        return ""
    unsure = ranges(host.name for host in judgement.uncertain)
    conditions = [f"if all filters pass {unsure}"] if unsure else []
    if everything and ranking is not None and ranking.rests_on_tasks:
        conditions.append("recent boots can change this")
    but = f" ({'; '.join(conditions)})" if conditions else ""
    if len(found) == len(judgement.candidates):
        return f"all are equally likely{but}"
    one = "one of " if len(found) > 1 else ""
    server = " for the first" if judgement.question.spec.count > 1 else ""
    return f"most likely {one}{ranges(host.name for host in found)}{server}{but}"


def order(ranking: Ranking) -> Iterator[str]:
    """What the order of unequal candidates depends on."""
    if ranking.remembers and len(ranking.places) > 1:
        yield f"The order {_HISTORY}; here it is that of the first one."


def assumed(judgement: Judgement) -> Iterator[str]:
    """The assumptions in words."""
    yield from map(assumption, assumptions(judgement))


def assumptions(judgement: Judgement) -> tuple[Assumption, ...]:
    """What the weights assume, since no API shows it."""
    ranking = judgement.ranking
    return ranking.assumed if ranking and len(ranking.hosts) > 1 else ()


def assumption(each: Assumption) -> str:
    """An assumption in words."""
    missing = each.missing or "its weight"
    text = _TAKEN[each.taken].format(missing=missing.replace("_", " "))
    return f"{each.weigher or 'weighers'}: {text}"
