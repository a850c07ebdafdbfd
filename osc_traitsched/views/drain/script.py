"""A plan that empties hosts, as a script for sh."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from osc_traitsched.core.servers.drain import Drain
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import agreed, ranges, visible
from osc_traitsched.views.drain import prose

_SHOWN = ("OS-EXT-SRV-ATTR:host", "OS-EXT-STS:task_state", "status")

#: nova-api sets the task before it answers: a server without a task does not move any
#: more. While it has one, nothing limits the time.
_FUNCTIONS = """\
moved=0

# stop WHY
stop() {
    far="$moved of %(total)s moved; "%(disabled)s
    why="Why: %(explain)s $server"
    printf '%%s\\n' "$name: $1. Stopped: $far. $why" >&2
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

    It goes on once a server is on its new host and Nova does nothing more with it.

    :param source: what the plan was made from, if not from the cloud now
    """
    hosts, shown = visible(ranges(found.hosts)), (Option("-c", each) for each in _SHOWN)
    yield "#!/bin/sh"
    comments = [prose.summary(found), *((source,) if source else ())]
    comments += [f"{stuck.server_move.state.name} stays." for stuck in found.stuck]
    for comment in (*comments, *prose.remarks(found, by_hand=False)):
        yield f"# {visible(comment)}"
    yield "set -u"
    yield _FUNCTIONS % {
        "total": len(found.steps),
        "disabled": shlex.quote(f"{hosts} {agreed('is', len(found.hosts))} disabled"),
        "explain": line(openstack("trait-sched server explain"), options),
        "show": line(openstack("server show", Option("-f", "value"), *shown), options),
    }
    down = [host for host in found.down if prose.of_down(found)]
    if down:
        text = f"make sure that {visible(ranges(down))} is powered off, then set "
        yield _FENCED % shlex.quote(f"{text}POWERED_OFF=yes")
    for command in prose.disabling(found):
        text = shlex.quote(f"Stopped: {hosts} can't be disabled, nothing was moved.")
        failed = f"|| {{ echo {text} >&2; exit 1; }}"
        yield f"{line(command, options) or 'false'} {failed}"
    for step in found.steps:
        yield f"# {visible(prose.move(step, found.hosts))}"
        state = step.server_move.state
        names = {
            **{"name": visible(state.name), "server": state.id},
            **{"from": state.host, "to": step.to.service_host},
        }
        yield " ".join(f"{key}={shlex.quote(name)}" for key, name in names.items())
        commands = prose.of_step(step, options, waits=False)
        for function, text in zip(("move", "confirm"), commands):
            yield f"{function} {text}" if text else _UNPRINTABLE
        yield "there"
