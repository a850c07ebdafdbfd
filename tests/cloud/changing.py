"""Changes of a real cloud by its own clients, each with its rows of diff and undone."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.cloud.factory import COMPUTE, PLACEMENT, Boot, Maker, providers
from tests.services.process import PATIENCE

SSD, GOLD = "CUSTOM_SSD", "CUSTOM_GOLD"
PATCH = "application/openstack-images-v2.1-json-patch"
Row = tuple[str, str, str]


class Place:
    """Six hosts in three zones, one of them isolated.

    ===== ======= ========= =====================
    host  zone    traits    besides
    ===== ======= ========= =====================
    cmp00 az-east SSD       server web
    cmp01 az-east SSD       server stays
    cmp02 az-east GOLD      isolated for GOLD
    cmp03 az-west
    cmp04 az-west SSD
    cmp05 az-south
    ===== ======= ========= =====================
    """

    def __init__(self, maker: Maker) -> None:
        self.maker, self.admin = maker, maker.admin
        self.compute, self.placement = self.admin.compute, self.admin.placement
        maker.traits(GOLD, "cmp02")
        maker.traits(SSD, "cmp00", "cmp01", "cmp04")
        self.cirros = maker.image("cirros")
        self.uefi = maker.image("uefi", hw_firmware_type="uefi")
        self.sev = maker.image("sev", hw_disk_bus="virtio")
        self.shared = maker.image("shared", visibility="shared")
        self.small = maker.flavor("small")
        self.medium = maker.flavor("medium", ram=2048)
        self.ssd = maker.flavor("ssd", {f"trait:{SSD}": "required"})
        self.gold = maker.flavor("gold", {f"trait:{GOLD}": "required"})
        self.avx = maker.flavor("avx", {"trait:HW_CPU_X86_AVX": "forbidden"})
        self.private = maker.flavor("private", is_public=False)
        self.big = maker.flavor("big", ram=6144)
        self.aggregates = {
            name: maker.aggregate(name, *hosts, **metadata)
            for name, hosts, metadata in (
                ("east", ("cmp00", "cmp01", "cmp02"), {"availability_zone": "az-east"}),
                ("west", ("cmp03", "cmp04"), {"availability_zone": "az-west"}),
                ("south", ("cmp05",), {"availability_zone": "az-south"}),
                ("gold", ("cmp02",), {f"trait:{GOLD}": "required"}),
                ("rack", ("cmp03",), {"rack": "r1", "power": "a"}),
            )
        }
        self.ha = maker.group("anti-affinity")
        self.web = self.boots("web", "cmp00", self.small)
        self.stays = self.boots("stays", "cmp01", self.small)

    def boots(self, name: str, host: str, flavor: Any, **more: Any) -> Boot:
        boot = self.maker.boot(flavor, self.cirros, host=host, name=name, **more)
        assert boot.host == host, boot
        self.maker.after(self.gone, boot)
        return boot

    def gone(self, boot: Boot) -> None:
        """Delete a server, if it is still there."""
        if self.compute.get(f"/servers/{boot.server}").status_code != 404:
            self.maker.delete(boot)

    def puts(self, host: str, what: str, change: Callable[[dict], Any]) -> Any:
        """Change a part of a host's provider; nova-compute may write meanwhile."""
        path = f"/resource_providers/{providers(self.admin)[host]}/{what}"
        status = 409
        while status == 409:
            body = self.placement.get(path, microversion=PLACEMENT).json()
            result = change(body)
            answer = self.placement.put(path, json=body, microversion=PLACEMENT)
            status = answer.status_code
        assert status == 200, answer.text
        return result

    def gives(self, trait: str, host: str) -> None:
        self.puts(host, "traits", lambda body: body["traits"].append(trait))

    def takes(self, trait: str, host: str) -> None:
        self.puts(host, "traits", lambda body: body["traits"].remove(trait))

    def inventory(self, host: str, resource_class: str, **values: Any) -> dict:
        """Set parts of an inventory, and return what they were."""

        def change(body: dict) -> dict:
            own = body["inventories"][resource_class]
            before = {key: own[key] for key in values}
            own.update(values)
            return before

        return self.puts(host, "inventories", change)

    def in_placement(self, host: str, aggregate: str, is_in: bool) -> None:
        """Put a host into an aggregate in Placement alone, or take it out."""

        def change(body: dict) -> None:
            act = body["aggregates"].append if is_in else body["aggregates"].remove
            act(self.aggregates[aggregate].uuid)

        self.puts(host, "aggregates", change)

    def post(self, path: str, **body: Any) -> Any:
        answer = self.compute.post(path, json=body, microversion=COMPUTE)
        assert answer.status_code < 300, answer.text
        return answer

    def metadata(self, aggregate: str, **values: str | None) -> None:
        path = f"/os-aggregates/{self.aggregates[aggregate].id}/action"
        self.post(path, set_metadata={"metadata": values})

    def patches(self, image: str, *operations: dict[str, Any]) -> None:
        answer = self.admin.image.patch(
            f"/images/{image}", json=list(operations), headers={"Content-Type": PATCH}
        )
        assert answer.status_code == 200, answer.text

    def specs(self, flavor: Any, **values: str) -> None:
        self.post(f"/flavors/{flavor.id}/os-extra_specs", extra_specs=values)

    def no_spec(self, flavor: Any, key: str) -> None:
        path = f"/flavors/{flavor.id}/os-extra_specs/{key}"
        assert self.compute.delete(path).status_code < 300

    def access(self, verb: str) -> None:
        demo = self.admin.identity.find_project("demo").id
        self.post(f"/flavors/{self.private.id}/action", **{verb: {"tenant": demo}})

    def moves(self, boot: Boot, host: str) -> None:
        self.maker.acts(boot, {"migrate": {"host": host}})
        self.post(f"/servers/{boot.server}/action", confirmResize=None)
        end = time.monotonic() + PATIENCE
        while (moved := self.maker.ended(boot.server)).status != "ACTIVE":
            assert time.monotonic() < end, moved
            time.sleep(0.1)
        assert moved.host == host


