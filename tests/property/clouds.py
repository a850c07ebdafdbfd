"""Random clouds and random requests, as values that hypothesis can shrink."""

from __future__ import annotations

import dataclasses
import math
import uuid
from collections.abc import Iterable, Iterator, Sequence

from hypothesis import strategies as st

from osc_traitsched.core.nova.clause import (
    Clause,
    MemberOf,
    Origin,
    Resource,
    RootTrait,
    Trait,
)

CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_CARD")
#: What is shared. A host that gives nothing itself does not even show in
#: Placement's answer, and so not to Nova; its processors are always its own.
SHARED = ("DISK_GB", "CUSTOM_CARD")
TRAITS = ("CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_AVX", "COMPUTE_STATUS_DISABLED")
AGGREGATES = tuple(str(uuid.UUID(int=number)) for number in (1, 2, 3))
SHARING = "MISC_SHARES_VIA_AGGREGATE"
FROM_FLAVOR = (Origin("flavor", "key"),)


@dataclasses.dataclass(frozen=True)
class Inventory:
    """An inventory as Placement takes it, and how much of it is in use."""

    total: int
    reserved: int
    ratio: float
    min_unit: int
    max_unit: int
    step_size: int
    used: int

    @property
    def body(self) -> dict[str, object]:
        return {
            "total": self.total,
            "reserved": self.reserved,
            "allocation_ratio": self.ratio,
            "min_unit": self.min_unit,
            "max_unit": self.max_unit,
            "step_size": self.step_size,
        }


@dataclasses.dataclass(frozen=True)
class Node:
    """A provider and those below it."""

    inventories: dict[str, Inventory]
    traits: frozenset[str]
    aggregates: frozenset[str]
    children: tuple[Node, ...] = ()


