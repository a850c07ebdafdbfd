"""Runs commands in a small cloud in memory, while others change it."""

from __future__ import annotations

from tests.functional import shell
from tests.unit.commands.desired import GOLD, second

KEY = f"trait:{GOLD}"
ISOLATE = ("isolate", "gold", GOLD, "--flavor", "golden", "-f", "json")
UNISOLATE = ("unisolate", "gold", "--remove-traits", "-f", "json")


def run(*arguments):
    return shell.run(shell.login("http://nowhere"), "trait-sched", *arguments)


def statuses(found):
    return [row["status"] for row in found.json if row["status"] != "unchanged"]


def another(cloud, *hosts):
    """Let there be another aggregate that is isolated by the same trait."""
    second(cloud, *hosts, called="gold2", **{GOLD: "required"})
    cloud.gives(GOLD, *hosts)


def rival(cloud, part, *does):
    """Let others do something right before a write to a path with such a part."""

    def act():
        for function, *arguments in does:
            function(*arguments)

    cloud.rivals[part] = act
