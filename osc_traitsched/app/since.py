"""Which hosts a request had when a snapshot was saved, and what took them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from osc_traitsched.app.difference import MOST_TRIED, changes_of, nodes_of, put_back
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.difference import Change, Since
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.judge.judgement import Judgement

#: The answer for the same request on another snapshot.
Ask = Callable[[Snapshot], Judgement]


def since(old: Snapshot, new: Snapshot, ask: Ask) -> Since:
    """What changed for one request, each change put back alone and tried.

    Of changes that decide only together, those that none of the hosts needs are left
    out.

    :raises TraitSchedError: if the request can't be asked of the later snapshot
    """
    judgement = ask(new)
    before, now = _hosts(old, ask), frozenset(e.name for e in judgement.candidates)
    changes = tuple(_near(old, new, before ^ now))

    def back(several: Sequence[Change]) -> frozenset[str]:
        return put_back(new, several, before, now, lambda each: _hosts(each, ask))

    tried = changes[:MOST_TRIED]
    decided = {change: back([change]) for change in tried}
    left = (before ^ now).difference(*decided.values())
    together = left & back(changes) if left else left
    needed = changes if together else ()
    for change in tried if together else ():
        fewer = tuple(each for each in needed if each is not change)
        needed = fewer if together <= back(fewer) else needed
    for change in needed:
        own = change.hosts & together or together
        decided[change] = decided.get(change, frozenset()) | own
    causes = tuple((change, hosts) for change, hosts in decided.items() if hosts)
    return Since(old.time, new.time, before, now, len(judgement.hosts), causes)


def _near(old: Snapshot, new: Snapshot, hosts: frozenset[str]) -> Iterator[Change]:
    """Changes that may have to do with some hosts, those of all hosts first."""
    nodes = nodes_of(old.document, new.document)
    lists = (e.document.get("compute", {}).get("server_groups", ()) for e in (old, new))
    # Other servers decide by their use alone.
    grouped = {m for groups in lists for each in groups for m in each["members"]}
    changes = [
        each
        for each in changes_of(old, new)
        if each.puts and (each.kind != "server" or each.puts[0].path[-1] in grouped)
    ]
    yield from (each for each in changes if not each.hosts)
    for change in changes:
        own = {node for host in change.hosts for node in nodes.get(host, {host})}
        if own & hosts:
            yield dataclasses.replace(change, hosts=frozenset(own & hosts))


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
        "answers": {**later.document["answers"], **snapshot.document["answers"]},
    }
    return Snapshot(snapshot.path, document)
