"""Hosts matched with requests of many groups, and the most that providers give."""

from __future__ import annotations

import collections
import dataclasses
import itertools

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osc_traitsched.core.inventory.snapshot import Provider, Snapshot
from osc_traitsched.core.judge.verdict import evaluate
from osc_traitsched.core.nova.clause import MemberOf, Resource
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import limits as module
from osc_traitsched.core.placement import matcher
from osc_traitsched.core.placement.facts import Facts, Group, GroupSet, Offer, Stock
from osc_traitsched.core.placement.limits import MOST_SUMS, demands, limits
from osc_traitsched.core.placement.matcher import Matcher, has_placement, task
from tests.cases.reading import Case
from tests.unit.core.test_cases import facts

# How hosts are matched with requests of many groups, and that it takes few steps.


def cards(number, **inventories):
    return [{"inventories": inventories}] * number


def groups(number, first=0, **resources):
    """Flavor keys of so many groups that ask for these amounts each."""
    return {
        f"resources{first + n}:{name}": amount
        for n in range(1, number + 1)
        for name, amount in resources.items()
    }


@pytest.fixture
def steps(monkeypatch):
    """A list that gets an item for each state that a search goes on from."""
    found = []
    after = matcher._Search._after

    def counted(self, state):
        found.append(state)
        return after(self, state)

    monkeypatch.setattr(matcher._Search, "_after", counted)
    return found


def verdict(children, asked, policy="none"):
    """Return the verdict on a host with these children."""
    case = Case(
        {
            "name": "one tree",
            "cloud": {"cmp00": {"children": children}},
            "flavor": {**asked, "group_policy": policy},
        }
    )
    request = case.question.request()
    found = facts(case, request)
    return evaluate(Matcher(request.clauses, request.group_policy, found), found)


VGPU = groups(16, VGPU=1)
NUMA = cards(2, CUSTOM_CPU=8, SRIOV_NET_VF=4)
MIXED = {
    **groups(8, VGPU=1),
    **groups(8, 20, SRIOV_NET_VF=1),
    **groups(4, 40, CUSTOM_CPU=4),
}
DIFFERENT = {f"resources{n}:VGPU": n for n in range(1, 13)}


@pytest.mark.parametrize(
    ("children", "asked", "policy", "fits"),
    [
        (cards(15, VGPU=1), VGPU, "none", False),
        (cards(15, VGPU=1), VGPU, "isolate", False),
        (cards(16, VGPU=1), VGPU, "none", True),
        (cards(16, VGPU=1), VGPU, "isolate", True),
        (cards(8, VGPU=2), VGPU, "none", True),
        (cards(8, VGPU=2), VGPU, "isolate", False),
        (cards(7, VGPU=2) + cards(1, VGPU=1), VGPU, "none", False),
        (cards(8, VGPU=1) + NUMA, MIXED, "none", True),
        (cards(8, VGPU=1) + NUMA, MIXED, "isolate", False),
        (cards(7, VGPU=1) + NUMA, MIXED, "none", False),
        (cards(12, VGPU=12), DIFFERENT, "isolate", True),
        (cards(11, VGPU=12), DIFFERENT, "isolate", False),
        (cards(6, VGPU=13), DIFFERENT, "none", True),
        (cards(6, VGPU=12), DIFFERENT, "none", False),
    ],
)
def test_groups_are_matched_with_providers_and_not_permuted(
    steps, children, asked, policy, fits
):
    """Permuting takes some billion steps. These are of the whole verdict."""
    found = verdict(children, asked, policy)
    assert (not found.rejections) is fits
    assert len(steps) < 500


def test_of_the_ways_to_fill_a_provider_the_one_that_leaves_room_for_the_rest():
    """The matching has one and two VGPU from the first, and twice two of the second."""
    asked = {**groups(1, VGPU=1), **groups(3, 10, VGPU=2)}
    tree = cards(1, VGPU=4) + cards(1, VGPU=3)
    assert not verdict(tree, asked).rejections
    assert verdict(tree, asked, "isolate").rejections
    assert verdict(cards(1, VGPU=4) + cards(1, VGPU=2), asked).rejections


def test_an_unsuffixed_group_of_a_wide_tree_takes_few_steps(steps):
    wide = [
        {"inventories": {"VGPU": 1, "CUSTOM_A": 1}, "traits": [f"CUSTOM_{n}"]}
        for n in range(64)
    ]
    asked = {"resources:VGPU": 1, "resources:CUSTOM_A": 1}
    two = {f"trait:CUSTOM_{n}": "required" for n in range(2)}
    assert not verdict(wide, {**asked, **two}).rejections
    assert len(steps) < 500
    three = {f"trait:CUSTOM_{n}": "required" for n in range(3)}
    assert verdict(wide, {**asked, **three}).rejections
    assert len(steps) < 500


