"""add --all against a bare loop of the same writes, and against the recipe."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from typing import Any

import requests

from tests.functional import shell
from tests.functional.placement import Placement
from tests.services.fill import fill
from tests.services.placement import PlacementServer

_RECIPE_HOSTS = 5

# List what the host has, make a flag of each trait, set them all again.
_RECIPE = """
traits=$(openstack --os-placement-api-version 1.6 resource provider trait list \
    -f value "$PROVIDER" | sed 's/^/--trait /')
openstack --os-placement-api-version 1.6 resource provider trait set \
    $traits --trait "$TRAIT" "$PROVIDER" >/dev/null
"""


def report(server: PlacementServer, hosts: int) -> None:
    """Measure, and print seconds, requests and ratios."""
    placement = Placement(server.url)
    placement.create_traits("CUSTOM_A", "CUSTOM_B", "CUSTOM_C", "CUSTOM_D")
    fill(server.database, hosts)
    first = _seconds(bare_loop, placement, "CUSTOM_A")
    before = _requests(server)
    ours = _seconds(_add, server, "CUSTOM_B")
    sent = _requests(server) - before
    second = _seconds(bare_loop, placement, "CUSTOM_C")
    recipe = _seconds(_recipe, placement, "CUSTOM_D") * hosts / _RECIPE_HOSTS
    bare = (first + second) / 2
    rows = (
        ("hosts", hosts, ""),
        ("add --all: requests", sent, f"{hosts} writes, {sent - hosts} others"),
        ("add --all: seconds", ours, ""),
        ("bare loop: seconds", bare, f"{first:.1f} before, {second:.1f} after"),
        ("add --all / bare loop", ours / bare, "at most 1.25"),
        ("list-sed-set: seconds", recipe, f"{_RECIPE_HOSTS} hosts, scaled"),
        ("list-sed-set / add --all", recipe / ours, ""),
    )
    for name, figure, remark in rows:
        print(f"{name:26}{figure:10.2f}  {remark}".rstrip())


def _seconds(work: Callable[..., None], *arguments: Any) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def _requests(server: PlacementServer) -> int:
    # One line a request in Placement's own log.
    return server.log.read_text().count(" status: ")


def _add(server: PlacementServer, name: str) -> None:
    run = shell.run(shell.login(server.url), "trait-sched", "add", name, "--all")
    assert run.code == 0, run.err


def bare_loop(placement: Placement, name: str) -> None:
    """Write what ``add`` writes, with nothing but an HTTP session.

    What each host has is known beforehand and not timed by itself: two requests.
    """
    traits = placement.all_traits()
    listed = placement.call("GET", "/resource_providers")["resource_providers"]
    with requests.Session() as session:
        session.headers["X-Auth-Token"] = "admin"
        session.headers["OpenStack-API-Version"] = "placement 1.36"
        for provider in listed:
            body = {
                "resource_provider_generation": provider["generation"],
                "traits": sorted(traits[provider["uuid"]] | {name}),
            }
            path = f"/resource_providers/{provider['uuid']}/traits"
            session.put(placement.url + path, json=body).raise_for_status()


def _recipe(placement: Placement, name: str) -> None:
    listed = placement.call("GET", "/resource_providers")["resource_providers"]
    login = {**os.environ, **shell.login(placement.url), "TRAIT": name}
    for provider in listed[:_RECIPE_HOSTS]:
        variables = {**login, "PROVIDER": provider["uuid"]}
        subprocess.run(["bash", "-c", _RECIPE], env=variables, check=True)
        assert name in placement.traits(provider["uuid"])
