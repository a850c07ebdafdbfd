"""What changed between two saved clouds, in an operator's words."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    :ivar is_daily: it comes and goes by itself, as servers and their use do
    """

    kind: str
    name: str
    text: str
    puts: tuple[Put, ...] = ()
    hosts: frozenset[str] = frozenset()
    is_daily: bool = False


def reverted(document: Body, changes: Iterable[Change]) -> dict[str, Any]:
    """The later document with some changes put back; what they touch is copied."""
    found: dict[str, Any] = dict(document)
    for put in (put for change in changes for put in change.puts):
        place: Any = found
        for key in put.path[:-1]:
            child = copy.copy(_child(place, key))
            _put(place, key, {} if child is None else child)
            place = _child(place, key)
        last = put.path[-1]
        if put.was_there is None:
            _put(place, last, put.value)
        else:
            others = [each for each in place[last] if each != put.value]
            place[last] = [*others, put.value] if put.was_there else others
    return found


def _child(place: Any, key: str) -> Any:
    if isinstance(place, list):
        return next((each for each in place if _id(each) == key), None)
    return place.get(key)


def _put(place: Any, key: str, value: Any) -> None:
    """Set the value of a key, or the object of an ID in a list; None removes it."""
    if isinstance(place, dict):
        place[key] = value
        if value is None:
            del place[key]
        return
    numbers = [n for n, each in enumerate(place) if _id(each) == key]
    if numbers:
        place[numbers[0] : numbers[0] + 1] = [] if value is None else [value]
    elif value is not None:
        place.append(value)


def _id(body: Body) -> str:
    """What an object of a list is told by."""
    return str(body.get("uuid") or body.get("id") or body.get("zoneName"))


def difference(old: Body, new: Body) -> tuple[Change, ...]:
    """All changes, by kind and name. What one of them lacks is not compared."""
    parts = (
        *_providers(old, new),
        *_services(old, new),
        *_aggregates(old, new),
        *_flavors(old, new),
        *_images(old, new),
        *_groups(old, new),
        *_servers(old, new),
        *_names(old, new),
    )
    folded = _folded(parts)
    return tuple(sorted(folded, key=lambda each: (each.is_daily, each.kind, each.name)))


_COPY = " in Placement"


def _folded(changes: Sequence[Change]) -> Iterator[Change]:
    """The changes; one for a host that left an aggregate in Nova and Placement."""
    copies = {
        (each.text[0], each.text[2:].removesuffix(_COPY), each.hosts): each
        for each in changes
        if each.text.endswith(_COPY)
    }
    mirrored = set()
    for each in changes:
        copy_of = copies.get((each.text[0], each.name, each.hosts))
        if copy_of is not None and each.kind == "aggregate":
            mirrored.add(copy_of)
            each = dataclasses.replace(each, puts=(*each.puts, *copy_of.puts))
        if each not in copies.values():
            yield each
    yield from (each for each in copies.values() if each not in mirrored)


def not_compared(old: Body, new: Body) -> tuple[str, ...]:
    """Lists that one of the documents lacks, but for services that the cloud lacks."""
    then, now = old["missing"], new["missing"]
    return tuple(
        sorted(
            name
            for name in then.keys() | now.keys()
            # Single objects have longer paths.
            if name.count("/") <= 2
            and {each.get(name, {}).get("error") for each in (then, now)}
            != {"NotInCatalog"}
        )
    )


def _pairs(
    old: Body, new: Body, service: str, kind: str
) -> Iterator[tuple[str, Body | None, Body | None]]:
    """Objects of a list by ID, as they were and are."""
    lists = [each.get(service, {}).get(kind) for each in (old, new)]
    if any(each is None for each in lists):
        return
    then, now = ({_id(body): body for body in bodies} for bodies in lists)
    for identity in dict.fromkeys((*then, *now)):
        yield identity, then.get(identity), now.get(identity)


def _came_or_went(
    kind: str,
    name: str,
    path: Path,
    then: Any,
    hosts: Iterable[str] = (),
    is_daily: bool = False,
) -> Change:
    text = "is new" if then is None else "is gone"
    return Change(kind, name, text, (Put(path, then),), frozenset(hosts), is_daily)


def _members(
    then: Iterable[str], now: Iterable[str], path: Path
) -> Iterator[tuple[str, str, Put]]:
    """Names that a list lost (``-``) and got (``+``), each with its way back."""
    before, after = set(then), set(now)
    for name in sorted(before ^ after):
        yield "-" if name in before else "+", name, Put(path, name, name in before)


def _keys(then: Body, now: Body, path: Path) -> Iterator[tuple[str, Put]]:
    """Differences of two mappings, each with its way back."""
    for key in sorted(then.keys() | now.keys()):
        old, new = then.get(key), now.get(key)
        if old == new:
            continue
        text = f"{key}: {old} -> {new}"
        if old is None or new is None:
            text = f"{'+' if old is None else '-'} {key}={new if old is None else old}"
        yield text, Put((*path, key), old)


# Names that Placement knows: a flavor with another one is rejected.


