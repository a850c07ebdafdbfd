"""What changed between two saved clouds, in an operator's words."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from osc_traitsched.core.inventory.trait import DISABLED

Body = Mapping[str, Any]
Path = tuple[str, ...]

#: Short names of resource classes; other classes keep theirs.
_CLASSES = {"MEMORY_MB": "RAM", "DISK_GB": "disk"}
#: Keys of an image that change by themselves, or decide about no host.
_OF_GLANCE = frozenset(
    (
        *("id", "owner", "tags", "file", "schema", "self", "updated_at"),
        *("created_at", "size", "virtual_size", "checksum", "os_hash_algo"),
        *("os_hash_value", "protected", "stores", "locations", "direct_url"),
    )
)
_EPHEMERAL = "OS-FLV-EXT-DATA:ephemeral"


class Put(NamedTuple):
    """A value that puts a change back.

    :ivar path: service, list, ID of the object, and keys
    :ivar value: what was there; None if nothing was. Of a list of names, one name
    :ivar was_there: for one name of a list: whether it was in it
    """

    path: Path
    value: Any
    was_there: bool | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """One change of one object.

    :ivar kind: ``host``, ``provider``, ``aggregate``, ``flavor``, ``image``,
        ``server group``, ``server``, ``trait``, ``resource class`` or ``setting``
    :ivar text: what changed, such as ``+ trait:CUSTOM_SSD=required``
    :ivar puts: what puts it back in the later document
    :ivar hosts: names of the hosts that it is about; empty for all
    :ivar is_daily: a change of the workload: of servers, or of their use of a host
    """

    kind: str
    name: str
    text: str
    puts: tuple[Put, ...] = ()
    hosts: frozenset[str] = frozenset()
    is_daily: bool = False


def reverted(document: Body, changes: Iterable[Change]) -> dict[str, Any]:
    """The later document with some changes put back; what they touch is copied."""
    place: Any = document
    for put in (put for change in changes for put in change.puts):
        place = _put_back(place, put.path, put)
    return dict(place)


def _put_back(place: Any, path: Path, put: Put) -> Any:
    """A copy of a value with the value at a path in it put back."""
    if not path and put.was_there is None:
        return put.value
    if not path:
        others = [each for each in place if each != put.value]
        return [*others, put.value] if put.was_there else others
    is_list = isinstance(place, list)
    parts = {_id(each): each for each in place} if is_list else dict(place or {})
    parts[path[0]] = _put_back(parts.get(path[0]), path[1:], put)
    if parts[path[0]] is None:
        del parts[path[0]]
    return list(parts.values()) if is_list else parts


def _id(body: Body) -> str:
    """What an object of a list is told by."""
    return str(body.get("uuid") or body.get("id") or body.get("zoneName"))


def difference(old: Body, new: Body) -> tuple[Change, ...]:
    """All changes, by kind and name. What one of them lacks is not compared."""
    of_hosts = *_providers(old, new), *_services(old, new)
    parts = (
        *_merged((*of_hosts, *_objects(old, new, "aggregate"))),
        *_objects(old, new, "flavor"),
        *_objects(old, new, "image"),
        *_objects(old, new, "server group"),
        *_projects(old, new),
        *_servers(old, new),
        *_names(old, new),
    )
    return tuple(sorted(parts, key=lambda each: (each.is_daily, each.kind, each.name)))


def _merged(changes: Iterable[Change]) -> Iterator[Change]:
    """One change for what Nova and Placement, or several nodes of a host, both have."""
    rows: dict[tuple[str, str, str], list[Change]] = {}
    for each in changes:
        rows.setdefault((each.kind, each.name, each.text), []).append(each)
    for several in rows.values():
        puts = tuple(put for each in several for put in each.puts)
        hosts = frozenset[str]().union(*(each.hosts for each in several))
        yield dataclasses.replace(several[0], puts=puts, hosts=hosts)


def not_compared(old: Body, new: Body) -> tuple[str, ...]:
    """Lists that one of the documents lacks, but for services that the cloud lacks."""
    problems = old["missing"], new["missing"]
    names = (
        name
        for name in {*problems[0], *problems[1]}
        # Single objects have longer paths.
        if name.count("/") <= 2
        and {e.get(name, {}).get("error") for e in problems} != {"NotInCatalog"}
    )
    return tuple(sorted(names))


def _all(documents: Iterable[Body], service: str, kind: str) -> Iterator[Body]:
    """The objects of a list in each of some documents."""
    for document in documents:
        yield from document.get(service, {}).get(kind, ())


def _pairs(
    old: Body, new: Body, service: str, kind: str
) -> Iterator[tuple[Path, Body | None, Body | None]]:
    """Objects of a list that differ, by their path, as they were and are."""
    lists = [each.get(service, {}).get(kind) for each in (old, new)]
    if any(each is None for each in lists):
        return
    before, now = ({_id(body): body for body in bodies} for bodies in lists)
    for identity in dict.fromkeys((*before, *now)):
        pair = before.get(identity), now.get(identity)
        if pair[0] != pair[1]:
            yield (service, kind, identity), *pair


def _kept(
    old: Body, new: Body, service: str, kind: str
) -> Iterator[tuple[Path, Body, Body]]:
    """Those of :func:`_pairs` that are in both documents."""
    for path, before, now in _pairs(old, new, service, kind):
        if before is not None and now is not None:
            yield path, before, now


def _came_or_went(
    kind: str, name: str, put: Put, hosts: Iterable[str] = (), is_daily: bool = False
) -> Change:
    text = "is new" if put.value is None else "is gone"
    return Change(kind, name, text, (put,), frozenset(hosts), is_daily)


def _values(before: Any, now: Any, path: Path) -> Iterator[tuple[str, Put]]:
    """Differences of mappings and sets of names, each with its way back."""
    if isinstance(before, frozenset):
        for name in sorted(before ^ now):
            sign = "-" if name in before else "+"
            yield f"{sign} {name}", Put(path, name, name in before)
    elif isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from _values(before.get(key), now.get(key), (*path, key))
    elif before is None or now is None:
        sign, value = ("+", now) if before is None else ("-", before)
        if before != now:
            yield f"{sign} {path[-1]}={value}", Put(path, before)
    elif before != now:
        yield f"{path[-1]}: {before} -> {now}", Put(path, before)


def _sets(before: Body, now: Body, key: str, path: Path) -> Iterator[tuple[str, Put]]:
    """Differences of the names at a key."""
    names, names_now = (frozenset(each.get(key, ())) for each in (before, now))
    return _values(names, names_now, (*path, key))


def _names(old: Body, new: Body) -> Iterator[Change]:
    """Names that Placement knows: a flavor with another one is rejected."""
    before, now = old["placement"], new["placement"]
    for key, kind in ("traits", "trait"), ("resource_classes", "resource class"):
        for _, put in _sets(before, now, key, ("placement",)):
            text = "is gone" if put.was_there else "is new"
            yield Change(kind, put.value, text, (put,))


# Hosts: providers and services.


def _providers(old: Body, new: Body) -> Iterator[Change]:
    both = old, new
    nodes = {
        e["id"]: e["service"]["host"] for e in _all(both, "compute", "hypervisors")
    }
    names = {e["uuid"]: e["name"] for e in _all(both, "compute", "aggregates")}
    switched = _switched(old, new)
    moved = {
        (path[-1], put.value, put.was_there)
        for path, before, now in _kept(old, new, "compute", "aggregates")
        for _, put in _sets(before, now, "hosts", ())
    }
    for path, before, now in _pairs(old, new, "placement", "providers"):
        one: Body = now or before or {}
        kind = "host" if path[-1] in nodes else "provider"
        name, host = str(one["name"]), nodes.get(one["root"], "")
        hosts = frozenset(filter(None, [host]))
        if before is None or now is None:
            yield _came_or_went(kind, name, Put(path, before), hosts)
            continue
        of = functools.partial(Change, kind, name, hosts=hosts)
        for text, put in _sets(before, now, "traits", path):
            if put.value == DISABLED and host in switched:
                yield Change("host", host, switched[host], (put,), hosts)
            else:
                yield of(text, (put,))
        for text, put in _sets(before, now, "aggregates", path):
            sign, aggregate = text[0], names.get(put.value, put.value)
            if (put.value, host, put.was_there) in moved:
                yield Change("aggregate", aggregate, f"{sign} {host}", (put,), hosts)
            else:
                yield of(f"{sign} {aggregate} in Placement", (put,))
        yield from _inventories(of, before, now, path)


def _inventories(
    of: Callable[..., Change], before: Body, now: Body, path: Path
) -> Iterator[Change]:
    key = "inventories"
    for _, put in _values(before[key], now[key], (*path, key)):
        name, *fields = put.path[len(path) + 1 :]
        shown = _CLASSES.get(name, name)
        text = f"{'+' if put.value is None else '-'} {shown}"
        for field in fields:
            word = field.replace("allocation_", "").replace("_", " ")
            text = f"{word} {shown} {put.value} -> {now[key][name].get(field)}"
        yield of(text, (put,), is_daily=fields == ["used"])


def _switched(old: Body, new: Body) -> Mapping[str, str]:
    """How nova-compute was enabled, disabled or given another reason, by host."""
    texts: dict[str, str] = {}
    for _, before, now in _kept(old, new, "compute", "hypervisors"):
        if _status(before) != _status(now):
            is_same = before["status"] == now["status"]
            start = f"{_status(before)} -> " if is_same else ""
            texts[now["service"]["host"]] = start + _status(now)
    return texts


def _status(node: Body) -> str:
    reason = node["service"].get("disabled_reason")
    return str(node["status"]) + (f' "{reason}"' if reason else "")


def _services(old: Body, new: Body) -> Iterator[Change]:
    switched = _switched(old, new)
    for path, before, now in _kept(old, new, "compute", "hypervisors"):
        host = now["service"]["host"]
        of = functools.partial(Change, "host", host, hosts=frozenset({host}))
        if before["state"] != now["state"]:
            put = Put((*path, "state"), before["state"])
            yield of(f"nova-compute is {now['state']}", (put,))
        if host in switched:
            puts = (Put((*path, key), before[key]) for key in ("status", "service"))
            yield of(switched[host], tuple(puts))


# Aggregates, flavors, images and groups.


def _of_flavor(body: Body) -> Body:
    own = ("vcpus", "ram", "disk", "swap", _EPHEMERAL, "os-flavor-access:is_public")
    specs = {"extra_specs": body.get("extra_specs") or {}}
    return {**{key: body.get(key) for key in own}, **specs}


#: Service and list of each kind, and what is compared of an object.
_KINDS: Mapping[str, tuple[str, str, Callable[[Body], Body]]] = {
    "aggregate": (
        *("compute", "aggregates"),
        lambda body: {
            **{key: body[key] for key in ("name", "metadata")},
            "hosts": frozenset(body["hosts"]),
        },
    ),
    "flavor": ("compute", "flavors", _of_flavor),
    "image": (
        *("image", "images"),
        lambda body: {k: v for k, v in body.items() if k not in _OF_GLANCE},
    ),
    "server group": (
        *("compute", "server_groups"),
        lambda body: {"policy": body["policy"], "rules": body.get("rules") or {}},
    ),
}


def _objects(old: Body, new: Body, kind: str) -> Iterator[Change]:
    """Changes of objects that have values by key."""
    service, key, own = _KINDS[kind]
    for path, before, now in _pairs(old, new, service, key):
        one: Body = now or before or {}
        name = str(one.get("name") or path[-1])
        members = frozenset(one["hosts"] if kind == "aggregate" else ())
        if before is None or now is None:
            yield _came_or_went(kind, name, Put(path, before), members)
            continue
        for text, put in _values(own(before), own(now), path):
            is_member = put.was_there is not None
            hosts = frozenset({put.value}) if is_member else members
            yield Change(kind, name, text, (put,), hosts)


def _projects(old: Body, new: Body) -> Iterator[Change]:
    """Projects that may use a private flavor, or a shared image."""
    names = {e["id"]: e["name"] for e in _all((old, new), "identity", "projects")}
    for kind, part, key, project in (
        ("flavor", "os-flavor-access", "flavor_access", "tenant_id"),
        ("image", "members", "members", "member_id"),
    ):
        service, objects, _ = _KINDS[kind]
        for body in _all([new], service, objects):
            quoted = urllib.parse.quote(body["id"], safe="")
            path = ("answers", f"{service} /{objects}/{quoted}/{part}")
            answers = [each["answers"].get(path[1]) for each in (old, new)]
            if None in answers:
                continue
            before, now = (
                frozenset(
                    f"project {names.get(e[project], e[project])}"
                    + (f" ({e['status']})" if "status" in e else "")
                    for e in each.get(key) or ()
                )
                for each in answers
            )
            for text, _ in _values(before, now, ()):
                name = str(body.get("name") or body["id"])
                yield Change(kind, name, text, (Put(path, answers[0]),))


# The workload.


_HOST = "OS-EXT-SRV-ATTR:host"


def _servers(old: Body, new: Body) -> Iterator[Change]:
    memberships: dict[str, tuple[Put, ...]] = {}
    for at, group, later in _kept(old, new, "compute", "server_groups"):
        for _, put in _sets(group, later, "members", at):
            memberships[put.value] = (*memberships.get(put.value, ()), put)
    for path, before, now in _pairs(old, new, "compute", "servers"):
        one: Body = now or before or {}
        puts = (Put(path, before), *memberships.get(path[-1], ()))
        left, on = (each and each.get(_HOST) for each in (before, now))
        text = ""
        if before is None or now is None:
            text = "is new" if before is None else "is gone"
        elif left != on:
            text = f"{left or 'no host'} -> {on or 'no host'}"
        elif before["status"] != now["status"]:
            text = f"{before['status']} -> {now['status']}"
        if text:
            hosts = frozenset(filter(None, [left, on]))
            yield Change("server", str(one["name"]), text, puts, hosts, is_daily=True)


# What the changes come to.


@dataclasses.dataclass(frozen=True)
class FlavorHosts:
    """How many hosts a flavor had and has.

    :ivar flavor: its name; empty for all flavors with a changed image
    """

    flavor: str
    before: int
    now: int


@dataclasses.dataclass(frozen=True)
class Effect:
    """A change with the flavors whose hosts it has a part in, the worst first."""

    change: Change
    flavors: tuple[FlavorHosts, ...]

    @property
    def takes_hosts(self) -> bool:
        """Whether a flavor has fewer hosts than before."""
        return any(each.now < each.before for each in self.flavors)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two moments of a cloud.

    :ivar untried: number of changes whose effect was not tried
    :ivar unread: lists that one of the snapshots lacks, which are not compared
    :ivar is_other_cloud: they have no provider in common
    """

    before: datetime.datetime
    now: datetime.datetime
    effects: tuple[Effect, ...]
    untried: int = 0
    unread: tuple[str, ...] = ()
    is_other_cloud: bool = False

    @functools.cached_property
    def lasting(self) -> tuple[Effect, ...]:
        """Changes that stay; those that take hosts come first."""
        found = [each for each in self.effects if not each.change.is_daily]
        return tuple(sorted(found, key=lambda each: not each.takes_hosts))

    @functools.cached_property
    def daily(self) -> tuple[Effect, ...]:
        """Changes of the workload."""
        return tuple(each for each in self.effects if each.change.is_daily)


@dataclasses.dataclass(frozen=True)
class Since:
    """One request when a snapshot was saved, and later.

    :ivar time: of the snapshot, in UTC, as ``later`` is
    :ivar before: names of the hosts that could take it, like ``now``
    :ivar total: number of all hosts now
    :ivar causes: changes that decide, each with the hosts that it took or gave
    """

    time: datetime.datetime
    later: datetime.datetime
    before: frozenset[str]
    now: frozenset[str]
    total: int
    causes: tuple[tuple[Change, frozenset[str]], ...]
