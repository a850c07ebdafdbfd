"""A plan that empties a host, as text."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence

import prettytable

from osc_traitsched.core.explain.explanation import Explanation
from osc_traitsched.core.nova.filter.groups import AFFINITY, SAME_HOST
from osc_traitsched.core.nova.filter.table import FILTERS, enabled
from osc_traitsched.core.nova.question import MOVE_CHECKS, MoveKind
from osc_traitsched.core.releases import release
from osc_traitsched.core.servers.drain import (
    ZONE,
    Drain,
    ServerMove,
    Step,
    Stuck,
    StuckReason,
)
from osc_traitsched.core.servers.parts import Name
from osc_traitsched.core.servers.refusals import STATE
from osc_traitsched.paste import Command, Option, line, openstack
from osc_traitsched.text import count, listed, ranges, visible
from osc_traitsched.views.explain import headline
from osc_traitsched.views.explain import words as explained
from osc_traitsched.views.explain import words as refused
from osc_traitsched.views.server import moves, words
from osc_traitsched.views.terminal import Line, Tone, settings_from

# The answer in one line, and why servers stay.


#: How servers are moved, after their number.
_HOW = {
    MoveKind.LIVE_MIGRATION: "live",
    MoveKind.MIGRATION: "cold",
    MoveKind.EVACUATION: "by evacuation",
}

#: What is said of the states of servers that Nova does not move.
_STATES_END = frozenset(["rescued", "resized", "shelved", "suspended"])


def summary(found: Drain) -> str:
    """How many servers can be moved, and how."""
    total, able, host = found.total, len(found.steps), found.host
    if not total:
        return f"No server is on {host}."
    if not able:
        none = "The only server" if total == 1 else f"None of the {total} servers"
        return f"{none} of {host} can{'not' if total == 1 else ''} be moved."
    kinds = collections.Counter(step.server_move.kind for step in found.steps)
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
    """Why a server stays, in sentences."""
    yield from _why(stuck)
    ahead = _ahead(stuck, found)
    if stuck.why is StuckReason.NO_HOST and ahead:
        yield (
            f"Its hint {SAME_HOST} names {listed(ahead)}: once that has moved, it may "
            "be able to follow. Make the plan anew then."
        )


def _ahead(stuck: Stuck, found: Drain) -> list[str]:
    """The leaving servers that its ``same_host`` hint requires it to be with."""
    if "SameHostFilter" not in enabled(found.settings):
        return []
    hints = stuck.server_move.question.spec.hints.get(SAME_HOST, ())
    going = (step.server_move.state for step in found.steps)
    return [each.name for each in going if each.id in hints]


def _why(stuck: Stuck) -> Iterator[str]:
    server_move = stuck.server_move
    if stuck.why is StuckReason.REFUSED:
        yield from _refused(server_move)
    elif stuck.why is StuckReason.NO_ROOM:
        yield (
            "Those that could take it are full once the others have moved, in each "
            "order that was tried."
        )
    elif _is_kept_together(server_move):
        yield from _kept_together(server_move)
    elif stuck.explanation is None:
        yield "No host could take it, even if it were the only one that is moved."
    else:
        yield from _without_host(stuck.explanation)


def _refused(server_move: ServerMove) -> Iterator[str]:
    noun = moves.NOUNS[server_move.kind]
    for each in server_move.refusals:
        yield f"{each.by} refuses the {noun}: {each.text}."
    if server_move.refusal is not None:
        yield refused.text(server_move.refusal, is_moved=True)


def _is_kept_together(server_move: ServerMove) -> bool:
    group, host = server_move.question.group, server_move.state.host
    if group is None or group.policy != AFFINITY:
        return False
    return group.is_placed and group.hosts == {host}


def _kept_together(server_move: ServerMove) -> Iterator[str]:
    group = server_move.question.group
    name = group.name if group else ""
    yield (
        f"Its server group {name} keeps its servers on one host (affinity), and Nova "
        "counts it as being here: none of them can be moved."
    )
    if server_move.kind is MoveKind.EVACUATION:
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
    """Why none of the hosts that nova-scheduler could choose can be named."""
    nodes = [explanation.computes.get(host.uuid) for host in explanation.candidates]
    if any(node is not None and node.is_up for node in nodes):
        yield (
            "Hosts have room for it only with what others share with them, and where "
            "a host is named Nova does not look there. A move that names none may do."
        )
    else:
        down = ranges(host.name for host in explanation.candidates)
        yield f"Of the hosts that could take it nova-compute is down: {down}."


def has_way_out(stuck: Stuck, found: Drain) -> bool:
    """Whether the state that keeps a server from moving can be ended."""
    state, refusals = stuck.server_move.state.vm_state, stuck.server_move.refusals
    by_state = any(each.reason == STATE for each in refusals)
    return by_state and found.is_up and state in _STATES_END


def size(server_move: ServerMove) -> str:
    """The size of a server's flavor."""
    return explained.size(server_move.question.flavor)


