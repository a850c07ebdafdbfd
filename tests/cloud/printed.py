"""What the documentation prints of commands, and the clouds that it is printed of."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import textwrap
from collections.abc import Callable, Iterator

from tests.cloud.factory import Maker
from tests.services.environment import REPOSITORY

GOLD = "CUSTOM_GOLD"
_SIZE = {"vcpus": 4, "ram": 4096, "disk": 20}
_LEFT_OUT = "[...]"
_HEADING = re.compile(r"^(\S.*)\n=+$", re.MULTILINE)
_BLOCK = re.compile(
    r"^( *)\.\. code-block:: console\n\n((?:\1 +.*\n|\n)+)", re.MULTILINE
)
#: What differs from cloud to cloud: UUIDs, projects, and the IDs of aggregates.
_ID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b"
    r"|(?<=aggregate add host )\d+"
)


@dataclasses.dataclass(frozen=True)
class Printed:
    """A command and its output as a page has them.

    :ivar scene: the heading that it stands under
    :ivar output: lines; ``[...]`` stands for any others
    """

    page: str
    scene: str
    number: int
    command: str
    output: tuple[str, ...]

    def differs_from(self, found: str) -> str:
        """Return the first part of the page's output that a cloud's has not."""
        rest = _plain(found)
        parts = _plain("\n".join(self.output)).split(_LEFT_OUT)
        for number, part in enumerate(parts):
            wanted = part.strip("\n")
            place = rest.find(wanted)
            is_first = number == 0 and place > 0
            is_last = number == len(parts) - 1 and wanted and not rest.endswith(wanted)
            if place < 0 or is_first or is_last:
                return wanted
            rest = rest[place + len(wanted) :]
        return ""


def _plain(text: str) -> str:
    lines = (line.rstrip() for line in _ID.sub("ID", text).splitlines())
    return "\n".join(lines).strip("\n")


def blocks(page: str, verb: str = "") -> Iterator[Printed]:
    """Yield the blocks of a page that show a command of a verb, or any command."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    headings = [(found.start(), found[1]) for found in _HEADING.finditer(text)]
    numbers: dict[str, int] = {}
    for block in _BLOCK.finditer(text):
        first, *output = textwrap.dedent(block[2]).strip("\n").splitlines()
        if not f"{first} ".startswith(f"$ openstack trait-sched {verb}".rstrip() + " "):
            continue
        scene = [title for start, title in headings if start < block.start()][-1]
        numbers[scene] = numbers.get(scene, 0) + 1
        if output and not output[0].startswith("$ "):
            command = first.removeprefix("$ ")
            yield Printed(page, scene, numbers[scene], command, tuple(output))


def scene_of(printed: Printed) -> Callable[[Maker], None]:
    """Return what makes the cloud that a block is of."""
    where = (pathlib.PurePath(printed.page).stem, printed.scene)
    return _SCENES.get((*where, printed.number)) or _SCENES[(*where, 0)]


def _flavors(make: Maker) -> None:
    make.image("rocky", "qcow2")
    make.flavor("gold", {f"trait:{GOLD}": "required"}, **_SIZE)
    make.flavor("large", vcpus=8, ram=16384, disk=40)


def _alone(make: Maker) -> None:
    _flavors(make)
    make.traits(GOLD)


def _with_silver(make: Maker) -> None:
    _alone(make)
    make.flavor("silver", **_SIZE)


def _busy(make: Maker) -> None:
    """One host is disabled, and one has no room."""
    _with_silver(make)
    large = make.flavor("used", vcpus=2, ram=6144, disk=10)
    make.used("cmp01", large, make.image("of-the-used-one"))
    make.disabled("cmp00", "new DIMMs, till Friday")
    make.gives(GOLD, "cmp00", "cmp01")


def _gold(make: Maker) -> None:
    """Two of the hosts have the trait, and the image is raw."""
    _with_silver(make)
    make.image("rocky-raw")
    make.gives(GOLD, "cmp00", "cmp01")


def _east(make: Maker) -> None:
    _gold(make)
    make.aggregate("east", "cmp00", "cmp01", availability_zone="az-east")


def _vip(make: Maker) -> None:
    _gold(make)
    demo = make.admin.identity.find_project("demo").id
    make.aggregate("vip", "cmp02", filter_tenant_id=demo)


