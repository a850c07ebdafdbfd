"""The servers of one host, as Nova shows them to this user."""

from __future__ import annotations

import pytest

from osc_traitsched.cloud import servers
from osc_traitsched.core.errors import Hidden
from tests.unit.app.recorded import RecordedCloud
from tests.unit.core.residents import server


def test_servers_are_not_taken_for_those_of_no_host_where_nova_hides_hosts():
    body = {"status": "ACTIVE", **server("s1", "cmp1")}
    del body["OS-EXT-SRV-ATTR:host"]
    path = "/servers/detail?all_tenants=1&host=cmp1&limit=1000"
    cloud = RecordedCloud(compute={path: {"servers": [body]}})
    with pytest.raises(Hidden, match="os-extended-server-attributes"):
        servers.residents(cloud, "cmp1")
