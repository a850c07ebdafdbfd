"""The sample cloud of the documentation: python -m tests.cloud.sample.

Saves a real cloud as examples/yesterday.json, changes it, saves examples/cloud.json.
Only times, paths and the version of the tool are replaced.
"""

from __future__ import annotations

import json
import re
import sys
import time

from osc_traitsched.app import snapshot
from tests.cloud.cloud import ISOLATION, Cloud
from tests.cloud.factory import PLACEMENT, Maker, providers
from tests.functional import shell
from tests.services.environment import REPOSITORY

SSD, WINDOWS = "CUSTOM_SSD", "CUSTOM_WINDOWS"
EXAMPLES = REPOSITORY / "examples"
FILTERS = (
    "ComputeFilter,ComputeCapabilitiesFilter,ImagePropertiesFilter,"
    "ServerGroupAntiAffinityFilter,ServerGroupAffinityFilter,"
    "AggregateMultiTenancyIsolation"
)
OPTIONS = (
    ISOLATION,
    "scheduler.limit_tenants_to_placement_aggregate=true",
    f"filter_scheduler.enabled_filters={FILTERS}",
)
NOVA_CONF = f"""\
[scheduler]
enable_isolated_aggregate_filtering = true
limit_tenants_to_placement_aggregate = true
[filter_scheduler]
enabled_filters = {FILTERS}
"""
NOVA_CONF_PATH = "/etc/nova/nova.conf"

_SMALL = {"vcpus": 8, "memory_mb": 16384, "local_gb": 500, "disk_available_least": 500}
_LARGE = {k: 2 * v for k, v in _SMALL.items()}
HOSTS = {f"cmp{n:02d}": _SMALL if n < 2 else _LARGE for n in range(8)}

