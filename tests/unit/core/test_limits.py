"""The most that providers give at once, asked of a Placement that counts."""

from __future__ import annotations

import dataclasses
import itertools

import hypothesis
import pytest
from hypothesis import strategies as st

from osc_traitsched.core.nova.clause import Resource
from osc_traitsched.core.nova.request import Request
from osc_traitsched.core.placement import limits as module
from osc_traitsched.core.placement.facts import Stock
from osc_traitsched.core.placement.limits import MOST_SUMS, demands, limits

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


def found(cloud, asked, known=()):
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
        limit = found(cloud, asked, read)
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
DIFFERENT = [2**n for n in range(12)]


@pytest.mark.parametrize("read", [True, False], ids=["figures", "no figures"])
def test_twelve_different_amounts_are_28_requests_at_most(read):
    """Twelve amounts, and then sixteen sums, however different the providers are."""
    free = range(1, 4097, 37)
    cloud = Cloud({f"cmp{n}": Inventory(n, 4096) for n in free})
    limit = found(cloud, request(DIFFERENT), cloud.providers if read else ())
    assert len(cloud.asked) == MOST_SUMS == 16
    assert len(limit) == len(free)
    for name, inventory in cloud.providers.items():
        assert limit[name] == inventory.free if read else limit[name] <= inventory.free


def test_few_kinds_of_providers_are_told_apart_by_few_requests():
    cloud = Cloud({f"cmp{n}": Inventory(n, 4096) for n in (1, 100, 3000)})
    limit = found(cloud, request(DIFFERENT))
    assert limit == {"cmp1": 1, "cmp100": 100, "cmp3000": 3000}
    assert len(cloud.asked) <= MOST_SUMS


def test_of_cards_that_have_one_left_no_more_is_asked():
    cloud = Cloud({f"card{n}": Inventory(1, 1) for n in range(15)})
    limit = found(cloud, request([1] * 16), cloud.providers)
    assert limit == dict.fromkeys(cloud.providers, 1)
    assert not cloud.asked


def test_equal_groups_take_no_request_for_each_sum():
    cloud = Cloud({f"card{n}": Inventory(1, 1) for n in range(15)})
    assert found(cloud, request([1] * 16)) == dict.fromkeys(cloud.providers, 1)
    assert cloud.asked == [9, 5, 3, 2]


def test_what_is_free_may_be_too_much_at_once():
    cloud = Cloud({"small": Inventory(100, 5), "large": Inventory(100, 100)})
    limit = found(cloud, request([1, 2, 4, 8]), cloud.providers)
    assert limit == {"small": 5, "large": 15}


def test_groups_that_are_kept_apart_never_add_up():
    cloud = Cloud({"cmp01": Inventory(100, 100)})
    assert found(cloud, request([1, 2, 4], policy="isolate")) == {"cmp01": 4}
    assert not cloud.asked


def test_the_unsuffixed_group_adds_up_with_one_that_is_kept_apart():
    cloud = Cloud({"cmp01": Inventory(100, 100)})
    assert found(cloud, request([1, 2, 4], [10], "isolate")) == {"cmp01": 14}


def test_a_class_that_one_clause_asks_for_has_no_limit():
    assert not demands([request([1])])
