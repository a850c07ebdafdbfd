"""A plan that empties hosts: in words, as a script and as a document."""

from __future__ import annotations

import collections
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, Optional

from osc_traitsched.core.answer import Reason
from osc_traitsched.core.judge.doubts import OWNER_CHECK
from osc_traitsched.core.nova.filter.table import FILTERS, without_filter
from osc_traitsched.core.nova.options import OPTIONS
from osc_traitsched.core.nova.question import MOVE_CHECKS, MoveKind
from osc_traitsched.core.releases import release
from osc_traitsched.core.servers.drain import IMAGE, ZONE, Drain, Stuck, StuckReason
from osc_traitsched.core.servers.moves import STATE
from osc_traitsched.documents import JsonObject, Whole, field
from osc_traitsched.paste import Command, Option, line, openstack
from osc_traitsched.text import agreed, and_more, by_key, count, listed, ranges, visible
from osc_traitsched.views import moves as moves_views
from osc_traitsched.views import servers
from osc_traitsched.views.explain import reasons as explain_reasons
from osc_traitsched.views.moves import (
    MOST_STUCK,
    DrainedServer,
    DrainStep,
    Move,
    cant,
    hidden,
    is_waited_for,
    move,
    of_step,
    summary,
    unseen,
    why,
)
from osc_traitsched.views.terminal import Line, Tone, section, settings_from

#: The commands of so many moves are a screen.
_MOST_COMMANDS = 5

#: What is said of the states of servers that Nova does not move.
_STATES_END = frozenset(["rescued", "resized", "shelved", "suspended"])


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


def has_way_out(stuck: Stuck, found: Drain) -> bool:
    """Whether the state that keeps a server from moving can be ended."""
    state, refusals = stuck.server_move.state.vm_state, stuck.server_move.refusals
    by_state = any(each.reason == STATE for each in refusals)
    is_up = stuck.server_move.state.host not in found.down
    return by_state and is_up and state in _STATES_END


def deciding(found: Drain) -> Iterator[str]:
    """What decides on the moves that may fail."""
    names = by_key(
        (name, f"{step.server_move.state.name} to {step.to.service_host}")
        for step in found.uncertain
        for name in step.unknown
    )
    for name, texts in names.items():
        yield f"Can't tell for {listed(texts)}: {_unknown(name)}."


def _unknown(name: str) -> str:
    if name == ZONE:
        return "the zone that the server was requested with is not known"
    if name == IMAGE:
        return "its image is deleted, and with it the traits that it may require"
    if name in OPTIONS or name == OWNER_CHECK:
        return f"{explain_reasons.name(name)} is not known (nova.conf)"
    if name in MOVE_CHECKS:
        return "the types and versions of the hypervisors are not known"
    if name in FILTERS or name in without_filter():
        return f"no API shows whether {name} rejects the host"
    return f"{name} is not Nova's (server destinations --nova-python can run it)"


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
    yield from (
        Line(text, Tone.DOUBT) for text in explain_reasons.assumed(found.settings)
    )
    yield from (Line(text, Tone.DOUBT) for text in deciding(found))
    yield from map(Line, _unconfirmed(found))
    for text in hidden(found, only_unread=True):
        yield Line(f"Not read for {text}", Tone.DOUBT)
    title = f"{cant(found).capitalize()} move:"
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
    groups = by_key((tuple(why(each, found)), each) for each in found.stuck)
    most = len(groups) if everything else MOST_STUCK
    for reasons, several in list(groups.items())[:most]:
        text = servers.lower(" ".join(reasons))
        yield f"{listed(each.server_move.state.name for each in several)}: {text}"
        for each in several:
            command = ending(each)
            if command is not None and has_way_out(each, found):
                yield f"  First: {line(command, options)}"
    if hidden := sum(map(len, list(groups.values())[most:])):
        yield and_more(hidden, "server")


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


def plan_remarks(found: Drain, by_hand: bool = True) -> Iterator[str]:
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


def not_visible(found: Drain) -> Iterator[str]:
    """The same in words."""
    for (_, text), number in unseen(found).items():
        yield f"{count(number, 'server')}: {text}"


# A plan that empties hosts, as a script for sh.


_SHOWN = ("OS-EXT-SRV-ATTR:host", "OS-EXT-STS:task_state", "status")

