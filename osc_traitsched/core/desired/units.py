"""The cloud that files are compared with, and claims about its objects."""

from __future__ import annotations

import collections
import dataclasses
import fnmatch
import functools
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)

from osc_traitsched.core import errors
from osc_traitsched.core.change.cloud_model import CloudModel
from osc_traitsched.core.change.model import Object, ObjectKind, State, Value
from osc_traitsched.core.change.traits import present, traits_found
from osc_traitsched.core.desired.model import (
    GROUP,
    Claim,
    Claims,
    DesiredState,
    Entry,
    EntryError,
    Group,
    Inventory,
    Only,
    Part,
    Place,
    Source,
    Text,
    Unit,
    is_name,
)
from osc_traitsched.core.errors import BadQuestion, NothingMatches, TraitSchedError
from osc_traitsched.core.inventory.snapshot import (
    Aggregate,
    Holding,
    Selected,
    Selectors,
    Snapshot,
    select,
)
from osc_traitsched.core.inventory.trait import (
    REQUIRED,
    TENANT_KEY,
    Collation,
    key_of,
    projects_in,
    projects_of,
    required_by,
)
from osc_traitsched.core.inventory.trait import is_project_id as is_id
from osc_traitsched.core.inventory.trait import new_project_keys as own_keys
from osc_traitsched.core.inventory.trait import placement_projects as found_in
from osc_traitsched.core.nova.question import Body
from osc_traitsched.text import (
    Namesake,
    by_key,
    count,
    is_pattern,
    listed,
    near_names,
    quoted,
    visible,
)

# The cloud that files are compared with, and the hosts that lines name.


# The cloud that files are compared with.


@dataclasses.dataclass(frozen=True)
class FoundCloud(CloudModel):
    """All objects that entries can name.

    :ivar holdings: traits of all providers, by UUID
    :ivar images: images that lines may name
    :ivar projects: IDs by the names in entries, or why there is none
    :ivar collation: how Nova's database compares metadata
    :ivar reads_suffixes: AggregateMultiTenancyIsolation reads keys with a suffix, in
        every possible release
    """

    holdings: Mapping[str, Holding] = dataclasses.field(default_factory=dict)
    images: tuple[Body, ...] = ()
    projects: Mapping[str, str | BadQuestion] = dataclasses.field(default_factory=dict)
    collation: Collation = Collation.CASE_INSENSITIVE
    reads_suffixes: bool = True

    @functools.cached_property
    def holders(self) -> Mapping[str, frozenset[str]]:
        """UUIDs of providers, by trait."""
        found: dict[str, set[str]] = {name: set() for name in self.traits}
        for uuid, holding in self.holdings.items():
            keys = {**dict.fromkeys(holding.traits, ""), **self.changed.get(uuid, {})}
            for name, value in keys.items():
                if value is not None:
                    found.setdefault(name, set()).add(uuid)
        return {name: frozenset(uuids) for name, uuids in found.items()}

    def no_new_aggregate(self, name: str) -> BadQuestion | None:
        """Why a name (or a UUID or a pattern) is not created, if so."""
        meant = sorted(
            aggregate.name
            for aggregate in self.aggregates
            if aggregate.uuid == name or fnmatch.fnmatchcase(aggregate.name, name)
        )
        if meant:
            aggregates = listed(map(quoted, meant), "aggregate")
            are = "it is" if len(meant) == 1 else "they are"
            return BadQuestion(
                f"{quoted(name)} is no name; name {aggregates} exactly as {are} called"
            )
        if is_name(name) and not is_pattern(name):
            return None
        return BadQuestion(
            f"{quoted(name)} looks like a pattern, or Nova takes no such name; "
            "aggregates go by their names; make it first: openstack aggregate create"
        )

    def lacking(self, aggregate: Aggregate, trait: str) -> tuple[str, ...]:
        """Hosts of an aggregate without a trait, or not in it in Placement."""
        nodes = self.snapshot.nova.by_service_host
        having = self.holders.get(trait, frozenset())
        inside = having & self.inside.get(aggregate.uuid, frozenset())
        return tuple(
            host
            for host in sorted(aggregate.hosts)
            if not nodes.get(host) or any(n.uuid not in inside for n in nodes[host])
        )

    @functools.cached_property
    def flavor_of_id(self) -> Mapping[str, Body]:
        """Flavors by ID."""
        return {body["id"]: body for body in self.flavors}

    @functools.cached_property
    def image_of_id(self) -> Mapping[str, Body]:
        """Images that lines may name, by ID."""
        return {body["id"]: body for body in self.images}

    @functools.cached_property
    def _states(self) -> dict[Object, State]:
        return {}

    def state(self, target: Object) -> State:
        """An object's state; empty if it does not exist yet."""
        if target not in self._states:
            self._states[target] = STATES[target.kind](self, target.id)
        return self._states[target]

    def value(self, unit: Unit) -> Value:
        """The current value of a unit; None if missing."""
        target, key = unit
        return self.state(target).keys.get(key)

    @functools.cached_property
    def find_aggregate(self) -> Mapping[str, Aggregate]:
        """Nova's aggregates by name; names are unique."""
        return {aggregate.name: aggregate for aggregate in self.aggregates}


