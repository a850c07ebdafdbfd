"""A saved cloud that answers as the services would."""

from __future__ import annotations

import collections
import functools
import itertools
import re
import urllib.parse
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from osc_traitsched.cloud.saved.form import BY_PATH, Listed
from osc_traitsched.cloud.service import Cloud, Service
from osc_traitsched.core import errors
from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.trait import SHARING
from osc_traitsched.core.servers.state import ERROR

# Answers of Placement from saved providers.
#
# The rules are those of placement/objects/allocation_candidate.py and
# placement/objects/research_context.py, for the queries that nova-scheduler sends and
# that this project reads with.


Query = Mapping[str, Sequence[str]]

_CONFLICT = "Conflicting required and forbidden traits found in"
_GROUP = re.compile(r"(resources|required|member_of|in_tree)(.*)")


class SavedProvider(NamedTuple):
    """A provider with all that Placement knows of it.

    :ivar inventories: bodies of the API by class, each with its ``used``
    """

    uuid: str
    name: str
    generation: int
    root: str
    parent: str | None
    traits: frozenset[str]
    aggregates: frozenset[str]
    inventories: Mapping[str, Mapping[str, Any]]

    @property
    def listed(self) -> dict[str, Any]:
        """Its body in a list of providers."""
        return {
            "uuid": self.uuid,
            "name": self.name,
            "generation": self.generation,
            "root_provider_uuid": self.root,
            "parent_provider_uuid": self.parent,
        }

    @property
    def summary(self) -> dict[str, Any]:
        """Its summary in an answer with candidates."""
        return {
            "resources": {
                # Rounded down.
                name: {"capacity": int(_capacity(each)), "used": each["used"]}
                for name, each in self.inventories.items()
            },
            "traits": sorted(self.traits),
            "root_provider_uuid": self.root,
            "parent_provider_uuid": self.parent,
        }


class _Wanted(NamedTuple):
    """Names to have, any of each set, and names to have none of."""

    required: tuple[frozenset[str], ...]
    forbidden: frozenset[str]

    def match(self, names: frozenset[str]) -> bool:
        lacks = map(names.isdisjoint, self.required)
        return self.forbidden.isdisjoint(names) and not any(lacks)

    @property
    def conflicts(self) -> list[str]:
        """Sets of names of which all are forbidden, too."""
        sets = (each for each in self.required if each <= self.forbidden)
        return sorted(", ".join(sorted(each)) for each in sets)


def _traits(texts: Iterable[str]) -> _Wanted:
    return _wanted(name for text in texts for name in text.split(",") if name)


def _wanted(texts: Iterable[str]) -> _Wanted:
    """From names, ``in:`` and several, and either with ``!``."""
    required, forbidden = [], frozenset[str]()
    for text in texts:
        names = frozenset(text.lstrip("!").removeprefix("in:").split(","))
        if text.startswith("!"):
            forbidden |= names
        else:
            required.append(names)
    return _Wanted(tuple(required), forbidden)


class _Group(NamedTuple):
    """One request group of a query for candidates."""

    suffix: str
    amounts: Mapping[str, int]
    traits: _Wanted
    members: _Wanted
    tree: str | None


#: What one group takes: amounts by provider and class.
_Taken = Mapping[tuple[str, str], int]


