"""Answers of Placement from saved providers.

The rules are those of placement/objects/allocation_candidate.py and
placement/objects/research_context.py, for the queries that nova-scheduler sends and
that this project reads with.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from osc_traitsched.core.errors import CloudBroke
from osc_traitsched.core.inventory.trait import SHARING

Query = Mapping[str, Sequence[str]]

_GROUP = re.compile(r"(resources|required|member_of|in_tree)(.*)")


class Inventory(NamedTuple):
    """An inventory with its use, as the API shows both."""

    total: int
    reserved: int
    allocation_ratio: float
    min_unit: int
    max_unit: int
    step_size: int
    used: int

    @property
    def capacity(self) -> int:
        """What an answer shows: rounded down."""
        return int((self.total - self.reserved) * self.allocation_ratio)

    @property
    def body(self) -> dict[str, Any]:
        """Its body in a provider's inventories."""
        own = self._asdict()
        del own["used"]
        return own

    def gives(self, amount: int) -> bool:
        """Whether one group can get the amount (``_capacity_check_clause``)."""
        capacity = (self.total - self.reserved) * self.allocation_ratio
        is_unit = self.min_unit <= amount <= self.max_unit
        return (
            is_unit and not amount % self.step_size and self.used + amount <= capacity
        )


class SavedProvider(NamedTuple):
    """A provider with all that Placement knows of it."""

    uuid: str
    name: str
    generation: int
    root: str
    parent: str | None
    traits: frozenset[str]
    aggregates: frozenset[str]
    inventories: Mapping[str, Inventory]

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
                name: {"capacity": each.capacity, "used": each.used}
                for name, each in self.inventories.items()
            },
            "traits": sorted(self.traits),
            "root_provider_uuid": self.root,
            "parent_provider_uuid": self.parent,
        }


class _Traits(NamedTuple):
    """Traits to have and not to have."""

    required: frozenset[str]
    forbidden: frozenset[str]

    @classmethod
    def read(cls, texts: Iterable[str]) -> _Traits:
        names = [name for text in texts for name in text.split(",") if name]
        return cls(
            frozenset(name for name in names if name[0] != "!"),
            frozenset(name[1:] for name in names if name[0] == "!"),
        )

    def match(self, traits: frozenset[str]) -> bool:
        return self.required <= traits and not self.forbidden & traits


class _Members(NamedTuple):
    """Aggregates to be in, any of each set, and aggregates to be in none of."""

    required: tuple[frozenset[str], ...]
    forbidden: frozenset[str]

    @classmethod
    def read(cls, texts: Iterable[str]) -> _Members:
        required, forbidden = [], frozenset[str]()
        for text in texts:
            names = frozenset(text.lstrip("!").partition("in:")[2].split(","))
            if not text.lstrip("!").startswith("in:"):
                names = frozenset({text.lstrip("!")})
            if text.startswith("!"):
                forbidden |= names
            else:
                required.append(names)
        return cls(tuple(required), forbidden)

    def match(self, own: frozenset[str], root: frozenset[str]) -> bool:
        """Whether a provider or its root is in them, and neither in a forbidden one."""
        if not self.required and not self.forbidden:
            return True
        is_in = (not each.isdisjoint(own | root) for each in self.required)
        return not self.forbidden & (own | root) and all(is_in)


class _Group(NamedTuple):
    """One request group of a query for candidates."""

    suffix: str
    amounts: Mapping[str, int]
    traits: _Traits
    members: _Members
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
        traits = _Traits.read(query.get("required", ()))
        members = _Members.read(query.get("member_of", ()))
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
            and members.match(each.aggregates, frozenset())
            and _gives_all(each, amounts)
        ]

    def candidates(self, query: Query) -> dict[str, Any]:
        """The answer to ``GET /allocation_candidates``, without a limit of its own.

        :raises CloudBroke: for what Placement rejects, with status 400
        """
        groups = _groups(query)
        root_traits = _Traits.read(query.get("root_required", ()))
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
            alone = [
                next(iter(taken))[0] for suffix, taken in named if suffix and taken
            ]
            if isolate and len(alone) != len(set(alone)):
                continue
            if self._has_room(chosen) and self._in_subtrees(named, subtrees):
                yield named

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
            return group.tree is None and group.members.match(
                each.aggregates, frozenset()
            )
        if group.tree is not None:
            named = self.providers.get(group.tree)
            if named is None or named.root != root:
                return False
        return group.members.match(each.aggregates, self.providers[root].aggregates)

    def _has_room(self, chosen: Sequence[_Taken]) -> bool:
        """Whether all groups together exceed no capacity (``_exceeds_capacity``)."""
        if len(chosen) == 1:
            return True
        for (uuid, name), amount in _sum(chosen).items():
            own = self.providers[uuid].inventories[name]
            if amount > min(own.capacity - own.used, own.max_unit):
                return False
        return True

    def _in_subtrees(
        self,
        named: Sequence[tuple[str, _Taken]],
        subtrees: Sequence[Sequence[str]],
    ) -> bool:
        """Whether one provider of each set is above all others of the set."""
        for suffixes in subtrees:
            uuids = {u for s, taken in named if s in suffixes for u, _ in taken}
            above = [set(self._with_ancestors(uuid)) for uuid in uuids]
            if not any(all(uuid in line for line in above) for uuid in uuids):
                return False
        return True

    def _with_ancestors(self, uuid: str | None) -> Iterator[str]:
        while uuid is not None:
            yield uuid
            uuid = self.providers[uuid].parent

    def _check(self, traits: _Traits, amounts: Mapping[str, int]) -> None:
        unknown = sorted((traits.required | traits.forbidden) - self.traits)
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
    own = each.inventories.get(name)
    return own is not None and own.gives(amount)


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
            _Traits.read(part.get("required", ())),
            _Members.read(part.get("member_of", ())),
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
    sums: dict[tuple[str, str], int] = {}
    for taken in several:
        for key, amount in taken.items():
            sums[key] = sums.get(key, 0) + amount
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
