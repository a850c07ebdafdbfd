"""What changed between two saved clouds, in an operator's words."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import functools
import json
import re
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from osc_traitsched.core.inventory.trait import DISABLED
from osc_traitsched.text import by_key

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
    """What was at one place, and what is there now.

    :ivar path: service, list, ID of the object, and keys
    :ivar before: None if nothing was there. For one item of a list: whether it was
    :ivar item: for one item of a list: the item
    """

    path: Path
    before: Any
    now: Any
    item: Any = None


@dataclasses.dataclass(frozen=True, eq=False)
class Change:
    """One change of one object.

    :ivar kind: ``host``, ``provider``, ``aggregate``, ``flavor``, ``image``,
        ``server group``, ``server``, ``trait``, ``resource class``, ``setting`` or, of
        one request only, ``record``: what Nova alone records of hosts
    :ivar text: what changed, such as ``+ trait:CUSTOM_SSD=required``
    :ivar puts: what makes it in the earlier document
    :ivar hosts: names of the hosts that it is about; empty for all
    :ivar is_daily: a change of the workload: of servers, or of their use of a host
    """

    kind: str
    name: str
    text: str
    puts: tuple[Put, ...] = ()
    hosts: frozenset[str] = frozenset()
    is_daily: bool = False


def holds(document: Body, change: Change) -> bool:
    """Whether a document has what a change makes."""
    return all(_holds(document, put) for put in change.puts)


def _holds(place: Any, put: Put) -> bool:
    for key in put.path:
        if isinstance(place, list):
            place = next((each for each in place if _id(each) == key), None)
        else:
            place = (place or {}).get(key)
    if put.item is not None:
        return (put.item in (place or ())) is bool(put.now)
    if put.before is None and isinstance(put.now, dict):
        # What is in it may have changed since it came.
        return place is not None
    return bool(place == put.now)


def applied(document: Body, changes: Iterable[Change]) -> dict[str, Any]:
    """The earlier document with some changes made; what they touch is copied.

    Nova's list of zones follows their aggregates and hosts.
    """
    puts = (put for change in changes for put in change.puts)
    made = dict(_with(document, [(put.path, put.item, put.now) for put in puts]))
    old, new = (_zones(each.get("compute", {})) for each in (document, made))
    if old != new and _ZONES in made["compute"]:
        known = {**old, **new}
        others = [e for e in made["compute"][_ZONES] if e["zoneName"] not in known]
        own = (
            {"zoneName": zone, "zoneState": {"available": is_available}, "hosts": None}
            for zone, is_available in new.items()
        )
        made["compute"] = {**made["compute"], _ZONES: [*others, *own]}
    return made


_ZONES = "availabilityZoneInfo"


def _zones(compute: Body) -> dict[str, bool]:
    """Zones of aggregates with a nova-compute, and whether one of these is enabled."""
    enabled = {
        node["service"]["host"]: node["status"] == "enabled"
        for node in compute.get("hypervisors", ())
    }
    found: dict[str, bool] = {}
    for aggregate in compute.get("aggregates", ()):
        zone = aggregate["metadata"].get("availability_zone")
        for host in enabled.keys() & aggregate["hosts"] if zone else ():
            found[zone] = found.get(zone, False) or enabled[host]
    return found


def _with(place: Any, puts: Iterable[tuple[Path, Any, Any]]) -> Any:
    """A copy of a value with others at paths in it, or with items of lists there."""
    deeper: dict[str, list[tuple[Path, Any, Any]]] = {}
    for path, item, value in puts:
        if path:
            deeper.setdefault(path[0], []).append((path[1:], item, value))
        elif item is None:
            place = value
        else:
            others = [each for each in place or () if each != item]
            place = [*others, item] if value else others
    if not deeper:
        return place
    is_list = isinstance(place, list)
    parts = {_id(each): each for each in place} if is_list else dict(place or {})
    for key, own in deeper.items():
        parts[key] = _with(parts.get(key), own)
        if parts[key] is None:
            del parts[key]
    return list(parts.values()) if is_list else parts


def _id(body: Body) -> str:
    """What an object of a list is told by."""
    return str(body.get("uuid") or body.get("id") or body.get("zoneName"))


#: Lists of objects that have names of their own in every cloud.
_NAMED = (
    *(("placement", "providers"), ("identity", "projects"), ("image", "images")),
    *(("compute", kind) for kind in ("aggregates", "flavors", "server_groups")),
    ("compute", "servers"),
)
_UUID = re.compile("[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")


def by_name(old: Body, new: Body) -> dict[str, Any]:
    """Another cloud's document, with the UUIDs that the old one has for its names.

    Names that several objects of a list have keep their UUIDs.
    """
    uuids: dict[str, str] = {}
    for service, kind in _NAMED:
        before, now = (_uuids(each, service, kind) for each in (old, new))
        uuids.update((now[n], before[n]) for n in before.keys() & now.keys())
    text = json.dumps(new)
    found: dict[str, Any] = json.loads(
        _UUID.sub(lambda match: uuids.get(match[0], match[0]), text)
    )
    # Short IDs of flavors say nothing; those of no other name must be nobody's.
    ids, answers = _uuids(old, "compute", "flavors"), found["answers"]
    flavors = found.get("compute", {}).get("flavors", ())
    access = [answers.pop(_sharing("flavor", each), None) for each in flavors]
    for flavor, projects in zip(flavors, access):
        flavor["id"] = ids.get(flavor["name"], f"other {flavor['id']}")
        answers.update({_sharing("flavor", flavor): projects} if projects else {})
    return found


def _uuids(document: Body, service: str, kind: str) -> dict[str, str]:
    bodies = [e for e in _all([document], service, kind) if e.get("name")]
    several = collections.Counter(each["name"] for each in bodies)
    return {e["name"]: _id(e) for e in bodies if several[e["name"]] == 1}


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
    rows = by_key(((each.kind, each.name, each.text), each) for each in changes)
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
    return Change(kind, name, _came(put.before), (put,), frozenset(hosts), is_daily)


def _came(before: Any) -> str:
    return "is new" if before is None else "is gone"


def _values(before: Any, now: Any, path: Path) -> Iterator[tuple[str, Put]]:
    """Differences of mappings and sets of names, each with its way back."""
    if isinstance(before, frozenset):
        for name in sorted(before ^ now):
            sign = "-" if name in before else "+"
            yield f"{sign} {name}", Put(path, name in before, name in now, name)
    elif isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(before.keys() | now.keys()):
            yield from _values(before.get(key), now.get(key), (*path, key))
    elif before is None or now is None:
        sign, value = ("+", now) if before is None else ("-", before)
        if before != now:
            yield f"{sign} {path[-1]}={value}", Put(path, before, now)
    elif before != now:
        yield f"{path[-1]}: {before} -> {now}", Put(path, before, now)


def _sets(before: Body, now: Body, key: str, path: Path) -> Iterator[tuple[str, Put]]:
    """Differences of the names at a key."""
    names, names_now = (frozenset(each.get(key, ())) for each in (before, now))
    return _values(names, names_now, (*path, key))


def _names(old: Body, new: Body) -> Iterator[Change]:
    """Names that Placement knows: a flavor with another one is rejected."""
    before, now = old["placement"], new["placement"]
    for key, kind in ("traits", "trait"), ("resource_classes", "resource class"):
        for _, put in _sets(before, now, key, ("placement",)):
            text = "is gone" if put.before else "is new"
            yield Change(kind, put.item, text, (put,))


# Hosts: providers and services.


def _providers(old: Body, new: Body) -> Iterator[Change]:
    both = old, new
    nodes = {
        e["id"]: e["service"]["host"] for e in _all(both, "compute", "hypervisors")
    }
    names = {e["uuid"]: e["name"] for e in _all(both, "compute", "aggregates")}
    switched = _switched(old, new)
    moved: dict[tuple[str, str, bool], str] = {}
    for path, before, now in _pairs(old, new, "compute", "aggregates"):
        for text, put in _sets(before or {}, now or {}, "hosts", ()):
            moved[path[-1], put.item, put.now] = (
                text if before and now else _came(before)
            )
    for path, before, now in _pairs(old, new, "placement", "providers"):
        one: Body = now or before or {}
        kind = "host" if path[-1] in nodes else "provider"
        name, host = str(one["name"]), nodes.get(one["root"], "")
        hosts = frozenset(filter(None, [host]))
        if before is None or now is None:
            yield _came_or_went(kind, name, Put(path, before, now), hosts)
            continue
        of = functools.partial(Change, kind, name, hosts=hosts)
        for text, put in _sets(before, now, "traits", path):
            if put.item == DISABLED and host in switched:
                yield Change("host", host, switched[host], (put,), hosts)
            else:
                yield of(text, (put,))
        for text, put in _sets(before, now, "aggregates", path):
            aggregate = names.get(put.item, put.item)
            of_nova = moved.get((put.item, host, put.now))
            if of_nova:
                yield Change("aggregate", aggregate, of_nova, (put,), hosts)
            else:
                yield of(f"{text[0]} {aggregate} in Placement", (put,))
        for text, put in _values(before["name"], now["name"], (*path, "name")):
            yield of(text, (put,))
        yield from _inventories(of, before, now, path)


def _inventories(
    of: Callable[..., Change], before: Body, now: Body, path: Path
) -> Iterator[Change]:
    key = "inventories"
    for _, put in _values(before[key], now[key], (*path, key)):
        name, *fields = put.path[len(path) + 1 :]
        shown = _CLASSES.get(name, name)
        text = f"{'+' if put.before is None else '-'} {shown}"
        for field in fields:
            word = field.replace("allocation_", "").replace("_", " ")
            text = f"{word} {shown} {put.before} -> {put.now}"
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
    providers = _pairs(old, new, "placement", "providers")
    others = {path[-1] for path, *pair in providers if None in pair}
    for path, before, now in _pairs(old, new, "compute", "hypervisors"):
        one: Body = now or before or {}
        host = str(one["service"]["host"])
        if before is None or now is None:
            change = _came_or_went(
                "host", str(one["hypervisor_hostname"]), Put(path, before, now), [host]
            )
            # With its provider it is one change.
            end = "" if path[-1] in others else " in Nova"
            yield dataclasses.replace(change, text=change.text + end)
            continue
        of = functools.partial(Change, "host", host, hosts=frozenset({host}))
        for text, put in _reports(before, now, path):
            yield of(text, (put,))
        if host in switched:
            keys = "status", "service"
            puts = (Put((*path, key), before[key], now[key]) for key in keys)
            yield of(switched[host], tuple(puts))


def _reports(before: Body, now: Body, path: Path) -> Iterator[tuple[str, Put]]:
    """What nova-compute says of itself and of its CPUs."""
    if before["state"] != now["state"]:
        put = Put((*path, "state"), before["state"], now["state"])
        yield f"nova-compute is {now['state']}", put
    for key in before.keys() & now.keys() & {"hypervisor_type", "hypervisor_version"}:
        yield from _values(before[key], now[key], (*path, key))
    cpu, cpu_now = (_cpu(each) for each in (before, now))
    if cpu and cpu_now:
        for text, put in _values(cpu, cpu_now, (*path, "cpu_info")):
            yield f"CPU {text}", put


def _cpu(node: Body) -> Body:
    info = node.get("cpu_info")
    if not isinstance(info, dict):
        return {}
    return {**info, "features": frozenset(info.get("features", ()))}


# Aggregates, flavors, images and groups.


def of_flavor(body: Body) -> Body:
    """What is compared of a flavor: sizes, whether it is public, and extra specs."""
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
    "flavor": ("compute", "flavors", of_flavor),
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
            yield _came_or_went(kind, name, Put(path, before, now), members)
            continue
        for text, put in _values(own(before), own(now), path):
            hosts = members if put.item is None else frozenset({put.item})
            yield Change(kind, name, text, (put,), hosts)


def _sharing(kind: str, body: Body) -> str:
    """The key of the answer that lists the projects of a flavor or an image."""
    (service, objects, _), identity = _KINDS[kind], body["id"]
    part = "os-flavor-access" if kind == "flavor" else "members"
    return f"{service} /{objects}/{urllib.parse.quote(identity, safe='')}/{part}"


def _projects(old: Body, new: Body) -> Iterator[Change]:
    """Projects that may use a private flavor, or a shared image."""
    names = {e["id"]: e["name"] for e in _all((old, new), "identity", "projects")}
    for kind, key, project in (
        ("flavor", "flavor_access", "tenant_id"),
        ("image", "members", "member_id"),
    ):
        for body in _all([new], *_KINDS[kind][:2]):
            path = ("answers", _sharing(kind, body))
            answers = [each["answers"].get(path[1]) for each in (old, new)]
            if None in answers:
                continue
            before, now = (
                {
                    f"project {names.get(e[project], e[project])}"
                    + (f" ({e['status']})" if "status" in e else ""): e
                    for e in each.get(key) or ()
                }
                for each in answers
            )
            name = str(body.get("name") or body["id"])
            for text in sorted(before.keys() ^ now.keys()):
                item = {**before, **now}[text]
                put = Put((*path, key), text in before, text in now, item)
                sign = "-" if put.before else "+"
                yield Change(kind, name, f"{sign} {text}", (put,))


# The workload.


_HOST = "OS-EXT-SRV-ATTR:host"
_SIZES = ("original_name", "vcpus", "ram", "disk", "ephemeral", "swap")


def _servers(old: Body, new: Body) -> Iterator[Change]:
    memberships: dict[str, tuple[Put, ...]] = {}
    for at, group, later in _kept(old, new, "compute", "server_groups"):
        for _, put in _sets(group, later, "members", at):
            memberships[put.item] = (*memberships.get(put.item, ()), put)
    for path, before, now in _pairs(old, new, "compute", "servers"):
        one: Body = now or before or {}
        puts = (Put(path, before, now), *memberships.get(path[-1], ()))
        left, on = (each and each.get(_HOST) for each in (before, now))
        texts = []
        if before is None or now is None:
            texts.append("is new" if before is None else "is gone")
        else:
            sizes = before.get("flavor", {}), now.get("flavor", {})
            states = before["status"], now["status"]
            if left != on:
                texts.append(f"{left or 'no host'} -> {on or 'no host'}")
            elif states[0] != states[1]:
                texts.append(f"{states[0]} -> {states[1]}")
            if any(sizes[0].get(key) != sizes[1].get(key) for key in _SIZES):
                names = (each.get("original_name") for each in sizes)
                texts.append("flavor {} -> {}".format(*names))
        if texts:
            hosts = frozenset(filter(None, [left, on]))
            name = str(one["name"])
            yield Change("server", name, "; ".join(texts), puts, hosts, is_daily=True)


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
    """A change, and the flavors whose hosts it alone takes or gives, worst first.

    :ivar since: when the first snapshot of a folder with it was saved; None for a file
    """

    change: Change
    flavors: tuple[FlavorHosts, ...]
    since: datetime.datetime | None = None

    @property
    def takes_hosts(self) -> bool:
        """Whether a flavor has fewer hosts than before."""
        return any(each.now < each.before for each in self.flavors)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two moments of a cloud.

    :ivar use: flavors whose hosts the use by servers takes or gives
    :ivar together: flavors whose hosts only several changes take or give
    :ivar untried: number of changes whose effect was not tried
    :ivar unread: lists that one of the snapshots lacks, which are not compared
    :ivar is_other_cloud: they have no provider in common
    """

    before: datetime.datetime
    now: datetime.datetime
    effects: tuple[Effect, ...]
    use: tuple[FlavorHosts, ...] = ()
    together: tuple[FlavorHosts, ...] = ()
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
    :ivar total: number of all hosts
    :ivar causes: changes that decide, each with the hosts that it took or gave
    :ivar searched: number of snapshots of a folder; 0 for a file
    :ivar asked: when the answer is of, if ``later`` is another snapshot
    :ivar answers: whether all servers found a host at both times
    :ivar is_known: False if only records of Nova's decide, and the snapshot has none
    """

    time: datetime.datetime
    later: datetime.datetime
    before: frozenset[str]
    now: frozenset[str]
    total: int
    causes: tuple[tuple[Change, frozenset[str]], ...]
    searched: int = 0
    asked: datetime.datetime | None = None
    answers: tuple[bool, bool] = (True, True)
    is_known: bool = True
