"""What changed between two saved clouds, or since a saved one."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, Union

from osc_traitsched.app import settings
from osc_traitsched.app.judging import FlavorScope, by_flavor
from osc_traitsched.app.snapshot import Snapshot
from osc_traitsched.core.answer import Answer
from osc_traitsched.core.difference import (
    Change,
    Comparison,
    Effect,
    FlavorHosts,
    Put,
    Since,
    applied,
    by_name,
    difference,
    holds,
    not_compared,
)
from osc_traitsched.core.errors import BadConfiguration, CloudBroke, TraitSchedError
from osc_traitsched.core.judge.judgement import Judgement, RequestResult
from osc_traitsched.core.nova.filter.compute import needs_claim
from osc_traitsched.core.nova.options import SchedulerSettings
from osc_traitsched.core.nova.own import NovaPythonFails
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


@dataclasses.dataclass(frozen=True)
class _Trial(Generic[_T]):
    """Makes changes in an earlier cloud, to see what they take or give.

    :ivar before: what was there
    :ivar differing: what is there only before, or only now
    :ivar ask: what is there in a cloud
    """

    old: Snapshot
    before: frozenset[_T]
    differing: frozenset[_T]
    ask: Callable[[Snapshot], frozenset[_T]]

    def by(self, changes: Iterable[Change]) -> frozenset[_T]:
        """Of what differs, the part that these changes alone take or give."""
        then = self.old._replace(path="", document=applied(self.old.document, changes))
        return self.differing & (self.before ^ self.ask(then))


def compare(old: Snapshot, new: Snapshot) -> Comparison:
    """All changes, with the flavors that have fewer or more hosts by them.

    A flavor's hosts are those that could take a server of it, without an image. Each
    change is made alone in the earlier cloud, to see which hosts it takes or gives, and
    so are all changes of the workload at once. In large clouds none is tried.
    """
    is_other_cloud = not _is_same_cloud(old.document, new.document)
    if is_other_cloud:
        new = Snapshot(new.path, by_name(old.document, new.document))
    changes, own_flavors = changes_of(old, new), ServerSpec("", "")
    judged_clouds = (old, new) if changes else ()
    hosts, hosts_now = [_hosts_for(e, own_flavors) for e in judged_clouds] or ({}, {})
    judged = hosts.keys() & hosts_now.keys()
    differing = {name for name in judged if hosts[name] != hosts_now[name]}
    before, now = _pairs(hosts, differing), _pairs(hosts_now, differing)

    def ask(snapshot: Snapshot) -> frozenset[tuple[str, str]]:
        return _pairs(_hosts_for(snapshot, own_flavors, differing), differing)

    trial = _Trial(old, before, before ^ now, ask)
    triable = [each for each in changes if each.puts and not each.is_daily]
    number = len(new.document["placement"]["providers"])
    is_small = number <= _MOST_PROVIDERS and not is_other_cloud
    tried = triable[: MOST_TRIED * is_small]
    decided = {
        change: trial.by([change])
        for change in tried
        if differing and change.kind != "image"
    }
    daily = [each for each in changes if each.is_daily and is_small]
    use = trial.by(daily) if daily else frozenset()
    left = trial.differing.difference(use, *decided.values())

    counts = functools.partial(_counts, hosts)
    return Comparison(
        old.time,
        new.time,
        tuple(
            Effect(
                change,
                tuple(_with_image(change, old))
                if change.kind == "image" and change in tried
                else counts(decided.get(change, frozenset())),
            )
            for change in changes
        ),
        counts(use),
        counts(left) if triable and len(tried) == len(triable) else (),
        len(triable) - len(tried),
        not_compared(old.document, new.document),
        is_other_cloud,
    )


def _counts(
    hosts: _Hosts, pairs: frozenset[tuple[str, str]]
) -> tuple[FlavorHosts, ...]:
    """How many hosts flavors had, and have after these changed, the worst first."""
    found: dict[str, set[str]] = {}
    for name, host in pairs:
        found.setdefault(name, set()).add(host)
    effects = (
        FlavorHosts(name, len(hosts[name]), len(hosts[name] ^ own))
        for name, own in found.items()
    )
    return tuple(sorted(effects, key=lambda e: (e.now - e.before, e.flavor)))


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
        puts = (Put(("settings",), *(e.document["settings"] for e in (old, new))),)
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

    scope = FlavorScope(wanted, varied=False)
    try:
        judged = by_flavor(snapshot.cloud, spec, snapshot.sources, scope)
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


def _with_image(change: Change, old: Snapshot) -> Iterator[FlavorHosts]:
    """The hosts that any flavor has with an image."""
    path = change.puts[0].path
    if path[0] == "image":
        # A name may be another image's, too.
        then = Snapshot("", applied(old.document, [change]))
        judged = (_hosts_for(each, ServerSpec("", path[2])) for each in (old, then))
        before, now = (frozenset[str]().union(*hosts.values()) for hosts in judged)
        if before != now:
            yield FlavorHosts("", len(before), len(now))


def _is_same_cloud(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether any provider is in both, or one of them has none."""
    uuids = [{each["uuid"] for each in d["placement"]["providers"]} for d in (old, new)]
    return not all(uuids) or not uuids[0].isdisjoint(uuids[1])


