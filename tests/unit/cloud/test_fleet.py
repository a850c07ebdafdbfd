"""Many servers, and the cells that do not show theirs."""

from __future__ import annotations

from osc_traitsched.cloud import fleet
from tests.unit.app.recorded import RecordedCloud


def test_the_hosts_of_a_cell_that_does_not_answer_are_those_of_status_unknown():
    """nova/api/openstack/compute/services.py, _get_service_detail"""
    services = [
        {"binary": "nova-compute", "host": "cmp1", "status": "UNKNOWN"},
        {"binary": "nova-compute", "host": "cmp2", "status": "disabled", "id": "2"},
        {"binary": "nova-compute", "host": "cmp3", "status": "enabled", "id": "3"},
    ]
    path = "/os-services?binary=nova-compute"
    cloud = RecordedCloud(compute={path: {"services": services}})
    assert fleet.silent_hosts(cloud) == {"cmp1"}
