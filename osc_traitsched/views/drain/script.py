"""A plan that empties hosts, as a script for sh."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from osc_traitsched.core.servers.drain import Drain
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import ranges, visible
from osc_traitsched.views.drain import prose

_HOST_ALONE = (Option("-f", "value"), Option("-c", "OS-EXT-SRV-ATTR:host"))

#: How often a move is looked at, ten seconds apart: after a command that waits for it,
#: and after one that does not.
_LOOKS, _MANY_LOOKS = 3, 360
_MOVED = """\
# moved SERVER HOST LOOKS: stops unless the server gets to the host.
moved() {
    looks=0
    until [ "$(%s)" = "$2" ]; do
        looks=$((looks + 1))
        if [ "$looks" -gt "$3" ]; then
            echo "stopped: $1 is not on $2" >&2
            exit 1
        fi
        sleep 10
    done
}"""
_FENCED = """\
if [ "${POWERED_OFF:-}" != yes ]; then
    echo %s >&2
    exit 1
fi"""


#: In place of a command with a name that no shell can be given.
_UNPRINTABLE = "exit 1"


def script(found: Drain, options: Sequence[Option] = ()) -> Iterator[str]:
    """The moves as a script that stops at the first one that fails.

    A failed live migration leaves its server active, and the command ends well: so each
    server's host is read after its move.
    """
    yield "#!/bin/sh"
    yield f"# {visible(prose.summary(found))}"
    for stuck in found.stuck:
        yield f"# {visible(f'{stuck.server_move.state.name} stays.')}"
    for remark in prose.remarks(found):
        yield f"# {visible(remark)}"
    yield "set -eu"
    shown = openstack("server show", *_HOST_ALONE)
    # Quoted as a name, the variable would be a text.
    yield _MOVED % f'{line(shown, options)} "$1"'
    down = [host for host in found.down if prose.of_down(found)]
    if down:
        hosts = visible(ranges(down))
        text = f"make sure that {hosts} is powered off, then set POWERED_OFF=yes"
        yield _FENCED % shlex.quote(text)
    for command in prose.disabling(found):
        yield line(command, options) or _UNPRINTABLE
    for step in found.steps:
        yield f"# {visible(prose.move(step, found.hosts))}"
        move, *confirm = prose.of_step(step, options)
        looks = _LOOKS if prose.is_waited_for(step) else _MANY_LOOKS
        host = shlex.quote(step.to.service_host)
        yield move or _UNPRINTABLE
        yield f"moved {step.server_move.state.id} {host} {looks}"
        yield from (each or _UNPRINTABLE for each in confirm)