def _names(old: Body, new: Body) -> Iterator[Change]:
    for key, kind in ("traits", "trait"), ("resource_classes", "resource class"):
        path, names = ("placement", key), [d["placement"][key] for d in (old, new)]
        for sign, each, put in _members(names[0], names[1], path):
            yield Change(kind, each, "is new" if sign == "+" else "is gone", (put,))


# Hosts: providers and services.


def _providers(old: Body, new: Body) -> Iterator[Change]:
    nodes = {
        each["id"]: each["service"]["host"]
        for document in (old, new)
        for each in document.get("compute", {}).get("hypervisors", ())
    }
    switched = _switched(old, new)
    aggregates = {
        each["uuid"]: each["name"]
        for document in (old, new)
        for each in document.get("compute", {}).get("aggregates", ())
    }
    for uuid, then, now in _pairs(old, new, "placement", "providers"):
        one: Body = now or then or {}
        kind = "host" if uuid in nodes else "provider"
        name, host = str(one["name"]), nodes.get(str(one["root"]))
        hosts, path = frozenset(filter(None, [host])), ("placement", "providers", uuid)
        if then is None or now is None:
            yield _came_or_went(kind, name, path, then, hosts)
            continue
        of = functools.partial(Change, kind, name, hosts=hosts)
        at = (*path, "traits")
        for sign, each, put in _members(then["traits"], now["traits"], at):
            if each == DISABLED and host in switched:
                yield of(switched[host].text, (put, *switched[host].puts))
            else:
                yield of(f"{sign} {each}", (put,))
        at = (*path, "aggregates")
        for sign, each, put in _members(then["aggregates"], now["aggregates"], at):
            yield of(f"{sign} {aggregates.get(each, each)}{_COPY}", (put,))
        yield from _inventories(of, then["inventories"], now["inventories"], path)


def _inventories(
    of: Callable[..., Change], then: Body, now: Body, path: Path
) -> Iterator[Change]:
    for name in sorted(then.keys() | now.keys()):
        shown, at = _CLASSES.get(name, name), (*path, "inventories", name)
        if name not in then or name not in now:
            sign = "-" if name in then else "+"
            yield of(f"{sign} {shown}", (Put(at, then.get(name)),))
            continue
        for key, old in then[name].items():
            new = now[name][key]
            if old != new:
                word = key.replace("allocation_", "").replace("_", " ")
                text = f"{word} {shown} {old} -> {new}"
                yield of(text, (Put((*at, key), old),), is_daily=key == "used")


def _switched(old: Body, new: Body) -> Mapping[str | None, Change]:
    """Services that were enabled or disabled, by host."""
    found: dict[str | None, Change] = {}
    services = {
        each["host"]: each
        for each in new.get("compute", {}).get("services", ())
        if each["binary"] == "nova-compute"
    }
    for identity, then, now in _pairs(old, new, "compute", "hypervisors"):
        if then is None or now is None or then["status"] == now["status"]:
            continue
        host = str(now["service"]["host"])
        puts = [Put(("compute", "hypervisors", identity, "status"), then["status"])]
        service = services.get(host, {})
        if service:
            path = ("compute", "services", service["id"], "status")
            puts.append(Put(path, then["status"]))
        if host in found:
            # A service of Ironic has several nodes.
            puts += found[host].puts
        reason = service.get("disabled_reason")
        text = str(now["status"]) + (f' "{reason}"' if reason else "")
        found[host] = Change("host", host, text, tuple(puts), frozenset({host}))
    return found


def _services(old: Body, new: Body) -> Iterator[Change]:
    marked = {
        uuid
        for uuid, then, now in _pairs(old, new, "placement", "providers")
        if then and now and (DISABLED in then["traits"]) != (DISABLED in now["traits"])
    }
    nodes = new.get("compute", {}).get("hypervisors", ())
    for host, change in _switched(old, new).items():
        own = {each["id"] for each in nodes if each["service"]["host"] == host}
        if not own & marked:
            # Placement was not told, so that no trait has changed with it.
            yield change
    for identity, then, now in _pairs(old, new, "compute", "hypervisors"):
        if then is None or now is None or then["state"] == now["state"]:
            continue
        host = str(now["service"]["host"])
        put = Put(("compute", "hypervisors", identity, "state"), then["state"])
        text = f"nova-compute is {now['state']}"
        yield Change("host", host, text, (put,), frozenset({host}))


# Aggregates, flavors, images and groups.


def _aggregates(old: Body, new: Body) -> Iterator[Change]:
    for uuid, then, now in _pairs(old, new, "compute", "aggregates"):
        one: Body = now or then or {}
        name, path = str(one["name"]), ("compute", "aggregates", uuid)
        members = frozenset(one["hosts"])
        if then is None or now is None:
            yield _came_or_went("aggregate", name, path, then, members)
            continue
        of = functools.partial(Change, "aggregate", name)
        if then["name"] != name:
            text = f"name: {then['name']} -> {name}"
            yield of(text, (Put((*path, "name"), then["name"]),), members)
        for sign, each, put in _members(then["hosts"], now["hosts"], (*path, "hosts")):
            yield of(f"{sign} {each}", (put,), frozenset({each}))
        at = (*path, "metadata")
        for text, put in _keys(then["metadata"], now["metadata"], at):
            yield of(text, (put,), members)


