"""A server whose resize failed, for databases of a Nova without services."""

from __future__ import annotations

#: The ID of the server.
REQUESTED = "5e000009-0000-4000-8000-000000000000"
FLAVOR = {
    "name": "gold",
    "flavorid": "g1",
    "memory_mb": 512,
    "vcpus": 1,
    "root_gb": 1,
    "ephemeral_gb": 0,
    "swap": 0,
    "rxtx_factor": 1.0,
    "disabled": False,
    "is_public": True,
    "extra_specs": {},
}
IMAGE = {
    "id": REQUESTED,
    "name": "raw",
    "owner": "s3cret-owner",
    "disk_format": "raw",
    "container_format": "bare",
    "min_disk": 0,
    "min_ram": 0,
    "properties": {
        "hw_disk_bus": "scsi",
        "hw_numa_nodes": "2",
        "hw_numa_cpus.0": "0",
        "hw_numa_cpus.1": "1",
        "hw_numa_mem.0": "256",
        "hw_numa_mem.1": "256",
        "trait:CUSTOM_GOLD": "required",
        "my_key": "s3cret-value",
    },
}
