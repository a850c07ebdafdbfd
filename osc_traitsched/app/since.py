"""Which hosts a request had when a snapshot was saved, and what took them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from osc_traitsched.app.difference import nodes_of, of_settings
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.difference import Change, Since, difference, reverted
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.judge.judgement import Judgement

#: The answer for the same request on another snapshot.
Ask = Callable[[Snapshot], Judgement]

#: So many changes are tried alone.
_MOST_TRIED = 40


def since(old: Snapshot, new: Snapshot, ask: Ask) -> Since:
    """What changed for one request, each change put back alone and tried.

    Changes that decide about a host only together are shown together.

    :raises TraitSchedError: if the request can't be asked of the later snapshot
    """
    now = ask(new)
    then = _hosts(old, ask)
    after = frozenset(each.name for each in now.candidates)
    lost, gained = then - after, after - then
    changes = tuple(_near(old, new, lost | gained))
    decided: dict[Change, frozenset[str]] = {}
    for change in changes[:_MOST_TRIED]:
        hosts = _hosts(_with(new, [change]), ask)
        back = (lost & hosts) | (gained - hosts)
        if back:
            decided[change] = back
    left = lost.difference(*decided.values())
    if left and changes:
        hosts = _hosts(_with(new, changes), ask)
        for change in changes:
            own = change.hosts & left & hosts
            if change not in decided and (own or (not change.hosts and left & hosts)):
                decided[change] = own or left & hosts
    total = len(now.hosts)
    return Since(old.time, new.time, then, after, total, tuple(decided.items()))


def _near(old: Snapshot, new: Snapshot, hosts: frozenset[str]) -> Iterator[Change]:
    """Changes that may have to do with some hosts, those of all hosts first."""
    changes = (*of_settings(old, new), *difference(old.document, new.document))
    nodes = nodes_of(old.document, new.document)
    there = [c for c in changes if c.puts and c.kind != "server"]
    for change in there:
        if not change.hosts:
            yield change
    for change in there:
        own = {node for host in change.hosts for node in nodes.get(host, {host})}
        if own & hosts:
            yield dataclasses.replace(change, hosts=frozenset(own & hosts))


def _with(new: Snapshot, changes: Sequence[Change]) -> Snapshot:
    return Snapshot("", reverted(new.document, changes))


def _hosts(snapshot: Snapshot, ask: Ask) -> frozenset[str]:
    """Hosts that could take the request; none if it is refused there."""
    try:
        return frozenset(each.name for each in ask(snapshot).candidates)
    except TraitSchedError:
        return frozenset()


def with_server(snapshot: Snapshot, later: Snapshot, server: str) -> Snapshot:
    """The snapshot with a server that was created later, so that it can be judged."""
    compute = snapshot.document["compute"]
    if any(each["id"] == server for each in compute["servers"]):
        return snapshot
    of_later = later.document["compute"]["servers"]
    own = [each for each in of_later if each["id"] == server]
    document = {
        **snapshot.document,
        "compute": {**compute, "servers": [*compute["servers"], *own]},
        "answers": {**snapshot.document["answers"], **later.document["answers"]},
    }
    return Snapshot(snapshot.path, document)