@dataclasses.dataclass(frozen=True)
class Changing:
    """A change: its rows of diff, and what makes it and takes it back.

    :ivar daily: whether its rows are only shown with --all
    """

    name: str
    make: Callable[[Place], contextlib.AbstractContextManager[None]]
    rows: tuple[Row, ...]
    daily: bool = False


CHANGES: dict[str, Changing] = {}


def change(*rows: Row, daily: bool = False) -> Callable[..., Any]:
    def add(function: Callable[[Place], Iterator[None]]) -> Any:
        made = contextlib.contextmanager(function)
        CHANGES[function.__name__] = Changing(function.__name__, made, rows, daily)
        return made

    return add


# What comes and goes by itself.


@change(("server", "fills", "is new"), ("host", "cmp03", "used"), daily=True)
def boots(place):
    boot = place.boots("fills", "cmp03", place.big)
    yield
    place.maker.delete(boot)


@change(("server", "member", "is new"), ("host", "cmp04", "used"), daily=True)
def boots_member(place):
    hints = {"group": place.ha}
    boot = place.boots("member", "cmp04", place.small, hints=hints)
    yield
    place.maker.delete(boot)


@change(
    ("server", "web", "cmp00 -> cmp01"),
    ("host", "cmp00", "used"),
    ("host", "cmp01", "used"),
    daily=True,
)
def moved(place):
    place.moves(place.web, "cmp01")
    yield
    place.moves(place.web, "cmp00")


@change(("server", "stays", "ACTIVE -> SHUTOFF"), daily=True)
def stopped(place):
    place.maker.acts(place.stays, {"os-stop": None})
    yield
    place.maker.acts(place.stays, {"os-start": None})


# Traits and inventories.


@change(("host", "cmp00", f"- {SSD}"))
def trait_lost(place):
    place.takes(SSD, "cmp00")
    yield
    place.gives(SSD, "cmp00")


@change(("host", "cmp03", f"+ {SSD}"))
def trait_gained(place):
    place.gives(SSD, "cmp03")
    yield
    place.takes(SSD, "cmp03")


