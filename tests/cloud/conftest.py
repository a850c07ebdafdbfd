"""One cloud for all tests of a run that use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.cloud.cloud import Cloud

if TYPE_CHECKING:
    from openstack.connection import Connection


@pytest.fixture(scope="session")
def cloud() -> Iterator[Cloud]:
    """A cloud of four computes that isolates aggregates by traits."""
    with Cloud() as cloud:
        yield cloud


@pytest.fixture(scope="session")
def admin(cloud: Cloud) -> Connection:
    """The cloud's administrator."""
    return cloud.admin()
