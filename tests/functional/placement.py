"""Makes hosts in a Placement, and looks at them, by Placement's own API."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from tests.services import rest

#: What a host has unless a test says otherwise.
STANDARD = ("COMPUTE_NODE", "HW_CPU_X86_AVX2", "HW_CPU_X86_SSE2")
INVENTORIES = {"VCPU": 16, "MEMORY_MB": 65536, "DISK_GB": 500}


class Placement:
    """A Placement under test, as an administrator's plain HTTP calls see it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request that must succeed, and return the answer's body."""
        answer = self.try_call(method, path, body)
        assert answer.status < 300, (method, path, answer.status, answer.body)
        return answer.body

    def try_call(self, method: str, path: str, body: Any = None) -> rest.Answer:
        headers = {
            "X-Auth-Token": "admin",
            "OpenStack-API-Version": "placement 1.36",
        }
        return rest.call(method, self.url + path, body, headers)

    def add_host(
        self,
        name: str,
        traits: Iterable[str] = STANDARD,
        parent: str | None = None,
        inventories: dict[str, int] | None = None,
    ) -> str:
        """Make a provider and return its UUID."""
        identity = str(uuid.uuid4())
        body = {"name": name, "uuid": identity, "parent_provider_uuid": parent}
        self.call("POST", "/resource_providers", body)
        totals = INVENTORIES if inventories is None else inventories
        self.call(
            "PUT",
            f"/resource_providers/{identity}/inventories",
            {
                "resource_provider_generation": 0,
                "inventories": {name: {"total": n} for name, n in totals.items()},
            },
        )
        self.set_traits(identity, traits)
        return identity

    def create_traits(self, *names: str) -> None:
        for name in names:
            self.call("PUT", f"/traits/{name}")

    def set_traits(self, provider: str, traits: Iterable[str]) -> None:
        wanted = sorted(traits)
        self.create_traits(*(n for n in wanted if n.startswith("CUSTOM_")))
        generation = self.generation(provider)
        body = {"resource_provider_generation": generation, "traits": wanted}
        self.call("PUT", f"/resource_providers/{provider}/traits", body)

    def generation(self, provider: str) -> int:
        generation = self.call("GET", f"/resource_providers/{provider}")["generation"]
        return int(generation)

    def traits(self, provider: str) -> set[str]:
        return set(self.call("GET", f"/resource_providers/{provider}/traits")["traits"])

    def all_traits(self) -> dict[str, set[str]]:
        """Return the traits of every provider that has a VCPU free."""
        path = "/allocation_candidates?resources=VCPU:1"
        summaries = self.call("GET", path)["provider_summaries"]
        return {provider: set(each["traits"]) for provider, each in summaries.items()}

    def knows(self, trait: str) -> bool:
        return self.try_call("GET", f"/traits/{trait}").status == 204

    def allocate(self, provider: str, **resources: int) -> None:
        """Use up some of a provider's inventory."""
        self.call(
            "PUT",
            f"/allocations/{uuid.uuid4()}",
            {
                "allocations": {provider: {"resources": resources}},
                "project_id": "project",
                "user_id": "user",
                "consumer_generation": None,
            },
        )

    def wipe(self) -> None:
        """Remove every provider, children first, and every custom trait."""
        providers = self.call("GET", "/resource_providers")["resource_providers"]
        for provider in providers:
            path = f"/resource_providers/{provider['uuid']}/allocations"
            for consumer in self.call("GET", path)["allocations"]:
                self.call("DELETE", f"/allocations/{consumer}")
        parents = {p["uuid"]: p["parent_provider_uuid"] for p in providers}
        while parents:
            for leaf in parents.keys() - set(parents.values()):
                self.call("DELETE", f"/resource_providers/{leaf}")
                del parents[leaf]
        for name in self.call("GET", "/traits?name=startswith:CUSTOM_")["traits"]:
            self.call("DELETE", f"/traits/{name}")