@change(("host", "cmp02", f"- {GOLD}"))
def gold_lost(place):
    place.takes(GOLD, "cmp02")
    yield
    place.gives(GOLD, "cmp02")


@change(("host", "cmp03", "+ HW_CPU_X86_AVX"))
def forbidden_trait(place):
    place.gives("HW_CPU_X86_AVX", "cmp03")
    yield
    place.takes("HW_CPU_X86_AVX", "cmp03")


@change(("trait", "CUSTOM_NEW", "is new"), ("host", "cmp04", "+ CUSTOM_NEW"))
def trait_new(place):
    place.placement.put("/traits/CUSTOM_NEW", microversion=PLACEMENT)
    place.gives("CUSTOM_NEW", "cmp04")
    yield
    place.takes("CUSTOM_NEW", "cmp04")
    place.placement.delete("/traits/CUSTOM_NEW", microversion=PLACEMENT)


def of_inventory(host, resource_class, **values):
    def make(place):
        before = place.inventory(host, resource_class, **values)
        yield
        place.inventory(host, resource_class, **before)

    return make


for _name, _host, _class, _values, _text in (
    ("reserved", "cmp05", "MEMORY_MB", {"reserved": 7900}, "reserved RAM 512 -> 7900"),
    (
        *("ratio", "cmp05", "VCPU", {"allocation_ratio": 2.0}),
        "ratio VCPU 4.0 -> 2.0",
    ),
    ("total", "cmp05", "DISK_GB", {"total": 500}, "total disk 1028 -> 500"),
    ("unit", "cmp03", "MEMORY_MB", {"max_unit": 1024}, "max unit RAM 8192 -> 1024"),
    ("step", "cmp04", "MEMORY_MB", {"step_size": 1024}, "step size RAM 1 -> 1024"),
):
    _made = of_inventory(_host, _class, **_values)
    _made.__name__ = _name
    change(("host", _host, _text))(_made)


@change(("provider", "alien", "is new"))
def provider_new(place):
    made = Maker(place.admin)
    made.provider("alien")
    yield
    made.undo()


# Services.


@change(("host", "cmp01", 'disabled "DIMM, TICKET-4711"'))
def disabled(place):
    made = Maker(place.admin)
    made.disabled("cmp01", "DIMM, TICKET-4711")
    yield
    made.undo()


@change(("host", "cmp04", "nova-compute is down"))
def down(place):
    made = Maker(place.admin)
    made.forced_down("cmp04")
    yield
    made.undo()


# Aggregates and zones.


@change(("aggregate", "gold", "+ cmp05"))
def member_new(place):
    gold = place.aggregates["gold"]
    place.compute.add_host_to_aggregate(gold, "cmp05")
    yield
    place.compute.remove_host_from_aggregate(gold, "cmp05")


@change(("aggregate", "gold", "- cmp02"))
def member_gone(place):
    gold = place.aggregates["gold"]
    place.compute.remove_host_from_aggregate(gold, "cmp02")
    yield
    place.compute.add_host_to_aggregate(gold, "cmp02")


@change(("host", "cmp01", "- east in Placement"))
def unmirrored(place):
    place.in_placement("cmp01", "east", False)
    yield
    place.in_placement("cmp01", "east", True)


@change(("aggregate", "rack", "+ trait:CUSTOM_GOLD=required"))
def isolated(place):
    place.metadata("rack", **{f"trait:{GOLD}": "required"})
    yield
    place.metadata("rack", **{f"trait:{GOLD}": None})


@change(("aggregate", "rack", "power: a -> b"))
def metadata_changed(place):
    place.metadata("rack", power="b")
    yield
    place.metadata("rack", power="a")


@change(("aggregate", "rack", "- rack=r1"))
def metadata_gone(place):
    place.metadata("rack", rack=None)
    yield
    place.metadata("rack", rack="r1")


@change(("aggregate", "south", "availability_zone: az-south -> az-far"))
def zone_renamed(place):
    place.metadata("south", availability_zone="az-far")
    yield
    place.metadata("south", availability_zone="az-south")