def _provider_traits(cloud: FoundCloud, uuid: str) -> State:
    holding = cloud.holdings.get(uuid)
    return traits_found(holding) if holding else State({})


def _metadata(cloud: FoundCloud, identity: str) -> State:
    aggregate = cloud.aggregate(identity)
    return State(aggregate.metadata, hosts=frozenset(aggregate.hosts))


def _hosts(cloud: FoundCloud, identity: str) -> State:
    hosts = _metadata(cloud, identity).hosts
    return State(present(hosts), hosts=hosts)


#: How the current state of each kind of object is read, by its ID.
STATES: Mapping[ObjectKind, Callable[[FoundCloud, str], State]] = {
    ObjectKind.TRAIT: lambda cloud, name: State(present({name} & cloud.traits)),
    ObjectKind.PROVIDER_TRAITS: _provider_traits,
    ObjectKind.PROVIDER_AGGREGATES: lambda cloud, uuid: State(
        present(each for each, members in cloud.inside.items() if uuid in members)
    ),
    ObjectKind.FLAVOR: lambda cloud, identity: State(
        cloud.flavor_of_id[identity].get("extra_specs") or {}
    ),
    ObjectKind.IMAGE: lambda cloud, identity: State(cloud.image_of_id[identity]),
    ObjectKind.AGGREGATE: _metadata,
    ObjectKind.NEW_AGGREGATE: _metadata,
    ObjectKind.AGGREGATE_HOSTS: _hosts,
}


# The hosts and providers that lines name.


_NONE = Selected(())
_MOST_NEAR = 3