@pytest.mark.parametrize(
    ("required", "forbidden", "expected"),
    [
        (["A"], [], {"cn", "pf1", "pf2", "nfs"}),
        (["B"], [], {"pf1", "nfs"}),
        (["A", "B"], [], {"nfs"}),
        (["AB"], [], {"cn", "pf1", "pf2", "nfs"}),
        ([], ["A"], set()),
        ([], ["B"], {"cn", "pf2"}),
    ],
)
def test_which_providers_the_aggregates_let_a_request_use(
    required, forbidden, expected
):
    members = {"cn": {"A"}, "pf1": {"B"}, "pf2": set(), "nfs": {"A", "B"}}
    tree = [
        Provider("cn", "cn", 1, "cn"),
        Provider("pf1", "pf1", 1, "cn", "cn"),
        Provider("pf2", "pf2", 1, "cn", "cn"),
        Provider("nfs", "nfs", 1, "nfs"),
    ]
    aggregates = [
        *(MemberOf(frozenset(each), False, ()) for each in required),
        *(MemberOf(frozenset(each), True, ()) for each in forbidden),
    ]
    used = set()
    for name in members:
        found = Facts(
            snapshot=Snapshot(tuple(tree), frozenset({"nfs"})),
            traits={},
            offers={("VGPU", 1): frozenset({name})},
            members={
                each.aggregates: frozenset(
                    n for n in members if members[n] & each.aggregates
                )
                for each in aggregates
            },
            shared={"nfs": frozenset({"cn"})},
            stock={},
            candidates=frozenset(),
        )
        matcher = Matcher([Resource("", "VGPU", 1, ()), *aggregates], None, found)
        if matcher.meets(matcher.host("cn"), matcher.everything):
            used.add(name)
    assert used == expected


# Whether a tree's providers can serve groups together, tried out and thought out.


CLASSES = "ABC"
TRAITS = "xyz"
NOTHING = ("", 0)


@st.composite
def cases(draw):
    """A few groups, often equal ones, and a few providers, often equal ones."""
    subsets = st.frozensets(st.sampled_from(TRAITS), max_size=2)
    amounts = st.dictionaries(
        st.sampled_from(CLASSES), st.integers(1, 3), max_size=2
    ).map(lambda each: tuple(sorted(each.items())))
    groups = st.builds(Group, amounts, subsets, st.just(frozenset()) | subsets)
    some = draw(st.lists(groups, min_size=1, max_size=3))
    suffixed = draw(st.lists(st.sampled_from(some), max_size=5))
    unsuffixed = draw(st.none() | groups)
    asked = [*suffixed, *([unsuffixed] if unsuffixed else [])]
    kinds = draw(st.lists(offers(asked), min_size=1, max_size=3))
    tree = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    usable = draw(st.sets(st.sampled_from(range(len(tree)))))
    return suffixed, unsuffixed, tree, usable, draw(st.booleans())


@st.composite
def offers(draw, asked):
    """A provider with units and limits, as Placement says them of these groups."""
    given, limits = set(), set()
    for name in CLASSES:
        largest, step = draw(st.integers(0, 7)), draw(st.sampled_from([1, 1, 2]))
        each = [n for group in asked for c, n in group.amounts if c == name]
        able = {n for n in each if n <= largest and n % step == 0}
        given |= {(name, n) for n in able}
        if able and len(each) > 1:
            limits.add((name, min(largest, sum(each))))
    traits = draw(st.frozensets(st.sampled_from(TRAITS)))
    return Offer(traits, frozenset(given), 0, False, frozenset(limits))


def found(suffixed, unsuffixed, tree, usable, isolate):
    wanted = GroupSet(frozenset(collections.Counter(suffixed).items()), unsuffixed)
    return has_placement(task(wanted, tree, usable, isolate))


def tried(suffixed, unsuffixed, tree, usable, isolate):
    """Try each combination, as Placement does."""
    amounts = unsuffixed.amounts or (NOTHING,) if unsuffixed else ()
    for served in itertools.product(range(len(tree)), repeat=len(suffixed)):
        if isolate and len(set(served)) < len(served):
            continue
        if not all(g.is_served_by(tree[n]) for g, n in zip(suffixed, served)):
            continue
        for own_given in itertools.product(sorted(usable), repeat=len(amounts)):
            taken = [(n, a) for g, n in zip(suffixed, served) for a in g.amounts]
            taken += zip(own_given, amounts)
            if is_given(taken, tree) and has_traits(unsuffixed, own_given, tree):
                return True
    return False