def _golden(make: Maker) -> None:
    _gold(make)
    required = {f"trait:{GOLD}": "required"}
    make.aggregate("golden", "cmp00", **required)


def _zoned(make: Maker) -> None:
    _with_silver(make)
    rack = make.aggregate("rack2", "cmp03", availability_zone="az2")
    make.unmirrored("cmp03", rack)


def _racks(make: Maker) -> None:
    """Aggregates and flavors that host filters compare; the image is raw."""
    make.image("rocky-raw")
    ssd, disks = (f"aggregate_instance_extra_specs:{key}" for key in ("ssd", "disks"))
    make.flavor("fast", {ssd: "true"}, **_SIZE)
    make.flavor("many", {disks: ">= four"}, **_SIZE)
    make.flavor("gpu", {"pci_passthrough:alias": "t4:1"}, **_SIZE)
    make.aggregate("ssd", "cmp00", "cmp01", ssd="true", disks="8")
    make.aggregate("hdd", "cmp02", ssd="false", disks="2")


def _grouped(make: Maker) -> None:
    """A small server of a group is on one of the hosts."""
    image = make.image("rocky-raw")
    make.flavor("silver", **_SIZE)
    hints = {"group": make.group("affinity")}
    boot = make.boot(make.flavor("member"), image, host="cmp01", hints=hints)
    make.after(make.delete, boot)


def _unlike(make: Maker) -> None:
    """No two hosts have the same memory free, and one has too little."""
    image = make.image("rocky-raw")
    make.flavor("silver", **_SIZE)
    for host, ram in (("cmp00", 6144), ("cmp01", 2048), ("cmp02", 1024)):
        used = make.flavor(f"on-{host}", vcpus=2, ram=ram, disk=10)
        make.used(host, used, image)


def _stacked(make: Maker) -> None:
    """One of them has a multiplier of its own."""
    _unlike(make)
    make.aggregate("stacked", "cmp01", ram_weight_multiplier="-1.0")


def _failed(make: Maker) -> None:
    """A server found no host; then one of the hosts got room for it."""
    make.traits(GOLD, "cmp00", "cmp01")
    image = make.image("rocky")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"}, **_SIZE)
    large = make.flavor("large", ram=6144)
    make.used("cmp00", large, image)
    away = make.boot(large, image, host="cmp01")
    boot = make.boot(gold, image, name="web-3")
    make.after(make.delete, boot)
    make.delete(away)


def _pinned(make: Maker) -> None:
    """A server can't be moved live to the only host that it could be moved to."""
    make.traits(GOLD, "cmp01", "cmp02")
    image = make.image("rocky")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    fails = {"fails": "move"}
    boot = make.boot(gold, image, host="cmp01", name="db-1", metadata=fails)
    make.after(make.delete, boot)
    make.acts(boot, {"os-migrateLive": {"host": None, "block_migration": "auto"}})


def _left_behind(make: Maker) -> None:
    """A host lost the trait that its server requires, and one was isolated by it."""
    make.traits(GOLD, "cmp00", "cmp01")
    image = make.image("rocky")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    small = make.flavor("small")
    placed = (
        ("web-1", gold, "cmp00"),
        ("web-2", gold, "cmp01"),
        ("db-1", small, "cmp00"),
        ("db-2", small, "cmp00"),
        ("db-3", small, "cmp02"),
    )
    for name, flavor, host in placed:
        boot = make.boot(flavor, image, host=host, name=name)
        make.after(make.delete, boot)
    make.takes(GOLD, "cmp01")
    make.aggregate("licensed", "cmp00", **{f"trait:{GOLD}": "required"})


def _half_gold(make: Maker) -> None:
    """One of two hosts of an isolated aggregate lacks its trait."""
    make.traits(GOLD, "cmp00")
    make.flavor("gold", {f"trait:{GOLD}": "required"})
    make.aggregate("gold", "cmp00", "cmp01", **{f"trait:{GOLD}": "required"})