class Finder:
    """Finds the hosts that lines name; lines without any become mistakes."""

    def __init__(
        self,
        snapshot: Snapshot,
        groups: Iterable[Group] = (),
        inventory: Inventory | None = None,
    ) -> None:
        self.mistakes: list[EntryError] = []
        self._snapshot = snapshot
        self._groups = {group.name.text: group for group in groups}
        self._inventory = inventory
        # Each text is looked up once, wherever it stands.
        self._find = functools.cache(self._selected)
        self._service_hosts = functools.cache(self._of_nova)
        self._patterns = functools.cache(self._written)
        self._is_known = functools.cache(self._exists)
        self._by_label = by_key(
            (host.name.partition(".")[0], host) for host in snapshot.hosts
        )
        computes = snapshot.nova.computes
        self._service_of = {node.uuid: node.service_host for node in computes}

    def providers(self, text: Text) -> Selected:
        """Providers of hosts: by name, UUID, glob, or group."""
        return self._find(text, is_host=True)

    def nested(self, text: Text) -> Selected:
        """Providers anywhere in a tree: by name, UUID, or glob over names."""
        return self._find(text, is_host=False)

    def service_hosts(
        self, text: Text, among: Set[str] = frozenset()
    ) -> frozenset[str]:
        """Hosts as Nova's aggregates name them; Nova may lack hosts of ``among``."""
        there = self.named(text, among)
        if there and not self._is_known(text):
            return there
        found, without = self._service_hosts(text)
        for name in without:
            reason = f"{quoted(name)} is not a compute node, and no aggregate has it"
            self._wrong(text, BadQuestion(reason))
        return found if there <= found else found | there

    def named(self, text: Text, among: Set[str]) -> frozenset[str]:
        """The hosts of ``among`` that a text names exactly or by a glob."""
        names, globs = self._patterns(text.text)
        matching = (h for glob in globs for h in among if fnmatch.fnmatchcase(h, glob))
        return names.intersection(among).union(matching)

    def _of_nova(self, text: Text) -> tuple[frozenset[str], list[str]]:
        selected, services = self.providers(text), self._service_of
        hosts = {services[p.uuid] for p in selected.providers if p.uuid in services}
        without = [p.name for p in selected.providers if p.uuid not in services]
        return frozenset(hosts.union(selected.without_provider)), without

    def _written(self, text: str) -> tuple[frozenset[str], list[str]]:
        names = [text]
        if text.startswith(GROUP):
            group = self._groups[text[len(GROUP) :]]
            is_names = group.source is Source.NAMES
            names = [each.text for each in group.values] if is_names else []
        globs = [name for name in names if is_pattern(name)]
        return frozenset(names), globs

    def _selected(self, text: Text, is_host: bool) -> Selected:
        try:
            return self._host(text) if is_host else self._nested(text.text)
        except EntryError as exc:
            self.mistakes.append(exc)
        except TraitSchedError as exc:
            self._wrong(text, exc)
        return _NONE

    def _wrong(self, text: Text, error: TraitSchedError) -> None:
        self.mistakes.append(EntryError(text.place, error))

    def _host(self, text: Text) -> Selected:
        if text.text.startswith(GROUP):
            return self._group(self._groups[text.text[len(GROUP) :]])
        return self._named(text.text)

    def _named(self, pattern: str) -> Selected:
        labelled = [] if self._is_whole(pattern) else self._by_label.get(pattern, [])
        if not labelled:
            return select(Selectors(hosts=(pattern,)), self._snapshot)
        if len(labelled) > 1:
            near = tuple(host.name for host in labelled[:_MOST_NEAR])
            raise errors.NothingMatches("host", pattern, near)
        return Selected(tuple(labelled))

    def _exists(self, text: Text) -> bool:
        try:
            self._host(text)
        except TraitSchedError:
            return False
        return True

    def _is_whole(self, name: str) -> bool:
        snapshot = self._snapshot
        return name in snapshot.by_name or name in snapshot.nova.by_service_host

    def _group(self, group: Group) -> Selected:
        if group.source is Source.NAMES:
            return _together(self.providers(each) for each in group.values)
        (value,) = group.values
        try:
            if group.source is Source.AGGREGATE:
                return select(Selectors(aggregates=(value.text,)), self._snapshot)
            if group.source is Source.ZONE:
                return select(Selectors(zones=(value.text,)), self._snapshot)
            return _together(map(self._named, self._in_inventory(group)))
        except TraitSchedError as exc:
            raise EntryError(value.place, exc) from exc

    def _in_inventory(self, group: Group) -> tuple[str, ...]:
        if self._inventory is None:
            raise BadQuestion("a group of an inventory needs --inventory FILE")
        variable = group.variable.text if group.variable else None
        return self._inventory.of_group(group.values[0].text, variable)

    def _nested(self, pattern: str) -> Selected:
        by_name = self._snapshot.by_name
        exact = by_name.get(pattern) or self._snapshot.by_uuid.get(pattern.lower())
        if exact is not None or not is_pattern(pattern):
            return select(Selectors(providers=(pattern,)), self._snapshot)
        found = [p for name, p in by_name.items() if fnmatch.fnmatchcase(name, pattern)]
        if not found:
            raise errors.NothingMatches("provider", pattern, ())
        return Selected(tuple(sorted(found, key=lambda p: p.name)))


def _together(parts: Iterable[Selected]) -> Selected:
    parts = tuple(parts)
    providers = dict.fromkeys(p for each in parts for p in each.providers)
    without = dict.fromkeys(h for each in parts for h in each.without_provider)
    return Selected(tuple(providers), tuple(without))


# Claims about members, projects and requirements.


# Removals by ``only``, and their limit.


