"""Many servers, and the cells that do not show theirs."""

from __future__ import annotations

from osc_traitsched.cloud import servers
from tests.unit.app.recorded import RecordedCloud
from tests.unit.core.residents import server


def test_the_hosts_of_a_cell_that_does_not_answer_are_those_of_status_unknown():
    """nova/api/openstack/compute/services.py, _get_service_detail"""
    services = [
        {"binary": "nova-compute", "host": "cmp1", "status": "UNKNOWN"},
        {"binary": "nova-compute", "host": "cmp2", "status": "disabled", "id": "2"},
        {"binary": "nova-compute", "host": "cmp3", "status": "enabled", "id": "3"},
    ]
    path = "/os-services?binary=nova-compute"
    cloud = RecordedCloud(compute={path: {"services": services}})
    assert servers.silent_hosts(cloud) == {"cmp1"}


def test_a_server_that_moves_between_two_hosts_is_read_once():
    moved = [server("s1", host) for host in ("a", "b")]
    path = "/servers/detail?all_tenants=1&limit=1000&host="
    pages = {
        f"{path}a": moved[:1],
        f"{path}a&marker={moved[0]['id']}": [],
        f"{path}b": [moved[1], server("s2", "b")],
        f"{path}b&marker={server('s2', 'b')['id']}": [],
    }
    cloud = RecordedCloud(compute={k: {"servers": v} for k, v in pages.items()})
    found = servers.fleet(cloud, ["b", "a"])
    assert [(each.name, each.host) for each in found.residents] == [
        ("s1", "a"),
        ("s2", "b"),
    ]
