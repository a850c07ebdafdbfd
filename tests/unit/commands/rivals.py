"""Runs commands in a small cloud in memory, while others change it."""

from __future__ import annotations

import shlex

from tests.functional import shell

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"
KEY, OTHER_KEY = f"trait:{GOLD}", f"trait:{SILVER}"
ISOLATE = ("isolate", "gold", GOLD, "--flavor", "golden", "-f", "json")
UNISOLATE = ("unisolate", "gold", "--remove-traits", "-f", "json")
AGAIN = f"openstack trait-sched isolate gold {GOLD} --flavor golden"
TAKEN_BACK = [
    f"  openstack flavor unset --property {KEY} golden-id",
    f"  openstack trait-sched remove {GOLD} --provider cmp00 --provider cmp01",
]


def run(*arguments):
    return shell.run(shell.login("http://nowhere"), "trait-sched", *arguments)


def paste(command):
    """Run a printed command of this project's."""
    program, verb, *arguments = shlex.split(command)
    assert (program, verb) == ("openstack", "trait-sched")
    return run(*arguments)


def said(found):
    """Return what is said once it has written."""
    before = ("nothing says that", "flavor '", "flavors '")
    lines = found.err.splitlines()
    return [
        each
        for each in lines
        if not (each.startswith(before) and ("will lose" in each or "is on" in each))
    ]


def differing(found):
    return {row["object"]: row["differs"] for row in found.json if row["differs"]}


def statuses(found):
    return [row["status"] for row in found.json if row["status"] != "unchanged"]


def hosts_of(cloud, flavor):
    """Return the hosts that a flavor can use where aggregates are isolated."""
    required = cloud.specs(flavor).keys()
    closed = {
        host
        for aggregate in cloud.aggregates.values()
        if not aggregate["metadata"].keys() <= required
        for host in aggregate["hosts"]
    }
    having = [cloud.having(key.removeprefix("trait:")) for key in required]
    return set(cloud.traits).intersection(*having) - closed


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
