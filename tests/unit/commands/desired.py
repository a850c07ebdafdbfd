"""What tests of plan and apply have in common."""

from __future__ import annotations

import json
import re

from osc_traitsched.core.errors import CloudBroke
from tests.functional import shell

GOLD, SILVER = "CUSTOM_GOLD", "CUSTOM_SILVER"


WHOLE = """
    traits:
      CUSTOM_SILVER: {hosts: [cmp03], absent: {hosts: [cmp00]}}
    aggregates:
      gold: {isolated_for: [CUSTOM_GOLD], hosts: [cmp02], absent: {hosts: [cmp01]}}
      vip: {zone: az1, hosts: [cmp03]}
    flavors:
      golden: {requires: [CUSTOM_GOLD]}
"""


def statuses(found):
    return {(r["step"], r["object"], r["key"]): r["status"] for r in found.json}


def unlisted(cloud, monkeypatch, *hosts):
    """Let Nova list some hosts no more."""
    read = cloud.compute_get

    def compute_get(parts, params):
        body = read(parts, params)
        if parts == ("os-hypervisors", "detail"):
            there = [
                n for n in body["hypervisors"] if n["service"]["host"] not in hosts
            ]
            return {"hypervisors": there}
        return body

    monkeypatch.setattr(cloud, "compute_get", compute_get)


def keystone(cloud, monkeypatch, *projects):
    """Let Keystone have projects, each called demo."""
    bodies = [{"id": each, "name": "demo"} for each in projects]

    def identity_get(parts, params):
        if parts == ("projects",):
            found = [
                each
                for each in bodies
                if each["name"] == params.get("name", each["name"])
            ]
            return {"projects": found, "links": {}}
        for each in bodies:
            if each["id"] == parts[1]:
                return {"project": each}
        raise CloudBroke("identity", "none", 404)

    monkeypatch.setattr(cloud, "identity_get", identity_get)


def with_servers(cloud, monkeypatch, **hosts):
    """Let hosts have servers, by their names, with the extra specs of their flavors.

    Those of the host NONE are on no host.
    """
    read = cloud.compute_get
    size = {"original_name": "gone", "vcpus": 1, "ram": 512, "disk": 1}

    def body(name, host, specs):
        specs = dict(specs)
        return {
            "id": f"{name}-id",
            "name": name,
            "status": specs.pop("status", "ACTIVE"),
            "tenant_id": specs.pop("project", "p"),
            "pinned_availability_zone": specs.pop("zone", None),
            "OS-EXT-SRV-ATTR:host": None if host == "NONE" else host,
            "OS-EXT-SRV-ATTR:hypervisor_hostname": None if host == "NONE" else host,
            "image": {"id": specs.pop("image", "rocky-id")},
            "flavor": {**size, "extra_specs": specs},
        }

    def compute_get(parts, params):
        if parts != ("servers", "detail"):
            return read(parts, params)
        shown = [params["host"]] if "host" in params else hosts
        found = [(n, h, s) for h in shown for n, s in hosts.get(h, {}).items()]
        bodies = [body(*each) for each in found]
        own = params.get("project_id")
        return {"servers": [b for b in bodies if own in (None, b["tenant_id"])]}

    cloud.picture("rocky")
    monkeypatch.setattr(cloud, "compute_get", compute_get)


def whole(cloud):
    """Return all that the cloud is like."""
    return json.loads(
        json.dumps(
            [
                {host: sorted(traits) for host, traits in cloud.traits.items()},
                {uuid: sorted(inside) for uuid, inside in cloud.mirror.items()},
                {
                    each["name"]: [sorted(each["hosts"]), each["metadata"]]
                    for each in cloud.aggregates.values()
                },
                cloud.flavors,
                cloud.images,
            ]
        )
    )


def broken_for(cloud, part):
    def broken():
        raise CloudBroke("compute", "no", 403)

    cloud.rivals[part] = broken


def second(cloud, *hosts, called="rack", **metadata):
    """Make a second aggregate."""
    cloud.aggregates["2"] = {
        "id": 2,
        "uuid": "a0000002-0000-4000-8000-000000000000",
        "name": called,
        "hosts": [*hosts],
        "metadata": {
            f"trait:{k}" if k.isupper() else k: v for k, v in metadata.items()
        },
    }
    cloud.mirror[cloud.aggregates["2"]["uuid"]] = {*hosts}


def stranded(found):
    """What a refused or forced run names as left without a host."""
    (line,) = re.findall(r"no host would be left for (.*)", found.err)
    return line.removesuffix("; --force overrides this")


def requirers(found):
    """What a refused run names as requiring a trait of which no host is left."""
    (line,) = re.findall(r"it is required by (.*); --force", found.err)
    return line


# Runs commands in a small cloud in memory, while others change it.


KEY = f"trait:{GOLD}"
ISOLATE = ("isolate", "gold", GOLD, "--flavor", "golden", "-f", "json")
UNISOLATE = ("unisolate", "gold", "--remove-traits", "-f", "json")


def run(*arguments):
    return shell.run(shell.login("http://nowhere"), "trait-sched", *arguments)


def row_statuses(found):
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
