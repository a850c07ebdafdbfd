"""What Neutron's agents would say of the cloud's hosts, as values.

=========== ====================== ==================================================
physnet     on                     by
=========== ====================== ==================================================
everywhere  all hosts              Open vSwitch, with 10 Gbit/s each way
rack0       cmp00 and cmp01        Open vSwitch, with 10 Gbit/s each way
rack1       cmp02 and cmp03, ...   Open vSwitch, with 10 Gbit/s each way
devices     cmp00                  SR-IOV
=========== ====================== ==================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: In kilobits and in thousands of packets, in a second.
BANDWIDTH = 10_000_000
PACKET_RATE = 1_000
HOSTS_IN_A_RACK = 2

Report = dict[str, Any]
_DEFAULTS = {
    "allocation_ratio": 1.0,
    "min_unit": 1,
    "step_size": 1,
    "reserved": 0,
}


def reports(computes: int) -> Iterator[Report]:
    """Yield what each agent reports when it starts."""
    for number in range(computes):
        yield _open_vswitch(f"cmp{number:02d}", f"rack{number // HOSTS_IN_A_RACK}")
    yield _devices("cmp00")


def _open_vswitch(host: str, rack: str) -> Report:
    bridges = {"everywhere": "br-all", rack: "br-rack"}
    width = {"egress": BANDWIDTH, "ingress": BANDWIDTH}
    configuration = {
        "bridge_mappings": bridges,
        "integration_bridge": "br-int",
        "datapath_type": "system",
        "tunnel_types": [],
        "tunneling_ip": "",
        "resource_provider_bandwidths": dict.fromkeys(bridges.values(), width),
        "resource_provider_inventory_defaults": _DEFAULTS,
        "resource_provider_hypervisors": dict.fromkeys(bridges.values(), host),
        "resource_provider_packet_processing_without_direction": {
            host: {"any": PACKET_RATE}
        },
        "resource_provider_packet_processing_inventory_defaults": _DEFAULTS,
    }
    kind = "Open vSwitch agent"
    return _report(kind, "neutron-openvswitch-agent", host, configuration)


def _devices(host: str) -> Report:
    configuration = {
        "device_mappings": {"devices": ["ens5"]},
        "resource_provider_bandwidths": {},
        "resource_provider_inventory_defaults": _DEFAULTS,
        "resource_provider_hypervisors": {},
    }
    kind = "NIC Switch agent"
    return _report(kind, "neutron-sriov-nic-agent", host, configuration)


def _report(kind: str, binary: str, host: str, configuration: Report) -> Report:
    return {
        "agent_type": kind,
        "binary": binary,
        "host": host,
        "topic": "N/A",
        "configurations": configuration,
        "start_flag": True,
    }