def is_given(taken, tree):
    total = collections.Counter()
    for number, amount in taken:
        if amount != NOTHING and amount not in tree[number].amounts:
            return False
        total[number, amount[0]] += amount[1]
    return all(n <= dict(tree[p].limits).get(c, n) for (p, c), n in total.items())


def has_traits(unsuffixed, given, tree):
    if unsuffixed is None:
        return True
    traits = [tree[number].traits for number in given]
    return unsuffixed.required <= frozenset().union(*traits) and not any(
        unsuffixed.forbidden & each for each in traits
    )


@hypothesis.settings(max_examples=300, deadline=None)
@hypothesis.given(cases())
def test_there_is_a_placement_if_and_only_if_one_of_all_combinations_is_one(case):
    assert found(*case) == tried(*case)


# Who is in which of many aggregates, from few unions.


PROVIDERS = "abcdef"
MEMBERS = st.dictionaries(
    st.sampled_from([f"aggregate{number}" for number in range(9)]),
    st.frozensets(st.sampled_from(PROVIDERS)),
    min_size=1,
)


@pytest.mark.parametrize(
    ("aggregates", "number"), [(1, 1), (3, 3), (4, 4), (20, 6), (60, 8), (250, 10)]
)
def test_twice_the_aggregates_are_about_one_union_more(aggregates, number):
    apart = {str(n): frozenset({f"provider{n}"}) for n in range(aggregates)}
    assert len(module.unions(apart)) == number


@pytest.mark.parametrize(
    ("aggregates", "asked"),
    [("ABCD", ["ABC", "AD", "BD", "C"]), ("ABCDEF", ["ABC", "ADE", "BDF", "CEF"])],
)
def test_each_aggregate_is_in_half_of_the_unions_and_no_two_in_the_same(
    aggregates, asked
):
    apart = {each: frozenset({f"in {each}"}) for each in aggregates}
    assert module.unions(apart) == tuple(map(frozenset, asked))


def test_aggregates_of_which_a_provider_is_in_several_are_asked_for_apart():
    zone = {f"zone{n}": frozenset({f"provider{n}", f"other{n}"}) for n in range(20)}
    gold = {f"gold{n}": frozenset({f"provider{n}"}) for n in range(20)}
    asked = module.unions({**zone, **gold})
    assert len(asked) == 12
    for chosen in asked:
        assert chosen <= set(zone) or chosen <= set(gold)


@given(st.data(), MEMBERS)
@settings(deadline=None)
def test_just_those_providers_surprise_that_are_not_where_they_are_expected(
    data, expected
):
    really = {
        aggregate: data.draw(st.frozensets(st.sampled_from(PROVIDERS)))
        if data.draw(st.booleans())
        else members
        for aggregate, members in expected.items()
    }
    asked = module.unions(expected)
    answers = [frozenset().union(*(really[each] for each in one)) for one in asked]
    assert module.surprises(expected, asked, answers) == {
        provider
        for provider in PROVIDERS
        if any((provider in expected[a]) != (provider in really[a]) for a in expected)
    }


# The most that providers give at once, asked of a Placement that counts.


CARD = "CUSTOM_CARD"


@dataclasses.dataclass(frozen=True)
class Inventory:
    free: int
    max_unit: int
    min_unit: int = 1
    step_size: int = 1

    def gives(self, amount):
        return (
            self.min_unit <= amount <= min(self.free, self.max_unit)
            and amount % self.step_size == 0
        )


class Cloud:
    """Providers by name, and what Placement would say of them."""

    def __init__(self, providers):
        self.providers = providers
        self.asked = []

    def ask(self, amount):
        assert amount[0] == CARD
        self.asked.append(amount[1])
        return frozenset(n for n, p in self.providers.items() if p.gives(amount[1]))

    def offers(self, asked):
        found = {(CARD, n): self.ask((CARD, n)) for n in sorted(set(asked))}
        self.asked.clear()
        return found

    def stock(self, names):
        return {n: {CARD: Stock(self.providers[n].free + 7, 7)} for n in names}


def request(suffixed, unsuffixed=(), policy="none"):
    clauses = [Resource(f"_{n}", CARD, each, ()) for n, each in enumerate(suffixed)]
    clauses += [Resource("", CARD, each, ()) for each in unsuffixed]
    return Request(tuple(clauses), policy, None, "1.36")


def limits_found(cloud, asked, known=()):
    """Return the limits by one request's amounts."""
    amounts = [clause.amount for clause in asked.clauses]
    offers, stock = cloud.offers(amounts), cloud.stock(known)
    return limits(demands([asked]), offers, stock, cloud.ask).get(CARD, {})