def _simple(
    old: Body,
    new: Body,
    where: tuple[str, str],
    kind: str,
    parts: Callable[[Body], Mapping[Path, Body]],
) -> Iterator[Change]:
    """Changes of objects that have values by key.

    :param parts: mappings of an object, by their place in it
    """
    for identity, then, now in _pairs(old, new, *where):
        one: Body = now or then or {}
        name, path = str(one.get("name") or identity), (*where, identity)
        if then is None or now is None:
            yield _came_or_went(kind, name, path, then)
            continue
        after = parts(now)
        for place, before in parts(then).items():
            for text, put in _keys(before, after[place], (*path, *place)):
                yield Change(kind, name, text, (put,))


def _flavors(old: Body, new: Body) -> Iterator[Change]:
    yield from _simple(old, new, ("compute", "flavors"), "flavor", _of_flavor)
    names = {f["id"]: f["name"] for f in new.get("compute", {}).get("flavors", ())}
    projects = {e["id"]: e["name"] for d in (old, new) for e in _projects(d)}
    for identity, name in names.items():
        path = f"compute /flavors/{identity}/os-flavor-access"
        if path not in old["answers"].keys() & new["answers"].keys():
            continue
        then, now = (
            {each["tenant_id"] for each in document["answers"][path]["flavor_access"]}
            for document in (old, new)
        )
        for each in sorted(then ^ now):
            sign = "-" if each in then else "+"
            put = Put(("answers", path), old["answers"][path])
            project = projects.get(each, each)
            yield Change("flavor", name, f"{sign} project {project}", (put,))


def _projects(document: Body) -> Iterable[Body]:
    found: Iterable[Body] = document.get("identity", {}).get("projects", ())
    return found


def _of_flavor(body: Body) -> Mapping[Path, Body]:
    own = ("vcpus", "ram", "disk", "swap", _EPHEMERAL, "os-flavor-access:is_public")
    return {
        (): {key: body.get(key) for key in own},
        ("extra_specs",): body.get("extra_specs") or {},
    }


def _images(old: Body, new: Body) -> Iterator[Change]:
    def parts(body: Body) -> Mapping[Path, Body]:
        return {(): {k: v for k, v in body.items() if k not in _OF_GLANCE}}

    return _simple(old, new, ("image", "images"), "image", parts)


def _groups(old: Body, new: Body) -> Iterator[Change]:
    def parts(body: Body) -> Mapping[Path, Body]:
        return {(): {"policy": body["policy"]}, ("rules",): body.get("rules") or {}}

    return _simple(old, new, ("compute", "server_groups"), "server group", parts)


# What comes and goes by itself.


_HOST = "OS-EXT-SRV-ATTR:host"


def _servers(old: Body, new: Body) -> Iterator[Change]:
    for identity, then, now in _pairs(old, new, "compute", "servers"):
        one: Body = now or then or {}
        name, path = str(one["name"]), ("compute", "servers", identity)
        before, after = (each and each.get(_HOST) for each in (then, now))
        hosts = frozenset(filter(None, [before, after]))
        if then is None or now is None:
            yield _came_or_went("server", name, path, then, hosts, is_daily=True)
            continue
        of = functools.partial(Change, "server", name, puts=(Put(path, then),))
        if before != after:
            text = f"{before or 'no host'} -> {after or 'no host'}"
            yield of(text=text, hosts=hosts, is_daily=True)
        elif then["status"] != now["status"]:
            text = f"{then['status']} -> {now['status']}"
            yield of(text=text, hosts=hosts, is_daily=True)


# What the changes come to.


@dataclasses.dataclass(frozen=True)
class FlavorHosts:
    """How many hosts a flavor had and has.

    :ivar flavor: its name; empty for all flavors with a changed image
    """

    flavor: str
    then: int
    now: int


@dataclasses.dataclass(frozen=True)
class Effect:
    """A change with the flavors whose hosts it has a part in, the worst first."""

    change: Change
    flavors: tuple[FlavorHosts, ...]

    @property
    def takes_hosts(self) -> bool:
        """Whether a flavor has fewer hosts than before."""
        return any(each.now < each.then for each in self.flavors)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Two moments of a cloud.

    :ivar untried: number of changes whose effect was not tried
    :ivar unread: lists that one of the snapshots lacks, which are not compared
    :ivar is_other_cloud: they have no provider in common
    """

    then: datetime.datetime
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
        """Changes that come and go by themselves."""
        return tuple(each for each in self.effects if each.change.is_daily)


@dataclasses.dataclass(frozen=True)
class Since:
    """One request when a snapshot was saved, and later.

    :ivar time: of the snapshot, in UTC, as ``later`` is
    :ivar then: names of the hosts that could take it, like ``now``
    :ivar total: number of all hosts now
    :ivar causes: changes that decide, each with the hosts that it took or gave
    """

    time: datetime.datetime
    later: datetime.datetime
    then: frozenset[str]
    now: frozenset[str]
    total: int
    causes: tuple[tuple[Change, frozenset[str]], ...]
