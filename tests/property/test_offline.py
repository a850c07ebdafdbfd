"""On random clouds a snapshot gives the answers of the cloud, by every command."""

from __future__ import annotations

import collections
import itertools
import json
import os
import re
import shlex
import urllib.parse
import uuid

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from osc_traitsched.core.nova.clause import Resource, Trait
from tests.functional import shell
from tests.functional.nova import Nova, Says
from tests.functional.placement import Placement
from tests.functional.proxy import Proxy
from tests.property import building, clouds
from tests.services.pages import after

CLOUDS = int(os.environ.get("TRAITSCHED_CLOUDS", "20"))
#: Of one test.
EACH = 5
#: So many commands are tried on each, in turn.
COMMANDS = 4

SETTINGS = (
    "--nova-release 2026.1",
    "--nova-release 2025.1 --set scheduler.enable_isolated_aggregate_filtering=true",
    "--nova-release wallaby --set scheduler.enable_isolated_aggregate_filtering=true "
    "--set scheduler.limit_tenants_to_placement_aggregate=true "
    "--set scheduler.query_placement_for_image_type_support=true",
)
METADATA = (
    {},
    {"trait:CUSTOM_A": "required"},
    {"filter_tenant_id": "5a1e02"},
    {"availability_zone": "az1"},
)
PROPERTIES = ({}, {}, {"hw_firmware_type": "uefi"}, {"trait:CUSTOM_B": "required"})

#: Reading commands; FLAVOR stands for each of the drawn ones.
READING = (
    "explain FLAVOR raw --long",
    "explain FLAVOR raw --count 3",
    "explain FLAVOR drawn --host host0",
    "explain FLAVOR raw --availability-zone az1",
    "candidates FLAVOR drawn",
    "capacity FLAVOR",
    "explain --image drawn",
    "candidates f0 raw --weights",
    "capacity",
    "capacity f0 --without host0",
    "host show host0",
    "host drain host0",
    "server misplaced",
    "server explain web0",
    "server explain --failed",
    "server destinations web1",
    "check",
    "check mirror",
    "aggregate list",
    "list",
    "list --by-trait",
    "trait list",
    "trait show CUSTOM_A",
    "config show",
    "export",
)


class DrawnNova(Nova):
    """A compute API with servers, and an image service; lists are filtered.

    :ivar hidden: paths that are forbidden, with all that is below them
    """

    hidden: tuple[str, ...] = ()

    def _answer(self, request):
        path, _, text = request.path.partition("?")
        if path.startswith(self.hidden):
            body = {"forbidden": {"message": "Policy doesn't allow it", "code": 403}}
            return Says(403, text=json.dumps(body).encode())
        query = dict(urllib.parse.parse_qsl(text))
        if path == "/images" and query.get("os_hidden") == "true":
            return Says(text=b'{"images": []}')
        if path == "/images":
            shown = self._bodies[path]["images"]
            for key in query.keys() & {"name", "id"}:
                wanted = query[key].partition(":")[2] or query[key]
                shown = [each for each in shown if each[key] in wanted.split(",")]
            return Says(text=json.dumps(after(query, {"images": shown})).encode())
        if path == "/flavors/detail" and query.get("is_public") == "False":
            return Says(text=b'{"flavors": []}')
        if path in ("/servers", "/servers/detail"):
            shown = self._bodies["/servers/detail"]["servers"]
            for key, name in (("host", HOST), ("status", "status")):
                shown = [e for e in shown if query.get(key, e[name]) == e[name]]
            if "image" in query:
                shown = [e for e in shown if e["image"]["id"] == query["image"]]
            shown = [e for e in shown if re.search(query.get("name", ""), e["name"])]
            return Says(text=json.dumps(after(query, {"servers": shown})).encode())
        if path == "/os-server-groups" and query.get("offset", "0") != "0":
            return Says(text=b'{"server_groups": []}')
        return super()._answer(request)


HOST = "OS-EXT-SRV-ATTR:host"
#: Lists that Nova and Glance hide from a user without rights.
HIDDEN = (
    ("/servers", "/servers/detail"),
    ("/os-server-groups", "/os-migrations"),
    ("/images",),
    ("/os-services", "/os-availability-zone"),
    ("/servers", "/servers/detail", "/os-server-groups", "/images"),
)


