"""The hypervisor that the cloud's computes pretend to have. For the services' Python.

It is Nova's own fake driver, with an identity for each host: Nova keeps a compute
node's identity in one file per machine, and all computes here are on one. What else is
different about a host is in a file of the cloud's state.
"""

from __future__ import annotations

import json
import pathlib
import uuid
from typing import Any

import nova.conf
from nova import exception
from nova.virt import fake

#: For each host that differs what it reports, and ``stays``: that a server may be
#: migrated cold to where it is.
DIFFERENT = "hypervisors.json"


class Hypervisor(fake.MediumFakeDriver):
    """10 VCPU, 8 GB of memory and 1,028 GB of disk, on one node named as the host."""

    def get_available_resource(self, nodename: str) -> dict[str, Any]:
        resources = super().get_available_resource(nodename)
        reported = {k: v for k, v in _different(nodename).items() if k in resources}
        return {**resources, "uuid": _identity(nodename), **reported}

    def init_host(self, host: str) -> None:
        super().init_host(host)
        if _different(host).get("stays"):
            stays = {"supports_migrate_to_same_host": True}
            self.capabilities = {**self.capabilities, **stays}

    def spawn(self, context: Any, instance: Any, *others: Any, **named: Any) -> None:
        if _fails(instance, "spawn"):
            raise exception.ComputeResourcesUnavailable(reason="made to fail")
        if _fails(instance, "abort"):
            raise exception.BuildAbortException(
                instance_uuid=instance.uuid, reason="made to fail"
            )
        super().spawn(context, instance, *others, **named)

    def check_can_live_migrate_destination(
        self, context: Any, instance: Any, *others: Any, **named: Any
    ) -> Any:
        if _fails(instance, "move"):
            raise exception.MigrationPreCheckError(reason="made to stay")
        return super().check_can_live_migrate_destination(
            context, instance, *others, **named
        )

    def get_nodenames_by_uuid(self, refresh: bool = False) -> dict[str, str]:
        return {_identity(node): node for node in self.get_available_nodes()}


def _fails(instance: Any, where: str) -> bool:
    """Tell whether a server is made to fail somewhere, by its metadata."""
    return bool(instance.metadata.get("fails") == where)


def install() -> None:
    """Make the driver known to Nova, which takes none from outside its own package."""
    fake.Hypervisor = Hypervisor


def _different(node: str) -> dict[str, Any]:
    file = pathlib.Path(nova.conf.CONF.state_path) / DIFFERENT
    return dict(json.loads(file.read_text()).get(node, {})) if file.exists() else {}


def _identity(node: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, node))
