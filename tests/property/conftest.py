"""The same real Placement as the functional tests'."""

from __future__ import annotations

import openstack
import pytest

pytest.register_assert_rewrite("tests.property.checks")

from osc_traitsched.cloud.connection import HttpCloud  # noqa: E402
from osc_traitsched.cloud.service import Service  # noqa: E402
from tests.functional.conftest import placement, server  # noqa: E402
from tests.services.placement import PlacementServer  # noqa: E402

__all__ = ["placement", "server", "service"]


@pytest.fixture(scope="session")
def service(server: PlacementServer) -> Service:
    """The placement service as the commands use it."""
    auth = {"endpoint": server.url, "token": "admin"}
    sdk = openstack.connect(
        load_yaml_config=False, load_envvars=False, auth_type="admin_token", auth=auth
    )
    return HttpCloud(sdk).placement