def flavor_of(number, question):
    """A flavor that asks for what the clauses do."""
    sizes = {"VCPU": 0, "MEMORY_MB": 0, "DISK_GB": 0}
    specs = {}
    for each in question.clauses:
        if isinstance(each, Resource):
            if not each.group and each.resource_class in sizes:
                sizes[each.resource_class] = each.amount
            else:
                specs[f"resources{each.group}:{each.resource_class}"] = str(each.amount)
        elif isinstance(each, Trait):
            word = "forbidden" if each.forbidden else "required"
            specs[f"trait{each.group}:{each.name}"] = word
    specs |= {f"resources:{name}": "0" for name in sizes if not sizes[name]}
    if any(key.startswith("resources_") for key in specs):
        specs["group_policy"] = question.policy
    return {
        "id": f"id-f{number}",
        "name": f"f{number}",
        "vcpus": sizes["VCPU"] or 1,
        "ram": sizes["MEMORY_MB"] or 1,
        "disk": sizes["DISK_GB"],
        "extra_specs": specs,
        "os-flavor-access:is_public": True,
    }


def server_of(number, flavor, host, hosts):
    """A server on a host, or one in ERROR if it has none."""
    fault = {"message": "No valid host was found. ", "code": 500, "created": TIME}
    embedded = {key: flavor[key] for key in ("vcpus", "ram", "disk", "extra_specs")}
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"web{number}")),
        "name": f"web{number}",
        "status": "ACTIVE" if host else "ERROR",
        "tenant_id": "5a1e02",
        "created": TIME,
        "updated": TIME,
        "flavor": {
            **embedded,
            "original_name": flavor["name"],
            "ephemeral": 0,
            "swap": 0,
        },
        "image": {"id": "i-raw"},
        HOST: host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
        "OS-EXT-STS:vm_state": "active" if host else "error",
        "OS-EXT-STS:task_state": None,
        "OS-EXT-STS:power_state": 1,
        "OS-SRV-USG:launched_at": TIME,
        "locked": False,
        "server_groups": [],
        **({} if host else {"fault": fault}),
    }


TIME = "2026-11-25T12:00:00Z"