@change(("aggregate", "rack2", "name: rack -> rack2"))
def aggregate_renamed(place):
    rack = place.aggregates["rack"]
    place.compute.update_aggregate(rack.id, name="rack2")
    yield
    place.compute.update_aggregate(rack.id, name="rack")


@change(("aggregate", "extra", "is new"))
def aggregate_new(place):
    made = Maker(place.admin)
    made.aggregate("extra", "cmp00", **{f"trait:{GOLD}": "required"})
    yield
    made.undo()


# Flavors.


@change(("flavor", "small", f"+ trait:{SSD}=required"))
def spec_new(place):
    place.specs(place.small, **{f"trait:{SSD}": "required"})
    yield
    place.no_spec(place.small, f"trait:{SSD}")


@change(("flavor", "ssd", f"trait:{SSD}: required -> forbidden"))
def spec_changed(place):
    place.specs(place.ssd, **{f"trait:{SSD}": "forbidden"})
    yield
    place.specs(place.ssd, **{f"trait:{SSD}": "required"})


@change(("flavor", "gold", f"- trait:{GOLD}=required"))
def spec_gone(place):
    place.no_spec(place.gold, f"trait:{GOLD}")
    yield
    place.specs(place.gold, **{f"trait:{GOLD}": "required"})


@change(("flavor", "fresh", "is new"))
def flavor_new(place):
    made = Maker(place.admin)
    made.flavor("fresh")
    yield
    made.undo()


@change(("flavor", "avx", "is gone"))
def flavor_gone(place):
    place.compute.delete_flavor(place.avx)
    yield
    place.compute.create_flavor(name="avx", vcpus=1, ram=512, disk=1, id=place.avx.id)
    place.specs(place.avx, **{"trait:HW_CPU_X86_AVX": "forbidden"})


@change(("flavor", "private", "+ project demo"))
def access_new(place):
    place.access("addTenantAccess")
    yield
    place.access("removeTenantAccess")


# Images and groups.


@change(("image", "cirros", "+ hw_firmware_type=uefi"))
def property_new(place):
    put = {"op": "add", "path": "/hw_firmware_type", "value": "uefi"}
    place.patches(place.cirros, put)
    yield
    place.patches(place.cirros, {"op": "remove", "path": "/hw_firmware_type"})


@change(("image", "uefi", "hw_firmware_type: uefi -> bios"))
def property_changed(place):
    put = {"op": "replace", "path": "/hw_firmware_type"}
    place.patches(place.uefi, {**put, "value": "bios"})
    yield
    place.patches(place.uefi, {**put, "value": "uefi"})


@change(("image", "sev", "- hw_disk_bus=virtio"))
def property_gone(place):
    place.patches(place.sev, {"op": "remove", "path": "/hw_disk_bus"})
    yield
    put = {"op": "add", "path": "/hw_disk_bus", "value": "virtio"}
    place.patches(place.sev, put)


@change(("image", "sev", "min_ram: 0 -> 1024"))
def image_larger(place):
    put = {"op": "replace", "path": "/min_ram"}
    place.patches(place.sev, {**put, "value": 1024})
    yield
    place.patches(place.sev, {**put, "value": 0})


@change(("image", "uefi2", "name: uefi -> uefi2"))
def image_renamed(place):
    put = {"op": "replace", "path": "/name"}
    place.patches(place.uefi, {**put, "value": "uefi2"})
    yield
    place.patches(place.uefi, {**put, "value": "uefi"})


@change(("image", "shared", "+ project demo (pending)"))
def image_shared(place):
    path = f"/images/{place.shared}/members"
    demo = place.admin.identity.find_project("demo").id
    answer = place.admin.image.post(path, json={"member": demo})
    assert answer.status_code == 200, answer.text
    yield
    place.admin.image.delete(f"{path}/{demo}")


@change(("server group", "soft-affinity", "is new"))
def group_new(place):
    made = Maker(place.admin)
    made.group("soft-affinity")
    yield
    made.undo()
