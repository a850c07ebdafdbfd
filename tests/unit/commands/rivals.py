"""Runs commands in a small cloud in memory, while others change it."""

from __future__ import annotations

from tests.functional import shell

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
KEY, OTHER_KEY = f"trait:{GOLD}", f"trait:{SILVER}"
ISOLATE = ("isolate", "gold", GOLD, "--flavor", "golden", "-f", "json")
UNISOLATE = ("unisolate", "gold", "--remove-traits", "-f", "json")


def run(*arguments):
    return shell.run(shell.login("http://nowhere"), "trait-sched", *arguments)


def statuses(found):
    return [row["status"] for row in found.json if row["status"] != "unchanged"]


def another(cloud, *hosts, name="gold2"):
    """Let there be another aggregate that is isolated by the same trait."""
    uuid = "a0000002-0000-4000-8000-000000000000"
    body = {"id": 2, "uuid": uuid, "name": name, "metadata": {KEY: "required"}}
    cloud.aggregates["2"] = {**body, "hosts": list(hosts)}
    cloud.mirror[uuid] = {*hosts}
    cloud.gives(GOLD, *hosts)


def rival(cloud, part, *does):
    """Let others do something right before a write to a path with such a part."""

    def act():
        for function, *arguments in does:
            function(*arguments)

    cloud.rivals[part] = act