def furnish(nova, drawn, cloud, questions):
    """Give Nova what it has besides hosts."""
    flavors = [flavor_of(*each) for each in enumerate(questions)]
    names = [name for name, _ in hosts_of(cloud)]
    servers = [
        server_of(n, drawn(st.sampled_from(flavors)), host, names)
        for n, host in enumerate([None, *(drawn(st.sampled_from(names)) for _ in "ab")])
    ]
    images = [
        {
            **{"id": f"i-{name}", "name": name, "status": "active"},
            **{"visibility": "public", "disk_format": "raw", "min_ram": 0},
            **{"min_disk": 0, "owner": "5a1e02", **properties},
        }
        for name, properties in (
            ("raw", {}),
            ("drawn", drawn(st.sampled_from(PROPERTIES))),
        )
    ]
    group = {
        **{"id": str(uuid.UUID(int=9)), "name": "ha", "policy": "anti-affinity"},
        **{"members": [servers[1]["id"]], "project_id": "5a1e02", "rules": {}},
    }
    bodies = nova._bodies
    services = [
        {
            **{"id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)), "host": name},
            **{"binary": "nova-compute", "zone": "nova", "state": "up"},
            **{"status": "enabled", "updated_at": None, "disabled_reason": None},
        }
        for name in names
    ]
    for node in bodies["/os-hypervisors/detail"]["hypervisors"]:
        node["state"] = drawn(st.sampled_from(["up", "up", "up", "down"]))
    for each, identity in zip(nova.aggregates, clouds.AGGREGATES):
        each["uuid"] = identity
    bodies.update(
        {
            "/os-services": {"services": services},
            "/flavors/detail": {"flavors": flavors},
            "/images": {"images": images},
            "/servers/detail": {"servers": servers},
            "/os-server-groups": {"server_groups": [group]},
            "/os-migrations": {"migrations": []},
            "/os-availability-zone": {"availabilityZoneInfo": []},
            **{f"/flavors/{each['id']}": {"flavor": each} for each in flavors},
            **{f"/images/{each['id']}": each for each in images},
        }
    )
    for body in servers:
        path = f"/servers/{body['id']}"
        bodies[path] = {"server": body}
        bodies[f"{path}/os-instance-actions"] = {"instanceActions": []}
        bodies[f"{path}/os-volume_attachments"] = {"volumeAttachments": []}


def hosts_of(cloud):
    """Names and UUIDs of the roots that are compute nodes."""
    return [
        (f"host{n}", building.identity(f"host{n}"))
        for n, node in enumerate(cloud)
        if clouds.SHARING not in node.traits
    ]


def aggregates_of(drawn, cloud):
    """Nova's aggregates, of which Placement has lost a member now and then."""
    return {
        f"aggregate{n}": (
            drawn(st.sampled_from(METADATA)),
            [
                f"host{m}"
                for m, node in enumerate(cloud)
                if clouds.SHARING not in node.traits
                and (identity in node.aggregates) is not drawn(ODD)
            ],
        )
        for n, identity in enumerate(clouds.AGGREGATES)
    }


ODD = st.sampled_from([False] * 7 + [True])
PARTS = range(-(-CLOUDS // EACH // 3))


@pytest.mark.parametrize(
    ("kind", "hidden"), [("CLOUDS", ((),)), ("CARDED", ((),)), ("CLOUDS", HIDDEN)]
)
@pytest.mark.parametrize("part", PARTS)
def test_a_snapshot_gives_the_answers_of_the_cloud(
    server, tmp_path, part, kind, hidden
):
    """Those of a user without rights, too: what is hidden is unknown."""
    placement, codes = Placement(server.url), collections.Counter()
    start = EACH * COMMANDS * part % len(READING)
    commands = itertools.cycle(READING[start:] + READING[:start])
    drawn_clauses = (clouds.clauses,) if kind == "CLOUDS" else (clouds.many_groups,)

    @seed(part)
    @settings(
        max_examples=EACH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        cloud=getattr(clouds, kind),
        asked=st.lists(clouds.questions(*drawn_clauses), min_size=2, max_size=2),
        options=st.sampled_from(SETTINGS),
        data=st.data(),
    )
    def compare(cloud, asked, options, data):
        asked = [clouds.answerable(each, cloud) for each in asked]
        proxy = Proxy(server.url)
        try:
            building.build(placement, cloud)
            made = aggregates_of(data.draw, cloud)
            nova = DrawnNova(proxy, hosts_of(cloud), made)
            furnish(nova, data.draw, cloud, asked)
            nova.hidden = data.draw(st.sampled_from(hidden))
            run(proxy.url, tmp_path, options, codes, commands)
        finally:
            proxy.stop()
            placement.wipe()

    compare()
    assert len(codes) > 1
    assert codes[8] or not any(hidden)


def run(url, folder, options, codes, commands):
    path, home = str(folder / f"{uuid.uuid4()}.json"), str(folder / str(uuid.uuid4()))
    # Settings are found as a user's are, since not all commands have options for them.
    login = {**shell.login(url), "XDG_CONFIG_HOME": home}

    def openstack(login, *words):
        return shell.run(login, "trait-sched", *words)

    for words in ("config save", *shlex.split(options)), ("snapshot save", path):
        done = openstack(login, *words[0].split(), *words[1:])
        assert done.code == 0, done.err
    for _ in range(COMMANDS):
        command = next(commands)
        for flavor in ("f0", "f1") if "FLAVOR" in command else ("",):
            words = [*shlex.split(command.replace("FLAVOR", flavor)), "-f", "json"]
            if command == "export":
                del words[-2:]
            now = openstack(login, *words)
            then = openstack({}, *words, "--snapshot", path)
            differing = list(differences(value(now), value(then)))
            differing += differences(now.err, then.err)
            assert (then.code, differing) == (now.code, []), (words, differing[:5])
            codes[now.code] += 1


def value(done):
    """The output as JSON, or the text and the error."""
    try:
        return json.loads(done.out)
    except ValueError:
        return done.out, done.err


#: Placement has the allocations of a host in a Python set, whose order is any; that
#: they are the same ones is tested in test_saved.
ANY_ORDER = re.compile(r"\.\d+\.(allocates|free)")
#: A snapshot has the options, and not where this machine keeps them.
OF_MACHINE = re.compile(r".*\.settings(_from)?|\.\d+\.source")


def differences(now, then, place=""):
    """Places where two values differ, with both."""
    if ANY_ORDER.fullmatch(place) and now and then:
        return
    if isinstance(now, str) and then and OF_MACHINE.fullmatch(place):
        return
    if isinstance(now, dict) and isinstance(then, dict):
        for key in sorted(now.keys() | then.keys()):
            yield from differences(now.get(key), then.get(key), f"{place}.{key}")
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for number, pair in enumerate(zip(now, then)):
            yield from differences(*pair, f"{place}.{number}")
    elif now != then:
        yield place, now, then