class SavedPlacement:
    """Placement's lists and candidates.

    :param traits: all names that it knows, like ``classes``
    """

    def __init__(
        self,
        providers: Iterable[SavedProvider],
        traits: Collection[str],
        classes: Collection[str],
    ) -> None:
        self.providers = {each.uuid: each for each in providers}
        self.traits, self.classes = frozenset(traits), frozenset(classes)

    @functools.cached_property
    def _trees(self) -> Mapping[str, tuple[SavedProvider, ...]]:
        found: dict[str, list[SavedProvider]] = {}
        for each in self.providers.values():
            found.setdefault(each.root, []).append(each)
        return {root: tuple(trees) for root, trees in found.items()}

    @functools.cached_property
    def _sharers(self) -> Mapping[str, tuple[SavedProvider, ...]]:
        """Sharing providers of other trees that a tree can use, by its root."""
        sharing = [e for e in self.providers.values() if SHARING in e.traits]
        found: dict[str, list[SavedProvider]] = {}
        for sharer in sharing:
            roots = {
                each.root
                for each in self.providers.values()
                if each.aggregates & sharer.aggregates and each.root != sharer.root
            }
            for root in roots:
                found.setdefault(root, []).append(sharer)
        return {root: tuple(several) for root, several in found.items()}

    def listed(self, query: Query) -> list[SavedProvider]:
        """Providers that match ``GET /resource_providers``.

        :raises CloudBroke: for an unknown trait or class, with status 400
        """
        traits = _traits(query.get("required", ()))
        members = _wanted(query.get("member_of", ()))
        amounts = _amounts(query.get("resources", ()))
        self._check(traits, amounts)
        names, uuids = query.get("name"), query.get("uuid")
        tree = self.providers.get(query.get("in_tree", [""])[0])
        return [
            each
            for each in self.providers.values()
            if (names is None or each.name in names)
            and (uuids is None or each.uuid in uuids)
            and ("in_tree" not in query or (tree and tree.root == each.root))
            and traits.match(each.traits)
            and members.match(each.aggregates)
            and _gives_all(each, amounts)
        ]

    def candidates(self, query: Query) -> dict[str, Any]:
        """The answer to ``GET /allocation_candidates``, without a limit of its own.

        :raises CloudBroke: for what Placement rejects, with status 400
        """
        root_traits = _traits(query.get("root_required", ()))
        if root_traits.conflicts:
            raise _bad(f"{_CONFLICT} root_required: {', '.join(root_traits.conflicts)}")
        groups = _groups(query)
        for group in groups:
            self._check(group.traits, group.amounts)
        self._check(root_traits, {})
        subtrees = [each.split(",") for each in query.get("same_subtree", ())]
        isolate = query.get("group_policy", [""])[0] == "isolate"
        requests: dict[Any, dict[str, Any]] = {}
        roots: set[str] = set()
        for root, tree in self._trees.items():
            if not root_traits.match(self.providers[root].traits):
                continue
            for chosen in self._of_tree(root, tree, groups, isolate, subtrees):
                key, body, used = _request(chosen)
                requests.setdefault(key, body)
                roots.update(self.providers[uuid].root for uuid in used)
        shown = list(requests.values())
        if "limit" in query and len(shown) > int(query["limit"][0]):
            shown = shown[: int(query["limit"][0])]
            named = (each["allocations"] for each in shown)
            roots = {self.providers[uuid].root for each in named for uuid in each}
        return {
            "allocation_requests": shown,
            "provider_summaries": {
                each.uuid: each.summary for root in roots for each in self._trees[root]
            },
        }

    def _of_tree(
        self,
        root: str,
        tree: Sequence[SavedProvider],
        groups: Sequence[_Group],
        isolate: bool,
        subtrees: Sequence[Sequence[str]],
    ) -> Iterator[Sequence[tuple[str, _Taken]]]:
        """What each group takes, for each way to serve all groups from one tree."""
        near = (*tree, *self._sharers.get(root, ()))
        ways = [list(self._of_group(root, near, group)) for group in groups]
        for chosen in itertools.product(*ways):
            named = [(group.suffix, taken) for group, taken in zip(groups, chosen)]
            if len(named) == 1 or self._is_allowed(named, isolate, subtrees):
                yield named

    def _is_allowed(
        self,
        named: Sequence[tuple[str, _Taken]],
        isolate: bool,
        subtrees: Sequence[Sequence[str]],
    ) -> bool:
        """Whether groups go together: by policy, capacity and subtrees."""
        alone = [next(iter(taken))[0] for suffix, taken in named if suffix and taken]
        if isolate and len(alone) != len(set(alone)):
            return False
        # ``_exceeds_capacity``
        for (uuid, name), amount in _sum(taken for _, taken in named).items():
            own = self.providers[uuid].inventories[name]
            if amount > min(int(_capacity(own)) - own["used"], own["max_unit"]):
                return False
        # One provider of each set is above all others of the set.
        for suffixes in subtrees:
            uuids = {u for s, taken in named if s in suffixes for u, _ in taken}
            above = [set(self._with_ancestors(uuid)) for uuid in uuids]
            if not any(all(uuid in line for line in above) for uuid in uuids):
                return False
        return True

    def _of_group(
        self, root: str, near: Sequence[SavedProvider], group: _Group
    ) -> Iterator[_Taken]:
        """What the group can take from a tree, and from what is shared with it."""
        usable = [each for each in near if self._is_usable(each, root, group)]
        if group.suffix:
            for each in usable:
                if group.traits.match(each.traits) and _gives_all(each, group.amounts):
                    yield {(each.uuid, name): n for name, n in group.amounts.items()}
            return
        givers = [
            [each for each in usable if _gives(each, name, amount)]
            for name, amount in group.amounts.items()
        ]
        for chosen in itertools.product(*givers):
            traits = frozenset[str]().union(*(each.traits for each in chosen))
            if group.traits.match(traits):
                yield {
                    (each.uuid, name): amount
                    for each, (name, amount) in zip(chosen, group.amounts.items())
                }

    def _is_usable(self, each: SavedProvider, root: str, group: _Group) -> bool:
        if each.root != root:
            # A sharing provider must be in required aggregates itself.
            return group.tree is None and group.members.match(each.aggregates)
        if group.tree is not None:
            named = self.providers.get(group.tree)
            if named is None or named.root != root:
                return False
        return group.members.match(each.aggregates | self.providers[root].aggregates)

    def _with_ancestors(self, uuid: str | None) -> Iterator[str]:
        while uuid is not None:
            yield uuid
            uuid = self.providers[uuid].parent

    def _check(self, traits: _Wanted, amounts: Mapping[str, int]) -> None:
        unknown = sorted(traits.forbidden.union(*traits.required) - self.traits)
        if unknown:
            raise _bad(f"No such trait(s): {', '.join(unknown)}.")
        wrong = sorted(amounts.keys() - self.classes)
        if wrong:
            raise _bad(
                "Invalid resource class in resources parameter: No such resource class "
                f"{wrong[0]}."
            )