def deciding(found: Drain) -> Iterator[str]:
    """What decides on the moves that may fail."""
    names: dict[str, list[str]] = {}
    for step in found.uncertain:
        for name in step.unknown:
            text = f"{step.server_move.state.name} to {step.to.service_host}"
            names.setdefault(name, []).append(text)
    for name, texts in names.items():
        where = listed(texts)
        if name in FILTERS or name in MOVE_CHECKS or name == ZONE:
            yield f"Not visible from outside: whether it {_wanted(name)}: {where}."
        else:
            yield (
                f"{name} is none of Nova's, and is not run here: {where} (server "
                "destinations --nova-python runs it for one server)."
            )


def _wanted(name: str) -> str:
    if name == ZONE:
        return "is in the zone that the server was asked for with"
    return f"has {'all that the move' if name in MOVE_CHECKS else f'what {name}'} wants"


# The commands that carry a plan out, one for one with OpenStackClient's options.


_VERSION = "--os-compute-api-version"
#: The first versions that take a host and let nova-scheduler judge it. With a later one
#: a live migration's checks would fail unseen, and an evacuated server stay stopped.
_VERSIONS = {
    MoveKind.LIVE_MIGRATION: "2.30",
    MoveKind.MIGRATION: "2.56",
    MoveKind.EVACUATION: "2.29",
}
_VERBS = {
    MoveKind.LIVE_MIGRATION: ("server migrate", (Option("--live-migration"),)),
    MoveKind.MIGRATION: ("server migrate", ()),
    MoveKind.EVACUATION: ("server evacuate", ()),
}

#: What ends the state that keeps a server from being moved.
_ENDS = {
    "rescued": ("server unrescue",),
    "resized": ("server migration confirm",),
    "shelved": ("server shelve", Option("--offload")),
    "suspended": ("server resume",),
}


def disabling(found: Drain) -> Iterator[Command]:
    """The command that disables the host, if servers leave and it is enabled."""
    if found.is_enabled and found.steps:
        yield openstack(
            "compute service set",
            Option("--disable"),
            Option("--disable-reason", "to be emptied"),
            found.host,
            "nova-compute",
        )


def of_step(step: Step, options: Sequence[Option]) -> tuple[str, ...]:
    """The commands that move one server, and confirm the move if Nova requires it."""
    server_move, identity = step.server_move, step.server_move.state.id
    verb, given = _VERBS[server_move.kind]
    wait = (Option("--wait"),) if is_waited_for(step) else ()
    host = Option("--host", step.to.service_host)
    move = openstack(verb, *given, host, *wait, identity)
    version = Option(_VERSION, _VERSIONS[server_move.kind])
    lines = [line(move, (*options, version))]
    if server_move.kind is MoveKind.MIGRATION:
        lines.append(line(openstack("server migration confirm", identity), options))
    return tuple(lines)


def is_waited_for(step: Step) -> bool:
    """Whether the command of a move waits until the move ends.

    OpenStackClient waits until a server is active or must be confirmed: for a paused
    one it would wait forever. Some releases never see the end of an evacuation, since
    they compare ``ACTIVE`` with the status in lower case
    (openstackclient/compute/v2/server.py, ``EvacuateServer``).
    """
    if step.server_move.kind is MoveKind.LIVE_MIGRATION:
        return step.server_move.state.vm_state == "active"
    return step.server_move.kind is MoveKind.MIGRATION


def ending(stuck: Stuck) -> Command | None:
    """The command that ends a state in which Nova does not move a server; or None."""
    verb, *given = _ENDS.get(stuck.server_move.state.vm_state, ("",))
    if not isinstance(verb, str) or not verb:
        return None
    return openstack(verb, *given, stuck.server_move.state.id)


# A plan that empties a host, for a person: the answer, who stays, what to paste.


_COLUMNS = ("server", "size", "state", "move", "to")