INVENTORIES = st.builds(
    Inventory,
    free=st.integers(0, 40),
    max_unit=st.integers(1, 40),
    min_unit=st.integers(1, 4),
    step_size=st.sampled_from([1, 1, 2, 3]),
)
CLOUDS = st.dictionaries(st.sampled_from("abcdefgh"), INVENTORIES, min_size=1)
AMOUNTS = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@hypothesis.given(
    CLOUDS,
    AMOUNTS,
    st.lists(st.integers(1, 9), max_size=1),
    st.sampled_from(["none", "isolate"]),
    st.data(),
)
def test_a_provider_gives_a_sum_of_what_it_gives_if_it_is_not_above_its_limit(
    providers, suffixed, unsuffixed, policy, data
):
    cloud = Cloud(providers)
    read = data.draw(st.sets(st.sampled_from(sorted(providers))))
    asked = request(suffixed, unsuffixed, policy)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_SUMS", 1000)
        limit = limits_found(cloud, asked, read)
    assert len(cloud.asked) == len(set(cloud.asked))
    for name, inventory in providers.items():
        for total in sums_for(inventory, suffixed, unsuffixed, policy):
            several = len(suffixed) + len(unsuffixed) > 1
            fits = total <= limit[name] if several else True
            assert fits is inventory.gives(total)


def sums_for(inventory, suffixed, unsuffixed, policy):
    """Yield what one provider may have to give at once."""
    most = 1 if policy == "isolate" else len(suffixed)
    for count in range(most + 1):
        for chosen in itertools.combinations(suffixed, count):
            for more in ((), unsuffixed):
                parts = (*chosen, *more)
                if parts and all(map(inventory.gives, parts)):
                    yield sum(parts)


#: Of which no two sums are the same: 4095.
LIMITS_DIFFERENT = [2**n for n in range(12)]


@pytest.mark.parametrize("read", [True, False], ids=["figures", "no figures"])
def test_twelve_different_amounts_are_28_requests_at_most(read):
    """Twelve amounts, and then sixteen sums, however different the providers are."""
    free = range(1, 4097, 37)
    cloud = Cloud({f"cmp{n}": Inventory(n, 4096) for n in free})
    limit = limits_found(
        cloud, request(LIMITS_DIFFERENT), cloud.providers if read else ()
    )
    assert len(cloud.asked) == MOST_SUMS == 16
    assert len(limit) == len(free)
    for name, inventory in cloud.providers.items():
        assert limit[name] == inventory.free if read else limit[name] <= inventory.free


def test_few_kinds_of_providers_are_told_apart_by_few_requests():
    cloud = Cloud({f"cmp{n}": Inventory(n, 4096) for n in (1, 100, 3000)})
    limit = limits_found(cloud, request(LIMITS_DIFFERENT))
    assert limit == {"cmp1": 1, "cmp100": 100, "cmp3000": 3000}
    assert len(cloud.asked) <= MOST_SUMS


def test_of_cards_that_have_one_left_no_more_is_asked():
    cloud = Cloud({f"card{n}": Inventory(1, 1) for n in range(15)})
    limit = limits_found(cloud, request([1] * 16), cloud.providers)
    assert limit == dict.fromkeys(cloud.providers, 1)
    assert not cloud.asked


def test_equal_groups_take_no_request_for_each_sum():
    cloud = Cloud({f"card{n}": Inventory(1, 1) for n in range(15)})
    assert limits_found(cloud, request([1] * 16)) == dict.fromkeys(cloud.providers, 1)
    assert cloud.asked == [9, 5, 3, 2]


def test_what_is_free_may_be_too_much_at_once():
    cloud = Cloud({"small": Inventory(100, 5), "large": Inventory(100, 100)})
    limit = limits_found(cloud, request([1, 2, 4, 8]), cloud.providers)
    assert limit == {"small": 5, "large": 15}


def test_groups_that_are_kept_apart_never_add_up():
    cloud = Cloud({"cmp01": Inventory(100, 100)})
    assert limits_found(cloud, request([1, 2, 4], policy="isolate")) == {"cmp01": 4}
    assert not cloud.asked


def test_the_unsuffixed_group_adds_up_with_one_that_is_kept_apart():
    cloud = Cloud({"cmp01": Inventory(100, 100)})
    assert limits_found(cloud, request([1, 2, 4], [10], "isolate")) == {"cmp01": 14}


def test_a_class_that_one_clause_asks_for_has_no_limit():
    assert not demands([request([1])])
