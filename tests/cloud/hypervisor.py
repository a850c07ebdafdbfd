"""The hypervisor that the cloud's computes pretend to have. For the services' Python.

It is Nova's own fake driver, with an identity for each host: Nova keeps a compute
node's identity in one file per machine, and all computes here are on one.
"""

from __future__ import annotations

import uuid
from typing import Any

from nova.virt import fake


class Hypervisor(fake.MediumFakeDriver):
    """10 VCPU, 8 GB of memory and 1,028 GB of disk, on one node named as the host."""

    def get_available_resource(self, nodename: str) -> dict[str, Any]:
        resources = super().get_available_resource(nodename)
        return {**resources, "uuid": _identity(nodename)}

    def get_nodenames_by_uuid(self, refresh: bool = False) -> dict[str, str]:
        return {_identity(node): node for node in self.get_available_nodes()}


def install() -> None:
    """Make the driver known to Nova, which takes none from outside its own package."""
    fake.Hypervisor = Hypervisor


def _identity(node: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, node))
