"""A small cloud of recorded answers: no HTTP, no client, no login.

Three hosts: cmp01 can take the flavor gold, cmp02 lacks its trait, and cmp03 has the
trait, no memory left, and is missing in Placement's aggregate. cmp01 has a GPU.
"""

from __future__ import annotations

from urllib import parse

from tests.services.nova import FIGURES
from tests.services.pages import after

CMP01, CMP02, CMP03, GPU = (f"c000000{n}-0000-4000-8000-000000000000" for n in "1234")
GOLD, ZONE1 = (f"a000000{n}-0000-4000-8000-000000000000" for n in "12")
IMAGE = "1a000001-0000-4000-8000-000000000000"
OWN, OTHER = "5a1e0000000000000000000000000001", "5a1e0000000000000000000000000002"

#: Of each host; only memory is in use.
CAPACITY = {"VCPU": 64, "MEMORY_MB": 65024, "DISK_GB": 900}
TRAITS = {
    CMP01: ["COMPUTE_NODE", "CUSTOM_GOLD", "HW_CPU_X86_AVX512F"],
    CMP02: ["COMPUTE_NODE", "HW_CPU_X86_AVX512F"],
    CMP03: ["COMPUTE_NODE", "CUSTOM_GOLD"],
    GPU: ["CUSTOM_A100"],
}
NAMES = {CMP01: "cmp01", CMP02: "cmp02", CMP03: "cmp03", GPU: "cmp01_gpu"}
ROOTS = {CMP01: CMP01, CMP02: CMP02, CMP03: CMP03, GPU: CMP01}
MEMORY_USED = {CMP01: 8192, CMP02: 8192, CMP03: 64512}

#: Options that would change answers on this cloud, and are known to be off.
KNOWN_OFF = tuple(
    (f"scheduler.{key}", "false")
    for key in (
        "enable_isolated_aggregate_filtering",
        "query_placement_for_image_type_support",
    )
)


class RecordedService:
    """Answers a GET by its path and query, and raises KeyError for all others.

    :param bodies: by path and query; an exception is raised instead
    :ivar asked: what was asked for so far
    :ivar written: paths and bodies of what was put
    :ivar when_put: is called with the path before a PUT is carried out
    """

    def __init__(self, service_type, bodies):
        self.service_type = service_type
        self.asked = []
        self.written = []
        self.when_put = lambda path: None
        self._bodies = {_normal(key): body for key, body in bodies.items()}

    def get(self, path, params=None, microversion=None, timeout=None):
        query = {**(params or {})}
        marker = query.pop("marker", None)
        if query:
            path += ("&" if "?" in path else "?") + parse.urlencode(query)
        self.asked.append(_normal(path))
        body = self._bodies[self.asked[-1]]
        if isinstance(body, Exception):
            raise body
        return body if marker is None else after({"marker": marker}, body)

    def now_has(self, path, body):
        self._bodies[_normal(path)] = body

    def put(self, path, body=None, timeout=None):
        self.when_put(path)
        self.written.append((path, body))


class RecordedCloud:
    """Services that answer what was recorded.

    :param more: bodies by service type, path and query, beside those that always are
    """

    own_project = OWN
    compute_maximum = "2.103"
    requests = {}  # noqa: RUF012

    def __init__(self, **more):
        self._once = {}
        every = "/volumes/detail?all_tenants=1&bootable=true&limit=1000"
        volumes = {key: {"volumes": []} for key in ("/volumes?limit=1", every)}
        self.block_storage = RecordedService("block-storage", volumes)
        for service_type, bodies in BODIES.items():
            known = {**bodies, **more.get(service_type, {})}
            setattr(self, service_type, RecordedService(service_type, known))

    def once(self, read):
        if read not in self._once:
            self._once[read] = read(self)
        return self._once[read]


def _normal(key):
    path, _, query = key.partition("?")
    return path, tuple(sorted(parse.parse_qsl(query, keep_blank_values=True)))


def providers(*uuids):
    """Return what GET /resource_providers lists."""
    return {"resource_providers": [_provider(uuid) for uuid in uuids]}