#: nova-api sets the task before it answers: a server without a task does not move any
#: more. While it has one, nothing limits the time.
_FUNCTIONS = """\
moved=0

# stop WHY
stop() {
    far="$moved of %(total)s moved; "%(disabled)s
    why="Why: %(explain)s $server"
    printf '%%s\\n' "$name: $1." "Stopped: $far." "$why" >&2
    exit 1
}

# ask COMMAND...: a command that Nova can refuse; why is its error.
ask() {
    said=$("$@" 2>&1) && return
    why=$(printf '%%s\\n' "$said" | sed -e '$!d' -e 's/.*for url: [^ ]*, //;s/[. ]*$//')
    case $said in
    *"Client Error"* | *"(HTTP 4"*) why="refused by Nova ($why)" ;;
    *) why="the command failed ($why)" ;;
    esac
    return 1
}

# look: reads host, task and status of the server; fails if it can't.
look() {
    { read -r host; read -r task; read -r status; } <<END
$(%(show)s "$server" 2>/dev/null)
END
    [ -n "$status" ]
}

# wait_while STATUS: waits while Nova works on the server, or it has that status.
wait_while() {
    looks=0
    until look && [ "$task" = None ] && [ "$status" != "$1" ]; do
        [ "$status" != ERROR ] || break
        case $task in
        '' | None) looks=$((looks + 1)) ;;
        *) looks=0 ;;
        esac
        [ "$looks" -lt 60 ] || stop "its status is ${status:-not readable}"
        sleep 10
    done
    [ "$status" != ERROR ] || stop "it went to ERROR on $host"
}

# move COMMAND...
move() {
    # Some releases of OpenStackClient fail after Nova has accepted an evacuation.
    ask "$@" || { look && [ "$host $task" != "$from None" ]; } || stop "$why"
    wait_while ''
    [ "$host" = "$to" ] || stop "the move failed, it is on $host"
}

# confirm COMMAND...
confirm() {
    [ "$status" = VERIFY_RESIZE ] || return 0
    ask "$@" || stop "the move to $to is not confirmed: $why"
    wait_while VERIFY_RESIZE
}

there() {
    moved=$((moved + 1))
    printf '%%s\\n' "$name -> $to: there"
}"""
_FENCED = """\
if [ "${POWERED_OFF:-}" != yes ]; then
    echo %s >&2
    exit 1
fi"""


#: In place of a command with a name that no shell can be given.
_UNPRINTABLE = "exit 1"


def script(
    found: Drain, options: Sequence[Option] = (), source: str = ""
) -> Iterator[str]:
    """The moves as a script that stops at the first one that fails.

    It goes on once a server is on its new host and Nova does nothing more with it. It
    ends with 3, as ``host drain`` does, if servers stay.

    :param source: what the plan was made from, if not from the cloud now
    """
    hosts, shown = visible(ranges(found.hosts)), (Option("-c", each) for each in _SHOWN)
    yield "#!/bin/sh"
    comments = [moves_views.summary(found), *((source,) if source else ())]
    comments += [f"{stuck.server_move.state.name} stays." for stuck in found.stuck]
    for comment in (*comments, *plan_remarks(found, by_hand=False)):
        yield f"# {visible(comment)}"
    yield "set -u"
    disabled = f"{hosts} {agreed('is', len(found.hosts))} disabled"
    show = openstack("server show", Option("-f", "value"), *shown)
    if found.steps:
        yield _FUNCTIONS % {
            "total": found.total,
            "disabled": shlex.quote(disabled),
            "explain": line(openstack("trait-sched server explain"), options),
            "show": line(show, options),
        }
    down = [host for host in found.down if of_down(found)]
    if down:
        text = f"make sure that {visible(ranges(down))} is powered off, then set "
        yield _FENCED % shlex.quote(f"{text}POWERED_OFF=yes")
    for command in disabling(found):
        text = shlex.quote(f"Stopped: {hosts} can't be disabled, nothing was moved.")
        failed = f"|| {{ echo {text} >&2; exit 1; }}"
        yield f"{line(command, options) or 'false'} {failed}"
    for step in found.steps:
        yield f"# {visible(moves_views.move(step, found.hosts))}"
        state = step.server_move.state
        names = {
            **{"name": visible(state.name), "server": state.id},
            **{"from": state.host, "to": step.to.service_host},
        }
        yield " ".join(f"{key}={shlex.quote(name)}" for key, name in names.items())
        commands = moves_views.of_step(step, options, waits=False)
        for function, text in zip(("move", "confirm"), commands):
            yield f"{function} {text}" if text else _UNPRINTABLE
        yield "there"
    # Without a move no host is disabled.
    end = [f"{len(found.steps)} of {found.total} moved"]
    end += [disabled] if found.steps else []
    if found.stuck:
        staying = visible(listed(each.server_move.state.name for each in found.stuck))
        end.insert(1, f"{staying} {'stay' if len(found.stuck) > 1 else 'stays'}")
    text = shlex.quote(f"{'; '.join(end)}.")
    if found.total:
        yield f"printf '%s\\n' {text}{' >&2' * bool(found.stuck)}"
    if found.stuck:
        yield "exit 3"


