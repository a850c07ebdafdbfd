"""The cloud with Neutron and Cinder, and what makes things in it."""

from __future__ import annotations

import pytest

from tests.cloud.factory import factory
from tests.cloud.parts import Parts


@pytest.fixture(scope="module")
def admin(connected):
    return connected.admin()


@pytest.fixture(scope="module")
def lasting(admin):
    """Makes what all tests of a module share."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture(scope="module")
def small(lasting):
    return lasting.flavor("small")


@pytest.fixture
def make(admin):
    """Makes what one test needs."""
    with factory(admin) as maker:
        yield maker


@pytest.fixture
def parts(make):
    return Parts(make)
