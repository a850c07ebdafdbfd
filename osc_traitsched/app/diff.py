"""What changed between two saved clouds, or since a saved one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from osc_traitsched.app import settings
from osc_traitsched.app.judging import by_flavor
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.difference import (
    Change,
    Comparison,
    Effect,
    FlavorHosts,
    Put,
    Since,
    difference,
    not_compared,
    reverted,
)
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.judge.judgement import Judgement
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.question import Body, ServerSpec

# What changed between two snapshots, and which flavors it took hosts from.


_T = TypeVar("_T")

#: Hosts with room, by flavor.
_Hosts = Mapping[str, frozenset[str]]

#: So many changes are tried, and of larger clouds none: each takes as long as
#: ``explain`` of all flavors. Others are shown with all hosts that they are about.
MOST_TRIED, _MOST_PROVIDERS = 40, 2000


def changes_of(old: Snapshot, new: Snapshot) -> tuple[Change, ...]:
    """All changes, those of settings first."""
    return (*_of_settings(old, new), *difference(old.document, new.document))


def put_back(
    new: Snapshot,
    changes: Iterable[Change],
    before: frozenset[_T],
    now: frozenset[_T],
    ask: Callable[[Snapshot], frozenset[_T]],
) -> frozenset[_T]:
    """Of what differs, the part that is as it was if some changes are put back."""
    return (before ^ now) - (
        before ^ ask(Snapshot("", reverted(new.document, changes)))
    )


def compare(old: Snapshot, new: Snapshot) -> Comparison:
    """All changes, with the flavors that have fewer or more hosts by them.

    A flavor's hosts are those that could take a server of it, without an image. Each
    change is put back alone, to see which hosts it decides about. Changes that decide
    only together are all shown with the hosts. Of large clouds none is tried.
    """
    changes, own_flavors = changes_of(old, new), ServerSpec("", "")
    hosts, hosts_now = (_hosts_for(each, own_flavors) for each in (old, new))
    judged = hosts.keys() & hosts_now.keys()
    differing = {name for name in judged if hosts[name] != hosts_now[name]}
    before, now = _pairs(hosts, differing), _pairs(hosts_now, differing)

    def ask(snapshot: Snapshot) -> frozenset[tuple[str, str]]:
        return _pairs(_hosts_for(snapshot, own_flavors, differing), differing)

    triable = [each for each in changes if each.puts and not each.is_daily]
    is_small = len(new.document["placement"]["providers"]) <= _MOST_PROVIDERS
    tried = triable[: MOST_TRIED * is_small]
    decided = {
        change: put_back(new, [change], before, now, ask)
        for change in tried
        if differing and change.kind != "image"
    }
    # What no change decides alone: flavors by host.
    left: dict[str, set[str]] = {}
    for name, host in (before ^ now).difference(*decided.values()):
        left.setdefault(host, set()).add(name)
    nodes = nodes_of(old.document, new.document)
    effects = []
    for change in changes:
        names = {name for name, _ in decided.get(change, ())}
        if change in decided or change.is_daily:
            own = {n for host in change.hosts for n in nodes.get(host, {host})}
            near = set[str]().union(*(left.get(host, ()) for host in own or left))
            if own or change.kind == "setting":
                names |= near
            elif change.kind == "flavor":
                names |= near & {change.name}
        counts = [FlavorHosts(n, len(hosts[n]), len(hosts_now[n])) for n in names]
        if change.kind == "image" and change in tried:
            counts = list(_with_image(change, old, new))
        counts.sort(key=lambda each: (each.now - each.before, each.flavor))
        effects.append(Effect(change, tuple(counts)))
    return Comparison(
        old.time,
        new.time,
        tuple(effects),
        len(triable) - len(tried),
        not_compared(old.document, new.document),
        not _is_same_cloud(old.document, new.document),
    )


def _pairs(hosts: _Hosts, flavors: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Flavors, each with one of its hosts."""
    return frozenset((name, h) for name in flavors for h in hosts.get(name, ()))


def _of_settings(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    """The options of nova-scheduler that changed, as one change."""
    before, now = (settings.of_cloud(e.cloud, e.sources) for e in (old, new))
    texts = []
    if before.release != now.release:
        texts.append(f"Nova {before.release} -> {now.release}")
    for name in sorted(before.settings.keys() | now.settings.keys()):
        values = _value(before, name), _value(now, name)
        if values[0] != values[1]:
            texts.append(f"{name}: {values[0]} -> {values[1]}")
    if texts:
        puts = (Put(("settings",), old.document["settings"]),)
        yield Change("setting", "nova.conf", "; ".join(texts), puts)


def _value(assumed: SchedulerSettings, name: str) -> str:
    try:
        value: Any = assumed.value(name)
    except KeyError:
        return "no such option"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _hosts_for(
    snapshot: Snapshot, spec: ServerSpec, names: Collection[str] | None = None
) -> _Hosts:
    """The hosts of each flavor; none if the request is refused.

    :param names: of these flavors only
    """

    def wanted(flavors: Sequence[Body]) -> Iterable[Body]:
        return [each for each in flavors if names is None or each["name"] in names]

    try:
        judged = by_flavor(snapshot.cloud, spec, snapshot.sources, wanted)
    except TraitSchedError:
        return {}
    return {
        str(each.question.flavor["name"]): frozenset(h.name for h in each.candidates)
        for each in judged
    }


def nodes_of(*documents: Mapping[str, Any]) -> Mapping[str, set[str]]:
    """Names of compute nodes by service host."""
    found: dict[str, set[str]] = {}
    for document in documents:
        for each in document.get("compute", {}).get("hypervisors", ()):
            own = found.setdefault(each["service"]["host"], set())
            own.add(each["hypervisor_hostname"])
    return found


def _with_image(change: Change, old: Snapshot, new: Snapshot) -> Iterator[FlavorHosts]:
    """The hosts that any flavor has with an image."""
    path = change.puts[0].path
    if path[0] == "image":
        # A name may be another image's, too.
        judged = (_hosts_for(each, ServerSpec("", path[2])) for each in (old, new))
        before, now = (frozenset[str]().union(*hosts.values()) for hosts in judged)
        if before != now:
            yield FlavorHosts("", len(before), len(now))


def _is_same_cloud(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether any provider is in both, or one of them has none."""
    uuids = [{each["uuid"] for each in d["placement"]["providers"]} for d in (old, new)]
    return not all(uuids) or not uuids[0].isdisjoint(uuids[1])


# Which hosts a request had when a snapshot was saved, and what took them.


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