def leaving_nobody(only: Only, names_any: bool, hosts: Finder) -> Iterator[EntryError]:
    """Yield an ``only`` that removes all holders because a group is empty."""
    if not names_any and not hosts.mistakes:
        reason = (
            f"only of {visible(only.of.text)}: what is named has no host; to take it "
            "from all hosts, name them as absent"
        )
        yield EntryError(only.of.place, errors.BadQuestion(reason))


def takes_most(
    claims: Mapping[Unit, Claim], found: FoundCloud
) -> Iterator[errors.AnswerIsNo]:
    """Yield each ``only`` that would remove more than half of the holders."""
    rest: dict[tuple[str, str, Place], tuple[set[str], Collection[str]]] = {}
    for (target, key), claim in claims.items():
        if not claim.is_rest:
            continue
        if target.kind is ObjectKind.PROVIDER_TRAITS:
            noun, name, losing = "", key, {target.id}
            having: Collection[str] = found.holders[key]
        else:
            aggregate, name = found.find_aggregate[target.name], target.name
            noun, losing, having = "host", {key}, aggregate.hosts
            if target.kind is ObjectKind.AGGREGATE:
                # Several keys can name the same project.
                noun, having = "project", aggregate.project_ids
                losing = {*without(aggregate.metadata.get(key), claim.value)}
        rest.setdefault((noun, name, claim.place), (set(), having))[0].update(losing)
    for (noun, name, place), (losers, having) in rest.items():
        number, total = len(losers), len(having)
        taken = f"{visible(name)} from {number} of {total} that have it"
        if noun:
            taken = f"{number} of {count(total, noun)} from aggregate {quoted(name)}"
        if 2 * number > total:
            yield errors.AnswerIsNo(
                f"Refused: {visible(str(place))}: only would remove {taken}; "
                "--force overrides this"
            )


# Hosts that lines add to an aggregate, and remove from it.


def claim_members(
    claims: Claims,
    target: Object,
    inside: Set[str],
    entries: Sequence[Entry],
    only: Sequence[Only],
    hosts: Finder,
) -> Iterator[EntryError]:
    """Claim the hosts that an aggregate must have, and must not have.

    A removed host that is not inside needs no claim. Yields each ``only`` without a
    host.

    :param inside: its current hosts
    """
    lines = [
        (entry, hosts.service_hosts(entry.value, inside))
        for entry in entries
        if entry.part is Part.MEMBERS
    ]
    given = frozenset[str]().union(
        *(found for entry, found in lines if not entry.absent)
    )
    concerned = given | inside
    for entry, found in lines:
        for host in sorted(found & concerned):
            is_held = host in claims.held_hosts
            claims.add((target, host), Claim.of(entry), is_held)
    is_about_hosts = any(not entry.absent for entry, _ in lines)
    for each in only if is_about_hosts else ():
        yield from leaving_nobody(each, bool(given), hosts)
        for host in sorted(inside):
            is_held = host in claims.held_hosts
            claims.add_rest([(target, host)], each.of.place, is_held)


# Metadata keys that name an aggregate's projects to all of Nova.
#
# Two parts of Nova read them differently. The prefilter ``require_tenant_aggregate``
# (nova/scheduler/request_filter.py) reads every key with the prefix
# ``filter_tenant_id``, and compares its value as a whole.
# AggregateMultiTenancyIsolation
# (nova/scheduler/filters/aggregate_multitenancy_isolation.py) splits values at commas,
# and before release 30 reads no key with a suffix. So each project has its own key, and
# before 30 the key without a suffix lists them all.


#: Maximum length of a value in Nova (nova/api/validation/parameter_types.py).
_LONGEST = 255