def _provider(uuid):
    return {
        "uuid": uuid,
        "name": NAMES[uuid],
        "generation": 3,
        "root_provider_uuid": ROOTS[uuid],
        "parent_provider_uuid": None if ROOTS[uuid] == uuid else ROOTS[uuid],
        "links": [{"rel": "self", "href": f"/resource_providers/{uuid}"}],
    }


def candidates(resources, *roots):
    """Return what GET /allocation_candidates gives, with the trees of all roots."""
    return {
        "allocation_requests": [
            {"allocations": {root: {"resources": resources}}, "mappings": {"": [root]}}
            for root in roots
        ],
        "provider_summaries": {
            uuid: _summary(uuid) for uuid, root in ROOTS.items() if root in roots
        },
    }


def _summary(uuid):
    stock = {"VGPU": {"capacity": 4, "used": 0}}
    if ROOTS[uuid] == uuid:
        stock = {name: {"capacity": n, "used": 0} for name, n in CAPACITY.items()}
        stock["MEMORY_MB"]["used"] = MEMORY_USED[uuid]
    return {
        "resources": stock,
        "traits": TRAITS[uuid],
        "parent_provider_uuid": _provider(uuid)["parent_provider_uuid"],
        "root_provider_uuid": ROOTS[uuid],
    }


def _inventory(total, reserved=0):
    return {
        "total": total,
        "reserved": reserved,
        "allocation_ratio": 1.0,
        "min_unit": 1,
        "max_unit": total,
        "step_size": 1,
    }


def _node(uuid):
    return {
        "id": uuid,
        "hypervisor_hostname": NAMES[uuid],
        "service": {"host": NAMES[uuid], "id": uuid, "disabled_reason": None},
        "state": "up",
        "status": "enabled",
        **FIGURES,
    }


def _aggregate(number, uuid, name, hosts, key, value):
    return {
        "id": number,
        "uuid": uuid,
        "name": name,
        "hosts": [NAMES[host] for host in hosts],
        "metadata": {key: value},
        "availability_zone": value if key == "availability_zone" else None,
    }


def flavor(name, **extra_specs):
    """Return a flavor of 4 VCPU, 4 GB and 20 GB."""
    return {
        "id": name,
        "name": name,
        "vcpus": 4,
        "ram": 4096,
        "disk": 20,
        "swap": 0,
        "OS-FLV-EXT-DATA:ephemeral": 0,
        "os-flavor-access:is_public": True,
        "extra_specs": extra_specs,
    }


ROCKY = {
    "id": IMAGE,
    "name": "rocky",
    "status": "active",
    "visibility": "public",
    "owner": OTHER,
    "disk_format": "qcow2",
    "size": 1073741824,
    "min_disk": 0,
    "min_ram": 0,
    "os_hidden": False,
}

NAMED_ROCKY = "/images?limit=1000&name=eq:rocky&visibility=all"

NEEDED = {"VCPU": 4, "MEMORY_MB": 4096, "DISK_GB": 20}
_SIZE = "resources=DISK_GB:20,MEMORY_MB:4096,VCPU:4"