# Which hosts a request had when a snapshot was saved, and what took them.


#: The answer for the same request, or those for several, on another snapshot.
Ask = Callable[[Snapshot], Union[RequestResult, tuple[RequestResult, ...]]]


class _Asked(NamedTuple):
    """A snapshot with its answers; none if the request is refused there.

    :ivar is_known: False if Nova of another release would have to answer
    """

    snapshot: Snapshot
    judgements: tuple[RequestResult, ...]
    is_known: bool = True

    @classmethod
    def of(cls, snapshot: Snapshot, ask: Ask) -> _Asked:
        """:raises BadConfiguration: for a file that lacks what the answer needs"""
        try:
            found = ask(snapshot)
            return cls(snapshot, found if isinstance(found, tuple) else (found,))
        except CloudBroke as exc:
            raise BadConfiguration(
                snapshot.path or "the cloud now", None, str(exc)
            ) from exc
        except BadConfiguration:
            raise
        except NovaPythonFails:
            return cls(snapshot, (), is_known=False)
        except TraitSchedError:
            return cls(snapshot, ())

    @property
    def is_claiming(self) -> bool:
        """Whether nova-compute claims NUMA cells or PCI devices for a request."""
        judged = (each for each in self.judgements if isinstance(each, Judgement))
        return any(needs_claim(each.question.request_spec()) for each in judged)

    @property
    def hosts(self) -> frozenset[str]:
        """Hosts that could take any of the requests."""
        return frozenset(h.name for each in self.judgements for h in each.candidates)

    @property
    def total(self) -> int:
        """Number of all hosts; 0 if the requests are refused."""
        return max((len(each.hosts) for each in self.judgements), default=0)

    @property
    def works(self) -> bool:
        """Whether all servers of any request may find a host."""
        return any(each.answer is not Answer.NO for each in self.judgements)


def since(
    paths: Sequence[str], new: Snapshot, ask: Ask, opened: Callable[[str], Snapshot]
) -> Since:
    """What changed for one request, from the last snapshot with another answer.

    It is found by halving, so 14 snapshots take 4 answers. If the answer changed
    several times, it is one of these. If it never did, the oldest snapshot counts.

    Each change is made alone in the earlier cloud. Of changes that decide only
    together, those that none of the hosts needs are left out.

    :param paths: the oldest first
    :param opened: reads one
    """
    now = later = _Asked.of(new, ask)
    paths, unknown = list(paths), None
    earlier, low, high = None, -1, len(paths)
    while high - low > 1:
        middle = (low + high) // 2
        tried = _Asked.of(opened(paths[middle]), ask)
        needs_records = new.claims is not None and (
            now.is_claiming or tried.is_claiming
        )
        if not tried.is_known or (needs_records and tried.snapshot.claims is None):
            # The others may be judged.
            unknown, high = tried, high - 1
            del paths[middle]
            continue
        if tried.works is now.works:
            high, later = middle, tried
        else:
            low, earlier = middle, tried
    if unknown is not None and not paths:
        found = _since(now, now, ask)
        return dataclasses.replace(
            found, time=unknown.snapshot.time, asked=new.time, is_known=False
        )
    # Without another answer, the oldest was tried last.
    found = _since(earlier or later, later if earlier else now, ask)
    return dataclasses.replace(found, asked=new.time)


