"""Flavors, images, hosts made different and servers, all taken back at the end."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tests.services.process import PATIENCE

if TYPE_CHECKING:
    from openstack.connection import Connection

#: The first version that gives a server's flavor and its host to the administrator.
COMPUTE = "2.74"
PLACEMENT = "1.36"
NO_PROPERTIES: Mapping[str, str] = {}


@dataclasses.dataclass(frozen=True)
class Boot:
    """How Nova answered one request for a server, and how that ended.

    :ivar request: the API's own ID of it, which all services log
    :ivar refused: the API's words, where it took no such request
    :ivar http: and the status of its answer
    :ivar fault: what the user is shown of a server in ERROR
    """

    request: str
    server: str = ""
    status: str = ""
    host: str | None = None
    refused: str = ""
    fault: str = ""
    http: int = 202


class Maker:
    """Makes things as the administrator; ``undo`` takes them back, the last first."""

    def __init__(self, admin: Connection) -> None:
        self.admin = admin
        self._made = contextlib.ExitStack()

    def undo(self) -> None:
        self._made.close()

    def after(self, function: Callable, *arguments: Any, **named: Any) -> None:
        """Call a function when everything that is made later has been taken back."""
        self._made.callback(function, *arguments, **named)

    def flavor(
        self,
        name: str,
        properties: Mapping[str, str] = NO_PROPERTIES,
        **attributes: Any,
    ) -> Any:
        """Make a flavor: 1 VCPU, 512 MB, 1 GB, but for what is said."""
        size = {"vcpus": 1, "ram": 512, "disk": 1, **attributes}
        made = self.admin.compute.create_flavor(name=name, **size)
        self.after(self.admin.compute.delete_flavor, made)
        if properties:
            self.admin.compute.create_flavor_extra_specs(made, dict(properties))
        return made

    def image(self, name: str, disk_format: str = "raw", **properties: str) -> str:
        """Make a public image without a byte of data, and return its ID."""
        body = {"name": name, "disk_format": disk_format, "visibility": "public"}
        answer = self.admin.image.post(
            "/images", json={**body, "container_format": "bare", **properties}
        )
        image = answer.json()["id"]
        self.after(self.admin.image.delete, f"/images/{image}")
        kind = {"Content-Type": "application/octet-stream"}
        self.admin.image.put(f"/images/{image}/file", data=b"", headers=kind)
        return image

    def aggregate(self, name: str, *hosts: str, **metadata: str) -> Any:
        """Make a host aggregate, which Nova mirrors into Placement."""
        compute = self.admin.compute
        zone = metadata.pop("availability_zone", None)
        made = compute.create_aggregate(name=name, availability_zone=zone)
        self.after(self._drop_aggregate, made)
        for host in hosts:
            compute.add_host_to_aggregate(made, host)
        if metadata:
            compute.set_aggregate_metadata(made, metadata)
        return made

    def dropped(self, name: str) -> None:
        """Have no aggregate of a name at the end, whoever makes it."""
        self.after(self.drops, name)

    def drops(self, name: str) -> None:
        """Delete the aggregate of a name, if there is one."""
        for found in self.admin.compute.aggregates():
            if found.name == name:
                for host in found.hosts or ():
                    self.admin.compute.remove_host_from_aggregate(found, host)
                self.admin.compute.delete_aggregate(found)

    def _drop_aggregate(self, made: Any) -> None:
        compute = self.admin.compute
        for host in compute.get_aggregate(made).hosts or ():
            compute.remove_host_from_aggregate(made, host)
        compute.delete_aggregate(made)

    def traits(self, name: str, *hosts: str) -> None:
        """Make a custom trait, and give it to hosts."""
        self.forgotten(name)
        self.admin.placement.put(f"/traits/{name}", microversion=PLACEMENT)
        self.gives(name, *hosts)

    def forgotten(self, name: str) -> None:
        """Have no custom trait of a name at the end, whoever makes it."""
        delete = self.admin.placement.delete
        self.after(delete, f"/traits/{name}", microversion=PLACEMENT)
        self.after(self._without, name)

    def gives(self, name: str, *hosts: str) -> None:
        """Give hosts a trait that Placement knows, and at the end leave it to none."""
        for host in hosts:
            self._change_traits(host, add=name)
        self.after(self._without, name)

    def takes(self, name: str, *hosts: str) -> None:
        """Take a trait from hosts, in a request or two: faster than any command."""
        for host in hosts:
            self._change_traits(host, remove=name)

    def _without(self, name: str) -> None:
        for host in providers(self.admin):
            self._change_traits(host, remove=name)

    def _change_traits(self, host: str, add: str = "", remove: str = "") -> None:
        path = f"/resource_providers/{providers(self.admin)[host]}/traits"
        found = self.admin.placement.get(path, microversion=PLACEMENT).json()
        wanted = ({*found["traits"], add} if add else {*found["traits"]}) - {remove}
        if wanted != set(found["traits"]):
            body = {**found, "traits": sorted(wanted)}
            answer = self.admin.placement.put(path, json=body, microversion=PLACEMENT)
            assert answer.status_code == 200, answer.text

    def provider(self, name: str) -> None:
        """Make a host like the first compute, which only Placement knows."""
        placement = self.admin.placement
        first = providers(self.admin)["cmp00"]
        like = placement.get(
            f"/resource_providers/{first}/traits", microversion=PLACEMENT
        ).json()["traits"]
        answer = placement.post(
            "/resource_providers", json={"name": name}, microversion=PLACEMENT
        )
        path = f"/resource_providers/{answer.json()['uuid']}"
        self.after(placement.delete, path, microversion=PLACEMENT)
        inventories = {
            "VCPU": {"total": 10, "max_unit": 10, "allocation_ratio": 4.0},
            "MEMORY_MB": {"total": 8192, "max_unit": 8192, "reserved": 512},
            "DISK_GB": {"total": 1028, "max_unit": 1028},
        }
        body = {"resource_provider_generation": 0, "inventories": inventories}
        answer = placement.put(f"{path}/inventories", json=body, microversion=PLACEMENT)
        assert answer.status_code == 200, answer.text
        body = {"resource_provider_generation": 1, "traits": like}
        answer = placement.put(f"{path}/traits", json=body, microversion=PLACEMENT)
        assert answer.status_code == 200, answer.text

    def unmirrored(self, host: str, aggregate: Any) -> None:
        """Let Placement lose a host from an aggregate; Nova keeps it there."""
        path = f"/resource_providers/{providers(self.admin)[host]}/aggregates"
        found = self.admin.placement.get(path, microversion=PLACEMENT).json()
        found["aggregates"].remove(aggregate.uuid)
        answer = self.admin.placement.put(path, json=found, microversion=PLACEMENT)
        assert answer.status_code == 200, answer.text

    def disabled(self, host: str, reason: str) -> None:
        """Disable a host's nova-compute."""
        (service,) = self.admin.compute.services(binary="nova-compute", host=host)
        self.admin.compute.disable_service(service, disabled_reason=reason)
        self.after(self.admin.compute.enable_service, service)

    def forced_down(self, host: str) -> None:
        """Force a host's nova-compute down, as if it had died."""
        (service,) = self.admin.compute.services(binary="nova-compute", host=host)
        path = f"/os-services/{service.id}"
        for is_down in (True, False):
            body = {"forced_down": is_down}
            put = functools.partial(
                self.admin.compute.put, path, json=body, microversion=COMPUTE
            )
            if is_down:
                assert put().status_code == 200
            else:
                self.after(put)

    def group(self, policy: str, name: str = "") -> str:
        """Make a server group, named as its policy by default, and return its ID."""
        compute = self.admin.compute
        body = {"server_group": {"name": name or policy, "policy": policy}}
        answer = compute.post("/os-server-groups", json=body, microversion=COMPUTE)
        identity = answer.json()["server_group"]["id"]
        self.after(compute.delete, f"/os-server-groups/{identity}")
        return identity

    def used(self, host: str, flavor: Any, image: str, **more: Any) -> None:
        """Use up some of a host by a server that is really there."""
        boot = self.boot(flavor, image, host=host, **more)
        assert boot.host == host, boot
        self.after(self.delete, boot)
        self._wait_without_tasks()

    def _wait_without_tasks(self, seconds: float = PATIENCE) -> None:
        """Return when no host reports a task.

        A host that counts its servers while it builds one reports a task until it
        counts them again, a minute later.
        """
        end = time.monotonic() + seconds
        while self._has_tasks():
            assert time.monotonic() < end, "a host goes on reporting a task"
            time.sleep(0.5)

    def _has_tasks(self) -> bool:
        found = self.admin.compute.get("/os-hypervisors/detail", microversion="2.61")
        return any(each["current_workload"] for each in found.json()["hypervisors"])

    def boot(
        self,
        flavor: Any,
        image: str,
        user: Connection | None = None,
        hints: Mapping[str, str] = NO_PROPERTIES,
        **more: Any,
    ) -> Boot:
        """Ask Nova for a server, and return when it is decided what becomes of it.

        :param user: who asks, if not the administrator
        :param hints: for the scheduler
        :param more: ``availability_zone`` or ``host``, and whatever else Nova takes;
            ``metadata`` can make it fail in the hypervisor
        """
        compute = (user or self.admin).compute
        body = {"name": "asked", "flavorRef": flavor.id, "imageRef": image}
        answer = compute.post(
            "/servers",
            json={
                "server": {**body, "networks": "none", **more},
                "os:scheduler_hints": dict(hints),
            },
            microversion=COMPUTE,
        )
        request = answer.headers["x-openstack-request-id"]
        if answer.status_code != 202:
            (error,) = answer.json().values()
            http = answer.status_code
            return Boot(request, refused=error["message"], http=http)
        server = answer.json()["server"]["id"]
        return dataclasses.replace(self.ended(server), request=request)

    def asked(self) -> list[str]:
        """Return the servers that were asked for at once."""
        path = "/servers?all_tenants=1&name=^asked-"
        return [each["id"] for each in self.admin.compute.get(path).json()["servers"]]

    def ended(self, server: str, seconds: float = PATIENCE) -> Boot:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.admin.compute.get(f"/servers/{server}", microversion=COMPUTE)
            body = found.json()["server"]
            if body["status"] != "BUILD":
                fault = body.get("fault", {}).get("message", "")
                host = body["OS-EXT-SRV-ATTR:host"]
                return Boot("", server, body["status"], host, fault=fault)
            time.sleep(0.05)
        raise AssertionError(f"server {server} is being built for {seconds} s")

    def acts(
        self,
        boot: Boot,
        action: Mapping[str, Any],
        seconds: float = PATIENCE,
        version: str = COMPUTE,
    ) -> Any:
        """Do something with a server, and return its body when that is over."""
        compute, path = self.admin.compute, f"/servers/{boot.server}"
        answer = compute.post(f"{path}/action", json=action, microversion=version)
        assert answer.status_code in (200, 202), answer.text
        # What the API only hands on has not begun at once.
        time.sleep(0.5)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            body = compute.get(path, microversion=COMPUTE).json()["server"]
            is_busy = body["status"] in ("BUILD", "MIGRATING")
            if not (body["OS-EXT-STS:task_state"] or is_busy):
                return body
            time.sleep(0.1)
        raise AssertionError(f"server {boot.server} is busy for {seconds} s: {body}")

    def delete(self, boot: Boot, seconds: float = PATIENCE) -> None:
        """Delete a server, and return when what it used is free again."""
        end = time.monotonic() + seconds
        self.admin.compute.delete(f"/servers/{boot.server}")
        while self._is_there(boot.server):
            assert time.monotonic() < end, f"server {boot.server} does not go"
            time.sleep(0.05)

    def _is_there(self, server: str) -> bool:
        if self.admin.compute.get(f"/servers/{server}").status_code != 404:
            return True
        path = f"/allocations/{server}"
        found = self.admin.placement.get(path, microversion=PLACEMENT).json()
        return bool(found["allocations"])


@contextlib.contextmanager
def factory(admin: Connection) -> Iterator[Maker]:
    """Take back at the end all that is made inside."""
    maker = Maker(admin)
    try:
        yield maker
    finally:
        maker.undo()


def providers(admin: Connection) -> dict[str, str]:
    """Return the UUIDs of all providers, by name."""
    body = admin.placement.get("/resource_providers", microversion=PLACEMENT).json()
    return {each["name"]: each["uuid"] for each in body["resource_providers"]}