def _gives_all(each: SavedProvider, amounts: Mapping[str, int]) -> bool:
    return all(_gives(each, name, amount) for name, amount in amounts.items())


def _gives(each: SavedProvider, name: str, amount: int) -> bool:
    """Whether one group can get the amount (``_capacity_check_clause``)."""
    own = each.inventories.get(name)
    return (
        own is not None
        and own["min_unit"] <= amount <= own["max_unit"]
        and not amount % own["step_size"]
        and bool(own["used"] + amount <= _capacity(own))
    )


def _capacity(own: Mapping[str, Any]) -> float:
    capacity: float = (own["total"] - own["reserved"]) * own["allocation_ratio"]
    return capacity


def _groups(query: Query) -> list[_Group]:
    """The groups of a query.

    :raises CloudBroke: for a query that Placement rejects
    """
    parts: dict[str, dict[str, Sequence[str]]] = {}
    for key, texts in query.items():
        found = _GROUP.fullmatch(key)
        if found:
            parts.setdefault(found[2], {})[found[1]] = texts
    groups = [
        _Group(
            suffix,
            _amounts(part.get("resources", ())),
            _traits(part.get("required", ())),
            _wanted(part.get("member_of", ())),
            part.get("in_tree", [None])[0],
        )
        for suffix, part in sorted(parts.items())
    ]
    if not any(each.amounts for each in groups):
        raise _bad(
            "At least one request group (`resources` or `resources{$S}`) is required."
        )
    orphans = [e.suffix for e in groups if not e.amounts]
    if orphans:
        raise _bad(
            "All member_of, required and in_tree parameters must be associated "
            "with resources."
        )
    conflicts = sorted(
        f"required{each.suffix}: ({names})"
        for each in groups
        for names in each.traits.conflicts
    )
    if conflicts:
        raise _bad(f"{_CONFLICT} the following traits keys: {', '.join(conflicts)}")
    if "group_policy" not in query and sum(bool(e.suffix) for e in groups) > 1:
        raise _bad(
            'The "group_policy" parameter is required when specifying more than '
            'one "resources{N}" parameter.'
        )
    return groups


def _amounts(texts: Iterable[str]) -> dict[str, int]:
    pairs = (pair.split(":") for text in texts for pair in text.split(",") if pair)
    return {name: int(amount) for name, amount in pairs}


def _sum(several: Iterable[_Taken]) -> _Taken:
    sums = collections.Counter[tuple[str, str]]()
    for taken in several:
        sums.update(taken)
    return sums


def _request(
    chosen: Sequence[tuple[str, _Taken]],
) -> tuple[Any, dict[str, Any], frozenset[str]]:
    """The key, the body and the providers of an allocation request."""
    sums = _sum(taken for _, taken in chosen)
    resources: dict[str, dict[str, int]] = {}
    for (uuid, name), amount in sums.items():
        resources.setdefault(uuid, {})[name] = amount
    mappings = {suffix: sorted({u for u, _ in taken}) for suffix, taken in chosen}
    allocations = {uuid: {"resources": each} for uuid, each in resources.items()}
    key = (
        frozenset(sums.items()),
        tuple((suffix, *uuids) for suffix, uuids in mappings.items()),
    )
    body = {"allocations": allocations, "mappings": mappings}
    return key, body, frozenset(resources)