def _draining(make: Maker) -> None:
    """A host has servers of all kinds, and one that no other host could take."""
    make.traits(GOLD, "cmp00")
    image = make.image("rocky-raw")
    large = make.flavor("large", vcpus=2, ram=2048, disk=20)
    small = make.flavor("small")
    gold = make.flavor("gold", {f"trait:{GOLD}": "required"})
    servers = (("web-1", small), ("db-1", large), ("batch-1", small), ("gold-1", gold))
    for name, flavor in servers:
        boot = make.boot(flavor, image, host="cmp00", name=name)
        make.after(make.delete, boot)
        if name == "batch-1":
            make.acts(boot, {"os-stop": None})
    used = make.flavor("used", ram=4096)
    for host in ("cmp01", "cmp02"):
        make.used(host, used, image)


def _filling(make: Maker) -> None:
    """Two zones; one host is isolated, one disabled, and one short of memory."""
    make.traits(GOLD, "cmp00")
    make.aggregate("east", "cmp01", "cmp03", availability_zone="az-east")
    make.aggregate("golden", "cmp00", **{f"trait:{GOLD}": "required"})
    image = make.image("rocky")
    make.flavor("small")
    large = make.flavor("large", vcpus=2, ram=2048, disk=10)
    make.flavor("gold", {f"trait:{GOLD}": "required"}, **_SIZE)
    make.flavor("numa", {"hw:numa_nodes": "2"}, **_SIZE)
    boot = make.boot(large, image, host="cmp01", name="web-1")
    make.after(make.delete, boot)
    make.used("cmp02", make.flavor("batch", ram=7680), image)
    make.disabled("cmp03", "new DIMMs, till Friday")


def before_changes(make: Maker) -> None:
    """Two hosts can take a golden server."""
    _flavors(make)
    make.flavor("silver", vcpus=2, ram=2048, disk=20)
    make.traits(GOLD, "cmp00", "cmp01")
    make.aggregate("east", "cmp00", "cmp01", "cmp02")


def changes(make: Maker) -> None:
    """No host can take one any more, and a golden server has failed."""
    compute = make.admin.compute
    make.takes(GOLD, "cmp00")
    make.disabled("cmp01", "new DIMMs, till Friday")
    (east,) = (a for a in compute.aggregates() if a.name == "east")
    compute.remove_host_from_aggregate(east, "cmp02")
    gold, silver = (compute.find_flavor(name) for name in ("gold", "silver"))
    compute.create_flavor_extra_specs(silver, {"hw:cpu_policy": "shared"})
    image = make.admin.image.find_image("rocky").id
    boot = make.boot(gold, image, name="web-3")
    make.after(make.delete, boot)


#: By the page's name, the heading and the number of the block below it; 0 is any.
_SCENES: dict[tuple[str, str, int], Callable[[Maker], None]] = {
    ("flavor", "Why did it fail?", 0): _busy,
    ("flavor", "The whole answer", 0): _busy,
    ("flavor", "Flavors, images, one host", 0): _busy,
    ("flavor", "Frequent causes", 1): _flavors,
    ("flavor", "Frequent causes", 2): _zoned,
    ("flavor", "Frequent causes", 3): _alone,
    ("flavor", "A server in ERROR", 1): _failed,
    ("flavor", "A server in ERROR", 3): _pinned,
    ("host-filters", "Host filters", 0): _racks,
    ("host-filters", "The answer is unknown", 0): _racks,
    ("host-filters", "A filter raises", 0): _racks,
    ("host-filters", "A group or a hint", 0): _grouped,
    ("weighers", "Weighers", 0): _unlike,
    ("weighers", "Stack or spread", 0): _unlike,
    ("weighers", "Stack or spread", 2): _stacked,
    ("drain", "Servers on the wrong host", 0): _left_behind,
    ("drain", "Empty a host", 0): _draining,
    ("capacity", "How many more servers of a flavor fit", 0): _filling,
    ("capacity", "Zones, aggregates and hosts", 0): _filling,
    ("capacity", "If a host is lost", 0): _filling,
    ("capacity", "If hosts are added", 0): _filling,
    ("capacity", "If nova.conf changes", 0): _filling,
    ("capacity", "An alert and a nightly check", 0): _filling,
    ("checks", "Checks", 0): _half_gold,
    ("prefilters", "Traits", 0): _gold,
    ("prefilters", "Availability zones", 0): _east,
    ("prefilters", "Image type", 0): _gold,
    ("prefilters", "Projects", 0): _vip,
    ("prefilters", "Isolation", 0): _golden,
}