@st.composite
def inventories(draw):
    """An inventory, often with something left and sometimes quite full."""
    total = draw(st.sampled_from([1, 4, 8, 16]))
    step_size = draw(st.sampled_from([1, 1, 1, 2]))
    reserved = draw(st.sampled_from([0, 0, 0, 1]))
    ratio = draw(st.sampled_from([1.0, 1.0, 0.5, 1.5, 2.0]))
    capacity = int((total - reserved) * ratio)
    # Placement takes an allocation only in whole steps.
    used = draw(st.sampled_from([0, 0, 0, capacity // 2, capacity]))
    return Inventory(
        total=total,
        reserved=reserved,
        ratio=ratio,
        min_unit=draw(st.sampled_from([1, 1, 1, 2])),
        max_unit=draw(st.sampled_from([total, total, total, 4])),
        step_size=step_size,
        used=used,
    )


def nodes(depth=1, classes=CLASSES, more_traits=frozenset()):
    """A tree of at most this depth below its root."""
    children = st.just(())
    if depth:
        children = st.one_of(
            st.just(()), st.lists(nodes(depth - 1, classes), max_size=2).map(tuple)
        )
    return st.builds(
        Node,
        inventories=st.dictionaries(st.sampled_from(classes), inventories()),
        traits=st.frozensets(st.sampled_from(TRAITS)).map(lambda t: t | more_traits),
        aggregates=st.frozensets(st.sampled_from(AGGREGATES)),
        children=children,
    )


#: Mostly trees of one provider, as most clouds have, some nested, some shared.
MIXED = st.tuples(
    st.lists(nodes(0), min_size=1, max_size=4),
    st.lists(nodes(2), max_size=2),
    st.lists(nodes(0, SHARED, frozenset({SHARING})), max_size=1),
)
#: Hosts that have nothing of what is shared.
POOLED = st.tuples(
    st.lists(nodes(0, ("VCPU", "MEMORY_MB")), min_size=1, max_size=3),
    st.lists(nodes(1, ("VCPU", "MEMORY_MB")), max_size=1),
    st.lists(nodes(0, SHARED, frozenset({SHARING})), min_size=1, max_size=2),
)
CLOUDS = st.one_of(MIXED, MIXED, POOLED).map(
    lambda parts: [node for part in parts for node in part]
)


#: What a card has; most have one class.
CARDS = (*[("CUSTOM_CARD",)] * 4, ("DISK_GB",), SHARED)
ROOMY = Inventory(16, 0, 1.0, 1, 16, 1, 0)


@st.composite
def cards(draw):
    """A provider with a few units of one class or two."""
    total = st.sampled_from([1, 2, 3, 4, 8])
    inventory = total.map(lambda n: Inventory(n, 0, 1.0, 1, n, 1, 0)) | inventories()
    return Node(
        inventories={name: draw(inventory) for name in draw(st.sampled_from(CARDS))},
        traits=draw(st.frozensets(st.sampled_from(TRAITS), max_size=2)),
        aggregates=frozenset(),
    )


@st.composite
def carded(draw):
    """A host with processors and up to four cards, often equal ones."""
    kinds = draw(st.lists(cards(), min_size=1, max_size=3))
    children = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    root = draw(nodes(0))
    own = {**root.inventories, "VCPU": ROOMY}
    return dataclasses.replace(root, inventories=own, children=tuple(children))


#: Hosts with cards, and sometimes a card that is shared.
CARDED = st.tuples(
    st.lists(nodes(0), max_size=1),
    st.lists(carded(), min_size=1, max_size=2),
    st.lists(nodes(0, SHARED, frozenset({SHARING})), max_size=1),
).map(lambda parts: [node for part in parts for node in part])


@st.composite
def clauses(draw) -> tuple[Clause, ...]:
    """Clauses that make a request that Placement takes."""
    groups = draw(st.sampled_from([("",), ("",), ("",), ("", "_A"), ("", "_A", "_B")]))
    found: list[Clause] = []
    for group in groups:
        others = st.sampled_from(CLASSES[1:])
        asked = draw(st.lists(others, min_size=1, max_size=2, unique=True))
        for resource_class in [*asked, *([] if group else ["VCPU"])]:
            amount = draw(st.sampled_from([1, 1, 2, 2, 4, 6]))
            found.append(Resource(group, resource_class, amount, FROM_FLAVOR))
        for name in draw(
            st.lists(
                st.sampled_from(TRAITS), max_size=2 if not group else 1, unique=True
            )
        ):
            found.append(Trait(group, name, draw(st.booleans()), FROM_FLAVOR))
    for name in draw(st.lists(st.sampled_from(TRAITS), max_size=1)):
        found.append(RootTrait(name, draw(st.booleans()), FROM_FLAVOR))
    members = st.frozensets(st.sampled_from(AGGREGATES), min_size=1, max_size=2)
    for aggregates in draw(st.lists(members, max_size=2, unique=True)):
        found.append(MemberOf(aggregates, False, FROM_FLAVOR))
    for aggregate in draw(
        st.lists(st.sampled_from(AGGREGATES), max_size=2, unique=True)
    ):
        found.append(MemberOf(frozenset({aggregate}), True, FROM_FLAVOR))
    return tuple(found)


@st.composite
def small_groups(draw) -> tuple[Clause, ...]:
    """A group of few units, and sometimes a trait."""
    asked = draw(st.sampled_from(CARDS))
    amounts = st.sampled_from([1, 1, 1, 1, 2, 3])
    named = draw(st.sampled_from([(), (), (), TRAITS[:1], TRAITS[1:2]]))
    return (
        *(Resource("_", each, draw(amounts), FROM_FLAVOR) for each in asked),
        *(Trait("_", name, draw(st.booleans()), FROM_FLAVOR) for name in named),
    )


@st.composite
def many_groups(draw) -> tuple[Clause, ...]:
    """From three to eight suffixed groups, of two kinds at most, and little else."""
    kinds = draw(st.lists(small_groups(), min_size=1, max_size=2))
    groups = draw(st.lists(st.sampled_from(kinds), min_size=3, max_size=8))
    others = draw(st.sampled_from([(), (), *((each,) for each in SHARED)]))
    members = draw(st.sampled_from([(), (), (frozenset(AGGREGATES[:2]),)]))
    return (
        *(Resource("", each, 1, FROM_FLAVOR) for each in ("VCPU", *others)),
        *(
            dataclasses.replace(clause, group=f"_{letter}")
            for letter, group in zip("ABCDEFGH", groups)
            for clause in group
        ),
        *(MemberOf(each, draw(st.booleans()), FROM_FLAVOR) for each in members),
    )


@dataclasses.dataclass(frozen=True)
class Question:
    """A random request, and what is done to it and to the cloud besides.

    :ivar more: a trait to be required in addition
    :ivar number: which of the fixes is carried out
    """

    clauses: tuple[Clause, ...]
    policy: str
    more: str
    number: int


@st.composite
def questions(draw, of=clauses) -> Question:
    """Any request, with a trait more that it does not name yet."""
    found = draw(of())
    named = {each.name for each in found if isinstance(each, Trait) and not each.group}
    return Question(
        clauses=found,
        policy=draw(st.sampled_from(["none", "isolate"])),
        more=draw(st.sampled_from([name for name in TRAITS if name not in named])),
        number=draw(st.integers(0, 7)),
    )


#: Placement tries each combination of providers: eight groups on two cards are 256.
MOST_COMBINATIONS = 300
_FEW = 2


def answerable(question: Question, cloud: Sequence[Node]) -> Question:
    """Return the question with so many groups that Placement answers soon and rightly.

    Of groups that are kept apart Placement adds amounts to what it has added up
    before, if the unsuffixed group asks for the same class (placement 16.0.0,
    research_context.py, ``copy_arr_if_needed``). With many groups its answer then
    depends on the order in which it tries them.
    """
    asked = question.clauses
    suffixes = sorted({c.group for c in asked if isinstance(c, Resource) and c.group})
    while len(suffixes) > _FEW and _combinations(asked, cloud) > MOST_COMBINATIONS:
        last = suffixes.pop()
        asked = tuple(c for c in asked if getattr(c, "group", "") != last)
    if question.policy == "isolate" and len(suffixes) > _FEW:
        asked = tuple(_kept_apart(asked))
    return dataclasses.replace(question, clauses=asked)


def _kept_apart(asked: Sequence[Clause]) -> Iterator[Clause]:
    """Yield all but what the unsuffixed group asks of classes of suffixed groups."""
    amounts = [clause for clause in asked if isinstance(clause, Resource)]
    suffixed = {clause.resource_class for clause in amounts if clause.group}
    for clause in asked:
        is_first = clause in amounts and not clause.group
        if not (is_first and clause.resource_class in suffixed):
            yield clause


def _combinations(asked: Iterable[Clause], cloud: Sequence[Node]) -> int:
    """Return the combinations of providers of a tree, or shared, at the very most."""
    groups: dict[str, set[str]] = {}
    for clause in asked:
        if isinstance(clause, Resource):
            # Each amount of the unsuffixed group can be of another provider.
            key = clause.group or clause.resource_class
            groups.setdefault(key, set()).add(clause.resource_class)
    pool = [node for node in cloud if SHARING in node.traits]
    trees = [[*_below(node), *pool] for node in cloud]
    return max(
        math.prod(
            sum(classes <= node.inventories.keys() for node in tree)
            for classes in groups.values()
        )
        for tree in trees
    )


def _below(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _below(child)