def _bad(reason: str) -> CloudBroke:
    return CloudBroke("placement", reason, 400)


# The services of a saved cloud.


_T = TypeVar("_T")

Body = Mapping[str, Any]


class SavedCloud(Cloud):
    """A cloud that answers from a saved document, and takes no writes.

    :param document: as :func:`collect.collect` returns it
    """

    def __init__(self, document: Body) -> None:
        self._document = document
        self._services: dict[str, Service] = {}
        self._found: dict[Callable[[Cloud], Any], Any] = {}

    def service(self, service_type: str) -> Service:
        """The saved service of that type."""
        if service_type not in self._services:
            kind = _Placement if service_type == "placement" else _Service
            self._services[service_type] = kind(service_type, self._document)
        return self._services[service_type]

    @property
    def own_project(self) -> str | None:
        """The project that the snapshot was saved with."""
        own: str | None = self._document["own_project"]
        return own

    @property
    def compute_maximum(self) -> str | None:
        """The highest microversion of the live compute API."""
        highest: str | None = self._document["compute_maximum"]
        return highest

    @property
    def requests(self) -> Mapping[str, Any]:
        """Nova's records of the requests of servers that failed, by UUID."""
        found: Mapping[str, Any] = self._document.get("requests", {})
        return found

    def once(self, read: Callable[[Cloud], _T]) -> _T:
        """What a function reads, read once."""
        if read not in self._found:
            self._found[read] = read(self)
        found: _T = self._found[read]
        return found


class _Service(Service):
    """A service that answers from lists of bodies."""

    def __init__(self, service_type: str, document: Body) -> None:
        self.service_type = service_type
        self._document = document
        self._lists: Mapping[str, Any] = document.get(service_type, {})
        self._by_id = functools.cache(self._index)

    def get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        microversion: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        path, _, text = path.partition("?")
        query: dict[str, list[str]] = urllib.parse.parse_qs(text, True)
        for key, value in (params or {}).items():
            query.setdefault(key, []).append(value)
        return self._answer(path, query)

    def _answer(self, path: str, query: Query) -> Any:
        answer = self._document["answers"].get(f"{self.service_type} {path}")
        if answer is not None:
            return answer
        self._check(path)
        listed = BY_PATH.get((self.service_type, path))
        if listed is not None:
            self._check(listed.of_one)
            return self._list(listed, {key: texts[-1] for key, texts in query.items()})
        return self._single(path)

    def _list(self, listed: Listed, query: Mapping[str, str]) -> Any:
        bodies = self._lists.get(listed.kind)
        if bodies is None:
            raise not_saved(self.service_type, listed.of_one)
        if listed.kind == "flavors" and not self._document["shows_all"]:
            # To others Nova lists public ones, too, whatever they ask for.
            query = {**query, "is_public": "None"}
        if listed.kind == "servers" and "flavor" in query:
            # Servers have a copy of their flavor, without its ID.
            flavor = self._by_id("flavors").get(query["flavor"], {"name": None})
            query = {key: text for key, text in query.items() if key != "flavor"}
            bodies = [e for e in bodies if _flavor_name(e) == flavor["name"]]
        return {listed.kind: listed.select(bodies, query), "links": {}}

    def _single(self, path: str) -> Any:
        parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")]
        if parts[2:] == ["os-volume_attachments"]:
            return {"volumeAttachments": self._attachments(parts[1])}
        if parts[2:] == ["os-instance-actions"] and not self._has_failed(parts[1]):
            return {"instanceActions": []}
        listed = BY_PATH.get((self.service_type, f"/{parts[0]}"))
        if listed is None or len(parts) != 2:
            raise not_saved(self.service_type, path)
        self._check(listed.of_one)
        body = self._by_id(listed.kind).get(parts[1])
        if body is None:
            raise CloudBroke(self.service_type, f"no {listed.single} {parts[1]}", 404)
        if listed.kind == "servers":
            # Nova's lists do not show the groups of servers.
            groups = self._lists.get("server_groups", ())
            own = [each["id"] for each in groups if body["id"] in each["members"]]
            body = {"server_groups": own, **body}
        # Glance shows an image as it is.
        return {listed.single: body} if listed.kind != "images" else body

    def _has_failed(self, server: str) -> bool:
        """Whether a server is in ERROR, or a move of it has failed."""
        body = self._by_id("servers").get(server)
        return body is not None and (
            body["status"] == ERROR or server in failed_moves(self._lists)
        )

    def _index(self, kind: str) -> Mapping[str, Body]:
        return {body["id"]: body for body in self._lists.get(kind, ())}

    def _attachments(self, server: str) -> list[Body]:
        volumes = self._document.get("block-storage", {}).get("volumes", ())
        return [
            {"volumeId": volume["id"], "device": each.get("device")}
            for volume in volumes
            for each in volume.get("attachments") or ()
            if each.get("server_id") == server
        ]

    def _check(self, path: str) -> None:
        """Raise the error that the live cloud gave for it."""
        problem = self._document["missing"].get(f"{self.service_type} {path}")
        if problem is None:
            return
        if problem["error"] == errors.NotInCatalog.__name__:
            raise errors.NotInCatalog(self.service_type)
        if problem["error"] == errors.Forbidden.__name__:
            roles = problem.get("roles")
            raise errors.Forbidden(
                self.service_type,
                problem["reason"],
                str(problem.get("scope", "")),
                tuple(map(str, roles)) if isinstance(roles, list) else None,
            )
        raise CloudBroke(self.service_type, problem["reason"], problem["status"])