def dated(
    found: Comparison, paths: Sequence[str], opened: Callable[[str], Snapshot]
) -> Comparison:
    """The comparison with the time from which on each change was there.

    :param paths: snapshots in between, the oldest first
    """
    times = {effect.change: found.now for effect in found.lasting}
    left = list(times)
    for path in reversed(paths):
        night = opened(path)
        left = [change for change in left if holds(night.document, change)]
        times.update(dict.fromkeys(left, night.time))
        if not left:
            break
    effects = (
        dataclasses.replace(effect, since=times.get(effect.change))
        for effect in found.effects
    )
    return dataclasses.replace(found, effects=tuple(effects))


def _since(earlier: _Asked, later: _Asked, ask: Ask) -> Since:
    old, new = earlier.snapshot, later.snapshot
    before, now = earlier.hosts, later.hosts

    def hosts_in(of: Snapshot) -> frozenset[str]:
        found = _Asked.of(of, ask)
        return found.hosts if found.is_known else before

    trial = _Trial(old, before, before ^ now, hosts_in)
    # Those of a live cloud are not in its document.
    of_records = Change("record", "of hosts", "NUMA cells or PCI devices changed")

    def by(some: Sequence[Change]) -> frozenset[str]:
        claims = new.claims if of_records in some else old.claims
        then = dataclasses.replace(trial, old=old._replace(claims=claims))
        try:
            return then.by(some)
        except BadConfiguration:
            # What Nova says of a new object was not saved then.
            return frozenset()

    changes = tuple(_near(old, new, trial.differing)) if trial.differing else ()
    is_claiming = earlier.is_claiming or later.is_claiming
    if trial.differing and is_claiming and old.claims and new.claims:
        changes = (of_records, *changes)
    tried = changes[:MOST_TRIED]
    decided = {change: by([change]) for change in tried}
    alone = [change for change in tried if decided[change]]
    others = [change for change in changes if change not in alone]
    # Also of hosts that one change decides: putting that back would not be enough.
    together = by(others) if others else frozenset()
    left = trial.differing.difference(together, *decided.values())
    together |= left & by(changes) if left else left
    needed = [*alone, *others] if together else []
    for change in (*alone, *others[:MOST_TRIED]) if together else ():
        fewer = [each for each in needed if each is not change]
        needed = fewer if together <= by(fewer) else needed
    for change in needed:
        own = change.hosts & together or together
        decided[change] = decided.get(change, frozenset()) | own
    causes = tuple((change, hosts) for change, hosts in decided.items() if hosts)
    total = later.total or earlier.total
    answers = (earlier.works, later.works)
    return Since(old.time, new.time, before, now, total, causes, answers=answers)


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


def with_server(snapshot: Snapshot, later: Snapshot, server: str) -> Snapshot:
    """The snapshot with a server that was created later, so that it can be judged."""
    compute = snapshot.document.get("compute", {})
    if "servers" not in compute or any(e["id"] == server for e in compute["servers"]):
        return snapshot
    of_later = later.document.get("compute", {}).get("servers", ())
    own = [each for each in of_later if each["id"] == server]
    document = {
        **snapshot.document,
        "compute": {**compute, "servers": [*compute["servers"], *own]},
        "answers": {**later.document["answers"], **snapshot.document["answers"]},
    }
    return snapshot._replace(document=document)