BODIES = {
    "placement": {
        "/traits": {
            "traits": [
                "COMPUTE_NODE",
                "CUSTOM_A100",
                "CUSTOM_GOLD",
                "CUSTOM_SILVER",
                "HW_CPU_X86_AVX512F",
                "HW_CPU_X86_VMX",
            ]
        },
        "/resource_classes": {
            "resource_classes": [
                {"name": name} for name in ("VCPU", "MEMORY_MB", "DISK_GB")
            ]
        },
        "/resource_providers": providers(CMP01, CMP02, CMP03, GPU),
        "/resource_providers?required=MISC_SHARES_VIA_AGGREGATE": providers(),
        "/resource_providers?required=!OWNER_NOVA": providers(CMP01, CMP02, CMP03),
        "/resource_providers?resources=VCPU:4": providers(CMP01, CMP02, CMP03),
        "/resource_providers?resources=MEMORY_MB:4096": providers(CMP01, CMP02),
        "/resource_providers?resources=DISK_GB:20": providers(CMP01, CMP02, CMP03),
        f"/resource_providers?member_of=in:{GOLD}": providers(CMP01),
        f"/resource_providers?member_of=in:{ZONE1}": providers(CMP01, CMP02),
        "/allocation_candidates?required=CUSTOM_GOLD&root_required="
        f"!COMPUTE_STATUS_DISABLED&{_SIZE}": candidates(NEEDED, CMP01),
        f"/allocation_candidates?root_required=!COMPUTE_STATUS_DISABLED&{_SIZE}": (
            candidates(NEEDED, CMP01, CMP02)
        ),
        "/allocation_candidates?required=CUSTOM_GOLD&root_required="
        "!COMPUTE_STATUS_DISABLED&resources=DISK_GB:20,MEMORY_MB:512,VCPU:4": (
            candidates({**NEEDED, "MEMORY_MB": 512}, CMP01, CMP03)
        ),
        "/allocation_candidates?resources=VCPU:1": candidates(
            {"VCPU": 1}, CMP01, CMP02, CMP03
        ),
        **{
            f"/resource_providers/{uuid}/inventories": {
                "inventories": {
                    "VCPU": _inventory(64),
                    "MEMORY_MB": _inventory(65536, 512),
                    "DISK_GB": _inventory(900),
                },
                "resource_provider_generation": 3,
            }
            for uuid in (CMP01, CMP02, CMP03)
        },
        f"/resource_providers/{GPU}/inventories": {
            "inventories": {"VGPU": _inventory(4)},
            "resource_provider_generation": 3,
        },
        **{
            f"/resource_providers/{uuid}/usages": {
                "usages": {"VCPU": 0, "MEMORY_MB": used, "DISK_GB": 0},
                "resource_provider_generation": 3,
            }
            for uuid, used in MEMORY_USED.items()
        },
        **{
            f"/resource_providers/{uuid}/traits": {
                "traits": traits,
                "resource_provider_generation": 3,
            }
            for uuid, traits in TRAITS.items()
        },
    },
    "compute": {
        "/flavors/detail?is_public=None": {
            "flavors": [flavor("gold", **{"trait:CUSTOM_GOLD": "required"})]
        },
        "/flavors/detail?is_public=False": {"flavors": []},
        "/os-aggregates": {
            "aggregates": [
                _aggregate(
                    1, GOLD, "gold", (CMP01, CMP03), "trait:CUSTOM_GOLD", "required"
                ),
                _aggregate(
                    2, ZONE1, "zone1", (CMP01, CMP02), "availability_zone", "zone1"
                ),
            ]
        },
        "/servers/detail?all_tenants=1&limit=1000": {"servers": []},
        "/os-hypervisors/detail": {
            "hypervisors": [_node(uuid) for uuid in (CMP01, CMP02, CMP03)]
        },
        "/os-services?binary=nova-compute": {
            "services": [
                {"host": "cmp01", "zone": "zone1", "status": "enabled"},
                {"host": "cmp02", "zone": "zone1", "status": "enabled"},
                {"host": "cmp03", "zone": "nova", "status": "enabled"},
            ]
        },
        "/os-services": {
            "services": [
                {"binary": "nova-scheduler", "zone": "internal", "status": "enabled"},
                {"binary": "nova-conductor", "zone": "idle", "status": "disabled"},
                {"binary": "nova-compute", "zone": "zone2", "status": "disabled"},
            ]
        },
        "/os-availability-zone": {
            "availabilityZoneInfo": [
                {"zoneName": "zone1", "zoneState": {"available": True}, "hosts": None},
                {"zoneName": "nova", "zoneState": {"available": True}, "hosts": None},
                {"zoneName": "zone2", "zoneState": {"available": False}, "hosts": None},
            ]
        },
    },
    "image": {
        f"{NAMED_ROCKY}&os_hidden=false": {"images": [ROCKY]},
        f"{NAMED_ROCKY}&os_hidden=true": {"images": []},
        "/images?limit=1000&os_hidden=false&visibility=all": {"images": [ROCKY]},
        "/images?limit=1000&os_hidden=true&visibility=all": {"images": []},
    },
    "identity": {
        "/projects": {
            "projects": [{"id": OWN, "name": "admin"}, {"id": OTHER, "name": "demo"}],
            "links": {"next": None, "self": "http://keystone/v3/projects"},
        }
    },
}
