"""What changed between two snapshots, and which flavors it took hosts from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from osc_traitsched.app import settings
from osc_traitsched.app.by_flavor import by_flavor
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.difference import (
    Change,
    Comparison,
    Effect,
    FlavorHosts,
    Put,
    difference,
    not_compared,
    reverted,
)
from osc_traitsched.core.errors import TraitSchedError
from osc_traitsched.core.nova.question import Body, ServerSpec
from osc_traitsched.core.nova.settings import SchedulerSettings

#: Hosts with room, by flavor.
_Hosts = Mapping[str, frozenset[str]]

#: So many changes are tried, and of larger clouds none: each takes as long as
#: ``explain`` of all flavors. Others are shown with all hosts that they are about.
_MOST_TRIED, _MOST_PROVIDERS = 40, 2000


def compare(old: Snapshot, new: Snapshot) -> Comparison:
    """All changes, with the flavors that have fewer or more hosts by them.

    A flavor's hosts are those that could take a server of it, without an image. Each
    change is put back alone, to see which hosts it decides about. Changes that decide
    only together are all shown with the hosts. Of large clouds none is tried.
    """
    changes = (*of_settings(old, new), *difference(old.document, new.document))
    then, now = (_hosts(each, ServerSpec("", "")) for each in (old, new))
    differing = {
        name: then[name] ^ now[name]
        for name in then.keys() & now.keys()
        if then[name] != now[name]
    }
    tried = [each for each in changes if each.puts and not each.is_daily]
    is_small = len(new.document["placement"]["providers"]) <= _MOST_PROVIDERS
    some = tried[: _MOST_TRIED * is_small]
    decided = dict(_decided(some, new, then, differing)) if differing else {}
    left = {
        name: hosts.difference(*(each.get(name, ()) for each in decided.values()))
        for name, hosts in differing.items()
    }
    nodes = nodes_of(old.document, new.document)
    effects = []
    for change in changes:
        own = {n for host in change.hosts for n in nodes.get(host, {host})}
        names = {
            name
            for name, hosts in left.items()
            if (change in decided or change.is_daily)
            and (
                decided.get(change, {}).get(name)
                or (hosts & own if own else hosts and change.kind == "setting")
                or (hosts and change.kind == "flavor" and change.name == name)
            )
        }
        counts = [FlavorHosts(n, len(then[n]), len(now[n])) for n in names]
        if change.kind == "image":
            counts = list(_image(change, old, new))
        counts.sort(key=lambda each: (each.now - each.then, each.flavor))
        effects.append(Effect(change, tuple(counts)))
    return Comparison(
        old.time,
        new.time,
        tuple(effects),
        len(tried) - len(some),
        not_compared(old.document, new.document),
        not _is_same_cloud(old.document, new.document),
    )


def _decided(
    changes: Sequence[Change],
    new: Snapshot,
    then: _Hosts,
    differing: _Hosts,
) -> Iterator[tuple[Change, _Hosts]]:
    """The hosts of each flavor that are as they were if a change is put back."""
    for change in changes:
        document = reverted(new.document, [change])
        hosts = _hosts(Snapshot("", document), ServerSpec("", ""), differing)
        yield (
            change,
            {
                name: frozenset(
                    host
                    for host in differing[name]
                    if (host in own) is (host in then[name])
                )
                for name, own in hosts.items()
            },
        )


def of_settings(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    """The options of nova-scheduler that changed, as one change."""
    then, now = (settings.of_cloud(e.cloud, e.sources) for e in (old, new))
    texts = []
    if then.release != now.release:
        texts.append(f"Nova {then.release} -> {now.release}")
    for name in sorted(then.settings.keys() | now.settings.keys()):
        values = _value(then, name), _value(now, name)
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


def _hosts(
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


def _image(change: Change, old: Snapshot, new: Snapshot) -> Iterator[FlavorHosts]:
    """The hosts that any flavor has with an image."""
    # A name may be another image's, too.
    spec = ServerSpec("", change.puts[0].path[2])
    then, now = (
        frozenset[str]().union(*_hosts(each, spec).values()) for each in (old, new)
    )
    if then != now:
        yield FlavorHosts("", len(then), len(now))


def _is_same_cloud(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether any provider is in both, or one of them has none."""
    uuids = [{each["uuid"] for each in d["placement"]["providers"]} for d in (old, new)]
    return not all(uuids) or not uuids[0].isdisjoint(uuids[1])
