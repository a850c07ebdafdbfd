"""Moves of servers: their names, their commands, and why a server stays."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

from osc_traitsched.core.judge.judgement import Judgement, RefusedRequest
from osc_traitsched.core.nova.filter.groups import AFFINITY, SAME_HOST
from osc_traitsched.core.nova.filter.table import enabled, hint_readers
from osc_traitsched.core.nova.question import MoveKind
from osc_traitsched.core.servers.drain import (
    Drain,
    ServerMove,
    Step,
    Stuck,
    StuckReason,
)
from osc_traitsched.core.servers.state import Name
from osc_traitsched.documents import JsonObject, field
from osc_traitsched.paste import Option, line, openstack
from osc_traitsched.text import count, listed, ranges, visible
from osc_traitsched.views import servers
from osc_traitsched.views.explain import reasons as explain_reasons
from osc_traitsched.views.explain import verdict
from osc_traitsched.views.explain import words as refused

#: Each move as a noun.
NOUNS = {
    MoveKind.LIVE_MIGRATION: "live migration",
    MoveKind.MIGRATION: "cold migration",
    MoveKind.RESIZE: "resize",
    MoveKind.EVACUATION: "evacuation",
    MoveKind.UNSHELVE: "unshelving",
    MoveKind.REBUILD: "rebuild",
}

_CELL = ("cell", "cells: only hosts of the server's own cell count")
_OTHER_CELL = (
    "other cell",
    "cells: other cells need the policy compute:servers:resize:cross_cell, which by "
    "default nobody has",
)
_COPIED = ("cold storage", "disks: copied from host to host, unless shared")
_QUOTA = ("quota", "the project's quota")
_SHARES = ("shares", "Manila shares: nova-api rejects a server with shares")
_SHARES_BEFORE = (
    "shares",
    "Manila shares: before 34 nova-api rejects a server with shares",
)
#: What the new host is only asked for once the move has begun.
_ON_THE_HOST = (
    ("claim", "NUMA nodes and devices: the host must have them free"),
    ("port bindings", "ports: Neutron must bind them on the host"),
)

#: What no API shows of a move: a word for programs, and a text.
UNSEEN: Mapping[MoveKind, tuple[tuple[str, str], ...]] = {
    MoveKind.LIVE_MIGRATION: (
        _SHARES,
        _CELL,
        ("cpu comparison", "CPU: the guest's must run on the host's"),
        (
            "live storage",
            "disks: shared storage, or disk space for block migration",
        ),
        (
            "live device",
            "PCI devices of its flavor: their alias must be live_migratable",
        ),
        *_ON_THE_HOST,
    ),
    MoveKind.MIGRATION: (_SHARES_BEFORE, _OTHER_CELL, _COPIED, *_ON_THE_HOST),
    MoveKind.RESIZE: (
        _QUOTA,
        _SHARES_BEFORE,
        _OTHER_CELL,
        _COPIED,
        (
            "smaller disk",
            "a smaller disk: libvirt rejects it",
        ),
        *_ON_THE_HOST,
    ),
    MoveKind.EVACUATION: (
        _SHARES,
        _CELL,
        (
            "task under way",
            "a running task: before 23.2.2, 24.2.0 and 25.1.0 nova-api rejects the "
            "evacuation",
        ),
        (
            "lost storage",
            "disks: without shared storage the server is rebuilt from its image, and "
            "its data are lost",
        ),
        *_ON_THE_HOST,
    ),
    MoveKind.UNSHELVE: (
        _QUOTA,
        _CELL,
        ("shelved image", "the image that it was shelved as"),
        *_ON_THE_HOST,
    ),
    MoveKind.REBUILD: (_SHARES,),
}


# The answer in one line, and why servers stay.


#: So many servers that stay are named in the verdict, and shown with their cause.
MOST_NAMES, MOST_STUCK = 3, 5

#: How servers are moved, after their number.
_HOW = {
    MoveKind.LIVE_MIGRATION: "live",
    MoveKind.MIGRATION: "cold",
    MoveKind.EVACUATION: "evacuated",
}


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
    few = listed(names) if len(names) <= MOST_NAMES else f"{len(names)}"
    if not able and (total > MOST_NAMES or 0 < len(found.dependent) < total):
        return f"None of {total} servers can move off {where}{_if_off(found)}."
    if not able:
        return f"{few} {cant(found)} move off {where}."
    kinds = collections.Counter(step.server_move.kind for step in found.steps)
    how = ", ".join(
        f"{kinds[kind]} {word}" for kind, word in _HOW.items() if kinds[kind]
    )
    unsure = len(found.uncertain)
    perhaps = f", {unsure} of them perhaps" if unsure else ""
    if found.stuck:
        more = _if_off(found) if found.dependent != found.stuck else ""
        stay = f"; {few} {cant(found)}{more}"
        return f"{able} of {total} servers can move off {where}{perhaps} ({how}){stay}."
    every = "The only server" if total == 1 else f"All {total} servers"
    return f"{every} can move off {where}{perhaps} ({how})."


def cant(found: Drain) -> str:
    """The verb for servers that stay; "perhaps" if some hang on options."""
    return "can't" if found.dependent != found.stuck else "perhaps can't"


def _if_off(found: Drain) -> str:
    if not found.dependent:
        return ""
    judgements = (each.without_lost or each.judgement for each in found.dependent)
    values = {
        explain_reasons.otherwise(each)
        for each in judgements
        if isinstance(each, Judgement)
    }
    value = values.pop() if len(values) == 1 else "nova.conf allows it"
    return f" ({len(found.dependent)} can if {value})"


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
    elif isinstance(stuck.judgement, RefusedRequest):
        yield refused.text(stuck.judgement.refusal, is_moved=True)
    elif stuck.depends:
        yield explain_reasons.headline(stuck.without_lost or stuck.judgement)
    else:
        yield _without_host(stuck.judgement, found)
        yield from explain_reasons.leaving(stuck.judgement)


def _refused(server_move: ServerMove) -> Iterator[str]:
    noun = NOUNS[server_move.kind]
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
        sentence = verdict.sentence(judgement)
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


def move(step: Step, hosts: Sequence[str]) -> str:
    """A move in words.

    :param hosts: those that servers leave
    """
    perhaps = " (perhaps)" if step.unknown else ""
    others = refused.for_others(step.to, step.server_move.question)
    noun = NOUNS[step.server_move.kind]
    state = step.server_move.state
    from_ = f" from {state.host}" if len(hosts) > 1 else ""
    return f"{state.name}: {noun}{from_} to {step.to.service_host}{others}{perhaps}"


def hidden(found: Drain, only_unread: bool = False) -> Iterator[str]:
    """What is unknown of the requests of servers, each once; or only unread parts."""
    texts = collections.Counter(
        servers.why(part, found.minor)
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
        each for step in found.steps for each in UNSEEN[step.server_move.kind]
    )


Move = Annotated[str, ("live-migration", "migration", "evacuation")]


class DrainedServer(JsonObject):
    """A server of a host, with the sizes of its own copy of the flavor."""

    id: str = field("state.id")
    """Its ID."""
    name: str = field("state.name")
    """Its name."""
    project_id: str = field("state.project")
    """The ID of its project."""
    status: str = field("state.status")
    """Its status in the compute API."""
    host: str = field("state.host")
    """The service host that it leaves."""
    flavor: str = field(lambda move: move.question.flavor["name"])
    """The name of the flavor."""
    vcpus: int = field(lambda move: move.question.flavor["vcpus"])
    """VCPUs."""
    ram: int = field(lambda move: move.question.flavor["ram"])
    """Memory in MB."""
    disk: int = field(lambda move: move.question.flavor["disk"])
    """Disk in GB."""


class DrainStep(JsonObject):
    """One move."""

    server: DrainedServer = field("server_move")
    """The server to move."""
    move: Move = field("server_move.kind")
    """How to move it. ``migration`` is the cold one."""
    host: str = field("to.service_host")
    """The service host that it goes to."""
    node: str = field("to.node")
    """The compute node that it goes to."""
    not_visible_filters: Iterable[str] = field("unknown")
    """Host filters that may reject this host: they read what no API shows. Or
    ``move:hypervisor``, ``availability zone`` or ``image``, if these can't be known:
    a deleted image may have required traits. Or an option that is not known."""
    commands: Iterable[str] = field(lambda step, whole: of_step(step, whole.options))
    """Commands to run, in this order."""