def _moves(drain: Drain) -> Mapping[str, int]:
    kinds = collections.Counter(step.server_move.kind.value for step in drain.steps)
    return dict(sorted(kinds.items()))


def _first(stuck: Stuck, whole: Whole) -> Optional[str]:
    command = ending(stuck) if has_way_out(stuck, whole.value) else None
    return None if command is None else line(command, whole.options)


class DrainedHost(JsonObject):
    """A host that is emptied."""

    name: str = field(lambda host: host)
    """The service host."""
    nodes: Iterable[str] = field(
        lambda host, whole: [
            node.node for node in whole.value.nodes if node.service_host == host
        ]
    )
    """Its compute nodes."""
    up: bool = field(lambda host, whole: host not in whole.value.down)
    """Its nova-compute is up."""
    enabled: bool = field(lambda host, whole: host in whole.value.enabled)
    """It accepts new servers."""


class StuckServer(JsonObject):
    """A server that stays."""

    server: DrainedServer = field("server_move")
    """The server."""
    move: Move = field("server_move.kind")
    """How it would have to move."""
    why: StuckReason
    """``rejected``: Nova rejects the move, whatever hosts there are. ``no host``: no
    host could take it, even as the only server to move. ``no room left``: the hosts
    that could take it are full once the others have moved."""
    reason: Reason
    """The same in one word of :ref:`reasons`. The hosts to empty count as disabled."""
    refusals: Iterable[str] = field(
        lambda stuck: [one.reason for one in stuck.server_move.refusals]
    )
    """What rejects the move before nova-scheduler is asked, as the reasons of ``server
    destinations``."""
    text: Iterable[str] = field(
        lambda stuck, whole: moves_views.why(stuck, whole.value)
    )
    """Why it stays, in sentences."""
    first: Optional[str] = field(_first)
    """A command that ends the state that keeps it from moving; null for none."""


class NotVisibleJson(JsonObject):
    """Something that no API shows before a move is tried."""

    what: str = field(lambda row: row[0][0])
    """What it is, as ``found_out_later`` of ``server destinations`` names it."""
    text: str = field(lambda row: row[0][1])
    """What it is, in words."""
    servers: int = field(lambda row: row[1])
    """How many servers it concerns."""


class DrainDocument(JsonObject):
    """What ``host drain`` prints."""

    schema: Literal[1]
    """The number of this schema."""
    summary: str = field(moves_views.summary)
    """The answer in one line."""
    host: DrainedHost = field(lambda drain: drain.hosts[0])
    """The host to empty; of several, the first."""
    hosts: Iterable[DrainedHost]
    """All hosts to empty. None of them is a destination."""
    compute_api: str = field(lambda drain: f"2.{drain.minor}")
    """The microversion of the compute API that the servers were read with."""
    servers: int = field("total")
    """How many servers are on the hosts."""
    moves: dict[Move, int] = field(_moves)
    """How many servers are moved by each kind of move."""
    before: Iterable[str] = field(
        lambda drain, whole: [line(one, whole.options) for one in disabling(drain)]
    )
    """Commands to run first."""
    steps: Iterable[DrainStep]
    """The moves, in order."""
    stuck: Iterable[StuckServer]
    """The servers that stay."""
    unconfirmed: Optional[Iterable[str]]
    """The IDs of servers that left the hosts by a cold migration or a resize that is
    not confirmed; null if this user may not see them."""
    remarks: Iterable[str] = field(plan_remarks)
    """What an operator must know, in sentences."""
    not_known: Iterable[str] = field(moves_views.hidden)
    """What is not known of the requests of the servers."""
    not_visible: Iterable[NotVisibleJson] = field(
        lambda drain: moves_views.unseen(drain).items()
    )
    """What no API shows before a move is tried."""
    release: int = field("settings.release")
    """Nova's major version."""
    settings: str = field(lambda drain: settings_from(drain.settings))
    """Where the scheduler's settings are from."""
