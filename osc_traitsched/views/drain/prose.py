"""A plan that empties hosts, as text."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence

from osc_traitsched.core.judge.doubts import OWNER_CHECK
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.filter.groups import AFFINITY, SAME_HOST
from osc_traitsched.core.nova.filter.table import (
    FILTERS,
    enabled,
    hint_readers,
    without_filter,
)
from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.core.nova.question import MOVE_CHECKS, MoveKind
from osc_traitsched.core.releases import release
from osc_traitsched.core.servers.drain import (
    IMAGE,
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
from osc_traitsched.text import and_more, count, listed, ranges, visible
from osc_traitsched.views.explain import depends, filters, headline
from osc_traitsched.views.explain import words as refused
from osc_traitsched.views.server import moves, words
from osc_traitsched.views.terminal import Line, Tone, section, settings_from

# The answer in one line, and why servers stay.


#: So many servers that stay are named in the verdict, and shown with their cause.
_MOST_NAMES, _MOST_STUCK = 3, 5
#: The commands of so many moves are a screen.
_MOST_COMMANDS = 5

#: How servers are moved, after their number.
_HOW = {
    MoveKind.LIVE_MIGRATION: "live",
    MoveKind.MIGRATION: "cold",
    MoveKind.EVACUATION: "evacuated",
}

#: What is said of the states of servers that Nova does not move.
_STATES_END = frozenset(["rescued", "resized", "shelved", "suspended"])


def summary(found: Drain) -> str:
    """How many servers can be moved, and how."""
    total, able = found.total, len(found.steps)
    where = ranges(found.hosts)
    if not total and found.leaked:
        counted = f"Placement counts {found.leaked} MB there of no server"
        return f"No server is on {where}; {counted} (nova-manage placement audit)."
    if not total:
        return f"No server is on {where}."
    names = [each.server_move.state.name for each in found.stuck]
    few = listed(names) if len(names) <= _MOST_NAMES else f"{len(names)}"
    if not able and (total > _MOST_NAMES or 0 < len(found.dependent) < total):
        return f"None of {total} servers can move off {where}{_if_off(found)}."
    if not able:
        return f"{few} {_cant(found)} move off {where}."
    kinds = collections.Counter(step.server_move.kind for step in found.steps)
    how = ", ".join(
        f"{kinds[kind]} {word}" for kind, word in _HOW.items() if kinds[kind]
    )
    unsure = len(found.uncertain)
    perhaps = f", {unsure} of them perhaps" if unsure else ""
    if found.stuck:
        more = _if_off(found) if found.dependent != found.stuck else ""
        stay = f"; {few} {_cant(found)}{more}"
        return f"{able} of {total} servers can move off {where}{perhaps} ({how}){stay}."
    every = "The only server" if total == 1 else f"All {total} servers"
    return f"{every} can move off {where}{perhaps} ({how})."


def _cant(found: Drain) -> str:
    return "can't" if found.dependent != found.stuck else "perhaps can't"


def _if_off(found: Drain) -> str:
    if not found.dependent:
        return ""
    judgements = (each.judgement for each in found.dependent)
    values = {depends.otherwise(each) for each in judgements if each}
    value = values.pop() if len(values) == 1 else "nova.conf allows it"
    return f" ({len(found.dependent)} can if {value})"


def of_down(found: Drain) -> str:
    """The warning to fence hosts before servers are evacuated; may be empty."""
    every = {each.state.host for each in found.server_moves}
    down = [host for host in found.down if host in every]
    if not down:
        return ""
    host, hosts, be = ranges(down), "the host", "is"
    if len(down) > 1:
        hosts, be = "the hosts", "are"
    return (
        f"nova-compute on {host} is down: make sure {hosts} {be} powered off before "
        "you evacuate, or two guests write to one disk."
    )


def why(stuck: Stuck, found: Drain) -> Iterator[str]:
    """Why a server stays, in sentences."""
    yield from _why(stuck, found)
    ahead = _ahead(stuck, found)
    if stuck.why is StuckReason.NO_HOST and ahead:
        yield f"Its hint {SAME_HOST} names {listed(ahead)}: move that, then plan again."


def _ahead(stuck: Stuck, found: Drain) -> list[str]:
    """The leaving servers that its ``same_host`` hint requires it to be with."""
    if hint_readers()[SAME_HOST] not in enabled(found.settings):
        return []
    hints = stuck.server_move.question.spec.hints.get(SAME_HOST, ())
    going = (step.server_move.state for step in found.steps)
    return [each.name for each in going if each.id in hints]


def _why(stuck: Stuck, found: Drain) -> Iterator[str]:
    server_move = stuck.server_move
    if stuck.why is StuckReason.REJECTED:
        yield from _refused(server_move)
    elif stuck.why is StuckReason.NO_ROOM:
        yield "Suitable hosts fill up with the servers moved before it."
    elif _is_kept_together(server_move):
        yield _kept_together(server_move)
    elif stuck.judgement is None:
        yield _NO_OTHER
    elif stuck.depends:
        yield depends.headline(stuck.judgement)
    else:
        yield _without_host(stuck.judgement, found)
        yield from filters.leaving(stuck.judgement)


def _refused(server_move: ServerMove) -> Iterator[str]:
    noun = moves.NOUNS[server_move.kind]
    for each in server_move.refusals:
        yield f"{each.by} rejects the {noun}: {each.text}."
    if server_move.refusal is not None:
        yield refused.text(server_move.refusal, is_moved=True)


def _is_kept_together(server_move: ServerMove) -> bool:
    group, host = server_move.question.group, server_move.state.host
    if group is None or group.policy != AFFINITY:
        return False
    return group.is_placed and group.hosts == {host}


def _kept_together(server_move: ServerMove) -> str:
    group = server_move.question.group
    is_down = server_move.kind is MoveKind.EVACUATION
    once = " once nova-compute is up" if is_down else ""
    return (
        f"Affinity keeps server group {group.name if group else ''} on this host; to "
        f"move it, shelve and offload all its servers{once}, then unshelve them."
    )


_NO_OTHER = "No other host can take it."


def _without_host(judgement: Judgement, found: Drain) -> str:
    if judgement.refusal is not None:
        return refused.text(judgement.refusal, is_moved=True)
    computes = (judgement.computes.get(host.uuid) for host in judgement.candidates)
    nodes = [node for node in computes if node is not None]
    if not nodes:
        sentence = headline.sentence(judgement)
        return f"{_NO_OTHER[:-1]}: {sentence}" if sentence else _NO_OTHER
    others = [node for node in nodes if node.service_host not in found.hosts]
    if not others:
        also = ranges(node.node for node in nodes)
        are = "is" if len(nodes) == 1 else "are"
        return f"Only {also} could take it, and {are} drained, too."
    if any(node.is_up for node in others):
        return (
            "It fits only with resources that hosts share, and Nova does not use these "
            "for a named host. Try to migrate it without --host."
        )
    return f"nova-compute is down on hosts that fit: {ranges(n.node for n in others)}."


def has_way_out(stuck: Stuck, found: Drain) -> bool:
    """Whether the state that keeps a server from moving can be ended."""
    state, refusals = stuck.server_move.state.vm_state, stuck.server_move.refusals
    by_state = any(each.reason == STATE for each in refusals)
    is_up = stuck.server_move.state.host not in found.down
    return by_state and is_up and state in _STATES_END


def deciding(found: Drain) -> Iterator[str]:
    """What decides on the moves that may fail."""
    names: dict[str, list[str]] = {}
    for step in found.uncertain:
        for name in step.unknown:
            text = f"{step.server_move.state.name} to {step.to.service_host}"
            names.setdefault(name, []).append(text)
    for name, texts in names.items():
        yield f"Can't tell for {listed(texts)}: {_unknown(name)}."


def _unknown(name: str) -> str:
    if name == ZONE:
        return "the zone that the server was requested with is not known"
    if name == IMAGE:
        return "its image is deleted, and with it the traits that it may require"
    if name in OPTIONS or name == OWNER_CHECK:
        return f"{depends.name(name)} is not known (nova.conf)"
    if name in MOVE_CHECKS:
        return "the types and versions of the hypervisors are not known"
    if name in FILTERS or name in without_filter():
        return f"no API shows whether {name} rejects the host"
    return f"{name} is not Nova's (server destinations --nova-python can run it)"


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
    """The commands that disable enabled hosts, if servers leave."""
    for host in found.enabled if found.steps else ():
        yield openstack(
            "compute service set",
            Option("--disable"),
            Option("--disable-reason", "to be emptied"),
            host,
            "nova-compute",
        )


def of_step(
    step: Step, options: Sequence[Option], waits: bool = True
) -> tuple[str, ...]:
    """The commands that move one server, and confirm the move if Nova requires it.

    :param waits: the command of a move waits for its end, if it can
    """
    server_move, identity = step.server_move, step.server_move.state.id
    verb, given = _VERBS[server_move.kind]
    wait = (Option("--wait"),) if waits and is_waited_for(step) else ()
    host = Option("--host", step.to.service_host)
    command = openstack(verb, *given, host, *wait, identity)
    version = Option(_VERSION, _VERSIONS[server_move.kind])
    lines = [line(command, (*options, version))]
    if server_move.kind is MoveKind.MIGRATION:
        lines.append(line(openstack("server migration confirm", identity), options))
    return tuple(lines)


#: The statuses of migrations that are over: then the old host has room again, which
#: ``--wait`` does not wait for (nova/compute/manager.py, ``_post_live_migration``).
_OVER = "cancelled|completed|confirmed|done|error|failed|reverted"


def guard(step: Step, options: Sequence[Option]) -> Iterator[str]:
    """Shell lines that wait until a move is over, and print where the server is."""
    identity, value = step.server_move.state.id, Option("-f", "value")
    migrations = openstack(
        "server migration list",
        *(Option("--server", identity), value, Option("-c", "Status")),
    )
    is_moving = f"{line(migrations, options)} | grep -Eqvx '{_OVER}'"
    yield f"while {is_moving}; do sleep 5; done"
    yield f"# Go on only if this prints {visible(step.to.service_host)}:"
    host = Option("-c", "OS-EXT-SRV-ATTR:host")
    yield line(openstack("server show", value, host, identity), options)


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


# A plan that empties hosts, for a person: the answer, who stays, what to run.


def lines(
    found: Drain, options: Sequence[Option] = (), everything: bool = False
) -> Iterator[Line]:
    """The text, line by line. Names are not escaped yet.

    :param everything: all commands, all servers, remarks and assumptions
    """
    fence = of_down(found)
    if fence:
        yield Line(fence, Tone.NO)
    yield Line(summary(found), Tone.of(found.answer))
    yield from (Line(text, Tone.DOUBT) for text in depends.assumed(found.settings))
    yield from (Line(text, Tone.DOUBT) for text in deciding(found))
    yield from map(Line, _unconfirmed(found))
    for text in hidden(found, only_unread=True):
        yield Line(f"Not read for {text}", Tone.DOUBT)
    title = f"{_cant(found).capitalize()} move:"
    yield from section(title, _stuck(found, options, everything))
    is_short = len(found.steps) > _MOST_COMMANDS and not everything
    if found.steps and not is_short:
        title = "Run these in order; each move takes room from the next:"
        yield from section(title, _commands(found, options))
    if everything:
        yield from section("Remarks:", _remarks(found))
        yield from section("Assumed:", _assumed(found))
        yield from section("Not checked:", not_visible(found))
    elif found.steps:
        more = "each move with its command, and " if is_short else ""
        yield Line("")
        yield Line(f"--long shows {more}what Nova checks only when a move is tried.")


def _stuck(found: Drain, options: Sequence[Option], everything: bool) -> Iterator[str]:
    """Those of one reason together."""
    groups: dict[tuple[str, ...], list[Stuck]] = {}
    for each in found.stuck:
        groups.setdefault(tuple(why(each, found)), []).append(each)
    most = len(groups) if everything else _MOST_STUCK
    for reasons, several in list(groups.items())[:most]:
        text = words.lower(" ".join(reasons))
        yield f"{listed(each.server_move.state.name for each in several)}: {text}"
        for each in several:
            command = ending(each)
            if command is not None and has_way_out(each, found):
                yield f"  First: {line(command, options)}"
    if hidden := sum(map(len, list(groups.values())[most:])):
        yield and_more(hidden, "server")


def move(step: Step, hosts: Sequence[str]) -> str:
    """A move in words.

    :param hosts: those that servers leave
    """
    perhaps = " (perhaps)" if step.unknown else ""
    others = refused.for_others(step.to, step.server_move.question)
    noun = moves.NOUNS[step.server_move.kind]
    state = step.server_move.state
    from_ = f" from {state.host}" if len(hosts) > 1 else ""
    return f"{state.name}: {noun}{from_} to {step.to.service_host}{others}{perhaps}"


def _commands(found: Drain, options: Sequence[Option]) -> Iterator[str]:
    if found.enabled:
        yield f"# {_disable(found)}"
    for command in disabling(found):
        yield line(command, options)
    for step in found.steps:
        host = step.server_move.state.host
        fence = f", only if {host} is powered off" if host in found.down else ""
        yield f"# {visible(move(step, found.hosts))}{fence}"
        yield from of_step(step, options)


def _disable(found: Drain) -> str:
    where = "there" if len(found.enabled) > 1 else "on it"
    return f"Disable {ranges(found.enabled)} first, or new servers may land {where}."


def remarks(found: Drain, by_hand: bool = True) -> Iterator[str]:
    """What an operator must know of a plan.

    :param by_hand: its commands are run one by one
    """
    if of_down(found):
        yield of_down(found)
    if found.enabled and found.steps:
        yield _disable(found)
    yield from _remarks(found, by_hand)
    yield from _unconfirmed(found)


def _remarks(found: Drain, by_hand: bool = True) -> Iterator[str]:
    if of_down(found):
        yield (
            "Placement counts an evacuated server on its old host until nova-compute "
            "is up there."
        )
    if by_hand:
        yield from _waiting(found)


def _waiting(found: Drain) -> Iterator[str]:
    if any(step.server_move.kind is MoveKind.MIGRATION for step in found.steps):
        yield (
            "If a cold migration fails, its server stays SHUTOFF and the command keeps "
            "waiting: end it with Ctrl-C."
        )
    if not all(map(is_waited_for, found.steps)):
        yield (
            "A command without --wait returns when the move begins; to follow it: "
            "openstack server migration list."
        )


def _unconfirmed(found: Drain) -> Iterator[str]:
    if found.unconfirmed:
        gone = count(len(found.unconfirmed), "server")
        yield (
            f"{gone} left {ranges(found.hosts)} but can still come back; to confirm: "
            f"openstack server migration confirm: {listed(found.unconfirmed)}."
        )
    if found.unconfirmed is None:
        yield "Unconfirmed migrations are not checked: you may not list them."


def _assumed(found: Drain) -> Iterator[str]:
    settings = found.settings
    yield f"{release(settings.release)}: {settings.release_source}"
    yield f"settings: {settings_from(settings)}"
    if found.steps:
        yield "no new server takes room during the moves"
    yield from hidden(found)


def hidden(found: Drain, only_unread: bool = False) -> Iterator[str]:
    """What is unknown of the requests of servers, each once; or only unread parts."""
    texts = collections.Counter(
        words.why(part, found.minor)
        for server_move in found.server_moves
        for part in server_move.parts
        if not part.is_known and part.name is not Name.HOST
        if part.problem is not None or not only_unread
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
