"""The answer in one line, and why servers stay."""

from __future__ import annotations

import collections
from collections.abc import Iterator

from osc_traitsched.core.existing.drain.bound import Shortage
from osc_traitsched.core.existing.drain.model import ZONE
from osc_traitsched.core.existing.drain.plan import Drain, Resident, Stuck, Why
from osc_traitsched.core.existing.moves.refusal import Why as Refused
from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.filter.groups import AFFINITY
from osc_traitsched.core.nova.filter.hints import SAME_HOST
from osc_traitsched.core.nova.filter.judging import enabled
from osc_traitsched.core.nova.filter.table import FILTERS
from osc_traitsched.core.nova.move import RULES, Kind
from osc_traitsched.text import count, listed, ranges
from osc_traitsched.views.explain import headline
from osc_traitsched.views.explain import refusal as refused
from osc_traitsched.views.explain import words as explained
from osc_traitsched.views.server import moves

#: How servers are moved, after their number.
_HOW = {
    Kind.LIVE_MIGRATION: "live",
    Kind.MIGRATION: "cold",
    Kind.EVACUATION: "by evacuation",
}

#: What is said of the states of servers that Nova does not move.
_STATES_END = frozenset(["rescued", "resized", "shelved", "suspended"])


def summary(found: Drain) -> str:
    """Return how many servers can be moved, and how."""
    total, able, host = found.total, len(found.steps), found.host
    if not total:
        return f"No server is on {host}."
    if not able:
        none = "The only server" if total == 1 else f"None of the {total} servers"
        return f"{none} of {host} can{'not' if total == 1 else ''} be moved."
    kinds = collections.Counter(step.resident.kind for step in found.steps)
    how = ", ".join(
        f"{kinds[kind]} {word}" for kind, word in _HOW.items() if kinds[kind]
    )
    unsure = len(found.uncertain)
    perhaps = f", {unsure} of them perhaps" if unsure else ""
    if found.stuck:
        stay = f"{len(found.stuck)} {'is' if len(found.stuck) == 1 else 'are'} stuck"
        return (
            f"{able} of {total} servers of {host} can be moved{perhaps}: {how}; {stay}."
        )
    every = "The only server" if total == 1 else f"All {total} servers"
    return f"{every} of {host} can be moved{perhaps}: {how}."


def why(stuck: Stuck, found: Drain) -> Iterator[str]:
    """Yield why a server stays, in sentences."""
    yield from _why(stuck)
    ahead = _ahead(stuck, found)
    if stuck.why is Why.NO_HOST and ahead:
        yield (
            f"Its hint {SAME_HOST} names {listed(ahead)}: once that has moved, it may "
            "be able to follow. Make the plan anew then."
        )


def _ahead(stuck: Stuck, found: Drain) -> list[str]:
    """Return the servers that leave, and that its hint wants it to be with."""
    if "SameHostFilter" not in enabled(found.settings):
        return []
    hints = stuck.resident.question.hints.get(SAME_HOST, ())
    going = (step.resident.state for step in found.steps)
    return [each.name for each in going if each.id in hints]


def _why(stuck: Stuck) -> Iterator[str]:
    resident = stuck.resident
    if stuck.why is Why.REFUSED:
        yield from _refused(resident)
    elif stuck.why is Why.NO_ROOM:
        yield "Those that could take it are full once the others have moved."
    elif _is_kept_together(resident):
        yield from _kept_together(resident)
    elif stuck.explanation is None:
        yield "No host could take it, even if it were the only one that is moved."
    else:
        yield from _without_host(stuck.explanation)


def _refused(resident: Resident) -> Iterator[str]:
    noun = moves.NOUNS[resident.kind]
    for each in resident.refusals:
        yield f"{each.by} refuses the {noun}: {moves.wording(each)}."
    if resident.refusal is not None:
        yield refused.text(resident.refusal, is_moved=True)


def _is_kept_together(resident: Resident) -> bool:
    group, host = resident.question.group, resident.state.host
    if group is None or group.policy != AFFINITY:
        return False
    return group.is_placed and group.hosts == {host}


def _kept_together(resident: Resident) -> Iterator[str]:
    group = resident.question.group
    name = group.name if group else ""
    yield (
        f"Its server group {name} keeps its servers on one host (affinity), and Nova "
        "counts it as being here: none of them can be moved."
    )
    if resident.kind is Kind.EVACUATION:
        yield "They can be shelved, and unshelved elsewhere, once nova-compute is up."
    else:
        yield (
            "Shelved and offloaded, all servers of the group together, they can be "
            "unshelved elsewhere: the first one gets a host, and the others follow."
        )


def _without_host(explanation: Explanation) -> Iterator[str]:
    if explanation.refusal is not None:
        yield refused.text(explanation.refusal, is_moved=True)
    elif explanation.candidates:
        yield from _not_named(explanation)
    else:
        yield "No host could take it, even if it were the only one that is moved."
        sentence = headline.sentence(explanation)
        if sentence:
            yield sentence[0].upper() + sentence[1:]


def _not_named(explanation: Explanation) -> Iterator[str]:
    """Yield why none of the hosts that nova-scheduler could choose can be named."""
    nodes = [explanation.computes.get(host.uuid) for host in explanation.candidates]
    if any(node is not None and node.is_up for node in nodes):
        yield (
            "Hosts have room for it only with what others share with them, and where "
            "a host is named Nova does not look there. A move that names none may do."
        )
    else:
        down = ranges(host.name for host in explanation.candidates)
        yield f"Of the hosts that could take it nova-compute is down: {down}."


def shortage(found: Drain) -> str:
    """Return what shows that servers can't all have room, or that nothing does."""
    short = found.shortage
    if short is None:
        return "No order that was tried fits them all; not all were tried."
    needing, hosts = len(short.servers), count(short.hosts, "host")
    if short.resource_class is None:
        return (
            f"The {needing} servers of group {short.group} have to be apart, and on "
            f"the {hosts} that could take any there is room for {short.room} at most."
        )
    return (
        f"{needing} servers need {_amount(short)} or more, and on the {hosts} that "
        f"could take any of them there is room for {short.room} at most."
    )


def _amount(short: Shortage) -> str:
    return explained.amount(Resource("", short.resource_class or "", short.least, ()))


def has_way_out(stuck: Stuck, found: Drain) -> bool:
    """Tell whether the state of a server, which keeps it from moving, can be ended."""
    state, refusals = stuck.resident.state.vm_state, stuck.resident.refusals
    by_state = any(each.why is Refused.VM_STATE for each in refusals)
    return by_state and found.is_up and state in _STATES_END


def size(resident: Resident) -> str:
    """Return the size of a server's flavor."""
    return explained.size(resident.question.flavor)


def deciding(found: Drain) -> Iterator[str]:
    """Yield what decides about moves that are not certain."""
    names: dict[str, list[str]] = {}
    for step in found.uncertain:
        for name in step.unknown:
            text = f"{step.resident.state.name} to {step.to.service_host}"
            names.setdefault(name, []).append(text)
    for name, texts in names.items():
        where = listed(texts)
        if name in FILTERS or name in RULES or name == ZONE:
            yield f"Not visible from outside: whether it {_wanted(name)}: {where}."
        else:
            yield (
                f"{name} is none of Nova's, and is not run here: {where} (server "
                "destinations --nova-python runs it for one server)."
            )


def _wanted(name: str) -> str:
    if name == ZONE:
        return "is in the zone that the server was asked for with"
    return f"has {'all that the move' if name in RULES else f'what {name}'} wants"