def lines(found: Drain, options: Sequence[Option] = ()) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param options: the global options of printed commands
    """
    yield Line(summary(found), _tone(found))
    yield from (Line(text, Tone.DOUBT) for text in deciding(found))
    yield from _section("Stuck:", _stuck(found, options))
    if found.steps:
        table = _table(found).get_string().splitlines()
        yield from _section("The plan; each move takes room from the next:", table)
    if found.steps:
        yield from _section("Paste this, in this order:", _commands(found, options))
    yield from _section("To know:", (f"  {text}" for text in remarks(found)))
    assumed = (f"  {text}" for text in _assumed(found))
    yield from _section("Assumed:", assumed)
    unseen = [f"  {text}" for text in not_visible(found)]
    yield from _section("Only found out when it is tried:", unseen)


def _tone(found: Drain) -> Tone:
    if found.stuck:
        return Tone.NO
    return Tone.DOUBT if found.uncertain else Tone.YES


def _section(title: str, found: Iterable[str]) -> Iterator[Line]:
    text = list(found)
    if text:
        yield Line("")
        yield Line(title, Tone.TITLE)
        yield from map(Line, text)


def _stuck(found: Drain, options: Sequence[Option]) -> Iterator[str]:
    """The servers that stay, those of one reason together."""
    request_key: dict[tuple[str, ...], list[Stuck]] = {}
    for each in found.stuck:
        request_key.setdefault(tuple(why(each, found)), []).append(each)
    for reasons, several in request_key.items():
        yield f"  {listed(_named(each) for each in several)}:"
        yield from (f"    {text}" for text in reasons)
        for each in several:
            command = ending(each)
            if command is not None and has_way_out(each, found):
                yield f"    First: {line(command, options)}"


def _named(stuck: Stuck) -> str:
    return f"{stuck.server_move.state.name} ({size(stuck.server_move)})"


def _table(found: Drain) -> prettytable.PrettyTable:
    table = prettytable.PrettyTable(_COLUMNS)
    table.align = "l"
    for step in found.steps:
        state = step.server_move.state
        row = (
            state.name,
            size(step.server_move),
            state.status,
            moves.NOUNS[step.server_move.kind],
            step.to.service_host + (" (perhaps)" if step.unknown else ""),
        )
        table.add_row([visible(each) for each in row])
    return table


def _commands(found: Drain, options: Sequence[Option]) -> Iterator[str]:
    for command in disabling(found):
        yield f"  {line(command, options)}"
    for step in found.steps:
        yield from (f"  {text}" for text in of_step(step, options))


def remarks(found: Drain) -> Iterator[str]:
    """What an operator must know of a plan."""
    if not found.is_up:
        yield (
            f"nova-compute is down on {found.host}: make sure that the host is off, or "
            "a server may run twice. Placement counts what they had there until "
            "nova-compute is up again."
        )
    if found.is_enabled and found.is_up and found.steps:
        yield f"{found.host} is enabled: until it is not, new servers may come."
    if any(step.server_move.kind is MoveKind.MIGRATION for step in found.steps):
        yield (
            "A cold migration is over once it is confirmed. If one fails its server "
            "stays SHUTOFF, and the command goes on waiting: end it with Ctrl-C."
        )
    if any(step.server_move.kind is MoveKind.EVACUATION for step in found.steps):
        yield (
            "Before OpenStackClient 6.1 server evacuate ends with 1 and "
            "\"'TupleWithMeta' object has no attribute 'to_dict'\" though the "
            "evacuation has begun."
        )
    if not all(map(is_waited_for, found.steps)):
        yield (
            "A command without --wait is done when the move begins: openstack server "
            "migration list shows how it goes."
        )
    if found.unconfirmed:
        gone = count(len(found.unconfirmed), "server")
        yield (
            f"{gone} left {found.host} and may still be reverted to it: confirm that "
            f"(server migration confirm): {listed(found.unconfirmed)}."
        )
    if found.unconfirmed is None:
        yield "Migrations that wait to be confirmed: this user may not list them."


def _assumed(found: Drain) -> Iterator[str]:
    settings = found.settings
    yield f"Nova {release(settings.release)}: {settings.release_source}"
    yield f"settings: {settings_from(settings)}"
    if found.steps:
        yield "nobody else takes room meanwhile"
    yield from hidden(found)


def hidden(found: Drain) -> Iterator[str]:
    """What is not known of the requests of servers, each once."""
    every = [step.server_move for step in found.steps]
    every += [each.server_move for each in found.stuck]
    texts = collections.Counter(
        words.why(part, found.minor)
        for server_move in every
        for part in server_move.parts
        if not part.is_known and part.name is not Name.HOST
    )
    for text, number in texts.items():
        yield f"{count(number, 'server')}: {text}"


def unseen(found: Drain) -> Mapping[tuple[str, str], int]:
    """What no API shows before moves are tried, each with the number of servers."""
    return collections.Counter(
        each for step in found.steps for each in moves.UNSEEN[step.server_move.kind]
    )


def not_visible(found: Drain) -> Iterator[str]:
    """The same in words."""
    for (_, text), number in unseen(found).items():
        yield f"{count(number, 'server')}: {text}"
