"""Whether all computes of the cloud can be scheduled to."""

from __future__ import annotations

import time

from tests.cloud import identity
from tests.cloud.config import Site
from tests.services import rest
from tests.services.process import PATIENCE

# The first versions of a flat hypervisor list and of a search by resources.
COMPUTE = {"OpenStack-API-Version": "compute 2.53"}
PLACEMENT = {"OpenStack-API-Version": "placement 1.4"}


class NotReady(RuntimeError):
    """The services are up, and yet not all computes can be used."""


def wait(site: Site, computes: int, seconds: float = PATIENCE) -> None:
    """Return when all computes are up in Nova and have capacity in Placement.

    What Neutron's agents say of them has to be in Placement, too.
    """
    token = {"X-Auth-Token": identity.token(site.auth_url)}
    end = time.monotonic() + seconds
    while True:
        up, providers = _hypervisors_up(site, token), _providers(site, token)
        if up == providers == computes and _agents_are_synced(site, token):
            return
        if time.monotonic() > end:
            raise NotReady(
                f"of {computes} computes {up} are up and {providers} have inventory"
            )
        time.sleep(0.2)


def _hypervisors_up(site: Site, token: dict[str, str]) -> int:
    url = first = f"{site.nova}/v2.1/os-hypervisors"
    up = 0
    while page := rest.call("GET", url, headers={**token, **COMPUTE}).body[
        "hypervisors"
    ]:
        up += sum(hypervisor["state"] == "up" for hypervisor in page)
        url = f"{first}?marker={page[-1]['id']}"
    return up


def _providers(site: Site, token: dict[str, str]) -> int:
    url = f"{site.placement}/resource_providers?resources=VCPU:1"
    answer = rest.call("GET", url, headers={**token, **PLACEMENT})
    return len(answer.body["resource_providers"])


def _agents_are_synced(site: Site, token: dict[str, str]) -> bool:
    if not site.volume:
        return True
    body = rest.call("GET", f"{site.network}/v2.0/agents", headers=token).body
    return all(agent["resources_synced"] for agent in body["agents"])
