"""A small cloud that can be written to, and that others write to: no HTTP.

Four equal hosts of plenty of room; the aggregate gold has the first two of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any
from urllib import parse

from osc_traitsched.cloud import service
from osc_traitsched.core.errors import CloudBroke, ConcurrentUpdate
from tests.services.pages import after
from tests.unit.app.recorded import OWN, RecordedCloud

HOSTS = {f"cmp0{n}": f"c000000{n}-0000-4000-8000-000000000000" for n in range(4)}
GOLD = "a0000001-0000-4000-8000-000000000000"

OWN_TRAITS = (
    "COMPUTE_NODE",
    "OWNER_NOVA",
    "COMPUTE_STATUS_DISABLED",
    "MISC_SHARES_VIA_AGGREGATE",
)

#: What writes change.
_STATE = ("known", "traits", "generations", "mirror", "aggregates", "flavors", "images")

Rival = Callable[[], object]


class LivingService:
    """Hands each request to a method of the cloud that is named for it."""

    def __init__(self, service_type: str, cloud: LivingCloud) -> None:
        self.service_type = service_type
        self._cloud = cloud

    def get(self, path, params=None, microversion=None, timeout=None):
        path, _, query = path.partition("?")
        self._cloud.about_to_read(_parts(path))
        params = {**dict(parse.parse_qsl(query)), **(params or {})}
        read = getattr(self._cloud, f"{self.service_type}_get")
        return after(params, read(_parts(path), params))

    def put(self, path, body=None, timeout=None):
        self._write("put", path, body)

    def post(self, path, body, timeout=None):
        self._write("post", path, body)

    def delete(self, path, timeout=None):
        self._write("delete", path, None)

    def patch(self, path, changes, content_type, timeout=None):
        self._write("patch", path, changes)

    def _write(self, method, path, body):
        parts = _parts(path)
        self._cloud.about_to_write(parts)
        getattr(self._cloud, f"{self.service_type}_{method}")(parts, body)


def _parts(path):
    return tuple(parse.unquote(part) for part in path.strip("/").split("/"))


def _inventory(summary):
    own = {"reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "step_size": 1}
    return {**own, "total": summary["capacity"], "max_unit": summary["capacity"]}


class LivingCloud:
    """Placement, Nova and Glance in memory, and a Keystone without any project.

    :ivar rivals: what is done before the first write to a path that has such a part
    :ivar when_read: what is done before a path is read for the first time, the second
        time, and so on
    :ivar asked: the parts of each path that was read
    :ivar written: the parts of the path of each write
    """

    own_project = OWN
    compute_maximum = "2.96"

    def __init__(self) -> None:
        self.placement = LivingService("placement", self)
        self.compute = LivingService("compute", self)
        self.image = LivingService("image", self)
        self.identity = LivingService("identity", self)
        self.block_storage = RecordedCloud().block_storage
        self.known = {*OWN_TRAITS, "CUSTOM_GOLD", "CUSTOM_SILVER"}
        self.traits: dict[str, set[str]] = {
            name: {"COMPUTE_NODE", "OWNER_NOVA"} for name in HOSTS
        }
        self.generations = dict.fromkeys(HOSTS, 1)
        self.mirror: dict[str, set[str]] = {GOLD: {"cmp00", "cmp01"}}
        gold = {"id": 1, "uuid": GOLD, "name": "gold", "metadata": {}}
        self.aggregates: dict[str, Any] = {"1": {**gold, "hosts": ["cmp00", "cmp01"]}}
        self.flavors: dict[str, Any] = {}
        self.images: dict[str, Any] = {}
        self.rivals: dict[str, Rival] = {}
        self.when_read: dict[tuple[str, ...], list[Rival]] = {}
        self.asked: list[tuple[str, ...]] = []
        self.noted: list[str] = []
        self.written: list[tuple[str, ...]] = []

    def dies_after(self, writes):
        """Take so many writes more, and then none."""
        before, left = self.about_to_write, len(self.written) + writes

        def about_to_write(parts):
            if len(self.written) >= left:
                raise CloudBroke("compute", "killed", 403)
            before(parts)

        self.about_to_write = about_to_write

    def with_state_of(self, other):
        """Return a cloud like this one, in which all is as it is in another."""
        cloud = copy.deepcopy(self)
        for name in _STATE:
            setattr(cloud, name, copy.deepcopy(getattr(other, name)))
        return cloud

    def once(self, read):
        # What is noted is kept; all else changes.
        return self.noted if read is service._nothing else read(self)

    def about_to_read(self, parts):
        self.asked.append(parts)
        waiting = self.when_read.get(parts)
        if waiting:
            waiting.pop(0)()

    def about_to_write(self, parts):
        self.written.append(parts)
        for part in {*parts} & {*self.rivals}:
            self.rivals.pop(part)()

    # What tests make, and rivals do.

    def flavor(self, name, **specs):
        self.flavors[f"{name}-id"] = {
            "id": f"{name}-id",
            "name": name,
            "vcpus": 1,
            "ram": 512,
            "disk": 1,
            "swap": 0,
            "OS-FLV-EXT-DATA:ephemeral": 0,
            "os-flavor-access:is_public": True,
            "extra_specs": {f"trait:{key}": value for key, value in specs.items()},
        }

    def picture(self, name, **properties):
        """Make a public image."""
        keys = {f"trait:{key}": value for key, value in properties.items()}
        self.images[f"{name}-id"] = {
            "id": f"{name}-id",
            "name": name,
            "owner": OWN,
            "status": "active",
            "visibility": "public",
            **keys,
        }

    def gives(self, name, *hosts):
        for host in hosts:
            self.traits[host].add(name)
            self.generations[host] += 1

    def takes(self, name, *hosts):
        for host in hosts:
            self.traits[host].discard(name)
            self.generations[host] += 1

    def leaves(self, host):
        """Take a host out of the aggregate, as Nova does."""
        self.aggregates["1"]["hosts"].remove(host)
        self.mirror[GOLD].discard(host)

    def joins(self, host):
        self.aggregates["1"]["hosts"].append(host)
        self.mirror[GOLD].add(host)

    def deletes_provider(self, host):
        del self.traits[host]
        for inside in self.mirror.values():
            inside.discard(host)

    @property
    def metadata(self):
        return self.aggregates["1"]["metadata"]

    def specs(self, flavor):
        return self.flavors[f"{flavor}-id"]["extra_specs"]

    def having(self, name):
        return {host for host, traits in self.traits.items() if name in traits}

    # Placement

    def placement_get(self, parts, params):
        if parts == ("traits",):
            return {"traits": sorted(self.known)}
        if parts == ("resource_classes",):
            names = ("VCPU", "MEMORY_MB", "DISK_GB")
            return {"resource_classes": [{"name": name} for name in names]}
        if parts == ("allocation_candidates",):
            return {
                "allocation_requests": [
                    {"allocations": {HOSTS[host]: {"resources": {"VCPU": 1}}}}
                    for host in self.traits
                    if self._meets(host, params)
                ],
                "provider_summaries": {
                    HOSTS[host]: self._summary(host) for host in self.traits
                },
            }
        if parts == ("resource_providers",):
            chosen = (host for host in self.traits if self._meets(host, params))
            return {"resource_providers": list(map(self._provider, chosen))}
        _, identity, what = parts
        host = self._host(identity)
        if what == "allocations":
            return {"allocations": {}}
        if what == "inventories":
            summary = self._summary(host)["resources"].items()
            return {"inventories": {name: _inventory(s) for name, s in summary}}
        found = self.traits[host] if what == "traits" else self._inside(host)
        generation = self.generations[host]
        return {what: sorted(found), "resource_provider_generation": generation}

    def placement_put(self, parts, body):
        if parts[0] == "traits":
            self.known.add(parts[1])
            return
        _, identity, what = parts
        host = self._host(identity)
        if body["resource_provider_generation"] != self.generations[host]:
            raise ConcurrentUpdate("placement", "generation", 409)
        self.generations[host] += 1
        if what == "traits":
            self.traits[host] = set(body["traits"])
        for uuid, inside in self.mirror.items() if what == "aggregates" else ():
            (inside.add if uuid in body["aggregates"] else inside.discard)(host)

    def _meets(self, host, params):
        required = params.get("required", "")
        if required and (required.lstrip("!") not in self.known):
            raise CloudBroke("placement", f"No such trait: {required}", 400)
        if required.startswith("!"):
            return required[1:] not in self.traits[host]
        no, _, uuids = params.get("member_of", "").partition("in:")
        inside = self._inside(host) & {*uuids.split(",")}
        is_inside = "member_of" not in params or bool(inside) is not bool(no)
        return is_inside and (not required or required in self.traits[host])

    def _inside(self, host):
        return {uuid for uuid, inside in self.mirror.items() if host in inside}

    def _host(self, identity):
        for name, uuid in HOSTS.items():
            if uuid == identity and name in self.traits:
                return name
        raise CloudBroke("placement", f"No resource provider {identity}", 404)

    def _provider(self, host):
        return {
            "uuid": HOSTS[host],
            "name": host,
            "generation": self.generations[host],
            "root_provider_uuid": HOSTS[host],
            "parent_provider_uuid": None,
        }

    def _summary(self, host):
        free = {"VCPU": 64, "MEMORY_MB": 65536, "DISK_GB": 900}
        return {
            "resources": {k: {"capacity": n, "used": 0} for k, n in free.items()},
            "traits": sorted(self.traits[host]),
            "parent_provider_uuid": None,
            "root_provider_uuid": HOSTS[host],
        }

    # Nova

    def compute_get(self, parts, params):
        if parts == ("flavors", "detail"):
            public = params["is_public"] != "False"
            return {"flavors": _copies(self.flavors.values()) if public else []}
        if parts[0] == "flavors":
            return {"extra_specs": dict(self._flavor(parts[1])["extra_specs"])}
        if parts == ("os-aggregates",):
            return {"aggregates": _copies(self.aggregates.values())}
        if parts[0] == "os-aggregates":
            (found,) = _copies([self._aggregate(parts[1])])
            return {"aggregate": found}
        if parts == ("servers", "detail"):
            return {"servers": []}
        if parts == ("os-services",):
            up = {"zone": "nova", "status": "enabled"}
            return {"services": [{"host": host, **up} for host in HOSTS]}
        assert parts == ("os-hypervisors", "detail")
        return {"hypervisors": [_node(*each) for each in HOSTS.items()]}

    def compute_post(self, parts, body):
        if parts[0] == "flavors":
            self._flavor(parts[1])["extra_specs"].update(body["extra_specs"])
            return
        if parts == ("os-aggregates",):
            self._make_aggregate(**body["aggregate"])
            return
        found = self._aggregate(parts[1])
        ((action, body),) = body.items()
        if action == "set_metadata":
            for key, value in body["metadata"].items():
                found["metadata"].pop(key, None)
                if value is not None:
                    found["metadata"][key] = value
            return
        inside = self.mirror.setdefault(found["uuid"], set())
        is_added = action == "add_host"
        if (body["host"] in found["hosts"]) is is_added:
            raise CloudBroke("compute", f"{action} {body['host']}: conflict", 409)
        (found["hosts"].append if is_added else found["hosts"].remove)(body["host"])
        (inside.add if is_added else inside.discard)(body["host"])

    def _make_aggregate(self, name, availability_zone=None):
        if any(each["name"] == name for each in self.aggregates.values()):
            raise CloudBroke("compute", f"Aggregate {name} already exists.", 409)
        number = len(self.aggregates) + 1
        metadata = {"availability_zone": availability_zone}
        self.aggregates[str(number)] = {
            "id": number,
            "uuid": f"a000000{number}-0000-4000-8000-000000000000",
            "name": name,
            "hosts": [],
            "metadata": metadata if availability_zone else {},
        }

    def compute_delete(self, parts, body):
        del self._flavor(parts[1])["extra_specs"][parts[3]]

    def _flavor(self, identity):
        if identity not in self.flavors:
            raise CloudBroke("compute", f"Flavor {identity} could not be found.", 404)
        return self.flavors[identity]

    def _aggregate(self, identity):
        if identity not in self.aggregates:
            raise CloudBroke("compute", f"Aggregate {identity} not found.", 404)
        return self.aggregates[identity]

    # Glance

    def image_get(self, parts, params):
        if parts == ("images",):
            hidden = params["os_hidden"] == "true"
            asked = {k: v for k, v in params.items() if k.startswith("trait:")}
            found = (i for i in self.images.values() if asked.items() <= i.items())
            return {"images": [] if hidden else _copies(found)}
        if parts[1] not in self.images:
            raise CloudBroke("image", f"No image {parts[1]}", 404)
        return dict(self.images[parts[1]])

    def image_patch(self, parts, changes):
        image = self.images[parts[1]]
        for each in changes:
            key = each["path"].lstrip("/")
            if each["op"] == "remove":
                del image[key]
            else:
                image[key] = each["value"]

    # Keystone

    def identity_get(self, parts, params):
        if len(parts) > 1:
            raise CloudBroke("identity", f"Could not find {parts[1]}.", 404)
        return {parts[0]: [], "links": {}}


def _node(name, uuid):
    return {
        "id": uuid,
        "hypervisor_hostname": name,
        "service": {"host": name, "id": uuid, "disabled_reason": None},
        "state": "up",
        "status": "enabled",
    }


def _copies(bodies):
    nested = ("metadata", "extra_specs")
    return [
        {k: dict(v) if k in nested else v for k, v in body.items()} for body in bodies
    ]