class _Placement(_Service):
    """Placement; its candidates are computed."""

    @functools.cached_property
    def _placement(self) -> SavedPlacement:
        own = self._lists
        providers = map(_provider, own["providers"])
        return SavedPlacement(providers, own["traits"], own["resource_classes"])

    def _answer(self, path: str, query: Query) -> Any:
        placement = self._placement
        if path == "/resource_providers":
            return {"resource_providers": [e.listed for e in placement.listed(query)]}
        if path == "/allocation_candidates":
            return placement.candidates(query)
        if path == "/resource_classes":
            return {path[1:]: [{"name": name} for name in sorted(placement.classes)]}
        if path == "/traits" and "associated" in query:
            own = (each.traits for each in placement.providers.values())
            return {"traits": sorted(frozenset[str]().union(*own))}
        if path == "/traits":
            return {"traits": sorted(placement.traits)}
        return self._of_provider(path)

    def _of_provider(self, path: str) -> Any:
        parts = path.strip("/").split("/")
        if parts[0] != "resource_providers" or len(parts) > 3:
            raise not_saved(self.service_type, path)
        provider = self._placement.providers.get(urllib.parse.unquote(parts[1]))
        if provider is None:
            reason = f"No resource provider with uuid {parts[1]} found"
            raise CloudBroke(self.service_type, reason, 404)
        if len(parts) == 2:
            return provider.listed
        own = provider.inventories
        answers: dict[str, Any] = {
            "traits": sorted(provider.traits),
            "aggregates": sorted(provider.aggregates),
            "usages": {name: each["used"] for name, each in own.items()},
            "inventories": {
                name: {key: value for key, value in each.items() if key != "used"}
                for name, each in own.items()
            },
        }
        if parts[2] not in answers:
            raise not_saved(self.service_type, path)
        generation = {"resource_provider_generation": provider.generation}
        return {parts[2]: answers[parts[2]], **generation}


#: The order in which nova-compute reports inventories.
_ORDER = {"VCPU": 0, "MEMORY_MB": 1, "DISK_GB": 2}


def _provider(body: Body) -> SavedProvider:
    inventories = body["inventories"]
    names = sorted(inventories, key=lambda name: (_ORDER.get(name, 3), name))
    own = {key: body[key] for key in SavedProvider._fields} | {
        "traits": frozenset(body["traits"]),
        "aggregates": frozenset(body["aggregates"]),
        "inventories": {name: inventories[name] for name in names},
    }
    return SavedProvider(**own)


def _flavor_name(server: Body) -> object:
    return (server.get("flavor") or {}).get("original_name")


def failed_moves(lists: Body) -> frozenset[str]:
    """IDs of the servers that a listed migration failed to move."""
    return frozenset(
        each["instance_uuid"]
        for each in lists.get("migrations", ())
        if each["status"] in ("error", "failed")
    )


def not_saved(service: str, path: str) -> errors.Hidden:
    """The error for data that the snapshot does not have."""
    return errors.Hidden(service, f"the snapshot has no {path}")
