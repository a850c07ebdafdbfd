"""Who Placement has in which aggregate, from the real Placement."""

from __future__ import annotations

import uuid

import pytest

from osc_traitsched.cloud import lookup
from tests.services.nova import HalfCloud, MadeUpNova

pytestmark = pytest.mark.one_client


@pytest.fixture
def service(placement):
    """Our way to Placement."""
    return HalfCloud(placement.url, MadeUpNova()).placement


@pytest.fixture
def thirty(placement):
    """Thirty aggregates of one provider each, as expected; and a place for more."""
    providers = [placement.add_host(f"cmp{n:02d}", traits=()) for n in range(30)]
    expected = {str(uuid.uuid4()): frozenset({each}) for each in providers}
    for aggregate, (provider,) in expected.items():
        put(placement, provider, [aggregate])
    return expected


@pytest.mark.full
def put(placement, provider, aggregates):
    body = {
        "resource_provider_generation": placement.generation(provider),
        "aggregates": aggregates,
    }
    placement.call("PUT", f"/resource_providers/{provider}/aggregates", body)


def test_thirty_aggregates_as_expected_are_told_in_seven_requests(service, thirty):
    assert lookup.members(service, thirty) == thirty
    assert service.requests == 7


def test_a_provider_that_is_elsewhere_is_told_exactly_by_one_request_more(
    placement, service, thirty
):
    first, second, *_ = thirty
    (provider,) = thirty[first]
    put(placement, provider, [second])
    found = lookup.members(service, thirty)
    assert found[first] == frozenset()
    assert found[second] == thirty[second] | {provider}
    assert service.requests == 8


def test_what_nova_has_and_placement_has_not_is_in_no_aggregate(service, thirty):
    first = next(iter(thirty))
    gone = str(uuid.uuid4())
    found = lookup.members(service, {**thirty, first: thirty[first] | {gone}})
    assert found == thirty


def test_when_nothing_is_expected_each_aggregate_is_asked_for(service, thirty):
    assert lookup.members(service, dict.fromkeys(thirty, frozenset())) == thirty
