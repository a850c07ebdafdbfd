"""Answers of Placement from saved providers.

The rules are those of placement/objects/allocation_candidate.py and
placement/objects/research_context.py, for the queries that nova-scheduler sends and
that this project reads with.
"""

from __future__ import annotations

import collections
import functools
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.trait import SHARING

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
