"""Flavors, images and aggregates of a large cloud, made up."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from typing import Any

FLAVORS, IMAGES, AGGREGATES = 200, 100, 60
ISOLATED, MEMBERS = 20, 5


def isolation_trait(number: int) -> str:
    """Return the trait of an isolated aggregate."""
    return f"CUSTOM_ISOLATED_{number % ISOLATED:02}"


def flavors(others: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return flavors of as many sizes, some with traits, some with pinned CPUs.

    :param others: traits that some hosts have, for some of the flavors
    """
    found = []
    for number in range(FLAVORS):
        specs = {}
        if number % 5 == 0:
            specs[f"trait:{isolation_trait(number // 5)}"] = "required"
        if others and number % 7 == 0:
            specs[f"trait:{others[number % len(others)]}"] = "required"
        if number % 11 == 0:
            specs["hw:cpu_policy"] = "dedicated"
        if number % 13 == 0:
            specs["hw:mem_page_size"] = "large"
        size = {"vcpus": 1 + number % 64, "ram": 512 * (1 + number), "disk": number}
        found.append(
            {"id": str(number), "name": f"f{number}", **size, "extra_specs": specs}
        )
    return found


def images() -> list[dict[str, Any]]:
    """Return images of three formats, some with devices, traits or CPU policies."""
    dice = random.Random(1)
    found = []
    for number in range(IMAGES):
        body = {
            "id": _identity(dice),
            "name": f"i{number}",
            "disk_format": ("raw", "qcow2", "iso")[number % 3],
            "status": "active",
            "visibility": "public",
            "os_version": str(number),
        }
        if number % 4 == 0:
            body["hw_video_model"] = dice.choice(("virtio", "vga"))
        if number % 9 == 0:
            body[f"trait:{isolation_trait(number)}"] = "required"
        if number % 17 == 0:
            body["hw_cpu_policy"] = "dedicated"
        if number % 19 == 0:
            body["hw_mem_page_size"] = "2048"
        found.append(body)
    return found


def isolated(hosts: Sequence[str]) -> list[dict[str, Any]]:
    """Return aggregates that are isolated, of five hosts each."""
    dice = random.Random(2)
    return [
        {
            "id": number,
            "uuid": _identity(dice),
            "name": f"isolated-{number}",
            "hosts": list(hosts[number * MEMBERS : (number + 1) * MEMBERS]),
            "metadata": {f"trait:{isolation_trait(number)}": "required"},
        }
        for number in range(ISOLATED)
    ]


def _identity(dice: random.Random) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128), version=4))