#: VCPUs, MB of memory, GB of disk and extra specs.
FLAVORS: dict[str, tuple[int, int, int, dict[str, str]]] = {
    "m1.small": (1, 2048, 20, {}),
    "m1.medium": (2, 4096, 40, {}),
    "m1.large": (4, 8192, 80, {}),
    "ssd.medium": (2, 4096, 40, {f"trait:{SSD}": "required"}),
    "ssd.large": (4, 8192, 80, {"trait:CUSTOM_SDD": "required"}),
    "win.medium": (2, 4096, 60, {f"trait:{WINDOWS}": "required"}),
    "r1.huge": (32, 65536, 200, {}),
}
#: Name, flavor, image and host of each server of project shop.
SERVERS = (
    ("web-1", "m1.medium", "ubuntu-24.04", "cmp00"),
    ("web-2", "m1.medium", "ubuntu-24.04", "cmp02"),
    ("batch-1", "m1.medium", "ubuntu-24.04", "cmp00"),
    ("batch-2", "m1.medium", "ubuntu-24.04", "cmp00"),
    ("db-1", "ssd.medium", "ubuntu-24.04", "cmp01"),
    ("log-1", "m1.medium", "ubuntu-24.04", "cmp01"),
    ("cache-1", "m1.small", "ubuntu-24.04", "cmp01"),
    ("app-1", "m1.large", "ubuntu-24.04", "cmp02"),
    ("app-2", "m1.large", "ubuntu-24.04", "cmp02"),
    ("app-3", "m1.large", "ubuntu-24.04", "cmp03"),
    ("mail-1", "m1.small", "ubuntu-24.04", "cmp04"),
    ("win-1", "win.medium", "windows-2022", "cmp06"),
    ("win-2", "win.medium", "windows-2022", "cmp07"),
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?")
_PACKAGES = re.compile(r"/[^ \"]+/site-packages")
YESTERDAY, TODAY = "2026-11-25T06:00:00", "2026-11-26T06:00:00"
#: When the servers of yesterday were made, and when the night's server failed.
BEFORE, AT_NIGHT = "2026-11-20T09:00:00", "2026-11-26T03:12:00"


def build(make: Maker) -> Maker:
    """The cloud as of yesterday; returns what makes things of project shop."""
    admin = make.admin
    make.traits(SSD, "cmp00", "cmp01")
    make.traits(WINDOWS, "cmp06", "cmp07")
    acme, shop = (project(make, name) for name in ("acme", "shop"))
    images = {
        "ubuntu-24.04": make.image("ubuntu-24.04"),
        "windows-2022": make.image(
            "windows-2022", os_type="windows", **{f"trait:{WINDOWS}": "required"}
        ),
        "debian-12-arm64": make.image("debian-12-arm64", hw_architecture="aarch64"),
    }
    flavors = {
        name: make.flavor(name, specs, vcpus=vcpus, ram=ram, disk=disk)
        for name, (vcpus, ram, disk, specs) in FLAVORS.items()
    }
    private = make.flavor("acme.large", vcpus=4, ram=8192, disk=80, is_public=False)
    tenant = acme.admin.current_project_id
    admin.compute.flavor_add_tenant_access(private, tenant)
    hosts = sorted(HOSTS)
    make.aggregate("east", *hosts[:4], availability_zone="az-east")
    make.aggregate("west", *hosts[4:], availability_zone="az-west")
    make.aggregate("windows", "cmp06", "cmp07", **{f"trait:{WINDOWS}": "required"})
    make.aggregate("acme", "cmp05", filter_tenant_id=tenant)
    hints = {"group": shop.group("anti-affinity", "web")}
    for name, flavor, image, host in SERVERS:
        boot = shop.boot(
            flavors[flavor],
            images[image],
            hints=hints if name.startswith("web-") else {},
            host=host,
            name=name,
        )
        assert boot.host == host, (name, boot)
        if name == "batch-2":
            shop.acts(boot, {"os-stop": None})
    # db-1 keeps what its flavor required when it was built.
    admin.compute.delete_flavor_extra_specs_property(
        flavors["ssd.medium"], f"trait:{SSD}"
    )
    ubuntu = images["ubuntu-24.04"]
    acme.used("cmp05", private, ubuntu, name="acme-1")
    return shop


def project(make: Maker, name: str) -> Maker:
    """Make a project, and return what makes things in it."""
    identity = make.admin.identity
    made = identity.create_project(name=name, domain_id="default")
    role = identity.find_role("admin")
    identity.assign_project_role_to_user(made, make.admin.current_user_id, role)
    return Maker(make.admin.connect_as_project(made))


def change(make: Maker, shop: Maker) -> None:
    """Change what costs hosts; then a server fails."""
    compute = make.admin.compute
    flavor = compute.find_flavor("ssd.medium")
    compute.create_flavor_extra_specs(flavor, {f"trait:{SSD}": "required"})
    reserve(make, "cmp01", 4096)
    make.takes(WINDOWS, "cmp07")
    make.disabled("cmp04", "bad DIMM, ticket 4711")
    image = make.admin.image.find_image("ubuntu-24.04").id
    boot = shop.boot(flavor, image, name="db-2")
    assert boot.status == "ERROR", boot


def reserve(make: Maker, host: str, memory: int) -> None:
    """Reserve MB of a host's memory, as its nova.conf would."""
    placement = make.admin.placement
    path = f"/resource_providers/{providers(make.admin)[host]}/inventories/MEMORY_MB"
    body = placement.get(path, microversion=PLACEMENT).json()
    answer = placement.put(
        path, json={**body, "reserved": memory}, microversion=PLACEMENT
    )
    assert answer.status_code == 200, answer.text


class Camera:
    """Saves a cloud into the examples, with plain times instead of this minute's."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._nova_conf = cloud.state / "sample.conf"
        self._nova_conf.write_text(NOVA_CONF, encoding="utf-8")
        self._yesterday = ""

    def save(self, name: str, moment: str) -> None:
        file = self._cloud.state / name
        command = ("trait-sched", "snapshot", "save", str(file))
        options = ("--nova-conf", str(self._nova_conf))
        done = shell.run(self._cloud.environment, *command, *options)
        assert done.code == 0, done.err
        document = json.loads(file.read_text("utf-8"))
        if not self._yesterday:
            self._yesterday = document["time"]
        plain = json.loads(self._plain(json.dumps(document)))
        plain |= {"time": f"{moment}Z", "seconds": 1.0, "tool": "osc-traitsched 1.0.0"}
        plain["settings"]["place"] = NOVA_CONF_PATH
        for service in plain["compute"]["services"]:
            service["updated_at"] = moment
        snapshot.write(str(EXAMPLES / name), plain)
        (EXAMPLES / name).chmod(0o644)

    def _plain(self, text: str) -> str:
        def moved(found: re.Match[str]) -> str:
            return BEFORE if found[0] < self._yesterday else AT_NIGHT

        text = _PACKAGES.sub("/usr/lib/python3/dist-packages", _TIME.sub(moved, text))
        return text.replace(str(self._nova_conf), NOVA_CONF_PATH)


def main() -> None:
    with Cloud(computes=len(HOSTS), nova_options=OPTIONS, hypervisors=HOSTS) as cloud:
        make, camera = Maker(cloud.admin()), Camera(cloud)
        shop = build(make)
        camera.save("yesterday.json", YESTERDAY)
        # Times count seconds: what changes now is later than what was saved.
        time.sleep(1)
        change(make, shop)
        camera.save("cloud.json", TODAY)


if __name__ == "__main__":
    sys.exit(main())