def keys_of(
    metadata: Mapping[str, str],
    inside: Set[str],
    outside: Collection[str],
    reads_suffixes: bool,
) -> dict[str, str | None]:
    """Changed keys that name some projects, and do not name others.

    The key without a suffix is removed only with the last project: without it the
    filter before release 30 passes all projects.

    :param inside: projects that must be named
    :param outside: projects that must not be named
    :param reads_suffixes: the filter reads keys with a suffix, in every possible
        release
    """
    changed = _without(metadata, outside)
    missing = sorted(inside - projects_in(metadata))
    if not missing and changed.get(TENANT_KEY, "") is not None:
        return changed
    kept = {k: v for k, v in {**metadata, **changed}.items() if v is not None}
    before = found_in(kept)
    named = projects_of(kept.get(TENANT_KEY, ""))
    others = sorted(projects_in(kept), key=lambda each: (each not in inside, each))
    every = tuple(dict.fromkeys((*named, *missing, *others)))
    listed = named or every[:1] if reads_suffixes else tuple(_fitting(every))
    if listed != named:
        changed[TENANT_KEY] = kept[TENANT_KEY] = ",".join(listed)
    lacking = {*missing, *before} - found_in(kept)
    return {**changed, **dict(own_keys(sorted(lacking), {*metadata, *changed}))}


def _without(
    metadata: Mapping[str, str], outside: Collection[str]
) -> dict[str, str | None]:
    changed: dict[str, str | None] = {}
    for key, value in metadata.items():
        listed = projects_of(value) if key.startswith(TENANT_KEY) else ()
        left = [project for project in listed if project not in outside]
        if len(left) < len(listed):
            changed[key] = ",".join(left) or None
    return changed


def _fitting(projects: Iterable[str]) -> Iterator[str]:
    room = _LONGEST + 1
    for project in projects:
        room -= len(project) + 1
        if room < 0:
            return
        yield project


# Projects of an aggregate.


def claim_projects(
    claims: Claims,
    target: Object,
    metadata: Mapping[str, str],
    entries: Sequence[Entry],
    only: Sequence[Only],
    found: FoundCloud,
) -> Iterator[EntryError]:
    """Claim the keys that name projects; yield lines with missing projects."""
    entries = [entry for entry in entries if entry.part is Part.PROJECTS]
    ids = {}
    for entry in entries:
        known = found.projects.get(entry.value.text, entry.value.text)
        is_gone = isinstance(known, NothingMatches) and (
            entry.absent or is_id(entry.value.text)
        )
        if not isinstance(known, str) and not is_gone:
            yield EntryError(entry.value.place, known)
        elif not isinstance(known, str) and _takes_nothing(entry.value.text, metadata):
            claims.missing.append(EntryError(entry.value.place, known))
        # A project that Keystone no longer has keeps its written ID.
        ids[entry.value.text] = known if isinstance(known, str) else entry.value.text
    inside = {ids[w.value.text]: w.value.place for w in entries if not w.absent}
    # The name itself may be in the metadata, where Nova reads it as an ID.
    outside = {
        each: w.value.place
        for w in entries
        if w.absent
        for each in (ids[w.value.text], w.value.text)
    }
    rest = [each.of.place for each in only]
    others: frozenset[str] = frozenset()
    if rest and inside:
        others = projects_in(metadata) - inside.keys() - outside.keys()
        outside = {**dict.fromkeys(sorted(others), rest[0]), **outside}
    for key, value, place in _keys(metadata, inside, outside, found.reads_suffixes):
        gone = without(metadata.get(key), value)
        is_rest = bool(gone) and gone <= others
        claims.add((target, key), Claim(value, rest[0] if is_rest else place, is_rest))


def gone(
    claims: Mapping[Unit, Claim], found: FoundCloud
) -> Iterator[errors.AnswerIsNo]:
    """Yield projects that an aggregate would name but Keystone does not have.

    An undo file may name a deleted project by ID: without it the aggregate could be
    open to all projects.
    """
    said: dict[tuple[Object, str], errors.AnswerIsNo] = {}
    for (target, key), claim in claims.items():
        if (
            target.kind is ObjectKind.AGGREGATE
            and key.startswith(TENANT_KEY)
            and claim.value
        ):
            for project in projects_of(claim.value):
                # Several keys can name it.
                if isinstance(found.projects.get(project), NothingMatches):
                    error = errors.AnswerIsNo(
                        f"Refused: {visible(str(claim.place))}: Keystone has "
                        f"no project {project}, which aggregate {quoted(target.name)} "
                        "would name; --force overrides this"
                    )
                    said.setdefault((target, project), error)
    yield from said.values()


