"""A living cloud whose hosts have devices: each is a provider below its host."""

from __future__ import annotations

from tests.unit.app.living import HOSTS, LivingCloud

GPU = "CUSTOM_VGPU"
DEVICES = {f"{host}_pci": host for host in HOSTS}
UUIDS = {name: f"d{HOSTS[host][1:]}" for name, host in DEVICES.items()}


class CloudOfDevices(LivingCloud):
    """Has a GPU below each host; Nova knows nothing of them."""

    def __init__(self) -> None:
        super().__init__()
        self.traits.update((name, set()) for name in DEVICES)
        self.generations.update(dict.fromkeys(DEVICES, 1))

    def placement_get(self, parts, params):
        if parts == ("allocation_candidates",):
            summaries = {
                body["uuid"]: self._summary(body["name"])
                for body in map(self._provider, self.traits)
            }
            return {"allocation_requests": [], "provider_summaries": summaries}
        body = super().placement_get(parts, params)
        if parts == ("resource_classes",):
            body["resource_classes"].append({"name": GPU})
        return body

    def _meets(self, host, params):
        asked = params.get("resources", "")
        has_it = not asked or (GPU in asked) == (host in DEVICES)
        return has_it and super()._meets(host, params)

    def _host(self, identity):
        for name, uuid in UUIDS.items():
            if uuid == identity:
                return name
        return super()._host(identity)

    def _provider(self, host):
        if host not in DEVICES:
            return super()._provider(host)
        root = super()._provider(DEVICES[host])
        own = {"uuid": UUIDS[host], "name": host, "generation": self.generations[host]}
        return {**root, **own, "parent_provider_uuid": root["uuid"]}

    def _summary(self, host):
        if host not in DEVICES:
            return super()._summary(host)
        root = HOSTS[DEVICES[host]]
        return {
            "resources": {GPU: {"capacity": 4, "used": 0}},
            "traits": sorted(self.traits[host]),
            "parent_provider_uuid": root,
            "root_provider_uuid": root,
        }