def _takes_nothing(project: str, metadata: Mapping[str, str]) -> bool:
    return not is_id(project) and project not in projects_in(metadata)


def without(before: str | None, after: str | None) -> frozenset[str]:
    """Projects that a key no longer names."""
    return frozenset(projects_of(before or "")) - frozenset(projects_of(after or ""))


def _keys(
    metadata: Mapping[str, str],
    inside: Mapping[str, Place],
    outside: Mapping[str, Place],
    reads_suffixes: bool,
) -> Iterator[tuple[str, str | None, Place]]:
    """With the line that requires each."""
    changed = keys_of(metadata, inside.keys(), outside.keys(), reads_suffixes)
    coming = sorted(inside.keys() - projects_in(metadata))
    for key, value in {**metadata, **changed}.items():
        if not key.startswith(TENANT_KEY):
            continue
        before, after = projects_of(metadata.get(key, "")), projects_of(value or "")
        if key not in changed:
            places = [inside[project] for project in after if project in inside]
        else:
            places = [inside[project] for project in coming if project in after]
            places += [outside[project] for project in before if project in outside]
            places += [inside[project] for project in coming]
        if places:
            yield key, value, places[0]


# Requirements of flavors and images, as keys.


FORBIDDEN = "forbidden"

_FLAVORS = (Part.FLAVOR_REQUIRES, Part.FLAVOR_FORBIDS)


def claim_requirements(
    claims: Claims, desired: DesiredState, found: FoundCloud
) -> Iterator[EntryError]:
    """Claim the keys of flavors and images; yield lines that match no object."""
    entries = desired.of_part(*_FLAVORS, Part.IMAGE_REQUIRES)
    # Images of one name are shown by ID.
    names = collections.Counter(body["name"] for body in found.images)
    for entry in sorted(entries, key=lambda each: each.absent):
        is_flavor = entry.part in _FLAVORS
        try:
            bodies = _named(
                entry, found.flavors if is_flavor else found.images, is_flavor
            )
        except errors.BadQuestion as exc:
            yield EntryError(entry.of.place, exc)
            continue
        for body in bodies:
            pairs = body.get("extra_specs") or {} if is_flavor else body
            kind = ObjectKind.FLAVOR if is_flavor else ObjectKind.IMAGE
            several = not is_flavor and names[body["name"]] > 1
            name = body["id"] if several else body["name"] or body["id"]
            target = Object(kind, body["id"], name)
            _key(claims, entry, target, pairs)


def _key(claims: Claims, entry: Entry, target: Object, pairs: Body) -> None:
    name, key = entry.value.text, key_of(entry.value.text)
    says = FORBIDDEN if entry.part is Part.FLAVOR_FORBIDS else REQUIRED
    now: Value = pairs.get(key)
    if entry.absent:
        # Removing a requirement leaves a prohibition, and the reverse.
        other = claims.units.get((target, key))
        if (now if other is None else other.value) == says:
            claims.add((target, key), Claim(None, entry.value.place))
        return
    # A numbered group that requires the trait lets the flavor in as well.
    in_group = says == REQUIRED and now is None and name in required_by(pairs_of(pairs))
    desired = None if in_group else says
    claims.add((target, key), Claim(desired, entry.value.place))


def pairs_of(body: Body) -> dict[str, str]:
    """The pairs of an object whose value is text."""
    return {key: value for key, value in body.items() if isinstance(value, str)}


def _named(entry: Entry, bodies: Iterable[Body], is_flavor: bool) -> list[Body]:
    """By name, ID or glob; raises NothingMatches or AmbiguousName."""
    name, bodies = entry.of.text, tuple(bodies)
    found = [body for body in bodies if body["id"] == name]
    found = found or [body for body in bodies if body["name"] == name]
    if len(found) > 1:
        namesakes = (Namesake(b["id"], b.get("owner") or "") for b in found)
        raise errors.AmbiguousName("image", name, namesakes)
    if not found and is_pattern(name):
        found = [b for b in bodies if fnmatch.fnmatchcase(b["name"] or "", name)]
    if not found:
        near = near_names(name, {body["name"] for body in bodies if body["name"]})
        raise errors.NothingMatches("flavor" if is_flavor else "image", name, near)
    return found
